//! Rounds of AES and carry-less products on 512 bits, with VAES and VPCLMULQDQ in addition to the features of
//! [`IfmaSimd`].
#![allow(unsafe_code, reason = "intrinsics are called here")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::BitXor;

use super::aes_ni::{AesSimd, XmmBlock};
use super::blocks::{AesBlocks, BlockBytes, BlockSimd, HashPowers};
use super::ifma::{FrameAligner, prefix_mask};
use super::{BlindMulVector, BlindSimd, Cpu, IfmaSimd, Simd, Vector};
use crate::simd::Leaf;

/// A CPU with VAES and VPCLMULQDQ in addition. [`VaesSimd::detect`] is the only constructor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VaesSimd {
    ifma: IfmaSimd,
    aes: AesSimd,
}

/// Four blocks in a register.
///
/// The field is private to this module, and every function that makes a `ZmmBlocks` takes a [`VaesSimd`] or another
/// `ZmmBlocks`. So a `ZmmBlocks` proves the features of a [`VaesSimd`].
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct ZmmBlocks(__m512i);

/// The mask of the high word of every block.
const ODD: u8 = 0b1010_1010;

impl Cpu for VaesSimd {
    const LEAF: Leaf = Leaf::Vaes512;

    fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("vaes") && is_x86_feature_detected!("vpclmulqdq");
        let tokens = IfmaSimd::detect().zip(AesSimd::detect()).filter(|_| has_all);
        tokens.map(|(ifma, aes)| Self { ifma, aes })
    }

    #[inline(always)]
    fn prefetch<T>(self, line: &T) {
        self.ifma.prefetch(line);
    }

    #[inline(always)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves every feature that the function enables.
        unsafe { enter(body) }
    }

    fn clear_registers(self) {
        self.ifma.clear_registers();
    }
}

/// Runs a body as the function of the same name in `ifma` does, with the features of this module too.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512bw,avx512dq,avx512vbmi,bmi1,bmi2")]
#[target_feature(enable = "aes,vaes,pclmulqdq,vpclmulqdq")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    let mut line = MaybeUninit::<FrameAligner>::uninit();
    // SAFETY: nothing is done with the address.
    unsafe { asm!("/* {} */", in(reg) line.as_mut_ptr(), options(readonly, nostack, preserves_flags)) };
    body()
}

impl BlockSimd for VaesSimd {
    type Single = AesSimd;
    type Four = ZmmBlocks;

    const FOURS: usize = 8;
    const JOINS_KEYS: bool = true;

    #[inline(always)]
    fn single(self) -> AesSimd {
        self.aes
    }

