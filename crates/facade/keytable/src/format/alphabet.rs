//! The characters that a token may have.

use std::str::FromStr;

use super::FormatError;

/// The characters of a text in the order of their numerals: 2 to 65,536 different ones.
#[derive(Clone, PartialEq, Eq)]
pub struct Alphabet {
    characters: Box<[char]>,
    /// The numerals of ASCII characters.
    ascii: [Option<u16>; 128],
    /// The other characters, in order, with their numerals.
    others: Box<[(char, u16)]>,
    /// The most bytes of a character in UTF-8.
    max_character_len: usize,
    /// Tables of bytes, if all characters are ASCII.
    bytes: Option<Box<ByteTables>>,
}

/// The numerals of bytes and the bytes of numerals, with [`NO_BYTE`] where there is none.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ByteTables {
    numerals: [u8; 256],
    characters: [u8; 256],
    /// The first character and the number of characters, if they follow each other in ASCII.
    run: Option<(u8, u8)>,
}

/// A byte that is neither an ASCII character nor one of their numerals.
const NO_BYTE: u8 = 0x80;

/// The alphabets that have a name.
const NAMED: [(&str, &str); 6] = [
    ("digits", "0123456789"),
    ("hex", "0123456789abcdef"),
    ("lower", "abcdefghijklmnopqrstuvwxyz"),
    ("upper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("upper-alphanumeric", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("alphanumeric", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
];

/// The prefix of an alphabet that is given by its characters.
const LITERAL: &str = "chars:";

impl Alphabet {
    /// Returns the alphabet of characters in their order.
    ///
    /// # Errors
    /// There are fewer than 2 or more than 65,536 characters, or one is there twice.
    pub fn new(characters: &str) -> Result<Self, FormatError> {
        let characters: Box<[char]> = characters.chars().collect();
        if !(2..=1 << 16).contains(&characters.len()) {
            return Err(FormatError::AlphabetLen { found: characters.len() });
        }
        let mut ascii = [None; 128];
        let mut others = Vec::new();
        let mut seen: Vec<char> = characters.to_vec();
        seen.sort_unstable();
        if let Some(at) = seen.windows(2).position(|pair| pair[0] == pair[1]) {
            let twice = seen[at];
            let at = characters.iter().rposition(|character| *character == twice).unwrap_or_default();
            return Err(FormatError::Twice { at });
        }
        for (numeral, character) in (0..=u16::MAX).zip(&characters) {
            match ascii.get_mut(*character as usize) {
                Some(entry) => *entry = Some(numeral),
                None => others.push((*character, numeral)),
            }
        }
        others.sort_unstable();
        let max_character_len = characters.iter().map(|character| character.len_utf8()).max().unwrap_or(1);
        let bytes = ByteTables::from_characters(&characters);
        Ok(Self { characters, ascii, others: others.into(), max_character_len, bytes })
    }

    /// Returns the ten digits.
    #[must_use]
    pub fn digits() -> Self {
        let digits: Box<[char]> = ('0'..='9').collect();
        let mut ascii = [None; 128];
        for (numeral, digit) in (0..).zip(&digits) {
            ascii[*digit as usize] = Some(numeral);
        }
        let bytes = ByteTables::from_characters(&digits);
        Self { characters: digits, ascii, others: Box::new([]), max_character_len: 1, bytes }
    }

    /// Returns the names of alphabets, and the form of any other, for help and errors.
    #[must_use]
    pub fn names() -> String {
        let names: Vec<&str> = NAMED.iter().map(|(name, _)| *name).collect();
        format!("{}, {LITERAL}...", names.join(", "))
    }

    /// Returns the number of characters.
    #[must_use]
    pub fn radix(&self) -> u32 {
        self.characters.len() as u32
    }

    /// Returns the most bytes of a character in UTF-8.
    pub(super) fn max_character_len(&self) -> usize {
        self.max_character_len
    }

    /// Returns the tables of bytes, if all characters are ASCII.
    #[inline]
    pub(super) fn bytes(&self) -> Option<&ByteTables> {
        self.bytes.as_deref()
    }

    /// Returns the numeral of a character.
    #[inline]
    pub(super) fn numeral(&self, character: char) -> Option<u16> {
        match self.ascii.get(character as usize) {
            Some(numeral) => *numeral,
            None => {
                let at = self.others.binary_search_by_key(&character, |(known, _)| *known).ok()?;
                Some(self.others[at].1)
            }
        }
    }

    /// Returns the character of a numeral.
    #[inline]
    pub(super) fn character(&self, numeral: u32) -> Option<char> {
        self.characters.get(numeral as usize).copied()
    }
}

impl ByteTables {
    fn from_characters(characters: &[char]) -> Option<Box<Self>> {
        let mut tables = Box::new(Self { numerals: [NO_BYTE; 256], characters: [NO_BYTE; 256], run: None });
        for (numeral, character) in (0_u8..).zip(characters) {
            let byte = u8::try_from(*character).ok().filter(u8::is_ascii)?;
            tables.numerals[usize::from(byte)] = numeral;
            tables.characters[usize::from(numeral)] = byte;
        }
        let (first, len) = (u8::try_from(*characters.first()?).ok()?, u8::try_from(characters.len()).ok()?);
        let is_run = (first..).zip(characters).all(|(byte, character)| char::from(byte) == *character);
        tables.run = is_run.then_some((first, len));
        Some(tables)
    }

    /// Appends the numerals of a text, and returns false if one of its bytes has none.
    #[inline]
    pub(super) fn read(&self, text: &[u8], numerals: &mut Vec<u8>) -> bool {
        match self.run {
            Some((first, len)) => append(text, numerals, |byte| less_than(byte.wrapping_sub(first), len, 0)),
            None => append(text, numerals, |byte| self.numerals[usize::from(byte)]),
        }
    }

    /// Appends the text of numerals, and returns false if one of them has no character.
    #[inline]
    pub(super) fn write(&self, numerals: &[u8], text: &mut Vec<u8>) -> bool {
        match self.run {
            Some((first, len)) => append(numerals, text, |numeral| less_than(numeral, len, first)),
            None => append(numerals, text, |numeral| self.characters[usize::from(numeral)]),
        }
    }
}

/// Returns a number below `len` and `added` to it, or [`NO_BYTE`] for another. The compiler does many at once.
#[inline(always)]
fn less_than(number: u8, len: u8, added: u8) -> u8 {
    if number < len { number + added } else { NO_BYTE }
}

/// Appends the values of bytes. Looks at all of them in any case.
#[inline(always)]
fn append(from: &[u8], to: &mut Vec<u8>, value_of: impl Fn(u8) -> u8) -> bool {
    let start = to.len();
    to.resize(start + from.len(), 0);
    let mut all = 0;
    for (value, byte) in to[start..].iter_mut().zip(from) {
        *value = value_of(*byte);
        all |= *value;
    }
    all & NO_BYTE == 0
}

/// Reads a name, or `chars:` and the characters.
impl FromStr for Alphabet {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        if let Some(characters) = text.strip_prefix(LITERAL) {
            return Self::new(characters);
        }
        match NAMED.iter().find(|(name, _)| *name == text) {
            Some((_, characters)) => Self::new(characters),
            None => Err(FormatError::UnknownAlphabet { expected: Self::names() }),
        }
    }
}

/// Shows the number of characters.
impl std::fmt::Debug for Alphabet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Alphabet({} characters)", self.characters.len())
    }
}
