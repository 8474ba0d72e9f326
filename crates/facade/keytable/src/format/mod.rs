//! Tokens that keep the format of a text: which characters are encrypted, which stay, and how they become numerals.
//!
//! ```
//! use oarlock_keytable::{Alphabet, TokenFormat};
//!
//! // The first six digits of a card number stay, and the token has a valid check digit.
//! let format = TokenFormat::new(Alphabet::digits()).keep_first(6).with_luhn()?;
//! let mut numerals = Vec::new();
//! format.read("4111111111111111", &mut numerals)?;
//! assert_eq!(numerals, [1; 9]);
//!
//! // An engine would encrypt the numerals here.
//! let mut token = Vec::new();
//! format.write("4111111111111111", &[9, 8, 7, 6, 5, 4, 3, 2, 1], &mut token)?;
//! assert_eq!(token, b"4111119876543212");
//! # Ok::<(), oarlock_keytable::FormatError>(())
//! ```

mod alphabet;
mod error;

use std::ops::Range;

use oarlock_core::MAX_FF1_NUMERALS;

pub use self::alphabet::Alphabet;
pub use self::error::FormatError;

/// The smallest number of texts that one length may have. With fewer texts, tokens can be guessed (NIST SP 800-38G
/// revision 1, second public draft, 4.3).
pub const MIN_TOKEN_TEXTS: u64 = 1_000_000;

/// The rule by which a text becomes numerals and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFormat {
    alphabet: Alphabet,
    keep_first: usize,
    keep_last: usize,
    has_luhn: bool,
    /// The smallest number of encrypted characters.
    min_len: usize,
}

impl TokenFormat {
    /// Returns the format that encrypts all characters of a text.
    #[must_use]
    pub fn new(alphabet: Alphabet) -> Self {
        let min_len = min_len(alphabet.radix());
        Self { alphabet, keep_first: 0, keep_last: 0, has_luhn: false, min_len }
    }

    /// Keeps so many characters at the start, of any kind.
    #[must_use]
    pub fn keep_first(mut self, characters: usize) -> Self {
        self.keep_first = characters;
        self
    }

    /// Keeps so many characters at the end, of any kind.
    #[must_use]
    pub fn keep_last(mut self, characters: usize) -> Self {
        self.keep_last = characters;
        self
    }

    /// Makes tokens whose digits have a valid check sum, as the texts must have (ISO/IEC 7812-1 annex B).
    ///
    /// The last digit that is not kept is not encrypted. It follows from the others, in the token as in the text.
    ///
    /// # Errors
    /// The alphabet is not the ten digits.
    pub fn with_luhn(mut self) -> Result<Self, FormatError> {
        if self.alphabet != Alphabet::digits() {
            return Err(FormatError::LuhnAlphabet);
        }
        self.has_luhn = true;
        Ok(self)
    }

    /// Returns the radix of the numerals.
    #[must_use]
    pub fn radix(&self) -> u32 {
        self.alphabet.radix()
    }

    /// Returns the radix as the IV column of a record has it.
    #[must_use]
    pub fn radix_bytes(&self) -> [u8; 4] {
        self.radix().to_be_bytes()
    }

    /// Appends the numerals of a text: one byte each for up to 256 characters in the alphabet, otherwise two,
    /// big-endian. These are at most twice as many bytes as the text has.
    ///
    /// # Errors
    /// A character is not in the alphabet, the text is too short or too long, or its check sum is wrong. The numerals
    /// stay as they were.
    pub fn read(&self, text: &str, numerals: &mut Vec<u8>) -> Result<(), FormatError> {
        let start = numerals.len();
        let read = self.read_all(text, numerals);
        if read.is_err() {
            numerals.truncate(start);
        }
        read
    }

    fn read_all(&self, text: &str, numerals: &mut Vec<u8>) -> Result<(), FormatError> {
        let len = self.encrypted_len(text)?;
        if self.has_luhn && !luhn_sum(text.as_bytes(), text)?.is_multiple_of(10) {
            return Err(FormatError::CheckSum);
        }
        if let (Some(tables), true) = (self.alphabet.bytes(), text.is_ascii()) {
            let part = &text.as_bytes()[self.keep_first..][..len];
            if tables.read(part, numerals) {
                return Ok(());
            }
            // The other way names the character.
            numerals.truncate(numerals.len() - len);
        }
        if text.is_ascii() {
            self.read_characters(text.bytes().map(char::from), len, numerals)
        } else {
            self.read_characters(text.chars(), len, numerals)
        }
    }

