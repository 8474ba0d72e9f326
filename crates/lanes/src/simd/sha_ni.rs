//! The SHA extensions of x86-64: every intrinsic and `asm!` block.
#![allow(unsafe_code, reason = "intrinsics are called here")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::fmt;

use super::Cpu;
use super::ifma::prefetch;
use super::sha::{ShaSimd, ShaVector};
use crate::leaf::Leaf;

/// A CPU with the SHA extensions, SSSE3 and SSE4.1. [`ShaNiSimd::detect`] is the only constructor.
///
/// AVX is not among the features: the instructions of this leaf overwrite an operand with it too, and the kernels are
/// not faster (docs/performance/records.md).
#[derive(Clone, Copy)]
pub(crate) struct ShaNiSimd(());

impl ShaNiSimd {
    /// Returns the token if the CPU has every instruction of the leaf.
    pub(crate) fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("sha")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1");
        has_all.then_some(Self(()))
    }
}

impl Cpu for ShaNiSimd {
    const LEAF: Leaf = Leaf::ShaNi;

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
        clear_registers();
    }
}

/// Runs a body for [`Cpu::call`]. Code that is inlined here is compiled with these features.
#[inline(never)]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Overwrites the low 128 bits of the sixteen vector registers. This leaf writes no others.
#[inline(never)]
fn clear_registers() {
    // SAFETY: only registers are written, and all of them are named as clobbered.
    unsafe {
        asm!(
            "pxor xmm0, xmm0", "pxor xmm1, xmm1", "pxor xmm2, xmm2", "pxor xmm3, xmm3",
            "pxor xmm4, xmm4", "pxor xmm5, xmm5", "pxor xmm6, xmm6", "pxor xmm7, xmm7",
            "pxor xmm8, xmm8", "pxor xmm9, xmm9", "pxor xmm10, xmm10", "pxor xmm11, xmm11",
            "pxor xmm12, xmm12", "pxor xmm13, xmm13", "pxor xmm14, xmm14", "pxor xmm15, xmm15",
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
            out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nomem, nostack, preserves_flags),
        );
    }
}

impl fmt::Debug for ShaNiSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SHA extensions")
    }
}

/// Four words in a register. Only a [`ShaNiSimd`] makes one, so its methods may use every feature of the leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShaNiVector(__m128i);

impl ShaSimd for ShaNiSimd {
    type W = ShaNiVector;

    #[inline(always)]
    fn load_words(self, words: &[u32; 4]) -> ShaNiVector {
        // SAFETY: SSE2 is part of x86-64; the reference is to 16 readable bytes, and the load may be unaligned.
        ShaNiVector(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_ascending(self, bytes: &[u8; 16]) -> ShaNiVector {
        // SAFETY: `self` proves SSSE3; the reference is to 16 readable bytes, and the load may be unaligned.
        unsafe {
            let order = _mm_set_epi32(0x0C0D_0E0F, 0x0809_0A0B, 0x0405_0607, 0x0001_0203);
            ShaNiVector(_mm_shuffle_epi8(_mm_loadu_si128(bytes.as_ptr().cast()), order))
        }
    }

    #[inline(always)]
    fn load_descending(self, bytes: &[u8; 16]) -> ShaNiVector {
        // SAFETY: `self` proves SSSE3; the reference is to 16 readable bytes, and the load may be unaligned.
        unsafe {
            let order = _mm_set_epi32(0x0001_0203, 0x0405_0607, 0x0809_0A0B, 0x0C0D_0E0F);
            ShaNiVector(_mm_shuffle_epi8(_mm_loadu_si128(bytes.as_ptr().cast()), order))
        }
    }
}

impl ShaVector for ShaNiVector {
    #[inline(always)]
    fn words(self) -> [u32; 4] {
        let mut words = [0; 4];
        // SAFETY: SSE2 is part of x86-64; the array is 16 writable bytes, and the store may be unaligned.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), self.0) };
        words
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn upper_half(self) -> Self {
        // SAFETY: SSE2 is part of x86-64.
        Self(unsafe { _mm_shuffle_epi32::<0x0E>(self.0) })
    }

    #[inline(always)]
    fn moved_down(self, next: Self) -> Self {
        // SAFETY: a vector exists only if the CPU has SSSE3.
        Self(unsafe { _mm_alignr_epi8::<4>(next.0, self.0) })
    }

    #[inline(always)]
    fn sha256_two_rounds(self, abef: Self, words: Self) -> Self {
        // SAFETY: a vector exists only if the CPU has the SHA extensions.
        Self(unsafe { _mm_sha256rnds2_epu32(self.0, abef.0, words.0) })
    }

    #[inline(always)]
    fn sha256_extend_first(self, next: Self) -> Self {
        // SAFETY: a vector exists only if the CPU has the SHA extensions.
        Self(unsafe { _mm_sha256msg1_epu32(self.0, next.0) })
    }

    #[inline(always)]
    fn sha256_extend_last(self, last: Self) -> Self {
        // SAFETY: a vector exists only if the CPU has the SHA extensions.
        Self(unsafe { _mm_sha256msg2_epu32(self.0, last.0) })
    }

    #[inline(always)]
    fn sha1_four_rounds<const KIND: i32>(self, words: Self) -> Self {
        // SAFETY: a vector exists only if the CPU has the SHA extensions.
        Self(unsafe { _mm_sha1rnds4_epu32::<KIND>(self.0, words.0) })
    }

    #[inline(always)]
    fn sha1_add_e(self, words: Self) -> Self {
        // SAFETY: a vector exists only if the CPU has the SHA extensions.
        Self(unsafe { _mm_sha1nexte_epu32(self.0, words.0) })
    }

    #[inline(always)]
    fn sha1_extend_first(self, next: Self) -> Self {
        // SAFETY: a vector exists only if the CPU has the SHA extensions.
        Self(unsafe { _mm_sha1msg1_epu32(self.0, next.0) })
    }

    #[inline(always)]
    fn sha1_extend_last(self, last: Self) -> Self {
        // SAFETY: a vector exists only if the CPU has the SHA extensions.
        Self(unsafe { _mm_sha1msg2_epu32(self.0, last.0) })
    }
}
