//! Messages in lanes, in turn, and one at a time. The figures decide how many are hashed together.

use std::array;
use std::hint::black_box;

use oarlock_core::{Engine, Shape};

use super::KernelBench;
use super::records::whole;
use crate::LaneEngine;
use crate::hash::parts::digest;
use crate::hash::sha1::LaneSha1;
use crate::hash::sha256::LaneSha256;
use crate::hash::sha512::LaneSha512;
use crate::hash::sponge::Sha3Sponge;
use crate::hash::streams::{StreamHash, StreamState};
use crate::hash::{LaneHash, LaneLayout, MessageEnding, MessageGroup, absorb};
use crate::keccak::RATE_256;
use crate::simd::{KeptWords, LANES, LaneArray, MulSimd, ShaSimd, Simd};

/// Times runs of records.
pub(super) fn run(bench: &KernelBench<'_>, engine: &LaneEngine) {
    let shapes = Shape::records().into_iter().filter(|shape| match shape {
        Shape::Digest { .. } => true,
        Shape::Mac { alg } => alg.key_len().is_none(),
        _ => false,
    });
    for shape in shapes.filter(|shape| engine.offers(*shape).is_some()) {
        for (len, count) in
            [(64, 16), (64, 512), (64, 65_536), (1024, 512), (1024, 32_768), (8192, 16), (8192, 8192)]
        {
            whole(bench, engine, shape, &format!("{shape} {len} B, {count} records"), &vec![len; count]);
        }
        let mixed: Vec<usize> = (0..64).map(|at| at * 7919 % 16_384).collect();
        whole(bench, engine, shape, &format!("{shape} 0-16 KB, 64 records"), &mixed);
    }
}

/// Times blocks of up to four messages in turn.
pub(super) fn streams(bench: &KernelBench<'_>, simd: impl ShaSimd) {
    each_count::<_, LaneSha1>(bench, simd, "sha1");
    each_count::<_, LaneSha256>(bench, simd, "sha256");
}

fn each_count<S: ShaSimd, H: StreamHash>(bench: &KernelBench<'_>, simd: S, name: &str) {
    in_turn::<S, H, 1>(bench, simd, name);
    in_turn::<S, H, 2>(bench, simd, name);
    in_turn::<S, H, 3>(bench, simd, name);
    in_turn::<S, H, 4>(bench, simd, name);
}

fn in_turn<S: ShaSimd, H: StreamHash, const N: usize>(bench: &KernelBench<'_>, simd: S, name: &str) {
    const BLOCKS: usize = 16;
    let (mut states, mut kept) = ([StreamState::default(); N], [KeptWords::default(); N]);
    let messages = [[[7; 64]; BLOCKS]; N];
    bench.plain(&format!("{name}, a block of {N} messages in turn"), N * BLOCKS, || {
        let blocks = black_box(&messages).each_ref().map(|blocks| &blocks[..]);
        simd.call(
            #[inline(always)]
            || H::compress(simd, black_box(&mut states), &mut kept, blocks),
        );
    });
}

/// Times groups of messages in lanes.
pub(super) fn lanes(bench: &KernelBench<'_>, simd: impl Simd) {
    function::<_, LaneSha1>(bench, simd, "sha1");
    function::<_, LaneSha256>(bench, simd, "sha256");
    function::<_, LaneSha512>(bench, simd, "sha512");
    function::<_, Sha3Sponge<RATE_256>>(bench, simd, "sha3-256");
}

/// Times the digests that signatures need.
pub(super) fn parts(bench: &KernelBench<'_>, simd: impl MulSimd) {
    let message = vec![7; 96];
    bench.plain("sha512, eight messages of 96 bytes in a part each", 1, || {
        black_box(digest(simd, [&[black_box(&message)]; LANES]));
    });
}

fn function<S: Simd, H: LaneHash>(bench: &KernelBench<'_>, simd: S, name: &str) {
    let lanes = LaneLayout::<S::V, H>::LANES;
    for len in [64, 1024, 8192] {
        let messages = vec![7; 2 * lanes * len];
        let mut groups = [
            MessageGroup::new(MessageEnding::Padded { before: 0 }),
            MessageGroup::new(MessageEnding::Padded { before: 0 }),
        ];
        for (group, messages) in groups.iter_mut().zip(messages.chunks(lanes * len)) {
            group.fill::<S::V, H>(messages.chunks(len));
        }
        let zero = simd.zero();
        let mut chains = [H::Chain::<S::V>::from_fn(|_| zero); 2];
        let name = |count| format!("{name}, {count} messages of {len} bytes");
        let two = || absorb::<_, H, 2>(simd, black_box(&mut chains), &groups, &groups);
        bench.plain(&name(2 * lanes), 1, two);
        let ([chain, _], [group, _]) = (&mut chains, &groups);
        let (chain, group) = (array::from_mut(chain), array::from_ref(group));
        let one = || absorb::<_, H, 1>(simd, black_box(chain), group, group);
        bench.plain(&name(lanes), 1, one);
    }
    let (mut state, blocks) = (H::State::from_fn(|_| 0), vec![7; 64 * H::BLOCK]);
    bench.plain(&format!("{name}, a block alone"), 64, || {
        H::absorb_alone(black_box(&mut state), black_box(&blocks), 0, MessageEnding::Open);
    });
}
