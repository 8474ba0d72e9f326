//! The AVX-512 leaf: IFMA, VBMI, VL, BW and DQ, with BMI1 and BMI2.
#![allow(unsafe_code, reason = "the one place of this crate where intrinsics are called")]

use std::arch::asm;
use std::arch::x86_64::*;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};
use std::sync::atomic::{Ordering, compiler_fence};

use zeroize::Zeroize;

use super::{
    BlindMulVector, BlindSimd, BlindVector, Cpu, HalfMask, LANES, Mask, MulSimd, MulVector, ShortSimd,
    ShortVector, Simd, UnzipSimd, Vector, Words,
};
use crate::simd::Leaf;

/// A CPU and an operating system with AVX-512 IFMA. [`IfmaSimd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct IfmaSimd(());

/// A 512-bit register.
///
/// The field is private to this module, and every function that makes a `ZmmVector` takes an [`IfmaSimd`] or another
/// `ZmmVector`. So a `ZmmVector` proves that the CPU has the features of an [`IfmaSimd`].
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct ZmmVector(__m512i);

impl IfmaSimd {
    /// Returns true if the CPU computes a vector of 512 bits as two halves, one after the other. AMD's Zen 4 does: the
    /// CPUs of family 19h that have AVX-512.
    pub(crate) fn computes_halves(self) -> bool {
        let version = cpuid(1).eax;
        let (family, extended) = (version >> 8 & 0xF, version >> 20 & 0xFF);
        is_amd() && family + extended == 0x19
    }
}

/// Returns true if AMD made the CPU.
pub(super) fn is_amd() -> bool {
    let vendor = cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx] == [*b"Auth", *b"enti", *b"cAMD"].map(u32::from_le_bytes)
}

/// Reads what the CPU says about itself. Newer compilers call this without `unsafe`.
#[allow(unused_unsafe)]
fn cpuid(leaf: u32) -> CpuidResult {
    // SAFETY: every x86-64 CPU has this instruction.
    unsafe { __cpuid(leaf) }
}

impl Cpu for IfmaSimd {
    const LEAF: Leaf = Leaf::Avx512;

    fn detect() -> Option<Self> {
        // std checks XCR0 too, so a system that does not save the registers has no such feature.
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512ifma")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
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
        // SAFETY: `self` proves AVX-512F; every register that is written is declared as overwritten.
        unsafe { clear_registers() }
    }
}

impl MulSimd for IfmaSimd {
    type RunState = ();

    #[inline(always)]
    fn run_state(self) {}
}

impl UnzipSimd for IfmaSimd {
    #[inline(always)]
    fn unzip(self, first: ZmmVector, second: ZmmVector) -> [ZmmVector; 2] {
        // SAFETY: the vectors prove AVX-512F.
        let low = unsafe { _mm512_unpacklo_epi64(first.0, second.0) };
        // SAFETY: as above.
        let high = unsafe { _mm512_unpackhi_epi64(first.0, second.0) };
        [ZmmVector(low), ZmmVector(high)]
    }
}

impl ShortSimd for IfmaSimd {
    #[inline(always)]
    fn take_below(self, bytes: &[u8; 24], bound: u16, out: &mut [u16; 16]) -> usize {
        // SAFETY: `self` proves AVX-512F, BW, VL and VBMI; 24 bytes are read and 32 are written.
        unsafe { take_below(bytes, bound, out) }
    }

    #[inline(always)]
    fn are_below(self, bytes: &[u8; 24], bound: u32, out: &mut [u32; 8]) -> bool {
        // SAFETY: `self` proves AVX-512F, BW, VL and VBMI; 24 bytes are read and 32 are written.
        unsafe { are_below(bytes, bound, out) }
    }
}

