//! Rows with their results: everything else as it was.

use std::ops::Range;

use oarlock::Span;

use crate::columns::Written;
use crate::error::Reason;
use crate::gather::Places;
use crate::plan::Plan;
use crate::row::{CellKind, MAX_DROPS, MAX_WRITES};
use crate::worker::Placed;
use crate::{Buffer, Encoding, csv, ndjson};

/// Writes the rows of one chunk.
pub(crate) struct Writer<'w> {
    plan: &'w Plan,
    chunk: &'w [u8],
    results: &'w [u8],
    output: &'w mut Buffer,
    /// What goes before each new column: separator, name, quote.
    appended: Vec<Vec<u8>>,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(
        plan: &'w Plan,
        chunk: &'w [u8],
        rows: &[Placed],
        results: &'w [u8],
        output: &'w mut Buffer,
    ) -> Self {
        let appended: Vec<_> = plan.columns.writes.iter().map(|(column, _)| frame(plan, *column)).collect();
        // Base64 is no longer than hexadecimal but for its last four characters; a value may get quotes.
        let frames: usize = appended.iter().map(|before| before.len() + 8).sum();
        output.make_room(chunk.len() + 2 * results.len() + rows.len() * frames);
        Self { plan, chunk, results, output, appended }
    }

    /// Writes one row, or nothing.
    #[inline]
    pub(crate) fn write(&mut self, placed: &Placed, places: Places) -> Result<(), Reason> {
        let places = Places { result: self.stripped(places.result)?, ..places };
        let row_start = placed.start as usize;
        let (mut at, mut dropped) = (row_start, self.drops(placed));
        for write in self.in_order(placed).into_iter().flatten() {
            let cell = placed.cells[usize::from(write)];
            at = self.copy(at, cell.start as usize, &mut dropped);
            let is_bare = cell.kind != CellKind::Text && self.plan.is_json();
            let is_quoted = cell.start as usize > row_start && self.chunk[cell.start as usize - 1] == b'"';
            self.value(places, write, if is_bare { b"\"" } else { b"" }, is_quoted);
            at = at.max(cell.end as usize);
        }
        let append_at = placed.append_at as usize;
        self.copy(at, append_at, &mut dropped);
        let mut is_first = placed.is_empty;
        for write in 0..self.plan.columns.writes.len() {
            if placed.cells[write].kind == CellKind::Missing {
                let before = &self.appended[write][usize::from(is_first)..];
                self.output.extend(before);
                self.value(places, write as u8, b"", false);
                self.output.extend(if self.plan.is_json() { b"\"" } else { b"" });
                is_first = false;
            }
        }
        self.output.extend(&self.chunk[append_at..placed.next as usize]);
        Ok(())
    }

    /// The result without what fills its last block.
    fn stripped(&self, result: Span) -> Result<Span, Reason> {
        let mut value = bytes(self.results, result);
        if let Some((padding, block_len)) = self.plan.job.strips() {
            value = padding.strip(block_len, value).ok_or(Reason::Padding)?;
        }
        if self.plan.job.result_encoding() == Encoding::Text && std::str::from_utf8(value).is_err() {
            return Err(Reason::NotUtf8);
        }
        Ok(Span { len: value.len() as u32, ..result })
    }

    /// Copies bytes of the row up to a place, without the columns that are left out. Returns the place.
    fn copy(&mut self, mut at: usize, end: usize, dropped: &mut [Option<Range<usize>>; MAX_DROPS]) -> usize {
        for range in dropped.iter_mut().filter_map(|range| range.take_if(|range| range.start < end)) {
            self.output.extend(&self.chunk[at..range.start.max(at)]);
            at = at.max(range.end);
        }
        self.output.extend(&self.chunk[at..end.max(at)]);
        at.max(end)
    }

    /// The bytes that are left out, in their order.
    fn drops(&self, placed: &Placed) -> [Option<Range<usize>>; MAX_DROPS] {
        let mut cells = placed.dropped;
        cells.sort_unstable_by_key(|cell| cell.start);
        let mut from = placed.start as usize;
        cells.map(|cell| {
            if cell.kind == CellKind::Missing {
                return None;
            }
            let range = self.plan.dropped(self.chunk, from, cell);
            from = range.end;
            Some(range)
        })
    }

    fn value(&mut self, places: Places, write: u8, quote: &[u8], is_quoted: bool) {
        let (_, what) = self.plan.columns.writes[usize::from(write)];
        let value = bytes(self.results, places.of(what));
        let job = &self.plan.job;
        let encoding = if what == Written::Result { job.result_encoding() } else { job.encoding.of_binary() };
        self.output.extend(quote);
        match encoding {
            Encoding::Text if self.plan.is_json() => ndjson::push_escaped(value, self.output),
            Encoding::Text => csv::push_text(value, self.plan.delimiter(), is_quoted, self.output),
            encoding => encoding.encode(value, self.output),
        }
        self.output.extend(quote);
    }

    /// The writes that replace something, in the order of the row.
    #[inline]
    fn in_order(&self, placed: &Placed) -> [Option<u8>; MAX_WRITES] {
        let mut order = [None; MAX_WRITES];
        let start = |write: u8| placed.cells[usize::from(write)].start;
        for write in (0_u8..).take(self.plan.columns.writes.len()) {
            if placed.cells[usize::from(write)].kind == CellKind::Missing {
                continue;
            }
            let comes_before = |other: &&Option<u8>| other.is_some_and(|other| start(other) < start(write));
            let place = order.iter().take_while(comes_before).count();
            order[place..].rotate_right(1);
            order[place] = Some(write);
        }
        order
    }
}

fn bytes(results: &[u8], span: Span) -> &[u8] {
    span.of(results).unwrap_or_default()
}

/// What goes before a new column. Where it is the first of an object, the leading separator is left out.
fn frame(plan: &Plan, column: usize) -> Vec<u8> {
    if !plan.is_json() {
        return vec![plan.delimiter()];
    }
    let mut before = Buffer::default();
    before.push(b',');
    ndjson::push_string(&plan.columns.names[column], &mut before);
    before.extend(b":\"");
    before.to_vec()
}
