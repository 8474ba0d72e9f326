//! A record of CBC encryption or of a CBC-MAC, in which each block depends on the one before it. NIST SP 800-38A 6.2.

use super::schedule::{AesSchedule, NONE};
use crate::simd::{BLOCK, BlockBytes, SingleSimd};

/// A record to chain.
#[derive(Clone, Copy)]
pub(super) struct ChainedRecord<'a> {
    pub(super) schedule: &'a AesSchedule,
    /// The IV of a cipher, or the subkey of a MAC's last block.
    pub(super) block: &'a BlockBytes,
    pub(super) message: &'a [u8],
    /// The offset of the output.
    pub(super) output: usize,
    /// The length of a MAC in bytes.
    pub(super) tag_len: usize,
}

pub(super) const IDLE: ChainedRecord<'static> =
    ChainedRecord { schedule: &NONE, block: &[0; BLOCK], message: &[], output: 0, tag_len: 0 };

impl ChainedRecord<'_> {
    /// Returns the number of blocks. The last block of a MAC can be partial, and an empty message has one too.
    #[inline(always)]
    pub(super) fn steps<const MAC: bool>(&self) -> usize {
        if MAC { self.message.len().div_ceil(BLOCK).max(1) } else { self.message.len() / BLOCK }
    }

    /// Returns the state before the first block.
    #[inline(always)]
    pub(super) fn start<S: SingleSimd, const MAC: bool>(&self, simd: S) -> S::Block {
        if MAC { simd.block_of_words([0; 2]) } else { simd.load_block(self.block) }
    }

    /// Loads the block of a step.
    #[inline(always)]
    pub(super) fn load<S: SingleSimd, const MAC: bool>(&self, simd: S, step: usize) -> S::Block {
        match self.message.as_chunks().0.get(step) {
            Some(block) if !MAC || BLOCK * step + BLOCK < self.message.len() => simd.load_block(block),
            _ => self.last(simd, step),
        }
    }

    /// Loads the last block of a MAC, with its padding and its subkey. NIST SP 800-38B 6.2.
    #[inline(always)]
    pub(super) fn last<S: SingleSimd>(&self, simd: S, step: usize) -> S::Block {
        simd.load_padded_at(self.message, BLOCK * step) ^ simd.load_block(self.block)
    }

    /// Writes a block of a cipher.
    #[inline(always)]
    pub(super) fn write<S: SingleSimd>(&self, simd: S, step: usize, state: S::Block, output: &mut [u8]) {
        if let Some(block) = output.get_mut(self.output + BLOCK * step..).and_then(<[u8]>::first_chunk_mut) {
            simd.store_block(state, block);
        }
    }

    /// Writes a MAC.
    #[inline(always)]
    pub(super) fn write_tag<S: SingleSimd>(&self, simd: S, state: S::Block, output: &mut [u8]) {
        simd.store_block_prefix(state, &mut output[self.output..][..self.tag_len]);
    }
}
