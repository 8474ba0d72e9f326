//! Compression, message bits and samples: values of few bits and coefficients.

use super::reduce::Q;
use super::{GROUPS, Poly};
use crate::lattice::units::transpose_quarters;
use crate::simd::{BlindVector, ShortSimd, ShortVector};

/// The words of the four groups of jobs at one place, or the units of 16 bits within them.
pub(super) type GroupWords<V> = [V; GROUPS];

/// Computes `round(q / 2^bits x)` of values. FIPS 203 4.8.
#[inline(always)]
pub(super) fn decompress<S: ShortSimd>(simd: S, values: S::V, bits: usize) -> S::V {
    values.shl16(15 - bits as u32).mul16_round(simd.splat16(Q))
}

/// Computes `round(2^bits / q x)` modulo `2^bits` of coefficients from 0 to q. FIPS 203 4.8.
///
/// There is no division, whose time could depend on the secret: the estimate of the quotient is at most one too small,
/// and the remainder says whether it is. A test compares every coefficient.
#[inline(always)]
pub(super) fn compress<S: ShortSimd>(simd: S, coefficients: S::V, bits: usize) -> S::V {
    let bits = bits as u32;
    let estimate = coefficients.shl16(3).mul16_hi(simd.splat16(20_158));
    let quotient = estimate.add16(simd.splat16(1 << (12 - bits))).shr16(13 - bits);
    let dividend = coefficients.shl16(bits).add16(simd.splat16(Q / 2));
    let remainder = dividend.sub16(quotient.mul16_lo(simd.splat16(Q)));
    // All ones, which is -1, if the remainder is q or more.
    let missing = simd.splat16(Q - 1).sub16(remainder).sar16(15);
    quotient.sub16(missing) & simd.splat16((1 << bits) - 1)
}

/// Adds the bit of a coefficient from 0 to q to a unit of a message, whose earlier bits move down: 1 for a coefficient
/// nearer to q / 2 than to 0. FIPS 203 algorithm 15, step 7.
#[inline(always)]
pub(super) fn push_message_bit<S: ShortSimd>(simd: S, unit: &mut S::V, coefficient: S::V) {
    // Both differences are negative from 833 to 2496.
    let is_one = simd.splat16(832).sub16(coefficient) & coefficient.sub16(simd.splat16(2497));
    *unit = unit.shr16(1) | (is_one & simd.splat16(i16::MIN));
}

/// Returns the coefficient of bit `at` of a unit of a message: (q + 1) / 2 for 1. FIPS 203 algorithm 14, step 20.
#[inline(always)]
pub(super) fn message_coefficient<S: ShortSimd>(simd: S, unit: S::V, at: usize) -> S::V {
    let mask = unit.shl16(15 - at as u32).sar16(15);
    mask & simd.splat16((Q + 1) / 2)
}

/// Makes coefficients between -2 and 2 from 16 words of each job. FIPS 203 algorithm 8 for eta = 2.
#[inline(always)]
pub(super) fn sample_binomial<S: ShortSimd>(simd: S, words: &[GroupWords<S::V>; 16], poly: &mut Poly<S::V>) {
    let (pairs, fours, eights) = (
        simd.splat(0x5555_5555_5555_5555),
        simd.splat(0x3333_3333_3333_3333),
        simd.splat(0x8888_8888_8888_8888),
    );
    for (words, out) in words.iter().zip(poly.as_chunks_mut::<16>().0) {
        // Four bits per coefficient: two sums of two bits, and then 8 plus their difference.
        let mut differences = *words;
        for word in &mut differences {
            let sums = (*word & pairs) + (word.shr::<1>() & pairs);
            *word = (sums & fours | eights) - (sums.shr::<2>() & fours);
        }
        for (unit, out) in transpose_quarters(simd, differences).into_iter().zip(out.as_chunks_mut::<4>().0) {
            for (at, out) in out.iter_mut().enumerate() {
                *out = (unit.shr16(4 * at as u32) & simd.splat16(15)).sub16(simd.splat16(8));
            }
        }
    }
}
