//! AES and GHASH in plain Rust. The S-box is arithmetic in GF(2^8) on planes of bits: slow, but without tables and
//! branches.

use std::ops::BitXor;

use super::{PortableSimd, PortableVector};
use crate::simd::{
    AesBlocks, BLOCK, BlockBytes, BlockSimd, FOUR_BLOCKS, HashPowers, LANES, Simd, SingleSimd, Vector, Words,
};

/// A block as two little-endian words, the lower word first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableBlock([u64; 2]);

impl SingleSimd for PortableSimd {
    type Block = PortableBlock;

    fn load_block(self, bytes: &BlockBytes) -> PortableBlock {
        self.load_block_at(bytes, 0)
    }

    fn block_of_words(self, words: [u64; 2]) -> PortableBlock {
        PortableBlock(words)
    }

    fn load_block_at(self, bytes: &[u8], start: usize) -> PortableBlock {
        let rest = bytes.get(start..).unwrap_or_default();
        PortableBlock::first_of(Simd::load_prefix(self, &rest[..rest.len().min(BLOCK)]))
    }

    fn load_padded_at(self, bytes: &[u8], start: usize) -> PortableBlock {
        let mut block = [0; BLOCK];
        let rest = bytes.get(start..).unwrap_or_default().iter().chain(&[0x80]);
        block.iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
        self.load_block(&block)
    }

    fn store_block(self, block: PortableBlock, out: &mut BlockBytes) {
        self.store_block_prefix(block, out);
    }

    fn store_block_prefix(self, block: PortableBlock, out: &mut [u8]) {
        let len = out.len().min(BLOCK);
        block.widened().store_prefix(&mut out[..len]);
    }

    fn differ(self, a: PortableBlock, b: PortableBlock, len: usize) -> bool {
        bytes_of((a ^ b).widened()).iter().take(len).fold(0, |all, byte| all | byte) != 0
    }

    fn add_to_counter(self, block: PortableBlock, count: u32) -> PortableBlock {
        let [low, high] = block.0;
        PortableBlock([(low >> 32) << 32 | u64::from((low as u32).wrapping_add(count)), high])
    }
}

impl BlockSimd for PortableSimd {
    type Single = Self;
    type Four = PortableVector;

    const FOURS: usize = 2;
    const JOINS_KEYS: bool = true;

    fn single(self) -> Self {
        self
    }

    fn splat_block(self, block: &BlockBytes) -> PortableVector {
        self.load_bytes(&std::array::from_fn(|at| block[at % BLOCK]))
    }

    fn load_prefix(self, bytes: &[u8]) -> PortableVector {
        Simd::load_prefix(self, bytes)
    }

    fn store_prefix(self, blocks: PortableVector, out: &mut [u8]) {
        blocks.store_prefix(out);
    }

    fn crypt_prefix(self, input: &[u8], stream: PortableVector, output: &mut [u8]) -> [PortableVector; 2] {
        let piece = Simd::load_prefix(self, input);
        (piece ^ stream).store_prefix(output);
        [piece, Simd::load_prefix(self, output)]
    }

    fn blocks_after(self, blocks: PortableVector, before: &BlockBytes) -> PortableVector {
        let (PortableBlock([low, high]), blocks) = (self.load_block(before), blocks.0);
        PortableVector([low, high, blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], blocks[5]])
    }

    fn join(self, blocks: [PortableBlock; 4]) -> PortableVector {
        PortableVector(std::array::from_fn(|at| blocks[at / 2].0[at % 2]))
    }

    fn split(self, blocks: PortableVector) -> [PortableBlock; 4] {
        std::array::from_fn(|at| PortableBlock([blocks.0[2 * at], blocks.0[2 * at + 1]]))
    }

    fn last_block(self, blocks: PortableVector) -> PortableBlock {
        PortableBlock([blocks.0[6], blocks.0[7]])
    }

    fn counters(self, fixed: PortableBlock, steps: [u32; 4]) -> PortableVector {
        let blocks = steps.map(|step| self.add_to_counter(fixed, step).0);
        PortableVector(std::array::from_fn(|at| blocks[at / 2][at % 2]))
    }

    fn add_to_counters(self, blocks: PortableVector, count: u32) -> PortableVector {
        self.join(self.split(blocks).map(|block| self.add_to_counter(block, count)))
    }

    fn low_words(self, blocks: PortableVector) -> [PortableBlock; 2] {
        let [a, _, b, _, c, _, d, _] = blocks.0;
        [PortableBlock([a, b]), PortableBlock([c, d])]
    }

    fn with_words(self, blocks: PortableVector, at: usize, words: [u64; 2]) -> PortableVector {
        let mut all = blocks.0;
        all[2 * at..2 * at + 2].copy_from_slice(&words);
        PortableVector(all)
    }

    fn xor_first(self, blocks: PortableVector, block: PortableBlock) -> PortableVector {
        blocks ^ block.widened()
    }

    #[inline(never)]
    fn sum_of_products(self, blocks: PortableVector, count: usize, powers: &HashPowers) -> PortableBlock {
        let powers = self.load_bytes(powers.powers(count));
        let product = product(blocks, powers).0;
        let sum = |word: usize| product.iter().skip(word).step_by(2).fold(0, |sum, word| sum ^ word);
        PortableBlock([sum(0), sum(1)])
    }

    #[inline(never)]
    fn products<const N: usize>(self, pairs: [(PortableVector, PortableVector); N]) -> PortableVector {
        let products = pairs.into_iter().map(|(a, b)| product(a, b));
        products.fold(self.splat_block(&[0; BLOCK]), BitXor::bitxor)
    }
}

