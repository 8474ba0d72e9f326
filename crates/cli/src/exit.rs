//! The end of a command: its error and its exit code.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use oarlock::BuildError;
use oarlock_measure::{CommandError, FailureKind};

/// The error that ends the program.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The command that failed, if its errors begin with its name.
    command: Option<&'static str>,
    error: Box<dyn CommandError>,
}

impl Failure {
    /// Returns a function that turns errors of a command into failures. Their text begins with the command's name.
    pub(crate) fn in_command<E: CommandError + 'static>(command: &'static str) -> impl Fn(E) -> Self {
        move |error| Self { command: Some(command), error: Box::new(error) }
    }

    /// Prints the error on stderr, and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        let kind = self.error.kind();
        match (kind, self.command) {
            (FailureKind::ReaderGone, _) => {}
            (_, Some(command)) => eprintln!("oarlock: {command}: {}", self.error),
            (_, None) => eprintln!("oarlock: {}", self.error),
        }
        ExitCode::from(kind.exit_code())
    }
}

impl<E: CommandError + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { command: None, error: Box::new(error) }
    }
}

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

/// Returns the exit code of wrong usage.
pub(crate) fn usage() -> ExitCode {
    ExitCode::from(FailureKind::Usage.exit_code())
}
