//! The AES leaf of ARMv8: rounds of AES and carry-less products on 128 bits, by the crypto extension.
#![allow(unsafe_code, reason = "intrinsics are called here")]
#![allow(
    inline_always_mismatching_target_features,
    reason = "the functions here are inlined into `enter` first, which has the features"
)]

use std::arch::aarch64::*;
use std::arch::{asm, is_aarch64_feature_detected};
use std::fmt;
use std::ops::BitXor;

use super::Cpu;
use super::blocks::{AesBlocks, BlockBytes, SingleSimd};
use super::four::RegisterSimd;
use super::neon::{HAS_INTRINSICS, prefetch};
use super::partial::{self, BlockRegister};
use super::registers::clear_registers;
use crate::simd::Leaf;

/// An ARMv8 CPU with NEON, AESE and PMULL. [`ArmAesSimd::detect`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct ArmAesSimd(());

/// A block in a register.
///
/// The field is private to this module, and every function that makes a `NeonBlock` takes an [`ArmAesSimd`] or another
/// `NeonBlock`. So a `NeonBlock` proves NEON, AESE and PMULL.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct NeonBlock(uint8x16_t);

impl Cpu for ArmAesSimd {
    const LEAF: Leaf = Leaf::ArmAes;

    fn detect() -> Option<Self> {
        let has_all = is_aarch64_feature_detected!("neon")
            && is_aarch64_feature_detected!("aes")
            && is_aarch64_feature_detected!("pmull");
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
#[target_feature(enable = "neon,aes")]
fn enter<R>(body: impl FnOnce() -> R) -> R {
    body()
}

impl SingleSimd for ArmAesSimd {
    type Block = NeonBlock;

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
    fn load_block(self, bytes: &BlockBytes) -> NeonBlock {
        // SAFETY: `self` proves NEON; the reference is to 16 readable bytes, and the load may be unaligned.
        NeonBlock(unsafe { vld1q_u8(bytes.as_ptr()) })
    }

    #[inline(always)]
    fn block_of_words(self, [low, high]: [u64; 2]) -> NeonBlock {
        // SAFETY: `self` proves NEON.
        NeonBlock(unsafe { vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))) })
    }

    #[inline(always)]
    fn load_block_at(self, bytes: &[u8], start: usize) -> NeonBlock {
        partial::load_block_at(self, bytes, start)
    }

    #[inline(always)]
    fn load_padded_at(self, bytes: &[u8], start: usize) -> NeonBlock {
        partial::load_padded_at(self, bytes, start)
    }

    #[inline(always)]
    fn store_block(self, block: NeonBlock, out: &mut BlockBytes) {
        // SAFETY: `self` proves NEON; the reference is to 16 writable bytes, and the store may be unaligned.
        unsafe { vst1q_u8(out.as_mut_ptr(), block.0) };
    }

    #[inline(always)]
    fn store_block_prefix(self, block: NeonBlock, out: &mut [u8]) {
        partial::store_block_prefix(self, block, out);
    }

    #[inline(always)]
    fn differ(self, a: NeonBlock, b: NeonBlock, len: usize) -> bool {
        let [low, high] = (a ^ b).masked(partial::prefix_mask(self, len)).words();
        low | high != 0
    }

    #[inline(always)]
    fn add_to_counter(self, block: NeonBlock, count: u32) -> NeonBlock {
        // SAFETY: `self` proves NEON.
        unsafe {
            let added = vsetq_lane_u32::<0>(count, vdupq_n_u32(0));
            NeonBlock(vreinterpretq_u8_u32(vaddq_u32(vreinterpretq_u32_u8(block.0), added)))
        }
    }
}

impl NeonBlock {
    #[inline(always)]
    fn halves(self) -> uint64x2_t {
        // SAFETY: `self` proves NEON.
        unsafe { vreinterpretq_u64_u8(self.0) }
    }
}

impl BlockRegister for NeonBlock {
    #[inline(always)]
    fn words(self) -> [u64; 2] {
        // SAFETY: `self` proves NEON.
        unsafe { [vgetq_lane_u64::<0>(self.halves()), vgetq_lane_u64::<1>(self.halves())] }
    }

