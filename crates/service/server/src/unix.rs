//! Requests as frames on a UNIX socket, and through shared memory if the client asks for it.

mod ring;

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use oarlock_network::IdleTimer;
use oarlock_shared_memory::{RingError, send_with_file};
use oarlock_wire::proto::{Blame, Code, OpenRing, Request, Response, request, response};
use oarlock_wire::{Message, WireError, frame};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::time::timeout;

use self::ring::{ConnectionRing, report_failure, ring_response};
use crate::budget::{BytesError, HeldBytes};
use crate::call::CALL_BYTES;
use crate::clients::{ClientAccount, KnownClient};
use crate::lifetime::StageWatch;
use crate::metrics::count;
use crate::service::SharedService;
use crate::session::{HeldAnswer, HeldRequest, RequestDriver, RequestSource, refusal};

/// The bytes of answers that may wait for a client that does not read. Beyond it nothing more is read from the client.
const MAX_UNSENT: usize = 1 << 20;

/// The minimum space for bytes to read at once.
const READ: usize = 64 << 10;

/// The time that a client has to read the final fault.
const MAX_FAULT_TIME: Duration = Duration::from_secs(1);

/// Serves one client until it leaves, is silent for too long, or sends an invalid message.
pub(crate) async fn serve(
    mut stream: UnixStream,
    client: KnownClient,
    service: Arc<SharedService>,
) -> io::Result<()> {
    let mut preamble = [0; frame::PREAMBLE.len()];
    timeout(service.limits.max_handshake(), stream.read_exact(&mut preamble)).await??;
    if preamble != *frame::PREAMBLE {
        let message = "expected the preamble \"oarlock\" and version 1; other versions are not served here";
        return send_final_fault(&mut stream, Code::Unsupported, message).await;
    }
    let lifetime = service.lifetimes.enter(Vec::new());
    let stage = lifetime.stage();
    let mut connection = match UnixConnection::new(client, &service, stage.clone()) {
        Ok(connection) => connection,
        Err(error) => {
            return send_final_fault(&mut stream, Code::ResourceExhausted, &error.to_string()).await;
        }
    };
    let served = poll_fn(|context| connection.poll(&mut stream, context));
    let end = tokio::select! {
        end = served => end,
        () = stage.cut() => Err(UnixEnd::Io(io::ErrorKind::ConnectionAborted.into())),
    };
    match end {
        Err(UnixEnd::Wire(error)) => {
            send_final_fault(&mut stream, error.fault().code(), &error.to_string()).await
        }
        Err(UnixEnd::Ring(error)) => send_final_fault(&mut stream, Code::Invalid, &error.to_string()).await,
        Err(UnixEnd::Full(error)) => {
            send_final_fault(&mut stream, Code::ResourceExhausted, &error.to_string()).await
        }
        Err(UnixEnd::Io(error)) => Err(error),
        Ok(()) => match connection.driver.take_end_message() {
            Some(message) => send_final_fault(&mut stream, Code::Unavailable, message).await,
            None => Ok(()),
        },
    }
}

/// Refuses a client and reports the reason to it.
pub(crate) async fn refuse_client(mut stream: UnixStream, reason: &str) -> io::Result<()> {
    send_final_fault(&mut stream, Code::ResourceExhausted, reason).await
}

/// Sends a fault that concerns the connection as a whole. Its id is zero, which no request has.
async fn send_final_fault(stream: &mut UnixStream, code: Code, message: &str) -> io::Result<()> {
    let fault = refusal(code, message, Blame::Caller);
    let mut bytes = BytesMut::new();
    let response = Response { id: 0, body: Some(response::Body::Fault(fault)) };
    frame::write(&response, &mut bytes).map_err(io::Error::other)?;
    timeout(MAX_FAULT_TIME, stream.write_all(&bytes)).await?
}

