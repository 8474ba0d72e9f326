//! Vectors as four blocks of 128 bits: rounds of AES and products of GHASH.
//!
//! Bytes of a block lie as the standard numbers them, the first lowest.

use super::{LANES, Simd};

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;

/// Bytes of a vector.
pub(crate) const VECTOR_BYTES: usize = 8 * LANES;

/// A CPU with rounds of AES and carry-less products, in each block of a vector by itself. All take the same time whatever the
/// values.
pub(crate) trait BlockSimd: Simd {
    /// The same block four times.
    fn splat_block(self, block: &[u8; BLOCK]) -> Self::V;

    /// The first block.
    fn first_block(self, blocks: Self::V) -> [u8; BLOCK];

    /// The leading bytes, as many as `len` says, and zeros behind.
    fn keep_prefix(self, blocks: Self::V, len: usize) -> Self::V;

    /// The blocks one place up, behind the last block of `before`.
    fn blocks_after(self, blocks: Self::V, before: Self::V) -> Self::V;

    /// The sum (XOR) of the four blocks as the first one, and zeros behind.
    fn sum_of_blocks(self, blocks: Self::V) -> Self::V;

    /// The bytes of each block in reverse order.
    fn reverse_blocks(self, blocks: Self::V) -> Self::V;

    /// The words of each block in reverse order.
    fn swap_words(self, blocks: Self::V) -> Self::V;

    /// SubBytes, ShiftRows, MixColumns, AddRoundKey. FIPS 197 5.1.
    fn encrypt_round(self, blocks: Self::V, key: Self::V) -> Self::V;

    /// The last round: the same without MixColumns.
    fn encrypt_last(self, blocks: Self::V, key: Self::V) -> Self::V;

    /// InvSubBytes, InvShiftRows, InvMixColumns, AddRoundKey. FIPS 197 5.3.5, the equivalent inverse cipher.
    fn decrypt_round(self, blocks: Self::V, key: Self::V) -> Self::V;

    /// The last round: the same without InvMixColumns.
    fn decrypt_last(self, blocks: Self::V, key: Self::V) -> Self::V;

    /// The product over GF(2) of a word of each block of `a` and one of `b`: bit 0 of `WORDS` chooses the high word of `a`, bit 4
    /// that of `b`.
    fn multiply_words<const WORDS: i32>(self, a: Self::V, b: Self::V) -> Self::V;
}
