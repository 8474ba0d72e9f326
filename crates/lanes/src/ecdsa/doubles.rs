//! The field of P-256 for fused multiply-adds: six signed limbs of 44 bits in doubles, in Montgomery form with R = 2^264.
//! `docs/math/fma-fields.md` has bounds and proofs.
//!
//! A product has limbs of at most `2^43 (1 + 2^-30)`, which is called one unit here, and a value between -p and p. The
//! units of two factors may multiply to 84, so most sums are factors without carries.

use std::fmt;
use std::ops::{Add, Sub};

use zeroize::{Zeroize, Zeroizing};

use super::constants::small;
use super::element::Element;
use super::field::CoordinateField;
use super::interleaved::{Interleaved, Masks};
use super::p256::field::FieldPrime;
use super::ring::{MontgomeryRing, OddModulus};
use crate::curve25519::words;
use crate::simd::float::{DoubleLimbs, FloatSimd, FloatVector, LIMBS, ROUND, carry_limbs_p256, copied, of_p256, power};
use crate::simd::{LANES, MulVector, Vector, Words};

const L: usize = 5;
const BITS: usize = of_p256::LIMB_BITS;
const LOW: u64 = (1 << BITS) - 1;
/// The bits of the topmost limb below bit 256.
const TOP_BITS: u32 = 256 - (BITS * (LIMBS - 1)) as u32;
/// The bits between R of this form and of the stored one, 2^260.
const BEYOND_STORED: usize = BITS * LIMBS - words::RADIX * L;

/// The field on a CPU, in N groups of eight lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleField<S, const N: usize>(S);

/// An element of each lane, and sums of such.
#[derive(Clone, Copy)]
pub(crate) struct DoubleCoordinate<D, const N: usize>([DoubleLimbs<D>; N]);

impl<D: FloatVector, const N: usize> DoubleCoordinate<D, N> {
    /// Returns the same element, copied limb by limb.
    #[inline(always)]
    fn copied(&self) -> Self {
        // Groups are few, and with one the array is the limbs.
        let mut own = [copied(&self.0[0]); N];
        for n in 1..N {
            own[n] = copied(&self.0[n]);
        }
        Self(own)
    }

    /// Computes a function of each limb of two elements.
    // Loops, because functions on arrays would not be compiled for the CPU.
    #[inline(always)]
    fn zip(mut self, other: Self, f: impl Fn(D, D) -> D) -> Self {
        for n in 0..N {
            for limb in 0..LIMBS {
                self.0[n][limb] = f(self.0[n][limb], other.0[n][limb]);
            }
        }
        self
    }
}

/// Returns signed limbs of at most one unit of an integer below 2^256.
const fn balanced(limbs: &[u64; L]) -> [f64; LIMBS] {
    let (mut signed, mut carry, mut at) = ([0.0; LIMBS], 0, 0);
    while at < LIMBS {
        let (limb, bit) = (BITS * at / words::RADIX, BITS * at % words::RADIX);
        let mut digit = limbs[limb] >> bit;
        if bit > words::RADIX - BITS && limb + 1 < L {
            digit |= limbs[limb + 1] << (words::RADIX - bit);
        }
        let digit = (digit & LOW) + carry;
        carry = if at + 1 < LIMBS { (digit + (1 << (BITS - 1))) >> BITS } else { 0 };
        signed[at] = (digit as i64 - (carry << BITS) as i64) as f64;
        at += 1;
    }
    signed
}

/// The residue of `2^bits` below p.
const fn residue(bits: usize) -> [u64; L] {
    super::constants::shifted(small(1), bits, &<FieldPrime as OddModulus<L>>::LIMBS)
}

/// The multiple 2^8 p in limbs above those of any sum that becomes an integer: 2^264 in limbs that give 2^4 to the one
/// below, less 2^8 (2^256 - p).
const BIAS: [i64; LIMBS] = {
    // 2^8 (2^256 - p) = 2^232 - 2^200 - 2^104 + 2^8.
    let mut bias = [(1_i64 << 48) - (1 << 4); LIMBS];
    bias[0] = (1 << 48) - (1 << 8);
    bias[2] += 1 << (104 - 2 * BITS);
    bias[4] += 1 << (200 - 4 * BITS);
    bias[5] = (1 << 44) - (1 << 4) - (1 << (232 - 5 * BITS));
    bias
};

impl<S: FloatSimd, const N: usize> DoubleField<S, N> {
    #[inline(always)]
    fn constant(self, limbs: &[f64; LIMBS]) -> DoubleCoordinate<S::D, N> {
        let mut own = [self.0.double(0.0); LIMBS];
        for (own, limb) in own.iter_mut().zip(limbs) {
            *own = self.0.double(*limb);
        }
        DoubleCoordinate([own; N])
    }

