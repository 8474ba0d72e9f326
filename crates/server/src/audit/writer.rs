//! The thread that writes.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::{self, EventKind};
use super::queue::{AuditPiece, AuditQueue, WriterStep};

/// A file to which whole lines are appended.
#[derive(Debug)]
pub(super) struct LogFile {
    pub(super) file: File,
    /// True if it ends with half a line.
    pub(super) is_mid_line: bool,
}

impl LogFile {
    /// Opens a file, or makes it for its owner alone.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        // A server that was killed while it wrote has left half a line.
        let is_mid_line = file.metadata()?.is_file() && !ends_with_line(path).unwrap_or(true);
        Ok(Self { file, is_mid_line })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        if let Some(last) = bytes[..written].last() {
            self.is_mid_line = *last != b'\n';
        }
        if written == 0 { Err(ErrorKind::WriteZero.into()) } else { Ok(written) }
    }
}

/// True if a file is empty or its last line is whole.
fn ends_with_line(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// The data of the thread that writes.
#[derive(Debug)]
pub(super) struct AuditWriter {
    pub(super) path: PathBuf,
    pub(super) queue: Arc<AuditQueue>,
}

impl AuditWriter {
    /// Writes until the queue is closed and empty.
    pub(super) fn run(self, mut file: LogFile) {
        loop {
            match self.queue.next() {
                WriterStep::Write(piece) => self.write(&mut file, &piece),
                WriterStep::Replace(new) => self.replace(&mut file, new),
                WriterStep::End => break,
            }
        }
        let _ = file.file.sync_data();
        self.queue.end();
    }

    fn replace(&self, file: &mut LogFile, new: LogFile) {
        let former = std::mem::replace(file, new);
        let _ = former.file.sync_data();
        self.queue.put_own(&entry::event(EventKind::Reopen, "the file was opened again"));
        tracing::info!(file = %self.path.display(), "the audit log was opened again");
    }

    /// Writes a piece. If work may go on without the log, or the server closes, what the disk does not take is lost and counted;
    /// else it waits.
    fn write(&self, file: &mut LogFile, piece: &AuditPiece) {
        let mut at = 0;
        while at < piece.bytes.len() {
            match append(file, &piece.bytes, at) {
                Ok(written) => at += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.fail(&error);
                    let is_lost = self.queue.may_lose() || self.queue.wait_for_retry();
                    if let Some(new) = self.queue.take_new_file() {
                        // The new file begins with the whole of the line that the former one has half of.
                        at = line_start(&piece.bytes, at);
                        self.replace(file, new);
                    } else if is_lost {
                        self.queue.given_up(piece, &piece.bytes[at..]);
                        return;
                    }
                }
            }
        }
        if self.queue.written(piece) {
            tracing::info!(file = %self.path.display(), "the audit log is written again");
        }
    }

    fn fail(&self, reason: &io::Error) {
        if self.queue.fail() {
            let consequence = if self.queue.may_lose() {
                "work goes on without it"
            } else {
                "requests are refused until it can be written"
            };
            tracing::error!(file = %self.path.display(), %reason, consequence, "the audit log cannot be written");
        }
    }
}

/// Writes some of the bytes from a place on. Before a line the end of half a line that was given up is written.
fn append(file: &mut LogFile, bytes: &[u8], at: usize) -> io::Result<usize> {
    if file.is_mid_line && line_start(bytes, at) == at {
        file.write(b"\n")?;
    }
    file.write(&bytes[at..])
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}
