//! Keys stay in memory: no core dumps, and no swap where the system lets us say so.

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};

/// Switches core dumps and debuggers off, and locks memory. What could not be done comes back, to be said: none of it is a reason
/// not to serve.
#[must_use]
pub fn harden() -> Vec<String> {
    let no_core = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let no_dump = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // What is mapped later is locked too; where the limit does not allow that, nothing is, so that allocations do not fail.
    let locked = mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    let said =
        |what: &str, result: rustix::io::Result<()>| result.err().map(|error| format!("{what}: {error}"));
    [
        said("core dumps could not be switched off", no_core),
        said("this process could not be closed to debuggers", no_dump),
        said("memory is not locked, so keys may reach a swap disk (LimitMEMLOCK=infinity allows it)", locked),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Lets this process have as many files and connections open as the system allows it, which is more than shells ask for. How many
/// that is; None for any number.
pub fn raise_open_files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}