    /// Converts integers in limbs of 52 bits, times `2^UP`.
    #[inline(always)]
    fn cut<const UP: usize>(self, limbs: &[[S::V; L]; N]) -> DoubleCoordinate<S::D, N> {
        let simd = self.0;
        // An integer in the low bits of 2^52.
        let (offset, bits) = (simd.double(power(52)), simd.splat(power(52).to_bits()));
        let mut own = [[offset; LIMBS]; N];
        for (own, limbs) in own.iter_mut().zip(limbs) {
            for (at, own) in own.iter_mut().enumerate() {
                let from = (BITS * at).saturating_sub(UP);
                let count = BITS - if at == 0 { UP } else { 0 };
                let digit = words::window::<S, { words::RADIX }>(simd, limbs, from, count);
                let digit = if at == 0 { digit.shl_each(simd.splat(UP as u64)) } else { digit };
                *own = simd.from_bits(digit | bits) - offset;
            }
        }
        DoubleCoordinate(own)
    }

    /// Returns the limbs of 52 bits of the residues in [0, p).
    #[inline(always)]
    fn canonical(self, a: &DoubleCoordinate<S::D, N>) -> [[S::V; L]; N] {
        let mut own = [[self.0.zero(); L]; N];
        for (own, limbs) in own.iter_mut().zip(&a.0) {
            *own = canonical(self.0, limbs);
        }
        own
    }

    #[inline(always)]
    fn check(self, a: &DoubleCoordinate<S::D, N>, b: &DoubleCoordinate<S::D, N>) {
        if cfg!(debug_assertions) {
            let largest = |element: &DoubleCoordinate<S::D, N>| {
                let limbs = element.0.iter().flatten().flat_map(|limb| self.0.bits(*limb).words());
                limbs.map(|bits| f64::from_bits(bits).abs()).fold(0.0, f64::max)
            };
            debug_assert!(largest(a) * largest(b) <= 84.0 * power(86), "limbs are too large to be multiplied");
        }
    }
}

/// Returns the residue in [0, p) in limbs of 52 bits, of a value between -2^7 p and 2^7 p whose limbs are below 2^47.
#[inline(always)]
fn canonical<S: FloatSimd>(simd: S, limbs: &DoubleLimbs<S::D>) -> [S::V; L] {
    let mut own = [simd.zero(); LIMBS];
    for at in 0..LIMBS {
        // The bits of the sum are those of the constant plus the integer, which the bias makes positive.
        let bits = simd.bits(limbs[at] + simd.double(ROUND));
        own[at] = bits - simd.splat(ROUND.to_bits().wrapping_sub(BIAS[at].cast_unsigned()));
    }
    // Below 2^9 p now. The quotient by 2^256 is at most one more than that by p.
    propagate(simd, &mut own);
    fold(simd, &mut own);
    fold(simd, &mut own);
    subtract_p_once(simd, &mut own);
    let mut wide = [simd.zero(); L];
    for (at, limb) in wide.iter_mut().enumerate() {
        let count = words::RADIX.min(256 - words::RADIX * at);
        *limb = words::window::<S, BITS>(simd, &own, words::RADIX * at, count);
    }
    wide
}

/// Carries upwards. Limbs may be negative if the value is not; the topmost limb keeps what is beyond.
#[inline(always)]
fn propagate<S: FloatSimd>(simd: S, limbs: &mut [S::V; LIMBS]) {
    let mut carry = simd.zero();
    for limb in &mut limbs[..LIMBS - 1] {
        let sum = *limb + carry;
        (*limb, carry) = (sum & simd.splat(LOW), sum.sar::<{ BITS as u32 }>());
    }
    limbs[LIMBS - 1] = limbs[LIMBS - 1] + carry;
}

/// Replaces `t 2^256` by `t (2^224 - 2^192 - 2^96 + 1)`.
#[inline(always)]
fn fold<S: FloatSimd>(simd: S, limbs: &mut [S::V; LIMBS]) {
    let t = limbs[LIMBS - 1].shr::<TOP_BITS>();
    limbs[LIMBS - 1] = limbs[LIMBS - 1] & simd.splat((1 << TOP_BITS) - 1);
    limbs[0] = limbs[0] + t;
    limbs[2] = limbs[2] - t.shl::<8>();
    limbs[4] = limbs[4] - t.shl::<16>();
    limbs[5] = limbs[5] + t.shl::<4>();
    propagate(simd, limbs);
}

