//! Round keys of four records side by side, for vectors with a block of each.

use super::schedule::{AesSchedule, ROUND_KEYS};
use crate::simd::{BLOCK, BlockBytes, BlockSimd, FOUR_BLOCKS, erase};

/// The round keys of four records: those of one round lie side by side.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct JoinedKeys([[u8; FOUR_BLOCKS]; ROUND_KEYS]);

impl JoinedKeys {
    /// Returns zeros instead of keys.
    #[inline(always)]
    pub(super) fn empty() -> Self {
        Self([[0; FOUR_BLOCKS]; ROUND_KEYS])
    }

    /// Copies the round keys of four records.
    #[inline(always)]
    pub(super) fn new(schedules: [&AesSchedule; 4], rounds: usize) -> Self {
        let mut joined = Self::empty();
        for (at, round) in joined.0.iter_mut().take(rounds + 1).enumerate() {
            for (to, schedule) in round.as_chunks_mut().0.iter_mut().zip(schedules) {
                *to = schedule.keys[at];
            }
        }
        joined
    }

    /// Returns the keys of a round.
    #[inline(always)]
    pub(super) fn round<S: BlockSimd>(&self, simd: S, round: usize) -> S::Four {
        simd.load_prefix(&self.0[round])
    }

    /// Replaces the keys of a round.
    #[inline(always)]
    pub(super) fn set_round<S: BlockSimd>(&mut self, simd: S, round: usize, keys: S::Four) {
        simd.store_prefix(keys, &mut self.0[round]);
    }

    /// Returns the key of a round of one of the four records.
    #[inline(always)]
    pub(super) fn key_mut(&mut self, round: usize, record: usize) -> &mut BlockBytes {
        block_mut(&mut self.0[round], record)
    }

    /// Overwrites the keys.
    #[inline(always)]
    pub(super) fn erase(&mut self) {
        erase(self.0.as_flattened_mut());
    }
}

/// Returns one of four blocks.
#[inline(always)]
pub(super) fn block_mut(blocks: &mut [u8; FOUR_BLOCKS], at: usize) -> &mut BlockBytes {
    let blocks: &mut [BlockBytes] = blocks.as_chunks_mut::<BLOCK>().0;
    &mut blocks[at]
}
