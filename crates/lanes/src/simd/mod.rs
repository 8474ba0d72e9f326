//! Vectors of eight 64-bit lanes: one trait, an AVX-512 IFMA leaf and a portable twin.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | [`Simd`] (a CPU that is known to have the instructions) and [`Vector`] (eight lanes) |
//! | `blocks` | [`BlockSimd`] (rounds of AES, products of GHASH) and its portable twin |
//! | `portable` | the same in plain Rust: the oracle, which every machine and Miri can run |
//! | `erase` | bytes that held secrets |
//! | `ifma` | AVX-512: every intrinsic and `asm!` block |
//! | `vaes` | AVX-512 with VAES and VPCLMULQDQ |
//! | `leak_check` | marks for Valgrind, with the feature of that name |
//!
//! A vector exists only where its CPU is known to have the instructions: whoever wants one must hold the [`Simd`] token, and
//! `ifma`'s token has one constructor, which asks the CPU. So arithmetic on vectors needs no further proof.
//!
//! Algorithms are `#[inline(always)]` functions over these traits. They become code for a CPU where [`Simd::call`] wraps them:
//! that is a function of its own, so registers are spilled there and nowhere else.

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

/// Lanes of a vector.
pub(crate) const LANES: usize = 8;

/// One word per lane.
pub(crate) type Words = [u64; LANES];

/// One bit per lane: bit `i` for lane `i`.
pub(crate) type Mask = u8;

/// Halves of lanes: what the operations on 32-bit words count as lanes. Half `2 i` is the low half of lane `i`.
pub(crate) const HALVES: usize = 2 * LANES;

/// One bit per half lane.
pub(crate) type HalfMask = u16;

/// A CPU that is known to have what its vectors need. Zero-sized: it is passed along as the permission to make vectors.
pub(crate) trait Simd: Copy + Debug + Send + Sync + 'static {
    /// Its vectors.
    type V: Vector;

    /// The same word in every lane.
    fn splat(self, word: u64) -> Self::V;

    /// One word per lane.
    fn load(self, words: &Words) -> Self::V;

    /// Sixty-four bytes as eight little-endian words.
    fn load_bytes(self, bytes: &[u8; 8 * LANES]) -> Self::V;

    /// The same word in every half lane.
    fn splat32(self, word: u32) -> Self::V;

    /// Bytes as little-endian words: the first sixty-four, or all that there are before zeros.
    fn load_prefix(self, bytes: &[u8]) -> Self::V;

    /// Begins to fetch a cache line, whose address must be public.
    #[inline(always)]
    fn prefetch<T>(self, _line: &T) {}

    /// Zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(0)
    }

    /// Runs `body` as a function of its own, compiled for this CPU. `body` should be an `#[inline(always)]` closure.
    fn call<R>(self, body: impl FnOnce() -> R) -> R;

    /// Runs a step of a larger body in place where vectors are registers, elsewhere as a function of its own: inlined, array
    /// arithmetic is far more code than any machine runs and takes the compiler minutes.
    #[inline(always)]
    fn step<R>(self, body: impl FnOnce() -> R) -> R {
        if Self::V::UNROLLS { body() } else { self.call(body) }
    }

    /// Overwrites the vector registers, which may hold secrets.
    fn clear_registers(self);
}

