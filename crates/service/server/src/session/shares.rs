//! Jobs under shares of RSA keys: partial signatures.

use std::future::Future;

use futures_util::future::join_all;
use oarlock::keys::threshold::Share;
use oarlock::threshold::{PartialSignature, SigningRequest, ThresholdError, submit};
use oarlock::{Accelerator, JobError, SubmitOptions};
use oarlock_wire::fault::{blame_of, fault_of};
use oarlock_wire::proto::{Code, Fault};

use super::faults::refusal;

/// The jobs of a message, grouped by the share that does them.
#[derive(Default)]
pub(super) struct ShareBatches<'s> {
    batches: Vec<ShareBatch<'s>>,
    /// The jobs that no share does.
    refused: Vec<ShareAnswer>,
}

struct ShareBatch<'s> {
    share: &'s Share,
    /// The indices of the jobs in their message.
    indices: Vec<u32>,
    requests: Vec<SigningRequest<'s>>,
}

impl<'s> ShareBatches<'s> {
    /// Adds the job at `index` of its message.
    pub(super) fn add(&mut self, share: &'s Share, index: u32, request: SigningRequest<'s>) {
        // A message names few shares, so a linear search is enough.
        let known = self.batches.iter().position(|batch| batch.share.key().is_same(share.key()));
        let at = known.unwrap_or_else(|| {
            self.batches.push(ShareBatch { share, indices: Vec::new(), requests: Vec::new() });
            self.batches.len() - 1
        });
        self.batches[at].indices.push(index);
        self.batches[at].requests.push(request);
    }

    /// Refuses the job at `index` of its message.
    pub(super) fn refuse(&mut self, index: u32, error: &JobError) {
        self.refused.push((index, Err(fault_of(index, error))));
    }

    /// Submits the jobs now. The future waits for their answers.
    pub(super) fn submit(
        self,
        accelerator: &Accelerator,
        options: SubmitOptions,
    ) -> impl Future<Output = Vec<ShareAnswer>> + Send + use<> {
        let refused = self.refused;
        let signings = self.batches.into_iter().map(|ShareBatch { share, indices, requests }| {
            let submitted = submit(accelerator, share, &requests, options);
            async move {
                let answers = match submitted {
                    Ok(signing) => signing.await,
                    Err(error) => vec![Err(error); indices.len()],
                };
                indices.into_iter().zip(answers.into_iter().map(share_answer)).collect::<Vec<_>>()
            }
        });
        let signings = join_all(signings);
        async move {
            let mut answers = signings.await.concat();
            answers.extend(refused);
            answers
        }
    }
}

/// The index of a job in its message, and its partial signature.
pub(super) type ShareAnswer = (u32, Result<Vec<u8>, Fault>);

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
