//! The modules of this process.
//!
//! A module stays loaded until the process ends, because threads may hang in it and a module may have threads of its
//! own. `C_Finalize` is never called for the same reason: it would also end the sessions of other users of the module
//! in this process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Function, Pkcs11};
use cryptoki::error::{Error, RvError};

use crate::HsmError;

/// A module that may not have been loaded yet. It is loaded by the device that needs it first.
type ModuleCell = Arc<OnceLock<Pkcs11>>;

static MODULES: Mutex<Option<HashMap<PathBuf, ModuleCell>>> = Mutex::new(None);

/// Returns the module of a path, loaded and initialised with the locks of the system.
///
/// If the process has initialised the module before, by this crate or by another library, this is no error: the module
/// is shared, with the locks and the login that it has. If another library has finalised it, it is initialised again.
pub(crate) fn load_module(path: &Path) -> Result<Pkcs11, HsmError> {
    let module = library(path)?;
    match module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, Function::Initialize)) => Ok(module),
        Err(error) => Err(HsmError::Initialize { path: path.to_owned(), reason: error.to_string() }),
    }
}

/// Returns the library of a module, which stays loaded from now on.
fn library(path: &Path) -> Result<Pkcs11, HsmError> {
    let cell = {
        let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(modules.get_or_insert_default().entry(path.to_owned()).or_default())
    };
    if let Some(module) = cell.get() {
        return Ok(module.clone());
    }
    // The lock is not held here: a constructor may hang, and must not delay other modules. Two threads that come here
    // at once load one library, because the loader counts.
    let load = |error: Error| HsmError::Load { path: path.to_owned(), reason: error.to_string() };
    let module = Pkcs11::new(path).map_err(load)?;
    Ok(cell.get_or_init(|| module).clone())
}
