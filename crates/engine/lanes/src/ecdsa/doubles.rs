//! The field of P-256 for fused multiply-adds: six signed limbs of 44 bits in doubles, in Montgomery form with R =
//! 2^264. `docs/math/fma-fields.md` has bounds and proofs.
//!
//! A product has limbs of at most `2^43 (1 + 2^-30)`, which is called one unit here, and a value between -p and p. The
//! units of two factors may multiply to 84, so most sums are factors without carries.

use zeroize::Zeroizing;

use super::constants::small;
use super::element::Element;
use super::field::CoordinateField;
use super::interleaved::{Interleaved, Masks};
use super::p256::field::FieldPrime;
use super::ring::{MontgomeryRing, OddModulus};
use crate::curve25519::words;
use crate::simd::float::{DoubleLimbs, FloatSimd, LIMBS, ROUND, carry_limbs_p256, of_p256, power_of_two};
use crate::simd::{BlindMulVector, BlindVector, LANES, Vector, Words};

const L: usize = 5;
const BITS: usize = of_p256::LIMB_BITS;
const LOW: u64 = (1 << BITS) - 1;
/// The bits of the topmost limb below bit 256.
const TOP_BITS: u32 = 256 - (BITS * (LIMBS - 1)) as u32;
/// The bits between R of this form and of the stored one, 2^260.
const BEYOND_STORED: usize = BITS * LIMBS - words::RADIX * L;

/// The field on a CPU. N must be 1: kernels in assembly gain nothing from a second group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleField<S, const N: usize>(S);

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
    fn constant(self, limbs: &[f64; LIMBS]) -> DoubleLimbs<S::D> {
        let mut limbs_out = [self.0.double(0.0); LIMBS];
        for (to, limb) in limbs_out.iter_mut().zip(limbs) {
            *to = self.0.double(*limb);
        }
        DoubleLimbs(limbs_out)
    }

    /// Converts integers in limbs of 52 bits, times `2^UP`.
    #[inline(always)]
    fn cut<const UP: usize>(self, limbs: &[S::V; L]) -> DoubleLimbs<S::D> {
        let simd = self.0;
        // An integer in the low bits of 2^52.
        let (offset, bits) = (simd.double(power_of_two(52)), simd.splat(power_of_two(52).to_bits()));
        let mut cut = [offset; LIMBS];
        for (at, to) in cut.iter_mut().enumerate() {
            let from = (BITS * at).saturating_sub(UP);
            let count = BITS - if at == 0 { UP } else { 0 };
            let digit = words::window::<S, { words::RADIX }>(simd, limbs, from, count);
            let digit = if at == 0 { digit.shl_each(simd.splat(UP as u64)) } else { digit };
            *to = simd.double_of_bits(digit | bits) - offset;
        }
        DoubleLimbs(cut)
    }

    #[inline(always)]
    fn check(self, a: &DoubleLimbs<S::D>, b: &DoubleLimbs<S::D>) {
        if cfg!(debug_assertions) {
            let product = a.largest(self.0) * b.largest(self.0);
            debug_assert!(product <= 84.0 * power_of_two(86), "limbs are too large to be multiplied");
        }
    }
}

