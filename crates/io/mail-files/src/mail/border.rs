//! The lines `From ...` with which the messages of an mbox begin.
//!
//! Two rules are in use: such a line ends in a date, or an empty line stands before it. Programs break either, and a
//! sentence may begin with "From". So a date suffices, and without one an empty line before and a header field behind
//! are needed. RFC 4155 appendix A.

use std::fmt;

use memchr::{memchr, memchr_iter, memmem};

/// A line `From ...` about which the two rules disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MboxBorder {
    /// The number of the line, from 1.
    pub line: u64,
    /// The meaning that the line has here.
    pub reading: BorderReading,
}

/// The meaning of a line `From ...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BorderReading {
    /// A message begins: the line ends in a date, but no empty line is before it.
    NoEmptyLine,
    /// A message begins: the line has no date, but an empty line is before it and a header field behind it.
    NoDate,
    /// A part of the message: an empty line is before it, but it has no date, and no header field is behind it.
    Text,
}

impl fmt::Display for MboxBorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reading = match self.reading {
            BorderReading::NoEmptyLine => "begins a message, although no empty line is before it",
            BorderReading::NoDate => "begins a message, although it has no date",
            BorderReading::Text => "is text, because it has no date and no header field is behind it",
        };
        write!(f, "line {}: `From ` {reading}", self.line)
    }
}

/// The result of a search for the next message.
pub(super) enum BorderSearch {
    /// A message begins at this position.
    Found(usize),
    /// No message begins before this position. With more text the search continues here.
    From(usize),
}

/// The maximum length of a `From ` line. A longer one counts as a part of its message.
pub(super) const MAX_ENVELOPE_BYTES: usize = 4096;

/// The maximum length of the name of a header field. The longest that is registered with IANA has 38 bytes.
const MAX_FIELD_NAME: usize = 76;

/// The number of bytes that are searched again if more text comes: an empty line and `From `.
const SEAM_BYTES: usize = 16;

/// Finds the beginning of the next message in a text that begins with a message. Adds the lines about which the rules
/// disagree to `disputed`, as positions.
pub(super) fn find_border(
    text: &[u8],
    searched: usize,
    is_at_end: bool,
    disputed: &mut Vec<(usize, BorderReading)>,
) -> BorderSearch {
    for feed in memmem::find_iter(&text[searched..], b"\nFrom ").map(|at| searched + at) {
        // An empty line before this one is needed to judge it again.
        let again = BorderSearch::From(feed.saturating_sub(2));
        let is_after_empty = matches!(text[..feed], [.., b'\n'] | [.., b'\n', b'\r']);
        let start = feed + 1;
        let Some(len) = line_len(&text[start..], is_at_end) else { return again };
        if ends_in_date(&text[start..start + len]) {
            if !is_after_empty {
                disputed.push((start, BorderReading::NoEmptyLine));
            }
            return BorderSearch::Found(start);
        }
        if !is_after_empty {
            continue;
        }
        match begins_with_field(&text[start + len..], is_at_end) {
            None => return again,
            Some(true) => {
                disputed.push((start, BorderReading::NoDate));
                return BorderSearch::Found(start);
            }
            Some(false) => disputed.push((start, BorderReading::Text)),
        }
    }
    BorderSearch::From(text.len().saturating_sub(SEAM_BYTES))
}

/// Returns the length of the line with its end, or None if the text ends before it.
fn line_len(text: &[u8], is_at_end: bool) -> Option<usize> {
    let text = &text[..text.len().min(MAX_ENVELOPE_BYTES)];
    let end = memchr(b'\n', text).map(|at| at + 1);
    end.or_else(|| (is_at_end || text.len() == MAX_ENVELOPE_BYTES).then_some(text.len()))
}

/// Returns true if a text begins with a header field (RFC 5322 2.2), or None if it is too short to tell.
fn begins_with_field(text: &[u8], is_at_end: bool) -> Option<bool> {
    let is_name = |byte: &u8| byte.is_ascii_graphic() && *byte != b':';
    let len = text.iter().take(MAX_FIELD_NAME + 1).take_while(|byte| is_name(byte)).count();
    match text.get(len) {
        Some(next) => Some(*next == b':' && (1..=MAX_FIELD_NAME).contains(&len)),
        None => is_at_end.then_some(false),
    }
}

