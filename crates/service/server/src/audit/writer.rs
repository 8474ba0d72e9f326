//! The thread that writes the audit log: it links each line to the line before it, and appends it to the file.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use super::entry::{self, EventKind};
use super::linked::LinkedLines;
use super::log_file::{ChainStart, LogFile};
use super::queue::{AuditPiece, AuditQueue, WriterStep};
use super::syslog::SyslogSink;
use crate::audit_chain::{LineHash, remove_chain_end, write_chain_end};

/// The state of the writer thread.
#[derive(Debug)]
pub(super) struct AuditWriter {
    path: PathBuf,
    queue: Arc<AuditQueue>,
    /// The second sink, if there is one.
    syslog: Option<Arc<SyslogSink>>,
    /// The hash of the last line that is completely in a file.
    last: LineHash,
    /// True if this process has written a line.
    has_written: bool,
}

/// The end of writing lines.
enum WriteEnd {
    Complete,
    /// Another file takes the rest. The number of bytes that are in the former file.
    NewFile(usize, LogFile),
    /// The rest is lost. The number of bytes that are in the file.
    Lost(usize),
}

impl AuditWriter {
    pub(super) fn new(
        path: PathBuf,
        queue: Arc<AuditQueue>,
        syslog: Option<Arc<SyslogSink>>,
        start: ChainStart,
    ) -> Self {
        Self { path, queue, syslog, last: start.last, has_written: false }
    }

    /// Writes lines until the queue is closed and empty.
    pub(super) fn run(mut self, mut file: LogFile) {
        loop {
            match self.queue.next() {
                WriterStep::Write(piece) => self.write(&mut file, &piece),
                WriterStep::Replace(new) => self.replace(&mut file, new),
                WriterStep::End => break,
            }
        }
        // An error changes nothing here: the server stops, and the kernel still has the data.
        let _ = file.sync();
        if self.has_written && file.is_regular() {
            self.keep_chain(write_chain_end(&self.path, self.last));
        }
        // Last of all: `close` waits for it, and the process may end right afterwards.
        self.queue.end();
    }

    /// Reports that the hash beside the log could not be changed. The log itself is complete without it.
    fn keep_chain(&self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            let file = crate::audit_chain::chain_end_path(&self.path);
            tracing::warn!(file = %file.display(), %error, "the hash of the last audit entry cannot be kept");
        }
    }

    fn replace(&mut self, file: &mut LogFile, new: LogFile) {
        let former = std::mem::replace(file, new);
        // An error changes nothing: the kernel has the lines, and the former file is closed either way.
        let _ = former.sync();
        self.queue.put_own(&entry::event(EventKind::Reopen, "the file was opened again"));
        tracing::info!(file = %self.path.display(), "the audit log was opened again");
    }

    /// Writes a piece, and waits if the disk fails. If entries may be lost, or the server stops, the lines that the
    /// disk does not accept are dropped and counted.
    fn write(&mut self, file: &mut LogFile, piece: &AuditPiece) {
        if !self.has_written {
            // From now on the file's end counts, also after a crash.
            self.has_written = true;
            self.keep_chain(remove_chain_end(&self.path));
        }
        let mut at = 0;
        while at < piece.bytes.len() {
            let lines = LinkedLines::new(&piece.bytes[at..], self.last, file);
            // Lines that are tried again in another file went to syslog the first time.
            if at == 0
                && let Some(syslog) = &self.syslog
            {
                syslog.put(&lines.bytes);
            }
            match self.write_lines(file, &lines) {
                WriteEnd::Complete => {
                    file.complete();
                    self.last = lines.hash(lines.bytes.len()).unwrap_or(self.last);
                    break;
                }
                WriteEnd::NewFile(written, new) => {
                    // The former file ends with half a line. The new file begins with the complete line.
                    at += self.abandon(file, &lines, written);
                    self.replace(file, new);
                }
                WriteEnd::Lost(written) => {
                    at += self.abandon(file, &lines, written);
                    self.queue.given_up(piece, &piece.bytes[at..]);
                    return;
                }
            }
        }
        if self.queue.written(piece) {
            tracing::info!(file = %self.path.display(), "the audit log is written again");
        }
    }

    fn write_lines(&self, file: &mut LogFile, lines: &LinkedLines) -> WriteEnd {
        let mut written = 0;
        while written < lines.bytes.len() {
            match file.write(&lines.bytes[written..]) {
                Ok(more) => written += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.fail(&error);
                    // `wait_for_retry` returns true only if the server stops: then nothing can be tried again.
                    let is_lost = self.queue.may_lose() || self.queue.wait_for_retry();
                    if let Some(new) = self.queue.take_new_file() {
                        return WriteEnd::NewFile(written, new);
                    }
                    if is_lost {
                        return WriteEnd::Lost(written);
                    }
                }
            }
        }
        WriteEnd::Complete
    }

    /// Continues the chain after the lines that are complete. Returns their bytes in the piece.
    fn abandon(&mut self, file: &mut LogFile, lines: &LinkedLines, written: usize) -> usize {
        self.last = lines.hash(written).unwrap_or(self.last);
        file.abandon(lines, written);
        lines.complete_of_piece(written)
    }

    fn fail(&self, reason: &io::Error) {
        if self.queue.fail() {
            let consequence = if self.queue.may_lose() {
                "work continues without it"
            } else {
                "requests are refused until it can be written"
            };
            tracing::error!(file = %self.path.display(), %reason, consequence, "the audit log cannot be written");
        }
    }
}
