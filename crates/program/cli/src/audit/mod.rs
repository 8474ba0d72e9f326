//! `oarlock audit`: the audit log of the cryptoserver.
//!
//! | module | what it holds |
//! |---|---|
//! | `verify` | `oarlock audit verify` |

mod verify;

use std::io;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use oarlock_terminal::{CommandError, FailureKind, GlobalOptions};

use self::verify::VerifyAuditArgs;

/// Arguments of `oarlock audit`.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Verify that no line of an audit log was removed, changed, added or moved
    Verify(VerifyAuditArgs),
}

/// An error of `oarlock audit`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditCommandError {
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("the chain of the log is broken: {0}")]
    Broken(String),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for AuditCommandError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Read { .. } => FailureKind::Usage,
            Self::Broken(_) => FailureKind::AnswerNo,
            Self::Stdout(error) => FailureKind::of_stdout(error),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A file cannot be read, or the chain is broken.
pub(crate) fn run(global: &GlobalOptions, args: &AuditArgs) -> Result<(), AuditCommandError> {
    match &args.command {
        AuditCommand::Verify(args) => verify::run(global, args),
    }
}
