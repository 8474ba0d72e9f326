//! The messages of an mbox, in order.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter};
use oarlock::keys::text_file::BYTE_ORDER_MARK;

use super::border::{BorderReading, BorderSearch, MAX_ENVELOPE_BYTES, MboxBorder, find_border};
use super::quoting::FROM;
use super::{MailOptions, MboxQuoting};

/// A reader of an mbox. A message begins after a line `From ...` at the start of the file, after one that ends in a
/// date with a year, or after one between an empty line and a header field. The rest of that line and `Content-Length`
/// are ignored. A byte order mark and empty lines before the first message are skipped. The empty line before the next
/// message is not a part of a message.
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
    /// The number of lines before `start`.
    lines: u64,
    is_at_end: bool,
    number: u64,
    borders: Vec<MboxBorder>,
    /// The position in the file behind the last border in `borders`.
    judged: u64,
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
            lines: 0,
            is_at_end: false,
            number: 0,
            borders: Vec::new(),
            judged: 0,
        }
    }

    /// Returns the number of bytes before the next message.
    #[must_use]
    pub(crate) fn done_bytes(&self) -> u64 {
        self.offset + self.start as u64
    }

    /// Takes the lines `From ...` read so far about which the usual rules disagree, in order.
    pub(crate) fn take_borders(&mut self) -> Vec<MboxBorder> {
        std::mem::take(&mut self.borders)
    }

    fn read_message(&mut self) -> io::Result<Option<MboxMessage>> {
        if self.number == 0 {
            self.skip_beginning()?;
        }
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
            match self.find_border(searched) {
                BorderSearch::Found(at) => break at,
                BorderSearch::From(_) if self.is_at_end => break self.unread_bytes().len(),
                // A separator may span two chunks, so the end of this one is searched again.
                BorderSearch::From(at) => searched = at,
            }
            if head.is_some() || self.is_too_long(searched) {
                // Only the `From ` line of the message is kept. Its bytes are dropped, but counted.
                head.get_or_insert(envelope(self.unread_bytes()));
                self.advance(std::mem::take(&mut searched));
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
        self.advance(len);
        let start = begin + envelope_len as u64;
        Ok(Some(MboxMessage { number: self.number, start, len_bytes, envelope, message }))
    }

    /// Moves past what may be before the first message.
    fn skip_beginning(&mut self) -> io::Result<()> {
        loop {
            let len = beginning_len(self.unread_bytes());
            if len < self.unread_bytes().len() || self.is_at_end {
                self.advance(len);
                return Ok(());
            }
            self.fill_buffer()?;
        }
    }

    /// Finds the next message, and keeps the lines about which the rules disagree.
    fn find_border(&mut self, searched: usize) -> BorderSearch {
        let mut disputed: Vec<(usize, BorderReading)> = Vec::new();
        let found = find_border(self.unread_bytes(), searched, self.is_at_end, &mut disputed);
        for (at, reading) in disputed {
            let position = self.done_bytes() + at as u64;
            // The end of a chunk is searched again.
            if position >= self.judged {
                let line = self.lines + 1 + memchr_iter(b'\n', &self.unread_bytes()[..at]).count() as u64;
                self.borders.push(MboxBorder { line, reading });
                self.judged = position + 1;
            }
        }
        found
    }

    /// Returns true if a message that ends behind `searched` exceeds the limit.
    fn is_too_long(&self, searched: usize) -> bool {
        let envelope_len = envelope(self.unread_bytes()).0.min(MAX_ENVELOPE_BYTES);
        // The empty line before the next message does not count.
        searched.saturating_sub(envelope_len + 2) as u64 > self.max_bytes
    }

    fn unread_bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    fn advance(&mut self, len: usize) {
        self.lines += memchr_iter(b'\n', &self.unread_bytes()[..len]).count() as u64;
        self.start += len;
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

/// The number of bytes that tell an mbox from a message.
pub(super) const MBOX_BEGINNING: u64 = 1024;

/// Returns true if a file with these first bytes is an mbox.
pub(super) fn is_mbox(beginning: &[u8]) -> bool {
    beginning[beginning_len(beginning)..].starts_with(FROM)
}

/// Returns the length of a byte order mark, or a part of it at the end of a text, and of empty lines.
fn beginning_len(text: &[u8]) -> usize {
    if BYTE_ORDER_MARK.starts_with(text) {
        return text.len();
    }
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let empty = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    text.len() - rest.len() + empty
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

    const DATED: &str = "From jo@example.com Sat Nov 28 10:00:00 2026";

    /// Texts, their messages, and the lines about which the rules disagree.
    #[test]
    fn a_date_or_an_empty_line_and_a_header_field_begin_a_message() {
        use BorderReading::{NoDate, NoEmptyLine, Text};
        type MboxCase = (String, &'static [&'static str], &'static [(u64, BorderReading)]);
        let cases: [MboxCase; 9] = [
            (format!("{DATED}\nA: 1\n\nx\n{DATED}\nB: 2\n"), &["A: 1\n\nx\n", "B: 2\n"], &[(5, NoEmptyLine)]),
            (
                format!("{DATED}\nA: 1\n\nx\n \n{DATED}\nB: 2\n"),
                &["A: 1\n\nx\n \n", "B: 2\n"],
                &[(6, NoEmptyLine)],
            ),
            (format!("{DATED}\nA: 1\n\nFrom here on\nx\n"), &["A: 1\n\nFrom here on\nx\n"], &[(4, Text)]),
            (format!("{DATED}\nA: 1\n\nFrom here on\n"), &["A: 1\n\nFrom here on\n"], &[(4, Text)]),
            (format!("{DATED}\nA: 1\n\nx\nFrom here\ny: z\n"), &["A: 1\n\nx\nFrom here\ny: z\n"], &[]),
            (format!("{DATED}\nA: 1\n\nFrom b\nB-c: 2\n"), &["A: 1\n", "B-c: 2\n"], &[(4, NoDate)]),
            (format!("{DATED}\nA: 1\n\nFrom b\nB c: 2\n"), &["A: 1\n\nFrom b\nB c: 2\n"], &[(4, Text)]),
            (format!("\u{feff}{DATED}\nA: 1\n\n{DATED}\nB: 2\n"), &["A: 1\n", "B: 2\n"], &[]),
            (format!("\n\r\n{DATED}\nA: 1\nFrom x\n{DATED}\n"), &["A: 1\nFrom x\n", ""], &[(6, NoEmptyLine)]),
        ];
        for (text, expected, disputed) in cases {
            for text in [text.clone(), text.replace("\r\n", "\n").replace('\n', "\r\n")] {
                for chunk_bytes in (1..40).chain([CHUNK_BYTES]) {
                    let mut mbox = MboxReader {
                        chunk_bytes,
                        ..MboxReader::new(text.as_bytes(), MailOptions::default())
                    };
                    let found: Vec<Vec<u8>> =
                        mbox.by_ref().map(|piece| piece.unwrap().message.unwrap()).collect();
                    let found: Vec<String> = found
                        .iter()
                        .map(|message| String::from_utf8_lossy(message).replace("\r\n", "\n"))
                        .collect();
                    assert_eq!(found, expected, "{text:?} {chunk_bytes}");
                    let borders: Vec<_> =
                        mbox.take_borders().iter().map(|border| (border.line, border.reading)).collect();
                    assert_eq!(borders, disputed, "{text:?} {chunk_bytes}");
                }
            }
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
        assert!(messages(b"\xEF\xBB\xBF\r\n").is_empty());
        assert_eq!(messages(b"From "), [""]);
        assert_eq!(messages(b"From a\n"), [""]);
        let dated = b"From a\n\nFrom b Sat Nov 28 10:00:00 2026\n\n\nFrom c Sat Nov 28 10:00:00 2026\nx";
        assert_eq!(messages(dated), ["", "\\n", "x"]);
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
        let text = format!("From a\nA: 1\n\nFrom b2 Jan 1 00:00 2026\n\n{long}\n\nFrom c\nC: 3\n");
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
