//! The encryption of one block under one key, for values that are computed once per key.

use super::schedule::AesSchedule;
use crate::simd::{AesBlocks, BLOCK, BlockBytes, BlockSimd, SingleSimd};

/// Encrypts a block under a key of `key_len` bytes.
pub(super) fn encrypted<S: BlockSimd>(
    simd: S,
    schedule: &AesSchedule,
    key_len: usize,
    block: &BlockBytes,
) -> BlockBytes {
    let rounds = key_len / 4 + 6;
    simd.call(
        #[inline(always)]
        || {
            let simd = simd.single();
            let key = |at: usize| simd.load_block(&schedule.keys[at]);
            let mut state = simd.load_block(block) ^ key(0);
            for at in 1..rounds {
                state = state.encrypt_round(key(at));
            }
            let mut encrypted = [0; BLOCK];
            simd.store_block(state.encrypt_last(key(rounds)), &mut encrypted);
            encrypted
        },
    )
}
