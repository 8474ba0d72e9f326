//! The way `kernel`: the socket seals what is written to it. Without keys it is the way `plain`.

use std::io;
use std::os::fd::AsFd;

use oarlock_kernel_tls::{KernelKeys, KernelTlsVersion, RecordOwner, attach};
use oarlock_measure::sockets::{SocketSuite, StreamKeys};

use super::args::SocketFrames;
use super::transfer::{Connections, RecordPiece, RecordSender, SendingStream};
use super::wire::Wire;

/// A sender that writes contents as they are.
#[derive(Debug)]
pub(super) struct ContentSender {
    frames: SocketFrames,
}

impl ContentSender {
    pub(super) fn new(frames: SocketFrames) -> Self {
        Self { frames }
    }
}

impl RecordSender for ContentSender {
    fn add(&mut self, wire: &mut dyn Wire, stream: &SendingStream, piece: RecordPiece<'_>) -> io::Result<()> {
        match self.frames {
            SocketFrames::Whole => Ok(()),
            // The kernel keeps the record open while more is announced.
            SocketFrames::Piecemeal => {
                wire.send(stream.socket.as_fd(), &piece.record[piece.begins..], !piece.ends())
            }
        }
    }

    fn finish_call(
        &mut self,
        wire: &mut dyn Wire,
        stream: &SendingStream,
        contents: &[u8],
    ) -> io::Result<()> {
        match self.frames {
            SocketFrames::Whole => wire.send(stream.socket.as_fd(), contents, false),
            SocketFrames::Piecemeal => Ok(()),
        }
    }

    fn copied_bytes_per_byte(&self) -> f64 {
        0.0
    }
}

/// Hands the keys of all connections to the kernel.
///
/// # Errors
/// The reason that the kernel does not seal.
pub(super) fn attach_all(connections: &Connections, suite: SocketSuite) -> Result<(), String> {
    for stream in &connections.streams {
        let keys = kernel_keys(suite, stream.index)?;
        let attached = attach(&stream.socket, &keys, &keys, &[]);
        if attached.sent_by == RecordOwner::UserSpace {
            let reasons: Vec<String> = attached.why_not.iter().map(ToString::to_string).collect();
            return Err(reasons.join("; "));
        }
    }
    Ok(())
}

fn kernel_keys(suite: SocketSuite, stream: usize) -> Result<KernelKeys, String> {
    let keys = StreamKeys::for_stream(suite, stream);
    let Some(cipher) = suite.kernel_cipher() else {
        return Err(format!("the kernel's TLS has no suites of CBC, such as {}", suite.name()));
    };
    let iv = keys.iv.as_slice().try_into().map_err(|_| "the IV has a wrong length".to_owned())?;
    KernelKeys::new(KernelTlsVersion::Tls13, cipher, &keys.key, iv, 0).map_err(|error| error.to_string())
}
