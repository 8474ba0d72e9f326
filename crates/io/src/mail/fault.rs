//! What can be wrong with one message.

use std::io;
use std::path::PathBuf;

use super::MailSource;

/// A message, or a path, of which nothing came. The others are not affected.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct MailError {
    /// Where it is.
    pub place: MailSource,
    /// What is wrong with it.
    pub fault: MailFault,
}

/// What is wrong with one message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MailFault {
    /// The machine: it cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The peer: it is longer than what is taken into memory. [`MailSource::open`] reads it as a stream.
    #[error("expected at most {max_bytes} bytes, found {len_bytes}")]
    TooLarge {
        /// Its length, or for a stream what was seen of it.
        len_bytes: u64,
        /// The limit.
        max_bytes: u64,
    },
    /// The caller: what is no file of its own cannot be written in place.
    #[error("only a message in a file of its own can be written in place")]
    NotInPlace,
    /// The caller: a Maildir keeps the length of this message in its name (`,S=`), which would be wrong afterwards.
    #[error("its name holds its length (`,S=`), so it cannot be written in place")]
    SizeInName,
    /// The machine: somebody else changed, renamed or removed the file since it was read.
    #[error("the file has changed since it was read")]
    Changed,
    /// The caller: there is a file already where this one should go.
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
}

impl MailError {
    pub(super) fn new(place: MailSource, fault: impl Into<MailFault>) -> Self {
        Self { place, fault: fault.into() }
    }
}
