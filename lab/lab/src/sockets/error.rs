//! Errors of the command.

use std::io;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock_terminal::{CommandError, FailureKind};

/// An error of `oarlock sockets bench`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketsError {
    /// A value of an option is not allowed.
    #[error("--{option}: expected {expected}, found {found}")]
    Option {
        /// The name of the option.
        option: &'static str,
        /// The values that are allowed.
        expected: &'static str,
        /// The value that was given.
        found: String,
    },
    /// The engines cannot be had.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The picture cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Plot {
        /// The file of the picture.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The file that is sent cannot be made.
    #[error("cannot make a file of {bytes} bytes in {}: {error}; set TMPDIR to a directory with space", path.display())]
    File {
        /// The length of the file.
        bytes: u64,
        /// Its directory.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A connection of the machine to itself failed.
    #[error("{way}: {error}")]
    Connection {
        /// The way that failed.
        way: &'static str,
        /// The reason.
        error: io::Error,
    },
    /// Fewer bytes arrived than were sent.
    #[error("{way}: {arrived} bytes arrived, but at least {sent} were sent")]
    Lost {
        /// The way that failed.
        way: &'static str,
        /// The bytes that arrived.
        arrived: u64,
        /// The bytes of the file.
        sent: u64,
    },
    /// The records that arrived do not open to the file.
    #[error("{way}: what arrived is not the file: {reason}")]
    Differs {
        /// The way that failed.
        way: &'static str,
        /// The difference.
        reason: String,
    },
    /// Stdout failed.
    #[error("stdout: {0}")]
    Stdout(io::Error),
}

impl CommandError for SocketsError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Option { .. } | Self::Plot { .. } => FailureKind::Usage,
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::File { .. } | Self::Connection { .. } | Self::Lost { .. } | Self::Differs { .. } => {
                FailureKind::Machine
            }
        }
    }
}
