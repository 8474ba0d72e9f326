//! Rounds of AES and carry-less products on 512 bits, with VAES and VPCLMULQDQ in addition to the features of
//! [`IfmaSimd`].
#![allow(unsafe_code, reason = "intrinsics are called here")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::blocks::{BLOCK, BlockSimd};
use super::ifma::{FrameAligner, ZmmVector, prefix_mask};
use super::{Cpu, IfmaSimd, LANES, Simd, Words};
use crate::leaf::Leaf;

/// A CPU with VAES and VPCLMULQDQ in addition. [`VaesSimd::detect`] is the only constructor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VaesSimd(IfmaSimd);

impl VaesSimd {
    /// Returns the token if the CPU has every instruction of this module. A CPU without them keeps its [`IfmaSimd`].
    pub(crate) fn detect(ifma: IfmaSimd) -> Option<Self> {
        let has_all = is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("vpclmulqdq");
        has_all.then_some(Self(ifma))
    }
}

impl Cpu for VaesSimd {
    const LEAF: Leaf = Leaf::Vaes512;

    #[inline(always)]
    fn prefetch<T>(self, line: &T) {
        self.0.prefetch(line);
    }

    #[inline(always)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves every feature that the function enables.
        unsafe { enter(body) }
    }

    fn clear_registers(self) {
        self.0.clear_registers();
    }
}

impl Simd for VaesSimd {
    type V = ZmmVector;

    #[inline(always)]
    fn splat(self, word: u64) -> ZmmVector {
        self.0.splat(word)
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> ZmmVector {
        self.0.splat32(word)
    }

    #[inline(always)]
    fn load(self, words: &Words) -> ZmmVector {
        self.0.load(words)
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 8 * LANES]) -> ZmmVector {
        self.0.load_bytes(bytes)
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> ZmmVector {
        self.0.load_prefix(bytes)
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
    #[inline(always)]
    fn splat_block(self, block: &[u8; BLOCK]) -> ZmmVector {
        // SAFETY: `self` proves AVX-512F; the reference is to 16 readable bytes, and the load may be unaligned.
        self.0.vector(unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(block.as_ptr().cast())) })
    }

    #[inline(always)]
    fn first_block(self, blocks: ZmmVector) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        // SAFETY: `self` proves AVX-512F; the array is 16 writable bytes, and the store may be unaligned.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), _mm512_castsi512_si128(blocks.register())) };
        block
    }

    #[inline(always)]
    fn keep_prefix(self, blocks: ZmmVector, len: usize) -> ZmmVector {
        // SAFETY: `self` proves AVX-512BW.
        self.0.vector(unsafe { _mm512_maskz_mov_epi8(prefix_mask(len), blocks.register()) })
    }

    #[inline(always)]
    fn blocks_after(self, blocks: ZmmVector, before: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves AVX-512F.
        self.0.vector(unsafe { _mm512_alignr_epi64::<6>(blocks.register(), before.register()) })
    }

    #[inline(always)]
    fn sum_of_blocks(self, blocks: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves AVX-512F, which includes AVX2.
        unsafe {
            let high = _mm512_extracti64x4_epi64::<1>(blocks.register());
            let pair = _mm256_xor_si256(_mm512_castsi512_si256(blocks.register()), high);
            let sum = _mm_xor_si128(_mm256_castsi256_si128(pair), _mm256_extracti128_si256::<1>(pair));
            self.0.vector(_mm512_zextsi128_si512(sum))
        }
    }

    #[inline(always)]
    fn reverse_blocks(self, blocks: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves AVX-512BW. The indices count within each block.
        unsafe {
            let reversed = _mm512_set4_epi32(0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F);
            self.0.vector(_mm512_shuffle_epi8(blocks.register(), reversed))
        }
    }

    #[inline(always)]
    fn swap_words(self, blocks: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves AVX-512F.
        self.0.vector(unsafe { _mm512_shuffle_epi32::<0x4E>(blocks.register()) })
    }

    #[inline(always)]
    fn encrypt_round(self, blocks: ZmmVector, key: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves VAES and AVX-512F.
        self.0.vector(unsafe { _mm512_aesenc_epi128(blocks.register(), key.register()) })
    }

    #[inline(always)]
    fn encrypt_last(self, blocks: ZmmVector, key: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves VAES and AVX-512F.
        self.0.vector(unsafe { _mm512_aesenclast_epi128(blocks.register(), key.register()) })
    }

    #[inline(always)]
    fn decrypt_round(self, blocks: ZmmVector, key: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves VAES and AVX-512F.
        self.0.vector(unsafe { _mm512_aesdec_epi128(blocks.register(), key.register()) })
    }

    #[inline(always)]
    fn decrypt_last(self, blocks: ZmmVector, key: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves VAES and AVX-512F.
        self.0.vector(unsafe { _mm512_aesdeclast_epi128(blocks.register(), key.register()) })
    }

    #[inline(always)]
    fn multiply_words<const WORDS: i32>(self, a: ZmmVector, b: ZmmVector) -> ZmmVector {
        // SAFETY: `self` proves VPCLMULQDQ and AVX-512F.
        self.0.vector(unsafe { _mm512_clmulepi64_epi128::<WORDS>(a.register(), b.register()) })
    }
}
