//! One connection of the pool, and the keys that are open on it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

use bytes::{BufMut, Bytes, BytesMut};
use oarlock::Fingerprint;
use oarlock::Key;
use oarlock::engine_api::OwnedJob;
use oarlock::keys::export;
use oarlock_shared_memory::{RingError, RingSizes};
use prost::Message;
use zeroize::{Zeroize, Zeroizing};

use super::socket::PoolSocket;
use super::{PoolConfig, PoolError};
use crate::proto::{GetPublicKeyRequest, OpenKey, Request, Response, open_key, request, response};
use crate::ring::{self, ClientRing};
use crate::{MessageLimits, RingUnavailable, WireError, frame, jobs};

/// The maximum number of keys that are open on a connection, far below the limits of servers. Above it the oldest key
/// is replaced.
const MAX_KEYS: usize = 256;

/// The bytes to read at once. An answer to a job is shorter.
const READ: usize = 8 << 10;

/// The rings of a connection: one question or its answer fits, for which the socket alone would do. A program has many
/// connections.
const RING_SIZES: RingSizes = RingSizes { requests: 16 << 10, answers: 16 << 10 };

/// A question to the server. It is kept until its answer, because it may be sent again.
#[derive(Debug)]
pub(super) enum PoolQuestion {
    Job { job: OwnedJob, source: OwnedKeySource },
    Info(String),
}

#[derive(Clone, Debug)]
pub(super) enum OwnedKeySource {
    Resident { name: String, fingerprint: Option<Fingerprint> },
    Brought(Key),
    Public(Key),
}

/// The key that a handle of the connection stands for.
#[derive(Clone, Debug, PartialEq)]
enum OpenKeyId {
    Resident(String, Option<Fingerprint>),
    Brought(Fingerprint),
    Public(Fingerprint),
    /// No key: the server has not opened it.
    Nothing,
}

/// The ids of the requests whose answers are expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct AwaitedIds {
    pub(super) opening: Option<u64>,
    pub(super) answer: u64,
    pub(super) handle: usize,
}

/// A connection. It is passed on in a box: the caller may run on a fibre with a stack of 32 KiB.
#[derive(Debug)]
pub(super) struct PoolChannel {
    pub(super) socket: PoolSocket,
    is_greeted: bool,
    last_id: u64,
    /// The keys by handle.
    keys: Vec<OpenKeyId>,
    oldest: usize,
    received: WipedBuffer,
    ring: ChannelRing,
    /// The memory file, until the message that it came with has been read.
    file: Option<OwnedFd>,
}

/// The shared memory of a connection.
#[derive(Debug)]
enum ChannelRing {
    /// Every message passes through the socket, for this reason.
    Absent(RingUnavailable),
    /// The first question asks for it.
    Wanted,
    /// The answer with this id has not come yet.
    Asked(u64),
    Open(Box<ClientRing>, WipedFrames),
}

/// Received bytes, which are wiped after they have been read.
#[derive(Default)]
struct WipedBuffer(Zeroizing<Vec<u8>>);

impl PoolChannel {
    pub(super) fn open(config: &PoolConfig, until: Instant) -> Result<Box<Self>, PoolError> {
        let socket = PoolSocket::connect(config, until)?;
        let (keys, received) = (Vec::new(), WipedBuffer::default());
        let ring = match () {
            () if !config.has_ring => ChannelRing::Absent(RingUnavailable::Unwanted("not wanted".to_owned())),
            () if ring::is_switched_off() => ChannelRing::Absent(RingUnavailable::switched_off()),
            () => ChannelRing::Wanted,
        };
        let (is_greeted, last_id, oldest, file) = (false, 0, 0, None);
        Ok(Box::new(Self { socket, is_greeted, last_id, keys, oldest, received, ring, file }))
    }

    /// Returns true if the question's key is open.
    pub(super) fn has_key_of(&self, question: &PoolQuestion) -> bool {
        question.id().is_none_or(|id| self.keys.contains(&id))
    }

