//! The text of a cell, and the ends of lines.

use std::borrow::Cow;

use memchr::memchr2_iter;
use oarlock::keys::text_file::{BYTE_ORDER_MARK, ForeignLineEnd};

use crate::csv;
use crate::row::{CellKind, CellSpan};

/// Returns the positions of all line ends that are neither LF nor CRLF, inside of quotes too.
pub(crate) fn foreign_line_ends(text: &[u8]) -> impl Iterator<Item = (usize, ForeignLineEnd)> {
    // The first bytes of both kinds.
    memchr2_iter(b'\r', 0xC2, text).filter_map(|at| Some((at, ForeignLineEnd::at(text, at)?)))
}

/// Returns the length of the byte order mark at the front of a text.
pub(crate) fn bom_len(text: &[u8]) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Returns the length of the empty lines at the front of a text.
pub(crate) fn empty_lines(text: &[u8]) -> usize {
    let mut len = 0;
    while let Some(end) = [&b"\n"[..], b"\r\n"].iter().find(|end| text[len..].starts_with(end)) {
        len += end.len();
    }
    len
}

/// Returns the text of a CSV field.
pub(crate) fn unescaped(chunk: &[u8], cell: CellSpan) -> Cow<'_, [u8]> {
    let bytes = &chunk[cell.range()];
    if cell.kind == CellKind::Escaped { Cow::Owned(csv::unquoted(bytes)) } else { Cow::Borrowed(bytes) }
}

/// Returns the text of a JSON value: a string without its escapes, or a number as it is written. None for other
/// values.
pub(crate) fn of_json(chunk: &[u8], cell: CellSpan) -> Option<Cow<'_, [u8]>> {
    let bytes = &chunk[cell.range()];
    match cell.kind {
        CellKind::Text => Some(Cow::Borrowed(bytes)),
        CellKind::Escaped => {
            serde_json::from_slice::<String>(bytes).ok().map(|text| Cow::Owned(text.into_bytes()))
        }
        CellKind::Other if bytes.iter().all(u8::is_ascii_digit) => Some(Cow::Borrowed(bytes)),
        CellKind::Other | CellKind::Missing => None,
    }
}
