//! The lines that wait for the disk: bounded in bytes, with space that is reserved before work begins.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::AuditError;
use super::entry::{self, AuditOrigin, AuditedOperation};
use super::log_file::LogFile;
use super::refusals::{RefusalEntry, Refusals};
use crate::config::AuditFailure;

/// The maximum bytes of lines that are written at once.
pub(super) const MAX_PIECE: usize = 1 << 20;

/// The time that a writer waits after a failure before it tries again.
pub(super) const RETRY: Duration = Duration::from_millis(500);

/// The limits of the queue in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueLimits {
    /// The maximum for entries of work and for reserved space. The rest is for repeated refusals.
    max_of_work: usize,
    /// The maximum that one client may reserve.
    pub(super) max_of_client: usize,
    /// The length of the queue above which refusals are only counted. The rest is kept for entries of work that was
    /// done.
    max_with_refusals: usize,
    /// The maximum for names of refused clients. The same amount is kept for the lines that will name them.
    max_of_names: usize,
}

/// The bytes that a client may reserve in a queue of any size: entries of some hundred operations.
const MIN_OF_CLIENT: usize = 1 << 15;

impl QueueLimits {
    pub(super) fn new(max: usize) -> Self {
        // Refusals cost clients nothing. So they get a quarter of the queue, and a sixteenth holds the names that
        // repeat.
        let (max_of_names, max_with_refusals) = (max / 16, max / 4);
        let max_of_work = max - 2 * max_of_names;
        Self { max_of_work, max_of_client: (max / 8).max(MIN_OF_CLIENT), max_with_refusals, max_of_names }
    }
}

/// The queue between the requests and the writer.
#[derive(Debug)]
pub(super) struct AuditQueue {
    on_failure: AuditFailure,
    limits: QueueLimits,
    state: Mutex<AuditQueueState>,
    /// Signalled when the writer has something to do. A signal is a system call, so entries signal an idle writer only.
    changed: Condvar,
    /// Signalled when the writer has ended.
    ended: Condvar,
    is_failing: AtomicBool,
    /// True if work has been refused for lack of space since the disk last accepted a line.
    is_behind: AtomicBool,
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct AuditQueueState {
    pieces: VecDeque<AuditPiece>,
    /// The bytes that are reserved, that wait, or that are being written.
    used: usize,
    /// The reserved bytes among these.
    reserved: usize,
    refusals: Refusals,
    new_file: Option<LogFile>,
    /// The number of lost entries that no entry has reported yet.
    lost: u64,
    /// The time before which lost entries are not reported, after a failure of the writer.
    retry_at: Option<Instant>,
    is_closed: bool,
    has_reported_last: bool,
    has_ended: bool,
    /// True while the writer waits for something to do. Only then a signal is worth a system call.
    is_writer_idle: bool,
}

/// Complete lines that are written together.
#[derive(Debug, Default)]
pub(super) struct AuditPiece {
    pub(super) bytes: Vec<u8>,
    /// The number of lost entries that the lines report.
    pub(super) reported_lost: u64,
}

/// The next step of the writer thread.
#[derive(Debug)]
pub(super) enum WriterStep {
    Write(AuditPiece),
    Replace(LogFile),
    End,
}

impl AuditQueue {
    pub(super) fn new(on_failure: AuditFailure, limits: QueueLimits) -> Self {
        Self {
            on_failure,
            limits,
            state: Mutex::new(AuditQueueState {
                refusals: Refusals::new(limits.max_of_names),
                ..AuditQueueState::default()
            }),
            changed: Condvar::new(),
            ended: Condvar::new(),
            is_failing: AtomicBool::new(false),
            is_behind: AtomicBool::new(false),
            lost: AtomicU64::new(0),
        }
    }

    fn state(&self) -> MutexGuard<'_, AuditQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn limits(&self) -> &QueueLimits {
        &self.limits
    }

    pub(super) fn must_keep(&self) -> bool {
        self.on_failure == AuditFailure::Stop
    }

    pub(super) fn forbids_work(&self) -> bool {
        self.must_keep() && self.is_failing.load(Ordering::Relaxed)
    }

