//! The errors of `oarlock records`.

use std::io;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock::table::TableError;
use oarlock_io::output::OutputError;
use oarlock_measure::{CommandError, FailureKind};
use oarlock_records::{ChunkError, KeyFileError, PlanError, RunError};

/// An error of `oarlock records`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordsError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("cannot read {}: {error}", path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("{name}: {error}")]
    Chunk { name: String, error: ChunkError },
    #[error("{name} is truncated: its last row, on line {line}, is not whole ({reason})")]
    Truncated { name: String, line: u64, reason: String },
    #[error("{}: {error}", path.display())]
    Keys { path: PathBuf, error: KeyFileError },
    #[error("{origin}: expected a key in hexadecimal digits")]
    NotHex { origin: String },
    #[error("{origin}: {error}")]
    Key { origin: String, error: TableError },
    #[error("the environment has no {0}")]
    NoVariable(String),
    #[error("{} has no key named {name:?}", path.display())]
    NoKey { path: PathBuf, name: String },
    #[error(transparent)]
    Plan(PlanError),
    #[error("{0}")]
    Usage(&'static str),
    #[error("{} is the input and would be overwritten: expected another output", path.display())]
    OverInput { path: PathBuf },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
    #[error("{rejected} of {} rejected{hint}", oarlock_measure::table::count(*.rows, "row"))]
    Rejected { rejected: u64, rows: u64, hint: &'static str },
    /// Another thread has failed and reports the reason.
    #[error("stopped")]
    Stopped,
}

impl From<ChunkError> for RecordsError {
    /// The name of the file is added by [`RecordsError::in_file`].
    fn from(error: ChunkError) -> Self {
        Self::Chunk { name: String::new(), error }
    }
}

impl RecordsError {
    /// Names the file in an error of its chunks.
    pub(super) fn in_file(self, file: &str) -> Self {
        match self {
            Self::Chunk { error, .. } => Self::Chunk { name: file.to_owned(), error },
            other => other,
        }
    }
}

impl CommandError for RecordsError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Rejected { .. } => FailureKind::AnswerNo,
            Self::Build(error) => error.kind(),
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::Output(error) => error.kind(),
            Self::Chunk { error: ChunkError::Read(_), .. } | Self::Run(_) | Self::Stopped => {
                FailureKind::Machine
            }
            _ => FailureKind::Usage,
        }
    }
}