    /// Sends a question. If its key is not open on this connection, the request to open it goes in front.
    pub(super) fn ask(&mut self, question: &PoolQuestion, until: Instant) -> Result<AwaitedIds, AskError> {
        let mut requests = Vec::with_capacity(3);
        if let ChannelRing::Wanted = self.ring {
            let request = self.request(ring::opening(RING_SIZES));
            self.ring = ChannelRing::Asked(request.id);
            requests.push(request);
        }
        let mut awaited = AwaitedIds { opening: None, answer: 0, handle: 0 };
        let body = match question {
            PoolQuestion::Info(name) => {
                request::Body::GetPublicKey(GetPublicKeyRequest { name: name.clone() })
            }
            PoolQuestion::Job { job, source } => {
                let (handle, is_new) = self.handle(&source.id());
                awaited.handle = handle;
                if is_new {
                    let request = self.request(source.opening(handle as u32)?);
                    awaited.opening = Some(request.id);
                    requests.push(request);
                }
                let message = jobs::write([(job.as_job(), handle as u32)].into_iter());
                request::Body::Jobs(message.map_err(PoolError::Request)?)
            }
        };
        let request = self.request(body);
        awaited.answer = request.id;
        requests.push(request);
        match self.write_to_ring(&requests).map_err(|error| AskError::Io(io::Error::other(error)))? {
            RingWrite::Done { must_wake: false } => {}
            RingWrite::Done { must_wake: true } => {
                self.socket.send_all(&[0; frame::HEADER_BYTES], until).map_err(AskError::Io)?;
            }
            RingWrite::Absent => {
                let bytes = self.frames(&requests).map_err(PoolError::Request)?;
                self.socket.send_all(&bytes.0, until).map_err(AskError::Io)?;
            }
        }
        self.is_greeted = true;
        Ok(awaited)
    }

    /// Writes requests to the ring: all of them or none, because the server keeps their order only within one way.
    fn write_to_ring(&mut self, requests: &[Request]) -> Result<RingWrite, RingError> {
        let ChannelRing::Open(ring, _) = &mut self.ring else { return Ok(RingWrite::Absent) };
        // The caller may wait for the descriptor without a look at the ring.
        ring.answers.sleep()?;
        // The ring is empty: the former question has been answered. Each frame has a length of eight bytes, and at most
        // as many bytes of padding.
        let len: usize = requests.iter().map(|request| request.encoded_len() + 16).sum();
        if len > ring.requests.max_len() || !ring.requests.has_space(len)? {
            return Ok(RingWrite::Absent);
        }
        for request in requests {
            ring.requests.encode(request.encoded_len(), |frame| request.encode_raw(frame))?;
        }
        Ok(RingWrite::Done { must_wake: ring.requests.take_sleeper() })
    }

    fn request(&mut self, body: request::Body) -> Request {
        self.last_id += 1;
        Request { id: self.last_id, body: Some(body) }
    }

    fn frames(&self, requests: &[Request]) -> Result<WipedFrames, WireError> {
        let len = requests.iter().map(|request| frame::HEADER_BYTES + request.encoded_len()).sum::<usize>();
        // Enough capacity from the start: growing would leave a copy of the bytes that is not wiped.
        let mut bytes = WipedFrames(BytesMut::with_capacity(frame::PREAMBLE.len() + len));
        if !self.is_greeted {
            bytes.0.put_slice(frame::PREAMBLE);
        }
        requests.iter().try_for_each(|request| frame::write(request, &mut bytes.0))?;
        Ok(bytes)
    }

    /// Returns the handle of a key, and true if the key must be opened.
    fn handle(&mut self, id: &OpenKeyId) -> (usize, bool) {
        if let Some(handle) = self.keys.iter().position(|open| open == id) {
            return (handle, false);
        }
        if self.keys.len() < MAX_KEYS {
            self.keys.push(id.clone());
            return (self.keys.len() - 1, true);
        }
        // Round robin replaces the oldest key without keeping times of use.
        let handle = self.oldest;
        self.oldest = (handle + 1) % MAX_KEYS;
        self.keys[handle] = id.clone();
        (handle, true)
    }

