//! The errors of `oarlock records`.

use std::io;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock::table::TableError;
use oarlock_measure::{CommandError, FailureKind};
use oarlock_records::{KeyFileError, PlanError, RunError};

/// An error of `oarlock records`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordsError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("cannot read {}: {error}", path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("{name}: {error}")]
    Read { name: String, error: io::Error },
    #[error("{name}: a row is longer than {max} bytes (a quote that is left open?)")]
    LongRow { name: String, max: usize },
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
    #[error("cannot write {}: {error}", path.display())]
    Create { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
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

impl CommandError for RecordsError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Rejected { .. } => FailureKind::AnswerNo,
            Self::Build(error) => error.kind(),
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::Read { .. } | Self::Write { .. } | Self::Run(_) | Self::Stopped => FailureKind::Machine,
            _ => FailureKind::Usage,
        }
    }
}
