//! SHA-256 of several messages in turn. FIPS 180-4 6.2.2.

use super::{Block, StreamHash, StreamState};
use crate::hash::sha256::LaneSha256;
use crate::hash::sha256_constants::ROUND;
use crate::simd::{ShaSimd, ShaVector};

/// The round constants, sixteen bytes of them in a load.
static ROUND_QUADS: RoundQuads = RoundQuads(ROUND);

#[repr(align(16))]
struct RoundQuads([u32; 64]);

impl StreamHash for LaneSha256 {
    const STREAMS: usize = 3;

    // f, e, b, a and h, g, d, c: the order of `ShaVector`.
    const ORDER: [usize; 8] = [5, 4, 1, 0, 7, 6, 3, 2];

    #[inline(always)]
    fn compress<S: ShaSimd, const N: usize>(simd: S, states: &mut [StreamState; N], blocks: [&[Block]; N]) {
        let mut streams = Sha256Streams::<S, N> {
            simd,
            states: states.each_ref().map(
                #[inline(always)]
                |state| state.load(simd),
            ),
            words: [[simd.load_words(&[0; 4]); 4]; N],
        };
        for at in 0..blocks[0].len() {
            streams.add_block(blocks.map(
                #[inline(always)]
                |blocks| &blocks[at],
            ));
        }
        for (state, variables) in states.iter_mut().zip(streams.states) {
            state.store::<S>(variables);
        }
    }
}

/// Working variables and message words of `N` messages.
struct Sha256Streams<S: ShaSimd, const N: usize> {
    simd: S,
    states: [[S::W; 2]; N],
    words: [[S::W; 4]; N],
}

impl<S: ShaSimd, const N: usize> Sha256Streams<S, N> {
    /// Hashes a block of each message.
    #[inline(always)]
    fn add_block(&mut self, blocks: [&Block; N]) {
        let before = self.states;
        // Written out, because the number of each four rounds decides about the schedule.
        self.four_rounds::<0>(blocks);
        self.four_rounds::<1>(blocks);
        self.four_rounds::<2>(blocks);
        self.four_rounds::<3>(blocks);
        self.four_rounds::<4>(blocks);
        self.four_rounds::<5>(blocks);
        self.four_rounds::<6>(blocks);
        self.four_rounds::<7>(blocks);
        self.four_rounds::<8>(blocks);
        self.four_rounds::<9>(blocks);
        self.four_rounds::<10>(blocks);
        self.four_rounds::<11>(blocks);
        self.four_rounds::<12>(blocks);
        self.four_rounds::<13>(blocks);
        self.four_rounds::<14>(blocks);
        self.four_rounds::<15>(blocks);
        for (state, before) in self.states.iter_mut().zip(before) {
            *state = [state[0].add32(before[0]), state[1].add32(before[1])];
        }
    }

    /// Runs the rounds from `4 * G` on, and the parts of the schedule for which the words are there. Each part is
    /// computed for all messages before the next: while one instruction waits, those of the other messages run.
    #[inline(always)]
    fn four_rounds<const G: usize>(&mut self, blocks: [&Block; N]) {
        let Self { simd, states, words } = self;
        let (now, next, last) = (G % 4, (G + 1) % 4, (G + 3) % 4);
        let constants = simd.load_words(&ROUND_QUADS.0.as_chunks().0[G]);
        let mut sums = [constants; N];
        for i in 0..N {
            if G < 4 {
                words[i][now] = simd.load_ascending(&blocks[i].as_chunks().0[G]);
            }
            sums[i] = words[i][now].add32(constants);
            let [abef, cdgh] = states[i];
            states[i] = [abef, cdgh.sha256_two_rounds(abef, sums[i])];
        }
        if (3..15).contains(&G) {
            for words in words.iter_mut() {
                let seventh = words[last].moved_down(words[now]);
                words[next] = words[next].add32(seventh).sha256_extend_last(words[now]);
            }
        }
        for (state, sum) in states.iter_mut().zip(sums) {
            let [cdgh, abef] = *state;
            *state = [cdgh.sha256_two_rounds(abef, sum.upper_half()), abef];
        }
        if (1..13).contains(&G) {
            for words in words.iter_mut() {
                words[last] = words[last].sha256_extend_first(words[now]);
            }
        }
    }
}
