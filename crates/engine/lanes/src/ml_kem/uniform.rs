//! Uniform polynomials, drawn from public seeds. FIPS 203 algorithm 7.

use super::COEFFICIENTS;
use super::key::POLY_WORDS;
use super::reduce::Q;
use crate::keccak::{KeccakState, RATE_128, permute};
use crate::simd::{LaneArray, ShortSimd, Vector};

/// The bytes of a block of SHAKE128.
const BLOCK: usize = 8 * RATE_128;

/// The bytes of the values that are drawn together: 16 of 12 bits.
const STEP: usize = 24;

/// The most states side by side.
const MAX_STATES: usize = 8;

/// The coefficients that were drawn, and space for those of a step that are not needed.
struct Drawn {
    coefficients: [u16; COEFFICIENTS + 16],
    count: usize,
}

impl Drawn {
    fn take<S: ShortSimd>(&mut self, simd: S, block: &[u8]) {
        for bytes in block.as_chunks::<STEP>().0 {
            if self.count >= COEFFICIENTS {
                return;
            }
            if let Some(out) = self.coefficients[self.count..].first_chunk_mut() {
                self.count += simd.take_below(bytes, Q.cast_unsigned(), out);
            }
        }
    }
}

/// Draws a polynomial from each lane of states that have absorbed their seeds. There are no more polynomials than
/// lanes.
pub(super) fn draw<S: ShortSimd>(simd: S, state: &mut KeccakState<S::V>, polys: &mut [[u64; POLY_WORDS]]) {
    let mut drawn = [const { Drawn { coefficients: [0; COEFFICIENTS + 16], count: 0 } }; MAX_STATES];
    let drawn = &mut drawn[..polys.len()];
    let mut blocks = [[0; BLOCK.next_multiple_of(64)]; MAX_STATES];
    while drawn.iter().any(|drawn| drawn.count < COEFFICIENTS) {
        permute(simd, state);
        simd.call(
            #[inline(always)]
            || {
                for (at, words) in state[..RATE_128].chunks(S::V::WORDS).enumerate() {
                    let columns = LaneArray::from_fn(
                        #[inline(always)]
                        |word| words.get(word).copied().unwrap_or(simd.zero()),
                    );
                    for (row, block) in S::V::transpose(columns).as_ref().iter().zip(&mut blocks) {
                        row.store_prefix(&mut block[S::V::BYTES * at..S::V::BYTES * (at + 1)]);
                    }
                }
                for (drawn, block) in drawn.iter_mut().zip(&blocks) {
                    drawn.take(simd, &block[..BLOCK]);
                }
            },
        );
    }
    for (poly, drawn) in polys.iter_mut().zip(drawn) {
        for (word, four) in poly.iter_mut().zip(drawn.coefficients.as_chunks::<4>().0) {
            *word = word_of(*four);
        }
    }
}

/// Returns a word of coefficients, the first in the lowest bits.
#[inline(always)]
pub(super) fn word_of(coefficients: [u16; 4]) -> u64 {
    coefficients.iter().rev().fold(0, |word, quarter| word << 16 | u64::from(*quarter))
}
