//! The worker of one thread, which reads the rows of a chunk, computes and writes rows, in memory that it keeps.

use std::fmt;
use std::sync::Arc;

use oarlock::Accelerator;
use oarlock::{Blame, JobError, Status};
use oarlock_keytable::{BatchOutcome, KeyTable, RecordError};

use crate::SecretBuffer;
use crate::error::{RejectReason, RowFileFault, RunError};
use crate::gather::{GatherLimits, GatheredColumns, ResultSpans};
use crate::plan::{FilePlan, count_lines};
use crate::reject::RejectedRow;
use crate::row::{CellSpan, MAX_COLUMNS, MAX_DROPS, MAX_WRITES};
use crate::write::RowWriter;

/// Processes chunks of a file, one after the other, in memory that is reused.
pub struct ChunkWorker<'w> {
    plan: &'w FilePlan,
    accelerator: &'w Accelerator,
    table: &'w KeyTable,
    limits: GatherLimits,
    gathered: GatheredColumns,
    rows: Vec<RowPlacement>,
    blank_lines: Vec<BlankLine>,
    outcome: BatchOutcome,
}

/// An empty line, which is copied.
struct BlankLine {
    /// The number of rows of `rows` before it.
    rows_before: usize,
    start: usize,
    next: usize,
}

/// The result of a chunk.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ChunkResult {
    /// The rows of the output.
    pub output: SecretBuffer,
    /// The rejected rows, in order.
    pub rejects: Vec<RejectedRow>,
    /// The number of rows of the chunk, without empty lines.
    pub rows: u64,
    /// The number of line ends in the chunk.
    pub lines: u64,
    /// The reason why nothing of the file can be used, if there is one. The last of `rejects` is the row.
    pub file_fault: Option<RowFileFault>,
}

/// The position of a row that may have a result, and of the columns that are written to. Chunks are far below 4 GiB,
/// so 32 bits suffice.
pub(crate) struct RowPlacement {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) next: u32,
    /// As in [`RowSpan`](crate::row::RowSpan).
    pub(crate) append_at: u32,
    pub(crate) is_empty: bool,
    /// In the order of the writes.
    pub(crate) cells: [CellSpan; MAX_WRITES],
    /// The columns that are left out.
    pub(crate) dropped: [CellSpan; MAX_DROPS],
}

