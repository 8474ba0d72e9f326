//! Arithmetic modulo q = 8380417 on signed words of 32 bits. Bounds are in docs/math/ml-dsa.md.

use crate::simd::{ShortSimd, ShortVector, Vector};

/// The modulus. FIPS 204 table 1.
pub(super) const Q: i32 = 8_380_417;

/// The inverse of q modulo 2^32.
const INVERSE: i32 = 58_728_449;

/// A constant factor x: x 2^32 mod q, and that times the inverse of q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DsaFactor {
    value: i32,
    by_inverse: i32,
}

impl DsaFactor {
    /// Returns the factor of a number below q.
    pub(super) const fn new(number: u64) -> Self {
        let residue = ((number << 32) % Q as u64) as i32;
        // Centred, so that products stay within q.
        let value = if residue > Q / 2 { residue - Q } else { residue };
        Self { value, by_inverse: value.wrapping_mul(INVERSE) }
    }

    /// Computes the product with any words: between -q and q, exclusive.
    #[inline(always)]
    pub(super) fn times<S: ShortSimd>(self, simd: S, words: S::V) -> S::V {
        let [value, by_inverse, q] =
            [self.value, self.by_inverse, Q].map(|word| simd.splat32(word.cast_unsigned()));
        let odd = words.high_halves();
        let even = words.mul32_signed(value) - words.mul32_signed(by_inverse).mul32_signed(q);
        let odd = odd.mul32_signed(value) - odd.mul32_signed(by_inverse).mul32_signed(q);
        ShortVector::join_high_halves(even, odd)
    }
}

/// Divides signed sums of 64 bits, below 2^54, by 2^32 modulo q, and joins them to words of 32 bits: those of `even` in
/// the low halves. The result is between -q and q.
#[inline(always)]
pub(super) fn divide_sums<S: ShortSimd>(simd: S, even: S::V, odd: S::V) -> S::V {
    let [inverse, q] = [INVERSE, Q].map(|word| simd.splat32(word.cast_unsigned()));
    let even = even - even.mul32_signed(inverse).mul32_signed(q);
    let odd = odd - odd.mul32_signed(inverse).mul32_signed(q);
    ShortVector::join_high_halves(even, odd)
}

/// Returns the residue nearest to 0 of words between -q and q, if it is between -2^21 and 2^21.
#[inline(always)]
pub(super) fn centre<S: ShortSimd>(simd: S, words: S::V) -> S::V {
    // q is 2^23 - 2^13 + 1.
    let quotient = words.add32(simd.splat32(1 << 22)).sar32_by(23);
    words.sub32(quotient.shl32_by(23)).add32(quotient.shl32_by(13)).sub32(quotient)
}

/// Moves words between -q and q to 0 up to q, exclusive.
#[inline(always)]
pub(super) fn lift<S: ShortSimd>(simd: S, words: S::V) -> S::V {
    words.add32(words.sar32_by(31) & simd.splat32(Q.cast_unsigned()))
}
