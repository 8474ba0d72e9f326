//! The audit log: who did what with which key, how often, and how it ended. Never material.
//!
//! | module | what it holds |
//! |---|---|
//! | `audit` | what the server calls: reserve, write down, reopen, close |
//! | `audit/entry` | the format of a line |
//! | `audit/queue` | lines that wait for the disk, bounded in bytes, and reservations among them |
//! | `audit/reservation` | places in the queue that are promised to requests, and what each client has of them |
//! | `audit/refusals` | how often refusals of one client get a line of their own |
//! | `audit/writer` | the thread that writes |
//!
//! With `on_failure = "stop"` a result leaves only after the queue has accepted its entry. The place of the entry is reserved before the
//! work begins, so a full queue refuses work and never an entry.

mod entry;
mod queue;
mod refusals;
mod reservation;
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
use self::queue::{AuditQueue, QueueLimits};
pub(crate) use self::reservation::{Reservation, ReservedBytes};
use self::writer::{AuditWriter, LogFile};
use crate::config;

/// A log that a thread of its own writes, so that no request waits for a disk.
#[derive(Debug, Clone)]
pub(crate) struct AuditLog(Option<Arc<OpenAuditLog>>);

#[derive(Debug)]
struct OpenAuditLog {
    path: PathBuf,
    queue: Arc<AuditQueue>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// A file that entries will go to; none if there is no log.
#[derive(Debug)]
pub(crate) struct NewLogFile(Option<LogFile>);

/// A bound on the wait for a disk that takes nothing when the server stops.
const MAX_CLOSE: Duration = Duration::from_secs(5);

/// The reason why the audit log takes no entry. The action of the entry must not be done, or its result must not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AuditError {
    /// The disk is slower than the entries come.
    #[error("the audit log is behind: its queue is full until the disk has taken entries; try again")]
    Full,
    /// One request needs more than a client may have.
    #[error(
        "the audit entries of this request need {needed} bytes, one client may reserve {max}: name fewer keys and \
         operations in one request"
    )]
    TooLarge {
        /// Bytes that the entries may have.
        needed: usize,
        /// Bytes that a client may reserve.
        max: usize,
    },
    /// The requests of one client that are under way need more than a client may have.
    #[error(
        "the audit entries of this client's requests under way need more than the {max} bytes that one client may \
         reserve: wait for an answer and try again"
    )]
    TooMany {
        /// Bytes that a client may reserve.
        max: usize,
    },
    /// The server has stopped.
    #[error("the audit log is closed: the server is stopping")]
    Closed,
}

impl AuditLog {
    /// Opens the log, or none.
    pub(crate) fn open(config: Option<&config::AuditConfig>) -> io::Result<Self> {
        let Some(config) = config else { return Ok(Self(None)) };
        Self::start(config, LogFile::open(&config.file)?)
    }

    fn start(config: &config::AuditConfig, file: LogFile) -> io::Result<Self> {
        let queue = Arc::new(AuditQueue::new(config.on_failure, QueueLimits::of(config.max_queue_bytes)));
        let writer = AuditWriter { path: config.file.clone(), queue: Arc::clone(&queue) };
        let writer = std::thread::Builder::new().name("audit".into()).spawn(move || writer.run(file))?;
        let log = OpenAuditLog { path: config.file.clone(), queue, writer: Mutex::new(Some(writer)) };
        Ok(Self(Some(Arc::new(log))))
    }

    /// True if somebody reads what is written down.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// True if nothing may be done now because it could not be written down.
    pub(crate) fn forbids_work(&self) -> bool {
        self.0.as_ref().is_some_and(|log| log.queue.forbids_work())
    }

    /// Returns true if requests are refused until the disk takes entries again, although it has not failed.
    pub(crate) fn is_behind(&self) -> bool {
        self.0.as_ref().is_some_and(|log| log.queue.is_behind())
    }

    /// Entries that were lost because they could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.0.as_ref().map_or(0, |log| log.queue.lost())
    }

    /// Bytes of entries that wait for the disk, places that are reserved among them.
    pub(crate) fn queue_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |log| log.queue.used())
    }

    /// Takes a place for a client's entries of at most so many bytes, before the work that they are about begins. `account` is
    /// what all requests of the client reserve: it may have a share of the queue, so that others find places there.
    ///
    /// # Errors
    /// The log must be kept and has no place, or the client has its share.
    pub(crate) fn reserve(
        &self,
        account: &Arc<ReservedBytes>,
        max_bytes: usize,
    ) -> Result<Reservation, AuditError> {
        let Some(log) = &self.0 else { return Ok(Reservation::default()) };
        Reservation::take(&log.queue, account, max_bytes)
    }

    /// Writes down what was refused before anything was done. Repeats by one client become one entry with a count.
    pub(crate) fn refuse(&self, origin: &AuditOrigin, request: u64, refused: &[AuditedOperation<'_>]) {
        let Some(log) = &self.0 else { return };
        for operation in refused {
            log.queue.refuse(origin, request, operation);
        }
    }

    /// Writes down a connection that ended without a known client. Repeats from one address become one entry with a count.
    pub(crate) fn failed_handshake(&self, source: Option<IpAddr>, reason: &dyn fmt::Display) {
        let Some(log) = &self.0 else { return };
        log.queue.failed_handshake(source, &reason.to_string());
    }

    /// Writes down something that the server did by itself or that its operator made it do. These have a place always: clients
    /// cannot bring them about.
    pub(crate) fn event(&self, kind: EventKind, detail: &dyn fmt::Display) {
        let Some(log) = &self.0 else { return };
        log.queue.put_event(&entry::event(kind, &detail.to_string()));
    }

    /// Writes down that a key that lives here is another one now.
    pub(crate) fn key_event(&self, name: &str, change: &str) {
        let Some(log) = &self.0 else { return };
        log.queue.put_event(&entry::key_event(name, change));
    }

    /// Opens the file of the same name again, after the former was renamed. The former stays in use until
    /// [`AuditLog::replace`].
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(crate) fn open_again(&self) -> io::Result<NewLogFile> {
        let opened = self.0.as_ref().map(|log| LogFile::open(&log.path));
        opened.transpose().map(NewLogFile)
    }

    /// Goes on with a file that was opened again: what waits goes there. No entry is lost or cut.
    pub(crate) fn replace(&self, new: NewLogFile) {
        if let (Some(log), NewLogFile(Some(file))) = (&self.0, new) {
            log.queue.replace_file(file);
        }
    }

    /// Writes what waits, and ends. Waits for the disk a few seconds at most.
    pub(crate) fn close(&self) {
        let Some(log) = &self.0 else { return };
        let is_written = log.queue.close(MAX_CLOSE);
        let writer = log.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        match writer {
            Some(writer) if is_written => drop(writer.join()),
            // The thread waits in the kernel for a disk or a reader: it ends with the process.
            Some(_) => {
                let bytes = log.queue.used();
                tracing::error!(file = %log.path.display(), bytes, "the audit log takes nothing: entries are lost");
            }
            None => {}
        }
    }
}

/// A bound on the bytes of the entries of so many operations of one kind under one key: each has one verdict.
pub(crate) fn max_entry_bytes(origin: &AuditOrigin, key: &str, operation: &str, operations: usize) -> usize {
    let verdicts = operations.min(crate::metrics::CODES.len());
    verdicts.saturating_mul(entry::max_line_bytes(origin, key, operation))
}
