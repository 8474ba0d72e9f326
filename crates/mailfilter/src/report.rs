//! What is known of a message when it is done: for the MTA, the log and the counters.

use crate::outcome::{Fault, Outcome};
use oarlock_milter::protocol::Change;

/// What came of a message.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) outcome: Outcome,
    /// What is added to it.
    pub(crate) changes: Vec<Change>,
    /// Places of results in our name, the last one first.
    pub(crate) forged: Vec<u32>,
    /// Each signature in a few words.
    pub(crate) signatures: Vec<String>,
    /// The chain's result.
    pub(crate) arc: Option<String>,
    /// Why it is not better.
    pub(crate) reason: Option<String>,
}

impl Report {
    pub(crate) fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            changes: Vec::new(),
            forged: Vec::new(),
            signatures: Vec::new(),
            arc: None,
            reason: None,
        }
    }

    pub(crate) fn failed(outcome: Outcome, reason: impl ToString) -> Self {
        Self { reason: Some(reason.to_string()), ..Self::of(outcome) }
    }

    pub(crate) fn fault(&self) -> Option<Fault> {
        match self.outcome {
            Outcome::Faulty(fault) => Some(fault),
            _ => None,
        }
    }

    /// Results in our name that we have not written: all of a stranger's message. What an internal host hands on and we sign has been
    /// here before, so that they may be ours.
    pub(crate) fn removes_forged(&self, is_internal: bool) -> bool {
        let is_signed = matches!(self.outcome, Outcome::Signed | Outcome::Faulty(Fault::Signing));
        !(is_signed && is_internal)
    }
}

/// A header field at the top, as it is told to an MTA: its folds are LF.
pub(crate) fn insertion(field: &str) -> Change {
    let (name, value) = field.split_once(':').unwrap_or((field, ""));
    let value = value.replace("\r\n", "\n").into_bytes();
    Change::InsertHeader { index: 0, name: name.as_bytes().to_vec(), value }
}
