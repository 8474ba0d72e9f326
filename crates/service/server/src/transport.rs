//! The connections under HTTP/2: their clients, and the time limits for silence and for untaken bytes.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use oarlock_network::IdleTimer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::admission::ConnectionSlot;
use crate::clients::KnownClient;
use crate::config::ServerLimits;
use crate::lifetime::{ConnectionLifetime, StageWatch};
use crate::metrics::count;
use crate::service::SharedService;

/// A stream of bytes, encrypted or not.
pub(crate) trait TransportStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> TransportStream for T {}

/// A socket whose bytes are counted. It is below TLS, so the bytes are counted as they are on the wire.
pub(crate) struct CountedStream<S> {
    socket: S,
    service: Arc<SharedService>,
    /// The flag to set when the peer has sent any byte.
    has_spoken: Option<Arc<AtomicBool>>,
}

impl<S> CountedStream<S> {
    pub(crate) fn new(socket: S, service: Arc<SharedService>, has_spoken: Option<Arc<AtomicBool>>) -> Self {
        Self { socket, service, has_spoken }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // The buffer may hold bytes of an earlier read.
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.socket).poll_read(context, buffer);
        let read = buffer.filled().len() - before;
        count(&self.service.metrics.received_bytes, read);
        if read > 0
            && let Some(has_spoken) = self.has_spoken.take()
        {
            has_spoken.store(true, Ordering::Relaxed);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.written(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write_vectored(context, slices);
        self.written(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

impl<S> CountedStream<S> {
    fn written(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(written)) = &polled {
            count(&self.service.metrics.sent_bytes, *written);
        }
        polled
    }
}

/// A connection with a known client.
pub(crate) struct ClientTransport {
    bytes: Box<dyn TransportStream>,
    peer: CallPeer,
    idle: IdleTimer,
    /// The time for which the peer has taken no bytes.
    untaken: IdleTimer,
    _slot: ConnectionSlot,
    _lifetime: ConnectionLifetime,
    /// Ready when the connection must be cut.
    cut: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl ClientTransport {
    pub(crate) fn new(
        bytes: Box<dyn TransportStream>,
        client: KnownClient,
        limits: &ServerLimits,
        slot: ConnectionSlot,
        lifetime: ConnectionLifetime,
    ) -> Self {
        let stage = lifetime.stage();
        let cut = Box::pin(stage.clone().cut());
        Self {
            bytes,
            peer: CallPeer { client, stage },
            idle: IdleTimer::new(limits.max_idle()),
            untaken: IdleTimer::new(limits.max_stall()),
            _slot: slot,
            _lifetime: lifetime,
            cut,
        }
    }

    pub(crate) fn peer(&self) -> &CallPeer {
        &self.peer
    }

    /// Fails a pending write if the peer has taken nothing for too long.
    fn written<T>(&mut self, polled: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        match polled {
            Poll::Pending => self.untaken.poll_expired(context).map(|()| Err(io::ErrorKind::TimedOut.into())),
            ready => {
                self.untaken.renew();
                self.idle.renew();
                ready
            }
        }
    }
}

/// The client of a connection, as each of its calls gets it.
#[derive(Clone, Debug)]
pub(crate) struct CallPeer {
    pub(crate) client: KnownClient,
    pub(crate) stage: StageWatch,
}

impl AsyncRead for ClientTransport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Checked before reading: a peer that never stops sending must be cut too.
        if self.cut.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        match Pin::new(&mut *self.bytes).poll_read(context, buffer) {
            // A connection is idle only if it also writes nothing: `written` renews the timer too.
            Poll::Pending => self.idle.poll_expired(context).map(|()| Err(io::ErrorKind::TimedOut.into())),
            ready => {
                self.idle.renew();
                ready
            }
        }
    }
}

impl AsyncWrite for ClientTransport {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut *self.bytes).poll_write(context, bytes);
        self.written(polled, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut *self.bytes).poll_write_vectored(context, slices);
        self.written(polled, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.bytes.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut *self.bytes).poll_flush(context) {
            Poll::Pending => self.untaken.poll_expired(context).map(|()| Err(io::ErrorKind::TimedOut.into())),
            ready => ready,
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut *self.bytes).poll_shutdown(context) {
            Poll::Pending => self.untaken.poll_expired(context).map(|()| Err(io::ErrorKind::TimedOut.into())),
            ready => ready,
        }
    }
}
