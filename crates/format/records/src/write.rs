//! Writes rows with their results. All other bytes stay as they were.

use std::ops::Range;

use oarlock::Span;

use crate::columns::ColumnOutput;
use crate::error::RejectReason;
use crate::gather::ResultSpans;
use crate::plan::FilePlan;
use crate::row::{CellKind, MAX_DROPS};
use crate::worker::RowPlacement;
use crate::{Encoding, SecretBuffer, csv, ndjson};

/// Writes the rows of one chunk.
pub(crate) struct RowWriter<'w> {
    plan: &'w FilePlan,
    chunk: &'w [u8],
    results: &'w [u8],
    output: &'w mut SecretBuffer,
    /// The bytes before each new column: separator, name, quote.
    appended: Vec<Vec<u8>>,
}

impl<'w> RowWriter<'w> {
    pub(crate) fn new(
        plan: &'w FilePlan,
        chunk: &'w [u8],
        rows: &[RowPlacement],
        results: &'w [u8],
        output: &'w mut SecretBuffer,
    ) -> Self {
        let appended: Vec<_> = plan.columns.writes.iter().map(|(column, _)| frame(plan, *column)).collect();
        // Base64 is at most four characters longer than hexadecimal, and a value may get quotes.
        let frames: usize = appended.iter().map(|before| before.len() + 8).sum();
        output.reserve(chunk.len() + 2 * results.len() + rows.len() * frames);
        Self { plan, chunk, results, output, appended }
    }

    /// Writes one row. If it is rejected, nothing is written.
    #[inline]
    pub(crate) fn write(
        &mut self,
        placement: &RowPlacement,
        result_spans: ResultSpans,
    ) -> Result<(), RejectReason> {
        // Padding and UTF-8 are checked before the first byte is written.
        let result_spans = ResultSpans { result: self.stripped(result_spans.result)?, ..result_spans };
        let row_start = placement.start as usize;
        let (mut at, mut dropped) = (row_start, self.drops(placement));
        let mut last = None;
        while let Some((start, write)) = self.next_write(placement, last) {
            last = Some((start, write));
            let cell = placement.cells[usize::from(write)];
            at = self.copy(at, cell.start(), &mut dropped);
            let is_bare = cell.kind() != CellKind::Text && self.plan.is_json();
            let is_quoted = cell.start() > row_start && self.chunk[cell.start() - 1] == b'"';
            self.value(result_spans, write, if is_bare { b"\"" } else { b"" }, is_quoted);
            at = at.max(cell.end());
        }
        let append_at = placement.append_at as usize;
        self.copy(at, append_at, &mut dropped);
        let mut is_first = placement.is_empty;
        for write in 0..self.plan.columns.writes.len() {
            if placement.cells[write].kind() == CellKind::Missing {
                let before = &self.appended[write][usize::from(is_first)..];
                self.output.extend(before);
                self.value(result_spans, write as u8, b"", false);
                self.output.extend(if self.plan.is_json() { b"\"" } else { b"" });
                is_first = false;
            }
        }
        self.output.extend(&self.chunk[append_at..placement.next as usize]);
        Ok(())
    }

    /// Copies a line without a row.
    pub(crate) fn copy_line(&mut self, line: Range<usize>) {
        self.output.extend(&self.chunk[line]);
    }

    /// Returns the result without its padding.
    fn stripped(&self, result: Span) -> Result<Span, RejectReason> {
        let mut value = bytes(self.results, result);
        if let Some((padding, block_len)) = self.plan.job.strips() {
            value = padding.strip(block_len, value).ok_or(RejectReason::Padding)?;
        }
        if self.plan.job.result_encoding() == Encoding::Text && std::str::from_utf8(value).is_err() {
            return Err(RejectReason::NotUtf8);
        }
        Ok(Span { len: value.len() as u32, ..result })
    }

    /// Copies the bytes of the row from `at` to `end` without the columns that are left out. Returns the new
    /// position.
    fn copy(&mut self, mut at: usize, end: usize, dropped: &mut [Option<Range<usize>>; MAX_DROPS]) -> usize {
        for range in dropped.iter_mut().filter_map(|range| range.take_if(|range| range.start < end)) {
            self.output.extend(&self.chunk[at..range.start.max(at)]);
            at = at.max(range.end);
        }
        self.output.extend(&self.chunk[at..end.max(at)]);
        at.max(end)
    }

    /// Returns the ranges that are left out, in order.
    fn drops(&self, placement: &RowPlacement) -> [Option<Range<usize>>; MAX_DROPS] {
        if self.plan.columns.drops.is_empty() {
            return [const { None }; MAX_DROPS];
        }
        let mut cells = placement.dropped;
        cells.sort_unstable_by_key(|cell| cell.start());
        // Each range needs the end of the one before it, to know whether a separator is still there.
        let mut from = placement.start as usize;
        cells.map(|cell| {
            if cell.kind() == CellKind::Missing {
                return None;
            }
            let range = self.plan.dropped(self.chunk, from, cell);
            from = range.end;
            Some(range)
        })
    }

    fn value(&mut self, result_spans: ResultSpans, write: u8, quote: &[u8], is_quoted: bool) {
        let (_, what) = self.plan.columns.writes[usize::from(write)];
        let value = bytes(self.results, result_spans.span(what));
        let job = &self.plan.job;
        let encoding =
            if what == ColumnOutput::Result { job.result_encoding() } else { job.encoding.of_binary() };
        self.output.extend(quote);
        match encoding {
            Encoding::Text if self.plan.is_json() => ndjson::push_escaped(value, self.output),
            Encoding::Text => csv::push_text(value, self.plan.delimiter(), is_quoted, self.output),
            encoding => encoding.encode(value, self.output),
        }
        self.output.extend(quote);
    }

    /// Returns the start of the next value that is replaced, and its write. A row may have its columns in any order.
    #[inline]
    fn next_write(&self, placement: &RowPlacement, last: Option<(usize, u8)>) -> Option<(usize, u8)> {
        let cells = placement.cells.iter().zip(0_u8..).take(self.plan.columns.writes.len());
        let replaced = cells.filter(|(cell, _)| cell.kind() != CellKind::Missing);
        replaced
            .map(|(cell, write)| (cell.start(), write))
            .filter(|next| last.is_none_or(|last| *next > last))
            .min()
    }
}

fn bytes(results: &[u8], span: Span) -> &[u8] {
    span.slice(results).unwrap_or_default()
}

/// Returns the bytes before a new column. The caller omits the leading separator if the column is the first of an
/// object.
fn frame(plan: &FilePlan, column: usize) -> Vec<u8> {
    if !plan.is_json() {
        return vec![plan.delimiter()];
    }
    let mut before = SecretBuffer::default();
    before.push(b',');
    ndjson::push_string(&plan.columns.names[column], &mut before);
    before.extend(b":\"");
    before.to_vec()
}