    /// Notes that the server has not opened the key of a handle.
    pub(super) fn forget(&mut self, handle: usize) {
        if let Some(key) = self.keys.get_mut(handle) {
            *key = OpenKeyId::Nothing;
        }
    }

    /// Reads received bytes. Returns their number, `None` if there are none yet, or zero if the server has closed the
    /// connection.
    pub(super) fn read(&mut self) -> io::Result<Option<usize>> {
        let mut file = None;
        let read = match self.ring {
            ChannelRing::Asked(_) => {
                self.received.read(|bytes| self.socket.receive_with_file(bytes, &mut file))
            }
            _ => self.received.read(|bytes| self.socket.receive(bytes)),
        };
        self.file = self.file.take().or(file);
        read
    }

    /// Returns true if the caller may wait for the descriptor: no answer has arrived through the ring.
    pub(super) fn may_wait(&mut self) -> Result<bool, WireError> {
        match &mut self.ring {
            ChannelRing::Open(ring, _) => ring.answers.sleep().map_err(shared_memory_error),
            _ => Ok(true),
        }
    }

    /// Returns true if messages pass through shared memory.
    pub(super) fn has_ring(&self) -> bool {
        matches!(self.ring, ChannelRing::Open(..))
    }

    /// Returns the reason why all messages pass through the socket.
    pub(super) fn no_ring(&self) -> Option<&RingUnavailable> {
        match &self.ring {
            ChannelRing::Absent(reason) => Some(reason),
            _ => None,
        }
    }

    /// Returns true if an idle connection is alive and has no message to read. A server that has closed it, or
    /// announced its end, made it readable.
    pub(super) fn is_quiet(&mut self) -> bool {
        loop {
            match self.next() {
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => return false,
            }
            match self.read() {
                Ok(Some(1..)) => {}
                Ok(None) => return self.received.0.is_empty(),
                Ok(Some(0)) | Err(_) => return false,
            }
        }
    }

    /// Returns the number of bytes of an incomplete answer.
    pub(super) fn received(&self) -> usize {
        self.received.0.len()
    }

    /// Returns the next answer, or `None` if it is not complete yet.
    pub(super) fn next(&mut self) -> Result<Option<Response>, WireError> {
        if let ChannelRing::Open(ring, frame) = &mut self.ring
            && ring.answers.read(&mut frame.0).map_err(shared_memory_error)?.is_some()
        {
            let response = Response::decode(&*frame.0).map_err(WireError::from);
            frame.0.as_mut().zeroize();
            frame.0.clear();
            return response.map(Some);
        }
        loop {
            let Some(response) = self.received.next()? else { return Ok(None) };
            match (response.id, response.body, &self.ring) {
                // A frame without a message only wakes this side.
                (0, None, ChannelRing::Open(..)) => {}
                (id, body, ChannelRing::Asked(asked)) if id == *asked => self.ring = self.open_ring(body)?,
                (id, body, _) => return Ok(Some(Response { id, body })),
            }
        }
    }

    /// Maps the shared memory that the server gives, or continues without it.
    fn open_ring(&mut self, answer: Option<response::Body>) -> Result<ChannelRing, WireError> {
        match answer {
            Some(response::Body::Ring(ring)) => Ok(match ClientRing::open(ring, self.file.take()) {
                Ok(ring) => ChannelRing::Open(Box::new(ring), WipedFrames(BytesMut::new())),
                Err(error) => ChannelRing::Absent(error.into()),
            }),
            // A server that is older, has no memory to give, or does not want to.
            Some(response::Body::Fault(fault)) => Ok(ChannelRing::Absent(RingUnavailable::of_fault(fault))),
            _ => Err(WireError::Missing { what: "the answer to the request for shared memory" }),
        }
    }
}

