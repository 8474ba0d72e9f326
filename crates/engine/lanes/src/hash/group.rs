//! Messages of different lengths in the lanes, block by block.
//!
//! Lengths are public. A group holds messages of similar length, the longest first. A lane whose message has ended
//! keeps its chaining value under a mask. When few lanes are left, they are finished one at a time.

use super::{LaneChains, LaneHash, LaneLayout, LaneMessages, MAX_LANES, WORDS, load_states};
use crate::records::StepRule;
use crate::simd::{HalfMask, LaneArray, Simd, Vector, erase};

/// The end of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MessageEnding {
    /// No padding: the message has whole blocks, and more will follow.
    Open,
    /// The padding of a message that follows bytes absorbed before. FIPS 180-4 5.1, FIPS 202 5.1 and 6.
    Padded {
        /// The number of bytes absorbed before, a multiple of the block. SHA-3 does not use it.
        before: u64,
    },
}

impl MessageEnding {
    /// Returns the number of blocks of a message of `len` bytes with its end.
    pub(crate) fn blocks<H: LaneHash>(self, len: usize) -> usize {
        match self {
            Self::Open => len / H::BLOCK,
            Self::Padded { .. } => (len + H::MIN_PADDING).div_ceil(H::BLOCK),
        }
    }

    /// Returns the rule by which [`Self::blocks`] counts.
    pub(super) fn steps<H: LaneHash>(self) -> StepRule {
        match self {
            Self::Open => StepRule::blocks(H::BLOCK, 0),
            Self::Padded { .. } => StepRule::blocks(H::BLOCK, H::MIN_PADDING - 1 + H::BLOCK),
        }
    }

    /// Returns the length in the padding, in bits.
    pub(super) fn bits(self, len: usize) -> u64 {
        match self {
            Self::Open => 0,
            Self::Padded { before } => 8 * (before + len as u64),
        }
    }
}

/// The messages of a group, the longest first, and the steps of its lanes.
#[derive(Debug)]
pub(crate) struct MessageGroup<'a> {
    /// The message of each lane. Lanes without a message repeat the last.
    messages: LaneMessages<'a>,
    /// The mask of lanes with a message of their own: bit `j` for lane `j`.
    used: HalfMask,
    ending: MessageEnding,
    /// The blocks of each lane's message with its end, and their maximum and minimum.
    blocks: [usize; MAX_LANES],
    max: usize,
    min: usize,
    /// The number of blocks that are whole in every lane's message.
    whole: usize,
}

impl<'a> MessageGroup<'a> {
    /// Returns a group without messages.
    pub(crate) fn new(ending: MessageEnding) -> Self {
        Self { messages: [&[]; MAX_LANES], used: 0, ending, blocks: [0; MAX_LANES], max: 0, min: 0, whole: 0 }
    }

    /// Replaces the messages with the first ones of the iterator, as many as there are lanes.
    #[inline(always)]
    pub(crate) fn fill<V: Vector, H: LaneHash>(&mut self, mut messages: impl Iterator<Item = &'a [u8]>) {
        let (mut last, mut blocks) = (&[][..], 0);
        (self.used, self.max, self.min, self.whole) = (0, 0, usize::MAX, usize::MAX);
        // Lanes past the last message repeat it: they read memory that exists, and nobody reads their results.
        for lane in 0..LaneLayout::<V, H>::LANES {
            if let Some(message) = messages.next() {
                self.used |= 1 << lane;
                (last, blocks) = (message, self.ending.blocks::<H>(message.len()));
            }
            (self.messages[lane], self.blocks[lane]) = (last, blocks);
            (self.max, self.min) = (self.max.max(blocks), self.min.min(blocks));
            self.whole = self.whole.min(last.len() / H::BLOCK);
        }
    }

    /// Returns the lanes that have a block at `step`.
    #[inline(always)]
    fn running<V: Vector, H: LaneHash>(&self, step: usize) -> HalfMask {
        self.mask::<V, H>(step < self.min, step < self.max, |blocks| blocks > step)
    }

    /// Returns the lanes whose block count satisfies `is_set`. The callers know if it holds in all lanes or in none,
    /// which saves the loop.
    #[inline(always)]
    fn mask<V: Vector, H: LaneHash>(
        &self,
        in_all: bool,
        in_any: bool,
        is_set: impl Fn(usize) -> bool,
    ) -> HalfMask {
        if in_all || !in_any {
            // Most steps take this path, since messages of a group have similar lengths.
            return if in_all { HalfMask::MAX } else { 0 };
        }
        let lanes = self.blocks[..LaneLayout::<V, H>::LANES].iter().rev();
        lanes.fold(0, |mask, blocks| mask << 1 | HalfMask::from(is_set(*blocks)))
    }

    /// Loads a block of every lane. It must be whole in every message.
    #[inline(always)]
    fn load<S: Simd, H: LaneHash>(&self, simd: S, step: usize) -> H::Words<S::V> {
        H::load(simd, &self.messages, step)
    }

