//! A key that answers everything with zeros, at once: what remains of a request's cost is the service itself. It proves nothing and
//! signs nothing; a server has it only where its configuration says so.

use std::sync::Arc;

use oarlock::Key;
use oarlock::engine_api::{Completion, Holder, OwnedJobs};
use oarlock::{Fingerprint, KeyKind};

/// The name of holder and key.
pub(crate) const NAME: &str = "null";

/// Bytes of each answer: those of an Ed25519 signature.
const ANSWER: usize = 64;

#[derive(Debug)]
pub(crate) struct Null;

impl Holder for Null {
    fn name(&self) -> &str {
        NAME
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        for index in 0..jobs.len() {
            // False where the job was given up meanwhile.
            let _ = done.complete(index, Ok(vec![0; ANSWER]));
        }
    }
}

/// The key, which counts as one for Ed25519.
pub(crate) fn key() -> (Arc<str>, Key) {
    let fingerprint = Fingerprint::new([0; 32]);
    (NAME.into(), Key::held(KeyKind::Ed25519Private, NAME, NAME, None, fingerprint))
}