/// Subtracts p from values from p on, which must be below 2 p.
#[inline(always)]
fn subtract_p_once<S: FloatSimd>(simd: S, limbs: &mut [S::V; LIMBS]) {
    let mut less = *limbs;
    // Minus p is minus 2^256, plus 2^224 - 2^192 - 2^96 + 1.
    less[0] = less[0] + simd.splat(1);
    less[2] = less[2] - simd.splat(1 << 8);
    less[4] = less[4] - simd.splat(1 << 16);
    less[5] = less[5] + simd.splat(1 << 4) - simd.splat(1 << TOP_BITS);
    propagate(simd, &mut less);
    let is_below = less[LIMBS - 1].has_any(simd.splat(1 << 63));
    for (limb, less) in limbs.iter_mut().zip(less) {
        *limb = less.or_if(is_below, *limb);
    }
}

impl<S: FloatSimd, const N: usize> CoordinateField<S, L, N> for DoubleField<S, N> {
    type Element = DoubleCoordinate<S::D, N>;
    type Loose = DoubleCoordinate<S::D, N>;
    /// The factors of a product, which is computed together with the next.
    type Columns = [DoubleCoordinate<S::D, N>; 2];

    #[inline(always)]
    fn new(simd: S) -> Self {
        Self(simd)
    }

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }

    #[inline(always)]
    fn splat(self, stored: &[u64; L]) -> Self::Element {
        // Tables of constants are few, so the conversion of each may take its time.
        let mut own = [self.0.zero(); L];
        for (own, limb) in own.iter_mut().zip(stored) {
            *own = self.0.splat(*limb);
        }
        self.from_stored(&[own; N])
    }

    #[inline(always)]
    fn from_stored(self, stored: &[[S::V; L]; N]) -> Self::Element {
        self.cut::<BEYOND_STORED>(stored)
    }

    #[inline(always)]
    fn stored(self, a: &Self::Element) -> [[S::V; L]; N] {
        // 2^264 x times 2^260 over R.
        let by = self.constant(&const { balanced(&residue(words::RADIX * L)) });
        self.canonical(&self.mul(a, &by))
    }

    #[inline(always)]
    fn enter(self, plain: &Element<S::V, L, N>) -> Self::Element {
        let by = self.constant(&const { balanced(&residue(2 * BITS * LIMBS)) });
        let mut limbs = [[self.0.zero(); L]; N];
        for (n, limbs) in limbs.iter_mut().enumerate() {
            for (limb, place) in limbs.iter_mut().enumerate() {
                *place = plain.0[limb].0[n];
            }
        }
        self.mul(&self.cut::<0>(&limbs), &by)
    }

    #[inline(always)]
    fn leave(self, a: &Self::Element) -> Element<S::V, L, N> {
        let one = self.constant(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let limbs = self.canonical(&self.mul(a, &one));
        let mut own = Element([Interleaved([self.0.zero(); N]); L]);
        for (n, limbs) in limbs.iter().enumerate() {
            for (limb, value) in limbs.iter().enumerate() {
                own.0[limb].0[n] = *value;
            }
        }
        own
    }

    #[inline(always)]
    fn zero(self) -> Self::Element {
        self.constant(&[0.0; LIMBS])
    }

    #[inline(always)]
    fn one(self) -> Self::Element {
        self.constant(&const { balanced(&residue(BITS * LIMBS)) })
    }

    #[inline(always)]
    fn is_zero(self, a: &Self::Element) -> Masks<N> {
        // Values of sums may be beyond the bound of the conversion, those of products are not.
        let limbs = self.canonical(&self.mul(a, &self.one()));
        let mut masks = [0; N];
        for (mask, [a, b, c, d, e]) in masks.iter_mut().zip(limbs) {
            *mask = (a | b | c | d | e).is_equal(self.0.zero());
        }
        masks
    }

    #[inline(always)]
    fn select(self, mask: Masks<N>, no: &Self::Element, yes: &Self::Element) -> Self::Element {
        let mut chosen = *no;
        for n in 0..N {
            for limb in 0..LIMBS {
                chosen.0[n][limb] = no.0[n][limb].or_if(mask[n], yes.0[n][limb]);
            }
        }
        chosen
    }

    #[inline(always)]
    fn turn(self, a: &Self::Element, distance: usize) -> Self::Element {
        let mut turned = *a;
        for limb in turned.0.as_flattened_mut() {
            let words: Words = self.0.bits(*limb).words();
            *limb = self.0.from_bits(self.0.load(&std::array::from_fn(|lane| words[(lane + distance) % LANES])));
        }
        turned
    }

    #[inline(always)]
    fn loose(self, a: &Self::Element) -> Self::Loose {
        a.copied()
    }

    #[inline(always)]
    fn shl<const BITS: u32>(self, a: Self::Loose) -> Self::Loose {
        let by = self.0.double(power(BITS.cast_signed()));
        a.zip(
            a,
            #[inline(always)]
            |limb, _| limb.times(by),
        )
    }

    #[inline(always)]
    fn sub_or_add(self, a: Self::Loose, mask: Masks<N>, b: Self::Loose) -> Self::Loose {
        a + self.select(mask, &b, &(self.zero() - b))
    }

    #[inline(always)]
    fn times(self, a: &Self::Element, b: &Self::Element) -> Self::Loose {
        self.check(a, b);
        let mut own = *a;
        for n in 0..N {
            own.0[n] = self.0.multiply_p256(&a.0[n], &b.0[n]);
        }
        own
    }

    #[inline(always)]
    fn squared(self, a: &Self::Element) -> Self::Loose {
        self.check(a, a);
        let mut own = *a;
        for n in 0..N {
            own.0[n] = self.0.square_p256(&a.0[n]);
        }
        own
    }

    #[inline(always)]
    fn product(self, a: &Self::Element, b: &Self::Element) -> Self::Columns {
        [a.copied(), b.copied()]
    }

    #[inline(always)]
    fn negated_square<const BITS: u32>(self, a: &Self::Element) -> Self::Columns {
        let by = self.0.double(-power(BITS.cast_signed()));
        let multiple = a.zip(
            *a,
            #[inline(always)]
            |limb, _| limb.times(by),
        );
        [multiple, a.copied()]
    }

    #[inline(always)]
    fn times_onto(self, columns: Self::Columns, a: &Self::Element, b: &Self::Element) -> Self::Loose {
        self.check(a, b);
        let [c, d] = columns;
        let mut own = *a;
        for n in 0..N {
            own.0[n] = self.0.sum_p256([&a.0[n], &b.0[n]], [&c.0[n], &d.0[n]]);
        }
        own
    }

    #[inline(always)]
    fn carry(self, a: Self::Loose) -> Self::Element {
        a.copied()
    }

    #[inline(always)]
    fn carry_plus<const K: u64>(self, a: Self::Loose) -> Self::Element {
        a.copied()
    }

    #[inline(always)]
    fn reduce_weakly(self, a: Self::Loose) -> Self::Element {
        let mut own = a;
        for limbs in &mut own.0 {
            *limbs = carry_limbs_p256(self.0, limbs);
        }
        own
    }

    fn invert_all(self, all: &mut [Self::Element]) {
        self.invert_all_by(all, |ring, product| ring.invert(product));
    }

    fn invert_all_public(self, all: &mut [Self::Element]) {
        self.invert_all_by(all, |ring, product| {
            let mut own = [*product];
            ring.invert_all_public(&mut own);
            own[0]
        });
    }
}

