//! Blocks of 128 bits: rounds of AES and products of GHASH.
//!
//! The bytes of a block are in the order of the standard, the first lowest.

use std::fmt::Debug;
use std::ops::BitXor;

use super::Cpu;

/// The bytes of a block.
pub(crate) const BLOCK: usize = 16;

/// The bytes of four blocks.
pub(crate) const FOUR_BLOCKS: usize = 4 * BLOCK;

/// The bytes of a block.
pub(crate) type BlockBytes = [u8; BLOCK];

/// One or four blocks in registers. All operations take the same time for all values.
pub(crate) trait AesBlocks: Copy + Debug + Send + Sync + 'static + BitXor<Output = Self> {
    /// True if the instruction of a round adds a key before its other steps. Then an XOR before a round is free if the
    /// key of the round is zero.
    const ADDS_KEYS_FIRST: bool = false;

    /// Computes SubBytes, ShiftRows, MixColumns and AddRoundKey. FIPS 197 5.1.
    fn encrypt_round(self, key: Self) -> Self;

    /// Computes the last round of encryption, without MixColumns.
    fn encrypt_last(self, key: Self) -> Self;

    /// Computes InvSubBytes, InvShiftRows, InvMixColumns and AddRoundKey. FIPS 197 5.3.5, the equivalent inverse
    /// cipher.
    fn decrypt_round(self, key: Self) -> Self;

    /// Computes the last round of decryption, without InvMixColumns.
    fn decrypt_last(self, key: Self) -> Self;

    /// Reverses the bytes of each block.
    fn reversed(self) -> Self;

    /// Computes `self & mask`.
    fn masked(self, mask: Self) -> Self;

    /// Returns the last word of 32 bits of each block in all its words. With `ROTATES` its bytes are rotated first:
    /// RotWord of FIPS 197 5.2.
    fn last_words<const ROTATES: bool>(self) -> Self;

    /// Replaces each word of 32 bits with the XOR of itself and the words before it in its block.
    fn word_sums(self) -> Self;
}

/// A CPU with rounds of AES, one block at a time.
pub(crate) trait SingleSimd: Cpu {
    /// One block.
    type Block: AesBlocks;

    /// Returns the same reference in a way that the compiler cannot see. What it refers to is loaded again.
    #[inline(always)]
    fn opaque<T>(self, value: &T) -> &T {
        value
    }

    /// Loads a block.
    fn load_block(self, bytes: &BlockBytes) -> Self::Block;

    /// Returns a block of two little-endian words, the lower word first.
    fn block_of_words(self, words: [u64; 2]) -> Self::Block;

    /// Loads up to one block from byte `start` on, which is not past the end. Zeros follow the end of the slice.
    fn load_block_at(self, bytes: &[u8], start: usize) -> Self::Block;

    /// Loads as [`SingleSimd::load_block_at`] does, with a byte of 0x80 behind the end of the slice if the block is not
    /// full.
    fn load_padded_at(self, bytes: &[u8], start: usize) -> Self::Block;

    /// Stores a block.
    fn store_block(self, block: Self::Block, out: &mut BlockBytes);

    /// Stores the first bytes of a block, as many as the slice holds.
    fn store_block_prefix(self, block: Self::Block, out: &mut [u8]);

    /// Returns true if two blocks differ in their first `len` bytes. `len` is at most 16.
    fn differ(self, a: Self::Block, b: Self::Block, len: usize) -> bool;

    /// Adds to the word of 32 bits at the start of a block. The other bytes stay.
    fn add_to_counter(self, block: Self::Block, count: u32) -> Self::Block;
}

/// A CPU with rounds of AES and carry-less products, four blocks at a time.
pub(crate) trait BlockSimd: Cpu {
    /// The same CPU, one block at a time.
    type Single: SingleSimd;

    /// Four blocks.
    type Four: AesBlocks;

    /// The number of [`BlockSimd::Four`] whose rounds run side by side: 2, 4 or 8.
    const FOURS: usize;

    /// True if a load of four round keys costs less than four loads of one.
    const JOINS_KEYS: bool;

    /// Returns the token for single blocks.
    fn single(self) -> Self::Single;

    /// Returns the same block four times.
    fn splat_block(self, block: &BlockBytes) -> Self::Four;

    /// Loads the first bytes of a slice, up to four blocks. A shorter slice is followed by zeros.
    fn load_prefix(self, bytes: &[u8]) -> Self::Four;

    /// Stores the first bytes of four blocks, as many as the slice holds.
    fn store_prefix(self, blocks: Self::Four, out: &mut [u8]);

