//! The errors of `oarlock dkim`.

use std::io;
use std::path::PathBuf;

use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_dkim::SignerError;
use oarlock_mailfilter::SigningTableError;
use oarlock_mailfilter::opendkim::ImportError;
use oarlock_terminal::{CommandError, FailureKind};

use super::publish::{TsigKeyError, UpdateError};
use crate::key_records::SourceError;
use crate::keys::KeysError;
use crate::laboratory::LaboratoryError;

/// An error of `oarlock dkim`, or the answer no.
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
    #[error(transparent)]
    Laboratory(#[from] LaboratoryError),
    #[error("{0}")]
    Usage(&'static str),
    #[error(transparent)]
    Table(#[from] SigningTableError),
    #[error("{}: no line with the selector {selector} signs for {domain}", table.display())]
    NoLine { table: PathBuf, selector: String, domain: String },
    #[error(transparent)]
    TsigKey(#[from] TsigKeyError),
    #[error(
        "--server {0}: expected a name or an address, and perhaps a port, as ns1.example.com or [::1]:53"
    )]
    UpdateServer(String),
    #[error(transparent)]
    Update(#[from] UpdateError),
    #[error("`{0}` is not a domain name")]
    Domain(String),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error("{} exists: name another directory with --out, or overwrite it with --force", .0.display())]
    Exists(PathBuf),
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    /// The answer is no. Details were printed before.
    #[error("{0}")]
    No(String),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for DkimError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::No(_) => FailureKind::AnswerNo,
            Self::Build(error) => error.kind(),
            Self::Key(error) => error.kind(),
            Self::Source(error) => error.kind(),
            Self::Laboratory(error) => error.kind(),
            Self::Update(_) | Self::Lookup(_) | Self::Threads(_) | Self::Job(_) | Self::Write { .. } => {
                FailureKind::Machine
            }
            Self::Stdout(error) => FailureKind::of_stdout(error),
            _ => FailureKind::Usage,
        }
    }
}
