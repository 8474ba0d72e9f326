//! Streams of arrays.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::{PassFault, STREAM, check, read_array};

/// A stream of arrays that another library passed.
pub(crate) struct PassedStream(FFI_ArrowArrayStream);

impl PassedStream {
    /// Takes the structure out of the capsule of `__arrow_c_stream__`.
    pub(crate) fn take(stream: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let stream = stream.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: as in `PassedArray::take`.
        Ok(Self(unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) }))
    }

    /// Reads all arrays of the stream, or an empty array of its type if there is none. A stream may be written in
    /// Python, so the interpreter must be attached.
    pub(crate) fn read(mut self, _: Python<'_>) -> Result<Vec<ArrayRef>, PassFault> {
        if self.0.release().is_none() {
            return Err(PassFault::Malformed("the stream was released before".to_owned()));
        }
        let data_type = self.data_type()?;
        // A stream without arrays of a wrong type is wrong too.
        check::check_type(&data_type)?;
        let mut arrays = Vec::new();
        while let Some(array) = self.next()? {
            arrays.push(read_array(array, &data_type)?);
        }
        if arrays.is_empty() {
            arrays.push(new_empty_array(&data_type));
        }
        Ok(arrays)
    }

    fn data_type(&mut self) -> Result<DataType, PassFault> {
        let mut schema = FFI_ArrowSchema::empty();
        let get_schema = self.0.get_schema().ok_or_else(incomplete)?;
        // SAFETY: the stream is not released, and the function is the one that its library made for it.
        let code = unsafe { get_schema(&raw mut self.0, &raw mut schema) };
        self.check_code(code)?;
        Ok(DataType::try_from(&schema)?)
    }

    /// Returns the next array, or `None` at the end.
    fn next(&mut self) -> Result<Option<FFI_ArrowArray>, PassFault> {
        let mut array = FFI_ArrowArray::empty();
        let get_next = self.0.get_next().ok_or_else(incomplete)?;
        // SAFETY: as in `data_type`.
        let code = unsafe { get_next(&raw mut self.0, &raw mut array) };
        self.check_code(code)?;
        Ok((!array.is_released()).then_some(array))
    }

    /// Returns the text of the library if a call has failed.
    fn check_code(&mut self, code: i32) -> Result<(), PassFault> {
        if code == 0 {
            return Ok(());
        }
        let get_last_error = self.0.get_last_error().ok_or_else(incomplete)?;
        // SAFETY: as in `data_type`, directly after a call that has failed. The text is valid until the next call.
        let text = unsafe {
            let text = get_last_error(&raw mut self.0);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        Err(PassFault::Malformed(format!(
            "the stream failed: {}",
            text.unwrap_or_else(|| format!("code {code}"))
        )))
    }
}

fn incomplete() -> PassFault {
    PassFault::Malformed("the stream lacks a function".to_owned())
}