/// One connection: its requests, and its buffers and timers.
struct UnixConnection {
    driver: RequestDriver,
    frames: FrameBuffers,
    /// The bytes that the session and the buffers hold while they are small.
    _held: HeldBytes,
}

/// The error that ends a connection.
enum UnixEnd {
    Wire(WireError),
    /// The client has written what cannot be into the shared memory.
    Ring(RingError),
    Full(BytesError),
    Io(io::Error),
}

impl UnixConnection {
    fn new(client: KnownClient, service: &Arc<SharedService>, stage: StageWatch) -> Result<Self, BytesError> {
        let held = HeldBytes::new(&client.account.bytes, CALL_BYTES)?;
        let frames = FrameBuffers::new(&client, service);
        Ok(Self { driver: RequestDriver::new(client, service, stage), frames, _held: held })
    }

    /// Answers, writes and reads until each of them must wait.
    fn poll(&mut self, stream: &mut UnixStream, context: &mut Context<'_>) -> Poll<Result<(), UnixEnd>> {
        self.driver.begin_turn();
        loop {
            let was_full = self.frames.is_full();
            let mut is_done = false;
            if !was_full {
                let mut source = FrameSource { frames: &mut self.frames, stream };
                match self.driver.poll_answer(&mut source, context)? {
                    Poll::Ready(Some(answer)) => {
                        self.frames.append(answer)?;
                        continue;
                    }
                    Poll::Ready(None) => is_done = true,
                    Poll::Pending => {}
                }
            }
            self.frames.write(stream, context)?;
            if was_full && !self.frames.is_full() {
                // The answers have not been polled in this turn, so nothing would wake the task for them.
                continue;
            }
            if is_done && self.frames.outgoing.is_empty() {
                return Poll::Ready(Ok(()));
            }
            return self.frames.wait(self.driver.is_idle(), context);
        }
    }
}

/// The buffers and timers of a connection.
struct FrameBuffers {
    service: Arc<SharedService>,
    account: Arc<ClientAccount>,
    ring: Option<Box<ConnectionRing>>,
    /// True after the first request for rings. Later ones are refused like every request, within the limits: the answer
    /// to the first counts against none.
    has_asked_for_ring: bool,
    /// The memory file of the ring, and the bytes of `outgoing` that leave before it.
    file: Option<(usize, OwnedFd)>,
    /// The time without any request or answer.
    silence: IdleTimer,
    /// The time for which the client has taken no answer.
    untaken: IdleTimer,
    /// The time for which the client has sent half a message and no more.
    late: IdleTimer,
    received: BytesMut,
    received_held: HeldBytes,
    /// The maximum that `received` has held since its memory was new.
    max_received: usize,
    outgoing: BytesMut,
    outgoing_held: HeldBytes,
    /// True if the connection waits for bytes of the client.
    is_reading: bool,
}

impl FrameBuffers {
    fn new(client: &KnownClient, service: &Arc<SharedService>) -> Self {
        let limits = &service.limits;
        Self {
            service: Arc::clone(service),
            account: Arc::clone(&client.account),
            ring: None,
            has_asked_for_ring: false,
            file: None,
            silence: IdleTimer::new(limits.max_idle()),
            untaken: IdleTimer::new(limits.max_stall()),
            late: IdleTimer::new(limits.max_message()),
            received: BytesMut::with_capacity(READ),
            received_held: HeldBytes::none(&client.account.bytes),
            max_received: 0,
            outgoing: BytesMut::new(),
            outgoing_held: HeldBytes::none(&client.account.bytes),
            is_reading: false,
        }
    }

    /// Returns true if the client leaves too many answers unread.
    fn is_full(&self) -> bool {
        self.outgoing.len() > MAX_UNSENT
    }

