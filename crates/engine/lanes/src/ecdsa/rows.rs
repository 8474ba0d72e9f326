//! Table rows: affine points in memory, and integers of 64-bit words as limbs.

use super::constants::LOW_52;
use crate::simd::{BlindMulSimd, BlindMulVector, Words};

/// A cache line of eight words.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct CacheLine(pub(crate) Words);

/// Returns limb `at` of an integer of 64-bit words, lowest first.
#[inline(always)]
fn limb<S: BlindMulSimd>(simd: S, words: &[S::V], at: usize) -> S::V {
    let (word, bit) = (52 * at / 64, (52 * at % 64) as u64);
    let mut limb = match words.get(word) {
        Some(low) => low.shr_each(simd.splat(bit)),
        None => simd.zero(),
    };
    // 52 bits from bit 13 on reach into the next word.
    if bit > 12
        && let Some(high) = words.get(word + 1)
    {
        limb = limb | high.shl_each(simd.splat(64 - bit));
    }
    limb & simd.splat(LOW_52)
}

/// Converts integers of 64-bit words to limbs of 52 bits. Words past the end are zero.
#[inline(always)]
pub(crate) fn limbs_of_words<S: BlindMulSimd, const L: usize>(simd: S, words: &[S::V]) -> [S::V; L] {
    let mut limbs = [simd.zero(); L];
    for (at, to) in limbs.iter_mut().enumerate() {
        *to = limb(simd, words, at);
    }
    limbs
}

/// Converts integers of limbs to 64-bit words, lowest first.
#[inline(always)]
pub(crate) fn words_of_limbs<S: BlindMulSimd, const L: usize>(
    simd: S,
    limbs: &[S::V; L],
    words: &mut [S::V],
) {
    for (at, to) in words.iter_mut().enumerate() {
        let (limb, bit) = (64 * at / 52, (64 * at % 52) as u64);
        *to = limbs[limb].shr_each(simd.splat(bit));
        // 64 bits can reach into three limbs of 52.
        for next in 1..=2 {
            let shift = 52 * next as u64 - bit;
            if shift < 64 && limb + next < L {
                *to = *to | limbs[limb + next].shl_each(simd.splat(shift));
            }
        }
    }
}
