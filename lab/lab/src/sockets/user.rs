//! The way `user`: this process seals, and writes sealed records.

use std::io;
use std::os::fd::AsFd;

use oarlock::Accelerator;
use oarlock_measure::sockets::{SocketSuite, sealer};
use oarlock_sockets::{Content, Sealer};

use super::seal::copied_bytes_per_byte;
use super::transfer::{RecordPiece, RecordSender, SendingStream};
use super::wire::Wire;

/// A sender that seals in user space.
#[derive(Debug)]
pub(super) struct UserSender {
    suite: SocketSuite,
    /// One for each connection.
    sealers: Vec<Sealer>,
    /// The sealed records of a call, up to `used`. It is used again, so that nothing fills it with zeros.
    out: Vec<u8>,
    used: usize,
}

impl UserSender {
    /// Makes a sender for a number of connections.
    ///
    /// # Errors
    /// The reason that the suite cannot be sealed.
    pub(super) fn new(accelerator: &Accelerator, suite: SocketSuite, streams: usize) -> Result<Self, String> {
        let sealers: Result<Vec<_>, _> =
            (0..streams).map(|stream| sealer(accelerator, suite, stream)).collect();
        let sealers = sealers.map_err(|error| error.to_string())?;
        Ok(Self { suite, sealers, out: Vec::new(), used: 0 })
    }
}

impl RecordSender for UserSender {
    fn add(
        &mut self,
        _wire: &mut dyn Wire,
        stream: &SendingStream,
        piece: RecordPiece<'_>,
    ) -> io::Result<()> {
        // The pieces of a record are collected: to seal a whole record takes one call, and every suite permits it.
        if !piece.ends() {
            return Ok(());
        }
        let sealer = &mut self.sealers[stream.index];
        let needed = self.used + piece.record.len() + sealer.suite().max_overhead();
        if self.out.len() < needed {
            self.out.resize(needed, 0);
        }
        let out = &mut self.out[self.used..];
        self.used +=
            sealer.seal_into(Content::ApplicationData, &[piece.record], out).map_err(io::Error::other)?;
        Ok(())
    }

    fn finish_call(
        &mut self,
        wire: &mut dyn Wire,
        stream: &SendingStream,
        _contents: &[u8],
    ) -> io::Result<()> {
        wire.send(stream.socket.as_fd(), &self.out[..self.used], false)?;
        self.used = 0;
        Ok(())
    }

    fn copied_bytes_per_byte(&self) -> f64 {
        copied_bytes_per_byte(self.suite)
    }
}
