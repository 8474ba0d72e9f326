//! The errors of `oarlock speed`.

use std::io;
use std::path::PathBuf;

use oarlock::engine_api::EngineFault;
use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_terminal::{CommandError, FailureKind};

use crate::operation::OperationError;
use crate::peer::PeerError;

/// An error of a measurement of rates.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its variant means")]
pub enum SpeedError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error("keys for {op}: {error}")]
    Key { op: String, error: KeyError },
    #[error("{op}: {count} records of {len} bytes do not fit into 4 GiB: expected a smaller --records")]
    TooLarge { op: String, count: usize, len: usize },
    #[error("{op}: {error}")]
    Bare { op: String, error: EngineFault },
    #[error("{op}: {error}")]
    Job { op: String, error: JobError },
    #[error("{op}: {error}")]
    Peer { op: String, error: PeerError },
    #[error("--libcrypto: {0}")]
    Libcrypto(PeerError),
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for SpeedError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Operation(error) => error.kind(),
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::TooLarge { .. } | Self::Libcrypto(_) | Self::Write { .. } => FailureKind::Usage,
            Self::Key { .. } | Self::Bare { .. } | Self::Job { .. } | Self::Peer { .. } => {
                FailureKind::Machine
            }
        }
    }
}
