//! Challenges: polynomials with tau coefficients of 1 or -1. FIPS 204 algorithm 29.

use super::{COEFFICIENTS, DsaSet, GROUPS, Poly, half_of};
use crate::keccak::{KeccakState, RATE_256, SHAKE_SUFFIX, STATE_WORDS, pad, permute};
use crate::simd::{HalfMask, ShortSimd, Vector, declassify};

/// The largest number of words of a commitment hash.
pub(super) const MAX_HASH_WORDS: usize = 8;

/// A commitment hash of every job.
pub(super) type GroupHashes<V> = [[V; GROUPS]; MAX_HASH_WORDS];

/// The challenges of a group of jobs: for each coefficient the half lanes in which it is not 0, and those in which it
/// is negative.
pub(super) struct Challenge {
    nonzero: [HalfMask; COEFFICIENTS],
    negative: [HalfMask; COEFFICIENTS],
}

impl Challenge {
    pub(super) const ZERO: Self = Self { nonzero: [0; COEFFICIENTS], negative: [0; COEFFICIENTS] };

    /// Draws the challenges of the first `jobs` jobs from their commitment hashes.
    ///
    /// The hash of a signature is public. That of an attempt at signing that is rejected shows nothing about the key,
    /// because the chance of rejection depends neither on the key nor on the challenge (FIPS 204 3.6.3 allows its
    /// disclosure by time; section 5.5 of the specification of CRYSTALS-Dilithium 3.1 has the argument).
    pub(super) fn draw<S: ShortSimd, P: DsaSet>(&mut self, simd: S, hashes: &GroupHashes<S::V>, jobs: usize) {
        *self = Self::ZERO;
        for group in 0..GROUPS {
            let first = group * S::V::WORDS;
            let count = jobs.saturating_sub(first).min(S::V::WORDS);
            let mut draws: Vec<_> =
                (first..first + count).map(|job| ChallengeDraw::new::<P>(half_of::<S::V>(job))).collect();
            let mut state: KeccakState<S::V> = [simd.zero(); STATE_WORDS];
            for (word, hash) in state.iter_mut().zip(&hashes[..P::HASH_WORDS]) {
                *word = hash[group];
            }
            pad(simd, &mut state, P::HASH_WORDS, RATE_256, SHAKE_SUFFIX);
            while draws.iter().any(|draw| draw.next < COEFFICIENTS) {
                permute(simd, &mut state);
                let block: [_; RATE_256] = std::array::from_fn(|word| state[word].words());
                for (lane, draw) in draws.iter_mut().enumerate() {
                    let words: [u64; RATE_256] = std::array::from_fn(|word| block[word].as_ref()[lane]);
                    draw.take(declassify(words), self);
                }
            }
        }
    }

    /// Writes the coefficients.
    pub(super) fn write<S: ShortSimd>(&self, simd: S, poly: &mut Poly<S::V>) {
        simd.call(
            #[inline(always)]
            || {
                let (one, minus_two) = (simd.splat32(1), simd.splat32(u32::MAX - 1));
                for ((out, nonzero), negative) in poly.iter_mut().zip(self.nonzero).zip(self.negative) {
                    *out = simd.zero().add32_if(nonzero, one).add32_if(negative, minus_two);
                }
            },
        );
    }
}

/// A challenge that is being drawn.
struct ChallengeDraw {
    /// The half lane of the job.
    bit: HalfMask,
    /// The signs that are left, or None before the first block.
    signs: Option<u64>,
    /// The next coefficient.
    next: usize,
}

impl ChallengeDraw {
    fn new<P: DsaSet>(half: usize) -> Self {
        Self { bit: 1 << half, signs: None, next: COEFFICIENTS - P::TAU }
    }

    /// Takes the coefficients of a block.
    fn take(&mut self, block: [u64; RATE_256], challenge: &mut Challenge) {
        let Challenge { nonzero, negative } = challenge;
        let bit = self.bit;
        let start = usize::from(self.signs.is_none());
        let mut signs = self.signs.unwrap_or(block[0]);
        for position in block[start..].iter().flat_map(|word| word.to_le_bytes()).map(usize::from) {
            if self.next == COEFFICIENTS {
                break;
            }
            if position > self.next {
                continue;
            }
            // The coefficient at `position` moves to the next one, which is 0 still, and gets a new value.
            nonzero[self.next] |= nonzero[position] & bit;
            negative[self.next] |= negative[position] & bit;
            nonzero[position] |= bit;
            negative[position] =
                if signs & 1 == 1 { negative[position] | bit } else { negative[position] & !bit };
            signs >>= 1;
            self.next += 1;
        }
        self.signs = Some(signs);
    }
}
