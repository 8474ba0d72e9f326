//! SHA-256 and SHAKE256 of padded messages, one in each lane.

use oarlock_engine_kit::stateful::PaddedMessages;

use crate::hash::sha256::LaneSha256;
use crate::hash::{
    CHAIN_BYTES, ChainBytes, LaneChains, LaneHash, LaneLayout, LaneMessages, MAX_LANES, MerkleDamgard, WORDS,
    load_chains,
};
use crate::keccak::{KeccakState, RATE_256, STATE_WORDS, permute};
use crate::simd::{HalfMask, LaneArray, ShortSimd, Vector};

/// Hashes messages with SHA-256. Two groups hide the latency of the rounds if there are registers for them.
pub(crate) fn sha256<S: ShortSimd>(simd: S, messages: &PaddedMessages, values: &mut [u8]) {
    if LaneLayout::<S::V, LaneSha256>::GROUPS == 2 {
        sha256_groups::<S, 2>(simd, messages, values);
    } else {
        sha256_groups::<S, 1>(simd, messages, values);
    }
}

fn sha256_groups<S: ShortSimd, const GROUPS: usize>(simd: S, messages: &PaddedMessages, values: &mut [u8]) {
    let lanes = LaneLayout::<S::V, LaneSha256>::LANES;
    let (len, n) = (messages.padded_len(), messages.hash().n());
    let (mut starts, mut first) = ([[LaneSha256::initial(); MAX_LANES]; GROUPS], 0);
    let batches = messages.padded().chunks(GROUPS * lanes * len).zip(values.chunks_mut(GROUPS * lanes * n));
    for (padded, values) in batches {
        let last = padded.len() / len - 1;
        // Lanes without a message repeat the last one, whose value is written once.
        let groups: [LaneMessages<'_>; GROUPS] = std::array::from_fn(|group| {
            std::array::from_fn(|lane| &padded[(group * lanes + lane % lanes).min(last) * len..][..len])
        });
        for (index, start) in starts.as_flattened_mut().iter_mut().enumerate() {
            let message = index / MAX_LANES * lanes + index % MAX_LANES % lanes;
            set_start(start, messages, first + message.min(last));
        }
        first += GROUPS * lanes;
        simd.call(
            #[inline(always)]
            || {
                let mut chains = [[simd.zero(); 8]; GROUPS];
                for (chain, starts) in chains.iter_mut().zip(&starts) {
                    let loaded = load_chains::<S, LaneSha256>(
                        simd,
                        #[inline(always)]
                        |lane| &starts[lane],
                    );
                    chain.copy_from_slice(&loaded[..8]);
                }
                for block in 0..len / LaneSha256::BLOCK {
                    // Not `map`, which the compiler makes a function of its own, without vector instructions.
                    let mut words = [[simd.zero(); WORDS]; GROUPS];
                    for (words, messages) in words.iter_mut().zip(&groups) {
                        *words = LaneSha256::load(simd, messages, block);
                    }
                    <LaneSha256 as LaneHash>::compress(
                        simd,
                        &mut chains,
                        words,
                        [HalfMask::MAX; GROUPS],
                        #[inline(always)]
                        |_| {},
                    );
                }
                for (chain, values) in chains.iter().zip(values.chunks_mut(lanes * n)) {
                    let chains = LaneChains::<S::V, LaneSha256>::new(simd, chain);
                    for (lane, value) in values.chunks_exact_mut(n).enumerate() {
                        chains.store(lane, value);
                    }
                }
            },
        );
    }
}

/// Replaces the initial chaining value if a message has another.
pub(super) fn set_start(chain: &mut ChainBytes, messages: &PaddedMessages, index: usize) {
    if let Some(start) = messages.start(index) {
        chain[..CHAIN_BYTES / 2].copy_from_slice(start);
    }
}

/// Hashes messages with SHAKE256.
pub(crate) fn shake256<S: ShortSimd>(simd: S, messages: &PaddedMessages, values: &mut [u8]) {
    let (len, n, lanes) = (messages.padded_len(), messages.hash().n(), S::V::WORDS);
    for (padded, values) in messages.padded().chunks(lanes * len).zip(values.chunks_mut(lanes * n)) {
        let last = padded.len() / len - 1;
        let mut state: KeccakState<S::V> = [simd.zero(); STATE_WORDS];
        for block in 0..len / (8 * RATE_256) {
            for (at, word) in state.iter_mut().enumerate().take(RATE_256) {
                let offset = 8 * (block * RATE_256 + at);
                let absorbed = LaneArray::from_fn(|lane| {
                    let bytes = padded[lane.min(last) * len + offset..].first_chunk();
                    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
                });
                *word = *word ^ simd.load(&absorbed);
            }
            permute(simd, &mut state);
        }
        for (at, word) in state.iter().enumerate().take(n / 8) {
            for (value, word) in values.chunks_exact_mut(n).zip(word.words().as_ref()) {
                value[8 * at..][..8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}