    /// Returns the next request if it has been received completely, from the ring or from the socket.
    fn take_request(&mut self) -> Result<Option<HeldRequest>, UnixEnd> {
        if let Some(ring) = &mut self.ring
            && let Some(request) = ring.take_request()?
        {
            self.silence.renew();
            return Ok(Some(request));
        }
        loop {
            let Some((request, held)) = self.take_frame()? else { return Ok(None) };
            match request {
                // A frame without a message only wakes this side.
                Request { id: 0, body: None } if self.ring.is_some() => {}
                Request { id, body: Some(request::Body::OpenRing(wanted)) } if !self.has_asked_for_ring => {
                    self.open_ring(id, wanted)?;
                }
                request => return Ok(Some((request, held))),
            }
        }
    }

    /// Opens the rings that the client asks for, and appends the answer.
    fn open_ring(&mut self, id: u64, wanted: OpenRing) -> Result<(), UnixEnd> {
        self.has_asked_for_ring = true;
        let opened = ConnectionRing::create(&self.service, &self.account, wanted);
        let answer = opened.map(|(ring, answer, file)| {
            self.ring = Some(Box::new(ring));
            // The file goes with the first byte of the answer, and not with bytes before it.
            self.file = Some((self.outgoing.len(), file));
            answer
        });
        if let Err(fault) = &answer {
            self.service.metrics.rejections.count(fault.code(), 1);
        }
        frame::write(&ring_response(id, answer), &mut self.outgoing).map_err(UnixEnd::Wire)
    }

    /// Returns the next request of the socket if it has been received completely.
    fn take_frame(&mut self) -> Result<Option<HeldRequest>, UnixEnd> {
        let max = self.service.limits.max_message_bytes;
        let Some(message) = frame::take(&mut self.received, max).map_err(UnixEnd::Wire)? else {
            return Ok(None);
        };
        self.silence.renew();
        self.late.renew();
        // The request takes over the bytes that its frame held, so nothing is counted twice.
        let held = self.received_held.split_off(message.len());
        self.received_held.shrink_to(self.received.len());
        if self.received.is_empty() && self.max_received > 4 * READ {
            // The memory of a long message would otherwise stay for as long as the connection.
            (self.received, self.max_received) = (BytesMut::new(), 0);
        }
        let request = Request::decode(message).map_err(|error| UnixEnd::Wire(error.into()))?;
        Ok(Some((request, held)))
    }

    /// Waits with a time limit: for a client that takes its answers, for the rest of a message, or for anything at all.
    fn wait(&mut self, is_idle: bool, context: &mut Context<'_>) -> Poll<Result<(), UnixEnd>> {
        let is_half = self.is_reading && !self.received.is_empty();
        // The first that applies: while answers wait for the client, it need not send anything.
        let timer = match () {
            () if !self.outgoing.is_empty() => &mut self.untaken,
            () if is_half => &mut self.late,
            () if is_idle => &mut self.silence,
            () => return Poll::Pending,
        };
        ready!(timer.poll_expired(context));
        Poll::Ready(Err(UnixEnd::Io(io::ErrorKind::TimedOut.into())))
    }

    /// Appends an answer to those that are to be sent.
    fn append(&mut self, answer: HeldAnswer) -> Result<(), UnixEnd> {
        self.silence.renew();
        if let Some(ring) = &mut self.ring
            && ring.write(&answer.response)?
        {
            // The ring has a copy, and its memory is counted already. So `held` is given back here.
            return Ok(());
        }
        let HeldAnswer { response, held } = answer;
        frame::write(&response, &mut self.outgoing).map_err(UnixEnd::Wire)?;
        self.outgoing_held.merge(held);
        Ok(())
    }

    /// Sends what the ring and the socket take, and wakes the client if it must be woken.
    fn write(&mut self, stream: &mut UnixStream, context: &mut Context<'_>) -> Result<(), UnixEnd> {
        // Bytes that wait for the client wake it too.
        if let Some(ring) = &mut self.ring
            && ring.must_wake_client()
            && self.outgoing.is_empty()
        {
            // Zeros are the header of a frame without a message, which does nothing but wake the client.
            self.outgoing.extend_from_slice(&[0; frame::HEADER_BYTES]);
        }
        self.write_socket(stream, context).map_err(UnixEnd::Io)
    }

