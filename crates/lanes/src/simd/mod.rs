//! Vectors of eight 64-bit lanes: one trait, an AVX-512 IFMA leaf and a portable leaf.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`Simd`] (a CPU with the instructions) and [`Vector`] (eight lanes) |
//! | `blocks` | [`BlockSimd`] (rounds of AES, products of GHASH) |
//! | `portable` | the same in plain Rust, for tests on any machine; only with the feature of that name |
//! | `erase` | erasure of bytes that held secrets |
//! | `ifma` | AVX-512: every intrinsic and `asm!` block |
//! | `vaes` | AVX-512 with VAES and VPCLMULQDQ |
//! | `leak_check` | marks for Valgrind, with the feature of that name |
//!
//! A vector exists only if its CPU has the instructions. To make a vector, a function must hold a [`Simd`] token,
//! and the token of `ifma` has one constructor, which asks the CPU. So arithmetic on vectors needs no further proof.
//!
//! Algorithms are `#[inline(always)]` functions over these traits. [`Simd::call`] compiles them for a CPU. It is a
//! function of its own, so registers are spilled there and nowhere else.

mod blocks;
mod erase;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(all(feature = "leak-check", target_arch = "x86_64"))]
pub mod leak_check;
#[cfg(any(test, feature = "portable"))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod vaes;

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fetch_ahead(_bytes: &[u8], _at: u32) {}

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, BitXor, Sub};

use zeroize::Zeroize;

pub(crate) use blocks::{BLOCK, BlockSimd, VECTOR_BYTES};
pub(crate) use erase::erase;
#[cfg(target_arch = "x86_64")]
pub(crate) use ifma::{IfmaSimd, fetch_ahead};
#[cfg(any(test, feature = "portable"))]
pub(crate) use portable::PortableSimd;
#[cfg(feature = "measure")]
pub(crate) use portable::PortableVector;
#[cfg(target_arch = "x86_64")]
pub(crate) use vaes::VaesSimd;

/// The lanes of a vector.
pub(crate) const LANES: usize = 8;

/// One word per lane.
pub(crate) type Words = [u64; LANES];

/// One bit per lane: bit `i` for lane `i`.
pub(crate) type Mask = u8;

/// The half lanes of a vector, on which the operations on 32-bit words act. Half `2 i` is the low half of lane `i`.
pub(crate) const HALVES: usize = 2 * LANES;

/// One bit per half lane.
pub(crate) type HalfMask = u16;

/// A CPU that has the instructions of its vectors. A value of this type has no size; it is the permission to make
/// vectors.
pub(crate) trait Simd: Copy + Debug + Send + Sync + 'static {
    /// The vectors of the CPU.
    type V: Vector;

    /// Returns the same word in every lane.
    fn splat(self, word: u64) -> Self::V;

    /// Loads one word per lane.
    fn load(self, words: &Words) -> Self::V;

    /// Loads sixty-four bytes as eight little-endian words.
    fn load_bytes(self, bytes: &[u8; 8 * LANES]) -> Self::V;

    /// Returns the same word in every half lane.
    fn splat32(self, word: u32) -> Self::V;

    /// Loads the first sixty-four bytes as little-endian words. A shorter slice is followed by zeros.
    fn load_prefix(self, bytes: &[u8]) -> Self::V;

    /// Prefetches a cache line, whose address must be public.
    #[inline(always)]
    fn prefetch<T>(self, _line: &T) {}

    /// Returns zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(0)
    }

    /// Runs `body` as a separate function that is compiled for this CPU. `body` should be an `#[inline(always)]`
    /// closure.
    fn call<R>(self, body: impl FnOnce() -> R) -> R;

    /// Runs a step of a larger body: in place if vectors are registers, and as a separate function otherwise.
    /// Inlined arithmetic on arrays would be a huge amount of code and take minutes to compile.
    #[inline(always)]
    fn step<R>(self, body: impl FnOnce() -> R) -> R {
        if Self::V::UNROLLS { body() } else { self.call(body) }
    }

    /// Overwrites the vector registers, which can hold secrets.
    fn clear_registers(self);
}

