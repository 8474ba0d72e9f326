//! A server's part, now or through the queue.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use oarlock_dispatch::{SubmitOptions, Ticket};
use oarlock_keys::threshold::Share;

use super::power::FinishedPowers;
use super::signer::{ShareSigner, StartedRequest};
use super::{PartialSignature, SigningRequest, ThresholdError};
use crate::Accelerator;

/// Computes the partial signatures of the share's server on this thread, in the order of the requests.
///
/// The requests are computed together, with three exponentiations each. A request that cannot be signed does not
/// affect the others.
///
/// # Errors
/// Each: [`ThresholdError::Job`] if the request does not fit the scheme or the key, or no engine could compute it.
pub fn sign(
    accelerator: &Accelerator,
    share: &Share,
    requests: &[SigningRequest<'_>],
) -> Vec<Result<PartialSignature, ThresholdError>> {
    match ShareSigner::new(share) {
        Ok(signer) => {
            let (work, started) = signer.start(requests);
            signer.finish(&started, &work.short.run(accelerator), &work.long.run(accelerator))
        }
        Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
    }
}

/// Computes partial signatures through the queue, where the requests of many callers share batches.
///
/// Await the partial signatures, or block with [`wait`](PendingPartials::wait).
///
/// # Errors
/// [`ThresholdError::Job`] if the tenant's queue is full or no engine offers the shapes.
pub fn submit(
    accelerator: &Accelerator,
    share: &Share,
    requests: &[SigningRequest<'_>],
    options: SubmitOptions,
) -> Result<PendingPartials, ThresholdError> {
    let signer = ShareSigner::new(share)?;
    let (work, started) = signer.start(requests);
    let powers = [work.short, work.long].map(|powers| powers.submit(accelerator, options));
    // If one is refused, `?` drops the ticket of the other, which cancels it.
    let [roots, commitments] = powers;
    Ok(PendingPartials {
        signer,
        started,
        roots: PowersHalf::Pending(roots?),
        commitments: PowersHalf::Pending(commitments?),
    })
}

/// A claim to partial signatures, in the order of their requests.
///
/// Await it, or block with [`wait`](Self::wait). Dropping it cancels every request that is not computed yet.
#[must_use = "dropping it cancels the requests"]
pub struct PendingPartials {
    signer: ShareSigner,
    started: Vec<Result<StartedRequest, ThresholdError>>,
    roots: PowersHalf,
    commitments: PowersHalf,
}

/// The exponentiations of one shape.
enum PowersHalf {
    Pending(Ticket),
    Done(FinishedPowers),
}

impl PendingPartials {
    /// Blocks until every request is answered.
    ///
    /// # Errors
    /// Each as [`sign`].
    pub fn wait(self) -> Vec<Result<PartialSignature, ThresholdError>> {
        self.signer.finish(&self.started, &self.roots.wait(), &self.commitments.wait())
    }
}

impl PowersHalf {
    fn wait(self) -> FinishedPowers {
        match self {
            Self::Pending(ticket) => FinishedPowers::from(ticket.wait()),
            Self::Done(done) => done,
        }
    }

    /// Takes the results once they are there.
    fn poll(&mut self, context: &mut Context<'_>) -> Option<&FinishedPowers> {
        if let Self::Pending(ticket) = self {
            let Poll::Ready(results) = Pin::new(ticket).poll(context) else { return None };
            *self = Self::Done(FinishedPowers::from(results));
        }
        match self {
            Self::Done(done) => Some(done),
            Self::Pending(_) => None,
        }
    }
}

impl Future for PendingPartials {
    type Output = Vec<Result<PartialSignature, ThresholdError>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        // Both are asked, so that each knows whom to wake.
        let (roots, commitments) = (this.roots.poll(context), this.commitments.poll(context));
        match (roots, commitments) {
            (Some(roots), Some(commitments)) => {
                Poll::Ready(this.signer.finish(&this.started, roots, commitments))
            }
            _ => Poll::Pending,
        }
    }
}

impl fmt::Debug for PendingPartials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signing({} requests)", self.started.len())
    }
}
