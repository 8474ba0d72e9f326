//! The padding of messages of whole blocks. It is a block of its own, which all messages of one length share, so its
//! message schedule is computed once.

use super::{BLOCK, Block, StreamHash};
use crate::hash::group::MessageEnding;

/// The message words of a block for all rounds, four in each vector. SHA-256 uses the first sixteen vectors.
#[derive(Debug)]
#[repr(align(16))]
pub(crate) struct MessageSchedule(pub(super) [[u64; 2]; 20]);

impl MessageSchedule {
    /// Arranges the words of rounds, each four from lane 0 on.
    pub(super) fn from_fours(fours: impl Iterator<Item = [u32; 4]>) -> Self {
        let mut vectors = [[0; 2]; 20];
        for (vector, [a, b, c, d]) in vectors.iter_mut().zip(fours) {
            let joined = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
            *vector = [joined(a, b), joined(c, d)];
        }
        Self(vectors)
    }
}

/// A block of padding alone, and its message schedule.
pub(super) struct SharedPadding {
    pub(super) block: Block,
    pub(super) schedule: MessageSchedule,
}

/// The fewest messages for which a schedule pays.
const MIN_MESSAGES: usize = 64;

impl SharedPadding {
    /// Returns the padding of `count` messages of `len` bytes, or None if it shares a block with their ends or if it
    /// would not pay. FIPS 180-4 5.1.1.
    pub(super) fn new<H: StreamHash>(ending: MessageEnding, len: usize, count: usize) -> Option<Self> {
        let is_alone = len.is_multiple_of(BLOCK) && ending.blocks::<H>(len) > len / BLOCK;
        if !is_alone || count < MIN_MESSAGES {
            return None;
        }
        let mut block = [0; BLOCK];
        block[0] = super::source::MARK;
        block[BLOCK - size_of::<u64>()..].copy_from_slice(&ending.bits(len).to_be_bytes());
        Some(Self { block, schedule: H::schedule(&block) })
    }
}

/// Returns the message words of all rounds. `next` computes a word from those before it.
pub(super) fn expanded<const ROUNDS: usize>(block: &Block, next: impl Fn(&[u32]) -> u32) -> [u32; ROUNDS] {
    let mut words = [0; ROUNDS];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for round in BLOCK / size_of::<u32>()..ROUNDS {
        words[round] = next(&words[..round]);
    }
    words
}
