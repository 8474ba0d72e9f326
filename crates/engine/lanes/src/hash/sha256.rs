//! SHA-256 and SHA-224 of many messages side by side, each in a half lane.

use super::sha2::{self, Sha2Rounds};
use super::sha256_constants::{INITIAL, INITIAL_224, ROUND};
use super::{Chain, ChainBytes, MerkleDamgard, WORDS, alone, xor3};
use crate::simd::{Simd, Vector};

/// SHA-256 in half lanes. SHA-224 differs only in its initial hash value.
#[derive(Debug)]
pub(crate) struct LaneSha256;

/// Returns the initial hash value of SHA-224. FIPS 180-4 5.3.2.
pub(super) fn initial_224() -> ChainBytes {
    alone::chain_bytes(INITIAL_224.map(u32::to_be_bytes))
}

impl MerkleDamgard for LaneSha256 {
    type Word = u32;

    // A step of sixteen lanes takes 196 ns, a block alone 34 ns: docs/performance/records.md, Hashes.
    const ALONE: usize = 4;

    /// Returns the initial hash value. FIPS 180-4 5.3.3.
    fn initial() -> ChainBytes {
        alone::chain_bytes(INITIAL.map(u32::to_be_bytes))
    }

    #[inline(always)]
    fn rounds<S: Simd, const N: usize>(
        simd: S,
        states: [Chain<S::V>; N],
        words: [[S::V; WORDS]; N],
        meanwhile: impl FnMut(usize),
    ) -> [Chain<S::V>; N] {
        sha2::rounds::<S, Self, N>(simd, states, words, meanwhile)
    }

    fn compress_alone(state: &mut ChainBytes, blocks: &[u8]) {
        alone::with_words(state, u32::from_be_bytes, u32::to_be_bytes, |words| {
            ::sha2::block_api::compress256(words, blocks.as_chunks().0);
        });
    }
}

impl Sha2Rounds for LaneSha256 {
    const ROUND: &'static [u32] = &ROUND;

    #[inline(always)]
    fn sum0<V: Vector>(a: V) -> V {
        xor3(a.rotr32::<2>(), a.rotr32::<13>(), a.rotr32::<22>())
    }

    #[inline(always)]
    fn sum1<V: Vector>(e: V) -> V {
        xor3(e.rotr32::<6>(), e.rotr32::<11>(), e.rotr32::<25>())
    }

    #[inline(always)]
    fn sigma0<V: Vector>(word: V) -> V {
        xor3(word.rotr32::<7>(), word.rotr32::<18>(), word.shr32::<3>())
    }

    #[inline(always)]
    fn sigma1<V: Vector>(word: V) -> V {
        xor3(word.rotr32::<17>(), word.rotr32::<19>(), word.shr32::<10>())
    }
}
