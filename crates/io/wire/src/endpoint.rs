//! The address of a server, and the credentials to connect to it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use futures_util::future::BoxFuture;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint as TonicEndpoint, Identity, Uri};
use zeroize::Zeroizing;

use crate::ServerUsers;
use crate::server_verifier::server_verifier;

/// The address of a server.
#[derive(Clone)]
#[non_exhaustive]
pub enum Endpoint {
    /// A gRPC server, at `https://HOST:PORT` under mutual TLS, or at `http://HOST:PORT` without protection.
    Grpc {
        /// The address.
        url: String,
        /// The certificates and the key; required for `https`.
        credentials: Option<Credentials>,
    },
    /// A UNIX socket.
    Unix {
        /// The socket.
        path: PathBuf,
        /// The users who may run the server.
        users: ServerUsers,
    },
}

/// The certificates and the key of a client, and the authority of its server, in PEM.
#[derive(Clone)]
pub struct Credentials {
    /// The authority of the server's certificate.
    pub server_ca: Vec<u8>,
    /// The client's chain, its own certificate first.
    pub certificate: Vec<u8>,
    /// The client's private key.
    pub private_key: Zeroizing<Vec<u8>>,
}

/// An error of a connection attempt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ConnectError {
    /// The address is invalid.
    #[error("{url}: expected https://HOST:PORT, http://HOST:PORT or a path: {reason}")]
    Address {
        /// The address.
        url: String,
        /// The fault.
        reason: String,
    },
    /// The address is `https`, and there are no certificates.
    #[error("{url}: expected the server's authority, a client certificate and its key for https")]
    NoCredentials {
        /// The address.
        url: String,
    },
    /// An unexpected user's process serves the socket. Nothing was sent to it.
    #[error("{}: expected a server of uid {expected:?}, found one of uid {found}: if it is the right server, name its user in the settings", path.display())]
    WrongOwner {
        /// The socket.
        path: PathBuf,
        /// The user of the process.
        found: u32,
        /// The users that may serve the socket.
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
    /// The server cannot be reached, or refuses the client.
    #[error("{address}: {reason}")]
    Unreachable { address: String, reason: String },
}

/// The maximum time of a connection attempt.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The bytes of HTTP/2 windows: batches in both directions fit without waiting for each other.
const WINDOW: u32 = 4 << 20;

impl Endpoint {
    /// Returns the endpoint of a UNIX socket that root or the user of this process serves.
    #[must_use]
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::Unix { path: path.into(), users: ServerUsers::default() }
    }

    /// Connects to a server for the single calls of [`proto::cryptoserver_client`](crate::proto::cryptoserver_client).
    /// The channel never connects again. Needs a tokio runtime.
    ///
    /// # Errors
    /// The server cannot be reached, or the endpoint is a UNIX socket, which has no single calls.
    pub async fn connect(&self) -> Result<Channel, ConnectError> {
        match self {
            Self::Grpc { url, credentials } => Self::channel(url, credentials.as_ref(), None).await,
            Self::Unix { path, .. } => {
                let reason = "single calls need gRPC, and this is a UNIX socket".to_owned();
                Err(ConnectError::Unreachable { address: path.display().to_string(), reason })
            }
        }
    }

    pub(crate) async fn channel(
        url: &str,
        credentials: Option<&Credentials>,
        at: Option<SocketAddr>,
    ) -> Result<Channel, ConnectError> {
        let bad = |reason: String| ConnectError::Address { url: url.to_owned(), reason };
        let mut endpoint = TonicEndpoint::from_shared(url.to_owned())
            .map_err(|error| bad(error_chain(&error)))?
            // Without a limit a dropped SYN would hold the connection for minutes.
            .connect_timeout(PATIENCE)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        if url.starts_with("https:") {
            let credentials =
                credentials.ok_or_else(|| ConnectError::NoCredentials { url: url.to_owned() })?;
            let unusable = |reason: String| ConnectError::Credentials {
                url: url.to_owned(),
                reason: credentials_fault(&reason),
            };
            let verifier = server_verifier(credentials).map_err(unusable)?;
            let identity = Identity::from_pem(&credentials.certificate, &*credentials.private_key);
            let tls = ClientTlsConfig::new().identity(identity);
            endpoint = endpoint
                .tls_config_with_verifier(tls, verifier)
                .map_err(|error| unusable(error_chain(&error)))?;
        }
        let unreachable = |reason| ConnectError::Unreachable { address: url.to_owned(), reason };
        let connector = tower::service_fn(connect_once(at));
        endpoint.connect_with_connector(connector).await.map_err(|error| unreachable(error_chain(&error)))
    }
}

/// Returns a function that connects to a server when it is first called, and fails when it is called again. A stream
/// of requests ends with its connection. The library would connect again and again, without a pause, to a server that
/// refuses a client's certificate: under TLS 1.3 each of these handshakes is a success for the client. `at` replaces
/// the name in the address, which the certificate must have in any case.
fn connect_once(
    at: Option<SocketAddr>,
) -> impl FnMut(Uri) -> BoxFuture<'static, io::Result<TokioIo<TcpStream>>> {
    let mut is_connected = false;
    move |uri| {
        let is_second = std::mem::replace(&mut is_connected, true);
        Box::pin(async move {
            if is_second {
                return Err(io::Error::new(
                    io::ErrorKind::ConnectionAborted,
                    "the server closed the connection",
                ));
            }
            let stream = match at {
                Some(at) => TcpStream::connect(at).await?,
                None => TcpStream::connect(host_and_port(&uri)).await?,
            };
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(stream))
        })
    }
}

/// Returns the host and the port of an address.
pub(crate) fn host_and_port(uri: &Uri) -> (String, u16) {
    // IPv6 addresses have brackets in a URL and none in the address of a socket.
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    (host.to_owned(), uri.port_u16().unwrap_or(usual))
}

/// Returns the message of a status with its causes. A TLS alert is only among the causes.
pub(crate) fn status_reason(status: &tonic::Status) -> String {
    let message = match status.message() {
        "" => status.code().description(),
        message => message,
    };
    let cause =
        std::error::Error::source(status).map(error_chain).filter(|cause| !message.contains(&**cause));
    match cause {
        Some(cause) => format!("{message}: {cause}"),
        None => message.to_owned(),
    }
}

/// Returns the text of a fault of credentials. The commonest mistake is a key of another certificate, which the TLS
/// library calls `KeyMismatch`.
fn credentials_fault(text: &str) -> String {
    if text.contains("KeyMismatch") {
        return "the client's private key does not belong to its certificate: expected the key that the certificate was \
                made for"
            .to_owned();
    }
    format!("the certificates or the key cannot be used: {text}")
}

/// Returns the texts of an error and its causes. The outermost error alone says "transport error".
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        // Libraries repeat the text of their cause, which would then appear twice.
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
            Self::Unix { path, .. } => path.display().fmt(f),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

/// Shows no content, because it includes the private key.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_channel_connects_only_once() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri: Uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let mut connect = connect_once(None);
        connect(uri.clone()).await.unwrap();
        assert_eq!(connect(uri).await.unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }

    #[test]
    fn names_a_key_that_belongs_to_another_certificate() {
        let text = credentials_fault("transport error: keys may not be consistent: KeyMismatch");
        assert!(
            text.contains("does not belong to its certificate") && !text.contains("KeyMismatch"),
            "{text}"
        );
        assert!(credentials_fault("bad PEM").ends_with(": bad PEM"));
    }
}
