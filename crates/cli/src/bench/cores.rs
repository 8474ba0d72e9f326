//! Servers on one core, clients on the others.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::BenchError;

/// The cores of this process; None where it has only one.
pub(super) struct Cores(Option<Division>);

struct Division {
    servers: CpuSet,
    own: CpuSet,
}

impl Cores {
    /// The first of those that this process may use is for servers, the others are its own.
    pub(super) fn divide() -> Self {
        let Ok(all) = sched_getaffinity(None) else { return Self(None) };
        let Some(first) = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)) else { return Self(None) };
        let (mut servers, mut own) = (CpuSet::new(), all);
        servers.set(first);
        own.unset(first);
        Self((own.count() > 0).then_some(Division { servers, own }))
    }

    /// Moves this process off the servers' core.
    pub(super) fn leave(&self) -> Result<(), BenchError> {
        match &self.0 {
            Some(cores) => go(&cores.own),
            None => {
                eprintln!("oarlock: there is one core: servers and clients share it");
                Ok(())
            }
        }
    }

    /// Does something on the servers' core: what is started there stays there.
    pub(super) fn there<T>(&self, start: impl FnOnce() -> T) -> Result<T, BenchError> {
        let Some(cores) = &self.0 else { return Ok(start()) };
        go(&cores.servers)?;
        let started = start();
        go(&cores.own)?;
        Ok(started)
    }
}

fn go(cores: &CpuSet) -> Result<(), BenchError> {
    sched_setaffinity(None, cores).map_err(|error: Errno| BenchError::Cores(error.into()))
}
