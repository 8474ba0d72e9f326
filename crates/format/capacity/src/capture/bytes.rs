//! A buffered stream, read in pieces of a known length.

use std::io::Read;

use super::CaptureError;

/// The number of bytes that are read from the stream at once.
const CHUNK_BYTES: usize = 64 << 10;

/// A buffered stream and its position.
pub(super) struct CaptureStream<R> {
    input: R,
    buffer: Vec<u8>,
    /// The start of the bytes in the buffer that have not been returned yet.
    start: usize,
    at_byte: u64,
    /// True if the stream has ended.
    is_at_end: bool,
}

/// The byte order of the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl<R: Read> CaptureStream<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), start: 0, at_byte: 0, is_at_end: false }
    }

    /// Returns the number of bytes returned so far.
    pub(super) fn at_byte(&self) -> u64 {
        self.at_byte
    }

    /// Returns the next `len` bytes, or None if the stream ends just before them.
    ///
    /// # Errors
    /// The stream ends within them, or cannot be read.
    pub(super) fn next(&mut self, len: usize, what: &'static str) -> Result<Option<&[u8]>, CaptureError> {
        self.fill(len)?;
        match self.buffer.len() - self.start {
            0 if len > 0 => Ok(None),
            there if there < len => Err(CaptureError::Truncated { what, at_byte: self.at_byte }),
            _ => Ok(Some(self.take(len))),
        }
    }

    /// Does the same as [`next`](Self::next), but the end of the stream is an error.
    pub(super) fn exact(&mut self, len: usize, what: &'static str) -> Result<&[u8], CaptureError> {
        let at_byte = self.at_byte;
        self.next(len, what)?.ok_or(CaptureError::Truncated { what, at_byte })
    }

    /// Returns a line without its end, cut off after `max` bytes, or None after the last line.
    pub(super) fn line(&mut self, max: usize) -> Result<Option<&[u8]>, CaptureError> {
        let mut wanted = 256;
        loop {
            self.fill(wanted)?;
            let there = &self.buffer[self.start..];
            if let Some(end) = memchr::memchr(b'\n', there) {
                let line = self.take(end + 1);
                return Ok(Some(&line[..end.min(max)]));
            }
            if there.len() < wanted {
                let len = there.len();
                return Ok((len > 0).then(|| self.take(len)).map(|line| &line[..len.min(max)]));
            }
            // No log has such a line. Only its end is kept, which limits the memory.
            if there.len() > max + CHUNK_BYTES {
                let len = there.len() - 1;
                self.take(len);
                wanted = 256;
            }
            wanted = wanted.max(self.buffer.len() - self.start) + 1;
        }
    }

    /// Returns the next bytes, or an empty slice at the end.
    pub(super) fn chunk(&mut self) -> Result<&[u8], CaptureError> {
        self.fill(1)?;
        Ok(self.take(self.buffer.len() - self.start))
    }

    fn take(&mut self, len: usize) -> &[u8] {
        let start = self.start;
        self.start += len;
        self.at_byte += len as u64;
        &self.buffer[start..start + len]
    }

    /// Reads until the buffer holds `len` bytes or the stream ends.
    fn fill(&mut self, len: usize) -> Result<(), CaptureError> {
        if self.buffer.len() - self.start >= len || self.is_at_end {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        while self.buffer.len() < len && !self.is_at_end {
            self.read_chunk()?;
        }
        Ok(())
    }

    fn read_chunk(&mut self) -> Result<(), CaptureError> {
        let before = self.buffer.len();
        self.buffer.resize(before + CHUNK_BYTES, 0);
        let read = self.input.read(&mut self.buffer[before..]);
        self.buffer.truncate(before + read.as_ref().copied().unwrap_or(0));
        match read {
            Ok(0) => self.is_at_end = true,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

impl ByteOrder {
    /// Reads two bytes at `at`, or zero past the end.
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let two = bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).unwrap_or_default();
        match self {
            Self::Little => u16::from_le_bytes(two),
            Self::Big => u16::from_be_bytes(two),
        }
    }

    /// Reads four bytes at `at`, or zero past the end.
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).unwrap_or_default();
        match self {
            Self::Little => u32::from_le_bytes(four),
            Self::Big => u32::from_be_bytes(four),
        }
    }

    /// Reads eight bytes at `at`, or zero past the end.
    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (u64::from(self.u32(bytes, at)), u64::from(self.u32(bytes, at + 4)));
        match self {
            Self::Little => second << 32 | first,
            Self::Big => first << 32 | second,
        }
    }
}
