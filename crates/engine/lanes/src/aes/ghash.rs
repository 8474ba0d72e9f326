//! GHASH by powers of H. NIST SP 800-38D 6.4. It is computed as POLYVAL (RFC 8452 appendix A), whose bit order is
//! the processor's.
//!
//! With the bytes of every block reversed, GHASH under H is POLYVAL under H x: sums of products a b x^-128 modulo
//! x^128 + x^127 + x^126 + x^121 + 1.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::one_block::encrypted;
use super::schedule::{AesSchedule, Encrypting, PrepareAes};
use crate::simd::{AesBlocks, BLOCK, BlockSimd, FOUR_BLOCKS, HashPowers, OneBlock, SingleSimd};

/// A key with its powers of H.
#[derive(ZeroizeOnDrop)]
#[repr(C)]
pub(super) struct GcmKey {
    powers: HashPowers,
    pub(super) schedule: AesSchedule,
}

/// A key of zeros, for places without a record.
pub(super) static NO_KEY: GcmKey = GcmKey { powers: HashPowers::empty(), schedule: AesSchedule::empty() };

impl PrepareAes for GcmKey {
    fn prepare<S: BlockSimd>(simd: S, key: &[u8]) -> Self {
        let Encrypting(schedule) = Encrypting::prepare(simd, key);
        let mut h = doubled(u128::from_be_bytes(encrypted(simd, &schedule, key.len(), &[0; BLOCK])));
        let mut powers = HashPowers::empty();
        let mut power = h.to_le_bytes();
        h.zeroize();
        for n in 1..=4 {
            powers.set(n, &power);
            simd.call(
                #[inline(always)]
                || {
                    let next = simd.sum_of_products(simd.load_prefix(&power), 1, &powers);
                    simd.single().store_block(next, &mut power);
                },
            );
        }
        power.zeroize();
        Self { schedule, powers }
    }

    #[inline(always)]
    fn prefetch<S: BlockSimd>(&self, simd: S) {
        self.schedule.prefetch(simd);
        self.powers.prefetch(simd);
    }
}

/// Multiplies by x. RFC 8452 appendix A, mulX_POLYVAL.
fn doubled(value: u128) -> u128 {
    const POLYNOMIAL: u128 = 0xC200_0000_0000_0000_0000_0000_0000_0001;
    // H is secret, so the carry selects by a mask and not by a branch.
    (value << 1) ^ (POLYNOMIAL & (value >> 127).wrapping_neg())
}

impl GcmKey {
    /// Absorbs `count` blocks, one to four, whose bytes are reversed. Other blocks must be zero.
    #[inline(always)]
    pub(super) fn absorb<S: BlockSimd>(
        &self,
        simd: S,
        sum: OneBlock<S>,
        blocks: S::Four,
        count: usize,
    ) -> OneBlock<S> {
        simd.sum_of_products(simd.xor_first(blocks, sum), count, &self.powers)
    }

    /// Absorbs a block of two words.
    #[inline(always)]
    pub(super) fn absorb_words<S: BlockSimd>(
        &self,
        simd: S,
        sum: OneBlock<S>,
        words: [u64; 2],
    ) -> OneBlock<S> {
        self.absorb(simd, sum, simd.with_words(simd.splat_block(&[0; BLOCK]), 0, words), 1)
    }

    /// Absorbs bytes that are padded with zeros to whole blocks.
    #[inline(always)]
    pub(super) fn absorb_bytes<S: BlockSimd>(&self, simd: S, sum: OneBlock<S>, bytes: &[u8]) -> OneBlock<S> {
        let (mut sum, mut rest) = (sum, bytes);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(FOUR_BLOCKS));
            let blocks = simd.load_prefix(piece).reversed();
            sum = self.absorb(simd, sum, blocks, piece.len().div_ceil(BLOCK));
            rest = after;
        }
        sum
    }
}

/// Returns the last block of a hash as words with its bytes reversed: the lengths in bits. NIST SP 800-38D 7.1 step 5.
#[inline(always)]
pub(super) fn lengths(aad_len: usize, len: usize) -> [u64; 2] {
    [8 * len as u64, 8 * aad_len as u64]
}