    #[inline(always)]
    fn splat_block(self, block: &BlockBytes) -> ZmmBlocks {
        // SAFETY: `self` proves AVX-512F; the reference is to 16 readable bytes, and the load may be unaligned.
        ZmmBlocks(unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(block.as_ptr().cast())) })
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> ZmmBlocks {
        ZmmBlocks(self.ifma.load_prefix(bytes).register())
    }

    #[inline(always)]
    fn store_prefix(self, blocks: ZmmBlocks, out: &mut [u8]) {
        self.ifma.vector(blocks.0).store_prefix(out);
    }

    #[inline(always)]
    fn crypt_prefix(self, input: &[u8], stream: ZmmBlocks, output: &mut [u8]) -> [ZmmBlocks; 2] {
        let piece = self.load_prefix(input);
        // SAFETY: `self` proves AVX-512BW.
        let kept = unsafe { _mm512_maskz_mov_epi8(prefix_mask(input.len()), (piece ^ stream).0) };
        self.store_prefix(ZmmBlocks(kept), output);
        [piece, ZmmBlocks(kept)]
    }

    #[inline(always)]
    fn blocks_after(self, blocks: ZmmBlocks, before: &BlockBytes) -> ZmmBlocks {
        // SAFETY: `self` proves AVX-512F.
        ZmmBlocks(unsafe { _mm512_alignr_epi64::<6>(blocks.0, self.splat_block(before).0) })
    }

    #[inline(always)]
    fn join(self, blocks: [XmmBlock; 4]) -> ZmmBlocks {
        let [a, b, c, d] = blocks.map(XmmBlock::register);
        // SAFETY: `self` proves AVX-512F.
        ZmmBlocks(unsafe {
            let joined = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
            _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(joined, c), d)
        })
    }

    #[inline(always)]
    fn split(self, blocks: ZmmBlocks) -> [XmmBlock; 4] {
        // SAFETY: `self` proves AVX-512F.
        let registers = unsafe {
            [
                _mm512_castsi512_si128(blocks.0),
                _mm512_extracti32x4_epi32::<1>(blocks.0),
                _mm512_extracti32x4_epi32::<2>(blocks.0),
                _mm512_extracti32x4_epi32::<3>(blocks.0),
            ]
        };
        registers.map(|register| self.aes.block(register))
    }

    #[inline(always)]
    fn last_block(self, blocks: ZmmBlocks) -> XmmBlock {
        // SAFETY: `self` proves AVX-512F.
        self.aes.block(unsafe { _mm512_extracti32x4_epi32::<3>(blocks.0) })
    }

    #[inline(always)]
    fn counters(self, fixed: XmmBlock, [a, b, c, d]: [u32; 4]) -> ZmmBlocks {
        let [a, b, c, d] = [a, b, c, d].map(u32::cast_signed);
        // SAFETY: `self` proves AVX-512F.
        ZmmBlocks(unsafe {
            let steps = _mm512_setr_epi32(a, 0, 0, 0, b, 0, 0, 0, c, 0, 0, 0, d, 0, 0, 0);
            _mm512_add_epi32(_mm512_broadcast_i32x4(fixed.register()), steps)
        })
    }

    #[inline(always)]
    fn add_to_counters(self, blocks: ZmmBlocks, count: u32) -> ZmmBlocks {
        // SAFETY: `self` proves AVX-512F.
        ZmmBlocks(unsafe { _mm512_add_epi32(blocks.0, _mm512_set4_epi32(0, 0, 0, count.cast_signed())) })
    }

    #[inline(always)]
    fn low_words(self, blocks: ZmmBlocks) -> [XmmBlock; 2] {
        // SAFETY: `self` proves AVX-512F, which includes AVX2.
        let [low, high] = unsafe {
            let even = _mm512_setr_epi64(0, 2, 4, 6, 0, 2, 4, 6);
            let words = _mm512_castsi512_si256(_mm512_permutexvar_epi64(even, blocks.0));
            [_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words)]
        };
        [self.aes.block(low), self.aes.block(high)]
    }

    #[inline(always)]
    fn with_words(self, blocks: ZmmBlocks, at: usize, [low, high]: [u64; 2]) -> ZmmBlocks {
        let lengths = self.ifma.splat(low).or_if(ODD, self.ifma.splat(high));
        ZmmBlocks(self.ifma.vector(blocks.0).or_if(0b11 << (2 * at), lengths).register())
    }

    #[inline(always)]
    fn xor_first(self, blocks: ZmmBlocks, block: XmmBlock) -> ZmmBlocks {
        // SAFETY: `self` proves AVX-512F.
        blocks ^ ZmmBlocks(unsafe { _mm512_zextsi128_si512(block.register()) })
    }

    /// The products are folded in each block and summed after that: the schoolbook's fourth product costs less here
    /// than the exchanges of words of Karatsuba's way.
    #[inline(always)]
    fn sum_of_products(self, blocks: ZmmBlocks, count: usize, powers: &HashPowers) -> XmmBlock {
        let product = self.products([(blocks, self.load_prefix(powers.powers(count)))]).0;
        // SAFETY: `self` proves AVX-512F, which includes AVX2.
        unsafe {
            let pair =
                _mm256_xor_si256(_mm512_castsi512_si256(product), _mm512_extracti64x4_epi64::<1>(product));
            let sum = _mm_xor_si128(_mm256_castsi256_si128(pair), _mm256_extracti128_si256::<1>(pair));
            self.aes.block(sum)
        }
    }

    #[inline(always)]
    fn products<const N: usize>(self, pairs: [(ZmmBlocks, ZmmBlocks); N]) -> ZmmBlocks {
        // SAFETY: `self` proves VPCLMULQDQ and AVX-512F.
        unsafe {
            let zero = _mm512_setzero_si512();
            let (mut low, mut middle, mut high) = (zero, zero, zero);
            for (ZmmBlocks(a), ZmmBlocks(b)) in &pairs {
                let (a, b) = (*a, *b);
                low = _mm512_xor_si512(low, _mm512_clmulepi64_epi128::<0x00>(a, b));
                high = _mm512_xor_si512(high, _mm512_clmulepi64_epi128::<0x11>(a, b));
                middle = _mm512_xor_si512(middle, _mm512_clmulepi64_epi128::<0x01>(a, b));
                middle = _mm512_xor_si512(middle, _mm512_clmulepi64_epi128::<0x10>(a, b));
            }
            let middle = _mm512_shuffle_epi32::<0x4E>(middle);
            let low = _mm512_xor_si512(low, _mm512_maskz_mov_epi64(ODD, middle));
            let high = _mm512_xor_si512(high, _mm512_maskz_mov_epi64(!ODD, middle));
            let polynomial = _mm512_set1_epi64(0xC200_0000_0000_0000_u64.cast_signed());
            // Each folding clears the 64 lowest bits by adding a multiple of the polynomial.
            let fold = |low| {
                let swapped = _mm512_shuffle_epi32::<0x4E>(low);
                _mm512_xor_si512(swapped, _mm512_clmulepi64_epi128::<0x00>(low, polynomial))
            };
            ZmmBlocks(_mm512_xor_si512(high, fold(fold(low))))
        }
    }
}

