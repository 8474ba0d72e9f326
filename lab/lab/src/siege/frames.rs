//! Requests as an attacker sends them on the UNIX socket: written, and answers read or not.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use oarlock_wire::proto::{self, OpenKey, Request, Response, Scheme, open_key, request, scheme};
use oarlock_wire::{Message, frame};

/// A connection of an attacker.
pub(super) struct FrameConnection {
    stream: UnixStream,
    last_id: u64,
}

/// The time after which an attacker stops waiting and does something else.
const PATIENCE: Duration = Duration::from_secs(1);

impl FrameConnection {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut stream = UnixStream::connect(path)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(frame::PREAMBLE)?;
        Ok(Self { stream, last_id: 0 })
    }

    /// Sends requests with one write.
    pub(super) fn send(&mut self, bodies: impl IntoIterator<Item = request::Body>) -> io::Result<()> {
        let mut bytes = BytesMut::new();
        for body in bodies {
            self.last_id += 1;
            let request = Request { id: self.last_id, body: Some(body) };
            frame::write(&request, &mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        }
        self.stream.write_all(&bytes)
    }

    /// Sends a request and reads an answer.
    pub(super) fn ask(&mut self, body: request::Body) -> io::Result<Response> {
        self.send([body])?;
        self.answer()
    }

    /// Reads an answer.
    pub(super) fn answer(&mut self) -> io::Result<Response> {
        let mut head = [0; frame::HEADER_BYTES];
        self.stream.read_exact(&mut head)?;
        // The server under attack is ours, so its lengths are trusted.
        let mut message = vec![0; u32::from_le_bytes(head) as usize];
        self.stream.read_exact(&mut message)?;
        Response::decode(Bytes::from(message)).map_err(io::Error::other)
    }
}

pub(super) fn scheme(kind: scheme::Kind) -> Scheme {
    Scheme { kind: kind.into(), digest: proto::Digest::Sha256.into(), ..Scheme::default() }
}

/// Returns `count` jobs of one scheme with empty inputs under handle 0. The message has a few bytes for any number.
pub(super) fn jobs(count: u32, scheme: Scheme) -> proto::Jobs {
    proto::Jobs { count, schemes: vec![scheme], ..proto::Jobs::default() }
}

pub(super) fn open(handle: u32, source: open_key::Source) -> request::Body {
    request::Body::OpenKey(OpenKey { handle, source: Some(source), ..OpenKey::default() })
}

pub(super) fn resident(name: &str) -> open_key::Source {
    open_key::Source::Resident(name.to_owned())
}
