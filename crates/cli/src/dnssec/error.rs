//! Why there is no output, or not all of it.

use std::io;
use std::path::PathBuf;

use oarlock::Blame;
use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_dnssec::sign::SignError;
use oarlock_dnssec::{DnskeyError, DsError};

use super::capacity::CapacityError;
use super::key_files::KeyFileError;
use crate::keys::KeysError;
use crate::records::RecordsError;

/// Why a zone was not verified or signed, or the answer is no.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DnssecError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("capacity: {0}")]
    Capacity(#[from] CapacityError),
    #[error(transparent)]
    Key(#[from] KeysError),
    #[error(transparent)]
    KeyParts(#[from] KeyError),
    #[error("{}: {error}", path.display())]
    KeyFile { path: PathBuf, error: Box<KeyFileError> },
    #[error(transparent)]
    Dnskey(#[from] DnskeyError),
    #[error("{}: {error}", path.display())]
    Ds { path: PathBuf, error: DsError },
    #[error("{}: {error}", path.display())]
    Sign { path: PathBuf, error: Box<SignError> },
    #[error(transparent)]
    Output(#[from] RecordsError),
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("{0}")]
    Job(#[from] JobError),
    #[error("{program}: {reason}")]
    Program { program: String, reason: String },
    #[error("{0}")]
    Usage(String),
    /// What was wrong was said where it was.
    #[error("{0}")]
    No(String),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl DnssecError {
    /// True where the answer is no.
    pub(crate) fn is_no(&self) -> bool {
        matches!(self, Self::No(_))
    }

    /// True where the user's words or files are wrong, false where the machine or a peer failed.
    pub(crate) fn is_users(&self) -> bool {
        match self {
            Self::Build(error) => !matches!(error, BuildError::NoReferee),
            Self::Capacity(error) => error.is_users(),
            Self::Key(error) => error.is_users(),
            Self::KeyParts(error) => error.blame() == Blame::Caller,
            Self::KeyFile { error, .. } => error.is_users(),
            Self::Ds { error, .. } => !matches!(error, DsError::Job(_)),
            Self::Sign { error, .. } => !error.is_machines(),
            Self::Output(error) => error.is_users(),
            Self::Job(_) | Self::Write { .. } | Self::Program { .. } | Self::Stdout(_) => false,
            _ => true,
        }
    }
}
