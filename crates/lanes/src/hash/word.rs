//! Words of 32 and of 64 bits in vectors: the parts of a hash function that depend on the size of a word alone.

use super::WORDS;
use crate::simd::{HALVES, HalfMask, LANES, Mask, Simd, VECTOR_BYTES, Vector};

/// A word of a hash function.
pub(crate) trait HashWord: Copy + 'static {
    /// The number of messages side by side, which is the number of words in a vector.
    const LANES: usize;

    /// Returns a vector of one word in every lane.
    fn splat<S: Simd>(simd: S, word: Self) -> S::V;

    /// Adds word by word.
    fn add<V: Vector>(a: V, b: V) -> V;

    /// Adds word by word in the lanes that run.
    fn add_if<V: Vector>(word: V, running: HalfMask, other: V) -> V;

    /// Turns big-endian rows into words, or words into rows: row `r * LANES + j` is part `r` of lane `j`.
    fn arrange<V: Vector>(rows: &mut [V; WORDS]);

    /// Returns the bit lengths that end a padded message, as the last two words of its last block.
    fn lengths<S: Simd>(simd: S, bits: &[u64; WORDS]) -> [S::V; 2];
}

impl HashWord for u32 {
    const LANES: usize = HALVES;

    #[inline(always)]
    fn splat<S: Simd>(simd: S, word: u32) -> S::V {
        simd.splat32(word)
    }

    #[inline(always)]
    fn add<V: Vector>(a: V, b: V) -> V {
        a.add32(b)
    }

    #[inline(always)]
    fn add_if<V: Vector>(word: V, running: HalfMask, other: V) -> V {
        word.add32_if(running, other)
    }

    #[inline(always)]
    fn arrange<V: Vector>(rows: &mut [V; WORDS]) {
        *rows = V::transpose32(*rows);
        for word in rows {
            *word = word.swap_bytes32();
        }
    }

    #[inline(always)]
    fn lengths<S: Simd>(simd: S, bits: &[u64; WORDS]) -> [S::V; 2] {
        let half = |shift: u32| {
            let mut bytes = [0; VECTOR_BYTES];
            for (word, bits) in bytes.as_chunks_mut().0.iter_mut().zip(bits) {
                *word = ((bits >> shift) as u32).to_le_bytes();
            }
            simd.load_bytes(&bytes)
        };
        [half(32), half(0)]
    }
}

impl HashWord for u64 {
    const LANES: usize = LANES;

    #[inline(always)]
    fn splat<S: Simd>(simd: S, word: u64) -> S::V {
        simd.splat(word)
    }

    #[inline(always)]
    fn add<V: Vector>(a: V, b: V) -> V {
        a + b
    }

    #[inline(always)]
    fn add_if<V: Vector>(word: V, running: HalfMask, other: V) -> V {
        word.add_if(running as Mask, other)
    }

    #[inline(always)]
    fn arrange<V: Vector>(rows: &mut [V; WORDS]) {
        // Rows 0 to 7 are the first halves of the eight blocks, rows 8 to 15 the second halves.
        for half in rows.as_chunks_mut().0 {
            *half = V::transpose(*half);
        }
        for word in rows {
            *word = word.swap_bytes();
        }
    }

    /// The high word is zero: a length in bytes fits a `u64` of bits.
    #[inline(always)]
    fn lengths<S: Simd>(simd: S, bits: &[u64; WORDS]) -> [S::V; 2] {
        let low = bits.first_chunk().map_or(simd.zero(), |bits| simd.load(bits));
        [simd.zero(), low]
    }
}