    #[inline]
    fn read_characters(
        &self,
        characters: impl Iterator<Item = char>,
        len: usize,
        numerals: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        let is_narrow = self.numeral_bytes() == 1;
        for (at, character) in characters.enumerate().skip(self.keep_first).take(len) {
            let numeral = self.alphabet.numeral(character).ok_or(FormatError::Character { at })?;
            match is_narrow {
                true => numerals.push(numeral as u8),
                false => numerals.extend(numeral.to_be_bytes()),
            }
        }
        Ok(())
    }

    /// Appends the UTF-8 of the text that has these numerals in the place of those of `text`, which is a text of the
    /// same format: the text for its token, and the token for its text. These are at most [`max_len`](Self::max_len)
    /// bytes.
    ///
    /// # Errors
    /// There are fewer or more numerals than the text has, or one is not below the radix. The output stays as it was.
    pub fn write(&self, text: &str, numerals: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
        let start = out.len();
        let written = self.write_all(text, numerals, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn write_all(&self, text: &str, numerals: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
        let len = self.encrypted_len(text)?;
        if numerals.len() != len * self.numeral_bytes() {
            return Err(FormatError::Numerals);
        }
        let start = out.len();
        let (head, rest) = split_characters(text, self.keep_first);
        let (_, rest) = split_characters(rest, len);
        out.extend(head.as_bytes());
        match self.alphabet.bytes() {
            Some(tables) => {
                if !tables.write(numerals, out) {
                    return Err(FormatError::Numerals);
                }
            }
            None => self.write_characters(numerals, out)?,
        }
        if !self.has_luhn {
            out.extend(rest.as_bytes());
            return Ok(());
        }
        let (_, tail) = split_characters(rest, 1);
        let check_place = out.len();
        out.push(b'0');
        out.extend(tail.as_bytes());
        out[check_place] = check_digit(luhn_sum(&out[start..], text)?, tail.len());
        Ok(())
    }

    /// Appends the numerals of texts of `len` ASCII characters each, which lie side by side, and returns true. Returns
    /// false if one of them has to be read by [`read`](Self::read): the numerals then stay as they were.
    ///
    /// `texts` holds whole texts, at least one.
    pub fn read_even(&self, texts: &[u8], len: usize, numerals: &mut Vec<u8>) -> bool {
        let (Some(tables), Some(part)) = (self.alphabet.bytes(), self.even_part(texts, len)) else {
            return false;
        };
        let start = numerals.len();
        let is_read = match part.len() == len {
            true => tables.read(texts, numerals),
            false => texts
                .chunks_exact(len)
                .fold(true, |all, text| all & tables.read(&text[part.clone()], numerals)),
        };
        if !is_read {
            numerals.truncate(start);
        }
        is_read
    }

    /// Appends the texts that have these numerals in the place of those of `texts`, as [`write`](Self::write) does with one
    /// text, and returns true. Returns false if a text has to be written by it: the output then stays as it was.
    ///
    /// `texts` are those that [`read_even`](Self::read_even) has read.
    pub fn write_even(&self, texts: &[u8], len: usize, numerals: &[u8], out: &mut Vec<u8>) -> bool {
        let (Some(tables), Some(part)) = (self.alphabet.bytes(), self.even_part(texts, len)) else {
            return false;
        };
        if numerals.len() * len != texts.len() * part.len() {
            return false;
        }
        let start = out.len();
        let is_written = match part.len() == len {
            true => tables.write(numerals, out),
            false => {
                let texts = texts.chunks_exact(len).zip(numerals.chunks_exact(part.len()));
                texts.fold(true, |all, (text, numerals)| {
                    out.extend_from_slice(&text[..part.start]);
                    let is_written = tables.write(numerals, out);
                    out.extend_from_slice(&text[part.end..]);
                    all & is_written
                })
            }
        };
        if !is_written {
            out.truncate(start);
        }
        is_written
    }

    /// Returns the encrypted part of texts of `len` ASCII characters, or `None` if they have to be looked at one by
    /// one.
    fn even_part(&self, texts: &[u8], len: usize) -> Option<Range<usize>> {
        let kept = self.keep_first.checked_add(self.keep_last)?;
        let encrypted =
            len.checked_sub(kept).filter(|part| (self.min_len..=MAX_FF1_NUMERALS).contains(part))?;
        let is_whole = !texts.is_empty() && texts.len().is_multiple_of(len);
        (is_whole && !self.has_luhn && texts.is_ascii()).then(|| self.keep_first..self.keep_first + encrypted)
    }

    fn write_characters(&self, numerals: &[u8], out: &mut Vec<u8>) -> Result<(), FormatError> {
        for bytes in numerals.chunks_exact(self.numeral_bytes()) {
            let numeral = bytes.iter().fold(0, |numeral, byte| numeral << 8 | u32::from(*byte));
            let character = self.alphabet.character(numeral).ok_or(FormatError::Numerals)?;
            match u8::try_from(character) {
                Ok(byte) if byte.is_ascii() => out.push(byte),
                _ => out.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        Ok(())
    }

    /// Returns the most bytes of the token of a text of `len` bytes.
    #[must_use]
    pub fn max_len(&self, len: usize) -> usize {
        len.saturating_mul(self.alphabet.max_character_len())
    }

    /// Returns the bytes of a numeral.
    fn numeral_bytes(&self) -> usize {
        if self.radix() <= 256 { 1 } else { 2 }
    }

    /// Returns the number of encrypted characters.
    fn encrypted_len(&self, text: &str) -> Result<usize, FormatError> {
        let characters = character_count(text);
        // Both numbers come from the user, and may be any.
        let kept = self.keep_first.saturating_add(self.keep_last).saturating_add(self.has_luhn.into());
        let len = characters.saturating_sub(kept);
        let min = self.min_len;
        if len < min {
            return Err(FormatError::TooShort { found: characters, min: min.saturating_add(kept) });
        }
        if len > MAX_FF1_NUMERALS {
            return Err(FormatError::TooLong {
                found: characters,
                max: MAX_FF1_NUMERALS.saturating_add(kept),
            });
        }
        Ok(len)
    }

    /// Returns the smallest number of encrypted characters that has [`MIN_TOKEN_TEXTS`] texts.
    #[must_use]
    pub fn min_len(&self) -> usize {
        self.min_len
    }
}

/// Returns the smallest number of characters that has [`MIN_TOKEN_TEXTS`] texts. FF1 needs two.
fn min_len(radix: u32) -> usize {
    let (mut texts, mut len) = (1, 0);
    while texts < MIN_TOKEN_TEXTS {
        texts *= u64::from(radix);
        len += 1;
    }
    len.max(2)
}

/// Returns the number of characters. Most texts are ASCII.
fn character_count(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Splits a text behind so many characters, or at its end.
fn split_characters(text: &str, characters: usize) -> (&str, &str) {
    let at = match text.is_ascii() {
        true => characters.min(text.len()),
        false => text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at),
    };
    text.split_at(at)
}

/// Returns the check sum of digits. The last one counts once and the one before it twice, and so on; the digits of a
/// double are added. `text` is the text that an error names.
fn luhn_sum(digits: &[u8], text: &str) -> Result<u32, FormatError> {
    let mut sum = 0;
    for (from_end, byte) in digits.iter().rev().enumerate() {
        if !byte.is_ascii_digit() {
            let at = text.chars().position(|character| !character.is_ascii_digit());
            return Err(FormatError::Character { at: at.unwrap_or_default() });
        }
        let digit = u32::from(byte - b'0');
        sum += match from_end % 2 {
            0 => digit,
            _ => 2 * digit - if digit > 4 { 9 } else { 0 },
        };
    }
    Ok(sum)
}

/// Returns the digit that makes the sum a multiple of ten, if so many digits follow it.
fn check_digit(sum: u32, digits_behind: usize) -> u8 {
    let missing = (10 - sum % 10) % 10;
    let digit = match digits_behind % 2 {
        0 => missing,
        // Even doubles come from digits below 5, odd ones from 5 on.
        _ if missing.is_multiple_of(2) => missing / 2,
        _ => missing.div_ceil(2) + 4,
    };
    b'0' + digit as u8
}

#[cfg(test)]
mod tests;
