//! P-256: verification of r || s over a digest. FIPS 186-5 6.4.2.
//!
//! | module | what it holds |
//! |---|---|
//! | this one | tables of keys, and what verifying needs beside sums of points |
//! | `sums` | many sums of points: one by one, or with inversions that all share |
//! | `multiples` | how a table is built |

mod multiples;
mod sums;

use std::iter::successors;
use std::sync::OnceLock;

use crrl::field::GFp256;
use crrl::p256::{Point, Scalar};
use oarlock_core::{Curve, Key, VerifyTable};

use self::multiples::multiples;
use self::sums::{Abscissa, PointSums};
use super::SignedInput;
use super::comb::{PointComb, built_once};

/// Multiples of a key.
type KeyComb = PointComb<Affine, 256, 7>;
/// Multiples of the base point: there is one table of them, so its windows may be wider.
type BaseComb = PointComb<Affine, 256, 8>;

/// The table of a public key.
#[derive(Debug)]
pub(super) struct P256KeyTable(KeyComb);

/// A finite point, on a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Affine {
    x: GFp256,
    y: GFp256,
}

impl Affine {
    pub(super) fn negated_if(&self, is_negative: bool) -> Self {
        let mask = u32::from(is_negative).wrapping_neg();
        Self { x: self.x, y: GFp256::select(&self.y, &-self.y, mask) }
    }

    /// Whether it is this point, and not the neutral one.
    fn is(&self, point: Point) -> bool {
        let (x, y, z) = point.to_projective();
        z.iszero() == 0 && x.equals(self.x * z) != 0 && y.equals(self.y * z) != 0
    }
}

impl P256KeyTable {
    /// The table of an encoded point, or None where it is not on the curve.
    pub(super) fn new(public: &[u8]) -> Option<Self> {
        read(public).map(|point| Self(multiples(point)))
    }

    /// With other multiples.
    #[cfg(test)]
    pub(super) fn changed(&self, change: impl FnOnce(&mut Vec<Affine>)) -> Self {
        let mut multiples: Vec<Affine> = self.0.windows().flatten().copied().collect();
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

    /// By `crrl`'s complete additions and doublings: each multiple is what it stands for.
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

/// Verifies signatures under keys with tables: whether (e / s) G + (r / s) Q has r for its x; None where a sum cannot tell. The
/// inverses of all s cost one inversion, among which those that are out of range stand as 1.
pub(super) fn verify(signed: &[SignedInput<'_, P256KeyTable>]) -> Vec<Option<bool>> {
    let parts: Vec<Option<[Scalar; 2]>> = signed.iter().map(|signed| split(signed.signature)).collect();
    let mut inverses: Vec<Scalar> = parts.iter().map(|parts| parts.map_or(Scalar::ONE, |[_, s]| s)).collect();
    Scalar::batch_invert(&mut inverses);
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

/// r and s, both in [1, n-1].
fn split(signature: &[u8; 64]) -> Option<[Scalar; 2]> {
    let (r, s) = signature.split_at(32);
    let read = |bytes| Scalar::decode(&reversed(bytes)).filter(|scalar| scalar.iszero() == 0);
    Some([read(r)?, read(s)?])
}

/// The multiples whose sum is (e / s) G + (r / s) Q, given 1 / s. They are fetched before the first is needed, for memory is far.
fn add_terms(signed: &SignedInput<'_, P256KeyTable>, r: Scalar, inverse: Scalar, sums: &mut PointSums) {
    let e = Scalar::decode_reduce(&reversed(signed.input));
    let mut take = |point: &Affine, is_negative| sums.add(point.negated_if(is_negative));
    signed.table.0.terms(&(r * inverse).encode32(), &mut take);
    base().terms(&(e * inverse).encode32(), &mut take);
}

/// The table of the base point.
fn base() -> &'static BaseComb {
    static BASE: OnceLock<BaseComb> = OnceLock::new();
    built_once(&BASE, || multiples(Point::BASE))
}

/// Big-endian bytes as little-endian ones.
fn reversed(bytes: &[u8]) -> [u8; 32] {
    let mut reversed = [0; 32];
    reversed.iter_mut().zip(bytes.iter().rev()).for_each(|(to, from)| *to = *from);
    reversed
}

/// p - n, little-endian: an r below it may stand for r + n as well.
const ORDER_SHORT_OF_FIELD: [u8; 32] = {
    let mut bytes = [0; 32];
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&0x0C46_353D_039C_DAAE_u64.to_le_bytes());
    high.split_at_mut(8).0.copy_from_slice(&0x4319_0553_58E8_617B_u64.to_le_bytes());
    bytes
};

/// n, in the field.
const ORDER: GFp256 =
    GFp256::w64le(0xF3B9_CAC2_FC63_2551, 0xBCE6_FAAD_A717_9E84, u64::MAX, 0xFFFF_FFFF_0000_0000);

/// Whether x mod n is `r`.
fn is_x(x: &Abscissa, r: &Scalar) -> bool {
    let bytes = r.encode();
    let (r, _) = GFp256::decode32(&bytes);
    let may_be_more = || bytes.iter().rev().lt(ORDER_SHORT_OF_FIELD.iter().rev());
    x.is(r) || may_be_more() && x.is(r + ORDER)
}
