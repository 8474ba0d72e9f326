//! The limits of FF1, the encryption that keeps a text's length and alphabet. NIST SP 800-38G 5.1.

use std::ops::RangeInclusive;

/// The maximum number of numerals of a record. SP 800-38G allows 2^32; the time grows with the square.
pub const MAX_FF1_NUMERALS: usize = 512;

/// The maximum number of bytes of a tweak.
pub const MAX_FF1_TWEAK: usize = 1 << 16;

/// The smallest number of texts of one length. SP 800-38G 5.1.
const MIN_TEXTS: u64 = 100;

/// The number of different numerals: 2 to 65,536.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ff1Radix(u32);

impl Ff1Radix {
    /// Returns a radix, or None if FF1 does not have it.
    #[must_use]
    #[inline]
    pub fn new(radix: u32) -> Option<Self> {
        (2..=1 << 16).contains(&radix).then_some(Self(radix))
    }

    /// Returns the radix that the IV column of a record states in four bytes, big-endian.
    #[must_use]
    #[inline]
    pub fn from_iv(iv: &[u8]) -> Option<Self> {
        Self::new(u32::from_be_bytes(iv.try_into().ok()?))
    }

    /// Returns the number.
    #[must_use]
    #[inline]
    pub fn get(self) -> u32 {
        self.0
    }

    /// Returns the number of bytes of a numeral.
    #[must_use]
    #[inline]
    pub fn numeral_bytes(self) -> usize {
        if self.0 <= 256 { 1 } else { 2 }
    }

    /// Returns the shortest and the longest input in bytes: two to [`MAX_FF1_NUMERALS`] numerals with at least 100
    /// possible texts.
    #[must_use]
    #[inline]
    pub fn input_lens(self) -> RangeInclusive<usize> {
        let radix = u64::from(self.0);
        let (mut numerals, mut texts) = (2, radix.pow(2));
        while texts < MIN_TEXTS {
            texts *= radix;
            numerals += 1;
        }
        let bytes = self.numeral_bytes();
        bytes * numerals..=bytes * MAX_FF1_NUMERALS
    }

    /// Returns true if FF1 takes an input and a tweak of these lengths: whole numerals in [`Ff1Radix::input_lens`], and
    /// a tweak of at most [`MAX_FF1_TWEAK`] bytes.
    #[must_use]
    #[inline]
    pub fn takes(self, input_len: usize, tweak_len: usize) -> bool {
        input_len.is_multiple_of(self.numeral_bytes())
            && self.input_lens().contains(&input_len)
            && tweak_len <= MAX_FF1_TWEAK
    }
}