/// Executes [`ShortSimd::are_below`].
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512vbmi")]
fn are_below(bytes: &[u8; 24], bound: u32, out: &mut [u32; 8]) -> bool {
    // Value k begins at byte 3 k. The mask removes the fourth byte.
    // SAFETY: the mask lets 24 bytes be read, and the store writes 8 words of 32 bits.
    unsafe {
        let raw = _mm256_maskz_loadu_epi8(0x00FF_FFFF, bytes.as_ptr().cast());
        let first =
            _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(0x0303_0303));
        let byte_indices = _mm256_add_epi8(first, _mm256_set1_epi32(0x0002_0100));
        let values =
            _mm256_and_si256(_mm256_permutexvar_epi8(byte_indices, raw), _mm256_set1_epi32(0x7F_FFFF));
        _mm256_storeu_si256(out.as_mut_ptr().cast(), values);
        _mm256_cmplt_epu32_mask(values, _mm256_set1_epi32(bound.cast_signed())) == 0xFF
    }
}

/// Executes [`ShortSimd::take_below`]: a value to each word of 32 bits, which one instruction compresses.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512vbmi")]
fn take_below(bytes: &[u8; 24], bound: u16, out: &mut [u16; 16]) -> usize {
    // Value k begins at bit 12 k: bytes 3 k / 2 and the next one, shifted by 0 or 4.
    const BYTES: [u32; 16] = {
        let mut bytes = [0; 16];
        let mut at = 0;
        while at < 16 {
            let first = 3 * (at as u32 / 2) + at as u32 % 2;
            bytes[at] = first | (first + 1) << 8;
            at += 1;
        }
        bytes
    };
    // SAFETY: the mask lets 24 bytes be read, and the store writes 16 words of 16 bits.
    unsafe {
        let raw = _mm256_maskz_loadu_epi8(0x00FF_FFFF, bytes.as_ptr().cast());
        let byte_indices = _mm512_loadu_si512(BYTES.as_ptr().cast());
        let pairs = _mm512_permutexvar_epi8(byte_indices, _mm512_castsi256_si512(raw));
        let shifted = _mm512_srlv_epi32(pairs, _mm512_set1_epi64(4 << 32));
        let values = _mm512_and_si512(shifted, _mm512_set1_epi32(0xFFF));
        let is_below = _mm512_cmplt_epu32_mask(values, _mm512_set1_epi32(bound.into()));
        let taken = _mm512_maskz_compress_epi32(is_below, values);
        _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm512_cvtepi32_epi16(taken));
        is_below.count_ones() as usize
    }
}

impl BlindSimd for IfmaSimd {
    type V = ZmmVector;

    #[inline(always)]
    fn splat(self, word: u64) -> ZmmVector {
        // SAFETY: `self` proves AVX-512F.
        ZmmVector(unsafe { _mm512_set1_epi64(word.cast_signed()) })
    }
}

