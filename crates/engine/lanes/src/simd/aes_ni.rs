//! The AES-NI leaf: rounds of AES and carry-less products on 128 bits, with AVX.
#![allow(unsafe_code, reason = "intrinsics are called here")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::fmt;
use std::ops::BitXor;

use super::Cpu;
use super::blocks::{AesBlocks, BlockBytes, SingleSimd};
use super::four::RegisterSimd;
use super::ifma::prefetch;
use super::partial::{self, BlockRegister};
use super::registers::clear_registers;
use crate::simd::Leaf;

/// A CPU and an operating system with AVX, AES-NI and PCLMULQDQ. [`AesSimd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct AesSimd(());

/// A block in a register.
///
/// The field is private to this module, and every function that makes an `XmmBlock` takes an [`AesSimd`] or another
/// `XmmBlock`. So an `XmmBlock` proves AVX, AES-NI and PCLMULQDQ.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct XmmBlock(__m128i);

impl AesSimd {
    /// Returns a register as a block: for leaves whose token contains this one.
    #[inline(always)]
    pub(super) fn block(self, register: __m128i) -> XmmBlock {
        XmmBlock(register)
    }
}

impl Cpu for AesSimd {
    const LEAF: Leaf = Leaf::AesNi;

    fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq");
        has_all.then_some(Self(()))
    }

    #[inline(always)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        // SAFETY: `self` proves every feature that the function enables.
        unsafe { enter(body) }
    }

    #[inline(always)]
    fn prefetch<T>(self, line: &T) {
        prefetch(line);
    }

    fn clear_registers(self) {
        // SAFETY: `self` proves AVX.
        unsafe { clear_registers() }
    }
}

/// Runs a body for [`Cpu::call`]. Code that is inlined here is compiled with these features.
#[inline(never)]
#[target_feature(enable = "avx,ssse3,sse4.1,aes,pclmulqdq")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    body()
}

impl SingleSimd for AesSimd {
    type Block = XmmBlock;

    #[inline(always)]
    fn opaque<T>(self, value: &T) -> &T {
        let mut same = std::ptr::from_ref(value);
        // SAFETY: nothing is done with the pointer, so it still is the reference.
        unsafe {
            asm!("/* {} */", inout(reg) same, options(readonly, nostack, preserves_flags));
            &*same
        }
    }

    #[inline(always)]
    fn load_block(self, bytes: &BlockBytes) -> XmmBlock {
        // SAFETY: `self` proves AVX; the reference is to 16 readable bytes, and the load may be unaligned.
        XmmBlock(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn block_of_words(self, [low, high]: [u64; 2]) -> XmmBlock {
        // SAFETY: `self` proves AVX.
        XmmBlock(unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) })
    }

    #[inline(always)]
    fn load_block_at(self, bytes: &[u8], start: usize) -> XmmBlock {
        partial::load_block_at(self, bytes, start)
    }

    #[inline(always)]
    fn load_padded_at(self, bytes: &[u8], start: usize) -> XmmBlock {
        partial::load_padded_at(self, bytes, start)
    }

    #[inline(always)]
    fn store_block(self, block: XmmBlock, out: &mut BlockBytes) {
        // SAFETY: `self` proves AVX; the reference is to 16 writable bytes, and the store may be unaligned.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), block.0) };
    }

    #[inline(always)]
    fn store_block_prefix(self, block: XmmBlock, out: &mut [u8]) {
        partial::store_block_prefix(self, block, out);
    }

    #[inline(always)]
    fn differ(self, a: XmmBlock, b: XmmBlock, len: usize) -> bool {
        let mask = partial::prefix_mask(self, len);
        // SAFETY: `self` proves SSE4.1.
        unsafe { _mm_testz_si128((a ^ b).0, mask.0) == 0 }
    }

    #[inline(always)]
    fn add_to_counter(self, block: XmmBlock, count: u32) -> XmmBlock {
        // SAFETY: `self` proves AVX.
        XmmBlock(unsafe { _mm_add_epi32(block.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }
}

impl XmmBlock {
    /// Returns the register.
    #[inline(always)]
    pub(super) fn register(self) -> __m128i {
        self.0
    }
}

impl BlockRegister for XmmBlock {
    #[inline(always)]
    fn words(self) -> [u64; 2] {
        // SAFETY: `self` proves SSE4.1.
        unsafe { [_mm_cvtsi128_si64(self.0), _mm_extract_epi64::<1>(self.0)] }.map(i64::cast_unsigned)
    }

    #[inline(always)]
    fn moved(self, moves: Self) -> Self {
        // SAFETY: `self` proves SSSE3.
        Self(unsafe { _mm_shuffle_epi8(self.0, moves.0) })
    }

    #[inline(always)]
    fn exchanged_words(self) -> Self {
        // SAFETY: `self` proves AVX.
        Self(unsafe { _mm_shuffle_epi32::<0x4E>(self.0) })
    }

    #[inline(always)]
    fn low_words(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX.
        Self(unsafe { _mm_unpacklo_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn high_words(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX.
        Self(unsafe { _mm_unpackhi_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn low_product(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX and PCLMULQDQ.
        Self(unsafe { _mm_clmulepi64_si128::<0x00>(self.0, other.0) })
    }

    #[inline(always)]
    fn high_product(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX and PCLMULQDQ.
        Self(unsafe { _mm_clmulepi64_si128::<0x11>(self.0, other.0) })
    }
}

impl RegisterSimd for AesSimd {
    const FOURS: usize = 2;
}

impl AesBlocks for XmmBlock {
    #[inline(always)]
    fn encrypt_round(self, key: Self) -> Self {
        // SAFETY: `self` proves AES-NI.
        Self(unsafe { _mm_aesenc_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn encrypt_last(self, key: Self) -> Self {
        // SAFETY: `self` proves AES-NI.
        Self(unsafe { _mm_aesenclast_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn decrypt_round(self, key: Self) -> Self {
        // SAFETY: `self` proves AES-NI.
        Self(unsafe { _mm_aesdec_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn decrypt_last(self, key: Self) -> Self {
        // SAFETY: `self` proves AES-NI.
        Self(unsafe { _mm_aesdeclast_si128(self.0, key.0) })
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        // SAFETY: `self` proves AVX.
        self.moved(Self(unsafe { _mm_set_epi32(0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F) }))
    }

    #[inline(always)]
    fn masked(self, mask: Self) -> Self {
        // SAFETY: `self` proves AVX.
        Self(unsafe { _mm_and_si128(self.0, mask.0) })
    }

    #[inline(always)]
    fn last_words<const ROTATES: bool>(self) -> Self {
        // SAFETY: `self` proves AVX.
        self.moved(Self(unsafe { _mm_set1_epi32(if ROTATES { 0x0C0F_0E0D } else { 0x0F0E_0D0C }) }))
    }

    #[inline(always)]
    fn word_sums(self) -> Self {
        // SAFETY: `self` proves AVX.
        let pairs = self ^ Self(unsafe { _mm_slli_epi64::<32>(self.0) });
        // SAFETY: `self` proves AVX. The sum of the lower two words goes to the upper two.
        pairs.moved(Self(unsafe { _mm_set_epi32(0x0706_0504, 0x0706_0504, -1, -1) })) ^ pairs
    }
}

impl BitXor for XmmBlock {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }
}

impl fmt::Debug for AesSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AES-NI")
    }
}

/// Prints no bytes, which can be secret.
impl fmt::Debug for XmmBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Xmm")
    }
}
