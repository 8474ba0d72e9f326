//! `$GENERATE`: records from a template and a range, as in BIND.

use super::reader::ZoneReader;
use super::scope::{RecordHead, is_class};
use crate::records::ZoneRecords;
use crate::rtype::RecordType;
use crate::text::entries::{EntryEnd, EntryWords, TextPosition};
use crate::text::word::{EntryWord, WordKind, digits};
use crate::text::{EntryError, Read};

/// The maximum width of a padded number. A longer one could not be part of a name.
const MAX_WIDTH: u32 = 255;

/// A range of numbers, its end included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberRange {
    first: u32,
    last: u32,
    step: u32,
}

/// The form of a number in a record: `${offset,width,base}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberForm {
    offset: i64,
    width: usize,
    base: u8,
}

impl ZoneReader<'_> {
    /// Parses the words after `$GENERATE` in `$GENERATE first-last[/step] owner [ttl] [class] type data`.
    pub(super) fn generate(&mut self, words: &mut EntryWords<'_>, records: &mut ZoneRecords) -> Read<()> {
        let line = words.line();
        let range = NumberRange::parse(words.require("a range")?)?;
        if range.count() > u64::from(self.max_generated) {
            return Err(EntryError::Generate("the range makes more records than allowed").into());
        }
        let template = words.take_rest()?;
        words.end()?;
        let template = without_quotes(template)?;
        let mut text = Vec::new();
        for number in (range.first..=range.last).step_by(range.step as usize) {
            text.clear();
            fill(&template, number, &mut text)?;
            self.generated(&text, line, records)?;
        }
        Ok(())
    }

    fn generated(&mut self, text: &[u8], line: u32, records: &mut ZoneRecords) -> Read<()> {
        let mut words = EntryWords::new(text, TextPosition { at: 0, line }, true);
        words.begin();
        self.scope.read_owner(&mut words, records)?;
        let head = RecordHead::read(&mut words)?;
        if head.rtype == RecordType::SOA {
            return Err(EntryError::Generate("a range cannot contain an SOA record: a zone has one").into());
        }
        self.record_of(head, line, &mut words, records)?;
        debug_assert_eq!(words.finish(), EntryEnd::Line);
        Ok(())
    }
}

impl NumberRange {
    fn parse(word: EntryWord<'_>) -> Read<Self> {
        let parse = || {
            let text = word.bytes();
            let (range, step) = match text.iter().position(|byte| *byte == b'/') {
                Some(at) => (&text[..at], digits(&text[at + 1..])?),
                None => (text, 1),
            };
            let at = range.iter().position(|byte| *byte == b'-')?;
            let (first, last) = (digits(&range[..at])?, digits(&range[at + 1..])?);
            (first <= last && last <= i32::MAX as u32 && step > 0).then_some(Self { first, last, step })
        };
        parse().ok_or_else(|| EntryError::word(word, "a range such as 1-100 or 0-30/2"))
    }

    fn count(self) -> u64 {
        u64::from((self.last - self.first) / self.step) + 1
    }
}

/// Removes the quotes of a template whose data is one quoted string. BIND allows such a string for data of several
/// words.
fn without_quotes(template: &[u8]) -> Read<Vec<u8>> {
    let mut words = EntryWords::new(template, TextPosition::default(), true);
    words.begin();
    words.require("an owner's name")?;
    let mut word = words.require("a type")?;
    while word.bytes().first().is_some_and(u8::is_ascii_digit) || is_class(word)? {
        word = words.require("a type")?;
    }
    let before = words.position().at;
    let data = words.require("data")?;
    if data.kind() != WordKind::Quoted || !words.is_done()? {
        return Ok(template.to_vec());
    }
    let mut bare = template[..before].to_vec();
    bare.push(b' ');
    let mut escaped = false;
    for &byte in data.bytes() {
        // A quote within the string loses its backslash. It then begins or ends a string of the data.
        if escaped && byte == b'"' {
            bare.pop();
        }
        escaped = byte == b'\\' && !escaped;
        bare.push(byte);
    }
    Ok(bare)
}

