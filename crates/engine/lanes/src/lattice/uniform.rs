//! Uniform polynomials, drawn from public seeds by SHAKE128. FIPS 203 algorithm 7 and FIPS 204 algorithm 30.

use crate::keccak::{KeccakState, RATE_128, permute};
use crate::simd::{LaneArray, ShortSimd, Vector};

/// The bytes of a block of SHAKE128.
const BLOCK: usize = 8 * RATE_128;

/// The bytes of the values that are drawn together.
const STEP: usize = 24;

/// The most states side by side.
pub(crate) const MAX_STATES: usize = 8;

/// A polynomial that is being drawn.
pub(crate) trait UniformDraw {
    /// True if all coefficients are there.
    fn is_whole(&self) -> bool;

    /// Takes the values of some bytes that are in range.
    fn take<S: ShortSimd>(&mut self, simd: S, bytes: &[u8; STEP]);
}

/// Draws a polynomial from each lane of states that have absorbed their seeds. There are no more polynomials than
/// lanes.
pub(crate) fn draw<S: ShortSimd>(simd: S, state: &mut KeccakState<S::V>, polys: &mut [impl UniformDraw]) {
    let mut blocks = [[0; BLOCK.next_multiple_of(64)]; MAX_STATES];
    while !polys.iter().all(UniformDraw::is_whole) {
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
                for (poly, block) in polys.iter_mut().zip(&blocks) {
                    for bytes in block[..BLOCK].as_chunks().0 {
                        if poly.is_whole() {
                            break;
                        }
                        poly.take(simd, bytes);
                    }
                }
            },
        );
    }
}
