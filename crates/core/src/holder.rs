//! Holders: units that perform whole schemes with keys that live elsewhere.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zeroize::Zeroizing;

use crate::{JobError, Key, Scheme};

/// A unit with keys of its own: an HSM, a remote server.
pub trait Holder: fmt::Debug + Send + Sync {
    /// The name that [`KeyHome::Held`](crate::Home::Held) keys carry.
    fn name(&self) -> &str;

    /// Starts the jobs and returns without waiting for them. `done` is called once per job from any thread; a dropped
    /// `done` counts as a fault of the holder for every job not yet answered.
    fn start(&self, jobs: OwnedJobs, done: Completion);
}

/// Jobs for one holder, each with its own scheme; cheap to clone.
#[derive(Clone, Debug)]
pub struct OwnedJobs(Arc<[HeldJob]>);

/// One whole operation for a holder.
#[derive(Clone)]
pub struct HeldJob {
    /// Padding, encoding and nonce rule.
    pub scheme: Scheme,
    /// A key whose home is the holder.
    pub key: Key,
    /// The digest where the scheme names one, else message, ciphertext or peer key.
    pub input: Zeroizing<Vec<u8>>,
    /// Signature to verify, or OAEP label; else empty.
    pub second: Vec<u8>,
}

impl fmt::Debug for HeldJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeldJob({}, {:?}, {} bytes)", self.scheme, self.key, self.input.len())
    }
}

impl OwnedJobs {
    /// Owns `jobs`.
    #[must_use]
    pub fn new(jobs: Vec<HeldJob>) -> Self {
        Self(jobs.into())
    }
}

impl std::ops::Deref for OwnedJobs {
    type Target = [HeldJob];

    fn deref(&self) -> &[HeldJob] {
        &self.0
    }
}

/// Where results of held jobs go; implemented by the dispatcher.
pub trait CompletionSink: Send + Sync {
    /// The result of the job at `index`; called once per job.
    fn done(&self, index: usize, result: Result<Vec<u8>, JobError>);
    /// The holder went away without answering the job at `index`.
    fn dropped(&self, index: usize);
}

/// Answers for one [`Holder::start`]. Clones share the answers; only the first for each job counts, and when the last
/// clone is dropped every unanswered job is reported as a fault of the holder.
#[derive(Clone)]
pub struct Completion(Arc<CompletionInner>);

struct CompletionInner {
    sink: Box<dyn CompletionSink>,
    is_answered: Box<[AtomicBool]>,
}

impl Completion {
    /// A completion for `jobs` jobs.
    #[must_use]
    pub fn new(jobs: usize, sink: Box<dyn CompletionSink>) -> Self {
        let is_answered = (0..jobs).map(|_| AtomicBool::new(false)).collect();
        Self(Arc::new(CompletionInner { sink, is_answered }))
    }

    /// Answers the job at `index`. False where it does not exist or has been answered: the call then changes nothing.
    #[must_use = "false means that the answer was not taken"]
    pub fn complete(&self, index: usize, result: Result<Vec<u8>, JobError>) -> bool {
        let Some(is_answered) = self.0.is_answered.get(index) else { return false };
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
