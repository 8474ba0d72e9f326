//! The thread that writes the audit log.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::{self, EventKind};
use super::queue::{AuditPiece, AuditQueue, WriterStep};

/// A file to which complete lines are appended.
#[derive(Debug)]
pub(super) struct LogFile {
    pub(super) file: File,
    /// True if the file ends with half a line.
    pub(super) is_mid_line: bool,
}

impl LogFile {
    /// Opens a file, or creates it with access for its owner only.
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

/// Returns true if a file is empty or its last line is complete.
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

/// The state of the writer thread.
#[derive(Debug)]
pub(super) struct AuditWriter {
    pub(super) path: PathBuf,
    pub(super) queue: Arc<AuditQueue>,
}

impl AuditWriter {
    /// Writes lines until the queue is closed and empty.
    pub(super) fn run(self, mut file: LogFile) {
        loop {
            match self.queue.next() {
                WriterStep::Write(piece) => self.write(&mut file, &piece),
                WriterStep::Replace(new) => self.replace(&mut file, new),
                WriterStep::End => break,
            }
        }
        // An error changes nothing here: the server stops, and the kernel still has the data.
        let _ = file.file.sync_data();
        self.queue.end();
    }

    fn replace(&self, file: &mut LogFile, new: LogFile) {
        let former = std::mem::replace(file, new);
        let _ = former.file.sync_data();
        self.queue.put_own(&entry::event(EventKind::Reopen, "the file was opened again"));
        tracing::info!(file = %self.path.display(), "the audit log was opened again");
    }

    /// Writes a piece, and waits if the disk fails. If entries may be lost, or the server stops, the lines that the
    /// disk does not accept are dropped and counted.
    fn write(&self, file: &mut LogFile, piece: &AuditPiece) {
        let mut at = 0;
        while at < piece.bytes.len() {
            match append(file, &piece.bytes, at) {
                Ok(written) => at += written,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.fail(&error);
                    // `wait_for_retry` returns true only if the server stops: then nothing can be tried again.
                    let is_lost = self.queue.may_lose() || self.queue.wait_for_retry();
                    if let Some(new) = self.queue.take_new_file() {
                        // The former file ends with half a line. The new file begins with the complete line.
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

/// Writes some of the bytes from an offset on. If the file ends with half of a dropped line, a line end is written
/// first.
fn append(file: &mut LogFile, bytes: &[u8], at: usize) -> io::Result<usize> {
    if file.is_mid_line && line_start(bytes, at) == at {
        file.write(b"\n")?;
    }
    file.write(&bytes[at..])
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}
