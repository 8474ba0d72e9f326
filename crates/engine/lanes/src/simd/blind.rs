//! Vectors whose words cannot be seen: what the arithmetic of public-key kernels needs, and no more.
//!
//! Code over these traits has no way from a word to a number, a `bool` or an index, so it cannot branch on a value or
//! choose an address by one. The compiler checks that: `lab/prove` compiles these kernels for a leaf of symbols, which
//! has nothing else.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Sub};

use zeroize::Zeroize;

use super::{Cpu, Mask};

/// A CPU that computes with words that it does not show.
pub(crate) trait BlindSimd: Cpu {
    /// The vectors of the CPU.
    type V: BlindVector;

    /// Returns the same word in every lane.
    fn splat(self, word: u64) -> Self::V;

    /// Returns zero in every lane.
    #[inline(always)]
    fn zero(self) -> Self::V {
        self.splat(0)
    }

    /// Runs a step of a larger body: in place if vectors are registers, and as a separate function otherwise.
    /// Inlined arithmetic on arrays would be a huge amount of code and take minutes to compile.
    #[inline(always)]
    fn step<R>(self, body: impl FnOnce() -> R) -> R {
        if Self::V::UNROLLS { body() } else { self.call(body) }
    }
}

/// A [`BlindSimd`] whose vectors have products of 52 bits.
pub(crate) trait BlindMulSimd: BlindSimd<V: BlindMulVector> {}

impl<S: BlindSimd<V: BlindMulVector>> BlindMulSimd for S {}

/// Lanes of 64 bits. An operation works on each lane by itself and wraps. It takes the same time for all values.
pub(crate) trait BlindVector:
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
    + Not<Output = Self>
{
    /// True if loops with a fixed number of rounds should have a copy of their body per round.
    const UNROLLS: bool = false;

    /// One bit per lane.
    type Mask: LaneMask;

    /// Shifts to the left by `N` below 64.
    fn shl<const N: u32>(self) -> Self;

    /// Shifts to the right by `N` below 64, logically.
    fn shr<const N: u32>(self) -> Self;

    /// Computes `!self & other`.
    fn and_not(self, other: Self) -> Self;

    /// Computes `self + other` in lanes whose mask bit is set, and returns `self` in the others.
    fn add_if(self, mask: Self::Mask, other: Self) -> Self;
}

/// A bit per lane, which selects but is not seen.
pub(crate) trait LaneMask:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// Claims that the bit of every lane is set. Debug builds check it, and `lab/prove` proves it for all inputs.
    fn claim(self, what: &'static str);
}

impl LaneMask for Mask {
    #[inline(always)]
    fn claim(self, what: &'static str) {
        debug_assert_eq!(self, Mask::MAX, "{what}");
    }
}

/// Lanes with products of 52 bits, comparisons and masks. The operations are as those of [`BlindVector`].
pub(crate) trait BlindMulVector: BlindVector {
    /// True if a product of 52 bits is one instruction. Otherwise it takes a dozen.
    const HAS_PRODUCTS: bool = true;

    /// Computes `self + low52(low52(a) * low52(b))`.
    fn madd_lo(self, a: Self, b: Self) -> Self;

    /// Computes `self + (low52(a) * low52(b) >> 52)`.
    fn madd_hi(self, a: Self, b: Self) -> Self;

    /// Computes [`BlindMulVector::madd_lo`], pinned: the compiler never moves it across another pinned step. Long
    /// kernels fix their order themselves, because the compiler's own order spills accumulators.
    #[inline(always)]
    fn pinned_lo(self, a: Self, b: Self) -> Self {
        self.madd_lo(a, b)
    }

    /// Computes [`BlindMulVector::madd_hi`], pinned.
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
    fn fetch(from: &Self) -> Self {
        *from
    }

    /// Shifts to the right by `N` below 64, arithmetically.
    fn sar<const N: u32>(self) -> Self;

    /// Shifts to the right by the count in each lane, logically. Counts of 64 and more give zero.
    fn shr_each(self, count: Self) -> Self;

    /// Shifts to the left by the count in each lane. Counts of 64 and more give zero.
    fn shl_each(self, count: Self) -> Self;

    /// Returns the lanes in which both words are equal.
    fn is_equal(self, other: Self) -> Self::Mask;

    /// Returns the lanes in which this word is below the other, unsigned.
    fn is_below(self, other: Self) -> Self::Mask;

    /// Returns the lanes in which both words share a set bit.
    fn has_any(self, other: Self) -> Self::Mask;

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    fn or_if(self, mask: Self::Mask, yes: Self) -> Self;

    /// Computes `self - other` in lanes whose mask bit is set, and returns `self` in the others.
    fn sub_if(self, mask: Self::Mask, other: Self) -> Self;
}
