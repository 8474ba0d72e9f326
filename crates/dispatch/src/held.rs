//! Jobs whose key lives with a holder.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use oarlock_core::{Completion, CompletionSink, JobError, OwnedJobs};

use crate::group::{Group, Payload};
use crate::inner::Inner;
use crate::metrics::count;
use crate::queue::Item;

impl Inner {
    /// Hands items to a holder, whose answers come from threads of its own.
    pub(crate) fn start_held(self: &Arc<Self>, holder: usize, items: &[Item<Arc<Group>>]) {
        let mut places = Vec::new();
        let mut jobs = Vec::new();
        for item in items {
            if let Payload::Held(own) = &item.work.payload {
                let range = item.first as usize..(item.first + item.count) as usize;
                jobs.extend_from_slice(&own[range]);
                places.extend((item.first..item.first + item.count).map(|at| (Arc::clone(&item.work), at)));
            }
        }
        count(&self.metrics.held, jobs.len());
        let holder = &self.blueprint.holders[holder];
        let name = holder.name().to_owned();
        let done = Completion::new(jobs.len(), Box::new(Sink { inner: Arc::downgrade(self), name, places }));
        // A panic drops `done`, which answers every job with the holder's fault.
        let _ = catch_unwind(AssertUnwindSafe(|| holder.start(OwnedJobs::new(jobs), done)));
    }
}

struct Sink {
    inner: Weak<Inner>,
    name: String,
    places: Vec<(Arc<Group>, u32)>,
}

impl CompletionSink for Sink {
    fn done(&self, index: usize, result: Result<Vec<u8>, JobError>) {
        // A ticket keeps the dispatcher's state alive: without it nobody waits.
        let Some(inner) = self.inner.upgrade() else { return };
        let (group, at) = &self.places[index];
        group.answer_held(*at, result, &inner.metrics.completed);
    }

    fn dropped(&self, index: usize) {
        let Some(inner) = self.inner.upgrade() else { return };
        count(&inner.metrics.held_dropped, 1);
        let (group, at) = &self.places[index];
        let reason = "went away without an answer".to_owned();
        let error = JobError::HolderFailed { holder: self.name.clone(), reason };
        group.answer_held(*at, Err(error), &inner.metrics.failed);
    }
}
