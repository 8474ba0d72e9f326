//! Line endings. Files on Unix end lines with LF, the wire with CRLF, and DKIM signs the form of the wire.
//!
//! The header section of a message, up to and including the first empty line, decides its line ending. If every line
//! of it ends with CRLF, the message has the form of the wire, and a bare LF in its body is a character that was
//! sent. Otherwise each bare LF stands for CRLF, and each CRLF stays one. A bare CR is never changed.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use memchr::{memchr, memchr_iter};

/// The line ending of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// LF, as in files on Unix.
    Lf,
    /// CRLF, as on the wire.
    CrLf,
}

impl LineEnding {
    /// Detects the line ending from the header section: CRLF if it has at least one line and every line ends with CRLF.
    #[must_use]
    pub fn detect(message: &[u8]) -> Self {
        match bare_lf_of_header(message) {
            None if memchr(b'\n', message).is_some() => Self::CrLf,
            _ => Self::Lf,
        }
    }

    /// Returns the bytes of the line ending.
    #[must_use]
    pub fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }
}

/// Converts a message to the form of the wire. It borrows the message if it has that form already.
#[must_use]
pub fn to_crlf(message: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = bare_lf_of_header(message) else { return Cow::Borrowed(message) };
    let (before, rest) = message.split_at(first);
    let mut out = Vec::with_capacity(message.len() + memchr_iter(b'\n', rest).count());
    out.extend_from_slice(before);
    Converter { mode: LineMode::Convert, line_len: 0, is_after_cr: false }.push(rest, &mut out);
    Cow::Owned(out)
}

/// Converts a stream to the form of the wire. It yields the same bytes as [`to_crlf`], in memory that does not grow
/// with the message. As a [`BufRead`] it lends its chunks without another copy.
#[derive(Debug)]
pub struct CrlfReader<R> {
    inner: R,
    converter: Converter,
    chunk: Vec<u8>,
    at: usize,
}

/// The maximum number of bytes that are converted at once.
const MAX_CHUNK_BYTES: usize = 64 << 10;

impl<R: BufRead> CrlfReader<R> {
    /// Makes a reader of one message, from its first byte on.
    pub fn new(inner: R) -> Self {
        Self { inner, converter: Converter::default(), chunk: Vec::new(), at: 0 }
    }
}

impl<R: BufRead> BufRead for CrlfReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.chunk.len() {
            self.chunk.clear();
            self.at = 0;
            let given = self.inner.fill_buf()?;
            let taken = given.len().min(MAX_CHUNK_BYTES);
            self.converter.push(&given[..taken], &mut self.chunk);
            self.inner.consume(taken);
        }
        Ok(&self.chunk[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at = self.chunk.len().min(self.at + amount);
    }
}

impl<R: BufRead> Read for CrlfReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// The state between two chunks.
#[derive(Debug, Default)]
struct Converter {
    mode: LineMode,
    /// The length of the current line.
    line_len: usize,
    is_after_cr: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineMode {
    /// Every line so far ends with CRLF. The other two modes treat CRLF alike, so nothing has to be held back.
    #[default]
    Header,
    Convert,
    AsIs,
}

impl Converter {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let mut from = 0;
        for at in memchr_iter(b'\n', chunk) {
            if self.mode == LineMode::AsIs {
                break;
            }
            // The CR may be the last byte of the chunk before.
            let is_bare = if at == from { !self.is_after_cr } else { chunk[at - 1] != b'\r' };
            let line_len = self.line_len + (at - from);
            if is_bare {
                self.mode = LineMode::Convert;
                out.extend_from_slice(&chunk[from..at]);
                out.extend_from_slice(b"\r\n");
            } else {
                // A line of CR alone, with its LF, is the empty line that ends the header section.
                if self.mode == LineMode::Header && line_len == 1 {
                    self.mode = LineMode::AsIs;
                }
                out.extend_from_slice(&chunk[from..=at]);
            }
            from = at + 1;
            (self.line_len, self.is_after_cr) = (0, false);
        }
        let rest = &chunk[from..];
        out.extend_from_slice(rest);
        // A line may be longer than memory. Its length matters up to 1 only.
        self.line_len = self.line_len.saturating_add(rest.len());
        self.is_after_cr = rest.last().map_or(self.is_after_cr, |last| *last == b'\r');
    }
}

