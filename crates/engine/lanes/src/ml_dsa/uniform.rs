//! The matrix of a key, drawn from its public seed. FIPS 204 algorithms 30 and 32.

use super::COEFFICIENTS;
use super::reduce::{DsaFactor, Q};
use super::rows::KeptPoly;
use crate::keccak::{KeccakState, LAST_BIT, RATE_128, SHAKE_SUFFIX, STATE_WORDS};
use crate::lattice::uniform::{MAX_STATES, UniformDraw, draw};
use crate::simd::{LaneArray, LaneValues, ShortSimd, Vector};

/// The words of the seed.
pub(super) const SEED_WORDS: usize = 4;

/// 2^32, which kept keys are multiplied by.
pub(super) const MONTGOMERY: DsaFactor = DsaFactor::new((1 << 32) % Q as u64);

/// The coefficients that were drawn, and space for those of a step that are not needed.
#[derive(Clone, Copy)]
struct DsaDraw {
    coefficients: [u32; COEFFICIENTS + 8],
    count: usize,
}

impl UniformDraw for DsaDraw {
    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.count >= COEFFICIENTS
    }

    #[inline(always)]
    fn take<S: ShortSimd>(&mut self, simd: S, bytes: &[u8; 24]) {
        let Some(out) = self.coefficients[self.count..].first_chunk_mut() else { return };
        if simd.are_below(bytes, Q.cast_unsigned(), out) {
            self.count += out.len();
            return;
        }
        // One value of a thousand is rejected.
        let drawn = *out;
        for value in drawn.into_iter().filter(|value| *value < Q.cast_unsigned()) {
            self.coefficients[self.count] = value;
            self.count += 1;
        }
    }
}

/// Draws a polynomial for each lane: of the seed with the words `seed`, and of the row and column that
/// `row_and_column` returns. FIPS 204 algorithm 32, steps 3 and 4.
pub(super) fn draw_polys<S: ShortSimd>(
    simd: S,
    seed: &[S::V; SEED_WORDS],
    row_and_column: impl Fn(usize) -> (usize, usize),
    polys: &mut [KeptPoly],
) {
    let mut state: KeccakState<S::V> = [simd.zero(); STATE_WORDS];
    state[..SEED_WORDS].copy_from_slice(seed);
    let suffixes = LaneValues::<S::V, u64>::from_fn(|lane| {
        let (row, column) = row_and_column(lane);
        (column | row << 8) as u64 | SHAKE_SUFFIX << 16
    });
    state[SEED_WORDS] = simd.load(&suffixes);
    state[RATE_128 - 1] = simd.splat(LAST_BIT);
    let mut drawn = [DsaDraw { coefficients: [0; COEFFICIENTS + 8], count: 0 }; MAX_STATES];
    draw(simd, &mut state, &mut drawn[..polys.len()]);
    for (poly, drawn) in polys.iter_mut().zip(&drawn) {
        for (word, pair) in poly.iter_mut().zip(drawn.coefficients.as_chunks::<2>().0) {
            *word = word_of(pair.map(u32::cast_signed));
        }
    }
}

/// Draws the matrix of one key times 2^32, row by row: `columns` polynomials a row, of which the first `drawn` are the
/// matrix.
pub(super) fn expand_matrix<S: ShortSimd>(
    simd: S,
    seed: [u64; SEED_WORDS],
    drawn: usize,
    columns: usize,
    rows: &mut [KeptPoly],
) {
    let seed = seed.map(|word| simd.splat(word));
    let count = rows.len() / columns * drawn;
    let row_and_column = |at: usize| (at / drawn, at % drawn);
    for first in (0..count).step_by(S::V::WORDS) {
        let mut polys = [[0; COEFFICIENTS / 2]; MAX_STATES];
        let polys = &mut polys[..S::V::WORDS.min(count - first)];
        draw_polys(simd, &seed, |lane| row_and_column(first + lane), polys);
        simd.call(
            #[inline(always)]
            || {
                for (lane, poly) in polys.iter().enumerate() {
                    let (row, column) = row_and_column(first + lane);
                    let out = LaneArray::chunks_mut(&mut rows[row * columns + column]);
                    let words: &[LaneValues<S::V, u64>] = LaneArray::chunks(poly).0;
                    for (out, words) in out.iter_mut().zip(words) {
                        *out = MONTGOMERY.times(simd, simd.load(words)).words();
                    }
                }
            },
        );
    }
}

/// Returns a word of two coefficients, the first in the low half.
#[inline(always)]
pub(super) fn word_of(coefficients: [i32; 2]) -> u64 {
    let [low, high] = coefficients.map(|coefficient| u64::from(coefficient.cast_unsigned()));
    low | high << 32
}

/// Returns word `at` of bytes.
pub(super) fn words_of<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let chunks = bytes.as_chunks().0;
    std::array::from_fn(|word| chunks.get(word).map_or(0, |chunk| u64::from_le_bytes(*chunk)))
}
