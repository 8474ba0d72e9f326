//! Options as Python passes them.

use oarlock_columns::{ColumnCipher, ColumnError, OnError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::column::PassedColumn;

/// Associated data: one value for all rows, or a column.
pub(crate) enum PassedData {
    None,
    Constant(Vec<u8>),
    Column(PassedColumn),
}

impl PassedData {
    pub(crate) fn read(object: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self::None) };
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Constant(bytes.as_bytes().to_vec()));
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self::Constant(text.to_cow()?.into_owned().into_bytes()));
        }
        PassedColumn::read(object).map(Self::Column)
    }
}

/// Returns the names of all ciphers.
pub(crate) fn cipher_names() -> Vec<String> {
    ColumnCipher::ALL.iter().map(ToString::to_string).collect()
}

/// Parses the fate of bad rows.
pub(crate) fn parse_on_error(name: &str) -> Result<OnError, ColumnError> {
    match name {
        "null" => Ok(OnError::Null),
        "struct" => Ok(OnError::Struct),
        "raise" => Ok(OnError::Raise),
        _ => Err(ColumnError::UnknownName {
            what: "on_error",
            expected: "null, struct, raise".to_owned(),
            found: name.to_owned(),
        }),
    }
}
