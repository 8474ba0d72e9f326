//! Errors of a call, and of a row.

use std::fmt;

use oarlock::{Blame, JobError, Status};

/// The reason why a call has no result. It contains no values and no key material.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ColumnError {
    /// The column has a type without bytes.
    #[error(
        "the {what} has the type {found}: expected binary, large_binary, binary_view, string, large_string, \
         string_view, fixed_size_binary, or a dictionary of one of these"
    )]
    ColumnType {
        /// The column.
        what: &'static str,
        /// The type that was found.
        found: String,
    },
    /// The buffers of the column contradict each other.
    #[error("the {what} is malformed in row {row}: {fault}")]
    Malformed {
        /// The column.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The contradiction.
        fault: &'static str,
    },
    /// Two columns have different lengths.
    #[error("the {what} has {found} rows: expected {expected}, as many as the values")]
    Rows {
        /// The second column.
        what: &'static str,
        /// The rows of the values.
        expected: usize,
        /// The rows of the second column.
        found: usize,
    },
    /// An unknown name.
    #[error("unknown {what} {found:?}: expected one of {expected}")]
    UnknownName {
        /// The kind of name.
        what: &'static str,
        /// The known names.
        expected: String,
        /// The name that was found.
        found: String,
    },
    /// The options contradict each other, or the algorithm cannot do what is asked for.
    #[error("{0}")]
    Options(String),
    /// There is no such key.
    #[error("there is no key named {name:?}")]
    UnknownKey { name: String },
    /// The key may not do this, or cannot.
    #[error("key {name:?} is refused: {reason}")]
    KeyRefused { name: String, reason: String },
    /// A row is bad, and the caller wants an error in that case.
    #[error("row {row}: {fault} ({count} bad {})", if *count == 1 { "row" } else { "rows" })]
    BadRow {
        /// The first bad row, from 0.
        row: usize,
        fault: RowFault,
        /// The number of bad rows.
        count: usize,
    },
    /// The result has more bytes than its type allows.
    #[error(
        "the result has {found} bytes: a column of the type binary has at most {max}. Split the column, or convert it to \
         large_binary first"
    )]
    TooLarge {
        /// The bytes of the result.
        found: usize,
        /// The maximum.
        max: usize,
    },
    /// The server does not answer, or has failed.
    #[error("the server {server} failed: {reason}")]
    Server { server: String, reason: String },
    /// This machine has failed.
    #[error("this machine failed: {0}")]
    Machine(String),
}

/// The reason why a row has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RowFault {
    /// The tag, or the code, does not verify.
    Unverified,
    /// The value is too short, or it is not whole blocks.
    Length,
    /// The padding is wrong. One reason covers all faults, so that it is no padding oracle.
    Padding,
    /// The value is longer than the keys can take at once.
    TooLong,
    /// The row has a value and no associated data.
    NoAssociatedData,
    /// The row has a value and no row id, from which its IV follows.
    NoRowId,
    /// The value is no text, but a token stands for a text.
    NoText,
    /// A character of the text is not in the alphabet, or not a digit where a check sum needs one.
    Alphabet,
    /// So short a text has less than a million possible ones, so its token could be guessed.
    TooShort,
    /// The text has no valid check sum.
    CheckSum,
    /// The row has a value and no tweak.
    NoTweak,
    /// The row cannot be computed.
    Refused,
}

impl RowFault {
    /// Every fault.
    pub const ALL: [Self; 12] = [
        Self::Unverified,
        Self::Length,
        Self::Padding,
        Self::TooLong,
        Self::NoAssociatedData,
        Self::NoRowId,
        Self::NoText,
        Self::Alphabet,
        Self::TooShort,
        Self::CheckSum,
        Self::NoTweak,
        Self::Refused,
    ];

    /// Returns the text of the fault.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Unverified => "the tag does not verify",
            Self::Length => "the value is too short, or it is not whole blocks",
            Self::Padding => "the padding is wrong",
            Self::TooLong => "the value is too long",
            Self::NoAssociatedData => "the associated data is null",
            Self::NoRowId => "the row id is null",
            Self::NoText => "the value is not UTF-8",
            Self::Alphabet => "a character is not in the alphabet",
            Self::TooShort => "the text is too short: there are less than a million of its length",
            Self::CheckSum => "the digits have no valid check sum (Luhn)",
            Self::NoTweak => "the tweak is null",
            Self::Refused => "the value cannot be computed",
        }
    }
}

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl ColumnError {
    /// Returns the party at fault.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::BadRow { fault: RowFault::Unverified | RowFault::Padding, .. } => Blame::Peer,
            Self::Server { .. } | Self::Machine(_) => Blame::Machine,
            _ => Blame::Caller,
        }
    }

    /// Returns the error of a call that failed as a whole.
    pub(crate) fn of_job(error: JobError, key: &str) -> Self {
        match error {
            JobError::HolderFailed { holder, reason } => Self::Server { server: holder, reason },
            JobError::HolderRefused { reason, .. } => Self::KeyRefused { name: key.to_owned(), reason },
            other => match other.blame() {
                Blame::Machine => Self::Machine(other.to_string()),
                _ => Self::KeyRefused { name: key.to_owned(), reason: other.to_string() },
            },
        }
    }

    /// Returns the fault of a row with this status. A status that is not a fault of the row is an error of the call.
    pub(crate) fn of_status(status: Status, key: &str) -> Result<RowFault, Self> {
        match status {
            Status::Rejected => Ok(RowFault::Unverified),
            Status::BadLength => Ok(RowFault::Length),
            Status::OutOfRange | Status::DependencyFailed | Status::Malformed => Ok(RowFault::Refused),
            Status::UnknownKey => Err(Self::UnknownKey { name: key.to_owned() }),
            Status::BadKey
            | Status::WrongKeyType
            | Status::Forbidden
            | Status::KeyUsedUp
            | Status::IvForbidden
            | Status::WeakKey
            | Status::BadCheckValue => {
                Err(Self::KeyRefused { name: key.to_owned(), reason: status.to_string() })
            }
            _ => Err(Self::Machine(status.to_string())),
        }
    }
}
