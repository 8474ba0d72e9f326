//! The end of the whole rows at the front of a buffer, and line ends that are not read.

use std::iter;

use memchr::{memchr, memrchr};
use oarlock::keys::text_file::{BYTE_ORDER_MARK, ForeignLineEnd};

use super::read::closing_quote;
use crate::row::foreign_line_ends;

/// Returns the length of the whole rows at the front of `buffer`, up to its last line feed outside of quotes. A
/// doubled quote that is cut in two by the buffer's end looks like a closing quote. That is harmless, since no line
/// feed follows it.
pub(crate) fn whole_rows(buffer: &[u8], delimiter: u8) -> usize {
    let (mut end, mut from) = (0, 0);
    for quoted in (QuotedFields { text: buffer, delimiter, from: 0 }) {
        end = behind_last_feed(buffer, from, quoted.open).unwrap_or(end);
        match quoted.end {
            Some(close) => from = close,
            None => return end,
        }
    }
    behind_last_feed(buffer, from, buffer.len()).unwrap_or(end)
}

/// Returns the position of the first line end outside of quotes that is neither LF nor CRLF. The text begins with a
/// row.
pub(crate) fn foreign_line_end(text: &[u8], delimiter: u8) -> Option<(usize, ForeignLineEnd)> {
    let mut ends = foreign_line_ends(text);
    let first = ends.next()?;
    // Few files have one, so only these pay for the search for quotes.
    let mut fields = QuotedFields { text, delimiter, from: 0 }.peekable();
    iter::once(first).chain(ends).find(|(at, _)| {
        while fields.next_if(|field| field.end.is_some_and(|end| end <= *at)).is_some() {}
        fields.peek().is_none_or(|field| field.open > *at)
    })
}

fn behind_last_feed(buffer: &[u8], from: usize, to: usize) -> Option<usize> {
    memrchr(b'\n', &buffer[from..to]).map(|offset| from + offset + 1)
}

/// The quoted fields of a text.
struct QuotedFields<'t> {
    text: &'t [u8],
    delimiter: u8,
    from: usize,
}

/// The position of a quoted field.
struct QuotedField {
    /// The position of the opening quote.
    open: usize,
    /// The position behind the closing quote, if there is one.
    end: Option<usize>,
}

impl Iterator for QuotedFields<'_> {
    type Item = QuotedField;

    fn next(&mut self) -> Option<QuotedField> {
        while let Some(open) = memchr(b'"', &self.text[self.from..]).map(|offset| self.from + offset) {
            let before = &self.text[..open];
            let is_first = matches!(before.last(), None | Some(b'\n'))
                || before.last() == Some(&self.delimiter)
                || before == BYTE_ORDER_MARK;
            if is_first {
                let end = closing_quote(self.text, open + 1).0.map(|close| close + 1);
                self.from = end.unwrap_or(self.text.len());
                return Some(QuotedField { open, end });
            }
            // A quote inside of a bare field opens nothing, so line feeds behind it still end rows.
            self.from = open + 1;
        }
        None
    }
}
