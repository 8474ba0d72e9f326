//! The AVX2 leaf: four lanes of 64 bits, for ML-KEM, DES and hashes.
#![allow(unsafe_code, reason = "intrinsics are called here")]

use std::arch::x86_64::*;
use std::fmt;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};
use std::sync::atomic::{Ordering, compiler_fence};

use zeroize::Zeroize;

use super::ifma::prefetch;
use super::pair::HalfVector;
use super::registers::clear_registers;
use super::{BlindSimd, BlindVector, Cpu, HalfMask, Mask, ShortSimd, ShortVector, Simd, Vector};
use crate::simd::Leaf;

/// The lanes of a vector.
const WORDS: usize = 4;

/// A CPU and an operating system with AVX2. [`Avx2Simd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct Avx2Simd(());

/// A 256-bit register.
///
/// The field is private to this module, and every function that makes a `YmmVector` takes an [`Avx2Simd`] or another
/// `YmmVector`. So a `YmmVector` proves AVX2.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct YmmVector(__m256i);

impl Cpu for Avx2Simd {
    const LEAF: Leaf = Leaf::Avx2;

    fn detect() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1");
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
#[target_feature(enable = "avx2,bmi1")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    body()
}

impl ShortSimd for Avx2Simd {
    #[inline(always)]
    fn take_below(self, bytes: &[u8; 24], bound: u16, out: &mut [u16; 16]) -> usize {
        // SAFETY: `self` proves AVX2; 24 bytes are read and 32 are written.
        unsafe { take_below(bytes, bound, out) }
    }

    #[inline(always)]
    fn are_below(self, bytes: &[u8; 24], bound: u32, out: &mut [u32; 8]) -> bool {
        // SAFETY: `self` proves AVX2; 24 bytes are read and 32 are written.
        unsafe { are_below(bytes, bound, out) }
    }
}

/// Executes [`ShortSimd::are_below`].
#[inline]
#[target_feature(enable = "avx2")]
fn are_below(bytes: &[u8; 24], bound: u32, out: &mut [u32; 8]) -> bool {
    // SAFETY: both loads are within the 24 bytes, and the store writes 8 words of 32 bits.
    unsafe {
        let low = _mm_loadu_si128(bytes.as_ptr().cast());
        let high = _mm_loadu_si128(bytes.as_ptr().add(8).cast());
        // Value k begins at byte 3 k. The upper half begins 4 bytes behind its load.
        let byte_indices = _mm256_setr_epi8(
            0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1,
            13, 14, 15, -1,
        );
        let whole = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), byte_indices);
        let values = _mm256_and_si256(whole, _mm256_set1_epi32(0x7F_FFFF));
        _mm256_storeu_si256(out.as_mut_ptr().cast(), values);
        let is_below = _mm256_cmpgt_epi32(_mm256_set1_epi32(bound.cast_signed()), values);
        _mm256_movemask_epi8(is_below) == -1
    }
}

/// Shuffles of eight words of 16 bits: those of row `m` move the words whose bits are set in `m` to the front.
static TAKEN: [[u8; 16]; 256] = {
    let mut rows = [[0x80; 16]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut word, mut count) = (0, 0);
        while word < 8 {
            if mask >> word & 1 == 1 {
                rows[mask][2 * count] = 2 * word as u8;
                rows[mask][2 * count + 1] = 2 * word as u8 + 1;
                count += 1;
            }
            word += 1;
        }
        mask += 1;
    }
    rows
};

