//! P-256: verification of r || s over a digest. FIPS 186-5 6.4.2.

use std::iter::successors;
use std::sync::LazyLock;

use crrl::field::GFp256;
use crrl::p256::{Point, Scalar};
use oarlock_core::{Curve, Key, Table};

use super::Signed;
use super::comb::Comb;

/// Multiples of a key.
type KeyComb = Comb<Affine, 256, 7>;
/// Multiples of the base point: there is one table of them, so its windows may be wider.
type BaseComb = Comb<Affine, 256, 8>;

/// The table of a public key.
#[derive(Debug)]
pub(super) struct KeyTable(KeyComb);

/// A finite point, on a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Affine {
    x: GFp256,
    y: GFp256,
}

impl KeyTable {
    /// The table of an uncompressed point, or None where it is not on the curve.
    pub(super) fn new(public: &[u8]) -> Option<Self> {
        read(public).map(|point| Self(multiples(point)))
    }

    /// With one multiple negated, which is a point of the curve as well.
    #[cfg(test)]
    pub(super) fn with_one_negated(&self, at: usize) -> Self {
        let mut multiples = self.0.multiples().to_vec();
        multiples[at] = multiples[at].signed(true);
        Self(Comb::new(multiples))
    }
}

impl Table for KeyTable {
    const BYTES: usize = KeyComb::BYTES;
    const USES: u32 = 24;

    fn public(key: &Key) -> Option<&[u8]> {
        key.ec_public().filter(|(curve, _)| *curve == Curve::P256).map(|(_, point)| point)
    }

    /// By `crrl`'s complete additions: every multiple is on the curve, and all of them together are m (m + 1) / 2 times the sum
    /// of 2^(W i) Q over all windows i, where m is the number of multiples in a window.
    fn is_right(&self, public: &[u8]) -> bool {
        let Some(key) = read(public) else { return false };
        let mut expected = (1..KeyComb::WINDOWS).fold(key, |sum, _| sum.xdouble(KeyComb::WIDTH) + key);
        expected.set_mul_small((KeyComb::MULTIPLES * (KeyComb::MULTIPLES + 1) / 2) as u64);
        let all = self.0.multiples().iter().try_fold(Point::NEUTRAL, |sum, multiple| {
            Point::from_affine(multiple.x, multiple.y).map(|point| sum + point)
        });
        all.is_some_and(|all| all.equals(expected) != 0)
    }
}

fn read(public: &[u8]) -> Option<Point> {
    Point::decode(public).filter(|point| point.isneutral() == 0)
}

