//! Ed25519 verification of R || S over a message, without cofactor. R is compared as bytes. RFC 8032 5.1.7.

use std::iter::successors;

use crrl::ed25519::{Point, Scalar};
use crrl::field::GF25519;
use oarlock_core::{ForkSafeCell, Key};
use oarlock_engine_kit::VerifyTable;
use oarlock_engine_kit::hash::{HashState, Sha512};

use super::SignedInput;
use super::comb::PointComb;

/// The bits of a scalar, which is below 2^252 + 2^125.
const BITS: usize = 253;
/// The multiples of a key.
type KeyComb = PointComb<EdwardsSummand, BITS, 6>;
/// The multiples of the base point. There is one such table, so its windows can be wider.
type BaseComb = PointComb<EdwardsSummand, BITS, 8>;

/// The table of a public key A, which holds multiples of -A.
#[derive(Debug)]
pub(super) struct EdwardsKeyTable {
    public: [u8; 32],
    comb: KeyComb,
}

/// A point in the form of the second summand.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct EdwardsSummand {
    /// y + x
    sum: GF25519,
    /// y - x
    difference: GF25519,
    /// 2 d x y
    product: GF25519,
}

/// A point in extended coordinates: x = X / Z, y = Y / Z, x y = T / Z. RFC 8032 5.1.4.
#[derive(Clone, Copy)]
struct Extended {
    x: GF25519,
    y: GF25519,
    z: GF25519,
    t: GF25519,
}

impl EdwardsKeyTable {
    /// Builds the table of a key. Returns None if the key is not the canonical encoding of a point.
    pub(super) fn new(public: &[u8]) -> Option<Self> {
        let public = <[u8; 32]>::try_from(public).ok()?;
        Some(Self { public, comb: multiples(-decode(&public)?) })
    }

    /// Returns a copy with changed multiples.
    #[cfg(test)]
    pub(super) fn changed(&self, change: impl FnOnce(&mut Vec<EdwardsSummand>)) -> Self {
        let mut multiples: Vec<EdwardsSummand> = self.comb.windows().flatten().copied().collect();
        change(&mut multiples);
        Self { public: self.public, comb: PointComb::new(multiples) }
    }
}

impl VerifyTable for EdwardsKeyTable {
    const BYTES: usize = KeyComb::BYTES;
    const USES: u32 = 32;

    fn public(key: &Key) -> Option<&[u8]> {
        key.ed25519_public().map(|public| &public[..])
    }

    /// Checks two properties of the multiples. Each is on the curve and has the y of the corresponding `crrl` point.
    /// Their total is m (m + 1) / 2 times the sum of 2^(W i) (-A) over all windows i, for m multiples in a window,
    /// so no x has the wrong sign.
    fn is_right(&self, public: &[u8]) -> bool {
        let Some(key) = Point::decode(public).map(|key| -key) else { return false };
        let bases = successors(Some(key), |base| Some(base.xdouble(KeyComb::WIDTH)));
        let (mut all, mut expected) = (Extended::NEUTRAL, Point::NEUTRAL);
        for (window, base) in self.comb.windows().zip(bases) {
            let points = successors(Some(base), |sum| Some(*sum + base));
            if !window.iter().zip(points).all(|(multiple, point)| multiple.has_y_of(point)) {
                return false;
            }
            all = window.iter().fold(all, Extended::plus);
            expected += base;
        }
        expected.set_mul_small((KeyComb::MULTIPLES * (KeyComb::MULTIPLES + 1) / 2) as u64);
        all.encode(GF25519::ONE / all.z) == expected.encode()
    }
}

/// Verifies signatures under keys with tables. One inversion serves all Z.
pub(super) fn verify(signed: &[SignedInput<'_, EdwardsKeyTable>]) -> Vec<Option<bool>> {
    let mut terms = Vec::with_capacity(KeyComb::WINDOWS + BaseComb::WINDOWS);
    let points: Vec<Option<Extended>> = signed.iter().map(|signed| commitment(signed, &mut terms)).collect();
    let z = |point: &Option<Extended>| point.map_or(GF25519::ONE, |point| point.z);
    let mut inverses: Vec<GF25519> = points.iter().map(z).collect();
    GF25519::batch_invert(&mut inverses);
    let verdicts = signed.iter().zip(points).zip(inverses).map(|((signed, point), inverse)| {
        Some(point.is_some_and(|point| point.encode(inverse) == signed.signature[..32]))
    });
    verdicts.collect()
}

/// Computes S B - h A, which must equal R, with h = SHA-512(R || A || M) mod L. Returns None if S is not below L.
fn commitment(
    signed: &SignedInput<'_, EdwardsKeyTable>,
    terms: &mut Vec<EdwardsSummand>,
) -> Option<Extended> {
    let (commitment, response) = signed.signature.split_at(32);
    // Decoding fails for S at or above L, as RFC 8032 5.1.7 requires.
    let response = Scalar::decode(response)?.encode();
    let mut hash = Sha512::new();
    [commitment, &signed.table.public, signed.input].iter().for_each(|part| hash.update(part));
    let mut challenge = [0; 64];
    hash.finish(&mut challenge);
    // All terms are collected first: so the loads of all rows are in flight before the first addition needs one.
    terms.clear();
    let mut take = |point: &EdwardsSummand, is_negative| terms.push(point.negated_if(is_negative));
    signed.table.comb.terms(&Scalar::decode_reduce(&challenge).encode(), &mut take);
    base().terms(&response, &mut take);
    Some(terms.iter().fold(Extended::NEUTRAL, Extended::plus))
}

/// Returns the table of the base point.
fn base() -> &'static BaseComb {
    static BASE: ForkSafeCell<BaseComb> = ForkSafeCell::new();
    BASE.get_or_make(|| multiples(Extended::base()))
}

