//! Frames: a length of four bytes, big-endian, then a code and its data.

use super::error::{EncodeError, ProtocolError};

/// Bytes of a length.
const HEAD: usize = 4;

/// Bytes of a decoder that nothing has come to yet.
const ROOM: usize = 16 << 10;

/// Bytes of an empty decoder that are kept for what comes next.
const KEPT: usize = 128 << 10;

/// One frame, where the decoder has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MilterFrame<'a> {
    /// Which command or reply it is.
    pub code: u8,
    /// What belongs to it.
    pub data: &'a [u8],
}

/// Frames out of whatever bytes come. What is read goes straight into its memory; a frame that is not all there is moved to
/// the front at most once, when it would not fit behind what is there.
#[derive(Debug)]
pub struct FrameDecoder {
    /// All of it may be written to; received bytes are those of `start..end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    max: u32,
}

impl FrameDecoder {
    /// Bytes of a frame that are taken by default: 1 MiB, the most that an MTA can negotiate with `libmilter`.
    pub const MOST: u32 = 1 << 20;

    /// A decoder for frames of at most `max` bytes behind the length.
    #[must_use]
    pub fn new(max: u32) -> Self {
        Self { buffer: vec![0; ROOM], start: 0, end: 0, max }
    }

    /// Where bytes that come are to be put: never empty. [`Self::filled`] says how many were.
    pub fn space(&mut self) -> &mut [u8] {
        let held = self.held();
        if held == 0 {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEPT {
                self.buffer = vec![0; ROOM];
            }
        }
        let wanted = self.wanted().max(held + 1);
        if self.start + wanted > self.buffer.len() {
            self.make_room(wanted);
        }
        &mut self.buffer[self.end..]
    }

    /// Moves what is held to the front of `wanted` bytes.
    fn make_room(&mut self, wanted: usize) {
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

    /// Takes the first `count` bytes of [`Self::space`] as received; more than its length counts as its length.
    pub fn filled(&mut self, count: usize) {
        self.end += count.min(self.buffer.len() - self.end);
    }

    /// Takes bytes that lie elsewhere: this copies them.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.space();
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }

    /// The next frame; None where it is not all there yet.
    ///
    /// # Errors
    /// It is empty or too long: whoever sends that is not to be read any further.
    pub fn next_frame(&mut self) -> Result<Option<MilterFrame<'_>>, ProtocolError> {
        let Some(len) = self.len()? else { return Ok(None) };
        if self.end - self.start < HEAD + len {
            return Ok(None);
        }
        let frame = &self.buffer[self.start + HEAD..][..len];
        self.start += HEAD + len;
        frame.split_first().map(|(&code, data)| Some(MilterFrame { code, data })).ok_or(ProtocolError::Empty)
    }

    /// Bytes that are not part of a frame that was taken.
    #[must_use]
    pub fn held(&self) -> usize {
        self.end - self.start
    }

    /// Bytes behind the length of the frame that comes next, where that is known.
    fn len(&self) -> Result<Option<usize>, ProtocolError> {
        let Some(head) = self.buffer[self.start..self.end].first_chunk::<HEAD>() else { return Ok(None) };
        match u32::from_be_bytes(*head) {
            0 => Err(ProtocolError::Empty),
            found if found > self.max => Err(ProtocolError::TooLong { found, max: self.max }),
            found => Ok(Some(found as usize)),
        }
    }

    /// Bytes that the frame that comes next has with its length, as far as is known.
    fn wanted(&self) -> usize {
        HEAD + self.len().ok().flatten().unwrap_or(0)
    }
}

impl Default for FrameDecoder {
    fn default() -> Self {
        Self::new(Self::MOST)
    }
}

/// Appends a frame whose data `write` appends.
pub(super) fn put(
    out: &mut Vec<u8>,
    code: u8,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    out.push(code);
    let written = write(out).and_then(|()| {
        let bytes = out.len() - start - HEAD;
        u32::try_from(bytes).map_err(|_| EncodeError::TooLong { bytes })
    });
    match written {
        Ok(len) => {
            out[start..start + HEAD].copy_from_slice(&len.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// Appends a string and its NUL.
pub(super) fn put_string(out: &mut Vec<u8>, string: &[u8], what: &'static str) -> Result<(), EncodeError> {
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
        put(&mut out, b'B', |out| {
            out.resize(out.len() + len - 1, fill);
            Ok(())
        })
        .unwrap();
        out
    }

    /// Frames of these bytes when `step` bytes come at a time.
    fn cut(bytes: &[u8], step: usize) -> Vec<(u8, Vec<u8>)> {
        let mut decoder = FrameDecoder::default();
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
    fn frames_are_the_same_wherever_they_are_cut() {
        let lens = [1, 2, 5, 4096, ROOM - 4, ROOM - 3, ROOM, 65_536, 200_000, 3, 1];
        let bytes: Vec<u8> =
            lens.iter().enumerate().flat_map(|(index, len)| frame(*len, index as u8)).collect();
        let whole = cut(&bytes, bytes.len());
        assert_eq!(whole.iter().map(|(_, data)| data.len() + 1).collect::<Vec<_>>(), lens);
        for step in [1, 3, 7, 1000, ROOM - 1, ROOM, ROOM + 1, 70_000] {
            assert_eq!(cut(&bytes, step), whole, "{step}");
        }
    }

    #[test]
    fn what_is_read_in_place_is_found() {
        let bytes = [frame(70_000, 1), frame(9, 2)].concat();
        let (mut decoder, mut rest, mut found) = (FrameDecoder::default(), bytes.as_slice(), Vec::new());
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
    fn an_empty_decoder_gives_memory_back() {
        let mut decoder = FrameDecoder::default();
        decoder.push(&frame(900_000, 0));
        assert!(decoder.next_frame().unwrap().is_some());
        assert_eq!(decoder.space().len(), ROOM);
        decoder.filled(usize::MAX);
        assert_eq!(decoder.held(), ROOM);
    }

    #[test]
    fn lengths_that_cannot_be_are_refused_before_anything_is_kept_for_them() {
        for (found, wanted) in [
            (0, ProtocolError::Empty),
            (101, ProtocolError::TooLong { found: 101, max: 100 }),
            (u32::MAX, ProtocolError::TooLong { found: u32::MAX, max: 100 }),
        ] {
            let mut decoder = FrameDecoder::new(100);
            decoder.push(&u32::to_be_bytes(found));
            assert_eq!(decoder.next_frame(), Err(wanted));
            assert_eq!(decoder.next_frame(), Err(wanted));
            assert_eq!(decoder.space().len(), ROOM - 4);
        }
        let mut decoder = FrameDecoder::new(100);
        decoder.push(&frame(100, 7));
        assert_eq!(decoder.next_frame().unwrap().unwrap().data.len(), 99);
    }

    #[test]
    fn a_frame_that_cannot_be_written_leaves_nothing() {
        let mut out = vec![1, 2];
        let bad = put(&mut out, b'H', |out| put_string(out, b"a\0b", "name"));
        assert_eq!((bad, out.as_slice()), (Err(EncodeError::Nul { what: "name" }), &[1, 2][..]));
    }
}
