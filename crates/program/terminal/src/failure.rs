//! The end of a command that fails: its error, and the exit code that this leads to.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use oarlock::Blame;
use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_files::output::OutputError;

/// The side that a failure is due to. It decides the exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The reader of stdout has gone: the program ends silently and with success, as in `oarlock ... | head`.
    ReaderGone,
    /// The command worked, and the answer is no: an invalid signature, a bad zone.
    AnswerNo,
    /// The arguments or the input files are wrong.
    Usage,
    /// The machine or a peer failed.
    Machine,
}

/// An error of a command.
pub trait CommandError: Error {
    /// Returns the side that the error is due to.
    fn kind(&self) -> FailureKind;
}

impl<E: CommandError + 'static> From<E> for Box<dyn CommandError> {
    fn from(error: E) -> Self {
        Box::new(error)
    }
}

impl FailureKind {
    /// Returns the exit code of the program.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::ReaderGone => 0,
            Self::AnswerNo => 1,
            Self::Usage => 2,
            Self::Machine => 3,
        }
    }

    /// Returns the kind of an error that writing to stdout gave.
    #[must_use]
    pub fn of_stdout(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::ReaderGone } else { Self::Machine }
    }

    /// Returns the kind of an error whose author knows whom to blame.
    fn of_blame(blame: Blame) -> Self {
        if blame == Blame::Caller { Self::Usage } else { Self::Machine }
    }
}

impl CommandError for BuildError {
    fn kind(&self) -> FailureKind {
        // All other errors name engines or settings that the user chose.
        if matches!(self, Self::NoReferee) { FailureKind::Machine } else { FailureKind::Usage }
    }
}

impl CommandError for OutputError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Create { .. } | Self::Exists { .. } => FailureKind::Usage,
            Self::Write { .. } => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
        }
    }
}

impl CommandError for KeyError {
    fn kind(&self) -> FailureKind {
        FailureKind::of_blame(self.blame())
    }
}

impl CommandError for JobError {
    fn kind(&self) -> FailureKind {
        FailureKind::of_blame(self.blame())
    }
}

/// The error that ends the program.
#[derive(Debug)]
pub struct Failure {
    /// The command that failed, if its errors begin with its name.
    command: Option<&'static str>,
    error: Box<dyn CommandError>,
}

impl Failure {
    /// Returns a function that turns errors of a command into failures. Their text begins with the command's name.
    pub fn in_command<E: CommandError + 'static>(command: &'static str) -> impl Fn(E) -> Self {
        move |error| Self { command: Some(command), error: Box::new(error) }
    }

    /// Prints the error on stderr, and returns the exit code.
    #[must_use]
    pub fn report(&self) -> ExitCode {
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
