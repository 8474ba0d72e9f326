//! Errors of handshakes and of keys.

use std::io;
use std::time::Duration;

use oarlock::KeyKind;
use oarlock::keys::KeyError;

/// The reason why a handshake did not end with a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsHandshakeError {
    /// The peer broke the protocol, sent an alert or is not trusted, or a job of the handshake failed.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The stream failed or ended.
    #[error("the connection failed during the handshake: {0}")]
    Io(#[from] io::Error),
    /// The handshake took too long.
    #[error("the handshake did not end within {} ms", .limit.as_millis())]
    Timeout {
        /// The time that was allowed.
        limit: Duration,
    },
    /// Too many handshakes are open. Close the connection, or try again later.
    #[error("overloaded: {max} handshakes are open, and this is the maximum; try again later")]
    Busy {
        /// The maximum number of open handshakes: [`HandshakeLimits`](crate::HandshakeLimits).
        max: usize,
    },
    /// A callback of the configuration panicked.
    #[error("a callback of the TLS configuration panicked")]
    Panicked,
    /// The threads for handshakes have ended.
    #[error("the threads for handshakes have ended")]
    Stopped,
}

impl From<TlsHandshakeError> for io::Error {
    fn from(error: TlsHandshakeError) -> Self {
        let kind = match &error {
            TlsHandshakeError::Io(inner) => inner.kind(),
            TlsHandshakeError::Tls(_) => io::ErrorKind::InvalidData,
            TlsHandshakeError::Timeout { .. } => io::ErrorKind::TimedOut,
            TlsHandshakeError::Busy { .. } => io::ErrorKind::ResourceBusy,
            TlsHandshakeError::Panicked | TlsHandshakeError::Stopped => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

/// The reason why a key cannot sign handshakes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsKeyError {
    /// The file cannot be read as a key.
    #[error("cannot load the private key: {0}")]
    Key(#[from] KeyError),
    /// TLS has no signatures of this kind of key here.
    #[error(
        "expected a private key for RSA with 2048 to 8192 bits, P-256, P-384, Ed25519 or ML-DSA, found {found:?}"
    )]
    Kind {
        /// The kind of the key.
        found: KeyKind,
    },
    /// The key lives elsewhere, and its public half is not known.
    #[error(
        "the reference names no public key: ask the cryptoserver for the key and pass it to `signing_key`"
    )]
    NoPublicKey,
}
