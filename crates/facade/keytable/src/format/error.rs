//! The reasons why a text is not of a format.

/// The reason why a text, a token or a format is refused. It names positions and lengths, and no character of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A character is not in the alphabet, or not a digit where a check sum needs one.
    #[error("character {} is not in the alphabet", at + 1)]
    Character {
        /// The position, from 0.
        at: usize,
    },
    /// There are too few characters.
    #[error(
        "{found} characters: expected {min} or more, so that there are a million possible texts of this length"
    )]
    TooShort {
        /// The characters of the text.
        found: usize,
        /// The smallest number.
        min: usize,
    },
    /// There are too many characters.
    #[error("{found} characters: expected {max} at most")]
    TooLong {
        /// The characters of the text.
        found: usize,
        /// The largest number.
        max: usize,
    },
    /// The check digit is wrong.
    #[error("the digits have no valid check sum (Luhn)")]
    CheckSum,
    /// The numerals are not those of a text of this length.
    #[error("the numerals do not fit the text")]
    Numerals,
    /// The number of characters of an alphabet.
    #[error("an alphabet of {found} characters: expected 2 to 65536")]
    AlphabetLen {
        /// The characters.
        found: usize,
    },
    /// A character of an alphabet is there twice.
    #[error("character {} of the alphabet is there twice", at + 1)]
    Twice {
        /// The position of the later one, from 0.
        at: usize,
    },
    /// The name of no alphabet.
    #[error("unknown alphabet: expected one of {expected}")]
    UnknownAlphabet {
        /// The names.
        expected: String,
    },
    /// A check digit in another alphabet than the digits.
    #[error("a check sum (Luhn) needs the alphabet digits")]
    LuhnAlphabet,
}
