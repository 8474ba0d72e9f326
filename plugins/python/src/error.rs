//! Errors as exceptions. Their classes are written in Python, in `oarlock/_errors.py`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oarlock_columns::{ColumnError, RejectedRows};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the exception of an error.
pub(crate) fn exception(py: Python<'_>, error: &ColumnError) -> PyErr {
    let class = match error {
        ColumnError::ColumnType { .. } => "ColumnTypeError",
        ColumnError::Malformed { .. } => "MalformedColumnError",
        ColumnError::UnknownKey { .. } => "UnknownKeyError",
        ColumnError::KeyRefused { .. } => "KeyRefusedError",
        ColumnError::BadRow { row, fault, .. } => return bad_row(py, error, *row, fault.text()),
        ColumnError::Server { .. } => "ServerError",
        ColumnError::Machine(_) => "MachineError",
        _ => "OptionError",
    };
    raise(py, class, &error.to_string())
}

/// Returns the exception of a failure of this machine.
pub(crate) fn machine(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "MachineError", text)
}

/// Returns the exception of a column whose structures contradict each other.
pub(crate) fn malformed(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "MalformedColumnError", text)
}

/// Returns the exception of an option or a file.
pub(crate) fn option(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "OptionError", text)
}

/// Returns the exception of an object that is no column.
pub(crate) fn no_column(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "ColumnTypeError", text)
}

fn raise(py: Python<'_>, class: &str, text: &str) -> PyErr {
    let raised = py.import("oarlock._errors").and_then(|errors| errors.getattr(class)?.call1((text,)));
    raised.map_or_else(|error| error, PyErr::from_value)
}

fn bad_row(py: Python<'_>, error: &ColumnError, row: usize, reason: &str) -> PyErr {
    let class = py.import("oarlock._errors").and_then(|errors| errors.getattr("BadRowError"));
    let raised = class.and_then(|class| class.call1((error.to_string(), row, reason)));
    raised.map_or_else(|error| error, PyErr::from_value)
}

/// Passes the counts of bad rows to the caller: into a dictionary, or else as a warning.
pub(crate) fn report(
    py: Python<'_>,
    rejected: &RejectedRows,
    into: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    match into {
        Some(counts) => {
            for (fault, count) in rejected.iter() {
                let before =
                    counts.get_item(fault.text())?.map_or(Ok(0), |before| before.extract::<usize>())?;
                counts.set_item(fault.text(), before + count)?;
            }
            Ok(())
        }
        None if rejected.is_empty() => Ok(()),
        None => {
            let class = py.import("oarlock._errors")?.getattr("RejectedRowsWarning")?;
            let warning = class.call1((rejected.to_string(),))?;
            py.import("warnings")?.call_method1("warn", (warning,)).map(drop)
        }
    }
}

/// Runs `work`. A panic becomes an exception, because it must not unwind into the interpreter.
pub(crate) fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(machine(py, &panic_text(&*panic))))
}

/// Runs `work` while other threads may use the interpreter.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, ColumnError> + Send,
) -> PyResult<T> {
    let done = py.detach(|| {
        let caught = catch_unwind(AssertUnwindSafe(work));
        caught.unwrap_or_else(|panic| Err(ColumnError::Machine(panic_text(&*panic))))
    });
    done.map_err(|error| exception(py, &error))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a panic in oarlock: {}", text.unwrap_or_else(|| "without a text".to_owned()))
}
