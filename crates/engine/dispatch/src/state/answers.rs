//! The ends of jobs that no engine has computed: cancelled, expired, failed, or to be run again.

use std::sync::Arc;

use oarlock_core::{JobError, Shape};

use super::DispatchState;
use crate::queue::{QueueItem, QueueKey};
use crate::submission::{Submission, SubmissionEnd};
use crate::task::CallerTask;

/// The number of repeats after which a job is answered with its failure. A first failure may be the fault of the
/// engine or of another job in the batch. From the second repeat on (`ALONE_AFTER`) the job runs alone on the referee.
const MAX_ATTEMPTS: u8 = 4;

impl DispatchState {
    /// Ends a submission that was cancelled, has expired or cannot be answered.
    pub(crate) fn end_early(&self, submission: &Arc<Submission>, end: SubmissionEnd) -> bool {
        let counter = match end {
            SubmissionEnd::Expired => &self.metrics.expired,
            SubmissionEnd::Cancelled => &self.metrics.cancelled,
            _ => &self.metrics.failed,
        };
        let counter =
            if submission.queue_key == QueueKey::Tasks { &self.metrics.tasks_dropped } else { counter };
        // First the end, then the count of queued operations. In the other order a batch that fails in between would
        // put its items back, and they would stay counted.
        if !submission.end_early(end, counter) {
            return false;
        }
        self.queues.forget(submission);
        // The closure of a task is dropped now. Its queue item may stay for long, and the closure may hold a caller's
        // resources.
        drop(submission.task().and_then(CallerTask::take));
        true
    }

    /// Returns the wanted items of a faulted or abandoned batch to their queue. Items that failed too often are
    /// answered with `reason`.
    pub(crate) fn run_again(&self, shape: Shape, items: &[QueueItem<Arc<Submission>>], reason: &str) {
        match self.queues.put_back(shape, items, MAX_ATTEMPTS, &self.metrics) {
            Some(given_up) => self.fail(shape, &given_up, reason),
            // No worker will come for them any more.
            None => {
                for item in items {
                    self.end_early(&item.owner, SubmissionEnd::ShutDown);
                }
            }
        }
    }

    /// Answers items with an engine failure.
    pub(crate) fn fail(&self, shape: Shape, items: &[QueueItem<Arc<Submission>>], reason: &str) {
        self.answer_errors(items, &JobError::EngineFailed { shape, reason: reason.to_owned() });
    }

    /// Answers items with an error.
    pub(crate) fn answer_errors(&self, items: &[QueueItem<Arc<Submission>>], error: &JobError) {
        for item in items {
            item.owner.answer_error(item.first, item.count, error, &self.metrics.failed);
        }
    }
}