/// Executes [`ShortSimd::take_below`], eight values of 16 bits at a time.
#[inline]
#[target_feature(enable = "avx2")]
fn take_below(bytes: &[u8; 24], bound: u16, out: &mut [u16; 16]) -> usize {
    // SAFETY: both loads are within the 24 bytes. The second store begins at most 8 words behind the first.
    unsafe {
        let low = _mm_loadu_si128(bytes.as_ptr().cast());
        let high = _mm_loadu_si128(bytes.as_ptr().add(8).cast());
        // Value k begins at bit 12 k: bytes 3 k / 2 and the next one. The upper half begins 4 bytes behind its load.
        let byte_indices = _mm256_setr_epi8(
            0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11, 12, 13,
            14, 14, 15,
        );
        let pairs = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), byte_indices);
        let even = _mm256_and_si256(pairs, _mm256_set1_epi16(0xFFF));
        let values = _mm256_blend_epi16::<0xAA>(even, _mm256_srli_epi16::<4>(pairs));
        let is_below = _mm256_cmpgt_epi16(_mm256_set1_epi16(bound.cast_signed()), values);
        let halves = [_mm256_castsi256_si128(is_below), _mm256_extracti128_si256::<1>(is_below)];
        let mask = _mm_movemask_epi8(_mm_packs_epi16(halves[0], halves[1])).cast_unsigned();
        let (first, second) = ((mask & 0xFF) as usize, (mask >> 8) as usize);
        let count = first.count_ones() as usize;
        let row = |mask: usize| _mm_loadu_si128(TAKEN[mask].as_ptr().cast());
        let low = _mm_shuffle_epi8(_mm256_castsi256_si128(values), row(first));
        let high = _mm_shuffle_epi8(_mm256_extracti128_si256::<1>(values), row(second));
        _mm_storeu_si128(out.as_mut_ptr().cast(), low);
        _mm_storeu_si128(out.as_mut_ptr().add(count).cast(), high);
        count + second.count_ones() as usize
    }
}

impl BlindSimd for Avx2Simd {
    type V = YmmVector;

    #[inline(always)]
    fn splat(self, word: u64) -> YmmVector {
        // SAFETY: `self` proves AVX2.
        YmmVector(unsafe { _mm256_set1_epi64x(word.cast_signed()) })
    }
}

impl Simd for Avx2Simd {
    #[inline(always)]
    fn load(self, words: &[u64; WORDS]) -> YmmVector {
        // SAFETY: `self` proves AVX2; the reference is to 32 readable bytes, and the load may be unaligned.
        YmmVector(unsafe { _mm256_loadu_si256(words.as_ptr().cast()) })
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 8 * WORDS]) -> YmmVector {
        // SAFETY: `self` proves AVX2; the reference is to 32 readable bytes, and the load may be unaligned.
        YmmVector(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> YmmVector {
        // SAFETY: `self` proves AVX2.
        YmmVector(unsafe { _mm256_set1_epi32(word.cast_signed()) })
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> YmmVector {
        if let Some(whole) = bytes.first_chunk() {
            return self.load_bytes(whole);
        }
        let (words, tail) = bytes.as_chunks::<8>();
        // SAFETY: `self` proves AVX2; words whose mask is zero are not touched.
        let whole = unsafe {
            let mask = _mm256_loadu_si256(PREFIX_MASKS[WORDS - words.len()..][..WORDS].as_ptr().cast());
            YmmVector(_mm256_maskload_epi64(bytes.as_ptr().cast(), mask))
        };
        if tail.is_empty() {
            return whole;
        }
        let mut single = [0; WORDS];
        if let Some(word) = single.get_mut(words.len()) {
            *word = word_of(tail);
        }
        whole | self.load(&single)
    }
}

/// Masks of prefixes: a vector that is read from word `WORDS - n` on has `n` words of ones.
static PREFIX_MASKS: [u64; 2 * WORDS] = [u64::MAX, u64::MAX, u64::MAX, u64::MAX, 0, 0, 0, 0];

/// Returns up to seven bytes as a little-endian word.
#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    // Two reads that may overlap replace a loop over the bytes.
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>(), bytes) {
        (Some(first), Some(last), _) => {
            let high = u64::from(u32::from_le_bytes(*last)) << (8 * (bytes.len() - 4));
            u64::from(u32::from_le_bytes(*first)) | high
        }
        (_, _, [first, .., last]) => {
            let (middle, end) = (bytes.len() / 2, bytes.len() - 1);
            u64::from(*first) | u64::from(bytes[middle]) << (8 * middle) | u64::from(*last) << (8 * end)
        }
        (_, _, [only]) => u64::from(*only),
        (_, _, []) => 0,
    }
}