    /// XORs up to four blocks of bytes with a key stream into `output`, which has the length of `input`. Returns the
    /// input and the output, each followed by zeros.
    fn crypt_prefix(self, input: &[u8], stream: Self::Four, output: &mut [u8]) -> [Self::Four; 2];

    /// Moves the blocks up by one position. `before` becomes the first.
    fn blocks_after(self, blocks: Self::Four, before: &BlockBytes) -> Self::Four;

    /// Joins four blocks.
    fn join(self, blocks: [OneBlock<Self>; 4]) -> Self::Four;

    /// Returns the four blocks.
    fn split(self, blocks: Self::Four) -> [OneBlock<Self>; 4];

    /// Returns the last block.
    fn last_block(self, blocks: Self::Four) -> OneBlock<Self>;

    /// Returns four copies of a block, after `steps` were added to the words of 32 bits at their starts.
    fn counters(self, fixed: OneBlock<Self>, steps: [u32; 4]) -> Self::Four;

    /// Adds to the word of 32 bits at the start of each block. The other bytes stay.
    fn add_to_counters(self, blocks: Self::Four, count: u32) -> Self::Four;

    /// Returns the low words of the first two blocks as a block, and those of the other two.
    fn low_words(self, blocks: Self::Four) -> [OneBlock<Self>; 2];

    /// Puts a block of two words at a position whose block is zero.
    fn with_words(self, blocks: Self::Four, at: usize, words: [u64; 2]) -> Self::Four;

    /// XORs a block into the first of four.
    fn xor_first(self, blocks: Self::Four, block: OneBlock<Self>) -> Self::Four;

    /// Returns the sum of the products of each block with its power of H in the field of GHASH. Only the first
    /// `count` blocks, one to four, can be other than zero.
    fn sum_of_products(self, blocks: Self::Four, count: usize, powers: &HashPowers) -> OneBlock<Self>;

    /// Returns for each position the sum of the products of the pairs at this position, in the field of POLYVAL.
    fn products<const N: usize>(self, pairs: [(Self::Four, Self::Four); N]) -> Self::Four;
}

/// One block of a CPU.
pub(crate) type OneBlock<S> = <<S as BlockSimd>::Single as SingleSimd>::Block;

/// H^4, H^3, H^2 and H for GHASH, and for each the sum of its words.
///
/// Sixty-four bytes from power `4 - n` on are the powers for n blocks. The blocks behind these n are zero, so it does
/// not matter by what they are multiplied.
#[derive(zeroize::Zeroize)]
#[repr(C, align(64))]
pub(crate) struct HashPowers {
    /// Four powers, four sums, and zeros so that every read of sixty-four bytes stays inside.
    bytes: [u8; 2 * FOUR_BLOCKS],
}

impl HashPowers {
    /// Returns zeros instead of powers.
    pub(crate) const fn empty() -> Self {
        Self { bytes: [0; 2 * FOUR_BLOCKS] }
    }

    /// Prefetches the cache lines of the powers and of the sums.
    #[inline(always)]
    pub(crate) fn prefetch<C: Cpu>(&self, cpu: C) {
        cpu.prefetch(&self.bytes[0]);
        cpu.prefetch(&self.bytes[FOUR_BLOCKS]);
    }

    /// Stores the power H^n and the sum of its words. `n` is one to four.
    pub(crate) fn set(&mut self, n: usize, power: &BlockBytes) {
        let at = first(n);
        self.bytes[BLOCK * at..][..BLOCK].copy_from_slice(power);
        let (words, _) = power.as_chunks::<8>();
        for (sum, (low, high)) in
            self.bytes[FOUR_BLOCKS + 8 * at..].iter_mut().zip(words[0].iter().zip(&words[1]))
        {
            *sum = low ^ high;
        }
    }

    /// Returns the powers for `count` blocks, one to four.
    #[inline(always)]
    pub(crate) fn powers(&self, count: usize) -> &[u8; FOUR_BLOCKS] {
        self.bytes[BLOCK * first(count)..].first_chunk().unwrap_or(&[0; FOUR_BLOCKS])
    }

    /// Returns the sums of the words of the powers for `count` blocks, eight bytes for each.
    #[inline(always)]
    pub(crate) fn sums(&self, count: usize) -> &[u8; FOUR_BLOCKS / 2] {
        self.bytes[FOUR_BLOCKS + 8 * first(count)..].first_chunk().unwrap_or(&[0; FOUR_BLOCKS / 2])
    }
}

/// Returns the position of the first power for `count` blocks. The mask proves to the compiler that it is in bounds.
#[inline(always)]
fn first(count: usize) -> usize {
    4_usize.wrapping_sub(count) & 3
}
