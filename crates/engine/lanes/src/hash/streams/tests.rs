//! The streams agree with the crates `sha1` and `sha2`, for every number of messages and on every leaf.

use super::*;
use crate::hash::ChainBytes;
use crate::simd::PortableSimd;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Cpu, ShaNiSimd};

/// Returns blocks that differ from message to message.
fn message(seed: usize, blocks: usize) -> Vec<Block> {
    (0..blocks).map(|block| std::array::from_fn(|at| (at * at + 31 * block + 7 * seed) as u8)).collect()
}

/// Hashes `N` messages of a few blocks from chaining values of their own.
fn compare<S: ShaSimd, H: StreamHash, const N: usize>(simd: S) {
    for blocks in 0..4 {
        let messages: [Vec<Block>; N] = std::array::from_fn(|seed| message(seed, blocks));
        let mut expected: [ChainBytes; N] = std::array::from_fn(|seed| {
            let mut value = H::initial();
            H::compress_alone(&mut value, &[seed as u8; 128]);
            value
        });
        let mut states = expected.map(|value| StreamState::new::<H>(value.first_chunk().unwrap()));
        simd.call(|| {
            H::compress(
                simd,
                &mut states,
                &mut [KeptWords::default(); N],
                messages.each_ref().map(|message| &message[..]),
            );
        });
        for ((value, message), state) in expected.iter_mut().zip(&messages).zip(&states) {
            H::compress_alone(value, message.as_flattened());
            assert_eq!(state.bytes::<H>(), value[..CHAIN_BYTES / 2], "{N} messages of {blocks} blocks");
        }
    }
}

/// Hashes one block, which `N` messages share, from chaining values of their own.
fn compare_scheduled<S: ShaSimd, H: StreamHash, const N: usize>(simd: S) {
    let mut expected: [ChainBytes; N] = std::array::from_fn(|seed| {
        let mut value = H::initial();
        H::compress_alone(&mut value, &[seed as u8; 64]);
        value
    });
    let mut states = expected.map(|value| StreamState::new::<H>(value.first_chunk().unwrap()));
    let [block] = message(N, 1)[..] else { panic!("one block") };
    let schedule = H::schedule(&block);
    simd.call(|| H::compress_scheduled(simd, &mut states, &mut [KeptWords::default(); N], &schedule));
    for (value, state) in expected.iter_mut().zip(&states) {
        H::compress_alone(value, &block);
        assert_eq!(state.bytes::<H>(), value[..CHAIN_BYTES / 2], "a block of {N} messages");
    }
}

fn compare_all<S: ShaSimd>(simd: S) {
    compare_scheduled::<S, LaneSha1, 1>(simd);
    compare_scheduled::<S, LaneSha1, MAX_STREAMS>(simd);
    compare_scheduled::<S, LaneSha256, 1>(simd);
    compare_scheduled::<S, LaneSha256, 3>(simd);
    compare_scheduled::<S, LaneSha256, MAX_STREAMS>(simd);
    compare::<S, LaneSha1, 1>(simd);
    compare::<S, LaneSha1, 2>(simd);
    compare::<S, LaneSha1, 3>(simd);
    compare::<S, LaneSha1, MAX_STREAMS>(simd);
    compare::<S, LaneSha256, 1>(simd);
    compare::<S, LaneSha256, 2>(simd);
    compare::<S, LaneSha256, 3>(simd);
    compare::<S, LaneSha256, MAX_STREAMS>(simd);
}

#[test]
fn portable_streams_agree_with_one_message_at_a_time() {
    compare_all(PortableSimd::<8>);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn streams_of_the_sha_extensions_agree_with_one_message_at_a_time() {
    let Some(simd) = ShaNiSimd::detect() else {
        eprintln!("SKIPPED: this processor has no SHA extensions");
        return;
    };
    compare_all(simd);
}