impl BlindVector for YmmVector {
    type Mask = Mask;
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shl<const N: u32>(self) -> Self {
        // SAFETY: `self` proves AVX2. The count is a constant, which the compiler puts into the instruction.
        Self(unsafe { _mm256_sll_epi64(self.0, _mm_cvtsi32_si128(N.cast_signed())) })
    }

    #[inline(always)]
    fn shr<const N: u32>(self) -> Self {
        // SAFETY: as for `shl`.
        Self(unsafe { _mm256_srl_epi64(self.0, _mm_cvtsi32_si128(N.cast_signed())) })
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_andnot_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn add_if(self, mask: Mask, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let bits = _mm256_setr_epi64x(1, 2, 4, 8);
            let set = _mm256_and_si256(_mm256_set1_epi64x(i64::from(mask)), bits);
            let ones = _mm256_cmpeq_epi64(set, bits);
            Self(_mm256_add_epi64(self.0, _mm256_and_si256(other.0, ones)))
        }
    }
}

impl Vector for YmmVector {
    const WORDS: usize = WORDS;
    const HAS_TERNARY: bool = false;
    const HASHES_IN_PAIRS: bool = false;

    type Lanes<T: Copy> = [T; WORDS];
    type Bytes = [u8; 8 * WORDS];

    #[inline(always)]
    fn words(self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        // SAFETY: `self` proves AVX2; the array is 32 writable bytes, and the store may be unaligned.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), self.0) };
        words
    }

    #[inline(always)]
    fn store_prefix(self, out: &mut [u8]) {
        if let Some(whole) = out.first_chunk_mut::<{ 8 * WORDS }>() {
            // SAFETY: `self` proves AVX2; the array is 32 writable bytes, and the store may be unaligned.
            unsafe { _mm256_storeu_si256(whole.as_mut_ptr().cast(), self.0) };
            return;
        }
        // Halves, then words, then bytes: masked stores take many cycles on some processors.
        // SAFETY: `self` proves AVX2.
        let halves = unsafe { (_mm256_castsi256_si128(self.0), _mm256_extracti128_si256::<1>(self.0)) };
        let (mut half, high) = halves;
        let (halves, rest) = out.as_chunks_mut::<16>();
        if let Some(first) = halves.first_mut() {
            // SAFETY: the array is 16 writable bytes, and the store may be unaligned.
            unsafe { _mm_storeu_si128(first.as_mut_ptr().cast(), half) };
            half = high;
        }
        let (words, rest) = rest.as_chunks_mut::<8>();
        if let Some(first) = words.first_mut() {
            // SAFETY: the array is 8 writable bytes, and the store may be unaligned.
            unsafe { _mm_storel_epi64(first.as_mut_ptr().cast(), half) };
            // SAFETY: SSE2 is part of x86-64.
            half = unsafe { _mm_unpackhi_epi64(half, half) };
        }
        if !rest.is_empty() {
            // SAFETY: SSE2 is part of x86-64.
            let word = unsafe { _mm_cvtsi128_si64(half) }.to_le_bytes();
            rest.iter_mut().zip(word).for_each(|(to, from)| *to = from);
        }
    }

