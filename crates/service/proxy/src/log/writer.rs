//! The thread that writes lines.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use tracing::{error, info};

use super::queue::{LineQueue, LineStep};
use super::sink::LogSink;

/// The time after which a disk that has failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The time after which a pipe that was full is tried again.
const RETRY_PIPE: Duration = Duration::from_millis(20);

/// The writer thread.
#[derive(Debug)]
pub(super) struct LineWriter {
    queue: Arc<LineQueue>,
    sink: LogSink,
    /// True if the next line begins a line of the file.
    is_at_line_start: bool,
    /// True while the disk fails.
    is_failing: bool,
}

impl LineWriter {
    pub(super) fn new(queue: Arc<LineQueue>, sink: LogSink) -> Self {
        Self { queue, sink, is_at_line_start: false, is_failing: false }
    }

    /// Writes lines until the queue is closed and empty.
    pub(super) fn run(mut self) {
        loop {
            match self.queue.next() {
                LineStep::Write(lines) => self.write(&lines),
                LineStep::Replace(sink) => self.replace(sink),
                LineStep::End => break,
            }
        }
        self.queue.end();
    }

    /// Writes lines, and waits while the disk fails. Lines are lost only if the queue is full, or when the proxy stops.
    fn write(&mut self, lines: &[u8]) {
        let mut written = 0;
        while written < lines.len() {
            match self.write_some(&lines[written..]) {
                Ok(more) => {
                    written += more;
                    self.recover();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let pause = self.fail(&error);
                    let (sink, is_over) = self.queue.wait_for_retry(pause);
                    if let Some(sink) = sink {
                        // The former file ends with half a line. The new one gets the complete line.
                        written = line_start(lines, written);
                        self.replace(sink);
                    } else if is_over {
                        written = line_start(lines, written);
                        return self.queue.finish(&lines[..written], &lines[written..]);
                    }
                }
            }
        }
        self.queue.finish(lines, &[]);
    }

    fn write_some(&mut self, lines: &[u8]) -> io::Result<usize> {
        if !self.is_at_line_start {
            self.sink.end_half_a_line()?;
            self.is_at_line_start = true;
        }
        self.sink.write(lines)
    }

    fn replace(&mut self, sink: LogSink) {
        self.sink = sink;
        (self.is_at_line_start, self.is_failing) = (false, false);
        info!(file = %self.sink.name(), "the log of connections was opened again");
    }

    /// Reports that the disk fails, once. Returns the time until it is tried again.
    fn fail(&mut self, reason: &io::Error) -> Duration {
        // Only a pipe: its reader is slow. If lines are lost by that, the queue reports it.
        if reason.kind() == ErrorKind::WouldBlock {
            return RETRY_PIPE;
        }
        if !std::mem::replace(&mut self.is_failing, true) {
            let file = self.sink.name();
            error!(%file, %reason, "the log of connections cannot be written: lines wait, and are then lost");
        }
        RETRY
    }

    fn recover(&mut self) {
        if std::mem::take(&mut self.is_failing) {
            let (file, lost) = (self.sink.name(), self.queue.lost());
            info!(%file, lost, "the log of connections is written again");
        }
    }
}

/// Returns the start of the line that a position is in.
fn line_start(lines: &[u8], position: usize) -> usize {
    lines[..position].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}
