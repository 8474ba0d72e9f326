//! The runtime of the clients, whose work ends at a signal.

use std::cell::RefCell;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::super::BenchError;

/// A runtime on this thread. SIGINT and SIGTERM end its work, so that servers are stopped and their files removed.
pub(super) struct LoadRuntime {
    runtime: Runtime,
    signals: RefCell<[Signal; 2]>,
}

impl LoadRuntime {
    /// Makes a runtime. From now on both signals wait for the next work.
    pub(super) fn new() -> Result<Self, BenchError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(BenchError::Clients)?;
        let guard = runtime.enter();
        let watch = |kind| signal(kind).map_err(BenchError::Clients);
        let signals = [watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?];
        drop(guard);
        Ok(Self { runtime, signals: RefCell::new(signals) })
    }

    /// Runs work to its end, or until a signal.
    pub(super) fn run<T>(&self, work: impl Future<Output = Result<T, BenchError>>) -> Result<T, BenchError> {
        let [interrupt, terminate] = &mut *self.signals.borrow_mut();
        self.runtime.block_on(async {
            tokio::select! {
                // A signal also ends the servers of a terminal, which makes connections fail.
                biased;
                _ = interrupt.recv() => Err(BenchError::Interrupted),
                _ = terminate.recv() => Err(BenchError::Interrupted),
                done = work => done,
            }
        })
    }
}