impl Simd for IfmaSimd {
    #[inline(always)]
    fn load(self, words: &Words) -> ZmmVector {
        // SAFETY: `self` proves AVX-512F; the reference is to 64 readable bytes, and the load may be unaligned.
        ZmmVector(unsafe { _mm512_loadu_si512(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 8 * LANES]) -> ZmmVector {
        // SAFETY: `self` proves AVX-512F; the reference is to 64 readable bytes, and the load may be unaligned.
        ZmmVector(unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> ZmmVector {
        // SAFETY: `self` proves AVX-512F.
        ZmmVector(unsafe { _mm512_set1_epi32(word.cast_signed()) })
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> ZmmVector {
        // SAFETY: `self` proves AVX-512BW; bytes whose mask bit is clear are not touched.
        ZmmVector(unsafe { _mm512_maskz_loadu_epi8(prefix_mask(bytes.len()), bytes.as_ptr().cast()) })
    }
}

/// Runs a body for [`Cpu::call`]. Code that is inlined here is compiled with these features.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma,avx512vl,avx512bw,avx512dq,avx512vbmi,bmi1,bmi2")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    let mut line = MaybeUninit::<FrameAligner>::uninit();
    // SAFETY: nothing is done with the address.
    unsafe { asm!("/* {} */", in(reg) line.as_mut_ptr(), options(readonly, nostack, preserves_flags)) };
    body()
}

/// A local variable that makes the compiler align the frame, because its address is used. The compiler decides on
/// alignment before it knows the spills. Without this variable three of four frames have every spill across two
/// cache lines, and the same kernel takes up to twice as long, depending on its caller.
#[repr(align(64))]
pub(super) struct FrameAligner(#[expect(dead_code, reason = "only its alignment matters")] [u8; 64]);

/// Prefetches a cache line.
#[inline(always)]
pub(super) fn prefetch<T>(line: &T) {
    // SAFETY: fetching ahead reads nothing.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(line).cast()) };
}

/// Prefetches the bytes at an offset into the second-level cache. The offset may be out of bounds.
#[inline(always)]
pub(crate) fn fetch_ahead(bytes: &[u8], at: u32) {
    // SAFETY: fetching ahead reads nothing, at any address.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(bytes.as_ptr().wrapping_add(at as usize).cast()) };
}

/// Returns one set bit for each of `len` bytes, at most 64.
#[inline(always)]
pub(super) fn prefix_mask(len: usize) -> u64 {
    match len {
        0..64 => (1 << len) - 1,
        _ => u64::MAX,
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f")]
fn clear_registers() {
    // SAFETY: only registers are written, and all of them are named as clobbered. `vzeroall` reaches the first sixteen.
    unsafe {
        asm!(
            "vzeroall",
            "vpxorq zmm16, zmm16, zmm16", "vpxorq zmm17, zmm17, zmm17", "vpxorq zmm18, zmm18, zmm18",
            "vpxorq zmm19, zmm19, zmm19", "vpxorq zmm20, zmm20, zmm20", "vpxorq zmm21, zmm21, zmm21",
            "vpxorq zmm22, zmm22, zmm22", "vpxorq zmm23, zmm23, zmm23", "vpxorq zmm24, zmm24, zmm24",
            "vpxorq zmm25, zmm25, zmm25", "vpxorq zmm26, zmm26, zmm26", "vpxorq zmm27, zmm27, zmm27",
            "vpxorq zmm28, zmm28, zmm28", "vpxorq zmm29, zmm29, zmm29", "vpxorq zmm30, zmm30, zmm30",
            "vpxorq zmm31, zmm31, zmm31",
            out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _, out("zmm4") _, out("zmm5") _,
            out("zmm6") _, out("zmm7") _, out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
            out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _,
            out("zmm18") _, out("zmm19") _, out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
            out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _,
            out("zmm30") _, out("zmm31") _,
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// Executes `vpmuldq`. The intrinsic is an expression for the compiler: where only the low halves of the products are
/// used, it takes `vpmullq`, which is three times as long.
#[inline]
#[target_feature(enable = "avx512f")]
fn mul_signed(a: __m512i, b: __m512i) -> __m512i {
    let product;
    // SAFETY: only registers are read and written.
    unsafe {
        asm!("vpmuldq {}, {}, {}", lateout(zmm_reg) product, in(zmm_reg) a, in(zmm_reg) b, options(pure, nomem, nostack, preserves_flags));
    }
    product
}

/// Executes `vpmadd52luq` as a volatile step, which keeps its position among other such steps.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn pinned_lo(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: reads and writes the registers named, nothing else.
    unsafe {
        asm!("vpmadd52luq {}, {}, {}", inout(zmm_reg) sum, in(zmm_reg) a, in(zmm_reg) b,
            options(nomem, nostack, preserves_flags));
    }
    sum
}

/// Executes `vpmadd52huq` as a volatile step.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn pinned_hi(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: reads and writes the registers named, nothing else.
    unsafe {
        asm!("vpmadd52huq {}, {}, {}", inout(zmm_reg) sum, in(zmm_reg) a, in(zmm_reg) b,
            options(nomem, nostack, preserves_flags));
    }
    sum
}

/// Executes nothing, but keeps a value's position among the volatile steps.
#[inline]
#[target_feature(enable = "avx512f")]
fn pinned(mut vector: __m512i) -> __m512i {
    // SAFETY: reads and writes nothing.
    unsafe { asm!("/* {} */", inout(zmm_reg) vector, options(nomem, nostack, preserves_flags)) };
    vector
}

impl BlindVector for ZmmVector {
    type Mask = Mask;

    const UNROLLS: bool = true;

    #[inline(always)]
    fn shl<const N: u32>(self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_slli_epi64::<N>(self.0) })
    }

    #[inline(always)]
    fn shr<const N: u32>(self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_srli_epi64::<N>(self.0) })
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_andnot_si512(self.0, other.0) })
    }

    #[inline(always)]
    fn add_if(self, mask: Mask, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_mask_add_epi64(self.0, mask, self.0, other.0) })
    }
}

