//! The quoting of `From ` at the start of a line, which would otherwise begin the next message of an mbox.

use std::io::{self, BufRead, Read};

use memchr::{memchr, memmem};

/// The quoting of lines that begin with `From ` in the messages of an mbox.
///
/// An mbox does not state its kind. Postfix and procmail quote `From ` only (mboxo). qmail and newer programs put one
/// more `>` before each of `From `, `>From `, and so on (mboxrd). The default is to remove one `>`. This is correct for
/// mboxrd. It is wrong for mboxo only if the message itself had `>From `, which is rare and cannot be recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MboxQuoting {
    /// One `>` is removed from `>From `, `>>From ` and so on.
    #[default]
    Mboxrd,
    /// `>From ` becomes `From `; lines with more `>` stay.
    Mboxo,
    /// All lines stay.
    Keep,
}

/// The text that begins a message at the start of a line.
pub(super) const FROM: &[u8] = b"From ";

impl MboxQuoting {
    /// Removes the quoting of a message.
    pub(super) fn remove_quoting(self, message: Vec<u8>) -> Vec<u8> {
        let is_plain = message.first() != Some(&b'>') && memmem::find(&message, b"\n>").is_none();
        if self == Self::Keep || is_plain {
            return message;
        }
        let mut out = Vec::with_capacity(message.len());
        let mut unquoter = Unquoter::new(self);
        unquoter.push(&message, &mut out);
        unquoter.finish(&mut out);
        out
    }

    fn is_quoted(self, quotes: u64) -> bool {
        match self {
            Self::Mboxrd => quotes > 0,
            Self::Mboxo => quotes == 1,
            Self::Keep => false,
        }
    }
}

/// A stream with its quoting removed.
#[derive(Debug)]
pub(super) struct UnquotedReader<R> {
    inner: R,
    unquoter: Unquoter,
    chunk: Vec<u8>,
    at: usize,
}

impl<R: BufRead> UnquotedReader<R> {
    pub(super) fn new(inner: R, quoting: MboxQuoting) -> Self {
        Self { inner, unquoter: Unquoter::new(quoting), chunk: Vec::new(), at: 0 }
    }
}

impl<R: BufRead> Read for UnquotedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // A chunk may be held back completely and yield nothing.
        while self.at == self.chunk.len() {
            self.chunk.clear();
            self.at = 0;
            let given = self.inner.fill_buf()?;
            let taken = given.len();
            if taken == 0 {
                // The message may end within a held-back `>From`.
                self.unquoter.finish(&mut self.chunk);
                if self.chunk.is_empty() {
                    return Ok(0);
                }
            }
            self.unquoter.push(given, &mut self.chunk);
            self.inner.consume(taken);
        }
        let read = (&self.chunk[self.at..]).read(into)?;
        self.at += read;
        Ok(read)
    }
}

/// The state between two chunks: the part of a quoted `From ` that has been read.
#[derive(Debug)]
struct Unquoter {
    quoting: MboxQuoting,
    /// The start of the current line; None within a line.
    start: Option<LineStart>,
}

/// The start of a line that may still become a quoted `From `. One `>` and the letters are held back.
#[derive(Clone, Copy, Debug, Default)]
struct LineStart {
    quotes: u64,
    matched: usize,
}

impl Unquoter {
    fn new(quoting: MboxQuoting) -> Self {
        Self { quoting, start: Some(LineStart::default()) }
    }

    fn push(&mut self, mut chunk: &[u8], out: &mut Vec<u8>) {
        while let Some(byte) = chunk.first() {
            let Some(start) = &mut self.start else {
                let len = memchr(b'\n', chunk).map_or(chunk.len(), |at| at + 1);
                let (line, rest) = chunk.split_at(len);
                out.extend_from_slice(line);
                self.start = line.ends_with(b"\n").then(LineStart::default);
                chunk = rest;
                continue;
            };
            if start.matched == 0 && *byte == b'>' {
                start.quotes += 1;
                // All `>` except one can be written at once, because at most one is removed.
                out.extend((start.quotes > 1).then_some(b'>'));
            } else if start.quotes > 0 && *byte == FROM[start.matched] {
                start.matched += 1;
                if start.matched == FROM.len() {
                    self.finish(out);
                }
            } else {
                self.finish(out);
                continue;
            }
            chunk = &chunk[1..];
        }
    }

    /// Returns the bytes that are held back.
    fn finish(&mut self, out: &mut Vec<u8>) {
        if let Some(LineStart { quotes, matched }) = self.start.take() {
            let is_quoted = matched == FROM.len() && self.quoting.is_quoted(quotes);
            out.extend((quotes > 0 && !is_quoted).then_some(b'>'));
            out.extend_from_slice(&FROM[..matched]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    const QUOTED: &[u8] = b">From a\n>>From b\n>>>From c\n> From d\n>Fro\n>\n>>\nx>From e\nFrom f\n>From";

    #[test]
    fn removes_the_quoting_of_each_kind() {
        let undo = |quoting: MboxQuoting| String::from_utf8(quoting.remove_quoting(QUOTED.to_vec())).unwrap();
        let rest = "> From d\n>Fro\n>\n>>\nx>From e\nFrom f\n>From";
        assert_eq!(undo(MboxQuoting::Mboxrd), format!("From a\n>From b\n>>From c\n{rest}"));
        assert_eq!(undo(MboxQuoting::Mboxo), format!("From a\n>>From b\n>>>From c\n{rest}"));
        assert_eq!(undo(MboxQuoting::Keep).as_bytes(), QUOTED);
        assert_eq!(MboxQuoting::Mboxrd.remove_quoting(b"plain\n".to_vec()), b"plain\n");
    }

    #[test]
    fn chunks_may_end_anywhere() {
        for quoting in [MboxQuoting::Mboxrd, MboxQuoting::Mboxo, MboxQuoting::Keep] {
            for len in 0..=QUOTED.len() {
                for capacity in [1, 2, 3, 5, 11, 100] {
                    let mut out = Vec::new();
                    let inner = BufReader::with_capacity(capacity, &QUOTED[..len]);
                    UnquotedReader::new(inner, quoting).read_to_end(&mut out).unwrap();
                    assert_eq!(out, quoting.remove_quoting(QUOTED[..len].to_vec()));
                }
            }
        }
    }
}
