//! Points and the additions of the fast paths. `docs/math/ecdsa.md` has bounds and counts.
//!
//! The additions are not complete. If two points are equal, opposite or at infinity, the result has Z = 0, and so
//! has every value computed from it. Callers therefore check Z once, at the end.

use zeroize::Zeroize;

use super::field::CoordinateField;
use super::interleaved::{Masks, not};
use crate::simd::MulSimd;

/// A point `(x, y)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AffinePoint<E> {
    pub(crate) x: E,
    pub(crate) y: E,
}

/// A point `(X/Z^2, Y/Z^3)`, which is cheap to double.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JacobianPoint<E> {
    pub(crate) x: E,
    pub(crate) y: E,
    pub(crate) z: E,
}

/// A point `(X/ZZ, Y/ZZZ)` with ZZ = Z^2 and ZZZ = Z^3, which is cheap to add to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct XyzzPoint<E> {
    pub(crate) x: E,
    pub(crate) y: E,
    pub(crate) zz: E,
    pub(crate) zzz: E,
}

/// The operations on points, for every field of coordinates.
pub(crate) trait PointField<S: MulSimd, const L: usize, const N: usize>:
    CoordinateField<S, L, N>
{
    /// Computes `2 a` with 4M + 4S. One product and one square share a reduction. After dbl-2001-b of the
    /// Explicit-Formulas Database.
    #[inline(always)]
    fn double(self, a: &JacobianPoint<Self::Element>) -> JacobianPoint<Self::Element> {
        let delta = self.sqr(&a.z);
        let gamma = self.sqr(&a.y);
        let z = self.carry(self.shl::<1>(self.times(&a.y, &a.z)));
        // Constants of `carry_plus` are the multiples of p that make each difference positive: docs/math/ecdsa.md has
        // the bounds of every line.
        let below = self.carry_plus::<2>(self.loose(&a.x) - self.loose(&delta));
        let above = self.loose(&a.x) + self.loose(&delta);
        let above = self.carry(above + self.shl::<1>(above));
        let alpha = self.mul(&below, &above);
        let beta4 = self.carry(self.shl::<2>(self.times(&a.x, &gamma)));
        let x = self.reduce_weakly(self.squared(&alpha) - self.shl::<1>(self.loose(&beta4)));
        let minus = self.negated_square::<3>(&gamma);
        let away = self.carry_plus::<2>(self.loose(&beta4) - self.loose(&x));
        let y = self.reduce_weakly(self.times_onto(minus, &alpha, &away));
        JacobianPoint { x, y, z }
    }

    /// Replaces a by `-(a + b)`, or by `-(a - b)` in the lanes of `minus`, with 8M + 3S. Two products share a
    /// reduction. The sign saves a negation: the caller flips the sign of the next summand. After madd-2008-s of the
    /// Explicit-Formulas Database.
    #[inline(always)]
    fn add_to_jacobian(
        self,
        a: &mut JacobianPoint<Self::Element>,
        b: &AffinePoint<Self::Element>,
        minus: Masks<N>,
    ) {
        let zz = self.sqr(&a.z);
        let zzz = self.mul(&a.z, &zz);
        let [h, r] = self.differences((&a.x, &a.y), (&zz, &zzz), b, minus);
        let square = self.sqr(&h);
        let r2 = self.squared(&r);
        let cube = self.mul(&h, &square);
        let v = self.mul(&a.x, &square);
        self.replace_by_sum((&mut a.x, &mut a.y), (&r, r2), (&v, &cube));
        self.replace_by_product(&mut a.z, &h);
    }

    /// Computes the same for accumulators that are not doubled, with 8M + 2S.
    #[inline(always)]
    fn add_to_xyzz(self, a: &mut XyzzPoint<Self::Element>, b: &AffinePoint<Self::Element>, minus: Masks<N>) {
        let [h, r] = self.differences((&a.x, &a.y), (&a.zz, &a.zzz), b, minus);
        let square = self.sqr(&h);
        let r2 = self.squared(&r);
        let cube = self.mul(&h, &square);
        let v = self.mul(&a.x, &square);
        self.replace_by_sum((&mut a.x, &mut a.y), (&r, r2), (&v, &cube));
        self.replace_by_product(&mut a.zz, &square);
        self.replace_by_product(&mut a.zzz, &cube);
    }

    /// Computes h and r of `-(a + b)` or `-(a - b)`: the differences of both x and of both y, with the denominators of
    /// a.
    #[inline(always)]
    fn differences(
        self,
        (x, y): (&Self::Element, &Self::Element),
        (zz, zzz): (&Self::Element, &Self::Element),
        b: &AffinePoint<Self::Element>,
        minus: Masks<N>,
    ) -> [Self::Element; 2] {
        let h = self.carry_plus::<2>(self.times(&b.x, zz) - self.loose(x));
        let s = self.times(&b.y, zzz);
        // y - s for an addition: the opposite of the textbook's sign, and so is Y of the sum.
        let r = self.carry_plus::<2>(self.sub_or_add(self.loose(y), not(minus), s));
        [h, r]
    }

    /// Replaces X and Y by those of the sum. v is `X h^2`, and `cube` is `h^3`.
    #[inline(always)]
    fn replace_by_sum(
        self,
        (x, y): (&mut Self::Element, &mut Self::Element),
        (r, r2): (&Self::Element, Self::Loose),
        (v, cube): (&Self::Element, &Self::Element),
    ) {
        *x = self.reduce_weakly(r2 - self.loose(cube) - self.shl::<1>(self.loose(v)));
        // Columns of two products gather before one reduction: below 2^57, and 62 bits are allowed.
        let first = self.product(y, cube);
        let away = self.carry_plus::<2>(self.loose(v) - self.loose(x));
        *y = self.carry(self.times_onto(first, r, &away));
    }

    /// Computes `2^times point` in a separate function.
    fn double_times(self, point: &mut JacobianPoint<Self::Element>, times: usize) {
        self.simd().call(
            #[inline(always)]
            || {
                for _ in 0..times {
                    *point = self.double(point);
                }
            },
        );
    }

    /// Runs [`PointField::add_to_jacobian`] in place, in a separate function.
    fn add_in_jacobian(
        self,
        sum: &mut JacobianPoint<Self::Element>,
        point: &AffinePoint<Self::Element>,
        minus: Masks<N>,
    ) {
        self.simd().call(
            #[inline(always)]
            || self.add_to_jacobian(sum, point, minus),
        );
    }

    /// Runs [`PointField::add_to_xyzz`] in place, in a separate function.
    fn add_in_xyzz(
        self,
        sum: &mut XyzzPoint<Self::Element>,
        point: &AffinePoint<Self::Element>,
        minus: Masks<N>,
    ) {
        self.simd().call(
            #[inline(always)]
            || self.add_to_xyzz(sum, point, minus),
        );
    }

    /// Returns an affine point, or its opposite, as the first summand.
    fn first(self, point: &AffinePoint<Self::Element>, minus: Masks<N>) -> JacobianPoint<Self::Element> {
        self.simd().call(
            #[inline(always)]
            || self.lift(&self.negate_if(minus, point)),
        )
    }

    /// Returns an affine point as an accumulator.
    #[inline(always)]
    fn lift(self, point: &AffinePoint<Self::Element>) -> JacobianPoint<Self::Element> {
        JacobianPoint { x: point.x, y: point.y, z: self.one() }
    }

    /// Returns zeros as coordinates, which are not a point yet.
    #[inline(always)]
    fn origin(self) -> AffinePoint<Self::Element> {
        AffinePoint { x: self.zero(), y: self.zero() }
    }

    /// Returns `-a` in lanes whose mask bit is set, and `a` in the others.
    #[inline(always)]
    fn negate_if(self, mask: Masks<N>, a: &AffinePoint<Self::Element>) -> AffinePoint<Self::Element> {
        let negative = self.carry_plus::<2>(self.loose(&self.zero()) - self.loose(&a.y));
        AffinePoint { x: a.x, y: self.select(mask, &a.y, &negative) }
    }

    /// Turns a Jacobian accumulator into one that is only added to.
    #[inline(always)]
    fn widen(self, a: &JacobianPoint<Self::Element>) -> XyzzPoint<Self::Element> {
        let zz = self.sqr(&a.z);
        XyzzPoint { x: a.x, y: a.y, zzz: self.mul(&a.z, &zz), zz }
    }
}

impl<F: CoordinateField<S, L, N>, S: MulSimd, const L: usize, const N: usize> PointField<S, L, N> for F {}

impl<E: Zeroize> Zeroize for XyzzPoint<E> {
    fn zeroize(&mut self) {
        for element in [&mut self.x, &mut self.y, &mut self.zz, &mut self.zzz] {
            element.zeroize();
        }
    }
}
