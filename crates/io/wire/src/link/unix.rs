//! A stream over a UNIX socket, with shared memory if the server gives it.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use oarlock_shared_memory::{RingReader, RingSizes, RingWriter, receive_with_file};
use prost::Message;
use rustix::net::{SendFlags, send};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{LinkSender, LinkState, LinkTransport, QUEUE, ServerLink};
use crate::endpoint::PATIENCE;
use crate::proto::{Request, Response, response};
use crate::ring::{self, ClientRing};
use crate::{ConnectError, MessageLimits, RingUnavailable, ServerUsers, frame};

/// The bytes to read or write at once.
const READ: usize = 64 << 10;

/// The rings of a link: several batches of thousands of records fit.
const RING_SIZES: RingSizes = RingSizes { requests: 1 << 20, answers: 1 << 20 };

/// The id of the request for rings. Requests of callers have others.
const RING_ID: u64 = u64::MAX;

/// Connects to a UNIX socket, and checks the server's user before anything is sent. `no_ring` is the reason why no
/// shared memory is asked for.
pub(super) async fn open(
    path: &Path,
    users: &ServerUsers,
    no_ring: Option<RingUnavailable>,
) -> Result<ServerLink, ConnectError> {
    let failed = |reason: String| ConnectError::Unreachable { address: path.display().to_string(), reason };
    let unreachable = |error: io::Error| failed(error.to_string());
    let mut stream = UnixStream::connect(path).await.map_err(unreachable)?;
    let found = stream.peer_cred().map_err(unreachable)?.uid();
    users.check(found).map_err(|expected| ConnectError::WrongOwner {
        path: path.to_owned(),
        found,
        expected,
    })?;
    stream.write_all(frame::PREAMBLE).await.map_err(unreachable)?;
    let shared = LinkState::new();
    let mut received = BytesMut::with_capacity(READ);
    let opened = match no_ring {
        Some(reason) => Err(reason),
        // A server may accept connections and never answer.
        None => match timeout(PATIENCE, ask_for_ring(&mut stream, &mut received, &shared)).await {
            Ok(opened) => opened.map_err(unreachable)?,
            Err(_) => {
                return Err(failed(format!("the server did not answer within {} s", PATIENCE.as_secs())));
            }
        },
    };
    let socket = Arc::new(stream);
    let (queue, waiting) = mpsc::channel(QUEUE);
    let (requests, answers, transport) = match opened {
        Ok(ClientRing { requests, answers }) => {
            let ring = Arc::new(RingRequests::new(requests, &socket));
            let sender = RingSender { queue, ring: Arc::clone(&ring) };
            (LinkSender::Ring(sender), Some((answers, ring)), LinkTransport::Ring)
        }
        Err(no_ring) => (LinkSender::Queue(queue), None, LinkTransport::Socket { no_ring }),
    };
    let ring = answers.as_ref().map(|(_, ring)| Arc::clone(ring));
    let mut input = LinkInput { socket: Arc::clone(&socket), received, answers, frames: BytesMut::new() };
    let state = Arc::clone(&shared);
    let reader = tokio::spawn(async move {
        let end = input.run(&state).await;
        state.close(end.map_or_else(|error| error.to_string(), |()| "the server closed it".to_owned()));
    });
    let writer = tokio::spawn(async move { write_frames(waiting, &socket, ring.as_deref()).await });
    let tasks = vec![reader.abort_handle(), writer.abort_handle()];
    Ok(ServerLink { requests, shared, last_id: AtomicU64::new(0), tasks, transport })
}

/// Asks for rings. Returns the reason if there are none. Bytes after the answer stay in `received`.
async fn ask_for_ring(
    stream: &mut UnixStream,
    received: &mut BytesMut,
    shared: &LinkState,
) -> io::Result<Result<ClientRing, RingUnavailable>> {
    let mut bytes = BytesMut::new();
    let request = Request { id: RING_ID, body: Some(ring::opening(RING_SIZES)) };
    frame::write(&request, &mut bytes).map_err(io::Error::other)?;
    stream.write_all(&bytes).await?;
    let mut file: Option<OwnedFd> = None;
    let max = MessageLimits::default().max_message_bytes;
    loop {
        if let Some(message) = frame::take(received, max).map_err(io::Error::other)? {
            let response = Response::decode(message)?;
            return Ok(match (response.id, response.body) {
                (RING_ID, Some(response::Body::Ring(answer))) => {
                    ClientRing::open(answer, file).map_err(RingUnavailable::from)
                }
                (RING_ID, Some(response::Body::Fault(fault))) => Err(RingUnavailable::of_fault(fault)),
                // The server ends the connection, and says why.
                (id, body) => {
                    shared.answer(Response { id, body });
                    Err(RingUnavailable::Refused("the server ends the connection".to_owned()))
                }
            });
        }
        let mut buffer = [0; 4096];
        let read = || receive_with_file(stream.as_fd(), &mut buffer);
        let (len, found) = stream.async_io(Interest::READABLE, read).await?;
        if len == 0 {
            return Ok(Err(RingUnavailable::Refused("the server closed the connection".to_owned())));
        }
        file = file.or(found);
        received.extend_from_slice(&buffer[..len]);
    }
}

/// The requests of a link with rings.
#[derive(Debug)]
pub(super) struct RingSender {
    /// The requests that go through the socket.
    queue: mpsc::Sender<Request>,
    ring: Arc<RingRequests>,
}

impl RingSender {
    /// Sends a request through the ring, or through the socket if it must. Returns false if the link has ended.
    pub(super) async fn send(&self, request: Request) -> bool {
        if self.ring.write(&request) {
            return true;
        }
        let mut unsent = UnsentRequest { ring: &self.ring, id: request.id, is_sent: false };
        unsent.is_sent = self.queue.send(request).await.is_ok();
        unsent.is_sent
    }
}