impl AesBlocks for ZmmBlocks {
    #[inline(always)]
    fn encrypt_round(self, key: Self) -> Self {
        // SAFETY: `self` proves VAES and AVX-512F.
        Self(unsafe { _mm512_aesenc_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn encrypt_last(self, key: Self) -> Self {
        // SAFETY: `self` proves VAES and AVX-512F.
        Self(unsafe { _mm512_aesenclast_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn decrypt_round(self, key: Self) -> Self {
        // SAFETY: `self` proves VAES and AVX-512F.
        Self(unsafe { _mm512_aesdec_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn decrypt_last(self, key: Self) -> Self {
        // SAFETY: `self` proves VAES and AVX-512F.
        Self(unsafe { _mm512_aesdeclast_epi128(self.0, key.0) })
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        // SAFETY: `self` proves AVX-512BW. The indices count within each block.
        unsafe {
            let reversed = _mm512_set4_epi32(0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F);
            Self(_mm512_shuffle_epi8(self.0, reversed))
        }
    }

    #[inline(always)]
    fn masked(self, mask: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_and_si512(self.0, mask.0) })
    }

    #[inline(always)]
    fn last_words<const ROTATES: bool>(self) -> Self {
        // SAFETY: `self` proves AVX-512BW. The indices count within each block.
        unsafe {
            let last = _mm512_set1_epi32(if ROTATES { 0x0C0F_0E0D } else { 0x0F0E_0D0C });
            Self(_mm512_shuffle_epi8(self.0, last))
        }
    }

    #[inline(always)]
    fn word_sums(self) -> Self {
        // SAFETY: `self` proves AVX-512BW.
        unsafe {
            let pairs = self ^ Self(_mm512_slli_epi64::<32>(self.0));
            // The sum of the lower two words goes to the upper two.
            let moves = _mm512_set4_epi32(0x0706_0504, 0x0706_0504, -1, -1);
            pairs ^ Self(_mm512_shuffle_epi8(pairs.0, moves))
        }
    }
}

impl BitXor for ZmmBlocks {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }
}

/// Prints no bytes, which can be secret.
impl fmt::Debug for ZmmBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Zmm")
    }
}
