//! The chains of SHA-256 by instructions of their own, several in turn. FIPS 205 section 11.2.

use oarlock_engine_kit::slh_dsa::{Address, Chain};
use zeroize::Zeroize;

use super::refill::ChainLanes;
use crate::hash::ChainBytes;
use crate::hash::sha256::LaneSha256;
use crate::hash::streams::{StreamHash, StreamState};
use crate::simd::{KeptWords, ShaSimd};

/// The chains in turn.
const STREAMS: usize = LaneSha256::STREAMS;

/// The bytes of a block before the index of a step.
const INDEX_AT: usize = Address::COMPRESSED_LEN - 4;

/// Chains of SHA-256, a few in turn.
pub(super) struct StreamChains<'a, S> {
    simd: S,
    /// The bytes of a value.
    n: usize,
    seeds: &'a [ChainBytes],
    starts: [StreamState; STREAMS],
    /// The block of the next step of each chain.
    blocks: [[u8; 64]; STREAMS],
    kept: [KeptWords; STREAMS],
}

impl<'a, S: ShaSimd> StreamChains<'a, S> {
    pub(super) fn new(simd: S, n: usize, seeds: &'a [ChainBytes]) -> Self {
        let mut block = [0; 64];
        let end = Address::COMPRESSED_LEN + n;
        block[end] = 0x80;
        block[56..].copy_from_slice(&(8 * (64 + end) as u64).to_be_bytes());
        Self {
            simd,
            n,
            seeds,
            starts: [StreamState::default(); STREAMS],
            blocks: [block; STREAMS],
            kept: [KeptWords::default(); STREAMS],
        }
    }
}

impl<S: ShaSimd> ChainLanes for StreamChains<'_, S> {
    const LANES: usize = STREAMS;

    fn load(&mut self, lane: usize, chain: &Chain, value: &[u8]) {
        let seed = &self.seeds[chain.first.key as usize];
        self.starts[lane] = crate::hash::streams::first_half::<LaneSha256>(seed);
        let (address, rest) = self.blocks[lane].split_at_mut(Address::COMPRESSED_LEN);
        address.copy_from_slice(&chain.first.compressed());
        rest[..self.n].copy_from_slice(value);
    }

    fn run(&mut self, steps: u32) {
        let Self { simd, n, starts, blocks, kept, .. } = self;
        let (simd, n) = (*simd, *n);
        simd.call(
            #[inline(always)]
            || {
                for _ in 0..steps {
                    let mut states = *starts;
                    let messages = blocks.each_ref().map(std::slice::from_ref);
                    LaneSha256::compress(simd, &mut states, kept, messages);
                    for (block, state) in blocks.iter_mut().zip(&states) {
                        let (address, rest) = block.split_at_mut(Address::COMPRESSED_LEN);
                        rest[..n].copy_from_slice(&state.bytes::<LaneSha256>()[..n]);
                        if let Some(index) = address[INDEX_AT..].first_chunk_mut() {
                            *index = (u32::from_be_bytes(*index) + 1).to_be_bytes();
                        }
                    }
                }
            },
        );
    }

    fn store(&self, lane: usize, value: &mut [u8]) {
        value.copy_from_slice(&self.blocks[lane][Address::COMPRESSED_LEN..][..self.n]);
    }
}

impl<S> Drop for StreamChains<'_, S> {
    fn drop(&mut self) {
        self.blocks.zeroize();
        self.kept.zeroize();
    }
}
