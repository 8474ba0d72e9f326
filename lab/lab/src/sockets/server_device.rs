//! A cryptoserver as the device: the records of a call go to its UNIX socket in one message, and come back sealed.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use oarlock::AeadAlg;
use oarlock_keytable::{BatchBuilder, BatchEntry, BatchTask, EntryIv};
use oarlock_measure::sockets::{SocketSuite, StreamKeys};
use oarlock_wire::proto::{self, open_key, request, response};
use oarlock_wire::{Message, frame, records};

use super::seal::{APPLICATION_DATA, TAG_LEN, header};
use super::transfer::{RecordPiece, RecordSender, SendingStream};
use super::wire::{CountingWire, Wire};

/// The longest answer: the records of a call, and some more.
const MAX_ANSWER: usize = 4 << 20;
/// The bytes to read at once.
const READ: usize = 256 << 10;
/// The time in which a server has to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A sender that lets a cryptoserver seal.
#[derive(Debug)]
pub(super) struct ServerSender {
    link: DeviceLink,
    alg: AeadAlg,
    /// The keys and the next sequence number of each connection.
    keys: Vec<(StreamKeys, u64)>,
    /// The contents of a call's records, each with its type.
    contents: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct DeviceLink {
    socket: UnixStream,
    received: BytesMut,
    buffer: Vec<u8>,
    last_id: u64,
}

impl ServerSender {
    /// Connects, and opens a key for each connection.
    ///
    /// # Errors
    /// The reason that the server does not seal.
    pub(super) fn new(path: &Path, suite: SocketSuite, streams: usize) -> Result<Self, String> {
        let (alg, key_type) = match suite {
            SocketSuite::Aes128Gcm => (AeadAlg::Aes128Gcm, "aes128"),
            SocketSuite::Aes256Gcm => (AeadAlg::Aes256Gcm, "aes256"),
            SocketSuite::ChaCha20Poly1305 | SocketSuite::TdesCbcSha1 => {
                return Err(format!("a cryptoserver does not seal {}", suite.name()));
            }
        };
        let (mut link, mut keys) =
            (DeviceLink::connect(path).map_err(|error| error.to_string())?, Vec::new());
        for stream in 0..streams {
            let stream_keys = StreamKeys::for_stream(suite, stream);
            let symmetric =
                proto::Symmetric { r#type: key_type.into(), secret: stream_keys.key.clone().into() };
            let source = Some(open_key::Source::Symmetric(symmetric));
            let open = proto::OpenKey { handle: stream as u32, source, ..Default::default() };
            link.call(&mut CountingWire::default(), request::Body::OpenKey(open))
                .map_err(|error| error.to_string())?;
            keys.push((stream_keys, 0));
        }
        let mut sender = Self { link, alg, keys, contents: Vec::new() };
        // Whether the server seals with given nonces is known only after it did.
        sender.contents.push(vec![APPLICATION_DATA]);
        sender.seal(&mut CountingWire::default(), 0).map_err(|error| error.to_string())?;
        sender.keys[0].1 = 0;
        Ok(sender)
    }

    /// Returns the sealed records of the contents at hand.
    fn seal(&mut self, wire: &mut dyn Wire, stream: usize) -> io::Result<Vec<u8>> {
        let (keys, sequence) = &mut self.keys[stream];
        let contents = std::mem::take(&mut self.contents);
        let mut builder = BatchBuilder::new();
        for content in &contents {
            let (nonce, header) = (keys.nonce(*sequence), header(content.len() - 1));
            *sequence += 1;
            let entry = BatchEntry::new(BatchTask::seal(self.alg)).key(stream as u32);
            builder
                .add(entry.iv(EntryIv::Bytes(&nonce)).aad(&header).input(content))
                .map_err(io::Error::other)?;
        }
        let message = records::write(&builder.batch(), |index| index).map_err(io::Error::other)?;
        let response::Body::RecordResults(results) = self.link.call(wire, request::Body::Records(message))?
        else {
            return Err(io::Error::other("the server answered something else"));
        };
        if let Some(fault) = results.faults.first() {
            return Err(io::Error::other(fault.message.clone()));
        }
        let (mut out, mut sealed) = (Vec::new(), &results.output[..]);
        for content in &contents {
            let (record, rest) = sealed
                .split_at_checked(content.len() + TAG_LEN)
                .ok_or_else(|| io::Error::other("the server's answer is too short"))?;
            out.extend_from_slice(&header(content.len() - 1));
            out.extend_from_slice(record);
            sealed = rest;
        }
        Ok(out)
    }
}

impl RecordSender for ServerSender {
    fn add(
        &mut self,
        _wire: &mut dyn Wire,
        _stream: &SendingStream,
        piece: RecordPiece<'_>,
    ) -> io::Result<()> {
        if piece.ends() {
            self.contents.push([piece.record, &[APPLICATION_DATA]].concat());
        }
        Ok(())
    }

    fn finish_call(
        &mut self,
        wire: &mut dyn Wire,
        stream: &SendingStream,
        _contents: &[u8],
    ) -> io::Result<()> {
        let sealed = self.seal(wire, stream.index)?;
        wire.send(stream.socket.as_fd(), &sealed, false)
    }

    /// The content into the batch, the batch into the message, the message into the frame, and back out of it.
    fn copied_bytes_per_byte(&self) -> f64 {
        5.0
    }
}

impl DeviceLink {
    fn connect(path: &Path) -> io::Result<Self> {
        let socket = UnixStream::connect(path)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut link = Self { socket, received: BytesMut::new(), buffer: vec![0; READ], last_id: 0 };
        CountingWire::default().send(link.socket.as_fd(), frame::PREAMBLE, false)?;
        link.received.reserve(READ);
        Ok(link)
    }

    fn call(&mut self, wire: &mut dyn Wire, body: request::Body) -> io::Result<response::Body> {
        self.last_id += 1;
        let mut bytes = BytesMut::new();
        let request = proto::Request { id: self.last_id, body: Some(body) };
        frame::write(&request, &mut bytes).map_err(io::Error::other)?;
        wire.send(self.socket.as_fd(), &bytes, false)?;
        let message = self.receive(wire)?;
        let response = proto::Response::decode(message).map_err(io::Error::other)?;
        match response.body {
            Some(response::Body::Fault(fault)) => Err(io::Error::other(fault.message)),
            Some(body) => Ok(body),
            None => Err(io::Error::other("the server's answer is empty")),
        }
    }

    fn receive(&mut self, wire: &mut dyn Wire) -> io::Result<Bytes> {
        loop {
            let message = frame::take(&mut self.received, MAX_ANSWER).map_err(io::Error::other)?;
            if let Some(message) = message {
                return Ok(message);
            }
            match wire.read(self.socket.as_fd(), &mut self.buffer)? {
                0 => return Err(io::Error::other("the server closed the connection")),
                read => self.received.extend_from_slice(&self.buffer[..read]),
            }
        }
    }
}
