//! Frames on a UNIX socket.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use futures_util::stream::{FuturesUnordered, Stream};
use oarlock_io::IdleTimer;
use oarlock_wire::proto::{Blame, Code, Request, Response, response};
use oarlock_wire::{Message, WireError, frame};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::budget::{BytesError, HeldBytes};
use crate::call::CALL_BYTES;
use crate::metrics::count;
use crate::service::SharedService;
use crate::session::{ClientSession, HeldAnswer, PendingResponse, refusal};
use crate::transport::KnownClient;

/// Bytes of answers that may wait for a client that does not read: then nothing more is read from it.
const UNREAD: usize = 1 << 20;

/// Bytes to read at once at least.
const READ: usize = 64 << 10;

/// Requests that are begun before other connections of the thread have a turn.
const MAX_BEGUN: usize = 64;

/// The longest time that a client may take to read why it is turned away.
const FAREWELL: Duration = Duration::from_secs(1);

/// Serves one client until it leaves, is silent for too long, or sends what is no request.
pub(crate) async fn serve(
    mut stream: UnixStream,
    client: KnownClient,
    service: Arc<SharedService>,
) -> io::Result<()> {
    let mut preamble = [0; frame::PREAMBLE.len()];
    timeout(service.limits.handshake(), stream.read_exact(&mut preamble)).await??;
    if preamble != *frame::PREAMBLE {
        let message = "expected the preamble \"oarlock\" and version 1; other versions are not served here";
        return farewell(&mut stream, Code::Unsupported, message).await;
    }
    let mut connection = match UnixConnection::new(client, &service) {
        Ok(connection) => connection,
        Err(error) => return farewell(&mut stream, Code::ResourceExhausted, &error.to_string()).await,
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
        () = stage.clone().cut() => Err(UnixEnd::Io(io::ErrorKind::ConnectionAborted.into())),
    };
    match (end, stage.end_reason()) {
        (Err(UnixEnd::Wire(error)), _) => {
            farewell(&mut stream, error.fault().code(), &error.to_string()).await
        }
        (Err(UnixEnd::Full(error)), _) => {
            farewell(&mut stream, Code::ResourceExhausted, &error.to_string()).await
        }
        (Err(UnixEnd::Io(error)), _) => Err(error),
        (Ok(()), _) if service.is_draining() => {
            farewell(&mut stream, Code::Unavailable, "the server is stopping").await
        }
        (Ok(()), Some(reason)) => farewell(&mut stream, Code::Unavailable, reason.message()).await,
        (Ok(()), None) => Ok(()),
    }
}

/// Tells a client why there is no place for it.
pub(crate) async fn turn_away(mut stream: UnixStream, reason: &str) -> io::Result<()> {
    farewell(&mut stream, Code::ResourceExhausted, reason).await
}

async fn farewell(stream: &mut UnixStream, code: Code, message: &str) -> io::Result<()> {
    let fault = refusal(code, message, Blame::Caller);
    let mut bytes = BytesMut::new();
    let response = Response { id: 0, body: Some(response::Body::Fault(fault)) };
    frame::put(&response, &mut bytes).map_err(io::Error::other)?;
    timeout(FAREWELL, stream.write_all(&bytes)).await?
}

struct UnixConnection {
    service: Arc<SharedService>,
    client: KnownClient,
    session: ClientSession,
    silence: IdleTimer,
    /// With a client that takes no answers.
    untaken: IdleTimer,
    /// With half a message.
    late: IdleTimer,
    received: BytesMut,
    received_held: HeldBytes,
    /// The most that `received` has held since its memory was new.
    max_received: usize,
    outgoing: BytesMut,
    outgoing_held: HeldBytes,
    pending: FuturesUnordered<PendingResponse>,
    /// Nothing more is read: what is under way is answered, then it ends.
    is_closed: bool,
    /// Bytes that the session and the buffers hold while they are small.
    _held: HeldBytes,
}

/// The reason why a connection cannot go on.
enum UnixEnd {
    Wire(WireError),
    Full(BytesError),
    Io(io::Error),
}

impl UnixConnection {
    fn new(client: KnownClient, service: &Arc<SharedService>) -> Result<Self, BytesError> {
        let limits = &service.limits;
        let none = || HeldBytes::none(Arc::clone(&client.account));
        Ok(Self {
            service: Arc::clone(service),
            session: service.session(client.clone()),
            silence: IdleTimer::new(limits.idle()),
            untaken: IdleTimer::new(limits.max_stall()),
            late: IdleTimer::new(limits.max_message()),
            received: BytesMut::with_capacity(READ),
            received_held: none(),
            max_received: 0,
            outgoing: BytesMut::new(),
            outgoing_held: none(),
            pending: FuturesUnordered::new(),
            is_closed: false,
            _held: HeldBytes::new(&client.account, CALL_BYTES)?,
            client,
        })
    }

