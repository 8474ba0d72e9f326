//! The errors of threshold signatures, and the party at fault.

use oarlock_core::{Blame, JobError};
use oarlock_keys::KeyError;

/// The reason why a partial signature, its verification or a combination failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError {
    /// The request cannot be encoded under this key, or an operation failed.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A key of an exponentiation could not be made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A partial signature from outside has the wrong length.
    #[error("partial signature of server {index}: expected {expected} bytes, found {found}")]
    PartialLength {
        /// The server.
        index: u8,
        /// Bytes of a partial signature under the key.
        expected: usize,
        /// The value that was given.
        found: usize,
    },
    /// A number of a partial signature is out of its range.
    #[error("partial signature of server {index}: {what} is out of range")]
    PartialRange {
        /// The server.
        index: u8,
        /// The name of the number.
        what: &'static str,
    },
    /// A server that does not exist.
    #[error("index of a server: expected 1 to {shares}, found {found}")]
    Index {
        /// The number of servers that have a share.
        shares: u8,
        /// The value that was given.
        found: u8,
    },
    /// Two partial signatures of one server.
    #[error("two partial signatures of server {index}, expected one")]
    Duplicate {
        /// The server.
        index: u8,
    },
    /// Not enough servers have answered.
    #[error("expected partial signatures of at least {needed} servers, found {found}")]
    TooFew {
        /// The number of servers that sign together.
        needed: u8,
        /// The number of partial signatures.
        found: usize,
    },
    /// These servers answered wrongly: their proofs do not hold.
    #[error("wrong partial signatures of the servers {indices:?}")]
    BadPartials {
        /// The servers, in the order of their partial signatures.
        indices: Vec<u8>,
    },
    /// Every proof holds, but the signature does not verify. This machine computed wrongly, or no dealer made the
    /// threshold key.
    #[error("the combined signature does not verify although every proof does")]
    WrongSignature,
}

impl ThresholdError {
    /// Whose fault it was: a server that answers wrongly is a peer.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Job(error) => error.blame(),
            Self::Key(error) => error.blame(),
            Self::PartialLength { .. } | Self::PartialRange { .. } | Self::BadPartials { .. } => Blame::Peer,
            Self::Index { .. } | Self::Duplicate { .. } | Self::TooFew { .. } => Blame::Caller,
            Self::WrongSignature => Blame::Machine,
        }
    }
}
