//! The hash functions of the SHA-2 sets in lanes. FIPS 205 section 11.2.
//!
//! Every hash begins with a block of PK.seed and zeros, whose chaining value is kept. F and PRF are one block behind
//! it: the compressed address, 22 bytes, and the value. So the value stands across the words of a block, and a chain
//! stays in registers: what a step writes to words 0 to n / 4 - 1 moves by sixteen bits to words 5 to 5 + n / 4 of the
//! next.

use oarlock_engine_kit::slh_dsa::{Address, Chain};
use zeroize::Zeroize;

use super::refill::ChainLanes;
use crate::hash::sha256::LaneSha256;
use crate::hash::{
    ChainBytes, LaneChains, LaneHash, LaneLayout, LaneMessages, MAX_LANES, MerkleDamgard, WORDS, load_chains,
};
use crate::simd::{HalfMask, LaneArray, ShortSimd, ShortVector, Vector};

/// The chaining value behind a block of PK.seed and zeros.
pub(super) fn seed_state<H: MerkleDamgard>(public_seed: &[u8]) -> ChainBytes {
    let (mut state, mut block) = (H::initial(), [0; 128]);
    block[..public_seed.len()].copy_from_slice(public_seed);
    H::compress_alone(&mut state, &block[..H::BLOCK]);
    state
}

/// The bytes of a word of 32 bits of every lane.
type HalfRow = [u8; 4 * MAX_LANES];

/// The words of 32 bits of the longest value.
const MAX_VALUE: usize = 8;

/// Groups of chains of SHA-256, one in each half lane.
pub(super) struct Sha256Chains<'a, S, const GROUPS: usize> {
    simd: S,
    /// The bytes of a value.
    n: usize,
    seeds: &'a [ChainBytes],
    groups: [ChainLaneRows; GROUPS],
}

/// The chains of a group, word by word.
struct ChainLaneRows {
    /// The first four words of the addresses.
    address: [HalfRow; 4],
    /// The lower halves of the heights, which are the first half of word 4.
    height: HalfRow,
    index: HalfRow,
    value: [HalfRow; MAX_VALUE],
    /// The chaining values before the block.
    seed: [HalfRow; 8],
}

impl<'a, S: ShortSimd, const GROUPS: usize> Sha256Chains<'a, S, GROUPS> {
    pub(super) fn new(simd: S, n: usize, seeds: &'a [ChainBytes]) -> Self {
        const ROW: HalfRow = [0; 4 * MAX_LANES];
        let rows = || ChainLaneRows {
            address: [ROW; 4],
            height: ROW,
            index: ROW,
            value: [ROW; MAX_VALUE],
            seed: [ROW; 8],
        };
        Self { simd, n, seeds, groups: std::array::from_fn(|_| rows()) }
    }

    /// Takes steps with values of `N` words.
    fn run_words<const N: usize>(&mut self, steps: u32) {
        let Self { simd, groups, .. } = self;
        let simd = *simd;
        simd.call(
            #[inline(always)]
            || {
                let mut chains: [_; GROUPS] = std::array::from_fn(
                    #[inline(always)]
                    |group| LoadedChains::<S, N>::load(simd, &groups[group]),
                );
                for _ in 0..steps {
                    step(simd, &mut chains);
                }
                for (rows, chains) in groups.iter_mut().zip(&chains) {
                    store_row(chains.index, &mut rows.index);
                    for (row, word) in rows.value.iter_mut().zip(chains.value) {
                        store_row(word, row);
                    }
                }
            },
        );
    }
}

/// The chains of a group in registers, with values of `N` words.
struct LoadedChains<S: ShortSimd, const N: usize> {
    address: [S::V; 4],
    /// The height in the upper half of each word.
    height: S::V,
    index: S::V,
    value: [S::V; N],
    seed: [S::V; 8],
}