impl RowPlacement {
    /// Sets the columns of a row that is in the list already: a row that is made beside it and moved there is read
    /// while its parts are still being written, which takes longer than all the rest.
    #[inline]
    fn set_cells(&mut self, plan: &FilePlan, cells: &[CellSpan; MAX_COLUMNS]) {
        for (cell, (column, _)) in self.cells.iter_mut().zip(&plan.columns.writes) {
            *cell = cells[*column];
        }
        for (cell, column) in self.dropped.iter_mut().zip(&plan.columns.drops) {
            *cell = cells[*column];
        }
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl ChunkResult {
    /// Removes the result and keeps the memory.
    pub fn clear(&mut self) {
        self.output.clear();
        self.rejects.clear();
        (self.rows, self.lines, self.file_fault) = (0, 0, None);
    }
}

impl<'w> ChunkWorker<'w> {
    /// Creates a worker for the plan's job.
    #[must_use]
    pub fn new(plan: &'w FilePlan, accelerator: &'w Accelerator, table: &'w KeyTable) -> Self {
        let limits = if table.has_held_keys() { GatherLimits::HELD } else { GatherLimits::LOCAL };
        let (gathered, outcome) = (GatheredColumns::default(), BatchOutcome::default());
        Self {
            plan,
            accelerator,
            table,
            limits,
            gathered,
            rows: Vec::new(),
            blank_lines: Vec::new(),
            outcome,
        }
    }

    /// Runs the plan's job on a chunk of whole rows. Only the last chunk of a file may lack its last line end. If
    /// [`ChunkResult::file_fault`] is set, the caller must not use any output of the file.
    ///
    /// # Errors
    /// The machine failed. A fault of one row only rejects that row.
    pub fn run(&mut self, chunk: &[u8], done: &mut ChunkResult) -> Result<(), RunError> {
        done.clear();
        done.lines = count_lines(chunk);
        if let Some((at, end)) = self.plan.foreign_line_end(chunk) {
            // The row that has it may have swallowed others, whose values would stay as they are.
            done.rejects.push(reject(self.plan, chunk, at..at, RejectReason::LineEnd(end)));
            done.file_fault = Some(RowFileFault::LineEnd);
            number_lines(chunk, &mut done.rejects);
            return Ok(());
        }
        let mut start = 0;
        while start < chunk.len() {
            start = self.read(chunk, start, done);
            self.compute(chunk, done)?;
        }
        // Rows rejected while reading came first, and rows rejected by the accelerator behind them.
        done.rejects.sort_by_key(|reject| reject.row_start);
        let is_cut = chunk.last().is_some_and(|byte| *byte != b'\n');
        let last = done.rejects.last().filter(|last| last.row_end == chunk.len());
        let is_truncated = last.is_some_and(|last| match last.reason {
            RejectReason::OpenQuote => true,
            _ => is_cut && last.reason.may_be_truncation(),
        });
        done.file_fault = is_truncated.then_some(RowFileFault::Truncated);
        number_lines(chunk, &mut done.rejects);
        Ok(())
    }

    /// Gathers the columns of the rows from `start` on, as many as a batch may have. Returns the start of the next row.
    fn read(&mut self, chunk: &[u8], mut start: usize, done: &mut ChunkResult) -> usize {
        let (plan, limits) = (self.plan, self.limits);
        self.gathered.clear();
        self.rows.clear();
        self.blank_lines.clear();
        let mut cells = [CellSpan::default(); MAX_COLUMNS];
        let is_full =
            |worker: &Self| worker.rows.len() == limits.rows || worker.gathered.data_len() >= limits.bytes;
        while start < chunk.len() && !is_full(self) {
            let mut row = plan.row(chunk, start, &mut cells);
            if row.is_blank {
                self.blank_lines.push(BlankLine { rows_before: self.rows.len(), start, next: row.next });
                start = row.next;
                continue;
            }
            let gathered = match row.fault.take() {
                Some(reason) => Err(reason),
                None => self.gathered.push(plan, chunk, &cells, limits),
            };
            match gathered {
                Ok(()) => {
                    self.rows.push(RowPlacement {
                        start: start as u32,
                        end: row.end as u32,
                        next: row.next as u32,
                        append_at: row.append_at as u32,
                        is_empty: row.is_empty,
                        cells: [CellSpan::default(); MAX_WRITES],
                        dropped: [CellSpan::default(); MAX_DROPS],
                    });
                    self.rows.last_mut().into_iter().for_each(|placement| placement.set_cells(plan, &cells));
                }
                Err(reason) => done.rejects.push(reject(plan, chunk, start..row.end, reason)),
            }
            start = row.next;
            done.rows += 1;
        }
        start
    }

    /// Runs the gathered records and writes the rows that have a result.
    fn compute(&mut self, chunk: &[u8], done: &mut ChunkResult) -> Result<(), RunError> {
        if self.rows.is_empty() {
            self.blank_lines.iter().for_each(|line| done.output.extend(&chunk[line.start..line.next]));
            return Ok(());
        }
        let mut blank_lines = self.blank_lines.iter().peekable();
        let Self { plan, accelerator, table, outcome, .. } = self;
        let batch = self.gathered.batch(plan);
        match table.run_into(accelerator, &batch, outcome) {
            Ok(()) => {}
            // The holder has none of the keys.
            Err(error @ JobError::HolderRefused { .. }) => {
                let reason = RejectReason::RefusedByHolder(Arc::new(error));
                let rows = self.rows.iter().map(RowPlacement::range);
                done.rejects.extend(rows.map(|row| reject(plan, chunk, row, reason.clone())));
                self.blank_lines.iter().for_each(|line| done.output.extend(&chunk[line.start..line.next]));
                return Ok(());
            }
            Err(error) => return Err(RunError::machine(error)),
        }
        // The results of a job that makes tokens are numerals; the rows get texts.
        let mut texts = SecretBuffer::default();
        let mut tokens = Vec::new();
        if plan.job.format().is_some() {
            texts.reserve(2 * outcome.output().len());
            tokens.extend(
                (0..self.rows.len())
                    .map(|record| self.gathered.token(plan, record, outcome.output(), &mut texts)),
            );
        }
        let results = if tokens.is_empty() { outcome.output() } else { &texts };
        let mut writer = RowWriter::new(plan, chunk, &self.rows, results, &mut done.output);
        for (index, (placement, status)) in self.rows.iter().zip(outcome.statuses()).enumerate() {
            while let Some(line) = blank_lines.next_if(|line| line.rows_before <= index) {
                writer.copy_line(line.start..line.next);
            }
            let result_spans = match tokens.get_mut(index) {
                Some(token) => std::mem::replace(token, Ok(ResultSpans::default())),
                None => Ok(self.gathered.result_spans(index)),
            };
            let written = match status {
                Status::Done => result_spans.and_then(|spans| writer.write(placement, spans)),
                _ => Err(refusal_of(outcome.error(table, &batch, index), *status)?),
            };
            if let Err(reason) = written {
                done.rejects.push(reject(plan, chunk, placement.range(), reason));
            }
        }
        blank_lines.for_each(|line| writer.copy_line(line.start..line.next));
        Ok(())
    }
}

/// Returns the reason why a row has no result. A row must not be rejected for a fault of the machine: a second run
/// would accept it.
fn refusal_of(error: Option<RecordError>, status: Status) -> Result<RejectReason, RunError> {
    match error.as_ref().and_then(|error| error.refusal.clone()) {
        Some(refusal) if refusal.blame() == Blame::Machine => Err(RunError::machine(refusal)),
        Some(refusal) => Ok(RejectReason::RefusedByHolder(refusal)),
        None => {
            let error = error.filter(|error| error.blame() != Blame::Machine);
            let error = error.ok_or_else(|| RunError::machine(status))?;
            Ok(RejectReason::Refused { status, expected: error.expected() })
        }
    }
}

fn reject(plan: &FilePlan, chunk: &[u8], row: std::ops::Range<usize>, reason: RejectReason) -> RejectedRow {
    let kept = plan.job.keeps_rejected_rows.then(|| chunk[row.clone()].to_vec());
    RejectedRow { line: 0, reason, row: kept, row_start: row.start, row_end: row.end }
}

/// Sets the line numbers of rejected rows, which are in order.
fn number_lines(chunk: &[u8], rejects: &mut [RejectedRow]) {
    let (mut line, mut at) = (0, 0);
    for reject in rejects {
        line += count_lines(&chunk[at..reject.row_start]);
        at = reject.row_start;
        reject.line = line;
    }
}

/// Shows only the number of rows, because values may be secret.
impl fmt::Debug for ChunkWorker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Worker({} rows)", self.rows.len())
    }
}
