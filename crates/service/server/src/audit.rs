//! The audit log: each entry names a client, a key, an operation, its count and its verdict. No entry contains key
//! material or data.
//!
//! | module | content |
//! |---|---|
//! | `audit` | the interface for the server: reserve, write, reopen, close |
//! | `audit/entry` | the format of a line |
//! | `audit/queue` | lines that wait for the disk, bounded in bytes, and reservations among them |
//! | `audit/reservation` | the space that is reserved for requests, and the share of each client |
//! | `audit/refusals` | the limit of lines about refusals of one client |
//! | `audit/writer` | the thread that links the lines and writes them |
//! | `audit/linked` | lines with the hash of the line before each |
//! | `audit/log_file` | the file, and what a failed write left at its end |
//! | `audit/syslog` | the second sink: syslog or journald |
//!
//! With `on_failure = "stop"` a result leaves only after the queue has accepted its entry. The space for the entry is
//! reserved before the work begins, so a full queue refuses work and never an entry.

#[cfg(test)]
mod chain_tests;
mod entry;
mod linked;
mod log_file;
mod queue;
mod refusals;
mod reservation;
mod syslog;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) use self::entry::{AuditOrigin, AuditedOperation, EventKind};
use self::log_file::LogFile;
use self::queue::{AuditQueue, QueueLimits};
pub(crate) use self::reservation::{Reservation, ReservedBytes};
use self::syslog::SyslogSink;
use self::writer::AuditWriter;
use crate::config;

/// The audit log, or no log. A thread of its own writes the file, so that no request waits for a disk.
#[derive(Debug, Clone)]
pub(crate) struct AuditLog(Option<Arc<OpenAuditLog>>);

#[derive(Debug)]
struct OpenAuditLog {
    path: PathBuf,
    queue: Arc<AuditQueue>,
    syslog: Option<Arc<SyslogSink>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// A file that was opened again for entries; `None` if there is no log.
#[derive(Debug)]
pub(crate) struct NewLogFile(Option<LogFile>);

/// The maximum wait for a disk that accepts nothing when the server stops.
const MAX_CLOSE: Duration = Duration::from_secs(5);

/// An error of the audit log that accepts no entry. The work must not be done, or its result must not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AuditError {
    /// The disk is slower than the entries arrive.
    #[error("the audit log is behind: its queue is full until the disk has taken entries: try again")]
    Full,
    /// One request needs more space than a client may reserve.
    #[error(
        "the audit entries of this request need {needed} bytes, one client may reserve {max}: name fewer keys and \
         operations in one request"
    )]
    TooLarge {
        /// The bytes that the entries may have.
        needed: usize,
        /// The bytes that a client may reserve.
        max: usize,
    },
    /// The unanswered requests of one client need more space than a client may reserve.
    #[error(
        "the audit entries of this client's unanswered requests need more than the {max} bytes that one client may \
         reserve: wait for an answer and try again"
    )]
    TooMany {
        /// The bytes that a client may reserve.
        max: usize,
    },
    /// The server has stopped.
    #[error("the audit log is closed: the server is stopping")]
    Closed,
}

impl AuditLog {
    /// Opens the log of a configuration, if it has one.
    pub(crate) fn open(config: Option<&config::AuditConfig>) -> io::Result<Self> {
        let Some(config) = config else { return Ok(Self(None)) };
        Self::start(config, LogFile::open(&config.file)?)
    }

    fn start(config: &config::AuditConfig, file: LogFile) -> io::Result<Self> {
        let queue = Arc::new(AuditQueue::new(config.on_failure, QueueLimits::new(config.max_queue_bytes)));
        let syslog = config.syslog.as_deref().map(SyslogSink::start).transpose()?;
        let start = file.chain_start(&config.file);
        if start.is_broken {
            let detail = "the file does not end with the entry that the server wrote last: entries were removed or changed";
            tracing::error!(file = %config.file.display(), "{detail}");
            queue.put_event(&entry::event(EventKind::Chain, detail));
        }
        let writer = AuditWriter::new(config.file.clone(), Arc::clone(&queue), syslog.clone(), start);
        let writer = std::thread::Builder::new().name("audit".into()).spawn(move || writer.run(file))?;
        let log = OpenAuditLog { path: config.file.clone(), queue, syslog, writer: Mutex::new(Some(writer)) };
        Ok(Self(Some(Arc::new(log))))
    }

