//! The C interface of Arrow, as objects of Python pass it in capsules.
//!
//! A structure is moved out of its capsule, so it is released once: when the array that owns it is dropped. That holds
//! for errors and panics too.
#![allow(unsafe_code)]

mod check;
mod stream;

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::{Array, ArrayRef, NullArray, make_array};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

pub(crate) use self::stream::PassedStream;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// An array that another library passed, which belongs to this process now. Nothing in it has been read.
pub(crate) struct PassedArray {
    array: FFI_ArrowArray,
    schema: FFI_ArrowSchema,
}

/// The reason why structures are no column.
#[derive(Debug)]
pub(crate) enum PassFault {
    /// The type has no bytes.
    Type(String),
    /// The structures contradict each other, or the library that passed them has failed.
    Malformed(String),
}

impl PassedArray {
    /// Takes the structures out of the capsules of `__arrow_c_array__`.
    pub(crate) fn take(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: capsules of these names hold these structures, by the Arrow PyCapsule interface. They are moved out,
        // and what stays behind is marked as released, so the capsule does not release it again.
        Ok(unsafe {
            Self {
                array: FFI_ArrowArray::from_raw(array.as_ptr()),
                schema: FFI_ArrowSchema::from_raw(schema.as_ptr()),
            }
        })
    }

    /// Reads the structures as an array.
    pub(crate) fn read(self) -> Result<ArrayRef, PassFault> {
        let data_type = DataType::try_from(&self.schema)?;
        read_array(self.array, &data_type)
    }
}

/// Reads a structure as an array of this type.
fn read_array(array: FFI_ArrowArray, data_type: &DataType) -> Result<ArrayRef, PassFault> {
    check::check_array(&array, data_type)?;
    if *data_type == DataType::Null {
        // Polars states a buffer, which arrays of nulls do not have, and `from_ffi` refuses it.
        return Ok(Arc::new(NullArray::new(array.len())));
    }
    // SAFETY: counts, lengths, pointers and the last offset have been checked above. That the memory behind the pointers
    // is as long as they say is the promise of the library that passed it. Each value's place is checked before it is
    // read.
    let data = unsafe { from_ffi_and_data_type(array, data_type.clone()) }?;
    data.validate()?;
    Ok(make_array(data))
}

/// Returns the capsules of `__arrow_c_array__`.
pub(crate) fn pass_array<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyTuple>> {
    let data = array.to_data();
    let capsule = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&data), ARRAY)?;
    PyTuple::new(py, [pass_schema(py, array)?, capsule])
}

/// Returns the capsule of `__arrow_c_schema__`.
pub(crate) fn pass_schema<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyCapsule>> {
    let field = Field::new("", array.data_type().clone(), true);
    let schema = FFI_ArrowSchema::try_from(&field);
    let schema = schema.map_err(|error| crate::error::machine(py, &error.to_string()))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

impl From<ArrowError> for PassFault {
    fn from(error: ArrowError) -> Self {
        Self::Malformed(error.to_string())
    }
}