    #[inline(always)]
    fn rotr<const N: i32>(self) -> Self {
        // SAFETY: as for `shl`.
        unsafe {
            let right = _mm256_srl_epi64(self.0, _mm_cvtsi32_si128(N));
            Self(_mm256_or_si256(right, _mm256_sll_epi64(self.0, _mm_cvtsi32_si128(64 - N))))
        }
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        // SAFETY: `self` proves AVX2. The indices count within each half of the register.
        unsafe {
            let reversed = _mm_set_epi32(0x0809_0A0B, 0x0C0D_0E0F, 0x0001_0203, 0x0405_0607);
            Self(_mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(reversed)))
        }
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_add_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn add32_if(self, mask: HalfMask, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_and_si256(_mm256_set1_epi32(i32::from(mask)), bits);
            let ones = _mm256_cmpeq_epi32(set, bits);
            Self(_mm256_add_epi32(self.0, _mm256_and_si256(other.0, ones)))
        }
    }

    #[inline(always)]
    fn shr32<const N: u32>(self) -> Self {
        // SAFETY: as for `shl`.
        Self(unsafe { _mm256_srl_epi32(self.0, _mm_cvtsi32_si128(N.cast_signed())) })
    }

    #[inline(always)]
    fn rotr32<const N: i32>(self) -> Self {
        // SAFETY: as for `shl`.
        unsafe {
            let right = _mm256_srl_epi32(self.0, _mm_cvtsi32_si128(N));
            Self(_mm256_or_si256(right, _mm256_sll_epi32(self.0, _mm_cvtsi32_si128(32 - N))))
        }
    }

    #[inline(always)]
    fn swap_bytes32(self) -> Self {
        // SAFETY: `self` proves AVX2. The indices count within each half of the register.
        unsafe {
            let reversed = _mm_set_epi32(0x0C0D_0E0F, 0x0809_0A0B, 0x0405_0607, 0x0001_0203);
            Self(_mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(reversed)))
        }
    }

    #[inline(always)]
    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self {
        match TABLE {
            0x96 => self ^ b ^ c,
            0xCA => c ^ (self & (b ^ c)),
            0xE8 => (self & b) | (c & (self | b)),
            // The sum of the rows of the table that are one. No kernel of this leaf comes here.
            _ => (0..8).filter(|row| TABLE >> row & 1 == 1).fold(self.and_not(self), |sum, row| {
                let input = |vector: Self, bit: i32| if row & bit != 0 { vector } else { !vector };
                sum | (input(self, 4) & input(b, 2) & input(c, 1))
            }),
        }
    }

    /// Selects whole bytes with one instruction, which is less than the mask takes.
    #[inline(always)]
    fn swap_halves<const N: u32>(low: Self, high: Self, mask: Self) -> (Self, Self) {
        let (up, down) = (high.shl::<N>(), low.shr::<N>());
        // SAFETY: `low` proves AVX2.
        unsafe {
            match N {
                32 => (
                    Self(_mm256_blend_epi32::<0xAA>(low.0, up.0)),
                    Self(_mm256_blend_epi32::<0xAA>(down.0, high.0)),
                ),
                16 => (
                    Self(_mm256_blend_epi16::<0xAA>(low.0, up.0)),
                    Self(_mm256_blend_epi16::<0xAA>(down.0, high.0)),
                ),
                8 => (
                    Self(_mm256_blendv_epi8(up.0, low.0, mask.0)),
                    Self(_mm256_blendv_epi8(high.0, down.0, mask.0)),
                ),
                _ => {
                    let changed = (down ^ high) & mask;
                    (low ^ changed.shl::<N>(), high ^ changed)
                }
            }
        }
    }

    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; WORDS]) -> [Self; WORDS] {
        // SAFETY: the rows prove AVX2.
        unsafe {
            let (ab, cd) = (_mm256_unpacklo_epi64(a.0, b.0), _mm256_unpacklo_epi64(c.0, d.0));
            let (ef, gh) = (_mm256_unpackhi_epi64(a.0, b.0), _mm256_unpackhi_epi64(c.0, d.0));
            [
                Self(_mm256_permute2x128_si256::<0x20>(ab, cd)),
                Self(_mm256_permute2x128_si256::<0x20>(ef, gh)),
                Self(_mm256_permute2x128_si256::<0x31>(ab, cd)),
                Self(_mm256_permute2x128_si256::<0x31>(ef, gh)),
            ]
        }
    }

    #[inline(always)]
    fn transpose32(rows: &mut [Self; 16]) {
        for group in rows.as_chunks_mut::<8>().0 {
            // SAFETY: the rows prove AVX2.
            unsafe {
                // First pairs of rows, then pairs of pairs: afterwards the words of one column of four rows are adjacent.
                let mut fours = *group;
                for four in fours.as_chunks_mut::<4>().0 {
                    let [a, b, c, d] = four.map(|row| row.0);
                    let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
                    let (ef, gh) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
                    *four = [
                        Self(_mm256_unpacklo_epi64(ab, cd)),
                        Self(_mm256_unpackhi_epi64(ab, cd)),
                        Self(_mm256_unpacklo_epi64(ef, gh)),
                        Self(_mm256_unpackhi_epi64(ef, gh)),
                    ];
                }
                for column in 0..4 {
                    let (upper, lower) = (fours[column].0, fours[column + 4].0);
                    group[column] = Self(_mm256_permute2x128_si256::<0x20>(upper, lower));
                    group[column + 4] = Self(_mm256_permute2x128_si256::<0x31>(upper, lower));
                }
            }
        }
    }
}

