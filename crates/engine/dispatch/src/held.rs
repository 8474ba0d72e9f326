//! Jobs whose keys live with a holder.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use oarlock_core::{Completion, CompletionSink, JobError, OwnedJobs};

use crate::metrics::count;
use crate::queue::QueueItem;
use crate::state::DispatchState;
use crate::submission::{Payload, Submission};

/// Starts the jobs of items at a holder. The holder answers from its own threads.
pub(crate) fn start_held(dispatch: &Arc<DispatchState>, holder: usize, items: &[QueueItem<Arc<Submission>>]) {
    let mut destinations = Vec::new();
    let mut jobs = Vec::new();
    for item in items {
        if let Payload::Held(held) = &item.owner.payload {
            let range = item.first as usize..(item.first + item.count) as usize;
            jobs.extend_from_slice(&held[range]);
            destinations
                .extend((item.first..item.first + item.count).map(|at| (Arc::clone(&item.owner), at)));
        }
    }
    count(&dispatch.metrics.held, jobs.len());
    dispatch.at_holders[holder].fetch_add(jobs.len() as u64, Ordering::Relaxed);
    let index = holder;
    let holder = &dispatch.blueprint.holders[index];
    let name = holder.name().to_owned();
    // Weak, because a holder may keep its answers for ever. They must not keep the threads' state alive.
    let sink = HeldSink { dispatch: Arc::downgrade(dispatch), holder: index, name, destinations };
    let done = Completion::new(jobs.len(), Box::new(sink));
    // A panic drops `done`, which answers every job with the holder's fault.
    let _ = catch_unwind(AssertUnwindSafe(|| holder.start(OwnedJobs::new(jobs), done)));
}

struct HeldSink {
    dispatch: Weak<DispatchState>,
    /// The index of the holder.
    holder: usize,
    name: String,
    destinations: Vec<(Arc<Submission>, u32)>,
}

impl CompletionSink for HeldSink {
    fn done(&self, index: usize, result: Result<Vec<u8>, JobError>) {
        // Tickets keep the dispatcher's state alive. If it is gone, nobody waits for the answer.
        let Some(dispatch) = self.dispatch.upgrade() else { return };
        dispatch.at_holders[self.holder].fetch_sub(1, Ordering::Relaxed);
        let (submission, at) = &self.destinations[index];
        submission.answer_held(*at, result, &dispatch.metrics.completed);
    }

    fn dropped(&self, index: usize) {
        let Some(dispatch) = self.dispatch.upgrade() else { return };
        count(&dispatch.metrics.held_dropped, 1);
        dispatch.at_holders[self.holder].fetch_sub(1, Ordering::Relaxed);
        let (submission, at) = &self.destinations[index];
        let reason = "went away without an answer".to_owned();
        let error = JobError::HolderFailed { holder: self.name.clone(), reason };
        submission.answer_held(*at, Err(error), &dispatch.metrics.failed);
    }
}