/// A request that waits for its turn on the socket. If its caller gives it up before, it gets no answer, and must not
/// keep later requests from the ring.
struct UnsentRequest<'r> {
    ring: &'r RingRequests,
    id: u64,
    is_sent: bool,
}

impl Drop for UnsentRequest<'_> {
    fn drop(&mut self) {
        if !self.is_sent {
            self.ring.answered(self.id);
        }
    }
}

/// The ring of requests, and what the tasks of its link know about the socket beside it.
#[derive(Debug)]
struct RingRequests {
    state: Mutex<RingState>,
    socket: Arc<UnixStream>,
}

#[derive(Debug)]
struct RingState {
    writer: RingWriter,
    /// The ids of requests that went through the socket and have no answer yet. Until they have one, all requests do:
    /// the server begins requests in their order, and a later one could pass them in the ring.
    on_socket: HashSet<u64>,
    /// True while frames are written to the socket: nothing may come between their bytes.
    is_streaming: bool,
    /// True if the server must be woken when the frames have been written.
    must_wake: bool,
}

impl RingRequests {
    fn new(writer: RingWriter, socket: &Arc<UnixStream>) -> Self {
        let state = RingState { writer, on_socket: HashSet::new(), is_streaming: false, must_wake: false };
        Self { state: Mutex::new(state), socket: Arc::clone(socket) }
    }

    /// Writes a request to the ring. Returns false if it must go through the socket.
    fn write(&self, request: &Request) -> bool {
        let mut state = self.lock();
        // A server that writes an impossible position still reads the socket.
        let is_written = state.on_socket.is_empty()
            && state.writer.encode(request.encoded_len(), |frame| request.encode_raw(frame)).unwrap_or(false);
        if !is_written {
            state.on_socket.insert(request.id);
            return false;
        }
        if state.writer.take_sleeper() {
            if state.is_streaming {
                state.must_wake = true;
            } else {
                self.wake_server();
            }
        }
        true
    }

    /// Notes that a request has its answer, or gets none.
    fn answered(&self, id: u64) {
        let mut state = self.lock();
        if !state.on_socket.is_empty() {
            state.on_socket.remove(&id);
        }
    }

    /// Notes that frames are written to the socket, or that all have been.
    fn set_streaming(&self, is_streaming: bool) {
        let mut state = self.lock();
        state.is_streaming = is_streaming;
        if !is_streaming && std::mem::take(&mut state.must_wake) {
            self.wake_server();
        }
    }

    fn wake_server(&self) {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        // Not `try_write`, which fails without a try while the runtime does not know that the socket is writable. If
        // the socket is full, its bytes wake the server, and if it is broken, the reader of the link says so.
        let _ = send(&self.socket, &[0; frame::HEADER_BYTES], flags);
    }

    fn lock(&self) -> MutexGuard<'_, RingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answers of a link.
struct LinkInput {
    socket: Arc<UnixStream>,
    received: BytesMut,
    answers: Option<(RingReader, Arc<RingRequests>)>,
    /// The frames of the ring, copied out before anything reads them.
    frames: BytesMut,
}

impl LinkInput {
    /// Passes answers on until the server closes the connection.
    async fn run(&mut self, shared: &LinkState) -> io::Result<()> {
        let max = MessageLimits::default().max_message_bytes;
        loop {
            self.take_from_ring(shared)?;
            while let Some(message) = frame::take(&mut self.received, max).map_err(io::Error::other)? {
                // A frame without a message only wakes this side.
                if !message.is_empty() {
                    let response = Response::decode(message)?;
                    if let Some((_, ring)) = &self.answers {
                        ring.answered(response.id);
                    }
                    shared.answer(response);
                }
            }
            self.received.reserve(READ);
            match self.socket.try_read_buf(&mut self.received) {
                Ok(0) => return self.take_from_ring(shared),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let answers = self.answers.as_mut();
                    if answers.map_or(Ok(true), |(answers, _)| answers.sleep()).map_err(io::Error::other)? {
                        self.socket.readable().await?;
                    }
                }
                Err(error) => {
                    // A server that was killed before it had read everything resets the connection. What it has
                    // answered is in the ring.
                    self.take_from_ring(shared)?;
                    return Err(error);
                }
            }
        }
    }

    fn take_from_ring(&mut self, shared: &LinkState) -> io::Result<()> {
        let Some((answers, ring)) = &mut self.answers else { return Ok(()) };
        while answers.read(&mut self.frames).map_err(io::Error::other)?.is_some() {
            let response = Response::decode(self.frames.split().freeze())?;
            ring.answered(response.id);
            shared.answer(response);
        }
        Ok(())
    }
}

/// Writes requests to the socket. The requests that wait are written together.
async fn write_frames(
    mut waiting: mpsc::Receiver<Request>,
    socket: &UnixStream,
    ring: Option<&RingRequests>,
) {
    let streaming = |is_streaming| {
        if let Some(ring) = ring {
            ring.set_streaming(is_streaming);
        }
    };
    let mut bytes = BytesMut::new();
    while let Some(first) = waiting.recv().await {
        bytes.clear();
        let mut next = Some(first);
        while let Some(request) = next {
            // A message beyond 4 GiB does not fit a frame. Ending the stream reports the failure to its caller.
            if frame::write(&request, &mut bytes).is_err() {
                return;
            }
            next = if bytes.len() < READ { waiting.try_recv().ok() } else { None };
        }
        streaming(true);
        let is_written = write_all(socket, &bytes).await;
        streaming(false);
        if is_written.is_err() {
            return;
        }
    }
}

async fn write_all(socket: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        socket.writable().await?;
        match socket.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
