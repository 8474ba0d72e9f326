//! Words of 16 bits in plain Rust.

use super::{PortableSimd, PortableVector};
use crate::simd::{HalfMask, ShortSimd, ShortVector, Simd, Vector};

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

    #[inline(never)]
    fn mul32_signed(self, other: Self) -> Self {
        let low = |word: u64| i64::from(word as i32);
        self.zip(other, |a, b| (low(a) * low(b)).cast_unsigned())
    }

    #[inline(never)]
    fn high_halves(self) -> Self {
        Self(self.0.map(|word| word >> 32))
    }

    #[inline(never)]
    fn join_high_halves(even: Self, odd: Self) -> Self {
        even.zip(odd, |even, odd| even >> 32 | odd >> 32 << 32)
    }

    #[inline(never)]
    fn negative32(self) -> HalfMask {
        let signs = self.0.iter().map(|word| (word >> 31 & 1 | word >> 62 & 2) as HalfMask);
        signs.rev().fold(0, |mask, signs| mask << 2 | signs)
    }

    #[inline(never)]
    fn shl32_by(self, count: u32) -> Self {
        self.zip32(self, |word, _| word.checked_shl(count).unwrap_or(0))
    }

    #[inline(never)]
    fn shr32_by(self, count: u32) -> Self {
        self.zip32(self, |word, _| word.checked_shr(count).unwrap_or(0))
    }

    #[inline(never)]
    fn sar32_by(self, count: u32) -> Self {
        self.zip32(self, |word, _| (word.cast_signed() >> count.min(31)).cast_unsigned())
    }
}

impl<const N: usize> ShortSimd for PortableSimd<N>
where
    Self: Simd<V: ShortVector>,
{
    fn take_below(self, bytes: &[u8; 24], bound: u16, out: &mut [u16; 16]) -> usize {
        let mut count = 0;
        for [a, b, c] in bytes.as_chunks::<3>().0 {
            let [a, b, c] = [*a, *b, *c].map(u16::from);
            for value in [a | (b & 0xF) << 8, b >> 4 | c << 4] {
                if value < bound {
                    out[count] = value;
                    count += 1;
                }
            }
        }
        count
    }

    fn are_below(self, bytes: &[u8; 24], bound: u32, out: &mut [u32; 8]) -> bool {
        for (value, [a, b, c]) in out.iter_mut().zip(bytes.as_chunks::<3>().0) {
            *value = u32::from_le_bytes([*a, *b, *c, 0]) & 0x7F_FFFF;
        }
        out.iter().all(|value| *value < bound)
    }
}
