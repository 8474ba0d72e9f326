//! Sums, differences and plain products of numbers in vectors, with their carries. The time depends on lengths only.

use super::window::{LIMB, LIMB_BITS};
use crate::simd::{BlindMulVector, BlindVector, LANES, MulSimd, Vector};

/// Replaces a by `a + b`, which must be below R.
pub(super) fn add<S: MulSimd>(simd: S, a: &mut [S::V], b: &[S::V]) {
    simd.call(
        #[inline(always)]
        || {
            let mut carry = simd.zero();
            for (a, b) in a.iter_mut().zip(b) {
                *a = carry_column(simd, *a + *b, &mut carry);
            }
            debug_assert_eq!(carry.words(), [0; LANES]);
        },
    );
}

/// Replaces a by `b + 2 n - a`, which must lie in [0, R).
pub(super) fn subtract_from<S: MulSimd>(simd: S, a: &mut [S::V], b: &[S::V], n: &[S::V]) {
    simd.call(
        #[inline(always)]
        || {
            let mut carry = simd.zero();
            for ((a, b), n) in a.iter_mut().zip(b).zip(n) {
                // Below 2^54 in magnitude, so no order of the terms can overflow.
                *a = carry_column(simd, *b + *n + *n - *a, &mut carry);
            }
            debug_assert_eq!(carry.words(), [0; LANES]);
        },
    );
}

/// Subtracts n in lanes whose value is not below n. The value must be below `2 n`.
pub(super) fn reduce<S: MulSimd>(simd: S, value: &mut [S::V], n: &[S::V]) {
    simd.call(
        #[inline(always)]
        || {
            // Two passes, because the sign of the difference is known at the top only. The first one stores nothing.
            let mut borrow = simd.zero();
            for (value, n) in value.iter().zip(n) {
                carry_column(simd, *value - *n, &mut borrow);
            }
            let mut carry = simd.zero();
            for (value, n) in value.iter_mut().zip(n) {
                // The borrow is 0 or all ones, and lanes that are below n subtract 0: the same steps for all.
                *value = carry_column(simd, *value - borrow.and_not(*n), &mut carry);
            }
            debug_assert_eq!(carry.words(), [0; LANES]);
        },
    );
}

/// Computes `a b + c` in as many limbs as a and b have together.
pub(super) fn multiply_add<S: MulSimd>(simd: S, a: &[S::V], b: &[S::V], c: &[S::V], out: &mut [S::V]) {
    out[..c.len()].copy_from_slice(c);
    out[c.len()..].fill(simd.zero());
    simd.call(
        #[inline(always)]
        || {
            // Plain loops through memory: once per signature, against hundreds of Montgomery products.
            for (i, a) in a.iter().enumerate() {
                for (j, b) in b.iter().enumerate() {
                    out[i + j] = out[i + j].madd_lo(*a, *b);
                    out[i + j + 1] = out[i + j + 1].madd_hi(*a, *b);
                }
            }
            let mut carry = simd.zero();
            for column in out.iter_mut() {
                *column = carry_column(simd, *column, &mut carry);
            }
        },
    );
}

/// Returns the limb of a column after the carry from below. Both carries can be negative.
#[inline(always)]
fn carry_column<S: MulSimd>(simd: S, column: S::V, carry: &mut S::V) -> S::V {
    let sum = column + *carry;
    // An arithmetic shift, so that a borrow propagates as a negative carry.
    *carry = sum.sar::<LIMB_BITS>();
    sum & simd.splat(LIMB)
}
