//! The comparison of the sum's x with r: without inversion, and by exact arithmetic if the fast path met an
//! exception.

use super::VerifyBlock;
use super::read::keys_apart;
use crate::ecdsa::comb::base;
use crate::ecdsa::complete::{CurveGroup, ProjectivePoint};
use crate::ecdsa::curve::CurveParams;
use crate::ecdsa::element::Element;
use crate::ecdsa::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use crate::ecdsa::interleaved::Masks;
use crate::ecdsa::point::AffinePoint;
use crate::ecdsa::ring::{MontgomeryRing, OddModulus};
use crate::ecdsa::scalars::lanes;

/// Returns the lanes whose signature is valid.
pub(super) fn finish<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    work: &VerifyBlock<'_, S::V, CurveElement<S, C, L, N>, L, N>,
) -> Masks<N> {
    let (f, order) = (CurveField::<S, C, L, N>::new(simd), MontgomeryRing::<S, C::Order, L, N>::new(simd));
    let r = order.read(&lanes(work.block, |job| job.r));
    let (mut is_good, is_exception) = simd.call(
        #[inline(always)]
        || {
            let is_good = is_x::<S, C, L, N>(simd, &r, &work.point.x, &work.point.zz);
            (is_good, f.is_zero(&work.point.zz))
        },
    );
    // ZZ is zero after equal or opposite summands. An attacker can choose such signatures, so the answer must be
    // exact.
    if is_exception != [0; N] {
        let keys = keys_apart::<S, C, L, N>(simd, work.block);
        for n in 0..N {
            let exact = is_valid_exactly::<S, C, L>(
                simd,
                work.scalars.map(|scalar| scalar.part(n)),
                &keys[n],
                &r.part(n),
            );
            is_good[n] = (is_good[n] & !is_exception[n]) | (exact & is_exception[n]);
        }
    }
    is_good
}

/// Returns the lanes in which `X/Z = r mod n`. The test is X = r Z, or X = (r + n) Z if r + n is below p. Z must not
/// be zero.
#[inline(always)]
fn is_x<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    r: &Element<S::V, L, N>,
    x: &CurveElement<S, C, L, N>,
    z: &CurveElement<S, C, L, N>,
) -> Masks<N> {
    let f = CurveField::<S, C, L, N>::new(simd);
    let plain = MontgomeryRing::<S, C::Field, L, N>::new(simd);
    // r is x mod n, and p is above n: for small r there are two candidates for x.
    let other = plain.carry(r.loose() + plain.splat(&C::Order::LIMBS));
    let is_below = plain.is_below_modulus(&other);
    let first = f.reduce_weakly(f.times(&f.enter(r), z) - f.loose(x));
    let second = f.reduce_weakly(f.times(&f.enter(&other), z) - f.loose(x));
    let (mut is_x, second) = (f.is_zero(&first), f.is_zero(&second));
    for n in 0..N {
        is_x[n] |= second[n] & is_below[n];
    }
    is_x
}

/// Computes the same for one group by complete additions.
fn is_valid_exactly<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    [u1, u2]: [Element<S::V, L, 1>; 2],
    key: &AffinePoint<CurveElement<S, C, L, 1>>,
    r: &Element<S::V, L, 1>,
) -> u8 {
    let group = CurveGroup::<S, C, L>::new(simd);
    let [x, y] = base::<C, L>();
    let base = group.lift(&AffinePoint { x: group.f.splat(&x), y: group.f.splat(&y) });
    let ProjectivePoint { x, z, .. } = group.double_sum((&u1, &base), (&u2, &group.lift(key)));
    simd.call(
        #[inline(always)]
        || {
            let [is_good] = is_x::<S, C, L, 1>(simd, r, &x, &z);
            let [is_infinity] = group.f.is_zero(&z);
            is_good & !is_infinity
        },
    )
}
