//! Points and the additions of the fast paths. `docs/math/ecdsa.md` has bounds and counts.
//!
//! The additions are not complete. If two points are equal, opposite or at infinity, the result has Z = 0, and so
//! has every value computed from it. Callers therefore check Z once, at the end.

use zeroize::Zeroize;

use super::element::Element;
use super::interleaved::{Masks, not};
use super::ring::{FieldModulus, MontgomeryRing};
use crate::simd::{MulSimd, MulVector};

/// A point `(x, y)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AffinePoint<V, const L: usize, const N: usize> {
    pub(crate) x: Element<V, L, N>,
    pub(crate) y: Element<V, L, N>,
}

/// A point `(X/Z^2, Y/Z^3)`, which is cheap to double.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JacobianPoint<V, const L: usize, const N: usize> {
    pub(crate) x: Element<V, L, N>,
    pub(crate) y: Element<V, L, N>,
    pub(crate) z: Element<V, L, N>,
}

/// A point `(X/ZZ, Y/ZZZ)` with ZZ = Z^2 and ZZZ = Z^3, which is cheap to add to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct XyzzPoint<V, const L: usize, const N: usize> {
    pub(crate) x: Element<V, L, N>,
    pub(crate) y: Element<V, L, N>,
    pub(crate) zz: Element<V, L, N>,
    pub(crate) zzz: Element<V, L, N>,
}

/// A sum before its Z: the factor h of Z, its square and cube, and the new X and Y.
struct PartialSum<V, const L: usize, const N: usize> {
    h: Element<V, L, N>,
    square: Element<V, L, N>,
    cube: Element<V, L, N>,
    x: Element<V, L, N>,
    y: Element<V, L, N>,
}

impl<S: MulSimd, F: FieldModulus<L>, const L: usize, const N: usize> MontgomeryRing<S, F, L, N> {
    /// Computes `2 a` with 4M + 4S. One product and one square share a reduction. After dbl-2001-b of the
    /// Explicit-Formulas Database.
    #[inline(always)]
    pub(crate) fn double(self, a: &JacobianPoint<S::V, L, N>) -> JacobianPoint<S::V, L, N> {
        let delta = self.sqr(&a.z);
        let gamma = self.sqr(&a.y);
        let z = self.carry(self.times(&a.y, &a.z).shl::<1>());
        // Constants of `carry_plus` are the multiples of p that make each difference positive: docs/math/ecdsa.md has
        // the bounds of every line.
        let below = self.carry_plus::<2>(a.x.loose() - delta);
        let above = a.x.loose() + delta;
        let above = self.carry(above + above.shl::<1>());
        let alpha = self.mul(&below, &above);
        let beta4 = self.carry(self.times(&a.x, &gamma).shl::<2>());
        let x = self.reduce_weakly(self.squared(&alpha) - beta4.loose().shl::<1>());
        let minus = self.square(&gamma).negated_shl::<3>(self.word(0));
        let away = self.carry_plus::<2>(beta4.loose() - x);
        let y = self.reduce_weakly(self.times_onto(minus, &alpha, &away));
        JacobianPoint { x, y, z }
    }

    /// Computes `-(a + b)`, or `-(a - b)` in the lanes of `minus`, with 8M + 3S. Two products share a reduction. The
    /// sign saves a negation: the caller flips the sign of the next summand.
    #[inline(always)]
    pub(crate) fn add_to_jacobian(
        self,
        a: &JacobianPoint<S::V, L, N>,
        b: &AffinePoint<S::V, L, N>,
        minus: Masks<N>,
    ) -> JacobianPoint<S::V, L, N> {
        let zz = self.sqr(&a.z);
        let zzz = self.mul(&a.z, &zz);
        let sum = self.sum((&a.x, &a.y), (&zz, &zzz), b, minus);
        JacobianPoint { x: sum.x, y: sum.y, z: self.mul(&a.z, &sum.h) }
    }

    /// Computes the same for accumulators that are not doubled, with 8M + 2S.
    #[inline(always)]
    pub(crate) fn add_to_xyzz(
        self,
        a: &XyzzPoint<S::V, L, N>,
        b: &AffinePoint<S::V, L, N>,
        minus: Masks<N>,
    ) -> XyzzPoint<S::V, L, N> {
        let sum = self.sum((&a.x, &a.y), (&a.zz, &a.zzz), b, minus);
        let (zz, zzz) = (self.mul(&a.zz, &sum.square), self.mul(&a.zzz, &sum.cube));
        XyzzPoint { x: sum.x, y: sum.y, zz, zzz }
    }

