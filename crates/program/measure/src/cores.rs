//! Servers on one core and their load on the other cores.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores of this process, divided between servers and load; None if the process has only one core.
#[derive(Debug)]
pub struct DividedCores(Option<CoreDivision>);

#[derive(Debug)]
struct CoreDivision {
    servers: CpuSet,
    client: CpuSet,
}

/// The stay of a thread on the servers' core. It ends when this is dropped.
#[derive(Debug)]
#[must_use]
pub struct CoreVisit(Option<CpuSet>);

impl DividedCores {
    /// Divides the cores that this process may use: the first one is for servers, the others are for the load.
    #[must_use]
    pub fn divide() -> Self {
        let Ok(all) = sched_getaffinity(None) else { return Self(None) };
        let Some(first) = (0..CpuSet::MAX_CPU).find(|core| all.is_set(*core)) else { return Self(None) };
        let (mut servers, mut client) = (CpuSet::new(), all);
        servers.set(first);
        client.unset(first);
        Self((client.count() > 0).then_some(CoreDivision { servers, client }))
    }

    /// Moves this thread, and the threads that it starts from now on, off the servers' core. Prints a note if that is
    /// impossible.
    pub fn leave(&self) {
        match &self.0 {
            Some(cores) => {
                if let Err(error) = sched_setaffinity(None, &cores.client) {
                    eprintln!("oarlock: servers and load share their cores: {error}");
                }
            }
            None => eprintln!("oarlock: there is one core: servers and load share it"),
        }
    }

    /// Moves this thread to the servers' core. Processes and threads that it starts there stay there.
    pub fn visit(&self) -> CoreVisit {
        match &self.0 {
            Some(cores) if sched_setaffinity(None, &cores.servers).is_ok() => CoreVisit(Some(cores.client)),
            _ => CoreVisit(None),
        }
    }
}

impl Drop for CoreVisit {
    fn drop(&mut self) {
        if let Some(home) = &self.0 {
            // If it cannot go back, the following rows share the servers' core, and their rates show it.
            let _ = sched_setaffinity(None, home);
        }
    }
}
