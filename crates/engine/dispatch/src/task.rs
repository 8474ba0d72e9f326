//! A task of a caller, which takes turns with jobs.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::clock::Nanos;

/// A closure of a caller, to be run once.
pub(crate) struct CallerTask {
    run: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    pub(crate) predicted_ns: Nanos,
}

/// A task that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedTask {
    pub(crate) tenant: u64,
    /// The difference between the time that it took and its prediction.
    pub(crate) more_ns: f64,
}

impl CallerTask {
    pub(crate) fn new(predicted_ns: Nanos, run: impl FnOnce() + Send + 'static) -> Self {
        Self { run: Mutex::new(Some(Box::new(run))), predicted_ns }
    }

    /// Takes the closure. Only the first call gets it.
    pub(crate) fn take(&self) -> Option<Box<dyn FnOnce() + Send>> {
        // A thread for tasks runs it, or a dropped ticket drops it. The first of them takes it.
        self.run.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for CallerTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Task({} ns)", self.predicted_ns)
    }
}
