//! Where the parts of one row lie in its chunk.

use std::ops::Range;

use crate::error::Reason;

/// Columns that a job can name.
pub(crate) const MAX_COLUMNS: usize = 8;
/// Columns that a job can write to: result, IV, tag.
pub(crate) const MAX_WRITES: usize = 3;

/// Columns that a job can leave out: IV, tag.
pub(crate) const MAX_DROPS: usize = 2;

/// Where one column of a row lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: CellKind,
}

/// What lies there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// The row has no such column.
    #[default]
    Missing,
    /// Text as it is; quotes lie outside.
    Text,
    /// Text with escapes; in JSON with its quotes.
    Escaped,
    /// A JSON value that is no string.
    Other,
}

impl Cell {
    pub(crate) fn new(range: Range<usize>, kind: CellKind) -> Self {
        // Chunks are far below 4 GiB.
        Self { start: range.start as u32, end: range.end as u32, kind }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One row, from its first byte to the next one's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Where a new column goes.
    pub(crate) append_at: usize,
    /// True where a new column is the first.
    pub(crate) is_empty: bool,
    /// Behind its last byte, before the end of the line.
    pub(crate) end: usize,
    /// The first byte of the next row.
    pub(crate) next: usize,
    /// Why it is no row.
    pub(crate) fault: Option<Reason>,
}

/// The end of a line whose line feed is at `feed`, or that has none: without a carriage return before it.
pub(crate) fn line_end(chunk: &[u8], start: usize, feed: Option<usize>) -> (usize, usize) {
    let (end, next) = feed.map_or((chunk.len(), chunk.len()), |feed| (feed, feed + 1));
    let is_crlf = feed.is_some() && end > start && chunk[end - 1] == b'\r';
    (end - usize::from(is_crlf), next)
}
