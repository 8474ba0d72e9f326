//! The encryption of one block under one key, for values that are computed once per key.

use super::schedule::AesSchedule;
use crate::simd::{BLOCK, BlockSimd};

/// Encrypts a block under a key of `key_len` bytes.
pub(super) fn encrypted<S: BlockSimd>(
    simd: S,
    schedule: &AesSchedule,
    key_len: usize,
    block: &[u8; BLOCK],
) -> [u8; BLOCK] {
    let rounds = key_len / 4 + 6;
    simd.call(
        #[inline(always)]
        || {
            let key = |at: usize| simd.splat_block(&schedule.keys[at]);
            let first = simd.splat_block(block) ^ key(0);
            let middle = (1..rounds).fold(first, |state, at| simd.encrypt_round(state, key(at)));
            simd.first_block(simd.encrypt_last(middle, key(rounds)))
        },
    )
}
