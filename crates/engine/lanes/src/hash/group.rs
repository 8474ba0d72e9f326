//! Messages of different lengths in the lanes, block by block.
//!
//! Lengths are public. A group holds messages of similar length, the longest first. A lane whose message has ended
//! keeps its chaining value under a mask. When few lanes are left, they are finished one at a time.

use super::alone::absorb_alone;
use super::{CHAIN_BYTES, Chain, LaneChains, LaneHash, LaneLayout, MAX_LANES, WORDS, compress, load_chains};
use crate::records::StepRule;
use crate::simd::{HalfMask, LaneArray, Simd, Vector, erase};

/// The end of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MessageEnding {
    /// No padding: the message has whole blocks, and more will follow.
    Open,
    /// The padding of a message that follows bytes absorbed before. FIPS 180-4 5.1.
    Padded {
        /// The number of bytes absorbed before, a multiple of the block.
        before: u64,
    },
}

impl MessageEnding {
    /// Returns the number of blocks of a message of `len` bytes with its end.
    pub(crate) fn blocks<H: LaneHash>(self, len: usize) -> usize {
        match self {
            Self::Open => len / H::BLOCK,
            // The padding adds a mark of one byte, and the length in an eighth of a block.
            Self::Padded { .. } => (len + 1 + H::BLOCK / 8).div_ceil(H::BLOCK),
        }
    }

    /// Returns the rule by which [`Self::blocks`] counts.
    pub(super) fn steps<H: LaneHash>(self) -> StepRule {
        match self {
            Self::Open => StepRule::blocks(H::BLOCK, 0),
            Self::Padded { .. } => StepRule::blocks(H::BLOCK, H::BLOCK / 8 + H::BLOCK),
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
    messages: [&'a [u8]; MAX_LANES],
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
    fn load<S: Simd, H: LaneHash>(&self, simd: S, step: usize) -> [S::V; WORDS] {
        let mut rows = [simd.zero(); WORDS];
        for (at, row) in rows.iter_mut().enumerate() {
            let (lanes, rows) = (LaneLayout::<S::V, H>::LANES, LaneLayout::<S::V, H>::ROWS);
            let message = LaneArray::chunks(self.messages[at % lanes]).0;
            *row = simd.load_bytes(&message[rows * step + at / lanes]);
        }
        H::arrange(&mut rows);
        rows
    }

    /// Loads a block of every lane if some messages end. A lane past its end gets arbitrary bytes.
    #[inline(always)]
    fn load_end<S: Simd, H: LaneHash>(&self, simd: S, step: usize) -> [S::V; WORDS] {
        let mut words = [simd.zero(); WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            let lanes = LaneLayout::<S::V, H>::LANES;
            let message = self.messages[at % lanes];
            *word = row_and_mark(simd, message, H::BLOCK * step + S::V::BYTES * (at / lanes));
        }
        H::arrange(&mut words);
        let in_all = self.min == step + 1 && self.max == step + 1;
        let last = self.mask::<S::V, H>(in_all, step + 1 >= self.min, |blocks| blocks == step + 1);
        // The length goes to lanes whose last block this is. Others may have ended before or have blocks to come.
        if last != 0 {
            let mut bits = [0; MAX_LANES];
            for (bits, message) in bits.iter_mut().zip(self.messages) {
                *bits = self.ending.bits(message.len());
            }
            let [high, low] = H::lengths(simd, &bits);
            words[WORDS - 2] = H::add_if(words[WORDS - 2], last, high);
            words[WORDS - 1] = H::add_if(words[WORDS - 1], last, low);
        }
        words
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
    chains: &mut [Chain<S::V>; N],
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
    chains: &mut [Chain<S::V>; N],
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
        // From here on the SHA instructions finish the rest faster than a step of mostly idle lanes.
        if left <= N * LaneLayout::<S::V, H>::ALONE {
            *chains = states;
            return step;
        }
        let mut words = [[simd.zero(); WORDS]; N];
        for (words, group) in words.iter_mut().zip(groups) {
            if step < whole {
                *words = group.load::<S, H>(simd, step);
            } else {
                *words = group.load_end::<S, H>(simd, step);
            }
        }
        states = compress::<S, H, N>(
            simd,
            states,
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

/// Loads a vector of bytes of a message from `at` on, followed by zeros, and the bit that ends the message. FIPS
/// 180-4 5.1.
///
/// Past the end the masked load still gets an address within the message. With an unmapped address the processor
/// takes half a microsecond to find out that it need not read.
#[inline(always)]
fn row_and_mark<S: Simd>(simd: S, message: &[u8], at: usize) -> S::V {
    let row = simd.load_prefix(&message[at.min(message.len())..]);
    // Past the end the difference wraps to a large number, so a lane gets the mark once only.
    let end = message.len().wrapping_sub(at).min(S::V::BYTES);
    match LaneArray::chunks(&MARK[MAX_BYTES - end..]).0.first() {
        Some(mark) => row | simd.load_bytes(mark),
        None => row,
    }
}

/// The bytes of the widest vector.
const MAX_BYTES: usize = 64;

/// A mark after the zeros of a vector. A vector that is read from `MAX_BYTES - n` on has the mark at byte `n`.
static MARK: [u8; 2 * MAX_BYTES] = {
    let mut bytes = [0; 2 * MAX_BYTES];
    bytes[MAX_BYTES] = 0x80;
    bytes
};

/// Finishes the messages of a group after `step` blocks, one at a time.
#[cold]
fn finish_alone<S: Simd, H: LaneHash>(
    simd: S,
    chain: &mut Chain<S::V>,
    group: &MessageGroup<'_>,
    step: usize,
) {
    // Through memory: each lane's chaining value becomes the state of a scalar hash and comes back.
    let mut values = [[0; CHAIN_BYTES]; MAX_LANES];
    let lanes = LaneLayout::<S::V, H>::LANES;
    simd.call(
        #[inline(always)]
        || {
            let rows = LaneChains::<_, H>::new(simd, chain);
            for (lane, value) in values[..lanes].iter_mut().enumerate() {
                rows.store(lane, value);
            }
        },
    );
    for (lane, value) in values[..lanes].iter_mut().enumerate() {
        let message = group.messages[lane];
        if group.used >> lane & 1 == 1 && group.blocks[lane] > step {
            absorb_alone::<H>(value, message, H::BLOCK * step, group.ending);
        }
    }
    simd.call(
        #[inline(always)]
        || {
            let words = load_chains::<S, H>(
                simd,
                #[inline(always)]
                |lane| &values[lane],
            );
            for (word, new) in chain.iter_mut().zip(words) {
                *word = new;
            }
        },
    );
    erase(values.as_flattened_mut());
}
