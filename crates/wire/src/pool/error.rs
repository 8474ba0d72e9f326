//! Why a pool has no answer.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock::JobError;
use oarlock::keys::KeyError;

use crate::WireError;
use crate::proto::{Code, Fault};

/// Why there is no answer. Says nothing of inputs, outputs or keys but names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// There is no server, or it may not be reached.
    #[error("{}: cannot connect: {error}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Another user's process listens there than the settings allow. Nothing was sent to it.
    #[error("{}: expected a server of uid {expected:?}, found one of uid {found}", path.display())]
    WrongOwner {
        /// The socket.
        path: PathBuf,
        /// Whose process it is.
        found: u32,
        /// Whose it may be.
        expected: Vec<u32>,
    },
    /// The key is not the one that was expected, or of another kind.
    #[error("{name:?}: {message}")]
    WrongKey {
        /// What it is called, or its fingerprint where it was brought.
        name: String,
        /// What the server said.
        message: String,
    },
    /// The server refused: `code` says how, and that the answer is no as [`Code::Rejected`].
    #[error("the server refused ({}): {message}", code.as_str_name())]
    Refused {
        /// Its code.
        code: Code,
        /// Its text.
        message: String,
    },
    /// The connection ended before the answer was there.
    #[error("{}: the connection ended after {received} bytes of an answer: {error}", path.display())]
    Truncated {
        /// The socket.
        path: PathBuf,
        /// How much of the answer there was.
        received: usize,
        /// What the system said.
        error: io::Error,
    },
    /// What came is no answer.
    #[error("{}: expected an answer of this protocol: {error}", path.display())]
    Malformed {
        /// The socket.
        path: PathBuf,
        /// What is wrong with it.
        error: WireError,
    },
    /// The answer is a signature that the public key contradicts. It was not released.
    #[error("{}: the server's signature does not verify under the key's public half", path.display())]
    WrongAnswer {
        /// The socket.
        path: PathBuf,
    },
    /// The answer took too long. Whether the server has worked on it is not known.
    #[error("{}: no answer within {} ms", path.display(), patience.as_millis())]
    TimedOut {
        /// The socket.
        path: PathBuf,
        /// How long it might have taken.
        patience: Duration,
    },
    /// The key that should be brought cannot be.
    #[error("the key cannot be brought: {0}")]
    Key(#[from] KeyError),
    /// There cannot be such a job.
    #[error(transparent)]
    Job(#[from] JobError),
    /// There cannot be such a message.
    #[error("the job cannot be sent: {0}")]
    Request(#[from] WireError),
    /// The key of an RSA signature has no public half to verify the answer with.
    #[error("expected a key with its public half, to verify the signature with")]
    NoPublicKey,
    /// This is a fork of the process that asked: the answer is that one's.
    #[error("the answer belongs to the process that asked, of which this one is a fork")]
    Forked,
    /// The answer was taken before.
    #[error("the answer was taken before")]
    Taken,
}

impl PoolError {
    /// True where the server could not be had, was stopping, or had too much to do: a key that is at hand may be used in its place,
    /// and later the server may answer.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Truncated { .. } | Self::TimedOut { .. } => true,
            Self::Refused { code, .. } => {
                matches!(
                    code,
                    Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded | Code::Failed
                )
            }
            _ => false,
        }
    }

    pub(super) fn refused(fault: &Fault, name: &str) -> Self {
        let message = fault.message.clone();
        match fault.code() {
            Code::WrongKey => Self::WrongKey { name: name.to_owned(), message },
            code => Self::Refused { code, message },
        }
    }

    pub(super) fn malformed(path: &Path, error: impl Into<WireError>) -> Self {
        Self::Malformed { path: path.to_owned(), error: error.into() }
    }
}
