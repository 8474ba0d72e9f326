//! Tasks of callers that take turns with jobs. A server uses them for batches of records.
//!
//! Tasks have threads of their own, twice as many as there are workers. One tenant gets at most half of them, so that
//! long tasks of one tenant do not block others. The operating system shares the processor between these threads and
//! the workers.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use oarlock_core::JobError;

use crate::metrics::count;
use crate::queue::{Nanos, QueueItem};
use crate::scheduler::Decision;
use crate::state::DispatchState;
use crate::submission::{Submission, SubmissionEnd};

/// A closure of a caller, to be run once.
pub(crate) struct CallerTask {
    run: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    pub(crate) predicted_ns: Nanos,
}

/// A task that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedTask {
    tenant: u64,
    /// The difference between the time that it took and its prediction.
    more_ns: f64,
}

impl CallerTask {
    pub(crate) fn new(predicted_ns: Nanos, run: impl FnOnce() + Send + 'static) -> Self {
        Self { run: Mutex::new(Some(Box::new(run))), predicted_ns }
    }

    /// Takes the closure. Only the first call gets it.
    pub(crate) fn take(&self) -> Option<Box<dyn FnOnce() + Send>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl DispatchState {
    /// Puts a task into the queue and wakes a thread for it.
    pub(crate) fn enqueue_task(self: &Arc<Self>, submission: &Arc<Submission>) -> Result<(), JobError> {
        self.threads.ensure_task_threads(self)?;
        let now = self.now();
        let item = submission.item(now, now);
        let mut state = self.lock();
        if self.is_stopping() {
            return Err(JobError::ShutDown);
        }
        state.scheduler.submit_task(item).inspect_err(|_| count(&self.metrics.refused, 1))?;
        submission.enter_queue(1);
        drop(state);
        self.task_work.notify_one();
        Ok(())
    }

    /// Runs tasks until the dispatcher stops.
    pub(crate) fn run_tasks(&self) {
        let mut ended = None;
        while let Some(item) = self.next_task(ended.take()) {
            ended = Some(self.run_task(&item));
        }
    }

    fn next_task(&self, ended: Option<EndedTask>) -> Option<QueueItem<Arc<Submission>>> {
        let mut state = self.lock();
        if let Some(ended) = ended {
            state.scheduler.end_task(ended.tenant, ended.more_ns);
        }
        loop {
            if self.is_stopping() {
                return None;
            }
            match state.scheduler.next_task(self.config().threads) {
                Decision::Do(item) => {
                    item.owner.leave_queue(1);
                    return Some(item);
                }
                _ => state = self.task_work.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn run_task(&self, item: &QueueItem<Arc<Submission>>) -> EndedTask {
        let start = Instant::now();
        let submission = &item.owner;
        if let Some(run) = submission.task().and_then(CallerTask::take) {
            // A panic drops the task's own answer channel, and so its caller notices.
            let _ = catch_unwind(AssertUnwindSafe(run));
        }
        submission.end_early(SubmissionEnd::Answered, &self.metrics.tasks);
        let predicted_ns = submission.task().map_or(0, |task| task.predicted_ns);
        EndedTask { tenant: item.tenant, more_ns: start.elapsed().as_nanos() as f64 - predicted_ns as f64 }
    }
}

impl fmt::Debug for CallerTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Task({} ns)", self.predicted_ns)
    }
}
