//! The operations of a cryptoserver's keys, in every child of a fork.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use oarlock::engine_api::{Batch, Completion, HeldOutcomes, Holder, OwnedJobs};
use oarlock::process::{ForkSafeCell, ProcessLocal};
use oarlock::{Accelerator, BuildError, JobError};
use oarlock_ffi::print_line;
use oarlock_wire::{ConnectObserver, Endpoint, LinkTransport, RemoteConfig, RemoteError, RemoteHolder};

use crate::config::ServerSlotConfig;

/// A holder that connects at its first job, and again in a forked child: the thread of its connections is the parent's.
pub(crate) struct ServerHolder {
    config: RemoteConfig,
    /// The accelerator that verifies answers.
    checker: ForkSafeCell<Accelerator>,
    remote: ProcessLocal<RemoteHolder>,
}

/// The reason why a holder cannot begin.
#[derive(Debug, thiserror::Error)]
enum HolderFault {
    #[error(transparent)]
    Remote(#[from] RemoteError),
    #[error(transparent)]
    Accelerator(#[from] BuildError),
}

impl ServerHolder {
    /// Makes a holder with a name that its keys carry.
    pub(crate) fn new(name: &str, server: &ServerSlotConfig, endpoint: Endpoint) -> Self {
        let mut config = RemoteConfig::new(name, vec![endpoint]);
        config.patience = server.patience();
        config.observer = Some(ConnectObserver::new(unexpected_transport_report()));
        Self { config, checker: ForkSafeCell::new(), remote: ProcessLocal::new() }
    }

    /// Returns the connections of this process.
    fn remote(&self) -> Result<&RemoteHolder, HolderFault> {
        self.remote.try_get(|_| Ok(RemoteHolder::new(self.config.clone(), self.checker()?)?))
    }

    fn checker(&self) -> Result<Accelerator, BuildError> {
        let build = || Accelerator::builder().engines(["scalar"]).threads(1).lazy().build();
        self.checker.get_or_try_make(build).cloned()
    }
}

/// Returns a function that prints a line at the first connection without the shared memory that both sides want. Later
/// connections would say the same.
fn unexpected_transport_report() -> impl Fn(&str, &LinkTransport) {
    let is_reported = AtomicBool::new(false);
    move |address, transport| {
        if transport.is_unexpected() && !is_reported.swap(true, Ordering::Relaxed) {
            print_line(&format!("requests to {address} go through {transport}"));
        }
    }
}

impl Holder for ServerHolder {
    fn name(&self) -> &str {
        &self.config.name
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        match self.remote() {
            Ok(remote) => remote.start(jobs, done),
            // Dropping `done` fails the jobs.
            Err(fault) => print_line(&format!("{}: {fault}", self.config.name)),
        }
    }

    fn run_batch(&self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        let remote = self.remote().map_err(|fault| {
            print_line(&format!("{}: {fault}", self.config.name));
            JobError::HolderFailed { holder: self.config.name.clone(), reason: fault.to_string() }
        })?;
        remote.run_batch(batch)
    }
}

impl fmt::Debug for ServerHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerHolder({})", self.config.name)
    }
}
