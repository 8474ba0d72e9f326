//! A stream over a UNIX socket, with shared memory if the server gives it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use oarlock_ring::{RingReader, RingSizes, RingWriter, receive_with_file};
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
use crate::{ConnectError, MessageLimits, frame};

/// The bytes to read or write at once.
const READ: usize = 64 << 10;

/// The rings of a link: several batches of thousands of records fit.
const RING_SIZES: RingSizes = RingSizes { requests: 1 << 20, answers: 1 << 20 };

/// The id of the request for rings. Requests of callers have others.
const RING_ID: u64 = u64::MAX;

/// Connects to a UNIX socket, and checks the server's user before anything is sent. Any user with write access to the
/// directory of a socket can replace it. `no_ring` is the reason why no shared memory is asked for.
pub(super) async fn open(
    path: &Path,
    server_uids: &[u32],
    no_ring: Option<&str>,
) -> Result<ServerLink, ConnectError> {
    let failed = |reason: String| ConnectError::Unreachable { address: path.display().to_string(), reason };
    let unreachable = |error: io::Error| failed(error.to_string());
    let mut stream = UnixStream::connect(path).await.map_err(unreachable)?;
    let found = stream.peer_cred().map_err(unreachable)?.uid();
    let own = rustix::process::geteuid().as_raw();
    let expected = [&[0, own], server_uids].concat();
    if !expected.contains(&found) {
        return Err(ConnectError::WrongOwner { path: path.to_owned(), found, expected });
    }
    stream.write_all(frame::PREAMBLE).await.map_err(unreachable)?;
    let shared = LinkState::new();
    let mut received = BytesMut::with_capacity(READ);
    let opened = match no_ring {
        Some(reason) => Err(reason.to_owned()),
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
            let output = RingOutput { writer: requests, is_streaming: false, must_wake: false };
            let sender = RingSender { queue, output: Mutex::new(output), socket: Arc::clone(&socket) };
            (LinkSender::Ring(Arc::new(sender)), Some(answers), LinkTransport::Ring)
        }
        Err(no_ring) => (LinkSender::Queue(queue), None, LinkTransport::Socket { no_ring }),
    };
    let ring = match &requests {
        LinkSender::Ring(sender) => Some(Arc::downgrade(sender)),
        LinkSender::Queue(_) => None,
    };
    let (state, input) = (Arc::clone(&shared), Arc::clone(&socket));
    let reader = tokio::spawn(async move {
        let end = LinkInput { socket: input, received, answers, frames: BytesMut::new() }.run(&state).await;
        state.close(end.map_or_else(|error| error.to_string(), |()| "the server closed it".to_owned()));
    });
    let writer = tokio::spawn(async move {
        // A weak reference: the queue ends when the link is dropped.
        let streaming = |is_streaming| {
            if let Some(ring) = ring.as_ref().and_then(std::sync::Weak::upgrade) {
                ring.lock().set_streaming(is_streaming, &ring.socket);
            }
        };
        write_frames(waiting, &socket, streaming).await;
    });
    let tasks = vec![reader.abort_handle(), writer.abort_handle()];
    Ok(ServerLink { requests, shared, last_id: AtomicU64::new(0), tasks, transport })
}

/// Asks for rings. Returns the reason if there are none. Bytes after the answer stay in `received`.
async fn ask_for_ring(
    stream: &mut UnixStream,
    received: &mut BytesMut,
    shared: &LinkState,
) -> io::Result<Result<ClientRing, String>> {
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
                    ClientRing::open(answer, file).map_err(|error| error.to_string())
                }
                (RING_ID, Some(response::Body::Fault(fault))) => Err(fault.message),
                // The server ends the connection, and says why.
                (id, body) => {
                    shared.answer(Response { id, body });
                    Err("the server ends the connection".to_owned())
                }
            });
        }
        let mut buffer = [0; 4096];
        let read = || receive_with_file(stream.as_fd(), &mut buffer);
        let (len, found) = stream.async_io(Interest::READABLE, read).await?;
        if len == 0 {
            return Ok(Err("the server closed the connection".to_owned()));
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
    output: Mutex<RingOutput>,
    socket: Arc<UnixStream>,
}

#[derive(Debug)]
struct RingOutput {
    writer: RingWriter,
    /// True while frames are written to the socket: nothing may come between their bytes.
    is_streaming: bool,
    /// True if the server must be woken when the frames have been written.
    must_wake: bool,
}

impl RingSender {
    /// Sends a request through the ring, or through the socket if the ring has no space for it. Returns false if the
    /// link has ended.
    pub(super) async fn send(&self, request: Request) -> bool {
        if self.write(&request) {
            return true;
        }
        self.queue.send(request).await.is_ok()
    }

    /// Writes a request to the ring. Returns false if it must go through the socket.
    fn write(&self, request: &Request) -> bool {
        let mut output = self.lock();
        let encoded = output.writer.encode(request.encoded_len(), |frame| request.encode_raw(frame));
        // A server that writes impossible positions still reads the socket, and ends the connection or answers.
        let is_written = encoded.unwrap_or(false);
        if is_written && output.writer.take_sleeper() {
            output.wake(&self.socket);
        }
        is_written
    }

    fn lock(&self) -> MutexGuard<'_, RingOutput> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RingOutput {
    fn wake(&mut self, socket: &UnixStream) {
        if self.is_streaming {
            self.must_wake = true;
            return;
        }
        // Not `try_write`, which fails without a try while the runtime does not know that the socket is writable.
        match send(socket, &[0; frame::HEADER_BYTES], SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            // A full socket has bytes that wake the server, and a broken one ends the reader.
            Ok(_) | Err(_) => {}
        }
    }

    fn set_streaming(&mut self, is_streaming: bool, socket: &UnixStream) {
        self.is_streaming = is_streaming;
        if !is_streaming && std::mem::take(&mut self.must_wake) {
            self.wake(socket);
        }
    }
}

/// The answers of a link.
struct LinkInput {
    socket: Arc<UnixStream>,
    received: BytesMut,
    answers: Option<RingReader>,
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
                    shared.answer(Response::decode(message)?);
                }
            }
            self.received.reserve(READ);
            match self.socket.try_read_buf(&mut self.received) {
                Ok(0) => return self.take_from_ring(shared),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let may_wait = self
                        .answers
                        .as_mut()
                        .map_or(Ok(true), RingReader::sleep)
                        .map_err(io::Error::other)?;
                    if may_wait {
                        self.socket.readable().await?;
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn take_from_ring(&mut self, shared: &LinkState) -> io::Result<()> {
        let Some(answers) = &mut self.answers else { return Ok(()) };
        while answers.read(&mut self.frames).map_err(io::Error::other)?.is_some() {
            shared.answer(Response::decode(self.frames.split().freeze())?);
        }
        Ok(())
    }
}

/// Writes requests to the socket. The requests that wait are written together. `streaming` is told when bytes begin and
/// end.
async fn write_frames(mut waiting: mpsc::Receiver<Request>, socket: &UnixStream, streaming: impl Fn(bool)) {
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
