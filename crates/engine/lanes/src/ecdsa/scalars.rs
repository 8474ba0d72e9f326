//! Conversion between big-endian bytes of jobs and lanes.

use zeroize::Zeroizing;

use super::constants::{LOW_52, minus};
use super::element::Element;
use super::ring::{MontgomeryRing, OddModulus};
use super::rows::{limbs_of_words, words_of_limbs};
use crate::batch::{LaneJob, per_lane};
use crate::simd::{LANES, Mask, MulSimd, Vector, Words};

/// The 64-bit words of the longest scalar.
const WORDS: usize = 6;

/// Integers as 64-bit words, lowest first.
pub(crate) type Integers<const N: usize> = [[Words; WORDS]; N];

impl<S: MulSimd, M: OddModulus<L>, const L: usize, const N: usize> MontgomeryRing<S, M, L, N> {
    /// Loads big-endian integers of at most 48 bytes.
    pub(crate) fn read(self, integers: &[[&[u8]; LANES]; N]) -> Element<S::V, L, N> {
        let mut element = self.zero();
        for (n, integers) in integers.iter().enumerate() {
            self.simd.call(
                #[inline(always)]
                || {
                    let mut words = Zeroizing::new([[0; LANES]; WORDS]);
                    for (lane, integer) in integers.iter().enumerate() {
                        for (at, chunk) in integer.rchunks(8).enumerate() {
                            words[at][lane] = word_of_bytes(chunk);
                        }
                    }
                    let words = words.map(|words| self.simd.load(&words));
                    for (limb, value) in element.0.iter_mut().zip(limbs_of_words::<S, L>(self.simd, &words)) {
                        limb.0[n] = value;
                    }
                },
            );
        }
        element
    }

    /// Returns the 64-bit words of plain integers, lowest first.
    pub(crate) fn words(self, element: &Element<S::V, L, N>) -> Integers<N> {
        let mut all = [[[0; LANES]; WORDS]; N];
        for (n, all) in all.iter_mut().enumerate() {
            self.simd.call(
                #[inline(always)]
                || {
                    let mut limbs = [self.simd.zero(); L];
                    for (limb, interleaved) in limbs.iter_mut().zip(element.0) {
                        *limb = interleaved.0[n];
                    }
                    let mut words = [self.simd.zero(); WORDS];
                    // 260 bits of limbs are four whole words, 416 bits six; plain integers have no bits above.
                    words_of_limbs(self.simd, &limbs, &mut words[..52 * L / 64]);
                    for (to, word) in all.iter_mut().zip(words) {
                        *to = word.words();
                    }
                },
            );
        }
        all
    }
}

/// Returns `field` of the jobs of a block, eight to a part. Lanes without a job repeat the last job.
pub(crate) fn lanes<T, U, const N: usize>(
    block: &[LaneJob<T>],
    field: impl Fn(&T) -> U + Copy,
) -> [[U; LANES]; N] {
    std::array::from_fn(|n| per_lane(&block[(n * LANES).min(block.len() - 1)..], field))
}

/// Returns true if a big-endian integer is in [1, m - 1]. The time is the same for every integer.
pub(crate) fn is_in_range<M: OddModulus<L>, const L: usize>(integer: &[u8]) -> bool {
    let limbs = limbs_of_bytes::<L>(integer);
    let is_below = minus(&limbs, &M::LIMBS).1;
    // `&` instead of `&&`: a short circuit would reveal which test failed.
    is_below & (limbs.iter().fold(0, |all, limb| all | limb) != 0)
}

/// Returns the limbs of a big-endian integer. The time depends on its length only.
pub(crate) fn limbs_of_bytes<const L: usize>(integer: &[u8]) -> [u64; L] {
    let mut limbs = [0; L];
    for (at, chunk) in integer.rchunks(8).enumerate() {
        let word = word_of_bytes(chunk);
        let (limb, bit) = (64 * at / 52, 64 * at % 52);
        limbs[limb] |= word << bit & LOW_52;
        if limb + 1 < L {
            limbs[limb + 1] |= word >> (52 - bit) & LOW_52;
        }
        // From bit 41 on a word of 64 bits reaches into a third limb.
        if bit > 40 && limb + 2 < L {
            limbs[limb + 2] |= word >> (104 - bit);
        }
    }
    limbs
}

/// Returns a big-endian integer of at most eight bytes.
#[inline(always)]
fn word_of_bytes(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(whole) => u64::from_be_bytes(*whole),
        None => bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Writes the integer of job `job` of a block, big-endian.
pub(crate) fn write<const N: usize>(integers: &Integers<N>, job: usize, bytes: &mut [u8]) {
    let words = &integers[job / LANES];
    for (word, chunk) in words.iter().zip(bytes.rchunks_mut(8)) {
        chunk.copy_from_slice(&word[job % LANES].to_be_bytes());
    }
}

/// Returns true if the lane of job `job` of a block is set.
pub(crate) fn is_set(masks: &[Mask], job: usize) -> bool {
    masks[job / LANES] >> (job % LANES) & 1 == 1
}
