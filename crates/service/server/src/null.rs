//! The null key, a hook for benchmarks. It answers every job with zeros at once, so that a benchmark measures the
//! service without cryptography. It signs nothing. A server has it only if `[engines] null_key` is switched on, and
//! warns about it at its start.

use std::sync::Arc;

use oarlock::Key;
use oarlock::engine_api::{Completion, Holder, OwnedJobs};
use oarlock::{Fingerprint, KeyKind};

/// The name of the holder and of the key.
pub(crate) const NAME: &str = "null";

/// The length of each answer: that of an Ed25519 signature.
const ANSWER: usize = 64;

/// The holder of the null key.
#[derive(Debug)]
pub(crate) struct NullHolder;

impl Holder for NullHolder {
    fn name(&self) -> &str {
        NAME
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        for index in 0..jobs.len() {
            // False means that the job was cancelled meanwhile.
            let _ = done.complete(index, Ok(vec![0; ANSWER]));
        }
    }
}

/// Returns the null key, which has the kind of an Ed25519 key.
pub(crate) fn key() -> (Arc<str>, Key) {
    let fingerprint = Fingerprint::new([0; 32]);
    (NAME.into(), Key::held(KeyKind::Ed25519Private, NAME, NAME, None, fingerprint))
}
