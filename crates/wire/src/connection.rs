//! A synchronous client of a UNIX socket, for programs without a runtime.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bytes::BytesMut;
use prost::Message;

use crate::proto::{Fault, Request, Response, request, response};
use crate::{Limits, WireError, frame};

/// A stream of requests to a cryptoserver on this machine. Keys that are opened on it end with it.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    limits: Limits,
    received: BytesMut,
    outgoing: BytesMut,
    last_id: u64,
    /// Answers that came while another one was waited for.
    early: Vec<Response>,
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The server closed it.
    #[error("the server closed the connection")]
    Closed,
    /// What came was no message of this protocol, or the request cannot be one.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The server refused the request.
    #[error("{}", .0.message)]
    Refused(Fault),
    /// The server answered something else.
    #[error("the server answered something else than {expected}")]
    Unexpected {
        /// What the request asks for.
        expected: &'static str,
    },
}

impl Connection {
    /// Connects to a socket that root, the user of this process or one of `server_uids` serves.
    ///
    /// # Errors
    /// There is no server, it may not be reached, or another user serves the socket, which gets nothing then.
    pub fn open(path: &Path, server_uids: &[u32]) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        let found = rustix::net::sockopt::socket_peercred(&stream)?.uid.as_raw();
        let own = rustix::process::geteuid().as_raw();
        if found != 0 && found != own && !server_uids.contains(&found) {
            let reason = format!("{}: a server of uid {found} is not expected here", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        Self::over(stream)
    }

    /// Begins on a stream that is connected.
    ///
    /// # Errors
    /// The stream cannot be written to.
    pub fn over(mut stream: UnixStream) -> io::Result<Self> {
        stream.write_all(frame::PREAMBLE)?;
        let (received, outgoing) = (BytesMut::new(), BytesMut::new());
        Ok(Self { stream, limits: Limits::default(), received, outgoing, last_id: 0, early: Vec::new() })
    }

    /// How long a read or a write may wait; for ever where None.
    ///
    /// # Errors
    /// The system does not take it; zero is such a time.
    pub fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(patience)?;
        self.stream.set_write_timeout(patience)
    }

    /// Sends a request and waits for its answer. Answers to others are kept.
    ///
    /// # Errors
    /// The connection failed, or the server refused the request.
    pub fn call(&mut self, body: request::Body) -> Result<response::Body, CallError> {
        let id = self.send(body)?;
        loop {
            let response = self.next()?;
            if response.id != id && response.id != 0 {
                self.early.push(response);
                continue;
            }
            return match response.body {
                Some(response::Body::Fault(fault)) => Err(CallError::Refused(fault)),
                Some(body) => Ok(body),
                None => Err(CallError::Unexpected { expected: "an answer" }),
            };
        }
    }

    /// Sends a request and returns its number.
    ///
    /// # Errors
    /// The connection failed.
    pub fn send(&mut self, body: request::Body) -> Result<u64, CallError> {
        self.last_id += 1;
        self.outgoing.clear();
        frame::put(&Request { id: self.last_id, body: Some(body) }, &mut self.outgoing)?;
        self.stream.write_all(&self.outgoing)?;
        Ok(self.last_id)
    }

    /// Waits for the next answer, to whichever request.
    ///
    /// # Errors
    /// The connection failed, or what came is no answer.
    pub fn receive(&mut self) -> Result<Response, CallError> {
        if self.early.is_empty() { self.next() } else { Ok(self.early.remove(0)) }
    }

    fn next(&mut self) -> Result<Response, CallError> {
        loop {
            if let Some(message) = frame::take(&mut self.received, self.limits.message_bytes)? {
                return Ok(Response::decode(message).map_err(WireError::from)?);
            }
            self.fill()?;
        }
    }

    /// Reads what is there, as far as there is room.
    fn fill(&mut self) -> Result<(), CallError> {
        let held = self.received.len();
        let room = (self.received.capacity() - held).max(READ);
        self.received.resize(held + room, 0);
        let read = loop {
            match self.stream.read(&mut self.received[held..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.received.truncate(held + *read.as_ref().unwrap_or(&0));
        match read? {
            0 => Err(CallError::Closed),
            _ => Ok(()),
        }
    }
}

/// Bytes to make room for at least.
const READ: usize = 64 << 10;
