//! The subkeys and last blocks of CMAC. NIST SP 800-38B.

use zeroize::ZeroizeOnDrop;

use super::one_block::encrypted;
use super::schedule::{AesSchedule, Encrypting, PrepareAes};
use crate::simd::{BLOCK, BlockSimd};

/// A key and its two subkeys.
#[derive(ZeroizeOnDrop)]
pub(super) struct CmacKey {
    pub(super) schedule: AesSchedule,
    k1: [u8; BLOCK],
    k2: [u8; BLOCK],
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
fn doubled(value: u128) -> u128 {
    // L is secret, so the carry selects by a mask and not by a branch.
    (value << 1) ^ (0x87 & (value >> 127).wrapping_neg())
}

impl CmacKey {
    /// Returns the blocks of a message that are used unchanged, and stores the last block with its subkey in `last`.
    /// NIST SP 800-38B 6.2.
    #[inline(always)]
    pub(super) fn blocks<'a, S: BlockSimd>(
        &self,
        simd: S,
        message: &'a [u8],
        last: &mut [u8; BLOCK],
    ) -> &'a [[u8; BLOCK]] {
        // Minus one, so that a whole last block stays in `rest`: it gets a subkey too. An empty message has K2.
        let (blocks, rest) = message.split_at(message.len().saturating_sub(1) / BLOCK * BLOCK);
        let subkey = if rest.len() == BLOCK { &self.k1 } else { &self.k2 };
        *last = simd.first_block(simd.load_prefix(rest) ^ simd.splat_block(subkey));
        // The lengths are public. A whole block has no place for the mark, and needs none.
        if let Some(end) = last.get_mut(rest.len()) {
            *end ^= 0x80;
        }
        blocks.as_chunks().0
    }
}
