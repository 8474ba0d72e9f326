//! The memory of one thread, and what it does with a chunk: read rows, compute, write rows.

use std::fmt;

use oarlock::Accelerator;
use oarlock::batch::BatchOutcome;
use oarlock::table::KeyTable;
use oarlock::{Blame, Status};

use crate::Buffer;
use crate::error::{Reason, RunError};
use crate::gather::Gathered;
use crate::plan::{Plan, count_lines};
use crate::reject::Reject;
use crate::row::{Cell, MAX_COLUMNS, MAX_DROPS, MAX_WRITES, Row};
use crate::write::Writer;

/// Works on chunks of a file, one after the other, in memory that is kept.
pub struct Worker<'w> {
    plan: &'w Plan,
    accelerator: &'w Accelerator,
    table: &'w KeyTable,
    gathered: Gathered,
    rows: Vec<Placed>,
    outcome: BatchOutcome,
}

/// What came of a chunk.
#[derive(Debug, Default)]
pub struct Done {
    /// The rows of the output.
    pub output: Buffer,
    /// The rows that have none, in order.
    pub rejects: Vec<Reject>,
    /// Rows of the chunk.
    pub rows: u64,
    /// Ends of lines in the chunk.
    pub lines: u64,
    /// True where the file ends with a row that has no end of line and is not whole.
    pub is_truncated: bool,
}

/// A row that may have a result: where it and the columns lie that are written to. Chunks are far below 4 GiB.
pub(crate) struct Placed {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) next: u32,
    /// As in [`Row`].
    pub(crate) append_at: u32,
    pub(crate) is_empty: bool,
    /// In the order of the writes.
    pub(crate) cells: [Cell; MAX_WRITES],
    /// Columns that are left out.
    pub(crate) dropped: [Cell; MAX_DROPS],
}

impl Placed {
    fn new(plan: &Plan, start: usize, row: &Row, cells: &[Cell; MAX_COLUMNS]) -> Self {
        let mut own = [Cell::default(); MAX_WRITES];
        for (cell, (column, _)) in own.iter_mut().zip(&plan.columns.writes) {
            *cell = cells[*column];
        }
        let mut dropped = [Cell::default(); MAX_DROPS];
        for (cell, column) in dropped.iter_mut().zip(&plan.columns.drops) {
            *cell = cells[*column];
        }
        let [start, end, next, append_at] =
            [start, row.end, row.next, row.append_at].map(|place| place as u32);
        Self { start, end, next, append_at, is_empty: row.is_empty, cells: own, dropped }
    }
}

impl Done {
    /// Forgets what came, and keeps the memory.
    pub fn clear(&mut self) {
        self.output.clear();
        self.rejects.clear();
        (self.rows, self.lines, self.is_truncated) = (0, 0, false);
    }
}

impl<'w> Worker<'w> {
    /// A worker for the plan's job, which has nothing in memory yet.
    #[must_use]
    pub fn new(plan: &'w Plan, accelerator: &'w Accelerator, table: &'w KeyTable) -> Self {
        let (gathered, rows, outcome) = (Gathered::default(), Vec::new(), BatchOutcome::default());
        Self { plan, accelerator, table, gathered, rows, outcome }
    }

    /// Does the plan's job on a chunk of whole rows; only the last of a file may lack the end of its last line.
    ///
    /// # Errors
    /// The machine failed. What is wrong with one row is that row's.
    pub fn run(&mut self, chunk: &[u8], done: &mut Done) -> Result<(), RunError> {
        done.clear();
        self.read(chunk, done);
        done.lines = count_lines(chunk);
        self.compute(chunk, done)?;
        done.rejects.sort_by_key(|reject| reject.row_start);
        let is_cut = chunk.last().is_some_and(|byte| *byte != b'\n');
        let last = done.rejects.last().filter(|last| last.row_end == chunk.len());
        done.is_truncated = last.is_some_and(|last| match last.reason {
            Reason::OpenQuote => true,
            _ => is_cut && last.reason.may_be_truncation(),
        });
        number_lines(chunk, &mut done.rejects);
        Ok(())
    }

    /// Gathers the columns of all rows.
    fn read(&mut self, chunk: &[u8], done: &mut Done) {
        let plan = self.plan;
        self.gathered.clear();
        self.rows.clear();
        let (mut start, mut cells) = (0, [Cell::default(); MAX_COLUMNS]);
        while start < chunk.len() {
            let mut row = plan.row(chunk, start, &mut cells);
            let gathered = match row.fault.take() {
                Some(reason) => Err(reason),
                None => self.gathered.push(plan, chunk, &cells),
            };
            match gathered {
                Ok(()) => self.rows.push(Placed::new(plan, start, &row, &cells)),
                Err(reason) => done.rejects.push(reject(plan, chunk, start..row.end, reason)),
            }
            start = row.next;
            done.rows += 1;
        }
    }

    /// Runs the gathered records and writes the rows that have a result.
    fn compute(&mut self, chunk: &[u8], done: &mut Done) -> Result<(), RunError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let Self { plan, accelerator, table, outcome, .. } = self;
        let batch = self.gathered.batch(plan);
        accelerator.run_batch_into(table, &batch, outcome).map_err(RunError::machine)?;
        let mut writer = Writer::new(plan, chunk, &self.rows, outcome.output(), &mut done.output);
        for (index, (placed, status)) in self.rows.iter().zip(outcome.statuses()).enumerate() {
            let places = self.gathered.places(index);
            let written = match status {
                Status::Done => writer.write(placed, places),
                _ => {
                    let error = outcome.error(table, &batch, index);
                    let expected = error.as_ref().and_then(|error| error.expected());
                    if error.is_none_or(|error| error.blame() == Blame::Machine) {
                        return Err(RunError::machine(status));
                    }
                    Err(Reason::Refused { status: *status, expected })
                }
            };
            if let Err(reason) = written {
                done.rejects.push(reject(plan, chunk, placed.start as usize..placed.end as usize, reason));
            }
        }
        Ok(())
    }
}

fn reject(plan: &Plan, chunk: &[u8], row: std::ops::Range<usize>, reason: Reason) -> Reject {
    let kept = plan.job.keeps_rejected_rows.then(|| chunk[row.clone()].to_vec());
    Reject { line: 0, reason, row: kept, row_start: row.start, row_end: row.end }
}

/// Finds the lines of rejected rows, which are in order.
fn number_lines(chunk: &[u8], rejects: &mut [Reject]) {
    let (mut line, mut at) = (0, 0);
    for reject in rejects {
        line += count_lines(&chunk[at..reject.row_start]);
        at = reject.row_start;
        reject.line = line;
    }
}

/// Shows how much it holds: values may be secret.
impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Worker({} rows)", self.rows.len())
    }
}
