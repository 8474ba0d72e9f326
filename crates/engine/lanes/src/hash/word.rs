//! Words of 32 and of 64 bits in vectors: the parts of a hash function that depend on the size of a word alone.

use super::{MAX_LANES, WORDS};
use crate::simd::{HalfMask, LaneArray, Mask, Simd, Vector};

/// A word of a hash function.
pub(crate) trait HashWord: Copy + From<u16> + 'static {
    /// The word whose highest bit alone is set.
    const TOP_BIT: Self;

    /// Returns a vector of one word in every lane.
    fn splat<S: Simd>(simd: S, word: Self) -> S::V;

    /// Adds word by word.
    fn add<V: Vector>(a: V, b: V) -> V;

    /// Adds word by word in the lanes that run.
    fn add_if<V: Vector>(word: V, running: HalfMask, other: V) -> V;

    /// Turns big-endian rows into words, or words into rows: row `r * LANES + j` is part `r` of lane `j`.
    fn arrange<V: Vector>(rows: &mut [V; WORDS]);

    /// Returns the bit lengths that end a padded message, as the last two words of its last block.
    fn lengths<S: Simd>(simd: S, bits: &[u64; MAX_LANES]) -> [S::V; 2];
}

impl HashWord for u32 {
    const TOP_BIT: u32 = 1 << 31;

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
        V::transpose32(rows);
        for word in rows {
            *word = word.swap_bytes32();
        }
    }

    #[inline(always)]
    fn lengths<S: Simd>(simd: S, bits: &[u64; MAX_LANES]) -> [S::V; 2] {
        let half = |shift: u32| {
            let pair = |lane: usize| [bits[2 * lane], bits[2 * lane + 1]].map(|bits| (bits >> shift) as u32);
            simd.load(&LaneArray::from_fn(|lane| {
                let [low, high] = pair(lane);
                u64::from(low) | u64::from(high) << 32
            }))
        };
        [half(32), half(0)]
    }
}

impl HashWord for u64 {
    const TOP_BIT: u64 = 1 << 63;

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
        // The first rows are the first parts of all blocks, the next ones the second parts, and so on.
        for part in V::Lanes::<V>::chunks_mut(rows) {
            *part = V::transpose(*part);
        }
        for word in rows {
            *word = word.swap_bytes();
        }
    }

    /// The high word is zero: a length in bytes fits a `u64` of bits.
    #[inline(always)]
    fn lengths<S: Simd>(simd: S, bits: &[u64; MAX_LANES]) -> [S::V; 2] {
        [simd.zero(), simd.load(&LaneArray::from_fn(|lane| bits[lane]))]
    }
}
