//! Chunks in their order: writes output and rejected rows, and shows progress.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;
use oarlock_files::output::OutputFile;
use oarlock_records::{ChunkResult, FilePlan, RowFileFault, SecretBuffer};

use super::RecordsError;
use super::source::FileHeader;

/// The number of chunks that may wait for an earlier one. A thread with a later chunk waits.
const MAX_WAITING: u64 = 4;
/// The number of rejected rows that stderr shows if there is no file for them.
pub(super) const MAX_TOLD: u64 = 5;

/// Puts chunks back into their order.
pub(super) struct ChunkOrder<'o> {
    plan: &'o FilePlan,
    bar: &'o ProgressBar,
    name: String,
    state: Mutex<OrderState>,
    changed: Condvar,
}

struct OrderState {
    next: u64,
    waiting: BTreeMap<u64, (ChunkResult, usize)>,
    spare: Vec<ChunkResult>,
    files: Option<OutputFiles>,
    /// The number of lines before the next chunk.
    lines: u64,
    totals: RowTotals,
    is_stopped: bool,
}

struct OutputFiles {
    output: OutputFile,
    rejects: Option<OutputFile>,
    lines: SecretBuffer,
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowTotals {
    pub(super) rows: u64,
    pub(super) rejected: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    /// True if stderr shows rejected rows.
    pub(super) is_told: bool,
}

impl RowTotals {
    /// Reports on stderr that a file which is not empty has no rows: its rows may be somewhere else.
    pub(super) fn warn_of_no_rows(self, name: &str) {
        if self.rows == 0 && self.bytes_in > 0 {
            eprintln!("oarlock: {name}: nothing was changed: the file has no rows");
        }
    }

    /// Fails if rows were rejected.
    pub(super) fn verdict(self) -> Result<(), RecordsError> {
        let Self { rejected, rows, is_told, .. } = self;
        let hint = if is_told { "; --rejects FILE keeps all lines and reasons" } else { "" };
        if rejected == 0 { Ok(()) } else { Err(RecordsError::Rejected { rejected, rows, hint }) }
    }
}

impl<'o> ChunkOrder<'o> {
    /// Begins the files.
    pub(super) fn new(
        plan: &'o FilePlan,
        output: OutputFile,
        rejects: Option<OutputFile>,
        header: FileHeader,
        bar: &'o ProgressBar,
    ) -> Result<Self, RecordsError> {
        let mut files = OutputFiles { output, rejects, lines: SecretBuffer::default() };
        files.output.write(plan.head())?;
        if let Some(rejects) = &mut files.rejects {
            rejects.write(&plan.rejects_head())?;
        }
        let bytes_out = plan.head().len() as u64;
        let state = OrderState {
            next: 0,
            waiting: BTreeMap::new(),
            spare: Vec::new(),
            lines: header.lines,
            totals: RowTotals { bytes_out, is_told: files.rejects.is_none(), ..RowTotals::default() },
            files: Some(files),
            is_stopped: false,
        };
        Ok(Self { plan, bar, name: header.name, state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Memory for the next chunk.
    pub(super) fn spare(&self) -> ChunkResult {
        self.state().spare.pop().unwrap_or_default()
    }

    /// Takes a computed chunk, and writes all chunks that are in order. Waits if too many chunks wait already; the
    /// chunk that they wait for never waits.
    pub(super) fn take(&self, number: u64, done: ChunkResult, len_bytes: usize) -> Result<(), RecordsError> {
        let mut state = self.state();
        while !state.is_stopped && number > state.next + MAX_WAITING {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_stopped {
            return Err(RecordsError::Stopped);
        }
        state.waiting.insert(number, (done, len_bytes));
        let state = &mut *state;
        while let Some((done, len_bytes)) = state.waiting.remove(&state.next) {
            // Written under the lock, because chunks must reach the file one after the other.
            self.write(state, &done, len_bytes)?;
            state.spare.push(done);
            state.next += 1;
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Stops all threads that wait.
    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }

    /// Ends the files: all bytes first, then the names.
    pub(super) fn finish(&self) -> Result<RowTotals, RecordsError> {
        let mut state = self.state();
        let Some(mut files) = state.files.take().filter(|_| !state.is_stopped) else {
            return Err(RecordsError::Stopped);
        };
        files.output.sync()?;
        if let Some(mut rejects) = files.rejects {
            rejects.sync()?;
            rejects.name()?;
        }
        // Last, so that a program that waits for the output finds the rejected rows too.
        files.output.name()?;
        Ok(state.totals)
    }

    fn write(
        &self,
        state: &mut OrderState,
        done: &ChunkResult,
        len_bytes: usize,
    ) -> Result<(), RecordsError> {
        // Line numbers in messages begin with 1.
        let first_line = state.lines + 1;
        if let (Some(last), Some(fault)) = (done.rejects.last(), done.file_fault) {
            let (name, line, reason) = (self.name.clone(), first_line + last.line, self.plan.reason(last));
            return Err(match fault {
                RowFileFault::Truncated => RecordsError::Truncated { name, line, reason },
                _ => RecordsError::Line { name, line, reason },
            });
        }
        let Some(files) = &mut state.files else { return Err(RecordsError::Stopped) };
        files.output.write(&done.output)?;
        for reject in &done.rejects {
            match &mut files.rejects {
                Some(_) => self.plan.push_reject(first_line, reject, &mut files.lines),
                None if state.totals.rejected < MAX_TOLD => {
                    eprintln!("oarlock: line {}: {}", first_line + reject.line, self.plan.reason(reject));
                }
                None => {}
            }
            state.totals.rejected += 1;
        }
        if let Some(rejects) = &mut files.rejects {
            rejects.write(&files.lines)?;
            files.lines.clear();
        }
        state.lines += done.lines;
        state.totals.rows += done.rows;
        state.totals.bytes_in += len_bytes as u64;
        state.totals.bytes_out += done.output.len() as u64;
        self.bar.inc(len_bytes as u64);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, OrderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