/// Eight lanes of 64 bits. Unless its documentation says otherwise, an operation works on each lane by itself and
/// wraps. Every operation takes the same time for all values.
pub(crate) trait Vector:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + Zeroize
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + 'static
{
    /// True if loops with a fixed number of rounds should have a copy of their body per round.
    const UNROLLS: bool = false;

    /// Returns the words of the lanes.
    fn words(self) -> Words;

    /// Stores the leading bytes of the little-endian words, as many as the slice holds.
    fn store_prefix(self, place: &mut [u8]);

    /// Computes `self + low52(low52(a) * low52(b))`.
    fn madd_lo(self, a: Self, b: Self) -> Self;

    /// Computes `self + (low52(a) * low52(b) >> 52)`.
    fn madd_hi(self, a: Self, b: Self) -> Self;

    /// Computes [`Vector::madd_lo`], pinned: the compiler never moves it across another pinned step. Long kernels
    /// fix their order themselves, because the compiler's own order spills accumulators.
    #[inline(always)]
    fn pinned_lo(self, a: Self, b: Self) -> Self {
        self.madd_lo(a, b)
    }

    /// Computes [`Vector::madd_hi`], pinned.
    #[inline(always)]
    fn pinned_hi(self, a: Self, b: Self) -> Self {
        self.madd_hi(a, b)
    }

    /// Returns the same vector, pinned: the steps that compute it come before every later pinned step.
    #[inline(always)]
    fn pinned(self) -> Self {
        self
    }

    /// Reads memory at this point, pinned: the compiler neither keeps an earlier copy nor loads ahead.
    #[inline(always)]
    fn fetch(place: &Self) -> Self {
        *place
    }

    /// Shifts to the left by `N` below 64.
    fn shl<const N: u32>(self) -> Self;

    /// Shifts to the right by `N` below 64, logically.
    fn shr<const N: u32>(self) -> Self;

    /// Shifts to the right by `N` below 64, arithmetically.
    fn sar<const N: u32>(self) -> Self;

    /// Shifts to the right by the count in each lane, logically. Counts of 64 and more give zero.
    fn shr_each(self, count: Self) -> Self;

    /// Shifts to the left by the count in each lane. Counts of 64 and more give zero.
    fn shl_each(self, count: Self) -> Self;

    /// Rotates to the right by `N` below 64.
    fn rotr<const N: i32>(self) -> Self;

    /// Reverses the bytes of each word.
    fn swap_bytes(self) -> Self;

    /// Computes `self + other` in each half lane.
    fn add32(self, other: Self) -> Self;

    /// Computes `self + other` in half lanes whose mask bit is set, and returns `self` in the others.
    fn add32_if(self, mask: HalfMask, other: Self) -> Self;

    /// Shifts each half lane to the right by `N` below 32, logically.
    fn shr32<const N: u32>(self) -> Self;

    /// Rotates each half lane to the right by `N` below 32.
    fn rotr32<const N: i32>(self) -> Self;

    /// Reverses the bytes of each half lane.
    fn swap_bytes32(self) -> Self;

    /// Computes `!self & other`.
    fn and_not(self, other: Self) -> Self;

    /// Computes any function of three bits: for bits a of self, b and c, the result is bit `4a + 2b + c` of `TABLE`.
    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self;

    /// Returns the lanes in which both words are equal.
    fn is_equal(self, other: Self) -> Mask;

    /// Returns the lanes in which this word is below the other, unsigned.
    fn is_below(self, other: Self) -> Mask;

    /// Returns the lanes in which both words share a set bit.
    fn has_any(self, other: Self) -> Mask;

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    fn or_if(self, mask: Mask, yes: Self) -> Self;

    /// Computes `self + other` in lanes whose mask bit is set, and returns `self` in the others.
    fn add_if(self, mask: Mask, other: Self) -> Self;

    /// Computes `self - other` in lanes whose mask bit is set, and returns `self` in the others.
    fn sub_if(self, mask: Mask, other: Self) -> Self;

    /// Selects one of the sixteen words of `low` and `high` by the low four bits of each lane. Reads both vectors
    /// whole and takes the same time for every index.
    fn pick16(self, low: Self, high: Self) -> Self;

    /// Transposes eight rows: lane `j` of row `i` becomes lane `i` of row `j`.
    fn transpose(rows: [Self; LANES]) -> [Self; LANES];

    /// Transposes sixteen rows: half lane `j` of row `i` becomes half lane `i` of row `j`.
    fn transpose32(rows: [Self; HALVES]) -> [Self; HALVES];
}

/// Returns the same value, which is public from here on although it was computed from secrets. Examples are the r of
/// a signature and the test that a nonce is in range. Valgrind is informed in builds for the leak check
/// (`crates/leaks`); other builds pay nothing.
#[inline(always)]
pub(crate) fn declassify<T: Copy>(value: T) -> T {
    #[cfg(all(feature = "leak-check", target_arch = "x86_64"))]
    return leak_check::revealed(value);
    #[cfg(not(all(feature = "leak-check", target_arch = "x86_64")))]
    value
}

#[cfg(test)]
mod tests;
