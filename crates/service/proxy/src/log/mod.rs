//! The log of connections: one line for each, at its end.
//!
//! | module | content |
//! |---|---|
//! | `log` | the interface: apply settings, write, close |
//! | `log/line` | the forms of a line |
//! | `log/queue` | lines that wait for the disk, bounded in bytes |
//! | `log/writer` | the thread that writes them |
//! | `log/sink` | the file, or stderr |
//!
//! A connection formats its line and leaves it in the queue: it never waits for a disk.

mod line;
mod queue;
mod sink;
mod writer;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use oarlock_service_kit::Current;
use tracing::error;

use self::queue::LineQueue;
pub(crate) use self::sink::LogSink;
use self::writer::LineWriter;
use crate::config::{LineFormat, LogSettings, LoggedConnections};
use crate::record::ConnectionRecord;

/// The maximum wait for a disk that accepts nothing when the proxy stops.
const MAX_CLOSE: Duration = Duration::from_secs(5);

/// The log of connections. It outlives the settings: lines that wait go to the file of the new ones.
#[derive(Debug)]
pub(crate) struct ConnectionLog {
    rules: Current<LineRules>,
    queue: Arc<LineQueue>,
    /// The thread, from the first settings on that need it.
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// The connections that get a line, and its form.
#[derive(Clone, Copy, Debug)]
struct LineRules {
    connections: LoggedConnections,
    format: LineFormat,
}

impl Default for ConnectionLog {
    /// A log without lines.
    fn default() -> Self {
        let rules = LineRules { connections: LoggedConnections::None, format: LineFormat::Text };
        Self { rules: Current::new(rules), queue: Arc::default(), writer: Mutex::default() }
    }
}

impl ConnectionLog {
    /// Writes by these settings from now on. `sink` is what they name, opened again.
    ///
    /// # Errors
    /// The thread for the file cannot be started.
    pub(crate) fn apply(&self, settings: &LogSettings, sink: Option<LogSink>) -> io::Result<()> {
        let LogSettings { connections, format, max_queue_bytes, .. } = *settings;
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sink) = sink {
            match &*writer {
                Some(_) => self.queue.replace_sink(sink),
                None => {
                    let new = LineWriter::new(Arc::clone(&self.queue), sink);
                    let thread = std::thread::Builder::new().name("proxy-log".to_owned());
                    *writer = Some(thread.spawn(move || new.run())?);
                }
            }
        }
        self.queue.set_max_bytes(max_queue_bytes);
        self.rules.replace(LineRules { connections, format });
        Ok(())
    }

    /// Puts the line of a connection that has ended into the queue.
    pub(crate) fn write(&self, record: &ConnectionRecord) {
        let LineRules { connections, format } = *self.rules.get();
        let is_logged = match connections {
            LoggedConnections::None => false,
            LoggedConnections::Failed => record.has_failed(),
            LoggedConnections::All => true,
        };
        if is_logged {
            self.queue.push(&line::format(record, format));
        }
    }

    /// Returns the numbers of lines that were written, and that were lost.
    pub(crate) fn lines(&self) -> (u64, u64) {
        (self.queue.written(), self.queue.lost())
    }

    /// Writes the lines that wait, and ends. It waits for the disk a few seconds at most.
    pub(crate) fn close(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(writer) = writer else { return };
        if self.queue.close(MAX_CLOSE) {
            drop(writer.join());
        } else {
            // The thread is blocked in the kernel, and ends with the process.
            error!("the log of connections accepts nothing: its last lines are lost");
        }
    }
}

#[cfg(test)]
mod tests;
