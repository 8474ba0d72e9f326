//! Ends of lines. Files on Unix end them with LF, the wire with CRLF, and DKIM signs what is on the wire.
//!
//! Which of both a message has is decided by its header section, up to and with the first empty line. Where every line there ends
//! with CRLF, the message is taken as it is on the wire, and a bare LF in its body is a character that was sent. Otherwise each bare
//! LF of the message stands for CRLF, while a CRLF stays one. A bare CR is never touched.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use memchr::{memchr, memchr_iter};

/// How a message ends its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// As files on Unix do.
    Lf,
    /// As it is on the wire.
    CrLf,
}

impl LineEnding {
    /// What the header section of a message has: CRLF where all its lines, and at least one, end so.
    #[must_use]
    pub fn of(message: &[u8]) -> Self {
        match bare_lf_of_header(message) {
            None if memchr(b'\n', message).is_some() => Self::CrLf,
            _ => Self::Lf,
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }
}

/// A message as it is on the wire: borrowed where it is so already, by the rule of its header section.
#[must_use]
pub fn to_crlf(message: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = bare_lf_of_header(message) else { return Cow::Borrowed(message) };
    let (before, rest) = message.split_at(first);
    let mut out = Vec::with_capacity(message.len() + memchr_iter(b'\n', rest).count());
    out.extend_from_slice(before);
    Converter { mode: LineMode::Convert, line_len: 0, is_after_cr: false }.push(rest, &mut out);
    Cow::Owned(out)
}

/// A message as it is on the wire, read as a stream: the same bytes as [`to_crlf`] gives, in memory that does not grow with the
/// message. As a [`BufRead`] it lends its chunks without another copy.
#[derive(Debug)]
pub struct CrlfReader<R> {
    inner: R,
    converter: Converter,
    chunk: Vec<u8>,
    at: usize,
}

/// What is converted at once, however much the inner reader has.
const MAX_CHUNK_BYTES: usize = 64 << 10;

impl<R: BufRead> CrlfReader<R> {
    /// Reads one message, from its first byte on.
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

/// What is known at the seam between two chunks.
#[derive(Debug, Default)]
struct Converter {
    mode: LineMode,
    /// Of the line under way.
    line_len: usize,
    is_after_cr: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineMode {
    /// Every line so far ends with CRLF, which is the same in both other modes: so nothing need be kept back.
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
            let is_bare = if at == from { !self.is_after_cr } else { chunk[at - 1] != b'\r' };
            let line_len = self.line_len + (at - from);
            if is_bare {
                self.mode = LineMode::Convert;
                out.extend_from_slice(&chunk[from..at]);
                out.extend_from_slice(b"\r\n");
            } else {
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
        self.line_len = self.line_len.saturating_add(rest.len());
        self.is_after_cr = rest.last().map_or(self.is_after_cr, |last| *last == b'\r');
    }
}

/// Where the header section, with the empty line after it, has its first bare LF.
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

    /// Message, and what it is on the wire.
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
    fn the_header_section_decides() {
        for (message, wire) in CASES {
            let got = to_crlf(message);
            assert_eq!(got, wire, "{:?}", message.escape_ascii().to_string());
            assert_eq!(matches!(got, Cow::Borrowed(_)), message == wire);
            assert_eq!(to_crlf(&got), wire);
        }
        assert_eq!(LineEnding::of(CASES[6].0), LineEnding::CrLf);
        assert_eq!(LineEnding::of(CASES[7].0), LineEnding::Lf);
        assert_eq!(LineEnding::of(b"no line"), LineEnding::Lf);
    }

    #[test]
    fn a_stream_is_cut_anywhere() {
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
    fn a_stream_gives_what_memory_gives() {
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
    fn a_stream_keeps_a_chunk_at_most() {
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
