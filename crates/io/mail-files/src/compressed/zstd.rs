//! Consecutive frames of Zstandard.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Decompresses frames until the source ends, and skips skippable ones (RFC 8878 3.1).
pub(super) struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> ZstdReader<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    /// Begins the next frame. Returns false at the end of the source.
    fn begin_frame(&mut self) -> io::Result<bool> {
        while !self.is_in_frame {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.source) {
                Ok(()) => self.is_in_frame = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(length)?,
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(true)
    }

    fn skip(&mut self, len: u32) -> io::Result<()> {
        let skipped = io::copy(&mut (&mut self.source).take(len.into()), &mut io::sink())?;
        if skipped == u64::from(len) { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Decodes until there is output or the frame ends.
    fn decode(&mut self) -> io::Result<()> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let blocks = BlockDecodingStrategy::UptoBlocks(1);
            self.decoder.decode_blocks(&mut self.source, blocks).map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// All bytes of the frame have been returned, so its checksum (RFC 8878 3.1.1) is complete.
    fn finish(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(expected), Some(found)) if expected != found => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of a frame is wrong"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() && self.begin_frame()? {
            self.decode()?;
            match self.decoder.read(buffer)? {
                0 => self.finish()?,
                len => return Ok(len),
            }
        }
        Ok(0)
    }
}
