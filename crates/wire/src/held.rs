//! Jobs of held keys as they are written.

use oarlock::engine_api::HeldJob;
use oarlock::{Input, Job};

/// The job with its digest where the scheme names one. `second` is its second input as it is sent.
pub(crate) fn plain<'j>(job: &'j HeldJob, second: &'j [u8]) -> Job<'j> {
    let input = match job.scheme.message_digest() {
        Some(_) => Input::Digest(&job.input),
        None => Input::Message(&job.input),
    };
    Job::with_scheme(job.scheme, &job.key, input, second)
}