/// Eight lanes of 64 bits. Every operation works on each lane by itself unless it says otherwise, wraps, and takes the same
/// time whatever the values.
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
    /// Whether loops with a fixed number of rounds are worth a copy of their body per round.
    const UNROLLS: bool = false;

    /// The words of the lanes.
    fn words(self) -> Words;

    /// Stores as many bytes as fit, of little-endian words from the first lane on.
    fn store_prefix(self, place: &mut [u8]);

    /// `self + low52(low52(a) * low52(b))`.
    fn madd_lo(self, a: Self, b: Self) -> Self;

    /// `self + (low52(a) * low52(b) >> 52)`.
    fn madd_hi(self, a: Self, b: Self) -> Self;

    /// As [`Vector::madd_lo`], and never moved across another step that is pinned: long kernels say themselves what is in
    /// registers when, because the compiler's own order spills accumulators.
    #[inline(always)]
    fn pinned_lo(self, a: Self, b: Self) -> Self {
        self.madd_lo(a, b)
    }

    /// As [`Vector::madd_hi`], pinned.
    #[inline(always)]
    fn pinned_hi(self, a: Self, b: Self) -> Self {
        self.madd_hi(a, b)
    }

    /// The same vector, pinned: what it is computed from comes before every later step that is pinned.
    #[inline(always)]
    fn pinned(self) -> Self {
        self
    }

    /// Reads memory at this very place, pinned: the compiler neither keeps an earlier copy nor fetches ahead.
    #[inline(always)]
    fn fetch(place: &Self) -> Self {
        *place
    }

    /// Logical shift to the left by `N` below 64.
    fn shl<const N: u32>(self) -> Self;

    /// Logical shift to the right by `N` below 64.
    fn shr<const N: u32>(self) -> Self;

    /// Arithmetic shift to the right by `N` below 64.
    fn sar<const N: u32>(self) -> Self;

    /// Logical shift to the right by the count in each lane; 64 and more give zero.
    fn shr_each(self, count: Self) -> Self;

    /// Logical shift to the left by the count in each lane; 64 and more give zero.
    fn shl_each(self, count: Self) -> Self;

    /// Rotation to the right by `N` below 64.
    fn rotr<const N: i32>(self) -> Self;

    /// The bytes of each word in reverse order.
    fn swap_bytes(self) -> Self;

    /// `self + other` in each half lane.
    fn add32(self, other: Self) -> Self;

    /// `self + other` in each half lane where the mask is set, `self` elsewhere.
    fn add32_if(self, mask: HalfMask, other: Self) -> Self;

    /// Logical shift of each half lane to the right by `N` below 32.
    fn shr32<const N: u32>(self) -> Self;

    /// Rotation of each half lane to the right by `N` below 32.
    fn rotr32<const N: i32>(self) -> Self;

    /// The bytes of each half lane in reverse order.
    fn swap_bytes32(self) -> Self;

    /// `!self & other`.
    fn and_not(self, other: Self) -> Self;

    /// Any function of three bits: bit `4a + 2b + c` of `TABLE` for bits a of self, b, c.
    fn ternary<const TABLE: i32>(self, b: Self, c: Self) -> Self;

    /// Where both lanes are the same.
    fn is_equal(self, other: Self) -> Mask;

    /// Where this lane is below the other, unsigned.
    fn is_below(self, other: Self) -> Mask;

    /// Where any bit of `other` is set in this lane too.
    fn has_any(self, other: Self) -> Mask;

    /// `yes` where the mask is set, `self` elsewhere.
    fn or_if(self, mask: Mask, yes: Self) -> Self;

    /// `self + other` where the mask is set, `self` elsewhere.
    fn add_if(self, mask: Mask, other: Self) -> Self;

    /// `self - other` where the mask is set, `self` elsewhere.
    fn sub_if(self, mask: Mask, other: Self) -> Self;

    /// In each lane the word of `low`, `high` (sixteen words) that the low four bits of this lane name. Reads both whole and
    /// takes the same time for every index.
    fn pick16(self, low: Self, high: Self) -> Self;

    /// Row `i`, lane `j` becomes row `j`, lane `i`.
    fn transpose(rows: [Self; LANES]) -> [Self; LANES];

    /// Row `i`, half lane `j` becomes row `j`, half lane `i`.
    fn transpose32(rows: [Self; HALVES]) -> [Self; HALVES];
}

/// The same value, which is public from here on though it was computed from secrets: a signature's r, whether a nonce is in
/// range. Says so to Valgrind where the kernels are checked for leaks (`crates/leaks`); costs nothing elsewhere.
#[inline(always)]
pub(crate) fn declassify<T: Copy>(value: T) -> T {
    #[cfg(all(feature = "leak-check", target_arch = "x86_64"))]
    return leak_check::revealed(value);
    #[cfg(not(all(feature = "leak-check", target_arch = "x86_64")))]
    value
}

#[cfg(test)]
mod tests;
