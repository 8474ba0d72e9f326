//! Elements for fused multiply-adds: six signed limbs of 43 bits in doubles. `docs/math/fma-fields.md` has bounds and
//! proofs.
//!
//! Factors and sums are one type, because sums of a few elements can be multiplied as they are. A product has limbs of
//! at most `2^42 (1 + 2^-24)`, which is called one unit here. The units of two factors may multiply to four.

use super::super::words;
use super::{FieldFactor, FieldSimd, WideSum};
use crate::simd::float::{
    DoubleLimbs, FloatSimd, FloatVector, LIMBS, carry_limbs_25519, of_25519, power_of_two,
};
use crate::simd::{BlindMulVector, BlindVector, Mask};

const BITS: usize = of_25519::LIMB_BITS;
const LOW: u64 = (1 << BITS) - 1;
/// The bits of the topmost limb below bit 255.
const TOP_BITS: u32 = 255 - (BITS * (LIMBS - 1)) as u32;

/// The multiple 2^6 p in limbs above those of any sum that becomes an integer. A limb gives 2^3 to the one below, which
/// is 2^46 there.
const BIAS: [u64; LIMBS] = [(1 << 46) - (19 << 6), BIAS_LIMB, BIAS_LIMB, BIAS_LIMB, BIAS_LIMB, BIAS_LIMB];
const BIAS_LIMB: u64 = (1 << 46) - (1 << 3);

/// A number whose sum with an integer below 2^51 has that integer in its low bits, and those bits.
const INTEGER: f64 = crate::simd::float::ROUND;

/// Returns signed limbs of at most one unit of a value below 2^255 in limbs of 52 bits.
const fn balanced(limbs: &[u64; 5]) -> [f64; LIMBS] {
    let (mut signed, mut carry, mut at) = ([0.0; LIMBS], 0, 0);
    while at < LIMBS {
        let (limb, bit) = (BITS * at / words::RADIX, BITS * at % words::RADIX);
        let mut digit = limbs[limb] >> bit;
        if bit > words::RADIX - BITS && limb < 4 {
            digit |= limbs[limb + 1] << (words::RADIX - bit);
        }
        let digit = (digit & LOW) + carry;
        carry = (digit + (1 << (BITS - 1))) >> BITS;
        signed[at] = (digit as i64 - (carry << BITS) as i64) as f64;
        at += 1;
    }
    signed
}

#[inline(always)]
fn constant<S: FloatSimd>(simd: S, limbs: &[u64; 5]) -> DoubleLimbs<S::D> {
    let mut signed = [simd.double(0.0); LIMBS];
    for (to, limb) in signed.iter_mut().zip(balanced(limbs)) {
        *to = simd.double(limb);
    }
    DoubleLimbs(signed)
}

/// Converts integers below 2^43: two units.
#[inline(always)]
fn of_digits<S: FloatSimd>(simd: S, digits: [S::V; LIMBS]) -> DoubleLimbs<S::D> {
    // An integer in the low bits of 2^52.
    let (offset, bits) = (power_of_two(52), power_of_two(52).to_bits());
    let mut limbs = [simd.double(0.0); LIMBS];
    for (limb, digit) in limbs.iter_mut().zip(digits) {
        *limb = simd.double_of_bits(digit | simd.splat(bits)) - simd.double(offset);
    }
    DoubleLimbs(limbs)
}

/// Cuts an integer in digits of `FROM` bits to limbs.
#[inline(always)]
fn cut<S: FloatSimd, const FROM: usize>(simd: S, digits: &[S::V]) -> DoubleLimbs<S::D> {
    let mut cut = [simd.zero(); LIMBS];
    for (at, limb) in cut.iter_mut().enumerate() {
        *limb = words::window::<S, FROM>(simd, digits, BITS * at, BITS);
    }
    of_digits(simd, cut)
}