    /// Computes X and Y of `-(a + b)` or `-(a - b)`. After madd-2008-s of the Explicit-Formulas Database.
    #[inline(always)]
    fn sum(
        self,
        (x, y): (&Element<S::V, L, N>, &Element<S::V, L, N>),
        (zz, zzz): (&Element<S::V, L, N>, &Element<S::V, L, N>),
        b: &AffinePoint<S::V, L, N>,
        minus: Masks<N>,
    ) -> PartialSum<S::V, L, N> {
        let h = self.carry_plus::<2>(self.times(&b.x, zz) - *x);
        let s = self.times(&b.y, zzz);
        // y - s for an addition: the opposite of the textbook's sign, and so is Y of the sum.
        let r = self.carry_plus::<2>(y.loose().sub_or_add(not(minus), s));
        let square = self.sqr(&h);
        let r2 = self.squared(&r);
        let cube = self.mul(&h, &square);
        let v = self.mul(x, &square);
        let new_x = self.reduce_weakly(r2 - cube - v.loose().shl::<1>());
        // Columns of two products gather before one reduction: below 2^57, and 62 bits are allowed.
        let first = self.product(y, &cube);
        let away = self.carry_plus::<2>(v.loose() - new_x);
        let y = self.carry(self.times_onto(first, &r, &away));
        PartialSum { h, square, cube, x: new_x, y }
    }

    /// Computes `2^times point` in a separate function.
    pub(crate) fn double_times(self, point: &mut JacobianPoint<S::V, L, N>, times: usize) {
        self.simd.call(
            #[inline(always)]
            || {
                for _ in 0..times {
                    *point = self.double(point);
                }
            },
        );
    }

    /// Runs [`MontgomeryRing::add_to_jacobian`] in place, in a separate function.
    pub(crate) fn add_in_jacobian(
        self,
        sum: &mut JacobianPoint<S::V, L, N>,
        point: &AffinePoint<S::V, L, N>,
        minus: Masks<N>,
    ) {
        self.simd.call(
            #[inline(always)]
            || *sum = self.add_to_jacobian(sum, point, minus),
        );
    }

    /// Runs [`MontgomeryRing::add_to_xyzz`] in place, in a separate function.
    pub(crate) fn add_in_xyzz(
        self,
        sum: &mut XyzzPoint<S::V, L, N>,
        point: &AffinePoint<S::V, L, N>,
        minus: Masks<N>,
    ) {
        self.simd.call(
            #[inline(always)]
            || *sum = self.add_to_xyzz(sum, point, minus),
        );
    }

    /// Returns an affine point, or its opposite, as the first summand.
    pub(crate) fn first(self, point: &AffinePoint<S::V, L, N>, minus: Masks<N>) -> JacobianPoint<S::V, L, N> {
        self.simd.call(
            #[inline(always)]
            || self.lift(&self.negate_if(minus, point)),
        )
    }

    /// Returns an affine point as an accumulator.
    #[inline(always)]
    pub(crate) fn lift(self, point: &AffinePoint<S::V, L, N>) -> JacobianPoint<S::V, L, N> {
        JacobianPoint { x: point.x, y: point.y, z: self.one() }
    }

    /// Returns zeros as coordinates, which are not a point yet.
    #[inline(always)]
    pub(crate) fn origin(self) -> AffinePoint<S::V, L, N> {
        AffinePoint { x: self.zero(), y: self.zero() }
    }

    /// Returns `-a` in lanes whose mask bit is set, and `a` in the others.
    #[inline(always)]
    pub(crate) fn negate_if(self, mask: Masks<N>, a: &AffinePoint<S::V, L, N>) -> AffinePoint<S::V, L, N> {
        let negative = self.carry_plus::<2>(self.zero().loose() - a.y);
        AffinePoint { x: a.x, y: self.select(mask, &a.y, &negative) }
    }

    /// Turns a Jacobian accumulator into one that is only added to.
    #[inline(always)]
    pub(crate) fn widen(self, a: &JacobianPoint<S::V, L, N>) -> XyzzPoint<S::V, L, N> {
        let zz = self.sqr(&a.z);
        XyzzPoint { x: a.x, y: a.y, zzz: self.mul(&a.z, &zz), zz }
    }
}

impl<V: MulVector, const L: usize, const N: usize> Zeroize for XyzzPoint<V, L, N> {
    fn zeroize(&mut self) {
        for element in [&mut self.x, &mut self.y, &mut self.zz, &mut self.zzz] {
            element.zeroize();
        }
    }
}