impl PortableBlock {
    /// Returns the block, followed by zeros.
    fn widened(self) -> PortableVector {
        let [low, high] = self.0;
        PortableVector([low, high, 0, 0, 0, 0, 0, 0])
    }

    /// Returns the first of four blocks.
    fn first_of(blocks: PortableVector) -> Self {
        Self([blocks.0[0], blocks.0[1]])
    }
}

impl AesBlocks for PortableBlock {
    fn encrypt_round(self, key: Self) -> Self {
        Self::first_of(self.widened().encrypt_round(key.widened()))
    }

    fn encrypt_last(self, key: Self) -> Self {
        Self::first_of(self.widened().encrypt_last(key.widened()))
    }

    fn decrypt_round(self, key: Self) -> Self {
        Self::first_of(self.widened().decrypt_round(key.widened()))
    }

    fn decrypt_last(self, key: Self) -> Self {
        Self::first_of(self.widened().decrypt_last(key.widened()))
    }

    fn reversed(self) -> Self {
        Self::first_of(self.widened().reversed())
    }

    fn masked(self, mask: Self) -> Self {
        Self::first_of(self.widened().masked(mask.widened()))
    }

    fn last_words<const ROTATES: bool>(self) -> Self {
        Self::first_of(self.widened().last_words::<ROTATES>())
    }

    fn word_sums(self) -> Self {
        Self::first_of(self.widened().word_sums())
    }
}

impl BitXor for PortableBlock {
    type Output = Self;

    fn bitxor(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] ^ other.0[word]))
    }
}

impl AesBlocks for PortableVector {
    #[inline(never)]
    fn encrypt_round(self, key: Self) -> Self {
        mix_columns(shift_rows(substitute(self), 1)) ^ key
    }

    #[inline(never)]
    fn encrypt_last(self, key: Self) -> Self {
        shift_rows(substitute(self), 1) ^ key
    }

    /// Applies MixColumns three times, which is InvMixColumns: the polynomial of FIPS 197 has order four.
    #[inline(never)]
    fn decrypt_round(self, key: Self) -> Self {
        let columns = shift_rows(substitute_inverse(self), 3);
        mix_columns(mix_columns(mix_columns(columns))) ^ key
    }

    #[inline(never)]
    fn decrypt_last(self, key: Self) -> Self {
        shift_rows(substitute_inverse(self), 3) ^ key
    }

    fn reversed(self) -> Self {
        swap_words(Self(self.0.map(u64::swap_bytes)))
    }

    fn masked(self, mask: Self) -> Self {
        self & mask
    }

    fn last_words<const ROTATES: bool>(self) -> Self {
        let last = |block: usize| {
            let word = (self.0[2 * block + 1] >> 32) as u32;
            // RotWord turns by one byte towards the front, which is a right rotation of a little-endian word.
            let word = u64::from(word.rotate_right(if ROTATES { 8 } else { 0 }));
            word << 32 | word
        };
        Self(std::array::from_fn(|at| last(at / 2)))
    }

    fn word_sums(self) -> Self {
        let pairs = self.0.map(|word| word ^ word << 32);
        let carried = |at: usize| if at % 2 == 1 { pairs[at - 1] >> 32 } else { 0 };
        Self(std::array::from_fn(|at| pairs[at] ^ carried(at) ^ carried(at) << 32))
    }
}

/// Exchanges the words of each block.
fn swap_words(blocks: PortableVector) -> PortableVector {
    PortableVector(std::array::from_fn(|at| blocks.0[at ^ 1]))
}

/// Computes a b x^-128 in every block: four products of words, and two foldings of the low half into the high one.
fn product(a: PortableVector, b: PortableVector) -> PortableVector {
    let word = |block: usize, of_a: usize, of_b: usize| product_of(a.0[block + of_a], b.0[block + of_b]);
    let fold = |low: u128| low.rotate_left(64) ^ product_of(low as u64, 0xC200_0000_0000_0000);
    let mut all: Words = [0; LANES];
    for block in [0, 2, 4, 6] {
        let middle = word(block, 0, 1) ^ word(block, 1, 0);
        let (low, high) = (word(block, 0, 0) ^ middle << 64, word(block, 1, 1) ^ middle >> 64);
        let whole = high ^ fold(fold(low));
        (all[block], all[block + 1]) = (whole as u64, (whole >> 64) as u64);
    }
    PortableVector(all)
}

fn bytes_of(blocks: PortableVector) -> [u8; FOUR_BLOCKS] {
    std::array::from_fn(|at| (blocks.0[at / 8] >> (8 * (at % 8))) as u8)
}

