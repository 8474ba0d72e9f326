//! The errors of `oarlock token`.

use std::io;
use std::path::PathBuf;

use oarlock::BuildError;
use oarlock::keys::KeyError;
use oarlock_cryptoki::ReturnCode;
use oarlock_key_files::objects::{ObjectStoreError, StoreFault};
use oarlock_terminal::{CommandError, FailureKind};

use crate::keys::KeysError;

/// An error of `oarlock token`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error(transparent)]
    Store(#[from] ObjectStoreError),
    #[error("{}: a user PIN of {found} bytes; expected {min} to {max} bytes", path.display())]
    UserPinLength { path: PathBuf, found: usize, min: usize, max: usize },
    #[error("cannot read the PIN in {}: {error}", path.display())]
    PinFile { path: PathBuf, error: io::Error },
    #[error("no terminal to ask for the {name}; {option} names a file that holds it")]
    NoTerminal { name: &'static str, option: &'static str },
    #[error("the terminal: {0}")]
    Terminal(io::Error),
    #[error("the two PINs differ; nothing was changed")]
    PinsDiffer,
    #[error(transparent)]
    Keys(#[from] KeysError),
    #[error("{}: {error}", path.display())]
    Key { path: PathBuf, error: KeyError },
    #[error("{}: expected a private key: RSA, P-256, P-384, Ed25519 or X25519", .0.display())]
    NotPrivate(PathBuf),
    #[error("cannot read {}: {error}", path.display())]
    ReadCertificate { path: PathBuf, error: io::Error },
    #[error("{}: {reason}", path.display())]
    Certificate { path: PathBuf, reason: &'static str },
    #[error("{}: the first certificate is not that of the key in {}", certificate.display(), key.display())]
    OtherKey { certificate: PathBuf, key: PathBuf },
    #[error("{}: an object has the id {id} already; choose another one", path.display())]
    IdTaken { path: PathBuf, id: String },
    #[error("{}: cannot {action}: {code}", path.display())]
    Library { path: PathBuf, action: &'static str, code: ReturnCode },
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl CommandError for TokenError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Store(error) => kind_of_fault(&error.fault),
            Self::Keys(error) => error.kind(),
            Self::Key { error, .. } => error.kind(),
            Self::Build(error) => error.kind(),
            Self::Terminal(_) | Self::Library { .. } => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
            _ => FailureKind::Usage,
        }
    }
}

fn kind_of_fault(fault: &StoreFault) -> FailureKind {
    match fault {
        StoreFault::Damaged { .. }
        | StoreFault::Busy
        | StoreFault::Full
        | StoreFault::Forked
        | StoreFault::Io(_)
        | StoreFault::Database(_)
        | StoreFault::Machine(_) => FailureKind::Machine,
        _ => FailureKind::Usage,
    }
}
