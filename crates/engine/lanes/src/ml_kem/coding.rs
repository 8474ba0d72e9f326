//! Bytes of the jobs, words of 64 bits in lanes, units of 16 bits in quarter lanes, and coefficients.
//!
//! Quarter `p` of lane `w` belongs to job `p WORDS + w`. So the words of four groups of jobs become the units of all
//! jobs by one transposition within each lane, and the order of the jobs is the same for every width of vectors.

use super::reduce::Q;
use super::{COEFFICIENTS, GROUPS, Poly};
use crate::simd::{LaneArray, ShortSimd, ShortVector, Vector};

/// The words of the four groups of jobs at one place, or the units of 16 bits within them.
pub(super) type GroupWords<V> = [V; GROUPS];

/// Turns the words of four groups into their units, or units into words: unit `s` has quarter `s` of every word.
#[inline(always)]
pub(super) fn transpose_quarters<S: ShortSimd>(simd: S, [a, b, c, d]: GroupWords<S::V>) -> GroupWords<S::V> {
    let (halves, quarters) = (simd.splat(0xFFFF_FFFF), simd.splat32(0xFFFF));
    let (a, c) = Vector::swap_halves::<32>(a, c, halves);
    let (b, d) = Vector::swap_halves::<32>(b, d, halves);
    let (a, b) = Vector::swap_halves::<16>(a, b, quarters);
    let (c, d) = Vector::swap_halves::<16>(c, d, quarters);
    [a, b, c, d]
}

/// Loads words of every job, as many as `out` holds: job `j` has them in `bytes(j)`.
#[inline(always)]
pub(super) fn load_words<'a, S: ShortSimd>(
    simd: S,
    out: &mut [GroupWords<S::V>],
    bytes: impl Fn(usize) -> &'a [u8],
) {
    for group in 0..GROUPS {
        for (block, out) in out.chunks_mut(S::V::WORDS).enumerate() {
            let rows = LaneArray::from_fn(
                #[inline(always)]
                |lane| simd.load_prefix(&bytes(group * S::V::WORDS + lane)[block * S::V::BYTES..]),
            );
            let words = S::V::transpose(rows);
            for (out, word) in out.iter_mut().zip(words.as_ref()) {
                out[group] = *word;
            }
        }
    }
}

/// Calls `each` with every value of a polynomial, and with its place: the block of sixteen values, and the index there.
/// Values have `BITS` bits and fill units from the lowest bit on, so a block fills `BITS` units.
#[inline(always)]
pub(super) fn for_values<S: ShortSimd, const BITS: usize>(
    simd: S,
    units: &[S::V],
    mut each: impl FnMut(usize, usize, S::V),
) {
    for (block, units) in units.as_chunks().0.iter().enumerate().take(COEFFICIENTS / 16) {
        // Written out, so that counts of shifts are constants.
        four_values::<S, BITS, 0>(simd, block, units, &mut each);
        four_values::<S, BITS, 4>(simd, block, units, &mut each);
        four_values::<S, BITS, 8>(simd, block, units, &mut each);
        four_values::<S, BITS, 12>(simd, block, units, &mut each);
    }
}

#[inline(always)]
fn four_values<S: ShortSimd, const BITS: usize, const FIRST: usize>(
    simd: S,
    block: usize,
    units: &[S::V; BITS],
    each: &mut impl FnMut(usize, usize, S::V),
) {
    for at in FIRST..FIRST + 4 {
        let (unit, shift) = (BITS * at / 16, (BITS * at % 16) as u32);
        let low = units[unit].shr16(shift);
        let all = if shift as usize + BITS > 16 { low | units[unit + 1].shl16(16 - shift) } else { low };
        each(block, at, all & simd.splat16((1 << BITS) - 1));
    }
}

/// Packs the values that `value` returns for every place, as [`for_values`] unpacks them.
#[inline(always)]
pub(super) fn pack_values<S: ShortSimd, const BITS: usize>(
    simd: S,
    units: &mut [S::V],
    mut value: impl FnMut(usize, usize) -> S::V,
) {
    for (block, units) in units.as_chunks_mut().0.iter_mut().enumerate().take(COEFFICIENTS / 16) {
        *units = [simd.zero(); BITS];
        pack_four::<S, BITS, 0>(block, units, &mut value);
        pack_four::<S, BITS, 4>(block, units, &mut value);
        pack_four::<S, BITS, 8>(block, units, &mut value);
        pack_four::<S, BITS, 12>(block, units, &mut value);
    }
}

#[inline(always)]
fn pack_four<S: ShortSimd, const BITS: usize, const FIRST: usize>(
    block: usize,
    units: &mut [S::V; BITS],
    value: &mut impl FnMut(usize, usize) -> S::V,
) {
    for at in FIRST..FIRST + 4 {
        let (unit, shift) = (BITS * at / 16, (BITS * at % 16) as u32);
        let value = value(block, at);
        units[unit] = units[unit] | value.shl16(shift);
        if shift as usize + BITS > 16 {
            units[unit + 1] = units[unit + 1] | value.shr16(16 - shift);
        }
    }
}

/// Stores words of every job, as many as `words` has: `store(j, at, bytes)` gets a vector of words of job `j`, which
/// stand `at` bytes behind the first word.
#[inline(always)]
pub(super) fn store_words<S: ShortSimd>(
    simd: S,
    words: &[GroupWords<S::V>],
    mut store: impl FnMut(usize, usize, S::V),
) {
    for group in 0..GROUPS {
        for (block, words) in words.chunks(S::V::WORDS).enumerate() {
            let columns = LaneArray::from_fn(
                #[inline(always)]
                |word| words.get(word).map_or(simd.zero(), |words| words[group]),
            );
            for (lane, row) in S::V::transpose(columns).as_ref().iter().enumerate() {
                store(group * S::V::WORDS + lane, block * S::V::BYTES, *row);
            }
        }
    }
}

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
