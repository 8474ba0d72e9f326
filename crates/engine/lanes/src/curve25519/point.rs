//! Points of the twisted Edwards curve -x^2 + y^2 = 1 + d x^2 y^2 in extended coordinates. The formulas are
//! complete: they hold for all points, also for equal, opposite, neutral and small-order ones (Hisil, Wong, Carter,
//! Dawson 2008, 3.1 to 3.3).

use zeroize::Zeroize;

use super::constants::{ONE, TWICE_D};
use super::field::{Factor, FieldFactor, FieldSimd, Sum, WideSum};
use crate::simd::Mask;

/// A point (X : Y : Z : T) with x = X/Z, y = Y/Z, T = XY/Z.
#[derive(Clone, Copy, Debug, Zeroize)]
#[zeroize(bound = "")]
pub(super) struct EdwardsPoint<S: FieldSimd> {
    pub(super) x: Sum<S>,
    pub(super) y: Sum<S>,
    pub(super) z: Sum<S>,
    /// T is stale if the next step does not read it.
    pub(super) t: Sum<S>,
}

/// A second summand: (Y+X, Y-X, 2dT, 2Z).
#[derive(Clone, Copy, Debug, Zeroize)]
#[zeroize(bound = "")]
pub(super) struct CachedPoint<S: FieldSimd> {
    pub(super) niels: NielsPoint<S>,
    pub(super) z: Factor<S>,
}

/// An affine second summand: (y+x, y-x, 2dxy).
#[derive(Clone, Copy, Debug, Zeroize)]
#[zeroize(bound = "")]
pub(super) struct NielsPoint<S: FieldSimd> {
    pub(super) plus: Factor<S>,
    pub(super) minus: Factor<S>,
    pub(super) product: Factor<S>,
}

/// The first half of a sum or of a doubling: the factors of X = EF, Y = GH, Z = FG, T = EH.
#[derive(Clone, Copy, Debug)]
struct HalfSum<S: FieldSimd> {
    e: Sum<S>,
    f: Sum<S>,
    g: Sum<S>,
    h: Sum<S>,
}

impl<S: FieldSimd> EdwardsPoint<S> {
    /// Returns the neutral element (0, 1).
    #[inline(always)]
    pub(super) fn neutral(simd: S) -> Self {
        let (zero, one) = (Sum::<S>::splat(simd, &[0; 5]), Sum::<S>::splat(simd, &ONE));
        Self { x: zero, y: one, z: one, t: zero }
    }

    /// Returns the affine point (x, y).
    #[inline(always)]
    pub(super) fn affine(simd: S, x: &Factor<S>, y: &Factor<S>) -> Self {
        let z = Sum::<S>::splat(simd, &ONE);
        Self { x: x.widen(simd).settle(simd), y: y.widen(simd).settle(simd), z, t: x.times(simd, y) }
    }

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    #[inline(always)]
    pub(super) fn or_if(&self, mask: Mask, yes: &Self) -> Self {
        Self {
            x: self.x.or_if(mask, &yes.x),
            y: self.y.or_if(mask, &yes.y),
            z: self.z.or_if(mask, &yes.z),
            t: self.t.or_if(mask, &yes.t),
        }
    }

    /// Computes P + Q, or P - Q in the lanes of `negative`, with eight products, or seven without T.
    #[inline(always)]
    pub(super) fn add<const WITH_T: bool>(&mut self, simd: S, other: &CachedPoint<S>, negative: Mask) {
        let half = self.begin_add(simd, other, negative);
        self.finish::<WITH_T>(simd, &half);
    }

    /// Computes P + Q, or P - Q in the lanes of `negative`, for an affine Q, with seven products, or six without T.
    #[inline(always)]
    pub(super) fn add_affine<const WITH_T: bool>(&mut self, simd: S, other: &NielsPoint<S>, negative: Mask) {
        let half = self.begin_add_affine(simd, other, negative);
        self.finish::<WITH_T>(simd, &half);
    }

    /// Computes the first half of 2 P with four squarings. It does not read T.
    #[inline(always)]
    fn begin_double(&self, simd: S) -> HalfSum<S> {
        // 2 X Y is (X + Y)^2 - X^2 - Y^2: a squaring is cheaper than a product.
        let sum = (self.x + self.y).factor(simd).square(simd);
        let a = self.x.factor(simd).square(simd);
        let b = self.y.factor(simd).square(simd);
        let c = self.z.factor(simd).square(simd);
        let (h, g) = (a + b, a.minus(simd, &b));
        HalfSum { e: h.minus(simd, &sum).settle(simd), f: (g + (c + c)).settle(simd), g, h }
    }

    #[inline(always)]
    fn begin_add(&self, simd: S, other: &CachedPoint<S>, negative: Mask) -> HalfSum<S> {
        let z = self.z.factor(simd).times(simd, &other.z);
        self.begin_sum(simd, &other.niels, &z, negative)
    }

    #[inline(always)]
    fn begin_add_affine(&self, simd: S, other: &NielsPoint<S>, negative: Mask) -> HalfSum<S> {
        let HalfSum { e, f, g, h } = self.begin_sum(simd, other, &(self.z + self.z), negative);
        // Three products each: 2 Z and C.
        HalfSum { e, f: f.settle(simd), g: g.settle(simd), h }
    }