impl<S: ShortSimd, const N: usize> LoadedChains<S, N> {
    #[inline(always)]
    fn load(simd: S, rows: &ChainLaneRows) -> Self {
        let row = |row: &HalfRow| load_row(simd, row);
        Self {
            address: std::array::from_fn(
                #[inline(always)]
                |at| row(&rows.address[at]),
            ),
            height: row(&rows.height).shl32_by(16),
            index: row(&rows.index),
            value: std::array::from_fn(
                #[inline(always)]
                |at| row(&rows.value[at]),
            ),
            seed: std::array::from_fn(
                #[inline(always)]
                |at| row(&rows.seed[at]),
            ),
        }
    }

    /// Returns the block of a step.
    #[inline(always)]
    fn block(&self, simd: S) -> [S::V; WORDS] {
        let mut words = [simd.zero(); WORDS];
        words[..4].copy_from_slice(&self.address);
        words[4] = self.height | self.index.shr32::<16>();
        let mut before = self.index;
        for (word, value) in words[5..].iter_mut().zip(self.value) {
            *word = before.shl32_by(16) | value.shr32::<16>();
            before = value;
        }
        // The mark behind the message, and its length with PK.seed in bits.
        words[5 + N] = before.shl32_by(16) | simd.splat32(0x8000);
        words[15] = simd.splat32(8 * (64 + Address::COMPRESSED_LEN + 4 * N) as u32);
        words
    }
}

/// Takes a step of every group. F and PRF of FIPS 205 section 11.2.
#[inline(always)]
fn step<S: ShortSimd, const N: usize, const GROUPS: usize>(
    simd: S,
    chains: &mut [LoadedChains<S, N>; GROUPS],
) {
    let blocks = chains.each_ref().map(
        #[inline(always)]
        |chains| chains.block(simd),
    );
    let seeds = chains.each_ref().map(
        #[inline(always)]
        |chains| chains.seed,
    );
    let sums = LaneSha256::rounds(
        simd,
        seeds,
        blocks,
        #[inline(always)]
        |_| {},
    );
    for (chains, sums) in chains.iter_mut().zip(sums) {
        for ((value, seed), sum) in chains.value.iter_mut().zip(chains.seed).zip(sums) {
            *value = seed.add32(sum);
        }
        chains.index = chains.index.add32(simd.splat32(1));
    }
}

#[inline(always)]
fn load_row<S: ShortSimd>(simd: S, row: &HalfRow) -> S::V {
    simd.load_bytes(&LaneArray::chunks(&row[..]).0[0])
}

#[inline(always)]
fn store_row<V: Vector>(words: V, row: &mut HalfRow) {
    words.store_prefix(&mut row[..V::BYTES]);
}

impl<S: ShortSimd, const GROUPS: usize> ChainLanes for Sha256Chains<'_, S, GROUPS> {
    const LANES: usize = GROUPS * S::V::HALVES;

    fn load(&mut self, lane: usize, chain: &Chain, value: &[u8]) {
        let (group, half) = (lane / S::V::HALVES, lane % S::V::HALVES);
        let rows = &mut self.groups[group];
        let put = |row: &mut HalfRow, word: u32| row[4 * half..][..4].copy_from_slice(&word.to_le_bytes());
        let address = chain.first.compressed();
        for (row, word) in rows.address.iter_mut().zip(words_of(&address)) {
            put(row, word);
        }
        put(&mut rows.height, chain.first.height & 0xFFFF);
        put(&mut rows.index, chain.first.index);
        for (row, word) in rows.value.iter_mut().zip(words_of(value)) {
            put(row, word);
        }
        let seed = &self.seeds[chain.first.key as usize];
        for (row, word) in rows.seed.iter_mut().zip(words_of(seed)) {
            put(row, word);
        }
    }

    fn run(&mut self, steps: u32) {
        match self.n {
            16 => self.run_words::<4>(steps),
            24 => self.run_words::<6>(steps),
            _ => self.run_words::<8>(steps),
        }
    }

    fn store(&self, lane: usize, value: &mut [u8]) {
        let (group, half) = (lane / S::V::HALVES, lane % S::V::HALVES);
        for (bytes, row) in value.as_chunks_mut::<4>().0.iter_mut().zip(&self.groups[group].value) {
            bytes.copy_from_slice(&row[4 * half..][..4]);
            bytes.reverse();
        }
    }
}

