//! The positions of a row's parts in its chunk, and the ends of lines.

use std::fmt;
use std::ops::Range;

use memchr::memchr2_iter;
use oarlock::keys::text_file::{BYTE_ORDER_MARK, ForeignLineEnd};

use crate::error::RejectReason;

/// The maximal number of columns that a job can name.
pub(crate) const MAX_COLUMNS: usize = 8;
/// The maximal number of columns that a job can write: result, IV, tag.
pub(crate) const MAX_WRITES: usize = 3;

/// The maximal number of columns that a job can leave out: IV, tag.
pub(crate) const MAX_DROPS: usize = 2;

/// The position of one column of a row and the kind of its content, in one word. Fields of their own would be written
/// one by one and read together, and the processor waits for such reads longer than for all the rest of a field.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CellSpan(u64);

/// The bits of a start.
const START_BITS: u32 = 32;
/// The bits of a start and a length. Rows are far below 1 GiB.
const PLACE_BITS: u32 = 62;

/// The kind of content of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// The row has no such column.
    #[default]
    Missing,
    /// Text as it is; quotes lie outside.
    Text,
    /// Text with escapes; in JSON with its quotes.
    Escaped,
    /// A JSON value other than a string.
    Other,
}

impl CellSpan {
    #[inline]
    pub(crate) fn new(range: Range<usize>, kind: CellKind) -> Self {
        debug_assert!(range.len() < 1 << (PLACE_BITS - START_BITS));
        Self(range.start as u64 | (range.len() as u64) << START_BITS | (kind as u64) << PLACE_BITS)
    }

    #[inline]
    pub(crate) fn start(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline]
    pub(crate) fn end(self) -> usize {
        self.start() + (self.0 >> START_BITS) as usize % (1 << (PLACE_BITS - START_BITS))
    }

    #[inline]
    pub(crate) fn kind(self) -> CellKind {
        match self.0 >> PLACE_BITS {
            0 => CellKind::Missing,
            1 => CellKind::Text,
            2 => CellKind::Escaped,
            _ => CellKind::Other,
        }
    }

    #[inline]
    pub(crate) fn range(self) -> Range<usize> {
        self.start()..self.end()
    }
}

impl fmt::Debug for CellSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {:?}", self.kind(), self.range())
    }
}

/// The position of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowSpan {
    /// The position at which a new column is inserted.
    pub(crate) append_at: usize,
    /// True if the row has no column yet.
    pub(crate) is_empty: bool,
    /// True if the row is an empty line, which is copied.
    pub(crate) is_blank: bool,
    /// The position behind its last byte, before the line end.
    pub(crate) end: usize,
    /// The position of the next row.
    pub(crate) next: usize,
    /// The reason why it is not a valid row.
    pub(crate) fault: Option<RejectReason>,
}

/// Returns the end of a line and the start of the next one. `feed` is the position of the line feed, if there is one.
/// A carriage return before it is not part of the line.
pub(crate) fn line_end(chunk: &[u8], start: usize, feed: Option<usize>) -> (usize, usize) {
    let (end, next) = feed.map_or((chunk.len(), chunk.len()), |feed| (feed, feed + 1));
    let is_crlf = feed.is_some() && end > start && chunk[end - 1] == b'\r';
    (end - usize::from(is_crlf), next)
}

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
