//! Objects of Python as columns, and results as objects of Python.

use std::fmt;

use arrow_array::{Array, ArrayRef, make_array};
use arrow_data::transform::MutableArrayData;
use oarlock_columns::{ColumnError, ColumnResult, RejectedRows};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyCapsule, PyFrozenSet, PyMapping, PySet, PyString, PyTuple};

use crate::entry::{PassFault, PassedArray, PassedStream, pass_array, pass_schema};
use crate::error::{exception, guarded, malformed, no_column};

/// Says why an object that can be iterated over is no list of rows.
fn not_rows(object: &Bound<'_, PyAny>) -> Option<&'static str> {
    let is_value = object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>();
    let has_no_order = object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>();
    if is_value {
        Some("this is one value, so pass a list, [value]")
    } else if object.cast::<PyMapping>().is_ok() {
        Some("of a dict, pass a list of its values or of its keys")
    } else {
        has_no_order.then_some("a set has no order, so pass a list")
    }
}

/// A column that Python passed: one array, or the chunks of a longer one.
pub(crate) struct PassedColumn {
    pub(crate) chunks: Vec<ArrayRef>,
    is_chunked: bool,
}

impl PassedColumn {
    /// Reads an object with `__arrow_c_array__` or `__arrow_c_stream__`, or one that pyarrow can convert.
    pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        guarded(py, || {
            if object.hasattr("__arrow_c_array__")? {
                match object.call_method0("__arrow_c_array__") {
                    Ok(capsules) => return Self::read_array(&capsules),
                    Err(error) if !object.hasattr("__arrow_c_stream__")? => return Err(error),
                    // Arrays of nanoarrow have both, and those of several chunks can only be read as a stream.
                    Err(_) => {}
                }
            }
            if object.hasattr("__arrow_c_stream__")? {
                return Self::read_stream(object);
            }
            let kind = object.get_type().name()?;
            let expected = format!(
                "expected a column with __arrow_c_array__ or __arrow_c_stream__, such as one of pyarrow, Polars or \
                 pandas, found {kind}"
            );
            // Pyarrow takes their characters, bytes or keys for rows.
            if let Some(why) = not_rows(object) {
                return Err(no_column(py, &format!("{expected}: {why}")));
            }
            let Ok(pyarrow) = py.import("pyarrow") else { return Err(no_column(py, &expected)) };
            match pyarrow.call_method1("array", (object,)) {
                Ok(array) if array.hasattr("__arrow_c_array__")? => {
                    Self::read_array(&array.call_method0("__arrow_c_array__")?)
                }
                Ok(array) => Self::read_stream(&array),
                Err(_) => Err(no_column(py, &expected)),
            }
        })
    }

    /// Reads the capsules of `__arrow_c_array__`.
    fn read_array(capsules: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = capsules.py();
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = capsules.extract()?;
        let array = PassedArray::take(&schema, &array)?.read();
        let array = array.map_err(|fault| exception_of(py, fault))?;
        Ok(Self { chunks: vec![array], is_chunked: false })
    }

    fn read_stream(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let stream: Bound<'_, PyCapsule> = object.call_method0("__arrow_c_stream__")?.extract()?;
        let chunks = PassedStream::take(&stream)?.read(py);
        let chunks = chunks.map_err(|fault| exception_of(py, fault))?;
        Ok(Self { chunks, is_chunked: true })
    }

    fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Returns the rows of this column beside each chunk of `values`.
    pub(crate) fn beside(&self, what: &'static str, values: &Self) -> Result<Vec<ArrayRef>, ColumnError> {
        let (expected, found) = (values.len(), self.len());
        if expected != found {
            return Err(ColumnError::Rows { what, expected, found });
        }
        let whole = match &self.chunks[..] {
            [only] => only.clone(),
            chunks => concat(chunks)?,
        };
        let mut start = 0;
        let part = |chunk: &ArrayRef| {
            start += chunk.len();
            whole.slice(start - chunk.len(), chunk.len())
        };
        Ok(values.chunks.iter().map(part).collect())
    }

    /// Computes every chunk. `compute` gets the index of the chunk and its array. A row in an error is a row of the
    /// whole column.
    pub(crate) fn compute(
        &self,
        compute: impl Fn(usize, &dyn Array) -> Result<ColumnResult, ColumnError>,
    ) -> Result<(Vec<ArrayRef>, RejectedRows), ColumnError> {
        let (mut results, mut rejected, mut first) = (Vec::new(), RejectedRows::default(), 0);
        for (index, chunk) in self.chunks.iter().enumerate() {
            let result = compute(index, chunk).map_err(|error| match error {
                ColumnError::BadRow { row, fault, count } => {
                    ColumnError::BadRow { row: first + row, fault, count }
                }
                other => other,
            })?;
            first += chunk.len();
            rejected.add(&result.rejected);
            results.push(result.array);
        }
        Ok((results, rejected))
    }

    /// Returns results as arrays of pyarrow if it is installed, chunked if the column is.
    pub(crate) fn results<'py>(
        &self,
        py: Python<'py>,
        results: Vec<ArrayRef>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(pyarrow) = py.import("pyarrow") else {
            let whole = concat(&results).map_err(|error| exception(py, &error))?;
            return Ok(Bound::new(py, ResultColumn { array: whole })?.into_any());
        };
        let array = |array: ArrayRef| {
            let passed = Bound::new(py, ResultColumn { array })?;
            pyarrow.call_method1("array", (passed,))
        };
        let arrays: Vec<_> = results.into_iter().map(array).collect::<PyResult<_>>()?;
        match &arrays[..] {
            [only] if !self.is_chunked => Ok(only.clone()),
            _ => pyarrow.call_method1("chunked_array", (arrays,)),
        }
    }
}

fn exception_of(py: Python<'_>, fault: PassFault) -> PyErr {
    match fault {
        PassFault::Type(found) => exception(py, &ColumnError::ColumnType { what: "column", found }),
        PassFault::Malformed(text) => malformed(py, &text),
    }
}

/// Returns chunks as one array.
fn concat(chunks: &[ArrayRef]) -> Result<ArrayRef, ColumnError> {
    let data: Vec<_> = chunks.iter().map(|chunk| chunk.to_data()).collect();
    let rows = data.iter().map(arrow_data::ArrayData::len).sum();
    let mut whole = MutableArrayData::new(data.iter().collect(), false, rows);
    for (index, chunk) in data.iter().enumerate() {
        // The offsets of a column with 32 bits end at 2 GiB.
        let extended = whole.try_extend(index, 0, chunk.len());
        extended.map_err(|_| ColumnError::TooLarge { found: values_len(chunks), max: i32::MAX as usize })?;
    }
    Ok(make_array(whole.freeze()))
}

fn values_len(chunks: &[ArrayRef]) -> usize {
    chunks.iter().map(|chunk| chunk.get_buffer_memory_size()).sum()
}

/// A column of results, which any library of Arrow reads.
#[pyclass(frozen, module = "oarlock")]
pub(crate) struct ResultColumn {
    array: ArrayRef,
}

#[pymethods]
impl ResultColumn {
    /// Passes the array in the C interface of Arrow. A requested type is ignored, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        guarded(py, || pass_array(py, &self.array))
    }

    /// Passes the type in the C interface of Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        guarded(py, || pass_schema(py, &self.array))
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __repr__(&self) -> String {
        format!("<oarlock.ResultColumn of {} rows of {}>", self.array.len(), self.array.data_type())
    }
}

impl fmt::Debug for ResultColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.__repr__())
    }
}