    #[inline(always)]
    fn moved(self, moves: Self) -> Self {
        // SAFETY: `self` proves NEON. An index past the register, as 0x80 is, makes a zero.
        Self(unsafe { vqtbl1q_u8(self.0, moves.0) })
    }

    #[inline(always)]
    fn exchanged_words(self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vextq_u8::<8>(self.0, self.0) })
    }

    #[inline(always)]
    fn low_words(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vreinterpretq_u8_u64(vtrn1q_u64(self.halves(), other.halves())) })
    }

    #[inline(always)]
    fn high_words(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vreinterpretq_u8_u64(vtrn2q_u64(self.halves(), other.halves())) })
    }

    #[inline(always)]
    fn low_product(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON and PMULL. The words stay in their registers: PMULL reads the lower ones.
        unsafe {
            let (a, b) = (vgetq_lane_u64::<0>(self.halves()), vgetq_lane_u64::<0>(other.halves()));
            Self(vreinterpretq_u8_p128(vmull_p64(a, b)))
        }
    }

    #[inline(always)]
    fn high_product(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON and PMULL.
        unsafe {
            let (a, b) = (vreinterpretq_p64_u8(self.0), vreinterpretq_p64_u8(other.0));
            Self(vreinterpretq_u8_p128(vmull_high_p64(a, b)))
        }
    }
}

impl RegisterSimd for ArmAesSimd {
    // Sixteen blocks and the keys of four records fit the 32 registers. Cores that start four AESE a cycle need twelve
    // blocks or more in flight.
    const FOURS: usize = 4;
}

// AESE and AESD add a key first, and the trait adds it last. So a round here has a key of zeros and an XOR of its own.
// The compiler drops the XOR with zero, and joins an XOR before a round with its key of zeros.
impl AesBlocks for NeonBlock {
    const ADDS_KEYS_FIRST: bool = true;

    #[inline(always)]
    fn encrypt_round(self, key: Self) -> Self {
        // SAFETY: `self` proves NEON and AESE.
        Self(unsafe { vaesmcq_u8(vaeseq_u8(self.0, vdupq_n_u8(0))) }) ^ key
    }

    #[inline(always)]
    fn encrypt_last(self, key: Self) -> Self {
        // SAFETY: `self` proves NEON and AESE.
        Self(unsafe { vaeseq_u8(self.0, vdupq_n_u8(0)) }) ^ key
    }

    #[inline(always)]
    fn decrypt_round(self, key: Self) -> Self {
        // SAFETY: `self` proves NEON and AESD.
        Self(unsafe { vaesimcq_u8(vaesdq_u8(self.0, vdupq_n_u8(0))) }) ^ key
    }

    #[inline(always)]
    fn decrypt_last(self, key: Self) -> Self {
        // SAFETY: `self` proves NEON and AESD.
        Self(unsafe { vaesdq_u8(self.0, vdupq_n_u8(0)) }) ^ key
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vrev64q_u8(self.0) }).exchanged_words()
    }

    #[inline(always)]
    fn masked(self, mask: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vandq_u8(self.0, mask.0) })
    }

    #[inline(always)]
    fn last_words<const ROTATES: bool>(self) -> Self {
        // SAFETY: `self` proves NEON.
        unsafe {
            let last = vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(self.0));
            let rotated =
                if ROTATES { vorrq_u32(vshrq_n_u32::<8>(last), vshlq_n_u32::<24>(last)) } else { last };
            Self(vreinterpretq_u8_u32(rotated))
        }
    }

    #[inline(always)]
    fn word_sums(self) -> Self {
        // SAFETY: `self` proves NEON.
        unsafe {
            let zero = vdupq_n_u8(0);
            let pairs = veorq_u8(self.0, vextq_u8::<12>(zero, self.0));
            Self(veorq_u8(pairs, vextq_u8::<8>(zero, pairs)))
        }
    }
}

impl BitXor for NeonBlock {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { veorq_u8(self.0, other.0) })
    }
}

impl fmt::Debug for ArmAesSimd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AES of ARMv8")
    }
}

/// Prints no bytes, which can be secret.
impl fmt::Debug for NeonBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Neon")
    }
}
