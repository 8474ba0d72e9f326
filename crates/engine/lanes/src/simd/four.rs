//! Four blocks in four registers, for leaves with one block in a register.

use std::ops::BitXor;

use super::blocks::{AesBlocks, BlockBytes, BlockSimd, HashPowers, SingleSimd};
use super::partial::{BlockRegister, crypt_blocks, load_blocks, store_blocks};

/// A CPU whose registers hold one block. It has [`BlockSimd`] too.
pub(super) trait RegisterSimd: SingleSimd<Block: BlockRegister> {
    /// As [`BlockSimd::FOURS`].
    const FOURS: usize;
}

/// Four blocks in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FourRegisters<B>([B; 4]);

impl<S: RegisterSimd> BlockSimd for S {
    type Single = S;
    type Four = FourRegisters<S::Block>;

    const FOURS: usize = S::FOURS;
    const JOINS_KEYS: bool = false;

    #[inline(always)]
    fn single(self) -> S {
        self
    }

    #[inline(always)]
    fn splat_block(self, block: &BlockBytes) -> Self::Four {
        FourRegisters([self.load_block(block); 4])
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> Self::Four {
        FourRegisters(load_blocks(self, bytes))
    }

    #[inline(always)]
    fn store_prefix(self, blocks: Self::Four, out: &mut [u8]) {
        store_blocks(self, blocks.0, out);
    }

    #[inline(always)]
    fn crypt_prefix(self, input: &[u8], stream: Self::Four, output: &mut [u8]) -> [Self::Four; 2] {
        crypt_blocks(self, input, stream.0, output).map(FourRegisters)
    }

    #[inline(always)]
    fn blocks_after(self, FourRegisters([a, b, c, _]): Self::Four, before: &BlockBytes) -> Self::Four {
        FourRegisters([self.load_block(before), a, b, c])
    }

    #[inline(always)]
    fn join(self, blocks: [S::Block; 4]) -> Self::Four {
        FourRegisters(blocks)
    }

    #[inline(always)]
    fn split(self, blocks: Self::Four) -> [S::Block; 4] {
        blocks.0
    }

    #[inline(always)]
    fn last_block(self, blocks: Self::Four) -> S::Block {
        blocks.0[3]
    }

    #[inline(always)]
    fn counters(self, fixed: S::Block, [a, b, c, d]: [u32; 4]) -> Self::Four {
        let [a, b] = [self.add_to_counter(fixed, a), self.add_to_counter(fixed, b)];
        let [c, d] = [self.add_to_counter(fixed, c), self.add_to_counter(fixed, d)];
        FourRegisters([a, b, c, d])
    }

    #[inline(always)]
    fn add_to_counters(self, FourRegisters([a, b, c, d]): Self::Four, count: u32) -> Self::Four {
        let [a, b] = [self.add_to_counter(a, count), self.add_to_counter(b, count)];
        let [c, d] = [self.add_to_counter(c, count), self.add_to_counter(d, count)];
        FourRegisters([a, b, c, d])
    }

    #[inline(always)]
    fn low_words(self, FourRegisters([a, b, c, d]): Self::Four) -> [S::Block; 2] {
        [a.low_words(b), c.low_words(d)]
    }

    #[inline(always)]
    fn with_words(self, blocks: Self::Four, at: usize, words: [u64; 2]) -> Self::Four {
        let block = self.block_of_words(words);
        let FourRegisters([a, b, c, d]) = blocks;
        FourRegisters(match at {
            0 => [block, b, c, d],
            1 => [a, block, c, d],
            2 => [a, b, block, d],
            _ => [a, b, c, block],
        })
    }

    #[inline(always)]
    fn xor_first(self, FourRegisters([a, b, c, d]): Self::Four, block: S::Block) -> Self::Four {
        FourRegisters([a ^ block, b, c, d])
    }

    #[inline(always)]
    fn sum_of_products(self, blocks: Self::Four, count: usize, powers: &HashPowers) -> S::Block {
        let FourRegisters([a, b, c, d]) = blocks;
        let [p, q, r, s] = load_blocks(self, powers.powers(count));
        let [pq, rs, ..] = load_blocks(self, powers.sums(count));
        let low = (a.low_product(p) ^ b.low_product(q)) ^ (c.low_product(r) ^ d.low_product(s));
        let high = (a.high_product(p) ^ b.high_product(q)) ^ (c.high_product(r) ^ d.high_product(s));
        // The sums of the words of two blocks in one register: Karatsuba needs one product for the middle.
        let (ab, cd) = (a.low_words(b) ^ a.high_words(b), c.low_words(d) ^ c.high_words(d));
        let middle = (ab.low_product(pq) ^ ab.high_product(pq)) ^ (cd.low_product(rs) ^ cd.high_product(rs));
        folded(self, low, middle, high)
    }

    #[inline(always)]
    fn products<const N: usize>(self, pairs: [(Self::Four, Self::Four); N]) -> Self::Four {
        // One position after the other, because the sums of all four would not fit the registers.
        let (a, b) = (product_at(self, &pairs, 0), product_at(self, &pairs, 1));
        let (c, d) = (product_at(self, &pairs, 2), product_at(self, &pairs, 3));
        FourRegisters([a, b, c, d])
    }
}

/// Two factors of a product.
type FourPair<S> = (FourRegisters<<S as SingleSimd>::Block>, FourRegisters<<S as SingleSimd>::Block>);

/// Returns the sum of the products of the pairs at one position.
#[inline(always)]
fn product_at<S: SingleSimd<Block: BlockRegister>, const N: usize>(
    simd: S,
    pairs: &[FourPair<S>; N],
    at: usize,
) -> S::Block {
    let zero = simd.block_of_words([0; 2]);
    let (mut low, mut middle, mut high) = (zero, zero, zero);
    for (FourRegisters(a), FourRegisters(b)) in pairs {
        let exchanged = b[at].exchanged_words();
        low = low ^ a[at].low_product(b[at]);
        high = high ^ a[at].high_product(b[at]);
        middle = middle ^ (a[at].low_product(exchanged) ^ a[at].high_product(exchanged));
    }
    folded(simd, low, middle ^ (low ^ high), high)
}

/// Reduces the sum of products whose halves are `low` and `high`. `middle` is the sum of the products of the sums of
/// words.
#[inline(always)]
pub(super) fn folded<S: SingleSimd<Block: BlockRegister>>(
    simd: S,
    low: S::Block,
    middle: S::Block,
    high: S::Block,
) -> S::Block {
    let zero = simd.block_of_words([0; 2]);
    let polynomial = simd.block_of_words([0xC200_0000_0000_0000; 2]);
    let middle = middle ^ (low ^ high);
    let low = low ^ zero.low_words(middle);
    let high = high ^ middle.high_words(zero);
    high ^ fold(fold(low, polynomial), polynomial)
}

/// Clears the 64 lowest bits by adding a multiple of the polynomial, and exchanges the words.
#[inline(always)]
fn fold<B: BlockRegister>(low: B, polynomial: B) -> B {
    low.exchanged_words() ^ low.low_product(polynomial)
}

impl<B: AesBlocks> FourRegisters<B> {
    #[inline(always)]
    fn each(self, f: impl Fn(B) -> B) -> Self {
        let Self([a, b, c, d]) = self;
        Self([f(a), f(b), f(c), f(d)])
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(B, B) -> B) -> Self {
        let (Self([a, b, c, d]), Self([p, q, r, s])) = (self, other);
        Self([f(a, p), f(b, q), f(c, r), f(d, s)])
    }
}

impl<B: AesBlocks> AesBlocks for FourRegisters<B> {
    const ADDS_KEYS_FIRST: bool = B::ADDS_KEYS_FIRST;

    #[inline(always)]
    fn encrypt_round(self, key: Self) -> Self {
        self.zip(key, B::encrypt_round)
    }

    #[inline(always)]
    fn encrypt_last(self, key: Self) -> Self {
        self.zip(key, B::encrypt_last)
    }

    #[inline(always)]
    fn decrypt_round(self, key: Self) -> Self {
        self.zip(key, B::decrypt_round)
    }

    #[inline(always)]
    fn decrypt_last(self, key: Self) -> Self {
        self.zip(key, B::decrypt_last)
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        self.each(B::reversed)
    }

    #[inline(always)]
    fn masked(self, mask: Self) -> Self {
        self.zip(mask, B::masked)
    }

    #[inline(always)]
    fn last_words<const ROTATES: bool>(self) -> Self {
        self.each(B::last_words::<ROTATES>)
    }

    #[inline(always)]
    fn word_sums(self) -> Self {
        self.each(B::word_sums)
    }
}

impl<B: AesBlocks> BitXor for FourRegisters<B> {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.zip(other, B::bitxor)
    }
}
