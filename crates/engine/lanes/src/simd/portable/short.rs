//! Words of 16 bits in plain Rust.

use super::PortableVector;
use crate::simd::{ShortVector, Vector};

/// Returns the signed quarters of a word.
fn quarters(word: u64) -> [i16; 4] {
    [0, 16, 32, 48].map(|shift| (word >> shift) as i16)
}

fn joined(quarters: [i16; 4]) -> u64 {
    quarters.iter().rev().fold(0, |word, quarter| word << 16 | u64::from(quarter.cast_unsigned()))
}

impl<const N: usize> PortableVector<N> {
    fn map16(self, f: impl Fn(i16) -> i16) -> Self {
        Self(self.0.map(|word| joined(quarters(word).map(&f))))
    }

    fn zip16(self, other: Self, f: impl Fn(i16, i16) -> i16) -> Self {
        self.zip(other, |a, b| {
            let (a, b) = (quarters(a), quarters(b));
            joined(std::array::from_fn(|at| f(a[at], b[at])))
        })
    }
}

impl<const N: usize> ShortVector for PortableVector<N>
where
    Self: Vector,
{
    #[inline(never)]
    fn add16(self, other: Self) -> Self {
        self.zip16(other, i16::wrapping_add)
    }

    #[inline(never)]
    fn sub16(self, other: Self) -> Self {
        self.zip16(other, i16::wrapping_sub)
    }

    #[inline(never)]
    fn sub32(self, other: Self) -> Self {
        self.zip32(other, u32::wrapping_sub)
    }

    #[inline(never)]
    fn mul16_lo(self, other: Self) -> Self {
        self.zip16(other, i16::wrapping_mul)
    }

    #[inline(never)]
    fn mul16_hi(self, other: Self) -> Self {
        self.zip16(other, |a, b| ((i32::from(a) * i32::from(b)) >> 16) as i16)
    }

    #[inline(never)]
    fn mul16_round(self, other: Self) -> Self {
        self.zip16(other, |a, b| ((i32::from(a) * i32::from(b) + (1 << 14)) >> 15) as i16)
    }

    #[inline(never)]
    fn madd16(self, other: Self) -> Self {
        self.zip(other, |a, b| {
            let (a, b) = (quarters(a).map(i32::from), quarters(b).map(i32::from));
            let sum = |at: usize| (a[at] * b[at]).wrapping_add(a[at + 1] * b[at + 1]).cast_unsigned();
            u64::from(sum(0)) | u64::from(sum(2)) << 32
        })
    }

    #[inline(never)]
    fn shl16(self, count: u32) -> Self {
        self.map16(|word| word.checked_shl(count).unwrap_or(0))
    }

    #[inline(never)]
    fn shr16(self, count: u32) -> Self {
        self.map16(|word| word.cast_unsigned().checked_shr(count).unwrap_or(0).cast_signed())
    }

    #[inline(never)]
    fn sar16(self, count: u32) -> Self {
        self.map16(|word| word >> count.min(15))
    }
}
