//! Line endings. Files on Unix end lines with LF, the wire with CRLF, and DKIM signs the form of the wire.
//!
//! The header section of a message, up to and including the first empty line, decides its line ending. If every line
//! of it ends with CRLF, the message has the form of the wire, and a bare LF in its body is a character that was
//! sent. Otherwise each bare LF stands for CRLF, and each CRLF stays one. A bare CR is never changed.

use std::borrow::Cow;

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
    let mut out = Vec::with_capacity(message.len() + memchr_iter(b'\n', &message[first..]).count());
    let mut start = 0;
    for at in memchr_iter(b'\n', message) {
        let line = &message[start..at];
        out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        out.extend_from_slice(b"\r\n");
        start = at + 1;
    }
    out.extend_from_slice(&message[start..]);
    Cow::Owned(out)
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
}
