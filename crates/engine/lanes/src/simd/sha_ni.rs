//! The SHA extensions of x86-64: every intrinsic and `asm!` block.
#![allow(unsafe_code, reason = "intrinsics are called here")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::fmt;

use super::Cpu;
use super::ifma::{is_amd, prefetch};
use super::leaf::Leaf;
use super::sha::{KeptWords, RoundConstants, ShaSimd};

/// A CPU with the SHA extensions, SSSE3 and SSE4.1. [`ShaNiSimd::detect`] is the only constructor.
///
/// AVX is not among the features: the instructions of this leaf overwrite an operand with it too, and the kernels are
/// not faster (docs/performance/records.md).
#[derive(Clone, Copy)]
pub(crate) struct ShaNiSimd(());

impl ShaNiSimd {
    /// Returns true if streams of SHA-1 are at least as fast as eight lanes of AVX2. They are on AMD's CPUs. On
    /// Intel's, four streams are no faster than one, and the lanes are 1.4 to 1.7 times as fast
    /// (docs/performance/records.md).
    pub(crate) fn has_fast_sha1(self) -> bool {
        is_amd()
    }
}

impl Cpu for ShaNiSimd {
    const LEAF: Leaf = Leaf::ShaNi;

    fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("sha")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1");
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

/// Four words in a register. Only a [`ShaNiSimd`] makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShaNiVector(__m128i);

impl ShaSimd for ShaNiSimd {
    type W = ShaNiVector;

    #[inline(always)]
    fn load_words(self, words: &[u64; 2]) -> ShaNiVector {
        // SAFETY: SSE2 is part of x86-64; the reference is to 16 readable bytes, and the load may be unaligned.
        ShaNiVector(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn words(self, vector: ShaNiVector) -> [u64; 2] {
        let mut words = [0; 2];
        // SAFETY: SSE2 is part of x86-64; the array is 16 writable bytes, and the store may be unaligned.
        unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), vector.0) };
        words
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

    #[inline(always)]
    fn add32(self, a: ShaNiVector, b: ShaNiVector) -> ShaNiVector {
        // SAFETY: SSE2 is part of x86-64.
        ShaNiVector(unsafe { _mm_add_epi32(a.0, b.0) })
    }

    #[inline(always)]
    fn add_e(self, before: ShaNiVector, words: ShaNiVector) -> ShaNiVector {
        // SAFETY: `self` proves the SHA extensions.
        ShaNiVector(unsafe { _mm_sha1nexte_epu32(before.0, words.0) })
    }

    #[inline(always)]
    fn sha256_four_rounds<const G: usize>(
        self,
        state: &mut [ShaNiVector; 2],
        words: ShaNiVector,
        constants: &RoundConstants,
        kept: &mut KeptWords,
    ) -> ShaNiVector {
        let ([ShaNiVector(abef), ShaNiVector(cdgh)], ShaNiVector(mut next)) = (state, words);
        // SAFETY: `self` proves the SHA extensions and SSSE3. The operands in memory are vectors of `constants` and of
        // `kept`, which are aligned, and nothing else is written. The block is one unit, because the compiler moves
        // single instructions to places where it must spill registers.
        unsafe {
            asm!(
                "movdqa xmm0, {words}",
                "paddd xmm0, [{constants} + {group}]",
                "sha256rnds2 {cdgh}, {abef}",
                "pshufd xmm0, xmm0, 0x0E",
                "sha256rnds2 {abef}, {cdgh}",
                words = in(xmm_reg) next,
                constants = in(reg) constants.0.as_ptr(),
                group = const 16 * G,
                abef = inout(xmm_reg) *abef,
                cdgh = inout(xmm_reg) *cdgh,
                out("xmm0") _,
                options(nostack, preserves_flags, readonly),
            );
            if (3..15).contains(&G) {
                let words = next;
                asm!(
                    "movdqa {next}, [{kept} + {fourth}]",
                    "sha256msg1 {next}, [{kept} + {third}]",
                    "movdqa {seventh}, {words}",
                    "palignr {seventh}, [{kept} + {last}], 4",
                    "paddd {next}, {seventh}",
                    "sha256msg2 {next}, {words}",
                    words = in(xmm_reg) words,
                    next = out(xmm_reg) next,
                    seventh = out(xmm_reg) _,
                    kept = in(reg) &raw const *kept,
                    fourth = const 16 * ((G + 1) % 4),
                    third = const 16 * ((G + 2) % 4),
                    last = const 16 * ((G + 3) % 4),
                    options(nostack, preserves_flags, readonly),
                );
            }
        }
        if G < 14 {
            self.keep::<G>(words, kept);
        }
        ShaNiVector(next)
    }

    #[inline(always)]
    fn sha1_four_rounds<const G: usize, const KIND: i32>(
        self,
        state: &mut [ShaNiVector; 2],
        words: ShaNiVector,
        kept: &mut KeptWords,
    ) -> ShaNiVector {
        let ([ShaNiVector(abcd), ShaNiVector(before)], ShaNiVector(mut next)) = (state, words);
        // SAFETY: `self` proves the SHA extensions. The operands in memory are vectors of `kept`, which is aligned. The
        // blocks are units for the reason given above.
        unsafe {
            if G == 0 {
                asm!(
                    "paddd {sum}, {words}",
                    "movdqa {before}, {abcd}",
                    "sha1rnds4 {abcd}, {sum}, {kind}",
                    words = in(xmm_reg) next,
                    abcd = inout(xmm_reg) *abcd,
                    sum = inout(xmm_reg) *before => _,
                    before = out(xmm_reg) *before,
                    kind = const KIND,
                    options(nomem, nostack, preserves_flags),
                );
            } else {
                asm!(
                    "sha1nexte {sum}, {words}",
                    "movdqa {before}, {abcd}",
                    "sha1rnds4 {abcd}, {sum}, {kind}",
                    words = in(xmm_reg) next,
                    abcd = inout(xmm_reg) *abcd,
                    sum = inout(xmm_reg) *before => _,
                    before = out(xmm_reg) *before,
                    kind = const KIND,
                    options(nomem, nostack, preserves_flags),
                );
            }
            if (3..19).contains(&G) {
                asm!(
                    "movdqa {next}, [{kept} + {fourth}]",
                    "sha1msg1 {next}, [{kept} + {third}]",
                    "pxor {next}, [{kept} + {last}]",
                    "sha1msg2 {next}, {words}",
                    words = in(xmm_reg) words.0,
                    next = out(xmm_reg) next,
                    kept = in(reg) &raw const *kept,
                    fourth = const 16 * ((G + 1) % 4),
                    third = const 16 * ((G + 2) % 4),
                    last = const 16 * ((G + 3) % 4),
                    options(nostack, preserves_flags, readonly),
                );
            }
        }
        if G < 18 {
            self.keep::<G>(words, kept);
        }
        ShaNiVector(next)
    }
}

impl ShaNiSimd {
    /// Stores the words for rounds `4 G` to `4 G + 3`.
    #[inline(always)]
    fn keep<const G: usize>(self, words: ShaNiVector, kept: &mut KeptWords) {
        // SAFETY: SSE2 is part of x86-64; the reference is to 16 writable bytes, and the store may be unaligned.
        unsafe { _mm_storeu_si128(kept.0[G % 4].as_mut_ptr().cast(), words.0) };
    }
}
