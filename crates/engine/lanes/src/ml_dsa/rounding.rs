//! High and low parts of coefficients, and hints. FIPS 204 7.4.

use super::DsaSet;
use super::reduce::Q;
use crate::simd::{BlindVector, HalfMask, ShortSimd, ShortVector, Vector};

/// Splits coefficients from 0 to q, exclusive, into their high parts and their low parts, which are between -gamma2 and
/// gamma2. FIPS 204 algorithm 36.
///
/// There is no division, whose time could depend on the secret. A multiple of gamma2 is one of 256, so the high part
/// depends only on the coefficient over 256, rounded up, which has 15 bits. A test compares every coefficient.
#[inline(always)]
pub(super) fn decompose<S: ShortSimd, P: DsaSet>(simd: S, coefficients: S::V) -> (S::V, S::V) {
    let rounded = coefficients.add32(simd.splat32(255)).shr32_by(8);
    // Of the words of 16 bits every second one is 0.
    let word = |number: i32| simd.splat32(number.cast_unsigned());
    let high = if P::HIGH_PARTS == 16 {
        rounded.mul16_hi(word(16_400)).add32(word(256)).shr32_by(9) & word(15)
    } else {
        let high = rounded.mul16_hi(word(22_550)).add32(word(128)).shr32_by(8);
        // The multiple of 44 belongs to 0.
        word(43).sub32(high).sar32_by(31).and_not(high)
    };
    // 2 gamma2 is an odd number times a power of two.
    let shift = (2 * P::GAMMA2).trailing_zeros();
    let multiple = high.mul16_lo(word((2 * P::GAMMA2) >> shift)).shl32_by(shift);
    let low = coefficients.sub32(multiple);
    let is_upper = word(Q / 2).sub32(low).sar32_by(31);
    (high, low.sub32(is_upper & word(Q)))
}

/// Returns the high parts of coefficients from 0 to q, exclusive, corrected where the mask has hints. FIPS 204
/// algorithm 40.
#[inline(always)]
pub(super) fn use_hint<S: ShortSimd, P: DsaSet>(simd: S, hints: HalfMask, coefficients: S::V) -> S::V {
    let word = |number: i32| simd.splat32(number.cast_unsigned());
    let (high, low) = decompose::<S, P>(simd, coefficients);
    // 1 for a low part above 0, and -1 otherwise.
    let correction = simd.zero().sub32(low).shr32_by(31);
    let correction = correction.add32(correction).sub32(word(1));
    let corrected = high.add32_if(hints, correction);
    if P::HIGH_PARTS == 16 {
        return corrected & word(15);
    }
    let corrected = corrected.add32(corrected.sar32_by(31) & word(44));
    word(43).sub32(corrected).sar32_by(31).and_not(corrected)
}

/// Returns words whose sign bit is set where a hint is needed: where the low part, to which `change` is added, leaves
/// its range. `high` is above 0 where the high part is. FIPS 204 algorithm 39.
#[inline(always)]
pub(super) fn make_hint<S: ShortSimd, P: DsaSet>(simd: S, high: S::V, low: S::V, change: S::V) -> S::V {
    let gamma2 = simd.splat32(P::GAMMA2.cast_unsigned());
    let sum = low.add32(change);
    let from_bottom = sum.add32(gamma2);
    let is_bottom = !(from_bottom | simd.zero().sub32(from_bottom));
    gamma2.sub32(sum) | from_bottom | is_bottom & simd.zero().sub32(high)
}

/// Returns words whose sign bit is set where the absolute value of a word is `bound` or more.
#[inline(always)]
pub(super) fn exceeds<S: ShortSimd>(simd: S, words: S::V, bound: i32) -> S::V {
    let most = simd.splat32((bound - 1).cast_unsigned());
    most.sub32(words) | most.add32(words)
}
