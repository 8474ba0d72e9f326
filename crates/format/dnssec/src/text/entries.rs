//! The entries of a zone file, word by word: blanks, comments, quoted strings, escapes, parentheses. RFC 1035 5.1.

use memchr::{memchr, memchr2_iter};
use oarlock::keys::text_file::ForeignLineEnd;

use super::error::{EntryError, Read, shown};
use super::marks::{BLOCK, marks};
use super::word::{EntryWord, WordKind};

/// The maximum length of an entry in bytes. The longest data, 65,535 bytes with four characters each, has a quarter of
/// it.
pub(crate) const MAX_ENTRY: usize = 1 << 20;

/// The words of a text, entry after entry.
#[derive(Debug)]
pub(crate) struct EntryWords<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    entry_at: usize,
    /// The number of open parentheses, and the position of the outermost one.
    depth: u32,
    open: TextPosition,
    /// A bit for each byte from `block` on at which a word may end.
    block: usize,
    marks: u64,
    is_last: bool,
    is_cut: bool,
}

/// The position of a byte and its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextPosition {
    pub(crate) at: usize,
    pub(crate) line: u32,
}

/// The end of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryEnd {
    /// The entry ends with its line, or with the last text.
    Line,
    /// The entry continues in text that has not arrived yet.
    Cut,
    /// The entry has no end: this parenthesis is never closed.
    Open(TextPosition),
}

impl<'t> EntryWords<'t> {
    /// Reads words from `start` on. More text follows unless this is the last.
    pub(crate) fn new(text: &'t [u8], start: TextPosition, is_last: bool) -> Self {
        Self {
            text,
            at: start.at,
            line: start.line,
            entry_at: start.at,
            depth: 0,
            open: start,
            block: start.at,
            marks: 0,
            is_last,
            is_cut: false,
        }
        .with_marks(start.at)
    }

    fn with_marks(mut self, from: usize) -> Self {
        self.load_block(from);
        self
    }

    #[inline]
    pub(crate) fn position(&self) -> TextPosition {
        TextPosition { at: self.at, line: self.line }
    }

    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    /// Returns true if the text ends before the entry, and more text will follow.
    #[inline]
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Begins an entry. Returns its first byte, or None at the end of the text.
    #[inline]
    pub(crate) fn begin(&mut self) -> Option<u8> {
        self.entry_at = self.at;
        self.depth = 0;
        self.text.get(self.at).copied()
    }

