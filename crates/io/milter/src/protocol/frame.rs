//! Frames: a big-endian length of four bytes, then a code and its data.

use super::error::{EncodeError, ProtocolError};

/// The number of bytes of the length field.
const LENGTH_BYTES: usize = 4;

/// The initial buffer of a decoder in bytes.
const INITIAL_BYTES: usize = 16 << 10;

/// The maximum buffer in bytes that an empty decoder keeps.
const MAX_KEPT_BYTES: usize = 128 << 10;

/// A frame that borrows from the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MilterFrame<'a> {
    /// The code of the command or reply.
    pub code: u8,
    /// The data after the code.
    pub data: &'a [u8],
}

/// A decoder of frames from a stream. Bytes are read straight into its memory. An incomplete frame is moved to the
/// front at most once, if the rest of it would not fit behind it.
#[derive(Debug)]
pub struct MilterDecoder {
    /// The received bytes are `start..end`. The rest may be overwritten.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    max: u32,
}

impl MilterDecoder {
    /// The default limit of a frame in bytes. 1 MiB is the maximum that an MTA can negotiate with `libmilter`.
    pub(crate) const DEFAULT_MAX_BYTES: u32 = 1 << 20;

    /// Makes a decoder for frames of at most `max` bytes after the length.
    #[must_use]
    pub fn new(max: u32) -> Self {
        Self { buffer: vec![0; INITIAL_BYTES], start: 0, end: 0, max }
    }

    /// Returns the memory for the next bytes. It is never empty. The caller reports the number of bytes to
    /// [`Self::filled`].
    pub fn space(&mut self) -> &mut [u8] {
        let held = self.held();
        if held == 0 {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > MAX_KEPT_BYTES {
                // One large frame must not keep its memory for the life of an idle connection.
                self.buffer = vec![0; INITIAL_BYTES];
            }
        }
        // One byte more than held keeps the space from being empty while the length is unknown.
        let wanted = self.wanted().max(held + 1);
        if self.start + wanted > self.buffer.len() {
            self.grow(wanted);
        }
        &mut self.buffer[self.end..]
    }

    /// Moves the received bytes to the front of a buffer of at least `wanted` bytes.
    fn grow(&mut self, wanted: usize) {
        let held = self.held();
        if wanted > self.buffer.len() {
            let mut larger = vec![0; wanted.next_power_of_two()];
            larger[..held].copy_from_slice(&self.buffer[self.start..self.end]);
            self.buffer = larger;
        } else {
            self.buffer.copy_within(self.start..self.end, 0);
        }
        (self.start, self.end) = (0, held);
    }

    /// Marks the first `count` bytes of [`Self::space`] as received, at most all of them.
    pub fn filled(&mut self, count: usize) {
        self.end += count.min(self.buffer.len() - self.end);
    }

    /// Copies received bytes into the decoder.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.space();
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }

    /// Returns the next frame, or None if it is incomplete.
    ///
    /// # Errors
    /// The frame is empty or too long. The stream must not be read any further.
    pub fn next_frame(&mut self) -> Result<Option<MilterFrame<'_>>, ProtocolError> {
        let Some(len) = self.len()? else { return Ok(None) };
        if self.end - self.start < LENGTH_BYTES + len {
            return Ok(None);
        }
        let frame = &self.buffer[self.start + LENGTH_BYTES..][..len];
        self.start += LENGTH_BYTES + len;
        frame.split_first().map(|(&code, data)| Some(MilterFrame { code, data })).ok_or(ProtocolError::Empty)
    }

    /// Returns the number of received bytes that are not part of a returned frame.
    #[must_use]
    pub fn held(&self) -> usize {
        self.end - self.start
    }

    /// Returns the length of the next frame without the length field, if it is known.
    fn len(&self) -> Result<Option<usize>, ProtocolError> {
        let Some(head) = self.buffer[self.start..self.end].first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        match u32::from_be_bytes(*head) {
            // The length is checked before any memory is allocated for it.
            0 => Err(ProtocolError::Empty),
            found if found > self.max => Err(ProtocolError::TooLong { found, max: self.max }),
            found => Ok(Some(found as usize)),
        }
    }

    /// Returns the length of the next frame with the length field, as far as it is known.
    fn wanted(&self) -> usize {
        LENGTH_BYTES + self.len().ok().flatten().unwrap_or(0)
    }
}

impl Default for MilterDecoder {
    fn default() -> Self {
        Self::new(Self::DEFAULT_MAX_BYTES)
    }
}