/// The result of a try to write to the ring.
enum RingWrite {
    Done {
        must_wake: bool,
    },
    /// Nothing was written: the requests go through the socket.
    Absent,
}

fn shared_memory_error(error: RingError) -> WireError {
    WireError::SharedMemory { reason: error.to_string() }
}

/// An error of a question that could not be sent.
pub(super) enum AskError {
    /// The connection failed.
    Io(io::Error),
    /// The question cannot be encoded.
    Pool(PoolError),
}

impl From<PoolError> for AskError {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

impl PoolQuestion {
    fn id(&self) -> Option<OpenKeyId> {
        match self {
            Self::Job { source, .. } => Some(source.id()),
            Self::Info(_) => None,
        }
    }

    /// Returns the name of the key in errors.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Info(name) | Self::Job { source: OwnedKeySource::Resident { name, .. }, .. } => {
                name.clone()
            }
            Self::Job { source: OwnedKeySource::Brought(key) | OwnedKeySource::Public(key), .. } => {
                key.fingerprint().to_string()
            }
        }
    }
}

impl OwnedKeySource {
    fn id(&self) -> OpenKeyId {
        match self {
            Self::Resident { name, fingerprint } => OpenKeyId::Resident(name.clone(), *fingerprint),
            Self::Brought(key) => OpenKeyId::Brought(key.fingerprint()),
            Self::Public(key) => OpenKeyId::Public(key.fingerprint()),
        }
    }

    fn opening(&self, handle: u32) -> Result<request::Body, PoolError> {
        let (source, expected) = match self {
            Self::Resident { name, fingerprint } => (open_key::Source::Resident(name.clone()), *fingerprint),
            Self::Brought(key) => {
                let der = export::private_pkcs8_der(key)?;
                // `from_owner` keeps the wiping container: a copy into plain bytes would stay in memory.
                (open_key::Source::Asymmetric(Bytes::from_owner(der)), None)
            }
            Self::Public(key) => (open_key::Source::Asymmetric(export::spki_der(key)?.into()), None),
        };
        let fingerprint =
            expected.map_or_else(Bytes::new, |fingerprint| Bytes::copy_from_slice(fingerprint.as_bytes()));
        Ok(request::Body::OpenKey(OpenKey { handle, source: Some(source), fingerprint }))
    }
}

/// Bytes to send. They may contain a key, so they are wiped when they are dropped.
struct WipedFrames(BytesMut);

/// Shows only the number of bytes.
impl std::fmt::Debug for WipedFrames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WipedFrames({} bytes)", self.0.len())
    }
}

impl Drop for WipedFrames {
    fn drop(&mut self) {
        self.0.as_mut().zeroize();
    }
}

impl WipedBuffer {
    fn read(
        &mut self,
        receive: impl FnOnce(&mut [u8]) -> io::Result<Option<usize>>,
    ) -> io::Result<Option<usize>> {
        let held = self.0.len();
        self.0.resize(held + READ, 0);
        let read = receive(&mut self.0[held..]);
        let more = read.as_ref().ok().copied().flatten().unwrap_or_default();
        self.0.truncate(held + more);
        read
    }

    fn next(&mut self) -> Result<Option<Response>, WireError> {
        let Some(len) = frame::len(&self.0, MessageLimits::default().max_message_bytes)? else {
            return Ok(None);
        };
        let end = frame::HEADER_BYTES + len;
        let Some(message) = self.0.get(frame::HEADER_BYTES..end) else { return Ok(None) };
        let response = Response::decode(message).map_err(WireError::from)?;
        let rest = self.0.len() - end;
        self.0.copy_within(end.., 0);
        // Moving the rest forward leaves a copy of its end behind.
        self.0[rest..].zeroize();
        self.0.truncate(rest);
        Ok(Some(response))
    }
}

/// Shows only the number of bytes.
impl std::fmt::Debug for WipedBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.0.len())
    }
}
