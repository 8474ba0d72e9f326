//! The C interface of Arrow, as objects of Python pass it in capsules.
//!
//! A structure is moved out of its capsule, so it is released once: when the array that owns it is dropped. That holds
//! for errors and panics too.
#![allow(unsafe_code)]

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayReader, ArrayRef, make_array, new_empty_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, Field};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// An array that another library passed, which belongs to this process now. Nothing in it has been read.
pub(crate) struct PassedArray {
    array: FFI_ArrowArray,
    schema: FFI_ArrowSchema,
}

/// A stream of arrays that another library passed.
pub(crate) struct PassedStream(FFI_ArrowArrayStream);

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
    pub(crate) fn read(self) -> Result<ArrayRef, ArrowError> {
        if self.array.is_released() {
            return Err(ArrowError::CDataInterface("the array was released before".to_owned()));
        }
        // SAFETY: that the memory is as the structure says is the promise of the library that passed it. The lengths,
        // offsets and indices in it are checked below, and again where values are read.
        let data = unsafe { from_ffi(self.array, &self.schema) }?;
        checked(data)
    }
}

impl PassedStream {
    /// Takes the structure out of the capsule of `__arrow_c_stream__`.
    pub(crate) fn take(stream: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let stream = stream.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: as in `PassedArray::take`.
        Ok(Self(unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) }))
    }

    /// Reads all arrays of the stream, or an empty array of its type if there is none. A stream may be written in
    /// Python, so the interpreter must be attached.
    pub(crate) fn read(self, _: Python<'_>) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut stream = ArrayStreamReader::try_new(self.0)?;
        let mut arrays = Vec::new();
        for array in &mut stream {
            arrays.push(checked(array?.to_data())?);
        }
        if arrays.is_empty() {
            arrays.push(new_empty_array(stream.field().data_type()));
        }
        Ok(arrays)
    }
}

/// Checks the lengths of buffers, and returns the array.
fn checked(data: ArrayData) -> Result<ArrayRef, ArrowError> {
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
