//! A reader of the fields of a row.

use memchr::{memchr, memchr2};

use crate::error::RejectReason;
use crate::row::{CellKind, CellSpan, line_end};

/// Reads the fields of one row.
pub(crate) struct RowFields<'a> {
    chunk: &'a [u8],
    delimiter: u8,
    at: usize,
    /// The end of the row, once its last field has been read.
    pub(crate) end: Option<RowEnd>,
    pub(crate) fault: Option<RejectReason>,
}

/// The end of a row and the start of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowEnd {
    pub(crate) end: usize,
    pub(crate) next: usize,
}

/// The position of a field's text, without quotes.
pub(crate) type Field = CellSpan;

impl<'a> RowFields<'a> {
    /// Reads the row that begins at `start`.
    pub(crate) fn from_chunk(chunk: &'a [u8], start: usize, delimiter: u8) -> Self {
        Self { chunk, delimiter, at: start, end: None, fault: None }
    }

    fn quoted(&mut self) -> Field {
        let start = self.at + 1;
        let (close, is_escaped) = closing_quote(self.chunk, start);
        let kind = if is_escaped { CellKind::Escaped } else { CellKind::Text };
        let Some(close) = close else {
            // Nobody knows where this row ends, so it takes the rest of the chunk.
            self.fault = Some(RejectReason::OpenQuote);
            self.end = Some(RowEnd { end: self.chunk.len(), next: self.chunk.len() });
            return CellSpan::new(start..self.chunk.len(), kind);
        };
        let behind = self.pass_separator(close + 1);
        if behind != close + 1 {
            self.fault.get_or_insert(RejectReason::AfterQuote);
        }
        CellSpan::new(start..close, kind)
    }

    /// Moves behind the separator that ends an unquoted field. Returns the end of the field.
    #[inline]
    fn pass_separator(&mut self, from: usize) -> usize {
        let found = memchr2(self.delimiter, b'\n', &self.chunk[from..]).map(|offset| from + offset);
        match found {
            Some(at) if self.chunk[at] == self.delimiter => {
                self.at = at + 1;
                at
            }
            feed => {
                let (end, next) = line_end(self.chunk, from, feed);
                self.end = Some(RowEnd { end, next });
                end
            }
        }
    }
}

impl Iterator for RowFields<'_> {
    type Item = Field;

    #[inline]
    fn next(&mut self) -> Option<Field> {
        if self.end.is_some() {
            return None;
        }
        if self.chunk.get(self.at) == Some(&b'"') {
            return Some(self.quoted());
        }
        let start = self.at;
        let end = self.pass_separator(start);
        Some(CellSpan::new(start..end, CellKind::Text))
    }
}

/// Returns the quote that ends the field whose text begins at `start`, and true if doubled quotes precede it.
pub(super) fn closing_quote(chunk: &[u8], start: usize) -> (Option<usize>, bool) {
    let (mut from, mut is_escaped) = (start, false);
    while let Some(quote) = memchr(b'"', &chunk[from..]).map(|offset| from + offset) {
        // RFC 4180 2.7: two quotes stand for one.
        if chunk.get(quote + 1) != Some(&b'"') {
            return (Some(quote), is_escaped);
        }
        (from, is_escaped) = (quote + 2, true);
    }
    (None, is_escaped)
}
