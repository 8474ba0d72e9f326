//! The report on a finished message, for the MTA, the log and the counters.

use crate::outcome::{MessageFault, MessageOutcome};
use oarlock_milter::protocol::MessageChange;

/// The report on a finished message.
#[derive(Debug)]
pub(crate) struct MessageReport {
    pub(crate) outcome: MessageOutcome,
    /// The changes to the message.
    pub(crate) changes: Vec<MessageChange>,
    /// The positions of forged results, from the last one on.
    pub(crate) forged: Vec<u32>,
    /// A summary of each signature.
    pub(crate) signatures: Vec<String>,
    /// The verdict of the chain.
    pub(crate) arc: Option<String>,
    /// The reason for a fault or a missing signature.
    pub(crate) reason: Option<String>,
}

impl MessageReport {
    pub(crate) fn new(outcome: MessageOutcome) -> Self {
        Self {
            outcome,
            changes: Vec::new(),
            forged: Vec::new(),
            signatures: Vec::new(),
            arc: None,
            reason: None,
        }
    }

    pub(crate) fn failed(outcome: MessageOutcome, reason: impl ToString) -> Self {
        Self { reason: Some(reason.to_string()), ..Self::new(outcome) }
    }

    pub(crate) fn fault(&self) -> Option<MessageFault> {
        match self.outcome {
            MessageOutcome::Faulty(fault) => Some(fault),
            _ => None,
        }
    }

    /// Returns true if results under this filter's name must be removed. They are forged in a message from outside. A
    /// message that an internal host submits for signing, or that is exempt, may have passed this filter before, so its
    /// results may be genuine.
    pub(crate) fn removes_forged(&self, is_internal: bool) -> bool {
        let is_own = matches!(
            self.outcome,
            MessageOutcome::Signed | MessageOutcome::Ignored | MessageOutcome::Faulty(MessageFault::Signing)
        );
        !(is_own && is_internal)
    }
}

/// Returns the change that inserts a header field at the top, with LF at its folds.
pub(crate) fn insertion(field: &str) -> MessageChange {
    let (name, value) = field.split_once(':').unwrap_or((field, ""));
    let value = value.replace("\r\n", "\n").into_bytes();
    MessageChange::InsertHeader { index: 0, name: name.as_bytes().to_vec(), value }
}