    /// Returns true if there is a log.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Returns true if no work may be done now, because its entry could not be written.
    pub(crate) fn forbids_work(&self) -> bool {
        self.0.as_ref().is_some_and(|log| log.queue.forbids_work())
    }

    /// Returns true if requests are refused until the disk takes entries again, although it has not failed.
    pub(crate) fn is_behind(&self) -> bool {
        self.0.as_ref().is_some_and(|log| log.queue.is_behind())
    }

    /// Returns the number of entries that were lost because they could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.0.as_ref().map_or(0, |log| log.queue.lost())
    }

    /// Returns the number of entries that syslog did not get.
    pub(crate) fn syslog_lost(&self) -> u64 {
        self.0.as_ref().and_then(|log| log.syslog.as_ref()).map_or(0, |syslog| syslog.lost())
    }

    /// Returns the bytes of entries that wait for the disk, including reserved space.
    pub(crate) fn queue_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |log| log.queue.used())
    }

    /// Reserves space for a client's entries, before their work begins. `account` counts the bytes that all requests of
    /// the client reserve. A client may reserve a share of the queue only, so that other clients find space there.
    ///
    /// # Errors
    /// The log must be kept and has no space, or the client has reserved its share.
    pub(crate) fn reserve(
        &self,
        account: &Arc<ReservedBytes>,
        max_bytes: usize,
    ) -> Result<Reservation, AuditError> {
        let Some(log) = &self.0 else { return Ok(Reservation::default()) };
        Reservation::take(&log.queue, account, max_bytes)
    }

    /// Writes entries about operations that were refused before any work. Repeats by one client become one entry with a
    /// count.
    pub(crate) fn refuse(&self, origin: &AuditOrigin, request: u64, refused: &[AuditedOperation<'_>]) {
        let Some(log) = &self.0 else { return };
        for operation in refused {
            log.queue.refuse(origin, request, operation);
        }
    }

    /// Writes an entry about a connection that ended without a known client. Repeats from one address become one entry
    /// with a count.
    pub(crate) fn failed_handshake(&self, source: Option<IpAddr>, reason: &dyn fmt::Display) {
        let Some(log) = &self.0 else { return };
        log.queue.failed_handshake(source, &reason.to_string());
    }

    /// Writes an entry about an action of the server itself or of its operator. Such an entry is always accepted,
    /// because clients cannot cause it.
    pub(crate) fn event(&self, kind: EventKind, detail: &dyn fmt::Display) {
        let Some(log) = &self.0 else { return };
        log.queue.put_event(&entry::event(kind, &detail.to_string()));
    }

    /// Writes an entry about a resident key that has changed.
    pub(crate) fn key_event(&self, name: &str, change: &str) {
        let Some(log) = &self.0 else { return };
        log.queue.put_event(&entry::key_event(name, change));
    }

    /// Opens the file of the same name again, after the former file was renamed. The former stays in use until
    /// [`AuditLog::replace`].
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn open_again(&self) -> io::Result<NewLogFile> {
        let opened = self.0.as_ref().map(|log| LogFile::open(&log.path));
        opened.transpose().map(NewLogFile)
    }

    /// Writes to a file that was opened again from now on, including the entries that wait. No entry is lost or cut.
    pub(crate) fn replace(&self, new: NewLogFile) {
        if let (Some(log), NewLogFile(Some(file))) = (&self.0, new) {
            log.queue.replace_file(file);
        }
    }

    /// Writes the entries that wait, and ends. Waits for the disk a few seconds at most.
    pub(crate) fn close(&self) {
        let Some(log) = &self.0 else { return };
        let is_written = log.queue.close(MAX_CLOSE);
        let writer = log.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        match writer {
            Some(writer) if is_written => drop(writer.join()),
            // The thread is blocked in the kernel by a disk or a reader, and ends with the process.
            Some(_) => {
                let bytes = log.queue.used();
                tracing::error!(file = %log.path.display(), bytes, "the disk of the audit log accepts nothing: entries are lost");
            }
            None => {}
        }
        if let Some(syslog) = &log.syslog {
            syslog.close();
        }
    }
}

/// Returns an upper bound for the bytes of the entries of operations of one kind under one key: one entry for each
/// verdict.
pub(crate) fn max_entry_bytes(origin: &AuditOrigin, key: &str, operation: &str, operations: usize) -> usize {
    let verdicts = operations.min(crate::metrics::CODES.len());
    verdicts.saturating_mul(entry::max_line_bytes(origin, key, operation))
}