/// Appends the template with `number` for each dollar sign. Escaped dollar signs stay, and two stand for one.
fn fill(template: &[u8], number: u32, out: &mut Vec<u8>) -> Read<()> {
    let mut rest = template;
    loop {
        match rest {
            [] => return Ok(()),
            [b'\\', byte, after @ ..] => {
                out.extend_from_slice(&[b'\\', *byte]);
                rest = after;
            }
            [b'$', b'$', after @ ..] => {
                out.push(b'$');
                rest = after;
            }
            [b'$', b'{', after @ ..] => {
                let close = after.iter().position(|byte| *byte == b'}');
                let close = close.ok_or(EntryError::Generate("`${` without `}`"))?;
                let form = NumberForm::parse(&after[..close]);
                let form = form.ok_or(EntryError::Generate("`${` without offset,width,base after it"))?;
                form.write(number, out)?;
                rest = &after[close + 1..];
            }
            [b'$', after @ ..] => {
                out.extend_from_slice(number.to_string().as_bytes());
                rest = after;
            }
            [byte, after @ ..] => {
                out.push(*byte);
                rest = after;
            }
        }
    }
}

impl NumberForm {
    fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = text.split(|byte| *byte == b',');
        let offset = std::str::from_utf8(parts.next()?).ok()?.parse::<i32>().ok()?;
        let width = parts.next().map_or(Some(0), digits).filter(|width| *width <= MAX_WIDTH)?;
        let base = match parts.next() {
            None => b'd',
            Some([base @ (b'd' | b'o' | b'x' | b'X' | b'n' | b'N')]) => *base,
            Some(_) => return None,
        };
        parts.next().is_none().then_some(Self { offset: offset.into(), width: width as usize, base })
    }

    fn write(self, number: u32, out: &mut Vec<u8>) -> Read<()> {
        let decimal = i32::try_from(i64::from(number) + self.offset)
            .map_err(|_| EntryError::Generate("a number and its offset beyond -2147483648 to 2147483647"))?;
        // BIND prints negative numbers of other bases than ten as 32 bits.
        let (value, width) = (decimal.cast_unsigned(), self.width);
        let text = match self.base {
            b'o' => format!("{value:0width$o}"),
            b'x' => format!("{value:0width$x}"),
            b'X' => format!("{value:0width$X}"),
            b'n' => nibbles(&format!("{value:x}"), width),
            b'N' => nibbles(&format!("{value:X}"), width),
            _ => format!("{decimal:0width$}"),
        };
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Returns hexadecimal digits from the right with dots between them, as in `ip6.arpa`. Zeros pad it to `width`, which
/// includes the dots.
fn nibbles(hex: &str, width: usize) -> String {
    let mut out = String::new();
    for digit in hex.chars().rev() {
        if !out.is_empty() {
            out.push('.');
        }
        out.push(digit);
    }
    while out.len() < width {
        out.push_str(if out.len() + 1 < width { ".0" } else { "." });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str, number: u32) -> Read<String> {
        let mut out = Vec::new();
        fill(template.as_bytes(), number, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn prints_numbers_in_the_stated_form() {
        let cases = [
            ("a$b$$c\\$", "a18b$c\\$"),
            ("${0}", "18"),
            ("${-8,4,d}", "0010"),
            ("${0,3,o}-${0,4,x}-${8,0,X}", "022-0012-1A"),
            ("${0,8,n}", "2.1.0.0."),
            ("${0,7,n}", "2.1.0.0"),
            ("${0,0,N}", "2.1"),
        ];
        for (template, expected) in cases {
            assert_eq!(filled(template, 18).as_deref(), Ok(expected), "{template}");
        }
        // The output of BIND 9.18.
        let below_zero = [
            ("${-22,4,d}", "-004"),
            ("${-22,4,x}", "fffffffc"),
            ("${-22,0,o}", "37777777774"),
            ("${+1}", "19"),
        ];
        for (template, expected) in below_zero {
            assert_eq!(filled(template, 18).as_deref(), Ok(expected), "{template}");
        }
        assert_eq!(filled("${-22,4,n}", 18).as_deref(), Ok("c.f.f.f.f.f.f.f"));
        let bad = ["${", "${}", "${0,256}", "${0,1,y}", "${0,1,d,}", "${0,}", "${1,2,dd}", "${2147483630}"];
        for bad in bad {
            assert!(filled(bad, 18).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_range_includes_both_ends() {
        let range = |text: &str| {
            NumberRange::parse(EntryWord::new(text.as_bytes(), text.len(), WordKind::Plain)).ok()
        };
        assert_eq!(range("1-3").map(NumberRange::count), Some(3));
        assert_eq!(range("0-10/4").map(NumberRange::count), Some(3));
        assert_eq!(range("7-7/9").map(NumberRange::count), Some(1));
        for bad in ["", "1", "3-1", "1-2/0", "1-2/", "-1-2", "0-2147483648"] {
            assert_eq!(range(bad), None, "{bad}");
        }
    }
}
