//! SHA-1 of several messages in turn. FIPS 180-4 6.1.2.

use super::{Block, StreamHash, StreamState};
use crate::hash::sha1::LaneSha1;
use crate::simd::{ShaSimd, ShaVector};

impl StreamHash for LaneSha1 {
    const STREAMS: usize = 4;

    // d, c, b, a, three zeros and e: the order of `ShaVector`.
    const ORDER: [usize; 8] = [3, 2, 1, 0, 7, 6, 5, 4];

    #[inline(always)]
    fn compress<S: ShaSimd, const N: usize>(simd: S, states: &mut [StreamState; N], blocks: [&[Block]; N]) {
        let mut streams = Sha1Streams::<S, N> {
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
struct Sha1Streams<S: ShaSimd, const N: usize> {
    simd: S,
    /// The variables d, c, b, a, and those before the last four rounds, from which e follows.
    states: [[S::W; 2]; N],
    words: [[S::W; 4]; N],
}

impl<S: ShaSimd, const N: usize> Sha1Streams<S, N> {
    /// Hashes a block of each message.
    #[inline(always)]
    fn add_block(&mut self, blocks: [&Block; N]) {
        let before = self.states;
        // Written out, because the number of each four rounds decides about the schedule.
        self.four_rounds::<0, 0>(blocks);
        self.four_rounds::<1, 0>(blocks);
        self.four_rounds::<2, 0>(blocks);
        self.four_rounds::<3, 0>(blocks);
        self.four_rounds::<4, 0>(blocks);
        self.four_rounds::<5, 1>(blocks);
        self.four_rounds::<6, 1>(blocks);
        self.four_rounds::<7, 1>(blocks);
        self.four_rounds::<8, 1>(blocks);
        self.four_rounds::<9, 1>(blocks);
        self.four_rounds::<10, 2>(blocks);
        self.four_rounds::<11, 2>(blocks);
        self.four_rounds::<12, 2>(blocks);
        self.four_rounds::<13, 2>(blocks);
        self.four_rounds::<14, 2>(blocks);
        self.four_rounds::<15, 3>(blocks);
        self.four_rounds::<16, 3>(blocks);
        self.four_rounds::<17, 3>(blocks);
        self.four_rounds::<18, 3>(blocks);
        self.four_rounds::<19, 3>(blocks);
        for (state, before) in self.states.iter_mut().zip(before) {
            *state = [state[0].add32(before[0]), state[1].sha1_add_e(before[1])];
        }
    }

    /// Runs the rounds from `4 * G` on, and the parts of the schedule for which the words are there.
    #[inline(always)]
    fn four_rounds<const G: usize, const KIND: i32>(&mut self, blocks: [&Block; N]) {
        let Self { simd, states, words } = self;
        let (now, next, second, last) = (G % 4, (G + 1) % 4, (G + 2) % 4, (G + 3) % 4);
        for i in 0..N {
            let words = &mut words[i];
            if G < 4 {
                words[now] = simd.load_descending(&blocks[i].as_chunks().0[G]);
            }
            let [abcd, old] = states[i];
            // Before the first rounds, e itself is there.
            let sum = if G == 0 { old.add32(words[now]) } else { old.sha1_add_e(words[now]) };
            if (3..19).contains(&G) {
                words[next] = words[next].sha1_extend_last(words[now]);
            }
            states[i] = [abcd.sha1_four_rounds::<KIND>(sum), abcd];
            if (1..17).contains(&G) {
                words[last] = words[last].sha1_extend_first(words[now]);
            }
            if (2..18).contains(&G) {
                words[second] = words[second].xor(words[now]);
            }
        }
    }
}
