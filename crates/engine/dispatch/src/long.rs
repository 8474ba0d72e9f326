//! Long operations, such as SLH-DSA signatures, on the threads for tasks. A worker would keep all other jobs waiting.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock_core::JobError;

use crate::bulk::BulkRun;
use crate::clock::Nanos;
use crate::state::DispatchState;
use crate::submission::{Submission, SubmissionEnd};

/// One operation of a submission, to be computed by a task. If the task is dropped before it begins, the operation is
/// answered with the end of the dispatcher.
pub(crate) struct LongOperation {
    dispatch: Arc<DispatchState>,
    submission: Arc<Submission>,
    index: u32,
    submitted: Nanos,
    is_answered: bool,
}

impl LongOperation {
    pub(crate) fn new(dispatch: &Arc<DispatchState>, submission: &Arc<Submission>, index: u32) -> Self {
        Self {
            dispatch: Arc::clone(dispatch),
            submission: Arc::clone(submission),
            index,
            submitted: dispatch.clock.now(),
            is_answered: false,
        }
    }

    /// Computes the operation, with all checks of a batch, and answers it.
    pub(crate) fn run(mut self) {
        let (dispatch, submission) = (&self.dispatch, &self.submission);
        if submission.end() != SubmissionEnd::Live {
            return;
        }
        let (Some(operation), Some(shape)) = (submission.operation(self.index), submission.shape()) else {
            return;
        };
        let results = BulkRun(dispatch).run_operations(shape, &[operation], operation.input.len());
        // Recorded before the answer: a caller that is woken finds its own job in the histograms.
        let took = dispatch.clock.now().saturating_sub(self.submitted);
        dispatch.recorders.record_direct_answers(shape, 1, took as f64);
        // The run has counted the operation.
        let counted = AtomicU64::new(0);
        match results.errors.first() {
            Some((_, error)) => submission.answer_error(self.index, 1, error, &counted),
            None => submission.answer(self.index, 1, &results.outcomes, 0, &counted),
        }
        self.is_answered = true;
    }
}

impl Drop for LongOperation {
    fn drop(&mut self) {
        if !self.is_answered {
            self.submission.answer_error(self.index, 1, &JobError::ShutDown, &self.dispatch.metrics.failed);
        }
    }
}

impl fmt::Debug for LongOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LongOperation({:?}, {})", self.submission, self.index)
    }
}
