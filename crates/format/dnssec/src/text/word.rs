//! A word of an entry, and the numbers that it may stand for.

use super::error::{EntryError, Read};
use crate::rtype::RecordType;

/// The form of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// A word without quotes and escapes.
    Plain,
    /// A word without quotes, with a backslash somewhere.
    Escaped,
    /// The text between quotes, escapes included.
    Quoted,
}

/// A word of an entry as written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryWord<'t> {
    /// The text from the word's first byte on.
    from: &'t [u8],
    /// The length, and the form in two bits. A separate field for the form makes copies slower.
    len_and_kind: usize,
}

impl<'t> EntryWord<'t> {
    /// Makes a word of the first `len` bytes of `from`.
    #[inline]
    pub(crate) fn new(from: &'t [u8], len: usize, kind: WordKind) -> Self {
        Self { from, len_and_kind: len << 2 | kind as usize }
    }

    #[inline]
    pub(crate) fn bytes(self) -> &'t [u8] {
        &self.from[..self.len()]
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.len_and_kind >> 2
    }

    #[inline]
    pub(crate) fn kind(self) -> WordKind {
        match self.len_and_kind & 3 {
            0 => WordKind::Plain,
            1 => WordKind::Escaped,
            _ => WordKind::Quoted,
        }
    }

    /// Returns the text from the word's first byte on, past its end.
    #[inline]
    pub(crate) fn from(self) -> &'t [u8] {
        self.from
    }

    /// Returns a word of up to eight bytes in capital letters, the first byte lowest, padded with zeros.
    #[inline]
    pub(crate) fn capitals(self) -> Option<u64> {
        let bits = self.eight()?;
        // Letters have bit 6; digits and hyphens do not.
        Some(bits & !((bits >> 1) & 0x2020_2020_2020_2020))
    }

    /// Returns a word of up to eight bytes, the first lowest.
    #[inline]
    fn eight(self) -> Option<u64> {
        match self.from.first_chunk::<8>() {
            Some(eight) if self.len().wrapping_sub(1) < 8 => {
                Some(u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * self.len())))
            }
            Some(_) => None,
            None => self.last_eight(),
        }
    }

    /// Acts as `eight` near the end of the text, at which eight bytes cannot be loaded.
    #[cold]
    fn last_eight(self) -> Option<u64> {
        let bits = self.bytes().iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        (1..=8).contains(&self.len()).then_some(bits)
    }

    /// Parses a mnemonic in any case, or `TYPE` and a number.
    #[inline]
    pub(crate) fn record_type(self) -> Option<RecordType> {
        RecordType::parse_with_capitals(self.bytes(), self.capitals())
    }

    /// Parses the word as a number of up to ten digits that fits into 32 bits.
    #[inline]
    pub(crate) fn digits(self) -> Option<u32> {
        match self.eight() {
            // The word moves to the end of the eight bytes, after as many characters `0` as are missing. The shift is
            // in two steps, because a shift by 64 bits is not defined.
            Some(bits) => eight_digits(bits << (64 - 8 * self.len()) | ZEROS >> (8 * self.len() - 1) >> 1),
            None => digits(self.bytes()),
        }
    }

    /// Parses a decimal number up to `max`. `expected` describes it in the error.
    #[inline]
    pub(crate) fn number(self, max: u32, expected: &'static str) -> Read<u32> {
        match self.digits() {
            Some(number) if number <= max && self.kind() != WordKind::Quoted => Ok(number),
            _ => Err(EntryError::word(self, expected)),
        }
    }

    /// Parses a TTL up to [`MAX_TTL`], in the form of [`period`](Self::period).
    #[inline]
    pub(crate) fn ttl(self) -> Read<u32> {
        match self.period() {
            Ok(ttl) if ttl <= MAX_TTL => Ok(ttl),
            _ => Err(EntryError::word(self, "a TTL of up to 2147483647 seconds, or one such as 1w2d3h4m5s")),
        }
    }

    /// Parses seconds, or a sum of weeks, days, hours, minutes and seconds: `1w2d3h4m5s`.
    #[inline]
    pub(crate) fn period(self) -> Read<u32> {
        let seconds = self.digits().or_else(|| period(self.bytes()));
        seconds.ok_or_else(|| EntryError::word(self, "a time in seconds or as 1w2d3h4m5s"))
    }
}

