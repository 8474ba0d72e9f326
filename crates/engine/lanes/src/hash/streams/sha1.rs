//! SHA-1 of several messages in turn. FIPS 180-4 6.1.2.

use super::padding::{MessageSchedule, expanded};
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

    /// Returns the words of the message schedule, the first of each four in lane 3.
    fn schedule(block: &Block) -> MessageSchedule {
        let words: [u32; 80] = expanded(block, |words| {
            let at = words.len();
            (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1)
        });
        MessageSchedule::from_fours(words.as_chunks().0.iter().map(|[a, b, c, d]| [*d, *c, *b, *a]))
    }

    #[inline(always)]
    fn compress_scheduled<S: ShaSimd, const N: usize>(
        simd: S,
        states: &mut [StreamState; N],
        kept: &mut [KeptWords; N],
        schedule: &MessageSchedule,
    ) {
        let mut variables = states.each_ref().map(
            #[inline(always)]
            |state| state.load(simd),
        );
        let (first, others) = (schedule.0[0], &schedule.0[1..]);
        // Group 0 has another first step, and the last group is the one that extends no schedule.
        scheduled_rounds::<S, 0, 0, N>(simd, &mut variables, kept, &[first]);
        scheduled_rounds::<S, 19, 0, N>(simd, &mut variables, kept, &others[..4]);
        scheduled_rounds::<S, 19, 1, N>(simd, &mut variables, kept, &others[4..9]);
        scheduled_rounds::<S, 19, 2, N>(simd, &mut variables, kept, &others[9..14]);
        scheduled_rounds::<S, 19, 3, N>(simd, &mut variables, kept, &others[14..]);
        for (state, [abcd, before_last]) in states.iter_mut().zip(variables) {
            let before = state.load(simd);
            state.store(simd, [simd.add32(before[0], abcd), simd.add_e(before_last, before[1])]);
        }
    }
}

/// Runs four rounds on each message for each vector of `schedule`.
#[inline(always)]
fn scheduled_rounds<S: ShaSimd, const G: usize, const KIND: i32, const N: usize>(
    simd: S,
    variables: &mut [[S::W; 2]; N],
    kept: &mut [KeptWords; N],
    schedule: &[[u64; 2]],
) {
    for words in schedule {
        let words = simd.load_words(words);
        for (variables, kept) in variables.iter_mut().zip(&mut *kept) {
            simd.sha1_four_rounds::<G, KIND>(variables, words, kept);
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
