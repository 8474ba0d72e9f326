//! The messages of an mbox, in order.

use std::io::{self, Read};

use memchr::{memchr, memmem};

use super::quoting::FROM;
use super::{MailOptions, MboxQuoting};

/// A reader of an mbox. A message begins after a line `From ...` at the start of the file or after an empty line. The
/// rest of that line and `Content-Length` are ignored. The empty line before the next message is not a part of a
/// message.
#[derive(Debug)]
pub struct MboxReader<R> {
    input: R,
    quoting: MboxQuoting,
    max_bytes: u64,
    chunk_bytes: u64,
    buffer: Vec<u8>,
    /// The position in the buffer of the next message's `From ` line.
    start: usize,
    /// The position of the buffer in the file.
    offset: u64,
    is_at_end: bool,
    number: u64,
}

/// A message of an mbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MboxMessage {
    /// The number, from 1.
    pub number: u64,
    /// The position of the message in the file, after its `From ` line.
    pub start: u64,
    /// The length of the message in the file, in bytes.
    pub len_bytes: u64,
    /// The `From ` line before the message, without its end.
    pub envelope: Vec<u8>,
    /// The message without its quoting; None if it is too long for the memory.
    pub message: Option<Vec<u8>>,
}

/// The number of bytes read at once.
const CHUNK_BYTES: u64 = 256 << 10;

/// The number of bytes kept of a message that is too long. They include an empty line and `From `, so that the next
/// message is found.
const SEAM_BYTES: usize = 16;

/// The maximum length of a `From ` line. A longer one counts as a part of its message.
const MAX_ENVELOPE_BYTES: u64 = 4096;

impl<R: Read> MboxReader<R> {
    /// Makes a reader from the first byte of an mbox on.
    pub fn new(input: R, options: MailOptions) -> Self {
        Self {
            input,
            quoting: options.quoting,
            max_bytes: options.max_bytes,
            chunk_bytes: CHUNK_BYTES,
            buffer: Vec::new(),
            start: 0,
            offset: 0,
            is_at_end: false,
            number: 0,
        }
    }

    /// Returns the number of bytes before the next message.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.offset + self.start as u64
    }

    fn read_message(&mut self) -> io::Result<Option<MboxMessage>> {
        if self.unread_bytes().is_empty() && !self.is_at_end {
            self.fill_buffer()?;
        }
        if self.unread_bytes().is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let begin = self.done_bytes();
        let (mut searched, mut head) = (0, None);
        let len = loop {
            match separator(self.unread_bytes(), searched) {
                Some(at) => break at,
                None if self.is_at_end => break self.unread_bytes().len(),
                // A separator may span two chunks, so the end of this one is searched again.
                None => searched = self.unread_bytes().len().saturating_sub(SEAM_BYTES),
            }
            if self.is_too_long() {
                // Only the `From ` line of the message is kept. Its bytes are dropped, but counted.
                head.get_or_insert(envelope(self.unread_bytes()));
                self.start += std::mem::take(&mut searched);
            }
            self.fill_buffer()?;
        };
        let (envelope_len, envelope, is_cut) = match head {
            Some((len, line)) => (len, line, true),
            None => {
                let (len, line) = envelope(&self.unread_bytes()[..len]);
                (len, line, false)
            }
        };
        let last = &self.unread_bytes()[..len];
        let len_bytes = self.done_bytes() + without_empty_line(last).len() as u64 - begin;
        let len_bytes = len_bytes.saturating_sub(envelope_len as u64);
        let message = (!is_cut && len_bytes <= self.max_bytes)
            .then(|| self.quoting.remove_quoting(without_empty_line(&last[envelope_len..]).to_vec()));
        self.start += len;
        let start = begin + envelope_len as u64;
        Ok(Some(MboxMessage { number: self.number, start, len_bytes, envelope, message }))
    }

    /// Returns true if the buffer exceeds the limit of a message, whatever follows.
    fn is_too_long(&self) -> bool {
        let around = self.chunk_bytes + SEAM_BYTES as u64;
        let max_bytes = self.max_bytes.saturating_add(around);
        let len_bytes = self.unread_bytes().len() as u64;
        len_bytes > max_bytes
            && len_bytes - max_bytes > (envelope(self.unread_bytes()).0 as u64).min(MAX_ENVELOPE_BYTES)
    }

    fn unread_bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    fn fill_buffer(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.offset += std::mem::take(&mut self.start) as u64;
        // `read_to_end` retries interrupted reads, and returns less than a chunk at the end only.
        let read = (&mut self.input).take(self.chunk_bytes).read_to_end(&mut self.buffer)?;
        self.is_at_end = (read as u64) < self.chunk_bytes;
        Ok(())
    }
}

impl<R: Read> Iterator for MboxReader<R> {
    type Item = io::Result<MboxMessage>;

    fn next(&mut self) -> Option<Self::Item> {
        let message = self.read_message().transpose();
        if matches!(message, Some(Err(_))) {
            // Bytes after an error cannot be assigned to messages.
            (self.start, self.is_at_end) = (self.buffer.len(), true);
        }
        message
    }
}

