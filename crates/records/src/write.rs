//! Rows with their results: everything else as it was.

use oarlock::contract::Span;

use crate::error::Reason;
use crate::gather::Places;
use crate::plan::Plan;
use crate::row::{CellKind, MOST_WRITES};
use crate::worker::Placed;
use crate::{Buffer, ndjson};

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
        let mut at = placed.start as usize;
        for write in self.in_order(placed).into_iter().flatten() {
            let cell = placed.cells[usize::from(write)];
            self.output.extend(&self.chunk[at..cell.start as usize]);
            let is_bare = cell.kind != CellKind::Text && self.plan.is_json();
            self.value(places, write, if is_bare { b"\"" } else { b"" });
            at = cell.end as usize;
        }
        let append_at = placed.append_at as usize;
        self.output.extend(&self.chunk[at..append_at]);
        let mut is_first = placed.is_empty;
        for write in 0..self.plan.columns.writes.len() {
            if placed.cells[write].kind == CellKind::Missing {
                let before = &self.appended[write][usize::from(is_first)..];
                self.output.extend(before);
                self.value(places, write as u8, b"");
                self.output.extend(if self.plan.is_json() { b"\"" } else { b"" });
                is_first = false;
            }
        }
        self.output.extend(&self.chunk[append_at..placed.next as usize]);
        Ok(())
    }

    /// The result without what fills its last block.
    fn stripped(&self, result: Span) -> Result<Span, Reason> {
        let Some((padding, block_len)) = self.plan.job.strips() else { return Ok(result) };
        let value = padding.strip(block_len, bytes(self.results, result)).ok_or(Reason::Padding)?;
        Ok(Span { len: value.len() as u32, ..result })
    }

    fn value(&mut self, places: Places, write: u8, quote: &[u8]) {
        let (_, what) = self.plan.columns.writes[usize::from(write)];
        self.output.extend(quote);
        self.plan.job.encoding.encode(bytes(self.results, places.of(what)), self.output);
        self.output.extend(quote);
    }

    /// The writes that replace something, in the order of the row.
    #[inline]
    fn in_order(&self, placed: &Placed) -> [Option<u8>; MOST_WRITES] {
        let mut order = [None; MOST_WRITES];
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
