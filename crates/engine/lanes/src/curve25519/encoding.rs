//! Points as 32 bytes. RFC 8032 5.1.2 and 5.1.3.

use zeroize::Zeroizing;

use super::constants::{D, ONE, ROOT_OF_MINUS_ONE};
use super::field::{Factor, FieldFactor, FieldSimd, Sum, WideSum};
use super::point::EdwardsPoint;
use super::power;
use super::words;
use crate::simd::{BlindMulVector, BlindVector, LANES, Mask};

/// Returns x and y of every group's points. One inversion serves all. Constant time.
pub(super) fn to_affine<S: FieldSimd>(simd: S, points: &[EdwardsPoint<S>]) -> Zeroizing<Vec<[Factor<S>; 2]>> {
    let mut inverses = Zeroizing::new(Vec::with_capacity(points.len()));
    let mut affine = Zeroizing::new(Vec::with_capacity(points.len()));
    for point in points {
        simd.call(
            #[inline(always)]
            || inverses.push(*point.z.factor(simd)),
        );
    }
    power::invert_all(simd, &mut inverses);
    for (point, inverse) in points.iter().zip(inverses.iter()) {
        simd.call(
            #[inline(always)]
            || {
                let x = *point.x.factor(simd).times(simd, inverse).factor(simd);
                affine.push([x, *point.y.factor(simd).times(simd, inverse).factor(simd)]);
            },
        );
    }
    affine
}

/// Encodes every group's points: y, and the parity of x in the topmost bit.
pub(super) fn encode<S: FieldSimd>(simd: S, points: &[EdwardsPoint<S>]) -> Vec<[[u8; 32]; LANES]> {
    let mut encoded = Vec::with_capacity(points.len());
    for [x, y] in to_affine(simd, points).iter() {
        let words = simd.call(
            #[inline(always)]
            || {
                let mut words = y.as_words(simd);
                let top = simd.splat(1 << 63);
                words[3] = words[3].or_if(x.is_odd(simd), words[3] | top);
                words
            },
        );
        encoded.push(words::bytes(simd, &words));
    }
    encoded
}

/// A group of decoded points, and the lanes whose encoding was valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoded<S: FieldSimd> {
    pub(super) x: Factor<S>,
    pub(super) y: Factor<S>,
    pub(super) is_valid: Mask,
}

/// Decodes public bytes and returns the opposites of the points, by AWS-LC's predicate, which is that of RFC 8032
/// 5.1.3. It rejects a y that is not below p, a y without a point, and x = 0 with the sign bit set. It accepts
/// points of small order.
pub(super) fn decode_opposites<S: FieldSimd>(simd: S, encoded: &[[&[u8]; LANES]]) -> Vec<Decoded<S>> {
    let mut candidates = Vec::with_capacity(encoded.len());
    let mut products = Vec::with_capacity(encoded.len());
    for lanes in encoded {
        let words = words::load(simd, *lanes);
        simd.call(
            #[inline(always)]
            || {
                let candidate = RootCandidate::new(simd, &words);
                products.push(candidate.u.times(simd, &candidate.v).reduce(simd));
                candidates.push(candidate);
            },
        );
    }
    // All groups at once, so that four chains of 252 squarings run side by side.
    let powers = power::for_square_roots(simd, &products);
    let mut decoded = Vec::with_capacity(encoded.len());
    for (candidate, power) in candidates.iter().zip(powers.iter()) {
        simd.call(
            #[inline(always)]
            || decoded.push(candidate.finish(simd, power)),
        );
    }
    decoded
}

/// A square root to extract: x^2 = u/v with u = y^2 - 1, v = d y^2 + 1.
struct RootCandidate<S: FieldSimd> {
    y: Factor<S>,
    u: Factor<S>,
    v: Factor<S>,
    sign: Mask,
    is_canonical: Mask,
}

impl<S: FieldSimd> RootCandidate<S> {
    #[inline(always)]
    fn new(simd: S, words: &[S::V; 4]) -> Self {
        let top = simd.splat(1 << 63);
        let [a, b, c, d] = *words;
        // RFC 8032 5.1.3, step 1: a y from p on is refused.
        let (y, is_canonical) = Factor::<S>::from_words_below_p(simd, &[a, b, c, top.and_not(d)]);
        let (one, square) = (Sum::<S>::splat(simd, &ONE), y.square(simd));
        let u = square.minus(simd, &one).reduce(simd);
        // v is not zero for any y, because -1/d is not a square.
        let v = (square.reduce(simd).times(simd, &Factor::<S>::splat(simd, &D)) + one).reduce(simd);
        Self { y, u, v, sign: d.has_any(top), is_canonical }
    }

    /// Returns x = u (u v)^((p-5)/8), times the root of -1 if v x^2 = -u. Its parity is the opposite of the sign
    /// bit.
    #[inline(always)]
    fn finish(&self, simd: S, power: &Factor<S>) -> Decoded<S> {
        let x = self.u.times(simd, power).reduce(simd);
        let check = x.square(simd).reduce(simd).times(simd, &self.v);
        let u = self.u.widen(simd);
        let is_root = check.minus(simd, &u).reduce(simd).is_zero(simd);
        // v x^2 = -u: the candidate is off by a root of -1. RFC 8032 5.1.3, step 3.
        let is_turned = (check + u).reduce(simd).is_zero(simd);
        let turned = x.times(simd, &Factor::<S>::splat(simd, &ROOT_OF_MINUS_ONE)).reduce(simd);
        let x = turned.or_if(is_root, &x);
        let opposite = Sum::<S>::splat(simd, &[0; 5]).minus(simd, &x.widen(simd)).reduce(simd);
        let is_x_zero = x.is_zero(simd);
        let x = x.or_if(!(x.is_odd(simd) ^ self.sign), &opposite);
        // Step 4 of RFC 8032 5.1.3 rejects x = 0 with the sign bit set.
        let is_valid = self.is_canonical & (is_root | is_turned) & !(is_x_zero & self.sign);
        Decoded { x, y: self.y, is_valid }
    }
}
