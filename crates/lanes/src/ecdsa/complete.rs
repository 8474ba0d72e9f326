//! Additions without exceptions, for the few lanes in which the fast path met one. They are slow, and exact for
//! every input.

use super::curve::CurveParams;
use super::element::{Element, LooseElement};
use super::interleaved::Masks;
use super::point::AffinePoint;
use super::ring::{MontgomeryRing, OddModulus};
use crate::ecdsa::constants::shifted;
use crate::simd::{LANES, MulSimd, Vector};

/// A point `(X/Z, Y/Z)`. The point at infinity is (0, 1, 0).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProjectivePoint<V, const L: usize> {
    pub(crate) x: Element<V, L, 1>,
    pub(crate) y: Element<V, L, 1>,
    pub(crate) z: Element<V, L, 1>,
}

/// The group of a curve on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurveGroup<S, C: CurveParams<L>, const L: usize> {
    pub(crate) f: MontgomeryRing<S, C::Field, L, 1>,
}

type E<S, const L: usize> = Element<<S as crate::simd::Simd>::V, L, 1>;
type Pair<'a, S, const L: usize> = (&'a E<S, L>, &'a E<S, L>);

impl<S: MulSimd, C: CurveParams<L>, const L: usize> CurveGroup<S, C, L> {
    pub(crate) fn new(simd: S) -> Self {
        Self { f: MontgomeryRing::new(simd) }
    }

    #[inline(always)]
    fn add(self, a: &E<S, L>, b: &E<S, L>) -> E<S, L> {
        self.f.reduce_weakly(a.loose() + *b)
    }

    #[inline(always)]
    fn sub(self, a: &E<S, L>, b: &E<S, L>) -> E<S, L> {
        self.f.reduce_weakly(a.loose() - *b)
    }

    #[inline(always)]
    fn triple(self, a: &E<S, L>) -> E<S, L> {
        let loose: LooseElement<S::V, L, 1> = a.loose();
        self.f.reduce_weakly(loose + loose.shl::<1>())
    }

    /// Computes `(a + a') (b + b') - (less + less')`.
    #[inline(always)]
    fn mixed(self, a: Pair<'_, S, L>, b: Pair<'_, S, L>, less: Pair<'_, S, L>) -> E<S, L> {
        let product = self.f.mul(&self.add(a.0, a.1), &self.add(b.0, b.1));
        self.sub(&product, &self.add(less.0, less.1))
    }

    pub(crate) fn infinity(self) -> ProjectivePoint<S::V, L> {
        ProjectivePoint { x: self.f.zero(), y: self.f.one(), z: self.f.zero() }
    }

    pub(crate) fn lift(self, p: &AffinePoint<S::V, L, 1>) -> ProjectivePoint<S::V, L> {
        ProjectivePoint { x: p.x, y: p.y, z: self.f.one() }
    }

    /// Computes `p + q` for any two points. Renes, Costello, Batina: Complete addition formulas for prime order
    /// elliptic curves, algorithm 4 (a = -3).
    pub(crate) fn sum(
        self,
        p: &ProjectivePoint<S::V, L>,
        q: &ProjectivePoint<S::V, L>,
    ) -> ProjectivePoint<S::V, L> {
        let f = self.f;
        f.simd.call(
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
        p: &ProjectivePoint<S::V, L>,
        q: &ProjectivePoint<S::V, L>,
    ) -> ProjectivePoint<S::V, L> {
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
        (u, p): (&E<S, L>, &ProjectivePoint<S::V, L>),
        (v, q): (&E<S, L>, &ProjectivePoint<S::V, L>),
    ) -> ProjectivePoint<S::V, L> {
        let mut sum = self.infinity();
        // No windows and no tables: it runs for a few lanes of a crafted signature, and short code is easy to check.
        for bit in (0..C::BITS).rev() {
            sum = self.sum(&sum, &sum);
            for (scalar, point) in [(u, p), (v, q)] {
                let is_set = scalar.0[bit / 52].has_any(self.f.word(1 << (bit % 52)));
                // The scalars are public here: the complete formulas serve verification and tests only.
                if is_set != [0] {
                    sum = self.select(is_set, &sum, &self.sum(&sum, point));
                }
            }
        }
        sum
    }

    /// Returns the sum of all lanes in every lane.
    pub(crate) fn sum_of_lanes(self, p: &ProjectivePoint<S::V, L>) -> ProjectivePoint<S::V, L> {
        let mut sum = *p;
        for distance in [4, 2, 1] {
            let turn = |element: &E<S, L>| {
                let mut turned = *element;
                for limb in &mut turned.0 {
                    let words = limb.0[0].words();
                    limb.0[0] =
                        self.f.simd.load(&std::array::from_fn(|lane| words[(lane + distance) % LANES]));
                }
                turned
            };
            let other = ProjectivePoint { x: turn(&sum.x), y: turn(&sum.y), z: turn(&sum.z) };
            sum = self.sum(&sum, &other);
        }
        sum
    }

    /// Returns the lanes in which two points are equal.
    pub(crate) fn is_same(self, p: &ProjectivePoint<S::V, L>, q: &ProjectivePoint<S::V, L>) -> Masks<1> {
        let f = self.f;
        let same = |a, b, c, d| {
            f.simd.call(
                #[inline(always)]
                || f.is_zero(&f.leave(&self.sub(&f.mul(a, b), &f.mul(c, d)))),
            )
        };
        // Compared crosswise by Z, and both coordinates: opposite points share x.
        let [same_x] = same(&p.x, &q.z, &q.x, &p.z);
        let [same_y] = same(&p.y, &q.z, &q.y, &p.z);
        [same_x & same_y]
    }
}
