//! Canonical bodies, in one piece and as streams. RFC 6376 3.4.3 and 3.4.4.
//!
//! Empty lines at the end of a body are dropped. A stream therefore holds back every CRLF at its end until more data
//! comes. It stores only the number of them.

use std::ops::Range;

use super::CanonicalForm;
use super::blanks::{BLOCK, BlankMask};

/// The number of input bytes that are converted at a time. It bounds the scratch memory of a stream.
const PIECE: usize = 32 << 10;

/// CRLFs that were held back are written sixteen at a time.
const LINES: [u8; 32] = *b"\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n";

/// A canonicalizer for a body that arrives in pieces. Its memory does not grow with the body.
#[derive(Clone, Debug)]
pub struct BodyCanonicalizer {
    form: CanonicalForm,
    /// True if white space was read that becomes one space, unless the line ends after it.
    has_space: bool,
    /// True if a CR was read that may be half of a CRLF.
    has_cr: bool,
    /// The number of CRLFs that are dropped unless data follows them.
    held: u64,
    /// True if output was written.
    is_begun: bool,
    scratch: Vec<u8>,
}

impl BodyCanonicalizer {
    /// Makes a canonicalizer for a new body.
    #[must_use]
    pub fn new(form: CanonicalForm) -> Self {
        Self { form, has_space: false, has_cr: false, held: 0, is_begun: false, scratch: Vec::new() }
    }

    /// Returns the form that it produces.
    #[must_use]
    pub fn form(&self) -> CanonicalForm {
        self.form
    }

    /// Converts the next bytes of the body and passes the canonical bytes to `out`.
    pub fn push(&mut self, body: &[u8], out: &mut impl FnMut(&[u8])) {
        let mut scratch = std::mem::take(&mut self.scratch);
        // `convert` needs `self` and the scratch mutably at the same time, so the scratch is taken out of `self`.
        for piece in body.chunks(PIECE) {
            scratch.clear();
            self.convert(piece, &mut scratch);
            self.emit(&scratch, out);
        }
        self.scratch = scratch;
    }

    /// Ends the body. An empty body stays empty in relaxed form and becomes one CRLF in simple form.
    pub fn finish(mut self, out: &mut impl FnMut(&[u8])) {
        let mut rest = Vec::new();
        self.flush(&mut rest);
        self.emit(&rest, out);
        // RFC 6376 3.4.3 and 3.4.4: every non-empty body ends with one CRLF, and an empty one in simple form is one
        // CRLF.
        if self.is_begun || self.form == CanonicalForm::Simple {
            out(b"\r\n");
        }
    }

    /// Converts a piece, except for CRLFs at its end.
    fn convert(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        match self.form {
            CanonicalForm::Relaxed => self.relax(piece, out),
            CanonicalForm::Simple => {
                self.flush(out);
                let (kept, last) = match piece {
                    [kept @ .., b'\r'] => (kept, true),
                    _ => (piece, false),
                };
                out.extend_from_slice(kept);
                // A CR at the end of the piece may be half of a CRLF that must be held back.
                self.has_cr = last;
            }
        }
    }

    /// Writes the bytes that waited for a successor. White space at the very end of a body is dropped, because it also
    /// ends a line.
    fn flush(&mut self, out: &mut Vec<u8>) {
        if self.has_cr {
            if std::mem::take(&mut self.has_space) {
                out.push(b' ');
            }
            out.push(b'\r');
        }
        (self.has_cr, self.has_space) = (false, false);
    }

    fn emit(&mut self, canonical: &[u8], out: &mut impl FnMut(&[u8])) {
        let mut kept = canonical;
        // CRLFs at the end may turn out to be empty lines at the end of the body.
        while let [rest @ .., b'\r', b'\n'] = kept {
            kept = rest;
        }
        // `canonical` may be CRLFs only. They are counted, and written if data follows.
        if !kept.is_empty() {
            self.emit_held_lines(out);
            out(kept);
            self.is_begun = true;
        }
        self.held += (canonical.len() - kept.len()) as u64 / 2;
    }

    fn emit_held_lines(&mut self, out: &mut impl FnMut(&[u8])) {
        let mut lines = std::mem::take(&mut self.held);
        while lines > 0 {
            let now = lines.min(LINES.len() as u64 / 2);
            out(&LINES[..2 * now as usize]);
            lines -= now;
        }
    }

    /// Turns each run of white space into one space, or into nothing at the end of a line.
    fn relax(&mut self, input: &[u8], out: &mut Vec<u8>) {
        out.reserve(input.len() + BLOCK);
        let mut at = 0;
        while at < input.len() {
            // A block is converted with the bytes after it, but without those before it. So no byte may be pending.
            if !self.has_space && !self.has_cr {
                at += relax_blocks(&input[at..], out);
            }
            if let Some(byte) = input.get(at) {
                self.push_byte(*byte, out);
                at += 1;
            }
        }
    }

