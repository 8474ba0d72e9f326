//! Jobs under shares of RSA keys: partial signatures.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use oarlock::keys::threshold::Share;
use oarlock::threshold::{PartialSignature, PendingPartials, SigningRequest, ThresholdError, submit};
use oarlock::{Accelerator, Scheme, SubmitOptions};
use oarlock_wire::fault::{blame_of, fault_of};
use oarlock_wire::jobs::JobRow;
use oarlock_wire::proto::{Code, Fault};

use crate::session::refusal;

/// Jobs by the share that does them.
#[derive(Default)]
pub(super) struct Shares<'s>(Vec<Lot<'s>>);

struct Lot<'s> {
    share: &'s Share,
    places: Vec<u32>,
    requests: Vec<SigningRequest<'s>>,
}

impl<'s> Shares<'s> {
    pub(super) fn add(&mut self, share: &'s Share, place: u32, scheme: Scheme, row: &JobRow<'s>) {
        let known = self.0.iter().position(|lot| lot.share.key().is_same(share.key()));
        let at = known.unwrap_or_else(|| {
            self.0.push(Lot { share, places: Vec::new(), requests: Vec::new() });
            self.0.len() - 1
        });
        self.0[at].places.push(place);
        self.0[at].requests.push(SigningRequest::new(scheme, row.input).with_salt(row.second));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn submit(self, accelerator: &Accelerator, options: SubmitOptions) -> PendingShares {
        let mut pending = PendingShares::default();
        for lot in self.0 {
            match submit(accelerator, lot.share, &lot.requests, options) {
                Ok(signing) => pending.signings.push((lot.places, Box::pin(signing))),
                Err(error) => {
                    pending.done.extend(lot.places.into_iter().map(|place| (place, Err(fault(&error)))));
                }
            }
        }
        pending
    }
}

/// The place of a job in its message, and its partial signature.
type SharedAnswer = (u32, Result<Vec<u8>, Fault>);

/// Partial signatures under way.
#[derive(Default)]
pub(super) struct PendingShares {
    signings: Vec<(Vec<u32>, Pin<Box<PendingPartials>>)>,
    done: Vec<SharedAnswer>,
}

impl PendingShares {
    /// True where nothing is under way any more.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> bool {
        let Self { signings, done } = self;
        signings.retain_mut(|(places, signing)| match signing.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(partials) => {
                let answers = partials.into_iter().map(answer);
                done.extend(places.drain(..).zip(answers));
                false
            }
        });
        signings.is_empty()
    }

    pub(super) fn take(&mut self) -> Vec<SharedAnswer> {
        std::mem::take(&mut self.done)
    }
}

fn answer(partial: Result<PartialSignature, ThresholdError>) -> Result<Vec<u8>, Fault> {
    partial.map(|partial| partial.as_bytes().to_vec()).map_err(|error| fault(&error))
}

fn fault(error: &ThresholdError) -> Fault {
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
        write!(f, "PendingShares({} lots)", self.signings.len())
    }
}
