//! The kernel's device for transforms, AF_ALG: a record goes in by one call, and comes back sealed by another.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::socket::sockopt::{AlgSetAeadAuthSize, AlgSetKey};
use nix::sys::socket::{
    AddressFamily, AlgAddr, ControlMessage, SockFlag, SockType, bind, setsockopt, socket,
};
use oarlock_measure::sockets::{SocketSuite, StreamKeys};
use std::os::fd::AsRawFd;

use super::seal::{APPLICATION_DATA, HEADER_LEN, TAG_LEN, header};
use super::transfer::{RecordPiece, RecordSender, SendingStream};
use super::wire::Wire;

/// `ALG_OP_ENCRYPT`.
const ENCRYPT: i32 = 1;
/// The contents of the control messages: the operation, the IV with its length, the length of the associated data.
const CONTROL_BYTES: usize = 4 + (4 + 12) + 4;

/// A sender that lets AF_ALG seal.
#[derive(Debug)]
pub(super) struct AlgSender {
    /// One for each connection.
    operations: Vec<AlgOperation>,
    /// The sealed records of a call.
    out: Vec<u8>,
}

#[derive(Debug)]
struct AlgOperation {
    socket: OwnedFd,
    keys: StreamKeys,
    sequence: u64,
}

impl AlgSender {
    /// Makes a sender for a number of connections.
    ///
    /// # Errors
    /// The reason that the kernel has no such device.
    pub(super) fn new(suite: SocketSuite, streams: usize) -> Result<Self, String> {
        let name = match suite {
            SocketSuite::Aes128Gcm | SocketSuite::Aes256Gcm => "gcm(aes)",
            SocketSuite::ChaCha20Poly1305 => "rfc7539(chacha20,poly1305)",
            SocketSuite::TdesCbcSha1 => {
                return Err(format!("AF_ALG has no transform that pads records, as {} needs", suite.name()));
            }
        };
        let operations: io::Result<Vec<_>> = (0..streams)
            .map(|stream| AlgOperation::open(name, StreamKeys::for_stream(suite, stream)))
            .collect();
        let operations = operations.map_err(|error| format!("AF_ALG {name}: {error}"))?;
        Ok(Self { operations, out: Vec::new() })
    }
}

impl AlgOperation {
    fn open(name: &str, keys: StreamKeys) -> io::Result<Self> {
        let transform = socket(AddressFamily::Alg, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
        bind(transform.as_raw_fd(), &AlgAddr::new("aead", name))?;
        setsockopt(&transform, AlgSetKey::default(), &keys.key)?;
        setsockopt(&transform, AlgSetAeadAuthSize, &TAG_LEN)?;
        let socket = rustix::net::accept(&transform)?;
        Ok(Self { socket, keys, sequence: 0 })
    }

    /// Sends a piece of a record to the kernel. The first one brings the IV and the header.
    fn take_piece(&mut self, wire: &mut dyn Wire, piece: RecordPiece<'_>, header: &[u8]) -> io::Result<()> {
        let content = &piece.record[piece.begins..];
        let kind = [APPLICATION_DATA];
        let kind = if piece.ends() { &kind[..] } else { &[] };
        let nonce = self.keys.nonce(self.sequence);
        let header_len = HEADER_LEN as u32;
        let control = [
            ControlMessage::AlgSetOp(&ENCRYPT),
            ControlMessage::AlgSetIv(&nonce),
            ControlMessage::AlgSetAeadAssoclen(&header_len),
        ];
        let (parts, control, control_bytes) = if piece.begins == 0 {
            ([header, content, kind].map(IoSlice::new), &control[..], CONTROL_BYTES)
        } else {
            ([&[], content, kind].map(IoSlice::new), &[][..], 0)
        };
        wire.send_parts(self.socket.as_fd(), &parts, control, control_bytes, !piece.ends())
    }
}

impl RecordSender for AlgSender {
    fn add(&mut self, wire: &mut dyn Wire, stream: &SendingStream, piece: RecordPiece<'_>) -> io::Result<()> {
        let operation = &mut self.operations[stream.index];
        let content = piece.len;
        operation.take_piece(wire, piece, &header(content))?;
        if !piece.ends() {
            return Ok(());
        }
        operation.sequence += 1;
        let (begins, sealed) = (self.out.len(), HEADER_LEN + content + 1 + TAG_LEN);
        self.out.resize(begins + sealed, 0);
        let read = wire.read(operation.socket.as_fd(), &mut self.out[begins..])?;
        if read < sealed {
            return Err(io::Error::other(format!("AF_ALG returned {read} of {sealed} bytes of a record")));
        }
        Ok(())
    }

    fn finish_call(
        &mut self,
        wire: &mut dyn Wire,
        stream: &SendingStream,
        _contents: &[u8],
    ) -> io::Result<()> {
        wire.send(stream.socket.as_fd(), &self.out, false)?;
        self.out.clear();
        Ok(())
    }

    fn copied_bytes_per_byte(&self) -> f64 {
        0.0
    }
}
