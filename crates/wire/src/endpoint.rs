//! Where a server is, and how it is reached.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint as TonicEndpoint, Identity};
use zeroize::Zeroizing;

/// A server.
#[derive(Clone)]
#[non_exhaustive]
pub enum Endpoint {
    /// gRPC, at `https://HOST:PORT` under mutual TLS, or at `http://HOST:PORT` without protection.
    Grpc {
        /// The address.
        url: String,
        /// What proves the server and the client; must be there for `https`.
        credentials: Option<Credentials>,
    },
    /// Frames on a UNIX socket that root or the user of this process serves.
    Unix(PathBuf),
    /// Frames on a UNIX socket that root, the user of this process or one of these users serves.
    UnixOf {
        /// The socket.
        path: PathBuf,
        /// Numbers of the users.
        server_uids: Vec<u32>,
    },
}

/// What proves a server and a client to each other, in PEM.
#[derive(Clone)]
pub struct Credentials {
    /// The authority of the server's certificate.
    pub server_ca: Vec<u8>,
    /// The client's chain, its own certificate first.
    pub certificate: Vec<u8>,
    /// The client's private key.
    pub private_key: Zeroizing<Vec<u8>>,
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address is none.
    #[error("{url}: expected https://HOST:PORT, http://HOST:PORT or a path: {reason}")]
    Address {
        /// What was given.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// `https` without certificates.
    #[error("{url}: expected the server's authority, a client certificate and its key for https")]
    NoCredentials {
        /// The address.
        url: String,
    },
    /// Another user's process listens there. Nothing was sent to it.
    #[error("{}: expected a server of uid {expected:?}, found one of uid {found}: name its user as the server's, if it is the right one", path.display())]
    WrongOwner {
        /// The socket.
        path: PathBuf,
        /// Whose process it is.
        found: u32,
        /// Whose it may be.
        expected: Vec<u32>,
    },
    /// The certificates or the key cannot be used.
    #[error("{url}: {reason}")]
    Credentials {
        /// The address.
        url: String,
        /// The fault, and the next step.
        reason: String,
    },
    /// The server cannot be reached, or does not take the client.
    #[error("{place}: {reason}")]
    Unreachable {
        /// Where.
        place: String,
        /// What happened.
        reason: String,
    },
}

/// How long a connection may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes of windows: batches both ways fit without waiting for each other.
const WINDOW: u32 = 4 << 20;

impl Endpoint {
    pub(crate) async fn channel(
        url: &str,
        credentials: Option<&Credentials>,
    ) -> Result<Channel, ConnectError> {
        let bad = |reason: String| ConnectError::Address { url: url.to_owned(), reason };
        let mut endpoint = TonicEndpoint::from_shared(url.to_owned())
            .map_err(|error| bad(chain(&error)))?
            .connect_timeout(PATIENCE)
            .tcp_nodelay(true)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        if url.starts_with("https:") {
            let credentials =
                credentials.ok_or_else(|| ConnectError::NoCredentials { url: url.to_owned() })?;
            let tls = ClientTlsConfig::new()
                .ca_certificate(Certificate::from_pem(&credentials.server_ca))
                .identity(Identity::from_pem(&credentials.certificate, &*credentials.private_key));
            endpoint = endpoint.tls_config(tls).map_err(|error| ConnectError::Credentials {
                url: url.to_owned(),
                reason: credentials_fault(&chain(&error)),
            })?;
        }
        let unreachable = |reason| ConnectError::Unreachable { place: url.to_owned(), reason };
        endpoint.connect().await.map_err(|error| unreachable(chain(&error)))
    }
}

/// Returns what a status says and what caused it: an alert of TLS is among the causes only.
pub(crate) fn status_reason(status: &tonic::Status) -> String {
    let message = match status.message() {
        "" => status.code().description(),
        message => message,
    };
    let cause = std::error::Error::source(status).map(chain).filter(|cause| !message.contains(&**cause));
    match cause {
        Some(cause) => format!("{message}: {cause}"),
        None => message.to_owned(),
    }
}

/// Says in plain words that a key is not its certificate's, the commonest mistake, which the TLS library calls `KeyMismatch`.
fn credentials_fault(text: &str) -> String {
    if text.contains("KeyMismatch") {
        return "the client's private key does not belong to its certificate: expected the key that the certificate was \
                made for"
            .to_owned();
    }
    format!("the certificates or the key cannot be used: {text}")
}

/// An error and what caused it: the outermost alone says "transport error".
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grpc { url, .. } => f.write_str(url),
            Self::Unix(path) | Self::UnixOf { path, .. } => path.display().fmt(f),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

/// Shows nothing of them.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_another_certificate_is_called_that() {
        let text = credentials_fault("transport error: keys may not be consistent: KeyMismatch");
        assert!(
            text.contains("does not belong to its certificate") && !text.contains("KeyMismatch"),
            "{text}"
        );
        assert!(credentials_fault("bad PEM").ends_with(": bad PEM"));
    }
}
