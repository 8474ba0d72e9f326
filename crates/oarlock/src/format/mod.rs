//! Tokens that keep the format of a text: which characters are encrypted, which stay, and how they become numerals.
//!
//! ```
//! use oarlock::format::{Alphabet, TokenFormat};
//!
//! // The first six digits of a card number stay, and the token has a valid check digit.
//! let format = TokenFormat::new(Alphabet::digits()).keep_first(6).with_luhn()?;
//! let mut numerals = Vec::new();
//! format.read("4111111111111111", &mut numerals)?;
//! assert_eq!(numerals, [1; 9]);
//!
//! // An engine would encrypt the numerals here.
//! let mut token = String::new();
//! format.write("4111111111111111", &[9, 8, 7, 6, 5, 4, 3, 2, 1], &mut token)?;
//! assert_eq!(token, "4111119876543210");
//! # Ok::<(), oarlock::format::FormatError>(())
//! ```

mod alphabet;
mod error;

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
}

impl TokenFormat {
    /// Returns the format that encrypts all characters of a text.
    #[must_use]
    pub fn new(alphabet: Alphabet) -> Self {
        Self { alphabet, keep_first: 0, keep_last: 0, has_luhn: false }
    }

    /// Keeps so many characters at the start, whatever they are.
    #[must_use]
    pub fn keep_first(mut self, characters: usize) -> Self {
        self.keep_first = characters;
        self
    }

    /// Keeps so many characters at the end, whatever they are.
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
    /// big-endian.
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
        let mut luhn = LuhnSum::of_len(character_count(text));
        for (at, character) in text.chars().enumerate() {
            if self.has_luhn {
                luhn.add(at, character)?;
            }
            if (self.keep_first..self.keep_first + len).contains(&at) {
                let numeral = self.alphabet.numeral(character).ok_or(FormatError::Character { at })?;
                match self.radix() {
                    ..=256 => numerals.push(numeral as u8),
                    _ => numerals.extend(numeral.to_be_bytes()),
                }
            }
        }
        if self.has_luhn && !luhn.sum.is_multiple_of(10) { Err(FormatError::CheckSum) } else { Ok(()) }
    }

    /// Appends the text that has these numerals in the place of those of `text`, which is a text of the same format:
    /// the text for its token, and the token for its text.
    ///
    /// # Errors
    /// There are fewer or more numerals than the text has, or one is not below the radix. The output stays as it was.
    pub fn write(&self, text: &str, numerals: &[u8], out: &mut String) -> Result<(), FormatError> {
        let start = out.len();
        let written = self.write_all(text, numerals, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn write_all(&self, text: &str, numerals: &[u8], out: &mut String) -> Result<(), FormatError> {
        let len = self.encrypted_len(text)?;
        let numeral_bytes = if self.radix() <= 256 { 1 } else { 2 };
        if numerals.len() != len * numeral_bytes {
            return Err(FormatError::Numerals);
        }
        let mut numerals = numerals.chunks_exact(numeral_bytes);
        let characters = character_count(text);
        let mut luhn = LuhnSum::of_len(characters);
        let check_at = self.has_luhn.then(|| self.keep_first + len);
        let mut check_place = None;
        for (at, own) in text.chars().enumerate() {
            let character = match at.checked_sub(self.keep_first).filter(|at| *at < len) {
                Some(_) => {
                    let bytes = numerals.next().ok_or(FormatError::Numerals)?;
                    let numeral = bytes.iter().fold(0, |numeral, byte| numeral << 8 | u32::from(*byte));
                    self.alphabet.character(numeral).ok_or(FormatError::Numerals)?
                }
                None => own,
            };
            if check_at == Some(at) {
                check_place = Some(out.len());
                out.push('0');
                continue;
            }
            if self.has_luhn {
                luhn.add(at, character)?;
            }
            out.push(character);
        }
        if let (Some(at), Some(place)) = (check_at, check_place) {
            let digit = luhn.digit_at(at);
            out.replace_range(place..=place, digit.encode_utf8(&mut [0; 4]));
        }
        Ok(())
    }

    /// Returns the number of encrypted characters.
    fn encrypted_len(&self, text: &str) -> Result<usize, FormatError> {
        let characters = character_count(text);
        // Both numbers come from the user, and may be any.
        let kept = self.keep_first.saturating_add(self.keep_last).saturating_add(self.has_luhn.into());
        let len = characters.saturating_sub(kept);
        let min = self.min_len();
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
        let (mut texts, mut len) = (1, 0);
        while texts < MIN_TOKEN_TEXTS {
            texts *= u64::from(self.radix());
            len += 1;
        }
        len.max(2)
    }
}

/// Returns the number of characters. Most texts are ASCII.
fn character_count(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The check sum of digits, whose last one counts once.
struct LuhnSum {
    len: usize,
    sum: u32,
}

impl LuhnSum {
    fn of_len(len: usize) -> Self {
        Self { len, sum: 0 }
    }

    fn is_doubled(&self, at: usize) -> bool {
        (self.len - at).is_multiple_of(2)
    }

    fn add(&mut self, at: usize, character: char) -> Result<(), FormatError> {
        let digit = character.to_digit(10).ok_or(FormatError::Character { at })?;
        // The digits of the double are added.
        self.sum += if self.is_doubled(at) { 2 * digit - if digit > 4 { 9 } else { 0 } } else { digit };
        Ok(())
    }

    /// Returns the digit that makes the sum a multiple of ten.
    fn digit_at(&self, at: usize) -> char {
        let missing = (10 - self.sum % 10) % 10;
        let digit = match self.is_doubled(at) {
            // Even sums come from digits below 5, odd ones from 5 on.
            true if missing.is_multiple_of(2) => missing / 2,
            true => missing.div_ceil(2) + 4,
            false => missing,
        };
        char::from_digit(digit, 10).unwrap_or('0')
    }
}

#[cfg(test)]
mod tests;
