//! The NEON leaf of ARMv8: two lanes of 64 bits, for DES.
//!
//! It offers no hashes: the SHA extensions of ARMv8 hash one message faster than these lanes hash four
//! (docs/performance/records.md).
#![allow(unsafe_code, reason = "intrinsics are called here")]
#![allow(clippy::pointers_in_nomem_asm_block, reason = "a prefetch takes an address and reads nothing")]

use std::arch::aarch64::*;
use std::arch::{asm, is_aarch64_feature_detected};
use std::fmt;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};
use std::sync::atomic::{Ordering, compiler_fence};

use zeroize::Zeroize;

use super::partial::{short_words, store_short};
use super::registers::clear_registers;
use super::{BlindSimd, BlindVector, Cpu, HalfMask, Mask, Simd, Vector};
use crate::simd::Leaf;

/// The lanes of a vector.
const WORDS: usize = 2;

/// An ARMv8 CPU with NEON. [`NeonSimd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct NeonSimd(());

/// A 128-bit register.
///
/// The field is private to this module, and every function that makes a `NeonVector` takes a [`NeonSimd`] or another
/// `NeonVector`. So a `NeonVector` proves NEON.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct NeonVector(uint64x2_t);

/// False on big-endian systems, for which loads of this module would have to exchange the lanes, and under Miri, which
/// interprets neither these intrinsics nor assembly.
pub(super) const HAS_INTRINSICS: bool = cfg!(all(target_endian = "little", not(miri)));

impl Cpu for NeonSimd {
    const LEAF: Leaf = Leaf::Neon;

    fn detect() -> Option<Self> {
        let has_all = is_aarch64_feature_detected!("neon");
        (has_all && HAS_INTRINSICS).then_some(Self(()))
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
        // SAFETY: `self` proves NEON.
        unsafe { clear_registers() }
    }
}

/// Runs a body for [`Cpu::call`]. Code that is inlined here is compiled with these features.
#[inline(never)]
#[target_feature(enable = "neon")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Prefetches a cache line.
#[inline(always)]
pub(super) fn prefetch<T>(line: &T) {
    if HAS_INTRINSICS {
        let line = std::ptr::from_ref(line);
        // SAFETY: fetching ahead reads nothing.
        unsafe { asm!("prfm pldl1keep, [{}]", in(reg) line, options(nomem, nostack, preserves_flags)) };
    }
}

/// Prefetches the bytes at an offset into the second-level cache. The offset may be out of bounds.
#[inline(always)]
pub(crate) fn fetch_ahead(bytes: &[u8], at: u32) {
    if HAS_INTRINSICS {
        let line = bytes.as_ptr().wrapping_add(at as usize);
        // SAFETY: fetching ahead reads nothing, at any address.
        unsafe { asm!("prfm pldl2keep, [{}]", in(reg) line, options(nomem, nostack, preserves_flags)) };
    }
}

impl BlindSimd for NeonSimd {
    type V = NeonVector;

    #[inline(always)]
    fn splat(self, word: u64) -> NeonVector {
        // SAFETY: `self` proves NEON.
        NeonVector(unsafe { vdupq_n_u64(word) })
    }
}

impl Simd for NeonSimd {
    #[inline(always)]
    fn load(self, words: &[u64; WORDS]) -> NeonVector {
        // SAFETY: `self` proves NEON; the reference is to 16 readable bytes.
        NeonVector(unsafe { vld1q_u64(words.as_ptr()) })
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 8 * WORDS]) -> NeonVector {
        // SAFETY: `self` proves NEON; the reference is to 16 readable bytes, and the load may be unaligned.
        NeonVector(unsafe { vreinterpretq_u64_u8(vld1q_u8(bytes.as_ptr())) })
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> NeonVector {
        // SAFETY: `self` proves NEON.
        NeonVector(unsafe { vreinterpretq_u64_u32(vdupq_n_u32(word)) })
    }

    #[inline(always)]
    fn load_prefix(self, bytes: &[u8]) -> NeonVector {
        match bytes.first_chunk() {
            Some(whole) => self.load_bytes(whole),
            None => self.load(&short_words(bytes)),
        }
    }
}

impl BlindVector for NeonVector {
    type Mask = Mask;
    const UNROLLS: bool = true;

    #[inline(always)]
    fn shl<const N: u32>(self) -> Self {
        // SAFETY: `self` proves NEON. The count is a constant, which the compiler puts into the instruction.
        Self(unsafe { vshlq_u64(self.0, vdupq_n_s64(i64::from(N))) })
    }

