//! SHA-256 of several messages in turn. FIPS 180-4 6.2.2.

use super::padding::{MessageSchedule, expanded};
use super::{Block, StreamHash, StreamState, blocks_at};
use crate::hash::sha256::LaneSha256;
use crate::hash::sha256_constants::ROUND;
use crate::simd::{KeptWords, RoundConstants, ShaSimd};

static CONSTANTS: RoundConstants = RoundConstants::new(&ROUND);

/// The constants of rounds whose message words include them.
static NO_CONSTANTS: RoundConstants = RoundConstants::new(&[0; 64]);

impl StreamHash for LaneSha256 {
    const STREAMS: usize = 4;

    // f, e, b, a and h, g, d, c: the order of `ShaSimd`.
    const ORDER: [usize; 4] = [1, 3, 0, 2];

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
            let mut streams = Sha256Streams { simd, variables, words, blocks: blocks_at(&blocks, at) };
            streams.all_rounds(kept);
            for (state, [abef, cdgh]) in states.iter_mut().zip(streams.variables) {
                let before = state.load(simd);
                state.store(simd, [simd.add32(before[0], abef), simd.add32(before[1], cdgh)]);
            }
        }
    }

    /// Returns the words of the message schedule with the round constants added.
    fn schedule(block: &Block) -> MessageSchedule {
        let words: [u32; 64] = expanded(block, |words| {
            let at = words.len();
            let (early, late) = (words[at - 15], words[at - 2]);
            let sigma0 = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
            let sigma1 = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
            words[at - 16].wrapping_add(sigma0).wrapping_add(words[at - 7]).wrapping_add(sigma1)
        });
        let fours = words.as_chunks::<4>().0.iter().zip(ROUND.as_chunks::<4>().0);
        MessageSchedule::from_fours(
            fours.map(|(words, constants)| std::array::from_fn(|at| words[at].wrapping_add(constants[at]))),
        )
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
        for words in &schedule.0[..16] {
            let words = simd.load_words(words);
            for (variables, kept) in variables.iter_mut().zip(&mut *kept) {
                // The last group of rounds is the one that extends no schedule.
                simd.sha256_four_rounds::<15>(variables, words, &NO_CONSTANTS, kept);
            }
        }
        for (state, [abef, cdgh]) in states.iter_mut().zip(variables) {
            let before = state.load(simd);
            state.store(simd, [simd.add32(before[0], abef), simd.add32(before[1], cdgh)]);
        }
    }
}

/// Working variables and message words of `N` messages. The kept words are elsewhere, because these must be registers.
struct Sha256Streams<'a, S: ShaSimd, const N: usize> {
    simd: S,
    variables: [[S::W; 2]; N],
    /// The words for the next four rounds.
    words: [S::W; N],
    blocks: [&'a Block; N],
}

impl<S: ShaSimd, const N: usize> Sha256Streams<'_, S, N> {
    #[inline(always)]
    fn all_rounds(&mut self, kept: &mut [KeptWords; N]) {
        self.four_rounds::<0>(kept);
        self.four_rounds::<1>(kept);
        self.four_rounds::<2>(kept);
        self.four_rounds::<3>(kept);
        self.four_rounds::<4>(kept);
        self.four_rounds::<5>(kept);
        self.four_rounds::<6>(kept);
        self.four_rounds::<7>(kept);
        self.four_rounds::<8>(kept);
        self.four_rounds::<9>(kept);
        self.four_rounds::<10>(kept);
        self.four_rounds::<11>(kept);
        self.four_rounds::<12>(kept);
        self.four_rounds::<13>(kept);
        self.four_rounds::<14>(kept);
        self.four_rounds::<15>(kept);
    }

    /// Runs four rounds on each message. While an instruction waits, those of the other messages run.
    #[inline(always)]
    fn four_rounds<const G: usize>(&mut self, kept: &mut [KeptWords; N]) {
        let Self { simd, variables, words, blocks } = self;
        for i in 0..N {
            if let Some(bytes) = blocks[i].as_chunks().0.get(G) {
                words[i] = simd.load_ascending(bytes);
            }
            words[i] = simd.sha256_four_rounds::<G>(&mut variables[i], words[i], &CONSTANTS, &mut kept[i]);
        }
    }
}
