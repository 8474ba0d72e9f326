//! P-256 verification of r || s over a digest. FIPS 186-5 6.4.2.
//!
//! | module | contents |
//! |---|---|
//! | this one | tables of keys, and the steps of verification besides sums of points |
//! | `inverse` | inverses modulo the order |
//! | `sums` | many sums of points: one by one, or with shared inversions |
//! | `multiples` | the construction of a table |

mod inverse;
mod multiples;
mod sums;

use std::iter::successors;

use crrl::field::GFp256;
use crrl::p256::{Point, Scalar};
use oarlock_core::{Curve, ForkSafeCell, Key};
use oarlock_engine_kit::VerifyTable;

use self::inverse::invert_all;
use self::multiples::multiples;
use self::sums::{Abscissa, PointSums};
use super::SignedInput;
use super::comb::PointComb;

/// The multiples of a key.
type KeyComb = PointComb<FinitePoint, 256, 7>;
/// The multiples of the base point. There is one such table, so its windows can be wider.
type BaseComb = PointComb<FinitePoint, 256, 10>;

/// The table of a public key.
#[derive(Debug)]
pub(super) struct P256KeyTable(KeyComb);

/// A finite point, on a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct FinitePoint {
    x: GFp256,
    y: GFp256,
}

impl FinitePoint {
    pub(super) fn negated_if(&self, is_negative: bool) -> Self {
        let mask = u32::from(is_negative).wrapping_neg();
        Self { x: self.x, y: GFp256::select(&self.y, &-self.y, mask) }
    }

    /// Returns true if `point` is this point and not the neutral element.
    fn is(&self, point: Point) -> bool {
        let (x, y, z) = point.to_projective();
        z.iszero() == 0 && x.equals(self.x * z) != 0 && y.equals(self.y * z) != 0
    }
}

impl P256KeyTable {
    /// Builds the table of an encoded point. Returns None if the point is not on the curve.
    pub(super) fn new(public: &[u8]) -> Option<Self> {
        read(public).map(|point| Self(multiples(point)))
    }

    /// Returns a copy with changed multiples.
    #[cfg(test)]
    pub(super) fn changed(&self, change: impl FnOnce(&mut Vec<FinitePoint>)) -> Self {
        let mut multiples: Vec<FinitePoint> = self.0.windows().flatten().copied().collect();
        change(&mut multiples);
        Self(PointComb::new(multiples))
    }
}

impl VerifyTable for P256KeyTable {
    const BYTES: usize = KeyComb::BYTES;
    const USES: u32 = 32;

    fn public(key: &Key) -> Option<&[u8]> {
        key.ec_public().filter(|(curve, _)| *curve == Curve::P256).map(|(_, point)| point)
    }

    /// Compares each multiple with the result of `crrl`'s complete additions and doublings.
    fn is_right(&self, public: &[u8]) -> bool {
        let Some(key) = read(public) else { return false };
        let bases = successors(Some(key), |base| Some(base.xdouble(KeyComb::WIDTH)));
        self.0.windows().zip(bases).all(|(window, base)| {
            let expected = successors(Some(base), |sum| Some(*sum + base));
            window.iter().zip(expected).all(|(multiple, expected)| multiple.is(expected))
        })
    }
}

fn read(public: &[u8]) -> Option<Point> {
    Point::decode(public).filter(|point| point.isneutral() == 0)
}

/// Verifies signatures under keys with tables: the x of (e / s) G + (r / s) Q must be r. An entry is None if its sum
/// met an exception. One inversion serves all s; an s out of range takes part as 1.
pub(super) fn verify(signed: &[SignedInput<'_, P256KeyTable>]) -> Vec<Option<bool>> {
    let parts: Vec<Option<[Scalar; 2]>> = signed.iter().map(|signed| split(signed.signature)).collect();
    let mut inverses: Vec<Scalar> = parts.iter().map(|parts| parts.map_or(Scalar::ONE, |[_, s]| s)).collect();
    invert_all(&mut inverses);
    let mut sums = PointSums::with_capacity(signed.len(), KeyComb::WINDOWS + BaseComb::WINDOWS);
    for ((signed, parts), inverse) in signed.iter().zip(&parts).zip(inverses) {
        if let Some([r, _]) = parts {
            add_terms(signed, *r, inverse, &mut sums);
        }
        sums.end();
    }
    let verdict = |(parts, x): (&Option<[Scalar; 2]>, Option<Abscissa>)| match parts {
        Some([r, _]) => x.map(|x| is_x(&x, r)),
        None => Some(false),
    };
    parts.iter().zip(sums.abscissas()).map(verdict).collect()
}

/// Returns r and s if both are in [1, n-1].
fn split(signature: &[u8; 64]) -> Option<[Scalar; 2]> {
    let (r, s) = signature.split_at(32);
    let read = |bytes| Scalar::decode(&reversed(bytes)).filter(|scalar| scalar.iszero() == 0);
    Some([read(r)?, read(s)?])
}

/// Collects the multiples whose sum is (e / s) G + (r / s) Q, given 1 / s. They are loaded before the first is
/// needed, which hides the latency of memory.
fn add_terms(signed: &SignedInput<'_, P256KeyTable>, r: Scalar, inverse: Scalar, sums: &mut PointSums) {
    let e = Scalar::decode_reduce(&reversed(signed.input));
    let mut take = |point: &FinitePoint, is_negative| sums.add(point.negated_if(is_negative));
    signed.table.0.terms(&(r * inverse).encode32(), &mut take);
    base().terms(&(e * inverse).encode32(), &mut take);
}

/// Returns the table of the base point.
fn base() -> &'static BaseComb {
    static BASE: ForkSafeCell<BaseComb> = ForkSafeCell::new();
    BASE.get_or_make(|| multiples(Point::BASE))
}

/// Returns big-endian bytes in little-endian order.
fn reversed(bytes: &[u8]) -> [u8; 32] {
    let mut reversed = [0; 32];
    reversed.iter_mut().zip(bytes.iter().rev()).for_each(|(to, from)| *to = *from);
    reversed
}

/// The difference p - n, little-endian. An r below it can stand for r + n too.
const ORDER_SHORT_OF_FIELD: [u8; 32] = {
    let mut bytes = [0; 32];
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&0x0C46_353D_039C_DAAE_u64.to_le_bytes());
    high.split_at_mut(8).0.copy_from_slice(&0x4319_0553_58E8_617B_u64.to_le_bytes());
    bytes
};

/// The order n as a field element.
const ORDER: GFp256 =
    GFp256::w64le(0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, u64::MAX, 0xFFFF_FFFF_0000_0000);

/// Returns true if x mod n is `r`.
fn is_x(x: &Abscissa, r: &Scalar) -> bool {
    let bytes = r.encode();
    let (r, _) = GFp256::decode32(&bytes);
    let may_be_more = || bytes.iter().rev().lt(ORDER_SHORT_OF_FIELD.iter().rev());
    x.is(r) || may_be_more() && x.is(r + ORDER)
}