    /// Returns true if work is refused until the disk accepts the lines that wait.
    pub(super) fn is_behind(&self) -> bool {
        // Relaxed is enough: the flag decides only what is reported, and the queue itself is under the mutex.
        let is_refused = self.must_keep() && self.is_behind.load(Ordering::Relaxed);
        // A queue full of reservations alone is not the disk's fault.
        is_refused && self.state().waiting() > 0
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(super) fn used(&self) -> usize {
        self.state().used
    }

    /// Reserves space.
    pub(super) fn reserve(&self, bytes: usize) -> Result<(), AuditError> {
        let mut state = self.state();
        let refusal = if state.is_closed {
            AuditError::Closed
        } else if bytes > self.limits.max_of_work.saturating_sub(state.used) {
            AuditError::Full
        } else {
            state.used += bytes;
            state.reserved += bytes;
            return Ok(());
        };
        let is_behind = refusal == AuditError::Full && state.waiting() > 0 && self.must_keep();
        drop(state);
        // The swap makes the message appear once per stall, not once per refused request.
        if is_behind && !self.is_behind.swap(true, Ordering::Relaxed) {
            tracing::error!(
                "the queue of the audit log is full: requests are refused until the disk has taken entries"
            );
        }
        Err(refusal)
    }

    pub(super) fn give_back(&self, reserved: usize) {
        let mut state = self.state();
        state.used -= reserved;
        state.reserved -= reserved;
    }

    /// Accepts lines in the space that was reserved for them.
    pub(super) fn put(&self, lines: &[u8], entries: usize, reserved: usize) -> Result<(), AuditError> {
        let mut state = self.state();
        // Given back and used under one lock, so that nobody takes the space in between.
        state.used -= reserved;
        state.reserved -= reserved;
        // A reservation is honoured even if the lines are longer than their bound.
        let has_space = reserved > 0 || state.used + lines.len() <= self.limits.max_of_work;
        if !state.is_closed && has_space {
            state.push(lines);
            self.wake(state);
        } else if self.must_keep() {
            return Err(if state.is_closed { AuditError::Closed } else { AuditError::Full });
        } else {
            self.lose(&mut state, entries as u64);
        }
        Ok(())
    }

    /// Accepts a line that clients cannot cause.
    pub(super) fn put_event(&self, line: &str) {
        let mut state = self.state();
        if state.is_closed {
            return self.lose(&mut state, 1);
        }
        state.push(line.as_bytes());
        self.wake(state);
    }

    /// Accepts an entry about a refusal, or adds it to the count that is written later.
    pub(super) fn refuse(&self, origin: &AuditOrigin, request: u64, operation: &AuditedOperation<'_>) {
        let mut line = Vec::new();
        entry::write_operation(&mut line, origin, request, operation);
        let refused = || RefusalEntry::Operation {
            key: operation.key.chars().take(entry::MAX_NAME).collect(),
            operation: operation.operation.to_owned(),
            verdict: operation.verdict,
        };
        self.put_refusal(origin.client(), &line, refused, operation.count);
    }

    /// Accepts an entry about a connection that never had a known client, or counts it.
    pub(super) fn failed_handshake(&self, source: Option<IpAddr>, reason: &str) {
        let source = entry::source_of(source);
        let line = entry::failed_handshakes(&source, reason, 1);
        let refused = || RefusalEntry::Handshake { reason: reason.chars().take(entry::MAX_DETAIL).collect() };
        self.put_refusal(&source, line.as_bytes(), refused, 1);
    }

    fn put_refusal(&self, name: &str, line: &[u8], refused: impl FnOnce() -> RefusalEntry, count: u32) {
        let (now, mut state) = (Instant::now(), self.state());
        if state.is_closed {
            return self.lose(&mut state, 1);
        }
        let has_space = state.used + line.len() <= self.limits.max_with_refusals;
        if has_space && state.refusals.admit(name, now) {
            state.push(line);
        } else {
            state.refusals.add(name, refused(), count, now);
        }
        self.wake(state);
    }

    /// Makes the writer continue with another file.
    pub(super) fn replace_file(&self, file: LogFile) {
        self.state().new_file = Some(file);
        // Always signalled: a writer that waits for a failed disk is not idle, and must take the file at once.
        self.changed.notify_one();
    }

    /// Wakes the writer if it waits. The lock is released first, so that the writer does not wait for it again.
    fn wake(&self, mut state: MutexGuard<'_, AuditQueueState>) {
        let is_idle = std::mem::take(&mut state.is_writer_idle);
        drop(state);
        if is_idle {
            self.changed.notify_one();
        }
    }

    /// Closes the queue, and waits until the writer has ended. Returns false if it has not ended in time.
    pub(super) fn close(&self, max_wait: Duration) -> bool {
        let mut state = self.state();
        state.is_closed = true;
        self.changed.notify_one();
        let waited = self.ended.wait_timeout_while(state, max_wait, |state| !state.has_ended);
        let (state, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        if timed_out.timed_out() {
            // The piece in the hands of the writer is not counted: the writer may still finish it.
            let waiting: u64 = state.pieces.iter().map(|piece| count_lines(&piece.bytes)).sum();
            self.lost.fetch_add(waiting, Ordering::Relaxed);
        }
        !timed_out.timed_out()
    }

    fn lose(&self, state: &mut AuditQueueState, entries: u64) {
        self.lost.fetch_add(entries, Ordering::Relaxed);
        state.lost += entries;
        self.changed.notify_one();
    }
}

/// The methods of the writer.
impl AuditQueue {
    /// Waits for the next step and returns it.
    pub(super) fn next(&self) -> WriterStep {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            // A new file comes first: the lines that wait must go to it, as a rotation expects.
            if let Some(file) = state.new_file.take() {
                return WriterStep::Replace(file);
            }
            let is_due = state.refusals.flush_at().is_some_and(|at| at <= now);
            // A slow disk first gets the lines that wait. Otherwise the lines about refusals would pile up.
            if state.is_closed || is_due && state.waiting() <= self.limits.max_with_refusals {
                state.refusals.flush().iter().for_each(|line| state.push(line.as_bytes()));
            }
            if let Some(piece) = state.report_lost(now).or_else(|| state.pieces.pop_front()) {
                return WriterStep::Write(piece);
            }
            if state.is_closed {
                return WriterStep::End;
            }
            let until = [state.refusals.flush_at(), state.retry_at.filter(|_| state.lost > 0)];
            let patience = until.into_iter().flatten().min().map(|at| at.saturating_duration_since(now));
            state.is_writer_idle = true;
            state = match patience {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(patience) => {
                    self.changed.wait_timeout(state, patience).unwrap_or_else(PoisonError::into_inner).0
                }
            };
            // After a timeout nobody has taken the flag back.
            state.is_writer_idle = false;
        }
    }

    /// Notes that a piece is in the file. Returns true if the disk had failed before.
    pub(super) fn written(&self, piece: &AuditPiece) -> bool {
        let mut state = self.state();
        state.used -= piece.bytes.len();
        state.retry_at = None;
        self.is_behind.store(false, Ordering::Relaxed);
        self.is_failing.swap(false, Ordering::Relaxed)
    }

    /// Notes that the rest of a piece will never be in the file. Returns the number of lost entries.
    pub(super) fn given_up(&self, piece: &AuditPiece, rest: &[u8]) -> u64 {
        let mut state = self.state();
        state.used -= piece.bytes.len();
        // The line that reports lost entries is not an entry of a client.
        let lost = count_lines(rest).saturating_sub(u64::from(piece.reported_lost > 0));
        self.lost.fetch_add(lost, Ordering::Relaxed);
        state.lost += lost + piece.reported_lost;
        state.retry_at = Some(Instant::now() + RETRY);
        lost
    }

    /// Notes that the disk fails. Returns true if it did not fail before.
    pub(super) fn fail(&self) -> bool {
        !self.is_failing.swap(true, Ordering::Relaxed)
    }

    /// Returns true if lines that cannot be written are lost and work continues without the log.
    pub(super) fn may_lose(&self) -> bool {
        !self.must_keep()
    }

    /// Waits before the disk is tried again. Returns true if the queue was closed.
    pub(super) fn wait_for_retry(&self) -> bool {
        let unchanged = |state: &mut AuditQueueState| !state.is_closed && state.new_file.is_none();
        let waited = self.changed.wait_timeout_while(self.state(), RETRY, unchanged);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }

    pub(super) fn take_new_file(&self) -> Option<LogFile> {
        self.state().new_file.take()
    }

    /// Accepts a line of the writer itself, even if the queue is closed.
    pub(super) fn put_own(&self, line: &str) {
        self.state().push(line.as_bytes());
    }

    pub(super) fn end(&self) {
        self.state().has_ended = true;
        self.ended.notify_all();
    }
}

impl AuditQueueState {
    /// Returns the bytes that wait for the disk or are being written.
    fn waiting(&self) -> usize {
        self.used - self.reserved
    }

