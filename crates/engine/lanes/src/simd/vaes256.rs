//! Rounds of AES and carry-less products on 256 bits, with AVX2, VAES and VPCLMULQDQ in addition to the features of
//! [`AesSimd`].
#![allow(unsafe_code, reason = "intrinsics are called here")]

use std::arch::x86_64::*;
use std::fmt;
use std::ops::BitXor;

use super::Cpu;
use super::aes_ni::{AesSimd, XmmBlock};
use super::blocks::{AesBlocks, BLOCK, BlockBytes, BlockSimd, FOUR_BLOCKS, HashPowers, SingleSimd};
use super::four::folded;
use super::partial::{crypt_blocks, load_blocks, store_blocks};
use crate::simd::Leaf;

/// A CPU with AVX2, VAES and VPCLMULQDQ in addition. [`VaesYmmSimd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct VaesYmmSimd(AesSimd);

/// Four blocks in two registers.
///
/// The field is private to this module, and every function that makes a `YmmBlocks` takes a [`VaesYmmSimd`] or another
/// `YmmBlocks`. So a `YmmBlocks` proves AVX2, VAES and VPCLMULQDQ.
#[derive(Clone, Copy)]
pub(crate) struct YmmBlocks([__m256i; 2]);

impl VaesYmmSimd {
    /// Splits a register into its blocks.
    #[inline(always)]
    fn halves(self, pair: __m256i) -> [XmmBlock; 2] {
        // SAFETY: `self` proves AVX2.
        let (low, high) = unsafe { (_mm256_castsi256_si128(pair), _mm256_extracti128_si256::<1>(pair)) };
        [self.0.block(low), self.0.block(high)]
    }

    /// Returns the sum of the blocks of a register.
    #[inline(always)]
    fn sum_of_pair(self, pair: __m256i) -> XmmBlock {
        let [low, high] = self.halves(pair);
        low ^ high
    }

    #[inline(always)]
    fn load_pair(self, bytes: &[u8; 2 * BLOCK]) -> __m256i {
        // SAFETY: `self` proves AVX; the reference is to 32 readable bytes, and the load may be unaligned.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store_pair(self, pair: __m256i, out: &mut [u8; 2 * BLOCK]) {
        // SAFETY: `self` proves AVX; the reference is to 32 writable bytes, and the store may be unaligned.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), pair) };
    }

    /// Returns the same block twice.
    #[inline(always)]
    fn twice(self, block: XmmBlock) -> __m256i {
        // SAFETY: `self` proves AVX2.
        unsafe { _mm256_broadcastsi128_si256(block.register()) }
    }

    /// Returns the sums of the products of the pairs in one register.
    #[inline(always)]
    fn product_of_half<const N: usize>(self, pairs: &[(YmmBlocks, YmmBlocks); N], half: usize) -> __m256i {
        // SAFETY: `self` proves AVX2 and VPCLMULQDQ.
        unsafe {
            let zero = _mm256_setzero_si256();
            let (mut low, mut middle, mut high) = (zero, zero, zero);
            for (YmmBlocks(a), YmmBlocks(b)) in pairs {
                let (a, b) = (a[half], b[half]);
                low = _mm256_xor_si256(low, _mm256_clmulepi64_epi128::<0x00>(a, b));
                high = _mm256_xor_si256(high, _mm256_clmulepi64_epi128::<0x11>(a, b));
                middle = _mm256_xor_si256(middle, _mm256_clmulepi64_epi128::<0x01>(a, b));
                middle = _mm256_xor_si256(middle, _mm256_clmulepi64_epi128::<0x10>(a, b));
            }
            let low = _mm256_xor_si256(low, _mm256_unpacklo_epi64(zero, middle));
            let high = _mm256_xor_si256(high, _mm256_unpackhi_epi64(middle, zero));
            let polynomial = _mm256_set1_epi64x(0xC200_0000_0000_0000_u64.cast_signed());
            // As in `folded`, for two blocks.
            let fold = |low| {
                let swapped = _mm256_shuffle_epi32::<0x4E>(low);
                _mm256_xor_si256(swapped, _mm256_clmulepi64_epi128::<0x00>(low, polynomial))
            };
            _mm256_xor_si256(high, fold(fold(low)))
        }
    }
}