    /// Converts one byte whose neighbours matter.
    fn push_byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        // The white space before a CRLF is dropped with `has_space`.
        if self.has_cr && byte == b'\n' {
            (self.has_cr, self.has_space) = (false, false);
            out.extend_from_slice(b"\r\n");
            return;
        }
        if self.has_cr {
            self.flush(out);
        }
        match byte {
            b' ' | b'\t' => self.has_space = true,
            b'\r' => self.has_cr = true,
            _ => {
                if std::mem::take(&mut self.has_space) {
                    out.push(b' ');
                }
                out.push(byte);
            }
        }
    }
}

/// The number of bytes after a block that are needed to convert its last byte. White space is dropped before more
/// white space and before a CRLF.
const BEHIND: usize = 2;

/// Converts whole blocks as long as enough bytes follow them. Returns the number of converted bytes. The state after
/// them does not depend on them.
fn relax_blocks(input: &[u8], out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    while let Some((block, behind)) = input[at..].split_first_chunk::<BLOCK>()
        && let Some(behind) = behind.first_chunk::<BEHIND>()
    {
        relax_block(block, *behind, out);
        at += BLOCK;
    }
    at
}

#[inline]
fn relax_block(block: &[u8; BLOCK], behind: [u8; BEHIND], out: &mut Vec<u8>) {
    let BlankMask { low, has_tab } = BlankMask::find(block);
    // A byte can only be dropped if its successor is white space or a control character. Most blocks have no such byte
    // and are copied whole.
    let candidates = low & (low >> 1 | u64::from(behind[0] <= b' ') << (BLOCK - 1));
    if candidates == 0 && !has_tab {
        out.extend_from_slice(block);
        return;
    }
    let mut window = [0; 2 * BLOCK];
    // The window is twice as long as a block, so that a copy of a whole block from any position stays inside.
    window[..BLOCK].copy_from_slice(block);
    window[BLOCK..][..BEHIND].copy_from_slice(&behind);
    let is_dropped = |index: usize| {
        let next = &window[index + 1..];
        matches!(window[index], b' ' | b'\t')
            && (matches!(next[0], b' ' | b'\t') || next.starts_with(b"\r\n"))
    };
    let mut dropped = 0_u64;
    let mut rest = candidates;
    while rest != 0 {
        let index = rest.trailing_zeros();
        dropped |= u64::from(is_dropped(index as usize)) << index;
        // This clears the lowest set bit.
        rest &= rest - 1;
    }
    if has_tab {
        for byte in &mut window[..BLOCK] {
            *byte = if *byte == b'\t' { b' ' } else { *byte };
        }
    }
    let mut from = 0;
    while from < BLOCK {
        // A fixed-size copy that is cut afterwards is faster than a copy of variable length.
        let kept = ((dropped >> from).trailing_zeros() as usize).min(BLOCK - from);
        let len = out.len();
        out.extend_from_slice(&window[from..from + BLOCK]);
        out.truncate(len + kept);
        from += kept;
        from += ((!(dropped >> (from & (BLOCK - 1)))).trailing_zeros() as usize).min(BLOCK - from);
    }
}

