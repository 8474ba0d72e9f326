//! Keys stay in memory: no core dumps, and no swap if the system allows it.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MlockAllFlags, mlockall, munlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// The protections that [`harden`] set, and those that the system did not allow. None of the latter is a reason not to serve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardening {
    /// Protections that are on.
    pub done: Vec<String>,
    /// Protections that are missing, with the way to get them.
    pub warnings: Vec<String>,
}

/// Switches core dumps and debuggers off, and locks memory.
#[must_use]
pub fn harden() -> Hardening {
    let no_core = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let no_dump = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let mut hardening = Hardening::default();
    for (what, result) in [
        ("core dumps could not be switched off", no_core),
        ("this process could not be closed to debuggers", no_dump),
    ] {
        hardening.warnings.extend(result.err().map(|error| format!("{what}: {error}")));
    }
    match lock_memory(getrlimit(Resource::Memlock).current) {
        Ok(()) => {
            IS_LOCKED.store(true, Ordering::Relaxed);
            hardening.done.push("memory is locked: no key reaches a swap disk".to_owned());
        }
        Err(reason) => hardening.warnings.push(reason),
    }
    hardening
}

/// Locks memory that is mapped now and later, but only without a limit: at a limit a later mapping would fail, and with it the
/// process. Locking only what is mapped now would leave out the keys, which are read later.
fn lock_memory(limit: Option<u64>) -> Result<(), String> {
    const HINT: &str = "so keys may reach a swap disk (LimitMEMLOCK=infinity allows it)";
    if let Some(bytes) = limit {
        return Err(format!("memory is not locked, for only {bytes} bytes may be, {HINT}"));
    }
    mlockall(LOCKED).map_err(|error| format!("memory is not locked, {HINT}: {error}"))
}

const LOCKED: MlockAllFlags =
    MlockAllFlags::CURRENT.union(MlockAllFlags::FUTURE).union(MlockAllFlags::ONFAULT);

/// True if this process has its memory locked.
static IS_LOCKED: AtomicBool = AtomicBool::new(false);

/// Gives memory back to the system that a burst of requests has left behind.
///
/// Locked pages cannot be given back one by one, so the lock is off for as long as the allocator looks through its memory, some
/// milliseconds. Keys that are used stay in memory meanwhile: the system swaps out what has not been used for longest.
pub(crate) fn give_memory_back() {
    let is_locked = IS_LOCKED.load(Ordering::Relaxed);
    if is_locked && let Err(error) = munlockall() {
        return tracing::warn!(%error, "memory of a burst of requests stays: it cannot be unlocked");
    }
    let _ = oarlock_ffi::trim_memory();
    if is_locked && let Err(error) = mlockall(LOCKED) {
        IS_LOCKED.store(false, Ordering::Relaxed);
        tracing::warn!(%error, "memory is not locked any more: keys may reach a swap disk");
    }
}

/// Has this process keep little of the memory that a burst of requests needed. To be called before it starts threads.
pub fn keep_little_memory() {
    oarlock_ffi::keep_little_memory();
}

/// Lets this process have as many files and connections open as the system allows it, which is more than shells ask for. Returns how
/// many that is; None for any number.
pub fn raise_open_files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_not_locked_under_a_limit() {
        let locked_kb = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap().trim().to_owned()
        };
        let before = locked_kb();
        let refused = lock_memory(Some(64 << 20)).unwrap_err();
        assert!(refused.contains("67108864 bytes") && refused.contains("LimitMEMLOCK=infinity"), "{refused}");
        assert_eq!(locked_kb(), before);
    }
}
