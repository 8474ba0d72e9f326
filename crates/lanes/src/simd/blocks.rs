//! Vectors as four blocks of 128 bits: rounds of AES and products of GHASH.
//!
//! The bytes of a block are in the order of the standard, the first lowest.

use super::{LANES, MulSimd};

/// The bytes of a block.
pub(crate) const BLOCK: usize = 16;

/// The bytes of a vector.
pub(crate) const VECTOR_BYTES: usize = 8 * LANES;

/// A CPU with rounds of AES and carry-less products, in each block of a vector by itself. All operations take the
/// same time for all values.
pub(crate) trait BlockSimd: MulSimd {
    /// Returns the same block four times.
    fn splat_block(self, block: &[u8; BLOCK]) -> Self::V;

    /// Returns the first block.
    fn first_block(self, blocks: Self::V) -> [u8; BLOCK];

    /// Keeps the first `len` bytes and clears the others.
    fn keep_prefix(self, blocks: Self::V, len: usize) -> Self::V;

    /// Moves the blocks up by one position. The last block of `before` becomes the first.
    fn blocks_after(self, blocks: Self::V, before: Self::V) -> Self::V;

    /// Returns the XOR of the four blocks as the first block, with zeros in the others.
    fn sum_of_blocks(self, blocks: Self::V) -> Self::V;

    /// Reverses the bytes of each block.
    fn reverse_blocks(self, blocks: Self::V) -> Self::V;

    /// Exchanges the words of each block.
    fn swap_words(self, blocks: Self::V) -> Self::V;

    /// Computes SubBytes, ShiftRows, MixColumns and AddRoundKey. FIPS 197 5.1.
    fn encrypt_round(self, blocks: Self::V, key: Self::V) -> Self::V;

    /// Computes the last round of encryption, without MixColumns.
    fn encrypt_last(self, blocks: Self::V, key: Self::V) -> Self::V;

    /// Computes InvSubBytes, InvShiftRows, InvMixColumns and AddRoundKey. FIPS 197 5.3.5, the equivalent inverse
    /// cipher.
    fn decrypt_round(self, blocks: Self::V, key: Self::V) -> Self::V;

    /// Computes the last round of decryption, without InvMixColumns.
    fn decrypt_last(self, blocks: Self::V, key: Self::V) -> Self::V;

    /// Multiplies a word of each block of `a` with a word of the same block of `b` over GF(2). Bit 0 of `WORDS`
    /// selects the high word of `a`, bit 4 the high word of `b`.
    fn multiply_words<const WORDS: i32>(self, a: Self::V, b: Self::V) -> Self::V;
}
