//! Sums, reduction and plain products of numbers in limbs of doubles, with their carries. The time depends on lengths
//! only.

use crate::simd::doubles::{DOUBLES, DoubleShape, DoubleVector};
use crate::simd::float::power_of_two;

/// Replaces a by `a + b`, for two products.
#[inline(always)]
pub(super) fn add(shape: &DoubleShape, a: &mut [DoubleVector], b: &[DoubleVector]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = *a + *b;
    }
    settle(shape, a);
}

/// Replaces a by `b - a`, for two products.
#[inline(always)]
pub(super) fn subtract_from(shape: &DoubleShape, a: &mut [DoubleVector], b: &[DoubleVector]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = *b - *a;
    }
    settle(shape, a);
}

/// Adds n in lanes whose value is negative. The value must be above -n.
#[inline(always)]
pub(super) fn reduce(shape: &DoubleShape, value: &mut [DoubleVector], n: &[DoubleVector]) {
    // The carry out of the highest limb of a canonical number is its sign.
    let mut sign = [0_i64; DOUBLES];
    for limb in value.iter() {
        let limb = limb.integers();
        for lane in 0..DOUBLES {
            sign[lane] = (limb[lane] + sign[lane]) >> shape.limb_bits;
        }
    }
    // 0 or 1: lanes that are not negative add 0 times n, in the same steps.
    let is_negative = DoubleVector::from_integers(sign.map(i64::wrapping_neg));
    for (value, n) in value.iter_mut().zip(n) {
        *value = n.mul_add(is_negative, *value);
    }
    settle(shape, value);
}

/// Computes `a b + c` in as many limbs as a and b have together.
#[inline(always)]
pub(super) fn multiply_add(
    shape: &DoubleShape,
    a: &[DoubleVector],
    b: &[DoubleVector],
    c: &[DoubleVector],
    out: &mut [DoubleVector],
) {
    let limbs = shape.limbs;
    let bits = shape.limb_bits as i32;
    let centre = DoubleVector::splat(1.5 * power_of_two(52 + bits));
    let mut below = DoubleVector::ZERO;
    for (column, out) in out.iter_mut().enumerate() {
        let mut sums = (DoubleVector::ZERO, DoubleVector::ZERO);
        let (first, end) = (column.saturating_sub(limbs - 1), limbs.min(column + 1));
        for start in (first..end).step_by(shape.products_before_restart()) {
            let mut high = centre;
            for at in start..end.min(start + shape.products_before_restart()) {
                let before = high;
                high = a[at].mul_add(b[column - at], before);
                sums.1 = sums.1 + a[at].mul_add(b[column - at], before - high);
            }
            sums.0 = sums.0 + (high - centre);
        }
        *out = below.mul_add(DoubleVector::splat(power_of_two(-bits)), sums.1);
        below = sums.0;
    }
    settle(shape, out);
    // Not before the carries: a column of 21 products has no space for another limb.
    for (out, c) in out.iter_mut().zip(c) {
        *out = *out + *c;
    }
    settle(shape, out);
}

/// Carries all limbs once, side by side. The number must be below R / 4 in magnitude for as many limbs as it has, so
/// that the highest limb carries nothing.
#[inline(always)]
fn settle(shape: &DoubleShape, number: &mut [DoubleVector]) {
    let bits = shape.limb_bits as i32;
    let mut below = DoubleVector::ZERO;
    for limb in number.iter_mut() {
        let carry = limb.scaled(power_of_two(-bits)).rounded();
        *limb = carry.mul_add(DoubleVector::splat(-power_of_two(bits)), *limb) + below;
        below = carry;
    }
    debug_assert!(below == DoubleVector::ZERO, "a carry out of the number");
}