    /// Appends complete lines, in pieces.
    fn push(&mut self, lines: &[u8]) {
        // Counted before the write and given back after it, so a slow disk shows in `used`.
        self.used += lines.len();
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            match self.pieces.back_mut() {
                // Short lines share a piece, so that one write serves many requests.
                Some(last) if last.bytes.len() + line.len() <= MAX_PIECE => {
                    last.bytes.extend_from_slice(line);
                }
                _ => self.pieces.push_back(AuditPiece { bytes: line.to_vec(), reported_lost: 0 }),
            }
        }
    }

    /// Returns an entry that reports lost entries, if there are any and the disk may be tried now.
    fn report_lost(&mut self, now: Instant) -> Option<AuditPiece> {
        let is_early = self.retry_at.is_some_and(|at| now < at);
        // While the disk fails the report would delay other lines. At the end it is written once, after all other
        // lines.
        let must_wait =
            if self.is_closed { self.has_reported_last || !self.pieces.is_empty() } else { is_early };
        if self.lost == 0 || must_wait {
            return None;
        }
        self.has_reported_last = self.is_closed;
        let reported_lost = std::mem::take(&mut self.lost);
        let bytes = entry::lost(reported_lost).into_bytes();
        self.used += bytes.len();
        Some(AuditPiece { bytes, reported_lost })
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}
