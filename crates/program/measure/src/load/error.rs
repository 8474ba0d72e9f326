//! The errors of `oarlock load`.

use std::io;
use std::path::PathBuf;

use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_terminal::{CommandError, FailureKind};
use oarlock_wire::{ConnectError, LinkError, WireError};

use crate::operation::OperationError;

/// An error of a load measurement.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its variant means")]
pub enum LoadError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error("the keys of the load: {0}")]
    Key(KeyError),
    #[error("{0}: expected a running server: `--spawn` starts one for the measurement")]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("no shared memory: {0}; --by unix, or OARLOCK_NO_RING=1, measures the socket alone")]
    RingUnavailable(String),
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("cannot prepare the load: {0}")]
    Job(#[from] JobError),
    #[error("cannot set a server up: {0}")]
    SetUp(String),
    #[error("cannot start a server: {0}")]
    Spawn(io::Error),
    #[error("the server that was started ended: {0}")]
    Ended(String),
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    #[error("--keys-at: expected operations with a key pair: keys of other operations come with the stream")]
    KeysAt,
    #[error("{0}")]
    Usage(&'static str),
    #[error("{name}: {} got a wrong answer or none; the first: {first}", oarlock_terminal::table::count(*.errors, "operation"))]
    Errors { name: String, errors: u64, first: String },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for LoadError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Operation(error) => error.kind(),
            Self::KeysAt | Self::Usage(_) | Self::Write { .. } => FailureKind::Usage,
            Self::Stdout(error) => FailureKind::of_stdout(error),
            _ => FailureKind::Machine,
        }
    }
}