/// Returns the position of the first bare LF in the header section and the empty line after it.
fn bare_lf_of_header(message: &[u8]) -> Option<usize> {
    let mut start = 0;
    for at in memchr_iter(b'\n', message) {
        match &message[start..at] {
            b"\r" => return None,
            [.., b'\r'] => start = at + 1,
            _ => return Some(at),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Messages, and their form on the wire.
    const CASES: [(&[u8], &[u8]); 16] = [
        (b"", b""),
        (b"A: b", b"A: b"),
        (b"\n", b"\r\n"),
        (b"\r\n", b"\r\n"),
        (b"A: b\n\nc\n", b"A: b\r\n\r\nc\r\n"),
        (b"A: b\n\nc\r\nd\n", b"A: b\r\n\r\nc\r\nd\r\n"),
        (b"A: b\r\n\r\nc\n\nd\r\n", b"A: b\r\n\r\nc\n\nd\r\n"),
        (b"A: b\r\nC: d\n\ne\n", b"A: b\r\nC: d\r\n\r\ne\r\n"),
        (b"A: b\r\n\nc\n", b"A: b\r\n\r\nc\r\n"),
        (b"A: b\r\n\r\n", b"A: b\r\n\r\n"),
        (b"A: b\rC: d\n\ne\r\n", b"A: b\rC: d\r\n\r\ne\r\n"),
        (b"A: b\r\r\n\r\nc\n", b"A: b\r\r\n\r\nc\n"),
        (b"A: b\n\n\r\n\r\r\nc\r", b"A: b\r\n\r\n\r\n\r\r\nc\r"),
        (b"\nbody\n", b"\r\nbody\r\n"),
        (b"\r\nbody\n", b"\r\nbody\n"),
        (b"\r\r\nA: b\n", b"\r\r\nA: b\r\n"),
    ];

    #[test]
    fn the_header_section_decides_the_line_ending() {
        for (message, wire) in CASES {
            let got = to_crlf(message);
            assert_eq!(got, wire, "{:?}", message.escape_ascii().to_string());
            assert_eq!(matches!(got, Cow::Borrowed(_)), message == wire);
            assert_eq!(to_crlf(&got), wire);
        }
        assert_eq!(LineEnding::detect(CASES[6].0), LineEnding::CrLf);
        assert_eq!(LineEnding::detect(CASES[7].0), LineEnding::Lf);
        assert_eq!(LineEnding::detect(b"no line"), LineEnding::Lf);
    }

    #[test]
    fn chunks_may_end_anywhere() {
        for (message, wire) in CASES {
            for first in 0..=message.len() {
                for second in first..=message.len() {
                    let (mut converter, mut out) = (Converter::default(), Vec::new());
                    for part in [&message[..first], &message[first..second], &message[second..]] {
                        converter.push(part, &mut out);
                    }
                    let at = (message.escape_ascii().to_string(), first, second);
                    assert_eq!(out.escape_ascii().to_string(), wire.escape_ascii().to_string(), "{at:?}");
                }
            }
        }
    }

    #[test]
    fn a_stream_gives_the_same_bytes_as_a_message_in_memory() {
        let long: Vec<u8> = b"A: b\nC: d\r\n\nline\r\nline\nlast\r".repeat(9000);
        for message in CASES.iter().map(|(message, _)| *message).chain([&*long]) {
            for capacity in [1, 2, 3, 7, 1 << 20] {
                let mut out = Vec::new();
                CrlfReader::new(BufReader::with_capacity(capacity, message)).read_to_end(&mut out).unwrap();
                assert_eq!(out, *to_crlf(message));
            }
        }
    }

    #[test]
    fn a_stream_buffers_at_most_one_chunk() {
        let mut reader = CrlfReader::new(BufReader::with_capacity(8 << 20, io::repeat(b'\n').take(1 << 20)));
        let mut len = 0;
        while let Some(amount) = Some(reader.fill_buf().unwrap().len()).filter(|amount| *amount > 0) {
            assert!(amount <= 2 * MAX_CHUNK_BYTES);
            len += amount;
            reader.consume(amount);
        }
        assert_eq!(len, 2 << 20);
    }
}