/// Returns the limbs of the canonical value, which is below p. The value may be a sum of up to eight units.
#[inline(always)]
fn canonical_limbs<S: FloatSimd>(simd: S, value: &DoubleLimbs<S::D>) -> [S::V; LIMBS] {
    let mut limbs = [simd.zero(); LIMBS];
    for at in 0..LIMBS {
        // The bits of the sum are those of the constant plus the integer, which the bias makes positive.
        let bits = simd.bits(value.0[at] + simd.double(INTEGER));
        limbs[at] = bits - simd.splat(INTEGER.to_bits() - BIAS[at]);
    }
    propagate(simd, &mut limbs, simd.zero());
    let top = limbs[LIMBS - 1].shr::<TOP_BITS>();
    limbs[LIMBS - 1] = limbs[LIMBS - 1] & simd.splat((1 << TOP_BITS) - 1);
    // 2^255 = 19 (mod p). The value is below 2^255 + 2^13 afterwards.
    propagate(simd, &mut limbs, simd.zero().madd_lo(top, simd.splat(19)));
    // The value is at least p if adding 19 reaches bit 255. Then that sum minus 2^255 is the value minus p.
    let mut carry = simd.splat(19);
    for limb in &limbs[..LIMBS - 1] {
        carry = (*limb + carry).shr::<{ BITS as u32 }>();
    }
    let reaches = (limbs[LIMBS - 1] + carry).shr::<TOP_BITS>();
    propagate(simd, &mut limbs, simd.zero().madd_lo(reaches, simd.splat(19)));
    limbs[LIMBS - 1] = limbs[LIMBS - 1] & simd.splat((1 << TOP_BITS) - 1);
    limbs
}

/// Checks the bound of the factors of a product.
#[inline(always)]
fn check<S: FloatSimd>(simd: S, a: &DoubleLimbs<S::D>, b: &DoubleLimbs<S::D>) {
    if cfg!(debug_assertions) {
        let product = a.largest(simd) * b.largest(simd);
        debug_assert!(
            product <= power_of_two(86) * (1.0 + power_of_two(-20)),
            "limbs are too large to be multiplied"
        );
    }
}

/// Adds an integer below 2^52 to limbs below 2^52 and carries upwards. The topmost limb keeps what is beyond.
#[inline(always)]
fn propagate<S: FloatSimd>(simd: S, limbs: &mut [S::V; LIMBS], mut carry: S::V) {
    for limb in &mut limbs[..LIMBS - 1] {
        let sum = *limb + carry;
        (*limb, carry) = (sum & simd.splat(LOW), sum.shr::<{ BITS as u32 }>());
    }
    limbs[LIMBS - 1] = limbs[LIMBS - 1] + carry;
}