impl Vector for ZmmVector {
    const WORDS: usize = LANES;
    const HAS_TERNARY: bool = true;
    const HASHES_IN_PAIRS: bool = true;

    type Lanes<T: Copy> = [T; LANES];
    type Bytes = [u8; 8 * LANES];

    #[inline(always)]
    fn words(self) -> Words {
        let mut words = [0; LANES];
        // SAFETY: `self` proves AVX-512F; the array is 64 writable bytes, and the store may be unaligned.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), self.0) };
        words
    }

    #[inline(always)]
    fn store_prefix(self, out: &mut [u8]) {
        // SAFETY: `self` proves AVX-512BW; bytes whose mask bit is clear are not touched.
        unsafe {
            _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), prefix_mask(out.len()), self.0);
        }
    }

    #[inline(always)]
    fn rotr<const N: i32>(self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_ror_epi64::<N>(self.0) })
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        // SAFETY: `self` proves AVX-512BW. The indices count within each 128-bit half of a half.
        unsafe {
            let reversed = _mm512_set4_epi32(0x0809_0A0B, 0x0C0D_0E0F, 0x0001_0203, 0x0405_0607);
            Self(_mm512_shuffle_epi8(self.0, reversed))
        }
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn add32_if(self, mask: HalfMask, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_mask_add_epi32(self.0, mask, self.0, other.0) })
    }

    #[inline(always)]
    fn shr32<const N: u32>(self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_srli_epi32::<N>(self.0) })
    }

    #[inline(always)]
    fn rotr32<const N: i32>(self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_ror_epi32::<N>(self.0) })
    }

    #[inline(always)]
    fn swap_bytes32(self) -> Self {
        // SAFETY: `self` proves AVX-512BW. The indices count within each 128-bit half of a half.
        unsafe {
            let reversed = _mm512_set4_epi32(0x0C0D_0E0F, 0x0809_0A0B, 0x0405_0607, 0x0001_0203);
            Self(_mm512_shuffle_epi8(self.0, reversed))
        }
    }

    #[inline(always)]
    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_ternarylogic_epi64::<TABLE>(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        Self::transpose8(rows)
    }

    #[inline(always)]
    fn transpose32(rows: &mut [Self; 16]) {
        // SAFETY: the rows prove AVX-512F.
        unsafe {
            // First pairs of rows, then pairs of pairs: afterwards the words of one column of four rows are
            // adjacent, four columns apart.
            let mut fours = *rows;
            for four in fours.as_chunks_mut::<4>().0 {
                let [a, b, c, d] = four.map(|row| row.0);
                let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
                let (ef, gh) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
                *four = [
                    Self(_mm512_unpacklo_epi64(ab, cd)),
                    Self(_mm512_unpackhi_epi64(ab, cd)),
                    Self(_mm512_unpacklo_epi64(ef, gh)),
                    Self(_mm512_unpackhi_epi64(ef, gh)),
                ];
            }
            // Then 4 x 4 of these quarters.
            for column in 0..4 {
                let [a, b, c, d] = [0, 4, 8, 12].map(|row| fours[row + column].0);
                let (ab, cd) = (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0x88>(c, d));
                let (ef, gh) = (_mm512_shuffle_i32x4::<0xDD>(a, b), _mm512_shuffle_i32x4::<0xDD>(c, d));
                rows[column] = Self(_mm512_shuffle_i32x4::<0x88>(ab, cd));
                rows[column + 4] = Self(_mm512_shuffle_i32x4::<0x88>(ef, gh));
                rows[column + 8] = Self(_mm512_shuffle_i32x4::<0xDD>(ab, cd));
                rows[column + 12] = Self(_mm512_shuffle_i32x4::<0xDD>(ef, gh));
            }
        }
    }
}

