//! Blocks of a text. A thread reads and decompresses them while the caller parses earlier blocks.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Scope;

/// The size of a block in bytes.
const BLOCK: usize = 4 << 20;
/// The space before a block for the rest of the previous one: an entry across both, usually shorter than 1 MiB.
const REST_SPACE: usize = 1 << 20;
/// The number of blocks in flight.
const BLOCKS: usize = 3;

/// Blocks in the order of the file. The last one is shorter than others, or empty.
#[derive(Debug)]
pub struct TextBlocks {
    full: Receiver<io::Result<TextBlock>>,
    empty: Sender<Vec<u8>>,
    /// The unread rest of the last block, and its range.
    left: (Vec<u8>, Range<usize>),
}

/// A part of a file, behind space for the rest of the previous part.
#[derive(Debug)]
struct TextBlock {
    bytes: Vec<u8>,
    end: usize,
    is_last: bool,
}

impl TextBlocks {
    /// Starts the reading thread. It ends with the input, or when this is dropped.
    #[must_use]
    pub fn start<'s>(scope: &'s Scope<'s, '_>, input: impl Read + Send + 's) -> Self {
        let (full, blocks) = sync_channel(BLOCKS);
        let (empty, bytes) = channel();
        for _ in 0..BLOCKS {
            // unreachable failure because the other end is held below
            let _ = empty.send(Vec::new());
        }
        scope.spawn(move || fill_all(input, &bytes, &full));
        Self { full: blocks, empty, left: (Vec::new(), 0..0) }
    }

    /// Gives the next text to `look`, after the rest of the last one, and returns the number of new bytes, or `None` at
    /// the end. `look` returns the number of bytes it took. Its second argument is true if this is the last text.
    ///
    /// # Errors
    /// The input cannot be read further. Earlier text has been given. Whole lines of its rest are given as the last
    /// text, because half a line is not a record.
    pub fn next(&mut self, mut look: impl FnMut(&[u8], bool) -> usize) -> io::Result<Option<usize>> {
        match self.full.recv() {
            Ok(Ok(block)) => {
                let (count, is_last) = (block.end - REST_SPACE, block.is_last);
                let (bytes, start, end) = self.joined(block);
                let taken = look(&bytes[start..end], is_last);
                self.left = (bytes, start + taken..end);
                Ok(Some(count))
            }
            Ok(Err(error)) => {
                look(whole_lines(&self.left.0[self.left.1.clone()]), true);
                Err(error)
            }
            Err(_) => Ok(None),
        }
    }

    /// Puts the rest before a block, without moving the block if the space suffices.
    fn joined(&mut self, block: TextBlock) -> (Vec<u8>, usize, usize) {
        let TextBlock { mut bytes, end, .. } = block;
        let (old, range) = std::mem::take(&mut self.left);
        let left = &old[range];
        let joined = match REST_SPACE.checked_sub(left.len()) {
            Some(start) => {
                bytes[start..REST_SPACE].copy_from_slice(left);
                (bytes, start, end)
            }
            None => {
                let all = [left, &bytes[REST_SPACE..end]].concat();
                let end = all.len();
                (all, 0, end)
            }
        };
        // The reading thread may have ended.
        let _ = self.empty.send(old);
        joined
    }
}

/// Returns the text up to the end of the last line.
fn whole_lines(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    &text[..end]
}

/// Reads until the end, or until the receiver is dropped.
fn fill_all(mut input: impl Read, empty: &Receiver<Vec<u8>>, full: &SyncSender<io::Result<TextBlock>>) {
    while let Ok(bytes) = empty.recv() {
        let block = fill(&mut input, bytes);
        let is_end = block.as_ref().map_or(true, |block| block.is_last);
        if full.send(block).is_err() || is_end {
            return;
        }
    }
}

/// Reads a block. It is full unless it is the last. Data before an error is a block, and the error comes with the
/// next call.
fn fill(input: &mut impl Read, mut bytes: Vec<u8>) -> io::Result<TextBlock> {
    bytes.resize(REST_SPACE + BLOCK, 0);
    let mut end = REST_SPACE;
    while end < bytes.len() {
        match input.read(&mut bytes[end..]) {
            Ok(0) => return Ok(TextBlock { bytes, end, is_last: true }),
            Ok(count) => end += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) if end > REST_SPACE => break,
            Err(error) => return Err(error),
        }
    }
    Ok(TextBlock { bytes, end, is_last: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines that were read, and true if the input was read to its end.
    fn lines(input: impl Read + Send) -> (Vec<Vec<u8>>, bool) {
        let mut lines = Vec::new();
        let mut look = |text: &[u8], is_last: bool| {
            let taken = if is_last { text.len() } else { whole_lines(text).len() };
            lines.extend(text[..taken].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
            taken
        };
        let is_whole = std::thread::scope(|scope| {
            let mut blocks = TextBlocks::start(scope, input);
            loop {
                match blocks.next(&mut look) {
                    Ok(Some(_)) => {}
                    Ok(None) => return true,
                    Err(_) => return false,
                }
            }
        });
        (lines, is_whole)
    }

    fn text(line: usize, count: usize) -> Vec<u8> {
        let mut line = vec![b'x'; line];
        line.push(b'\n');
        line.repeat(count)
    }

    #[test]
    fn lines_across_blocks_are_whole() {
        // The second length does not fit into the space before a block.
        for (line, count) in [(99, 100_000), (REST_SPACE + 7, 9), (BLOCK - 1, 3), (0, 1)] {
            let text = text(line, count);
            let (lines, is_whole) = lines(&text[..]);
            assert!(is_whole && lines.len() == count && lines.concat() == text, "{line}");
        }
        assert_eq!(lines(&b""[..]), (Vec::new(), true));
        assert_eq!(lines(&b"no end"[..]), (vec![b"no end".to_vec()], true));
    }

    /// An input that fails after these bytes.
    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() { Err(io::Error::other("broken")) } else { self.0.read(into) }
        }
    }

    #[test]
    fn lines_before_a_fault_are_given() {
        for len in [0, 10, BLOCK - 4, BLOCK, BLOCK + 10] {
            let text = vec![b'\n'; len];
            let (lines, is_whole) = lines(Failing(&[&text[..], b"half"].concat()));
            assert!(!is_whole && lines.concat() == text, "{len}");
        }
    }
}
