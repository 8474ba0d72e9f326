//! Vectors of eight lanes with products of 52 bits, for public-key operations.

use super::{BlindMulVector, LANES, Simd, Vector, Words};

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

/// Eight lanes of 64 bits with products of 52 bits, comparisons and masks.
pub(crate) trait MulVector: Vector<Lanes<u64> = Words> + BlindMulVector {
    /// Selects one of the sixteen words of `low` and `high` by the low four bits of each lane. Reads both vectors
    /// whole and takes the same time for every index.
    fn pick16(self, low: Self, high: Self) -> Self;

    /// Transposes eight rows: lane `j` of row `i` becomes lane `i` of row `j`.
    fn transpose8(rows: [Self; LANES]) -> [Self; LANES];
}
