//! Sizes that follow from the radix and the lengths of a record. All of them are public.

use std::ops::RangeInclusive;

use super::BLOCK;
use super::number::Modulus;

/// The maximum number of numerals of a record. SP 800-38G allows 2^32; the time grows with the square.
pub const MAX_FF1_NUMERALS: usize = 512;

/// The maximum number of bytes of a tweak.
pub const MAX_FF1_TWEAK: usize = 1 << 16;

/// The smallest number of texts of one length. SP 800-38G 5.1.
const MIN_TEXTS: u64 = 100;

/// The sizes of FF1 for a radix, a number of numerals, and a length of the tweak. SP 800-38G algorithm 7, steps 1 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ff1Sizes {
    radix: u32,
    /// The number of numerals.
    len: usize,
    tweak_len: usize,
    /// The bytes of half of the numerals as a number.
    number_len: usize,
}

/// Returns the radix that the IV column of a record states: four bytes, big-endian, 2 to 65,536.
#[must_use]
#[inline]
pub fn ff1_radix(iv: &[u8]) -> Option<u32> {
    let radix = u32::from_be_bytes(iv.try_into().ok()?);
    (2..=1 << 16).contains(&radix).then_some(radix)
}

impl Ff1Sizes {
    /// Returns the sizes for an input of `input_len` bytes, or None if FF1 does not have them: fewer than two or more
    /// than [`MAX_FF1_NUMERALS`] numerals, fewer than 100 possible texts, a tweak of more than [`MAX_FF1_TWEAK`]
    /// bytes, or half a numeral.
    #[must_use]
    pub fn new(radix: u32, input_len: usize, tweak_len: usize) -> Option<Self> {
        if !Self::exist(radix, input_len, tweak_len) {
            return None;
        }
        let len = input_len / numeral_bytes(radix);
        let number_len = Modulus::power(radix, len.div_ceil(2)).bits_below().div_ceil(8);
        Some(Self { radix, len, tweak_len, number_len })
    }

    /// Returns true if [`Ff1Sizes::new`] has a result. Costs less.
    #[must_use]
    #[inline]
    pub fn exist(radix: u32, input_len: usize, tweak_len: usize) -> bool {
        (2..=1 << 16).contains(&radix)
            && input_len.is_multiple_of(numeral_bytes(radix))
            && Self::input_lens(radix).contains(&input_len)
            && tweak_len <= MAX_FF1_TWEAK
    }

    /// Returns the shortest and the longest input in bytes for a radix of 2 to 65,536: two to [`MAX_FF1_NUMERALS`]
    /// numerals with at least 100 possible texts.
    #[must_use]
    #[inline]
    pub fn input_lens(radix: u32) -> RangeInclusive<usize> {
        let (mut numerals, mut texts) = (2, u64::from(radix).pow(2));
        // A radix below 2 never gets there.
        while texts < MIN_TEXTS && numerals < MAX_FF1_NUMERALS {
            texts *= u64::from(radix);
            numerals += 1;
        }
        let bytes = numeral_bytes(radix);
        bytes * numerals..=bytes * MAX_FF1_NUMERALS
    }

    /// Returns the radix.
    #[must_use]
    #[inline]
    pub fn radix(&self) -> u32 {
        self.radix
    }

    /// Returns the number of numerals of the left half, u.
    #[must_use]
    #[inline]
    pub fn left(&self) -> usize {
        self.len / 2
    }

    /// Returns the number of numerals of the right half, v.
    #[must_use]
    #[inline]
    pub fn right(&self) -> usize {
        self.len - self.left()
    }

    /// Returns the number of bytes of the right half as a number, b.
    #[must_use]
    #[inline]
    pub fn number_len(&self) -> usize {
        self.number_len
    }

    /// Returns the number of bytes of a round's value, d.
    #[must_use]
    #[inline]
    pub fn stream_len(&self) -> usize {
        4 * self.number_len.div_ceil(4) + 4
    }

    /// Returns the number of bytes of a numeral.
    #[must_use]
    #[inline]
    pub fn numeral_bytes(&self) -> usize {
        numeral_bytes(self.radix)
    }

    /// Returns the block P.
    #[must_use]
    pub fn first_block(&self) -> [u8; BLOCK] {
        let mut block = [1, 2, 1, 0, 0, 0, 10, self.left() as u8, 0, 0, 0, 0, 0, 0, 0, 0];
        block[3..6].copy_from_slice(&self.radix.to_be_bytes()[1..]);
        block[8..12].copy_from_slice(&(self.len as u32).to_be_bytes());
        block[12..].copy_from_slice(&(self.tweak_len as u32).to_be_bytes());
        block
    }

    /// Returns the two halves of a text.
    #[must_use]
    pub fn halves<'a>(&self, text: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        text.split_at(text.len().min(self.left() * self.numeral_bytes()))
    }

    pub(super) fn halves_mut<'a>(&self, text: &'a mut [u8]) -> (&'a mut [u8], &'a mut [u8]) {
        text.split_at_mut(text.len().min(self.left() * self.numeral_bytes()))
    }

    /// Returns the numerals of a text.
    pub fn numerals(&self, text: &[u8]) -> impl Iterator<Item = u32> {
        text.chunks_exact(self.numeral_bytes())
            .map(|bytes| bytes.iter().fold(0, |numeral, byte| numeral << 8 | u32::from(*byte)))
    }

    /// Returns true if all numerals of a text are below the radix. Looks at all of them in any case.
    #[must_use]
    pub fn are_numerals(&self, text: &[u8]) -> bool {
        let largest = match self.numeral_bytes() {
            1 => text.iter().fold(0, |largest, byte| largest.max(*byte)).into(),
            _ => text.as_chunks().0.iter().fold(0, |largest, bytes| largest.max(u16::from_be_bytes(*bytes))),
        };
        u32::from(largest) < self.radix
    }
}

/// Returns the number of bytes of a numeral.
#[inline]
pub(crate) fn numeral_bytes(radix: u32) -> usize {
    if radix <= 256 { 1 } else { 2 }
}
