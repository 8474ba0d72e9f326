//! SHA-512, SHA-384, SHA-512/224 and SHA-512/256 of many messages side by side, each in a lane.

use super::sha2::{self, Sha2Rounds};
use super::sha512_constants::{INITIAL, INITIAL_384, INITIAL_512_224, INITIAL_512_256, ROUND};
use super::{Chain, ChainBytes, MerkleDamgard, WORDS, alone, xor3};
use crate::simd::{Simd, Vector};

/// SHA-512 in lanes. SHA-384 and SHA-512/t differ only in their initial hash values.
#[derive(Debug)]
pub(crate) struct LaneSha512;

/// Returns the initial hash value of SHA-384. FIPS 180-4 5.3.4.
pub(super) fn initial_384() -> ChainBytes {
    alone::chain_bytes(INITIAL_384.map(u64::to_be_bytes))
}

/// Returns the initial hash value of SHA-512/224. FIPS 180-4 5.3.6.1.
pub(super) fn initial_512_224() -> ChainBytes {
    alone::chain_bytes(INITIAL_512_224.map(u64::to_be_bytes))
}

/// Returns the initial hash value of SHA-512/256. FIPS 180-4 5.3.6.2.
pub(super) fn initial_512_256() -> ChainBytes {
    alone::chain_bytes(INITIAL_512_256.map(u64::to_be_bytes))
}

impl MerkleDamgard for LaneSha512 {
    type Word = u64;

    const ALONE: usize = 1;

    /// Returns the initial hash value. FIPS 180-4 5.3.5.
    fn initial() -> ChainBytes {
        alone::chain_bytes(INITIAL.map(u64::to_be_bytes))
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
        alone::with_words(state, u64::from_be_bytes, u64::to_be_bytes, |words| {
            ::sha2::block_api::compress512(words, blocks.as_chunks().0);
        });
    }
}

impl Sha2Rounds for LaneSha512 {
    const ROUND: &'static [u64] = &ROUND;

    #[inline(always)]
    fn sum0<V: Vector>(a: V) -> V {
        xor3(a.rotr::<28>(), a.rotr::<34>(), a.rotr::<39>())
    }

    #[inline(always)]
    fn sum1<V: Vector>(e: V) -> V {
        xor3(e.rotr::<14>(), e.rotr::<18>(), e.rotr::<41>())
    }

    #[inline(always)]
    fn sigma0<V: Vector>(word: V) -> V {
        xor3(word.rotr::<1>(), word.rotr::<8>(), word.shr::<7>())
    }

    #[inline(always)]
    fn sigma1<V: Vector>(word: V) -> V {
        xor3(word.rotr::<19>(), word.rotr::<61>(), word.shr::<6>())
    }
}
