//! The errors of `oarlock keys`.

use std::io;
use std::path::{Path, PathBuf};

use oarlock::BuildError;
use oarlock::keys::KeyError;
use oarlock_files::output::OutputError;
use oarlock_hsm::{HsmError, UriError};
use oarlock_key_files::sealed::{IdentityReadFault, RecipientFault, SealFault};
use oarlock_records::{KeyFault, KeyFileError, RotationError};
use oarlock_server::development::DevelopmentError;
use oarlock_service_kit::{HeldKeyFault, KeyHolderError};
use oarlock_terminal::{CommandError, FailureKind};

/// An error of `oarlock keys`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeysError {
    #[error(transparent)]
    Development(#[from] DevelopmentError),
    #[error("{0}")]
    Usage(&'static str),
    #[error("expected a name of letters, digits, '.', '-' and '_', at most 64 of them, found {name:?}{hint}")]
    Name { name: String, hint: &'static str },
    #[error("cannot make the key: {0}")]
    Generate(KeyError),
    #[error("the rights of the key: {0}")]
    Rights(KeyFault),
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Key { path: PathBuf, error: KeyError },
    #[error("{}: {fault}", path.display())]
    Held { path: PathBuf, fault: HeldKeyFault },
    #[error("the URI of a key: {0}")]
    Uri(UriError),
    #[error(transparent)]
    Holders(#[from] KeyHolderError),
    #[error("{}: the private key is encrypted: a passphrase is needed: {option} FILE gives it", path.display())]
    Passphrase { path: PathBuf, option: &'static str },
    #[error("{}: {error}", path.display())]
    Records { path: PathBuf, error: KeyFileError },
    #[error("{}: longer than {max} bytes, the largest allowed file of keys", path.display())]
    LongRecords { path: PathBuf, max: usize },
    #[error("{}: {error}", path.display())]
    Identity { path: PathBuf, error: IdentityReadFault },
    #[error("{}: {fault}", path.display())]
    Sealed { path: PathBuf, fault: SealFault },
    #[error("{} is sealed already", path.display())]
    SealedAlready { path: PathBuf },
    #[error("{} is not sealed: expected a file sealed with age", path.display())]
    NotSealed { path: PathBuf },
    #[error("{} is not sealed: `oarlock keys seal` seals it, and then --to and --to-file keep it so", path.display())]
    PlainRecords { path: PathBuf },
    #[error(
        "{} is sealed, and does not say for whom: expected the recipients with --to or --to-file, to seal it again",
        path.display()
    )]
    NeedsRecipients { path: PathBuf },
    #[error("--to, number {number}: {fault}")]
    Recipient { number: usize, fault: RecipientFault },
    #[error("--to-file: {}, line {line}: {fault}", path.display())]
    RecipientLine { path: PathBuf, line: usize, fault: RecipientFault },
    #[error("--to-file: {}: expected a recipient (age1...) on each line, found none", path.display())]
    NoRecipient { path: PathBuf },
    #[error("{}: longer than {max} bytes, the largest allowed file", path.display())]
    LongFile { path: PathBuf, max: usize },
    #[error("{} has the same name with another ending: remove it first", path.display())]
    Twin { path: PathBuf },
    #[error("{} has a key named {name:?}: --name gives another name, --force replaces it", path.display())]
    NameTaken { path: PathBuf, name: String },
    #[error("{} has no key named {name:?}: `oarlock keys list` shows the keys", directory.display())]
    NoKey { directory: PathBuf, name: String },
    #[error("{}: {name:?}: {error}", path.display())]
    Rotation { path: PathBuf, name: String, error: RotationError },
    #[error("{}{}", .0, force_hint(.0))]
    Output(#[from] OutputError),
    #[error("{} could not be used", files(*count))]
    Broken { count: usize },
    #[error("the device: {0}")]
    Device(#[from] HsmError),
    #[error("{count} of the token's keys could not be used")]
    BrokenObjects { count: usize },
    #[error("the engines: {0}")]
    Engines(#[from] BuildError),
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

impl KeysError {
    /// Returns the error of a key file. A missing passphrase is one of `--passphrase-file`.
    pub(crate) fn of_key(path: &Path, error: KeyError) -> Self {
        match error {
            KeyError::PassphraseMissing => {
                Self::Passphrase { path: path.to_owned(), option: "--passphrase-file" }
            }
            error => Self::Key { path: path.to_owned(), error },
        }
    }

    pub(crate) fn of_held(path: &Path, fault: HeldKeyFault) -> Self {
        Self::Held { path: path.to_owned(), fault }
    }

    /// Names the option of commands that read one key and write another.
    pub(crate) fn of_input(self) -> Self {
        match self {
            Self::Passphrase { path, .. } => Self::Passphrase { path, option: "--in-passphrase-file" },
            other => other,
        }
    }
}

impl CommandError for KeysError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Development(DevelopmentError::NoDirectory) => FailureKind::Usage,
            Self::Generate(error)
            | Self::Key { error, .. }
            | Self::Rotation { error: RotationError::Generate(error), .. } => error.kind(),
            Self::Held { fault, .. } if fault.may_recover() => FailureKind::Machine,
            Self::Holders(error) if error.is_machines() => FailureKind::Machine,
            Self::Output(error) => error.kind(),
            Self::Development(_) | Self::Sealed { fault: SealFault::Machine, .. } => FailureKind::Machine,
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::Device(error) if !error.is_refusal() && !matches!(error, HsmError::Settings(_)) => {
                FailureKind::Machine
            }
            Self::Engines(_) => FailureKind::Machine,
            _ => FailureKind::Usage,
        }
    }
}

/// Returns the option that overwrites a file.
fn force_hint(error: &OutputError) -> &'static str {
    if matches!(error, OutputError::Exists { .. }) { ": --force replaces it" } else { "" }
}

fn files(count: usize) -> String {
    oarlock_terminal::table::count(count as u64, "file")
}
