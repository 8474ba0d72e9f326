//! Messages of different lengths in the lanes, block by block.
//!
//! Lengths are public. Groups are made of messages of nearly one length, the longest first; a lane that has ended keeps its
//! chaining value under a mask, and when few are left they go on one at a time.

use super::alone::absorb_alone;
use super::{Chain, LaneHash, ROW, WORDS, chain_of, compress, rows_of};
use crate::simd::{HalfMask, Simd, Vector, erase};

/// What follows the bytes of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MessageEnding {
    /// Nothing: the message has whole blocks, and more will follow.
    Open,
    /// Padding for a message before which so many bytes were absorbed. FIPS 180-4 5.1.
    Padded {
        /// Bytes before, whole blocks of them.
        before: u64,
    },
}

impl MessageEnding {
    /// Blocks of a message of `len` bytes with what follows.
    pub(crate) fn blocks<H: LaneHash>(self, len: usize) -> usize {
        match self {
            Self::Open => len / H::BLOCK,
            // A mark, and the length in an eighth of a block.
            Self::Padded { .. } => (len + 1 + H::BLOCK / 8).div_ceil(H::BLOCK),
        }
    }

    /// The length that the padding tells, in bits.
    pub(super) fn bits(self, len: usize) -> u64 {
        match self {
            Self::Open => 0,
            Self::Padded { before } => 8 * (before + len as u64),
        }
    }
}

/// The messages of a group, the longest first, and how far its lanes have to go.
#[derive(Debug)]
pub(crate) struct MessageGroup<'a> {
    /// Lanes without a message of their own repeat the last.
    messages: [&'a [u8]; WORDS],
    /// Bit `j` where lane `j` has its own.
    used: HalfMask,
    ending: MessageEnding,
    /// Blocks of each lane's message with its ending; the most, and the least.
    blocks: [usize; WORDS],
    max: usize,
    min: usize,
    /// Blocks that every lane has in its message.
    whole: usize,
}

impl<'a> MessageGroup<'a> {
    /// No messages.
    pub(crate) fn new(ending: MessageEnding) -> Self {
        Self { messages: [&[]; WORDS], used: 0, ending, blocks: [0; WORDS], max: 0, min: 0, whole: 0 }
    }

    /// Takes the first messages in place of what there was, as many as there are lanes.
    #[inline(always)]
    pub(crate) fn fill<H: LaneHash>(&mut self, mut messages: impl Iterator<Item = &'a [u8]>) {
        let (mut last, mut blocks) = (&[][..], 0);
        (self.used, self.max, self.min, self.whole) = (0, 0, usize::MAX, usize::MAX);
        for lane in 0..H::LANES {
            if let Some(message) = messages.next() {
                self.used |= 1 << lane;
                (last, blocks) = (message, self.ending.blocks::<H>(message.len()));
            }
            (self.messages[lane], self.blocks[lane]) = (last, blocks);
            (self.max, self.min) = (self.max.max(blocks), self.min.min(blocks));
            self.whole = self.whole.min(last.len() / H::BLOCK);
        }
    }

    /// Lanes that have a block at `step`.
    #[inline(always)]
    fn running<H: LaneHash>(&self, step: usize) -> HalfMask {
        self.mask::<H>(step < self.min, step < self.max, |blocks| blocks > step)
    }

    /// Lanes for whose blocks a condition holds, of which it is known whether it holds in all or in any.
    #[inline(always)]
    fn mask<H: LaneHash>(&self, in_all: bool, in_any: bool, is_set: impl Fn(usize) -> bool) -> HalfMask {
        if in_all || !in_any {
            return if in_all { HalfMask::MAX } else { 0 };
        }
        let lanes = self.blocks[..H::LANES].iter().rev();
        lanes.fold(0, |mask, blocks| mask << 1 | HalfMask::from(is_set(*blocks)))
    }

    /// A block of every lane, each of which has one in its message.
    #[inline(always)]
    fn load<S: Simd, H: LaneHash>(&self, simd: S, step: usize) -> [S::V; WORDS] {
        let mut rows = [simd.zero(); WORDS];
        for (at, row) in rows.iter_mut().enumerate() {
            let message = self.messages[at % H::LANES].as_chunks().0;
            *row = simd.load_bytes(&message[H::ROWS * step + at / H::LANES]);
        }
        H::arrange(&mut rows);
        rows
    }

