//! The parts of lines in the log files of services: texts of any bytes, numbers and times.

use std::fmt::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::calendar::date_of;

/// A text as a JSON string of a maximum number of characters. A text that was cut ends in three dots. Characters that
/// could end a line, move a terminal's cursor or change the direction of a text are escaped.
#[derive(Clone, Copy, Debug)]
pub struct QuotedText<'t>(pub &'t str, pub usize);

impl QuotedText<'_> {
    /// Appends the string to a line.
    pub fn append_to(&self, line: &mut Vec<u8>) {
        let Self(text, max) = *self;
        // Nearly all names are plain, and one copy is much faster than a loop over their letters.
        if text.len() <= max && text.bytes().all(is_plain) {
            line.push(b'"');
            line.extend_from_slice(text.as_bytes());
            line.push(b'"');
        } else {
            line.extend_from_slice(self.to_string().as_bytes());
        }
    }
}

impl fmt::Display for QuotedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text, max) = *self;
        f.write_char('"')?;
        let mut letters = text.chars();
        for letter in letters.by_ref().take(max) {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                letter if is_unsafe(letter) => write!(f, "\\u{:04x}", u32::from(letter))?,
                letter => f.write_char(letter)?,
            }
        }
        f.write_str(if letters.next().is_some() { "...\"" } else { "\"" })
    }
}

/// Returns true if a byte stands for itself in a JSON string.
#[must_use]
pub fn is_plain(byte: u8) -> bool {
    (b' '..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\\')
}

/// Returns true for control characters, for line ends of Unicode, which some readers take for the end of an entry, and
/// for marks that are not seen or that change the order of the letters around them.
fn is_unsafe(letter: char) -> bool {
    matches!(letter,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// Appends a number in decimal digits.
pub fn push_number(line: &mut Vec<u8>, mut number: u64) {
    // 2^64 has twenty digits.
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[start..]);
}

/// Appends a time of RFC 3339 in UTC, with microseconds.
pub fn push_time(line: &mut Vec<u8>, time: SystemTime) {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, rest) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date_of(days);
    let mut digits = |number: u64, len: u32, end: u8| {
        line.extend((0..len).rev().map(|power| b'0' + (number / 10_u64.pow(power) % 10) as u8));
        line.push(end);
    };
    digits(year, 4, b'-');
    digits(month, 2, b'-');
    digits(day, 2, b'T');
    digits(rest / 3600, 2, b':');
    digits(rest / 60 % 60, 2, b':');
    digits(rest % 60, 2, b'.');
    digits(since.subsec_micros().into(), 6, b'Z');
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_and_texts_are_written_as_the_library_formats_them() {
        for number in [0, 1, 9, 10, 1_780_000_000_000, u64::MAX] {
            let mut line = Vec::new();
            push_number(&mut line, number);
            assert_eq!(String::from_utf8(line).unwrap(), number.to_string());
        }
        for text in ["", "plain-1", "a\"b", "\u{1}", "ü", &"x".repeat(64), &"x".repeat(65)] {
            let (quoted, mut line) = (QuotedText(text, 64), Vec::new());
            quoted.append_to(&mut line);
            assert_eq!(String::from_utf8(line).unwrap(), quoted.to_string());
        }
    }

    #[test]
    fn a_text_of_any_characters_is_a_json_string_without_controls_and_marks() {
        let shown = |text: &str| QuotedText(text, 100).to_string();
        assert_eq!(shown("\u{1b}[31m\n\u{202e}\u{2066}"), "\"\\u001b[31m\\u000a\\u202e\\u2066\"");
        assert_eq!(shown("ü 日本 😀 '"), "\"ü 日本 😀 '\"");
        assert_eq!(QuotedText("abc", 2).to_string(), "\"ab...\"");
    }

    #[test]
    fn times_have_the_form_of_rfc_3339() {
        for (micros, expected) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399_999_999, "2000-02-28T23:59:59.999999Z"),
            (1_796_071_565_000_042, "2026-11-30T20:46:05.000042Z"),
            (4_102_444_800_000_000, "2100-01-01T00:00:00.000000Z"),
        ] {
            let mut line = Vec::new();
            push_time(&mut line, UNIX_EPOCH + Duration::from_micros(micros));
            assert_eq!(String::from_utf8(line).unwrap(), expected);
        }
    }
}
