//! Connections of every kind as gRPC sees them: who is at the other end, and how long it may be silent.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};
use tonic::transport::server::Connected;

use crate::admission::ConnectionSlot;
use crate::identity::Identity;
use crate::lifetime::{Lifetime, StageWatch};
use crate::metrics::count;
use crate::service::Service;

/// A stream of bytes, encrypted or not.
pub(crate) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// A socket whose bytes are counted: beneath TLS, so as they are on the wire.
pub(crate) struct Counted<S> {
    pub(crate) socket: S,
    pub(crate) service: Arc<Service>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.socket).poll_read(context, buffer);
        count(&self.service.metrics.received_bytes, buffer.filled().len() - before);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
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

impl<S> Counted<S> {
    fn written(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(written)) = &polled {
            count(&self.service.metrics.sent_bytes, *written);
        }
        polled
    }
}

/// A connection whose client is known.
pub(crate) struct Transport {
    bytes: Box<dyn Bytes>,
    client: Identity,
    idle: Idle,
    _slot: ConnectionSlot,
    lifetime: Lifetime,
    /// Ready when the connection is to be cut.
    cut: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Transport {
    pub(crate) fn new(
        bytes: Box<dyn Bytes>,
        client: Identity,
        patience: Duration,
        slot: ConnectionSlot,
        lifetime: Lifetime,
    ) -> Self {
        let cut = Box::pin(lifetime.stage().cut());
        Self { bytes, client, idle: Idle::new(patience), _slot: slot, lifetime, cut }
    }

    /// Returns how far the connection's life has come.
    pub(crate) fn stage(&self) -> StageWatch {
        self.lifetime.stage()
    }
}

/// The client of a connection, as tonic hands it to calls.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) client: Identity,
    pub(crate) stage: StageWatch,
}

impl Connected for Transport {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        Peer { client: self.client.clone(), stage: self.stage() }
    }
}

/// How long nothing has come. The clock is read for every read, the timer set only when it would have rung.
pub(crate) struct Idle {
    patience: Duration,
    last: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Idle {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { patience, last: Instant::now(), timer: Box::pin(sleep(patience)) }
    }

    /// Something came or went.
    pub(crate) fn touch(&mut self) {
        self.last = Instant::now();
    }

    /// Ready where nothing has for too long.
    pub(crate) fn poll_over(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.timer.as_mut().poll(context).is_ready() {
            let end = self.last + self.patience;
            if end <= Instant::now() {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(end);
        }
        Poll::Pending
    }
}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut *self.bytes).poll_read(context, buffer) {
            Poll::Pending => {
                if self.cut.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
                }
                self.idle.poll_over(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
            ready => {
                self.idle.touch();
                ready
            }
        }
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.idle.touch();
        Pin::new(&mut *self.bytes).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.idle.touch();
        Pin::new(&mut *self.bytes).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.bytes.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.bytes).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.bytes).poll_shutdown(context)
    }
}
