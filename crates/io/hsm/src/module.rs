//! The modules of this process.
//!
//! A module stays loaded until the process ends, because threads may hang in it and a module may have threads of its
//! own. `C_Finalize` is never called for the same reason: it would also end the sessions of other users of the module
//! in this process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Function, Pkcs11};
use cryptoki::error::{Error, RvError};

use crate::HsmError;

/// A module by its path, once it is loaded. The lock is that of its start: modules crash when two threads start them at
/// once, as two devices of one module would.
type ModuleCell = Arc<Mutex<Option<Pkcs11>>>;

static MODULES: Mutex<Option<HashMap<PathBuf, ModuleCell>>> = Mutex::new(None);

/// Returns the module of a path, loaded and initialised with the locks of the system.
///
/// If the process has initialised the module before, by this crate or by another library, this is no error: the module
/// is shared, with the locks and the login that it has. If another library has finalised it, it is initialised again.
pub(crate) fn load_module(path: &Path) -> Result<Pkcs11, HsmError> {
    let cell = {
        let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(modules.get_or_insert_default().entry(path.to_owned()).or_default())
    };
    // Not the lock of all modules: a constructor may hang, and must not delay the others.
    let mut cell = cell.lock().unwrap_or_else(PoisonError::into_inner);
    let module = match &*cell {
        Some(module) => module.clone(),
        None => {
            let load = |error: Error| HsmError::Load { path: path.to_owned(), reason: error.to_string() };
            cell.insert(Pkcs11::new(path).map_err(load)?).clone()
        }
    };
    match module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, Function::Initialize)) => Ok(module),
        Err(error) => Err(HsmError::Initialize { path: path.to_owned(), reason: error.to_string() }),
    }
}
