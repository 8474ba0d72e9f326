//! The errors of `oarlock dnssec bench`.

use std::io;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock_terminal::{CommandError, FailureKind};

use crate::dnssec::zonegen::ZonegenError;
use crate::product::ProductAbsence;

/// An error of a measurement of whole zones.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ZoneBenchError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("{program}: {reason}")]
    Program { program: String, reason: String },
    #[error(transparent)]
    Product(#[from] ProductAbsence),
    #[error(transparent)]
    Zone(#[from] ZonegenError),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for ZoneBenchError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Zone(error) => error.kind(),
            Self::Stdout(error) => FailureKind::of_stdout(error),
            // The files are the bench's own, in a temporary directory.
            Self::Read { .. } | Self::Write { .. } | Self::Program { .. } | Self::Product(_) => {
                FailureKind::Machine
            }
        }
    }
}
