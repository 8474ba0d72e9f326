//! The errors of messages.

use crate::proto::{Blame, Code, Fault};

/// An error of a message that cannot be decoded. Its sender is to blame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum WireError {
    /// The length of a column does not fit the count.
    #[error("column {what}: expected {expected}, found {found}")]
    Column {
        /// The column.
        what: &'static str,
        /// The expected length.
        expected: String,
        /// The length in bytes.
        found: usize,
    },
    /// A column refers to a scheme, task or fault that the message does not have.
    #[error("column {what}: an index is beyond the list that it refers to")]
    Index {
        /// The column.
        what: &'static str,
    },
    /// An enumeration has a value that this version does not know.
    #[error("{what}: the value {value} is not known here")]
    Unknown {
        /// The enumeration.
        what: &'static str,
        value: i32,
    },
    /// This version does not know a name.
    #[error("{what} {name:?} is not known here; expected {expected}")]
    Name {
        /// The kind of the name.
        what: &'static str,
        /// The name, cut to 32 characters.
        name: String,
        /// The known names.
        expected: String,
    },
    /// A required field is missing.
    #[error("{what} is missing")]
    Missing {
        /// The field.
        what: &'static str,
    },
    /// A scheme does not take its digest.
    #[error(transparent)]
    Digest(oarlock::JobError),
    /// A field is set that another field makes meaningless.
    #[error("{what} is set, and has no meaning with {with}")]
    Unused {
        /// The field that has no meaning.
        what: &'static str,
        /// The value of the other field.
        with: &'static str,
    },
    /// A number exceeds its maximum.
    #[error("{what}: {found} is more than {bound}")]
    TooMany {
        /// The number's name.
        what: &'static str,
        /// The number.
        found: u64,
        /// The maximum.
        bound: u64,
    },
    /// The other process has written what cannot be into the shared memory.
    #[error("shared memory: {reason}")]
    SharedMemory {
        /// The fault.
        reason: String,
    },
    /// The bytes cannot be decoded as a message of this protocol.
    #[error("expected a message of this protocol: {0}")]
    Decode(String),
}

impl WireError {
    /// Returns the error as a fault.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let code = match self {
            // A newer client may know more values, so an unknown value is unsupported, not invalid.
            Self::Unknown { .. } | Self::Name { .. } => Code::Unsupported,
            Self::TooMany { .. } => Code::ResourceExhausted,
            _ => Code::Invalid,
        };
        Fault {
            code: code.into(),
            message: self.to_string(),
            blame: Blame::Caller.into(),
            ..Fault::default()
        }
    }
}

impl From<prost::DecodeError> for WireError {
    fn from(error: prost::DecodeError) -> Self {
        Self::Decode(error.to_string())
    }
}
