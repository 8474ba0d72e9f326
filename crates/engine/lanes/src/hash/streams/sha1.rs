//! SHA-1 of several messages in turn. FIPS 180-4 6.1.2.

use super::{Block, StreamHash, StreamState, blocks_at};
use crate::hash::sha1::LaneSha1;
use crate::simd::{KeptWords, ShaSimd};

impl StreamHash for LaneSha1 {
    const STREAMS: usize = 4;

    // d, c, b, a, three zeros and e: the order of `ShaSimd`.
    const ORDER: [usize; 4] = [1, 0, 3, 2];

    #[inline(always)]
    fn compress<S: ShaSimd, const N: usize>(
        simd: S,
        states: &mut [StreamState; N],
        kept: &mut [KeptWords; N],
        blocks: [&[Block]; N],
    ) {
        for at in 0..blocks[0].len() {
            let variables = states.each_ref().map(
                #[inline(always)]
                |state| state.load(simd),
            );
            let words = variables.map(
                #[inline(always)]
                |[first, _]| first,
            );
            let mut streams = Sha1Streams { simd, variables, words, blocks: blocks_at(&blocks, at) };
            streams.all_rounds(kept);
            for (state, [abcd, before_last]) in states.iter_mut().zip(streams.variables) {
                let before = state.load(simd);
                state.store(simd, [simd.add32(before[0], abcd), simd.add_e(before_last, before[1])]);
            }
        }
    }
}

/// Working variables and message words of `N` messages. The kept words are elsewhere, because these must be registers.
struct Sha1Streams<'a, S: ShaSimd, const N: usize> {
    simd: S,
    variables: [[S::W; 2]; N],
    /// The words for the next four rounds.
    words: [S::W; N],
    blocks: [&'a Block; N],
}

impl<S: ShaSimd, const N: usize> Sha1Streams<'_, S, N> {
    #[inline(always)]
    fn all_rounds(&mut self, kept: &mut [KeptWords; N]) {
        self.four_rounds::<0, 0>(kept);
        self.four_rounds::<1, 0>(kept);
        self.four_rounds::<2, 0>(kept);
        self.four_rounds::<3, 0>(kept);
        self.four_rounds::<4, 0>(kept);
        self.four_rounds::<5, 1>(kept);
        self.four_rounds::<6, 1>(kept);
        self.four_rounds::<7, 1>(kept);
        self.four_rounds::<8, 1>(kept);
        self.four_rounds::<9, 1>(kept);
        self.four_rounds::<10, 2>(kept);
        self.four_rounds::<11, 2>(kept);
        self.four_rounds::<12, 2>(kept);
        self.four_rounds::<13, 2>(kept);
        self.four_rounds::<14, 2>(kept);
        self.four_rounds::<15, 3>(kept);
        self.four_rounds::<16, 3>(kept);
        self.four_rounds::<17, 3>(kept);
        self.four_rounds::<18, 3>(kept);
        self.four_rounds::<19, 3>(kept);
    }

    /// Runs four rounds on each message. While an instruction waits, those of the other messages run.
    #[inline(always)]
    fn four_rounds<const G: usize, const KIND: i32>(&mut self, kept: &mut [KeptWords; N]) {
        let Self { simd, variables, words, blocks } = self;
        for i in 0..N {
            if let Some(bytes) = blocks[i].as_chunks().0.get(G) {
                words[i] = simd.load_descending(bytes);
            }
            words[i] = simd.sha1_four_rounds::<G, KIND>(&mut variables[i], words[i], &mut kept[i]);
        }
    }
}
