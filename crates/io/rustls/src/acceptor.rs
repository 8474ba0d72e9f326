//! Handshakes of a server.

use std::sync::Arc;
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::server::TlsStream;

use crate::handshake::{FirstBytes, complete, within};
use crate::limits::HandshakeQueue;
use crate::pause::HandshakeCount;
use crate::{HandshakeLimits, TlsHandshakeError};

/// Accepts TLS connections. The jobs of handshakes that are open at the same time share batches.
///
/// Cheap to clone. Clones share the limits.
#[derive(Clone)]
pub struct TlsAcceptor {
    streams: tokio_rustls::TlsAcceptor,
    queue: Arc<HandshakeQueue>,
    timeout: Option<Duration>,
}

impl TlsAcceptor {
    /// Returns an acceptor with default limits and without a timeout.
    ///
    /// The configuration should have the provider of this crate, or a certificate whose key is one of this crate's.
    /// With others it works, and no job pauses.
    #[must_use]
    pub fn new(config: Arc<ServerConfig>) -> Self {
        let queue = HandshakeQueue::new(HandshakeLimits::default());
        Self { streams: config.into(), queue, timeout: None }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: HandshakeLimits) -> Self {
        Self { queue: HandshakeQueue::new(limits), ..self }
    }

    /// Sets the maximum time of a handshake, in which it waits for its turn too. The runtime needs its timer then.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Returns an acceptor with another configuration. It shares the limits of this one, so that handshakes which began
    /// before a change of the configuration count against them too.
    #[must_use]
    pub fn with_config(&self, config: Arc<ServerConfig>) -> Self {
        Self { streams: config.into(), queue: Arc::clone(&self.queue), timeout: self.timeout }
    }

    /// Does the handshake of a client's connection on this thread. The future is not `Send`, which suits a
    /// current-thread runtime; [`Handshakes::accept`](crate::Handshakes::accept) returns one that is.
    ///
    /// The handshake counts against the limits from the client's first bytes on, so silent connections keep nobody out.
    ///
    /// # Errors
    /// [`TlsHandshakeError::Busy`] if too many handshakes are open when the client speaks,
    /// [`TlsHandshakeError::Timeout`], and the errors of the protocol and of the stream. The client has got an alert if
    /// the protocol has one for the error.
    pub async fn accept<IO>(&self, mut io: IO) -> Result<TlsStream<IO>, TlsHandshakeError>
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        let handshake = async {
            let (queued, connection) = {
                let first = FirstBytes::read(&mut io).await?;
                let queued = self.queue.enter()?;
                let mut connection = Box::new(ServerConnection::new(Arc::clone(self.config()))?);
                first.pass(&mut **connection)?;
                (queued, connection)
            };
            let _count = HandshakeCount::new();
            let finished = complete(&mut io, connection, &queued, true).await?;
            // tokio-rustls has no constructor for its stream. Its future finds no handshake left in this connection.
            Ok(self.streams.accept_with(io, |connection| *connection = *finished).await?)
        };
        within(self.timeout, handshake).await
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &Arc<ServerConfig> {
        self.streams.config()
    }
}

impl std::fmt::Debug for TlsAcceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TlsAcceptor({:?}, {:?})", self.queue, self.timeout)
    }
}