impl<S> FieldFactor<S> for DoubleLimbs<S::D>
where
    S: FloatSimd + FieldSimd<Factor = DoubleLimbs<S::D>, Sum = DoubleLimbs<S::D>>,
{
    #[inline(always)]
    fn splat(simd: S, limbs: &[u64; 5]) -> Self {
        constant(simd, limbs)
    }

    #[inline(always)]
    fn from_limbs(simd: S, limbs: [S::V; 5]) -> Self {
        cut::<S, { words::RADIX }>(simd, &limbs)
    }

    #[inline(always)]
    fn from_words(simd: S, words: &[S::V; 4]) -> Self {
        cut::<S, 64>(simd, words)
    }

    #[inline(always)]
    fn from_words_below_p(simd: S, words: &[S::V; 4]) -> (Self, Mask) {
        let value = Self::from_words(simd, words);
        let mut is_canonical = Mask::MAX;
        for (word, canonical) in words.iter().zip(value.as_words(simd)) {
            is_canonical &= word.is_equal(canonical);
        }
        (value, is_canonical)
    }

    #[inline(always)]
    fn from_rows(simd: S, rows: [[S::V; 8]; 3]) -> [Self; 4] {
        let mut factors = [Self([simd.double(0.0); LIMBS]); 4];
        for (at, word) in rows.as_flattened().iter().enumerate() {
            factors[at / LIMBS].0[at % LIMBS] = simd.double_of_bits(*word);
        }
        factors
    }

    #[inline(always)]
    fn rows(simd: S, factors: [&Self; 4]) -> [[S::V; 8]; 3] {
        let mut rows = [[simd.zero(); 8]; 3];
        for (at, word) in rows.as_flattened_mut().iter_mut().enumerate() {
            *word = simd.bits(factors[at / LIMBS].0[at % LIMBS]);
        }
        rows
    }

    #[inline(always)]
    fn canonical(&self, simd: S) -> [S::V; 5] {
        let limbs = canonical_limbs(simd, self);
        let mut digits = [simd.zero(); 5];
        for (at, limb) in digits.iter_mut().enumerate() {
            // The topmost limb has 47 bits: bits from 255 on do not exist.
            let count = words::RADIX.min(255 - words::RADIX * at);
            *limb = words::window::<S, BITS>(simd, &limbs, words::RADIX * at, count);
        }
        digits
    }

    #[inline(always)]
    fn as_words(&self, simd: S) -> [S::V; 4] {
        let limbs = canonical_limbs(simd, self);
        let mut words = [simd.zero(); 4];
        for (at, word) in words.iter_mut().enumerate() {
            *word = words::window::<S, BITS>(simd, &limbs, 64 * at, 64);
        }
        words
    }

    #[inline(always)]
    fn is_zero(&self, simd: S) -> Mask {
        let [a, b, c, d, e, f] = canonical_limbs(simd, self);
        (a | b | c | d | e | f).is_equal(simd.zero())
    }

    #[inline(always)]
    fn is_odd(&self, simd: S) -> Mask {
        canonical_limbs(simd, self)[0].has_any(simd.splat(1))
    }

    #[inline(always)]
    fn or_if(&self, mask: Mask, yes: &Self) -> Self {
        Self::or_if(self, mask, yes)
    }

    #[inline(always)]
    fn widen(&self, _simd: S) -> Self {
        *self
    }

    #[inline(always)]
    fn times(&self, simd: S, other: &Self) -> Self {
        check(simd, self, other);
        simd.multiply_25519(self, other)
    }

    #[inline(always)]
    fn square(&self, simd: S) -> Self {
        check(simd, self, self);
        simd.square_25519(self)
    }

    #[inline(always)]
    fn times_into(&self, simd: S, other: &Self, product: &mut Self) {
        check(simd, self, other);
        simd.multiply_25519_into(self, other, product);
    }

    #[inline(always)]
    fn square_into(&self, simd: S, square: &mut Self) {
        check(simd, self, self);
        simd.square_25519_into(self, square);
    }

    #[inline(always)]
    fn replace_by_product(&mut self, simd: S, other: &Self) {
        check(simd, self, other);
        simd.multiply_25519_by(self, other);
    }

    #[inline(always)]
    fn replace_by_square(&mut self, simd: S) {
        check(simd, self, self);
        simd.replace_by_square_25519(self);
    }

    /// Multiplies up to four units.
    #[inline(always)]
    fn times_small(&self, simd: S, number: u64) -> Self {
        let (by, start) = (simd.double(number as f64), simd.double(of_25519::START));
        let mut highs = self.0;
        for high in &mut highs {
            *high = start - high.times_plus(by, start);
        }
        let mut values = self.0;
        for at in 0..LIMBS {
            // The high half of the topmost limb comes back times 152.
            let fold = if at == 0 { of_25519::FOLD } else { 1.0 };
            let rest = self.0[at].times_plus(by, highs[at]);
            let below = highs[(at + LIMBS - 1) % LIMBS];
            values[at] = below.minus_times(simd.double(fold * power_of_two(-(BITS as i32))), rest);
        }
        carry_limbs_25519(simd, &DoubleLimbs(values))
    }
}

impl<S> WideSum<S> for DoubleLimbs<S::D>
where
    S: FloatSimd + FieldSimd<Factor = DoubleLimbs<S::D>, Sum = DoubleLimbs<S::D>>,
{
    type Settled<'a> = &'a Self;

    #[inline(always)]
    fn splat(simd: S, limbs: &[u64; 5]) -> Self {
        constant(simd, limbs)
    }

    #[inline(always)]
    fn reduce(&self, simd: S) -> Self {
        carry_limbs_25519(simd, self)
    }

    #[inline(always)]
    fn factor(&self, _simd: S) -> &Self {
        self
    }

    #[inline(always)]
    fn settle(&self, simd: S) -> Self {
        carry_limbs_25519(simd, self)
    }

    #[inline(always)]
    fn minus(&self, _simd: S, other: &Self) -> Self {
        *self - *other
    }

    #[inline(always)]
    fn or_if(&self, mask: Mask, yes: &Self) -> Self {
        Self::or_if(self, mask, yes)
    }

    #[inline(always)]
    fn multiply_by(&mut self, simd: S, factor: &Self) {
        check(simd, self, factor);
        simd.multiply_25519_by(self, factor);
    }
}
