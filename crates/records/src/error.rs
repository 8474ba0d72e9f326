//! What is wrong with a job, a file or a row.

use std::fmt;

use oarlock::Status;

/// A word that names nothing here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {expected}, found {found:?}")]
pub struct UnknownName {
    /// The names there are.
    pub expected: String,
    /// The word.
    pub found: String,
}

impl UnknownName {
    /// The one of `all` that is shown as `name`.
    pub(crate) fn find<T: fmt::Display + Copy>(all: &[T], name: &str) -> Result<T, Self> {
        let found = all.iter().find(|own| own.to_string() == name).copied();
        found.ok_or_else(|| {
            let names: Vec<String> = all.iter().map(ToString::to_string).collect();
            Self { expected: names.join(", "), found: name.to_owned() }
        })
    }
}

/// Why a job cannot be done on a file. Always the caller's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There is not even a header.
    #[error("the file is empty: expected a header")]
    NoHeader,
    /// The header is no row.
    #[error("the header: {reason}")]
    BadHeader {
        /// Why.
        reason: String,
    },
    /// The file has no such column.
    #[error("no column {name:?}: the file has {found}")]
    NoColumn {
        /// What was asked for.
        name: String,
        /// What there is.
        found: String,
    },
    /// Two columns have the name.
    #[error("two columns are named {name:?}")]
    TwoColumns {
        /// The name.
        name: String,
    },
    /// Two results would go to one column.
    #[error("two results would go to the column {name:?}")]
    SameColumn {
        /// The name.
        name: String,
    },
    /// The options contradict each other.
    #[error("{what}")]
    Contradiction {
        /// How.
        what: &'static str,
    },
}

/// Why a file cannot be gone on with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The machine failed, not a row.
    #[error("{0}")]
    Machine(String),
}

/// Why one row is rejected. Never anything of the row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The row has other columns than the header.
    Columns {
        /// What the header has.
        expected: u32,
        /// What the row has.
        found: u32,
    },
    /// Something follows a closing quote. RFC 4180 2.5.
    AfterQuote,
    /// A quoted field does not end.
    OpenQuote,
    /// The line is not one JSON object.
    NotObject {
        /// In which byte of the line that shows, from 1.
        byte: u32,
    },
    /// The row has no such field.
    NoField {
        /// Its place among the plan's columns.
        column: u8,
    },
    /// The row has such a field twice.
    TwoFields {
        /// As above.
        column: u8,
    },
    /// The field holds no text.
    NotText {
        /// As above.
        column: u8,
    },
    /// The field is not in the encoding of the job.
    Encoding {
        /// As above.
        column: u8,
    },
    /// No key has the name that the row gives.
    UnknownKey,
    /// The hall refused the record, or the answer is no.
    Refused {
        /// Why.
        status: Status,
        /// What lengths would have fitted.
        expected: Option<String>,
    },
    /// The decrypted bytes are no text in UTF-8.
    NotUtf8,
    /// What was decrypted does not end in a padding. One reason for all that may be wrong.
    Padding,
}

impl Reason {
    /// True where a row that was cut off gives this reason.
    pub(crate) fn may_be_truncation(&self) -> bool {
        match self {
            Self::UnknownKey | Self::Padding | Self::NotUtf8 | Self::AfterQuote | Self::TwoFields { .. } => {
                false
            }
            Self::Refused { status, .. } => *status == Status::BadLength,
            _ => true,
        }
    }
}
