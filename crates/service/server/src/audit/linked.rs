//! Lines with their hashes, as they are written.

use super::entry;
use super::log_file::LogFile;
use crate::audit_chain::{CHAIN_BYTES, LineHash, append_chained};

/// Lines of a piece, each with the hash of the line before it.
#[derive(Debug)]
pub(super) struct LinkedLines {
    pub(super) bytes: Vec<u8>,
    ends: Vec<LinkedEnd>,
}

/// The end of a linked line.
#[derive(Clone, Copy, Debug)]
struct LinkedEnd {
    /// The end in the linked bytes.
    linked: usize,
    /// The end in the lines of the piece. It is zero for a line that the writer has added.
    piece: usize,
    hash: LineHash,
}

impl LinkedLines {
    /// Links complete lines to the hash of the last line. If the file ends with something that is not an entry, an
    /// entry that says so comes first.
    pub(super) fn new(lines: &[u8], last: LineHash, file: &LogFile) -> Self {
        // Lines of operations have about 250 bytes.
        let count = lines.len() / 200 + 2;
        let bytes = Vec::with_capacity(lines.len() + count * CHAIN_BYTES);
        let mut linked = Self { bytes, ends: Vec::with_capacity(count) };
        let (mut last, torn) = (last, file.torn());
        if torn.count > 0 {
            // The half line must end first, or the entry would continue it.
            if file.has_half_a_line() {
                linked.bytes.push(b'\n');
            }
            let cut = entry::cut(torn.count, &torn.hash);
            last = linked.append(cut.as_bytes(), 0, last);
        }
        let mut end = 0;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            last = linked.append(line, end, last);
        }
        linked
    }

    fn append(&mut self, line: &[u8], piece: usize, last: LineHash) -> LineHash {
        let object = line.strip_suffix(b"\n").unwrap_or(line);
        let hash = append_chained(&mut self.bytes, object, last);
        self.ends.push(LinkedEnd { linked: self.bytes.len(), piece, hash });
        hash
    }

    fn last_end(&self, written: usize) -> Option<LinkedEnd> {
        let complete = self.ends.partition_point(|end| end.linked <= written);
        self.ends[..complete].last().copied()
    }

    /// Returns the end of the last complete line among the first bytes.
    pub(super) fn complete(&self, written: usize) -> usize {
        self.last_end(written).map_or(0, |end| end.linked)
    }

    /// Returns the bytes of the piece whose lines are complete among the first linked bytes.
    pub(super) fn complete_of_piece(&self, written: usize) -> usize {
        self.last_end(written).map_or(0, |end| end.piece)
    }

    /// Returns the hash of the last complete line among the first bytes.
    pub(super) fn hash(&self, written: usize) -> Option<LineHash> {
        self.last_end(written).map(|end| end.hash)
    }
}
