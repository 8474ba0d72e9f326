//! CMAC. NIST SP 800-38B.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::schedule::{Encrypting, Prepare, Schedule};
use super::single::encrypted;
use crate::simd::{BLOCK, Blocks};

/// A key and its two subkeys.
#[derive(ZeroizeOnDrop)]
pub(super) struct CmacKey {
    pub(super) schedule: Schedule,
    k1: u128,
    k2: u128,
}

impl Prepare for CmacKey {
    /// NIST SP 800-38B 6.1.
    fn prepare<S: Blocks>(simd: S, key: &[u8]) -> Self {
        let Encrypting(schedule) = Encrypting::prepare(simd, key);
        let l = u128::from_be_bytes(encrypted(simd, &schedule, key.len(), &[0; BLOCK]));
        let k1 = doubled(l);
        Self { schedule, k1, k2: doubled(k1) }
    }

    #[inline(always)]
    fn prefetch<S: Blocks>(&self, simd: S) {
        self.schedule.prefetch(simd);
    }
}

/// Multiplication by x in GF(2^128). NIST SP 800-38B 5.3.
fn doubled(value: u128) -> u128 {
    (value << 1) ^ (0x87 & (value >> 127).wrapping_neg())
}

impl CmacKey {
    /// The blocks of a message that are taken as they lie, and the last one. NIST SP 800-38B 6.2.
    #[inline(always)]
    pub(super) fn blocks<'a>(&self, message: &'a [u8]) -> (&'a [[u8; BLOCK]], [u8; BLOCK]) {
        let (blocks, rest) = message.split_at(message.len().saturating_sub(1) / BLOCK * BLOCK);
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let subkey = if rest.len() == BLOCK {
            self.k1
        } else {
            last[rest.len()] = 0x80;
            self.k2
        };
        let sum = u128::from_be_bytes(last) ^ subkey;
        last.zeroize();
        (blocks.as_chunks().0, sum.to_be_bytes())
    }
}
