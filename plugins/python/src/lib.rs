//! The native part of the Python module `oarlock`: columns of Arrow in, columns of Arrow out.
//!
//! | module | content |
//! |---|---|
//! | `keys` | the class `Keys` and its methods |
//! | `reference` | keys named by files and addresses, which a pickle may hold |
//! | `opened` | keys opened once in each process |
//! | `argument` | options as Python passes them |
//! | `column` | objects of Python as columns, and results as objects of Python |
//! | `mail` | DKIM signatures of a column of messages |
//! | `error` | errors as exceptions |
//! | `entry` | the C interface of Arrow, the only module with `unsafe` |

mod argument;
mod column;
mod entry;
mod error;
mod keys;
mod mail;
mod opened;
mod reference;

use pyo3::prelude::*;

/// The native part of `oarlock`. Programs import `oarlock`.
#[pymodule]
fn _oarlock(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CIPHERS", argument::cipher_names())?;
    module.add_function(wrap_pyfunction!(mail::verify_mail, module)?)?;
    module.add_class::<keys::PythonKeys>()?;
    module.add_class::<column::ResultColumn>()
}
