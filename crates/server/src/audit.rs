//! The audit log: who did what with which key, how often, and how it ended. Never material.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::config::{self, AuditFailure};

/// Operations of one kind within one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Entry {
    /// Milliseconds since 1970.
    pub(crate) time_ms: u64,
    pub(crate) client: String,
    /// A resident key's name; of a client's own key its fingerprint.
    pub(crate) key: String,
    pub(crate) operation: String,
    pub(crate) count: u32,
    pub(crate) verdict: &'static str,
}

/// A log that a thread of its own writes, so that no request waits for a disk.
#[derive(Debug, Clone)]
pub(crate) struct Audit(Option<Arc<Log>>);

#[derive(Debug)]
struct Log {
    /// None once it is closed.
    entries: Mutex<Option<SyncSender<Vec<Entry>>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    path: PathBuf,
    on_failure: AuditFailure,
    is_failing: AtomicBool,
    is_closing: Mutex<bool>,
    closing: Condvar,
    lost: AtomicU64,
}

/// Requests' worth of entries that may wait for the disk.
const QUEUE: usize = 1 << 14;

/// How long a writer that failed waits before it tries again.
const RETRY: Duration = Duration::from_millis(500);

impl Audit {
    /// Opens the log, or none.
    pub(crate) fn open(config: Option<&config::Audit>) -> io::Result<Self> {
        let Some(config) = config else { return Ok(Self(None)) };
        let state = Arc::new(State {
            path: config.file.clone(),
            on_failure: config.on_failure,
            is_failing: AtomicBool::new(false),
            is_closing: Mutex::new(false),
            closing: Condvar::new(),
            lost: AtomicU64::new(0),
        });
        let file = open(&config.file)?;
        let (entries, waiting) = sync_channel(QUEUE);
        let own = Arc::clone(&state);
        let writer =
            std::thread::Builder::new().name("audit".into()).spawn(move || own.write(file, &waiting))?;
        let log = Log { entries: Mutex::new(Some(entries)), writer: Mutex::new(Some(writer)), state };
        Ok(Self(Some(Arc::new(log))))
    }

    /// True where somebody reads what is put in.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// True where nothing may be done now because it could not be written down.
    pub(crate) fn forbids_work(&self) -> bool {
        self.0.as_ref().is_some_and(|log| {
            log.state.on_failure == AuditFailure::Stop && log.state.is_failing.load(Ordering::Relaxed)
        })
    }

    /// Entries that were lost because they could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.0.as_ref().map_or(0, |log| log.state.lost.load(Ordering::Relaxed))
    }

    pub(crate) fn put(&self, entries: Vec<Entry>) {
        let Some(log) = &self.0 else { return };
        if entries.is_empty() {
            return;
        }
        let sender = log.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = match sender.as_ref().map(|sender| sender.try_send(entries)) {
            Some(Ok(())) => return,
            Some(Err(TrySendError::Full(entries) | TrySendError::Disconnected(entries))) => entries.len(),
            None => 0,
        };
        log.state.fail(&"the disk is too slow", refused);
    }

    /// Writes what waits, and ends.
    pub(crate) fn close(&self) {
        let Some(log) = &self.0 else { return };
        *log.state.is_closing.lock().unwrap_or_else(PoisonError::into_inner) = true;
        log.state.closing.notify_all();
        log.entries.lock().unwrap_or_else(PoisonError::into_inner).take();
        let writer = log.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }
}

impl State {
    /// Until nobody sends any more: what waits is written together.
    fn write(&self, mut file: File, waiting: &Receiver<Vec<Entry>>) {
        let mut lines = Vec::new();
        while let Ok(first) = waiting.recv() {
            lines.clear();
            let mut count = 0;
            for entry in
                first.iter().chain(waiting.try_iter().take(QUEUE).collect::<Vec<_>>().iter().flatten())
            {
                count += 1;
                if serde_json::to_writer(&mut lines, entry).is_ok() {
                    lines.push(b'\n');
                }
            }
            self.write_lines(&mut file, &lines, count);
        }
        let _ = file.sync_data();
    }

    /// Where work stops until the log can be written, the lines wait; else they are lost and counted.
    fn write_lines(&self, file: &mut File, lines: &[u8], count: usize) {
        let mut rest = lines;
        loop {
            match file.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let is_lost = self.on_failure == AuditFailure::Warn || self.is_closing_soon();
                    self.fail(&error, if is_lost { count } else { 0 });
                    if is_lost {
                        return;
                    }
                }
            }
            if rest.is_empty() {
                if self.is_failing.swap(false, Ordering::Relaxed) {
                    tracing::info!(file = %self.path.display(), "the audit log is written again");
                }
                return;
            }
        }
    }

    /// Waits a while before the disk is tried again; true where the server closes.
    fn is_closing_soon(&self) -> bool {
        let is_closing = self.is_closing.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.closing.wait_timeout_while(is_closing, RETRY, |is_closing| !*is_closing);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn fail(&self, reason: &dyn std::fmt::Display, lost: usize) {
        self.lost.fetch_add(lost as u64, Ordering::Relaxed);
        if !self.is_failing.swap(true, Ordering::Relaxed) {
            let consequence = match self.on_failure {
                AuditFailure::Stop => "requests are refused until it can be written",
                AuditFailure::Warn => "work goes on without it",
            };
            tracing::error!(file = %self.path.display(), %reason, consequence, "the audit log cannot be written");
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
