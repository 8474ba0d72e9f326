//! Handshakes of a server.

use std::sync::Arc;
use std::time::Duration;

use rustls::server::{Accepted, Acceptor, ClientHello};
use rustls::{ServerConfig, ServerConnection};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::server::TlsStream;

use crate::handshake::{FirstBytes, complete, pausable, send_alert, send_early_alert, within};
use crate::limits::{HandshakeQueue, QueueTicket};
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
    pub async fn accept<IO>(&self, io: IO) -> Result<TlsStream<IO>, TlsHandshakeError>
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        self.accept_with(io, |_| Arc::clone(self.config())).await
    }

    /// Does the handshake as [`TlsAcceptor::accept`] does, with the configuration that `choose` returns for the first
    /// message of the client. It must not wait: it runs outside of the handshake's stack.
    ///
    /// # Errors
    /// As for [`TlsAcceptor::accept`].
    pub async fn accept_with<IO>(
        &self,
        mut io: IO,
        choose: impl FnOnce(&ClientHello<'_>) -> Arc<ServerConfig>,
    ) -> Result<TlsStream<IO>, TlsHandshakeError>
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        let handshake = async {
            let first = FirstBytes::read(&mut io).await?;
            let queued = self.queue.enter()?;
            let _count = HandshakeCount::new();
            let accepted = read_hello(&mut io, first).await?;
            let config = choose(&accepted.client_hello());
            let connection = answer_hello(&mut io, accepted, config, &queued).await?;
            let finished = complete(&mut io, connection, &queued).await?;
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

/// Reads the client's first message, of which a part was received.
async fn read_hello<IO: AsyncRead + AsyncWrite + Unpin>(
    io: &mut IO,
    first: FirstBytes,
) -> Result<Box<Accepted>, TlsHandshakeError> {
    // In a box, as later the connection: a paused future stays small.
    let mut acceptor = Box::new(Acceptor::default());
    let mut received = first;
    loop {
        received.pass_to(|bytes| acceptor.read_tls(bytes))?;
        match acceptor.accept() {
            Ok(Some(accepted)) => return Ok(Box::new(accepted)),
            Ok(None) => received = FirstBytes::read(io).await?,
            Err((error, alert)) => {
                send_early_alert(io, alert).await;
                return Err(error.into());
            }
        }
    }
}

/// Computes the answer to the client's first message, which the next step sends.
async fn answer_hello<IO: AsyncWrite + Unpin>(
    io: &mut IO,
    accepted: Box<Accepted>,
    config: Arc<ServerConfig>,
    queued: &QueueTicket,
) -> Result<Box<ServerConnection>, TlsHandshakeError> {
    let turn = queued.wait_turn().await?;
    let answered = pausable(move || {
        accepted.into_connection(config).map(|mut connection| {
            // What the client has sent behind its first message.
            let result = connection.process_new_packets().map(drop);
            (Box::new(connection), result)
        })
    });
    let answered = answered.await?;
    drop(turn);
    match answered {
        Ok((connection, Ok(()))) => Ok(connection),
        Ok((mut connection, Err(error))) => {
            send_alert(io, &mut **connection).await;
            Err(error.into())
        }
        Err((error, alert)) => {
            send_early_alert(io, alert).await;
            Err(TlsHandshakeError::from(error))
        }
    }
}

impl std::fmt::Debug for TlsAcceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TlsAcceptor({:?}, {:?})", self.queue, self.timeout)
    }
}
