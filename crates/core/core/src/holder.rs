//! Holders: units that perform whole schemes with keys that live elsewhere.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Batch, JobError, Outcomes, OwnedJob};

/// A unit with keys of its own, such as an HSM or a remote server.
pub trait Holder: fmt::Debug + Send + Sync {
    /// Returns the name that keys of this holder carry ([`KeyHome::Held`](crate::KeyHome::Held)).
    fn name(&self) -> &str;

    /// Starts the jobs and returns without waiting for them.
    ///
    /// The holder calls `done` once per job, from any thread. If it drops `done`, every job that has no answer yet
    /// fails with a fault of the holder.
    fn start(&self, jobs: OwnedJobs, done: Completion);

    /// Computes a batch and waits for it. The key columns name keys of this holder by their index in the keys of the
    /// records; another index names no key.
    ///
    /// A batch of more than [`MAX_HELD_RECORDS`] records, or of more than [`MAX_HELD_BYTES`] bytes of data or of
    /// output, may be refused. A holder that has no symmetric keys refuses every batch, as this default does.
    ///
    /// # Errors
    /// The holder failed, or refused the batch as a whole. A bad record has a status and is no error.
    fn run_batch(&self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        let wanted = format!("a batch of {} records at {}", batch.records.len, self.name());
        Err(JobError::Unsupported { wanted })
    }
}

/// The maximum records of a batch that every holder takes.
pub const MAX_HELD_RECORDS: usize = 1 << 14;

/// The maximum bytes of data of a batch that every holder takes, and of its output: a batch travels in one message.
pub const MAX_HELD_BYTES: usize = 15 << 20;

/// The outcomes of a batch at a holder.
#[derive(Debug, Default)]
pub struct HeldOutcomes {
    /// The statuses and the output.
    pub outcomes: Outcomes,
    /// The holder's reasons for refused records, by the index of the record, in order.
    pub refusals: Vec<(u32, Arc<JobError>)>,
}

/// Jobs for one holder, each with its own scheme and a key whose home is the holder. The input is a digest if the
/// scheme names one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct OwnedJobs(Arc<[OwnedJob]>);

impl OwnedJobs {
    /// Takes ownership of `jobs`.
    #[must_use]
    pub fn new(jobs: Vec<OwnedJob>) -> Self {
        Self(jobs.into())
    }
}

impl std::ops::Deref for OwnedJobs {
    type Target = [OwnedJob];

    fn deref(&self) -> &[OwnedJob] {
        &self.0
    }
}

/// The receiver of the results of held jobs. The dispatcher implements it.
pub trait CompletionSink: Send + Sync {
    /// Takes the result of the job at `index`. Called once per job.
    fn done(&self, index: usize, result: Result<Vec<u8>, JobError>);
    /// Takes note that the holder went away without an answer to the job at `index`.
    fn dropped(&self, index: usize);
}

/// The answers to one [`Holder::start`].
///
/// Clones share the answers, and only the first answer to each job counts. When the last clone is dropped, every
/// unanswered job is reported as a fault of the holder.
#[derive(Clone)]
pub struct Completion(Arc<CompletionInner>);

struct CompletionInner {
    sink: Box<dyn CompletionSink>,
    is_answered: Box<[AtomicBool]>,
}

impl Completion {
    /// Creates a completion for `jobs` jobs.
    #[must_use]
    pub fn new(jobs: usize, sink: Box<dyn CompletionSink>) -> Self {
        let is_answered = (0..jobs).map(|_| AtomicBool::new(false)).collect();
        Self(Arc::new(CompletionInner { sink, is_answered }))
    }

    /// Answers the job at `index`.
    ///
    /// Returns false and changes nothing if there is no such job or it has been answered.
    #[must_use = "false means that the answer was not taken"]
    pub fn complete(&self, index: usize, result: Result<Vec<u8>, JobError>) -> bool {
        let Some(is_answered) = self.0.is_answered.get(index) else { return false };
        // One swap decides between two threads that answer the same job. A load and a store would let both through.
        if is_answered.swap(true, Ordering::AcqRel) {
            return false;
        }
        self.0.sink.done(index, result);
        true
    }
}

impl Drop for CompletionInner {
    fn drop(&mut self) {
        for (index, is_answered) in self.is_answered.iter().enumerate() {
            // The last handle is gone, so no `complete` runs beside this and none can follow.
            if !is_answered.load(Ordering::Acquire) {
                self.sink.dropped(index);
            }
        }
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Completion({} jobs)", self.0.is_answered.len())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct RecordingSink(Arc<Mutex<Vec<(usize, bool)>>>);

    impl CompletionSink for RecordingSink {
        fn done(&self, index: usize, _: Result<Vec<u8>, JobError>) {
            self.0.lock().unwrap().push((index, true));
        }
        fn dropped(&self, index: usize) {
            self.0.lock().unwrap().push((index, false));
        }
    }

    #[test]
    fn each_job_is_answered_once_and_drops_are_reported() {
        let seen = RecordingSink::default();
        let done = Completion::new(3, Box::new(seen.clone()));
        let other = done.clone();
        assert!(done.complete(1, Ok(vec![])));
        assert!(!other.complete(1, Err(JobError::Rejected)) && !other.complete(3, Ok(vec![])));
        drop(done);
        assert_eq!(*seen.0.lock().unwrap(), [(1, true)]);
        drop(other);
        assert_eq!(*seen.0.lock().unwrap(), [(1, true), (0, false), (2, false)]);
    }
}
