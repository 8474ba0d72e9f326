//! Why there is no output, or not all of it.

use std::io;
use std::path::PathBuf;

use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_dkim::SignerError;

use crate::key_records::SourceError;
use crate::keys::KeysError;

/// Why mail was not signed or verified, or the answer is no.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DkimError {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Key(#[from] KeysError),
    #[error(transparent)]
    KeyRecord(#[from] KeyError),
    #[error("{}: expected an RSA key of 1024 to 4096 bits or an Ed25519 key, found {found}", path.display())]
    NotForMail { path: PathBuf, found: String },
    #[error("{}: {error}", path.display())]
    Signer { path: PathBuf, error: SignerError },
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("DNS: {0}")]
    Lookup(String),
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
    #[error("{0}")]
    Job(#[from] JobError),
    #[error("{}: {error}", path.display())]
    Plot { path: PathBuf, error: io::Error },
    #[error("{0}")]
    Usage(&'static str),
    #[error("`{0}` is no domain name")]
    Domain(String),
    /// What was wrong was said where it was.
    #[error("{0}")]
    No(String),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl DkimError {
    /// True where the answer is no.
    pub(crate) fn is_no(&self) -> bool {
        matches!(self, Self::No(_))
    }

    /// True where the user's words or files are wrong, false where the machine or a peer failed.
    pub(crate) fn is_users(&self) -> bool {
        match self {
            Self::Build(error) => !matches!(error, BuildError::NoReferee),
            Self::Key(error) => error.is_users(),
            Self::Source(error) => error.is_users(),
            Self::Lookup(_) | Self::Threads(_) | Self::Job(_) | Self::Stdout(_) => false,
            _ => true,
        }
    }
}