/// The maximum number of words of a date: weekday, month, day, time, year, and two forms of a time zone.
const MAX_DATE_WORDS: usize = 7;

/// Returns true if a line ends in a date with a year, as `From jo@example.com Sat Nov 28 10:00:00 2026` does. Time
/// zones may be before or behind the year, and `remote from HOST` behind it (RFC 976).
pub(super) fn ends_in_date(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let words = match &words[..] {
        [date @ .., b"remote", b"from", _] => date,
        all => all,
    };
    let words = &words[words.len().saturating_sub(MAX_DATE_WORDS)..];
    let Some(month) = words.iter().rposition(|word| is_month(word)) else { return false };
    let beside = [month.checked_sub(1), Some(month + 1)].into_iter().flatten();
    let has_day = beside.filter_map(|at| words.get(at)).any(|word| is_day(word));
    let has_end = words.last().is_some_and(|last| is_year(last) || is_time(last) || is_zone(last));
    has_day && has_end && words.iter().any(|word| is_time(word)) && words.iter().any(|word| is_year(word))
}

fn is_month(word: &[u8]) -> bool {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    MONTHS.iter().any(|month| word.eq_ignore_ascii_case(month))
}

fn is_day(word: &[u8]) -> bool {
    let word = word.strip_suffix(b",").unwrap_or(word);
    let is_short = matches!(word.len(), 1 | 2);
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
    is_short && number.is_some_and(|number: u8| (1..=31).contains(&number))
}

/// Hours and minutes, perhaps with seconds.
fn is_time(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| *byte == b':');
    let is_part = |part: &[u8]| matches!(part.len(), 1 | 2) && part.iter().all(u8::is_ascii_digit);
    matches!(memchr_iter(b':', word).count(), 1 | 2) && parts.all(is_part)
}

fn is_year(word: &[u8]) -> bool {
    matches!(word, [b'1', b'9', ..] | [b'2', b'0', ..])
        && word.len() == 4
        && word.iter().all(u8::is_ascii_digit)
}

/// `+0100`, `GMT` or `(UTC)`.
fn is_zone(word: &[u8]) -> bool {
    let name = word.strip_prefix(b"(").and_then(|word| word.strip_suffix(b")")).unwrap_or(word);
    match name {
        [b'+' | b'-', digits @ ..] => digits.len() == 4 && digits.iter().all(u8::is_ascii_digit),
        _ => (1..=5).contains(&name.len()) && name.iter().all(u8::is_ascii_uppercase),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_has_a_year_and_ends_the_line() {
        for date in [
            "From jo@example.com Sat Nov 28 10:00:00 2026",
            "From jo@example.com  Sat Nov  8 10:00:00 2026\r\n",
            "From - Sat Nov 28 10:00:00 2026",
            "From MAILER-DAEMON Thu Jan  1 00:00:00 1970",
            "From jo at example.com  Sat Nov 28 10:00 2026",
            "From jo Sat Nov 28 10:00:00 CET 2026",
            "From jo Sat Nov 28 10:00:00 +0100 2026",
            "From jo Sat Nov 28 10:00:00 2026 +0100",
            "From jo Sat Nov 28 10:00:00 2026 (CET)",
            "From jo Sat, 28 Nov 2026 10:00:00 +0100 (CET)",
            "From 1234@xxx Sat Nov 28 10:00:00 +0000 2026",
            "From jo Sat Nov 28 10:00:00 2026 remote from host",
            "From \"J. O.\"@example.com Sat Nov 28 10:00:00 2026",
        ] {
            assert!(ends_in_date(date.as_bytes()), "{date}");
        }
        for text in [
            "From ",
            "From jo@example.com",
            "From here on",
            "From Nov 28 on, see 2026",
            "From jo Sat Nov 28 10:00:00",
            "From 10:00 to 12:00 on Nov 28 2026 we meet",
            "From Sat Nov 38 10:00:00 2026",
            "From jo Sat Nov 28 1000 2026",
            "From jo Sat Nov 28 10:00:00 26",
            "From 2026",
        ] {
            assert!(!ends_in_date(text.as_bytes()), "{text}");
        }
    }
}
