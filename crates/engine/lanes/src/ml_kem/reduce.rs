//! Arithmetic modulo q = 3329 on signed words of 16 bits. Bounds are in docs/math/ml-kem.md.

use crate::simd::{ShortSimd, ShortVector, Vector};

/// The modulus. FIPS 203 section 8.
pub(super) const Q: i16 = 3329;

/// The inverse of q modulo 2^16.
const INVERSE: i16 = -3327;

/// A constant factor x: x 2^16 mod q, and that times the inverse of q, each in both quarters of a half lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KemFactor {
    value: u32,
    by_inverse: u32,
}

impl KemFactor {
    pub(super) const fn new(number: u32) -> Self {
        let residue = ((number as u64) << 16) % Q as u64;
        // Centred, so that products stay within q.
        let value = if residue > Q as u64 / 2 { residue as i16 - Q } else { residue as i16 };
        Self { value: twice(value), by_inverse: twice(value.wrapping_mul(INVERSE)) }
    }

    /// Computes the product with any words: between -q and q, exclusive.
    #[inline(always)]
    pub(super) fn times<S: ShortSimd>(self, simd: S, words: S::V) -> S::V {
        let quotient = words.mul16_lo(simd.splat32(self.by_inverse)).mul16_hi(simd.splat16(Q));
        words.mul16_hi(simd.splat32(self.value)).sub16(quotient)
    }
}

const fn twice(word: i16) -> u32 {
    word.cast_unsigned() as u32 * 0x1_0001
}

/// Reduces any words to 0 to q, inclusive. Barrett's method: the quotient is exact, or one too small.
#[inline(always)]
pub(super) fn reduce<S: ShortSimd>(simd: S, words: S::V) -> S::V {
    let quotient = words.mul16_hi(simd.splat16(20_159)).sar16(10);
    words.sub16(quotient.mul16_lo(simd.splat16(Q)))
}

/// Divides sums of 32 bits by 2^16 modulo q, and joins them to words of 16 bits: those of `low` in the even quarter
/// lanes, and those of `high` in the odd ones.
#[inline(always)]
pub(super) fn divide_sums<S: ShortSimd>(simd: S, low: S::V, high: S::V) -> S::V {
    let inverse = simd.splat32(INVERSE.cast_unsigned().into());
    let q = simd.splat32(Q.cast_unsigned().into());
    // The differences are multiples of 2^16, so their upper halves are the quotients.
    let low = low.sub32(low.mul16_lo(inverse).madd16(q));
    let high = high.sub32(high.mul16_lo(inverse).madd16(q));
    low.shr32::<16>() | high
}

/// Returns x 2^16 mod q, between -q and q, of a secret coefficient.
pub(super) fn to_montgomery(coefficient: u16) -> i16 {
    // 1353 is 2^32 mod q.
    let product = i32::from(coefficient) * 1353;
    let quotient = (product as i16).wrapping_mul(INVERSE);
    ((product - i32::from(quotient) * i32::from(Q)) >> 16) as i16
}
