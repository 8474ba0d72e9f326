//! The result of a chain. RFC 8617 5.2, RFC 8601 2.7.

use crate::signature::SignatureError;
use crate::verdict::{DkimVerdict, FailReason, SignatureResult};

/// A fault that breaks a chain before any of its signatures is verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// An instance number is not 1 to 50.
    #[error("`{0}` is not the number of an ARC set: expected 1 to 50")]
    Instance(String),
    /// An ARC field is not a tag list.
    #[error("an ARC field is malformed: {0}")]
    Tags(String),
    /// One of the three fields of a set is missing.
    #[error("ARC set {0} is incomplete")]
    Missing(usize),
    /// One of the three fields of a set occurs twice.
    #[error("ARC set {0} has a field twice")]
    Double(usize),
    /// A seal is malformed.
    #[error("the seal of ARC set {0} is malformed: {1}")]
    Seal(usize, SignatureError),
    /// The value of `cv=` is not valid for a set with this number.
    #[error("ARC set {0} claims `cv={1}`")]
    Claim(usize, String),
    /// An intermediary sealed the chain as broken. No later set can repair it.
    #[error("the chain was broken when ARC set {0} was added")]
    SealedAsFailed(usize),
}

/// The result of verifying the chain of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArcChain {
    /// The number of sets in the message.
    pub sets: usize,
    pub(crate) fault: Option<ChainFault>,
    /// The results of the newest message signature, then of the seals from the newest on. The list holds only the
    /// first if that fails before a key is needed.
    pub signatures: Vec<SignatureResult>,
}

impl ArcChain {
    /// Returns `none`, `pass`, `fail`, or `temperror` if a key could not be looked up for now.
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

    /// Returns the reason why the chain does not pass.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        if let Some(fault) = &self.fault {
            return Some(fault.to_string());
        }
        let worst = |result: &&SignatureResult| result.verdict() == self.verdict();
        let first = || self.signatures.iter().position(|result| result.reason.is_some());
        let index = match self.verdict() {
            DkimVerdict::Temperror => self.signatures.iter().position(|result| worst(&result)),
            DkimVerdict::Fail => first(),
            _ => None,
        }?;
        let which = match index {
            0 => format!("message signature {}", self.sets),
            seal => format!("seal {}", self.sets + 1 - seal),
        };
        let reason = self.signatures[index].reason.as_ref().map(FailReason::to_string).unwrap_or_default();
        Some(format!("{which}: {reason}"))
    }
}