/// Verifies signatures under keys with tables; None where a sum came upon a point twice. The inverses of all s cost one
/// inversion: those that are out of range stand as 1 among them.
pub(super) fn verify(signed: &[Signed<'_, KeyTable>]) -> Vec<Option<bool>> {
    let parts: Vec<Option<[Scalar; 2]>> = signed.iter().map(|signed| split(signed.signature)).collect();
    let mut inverses: Vec<Scalar> = parts.iter().map(|parts| parts.map_or(Scalar::ONE, |[_, s]| s)).collect();
    Scalar::batch_invert(&mut inverses);
    let mut terms = Vec::with_capacity(KeyComb::WINDOWS + BaseComb::WINDOWS);
    let verdict = |((signed, parts), inverse): ((_, &Option<[Scalar; 2]>), &Scalar)| match parts {
        Some([r, _]) => is_valid(signed, *r, *inverse, &mut terms),
        None => Some(false),
    };
    signed.iter().zip(&parts).zip(&inverses).map(verdict).collect()
}

/// r and s, both in [1, n-1].
fn split(signature: &[u8; 64]) -> Option<[Scalar; 2]> {
    let (r, s) = signature.split_at(32);
    let read = |bytes| Scalar::decode(&reversed(bytes)).filter(|scalar| scalar.iszero() == 0);
    Some([read(r)?, read(s)?])
}

/// Whether (e / s) G + (r / s) Q has r for its x.
fn is_valid(
    signed: &Signed<'_, KeyTable>,
    r: Scalar,
    inverse: Scalar,
    terms: &mut Vec<Affine>,
) -> Option<bool> {
    static BASE: LazyLock<BaseComb> = LazyLock::new(|| multiples(Point::BASE));
    let e = Scalar::decode_reduce(&reversed(signed.input));
    // All terms are on their way from memory before the first is needed.
    terms.clear();
    let mut take = |point: &Affine, is_negative| terms.push(point.signed(is_negative));
    signed.table.0.terms(&(r * inverse).encode32(), &mut take);
    BASE.terms(&(e * inverse).encode32(), &mut take);
    let (first, others) = terms.split_first()?;
    others.iter().fold(Sum::of(first), Sum::plus).has_x(r)
}

/// Big-endian bytes as little-endian ones.
fn reversed(bytes: &[u8]) -> [u8; 32] {
    let mut reversed = [0; 32];
    reversed.iter_mut().zip(bytes.iter().rev()).for_each(|(to, from)| *to = *from);
    reversed
}

/// p - n: an r below it may stand for r + n as well.
const ORDER_SHORT_OF_FIELD: [u8; 32] = {
    let mut bytes = [0; 32];
    let words: [u64; 2] = [0x0C46_353D_039C_DAAE, 0x4319_0553_58E8_617B];
    let mut at = 0;
    while at < 16 {
        bytes[at] = words[at / 8].to_le_bytes()[at % 8];
        at += 1;
    }
    bytes
};

/// n, in the field.
const ORDER: GFp256 =
    GFp256::w64le(0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, u64::MAX, 0xFFFF_FFFF_0000_0000);

/// A sum of points: x = X / ZZ, y = Y / ZZZ with ZZ^3 = ZZZ^2.
struct Sum {
    x: GFp256,
    y: GFp256,
    zz: GFp256,
    zzz: GFp256,
}

impl Sum {
    fn of(point: &Affine) -> Self {
        Self { x: point.x, y: point.y, zz: GFp256::ONE, zzz: GFp256::ONE }
    }

    /// The mixed addition `madd-2008-s`. Where both points have one x, ZZ becomes zero and stays zero.
    fn plus(self, point: &Affine) -> Self {
        let p = point.x * self.zz - self.x;
        let r = point.y * self.zzz - self.y;
        let pp = p.square();
        let ppp = p * pp;
        let q = self.x * pp;
        let x = r.square() - ppp - q.mul2();
        let y = r * (q - x) - self.y * ppp;
        Self { x, y, zz: self.zz * pp, zzz: self.zzz * ppp }
    }

    /// Whether x mod n is `r`; None where the sum cannot tell.
    fn has_x(&self, r: Scalar) -> Option<bool> {
        if self.zz.iszero() != 0 {
            return None;
        }
        let bytes = r.encode();
        let is_x = |r: GFp256| self.x.equals(r * self.zz) != 0;
        let (r, _) = GFp256::decode32(&bytes);
        let may_be_more = || bytes.iter().rev().lt(ORDER_SHORT_OF_FIELD.iter().rev());
        Some(is_x(r) || may_be_more() && is_x(r + ORDER))
    }
}

impl Affine {
    fn signed(&self, is_negative: bool) -> Self {
        Self { x: self.x, y: GFp256::select(&self.y, &-self.y, u32::from(is_negative).wrapping_neg()) }
    }
}

/// The multiples of a point that is not neutral: from m of them to 2 m by adding the m-th to each, in all windows at once, so
/// that an inversion serves many additions. None of these meets a point twice: the order is a prime far above 2 m.
fn multiples<const W: usize>(point: Point) -> Comb<Affine, 256, W> {
    let bases = successors(Some(point), |base| Some(base.xdouble(W as u32)));
    let bases: Vec<Point> = bases.take(Comb::<Affine, 256, W>::WINDOWS).collect();
    let mut windows: Vec<Vec<Affine>> = affine(&bases).into_iter().map(|base| vec![base]).collect();
    for known in successors(Some(1), |known| Some(2 * known)).take(W - 1) {
        let mut steps: Vec<GFp256> = windows.iter().flat_map(|window| runs(window)).collect();
        GFp256::batch_invert(&mut steps);
        for (window, steps) in windows.iter_mut().zip(steps.chunks(known)) {
            let largest = window[known - 1];
            let more = |(at, step): (usize, &GFp256)| add(&window[at], &largest, *step);
            let more: Vec<Affine> = steps.iter().enumerate().map(more).collect();
            window.extend(more);
        }
    }
    Comb::new(windows.concat())
}

/// By what the slope from each multiple to the largest is to be divided; twice y for the tangent, which is last.
fn runs(window: &[Affine]) -> impl Iterator<Item = GFp256> {
    let largest = window[window.len() - 1];
    let others = window[..window.len() - 1].iter().map(move |point| largest.x - point.x);
    others.chain([largest.y.mul2()])
}

/// The sum of two points, given the inverse of the difference of their x, or of 2 y where they are one.
fn add(point: &Affine, largest: &Affine, inverse: GFp256) -> Affine {
    let is_tangent = point.x.equals(largest.x) != 0;
    let rise = if is_tangent { point.x.square().mul3() - GFp256::from_u32(3) } else { largest.y - point.y };
    let slope = rise * inverse;
    let x = slope.square() - point.x - largest.x;
    Affine { x, y: slope * (point.x - x) - point.y }
}

fn affine(points: &[Point]) -> Vec<Affine> {
    let projective: Vec<_> = points.iter().map(|point| point.to_projective()).collect();
    let mut inverses: Vec<GFp256> = projective.iter().map(|(_, _, z)| *z).collect();
    GFp256::batch_invert(&mut inverses);
    projective.iter().zip(inverses).map(|((x, y, _), z)| Affine { x: *x * z, y: *y * z }).collect()
}
