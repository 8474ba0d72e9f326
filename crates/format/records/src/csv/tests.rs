//! The reader against a reader that takes one character after the other.

use oarlock::keys::text_file::ForeignLineEnd;

use super::*;
use crate::error::RejectReason;
use crate::text::unescaped;

/// A row: its fields' texts, where the next one begins, whether it is well-formed.
type Read = (Vec<Vec<u8>>, usize, bool);

/// One character after the other, as RFC 4180 says; a quote that does not begin a field is a character.
fn naive(text: &[u8], start: usize) -> Read {
    let (mut fields, mut at, mut is_good) = (vec![Vec::new()], start, true);
    let (mut is_first, mut is_quoted) = (true, false);
    while at < text.len() {
        let field = fields.last_mut().unwrap();
        match text[at] {
            b'\n' => {
                at += 1;
                if !is_quoted && field.last() == Some(&b'\r') {
                    field.pop();
                }
                return (fields, at, is_good);
            }
            b',' => (is_first, is_quoted, _) = (true, false, fields.push(Vec::new())),
            b'"' if is_first => {
                at += 1;
                loop {
                    match (text.get(at), text.get(at + 1)) {
                        (Some(b'"'), Some(b'"')) => (at, _) = (at + 2, field.push(b'"')),
                        (Some(b'"'), _) => break,
                        (Some(byte), _) => (at, _) = (at + 1, field.push(*byte)),
                        (None, _) => return (fields, text.len(), false),
                    }
                }
                (is_first, is_quoted) = (false, true);
                let behind = &text[at + 1..];
                let is_end = behind.is_empty()
                    || behind.starts_with(b",")
                    || behind.starts_with(b"\n")
                    || behind.starts_with(b"\r\n");
                is_good &= is_end;
                if is_end && behind.starts_with(b"\r") {
                    at += 1;
                }
            }
            byte => (is_first, _) = (false, field.push(byte)),
        }
        at += 1;
    }
    (fields, at, is_good)
}

fn ours(text: &[u8], start: usize) -> Read {
    let mut fields = RowFields::from_chunk(text, start, b',');
    let texts = fields.by_ref().map(|field| unescaped(text, field).into_owned()).collect();
    (texts, fields.end.unwrap().next, fields.fault.is_none())
}

/// All texts of so many characters of those that mean something.
fn texts(len: u32) -> impl Iterator<Item = Vec<u8>> {
    const CHARACTERS: [u8; 5] = *b"a,\"\n\r";
    (0..5_usize.pow(len)).map(move |number| {
        let digit = |index| number / 5_usize.pow(index) % 5;
        (0..len).map(|index| CHARACTERS[digit(index)]).collect()
    })
}

#[test]
fn every_short_text_is_read_as_character_by_character() {
    for text in (1..8).flat_map(texts) {
        let mut start = 0;
        while start < text.len() {
            let (found, expected) = (ours(&text, start), naive(&text, start));
            assert_eq!((found.1, found.2), (expected.1, expected.2), "{:?}", String::from_utf8_lossy(&text));
            if found.2 {
                assert_eq!(found.0, expected.0, "{:?}", String::from_utf8_lossy(&text));
            }
            start = found.1;
        }
    }
}

#[test]
fn every_prefix_is_cut_where_a_row_ends() {
    for text in (1..8).flat_map(texts) {
        let (mut ends, mut start) = (vec![0], 0);
        while start < text.len() {
            start = ours(&text, start).1;
            if text[start - 1] == b'\n' && !is_inside(&text, start) {
                ends.push(start);
            }
        }
        for len in 0..=text.len() {
            let expected = ends.iter().rev().find(|end| **end <= len).unwrap();
            assert_eq!(whole_rows(&text[..len], b','), *expected, "{:?}", String::from_utf8_lossy(&text));
        }
    }
}

/// The state of a scan, character by character.
#[derive(Clone, Copy, PartialEq)]
enum Scan {
    FieldStart,
    Bare,
    Quoted,
    /// Behind a quote that ends a field, or is the first of two.
    Closed,
}

#[test]
fn line_ends_that_are_not_read_are_found_outside_of_quotes() {
    for text in (1..8).flat_map(texts) {
        let (mut expected, mut state) = (None, Scan::FieldStart);
        for at in 0..text.len() {
            state = match (state, text[at]) {
                (Scan::FieldStart | Scan::Closed, b'"') => Scan::Quoted,
                (Scan::Quoted, b'"') => Scan::Closed,
                (Scan::Quoted, _) => Scan::Quoted,
                (_, b'\r') if text.get(at + 1) != Some(&b'\n') => {
                    expected = Some((at, ForeignLineEnd::CarriageReturn));
                    break;
                }
                (_, b',' | b'\n') => Scan::FieldStart,
                _ => Scan::Bare,
            };
        }
        assert_eq!(foreign_line_end(&text, b','), expected, "{:?}", String::from_utf8_lossy(&text));
    }
    let next_line = |at| Some((at, ForeignLineEnd::NextLine));
    assert_eq!(foreign_line_end("a,\u{85}b".as_bytes(), b','), next_line(2));
    assert_eq!(foreign_line_end("\"\u{85}\"\u{85}".as_bytes(), b','), next_line(4));
    assert_eq!(foreign_line_end("\u{c5}\u{b5}\u{a0}".as_bytes(), b','), None);
}

/// True where the row that ends at `end` is a quoted field which does not end.
fn is_inside(text: &[u8], end: usize) -> bool {
    let mut start = 0;
    while start < end {
        let mut fields = RowFields::from_chunk(text, start, b',');
        fields.by_ref().for_each(drop);
        if fields.fault == Some(RejectReason::OpenQuote) {
            return true;
        }
        start = fields.end.unwrap().next;
    }
    false
}

#[test]
fn what_quotes_hold_comes_out_again() {
    for text in (0..6).flat_map(texts) {
        let mut quoted = crate::SecretBuffer::default();
        push_quoted(&text, &mut quoted);
        quoted.extend(b",x\n");
        let (fields, next, is_good) = ours(&quoted, 0);
        assert!(is_good && next == quoted.len());
        assert_eq!(fields, [&text[..], b"x"]);
    }
}

#[test]
fn delimiters_are_what_nothing_else_is_written_with() {
    assert!(b",;|\t: ".iter().all(|byte| is_delimiter(*byte)));
    assert!(!b"a0F\"\n\r+/=\x80".iter().any(|byte| is_delimiter(*byte)));
}