    /// Computes the first half of P + Q. `twice_z` is 2 Z Z'. The opposite of Q has Y+X and Y-X exchanged, and -T.
    #[inline(always)]
    fn begin_sum(&self, simd: S, other: &NielsPoint<S>, twice_z: &Sum<S>, negative: Mask) -> HalfSum<S> {
        // A blend under a mask, because digits of signers are secret.
        let plus = other.plus.or_if(negative, &other.minus);
        let minus = other.minus.or_if(negative, &other.plus);
        let a = self.y.minus(simd, &self.x).factor(simd).times(simd, &minus);
        let b = (self.y + self.x).factor(simd).times(simd, &plus);
        let c = self.t.factor(simd).times(simd, &other.product);
        let (less, more) = (twice_z.minus(simd, &c), *twice_z + c);
        // Subtracting negates T of the summand, which exchanges F and G.
        let (f, g) = (less.or_if(negative, &more), more.or_if(negative, &less));
        HalfSum { e: b.minus(simd, &a), f, g, h: b + a }
    }

    /// Computes the second half of a sum: X = EF, Y = GH, Z = FG, T = EH.
    #[inline(always)]
    fn finish<const WITH_T: bool>(&mut self, simd: S, half: &HalfSum<S>) {
        // Each factor is reduced once and used twice: four carries for four products.
        let (e, f) = (half.e.factor(simd), half.f.factor(simd));
        let (g, h) = (half.g.factor(simd), half.h.factor(simd));
        e.times_into(simd, &f, &mut self.x);
        f.times_into(simd, &g, &mut self.z);
        g.times_into(simd, &h, &mut self.y);
        // A doubling reads no T, so the step before one saves this product.
        if WITH_T {
            e.times_into(simd, &h, &mut self.t);
        }
    }

    /// Computes the second half of a sum, or keeps the first one in place of the coordinates until [`finish_kept`].
    #[inline(always)]
    fn finish_or_keep<const WITH_T: bool>(&mut self, simd: S, half: &HalfSum<S>) {
        if S::TAKES_TURNS {
            (self.x, self.y, self.z, self.t) = (half.e, half.f, half.g, half.h);
        } else {
            self.finish::<WITH_T>(simd, half);
        }
    }

    /// Returns the point as a second summand, with one product.
    #[inline(always)]
    pub(super) fn cached(&self, simd: S) -> CachedPoint<S> {
        let product = *self.t.factor(simd).times(simd, &Factor::<S>::splat(simd, &TWICE_D)).factor(simd);
        let plus = (self.y + self.x).reduce(simd);
        let minus = self.y.minus(simd, &self.x).reduce(simd);
        // 2 Z here, once per table entry, instead of doubling in every addition.
        CachedPoint { niels: NielsPoint { plus, minus, product }, z: (self.z + self.z).reduce(simd) }
    }
}

/// Computes 2 P for every group.
#[inline(always)]
pub(super) fn double_all<S: FieldSimd, const N: usize, const WITH_T: bool>(
    simd: S,
    points: &mut [EdwardsPoint<S>; N],
) {
    for point in points.iter_mut() {
        let half = point.begin_double(simd);
        point.finish_or_keep::<WITH_T>(simd, &half);
    }
    finish_kept::<S, N, WITH_T>(simd, points);
}

/// Computes P + Q, or P - Q, for every group. `other` returns Q and the lanes in which it is subtracted.
#[inline(always)]
pub(super) fn add_all<S: FieldSimd, const N: usize, const WITH_T: bool>(
    simd: S,
    points: &mut [EdwardsPoint<S>; N],
    other: impl Fn(usize) -> (CachedPoint<S>, Mask),
) {
    for (group, point) in points.iter_mut().enumerate() {
        let (other, negative) = other(group);
        let half = point.begin_add(simd, &other, negative);
        point.finish_or_keep::<WITH_T>(simd, &half);
    }
    finish_kept::<S, N, WITH_T>(simd, points);
}

/// Computes the same for affine Q.
#[inline(always)]
pub(super) fn add_affine_all<S: FieldSimd, const N: usize, const WITH_T: bool>(
    simd: S,
    points: &mut [EdwardsPoint<S>; N],
    other: impl Fn(usize) -> (NielsPoint<S>, Mask),
) {
    for (group, point) in points.iter_mut().enumerate() {
        let (other, negative) = other(group);
        let half = point.begin_add_affine(simd, &other, negative);
        point.finish_or_keep::<WITH_T>(simd, &half);
    }
    finish_kept::<S, N, WITH_T>(simd, points);
}

/// Computes the second halves of the sums of all groups if they follow the first halves of all.
#[inline(always)]
fn finish_kept<S: FieldSimd, const N: usize, const WITH_T: bool>(simd: S, points: &mut [EdwardsPoint<S>; N]) {
    if S::TAKES_TURNS {
        for point in points.iter_mut() {
            let half = HalfSum { e: point.x, f: point.y, g: point.z, h: point.t };
            point.finish::<WITH_T>(simd, &half);
        }
    }
}
