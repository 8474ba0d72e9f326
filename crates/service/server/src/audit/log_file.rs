//! The file of the audit log: its end when it is opened, and what a failed write left there.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::linked::LinkedLines;
use crate::audit_chain::{LineHash, TornLines, chain_end_path, is_entry, read_chain_end};

/// A file to which chained lines are appended.
#[derive(Debug)]
pub(super) struct LogFile {
    file: File,
    end: LogEnd,
}

/// The end of a file.
#[derive(Debug, Default)]
pub(super) struct LogEnd {
    /// The hash of the last entry.
    last: Option<LineHash>,
    /// The lines after the last entry that are not entries.
    torn: TornLines,
    /// The bytes after the last line end: half a line.
    half: Vec<u8>,
}

/// The bytes of a file's end that are searched for the last entry: several times the longest entry.
const TAIL_BYTES: u64 = 256 << 10;

impl LogFile {
    /// Opens a file, or creates it with access for its owner only.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        // A pipe or a device has no end that could be read.
        let end = if file.metadata()?.is_file() { LogEnd::read(path)? } else { LogEnd::default() };
        Ok(Self { file, end })
    }

    #[cfg(test)]
    pub(super) fn of_pipe(file: File) -> Self {
        Self { file, end: LogEnd::default() }
    }

    pub(super) fn is_regular(&self) -> bool {
        self.file.metadata().is_ok_and(|about| about.is_file())
    }

    /// Returns the hash from which the chain continues when a server starts, and whether the file does not end with the
    /// line that the former server wrote last.
    pub(super) fn chain_start(&self, path: &Path) -> ChainStart {
        let unread = |error: io::Error| {
            let file = chain_end_path(path);
            tracing::warn!(file = %file.display(), %error, "the hash of the last audit entry cannot be read");
            None
        };
        let kept = if self.is_regular() { read_chain_end(path).unwrap_or_else(unread) } else { None };
        let is_broken = kept.is_some_and(|kept| self.end.last.is_some_and(|last| last != kept));
        // The kept hash wins: then the first line names what is missing, and a verifier finds the break.
        ChainStart { last: kept.or(self.end.last).unwrap_or(LineHash::NONE), is_broken }
    }

    /// Returns the lines at the end that an entry `cut` must name before the next entry.
    pub(super) fn torn(&self) -> TornLines {
        if self.end.half.is_empty() { self.end.torn } else { self.end.torn.and(&self.end.half) }
    }

    pub(super) fn has_half_a_line(&self) -> bool {
        !self.end.half.is_empty()
    }

    /// Writes some of the bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.file.write(bytes)? {
            // Nothing written and no error: without this the writer would try the same bytes in an endless loop.
            0 => Err(ErrorKind::WriteZero.into()),
            written => Ok(written),
        }
    }

    /// Notes that only the first bytes of these lines are in the file, and that the rest will never follow.
    pub(super) fn abandon(&mut self, lines: &LinkedLines, written: usize) {
        let complete = lines.complete(written);
        let rest = &lines.bytes[complete..written];
        if complete > 0 {
            // The entry `cut` is the first of the lines, so what was torn is named.
            (self.end.torn, self.end.half) = (TornLines::NONE, rest.to_vec());
            return;
        }
        // The bytes begin with the line end that ends the half line before them. Then that line is complete, and torn.
        match rest.strip_prefix(b"\n") {
            Some(rest) => {
                self.end.torn = self.torn();
                self.end.half = rest.to_vec();
            }
            None => self.end.half.extend_from_slice(rest),
        }
    }

    /// Notes that all lines are in the file.
    pub(super) fn complete(&mut self) {
        self.end.torn = TornLines::NONE;
        self.end.half.clear();
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// The beginning of a chain in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainStart {
    pub(super) last: LineHash,
    /// True if the file does not end with the line that the former server wrote last.
    pub(super) is_broken: bool,
}

impl LogEnd {
    fn read(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let len = file.seek(SeekFrom::End(0))?;
        let start = len.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(start))?;
        let mut tail = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut tail)?;
        // The first line of the tail is not complete if the file is longer.
        let skipped =
            if start == 0 { 0 } else { tail.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1) };
        Ok(Self::from_tail(&tail[skipped..]))
    }

    fn from_tail(tail: &[u8]) -> Self {
        let lines_end = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (lines, half) = tail.split_at(lines_end);
        let lines: Vec<&[u8]> =
            lines.split_inclusive(|byte| *byte == b'\n').map(|line| &line[..line.len() - 1]).collect();
        let entries = lines.iter().rposition(|line| is_entry(line)).map_or(0, |at| at + 1);
        Self {
            last: lines[..entries].last().map(|line| LineHash::from_line(line)),
            torn: lines[entries..].iter().fold(TornLines::NONE, |torn, line| torn.and(line)),
            half: half.to_vec(),
        }
    }
}
