//! The construction of tables: odd multiples of points, and their affine coordinates.

use super::curve::CurveParams;
use super::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use super::point::{AffinePoint, JacobianPoint, PointField, XyzzPoint};
use super::recode::digits;
use crate::simd::{LANES, Mask, MulSimd};

/// The coordinates of a point of each lane in their stored form.
pub(crate) type StoredPoint<V, const L: usize, const N: usize> = [[[V; L]; N]; 2];

/// The construction of tables in a field.
pub(crate) trait TableField<S: MulSimd, const L: usize, const N: usize>: PointField<S, L, N> {
    /// Appends `count` odd multiples P, 3P, 5P, ... to `out`. Every other one has its sign turned.
    ///
    /// 2P is used as the affine point (X, Y) of the isomorphic curve on which its Z is one. P is mapped to that
    /// curve, and the sums are mapped back with the Z of 2P. The addition formulas do not depend on the coefficients
    /// of the curve. P has a large prime order, so no two summands are equal or opposite.
    fn odd_multiples(
        self,
        p: &AffinePoint<Self::Element>,
        count: usize,
        out: &mut Vec<XyzzPoint<Self::Element>>,
    ) {
        // With 2P affine, every further multiple is a mixed addition (8M + 2S), and the inversion comes at the end.
        let mut twice = self.lift(p);
        self.double_times(&mut twice, 1);
        let step = AffinePoint { x: twice.x, y: twice.y };
        let (zz, zzz, mut sum) = self.simd().call(
            #[inline(always)]
            || {
                let (XyzzPoint { zz, zzz, .. }, one) = (self.widen(&twice), self.one());
                let first = XyzzPoint { x: self.mul(&p.x, &zz), y: self.mul(&p.y, &zzz), zz: one, zzz: one };
                (zz, zzz, first)
            },
        );
        for multiple in 0..count {
            if multiple > 0 {
                self.add_in_xyzz(&mut sum, &step, turned(multiple - 1));
            }
            out.push(self.simd().call(
                #[inline(always)]
                || XyzzPoint { zz: self.mul(&sum.zz, &zz), zzz: self.mul(&sum.zzz, &zzz), ..sum },
            ));
        }
    }

    /// Returns the coordinates of each of `points`. In each run of `run` points, every other one
    /// has its sign turned back. The points must be public and finite.
    fn normalise(self, points: &mut [XyzzPoint<Self::Element>], run: usize) -> Vec<StoredPoint<S::V, L, N>> {
        // One inversion for the whole table: docs/math/ecdsa.md, Verifying.
        let mut inverses: Vec<_> = points.iter().map(|point| point.zzz).collect();
        self.invert_all_public(&mut inverses);
        let mut affine = Vec::with_capacity(points.len());
        for (at, (point, inverse)) in points.iter().zip(&inverses).enumerate() {
            self.simd().call(
                #[inline(always)]
                || {
                    // ZZ / ZZZ is 1 / Z, so one inverse gives both 1 / ZZ and 1 / ZZZ.
                    let by_z = self.mul(&point.zz, inverse);
                    let x = self.mul(&point.x, &self.sqr(&by_z));
                    let y = self.mul(&point.y, inverse);
                    let point = self.negate_if(turned(at % run), &AffinePoint { x, y });
                    affine.push([self.stored(&point.x), self.stored(&point.y)]);
                },
            );
        }
        affine
    }
}

impl<F: PointField<S, L, N>, S: MulSimd, const L: usize, const N: usize> TableField<S, L, N> for F {}

/// Returns all lanes if `at` is odd, and none otherwise.
#[inline(always)]
pub(crate) fn turned<const N: usize>(at: usize) -> [Mask; N] {
    [if at % 2 == 1 { Mask::MAX } else { 0 }; N]
}

/// Computes the odd multiples 1, 3, ... 2^w - 1 of `2^(w i) P` for every window i. Eight windows are side by side,
/// one per lane.
pub(crate) fn windows<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    p: &[[u64; L]; 2],
    window: usize,
) -> Vec<StoredPoint<S::V, L, 1>> {
    let f = CurveField::<S, C, L, 1>::new(simd);
    let mut bases = bases::<S, C, L>(simd, p, window);
    let bases = f.normalise(&mut bases, 1);
    let (count, mut points) = (1 << (window - 1), Vec::new());
    for [x, y] in &bases {
        let base = AffinePoint { x: f.load_stored(x), y: f.load_stored(y) };
        f.odd_multiples(&base, count, &mut points);
    }
    f.normalise(&mut points, count)
}

/// The choice of a coordinate.
type CoordinateGetter<E> = fn(&JacobianPoint<E>) -> &E;

/// Computes `2^(w i) P` for eight windows side by side. Lanes past the last window repeat it.
fn bases<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    p: &[[u64; L]; 2],
    window: usize,
) -> Vec<XyzzPoint<CurveElement<S, C, L, 1>>> {
    let f = CurveField::<S, C, L, 1>::new(simd);
    let mut point = f.lift(&AffinePoint { x: f.splat(&p[0]), y: f.splat(&p[1]) });
    let mut chain = vec![point];
    for _ in 1..digits(C::BITS, window) {
        f.double_times(&mut point, window);
        chain.push(point);
    }
    let interleaved = |eight: &[JacobianPoint<CurveElement<S, C, L, 1>>]| {
        let coordinate = |of: CoordinateGetter<CurveElement<S, C, L, 1>>| {
            let mut limbs = [[0; LANES]; L];
            for lane in 0..LANES {
                let from = simd.call(
                    #[inline(always)]
                    || f.first_lane(of(&eight[lane.min(eight.len() - 1)])),
                );
                for limb in 0..L {
                    limbs[limb][lane] = from[limb];
                }
            }
            simd.call(
                #[inline(always)]
                || f.load([&limbs]),
            )
        };
        let point =
            JacobianPoint { x: coordinate(|p| &p.x), y: coordinate(|p| &p.y), z: coordinate(|p| &p.z) };
        simd.call(
            #[inline(always)]
            || f.widen(&point),
        )
    };
    chain.chunks(LANES).map(interleaved).collect()
}