/// Appends the canonical form of a whole body to `out`. Returns its range.
pub(crate) fn canonicalize_body(form: CanonicalForm, body: &[u8], out: &mut Vec<u8>) -> Range<usize> {
    let start = out.len();
    let mut canonicalizer = BodyCanonicalizer::new(form);
    canonicalizer.convert(body, out);
    canonicalizer.flush(out);
    let mut end = out.len();
    while end - start >= 2 && out[end - 2..end] == *b"\r\n" {
        end -= 2;
    }
    out.truncate(end);
    if end > start || form == CanonicalForm::Simple {
        out.extend_from_slice(b"\r\n");
    }
    start..out.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules of the RFC, word by word and line by line.
    fn reference(form: CanonicalForm, body: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = vec![vec![]];
        let mut rest = body;
        while let [first, others @ ..] = rest {
            if let Some(behind) = rest.strip_prefix(b"\r\n") {
                lines.push(vec![]);
                rest = behind;
            } else {
                lines.last_mut().unwrap().push(*first);
                rest = others;
            }
        }
        if form == CanonicalForm::Relaxed {
            for line in &mut lines {
                while matches!(line.last(), Some(b' ' | b'\t')) {
                    line.pop();
                }
                let mut relaxed: Vec<u8> = vec![];
                for byte in line.iter() {
                    match byte {
                        b' ' | b'\t' if relaxed.last() == Some(&b' ') => {}
                        b'\t' => relaxed.push(b' '),
                        _ => relaxed.push(*byte),
                    }
                }
                *line = relaxed;
            }
        }
        while lines.last().is_some_and(Vec::is_empty) {
            lines.pop();
        }
        let empty = if form == CanonicalForm::Simple { &b"\r\n"[..] } else { b"" };
        if lines.is_empty() { empty.into() } else { [lines.join(&b"\r\n"[..]), b"\r\n".into()].concat() }
    }

    fn streamed(form: CanonicalForm, body: &[u8], pieces: &[usize]) -> Vec<u8> {
        let mut out = vec![];
        let mut give = |bytes: &[u8]| out.extend_from_slice(bytes);
        let mut canonicalizer = BodyCanonicalizer::new(form);
        let mut rest = body;
        let mut sizes = pieces.iter().cycle();
        while !rest.is_empty() {
            let (piece, others) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            canonicalizer.push(piece, &mut give);
            rest = others;
        }
        canonicalizer.finish(&mut give);
        out
    }

    fn whole(form: CanonicalForm, body: &[u8]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        let span = canonicalize_body(form, body, &mut out);
        assert!(out.starts_with(b"before") && span == (6..out.len()));
        out.split_off(6)
    }

    #[test]
    fn the_examples_of_the_rfc() {
        // RFC 6376 3.4.5 and 3.4.6.
        let body = b" C \r\nD \t E\r\n\r\n\r\n";
        assert_eq!(whole(CanonicalForm::Relaxed, body), b" C\r\nD E\r\n");
        assert_eq!(whole(CanonicalForm::Simple, body), b" C \r\nD \t E\r\n");
        assert_eq!(whole(CanonicalForm::Simple, b""), b"\r\n");
        assert_eq!(whole(CanonicalForm::Relaxed, b""), b"");
        assert_eq!(whole(CanonicalForm::Simple, b"\r\n\r\n"), b"\r\n");
    }

    #[test]
    fn drops_last_lines_of_white_space() {
        assert_eq!(whole(CanonicalForm::Relaxed, b"a\r\n \t \r\n\t\r\n"), b"a\r\n");
        assert_eq!(whole(CanonicalForm::Relaxed, b" \r\n \r\n \t"), b"");
        assert_eq!(whole(CanonicalForm::Relaxed, b"a \r \n b"), b"a \r \n b\r\n");
    }

    #[test]
    fn canonicalizes_every_text_of_six_bytes_whole_and_in_pieces() {
        let alphabet = b"a \t\r\n";
        for number in 0..alphabet.len().pow(6) {
            let digits = (0..6).scan(number, |rest, _| {
                let digit = *rest % alphabet.len();
                *rest /= alphabet.len();
                Some(alphabet[digit])
            });
            let text: Vec<u8> = digits.collect();
            for form in [CanonicalForm::Simple, CanonicalForm::Relaxed] {
                let expected = reference(form, &text);
                assert_eq!(whole(form, &text), expected, "{form} {}", text.escape_ascii());
                for pieces in [&[1][..], &[2], &[3], &[1, 2, 4]] {
                    let streamed = streamed(form, &text, pieces);
                    assert_eq!(streamed, expected, "{form} {pieces:?} {}", text.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn canonicalizes_long_texts_across_block_boundaries() {
        let mut state = 1_u32;
        let mut next = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % bound
        };
        for round in 0..400 {
            let len = next(700) as usize;
            let rare = 2 + next(60);
            let text: Vec<u8> = (0..len)
                .flat_map(|_| match next(rare) {
                    0 => &b"\r\n"[..],
                    1 => [&b" "[..], b"\t", b"\r", b"\n", b"  ", b" \r\n"][next(6) as usize],
                    _ => b"x",
                })
                .copied()
                .collect();
            for form in [CanonicalForm::Simple, CanonicalForm::Relaxed] {
                let expected = reference(form, &text);
                assert_eq!(whole(form, &text), expected, "round {round} {form}");
                assert_eq!(
                    streamed(form, &text, &[1 + next(90) as usize, 64, 63, 65]),
                    expected,
                    "round {round} {form}"
                );
            }
        }
    }

    #[test]
    fn holds_back_a_million_empty_lines_as_a_number() {
        let mut canonicalizer = BodyCanonicalizer::new(CanonicalForm::Relaxed);
        let (mut given, mut longest) = (0, 0);
        let mut give = |bytes: &[u8]| {
            given += bytes.len();
            longest = longest.max(bytes.len());
        };
        let lines = b" \r\n".repeat(1000);
        for _ in 0..1000 {
            canonicalizer.push(&lines, &mut give);
        }
        canonicalizer.push(b"x", &mut give);
        assert!(canonicalizer.scratch.capacity() < 2 * PIECE);
        canonicalizer.finish(&mut give);
        assert_eq!((given, longest), (2_000_003, LINES.len()));
    }
}
