//! Additions without exceptions, for the few lanes in which the fast path met one. They are slow, and exact for
//! every input.

use super::curve::CurveParams;
use super::element::Element;
use super::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use super::interleaved::{Interleaved, Masks};
use super::point::AffinePoint;
use super::ring::OddModulus;
use crate::ecdsa::constants::shifted;

/// A point `(X/Z, Y/Z)`. The point at infinity is (0, 1, 0).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProjectivePoint<E> {
    pub(crate) x: E,
    pub(crate) y: E,
    pub(crate) z: E,
}

/// The group of a curve on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurveGroup<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize> {
    pub(crate) f: CurveField<S, C, L, 1>,
}

type E<S, C, const L: usize> = CurveElement<S, C, L, 1>;
type Pair<'a, S, C, const L: usize> = (&'a E<S, C, L>, &'a E<S, C, L>);
/// Plain scalars.
type Scalars<S, const L: usize> = Element<<S as crate::simd::BlindSimd>::V, L, 1>;

impl<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize> CurveGroup<S, C, L> {
    pub(crate) fn new(simd: S) -> Self {
        Self { f: CoordinateField::new(simd) }
    }

    #[inline(always)]
    fn add(self, a: &E<S, C, L>, b: &E<S, C, L>) -> E<S, C, L> {
        self.f.reduce_weakly(self.f.loose(a) + self.f.loose(b))
    }

    #[inline(always)]
    fn sub(self, a: &E<S, C, L>, b: &E<S, C, L>) -> E<S, C, L> {
        self.f.reduce_weakly(self.f.loose(a) - self.f.loose(b))
    }

    #[inline(always)]
    fn triple(self, a: &E<S, C, L>) -> E<S, C, L> {
        let loose = self.f.loose(a);
        self.f.reduce_weakly(loose + self.f.shl::<1>(loose))
    }

    /// Computes `(a + a') (b + b') - (less + less')`.
    #[inline(always)]
    fn mixed(self, a: Pair<'_, S, C, L>, b: Pair<'_, S, C, L>, less: Pair<'_, S, C, L>) -> E<S, C, L> {
        let product = self.f.mul(&self.add(a.0, a.1), &self.add(b.0, b.1));
        self.sub(&product, &self.add(less.0, less.1))
    }

    pub(crate) fn infinity(self) -> ProjectivePoint<E<S, C, L>> {
        ProjectivePoint { x: self.f.zero(), y: self.f.one(), z: self.f.zero() }
    }

    pub(crate) fn lift(self, p: &AffinePoint<E<S, C, L>>) -> ProjectivePoint<E<S, C, L>> {
        ProjectivePoint { x: p.x, y: p.y, z: self.f.one() }
    }

    /// Computes `p + q` for any two points. Renes, Costello, Batina: Complete addition formulas for prime order
    /// elliptic curves, algorithm 4 (a = -3).
    pub(crate) fn sum(
        self,
        p: &ProjectivePoint<E<S, C, L>>,
        q: &ProjectivePoint<E<S, C, L>>,
    ) -> ProjectivePoint<E<S, C, L>> {
        let f = self.f;
        f.simd().call(
            #[inline(always)]
            || {
                let b = f.splat(&const { shifted(C::B, 52 * L, &<C::Field as OddModulus<L>>::LIMBS) });
                let (xx, yy, zz) = (f.mul(&p.x, &q.x), f.mul(&p.y, &q.y), f.mul(&p.z, &q.z));
                // Each is a cross term such as X1 Y2 + X2 Y1, for one product instead of two.
                let xy = self.mixed((&p.x, &p.y), (&q.x, &q.y), (&xx, &yy));
                let yz = self.mixed((&p.y, &p.z), (&q.y, &q.z), (&yy, &zz));
                let xz = self.mixed((&p.x, &p.z), (&q.x, &q.z), (&xx, &zz));
                let difference = self.triple(&self.sub(&xz, &f.mul(&b, &zz)));
                let (minus, plus) = (self.sub(&yy, &difference), self.add(&yy, &difference));
                let zz3 = self.triple(&zz);
                let outer = self.triple(&self.sub(&self.sub(&f.mul(&b, &xz), &zz3), &xx));
                let inner = self.sub(&self.triple(&xx), &zz3);
                ProjectivePoint {
                    x: self.sub(&f.mul(&xy, &plus), &f.mul(&yz, &outer)),
                    y: self.add(&f.mul(&plus, &minus), &f.mul(&inner, &outer)),
                    z: self.add(&f.mul(&yz, &minus), &f.mul(&xy, &inner)),
                }
            },
        )
    }

    /// Returns `q` in lanes whose mask bit is set, and `p` in the others.
    pub(crate) fn select(
        self,
        mask: Masks<1>,
        p: &ProjectivePoint<E<S, C, L>>,
        q: &ProjectivePoint<E<S, C, L>>,
    ) -> ProjectivePoint<E<S, C, L>> {
        let f = self.f;
        ProjectivePoint {
            x: f.select(mask, &p.x, &q.x),
            y: f.select(mask, &p.y, &q.y),
            z: f.select(mask, &p.z, &q.z),
        }
    }

    /// Computes `u p + v q` for plain scalars, bit by bit.
    pub(crate) fn double_sum(
        self,
        (u, p): (&Scalars<S, L>, &ProjectivePoint<E<S, C, L>>),
        (v, q): (&Scalars<S, L>, &ProjectivePoint<E<S, C, L>>),
    ) -> ProjectivePoint<E<S, C, L>> {
        let mut sum = self.infinity();
        // No windows and no tables: it runs for a few lanes of a crafted signature, and short code is easy to check.
        for bit in (0..C::BITS).rev() {
            sum = self.sum(&sum, &sum);
            for (scalar, point) in [(u, p), (v, q)] {
                let is_set = scalar.0[bit / 52].has_any(Interleaved::splat(self.f.simd(), 1 << (bit % 52)));
                // The scalars are public here: the complete formulas serve verification and tests only.
                if is_set != [0] {
                    sum = self.select(is_set, &sum, &self.sum(&sum, point));
                }
            }
        }
        sum
    }

    /// Returns the sum of all lanes in every lane.
    pub(crate) fn sum_of_lanes(self, p: &ProjectivePoint<E<S, C, L>>) -> ProjectivePoint<E<S, C, L>> {
        let mut sum = *p;
        for distance in [4, 2, 1] {
            let turn = |element: &E<S, C, L>| self.f.turn(element, distance);
            let other = ProjectivePoint { x: turn(&sum.x), y: turn(&sum.y), z: turn(&sum.z) };
            sum = self.sum(&sum, &other);
        }
        sum
    }

    /// Returns the lanes in which two points are equal.
    pub(crate) fn is_same(
        self,
        p: &ProjectivePoint<E<S, C, L>>,
        q: &ProjectivePoint<E<S, C, L>>,
    ) -> Masks<1> {
        let f = self.f;
        let same = |a, b, c, d| {
            f.simd().call(
                #[inline(always)]
                || f.is_zero(&self.sub(&f.mul(a, b), &f.mul(c, d))),
            )
        };
        // Compared crosswise by Z, and both coordinates: opposite points share x.
        let [same_x] = same(&p.x, &q.z, &q.x, &p.z);
        let [same_y] = same(&p.y, &q.z, &q.y, &p.z);
        [same_x & same_y]
    }
}
