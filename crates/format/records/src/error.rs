//! Errors of a job, a file or a row.

use std::fmt;
use std::sync::Arc;

use oarlock::keys::text_file::{ForeignLineEnd, TextFault};
use oarlock::{JobError, MacAlg, Status};
use oarlock_keytable::{FormatError, MIN_MAC_LEN};

/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {expected}, found {found:?}")]
#[non_exhaustive]
pub struct UnknownName {
    /// The known names.
    pub expected: String,
    /// The word.
    pub found: String,
}

impl UnknownName {
    /// Finds the value of `all` that is displayed as `name`.
    pub(crate) fn find<T: fmt::Display + Copy>(all: &[T], name: &str) -> Result<T, Self> {
        let found = all.iter().find(|candidate| candidate.to_string() == name).copied();
        found.ok_or_else(|| {
            let names: Vec<String> = all.iter().map(ToString::to_string).collect();
            Self { expected: names.join(", "), found: name.to_owned() }
        })
    }
}

/// The reason why a job cannot run on a file. It is always the caller's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum PlanError {
    /// The file is empty.
    #[error("the file is empty: expected a header")]
    NoHeader,
    /// The file is in UTF-16, or its header has a line end that is not read.
    #[error(transparent)]
    Text(#[from] TextFault),
    /// The header is not a valid row.
    #[error("malformed header: {reason}")]
    BadHeader { reason: String },
    /// The file has no such column.
    #[error("no column {name:?}: the file has {found}")]
    NoColumn {
        /// The missing column.
        name: String,
        /// The columns of the file.
        found: String,
    },
    /// Two columns have the name.
    #[error("two columns are named {name:?}: rename one of them")]
    TwoColumns { name: String },
    /// Two results would go to one column.
    #[error("two results would go to the column {name:?}: choose another column for one of them")]
    SameColumn { name: String },
    /// The job asks for more or fewer bytes of a code than it may have.
    #[error("a MAC of {alg} has {MIN_MAC_LEN} to {} bytes, found {found}", alg.tag_len())]
    MacLength {
        /// The algorithm.
        alg: MacAlg,
        /// The number of bytes.
        found: usize,
    },
    /// The options contradict each other.
    #[error("{what}")]
    Contradiction {
        /// The contradiction.
        what: &'static str,
    },
}

/// The reason why a file cannot be processed further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The machine failed, not a row.
    #[error("{0}")]
    Machine(String),
}

/// The reason why nothing of a file can be used. The last rejected row of the chunk says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowFileFault {
    /// The file ends with an incomplete row, without an end of line.
    Truncated,
    /// A line ends with neither LF nor CRLF. No row of the chunk was computed.
    LineEnd,
}

/// The reason why a row is rejected. It contains no bytes of the row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RejectReason {
    /// The row has other columns than the header.
    Columns {
        /// The number of columns of the header.
        expected: u32,
        /// The number of columns of the row.
        found: u32,
    },
    /// Something follows a closing quote. RFC 4180 2.5.
    AfterQuote,
    /// A quoted field does not end.
    OpenQuote,
    /// The line ends with neither LF nor CRLF.
    LineEnd(ForeignLineEnd),
    /// The line is not one JSON object.
    NotObject {
        /// The byte of the line at which parsing failed, from 1.
        byte: u32,
    },
    /// The row has no such field.
    NoField {
        /// Its index among the plan's columns.
        column: u8,
    },
    /// The row has such a field twice.
    TwoFields {
        /// As above.
        column: u8,
    },
    /// The field is not text.
    NotText {
        /// As above.
        column: u8,
    },
    /// The field is not in the encoding of the job.
    Encoding {
        /// As above.
        column: u8,
    },
    /// The value is not a text of the job's format.
    Format(FormatError),
    /// No key has the name that the row gives.
    UnknownKey,
    /// The accelerator refused the record, or the verification failed.
    Refused {
        /// The reason.
        status: Status,
        /// The allowed lengths.
        expected: Option<String>,
    },
    /// The holder of the key refused the record.
    RefusedByHolder(Arc<JobError>),
    /// The values of the row are longer than a batch for a holder may be.
    TooLong {
        /// The maximum length in bytes.
        max: usize,
    },
    /// The decrypted bytes are not text in UTF-8.
    NotUtf8,
    /// The decrypted value does not end in a valid padding. One reason covers all faults, so that it is no padding
    /// oracle.
    Padding,
}

impl RejectReason {
    /// True if a truncated row can give this reason.
    pub(crate) fn may_be_truncation(&self) -> bool {
        match self {
            Self::UnknownKey
            | Self::RefusedByHolder(_)
            | Self::TooLong { .. }
            | Self::Padding
            | Self::NotUtf8
            | Self::AfterQuote
            | Self::LineEnd(_)
            | Self::TwoFields { .. } => false,
            Self::Refused { status, .. } => *status == Status::BadLength,
            _ => true,
        }
    }
}
