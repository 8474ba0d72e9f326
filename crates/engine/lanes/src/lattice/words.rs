//! Bytes of the jobs, and words of 64 bits in lanes: those of job `g WORDS + w` in lane `w` of group `g`.

use crate::simd::{LaneArray, ShortSimd, Vector};

/// Loads words of every job, as many as `out` holds: job `j` has them in `bytes(j)`.
#[inline(always)]
pub(crate) fn load_words<'a, S: ShortSimd, const GROUPS: usize>(
    simd: S,
    out: &mut [[S::V; GROUPS]],
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

/// Stores words of every job, as many as `words` has: `store(j, at, bytes)` gets a vector of words of job `j`, which
/// stand `at` bytes behind the first word.
#[inline(always)]
pub(crate) fn store_words<S: ShortSimd, const GROUPS: usize>(
    simd: S,
    words: &[[S::V; GROUPS]],
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