/// Returns the residue in [0, p) in limbs of 52 bits, of a value between -2^7 p and 2^7 p whose limbs are below 2^47.
#[inline(always)]
fn canonical<S: FloatSimd>(simd: S, limbs: &DoubleLimbs<S::D>) -> [S::V; L] {
    let mut integers = [simd.zero(); LIMBS];
    for at in 0..LIMBS {
        // The bits of the sum are those of the constant plus the integer, which the bias makes positive.
        let bits = simd.bits(limbs.0[at] + simd.double(ROUND));
        integers[at] = bits - simd.splat(ROUND.to_bits().wrapping_sub(BIAS[at].cast_unsigned()));
    }
    // Below 2^9 p now. The quotient by 2^256 is at most one more than that by p.
    propagate(simd, &mut integers);
    fold(simd, &mut integers);
    fold(simd, &mut integers);
    subtract_p_once(simd, &mut integers);
    let mut wide = [simd.zero(); L];
    for (at, limb) in wide.iter_mut().enumerate() {
        let count = words::RADIX.min(256 - words::RADIX * at);
        *limb = words::window::<S, BITS>(simd, &integers, words::RADIX * at, count);
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
    type Element = DoubleLimbs<S::D>;
    type Loose = DoubleLimbs<S::D>;
    /// The factors of a product, which is computed together with the next.
    type Columns = [DoubleLimbs<S::D>; 2];

    #[inline(always)]
    fn new(simd: S) -> Self {
        assert!(N == 1, "doubles are computed in one group");
        Self(simd)
    }

    #[inline(always)]
    fn simd(self) -> S {
        self.0
    }

    #[inline(always)]
    fn splat(self, stored: &[u64; L]) -> Self::Element {
        // Tables of constants are few, so the conversion of each may take its time.
        let mut splats = [self.0.zero(); L];
        for (to, limb) in splats.iter_mut().zip(stored) {
            *to = self.0.splat(*limb);
        }
        self.load_stored(&[splats; N])
    }

    #[inline(always)]
    fn load_stored(self, stored: &[[S::V; L]; N]) -> Self::Element {
        self.cut::<BEYOND_STORED>(&stored[0])
    }

    #[inline(always)]
    fn set_group(self, a: &mut Self::Element, _n: usize, stored: &[S::V; L]) {
        *a = self.cut::<BEYOND_STORED>(stored);
    }

    #[inline(always)]
    fn stored(self, a: &Self::Element) -> [[S::V; L]; N] {
        // 2^264 x times 2^260 over R.
        let by = self.constant(&const { balanced(&residue(words::RADIX * L)) });
        [canonical(self.0, &self.mul(a, &by)); N]
    }

    #[inline(always)]
    fn enter(self, plain: &Element<S::V, L, N>) -> Self::Element {
        let by = self.constant(&const { balanced(&residue(2 * BITS * LIMBS)) });
        let mut limbs = [self.0.zero(); L];
        for (limb, plain) in limbs.iter_mut().zip(&plain.0) {
            *limb = plain.0[0];
        }
        self.mul(&self.cut::<0>(&limbs), &by)
    }

    #[inline(always)]
    fn leave(self, a: &Self::Element) -> Element<S::V, L, N> {
        let one = self.constant(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let mut left = Element([Interleaved([self.0.zero(); N]); L]);
        for (to, limb) in left.0.iter_mut().zip(canonical(self.0, &self.mul(a, &one))) {
            to.0 = [limb; N];
        }
        left
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
        let [a, b, c, d, e] = canonical(self.0, &self.mul(a, &self.one()));
        [(a | b | c | d | e).is_equal(self.0.zero()); N]
    }

    #[inline(always)]
    fn select(self, mask: Masks<N>, no: &Self::Element, yes: &Self::Element) -> Self::Element {
        no.or_if(mask[0], yes)
    }

    #[inline(always)]
    fn turn(self, a: &Self::Element, distance: usize) -> Self::Element {
        let mut turned = *a;
        for limb in &mut turned.0 {
            let words: Words = self.0.bits(*limb).words();
            *limb = self
                .0
                .double_of_bits(self.0.load(&std::array::from_fn(|lane| words[(lane + distance) % LANES])));
        }
        turned
    }

    #[inline(always)]
    fn loose(self, a: &Self::Element) -> Self::Loose {
        *a
    }

    #[inline(always)]
    fn shl<const BITS: u32>(self, a: Self::Loose) -> Self::Loose {
        a.scaled(self.0.double(power_of_two(BITS.cast_signed())))
    }

    #[inline(always)]
    fn sub_or_add(self, a: Self::Loose, mask: Masks<N>, b: Self::Loose) -> Self::Loose {
        let (sum, difference) = (a + b, a - b);
        sum.or_if(mask[0], &difference)
    }

    #[inline(always)]
    fn times(self, a: &Self::Element, b: &Self::Element) -> Self::Loose {
        self.check(a, b);
        self.0.multiply_p256(a, b)
    }

    #[inline(always)]
    fn squared(self, a: &Self::Element) -> Self::Loose {
        self.check(a, a);
        self.0.square_p256(a)
    }

    #[inline(always)]
    fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        self.check(a, b);
        self.0.multiply_p256(a, b)
    }

    #[inline(always)]
    fn replace_by_product(self, a: &mut Self::Element, b: &Self::Element) {
        self.check(a, b);
        self.0.multiply_p256_by(a, b);
    }

    #[inline(always)]
    fn sqr(self, a: &Self::Element) -> Self::Element {
        self.check(a, a);
        self.0.square_p256(a)
    }

    #[inline(always)]
    fn product(self, a: &Self::Element, b: &Self::Element) -> Self::Columns {
        [*a, *b]
    }

    #[inline(always)]
    fn negated_square<const BITS: u32>(self, a: &Self::Element) -> Self::Columns {
        [a.scaled(self.0.double(-power_of_two(BITS.cast_signed()))), *a]
    }

    #[inline(always)]
    fn times_onto(self, [c, d]: Self::Columns, a: &Self::Element, b: &Self::Element) -> Self::Loose {
        self.check(a, b);
        self.0.sum_p256([a, b], [&c, &d])
    }

    #[inline(always)]
    fn carry(self, a: Self::Loose) -> Self::Element {
        a
    }

    #[inline(always)]
    fn carry_plus<const K: u64>(self, a: Self::Loose) -> Self::Element {
        a
    }

    #[inline(always)]
    fn reduce_weakly(self, a: Self::Loose) -> Self::Element {
        carry_limbs_p256(self.0, &a)
    }

    fn invert_all(self, all: &mut [Self::Element]) {
        self.invert_all_by(all, |ring, product| ring.invert(product));
    }

    fn invert_all_public(self, all: &mut [Self::Element]) {
        self.invert_all_by(all, |ring, product| {
            let mut inverse = [*product];
            ring.invert_all_public(&mut inverse);
            inverse[0]
        });
    }
}

impl<S: FloatSimd, const N: usize> DoubleField<S, N> {
    /// Inverts the product of all values in the stored form, and derives every inverse from it.
    fn invert_all_by(
        self,
        all: &mut [DoubleLimbs<S::D>],
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
        let stored = Zeroizing::new(ring.load_stored(&self.stored(&product)));
        let mut inverse = Zeroizing::new(self.load_stored(&ring.stored(&invert(ring, &stored))));
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