impl ShortVector for YmmVector {
    #[inline(always)]
    fn add16(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_add_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn sub16(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_sub_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn sub32(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_sub_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn mul16_lo(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_mullo_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn mul16_hi(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_mulhi_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn mul16_round(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_mulhrs_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn madd16(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_madd_epi16(self.0, other.0) })
    }

    #[inline(always)]
    fn shl16(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX2. A constant count becomes part of the instruction.
        Self(unsafe { _mm256_sll_epi16(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn shr16(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX2. A constant count becomes part of the instruction.
        Self(unsafe { _mm256_srl_epi16(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn sar16(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX2. A constant count becomes part of the instruction.
        Self(unsafe { _mm256_sra_epi16(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn mul32_signed(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_mul_epi32(self.0, other.0) })
    }

    #[inline(always)]
    fn high_halves(self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_shuffle_epi32::<0xF5>(self.0) })
    }

    #[inline(always)]
    fn join_high_halves(even: Self, odd: Self) -> Self {
        // SAFETY: the vectors prove AVX2.
        Self(unsafe { _mm256_blend_epi32::<0xAA>(_mm256_shuffle_epi32::<0xF5>(even.0), odd.0) })
    }

    #[inline(always)]
    fn negative32(self) -> HalfMask {
        // SAFETY: `self` proves AVX2.
        let signs = unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(self.0)) };
        signs.cast_unsigned() as HalfMask
    }

    #[inline(always)]
    fn shl32_by(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX2. A constant count becomes part of the instruction.
        Self(unsafe { _mm256_sll_epi32(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn shr32_by(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX2. A constant count becomes part of the instruction.
        Self(unsafe { _mm256_srl_epi32(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }

    #[inline(always)]
    fn sar32_by(self, count: u32) -> Self {
        // SAFETY: `self` proves AVX2. A constant count becomes part of the instruction.
        Self(unsafe { _mm256_sra_epi32(self.0, _mm_cvtsi32_si128(count.cast_signed())) })
    }
}

impl HalfVector for YmmVector {
    #[inline(always)]
    fn mul32(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_mul_epu32(self.0, other.0) })
    }

    #[inline(always)]
    fn shr_each(self, count: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_srlv_epi64(self.0, count.0) })
    }

    #[inline(always)]
    fn shl_each(self, count: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_sllv_epi64(self.0, count.0) })
    }

    #[inline(always)]
    fn is_equal(self, other: Self) -> Mask {
        // SAFETY: `self` proves AVX2. The instruction copies four bits.
        unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(self.0, other.0))) as Mask }
    }

    #[inline(always)]
    fn is_below(self, other: Self) -> Mask {
        // The comparison is signed. Turning the top bits of both words makes it unsigned.
        let sign = self.same(1 << 63);
        // SAFETY: `self` proves AVX2. The instruction copies four bits.
        unsafe {
            let below = _mm256_cmpgt_epi64((other ^ sign).0, (self ^ sign).0);
            _mm256_movemask_pd(_mm256_castsi256_pd(below)) as Mask
        }
    }

    #[inline(always)]
    fn ones_if(self, mask: Mask) -> Self {
        // SAFETY: `self` proves AVX2.
        unsafe {
            let bits = _mm256_setr_epi64x(1, 2, 4, 8);
            let set = _mm256_and_si256(_mm256_set1_epi64x(i64::from(mask)), bits);
            Self(_mm256_cmpeq_epi64(set, bits))
        }
    }

    #[inline(always)]
    fn blend(self, ones: Self, yes: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_blendv_epi8(self.0, yes.0, ones.0) })
    }

    #[inline(always)]
    fn pick16(self, words: [Self; 4]) -> Self {
        // SAFETY: `self` proves AVX2.
        unsafe {
            // The permutation selects half words: words 2 i and 2 i + 1 of a vector for index i. It reads three bits.
            let twice = _mm256_slli_epi64::<1>(_mm256_and_si256(self.0, _mm256_set1_epi64x(3)));
            let next = _mm256_add_epi64(twice, _mm256_set1_epi64x(1));
            let indices = _mm256_or_si256(twice, _mm256_slli_epi64::<32>(next));
            let [a, b, c, d] = words;
            let (a, b) =
                (_mm256_permutevar8x32_epi32(a.0, indices), _mm256_permutevar8x32_epi32(b.0, indices));
            let (c, d) =
                (_mm256_permutevar8x32_epi32(c.0, indices), _mm256_permutevar8x32_epi32(d.0, indices));
            let (a, b) = (_mm256_castsi256_pd(a), _mm256_castsi256_pd(b));
            let (c, d) = (_mm256_castsi256_pd(c), _mm256_castsi256_pd(d));
            // A blend of doubles looks at the top bit of each lane.
            let (third, fourth) =
                (_mm256_slli_epi64::<61>(self.0), _mm256_castsi256_pd(_mm256_slli_epi64::<60>(self.0)));
            let third = _mm256_castsi256_pd(third);
            let (low, high) = (_mm256_blendv_pd(a, b, third), _mm256_blendv_pd(c, d, third));
            Self(_mm256_castpd_si256(_mm256_blendv_pd(low, high, fourth)))
        }
    }

    #[inline(always)]
    fn transpose4(rows: [Self; WORDS]) -> [Self; WORDS] {
        Self::transpose(rows)
    }

    #[inline(always)]
    fn same(self, word: u64) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_set1_epi64x(word.cast_signed()) })
    }
}

impl Zeroize for YmmVector {
    fn zeroize(&mut self) {
        // SAFETY: the place is a valid `YmmVector`, and zero bits are one; a volatile write is not optimised away.
        unsafe { std::ptr::write_volatile(self, Self(std::mem::zeroed())) };
        compiler_fence(Ordering::SeqCst);
    }
}

impl Add for YmmVector {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_add_epi64(self.0, other.0) })
    }
}

impl Sub for YmmVector {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_sub_epi64(self.0, other.0) })
    }
}

impl BitAnd for YmmVector {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }
}

impl BitOr for YmmVector {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }
}

impl BitXor for YmmVector {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }
}

impl Not for YmmVector {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: `self` proves AVX2.
        Self(unsafe { _mm256_xor_si256(self.0, _mm256_set1_epi8(-1)) })
    }
}

impl fmt::Debug for Avx2Simd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AVX2")
    }
}

/// Prints no lanes, which can hold secrets.
impl fmt::Debug for YmmVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ymm")
    }
}

impl YmmVector {
    /// Returns a register as a vector: for `fma`, whose token contains this one's.
    #[inline(always)]
    pub(super) fn from_register(_simd: Avx2Simd, register: __m256i) -> Self {
        Self(register)
    }

    /// Returns the register.
    #[inline(always)]
    pub(super) fn register(self) -> __m256i {
        self.0
    }
}
