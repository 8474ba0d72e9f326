//! Points and the additions of the fast paths. `docs/math/ecdsa.md` has bounds and counts.
//!
//! None of these is complete. Where both points are equal, opposite or at infinity the result has Z = 0, and so has
//! everything computed from it: whoever uses them looks at Z at the end.

use zeroize::Zeroize;

use super::element::Element;
use super::interleaved::{Masks, not};
use super::ring::{FieldModulus, ModularRing};
use crate::simd::{Simd, Vector};

/// `(x, y)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AffinePoint<V, const L: usize, const N: usize> {
    pub(crate) x: Element<V, L, N>,
    pub(crate) y: Element<V, L, N>,
}

/// `(X/Z^2, Y/Z^3)`: cheap to double.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JacobianPoint<V, const L: usize, const N: usize> {
    pub(crate) x: Element<V, L, N>,
    pub(crate) y: Element<V, L, N>,
    pub(crate) z: Element<V, L, N>,
}

/// `(X/ZZ, Y/ZZZ)` with ZZ = Z^2 and ZZZ = Z^3: cheap to add to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct XyzzPoint<V, const L: usize, const N: usize> {
    pub(crate) x: Element<V, L, N>,
    pub(crate) y: Element<V, L, N>,
    pub(crate) zz: Element<V, L, N>,
    pub(crate) zzz: Element<V, L, N>,
}

/// A sum before its Z: what Z grows by, its square and its cube, and the new X and Y.
struct PartialSum<V, const L: usize, const N: usize> {
    h: Element<V, L, N>,
    square: Element<V, L, N>,
    cube: Element<V, L, N>,
    x: Element<V, L, N>,
    y: Element<V, L, N>,
}

impl<S: Simd, F: FieldModulus<L>, const L: usize, const N: usize> ModularRing<S, F, L, N> {
    /// `2 a`. 4M + 4S, of which one product and one square share a reduction. After dbl-2001-b of the Explicit-Formulas
    /// Database.
    #[inline(always)]
    pub(crate) fn double(self, a: &JacobianPoint<S::V, L, N>) -> JacobianPoint<S::V, L, N> {
        let delta = self.sqr(&a.z);
        let gamma = self.sqr(&a.y);
        let z = self.carry(self.times(&a.y, &a.z).shl::<1>());
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

    /// `-(a + b)`, or `-(a - b)` where `minus` is set. The sign saves a negation: whoever adds the next point changes that
    /// one's sign. 8M + 3S, two products sharing a reduction.
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

    /// The same for accumulators that are not doubled. 8M + 2S.
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

    /// X and Y of `-(a + b)` or `-(a - b)`. After madd-2008-s of the Explicit-Formulas Database.
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
        let r = self.carry_plus::<2>(y.loose().sub_or_add(not(minus), s));
        let square = self.sqr(&h);
        let r2 = self.squared(&r);
        let cube = self.mul(&h, &square);
        let v = self.mul(x, &square);
        let new_x = self.reduce_weakly(r2 - cube - v.loose().shl::<1>());
        let first = self.product(y, &cube);
        let away = self.carry_plus::<2>(v.loose() - new_x);
        let y = self.carry(self.times_onto(first, &r, &away));
        PartialSum { h, square, cube, x: new_x, y }
    }

    /// `2^times point`, as a function of its own.
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

    /// [`ModularRing::add_to_jacobian`] in place, as a function of its own.
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

    /// [`ModularRing::add_to_xyzz`] in place, as a function of its own.
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

    /// An affine point, or its opposite, as the first of a sum.
    pub(crate) fn first(self, point: &AffinePoint<S::V, L, N>, minus: Masks<N>) -> JacobianPoint<S::V, L, N> {
        self.simd.call(
            #[inline(always)]
            || self.lift(&self.negate_if(minus, point)),
        )
    }

    /// An affine point as an accumulator.
    #[inline(always)]
    pub(crate) fn lift(self, point: &AffinePoint<S::V, L, N>) -> JacobianPoint<S::V, L, N> {
        JacobianPoint { x: point.x, y: point.y, z: self.one() }
    }

    /// Coordinates that are not yet those of a point.
    #[inline(always)]
    pub(crate) fn origin(self) -> AffinePoint<S::V, L, N> {
        AffinePoint { x: self.zero(), y: self.zero() }
    }

    /// `a` or, where the mask is set, `-a`.
    #[inline(always)]
    pub(crate) fn negate_if(self, mask: Masks<N>, a: &AffinePoint<S::V, L, N>) -> AffinePoint<S::V, L, N> {
        let negative = self.carry_plus::<2>(self.zero().loose() - a.y);
        AffinePoint { x: a.x, y: self.select(mask, &a.y, &negative) }
    }

    /// A Jacobian accumulator as one that is only added to.
    #[inline(always)]
    pub(crate) fn widen(self, a: &JacobianPoint<S::V, L, N>) -> XyzzPoint<S::V, L, N> {
        let zz = self.sqr(&a.z);
        XyzzPoint { x: a.x, y: a.y, zzz: self.mul(&a.z, &zz), zz }
    }
}

impl<V: Vector, const L: usize, const N: usize> Zeroize for XyzzPoint<V, L, N> {
    fn zeroize(&mut self) {
        for element in [&mut self.x, &mut self.y, &mut self.zz, &mut self.zzz] {
            element.zeroize();
        }
    }
}
