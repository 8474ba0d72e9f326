//! The errors of `oarlock dkim bench` and of `--compare`.

use std::io;
use std::path::PathBuf;

use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_dkim::SignerError;
use oarlock_terminal::{CommandError, FailureKind};

/// An error of a measurement of mail.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MailBenchError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("the key of the messages: {0}")]
    Key(#[from] KeyError),
    #[error("the signer of the messages: {0}")]
    Signer(#[from] SignerError),
    #[error("{0}")]
    Job(#[from] JobError),
    #[error("cannot write {}: {error}", path.display())]
    Plot { path: PathBuf, error: io::Error },
    #[error("{0}")]
    Usage(&'static str),
    /// A message was not signed or verified as it should be.
    #[error("{0}")]
    Wrong(String),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for MailBenchError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Build(error) => error.kind(),
            Self::Plot { .. } | Self::Usage(_) => FailureKind::Usage,
            Self::Wrong(_) => FailureKind::AnswerNo,
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::Key(_) | Self::Signer(_) | Self::Job(_) => FailureKind::Machine,
        }
    }
}
