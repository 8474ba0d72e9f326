//! Servers on one core, their load on the others.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores of this process, divided; None where it has only one.
pub(crate) struct Cores(Option<Division>);

struct Division {
    servers: CpuSet,
    own: CpuSet,
}

/// A thread on the servers' core, until this ends.
#[must_use]
pub(crate) struct Visit(Option<CpuSet>);

impl Cores {
    /// The first of those that this process may use is for servers, the others are its own.
    pub(crate) fn divide() -> Self {
        let Ok(all) = sched_getaffinity(None) else { return Self(None) };
        let Some(first) = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)) else { return Self(None) };
        let (mut servers, mut own) = (CpuSet::new(), all);
        servers.set(first);
        own.unset(first);
        Self((own.count() > 0).then_some(Division { servers, own }))
    }

    /// Moves this thread, and those that it starts from now on, off the servers' core; says where that cannot be.
    pub(crate) fn leave(&self) {
        match &self.0 {
            Some(cores) => {
                if let Err(error) = sched_setaffinity(None, &cores.own) {
                    eprintln!("oarlock: servers and load share their cores: {error}");
                }
            }
            None => eprintln!("oarlock: there is one core: servers and load share it"),
        }
    }

    /// Moves this thread to the servers' core: what is started there stays there.
    pub(crate) fn visit(&self) -> Visit {
        match &self.0 {
            Some(cores) if sched_setaffinity(None, &cores.servers).is_ok() => Visit(Some(cores.own)),
            _ => Visit(None),
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(home) = &self.0 {
            // Where it cannot go back, the rows behind this one share the servers' core: their rates show it.
            let _ = sched_setaffinity(None, home);
        }
    }
}