/// The maximum TTL. RFC 2181 section 8. Verifiers treat a longer TTL as 0. They would then reject the signature, which
/// states the original TTL.
pub(crate) const MAX_TTL: u32 = i32::MAX as u32;

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Parses eight digits, the first in the lowest byte.
#[inline]
pub(crate) fn eight_digits(digits: u64) -> Option<u32> {
    // `:` to `?` have the high half of a digit too. Adding 6 changes the high half of these six bytes only.
    let above_nine = digits.wrapping_add(0x0606_0606_0606_0606);
    if digits & 0xf0f0_f0f0_f0f0_f0f0 != ZEROS || above_nine & 0xf0f0_f0f0_f0f0_f0f0 != ZEROS {
        return None;
    }
    // Neighbours are combined: digits to pairs, pairs to fours, fours to eight.
    let pairs = (digits & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 << 8 | 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 << 16 | 1) >> 16;
    Some(((fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 << 32 | 1) >> 32) as u32)
}

/// Parses a number of one to ten digits that fits into 32 bits.
#[inline]
pub(crate) fn digits(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 10 {
        return None;
    }
    let mut value = 0_u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = 10 * value + u64::from(digit);
    }
    u32::try_from(value).ok()
}

fn period(text: &[u8]) -> Option<u32> {
    let mut rest = text;
    let mut sum = 0_u32;
    while !rest.is_empty() {
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, after) = rest.split_at(len);
        let (unit, after) = after.split_first()?;
        let unit = match unit.to_ascii_lowercase() {
            b'w' => 604_800,
            b'd' => 86_400,
            b'h' => 3600,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        sum = sum.checked_add(digits(number)?.checked_mul(unit)?)?;
        rest = after;
    }
    (!text.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &[u8]) -> EntryWord<'_> {
        EntryWord::new(text, text.len(), WordKind::Plain)
    }

    #[test]
    fn periods_are_sums_of_units() {
        let cases: [(&[u8], Option<u32>); 10] = [
            (b"0", Some(0)),
            (b"4294967295", Some(u32::MAX)),
            (b"4294967296", None),
            (b"1w2d3h4m5s", Some(604_800 + 2 * 86_400 + 3 * 3600 + 4 * 60 + 5)),
            (b"1W", Some(604_800)),
            (b"7102w", None),
            (b"1h5", None),
            (b"h", None),
            (b"", None),
            (b"-1", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(word(text).period().ok(), seconds, "{text:?}");
        }
    }

    #[test]
    fn digits_are_numbers_wherever_the_text_ends() {
        for text in ["0", "7", "42", "65535", "1234567", "12345678", "123456789", "4294967295", "004"] {
            let padded = format!("{text} and more");
            let number = text.parse().ok();
            assert_eq!(word(text.as_bytes()).digits(), number, "{text}");
            assert_eq!(
                EntryWord::new(padded.as_bytes(), text.len(), WordKind::Plain).digits(),
                number,
                "{text}"
            );
        }
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for index in 0..8 {
                let mut text = *b"12345678";
                text[index] = byte;
                assert_eq!(word(&text).digits(), None, "{byte} at {index}");
            }
        }
        assert_eq!((word(b"").digits(), word(b"4294967296").digits()), (None, None));
    }

    #[test]
    fn short_words_are_integers_in_capitals() {
        let text = b"nsec3 IN";
        assert_eq!(
            EntryWord::new(text, 5, WordKind::Plain).capitals(),
            Some(u64::from_le_bytes(*b"NSEC3\0\0\0"))
        );
        assert_eq!(word(b"in").capitals(), Some(u64::from(u16::from_le_bytes(*b"IN"))));
        assert_eq!(word(b"nsec3para").capitals(), None);
        assert_eq!(word(b"").capitals(), None);
    }
}
