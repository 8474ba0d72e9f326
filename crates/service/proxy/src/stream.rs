//! The streams of both sides of a connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use oarlock_network::linger;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::{client, server};

use crate::header::ConnectionAddresses;
use crate::kernel::{RecordPosition, TrafficSecrets};

/// A stream of the operating system.
#[derive(Debug)]
pub(crate) enum SocketStream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A stream of a client with TLS, which knows whether it is between two received records.
#[derive(Debug)]
pub(crate) struct RecordStream {
    pub(crate) socket: SocketStream,
    pub(crate) received: RecordPosition,
    /// The traffic secrets, if the kernel may get the connection.
    pub(crate) secrets: Option<Arc<TrafficSecrets>>,
}

/// A stream of bytes, with TLS or without.
#[derive(Debug)]
pub(crate) enum RelayStream {
    Plain(SocketStream),
    /// The client's side with TLS.
    Accepted(Box<server::TlsStream<RecordStream>>),
    /// The backend's side with TLS.
    Connected(Box<client::TlsStream<SocketStream>>),
}

impl SocketStream {
    /// Returns the addresses of both ends, of TCP only.
    pub(crate) fn addresses(&self) -> Option<ConnectionAddresses> {
        match self {
            Self::Tcp(tcp) => Some(ConnectionAddresses {
                source: tcp.peer_addr().ok()?,
                destination: tcp.local_addr().ok()?,
            }),
            Self::Unix(_) => None,
        }
    }

    /// Waits until the peer has sent something, or has ended the stream.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(tcp) => tcp.readable().await,
            Self::Unix(unix) => unix.readable().await,
        }
    }

    /// Makes the end of this stream a reset, which tells the peer that the stream is not complete.
    pub(crate) fn reset_at_end(&self) {
        if let Self::Tcp(tcp) = self {
            // A failure leaves an ordinary end.
            let _ = tcp.set_zero_linger();
        }
    }
}

impl RelayStream {
    pub(crate) fn socket(&self) -> &SocketStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Accepted(tls) => &tls.get_ref().0.socket,
            Self::Connected(tls) => tls.get_ref().0,
        }
    }

    /// Returns the certificates of the peer, its own first. None without TLS or without certificates.
    pub(crate) fn peer_chain(&self) -> Option<&[CertificateDer<'static>]> {
        match self {
            Self::Plain(_) => None,
            Self::Accepted(tls) => tls.get_ref().1.peer_certificates(),
            Self::Connected(tls) => tls.get_ref().1.peer_certificates(),
        }
    }

    fn socket_mut(&mut self) -> &mut SocketStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Accepted(tls) => &mut tls.get_mut().0.socket,
            Self::Connected(tls) => tls.get_mut().0,
        }
    }

    /// Ends the stream after an error of the peer's TLS, so that the peer reads the alert.
    pub(crate) async fn end_after_alert(mut self) {
        // Below TLS, which reads nothing more after an error.
        linger(self.socket_mut()).await;
    }
}

/// Reads, and sends at once the alert that rustls wants to send in answer, such as no_renegotiation. It would otherwise
/// wait for bytes of the other side. rustls keeps the answer to a KeyUpdate for its next record: RFC 8446 4.6.3.
fn poll_read_and_answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    wants_write: impl FnOnce(&S) -> bool,
    context: &mut Context<'_>,
    bytes: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    let read = Pin::new(&mut *stream).poll_read(context, bytes);
    if !wants_write(stream) {
        return read;
    }
    match (read, Pin::new(stream).poll_flush(context)) {
        (Poll::Pending, Poll::Ready(Err(error))) => Poll::Ready(Err(error)),
        (read, _) => read,
    }
}

macro_rules! each_stream {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Self::Plain(socket) => {
                let $stream = Pin::new(socket);
                $call
            }
            Self::Accepted(tls) => {
                let $stream = Pin::new(&mut **tls);
                $call
            }
            Self::Connected(tls) => {
                let $stream = Pin::new(&mut **tls);
                $call
            }
        }
    };
}

macro_rules! each_socket {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Self::Tcp(tcp) => {
                let $stream = Pin::new(tcp);
                $call
            }
            Self::Unix(unix) => {
                let $stream = Pin::new(unix);
                $call
            }
        }
    };
}

impl AsyncRead for SocketStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        each_socket!(self, stream => stream.poll_read(context, bytes))
    }
}

impl AsyncWrite for SocketStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each_socket!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        each_socket!(self, stream => stream.poll_write_vectored(context, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_socket!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_socket!(self, stream => stream.poll_shutdown(context))
    }
}

impl From<SocketStream> for RecordStream {
    fn from(socket: SocketStream) -> Self {
        Self { socket, received: RecordPosition::default(), secrets: None }
    }
}

impl AsyncRead for RecordStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let start = bytes.filled().len();
        let result = Pin::new(&mut this.socket).poll_read(context, bytes);
        this.received.advance(&bytes.filled()[start..]);
        result
    }
}

impl AsyncWrite for RecordStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().socket).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(context)
    }
}

impl AsyncRead for RelayStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(context, bytes),
            Self::Accepted(tls) => {
                poll_read_and_answer(&mut **tls, |tls| tls.get_ref().1.wants_write(), context, bytes)
            }
            Self::Connected(tls) => {
                poll_read_and_answer(&mut **tls, |tls| tls.get_ref().1.wants_write(), context, bytes)
            }
        }
    }
}

impl AsyncWrite for RelayStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        each_stream!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_stream!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each_stream!(self, stream => stream.poll_shutdown(context))
    }
}
