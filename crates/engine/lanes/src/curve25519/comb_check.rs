//! The check of a comb, with other arithmetic than its construction.

use super::comb::{CombRow, CombRows, load_niels};
use super::constants::{D, HALF};
use super::field::{Factor, FieldFactor, FieldSimd, Sum, WideSum};
use super::point::{EdwardsPoint, NielsPoint};
use super::words;
use crate::simd::{BlindMulVector, LANES, Mask};

impl<const WIDTH: usize> CombRows<WIDTH> {
    /// Returns true if all rows are right. Every row must be the sum of the row before and the first row of its
    /// digit. The first row of a digit must be twice the last row of the digit before. The first row of all must be
    /// the opposite of the encoded point.
    pub(super) fn are_multiples_of_opposite<S: FieldSimd>(&self, simd: S, public: &[u8; 32]) -> bool {
        let rows = self.all();
        let term = |at: usize| match at % Self::ENTRIES {
            0 => at - 1,
            beyond => at - beyond,
        };
        // Eight neighbouring rows a step. Row 0 is compared with the encoding and every other row with rows before
        // it, so all rows follow from the key by induction.
        let are_sums = (1..rows.len()).step_by(LANES).all(|first| {
            let lane = |lane: usize| (first + lane).min(rows.len() - 1);
            let pick = |of: &dyn Fn(usize) -> usize| std::array::from_fn(|at| &rows[of(lane(at))]);
            is_sum(simd, &pick(&|at| at - 1), &pick(&term), &pick(&|at| at)) == Mask::MAX
        });
        are_sums && is_opposite(simd, &rows[0], public)
    }
}

/// Returns the lanes in which the third point is the sum of the others and its product is right.
fn is_sum<S: FieldSimd>(
    simd: S,
    a: &[&CombRow; LANES],
    b: &[&CombRow; LANES],
    sum: &[&CombRow; LANES],
) -> Mask {
    simd.call(
        #[inline(always)]
        || {
            let mut point = extended(simd, &load_niels(simd, a));
            point.add_affine::<false>(simd, &load_niels(simd, b), 0);
            // Without inversion: (x : y : 1) is compared with (X : Y : Z) by products with Z, all of them doubled
            // because a row gives 2x and 2y.
            let sum = load_niels(simd, sum);
            let (twice_x, twice_y) = twice(simd, &sum);
            let (z, d) = (point.z.reduce(simd), Factor::<S>::splat(simd, &D));
            let (x, y) = (twice_x.reduce(simd), twice_y.reduce(simd));
            let product = x.times(simd, &y).reduce(simd).times(simd, &d);
            // (2x)(2y) d is twice 2dxy.
            let double = sum.product.widen(simd) + sum.product.widen(simd);
            is_same(simd, &x.times(simd, &z), &(point.x + point.x))
                & is_same(simd, &y.times(simd, &z), &(point.y + point.y))
                & is_same(simd, &product, &double)
        },
    )
}

/// Returns 2x and 2y.
#[inline(always)]
fn twice<S: FieldSimd>(simd: S, point: &NielsPoint<S>) -> (Sum<S>, Sum<S>) {
    let (plus, minus) = (point.plus.widen(simd), point.minus.widen(simd));
    (plus.minus(simd, &minus), plus + minus)
}

/// Returns the point as (4x : 4y : 4 : 4xy).
#[inline(always)]
fn extended<S: FieldSimd>(simd: S, point: &NielsPoint<S>) -> EdwardsPoint<S> {
    let (x, y) = twice(simd, point);
    let (x, y) = (x.reduce(simd), y.reduce(simd));
    let t = x.times(simd, &y);
    let (x, y) = (x.widen(simd), y.widen(simd));
    let (x, y) = ((x + x).settle(simd), (y + y).settle(simd));
    EdwardsPoint { x, y, z: Sum::<S>::splat(simd, &[4, 0, 0, 0, 0]), t }
}

#[inline(always)]
fn is_same<S: FieldSimd>(simd: S, a: &Sum<S>, b: &Sum<S>) -> Mask {
    a.minus(simd, b).reduce(simd).is_zero(simd)
}

/// Returns true if y is the encoded one and x, unless zero, has the other parity.
fn is_opposite<S: FieldSimd>(simd: S, row: &CombRow, public: &[u8; 32]) -> bool {
    let half = Factor::<S>::splat(simd, &HALF);
    let (mut y, is_odd, is_zero) = simd.call(
        #[inline(always)]
        || {
            let (x, y) = twice(simd, &load_niels(simd, &[row; LANES]));
            let x = x.reduce(simd).times(simd, &half).reduce(simd);
            let y = y.reduce(simd).times(simd, &half).reduce(simd);
            (y.as_words(simd), x.is_odd(simd), x.is_zero(simd))
        },
    );
    let top = simd.splat(1 << 63);
    simd.call(
        #[inline(always)]
        || y[3] = y[3].or_if(!(is_odd | is_zero), y[3] | top),
    );
    words::bytes(simd, &y)[0] == *public
}