/// Multiplies two polynomials over GF(2).
fn product_of(a: u64, b: u64) -> u128 {
    (0..64).fold(0, |sum, bit| sum ^ ((u128::from(a) << bit) & u128::from(b >> bit & 1).wrapping_neg()))
}

/// Planes of sixty-four bytes: word `i` has bit `i` of every byte.
type Planes = [u64; 8];

/// Computes SubBytes: the inverse in GF(2^8), then an affine map. FIPS 197 5.1.1.
fn substitute(blocks: PortableVector) -> PortableVector {
    let inverse = inverse(planes_of(blocks.0));
    let rotated = |at: usize| (0..5).fold(0, |sum, by| sum ^ inverse[(at + 8 - by) % 8]);
    let planes = std::array::from_fn(|at| rotated(at) ^ constant(0x63, at));
    PortableVector(planes_of_planes(planes))
}

/// Computes InvSubBytes: the inverse of the affine map, then the inverse in GF(2^8). FIPS 197 5.3.2.
fn substitute_inverse(blocks: PortableVector) -> PortableVector {
    let planes = planes_of(blocks.0);
    let rotated = |at: usize| planes[(at + 2) % 8] ^ planes[(at + 5) % 8] ^ planes[(at + 7) % 8];
    let planes = std::array::from_fn(|at| rotated(at) ^ constant(0x05, at));
    PortableVector(planes_of_planes(inverse(planes)))
}

/// Returns a bit of a constant for every byte.
fn constant(byte: u64, bit: usize) -> u64 {
    (byte >> bit & 1).wrapping_neg()
}

/// Computes the inverse in GF(2^8) as the 254th power, which maps zero to zero.
fn inverse(x: Planes) -> Planes {
    let square = |x: Planes| multiply(x, x);
    let x3 = multiply(square(x), x);
    let x12 = square(square(x3));
    let x15 = multiply(x12, x3);
    let x240 = square(square(square(square(x15))));
    multiply(multiply(x240, x12), square(x))
}

/// Multiplies in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1. FIPS 197 4.2.
fn multiply(a: Planes, b: Planes) -> Planes {
    let mut product = [0; 15];
    for (at, one) in a.iter().enumerate() {
        for (by, two) in b.iter().enumerate() {
            product[at + by] ^= one & two;
        }
    }
    for at in (8..15).rev() {
        for below in [8, 7, 5, 4] {
            product[at - below] ^= product[at];
        }
    }
    std::array::from_fn(|at| product[at])
}

/// Turns eight words of eight bytes into planes: byte `w` of plane `i` has bit `i` of the bytes of word `w`.
fn planes_of(words: Words) -> Planes {
    transpose_bytes(words.map(transpose_bits))
}

/// Turns planes back into words.
fn planes_of_planes(planes: Planes) -> Words {
    transpose_bytes(planes).map(transpose_bits)
}

/// Transposes bytes: byte `i` of word `j` becomes byte `j` of word `i`.
fn transpose_bytes(words: Words) -> Words {
    std::array::from_fn(|to| {
        words.iter().enumerate().fold(0, |word, (at, from)| word | (from >> (8 * to) & 0xFF) << (8 * at))
    })
}

/// Transposes bits: bit `i` of byte `j` becomes bit `j` of byte `i`.
fn transpose_bits(word: u64) -> u64 {
    let swap = |word: u64, by: u32, mask: u64| {
        let changed = (word ^ word >> by) & mask;
        word ^ changed ^ changed << by
    };
    let word = swap(word, 7, 0x00AA_00AA_00AA_00AA);
    swap(swap(word, 14, 0x0000_CCCC_0000_CCCC), 28, 0x0000_0000_F0F0_F0F0)
}

/// Moves row r of each block by `columns` r columns to the left: 1 is ShiftRows, 3 is InvShiftRows. FIPS 197 5.1.2.
fn shift_rows(blocks: PortableVector, columns: usize) -> PortableVector {
    let bytes = bytes_of(blocks);
    let from = |at: usize| at / BLOCK * BLOCK + (at + 4 * columns * (at % 4)) % BLOCK;
    PortableSimd.load_bytes(&std::array::from_fn(|at| bytes[from(at)]))
}

/// Multiplies each column by {03}x^3 + {01}x^2 + {01}x + {02}. FIPS 197 5.1.3.
fn mix_columns(blocks: PortableVector) -> PortableVector {
    PortableVector(blocks.0.map(|word| {
        let turned = |rows: u32| {
            let half = |half: u64| u64::from((half as u32).rotate_right(8 * rows));
            half(word) | half(word >> 32) << 32
        };
        let changed = word ^ turned(1);
        let high_changed = changed >> 7 & 0x0101_0101_0101_0101;
        let doubled = ((changed & !0x8080_8080_8080_8080) << 1) ^ (high_changed * 0x1B);
        // Uses 2a + 3b + c + d = 2 (a + b) + b + c + d.
        doubled ^ turned(1) ^ turned(2) ^ turned(3)
    }))
}

#[cfg(test)]
mod tests;
