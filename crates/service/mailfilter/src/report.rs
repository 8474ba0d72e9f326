//! The report on a finished message, for the MTA, the log and the counters.

use std::fmt;

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
    /// The signatures that do not pass or could not be made, each with its reason.
    pub(crate) failures: Vec<String>,
    /// The address of `From`, if there is a failure.
    pub(crate) author: Option<String>,
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
            failures: Vec::new(),
            author: None,
            arc: None,
            reason: None,
        }
    }

    pub(crate) fn failed(outcome: MessageOutcome, reason: impl ToString) -> Self {
        Self { reason: Some(reason.to_string()), ..Self::new(outcome) }
    }

    /// Returns true if something about the message failed or is missing, so that an operator may look for its reason.
    pub(crate) fn has_failure(&self) -> bool {
        self.fault().is_some() || !self.failures.is_empty() || self.reason.is_some()
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

/// The tags of a signature in a line of the log, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoggedTags<'a> {
    pub(crate) domain: Option<&'a str>,
    pub(crate) selector: Option<&'a str>,
    pub(crate) algorithm: Option<&'a str>,
    pub(crate) identity: Option<&'a str>,
}

/// The maximum length of a value of a stranger in the log, in characters. It is that of an address (RFC 5321 4.5.3.1).
const MAX_LOGGED: usize = 320;

impl fmt::Display for LoggedTags<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d={} s={}", shorten(self.domain.unwrap_or("-")), shorten(self.selector.unwrap_or("-")))?;
        self.algorithm.map_or(Ok(()), |algorithm| write!(f, " a={algorithm}"))?;
        self.identity.map_or(Ok(()), |identity| write!(f, " i={}", shorten(identity)))
    }
}

/// Returns the beginning of a text that a stranger wrote, without control characters.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(MAX_LOGGED).collect()
}

/// Returns the change that inserts a header field at the top, with LF at its folds.
pub(crate) fn insertion(field: &str) -> MessageChange {
    let (name, value) = field.split_once(':').unwrap_or((field, ""));
    let value = value.replace("\r\n", "\n").into_bytes();
    MessageChange::InsertHeader { index: 0, name: name.as_bytes().to_vec(), value }
}
