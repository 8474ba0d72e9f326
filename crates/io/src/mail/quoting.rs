//! `From ` at the start of a line, which in an mbox separates messages, so that messages have it quoted.

use std::io::{self, BufRead, Read};

use memchr::{memchr, memmem};

/// How an mbox quotes lines of messages that begin with `From `.
///
/// An mbox does not say which kind it is. Postfix and procmail quote `From ` alone (mboxo), qmail and newer programs put one more `>`
/// before each of `From `, `>From `, and so on (mboxrd). Taking off one `>` is right for all that mboxrd writes, and for mboxo but where
/// a message itself had `>From `, which is rare and cannot be told: so that is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MboxQuoting {
    /// One `>` is taken off `>From `, `>>From ` and so on.
    #[default]
    Mboxrd,
    /// `>From ` becomes `From `, lines with more `>` stay.
    Mboxo,
    /// Lines stay as they are.
    Keep,
}

/// What separates messages at the start of a line.
pub(super) const FROM: &[u8] = b"From ";

impl MboxQuoting {
    /// A message without its quoting.
    pub(super) fn undo(self, message: Vec<u8>) -> Vec<u8> {
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

/// A message without its quoting, read as a stream.
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
        // A chunk of nothing but what is held back gives nothing yet.
        while self.at == self.chunk.len() {
            self.chunk.clear();
            self.at = 0;
            let given = self.inner.fill_buf()?;
            let taken = given.len();
            if taken == 0 {
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

/// Knows, at the seam between two chunks, how much of a quoted `From ` there was.
#[derive(Debug)]
struct Unquoter {
    quoting: MboxQuoting,
    /// `None` within a line.
    start: Option<LineStart>,
}

/// The start of a line, as far as it can still become a quoted `From `. One `>` and the letters are held back.
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

    /// Gives what is held back.
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
    fn each_kind_takes_off_its_own() {
        let undo = |quoting: MboxQuoting| String::from_utf8(quoting.undo(QUOTED.to_vec())).unwrap();
        let rest = "> From d\n>Fro\n>\n>>\nx>From e\nFrom f\n>From";
        assert_eq!(undo(MboxQuoting::Mboxrd), format!("From a\n>From b\n>>From c\n{rest}"));
        assert_eq!(undo(MboxQuoting::Mboxo), format!("From a\n>>From b\n>>>From c\n{rest}"));
        assert_eq!(undo(MboxQuoting::Keep).as_bytes(), QUOTED);
        assert_eq!(MboxQuoting::Mboxrd.undo(b"plain\n".to_vec()), b"plain\n");
    }

    #[test]
    fn a_stream_is_cut_anywhere() {
        for quoting in [MboxQuoting::Mboxrd, MboxQuoting::Mboxo, MboxQuoting::Keep] {
            for len in 0..=QUOTED.len() {
                for capacity in [1, 2, 3, 5, 11, 100] {
                    let mut out = Vec::new();
                    let inner = BufReader::with_capacity(capacity, &QUOTED[..len]);
                    UnquotedReader::new(inner, quoting).read_to_end(&mut out).unwrap();
                    assert_eq!(out, quoting.undo(QUOTED[..len].to_vec()));
                }
            }
        }
    }
}
