//! The way `user`: this process seals, and writes sealed records.

use std::io;
use std::os::fd::AsFd;

use super::args::SocketSuite;
use super::seal::{AwsLcSealer, RecordSealer};
use super::transfer::{RecordPiece, RecordSender, SendingStream};
use super::wire::Wire;

/// A sender that seals in user space.
pub(super) struct UserSender {
    /// One for each connection.
    sealers: Vec<Box<dyn RecordSealer>>,
    /// The sealed records of a call.
    out: Vec<u8>,
}

impl UserSender {
    /// Makes a sender for a number of connections.
    ///
    /// # Errors
    /// The reason that the suite cannot be sealed.
    pub(super) fn new(suite: SocketSuite, streams: usize) -> Result<Self, String> {
        let sealer =
            |stream| AwsLcSealer::new(suite, stream).map(|own| Box::new(own) as Box<dyn RecordSealer>);
        let sealers: Option<Vec<_>> = (0..streams).map(sealer).collect();
        let sealers = sealers.ok_or_else(|| format!("this library does not seal {}", suite.name()))?;
        Ok(Self { sealers, out: Vec::new() })
    }
}

impl RecordSender for UserSender {
    fn add(
        &mut self,
        _wire: &mut dyn Wire,
        stream: &SendingStream,
        piece: RecordPiece<'_>,
    ) -> io::Result<()> {
        // A record is authenticated as a whole, so it is sealed when its last piece is there.
        let sealer = self.sealers.get_mut(stream.index).filter(|_| piece.ends());
        if sealer.is_some_and(|sealer| !sealer.seal(piece.record, &mut self.out)) {
            return Err(io::Error::other("a record could not be sealed"));
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
        self.sealers.first().map_or(0.0, |sealer| sealer.copied_bytes_per_byte())
    }
}
