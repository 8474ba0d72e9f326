//! Jobs under shares of RSA keys: partial signatures.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use oarlock::keys::threshold::Share;
use oarlock::threshold::{PartialSignature, PendingPartials, SigningRequest, ThresholdError, submit};
use oarlock::{Accelerator, Input, Scheme, SubmitOptions};
use oarlock_wire::fault::{blame_of, fault_of};
use oarlock_wire::jobs::WireJob;
use oarlock_wire::proto::{Code, Fault};

use super::faults::refusal;

/// The jobs of a message, grouped by the share that does them.
#[derive(Default)]
pub(super) struct ShareBatches<'s>(Vec<ShareBatch<'s>>);

struct ShareBatch<'s> {
    share: &'s Share,
    /// The indices of the jobs in their message.
    indices: Vec<u32>,
    requests: Vec<SigningRequest<'s>>,
}

impl<'s> ShareBatches<'s> {
    pub(super) fn add(&mut self, share: &'s Share, index: u32, scheme: Scheme, job: &WireJob<'s>) {
        // A message names few shares, so a linear search is enough.
        let known = self.0.iter().position(|batch| batch.share.key().is_same(share.key()));
        let at = known.unwrap_or_else(|| {
            self.0.push(ShareBatch { share, indices: Vec::new(), requests: Vec::new() });
            self.0.len() - 1
        });
        self.0[at].indices.push(index);
        self.0[at].requests.push(SigningRequest::new(scheme, job.input).with_salt(job.second));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn submit(self, accelerator: &Accelerator, options: SubmitOptions) -> PendingShares {
        let mut pending = PendingShares::default();
        for batch in self.0 {
            match submit(accelerator, batch.share, &batch.requests, options) {
                Ok(signing) => pending.signings.push((batch.indices, Box::pin(signing))),
                Err(error) => {
                    let failed = batch.indices.into_iter().map(|index| (index, Err(share_fault(&error))));
                    pending.done.extend(failed);
                }
            }
        }
        pending
    }
}

/// The index of a job in its message, and its partial signature.
type SharedAnswer = (u32, Result<Vec<u8>, Fault>);

/// Partial signatures under way.
#[derive(Default)]
pub(super) struct PendingShares {
    signings: Vec<(Vec<u32>, Pin<Box<PendingPartials>>)>,
    done: Vec<SharedAnswer>,
}

impl PendingShares {
    /// Returns true if no signature is under way any more.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> bool {
        let Self { signings, done } = self;
        signings.retain_mut(|(indices, signing)| match signing.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(partials) => {
                let answers = partials.into_iter().map(share_answer);
                done.extend(indices.drain(..).zip(answers));
                false
            }
        });
        signings.is_empty()
    }

    /// Returns the answers that have come since the last call.
    pub(super) fn take(&mut self) -> Vec<SharedAnswer> {
        std::mem::take(&mut self.done)
    }
}

/// Returns the partial signature of one input.
///
/// # Errors
/// The share does not do the scheme, or the machine failed.
pub(super) async fn sign_one(
    accelerator: &Accelerator,
    share: &Share,
    scheme: Scheme,
    input: Input<'_>,
    salt: &[u8],
    options: SubmitOptions,
) -> Result<Vec<u8>, Fault> {
    let request = SigningRequest::new(scheme, input).with_salt(salt);
    let signing = submit(accelerator, share, &[request], options).map_err(|error| share_fault(&error))?;
    let partial = signing.await.into_iter().next();
    let unanswered = || refusal(Code::Failed, "the share gave no answer", blame_of(oarlock::Blame::Machine));
    partial.map_or_else(|| Err(unanswered()), share_answer)
}

fn share_answer(partial: Result<PartialSignature, ThresholdError>) -> Result<Vec<u8>, Fault> {
    partial.map(|partial| partial.as_bytes().to_vec()).map_err(|error| share_fault(&error))
}

fn share_fault(error: &ThresholdError) -> Fault {
    match error {
        ThresholdError::Job(error) => fault_of(0, error),
        other => {
            let code = if other.blame() == oarlock::Blame::Machine { Code::Failed } else { Code::Invalid };
            refusal(code, &other.to_string(), blame_of(other.blame()))
        }
    }
}

impl fmt::Debug for PendingShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PendingShares({} batches)", self.signings.len())
    }
}
