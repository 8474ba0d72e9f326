//! The state of the library between `C_Initialize` and `C_Finalize`.

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use oarlock::process::ProcessMark;
use oarlock_cryptoki::{Cryptoki, ReturnCode};
use oarlock_ffi::print_line;

use crate::config::{DEFAULT_FILE, ModuleConfig, VARIABLE};
use crate::event::SlotEvents;
use crate::fork::{self, AfterFork};
use crate::pending::PendingCalls;
use crate::slots;

/// The state of an initialised library.
#[derive(Debug)]
pub(crate) struct Library {
    pub(crate) cryptoki: Cryptoki,
    pub(crate) events: SlotEvents,
    pub(crate) pending: PendingCalls,
    after_fork: AfterFork,
    /// The process that made it.
    owner: ProcessMark,
    /// The interruptions of calls until then.
    interruptions: u32,
}

/// The state of this process. A call keeps its state until it ends, even if another thread finalises the library.
static LIBRARY: ArcSwapOption<Library> = ArcSwapOption::const_empty();

/// Runs a function of the library.
///
/// # Errors
/// [`ReturnCode::CryptokiNotInitialized`], and the error of `function`.
pub(crate) fn with<T>(function: impl FnOnce(&Library) -> Result<T, ReturnCode>) -> Result<T, ReturnCode> {
    let _call = fork::enter_call();
    let library = LIBRARY.load();
    function(usable(library.as_deref())?)
}

/// Runs a function that may wait for long, during which a fork is harmless.
///
/// # Errors
/// As [`with`].
pub(crate) fn with_waiting<T>(
    function: impl FnOnce(&Library) -> Result<T, ReturnCode>,
) -> Result<T, ReturnCode> {
    // Its own reference: a state that is borrowed for long would occupy one of the few fast places of the thread.
    let library = LIBRARY.load_full();
    function(usable(library.as_deref())?)
}

fn usable(library: Option<&Library>) -> Result<&Library, ReturnCode> {
    library.filter(|library| library.is_usable()).ok_or(ReturnCode::CryptokiNotInitialized)
}

/// Initialises the library with the settings of its file.
///
/// # Errors
/// [`ReturnCode::CryptokiAlreadyInitialized`], and [`ReturnCode::GeneralError`] after a line on stderr.
pub(crate) fn initialize() -> Result<(), ReturnCode> {
    // A state that was made by the parent is replaced, even if it is usable: a child that calls C_Initialize wants to
    // begin anew, as the standard says.
    let before = LIBRARY.load_full();
    if before.as_ref().is_some_and(|library| !library.is_from_parent()) {
        return Err(ReturnCode::CryptokiAlreadyInitialized);
    }
    let new = Arc::new(Library::from_settings(read_settings()?)?);
    let previous = LIBRARY.compare_and_swap(&before, Some(new));
    let is_replaced = match (&*previous, &before) {
        (Some(previous), Some(before)) => Arc::ptr_eq(previous, before),
        (previous, before) => previous.is_none() && before.is_none(),
    };
    drop(previous);
    before.into_iter().for_each(release);
    if is_replaced { Ok(()) } else { Err(ReturnCode::CryptokiAlreadyInitialized) }
}

/// Finalises the library: closes every session and ends every wait. Other threads that are inside a call finish it with
/// the state that they have.
///
/// # Errors
/// [`ReturnCode::CryptokiNotInitialized`].
pub(crate) fn finalize() -> Result<(), ReturnCode> {
    let library = LIBRARY.swap(None).ok_or(ReturnCode::CryptokiNotInitialized)?;
    if library.is_from_parent() {
        // The child forgets its copy, and closes nothing of its parent.
        let is_usable = library.is_usable();
        release(library);
        return if is_usable { Ok(()) } else { Err(ReturnCode::CryptokiNotInitialized) };
    }
    library.events.close();
    library.cryptoki.close_everything();
    library.pending.forget_all();
    Ok(())
}

/// Drops a state. That of a parent is leaked if a thread of the parent may have been changing it at the fork.
fn release(library: Arc<Library>) {
    if !library.is_usable() {
        let _leaked = ManuallyDrop::new(library);
    }
}

/// Returns what a child may do after a fork, for programs that ask before `C_Initialize`.
pub(crate) fn is_fork_safe() -> bool {
    let after_fork = match &*LIBRARY.load() {
        Some(library) => library.after_fork,
        None => read_quietly().after_fork,
    };
    after_fork == AfterFork::Continue
}

impl Library {
    fn from_settings(config: ModuleConfig) -> Result<Self, ReturnCode> {
        let built = slots::build(&config).map_err(|fault| {
            print_line(&format!("pkcs11: {fault}"));
            ReturnCode::GeneralError
        })?;
        Ok(Self {
            cryptoki: Cryptoki::new(built.accelerator, built.slots),
            events: SlotEvents::new(built.removable),
            pending: PendingCalls::default(),
            after_fork: config.after_fork,
            owner: ProcessMark::counted(),
            interruptions: fork::interruptions(),
        })
    }

    fn is_from_parent(&self) -> bool {
        self.owner != ProcessMark::counted()
    }

    /// True if this process made the state, or may go on with that of its parent.
    fn is_usable(&self) -> bool {
        !self.is_from_parent()
            || (self.after_fork == AfterFork::Continue && self.interruptions == fork::interruptions())
    }
}

/// Reads the settings. Without a file there are no slots.
fn read_settings() -> Result<ModuleConfig, ReturnCode> {
    let named = oarlock_ffi::environment(VARIABLE);
    let path = named.as_deref().unwrap_or(DEFAULT_FILE);
    if named.is_none() && !Path::new(path).exists() {
        print_line(&format!(
            "pkcs11: no slots: there is no file {DEFAULT_FILE}; write one, or name another in {VARIABLE}"
        ));
        return Ok(ModuleConfig::default());
    }
    ModuleConfig::read(Path::new(path)).map_err(|error| {
        print_line(&format!("pkcs11: {error}"));
        ReturnCode::GeneralError
    })
}

fn read_quietly() -> ModuleConfig {
    let named = oarlock_ffi::environment(VARIABLE);
    ModuleConfig::read(Path::new(named.as_deref().unwrap_or(DEFAULT_FILE))).unwrap_or_default()
}
