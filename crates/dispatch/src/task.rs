//! Work of callers that takes turns with jobs: batches of records, which the call that brings them computes.
//!
//! Tasks have threads of their own, twice as many as there are workers. One tenant gets at most half of them, so that a thread is free
//! for another one however long its tasks take. The operating system shares the processor between these threads and the workers.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use oarlock_core::JobError;

use crate::group::{End, Group};
use crate::inner::Inner;
use crate::metrics::count;
use crate::queue::{Item, Nanos};
use crate::scheduler::Decision;

/// Work that a caller gives to be done.
pub(crate) struct Task {
    run: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    pub(crate) predicted_ns: Nanos,
}

/// A task that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedTask {
    tenant: u64,
    /// Time that it took beyond its prediction.
    more_ns: f64,
}

impl Task {
    pub(crate) fn new(predicted_ns: Nanos, run: impl FnOnce() + Send + 'static) -> Self {
        Self { run: Mutex::new(Some(Box::new(run))), predicted_ns }
    }

    /// Takes the work that is to be done. The first who asks gets it.
    pub(crate) fn take(&self) -> Option<Box<dyn FnOnce() + Send>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Inner {
    /// Puts a task into the queue and wakes a thread for it.
    pub(crate) fn enqueue_task(self: &Arc<Self>, group: &Arc<Group>) -> Result<(), JobError> {
        self.threads.ensure_task_threads(self)?;
        let now = self.now();
        let item = group.item(now, now);
        let mut state = self.lock();
        if self.is_stopping() {
            return Err(JobError::ShutDown);
        }
        state.scheduler.submit_task(item).inspect_err(|_| count(&self.metrics.refused, 1))?;
        group.enter_queue(1);
        drop(state);
        self.task_work.notify_one();
        Ok(())
    }

    /// The life of a thread for tasks.
    pub(crate) fn run_tasks(&self) {
        let mut ended = None;
        while let Some(item) = self.next_task(ended.take()) {
            ended = Some(self.run_task(&item));
        }
    }

    fn next_task(&self, ended: Option<EndedTask>) -> Option<Item<Arc<Group>>> {
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
                    item.work.leave_queue(1);
                    return Some(item);
                }
                _ => state = self.task_work.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn run_task(&self, item: &Item<Arc<Group>>) -> EndedTask {
        let start = Instant::now();
        let group = &item.work;
        if let Some(run) = group.task().and_then(Task::take) {
            // Whoever waits for what the task would have brought finds it dropped.
            let _ = catch_unwind(AssertUnwindSafe(run));
        }
        group.end_early(End::Answered, &self.metrics.tasks);
        let predicted_ns = group.task().map_or(0, |task| task.predicted_ns);
        EndedTask { tenant: item.tenant, more_ns: start.elapsed().as_nanos() as f64 - predicted_ns as f64 }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Task({} ns)", self.predicted_ns)
    }
}
