//! Words of 16 and of 32 bits, for the polynomials of lattice schemes: quarters and halves of the lanes of a vector.

use super::{HalfMask, Simd, Vector};

/// A CPU whose vectors have signed arithmetic on words of 16 and 32 bits.
pub(crate) trait ShortSimd: Simd<V: ShortVector> {
    /// Returns the same word in every quarter lane.
    #[inline(always)]
    fn splat16(self, word: i16) -> Self::V {
        self.splat32(u32::from(word.cast_unsigned()) * 0x1_0001)
    }

    /// Reads sixteen values of 12 bits, writes those below `bound` in their order, and returns their number. What
    /// follows them in `out` has no meaning. The values are public.
    fn take_below(self, bytes: &[u8; 24], bound: u16, out: &mut [u16; 16]) -> usize;

    /// Reads eight values of 24 bits without their highest bits to `out`. Returns false if one of them is not below
    /// `bound`. The values are public.
    fn are_below(self, bytes: &[u8; 24], bound: u32, out: &mut [u32; 8]) -> bool;
}

/// Vectors whose quarter lanes are words of 16 bits, and whose half lanes are words of 32. Quarter `4 i` is the lowest
/// one of lane `i`. As those of [`Vector`], the operations work on each word by itself, wrap, and take the same time
/// for all values.
pub(crate) trait ShortVector: Vector {
    /// Computes `self + other` in each quarter lane.
    fn add16(self, other: Self) -> Self;

    /// Computes `self - other` in each quarter lane.
    fn sub16(self, other: Self) -> Self;

    /// Computes `self - other` in each half lane.
    fn sub32(self, other: Self) -> Self;

    /// Computes the low 16 bits of the product in each quarter lane.
    fn mul16_lo(self, other: Self) -> Self;

    /// Computes the high 16 bits of the signed product in each quarter lane.
    fn mul16_hi(self, other: Self) -> Self;

    /// Computes `(self * other + 2^14) >> 15` of signed words in each quarter lane.
    fn mul16_round(self, other: Self) -> Self;

    /// Computes in each half lane the sum of the signed products of both pairs of quarter lanes.
    fn madd16(self, other: Self) -> Self;

    /// Shifts each quarter lane to the left by `count` up to 16. The count should be a constant after inlining.
    fn shl16(self, count: u32) -> Self;

    /// Shifts each quarter lane to the right by `count` up to 16, logically. The count should be a constant after
    /// inlining.
    fn shr16(self, count: u32) -> Self;

    /// Shifts each quarter lane to the right by `count` up to 16, arithmetically. The count should be a constant after
    /// inlining.
    fn sar16(self, count: u32) -> Self;

    /// Computes the signed product of the low halves of each lane.
    fn mul32_signed(self, other: Self) -> Self;

    /// Moves the high half of each lane to the low one. What is in the high halves has no meaning.
    fn high_halves(self) -> Self;

    /// Joins the high halves of two vectors: those of `even` become the low halves.
    fn join_high_halves(even: Self, odd: Self) -> Self;

    /// Returns the half lanes whose sign bit is set.
    fn negative32(self) -> HalfMask;

    /// Shifts each half lane to the left by `count` up to 32. The count should be a constant after inlining.
    fn shl32_by(self, count: u32) -> Self;

    /// Shifts each half lane to the right by `count` up to 32, logically. The count should be a constant after
    /// inlining.
    fn shr32_by(self, count: u32) -> Self;

    /// Shifts each half lane to the right by `count` up to 32, arithmetically. The count should be a constant after
    /// inlining.
    fn sar32_by(self, count: u32) -> Self;
}
