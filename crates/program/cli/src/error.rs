//! The error of the commands that have none of their own.

use std::io;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock_terminal::{CommandError, FailureKind};

/// An error of the commands that have no error of their own: `engines`, `completions` and `man`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("the self test failed for {0}")]
    SelfTest(String),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for ProgramError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Write { .. } => FailureKind::Usage,
            Self::SelfTest(_) => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
        }
    }
}
