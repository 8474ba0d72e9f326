//! Vectors of eight lanes with products of 52 bits, for public-key operations.

use super::{LANES, Mask, Simd, Vector, Words};

/// A CPU whose vectors have eight lanes and products of 52 bits.
pub(crate) trait MulSimd: Simd<V: MulVector> {
    /// The state of the CPU during a run.
    type RunState;

    /// Prepares the CPU for a run. The state before returns when the value is dropped.
    fn run_state(self) -> Self::RunState;
}

/// A CPU that parts the words of blocks of two words.
pub(crate) trait UnzipSimd: MulSimd {
    /// Returns the first and the second words of all blocks: lane `2 i` of both has block `i` of `first`, and lane
    /// `2 i + 1` has block `i` of `second`.
    fn unzip(self, first: Self::V, second: Self::V) -> [Self::V; 2];
}

/// Eight lanes of 64 bits with products of 52 bits, comparisons and masks. The operations are as those of [`Vector`]:
/// they work on each lane by itself, wrap, and take the same time for all values.
pub(crate) trait MulVector: Vector<Lanes<u64> = Words> {
    /// True if a product of 52 bits is one instruction. Otherwise it takes a dozen.
    const HAS_PRODUCTS: bool = true;

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
    fn is_equal(self, other: Self) -> Mask;

    /// Returns the lanes in which this word is below the other, unsigned.
    fn is_below(self, other: Self) -> Mask;

    /// Returns the lanes in which both words share a set bit.
    fn has_any(self, other: Self) -> Mask;

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    fn or_if(self, mask: Mask, yes: Self) -> Self;

    /// Computes `self - other` in lanes whose mask bit is set, and returns `self` in the others.
    fn sub_if(self, mask: Mask, other: Self) -> Self;

    /// Selects one of the sixteen words of `low` and `high` by the low four bits of each lane. Reads both vectors
    /// whole and takes the same time for every index.
    fn pick16(self, low: Self, high: Self) -> Self;

    /// Transposes eight rows: lane `j` of row `i` becomes lane `i` of row `j`.
    fn transpose8(rows: [Self; LANES]) -> [Self; LANES];
}
