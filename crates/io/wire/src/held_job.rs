//! The form in which jobs of held keys are sent.

use oarlock::engine_api::HeldJob;
use oarlock::{Input, Job};

/// Returns a held job as a job, with a digest as input if the scheme has one. `second` is the second input as it is
/// sent.
pub(crate) fn as_job<'j>(job: &'j HeldJob, second: &'j [u8]) -> Job<'j> {
    let input = match job.scheme.message_digest() {
        Some(_) => Input::Digest(&job.input),
        None => Input::Message(&job.input),
    };
    Job::with_scheme(job.scheme, &job.key, input, second)
}
