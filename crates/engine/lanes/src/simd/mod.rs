//! Vectors of 64-bit lanes: one trait, and a leaf for each kind of CPU, which decides how many lanes there are.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`Cpu`] and [`Simd`] (a CPU with the instructions) and [`Vector`] (its lanes) |
//! | `blind` | [`BlindSimd`] and [`BlindMulVector`]: the part of them that shows no word |
//! | `multiply` | [`MulSimd`] and [`MulVector`]: eight lanes with products of 52 bits |
//! | `blocks` | [`SingleSimd`] and [`BlockSimd`]: rounds of AES on one and on four blocks, products of GHASH |
//! | `short` | [`ShortSimd`] and [`ShortVector`]: words of 16 and 32 bits, for polynomials of lattice schemes |
//! | `sha` | [`ShaSimd`]: rounds of SHA-1 and SHA-256 by instructions of their own |
//! | `portable` | the same in plain Rust, for tests on any machine; only with the feature of that name |
//! | `doubles` | numbers in limbs of doubles, and their products |
//! | `avx2` | AVX2: four lanes |
//! | `neon` | NEON of ARMv8: two lanes |
//! | `leaf` | the names of the leaves |
//! | `erase` | erasure of bytes that held secrets |
//! | `float` | [`float::FloatSimd`]: lanes of doubles, and field products of the curves |
//! | `pair` | eight lanes as two vectors of four |
//! | `fma` | AVX2 with FMA: the token, the state of the floating-point unit, and the kernels of doubles |
//! | `ifma` | AVX-512: every intrinsic and `asm!` block |
//! | `aes_ni` | AES-NI and PCLMULQDQ with AVX |
//! | `vaes256` | VAES and VPCLMULQDQ with AVX2 |
//! | `vaes` | VAES and VPCLMULQDQ with AVX-512 |
//! | `aes_arm` | AESE and PMULL of ARMv8 |
//! | `four` | four blocks in four registers; `partial` has blocks of which a slice holds some bytes only |
//! | `sha_ni` | the SHA extensions of x86-64 |
//! | `registers` | clearing of the vector registers |
//! | `leak_check` | marks for Valgrind, with the feature of that name |
//!
//! A vector exists only if its CPU has the instructions. To make a vector, a function must hold a [`Simd`] token,
//! and each token has one constructor, which asks the CPU. So arithmetic on vectors needs no further proof.
//!
//! Algorithms are `#[inline(always)]` functions over these traits. [`Cpu::call`] compiles them for a CPU. It is a
//! function of its own, so registers are spilled there and nowhere else.

#[cfg(target_arch = "aarch64")]
mod aes_arm;
#[cfg(target_arch = "x86_64")]
mod aes_ni;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod blind;
mod blocks;
#[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
pub(crate) mod doubles;
mod erase;
#[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
pub(crate) mod float;
#[cfg(target_arch = "x86_64")]
mod fma;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod four;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod leaf;
#[cfg(all(feature = "leak-check", target_arch = "x86_64"))]
pub mod leak_check;
mod multiply;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
mod pair;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod partial;
#[cfg(any(test, feature = "portable"))]
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod registers;
mod sha;
#[cfg(target_arch = "x86_64")]
mod sha_ni;
mod short;
#[cfg(target_arch = "x86_64")]
mod vaes;
#[cfg(target_arch = "x86_64")]
mod vaes256;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn fetch_ahead(_bytes: &[u8], _at: u32) {}

use std::fmt::Debug;

