//! Keeps keys in memory: without core dumps, and without swap if the system allows it.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MlockAllFlags, mlockall, munlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// The protections that [`harden`] set, and the protections that the system did not allow. A server runs without the
/// latter too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardening {
    /// The protections that are on.
    pub done: Vec<String>,
    /// The protections that are missing, with the way to get them.
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

/// Locks all memory, including later mappings, but only if there is no limit. At a limit a later mapping would fail,
/// and with it the process. Locking only the present mappings would leave out the keys, which are read later.
fn lock_memory(limit: Option<u64>) -> Result<(), String> {
    const HINT: &str = "so keys may reach a swap disk (LimitMEMLOCK=infinity allows it)";
    if let Some(bytes) = limit {
        return Err(format!("memory is not locked, because only {bytes} bytes may be, {HINT}"));
    }
    mlockall(LOCKED).map_err(|error| format!("memory is not locked, {HINT}: {error}"))
}

const LOCKED: MlockAllFlags =
    MlockAllFlags::CURRENT.union(MlockAllFlags::FUTURE).union(MlockAllFlags::ONFAULT);

/// True if this process has its memory locked.
static IS_LOCKED: AtomicBool = AtomicBool::new(false);

/// Gives unused memory of a burst of requests back to the system.
///
/// Locked pages cannot be given back one by one. So memory is unlocked while the allocator searches it, for some
/// milliseconds. Keys in use stay in memory meanwhile, because the system swaps out the least recently used pages
/// first.
pub fn give_memory_back() {
    let is_locked = IS_LOCKED.load(Ordering::Relaxed);
    if is_locked && let Err(error) = munlockall() {
        return tracing::warn!(%error, "unused memory is not given back: it cannot be unlocked");
    }
    let _ = oarlock_ffi::trim_memory();
    if is_locked && let Err(error) = mlockall(LOCKED) {
        IS_LOCKED.store(false, Ordering::Relaxed);
        tracing::warn!(%error, "memory is not locked any more: keys may reach a swap disk");
    }
}

/// Makes this process keep little unused memory after a burst of requests. Call it before any thread is started.
pub fn keep_little_memory() {
    oarlock_ffi::keep_little_memory();
}

/// Raises the limit of open files to the maximum that the system allows, which is more than shells set. Returns the
/// limit, or `None` if there is none.
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
    fn does_not_lock_memory_under_a_limit() {
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
