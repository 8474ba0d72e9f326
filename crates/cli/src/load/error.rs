//! Why there are no numbers.

use std::io;
use std::path::PathBuf;

use oarlock::{BuildError, JobError};
use oarlock_server::development::DevelopmentError;
use oarlock_wire::{ConnectError, LinkError, WireError};

use crate::call::CallError;
use crate::operation::OperationError;

/// Why there are no numbers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("the work itself: {0}")]
    Job(#[from] JobError),
    #[error(transparent)]
    Development(#[from] DevelopmentError),
    #[error("cannot start a server: {0}")]
    Spawn(io::Error),
    #[error("the server that was started ended: {0}")]
    Ended(String),
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    #[error("--keys-at: expected operations with a key pair: others have their keys with the stream")]
    KeysAt,
    #[error("{0}")]
    Usage(&'static str),
    #[error("{name}: {} had no right answer; the first: {first}", crate::table::count(*.errors, "operation"))]
    Errors { name: String, errors: u64, first: String },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl LoadError {
    /// True where the user's words or files are wrong, false where the machine or the server failed.
    pub(crate) fn is_users(&self) -> bool {
        match self {
            Self::Build(error) => !matches!(error, BuildError::NoReferee),
            Self::Operation(error) => error.is_users(),
            Self::Call(error) => error.is_users(),
            Self::KeysAt | Self::Usage(_) | Self::Write { .. } => true,
            _ => false,
        }
    }
}