#[cfg(target_arch = "aarch64")]
pub(crate) use aes_arm::ArmAesSimd;
#[cfg(target_arch = "x86_64")]
pub(crate) use aes_ni::AesSimd;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2Simd;
pub(crate) use blind::{BlindMulSimd, BlindMulVector, BlindSimd, BlindVector, LaneMask};
pub(crate) use blocks::{
    AesBlocks, BLOCK, BlockBytes, BlockSimd, FOUR_BLOCKS, HashPowers, OneBlock, SingleSimd,
};
pub(crate) use erase::erase;
#[cfg(target_arch = "x86_64")]
pub(crate) use fma::FmaSimd;
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) use fma::with_mxcsr;
#[cfg(target_arch = "x86_64")]
pub(crate) use ifma::{IfmaSimd, fetch_ahead};
pub use leaf::Leaf;
pub(crate) use multiply::{MulSimd, MulVector, UnzipSimd};
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::{NeonSimd, fetch_ahead};
#[cfg(feature = "measure")]
pub(crate) use portable::PortableVector;
#[cfg(any(test, feature = "portable"))]
pub(crate) use portable::{PortableFma, PortableSimd};
pub(crate) use sha::{KeptWords, RoundConstants, ShaSimd};
#[cfg(target_arch = "x86_64")]
pub(crate) use sha_ni::ShaNiSimd;
pub(crate) use short::{ShortSimd, ShortVector};
#[cfg(target_arch = "x86_64")]
pub(crate) use vaes::VaesSimd;
#[cfg(target_arch = "x86_64")]
pub(crate) use vaes256::VaesYmmSimd;

/// The lanes of a vector that has products: the operations that the public-key kernels compute side by side.
pub(crate) const LANES: usize = 8;

/// One word per lane of such a vector.
pub(crate) type Words = [u64; LANES];

/// One bit per lane: bit `i` for lane `i`.
pub(crate) type Mask = u8;

/// One bit per half lane. Half `2 i` is the low half of lane `i`; the operations on words of 32 bits act on halves.
pub(crate) type HalfMask = u16;

/// A CPU that has certain instructions. A value of this type has no size; it is the permission to use them.
pub(crate) trait Cpu: Copy + Debug + Send + Sync + 'static {
    /// The leaf that these instructions form.
    const LEAF: Leaf;

    /// Returns the token if this CPU has every instruction of the leaf and the system saves its registers.
    fn detect() -> Option<Self>;

    /// Runs `body` as a separate function that is compiled for this CPU. `body` should be an `#[inline(always)]`
    /// closure.
    fn call<R>(self, body: impl FnOnce() -> R) -> R;

    /// Prefetches a cache line, whose address must be public.
    #[inline(always)]
    fn prefetch<T>(self, _line: &T) {}

    /// Overwrites the vector registers, which can hold secrets.
    fn clear_registers(self);
}

/// A CPU that can make vectors, and show their words.
pub(crate) trait Simd: BlindSimd<V: Vector> {
    /// Loads one word per lane.
    fn load(self, words: &LaneValues<Self::V, u64>) -> Self::V;

    /// Loads the bytes of a vector as little-endian words.
    fn load_bytes(self, bytes: &<Self::V as Vector>::Bytes) -> Self::V;

    /// Returns the same word in every half lane.
    fn splat32(self, word: u32) -> Self::V;

    /// Loads the first bytes of a slice as little-endian words, as many as a vector holds. A shorter slice is followed
    /// by zeros.
    fn load_prefix(self, bytes: &[u8]) -> Self::V;
}

/// One value per lane of a vector.
pub(crate) type LaneValues<V, T> = <V as Vector>::Lanes<T>;

/// Lanes of 64 bits. Unless its documentation says otherwise, an operation works on each lane by itself and wraps.
/// Every operation takes the same time for all values.
pub(crate) trait Vector: BlindVector<Mask = Mask> {
    /// The number of lanes: a power of two up to 8.
    const WORDS: usize;

    /// The number of half lanes.
    const HALVES: usize = 2 * Self::WORDS;

    /// The bytes of a vector.
    const BYTES: usize = 8 * Self::WORDS;

    /// The bits of a vector.
    const BITS: usize = 64 * Self::WORDS;

    /// True if [`Vector::ternary`] is one instruction for every table. Otherwise it is a few instructions for the
    /// tables 0x96, 0xCA and 0xE8, and slow for others.
    const HAS_TERNARY: bool;

    /// True if lanes hash many messages faster than the instructions of such CPUs hash one after the other.
    const OFFERS_HASHES: bool = true;

    /// True if two groups of messages are hashed in turn, because a round of one group waits for the round before it.
    /// That needs more than sixteen registers.
    const HASHES_IN_PAIRS: bool;