    /// Answers what is ready, writes, and reads, as far as each gets.
    fn poll(&mut self, stream: &mut UnixStream, context: &mut Context<'_>) -> Poll<Result<(), UnixEnd>> {
        let mut begun = 0;
        loop {
            self.collect(context)?;
            self.write(stream, context).map_err(UnixEnd::Io)?;
            if self.is_closed && self.pending.is_empty() && self.outgoing.is_empty() {
                return Poll::Ready(Ok(()));
            }
            if self.is_closed || self.has_enough() {
                // That nothing is read is not the client's fault.
                self.late.renew();
                return self.wait(WaitReason::ForAnswers, context);
            }
            if begun == MAX_BEGUN {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if self.begin_one()? {
                begun += 1;
                continue;
            }
            match self.read(stream, context) {
                Poll::Ready(Ok(0)) => self.is_closed = true,
                Poll::Ready(Ok(read)) => {
                    count(&self.service.metrics.received_bytes, read);
                    self.received_held.resize(self.received.len()).map_err(UnixEnd::Full)?;
                    self.max_received = self.max_received.max(self.received.len());
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(UnixEnd::Io(error))),
                Poll::Pending => return self.wait(WaitReason::ForBytes, context),
            }
        }
    }

    /// True while the client gets no more read: it has as much under way as it may, or leaves answers untaken.
    fn has_enough(&self) -> bool {
        let limits = &self.service.limits;
        // With room for one more message of any length, what a connection sends is never refused for what it has sent before.
        let is_full = self.client.account.bytes.left() < limits.max_message_bytes + READ;
        self.pending.len() >= limits.max_in_flight
            || self.outgoing.len() > UNREAD
            || (is_full && !self.pending.is_empty())
    }

    /// Begins the next request if it has been received whole.
    fn begin_one(&mut self) -> Result<bool, UnixEnd> {
        let max = self.service.limits.max_message_bytes;
        let Some(message) = frame::take(&mut self.received, max).map_err(UnixEnd::Wire)? else {
            return Ok(false);
        };
        self.silence.renew();
        self.late.renew();
        let held = self.received_held.split_off(message.len());
        self.received_held.shrink_to(self.received.len());
        if self.received.is_empty() && self.max_received > 4 * READ {
            // The memory of a long message would stay for as long as the connection.
            (self.received, self.max_received) = (BytesMut::new(), 0);
        }
        let request = Request::decode(message).map_err(|error| UnixEnd::Wire(error.into()))?;
        self.pending.push(self.session.start(request, held));
        Ok(true)
    }

    /// Waits, but not for ever: for a client that takes its answers, for the rest of a message, or for anything at all.
    fn wait(&mut self, waiting: WaitReason, context: &mut Context<'_>) -> Poll<Result<(), UnixEnd>> {
        let is_half = waiting == WaitReason::ForBytes && !self.received.is_empty();
        let patience = match () {
            () if !self.outgoing.is_empty() => &mut self.untaken,
            () if is_half => &mut self.late,
            () if self.pending.is_empty() => &mut self.silence,
            () => return Poll::Pending,
        };
        ready!(patience.poll_expired(context));
        Poll::Ready(Err(UnixEnd::Io(io::ErrorKind::TimedOut.into())))
    }

    /// Takes in answers that are there.
    fn collect(&mut self, context: &mut Context<'_>) -> Result<(), UnixEnd> {
        while self.outgoing.len() <= UNREAD
            && let Poll::Ready(Some(answer)) = Pin::new(&mut self.pending).poll_next(context)
        {
            self.silence.renew();
            let HeldAnswer { response, held } = answer;
            frame::put(&response, &mut self.outgoing).map_err(UnixEnd::Wire)?;
            self.outgoing_held.merge(held);
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
                    self.untaken.renew();
                }
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
        }
        self.outgoing_held.shrink_to(self.outgoing.len());
        if self.outgoing.is_empty() && self.outgoing.capacity() > READ {
            self.outgoing = BytesMut::new();
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

/// The event that a connection waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitReason {
    ForAnswers,
    ForBytes,
}