impl<S: FloatSimd, const N: usize> DoubleField<S, N> {
    /// Inverts the product of all values in the stored form, and derives every inverse from it.
    fn invert_all_by(
        self,
        all: &mut [DoubleCoordinate<S::D, N>],
        invert: impl FnOnce(MontgomeryRing<S, FieldPrime, L, N>, &Element<S::V, L, N>) -> Element<S::V, L, N>,
    ) {
        let mut before = Zeroizing::new(Vec::with_capacity(all.len()));
        let mut product = Zeroizing::new(self.one());
        for element in all.iter() {
            before.push(*product);
            self.0.call(
                #[inline(always)]
                || *product = self.mul(&product, element),
            );
        }
        let ring = MontgomeryRing::<S, FieldPrime, L, N>::new(self.0);
        let stored = Zeroizing::new(ring.from_stored(&self.stored(&product)));
        let mut inverse = Zeroizing::new(self.from_stored(&ring.stored(&invert(ring, &stored))));
        for (element, before) in all.iter_mut().zip(before.iter()).rev() {
            self.0.call(
                #[inline(always)]
                || {
                    let next = self.mul(&inverse, element);
                    *element = self.mul(&inverse, before);
                    *inverse = next;
                },
            );
        }
    }
}

impl<D: FloatVector, const N: usize> Add for DoubleCoordinate<D, N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(
            other,
            #[inline(always)]
            |limb, other| limb + other,
        )
    }
}

impl<D: FloatVector, const N: usize> Sub for DoubleCoordinate<D, N> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(
            other,
            #[inline(always)]
            |limb, other| limb - other,
        )
    }
}

impl<D: FloatVector, const N: usize> Zeroize for DoubleCoordinate<D, N> {
    fn zeroize(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

/// Prints no lanes, which can hold secrets.
impl<D, const N: usize> fmt::Debug for DoubleCoordinate<D, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DoubleCoordinate")
    }
}