    /// Returns the next word of the entry.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Read<Option<EntryWord<'t>>> {
        match self.word_after_blank() {
            Some(word) => Ok(Some(word)),
            None => self.next_in_new_block(),
        }
    }

    #[inline(never)]
    fn next_in_new_block(&mut self) -> Read<Option<EntryWord<'t>>> {
        if self.at != self.block {
            self.load_block(self.at);
            if let Some(word) = self.word_after_blank() {
                return Ok(Some(word));
            }
        }
        self.next_any_word()
    }

    /// Returns a plain word between two blanks, or between a blank and the end of a line. If the next word has
    /// another form, returns None and does not move.
    #[inline(always)]
    fn word_after_blank(&mut self) -> Option<EntryWord<'t>> {
        // If the position is outside of the block, the shift below is by 64 bits and yields None.
        let passed = self.at.wrapping_sub(self.block).min(BLOCK);
        let marks = self.marks.checked_shr(passed as u32)?;
        let len = (marks >> 1).trailing_zeros() as usize;
        // The mark at this byte is the blank. The next mark ends the word, unless it follows at once.
        if marks & 3 != 1 || len == BLOCK {
            return None;
        }
        let (from, end) = (self.text.get(self.at..)?, self.at + 1 + len);
        let (before, after) = (*from.first()?, *self.text.get(end)?);
        if !matches!(before, b' ' | b'\t') || !matches!(after, b' ' | b'\t' | b'\n') {
            return None;
        }
        self.at = end;
        Some(EntryWord::new(&from[1..], len, WordKind::Plain))
    }

    #[inline]
    fn next_any_word(&mut self) -> Read<Option<EntryWord<'t>>> {
        match self.skip_blanks()? {
            None => Ok(None),
            Some(b'"') => self.quoted().map(Some),
            Some(_) => Ok(Some(self.word())),
        }
    }

    /// Returns the next word. Quotes after its first `=` belong to it, as in `alpn="h2"`. RFC 9460 2.1.
    pub(crate) fn next_pair(&mut self) -> Read<Option<EntryWord<'t>>> {
        match self.skip_blanks()? {
            None => Ok(None),
            Some(b'"') => self.quoted().map(Some),
            Some(_) => self.pair().map(Some),
        }
    }

    /// Returns the next word, which is required.
    #[inline(always)]
    pub(crate) fn require(&mut self, expected: &'static str) -> Read<EntryWord<'t>> {
        match self.word_after_blank() {
            Some(word) => Ok(word),
            None => self.require_in_new_block(expected),
        }
    }

    #[inline(never)]
    fn require_in_new_block(&mut self, expected: &'static str) -> Read<EntryWord<'t>> {
        self.next_in_new_block()?.ok_or_else(|| EntryError::Missing(expected).into())
    }

    /// Returns true if the entry has no more words.
    #[inline]
    pub(crate) fn is_done(&mut self) -> Read<bool> {
        if self.is_at_line_end() {
            return Ok(true);
        }
        Ok(self.skip_blanks()?.is_none())
    }

    /// Returns true and moves on if the next word is `\#`. RFC 3597 section 5.
    #[inline]
    pub(crate) fn passes_generic(&mut self) -> Read<bool> {
        if let Some([b' ' | b'\t', b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9']) =
            self.text.get(self.at..self.at + 2)
        {
            return Ok(false);
        }
        if self.skip_blanks()? != Some(b'\\') || self.text.get(self.at + 1) != Some(&b'#') {
            return Ok(false);
        }
        let before = self.position();
        let is_generic = self.word().len() == 2;
        if !is_generic {
            self.at = before.at;
            self.load_block(self.at);
        }
        Ok(is_generic)
    }

    /// Checks that the entry has no more words and is complete.
    #[inline]
    pub(crate) fn end(&mut self) -> Read<()> {
        if self.is_at_line_end() && self.at - self.entry_at <= MAX_ENTRY {
            return Ok(());
        }
        if let Some(word) = self.next()? {
            return Err(EntryError::SecondInput(shown(word.bytes())).into());
        }
        if self.is_cut {
            return Err(EntryError::Ended.into());
        }
        if self.at - self.entry_at > MAX_ENTRY { Err(EntryError::Long.into()) } else { Ok(()) }
    }

    /// Returns the rest of the entry as written, and moves past it.
    pub(crate) fn take_rest(&mut self) -> Read<&'t [u8]> {
        self.skip_blanks()?;
        let start = self.at;
        while self.next()?.is_some() {}
        Ok(&self.text[start..self.at])
    }

    /// Moves past the rest of the entry and the end of its line.
    #[inline]
    pub(crate) fn finish(&mut self) -> EntryEnd {
        if self.is_at_line_end() {
            self.pass_line_end();
            return EntryEnd::Line;
        }
        self.finish_any()
    }

    #[inline(never)]
    fn finish_any(&mut self) -> EntryEnd {
        loop {
            match self.next() {
                Ok(None) => break,
                // This error occurs at the end of the text only.
                Err(error) if *error == EntryError::OpenParenthesis => break,
                _ => {}
            }
        }
        if self.is_cut {
            return EntryEnd::Cut;
        }
        if self.depth > 0 {
            return EntryEnd::Open(self.open);
        }
        if self.at < self.text.len() {
            self.pass_line_end();
        }
        EntryEnd::Line
    }

    /// Continues at the line after a position.
    pub(crate) fn go_on_after(&mut self, position: TextPosition) {
        let rest = &self.text[position.at..];
        self.is_cut = false;
        match memchr(b'\n', rest) {
            Some(len) => (self.at, self.line) = (position.at + len + 1, position.line.saturating_add(1)),
            None => (self.at, self.line) = (self.text.len(), position.line),
        }
        self.load_block(self.at);
    }

    /// Returns true at the end of a line outside of parentheses.
    #[inline]
    fn is_at_line_end(&self) -> bool {
        self.depth == 0 && self.text.get(self.at) == Some(&b'\n')
    }

    #[inline]
    fn pass_line_end(&mut self) {
        self.at += 1;
        self.line = self.line.saturating_add(1);
    }

    /// Returns the first byte of the next word. Returns None at the end of the entry, and does not move past it.
    #[inline]
    fn skip_blanks(&mut self) -> Read<Option<u8>> {
        loop {
            match self.text.get(self.at).copied() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\r') => self.pass_return()?,
                Some(b'\n') if self.depth == 0 => return Ok(None),
                Some(b'\n') => self.pass_line_end(),
                Some(b';') => self.skip_comment()?,
                Some(b'(') => self.open_parenthesis(),
                Some(b')') => self.close_parenthesis()?,
                None => return self.text_ends().map(|()| None),
                byte => return Ok(byte),
            }
        }
    }

    #[cold]
    fn text_ends(&mut self) -> Read<()> {
        self.is_cut = !self.is_last;
        if self.depth > 0 { Err(EntryError::OpenParenthesis.into()) } else { Ok(()) }
    }

    fn skip_comment(&mut self) -> Read<()> {
        let rest = &self.text[self.at..];
        let comment = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
        self.at += comment.len();
        // Another line end would turn the records behind it into a comment. The CR of CRLF is the last byte.
        let ends = memchr2_iter(b'\r', 0xC2, comment.strip_suffix(b"\r").unwrap_or(comment));
        match ends.filter_map(|at| ForeignLineEnd::at(comment, at)).next() {
            Some(end) => Err(EntryError::LineEnd(end).into()),
            None => Ok(()),
        }
    }

    /// Moves past the CR of CRLF, or one at the end of the text.
    fn pass_return(&mut self) -> Read<()> {
        self.at += 1;
        match self.text.get(self.at) {
            None | Some(b'\n') => Ok(()),
            Some(_) => Err(EntryError::LineEnd(ForeignLineEnd::CarriageReturn).into()),
        }
    }

    fn open_parenthesis(&mut self) {
        if self.depth == 0 {
            self.open = self.position();
        }
        self.depth = self.depth.saturating_add(1);
        self.at += 1;
    }

    fn close_parenthesis(&mut self) -> Read<()> {
        self.at += 1;
        self.depth = self.depth.checked_sub(1).ok_or(EntryError::ClosingParenthesis)?;
        Ok(())
    }

    /// Reads a word without quotes that begins here.
    #[inline]
    fn word(&mut self) -> EntryWord<'t> {
        let start = self.at;
        let end = self.find_mark(start);
        if let Some(b' ' | b'\n' | b'\t') = self.text.get(end) {
            self.at = end;
            return EntryWord::new(&self.text[start..], end - start, WordKind::Plain);
        }
        self.unusual_word(start, end)
    }

    /// Acts as `word` for a word whose first mark, at `find_mark`, is not a blank.
    fn unusual_word(&mut self, start: usize, mark: usize) -> EntryWord<'t> {
        let mut kind = WordKind::Plain;
        let mut end = mark;
        loop {
            match self.text.get(end) {
                None | Some(b' ' | b'\t' | b'\r' | b'\n' | b';' | b'(' | b')' | b'"') => break,
                Some(b'\\') => {
                    kind = WordKind::Escaped;
                    // A backslash at the end of a line does not join it with the next line: the name or string is
                    // malformed.
                    let is_alone = matches!(self.text.get(end + 1), None | Some(b'\r' | b'\n'));
                    end = self.find_mark(end + if is_alone { 1 } else { 2 });
                }
                Some(_) => end = self.find_mark(end + 1),
            }
        }
        self.is_cut |= end == self.text.len() && !self.is_last;
        self.at = end;
        EntryWord::new(&self.text[start..], end - start, kind)
    }

    fn pair(&mut self) -> Read<EntryWord<'t>> {
        let start = self.at;
        let key = self.word();
        if !key.bytes().ends_with(b"=") || self.text.get(self.at) != Some(&b'"') {
            return Ok(key);
        }
        self.quoted()?;
        Ok(EntryWord::new(&self.text[start..], self.at - start, WordKind::Escaped))
    }

    /// Reads a quoted string whose opening quote is here.
    fn quoted(&mut self) -> Read<EntryWord<'t>> {
        let start = self.at + 1;
        let mut end = self.find_mark(start);
        loop {
            match self.text.get(end) {
                Some(b'"') => break,
                // The byte after a backslash may be a quote that does not end the string.
                Some(b'\\') if self.text.get(end + 1) != Some(&b'\n') => end = self.find_mark(end + 2),
                None | Some(b'\n' | b'\\') => {
                    self.at = end.min(self.text.len());
                    self.is_cut |= self.at == self.text.len() && !self.is_last;
                    return Err(EntryError::OpenQuote.into());
                }
                Some(_) => end = self.find_mark(end + 1),
            }
        }
        self.at = end + 1;
        Ok(EntryWord::new(&self.text[start..], end - start, WordKind::Quoted))
    }

    /// Returns the position of the first byte from `from` on at which a word may end, or the length of the text.
    #[inline]
    fn find_mark(&mut self, mut from: usize) -> usize {
        loop {
            let passed = from.wrapping_sub(self.block);
            if passed < BLOCK {
                let marks = self.marks >> passed;
                if marks != 0 {
                    return from + marks.trailing_zeros() as usize;
                }
                from = self.block + BLOCK;
            }
            if from >= self.text.len() {
                return self.text.len();
            }
            self.load_block(from);
        }
    }

    #[inline]
    fn load_block(&mut self, from: usize) {
        self.block = from;
        let rest = self.text.get(from..).unwrap_or_default();
        // The marks of a block are found once, and every word in the block uses them.
        self.marks = match rest.first_chunk::<BLOCK>() {
            Some(block) => marks(block),
            None => last_marks(rest),
        };
    }
}

/// Returns the marks of less than a block, with a mark at the end of the text.
#[cold]
fn last_marks(rest: &[u8]) -> u64 {
    // A line feed is a mark, so that a word ends with the text.
    let mut block = [b'\n'; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    marks(&block)
}
