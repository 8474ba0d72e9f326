//! Threads that run tasks of callers. A server uses tasks for batches of records.
//!
//! There are twice as many of these threads as there are workers. One tenant gets at most half of them, so that long
//! tasks of one tenant do not block others. The operating system shares the processor between these threads and the
//! workers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use oarlock_core::JobError;

use crate::queue::QueueItem;
use crate::state::DispatchState;
use crate::submission::{Submission, SubmissionEnd};
use crate::task::{CallerTask, EndedTask};

/// Puts a task into the queue and wakes a thread for it.
pub(crate) fn enqueue_task(
    dispatch: &Arc<DispatchState>,
    submission: &Arc<Submission>,
) -> Result<(), JobError> {
    let threads = 2 * dispatch.config().threads;
    dispatch.threads.ensure_task_threads(threads, || {
        let dispatch = Arc::clone(dispatch);
        move || run_tasks(&dispatch)
    })?;
    dispatch.queues.enqueue_task(submission, &dispatch.metrics)
}

/// Runs tasks until the dispatcher stops.
fn run_tasks(dispatch: &DispatchState) {
    let mut ended = None;
    while let Some(item) = dispatch.queues.next_task(ended.take()) {
        ended = Some(run_task(dispatch, &item));
    }
}

fn run_task(dispatch: &DispatchState, item: &QueueItem<Arc<Submission>>) -> EndedTask {
    let start = Instant::now();
    let submission = &item.owner;
    if let Some(run) = submission.task().and_then(CallerTask::take) {
        // A panic drops the task's own answer channel, and so its caller notices.
        let _ = catch_unwind(AssertUnwindSafe(run));
    }
    submission.end_early(SubmissionEnd::Answered, &dispatch.metrics.tasks);
    let predicted_ns = submission.task().map_or(0, |task| task.predicted_ns);
    EndedTask { tenant: item.tenant, more_ns: start.elapsed().as_nanos() as f64 - predicted_ns as f64 }
}
