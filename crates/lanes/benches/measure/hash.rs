//! A group of messages in lanes, and one message at a time. The figures decide how the last messages of a group are
//! finished.

use std::array;
use std::hint::black_box;

use super::KernelBench;
use crate::hash::parts::digest;
use crate::hash::sha1::LaneSha1;
use crate::hash::sha256::LaneSha256;
use crate::hash::sha512::LaneSha512;
use crate::hash::{LaneHash, LaneLayout, MessageEnding, MessageGroup, WORDS, absorb};
use crate::simd::{LANES, MulSimd, Simd};

pub(super) fn run(bench: &KernelBench<'_>, simd: impl MulSimd) {
    let message = vec![7; 96];
    bench.kernel(
        "sha512, eight messages of 96 bytes in a part each",
        1,
        || {
            black_box(digest(simd, [&[black_box(&message)]; LANES]));
        },
        || (),
    );
    function::<_, LaneSha1>(bench, simd, "sha1");
    function::<_, LaneSha256>(bench, simd, "sha256");
    function::<_, LaneSha512>(bench, simd, "sha512");
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
        let mut chains = [[simd.zero(); WORDS / 2]; 2];
        let name = |count| format!("{name}, {count} messages of {len} bytes");
        let two = || absorb::<_, H, 2>(simd, black_box(&mut chains), &groups, &groups);
        bench.kernel(&name(2 * lanes), 1, two, || ());
        let ([chain, _], [group, _]) = (&mut chains, &groups);
        let (chain, group) = (array::from_mut(chain), array::from_ref(group));
        let one = || absorb::<_, H, 1>(simd, black_box(chain), group, group);
        bench.kernel(&name(lanes), 1, one, || ());
    }
    let (mut state, blocks) = (H::initial(), vec![7; 64 * H::BLOCK]);
    bench.kernel(
        &format!("{name}, a block alone"),
        64,
        || H::compress_alone(black_box(&mut state), black_box(&blocks)),
        || (),
    );
}
