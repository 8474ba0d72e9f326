//! Lines that wait for the disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock_network::LogLimit;
use tracing::warn;

use super::sink::LogSink;

/// The time for which the writer gathers lines. Waking it costs more than a line, so it is woken a few times a second.
const GATHER: Duration = Duration::from_millis(50);

/// The bytes of lines that the writer takes before that time has passed.
const GATHERED_BYTES: usize = 64 << 10;

/// Limits the log lines about lost lines.
static LOSSES: LogLimit = LogLimit::new(Duration::from_secs(10));

/// The queue between the connections and the writer.
#[derive(Debug, Default)]
pub(super) struct LineQueue {
    state: Mutex<LineQueueState>,
    /// Signalled when the writer has something to do.
    changed: Condvar,
    /// Signalled when the writer has ended.
    ended: Condvar,
    written: AtomicU64,
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct LineQueueState {
    /// Complete lines.
    lines: Vec<u8>,
    max_bytes: usize,
    /// The bytes that the writer has taken and not written yet.
    writing: usize,
    new_sink: Option<LogSink>,
    is_closed: bool,
    /// The end of the tries to write the rest, once the queue is closed.
    last_try: Option<Instant>,
    has_ended: bool,
}

/// The next step of the writer.
#[derive(Debug)]
pub(super) enum LineStep {
    Write(Vec<u8>),
    Replace(LogSink),
    End,
}

impl LineQueue {
    fn state(&self) -> MutexGuard<'_, LineQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_max_bytes(&self, max_bytes: usize) {
        self.state().max_bytes = max_bytes;
    }

    /// Accepts a line. If the disk is too far behind, the line is lost.
    pub(super) fn push(&self, line: &[u8]) {
        let mut state = self.state();
        let before = state.lines.len();
        if state.is_closed || before + state.writing + line.len() > state.max_bytes {
            drop(state);
            return self.lose(1);
        }
        state.lines.extend_from_slice(line);
        let after = state.lines.len();
        drop(state);
        // A signal is a system call, so only two lines of many give one: the first, and the one that is enough.
        if before == 0 || (before < GATHERED_BYTES && after >= GATHERED_BYTES) {
            self.changed.notify_one();
        }
    }

    fn lose(&self, lines: u64) {
        let lost = self.lost.fetch_add(lines, Ordering::Relaxed) + lines;
        if let Some(suppressed) = LOSSES.admit() {
            warn!(lost, suppressed, "lines of the log of connections are lost: its disk is too slow or full");
        }
    }

    /// Makes the writer continue with another sink, also with the lines that wait: a rotation expects them there.
    pub(super) fn replace_sink(&self, sink: LogSink) {
        self.state().new_sink = Some(sink);
        self.changed.notify_one();
    }

    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Closes the queue, and waits until the writer has ended. Returns false if it has not ended in time.
    pub(super) fn close(&self, max_wait: Duration) -> bool {
        let mut state = self.state();
        state.is_closed = true;
        state.last_try = Some(Instant::now() + max_wait / 2);
        self.changed.notify_one();
        let waited = self.ended.wait_timeout_while(state, max_wait, |state| !state.has_ended);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// The methods of the writer.
impl LineQueue {
    /// Waits for the next step and returns it.
    pub(super) fn next(&self) -> LineStep {
        let is_idle = |state: &mut LineQueueState| state.lines.is_empty() && !state.is_urgent();
        let state = self.changed.wait_while(self.state(), is_idle).unwrap_or_else(PoisonError::into_inner);
        let is_gathering =
            |state: &mut LineQueueState| state.lines.len() < GATHERED_BYTES && !state.is_urgent();
        let gathered = self.changed.wait_timeout_while(state, GATHER, is_gathering);
        let mut state = gathered.unwrap_or_else(PoisonError::into_inner).0;
        if let Some(sink) = state.new_sink.take() {
            return LineStep::Replace(sink);
        }
        if state.lines.is_empty() {
            return LineStep::End;
        }
        let lines = std::mem::take(&mut state.lines);
        state.writing = lines.len();
        LineStep::Write(lines)
    }

    /// Notes that lines which were taken are in the file, or lost.
    pub(super) fn finish(&self, written: &[u8], lost: &[u8]) {
        self.state().writing = 0;
        self.written.fetch_add(count_lines(written), Ordering::Relaxed);
        if !lost.is_empty() {
            self.lose(count_lines(lost));
        }
    }

    /// Waits before the disk is tried again. Returns a new sink if there is one, and true if it was the last try.
    pub(super) fn wait_for_retry(&self, pause: Duration) -> (Option<LogSink>, bool) {
        let state = self.state();
        let was_closed = state.is_closed;
        let is_unchanged =
            |state: &mut LineQueueState| state.new_sink.is_none() && state.is_closed == was_closed;
        let waited = self.changed.wait_timeout_while(state, pause, is_unchanged);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        (state.new_sink.take(), state.last_try.is_some_and(|last| last <= Instant::now()))
    }

    pub(super) fn end(&self) {
        self.state().has_ended = true;
        self.ended.notify_all();
    }
}

impl LineQueueState {
    fn is_urgent(&self) -> bool {
        self.is_closed || self.new_sink.is_some()
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}
