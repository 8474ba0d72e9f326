//! Conversion between integers and limbs of doubles. The time depends on lengths only.

use super::super::number::{LIMB_BITS, Limbs};
use crate::simd::doubles::{DOUBLES, DoubleShape, DoubleVector};

const WORD_BITS: usize = 64;

/// Converts an integer in limbs of 52 bits modulo R to the bits of doubles.
pub(super) fn stored(integer: &[u64], shape: &DoubleShape) -> Limbs {
    let limb = |at| {
        let (this, below) = (limb_at(integer, LIMB_BITS as usize, shape.limb_bits, at), at.checked_sub(1));
        let below = below.map_or(0, |below| limb_at(integer, LIMB_BITS as usize, shape.limb_bits, below));
        // Below 2^51 in magnitude, so the conversion is exact.
        (signed(this, below, shape.limb_bits) as f64).to_bits()
    };
    Limbs::new((0..shape.limbs).map(limb).collect())
}

/// Converts one number of 64-bit words per lane to limbs.
#[inline(always)]
pub(super) fn limbs_of_words(words: [&[u64]; DOUBLES], limb_bits: u32, limbs: &mut [DoubleVector]) {
    let mut below = [0; DOUBLES];
    for (at, limb) in limbs.iter_mut().enumerate() {
        let this = words.map(
            #[inline(always)]
            |words| limb_at(words, WORD_BITS, limb_bits, at),
        );
        *limb = DoubleVector::from_integers(std::array::from_fn(
            #[inline(always)]
            |lane| signed(this[lane], below[lane], limb_bits),
        ));
        below = this;
    }
}

/// Returns a signed limb: the upper half of the range becomes negative, and carries one into the limb above.
#[inline(always)]
fn signed(limb: u64, below: u64, limb_bits: u32) -> i64 {
    let carry = limb >> (limb_bits - 1);
    (limb + (below >> (limb_bits - 1))).cast_signed() - (carry << limb_bits).cast_signed()
}

/// Returns limb `at` of `limb_bits` bits of an integer in digits of `width` bits.
#[inline(always)]
fn limb_at(digits: &[u64], width: usize, limb_bits: u32, at: usize) -> u64 {
    let (first, shift) = (at * limb_bits as usize / width, at * limb_bits as usize % width);
    let digit = |at: usize| u128::from(digits.get(at).copied().unwrap_or(0));
    // At most 51 bits, which span two digits.
    let wide = digit(first) | digit(first + 1) << width;
    (wide >> shift) as u64 & ((1 << limb_bits) - 1)
}

/// Converts numbers that are not negative to `count` words per lane, lane by lane.
#[inline(always)]
pub(super) fn words_of_limbs(limbs: &[DoubleVector], limb_bits: u32, words: &mut [u64], count: usize) {
    // Bits that are not in a word yet, for each lane, and their public number.
    let (mut pending, mut bits, mut at) = ([0_u128; DOUBLES], 0, 0);
    let mut carry = [0_i64; DOUBLES];
    for limb in limbs {
        let limb = limb.integers();
        for lane in 0..DOUBLES {
            let sum = limb[lane] + carry[lane];
            carry[lane] = sum >> limb_bits;
            let digit = sum.cast_unsigned() & ((1 << limb_bits) - 1);
            pending[lane] |= u128::from(digit) << bits;
        }
        bits += limb_bits;
        if bits >= u64::BITS {
            store(&mut pending, words, count, at);
            bits -= u64::BITS;
            at += 1;
        }
    }
    while at < count {
        store(&mut pending, words, count, at);
        at += 1;
    }
}

/// Moves one word of each lane to its place. Words beyond the last place are zero.
#[inline(always)]
fn store(pending: &mut [u128; DOUBLES], words: &mut [u64], count: usize, at: usize) {
    for (pending, words) in pending.iter_mut().zip(words.chunks_exact_mut(count)) {
        if let Some(word) = words.get_mut(at) {
            *word = *pending as u64;
        }
        *pending >>= u64::BITS;
    }
}
