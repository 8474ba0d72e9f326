//! What is said of a chain. RFC 8617 5.2, RFC 8601 2.7.

use crate::signature::SignatureError;
use crate::verdict::{DkimVerdict, FailReason, SignatureResult};

/// Why a chain is broken before any of its signatures is looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// A number that is not 1 to 50.
    #[error("`{0}` is no number of an ARC set")]
    Instance(String),
    /// A field that is no list of tags.
    #[error("an ARC field is malformed: {0}")]
    Tags(String),
    /// One of the three fields is not there.
    #[error("ARC set {0} is not whole")]
    Missing(usize),
    /// One of the three fields is there twice.
    #[error("ARC set {0} has a field twice")]
    Double(usize),
    /// A seal is malformed.
    #[error("the seal of ARC set {0} is malformed: {1}")]
    Seal(usize, SignatureError),
    /// `cv=` is none that a set of this number can have.
    #[error("ARC set {0} claims `cv={1}`")]
    Claim(usize, String),
    /// Somebody on the way found the chain broken, which no later set can mend.
    #[error("the chain was broken when ARC set {0} was added")]
    SealedAsFailed(usize),
}

/// What is known of a message's chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArcChain {
    /// Sets that the message has.
    pub sets: usize,
    pub(crate) fault: Option<ChainFault>,
    /// Of the newest message signature, then of the seals from the newest on. Only the first if that fails before any key is needed.
    pub signatures: Vec<SignatureResult>,
}

impl ArcChain {
    /// `none`, `pass`, `fail`, or `temperror` where a key could not be had for now.
    #[must_use]
    pub fn verdict(&self) -> DkimVerdict {
        let verdicts = || self.signatures.iter().map(SignatureResult::verdict);
        if self.fault.is_some() {
            DkimVerdict::Fail
        } else if self.sets == 0 {
            DkimVerdict::None
        } else if verdicts().all(|verdict| verdict == DkimVerdict::Pass) {
            DkimVerdict::Pass
        } else if verdicts().all(|verdict| matches!(verdict, DkimVerdict::Pass | DkimVerdict::Temperror)) {
            DkimVerdict::Temperror
        } else {
            DkimVerdict::Fail
        }
    }

    /// Why it does not pass.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        if let Some(fault) = &self.fault {
            return Some(fault.to_string());
        }
        let worst = |result: &&SignatureResult| result.verdict() == self.verdict();
        let first = || self.signatures.iter().position(|result| result.reason.is_some());
        let place = match self.verdict() {
            DkimVerdict::Temperror => self.signatures.iter().position(|result| worst(&result)),
            DkimVerdict::Fail => first(),
            _ => None,
        }?;
        let which = match place {
            0 => format!("message signature {}", self.sets),
            seal => format!("seal {}", self.sets + 1 - seal),
        };
        let reason = self.signatures[place].reason.as_ref().map(FailReason::to_string).unwrap_or_default();
        Some(format!("{which}: {reason}"))
    }
}
