//! Text files: their encoding, and how their lines end.
//!
//! Programs of other systems write UTF-16, or end lines with a carriage return alone or with U+0085. A reader of lines
//! that ignores this takes the whole file for one line.

use std::fmt;

/// A text that does not consist of lines which end with LF or CRLF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextFault {
    /// The text is in UTF-16, with or without a byte order mark.
    Utf16,
    /// A line contains the byte 0.
    Nul {
        /// The line, from 1.
        line: usize,
    },
    /// A line has another end.
    LineEnd {
        /// The line, from 1.
        line: usize,
        /// The end of the line.
        end: ForeignLineEnd,
    },
}

/// An end of lines that is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignLineEnd {
    /// CR that no LF follows, as Mac OS 9 and old modems write it.
    CarriageReturn,
    /// U+0085 in UTF-8, as mainframes write it.
    NextLine,
}

/// The name of the format in errors.
pub const UTF16_NAME: &str = "text in UTF-16";
/// The command that converts it.
pub const UTF16_REMEDY: &str = "`iconv -f UTF-16 -t UTF-8 FILE` converts it";
/// The mark with which a text in UTF-8 may begin.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl TextFault {
    /// Returns the line, from 1.
    #[must_use]
    pub fn line(self) -> usize {
        match self {
            Self::Utf16 => 1,
            Self::Nul { line } | Self::LineEnd { line, .. } => line,
        }
    }

    /// Returns the fault of the line, without its number.
    #[must_use]
    pub fn reason(self) -> String {
        match self {
            Self::Utf16 => format!("{UTF16_NAME}: {UTF16_REMEDY}"),
            Self::Nul { .. } => "contains the byte 0: expected text".to_owned(),
            Self::LineEnd { end, .. } => {
                format!("ends with {end}: expected LF or CRLF. {}", end.remedy())
            }
        }
    }
}

/// Returns a text without its byte order mark.
///
/// # Errors
/// The text is in UTF-16, contains the byte 0, or has lines with other ends than LF and CRLF.
pub fn checked_text(text: &[u8]) -> Result<&[u8], TextFault> {
    if is_utf16(text) {
        return Err(TextFault::Utf16);
    }
    let text = without_mark(text);
    let line = |at: usize| 1 + text[..at].iter().filter(|byte| **byte == b'\n').count();
    if let Some(at) = text.iter().position(|byte| *byte == 0) {
        return Err(TextFault::Nul { line: line(at) });
    }
    let found = (0..text.len()).find_map(|at| Some((at, ForeignLineEnd::at(text, at)?)));
    found.map_or(Ok(text), |(at, end)| Err(TextFault::LineEnd { line: line(at), end }))
}

pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// True for UTF-16 with a byte order mark, and for two ASCII characters of UTF-16 without one.
#[must_use]
pub fn is_utf16(text: &[u8]) -> bool {
    // Other characters are not tested, because binary formats may begin so.
    let is_ascii = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match *text {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [first, 0, second, 0, ..] | [0, first, 0, second, ..] => is_ascii(first) && is_ascii(second),
        _ => false,
    }
}

impl ForeignLineEnd {
    /// Returns the end of a line that begins at a position.
    #[must_use]
    #[inline]
    pub fn at(text: &[u8], position: usize) -> Option<Self> {
        match text.get(position..)? {
            [b'\r', b'\n', ..] => None,
            [b'\r', ..] => Some(Self::CarriageReturn),
            [0xC2, 0x85, ..] => Some(Self::NextLine),
            _ => None,
        }
    }

    /// Returns a sentence with the command that converts a file.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Self::CarriageReturn => "`sed 's/\\r$//' FILE | tr '\\r' '\\n'` converts it",
            Self::NextLine => "`sed 's/\\xc2\\x85/\\n/g' FILE` converts it",
        }
    }
}

impl std::error::Error for TextFault {}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf16 => f.write_str(&self.reason()),
            Self::Nul { line } | Self::LineEnd { line, .. } => write!(f, "line {line} {}", self.reason()),
        }
    }
}

impl fmt::Display for ForeignLineEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CarriageReturn => "a carriage return (CR) that no line feed follows",
            Self::NextLine => "U+0085 (next line)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_other_systems_are_refused_with_their_line() {
        let line_end = |line, end| Err(TextFault::LineEnd { line, end });
        for (text, expected) in [
            (&b"a\nb\r\nc"[..], Ok(&b"a\nb\r\nc"[..])),
            (b"\xEF\xBB\xBFa\n", Ok(b"a\n")),
            (b"", Ok(b"")),
            (b"a\rb\r", line_end(1, ForeignLineEnd::CarriageReturn)),
            (b"a\nb\rc\n", line_end(2, ForeignLineEnd::CarriageReturn)),
            (b"a\r\r\n", line_end(1, ForeignLineEnd::CarriageReturn)),
            (b"a\n\xC2\x85b", line_end(2, ForeignLineEnd::NextLine)),
            ("\u{c5}\u{85}".as_bytes(), line_end(1, ForeignLineEnd::NextLine)),
            ("\u{c5} \u{20ac}".as_bytes(), Ok("\u{c5} \u{20ac}".as_bytes())),
            (b"a\nb\0c", Err(TextFault::Nul { line: 2 })),
            (b"\xFF\xFEa\0", Err(TextFault::Utf16)),
            (b"\xFE\xFF\0a", Err(TextFault::Utf16)),
            (b"a\0b\0", Err(TextFault::Utf16)),
            (b"\0a\0\n", Err(TextFault::Utf16)),
        ] {
            assert_eq!(checked_text(text), expected, "{}", text.escape_ascii());
        }
    }
}