    /// An array with one value per lane.
    type Lanes<T: Copy>: LaneArray<T>;

    /// The bytes of a vector as an array.
    type Bytes: LaneArray<u8>;

    /// Returns the words of the lanes.
    fn words(self) -> Self::Lanes<u64>;

    /// Stores the leading bytes of the little-endian words, as many as the slice holds.
    fn store_prefix(self, out: &mut [u8]);

    /// Rotates to the right by `N` from 1 to 63.
    fn rotr<const N: i32>(self) -> Self;

    /// Reverses the bytes of each word.
    fn swap_bytes(self) -> Self;

    /// Computes `self + other` in each half lane.
    fn add32(self, other: Self) -> Self;

    /// Computes `self + other` in half lanes whose mask bit is set, and returns `self` in the others.
    fn add32_if(self, mask: HalfMask, other: Self) -> Self;

    /// Shifts each half lane to the right by `N` below 32, logically.
    fn shr32<const N: u32>(self) -> Self;

    /// Rotates each half lane to the right by `N` from 1 to 31.
    fn rotr32<const N: i32>(self) -> Self;

    /// Reverses the bytes of each half lane.
    fn swap_bytes32(self) -> Self;

    /// Computes any function of three bits: for bits a of self, b and c, the result is bit `4a + 2b + c` of `TABLE`.
    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self;

    /// Exchanges the upper half of each `2 N` bits of `low` with the lower half of those of `high`. `mask` has ones in
    /// the lower halves.
    #[inline(always)]
    fn swap_halves<const N: u32>(low: Self, high: Self, mask: Self) -> (Self, Self) {
        if Self::HAS_TERNARY {
            // 0xCA is `mask ? yes : no`.
            return (mask.ternary::<0xCA>(low, high.shl::<N>()), mask.ternary::<0xCA>(low.shr::<N>(), high));
        }
        // Six operations, and not two shifts and two selections of three operations each.
        let changed = (low.shr::<N>() ^ high) & mask;
        (low ^ changed.shl::<N>(), high ^ changed)
    }

    /// Transposes one row per lane: lane `j` of row `i` becomes lane `i` of row `j`.
    fn transpose(rows: Self::Lanes<Self>) -> Self::Lanes<Self>;

    /// Transposes sixteen rows, in groups of as many as a row has half lanes: half lane `j` of row `i` of a group
    /// becomes half lane `i` of row `j`.
    fn transpose32(rows: &mut [Self; 16]);
}

/// An array whose length is known from its type alone.
pub(crate) trait LaneArray<T>: Copy + AsRef<[T]> + AsMut<[T]> {
    /// Returns an array of the values of a function at 0, 1 and so on.
    fn from_fn(value: impl FnMut(usize) -> T) -> Self;

    /// Divides a slice into arrays, and returns the elements after the last array too.
    fn chunks(slice: &[T]) -> (&[Self], &[T]);

    /// As [`LaneArray::chunks`], without the elements after the last array.
    fn chunks_mut(slice: &mut [T]) -> &mut [Self];
}

impl<T: Copy, const N: usize> LaneArray<T> for [T; N] {
    #[inline(always)]
    fn from_fn(value: impl FnMut(usize) -> T) -> Self {
        std::array::from_fn(value)
    }

    #[inline(always)]
    fn chunks(slice: &[T]) -> (&[Self], &[T]) {
        slice.as_chunks()
    }

    #[inline(always)]
    fn chunks_mut(slice: &mut [T]) -> &mut [Self] {
        slice.as_chunks_mut().0
    }
}

/// Returns the same value, which is public from here on although it was computed from secrets. Examples are the r of
/// a signature and the test that a nonce is in range. Valgrind is informed in builds for the leak check
/// (`lab/leaks`); other builds pay nothing.
#[inline(always)]
pub(crate) fn declassify<T: Copy>(value: T) -> T {
    #[cfg(all(feature = "leak-check", target_arch = "x86_64"))]
    return leak_check::revealed(value);
    #[cfg(not(all(feature = "leak-check", target_arch = "x86_64")))]
    value
}

#[cfg(test)]
mod float_tests;
#[cfg(test)]
mod tests;
