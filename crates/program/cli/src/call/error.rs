//! The errors of `oarlock call`.

use std::io;
use std::path::PathBuf;

use oarlock::Blame;
use oarlock::keys::KeyError;
use oarlock::{BuildError, JobError, MlDsaSet, MlKemSet, Scheme};
use oarlock_keytable::KeyType;
use oarlock_server::development::DevelopmentError;
use oarlock_terminal::{CommandError, FailureKind};
use oarlock_wire::proto;
use oarlock_wire::{ConnectError, LinkError, RemoteError, WireError};

/// An error of `oarlock call`.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
    #[error(transparent)]
    Development(#[from] DevelopmentError),
    #[error("{}{}", .0, connect_hint(.0))]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Remote(#[from] RemoteError),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Wire(WireError),
    #[error("{}", job_fault(.0))]
    Job(JobError),
    #[error("the server's key: {0}")]
    Key(#[from] KeyError),
    #[error("{name}: the key has no public half: expected `oarlock call encrypt`, `decrypt` or `mac`")]
    NoPublicKey { name: String },
    #[error("--scheme: expected {expected}, found {found:?}")]
    Scheme { expected: String, found: String },
    #[error("--pre-hash: expected {expected}, found {found:?}")]
    PreHash { expected: String, found: String },
    #[error("--context: {scheme} takes no context: expected an ML-DSA or SLH-DSA key, and no mu-ml-dsa")]
    NoContext { scheme: Scheme },
    #[error("--context: expected at most {} bytes, found {found}", MlDsaSet::MAX_CONTEXT_LEN)]
    LongContext { found: usize },
    #[error("{given} needs {missing}: expected both the certificate and its private key, or neither")]
    HalfIdentity { given: &'static str, missing: &'static str },
    #[error("--scheme {found}: the key is {key}: expected {expected}")]
    SchemeOfKey { found: String, key: String, expected: &'static str },
    #[error("{option} {found}: the key is {key}: expected {expected}")]
    AlgorithmOfKey { option: &'static str, found: String, key: KeyType, expected: String },
    #[error("--iv: expected {digits} hexadecimal digits for {cipher}")]
    Iv { cipher: String, digits: usize },
    #[error(
        "a value sealed with {cipher} has at least {min} bytes, found {found}: expected what `oarlock call encrypt` writes"
    )]
    Short { cipher: String, min: usize, found: usize },
    #[error("--in: a ciphertext of {set} has {} bytes, found {found}", set.ciphertext_len())]
    CiphertextLen { set: MlKemSet, found: usize },
    #[error("{command}: the key is {key}: expected {expected}")]
    KindOfKey { command: &'static str, key: String, expected: &'static str },
    #[error(
        "--server: expected https://HOST:PORT, http://HOST:PORT or the path of a UNIX socket, found {found:?}{}",
        address_hint(found)
    )]
    Address { found: String },
    #[error("{0}")]
    Usage(&'static str),
    #[error("cannot read {}: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("the server's answer belongs to another request")]
    Unexpected,
    #[error("stdout: {0}")]
    Stdout(#[from] io::Error),
}

/// Describes a job's error for a user who has one server and knows no holders.
fn job_fault(error: &JobError) -> String {
    match error {
        JobError::HolderRefused { holder, reason } => format!("{holder} refused: {reason}"),
        JobError::HolderFailed { holder, reason } => format!("{holder} failed: {reason}"),
        error => error.to_string(),
    }
}

/// Returns the next step for a server that cannot be reached.
fn connect_hint(error: &ConnectError) -> &'static str {
    match error {
        ConnectError::Unreachable { .. } => "; `oarlock serve` starts a server, --server names another one",
        _ => "",
    }
}

/// Returns a hint for an address that lacks only its scheme.
fn address_hint(found: &str) -> String {
    if found.is_empty() || found.contains("://") {
        return String::new();
    }
    format!("; https://{found} is mutual TLS, ./{found} a socket in this directory")
}

impl CommandError for CallError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Job(JobError::Rejected) => FailureKind::AnswerNo,
            Self::Job(error) if error.blame() == Blame::Machine => FailureKind::Machine,
            Self::Link(LinkError::Refused(fault)) if fault.blame() != proto::Blame::Machine => {
                FailureKind::Usage
            }
            Self::Connect(ConnectError::Unreachable { .. } | ConnectError::WrongOwner { .. }) => {
                FailureKind::Machine
            }
            Self::Remote(RemoteError::TooFewServers { .. }) => FailureKind::Usage,
            Self::Build(error) => error.kind(),
            Self::Stdout(error) => FailureKind::of_stdout(error),
            Self::Runtime(_) | Self::Remote(_) | Self::Link(_) | Self::Unexpected | Self::Write { .. } => {
                FailureKind::Machine
            }
            _ => FailureKind::Usage,
        }
    }
}
