//! The errors of `oarlock dnssec`.

use std::io;
use std::path::PathBuf;

use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError};
use oarlock_dnssec::ksr::{BundleLookupError, KeyBundleError, KsrPlanError, KsrSignError};
use oarlock_dnssec::sign::ZoneSignError;
use oarlock_dnssec::{DnskeyError, DomainNameBuf, DsError, DssetError};
use oarlock_files::output::OutputError;
use oarlock_measure::capacity::CapacityError;
use oarlock_terminal::{CommandError, FailureKind};

use super::key_files::SigningKeyError;
use super::sign::KeyObstacle;
use super::times::date;
use crate::keys::KeysError;
use crate::laboratory::LaboratoryError;

/// An error of `oarlock dnssec`, or the answer no.
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
    KeyFile { path: PathBuf, error: Box<SigningKeyError> },
    #[error(transparent)]
    Dnskey(#[from] DnskeyError),
    #[error(
        "{} has no private key of {zone}: expected files as {pattern}, which `oarlock dnssec keygen` makes",
        directory.display()
    )]
    NoZoneKey { directory: PathBuf, zone: DomainNameBuf, pattern: String },
    #[error("{}: {obstacle}", path.display())]
    KeyTime { path: PathBuf, obstacle: KeyObstacle },
    #[error(
        "the clock shows {}, which is before 2024, so no time of a key can be trusted: set the clock, or give the time of \
         signing with `sign --now YYYYMMDDHHMMSS`",
        date(*now)
    )]
    Clock { now: u32 },
    #[error("{}: {error}", path.display())]
    Ds { path: PathBuf, error: DsError },
    #[error("{0}")]
    Digest(DsError),
    #[error("{}, {error}", path.display())]
    Dsset { path: PathBuf, error: Box<DssetError> },
    #[error("{}, {error}", path.display())]
    KeyBundle { path: PathBuf, error: Box<KeyBundleError> },
    #[error("{}: {error}", path.display())]
    KsrPlan { path: PathBuf, error: KsrPlanError },
    #[error("{}: {error}", path.display())]
    Ksr { path: PathBuf, error: Box<KsrSignError> },
    #[error("{}: {error}; make a request and a response for a time that includes now", path.display())]
    NoBundle { path: PathBuf, error: BundleLookupError },
    #[error("{} and {}: {error}", first.display(), second.display())]
    SameTag { first: PathBuf, second: PathBuf, error: Box<ZoneSignError> },
    #[error("{}: {error}", path.display())]
    Sign { path: PathBuf, error: Box<ZoneSignError> },
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{0}")]
    Job(#[from] JobError),
    #[error(transparent)]
    Laboratory(#[from] LaboratoryError),
    #[error("{0}")]
    Usage(String),
    /// The answer is no. Details were printed before.
    #[error("{0}")]
    No(String),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for DnssecError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::No(_) => FailureKind::AnswerNo,
            Self::Build(error) => error.kind(),
            Self::Capacity(error) => error.kind(),
            Self::Laboratory(error) => error.kind(),
            Self::Key(error) => error.kind(),
            Self::KeyParts(error) => error.kind(),
            Self::KeyFile { error, .. } => error.kind(),
            Self::Output(error) => error.kind(),
            Self::Ds { error: DsError::Job(_), .. } | Self::Digest(DsError::Job(_)) => FailureKind::Machine,
            Self::Ksr { error, .. } if error.is_machines() => FailureKind::Machine,
            Self::Sign { error, .. } if error.is_machines() => FailureKind::Machine,
            Self::Job(_) => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
            _ => FailureKind::Usage,
        }
    }
}