    /// A block of every lane where some are at their end; whatever, where they are past it.
    #[inline(always)]
    fn load_end<S: Simd, H: LaneHash>(&self, simd: S, step: usize) -> [S::V; WORDS] {
        let mut words = [simd.zero(); WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            let message = self.messages[at % H::LANES];
            *word = row_and_mark(simd, message, H::BLOCK * step + ROW * (at / H::LANES));
        }
        H::arrange(&mut words);
        let in_all = self.min == step + 1 && self.max == step + 1;
        let last = self.mask::<H>(in_all, step + 1 >= self.min, |blocks| blocks == step + 1);
        if last != 0 {
            let mut bits = [0; WORDS];
            for (bits, message) in bits.iter_mut().zip(self.messages) {
                *bits = self.ending.bits(message.len());
            }
            let [high, low] = H::lengths(simd, &bits);
            words[WORDS - 2] = H::add_if(words[WORDS - 2], last, high);
            words[WORDS - 1] = H::add_if(words[WORDS - 1], last, low);
        }
        words
    }

    /// Begins to fetch a row of what the lanes will read some steps later, `ahead` after the group's end: memory answers in the time
    /// of several blocks.
    #[inline(always)]
    fn prefetch<S: Simd, H: LaneHash>(&self, simd: S, row: usize, step: usize, whole: usize, ahead: &Self) {
        let later = step + AHEAD.min(whole);
        let (messages, later) =
            if later < whole { (&self.messages, later) } else { (&ahead.messages, later - whole) };
        if let Some(byte) = messages[row % H::LANES].get(H::BLOCK * later + ROW * (row / H::LANES)) {
            simd.prefetch(byte);
        }
    }
}

/// Steps between fetching a block and reading it; measured.
const AHEAD: usize = 4;

/// Moves the chaining values of `N` groups over their messages and what follows them. `ahead`: what will come next.
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
        if group.running::<H>(step) & group.used != 0 {
            finish_alone::<S, H>(simd, chain, group, step);
        }
    }
}

/// Goes on in lanes until too few are left to be worth it; the step at which that is.
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
            *running = group.running::<H>(step);
            left += (*running & group.used).count_ones() as usize;
        }
        if left <= N * H::ALONE {
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
            // A row at a time: more than two dozen lines under way at once hold up everything else.
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

/// Sixty-four bytes of a message from `at` on, zeros behind it, and the bit that follows it. FIPS 180-4 5.1.
///
/// Past the end nothing is read, but from an address that there is: the processor takes half a microsecond to find that it need
/// not read from another.
#[inline(always)]
fn row_and_mark<S: Simd>(simd: S, message: &[u8], at: usize) -> S::V {
    let row = simd.load_prefix(&message[at.min(message.len())..]);
    let end = message.len().wrapping_sub(at).min(ROW);
    match MARK[ROW - end..].first_chunk() {
        Some(mark) => row | simd.load_bytes(mark),
        None => row,
    }
}

/// A mark that slides over a row: the row that begins `n` bytes before it has it at byte `n`.
static MARK: [u8; 2 * ROW] = {
    let mut bytes = [0; 2 * ROW];
    bytes[ROW] = 0x80;
    bytes
};

/// What is left of a group after `step` blocks, message by message.
#[cold]
fn finish_alone<S: Simd, H: LaneHash>(
    simd: S,
    chain: &mut Chain<S::V>,
    group: &MessageGroup<'_>,
    step: usize,
) {
    let mut rows = [[0; ROW]; WORDS];
    simd.call(
        #[inline(always)]
        || {
            for (row, vector) in rows.iter_mut().zip(rows_of::<S, H>(simd, chain)) {
                vector.store_prefix(row);
            }
        },
    );
    for (lane, row) in rows[..H::LANES].iter_mut().enumerate() {
        let message = group.messages[lane];
        if group.used >> lane & 1 == 1 && group.blocks[lane] > step {
            absorb_alone::<H>(row, message, H::BLOCK * step, group.ending);
        }
    }
    simd.call(
        #[inline(always)]
        || {
            let words = chain_of::<S, H>(simd, rows.each_ref());
            for (word, new) in chain.iter_mut().zip(words) {
                *word = new;
            }
        },
    );
    erase(rows.as_flattened_mut());
}