    #[inline(always)]
    fn shr<const N: u32>(self) -> Self {
        // SAFETY: as for `shl`. A negative count shifts to the right.
        Self(unsafe { vshlq_u64(self.0, vdupq_n_s64(-i64::from(N))) })
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vbicq_u64(other.0, self.0) })
    }

    #[inline(always)]
    fn add_if(self, mask: Mask, other: Self) -> Self {
        // SAFETY: `self` proves NEON; the array is 16 readable bytes.
        unsafe {
            let ones = vtstq_u64(vdupq_n_u64(u64::from(mask)), vld1q_u64([1, 2].as_ptr()));
            Self(vaddq_u64(self.0, vandq_u64(other.0, ones)))
        }
    }
}

impl Vector for NeonVector {
    const WORDS: usize = WORDS;
    const HAS_TERNARY: bool = false;
    const OFFERS_HASHES: bool = false;
    const HASHES_IN_PAIRS: bool = false;

    type Lanes<T: Copy> = [T; WORDS];
    type Bytes = [u8; 8 * WORDS];

    #[inline(always)]
    fn words(self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        // SAFETY: `self` proves NEON; the array is 16 writable bytes.
        unsafe { vst1q_u64(words.as_mut_ptr(), self.0) };
        words
    }

    #[inline(always)]
    fn store_prefix(self, out: &mut [u8]) {
        match out.first_chunk_mut::<{ 8 * WORDS }>() {
            // SAFETY: `self` proves NEON; the array is 16 writable bytes, and the store may be unaligned.
            Some(whole) => unsafe { vst1q_u8(whole.as_mut_ptr(), self.bytes()) },
            None => store_short(self.words(), out),
        }
    }

    #[inline(always)]
    fn rotr<const N: i32>(self) -> Self {
        // SAFETY: as for `shl`.
        unsafe {
            let right = vshlq_u64(self.0, vdupq_n_s64(-i64::from(N)));
            Self(vorrq_u64(right, vshlq_u64(self.0, vdupq_n_s64(64 - i64::from(N)))))
        }
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        // SAFETY: `self` proves NEON.
        Self::of_bytes(unsafe { vrev64q_u8(self.bytes()) })
    }

    #[inline(always)]
    fn add32(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self::of_halves(unsafe { vaddq_u32(self.halves(), other.halves()) })
    }

    #[inline(always)]
    fn add32_if(self, mask: HalfMask, other: Self) -> Self {
        // SAFETY: `self` proves NEON; the array is 16 readable bytes.
        unsafe {
            let ones = vtstq_u32(vdupq_n_u32(u32::from(mask)), vld1q_u32([1, 2, 4, 8].as_ptr()));
            Self::of_halves(vaddq_u32(self.halves(), vandq_u32(other.halves(), ones)))
        }
    }

    #[inline(always)]
    fn shr32<const N: u32>(self) -> Self {
        // SAFETY: as for `shr`.
        Self::of_halves(unsafe { vshlq_u32(self.halves(), vdupq_n_s32(-N.cast_signed())) })
    }

    #[inline(always)]
    fn rotr32<const N: i32>(self) -> Self {
        // SAFETY: as for `shl`.
        unsafe {
            let right = vshlq_u32(self.halves(), vdupq_n_s32(-N));
            Self::of_halves(vorrq_u32(right, vshlq_u32(self.halves(), vdupq_n_s32(32 - N))))
        }
    }

    #[inline(always)]
    fn swap_bytes32(self) -> Self {
        // SAFETY: `self` proves NEON.
        Self::of_bytes(unsafe { vrev32q_u8(self.bytes()) })
    }

    #[inline(always)]
    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self {
        match TABLE {
            0x96 => self ^ b ^ c,
            0xCA => self.selected(b, c),
            // If two inputs differ, the third decides.
            0xE8 => (self ^ b).selected(c, self),
            // The sum of the rows of the table that are one. No kernel of this leaf comes here.
            _ => (0..8).filter(|row| TABLE >> row & 1 == 1).fold(self.and_not(self), |sum, row| {
                let input = |vector: Self, bit: i32| if row & bit != 0 { vector } else { !vector };
                sum | (input(self, 4) & input(b, 2) & input(c, 1))
            }),
        }
    }

