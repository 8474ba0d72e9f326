//! The subkeys of CMAC. NIST SP 800-38B.

use zeroize::ZeroizeOnDrop;

use super::one_block::encrypted;
use super::schedule::{AesSchedule, Encrypting, PrepareAes};
use crate::simd::{BLOCK, BlockBytes, BlockSimd};

/// A key and its two subkeys.
#[derive(ZeroizeOnDrop)]
pub(super) struct CmacKey {
    pub(super) schedule: AesSchedule,
    k1: BlockBytes,
    k2: BlockBytes,
}

impl PrepareAes for CmacKey {
    /// Derives the subkeys. NIST SP 800-38B 6.1.
    fn prepare<S: BlockSimd>(simd: S, key: &[u8]) -> Self {
        let Encrypting(schedule) = Encrypting::prepare(simd, key);
        let l = u128::from_be_bytes(encrypted(simd, &schedule, key.len(), &[0; BLOCK]));
        let k1 = doubled(l);
        Self { schedule, k1: k1.to_be_bytes(), k2: doubled(k1).to_be_bytes() }
    }

    #[inline(always)]
    fn prefetch<S: BlockSimd>(&self, simd: S) {
        self.schedule.prefetch(simd);
    }
}

/// Multiplies by x in GF(2^128). NIST SP 800-38B 5.3.
pub(super) fn doubled(value: u128) -> u128 {
    // L is secret, so the carry selects by a mask and not by a branch.
    (value << 1) ^ (0x87 & (value >> 127).wrapping_neg())
}

impl CmacKey {
    /// Returns the subkey of the last block of a message of `len` bytes. NIST SP 800-38B 6.2.
    #[inline(always)]
    pub(super) fn subkey(&self, len: usize) -> &BlockBytes {
        // A whole last block has K1. An empty message is padded, so it has K2.
        if len > 0 && len.is_multiple_of(BLOCK) { &self.k1 } else { &self.k2 }
    }
}