impl Cpu for VaesYmmSimd {
    const LEAF: Leaf = Leaf::Vaes256;

    fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq");
        AesSimd::detect().filter(|_| has_all).map(Self)
    }

    #[inline(always)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves every feature that the function enables.
        unsafe { enter(body) }
    }

    #[inline(always)]
    fn prefetch<T>(self, line: &T) {
        self.0.prefetch(line);
    }

    fn clear_registers(self) {
        self.0.clear_registers();
    }
}

/// Runs a body for [`Cpu::call`]. Code that is inlined here is compiled with these features.
#[inline(never)]
#[target_feature(enable = "avx2,ssse3,sse4.1,aes,pclmulqdq,vaes,vpclmulqdq")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    body()
}

impl BlockSimd for VaesYmmSimd {
    type Single = AesSimd;
    type Four = YmmBlocks;

    const FOURS: usize = 4;
    const JOINS_KEYS: bool = true;

    #[inline(always)]
    fn single(self) -> AesSimd {
        self.0
    }

    #[inline(always)]
    fn splat_block(self, block: &BlockBytes) -> YmmBlocks {
        YmmBlocks([self.twice(self.0.load_block(block)); 2])
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> YmmBlocks {
        let Some(whole) = bytes.first_chunk::<FOUR_BLOCKS>() else {
            return self.join(load_blocks(self.0, bytes));
        };
        match whole.as_chunks() {
            ([low, high], _) => YmmBlocks([self.load_pair(low), self.load_pair(high)]),
            // unreachable by the lengths
            _ => self.splat_block(&[0; BLOCK]),
        }
    }

    #[inline(always)]
    fn store_prefix(self, blocks: YmmBlocks, out: &mut [u8]) {
        match out.first_chunk_mut::<FOUR_BLOCKS>() {
            Some(whole) => {
                if let (YmmBlocks([a, b]), ([low, high], _)) = (blocks, whole.as_chunks_mut()) {
                    self.store_pair(a, low);
                    self.store_pair(b, high);
                }
            }
            None => store_blocks(self.0, self.split(blocks), out),
        }
    }

    #[inline(always)]
    fn crypt_prefix(self, input: &[u8], stream: YmmBlocks, output: &mut [u8]) -> [YmmBlocks; 2] {
        if input.len() >= FOUR_BLOCKS {
            let piece = self.load_prefix(input);
            let result = piece ^ stream;
            self.store_prefix(result, output);
            return [piece, result];
        }
        let [input, output] = crypt_blocks(self.0, input, self.split(stream), output);
        [self.join(input), self.join(output)]
    }

    #[inline(always)]
    fn blocks_after(self, YmmBlocks([low, high]): YmmBlocks, before: &BlockBytes) -> YmmBlocks {
        let before = self.0.load_block(before);
        // SAFETY: `self` proves AVX2.
        unsafe {
            let first = _mm256_set_m128i(_mm256_castsi256_si128(low), before.register());
            YmmBlocks([first, _mm256_permute2x128_si256::<0x21>(low, high)])
        }
    }

    #[inline(always)]
    fn join(self, [a, b, c, d]: [XmmBlock; 4]) -> YmmBlocks {
        let pair = |low: XmmBlock, high: XmmBlock| {
            // SAFETY: `self` proves AVX.
            unsafe { _mm256_set_m128i(high.register(), low.register()) }
        };
        YmmBlocks([pair(a, b), pair(c, d)])
    }

    #[inline(always)]
    fn split(self, YmmBlocks([low, high]): YmmBlocks) -> [XmmBlock; 4] {
        let ([a, b], [c, d]) = (self.halves(low), self.halves(high));
        [a, b, c, d]
    }

    #[inline(always)]
    fn last_block(self, YmmBlocks([_, high]): YmmBlocks) -> XmmBlock {
        let [_, last] = self.halves(high);
        last
    }

    #[inline(always)]
    fn counters(self, fixed: XmmBlock, [a, b, c, d]: [u32; 4]) -> YmmBlocks {
        let fixed = self.twice(fixed);
        let added = |low: u32, high: u32| {
            let steps = [low.cast_signed(), 0, 0, 0, high.cast_signed(), 0, 0, 0];
            let [a, b, c, d, e, f, g, h] = steps;
            // SAFETY: `self` proves AVX2.
            unsafe { _mm256_add_epi32(fixed, _mm256_setr_epi32(a, b, c, d, e, f, g, h)) }
        };
        YmmBlocks([added(a, b), added(c, d)])
    }

    #[inline(always)]
    fn add_to_counters(self, blocks: YmmBlocks, count: u32) -> YmmBlocks {
        let step = self.twice(self.0.block_of_words([u64::from(count), 0]));
        blocks.each(
            #[inline(always)]
            |pair| {
                // SAFETY: `self` proves AVX2.
                unsafe { _mm256_add_epi32(pair, step) }
            },
        )
    }

    #[inline(always)]
    fn low_words(self, YmmBlocks([low, high]): YmmBlocks) -> [XmmBlock; 2] {
        // SAFETY: `self` proves AVX2. The words of both registers alternate, so that two exchange places.
        let words = unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpacklo_epi64(low, high)) };
        self.halves(words)
    }

    #[inline(always)]
    fn with_words(self, YmmBlocks(pairs): YmmBlocks, at: usize, words: [u64; 2]) -> YmmBlocks {
        let block = self.twice(self.0.block_of_words(words));
        // SAFETY: `self` proves AVX2.
        unsafe {
            let position = _mm256_set1_epi64x(at as i64);
            let low = _mm256_cmpeq_epi64(_mm256_setr_epi64x(0, 0, 1, 1), position);
            let high = _mm256_cmpeq_epi64(_mm256_setr_epi64x(2, 2, 3, 3), position);
            YmmBlocks(pairs) ^ YmmBlocks([_mm256_and_si256(block, low), _mm256_and_si256(block, high)])
        }
    }

    #[inline(always)]
    fn xor_first(self, YmmBlocks([low, high]): YmmBlocks, block: XmmBlock) -> YmmBlocks {
        // SAFETY: `self` proves AVX2.
        let low = unsafe { _mm256_xor_si256(low, _mm256_zextsi128_si256(block.register())) };
        YmmBlocks([low, high])
    }

    #[inline(always)]
    fn sum_of_products(self, blocks: YmmBlocks, count: usize, powers: &HashPowers) -> XmmBlock {
        let YmmBlocks([ab, cd]) = blocks;
        let YmmBlocks([pq, rs]) = self.load_prefix(powers.powers(count));
        let sums = self.load_pair(powers.sums(count));
        // SAFETY: `self` proves AVX2 and VPCLMULQDQ.
        unsafe {
            let low = _mm256_xor_si256(
                _mm256_clmulepi64_epi128::<0x00>(ab, pq),
                _mm256_clmulepi64_epi128::<0x00>(cd, rs),
            );
            let high = _mm256_xor_si256(
                _mm256_clmulepi64_epi128::<0x11>(ab, pq),
                _mm256_clmulepi64_epi128::<0x11>(cd, rs),
            );
            // The sums of the words of blocks 0 and 2 in one half, and of 1 and 3 in the other: Karatsuba needs one
            // product for the middle. The sums of the powers come into the same order.
            let words = _mm256_xor_si256(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
            let sums = _mm256_permute4x64_epi64::<0b11_01_10_00>(sums);
            let middle = _mm256_xor_si256(
                _mm256_clmulepi64_epi128::<0x00>(words, sums),
                _mm256_clmulepi64_epi128::<0x11>(words, sums),
            );
            folded(self.0, self.sum_of_pair(low), self.sum_of_pair(middle), self.sum_of_pair(high))
        }
    }

    #[inline(always)]
    fn products<const N: usize>(self, pairs: [(YmmBlocks, YmmBlocks); N]) -> YmmBlocks {
        YmmBlocks([self.product_of_half(&pairs, 0), self.product_of_half(&pairs, 1)])
    }
}

