//! Frames on a UNIX socket.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use futures_util::stream::{FuturesUnordered, Stream};
use oarlock_wire::proto::{Blame, Code, Request, Response, response};
use oarlock_wire::{Message, WireError, frame};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::identity::Identity;
use crate::metrics::count;
use crate::service::Service;
use crate::session::{Pending, Session, refusal};
use crate::transport::Idle;

/// Bytes of answers that may wait for a client that does not read: then nothing more is read from it.
const UNREAD: usize = 1 << 20;

/// Bytes to read at once at least.
const READ: usize = 64 << 10;

/// Serves one client until it leaves, is silent for too long, or sends what is no request.
pub(crate) async fn serve(mut stream: UnixStream, service: Arc<Service>) -> io::Result<()> {
    let about = stream.peer_cred()?;
    let client = Identity::of_process(about.uid(), about.gid()).from_process(about.pid());
    let mut preamble = [0; frame::PREAMBLE.len()];
    timeout(service.limits.handshake(), stream.read_exact(&mut preamble)).await??;
    if preamble != *frame::PREAMBLE {
        let message = "expected the preamble \"oarlock\" and version 1; other versions are not served here";
        return farewell(&mut stream, Code::Unsupported, message).await;
    }
    let mut connection = Connection {
        service: Arc::clone(&service),
        most: service.limits.message_bytes,
        in_flight: service.limits.in_flight,
        idle: Idle::new(service.limits.idle()),
        session: service.session(client),
        received: BytesMut::with_capacity(READ),
        outgoing: BytesMut::new(),
        pending: FuturesUnordered::new(),
        is_closed: false,
    };
    let lifetime = service.lifetimes.enter(Vec::new());
    let stage = lifetime.stage();
    let mut ending = pin!(async {
        tokio::select! {
            () = service.draining() => {}
            _ = stage.clone().ending() => {}
        }
    });
    let served = poll_fn(|context| {
        // A future that was ready must not be polled again.
        if !connection.is_closed && ending.as_mut().poll(context).is_ready() {
            connection.is_closed = true;
        }
        connection.poll(&mut stream, context)
    });
    let end = tokio::select! {
        end = served => end,
        () = stage.clone().cut() => Err(End::Io(io::ErrorKind::ConnectionAborted.into())),
    };
    match (end, stage.end_reason()) {
        (Err(End::Wire(error)), _) => farewell(&mut stream, error.fault().code(), &error.to_string()).await,
        (Err(End::Io(error)), _) => Err(error),
        (Ok(()), _) if service.is_draining() => {
            farewell(&mut stream, Code::Unavailable, "the server is stopping").await
        }
        (Ok(()), Some(reason)) => farewell(&mut stream, Code::Unavailable, reason.message()).await,
        (Ok(()), None) => Ok(()),
    }
}

/// Tells a client that there is no place for it.
pub(crate) async fn turn_away(mut stream: UnixStream) -> io::Result<()> {
    farewell(&mut stream, Code::ResourceExhausted, "the server has as many connections as it may; try again")
        .await
}

async fn farewell(stream: &mut UnixStream, code: Code, message: &str) -> io::Result<()> {
    let fault = refusal(code, message, Blame::Caller);
    let mut bytes = BytesMut::new();
    let response = Response { id: 0, body: Some(response::Body::Fault(fault)) };
    frame::put(&response, &mut bytes).map_err(io::Error::other)?;
    stream.write_all(&bytes).await
}

struct Connection {
    service: Arc<Service>,
    session: Session,
    most: usize,
    in_flight: usize,
    idle: Idle,
    received: BytesMut,
    outgoing: BytesMut,
    pending: FuturesUnordered<Pending>,
    /// Nothing more is read: what is under way is answered, then it ends.
    is_closed: bool,
}

/// Why a connection cannot go on.
enum End {
    Wire(WireError),
    Io(io::Error),
}

impl Connection {
    /// Answers what is ready, writes, and reads, as far as each gets.
    fn poll(&mut self, stream: &mut UnixStream, context: &mut Context<'_>) -> Poll<Result<(), End>> {
        loop {
            self.collect(context)?;
            self.write(stream, context).map_err(End::Io)?;
            if self.is_closed {
                let is_over = self.pending.is_empty() && self.outgoing.is_empty();
                return if is_over { Poll::Ready(Ok(())) } else { Poll::Pending };
            }
            if self.pending.len() >= self.in_flight || self.outgoing.len() > UNREAD {
                return Poll::Pending;
            }
            if let Some(message) = frame::take(&mut self.received, self.most).map_err(End::Wire)? {
                self.idle.touch();
                let request = Request::decode(message).map_err(|error| End::Wire(error.into()))?;
                self.pending.push(self.session.start(request));
                continue;
            }
            match self.read(stream, context) {
                Poll::Ready(Ok(0)) => self.is_closed = true,
                Poll::Ready(Ok(read)) => count(&self.service.metrics.received_bytes, read),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(End::Io(error))),
                Poll::Pending => {
                    ready!(self.idle.poll_over(context));
                    return Poll::Ready(Err(End::Io(io::ErrorKind::TimedOut.into())));
                }
            }
        }
    }

    /// Takes in answers that are there.
    fn collect(&mut self, context: &mut Context<'_>) -> Result<(), End> {
        while self.outgoing.len() <= UNREAD
            && let Poll::Ready(Some(response)) = Pin::new(&mut self.pending).poll_next(context)
        {
            self.idle.touch();
            frame::put(&response, &mut self.outgoing).map_err(End::Wire)?;
        }
        Ok(())
    }

    fn write(&mut self, stream: &mut UnixStream, context: &mut Context<'_>) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            match Pin::new(&mut *stream).poll_write(context, &self.outgoing) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(written)) => {
                    count(&self.service.metrics.sent_bytes, written);
                    self.outgoing.advance(written);
                }
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
        }
        Ok(())
    }

    fn read(&mut self, stream: &mut UnixStream, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.received.reserve(READ);
        loop {
            ready!(stream.poll_read_ready(context))?;
            match stream.try_read_buf(&mut self.received) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read),
            }
        }
    }
}