/// The curve constant d = -121665 / 121666. RFC 8032 5.1.
const D: GF25519 = GF25519::w64be(
    0x5203_6CEE_2B6F_FE73,
    0x8CC7_4079_7779_E898,
    0x0070_0A4D_4141_D8AB,
    0x75EB_4DCA_1359_78A3,
);

/// Decodes a point: y, and the lowest bit of x in the topmost bit. RFC 8032 5.1.3.
fn decode(bytes: &[u8; 32]) -> Option<Extended> {
    let mut y = *bytes;
    y[31] &= 0x7F;
    let y = GF25519::decode(&y)?;
    let yy = y.square();
    let (x, is_square) = ((yy - GF25519::ONE) / (D * yy + GF25519::ONE)).sqrt();
    let is_odd = bytes[31] >> 7;
    let x = if lowest_bit(x) == is_odd { x } else { -x };
    (is_square != 0 && lowest_bit(x) == is_odd).then_some(Extended { x, y, z: GF25519::ONE, t: x * y })
}

fn lowest_bit(value: GF25519) -> u8 {
    value.encode()[0] & 1
}

impl Extended {
    const NEUTRAL: Self = Self { x: GF25519::ZERO, y: GF25519::ONE, z: GF25519::ONE, t: GF25519::ZERO };

    /// Returns the base point B: y = 4 / 5, x even. RFC 8032 5.1.
    fn base() -> Self {
        let mut encoded = [0x66; 32];
        encoded[0] = 0x58;
        // unreachable because the base point is on the curve
        decode(&encoded).unwrap_or(Self::NEUTRAL)
    }

    /// Adds a point by the complete mixed addition `madd-2008-hwcd-3`.
    fn plus(self, point: &EdwardsSummand) -> Self {
        let a = (self.y - self.x) * point.difference;
        let b = (self.y + self.x) * point.sum;
        let c = self.t * point.product;
        let d = self.z.mul2();
        let (e, f, g, h) = (b - a, d - c, d + c, b + a);
        Self { x: e * f, y: g * h, z: f * g, t: e * h }
    }

    /// Doubles a point by `dbl-2008-hwcd`.
    fn double(&self) -> Self {
        let (a, b) = (self.x.square(), self.y.square());
        let e = (self.x + self.y).square() - a - b;
        let (g, h) = (b - a, -(a + b));
        let f = g - self.z.square().mul2();
        Self { x: e * f, y: g * h, z: f * g, t: e * h }
    }

    /// Encodes a point, given 1 / Z. RFC 8032 5.1.2.
    fn encode(&self, inverse: GF25519) -> [u8; 32] {
        let mut bytes = (self.y * inverse).encode();
        bytes[31] |= lowest_bit(self.x * inverse) << 7;
        bytes
    }

    /// Returns the form of a second summand, given 1 / Z.
    fn affine(&self, inverse: GF25519) -> EdwardsSummand {
        let (x, y) = (self.x * inverse, self.y * inverse);
        EdwardsSummand { sum: y + x, difference: y - x, product: (x * y * D).mul2() }
    }
}

impl EdwardsSummand {
    pub(super) fn negated_if(&self, is_negative: bool) -> Self {
        let (mut point, mask) = (*self, u32::from(is_negative).wrapping_neg());
        // Negation exchanges y + x and y - x and turns the sign of the product. The masks avoid a branch that would
        // be mispredicted half the time.
        GF25519::cswap(&mut point.sum, &mut point.difference, mask);
        point.product.set_cond(&-self.product, mask);
        point
    }

    /// Returns true if this is a point of the curve and has the y of `point`: u = (1 + y) / (1 - y). RFC 7748 4.1.
    fn has_y_of(&self, point: Point) -> bool {
        let (x, y) = ((self.sum - self.difference).half(), (self.sum + self.difference).half());
        let (xy, (u, w)) = (x * y, point.to_montgomery_u_projective());
        let is_on_curve = (y.square() - x.square()).equals(GF25519::ONE + D * xy.square()) != 0;
        let is_product = self.product.equals((D * xy).mul2()) != 0;
        is_on_curve && is_product && ((GF25519::ONE - y) * u).equals((GF25519::ONE + y) * w) != 0
    }
}

impl std::ops::Neg for Extended {
    type Output = Self;

    fn neg(self) -> Self {
        Self { x: -self.x, t: -self.t, ..self }
    }
}

fn multiples<const W: usize>(point: Extended) -> PointComb<EdwardsSummand, BITS, W> {
    let next = |base: &Extended| Some((0..W).fold(*base, |point, _| point.double()));
    let bases: Vec<Extended> =
        successors(Some(point), next).take(PointComb::<EdwardsSummand, BITS, W>::WINDOWS).collect();
    let windows = bases.iter().zip(affine(&bases)).flat_map(|(base, step)| {
        let multiples = successors(Some(*base), move |sum| Some(sum.plus(&step)));
        multiples.take(PointComb::<EdwardsSummand, BITS, W>::MULTIPLES)
    });
    PointComb::new(affine(&windows.collect::<Vec<_>>()))
}

fn affine(points: &[Extended]) -> Vec<EdwardsSummand> {
    let mut inverses: Vec<GF25519> = points.iter().map(|point| point.z).collect();
    GF25519::batch_invert(&mut inverses);
    points.iter().zip(inverses).map(|(point, inverse)| point.affine(inverse)).collect()
}