impl ShortVector for ZmmVector {
    #[inline(always)]
    fn add16(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512BW.
        Self(unsafe { _mm512_add_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn sub16(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512BW.
        Self(unsafe { _mm512_sub_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn sub32(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512BW.
        Self(unsafe { _mm512_sub_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn mul16_lo(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512BW.
        Self(unsafe { _mm512_mullo_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn mul16_hi(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512BW.
        Self(unsafe { _mm512_mulhi_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn mul16_round(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512BW.
        Self(unsafe { _mm512_mulhrs_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn madd16(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512BW.
        Self(unsafe { _mm512_madd_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn shl16(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX-512BW. A constant count becomes part of the instruction.
        Self(unsafe { _mm512_sll_epi16(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn shr16(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX-512BW. A constant count becomes part of the instruction.
        Self(unsafe { _mm512_srl_epi16(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn sar16(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX-512BW. A constant count becomes part of the instruction.
        Self(unsafe { _mm512_sra_epi16(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn mul32_signed(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { mul_signed(self.0, other.0) })
    }

    #[inline(always)]
    fn high_halves(self) -> Self {
        // SAFETY: `self` proves AVX-512F and DQ.
        Self(unsafe { _mm512_shuffle_epi32::<0xF5>(self.0) })
    }

    #[inline(always)]
    fn join_high_halves(even: Self, odd: Self) -> Self {
        // SAFETY: the vectors prove AVX-512F and DQ.
        Self(unsafe { _mm512_mask_shuffle_epi32::<0xF5>(odd.0, 0x5555, even.0) })
    }

    #[inline(always)]
    fn negative32(self) -> HalfMask {
        // SAFETY: `self` proves AVX-512F and DQ.
        unsafe { _mm512_movepi32_mask(self.0) }
    }

    #[inline(always)]
    fn shl32_by(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX-512F and DQ. A constant count becomes part of the instruction.
        Self(unsafe { _mm512_sll_epi32(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn shr32_by(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX-512F and DQ. A constant count becomes part of the instruction.
        Self(unsafe { _mm512_srl_epi32(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn sar32_by(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX-512F and DQ. A constant count becomes part of the instruction.
        Self(unsafe { _mm512_sra_epi32(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }
}

impl BlindMulVector for ZmmVector {
    #[inline(always)]
    fn madd_lo(self, a: Self, b: Self) -> Self {
        // SAFETY: `self` proves AVX-512 IFMA.
        Self(unsafe { _mm512_madd52lo_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn madd_hi(self, a: Self, b: Self) -> Self {
        // SAFETY: `self` proves AVX-512 IFMA.
        Self(unsafe { _mm512_madd52hi_epu64(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn pinned_lo(self, a: Self, b: Self) -> Self {
        // SAFETY: `self` proves AVX-512 IFMA.
        Self(unsafe { pinned_lo(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn pinned_hi(self, a: Self, b: Self) -> Self {
        // SAFETY: `self` proves AVX-512 IFMA.
        Self(unsafe { pinned_hi(self.0, a.0, b.0) })
    }

    #[inline(always)]
    fn pinned(self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { pinned(self.0) })
    }

    #[inline(always)]
    fn fetch(from: &Self) -> Self {
        // SAFETY: a reference is readable and aligned; a volatile read is ordered with the pinned steps.
        unsafe { std::ptr::read_volatile(from) }
    }

    #[inline(always)]
    fn sar<const N: u32>(self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_srai_epi64::<N>(self.0) })
    }

    #[inline(always)]
    fn shr_each(self, count: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_srlv_epi64(self.0, count.0) })
    }

    #[inline(always)]
    fn shl_each(self, count: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_sllv_epi64(self.0, count.0) })
    }

    #[inline(always)]
    fn is_equal(self, other: Self) -> Mask {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_cmpeq_epi64_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Mask {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_cmplt_epu64_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn has_any(self, other: Self) -> Mask {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_test_epi64_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn or_if(self, mask: Mask, yes: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_mask_mov_epi64(self.0, mask, yes.0) })
    }

    #[inline(always)]
    fn sub_if(self, mask: Mask, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_mask_sub_epi64(self.0, mask, self.0, other.0) })
    }
}

impl MulVector for ZmmVector {
    #[inline(always)]
    fn pick16(self, low: Self, high: Self) -> Self {
        // SAFETY: `self` proves AVX-512F. The instruction looks at the low four bits of each index.
        Self(unsafe { _mm512_permutex2var_epi64(low.0, self.0, high.0) })
    }

    #[inline(always)]
    fn transpose8(r: [Self; LANES]) -> [Self; LANES] {
        // SAFETY: the rows prove AVX-512F.
        unsafe {
            // First pairs of rows, then pairs of pairs (by permutation), then halves: 24 shuffles instead of 64
            // single words through memory.
            let lo = |a: Self, b: Self| _mm512_unpacklo_epi64(a.0, b.0);
            let hi = |a: Self, b: Self| _mm512_unpackhi_epi64(a.0, b.0);
            let (a0, a1) = (lo(r[0], r[1]), hi(r[0], r[1]));
            let (a2, a3) = (lo(r[2], r[3]), hi(r[2], r[3]));
            let (a4, a5) = (lo(r[4], r[5]), hi(r[4], r[5]));
            let (a6, a7) = (lo(r[6], r[7]), hi(r[6], r[7]));
            let even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            let pick = |a, index, b| _mm512_permutex2var_epi64(a, index, b);
            let (b0, b2) = (pick(a0, even, a2), pick(a0, odd, a2));
            let (b1, b3) = (pick(a1, even, a3), pick(a1, odd, a3));
            let (b4, b6) = (pick(a4, even, a6), pick(a4, odd, a6));
            let (b5, b7) = (pick(a5, even, a7), pick(a5, odd, a7));
            let low = |a, b| Self(_mm512_shuffle_i64x2::<0x44>(a, b));
            let high = |a, b| Self(_mm512_shuffle_i64x2::<0xEE>(a, b));
            [
                low(b0, b4),
                low(b1, b5),
                low(b2, b6),
                low(b3, b7),
                high(b0, b4),
                high(b1, b5),
                high(b2, b6),
                high(b3, b7),
            ]
        }
    }
}

impl Zeroize for ZmmVector {
    fn zeroize(&mut self) {
        // SAFETY: the place is a valid `ZmmVector`, and zero bits are one; a volatile write is not optimised away.
        unsafe { std::ptr::write_volatile(self, Self(std::mem::zeroed())) };
        compiler_fence(Ordering::SeqCst);
    }
}

impl Add for ZmmVector {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) })
    }
}

impl Sub for ZmmVector {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_sub_epi64(self.0, other.0) })
    }
}

impl BitAnd for ZmmVector {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_and_si512(self.0, other.0) })
    }
}

impl BitOr for ZmmVector {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_or_si512(self.0, other.0) })
    }
}

impl Not for ZmmVector {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: `self` proves AVX-512F. 0x55 is the complement of the third operand.
        Self(unsafe { _mm512_ternarylogic_epi64::<0x55>(self.0, self.0, self.0) })
    }
}

impl BitXor for ZmmVector {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX-512F.
        Self(unsafe { _mm512_xor_si512(self.0, other.0) })
    }
}

impl IfmaSimd {
    /// Returns a register as a vector: for `vaes`, whose token contains this one.
    #[inline(always)]
    pub(super) fn vector(self, register: __m512i) -> ZmmVector {
        ZmmVector(register)
    }
}

impl ZmmVector {
    /// Returns the register.
    #[inline(always)]
    pub(super) fn register(self) -> __m512i {
        self.0
    }
}

impl fmt::Debug for IfmaSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AVX-512 IFMA")
    }
}

/// Prints no lanes, which can hold secrets.
impl fmt::Debug for ZmmVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Zmm")
    }
}