impl<S, const GROUPS: usize> Drop for Sha256Chains<'_, S, GROUPS> {
    fn drop(&mut self) {
        for group in &mut self.groups {
            group.value.zeroize();
        }
    }
}

/// Returns the big-endian words of bytes.
fn words_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_be_bytes(*word))
}

/// Computes nodes side by side, one in each lane: H and T of FIPS 205 section 11.2.
pub(super) fn nodes<S: ShortSimd, H: MerkleDamgard>(
    simd: S,
    seeds: &[ChainBytes],
    addresses: &[Address],
    children: &[u8],
    out: &mut [u8],
) {
    let (each, n) = (children.len() / addresses.len().max(1), out.len() / addresses.len().max(1));
    let lanes = LaneLayout::<S::V, H>::LANES;
    let mut messages = NodeMessages::new::<H>(each);
    let groups = addresses.chunks(lanes).zip(children.chunks(lanes * each)).zip(out.chunks_mut(lanes * n));
    for ((addresses, children), out) in groups {
        for (lane, (address, children)) in addresses.iter().zip(children.chunks_exact(each)).enumerate() {
            messages.put(lane, address, children);
        }
        let key = |lane: usize| addresses[lane.min(addresses.len() - 1)].key as usize;
        simd.call(
            #[inline(always)]
            || {
                let loaded = load_chains::<S, H>(simd, |lane| &seeds[key(lane)]);
                let mut chain = [[simd.zero(); 8]];
                chain[0].copy_from_slice(&loaded[..8]);
                for block in 0..messages.blocks {
                    let words = H::load(simd, &messages.of_lanes(), block);
                    H::compress(
                        simd,
                        &mut chain,
                        [words],
                        [HalfMask::MAX],
                        #[inline(always)]
                        |_| {},
                    );
                }
                let chains = LaneChains::<S::V, H>::new(simd, &chain[0]);
                for (lane, out) in out.chunks_exact_mut(n).enumerate() {
                    chains.store(lane, out);
                }
            },
        );
    }
}

/// The padded messages of the nodes that are computed together, one for each lane.
struct NodeMessages {
    bytes: Vec<u8>,
    /// The blocks of a message.
    blocks: usize,
    /// The bytes of a padded message.
    len: usize,
}

impl NodeMessages {
    /// Makes space for messages of nodes with `each` bytes of children.
    fn new<H: LaneHash>(each: usize) -> Self {
        let message = Address::COMPRESSED_LEN + each;
        // The padding is a mark and the length, whose first half is 0 for SHA-512.
        let blocks = (message + 1 + H::BLOCK / 8).div_ceil(H::BLOCK);
        let len = blocks * H::BLOCK;
        let mut bytes = vec![0; MAX_LANES * len];
        for padded in bytes.chunks_exact_mut(len) {
            padded[message] = 0x80;
            padded[len - 8..].copy_from_slice(&(8 * (H::BLOCK + message) as u64).to_be_bytes());
        }
        Self { bytes, blocks, len }
    }

    fn put(&mut self, lane: usize, address: &Address, children: &[u8]) {
        let (head, rest) = self.bytes[lane * self.len..].split_at_mut(Address::COMPRESSED_LEN);
        head.copy_from_slice(&address.compressed());
        rest[..children.len()].copy_from_slice(children);
    }

    /// Returns the message of each lane.
    #[inline(always)]
    fn of_lanes(&self) -> LaneMessages<'_> {
        std::array::from_fn(
            #[inline(always)]
            |lane| &self.bytes[lane * self.len..][..self.len],
        )
    }
}

impl Drop for NodeMessages {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}