/// Returns the length up to the next `From ` after an empty line.
fn separator(text: &[u8], searched: usize) -> Option<usize> {
    memmem::find_iter(&text[searched..], b"\nFrom ")
        .map(|at| searched + at)
        .find(|at| matches!(text[..*at], [.., b'\n'] | [.., b'\n', b'\r']))
        .map(|at| at + 1)
}

/// Returns the length of the `From ` line, and the line without its end.
fn envelope(text: &[u8]) -> (usize, Vec<u8>) {
    let len = memchr(b'\n', text).map_or(text.len(), |at| at + 1);
    let line = &text[..len];
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    (len, line.strip_suffix(b"\r").unwrap_or(line).to_vec())
}

fn without_empty_line(text: &[u8]) -> &[u8] {
    let Some(rest) = text.strip_suffix(b"\n") else { return text };
    let rest = rest.strip_suffix(b"\r").unwrap_or(rest);
    if rest.is_empty() || rest.ends_with(b"\n") { rest } else { text }
}

/// Returns true if a file with these first bytes is an mbox.
pub(super) fn is_mbox(beginning: &[u8]) -> bool {
    beginning.starts_with(FROM)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], chunk_bytes: u64, max_bytes: u64) -> Vec<MboxMessage> {
        let options = MailOptions { max_bytes, ..MailOptions::default() };
        let mbox = MboxReader { chunk_bytes, ..MboxReader::new(text, options) };
        mbox.map(Result::unwrap).collect()
    }

    fn messages(text: &[u8]) -> Vec<String> {
        let text_of = |piece: MboxMessage| piece.message.unwrap().escape_ascii().to_string();
        read(text, CHUNK_BYTES, 1000).into_iter().map(text_of).collect()
    }

    const THREE: &[u8] =
        b"From a Mon\nA: 1\n\nx\nFrom here\n>From there\n\nFrom b\nB: 2\n\n\n\nFrom c\nC: 3\n";

    #[test]
    fn from_separates_after_an_empty_line_only() {
        assert_eq!(messages(THREE), ["A: 1\\n\\nx\\nFrom here\\nFrom there\\n", "B: 2\\n\\n\\n", "C: 3\\n"]);
        let pieces = read(THREE, CHUNK_BYTES, 1000);
        assert_eq!(pieces[0].envelope, b"From a Mon");
        for piece in pieces {
            let (start, end) = (piece.start as usize, (piece.start + piece.len_bytes) as usize);
            assert_eq!(
                MboxQuoting::Mboxrd.remove_quoting(THREE[start..end].to_vec()),
                piece.message.unwrap()
            );
        }
    }

    #[test]
    fn lines_may_end_with_crlf() {
        let text = b"From a\r\nA: 1\r\n\r\nx\r\n\r\nFrom b\r\nB: 2\r\n\r\n";
        assert_eq!(messages(text), ["A: 1\\r\\n\\r\\nx\\r\\n", "B: 2\\r\\n"]);
        assert_eq!(read(text, 1, 1000)[1].envelope, b"From b");
    }

    #[test]
    fn empty_messages_count_as_messages() {
        assert!(messages(b"").is_empty());
        assert_eq!(messages(b"From "), [""]);
        assert_eq!(messages(b"From a\n"), [""]);
        assert_eq!(messages(b"From a\n\nFrom b\n\n\nFrom c\nx"), ["", "\\n", "x"]);
    }

    #[test]
    fn the_chunk_length_does_not_matter() {
        let crlf = THREE.to_vec().into_iter().flat_map(|byte| match byte {
            b'\n' => vec![b'\r', b'\n'],
            _ => vec![byte],
        });
        for text in [THREE.to_vec(), crlf.collect()] {
            for len in 0..=text.len() {
                let whole = read(&text[..len], CHUNK_BYTES, 1000);
                for chunk_bytes in 1..=text.len() as u64 + 1 {
                    assert_eq!(read(&text[..len], chunk_bytes, 1000), whole);
                }
            }
        }
    }

    #[test]
    fn skips_messages_beyond_the_limit() {
        let long = format!("From b\nB: {}\n\n>From me\n{}", "x".repeat(500), "\nFro\n\nFro".repeat(50));
        let text = format!("From a\nA: 1\n\nFrom b2\n\n{long}\n\nFrom c\nC: 3\n");
        let whole = read(text.as_bytes(), 7, 10_000);
        assert_eq!(whole.len(), 4);
        for chunk_bytes in 1..=80 {
            for max_bytes in [6, 100, 600, 959, 960, 961] {
                let pieces = read(text.as_bytes(), chunk_bytes, max_bytes);
                let is_kept = |piece: &MboxMessage| piece.len_bytes <= max_bytes;
                let expected = whole.iter().cloned().map(|piece| match is_kept(&piece) {
                    true => piece,
                    false => MboxMessage { message: None, ..piece },
                });
                assert!(pieces.iter().eq(expected.collect::<Vec<_>>().iter()), "{chunk_bytes} {max_bytes}");
            }
        }
    }

    #[test]
    fn an_unreadable_mbox_ends_with_an_error() {
        let failing = io::Read::chain(&b"From a\nx\n\nFrom b\n"[..], Failing);
        let mut mbox = MboxReader::new(failing, MailOptions::default());
        assert!(mbox.next().unwrap().is_err());
        assert!(mbox.next().is_none());
    }

    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
}
