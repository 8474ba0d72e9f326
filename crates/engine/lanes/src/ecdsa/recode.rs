//! Scalars as signed odd digits: `k = sum of d_i 2^(w i)` with every `d_i` odd and within `2^w`.
//!
//! For odd k below `2^(w m)` let `b_i` be the w bits of `K = (k >> 1) + 2^(w m - 1)` from bit `w i` on. Then `d_i =
//! 2 b_i + 1 - 2^w`, and the sum over m digits is `2 K + 1 - 2^(w m) = k`. A digit is positive if the top bit of
//! `b_i` is set. Its other bits are `(|d_i| - 1) / 2`, inverted if the digit is negative. No digit is zero, so no
//! addition is left out. An even k is replaced by n - k, and all signs are turned.

use crate::simd::{BlindMulVector, BlindVector, Mask, MulSimd, Words};

/// One digit of each of eight scalars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DigitVector<V> {
    /// The index `(|d| - 1) / 2`.
    pub(crate) index: V,
    /// The lanes whose digit is negative.
    pub(crate) minus: Mask,
}

/// One digit of each of eight scalars in memory, as table rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowDigits {
    /// The row in the table of each lane.
    pub(crate) index: Words,
    pub(crate) minus: Mask,
}

/// Returns the number of digits of a scalar of `bits` bits.
pub(crate) const fn digits(bits: usize, window: usize) -> usize {
    bits.div_ceil(window)
}

/// Returns K for odd scalars of L limbs.
#[inline(always)]
pub(crate) fn halve<S: MulSimd, const L: usize>(
    simd: S,
    scalar: &[S::V; L],
    bits: usize,
    window: usize,
) -> [S::V; L] {
    let mut half = *scalar;
    for limb in 0..L {
        half[limb] = scalar[limb].shr::<1>();
        if limb + 1 < L {
            half[limb] = half[limb] | (scalar[limb + 1].shl::<51>() & simd.splat(1 << 51));
        }
    }
    // Adds 2^(w m - 1), whose bit is above the halved scalar.
    let top = digits(bits, window) * window - 1;
    half[top / 52] = half[top / 52] | simd.splat(1 << (top % 52));
    half
}

/// Returns digit `at` of scalars given by their K. The time is the same for every value.
#[inline(always)]
pub(crate) fn digit<S: MulSimd, const L: usize>(
    simd: S,
    half: &[S::V; L],
    at: usize,
    window: usize,
) -> DigitVector<S::V> {
    // Window and position are public. The shift by 52 of a digit at bit 0 brings in bits that the mask cuts.
    let (limb, bit) = (at * window / 52, (at * window % 52) as u64);
    let mut bits = half[limb].shr_each(simd.splat(bit));
    if limb + 1 < L {
        bits = bits | half[limb + 1].shl_each(simd.splat(52 - bit));
    }
    let top = simd.splat(1 << (window - 1));
    let plus = bits.has_any(top);
    let rest = top - simd.splat(1);
    DigitVector { index: (bits.or_if(!plus, simd.splat(u64::MAX) - bits)) & rest, minus: !plus }
}