    fn write_socket(&mut self, stream: &mut UnixStream, context: &mut Context<'_>) -> io::Result<()> {
        while !self.outgoing.is_empty() {
            if stream.poll_write_ready(context)?.is_pending() {
                break;
            }
            let sent = match &self.file {
                Some((0, file)) => stream.try_io(Interest::WRITABLE, || {
                    send_with_file(stream.as_fd(), &self.outgoing, file.as_fd())
                }),
                Some((before, _)) => stream.try_write(&self.outgoing[..*before]),
                None => stream.try_write(&self.outgoing),
            };
            let written = match sent {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => written,
                // The readiness was stale, and is cleared now.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) if matches!(self.file, Some((0, _))) && is_forbidden(&error) => {
                    // Only the sending of files is forbidden. The client continues without it.
                    (self.file, self.ring) = (None, None);
                    report_failure(&self.service.metrics, &format_args!("sendmsg: {error}"));
                    continue;
                }
                Err(error) => return Err(error),
            };
            count(&self.service.metrics.sent_bytes, written);
            self.outgoing.advance(written);
            self.file = self.file.take().and_then(|(before, file)| {
                // The file has left with the first byte of its answer.
                (before > 0).then(|| (before - written, file))
            });
            self.untaken.renew();
        }
        self.outgoing_held.shrink_to(self.outgoing.len());
        // A long answer leaves a large buffer behind, which the budget no longer counts.
        if self.outgoing.is_empty() && self.outgoing.capacity() > READ {
            self.outgoing = BytesMut::new();
        }
        Ok(())
    }

    fn read(&mut self, stream: &mut UnixStream, context: &mut Context<'_>) -> Poll<Result<usize, UnixEnd>> {
        self.received.reserve(READ);
        let read = loop {
            // `try_read_buf` fails with `WouldBlock` if the readiness is stale, and clears it.
            ready!(stream.poll_read_ready(context)).map_err(UnixEnd::Io)?;
            match stream.try_read_buf(&mut self.received) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => break read.map_err(UnixEnd::Io)?,
            }
        };
        count(&self.service.metrics.received_bytes, read);
        self.received_held.resize(self.received.len()).map_err(UnixEnd::Full)?;
        self.max_received = self.max_received.max(self.received.len());
        Poll::Ready(Ok(read))
    }
}

/// Returns true if a policy of the system forbids a call, such as a filter of system calls.
fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

/// The buffers of a connection with its socket, from which requests come.
struct FrameSource<'c> {
    frames: &'c mut FrameBuffers,
    stream: &'c mut UnixStream,
}

impl RequestSource for FrameSource<'_> {
    type Error = UnixEnd;

    fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<HeldRequest>, UnixEnd>> {
        // Answers leave before further requests are read and begun, which may take long.
        self.frames.write(self.stream, context)?;
        if self.frames.is_full() {
            self.pause();
            return Poll::Pending;
        }
        loop {
            if let Some(request) = self.frames.take_request()? {
                return Poll::Ready(Ok(Some(request)));
            }
            self.frames.is_reading = true;
            match self.frames.read(self.stream, context)? {
                Poll::Ready(0) => return Poll::Ready(Ok(None)),
                Poll::Ready(_) => {}
                Poll::Pending => {
                    // A request that has arrived to the ring meanwhile wakes nobody.
                    let may_wait = self.frames.ring.as_mut().map_or(Ok(true), |ring| ring.sleep())?;
                    if may_wait {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    fn pause(&mut self) {
        self.frames.late.renew();
        self.frames.is_reading = false;
    }

    fn needed_bytes(&self) -> usize {
        self.frames.service.limits.max_message_bytes + READ
    }
}
