//! What can be wrong with a message.

use crate::proto::{Blame, Code, Fault};

/// Why a message cannot be understood: the fault of whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A column has another length than the count calls for.
    #[error("column {what}: expected {expected}, found {found}")]
    Column {
        /// Which column.
        what: &'static str,
        /// What would have fitted.
        expected: String,
        /// Its bytes.
        found: usize,
    },
    /// A column names a scheme, task or rule that the message does not have.
    #[error("column {what} names something that the message does not have")]
    Place {
        /// Which column.
        what: &'static str,
    },
    /// An enumeration has a value that this version does not know.
    #[error("{what} {value} is not known here")]
    Unknown {
        /// Which enumeration.
        what: &'static str,
        /// Its value.
        value: i32,
    },
    /// A name is none of those that this version knows.
    #[error("{what} {name:?} is not known here; expected {expected}")]
    Name {
        /// What it names.
        what: &'static str,
        /// As it came, cut to 32 characters.
        name: String,
        /// What would have been understood.
        expected: String,
    },
    /// A field that must be there is not.
    #[error("{what} is missing")]
    Missing {
        /// Which field.
        what: &'static str,
    },
    /// A number is larger than fits.
    #[error("{what}: {found} is more than {bound}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: u64,
        /// How many there may be.
        bound: u64,
    },
    /// The bytes are no message of this protocol.
    #[error("no message of this protocol: {0}")]
    Decode(String),
}

impl WireError {
    /// The same as an answer.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let code = match self {
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