impl YmmBlocks {
    #[inline(always)]
    fn each(self, f: impl Fn(__m256i) -> __m256i) -> Self {
        let Self([a, b]) = self;
        Self([f(a), f(b)])
    }

    /// Moves the bytes of every block. `moves` has the index of each byte, or a negative number for zero.
    #[inline(always)]
    fn moved(self, moves: [i32; 4]) -> Self {
        let [a, b, c, d] = moves;
        // SAFETY: `self` proves AVX2. The indices count within each block.
        let indices = unsafe { _mm256_broadcastsi128_si256(_mm_setr_epi32(a, b, c, d)) };
        self.each(
            #[inline(always)]
            |pair| {
                // SAFETY: `self` proves AVX2.
                unsafe { _mm256_shuffle_epi8(pair, indices) }
            },
        )
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(__m256i, __m256i) -> __m256i) -> Self {
        let (Self([a, b]), Self([c, d])) = (self, other);
        Self([f(a, c), f(b, d)])
    }
}

impl AesBlocks for YmmBlocks {
    #[inline(always)]
    fn encrypt_round(self, key: Self) -> Self {
        self.zip(
            key,
            #[inline(always)]
            |blocks, key| {
                // SAFETY: `self` proves VAES and AVX2.
                unsafe { _mm256_aesenc_epi128(blocks, key) }
            },
        )
    }

