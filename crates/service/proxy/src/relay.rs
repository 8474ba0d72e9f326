//! The relay: bytes both ways until both sides have ended.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use oarlock_network::IdleTimer;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::buffers::LentBuffer;
use crate::bytes::ByteMeter;

/// The reason why a relay ended.
#[derive(Debug)]
pub(crate) enum RelayEnd {
    /// Both sides have ended their stream.
    Complete,
    /// Enough bytes were sent to the client, and no bytes are in transit.
    Paused,
    /// Nothing was relayed for too long.
    Idle,
    /// A certificate of a peer has ended.
    Certificate,
    /// The client's side failed, or ended without a close_notify.
    Client(io::Error),
    /// The backend's side failed, or ended without a close_notify.
    Backend(io::Error),
}

/// A relay of bytes between a client and a backend. A side that ends its stream still gets what the other one sends.
pub(crate) struct ByteRelay {
    /// From the client to the backend.
    up: RelayFlow,
    /// From the backend to the client.
    down: RelayFlow,
    idle: IdleTimer,
}

impl ByteRelay {
    pub(crate) fn new(max_idle: Duration) -> Self {
        Self { up: RelayFlow::new(), down: RelayFlow::new(), idle: IdleTimer::new(max_idle) }
    }

    /// Returns the number of bytes that were sent to the client.
    pub(crate) fn sent_to_client(&self) -> u64 {
        self.down.moved
    }

    /// Returns true if the client has not ended its stream.
    pub(crate) fn is_client_open(&self) -> bool {
        matches!(self.up.state, FlowState::Waiting { .. })
    }

    /// Relays until both streams have ended, or until the client has got `pause_at` bytes in all.
    pub(crate) async fn run<C, B>(
        &mut self,
        client: &mut C,
        backend: &mut B,
        pause_at: u64,
        bytes: ByteMeter<'_>,
    ) -> RelayEnd
    where
        C: AsyncRead + AsyncWrite + Unpin,
        B: AsyncRead + AsyncWrite + Unpin,
    {
        self.down.pause_at = pause_at;
        poll_fn(|context| self.poll_relay(client, backend, bytes, context)).await
    }

    fn poll_relay<C, B>(
        &mut self,
        client: &mut C,
        backend: &mut B,
        bytes: ByteMeter<'_>,
        context: &mut Context<'_>,
    ) -> Poll<RelayEnd>
    where
        C: AsyncRead + AsyncWrite + Unpin,
        B: AsyncRead + AsyncWrite + Unpin,
    {
        let before = (self.up.moved, self.down.moved);
        let sent = self.up.poll_move(client, backend, context);
        bytes.add_to_backend(self.up.moved - before.0);
        // The system reports a reset once. The next call reads an end, and the client would take it for the backend's.
        if let Poll::Ready(Err(FlowError::Write(error))) = sent {
            return Poll::Ready(RelayEnd::Backend(error));
        }
        let answered = self.down.poll_move(backend, client, context);
        bytes.add_to_client(self.down.moved - before.1);
        if before != (self.up.moved, self.down.moved) {
            self.idle.renew();
        }
        match (sent, answered) {
            (Poll::Ready(Ok(())), Poll::Ready(Ok(()))) => Poll::Ready(RelayEnd::Complete),
            // The backend has ended and the client has got everything. Many clients close without a close_notify then.
            (Poll::Ready(Err(FlowError::Read(error))), Poll::Ready(Ok(()))) if is_end(&error) => {
                Poll::Ready(RelayEnd::Complete)
            }
            (Poll::Ready(Err(FlowError::Read(error))), _)
            | (_, Poll::Ready(Err(FlowError::Write(error)))) => Poll::Ready(RelayEnd::Client(error)),
            (Poll::Ready(Err(FlowError::Write(error))), _)
            | (_, Poll::Ready(Err(FlowError::Read(error)))) => Poll::Ready(RelayEnd::Backend(error)),
            _ if self.down.is_paused() && self.up.is_at_rest() => Poll::Ready(RelayEnd::Paused),
            _ => self.idle.poll_expired(context).map(|()| RelayEnd::Idle),
        }
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

/// The bytes of one direction.
struct RelayFlow {
    state: FlowState,
    moved: u64,
    /// The number of moved bytes at which the flow pauses, once they are flushed.
    pause_at: u64,
}

enum FlowState {
    /// Nothing is in transit. With `needs_flush` the writer may keep bytes back.
    Waiting {
        needs_flush: bool,
    },
    /// Bytes are in transit.
    Moving {
        buffer: LentBuffer,
        at: usize,
        len: usize,
    },
    /// The reader has ended, and the writer is told.
    Closing,
    Closed,
}

/// The side that failed.
enum FlowError {
    Read(io::Error),
    Write(io::Error),
}

impl RelayFlow {
    fn new() -> Self {
        Self { state: FlowState::Waiting { needs_flush: false }, moved: 0, pause_at: u64::MAX }
    }

    /// Returns true if nothing is in transit.
    fn is_at_rest(&self) -> bool {
        matches!(self.state, FlowState::Waiting { needs_flush: false } | FlowState::Closed)
    }

    fn is_paused(&self) -> bool {
        self.moved >= self.pause_at && matches!(self.state, FlowState::Waiting { needs_flush: false })
    }

    /// Moves bytes until the reader has none or the writer takes none. Ready once the reader has ended and the writer
    /// knows it.
    fn poll_move<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
        &mut self,
        reader: &mut R,
        writer: &mut W,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), FlowError>> {
        loop {
            self.state = match &mut self.state {
                FlowState::Waiting { needs_flush } if self.moved >= self.pause_at => {
                    if *needs_flush {
                        ready!(Pin::new(&mut *writer).poll_flush(context)).map_err(FlowError::Write)?;
                        *needs_flush = false;
                    }
                    return Poll::Pending;
                }
                FlowState::Waiting { needs_flush } => {
                    // The buffer goes back to the thread if there is nothing to read.
                    let mut buffer = LentBuffer::take();
                    let mut bytes = ReadBuf::new(buffer.bytes_mut());
                    match Pin::new(&mut *reader).poll_read(context, &mut bytes) {
                        Poll::Pending if *needs_flush => {
                            ready!(Pin::new(&mut *writer).poll_flush(context)).map_err(FlowError::Write)?;
                            *needs_flush = false;
                            return Poll::Pending;
                        }
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(result) => result.map_err(FlowError::Read)?,
                    }
                    match bytes.filled().len() {
                        0 => FlowState::Closing,
                        len => FlowState::Moving { buffer, at: 0, len },
                    }
                }
                FlowState::Moving { buffer, at, len } => {
                    let rest = &buffer.bytes()[*at..*len];
                    let written = ready!(Pin::new(&mut *writer).poll_write(context, rest));
                    let written = written.map_err(FlowError::Write)?;
                    if written == 0 {
                        return Poll::Ready(Err(FlowError::Write(io::ErrorKind::WriteZero.into())));
                    }
                    self.moved += written as u64;
                    *at += written;
                    if at < len {
                        continue;
                    }
                    FlowState::Waiting { needs_flush: true }
                }
                FlowState::Closing => {
                    match ready!(Pin::new(&mut *writer).poll_shutdown(context)) {
                        Ok(()) => {}
                        // The peer has closed its socket already.
                        Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
                        Err(error) => return Poll::Ready(Err(FlowError::Write(error))),
                    }
                    FlowState::Closed
                }
                FlowState::Closed => return Poll::Ready(Ok(())),
            };
        }
    }
}

#[cfg(test)]
mod tests;
