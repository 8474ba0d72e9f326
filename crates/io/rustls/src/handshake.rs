//! A handshake on an asynchronous stream. The I/O is here; what rustls computes runs in a task that may pause.

use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::server::AcceptedAlert;
use rustls::{ConnectionCommon, SideData};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::timeout;

use crate::TlsHandshakeError;
use crate::limits::QueueTicket;
use crate::pause::{PausableFuture, TaskPanic};

/// Runs code of rustls, which pauses while its jobs are computed.
pub(crate) async fn pausable<T: 'static>(work: impl FnOnce() -> T + 'static) -> Result<T, TlsHandshakeError> {
    let result = PausableFuture::new(work)?.await;
    result.map_err(|TaskPanic| TlsHandshakeError::Panicked)
}

/// The first bytes of a peer. A ClientHello with a post-quantum key share fits.
pub(crate) struct FirstBytes {
    bytes: [u8; 2_048],
    len: usize,
}

impl FirstBytes {
    /// Waits until the peer speaks.
    pub(crate) async fn read<IO: AsyncRead + Unpin>(io: &mut IO) -> Result<Self, TlsHandshakeError> {
        let mut bytes = [0; 2_048];
        match io.read(&mut bytes).await? {
            0 => Err(TlsHandshakeError::Io(io::ErrorKind::UnexpectedEof.into())),
            len => Ok(Self { bytes, len }),
        }
    }

    /// Passes the bytes to the method of a new connection that reads, which takes them all.
    pub(crate) fn pass_to(
        &self,
        mut read_tls: impl FnMut(&mut dyn Read) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut rest = &self.bytes[..self.len];
        while !rest.is_empty() {
            if read_tls(&mut rest)? == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(())
    }
}

/// Does the handshake of a connection. Everything that rustls wants to send has been written at the end.
///
/// The handshake has a turn while rustls computes, and none while it waits for its peer. So peers that stop in the
/// middle keep no others from their turn.
pub(crate) async fn complete<IO, C, S>(
    io: &mut IO,
    mut connection: Box<C>,
    queued: &QueueTicket,
) -> Result<Box<C>, TlsHandshakeError>
where
    IO: AsyncRead + AsyncWrite + Unpin,
    C: DerefMut<Target = ConnectionCommon<S>> + 'static,
    S: SideData,
{
    let mut needs_flush = false;
    loop {
        match poll_fn(|context| poll_step(io, &mut **connection, &mut needs_flush, context)).await? {
            IoStep::Received => {}
            IoStep::Finished => return Ok(connection),
            IoStep::Ended => return Err(TlsHandshakeError::Io(io::ErrorKind::UnexpectedEof.into())),
        }
        let turn = queued.wait_turn().await?;
        // A box, because the connection moves between the stacks.
        let process = move || {
            let result = connection.process_new_packets().map(drop);
            (connection, result)
        };
        let (returned, result) = pausable(process).await?;
        drop(turn);
        connection = returned;
        if let Err(error) = result {
            send_alert(io, &mut **connection).await;
            return Err(error.into());
        }
    }
}

enum IoStep {
    Received,
    Finished,
    /// The peer has closed the stream.
    Ended,
}

/// Sends what rustls wants to send, and receives. A peer may send before it has read everything, so receiving does not
/// wait for sending.
fn poll_step<IO: AsyncRead + AsyncWrite + Unpin, S: SideData>(
    io: &mut IO,
    connection: &mut ConnectionCommon<S>,
    needs_flush: &mut bool,
    context: &mut Context<'_>,
) -> Poll<io::Result<IoStep>> {
    let sent = poll_send(io, connection, needs_flush, context)?;
    if !connection.is_handshaking() {
        return sent.map(|()| Ok(IoStep::Finished));
    }
    let received = ready!(would_block(connection.read_tls(&mut BlockingIo { io, context })))?;
    Poll::Ready(Ok(if received == 0 { IoStep::Ended } else { IoStep::Received }))
}

/// Ends a handshake with an error after `limit`.
pub(crate) async fn within<T>(
    limit: Option<Duration>,
    handshake: impl Future<Output = Result<T, TlsHandshakeError>>,
) -> Result<T, TlsHandshakeError> {
    match limit {
        Some(limit) => timeout(limit, handshake).await.unwrap_or(Err(TlsHandshakeError::Timeout { limit })),
        None => handshake.await,
    }
}

/// Sends the alert as far as the stream takes it now. The error that the caller gets is the one of the handshake.
pub(crate) async fn send_alert<IO: AsyncWrite + Unpin, S: SideData>(
    io: &mut IO,
    connection: &mut ConnectionCommon<S>,
) {
    poll_fn(|context| {
        let _ = poll_send(io, connection, &mut true, context);
        Poll::Ready(())
    })
    .await;
}

/// Sends the alert of a handshake that has no connection yet, as far as the stream takes it now.
pub(crate) async fn send_early_alert<IO: AsyncWrite + Unpin>(io: &mut IO, mut alert: AcceptedAlert) {
    poll_fn(|context| {
        let mut stream = BlockingIo { io: &mut *io, context };
        let _ = alert.write_all(&mut stream).and_then(|()| stream.flush());
        Poll::Ready(())
    })
    .await;
}

fn poll_send<IO: AsyncWrite + Unpin, S: SideData>(
    io: &mut IO,
    connection: &mut ConnectionCommon<S>,
    needs_flush: &mut bool,
    context: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    while connection.wants_write() {
        *needs_flush = true;
        if ready!(would_block(connection.write_tls(&mut BlockingIo { io, context })))? == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
    }
    if *needs_flush {
        ready!(Pin::new(io).poll_flush(context))?;
        *needs_flush = false;
    }
    Poll::Ready(Ok(()))
}

fn would_block(result: io::Result<usize>) -> Poll<io::Result<usize>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
        result => Poll::Ready(result),
    }
}

/// An asynchronous stream for the synchronous methods of rustls. It returns `WouldBlock` where the stream is pending.
struct BlockingIo<'a, 'c, IO> {
    io: &'a mut IO,
    context: &'a mut Context<'c>,
}

impl<IO: AsyncRead + Unpin> Read for BlockingIo<'_, '_, IO> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut bytes = ReadBuf::new(bytes);
        match Pin::new(&mut *self.io).poll_read(self.context, &mut bytes) {
            Poll::Ready(Ok(())) => Ok(bytes.filled().len()),
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

impl<IO: AsyncWrite + Unpin> Write for BlockingIo<'_, '_, IO> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        pending_as_error(Pin::new(&mut *self.io).poll_write(self.context, bytes))
    }

    fn write_vectored(&mut self, pieces: &[io::IoSlice<'_>]) -> io::Result<usize> {
        pending_as_error(Pin::new(&mut *self.io).poll_write_vectored(self.context, pieces))
    }

    fn flush(&mut self) -> io::Result<()> {
        pending_as_error(Pin::new(&mut *self.io).poll_flush(self.context))
    }
}

fn pending_as_error<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}
