//! The errors of a pool.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock::JobError;
use oarlock::keys::KeyError;

use crate::WireError;
use crate::proto::{Code, Fault};

/// An error of a job or a question without an answer. It contains no inputs and no outputs, and of keys only names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The server cannot be reached.
    #[error("{}: cannot connect: {error}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// An unexpected user's process serves the socket. Nothing was sent to it.
    #[error("{}: expected a server of uid {expected:?}, found one of uid {found}", path.display())]
    WrongOwner {
        /// The socket.
        path: PathBuf,
        /// The user of the process.
        found: u32,
        /// The users that may serve the socket.
        expected: Vec<u32>,
    },
    /// The key is not the expected key, or has another kind.
    #[error("{name:?}: {message}")]
    WrongKey {
        /// The name of the key, or its fingerprint if it was brought.
        name: String,
        /// The server's message.
        message: String,
    },
    /// The server refused the job. A negative answer, such as an invalid padding, has [`Code::Rejected`].
    #[error("the server refused ({}): {message}", code.as_str_name())]
    Refused {
        /// The code of the fault.
        code: Code,
        /// The message of the fault.
        message: String,
    },
    /// The connection ended before the answer was complete.
    #[error("{}: the connection ended after {received} bytes of an answer: {error}", path.display())]
    Truncated {
        /// The socket.
        path: PathBuf,
        /// The bytes of the answer that were received.
        received: usize,
        /// The system's error.
        error: io::Error,
    },
    /// The received bytes are not a valid answer.
    #[error("{}: expected an answer of this protocol: {error}", path.display())]
    Malformed {
        /// The socket.
        path: PathBuf,
        /// The fault.
        error: WireError,
    },
    /// The signature in the answer does not verify. It was not released.
    #[error("{}: the server's signature does not verify under the key's public half", path.display())]
    WrongAnswer {
        /// The socket.
        path: PathBuf,
    },
    /// The answer took too long. The client cannot know if the server has done the work.
    #[error("{}: no answer within {} ms", path.display(), patience.as_millis())]
    TimedOut {
        /// The socket.
        path: PathBuf,
        /// The maximum time of an answer.
        patience: Duration,
    },
    /// The key to bring cannot be encoded.
    #[error("the key cannot be brought: {0}")]
    Key(#[from] KeyError),
    /// The job is invalid.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The message cannot be encoded.
    #[error("the job cannot be sent: {0}")]
    Request(#[from] WireError),
    /// The key of an RSA signature has no public half, which is needed to verify the answer.
    #[error("expected a key with its public half, which verifies the signature")]
    NoPublicKey,
    /// This process is a fork of the process that asked, to which the answer belongs.
    #[error("the answer belongs to the parent process, which asked for it")]
    Forked,
    /// The answer was taken before.
    #[error("the answer was taken before")]
    Taken,
}

impl PoolError {
    /// Returns true if the server could not be reached, was stopping, or was overloaded. A local key may be used
    /// instead, and the server may answer later.
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