    #[inline(always)]
    fn encrypt_last(self, key: Self) -> Self {
        self.zip(
            key,
            #[inline(always)]
            |blocks, key| {
                // SAFETY: `self` proves VAES and AVX2.
                unsafe { _mm256_aesenclast_epi128(blocks, key) }
            },
        )
    }

    #[inline(always)]
    fn decrypt_round(self, key: Self) -> Self {
        self.zip(
            key,
            #[inline(always)]
            |blocks, key| {
                // SAFETY: `self` proves VAES and AVX2.
                unsafe { _mm256_aesdec_epi128(blocks, key) }
            },
        )
    }

    #[inline(always)]
    fn decrypt_last(self, key: Self) -> Self {
        self.zip(
            key,
            #[inline(always)]
            |blocks, key| {
                // SAFETY: `self` proves VAES and AVX2.
                unsafe { _mm256_aesdeclast_epi128(blocks, key) }
            },
        )
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        self.moved([0x0C0D_0E0F, 0x0809_0A0B, 0x0405_0607, 0x0001_0203])
    }

    #[inline(always)]
    fn masked(self, mask: Self) -> Self {
        self.zip(
            mask,
            #[inline(always)]
            |blocks, mask| {
                // SAFETY: `self` proves AVX2.
                unsafe { _mm256_and_si256(blocks, mask) }
            },
        )
    }

    #[inline(always)]
    fn last_words<const ROTATES: bool>(self) -> Self {
        self.moved([if ROTATES { 0x0C0F_0E0D } else { 0x0F0E_0D0C }; 4])
    }

    #[inline(always)]
    fn word_sums(self) -> Self {
        let shifted = self.each(
            #[inline(always)]
            |pair| {
                // SAFETY: `self` proves AVX2.
                unsafe { _mm256_slli_epi64::<32>(pair) }
            },
        );
        let pairs = self ^ shifted;
        // The sum of the lower two words goes to the upper two.
        pairs ^ pairs.moved([-1, -1, 0x0706_0504, 0x0706_0504])
    }
}

impl BitXor for YmmBlocks {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.zip(
            other,
            #[inline(always)]
            |a, b| {
                // SAFETY: `self` proves AVX2.
                unsafe { _mm256_xor_si256(a, b) }
            },
        )
    }
}

impl fmt::Debug for VaesYmmSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VAES on 256 bits")
    }
}

/// Prints no bytes, which can be secret.
impl fmt::Debug for YmmBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ymm")
    }
}