/// Appends a frame whose data is written by `write`. On an error nothing is appended.
pub(super) fn write_frame(
    out: &mut Vec<u8>,
    code: u8,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    out.push(code);
    let written = write(out).and_then(|()| {
        let bytes = out.len() - start - LENGTH_BYTES;
        u32::try_from(bytes).map_err(|_| EncodeError::TooLong { bytes })
    });
    match written {
        Ok(len) => {
            out[start..start + LENGTH_BYTES].copy_from_slice(&len.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            // A half-written frame would shift all frames after it.
            out.truncate(start);
            Err(error)
        }
    }
}

/// Appends a string and its NUL.
pub(super) fn write_string(out: &mut Vec<u8>, string: &[u8], what: &'static str) -> Result<(), EncodeError> {
    if string.contains(&0) {
        return Err(EncodeError::Nul { what });
    }
    out.extend_from_slice(string);
    out.push(0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(len: usize, fill: u8) -> Vec<u8> {
        let mut out = Vec::new();
        write_frame(&mut out, b'B', |out| {
            out.resize(out.len() + len - 1, fill);
            Ok(())
        })
        .unwrap();
        out
    }

    /// Decodes the bytes in pieces of `step` bytes.
    fn cut(bytes: &[u8], step: usize) -> Vec<(u8, Vec<u8>)> {
        let mut decoder = MilterDecoder::default();
        let mut frames = Vec::new();
        for piece in bytes.chunks(step) {
            decoder.push(piece);
            while let Some(frame) = decoder.next_frame().unwrap() {
                frames.push((frame.code, frame.data.to_vec()));
            }
        }
        assert_eq!(decoder.held(), 0);
        frames
    }

    #[test]
    fn decodes_the_same_frames_from_pieces_of_any_size() {
        let lens =
            [1, 2, 5, 4096, INITIAL_BYTES - 4, INITIAL_BYTES - 3, INITIAL_BYTES, 65_536, 200_000, 3, 1];
        let bytes: Vec<u8> =
            lens.iter().enumerate().flat_map(|(index, len)| frame(*len, index as u8)).collect();
        let whole = cut(&bytes, bytes.len());
        assert_eq!(whole.iter().map(|(_, data)| data.len() + 1).collect::<Vec<_>>(), lens);
        for step in [1, 3, 7, 1000, INITIAL_BYTES - 1, INITIAL_BYTES, INITIAL_BYTES + 1, 70_000] {
            assert_eq!(cut(&bytes, step), whole, "{step}");
        }
    }

    #[test]
    fn decodes_frames_read_into_the_buffer() {
        let bytes = [frame(70_000, 1), frame(9, 2)].concat();
        let (mut decoder, mut rest, mut found) = (MilterDecoder::default(), bytes.as_slice(), Vec::new());
        while !rest.is_empty() {
            let space = decoder.space();
            let count = space.len().min(rest.len());
            space[..count].copy_from_slice(&rest[..count]);
            decoder.filled(count);
            rest = &rest[count..];
            while let Some(frame) = decoder.next_frame().unwrap() {
                found.push(frame.data.len());
            }
        }
        assert_eq!(found, [69_999, 8]);
    }

    #[test]
    fn an_empty_decoder_releases_memory() {
        let mut decoder = MilterDecoder::default();
        decoder.push(&frame(900_000, 0));
        assert!(decoder.next_frame().unwrap().is_some());
        assert_eq!(decoder.space().len(), INITIAL_BYTES);
        decoder.filled(usize::MAX);
        assert_eq!(decoder.held(), INITIAL_BYTES);
    }

    #[test]
    fn rejects_invalid_lengths_before_allocating_for_them() {
        for (found, wanted) in [
            (0, ProtocolError::Empty),
            (101, ProtocolError::TooLong { found: 101, max: 100 }),
            (u32::MAX, ProtocolError::TooLong { found: u32::MAX, max: 100 }),
        ] {
            let mut decoder = MilterDecoder::new(100);
            decoder.push(&u32::to_be_bytes(found));
            assert_eq!(decoder.next_frame(), Err(wanted));
            assert_eq!(decoder.next_frame(), Err(wanted));
            assert_eq!(decoder.space().len(), INITIAL_BYTES - 4);
        }
        let mut decoder = MilterDecoder::new(100);
        decoder.push(&frame(100, 7));
        assert_eq!(decoder.next_frame().unwrap().unwrap().data.len(), 99);
    }

    #[test]
    fn a_failed_encoding_appends_nothing() {
        let mut out = vec![1, 2];
        let bad = write_frame(&mut out, b'H', |out| write_string(out, b"a\0b", "name"));
        assert_eq!((bad, out.as_slice()), (Err(EncodeError::Nul { what: "name" }), &[1, 2][..]));
    }
}
