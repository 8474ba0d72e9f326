//! Errors of single messages.

use std::io;
use std::path::PathBuf;

use super::MailSource;

/// A message or a path that could not be read or written. Other messages are not affected.
#[derive(Debug, thiserror::Error)]
#[error("{location}: {fault}")]
pub struct MailError {
    /// The location of the message.
    pub location: MailSource,
    /// The fault of the message.
    pub fault: MailFault,
}

/// The fault of a message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailFault {
    /// The system cannot read or write the message.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The message exceeds the limit for messages in memory.
    #[error("expected at most {max_bytes} bytes, found {len_bytes}")]
    TooLarge {
        /// The length of the message; for a stream, the number of bytes read.
        len_bytes: u64,
        /// The limit.
        max_bytes: u64,
    },
    /// The message is not a file of its own, so it cannot be written in place.
    #[error("only a message in a file of its own can be written in place")]
    NotInPlace,
    /// The name of the message in a Maildir contains its length (`,S=`), which would be wrong afterwards.
    #[error("its name holds its length (`,S=`), so it cannot be written in place")]
    SizeInName,
    /// Another program changed, renamed or removed the file after it was read.
    #[error("the file has changed since it was read")]
    Changed,
    /// The destination exists already.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
}

impl MailError {
    pub(super) fn new(location: MailSource, fault: impl Into<MailFault>) -> Self {
        Self { location, fault: fault.into() }
    }
}
