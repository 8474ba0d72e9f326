//! Sizes that follow from the radix and the lengths of a record. All of them are public.

use oarlock_core::Ff1Radix;

use super::BLOCK;
use super::number::Modulus;

/// The sizes of FF1 for a radix, a number of numerals, and a length of the tweak. SP 800-38G algorithm 7, steps 1 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ff1Sizes {
    radix: Ff1Radix,
    /// The number of numerals.
    len: usize,
    tweak_len: usize,
    /// The bytes of half of the numerals as a number.
    number_len: usize,
}

impl Ff1Sizes {
    /// Returns the sizes for an input of `input_len` bytes, or None if [`Ff1Radix::takes`] refuses the lengths.
    #[must_use]
    pub fn new(radix: Ff1Radix, input_len: usize, tweak_len: usize) -> Option<Self> {
        if !radix.takes(input_len, tweak_len) {
            return None;
        }
        let len = input_len / radix.numeral_bytes();
        let number_len = Modulus::power(radix.get(), len.div_ceil(2)).bits_below().div_ceil(8);
        Some(Self { radix, len, tweak_len, number_len })
    }

    /// Returns the radix.
    #[must_use]
    #[inline]
    pub fn radix(&self) -> u32 {
        self.radix.get()
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
        self.radix.numeral_bytes()
    }

    /// Returns the block P.
    #[must_use]
    pub fn first_block(&self) -> [u8; BLOCK] {
        let mut block = [1, 2, 1, 0, 0, 0, 10, self.left() as u8, 0, 0, 0, 0, 0, 0, 0, 0];
        block[3..6].copy_from_slice(&self.radix().to_be_bytes()[1..]);
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
        u32::from(largest) < self.radix()
    }
}