    /// Needs one instruction for each result down to halves of four bits, and two below. The mask alone takes four.
    #[inline(always)]
    fn swap_halves<const N: u32>(low: Self, high: Self, mask: Self) -> (Self, Self) {
        // SAFETY: `low` proves NEON.
        unsafe {
            match N {
                32 => (
                    Self::of_halves(vtrn1q_u32(low.halves(), high.halves())),
                    Self::of_halves(vtrn2q_u32(low.halves(), high.halves())),
                ),
                16 => (
                    Self::of_quarters(vtrn1q_u16(low.quarters(), high.quarters())),
                    Self::of_quarters(vtrn2q_u16(low.quarters(), high.quarters())),
                ),
                8 => (
                    Self::of_bytes(vtrn1q_u8(low.bytes(), high.bytes())),
                    Self::of_bytes(vtrn2q_u8(low.bytes(), high.bytes())),
                ),
                // Shifts within bytes that keep the other half.
                4 => (
                    Self::of_bytes(vsliq_n_u8::<4>(low.bytes(), high.bytes())),
                    Self::of_bytes(vsriq_n_u8::<4>(high.bytes(), low.bytes())),
                ),
                _ => (mask.selected(low, high.shl::<N>()), mask.selected(low.shr::<N>(), high)),
            }
        }
    }

    #[inline(always)]
    fn transpose([a, b]: [Self; WORDS]) -> [Self; WORDS] {
        // SAFETY: the rows prove NEON.
        unsafe { [Self(vtrn1q_u64(a.0, b.0)), Self(vtrn2q_u64(a.0, b.0))] }
    }

    #[inline(always)]
    fn transpose32(rows: &mut [Self; 16]) {
        for group in rows.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = group.map(Self::halves);
            // SAFETY: the rows prove NEON.
            let pairs = unsafe { [vtrn1q_u32(a, b), vtrn1q_u32(c, d), vtrn2q_u32(a, b), vtrn2q_u32(c, d)] };
            let [ab, cd, ef, gh] = pairs.map(Self::of_halves);
            let ([first, third], [second, fourth]) = (Self::transpose([ab, cd]), Self::transpose([ef, gh]));
            *group = [first, second, third, fourth];
        }
    }
}

impl NeonVector {
    #[inline(always)]
    fn bytes(self) -> uint8x16_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u8_u64(self.0) }
    }

    #[inline(always)]
    fn of_bytes(bytes: uint8x16_t) -> Self {
        // SAFETY: only functions with a proof of NEON make a register.
        Self(unsafe { vreinterpretq_u64_u8(bytes) })
    }

    #[inline(always)]
    fn quarters(self) -> uint16x8_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u16_u64(self.0) }
    }

    #[inline(always)]
    fn of_quarters(quarters: uint16x8_t) -> Self {
        // SAFETY: as for `of_bytes`.
        Self(unsafe { vreinterpretq_u64_u16(quarters) })
    }

    #[inline(always)]
    fn halves(self) -> uint32x4_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u32_u64(self.0) }
    }

    #[inline(always)]
    fn of_halves(halves: uint32x4_t) -> Self {
        // SAFETY: as for `of_bytes`.
        Self(unsafe { vreinterpretq_u64_u32(halves) })
    }

    /// Returns the bits of `yes` if the bit of `self` is one, and the bits of `no` otherwise.
    #[inline(always)]
    fn selected(self, yes: Self, no: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vbslq_u64(self.0, yes.0, no.0) })
    }
}

impl Zeroize for NeonVector {
    fn zeroize(&mut self) {
        // SAFETY: the place is a valid `NeonVector`, and zero bits are one; a volatile write is not optimised away.
        unsafe { std::ptr::write_volatile(self, Self(std::mem::zeroed())) };
        compiler_fence(Ordering::SeqCst);
    }
}

impl Add for NeonVector {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vaddq_u64(self.0, other.0) })
    }
}

impl Sub for NeonVector {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vsubq_u64(self.0, other.0) })
    }
}

impl BitAnd for NeonVector {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vandq_u64(self.0, other.0) })
    }
}

impl BitOr for NeonVector {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vorrq_u64(self.0, other.0) })
    }
}

impl BitXor for NeonVector {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { veorq_u64(self.0, other.0) })
    }
}

impl Not for NeonVector {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: `self` proves NEON.
        Self::of_bytes(unsafe { vmvnq_u8(self.bytes()) })
    }
}

impl fmt::Debug for NeonSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NEON")
    }
}

/// Prints no lanes, which can hold secrets.
impl fmt::Debug for NeonVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Neon")
    }
}
