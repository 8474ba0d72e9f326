//! The errors of adding a key to the table.

use oarlock_core::{Blame, KeyType, Status};
use oarlock_keys::KeyError;

use super::{KeyWeakness, PolicyError};

/// The reason why a key was not added to the table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum TableError {
    /// Another key has the name.
    #[error("the table has a key named {name:?}")]
    NameTaken { name: String },
    /// The table has no such key.
    #[error("the table has no key named {name:?}")]
    UnknownKey { name: String },
    /// The length is not one of the type's.
    #[error("a {key_type} key has {} bytes, found {found}", .key_type.key_len().map_or("1 to 65535".into(), |len| len.to_string()))]
    Length {
        /// The type that was stated.
        key_type: KeyType,
        /// Bytes that were given.
        found: usize,
    },
    /// The policy makes no sense for the type, or no safe one.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The policy refuses weak keys.
    #[error("{weakness}")]
    WeakKey {
        /// The weakness of the key.
        weakness: KeyWeakness,
    },
    /// The key was not unwrapped.
    #[error("not unwrapped: {reason}")]
    NotUnwrapped { reason: Status },
    /// The key could not be imported.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The table has given out all its indices.
    #[error("the table has given out all its indices")]
    Full,
}

impl TableError {
    /// Returns the party at fault.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Key(KeyError::Machine { .. }) | Self::Full => Blame::Machine,
            Self::NotUnwrapped { reason: Status::Unsupported | Status::EngineFailed } => Blame::Machine,
            Self::NotUnwrapped { reason: Status::Rejected | Status::BadCheckValue } => Blame::Peer,
            _ => Blame::Caller,
        }
    }
}
