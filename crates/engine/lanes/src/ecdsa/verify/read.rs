//! The inputs of jobs: signatures in range, and keys on their curve.

use oarlock_core::{Key, Operation, SecondInput, Status};

use crate::batch::LaneJob;
use crate::ecdsa::curve::CurveParams;
use crate::ecdsa::field::{CoordinateField, CurveElement, CurveField, CurveSimd};
use crate::ecdsa::point::AffinePoint;
use crate::ecdsa::ring::MontgomeryRing;
use crate::ecdsa::scalars::{is_in_range, lanes, limbs_of_bytes};
use crate::simd::LANES;

/// The inputs of a job.
#[derive(Clone, Copy)]
pub(super) struct EcdsaVerifyJob<'a> {
    /// The x and y of the key in Montgomery form.
    pub(super) key: &'a [Vec<u64>; 2],
    /// The index of the job in the run, by which its table is found.
    pub(super) index: usize,
    pub(super) digest: &'a [u8],
    pub(super) r: &'a [u8],
    pub(super) s: &'a [u8],
}

/// A public key in Montgomery form, or None if it is not on its curve.
struct CheckedPoint(Option<[Vec<u64>; 2]>);

pub(super) fn read<'a, S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    operation: &'a Operation<'a>,
) -> Result<EcdsaVerifyJob<'a>, Status> {
    let SecondInput::Signature(signature) = operation.extra else { return Err(Status::Malformed) };
    // A bad key takes precedence over a bad signature, as on the scalar engine.
    let key = public_key::<S, C, L>(simd, operation.key).ok_or(Status::BadKey)?;
    // The type of the operation proves the length, which is twice the width of the curve.
    let (r, s) = signature.split_at(C::BYTES);
    if !is_in_range::<C::Order, L>(r) || !is_in_range::<C::Order, L>(s) {
        return Err(Status::Rejected);
    }
    Ok(EcdsaVerifyJob { key, index: 0, digest: operation.input, r, s })
}

/// Returns the point of a key. The check of the point is cached with the key.
fn public_key<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    key: &Key,
) -> Option<&[Vec<u64>; 2]> {
    let checked = key.prepared(|key| {
        let point = key.ec_public().and_then(|(_, point)| read_point::<S, C, L>(simd, point));
        Ok::<_, std::convert::Infallible>(CheckedPoint(point.map(|point| point.map(Vec::from))))
    });
    checked.ok()?.0.as_ref()
}

/// Returns the coordinates of an uncompressed point in Montgomery form, or None if it is not on the curve. SEC 1
/// 2.3.4.
pub(crate) fn read_point<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    point: &[u8],
) -> Option<[[u64; L]; 2]> {
    let [4, coordinates @ ..] = point else { return None };
    let (x, y) = coordinates.split_at_checked(C::BYTES)?;
    if y.len() != C::BYTES {
        return None;
    }
    let (x, y) = (limbs_of_bytes(x), limbs_of_bytes(y));
    simd.call(
        #[inline(always)]
        || on_curve::<S, C, L>(simd, &x, &y),
    )
}

/// Returns plain coordinates in Montgomery form, or None if they are not below p or not on the curve.
#[inline(always)]
fn on_curve<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize>(
    simd: S,
    x: &[u64; L],
    y: &[u64; L],
) -> Option<[[u64; L]; 2]> {
    let f = CurveField::<S, C, L, 1>::new(simd);
    let plain = MontgomeryRing::<S, C::Field, L, 1>::new(simd);
    let (x, y) = (plain.splat(x), plain.splat(y));
    let is_reduced = plain.is_below_modulus(&x)[0] & plain.is_below_modulus(&y)[0];
    let (x, y) = (f.enter(&x), f.enter(&y));
    let cube = f.mul(&f.sqr(&x), &x);
    let (loose, b) = (f.loose(&x), f.enter(&plain.splat(&C::B)));
    let right = f.reduce_weakly(f.loose(&cube) - f.shl::<1>(loose) - loose + f.loose(&b));
    let difference = f.reduce_weakly(f.loose(&f.sqr(&y)) - f.loose(&right));
    let is_on_curve = f.is_zero(&difference)[0];
    // The stored form is canonical, because tables and comparisons of keys take its limbs as they are.
    (is_reduced & is_on_curve == u8::MAX).then(|| [f.first_lane(&x), f.first_lane(&y)])
}

/// Loads the points of a block's keys.
pub(super) fn keys<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    block: &[LaneJob<EcdsaVerifyJob<'_>>],
) -> AffinePoint<CurveElement<S, C, L, N>> {
    let f = CurveField::<S, C, L, N>::new(simd);
    let keys: [[&[Vec<u64>; 2]; LANES]; N] = lanes(block, |job| job.key);
    let [x, y] = [0, 1].map(|coordinate| {
        let limbs: [[[u64; LANES]; L]; N] = std::array::from_fn(|n| {
            std::array::from_fn(|limb| std::array::from_fn(|lane| keys[n][lane][coordinate][limb]))
        });
        simd.call(
            #[inline(always)]
            || f.load(limbs.each_ref()),
        )
    });
    AffinePoint { x, y }
}

/// Loads the same points, group by group.
pub(super) fn keys_apart<S: CurveSimd<C, L>, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    block: &[LaneJob<EcdsaVerifyJob<'_>>],
) -> [AffinePoint<CurveElement<S, C, L, 1>>; N] {
    std::array::from_fn(|n| keys::<S, C, L, 1>(simd, &block[(n * LANES).min(block.len() - 1)..]))
}