    /// Loads a block of every lane if some messages end. A lane past its end gets arbitrary bytes.
    #[inline(always)]
    fn load_end<S: Simd, H: LaneHash>(&self, simd: S, step: usize) -> H::Words<S::V> {
        let in_all = self.min == step + 1 && self.max == step + 1;
        let last = self.mask::<S::V, H>(in_all, step + 1 >= self.min, |blocks| blocks == step + 1);
        H::load_end(simd, &self.messages, step, last, self.ending)
    }

    /// Prefetches a row of the block that the lanes read a few steps later. After the end of the group this is a
    /// block of `ahead`. Memory takes as long as several blocks to answer.
    #[inline(always)]
    fn prefetch<S: Simd, H: LaneHash>(&self, simd: S, row: usize, step: usize, whole: usize, ahead: &Self) {
        let later = step + AHEAD.min(whole);
        let (messages, later) =
            if later < whole { (&self.messages, later) } else { (&ahead.messages, later - whole) };
        let lanes = LaneLayout::<S::V, H>::LANES;
        if let Some(byte) = messages[row % lanes].get(H::BLOCK * later + S::V::BYTES * (row / lanes)) {
            simd.prefetch(byte);
        }
    }
}

/// The steps between prefetching a block and reading it. Measured.
const AHEAD: usize = 4;

/// Advances the chaining values of `N` groups over their messages and padding. `ahead` are the groups that come
/// next, for prefetching.
pub(crate) fn absorb<S: Simd, H: LaneHash, const N: usize>(
    simd: S,
    chains: &mut [H::Chain<S::V>; N],
    groups: &[MessageGroup<'_>; N],
    ahead: &[MessageGroup<'_>; N],
) {
    let step = simd.call(
        #[inline(always)]
        || in_lanes::<S, H, N>(simd, chains, groups, ahead),
    );
    for (chain, group) in chains.iter_mut().zip(groups) {
        if group.running::<S::V, H>(step) & group.used != 0 {
            finish_alone::<S, H>(simd, chain, group, step);
        }
    }
}

/// Hashes in lanes until too few are left to be worth it. Returns the step at which it stopped.
#[inline(always)]
fn in_lanes<S: Simd, H: LaneHash, const N: usize>(
    simd: S,
    chains: &mut [H::Chain<S::V>; N],
    groups: &[MessageGroup<'_>; N],
    ahead: &[MessageGroup<'_>; N],
) -> usize {
    let whole = groups.iter().map(|group| group.whole).min().unwrap_or(0);
    let (mut states, mut step) = (*chains, 0);
    loop {
        let (mut running, mut left) = ([0; N], 0);
        for (running, group) in running.iter_mut().zip(groups) {
            *running = group.running::<S::V, H>(step);
            left += (*running & group.used).count_ones() as usize;
        }
        // `used` leaves out the lanes that repeat the last message.
        // From here on one message at a time is faster than a step of mostly idle lanes.
        if left <= N * LaneLayout::<S::V, H>::ALONE {
            *chains = states;
            return step;
        }
        let zero = simd.zero();
        let mut words = [H::Words::<S::V>::from_fn(|_| zero); N];
        for (words, group) in words.iter_mut().zip(groups) {
            if step < whole {
                *words = group.load::<S, H>(simd, step);
            } else {
                *words = group.load_end::<S, H>(simd, step);
            }
        }
        H::compress::<S, N>(
            simd,
            &mut states,
            words,
            running,
            // Prefetches a row at a time: more than two dozen lines in flight at once stall all other loads.
            #[inline(always)]
            |row| {
                if row < WORDS && step < whole {
                    for (group, ahead) in groups.iter().zip(ahead) {
                        group.prefetch::<S, H>(simd, row, step, whole, ahead);
                    }
                }
            },
        );
        step += 1;
    }
}

/// Finishes the messages of a group after `step` blocks, one at a time.
#[cold]
fn finish_alone<S: Simd, H: LaneHash>(
    simd: S,
    chain: &mut H::Chain<S::V>,
    group: &MessageGroup<'_>,
    step: usize,
) {
    // Through memory: each lane's chaining value becomes the state of a scalar hash and comes back.
    let mut values = [H::State::from_fn(|_| 0); MAX_LANES];
    let lanes = LaneLayout::<S::V, H>::LANES;
    simd.call(
        #[inline(always)]
        || {
            let rows = LaneChains::<S::V, H>::new(simd, chain);
            for (lane, value) in values[..lanes].iter_mut().enumerate() {
                rows.store(lane, value.as_mut());
            }
        },
    );
    for (lane, value) in values[..lanes].iter_mut().enumerate() {
        let message = group.messages[lane];
        if group.used >> lane & 1 == 1 && group.blocks[lane] > step {
            H::absorb_alone(value, message, H::BLOCK * step, group.ending);
        }
    }
    simd.call(
        #[inline(always)]
        || {
            *chain = load_states::<S, H>(
                simd,
                #[inline(always)]
                |lane| Some(values[lane].as_ref()),
            );
        },
    );
    values.iter_mut().for_each(|value| erase(value.as_mut()));
}
