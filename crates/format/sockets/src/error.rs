//! Errors of sealing and opening, and the party at fault.

use oarlock::{Blame, Status};

use crate::content::Content;
use crate::suite::Suite;

/// The reason why a record cannot be sealed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SealingError {
    /// The payload does not fit into a record.
    #[error("a record of {suite} has at most {max} bytes, found {found}: send it in several records")]
    TooLong {
        suite: Suite,
        /// The largest length.
        max: usize,
        /// The length that was given.
        found: usize,
    },
    /// The protocol has no such content, or no empty record of it.
    #[error("{suite} has no record with {found} bytes of {content}")]
    NoSuchContent {
        suite: Suite,
        content: Content,
        /// The number of bytes.
        found: usize,
    },
    /// The buffer is too small for the record.
    #[error("the record takes up to {needed} bytes, and the buffer has {found}")]
    BufferTooSmall {
        /// The number of bytes that suffice.
        needed: usize,
        /// The number of bytes of the buffer.
        found: usize,
    },
    /// A chosen IV or padding does not fit the suite.
    #[error("{suite}: the chosen {what} has {found} bytes, expected {expected}")]
    BadChoice {
        suite: Suite,
        /// The name of the part.
        what: &'static str,
        /// The lengths that fit.
        expected: &'static str,
        /// The length that was given.
        found: usize,
    },
    /// The keys have protected as much as they may.
    #[error("the keys of {suite} are used up after {limit}: agree on new keys")]
    KeysUsedUp { suite: Suite, limit: &'static str },
    /// Only keys of TLS 1.3 that come from a traffic secret can be updated.
    #[error("{suite}: no traffic secret to update the keys from")]
    NoKeyUpdate { suite: Suite },
    /// The system has no random bytes.
    #[error("the system gave no random bytes")]
    NoRandomBytes,
    /// No engine sealed the record.
    #[error("no engine sealed the record: {0}")]
    Engine(Status),
}

impl SealingError {
    /// Returns the party that has to act.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::NoRandomBytes | Self::Engine(_) => Blame::Machine,
            _ => Blame::Caller,
        }
    }
}

/// The reason why a record cannot be opened. The connection cannot continue after any of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum OpeningError {
    /// The tag, the MAC or the padding is wrong. SSH with an encrypted length reports a bad length so, too.
    #[error("the record does not verify")]
    Rejected,
    /// The first byte is not a type of content that may come here.
    #[error("unexpected type of content {found} in a record of {suite}")]
    UnexpectedContent {
        suite: Suite,
        /// The type.
        found: u8,
    },
    /// The record has another version of the protocol.
    #[error("expected a record of version 3.3, found {major}.{minor}")]
    WrongVersion {
        /// The first byte of the version.
        major: u8,
        /// The second byte of the version.
        minor: u8,
    },
    /// The record is longer or shorter than the protocol permits.
    #[error("a record of {suite} has {min} to {max} bytes behind its length, found {found}")]
    RecordLength {
        suite: Suite,
        /// The smallest length.
        min: usize,
        /// The largest length.
        max: usize,
        /// The length that the record states.
        found: usize,
    },
    /// The length is not a multiple of the cipher's block.
    #[error("a record of {suite} is a multiple of {block} bytes, found {found}")]
    NotWholeBlocks {
        suite: Suite,
        /// The length of a block.
        block: usize,
        /// The length that the record states.
        found: usize,
    },
    /// The content is longer than 2^14 bytes.
    #[error("the content of a record has at most {max} bytes, found {found}")]
    ContentTooLong {
        /// The largest length.
        max: usize,
        /// The length of the content.
        found: usize,
    },
    /// The record of TLS 1.3 has zeros only.
    #[error("the record has no type of content")]
    NoContentType,
    /// The record verifies, but its padding is not valid.
    #[error("the padding of {found} bytes is not valid")]
    BadPadding {
        /// The length that the padding states.
        found: usize,
    },
    /// The record verifies, but it has no content, which its type does not permit.
    #[error("a record of {content} without content")]
    EmptyContent {
        /// The type of content.
        content: Content,
    },
    /// Too many records in a row that transport nothing.
    #[error("{found} {what} in a row")]
    TooManyInARow {
        /// The kind of record.
        what: &'static str,
        /// The number of such records.
        found: u32,
    },
    /// An alert that does not have two bytes, or a KeyUpdate that is not valid.
    #[error("malformed {what}")]
    Malformed {
        /// The kind of message.
        what: &'static str,
    },
    /// The peer used its keys longer than it may.
    #[error("the peer's keys of {suite} are used up after {limit}")]
    KeysUsedUp { suite: Suite, limit: &'static str },
    /// The peer updated its keys, and the opener has no traffic secret to follow.
    #[error("{suite}: no traffic secret to follow a KeyUpdate: make the keys with `Keys::tls13`")]
    NoKeyUpdate { suite: Suite },
    /// The peer closed this direction, or an earlier record was refused.
    #[error("a record after the end of the connection")]
    AfterEnd,
    /// No engine opened the record.
    #[error("no engine opened the record: {0}")]
    Engine(Status),
}

impl OpeningError {
    /// Returns the party that has to act.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::NoKeyUpdate { .. } => Blame::Caller,
            Self::Engine(_) => Blame::Machine,
            _ => Blame::Peer,
        }
    }

    /// Returns the alert of TLS that tells the peer, or None if the fault is not the peer's. RFC 8446 6.2.
    #[must_use]
    pub fn alert(&self) -> Option<u8> {
        match self {
            _ if self.blame() != Blame::Peer => None,
            Self::Rejected | Self::NotWholeBlocks { .. } => Some(20),
            Self::RecordLength { found, max, .. } if found <= max => Some(50),
            Self::RecordLength { .. } | Self::ContentTooLong { .. } => Some(22),
            Self::WrongVersion { .. } => Some(70),
            Self::Malformed { .. } => Some(50),
            _ => Some(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_does_not_verify_has_one_alert_for_all_reasons() {
        let blocks =
            OpeningError::NotWholeBlocks { suite: Suite::TLS12_AES_128_CBC_SHA, block: 16, found: 17 };
        assert_eq!(blocks.alert(), OpeningError::Rejected.alert());
        assert_eq!(OpeningError::Engine(Status::EngineFailed).alert(), None);
        assert_eq!(OpeningError::NoContentType.alert(), Some(10));
    }
}
