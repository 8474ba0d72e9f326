//! Elements for products of 52 bits: five limbs of radix 2^52. Bounds and counts: `docs/math/curve25519.md`.
//!
//! A [`FactorLimbs`] is ready to be multiplied. A product, or a sum of products, is a [`LimbSum`] until it is reduced.
//! So carries run once per factor, for any number of terms.

use std::ops::{Add, Deref};

use zeroize::Zeroize;

use super::super::constants::BIAS;
use super::super::words;
use super::{FieldFactor, FieldSimd, WideSum};
use crate::simd::{BlindMulSimd, BlindMulVector, BlindVector, LaneMask, Mask, MulVector};

/// A value below 2^255 + 2^218. Only the low 52 bits of each limb count, because multiplications read no others.
#[derive(Clone, Copy, Debug, Zeroize)]
pub(crate) struct FactorLimbs<V>(pub(crate) [V; 5]);

/// A value of five unsigned limbs, each below 2^61: a product (limbs below 2^56), or a sum whose terms' bounds add
/// up.
#[derive(Clone, Copy, Debug, Zeroize)]
pub(crate) struct LimbSum<V>(pub(crate) [V; 5]);

/// A sum after its carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SettledLimbs<V>(FactorLimbs<V>);

impl<V> Deref for SettledLimbs<V> {
    type Target = FactorLimbs<V>;

    #[inline(always)]
    fn deref(&self) -> &FactorLimbs<V> {
        &self.0
    }
}

/// The residue 2^260 mod p.
const FOLD: u64 = 608;
/// The bits of the topmost limb below bit 255.
const TOP_BITS: u32 = 47;
const LOW_52: u64 = (1 << 52) - 1;
const LOW_47: u64 = (1 << TOP_BITS) - 1;

impl<V: BlindMulVector> FactorLimbs<V> {
    /// Returns the same value in every lane.
    #[inline(always)]
    fn splat<S: BlindMulSimd<V = V>>(simd: S, limbs: &[u64; 5]) -> Self {
        let mut splats = [simd.zero(); 5];
        for (to, limb) in splats.iter_mut().zip(limbs) {
            *to = simd.splat(*limb);
        }
        Self(splats)
    }

    /// Wraps the limbs of a value below 2^255.
    #[inline(always)]
    fn from_limbs(limbs: [V; 5]) -> Self {
        Self(limbs)
    }

    /// Converts a value below 2^255 from four words.
    #[inline(always)]
    fn from_words<S: BlindMulSimd<V = V>>(simd: S, words: &[V; 4]) -> Self {
        Self(words::split(simd, words))
    }

    /// Returns the limbs of the canonical value, which is below p.
    #[inline(always)]
    pub(crate) fn canonical<S: BlindMulSimd<V = V>>(&self, simd: S) -> [V; 5] {
        let low = simd.splat(LOW_52);
        let mut limbs = self.0;
        // Bits above 52 belong to carries that have run on already: multiplications ignore them, comparisons do not.
        for limb in &mut limbs {
            *limb = *limb & low;
        }
        // The value is at least p if adding 19 reaches bit 255. Then that sum minus 2^255 is the value minus p.
        let mut carry = simd.splat(19);
        // Only carries matter here: a sum at or above 2^255 means that the value is at least p.
        for limb in &limbs[..4] {
            carry = (*limb + carry).shr::<52>();
        }
        let reaches = (limbs[4] + carry).shr::<TOP_BITS>();
        // 19 or 0: adding it unconditionally keeps the steps the same for all values.
        let mut carry = simd.zero().madd_lo(reaches, simd.splat(19));
        for limb in &mut limbs {
            let sum = *limb + carry;
            (*limb, carry) = (sum & low, sum.shr::<52>());
        }
        limbs[4] = limbs[4] & simd.splat(LOW_47);
        limbs
    }

    /// Returns the canonical value in four words.
    #[inline(always)]
    fn as_words<S: BlindMulSimd<V = V>>(&self, simd: S) -> [V; 4] {
        words::join(simd, &self.canonical(simd))
    }

    /// Returns the lanes in which the value is zero.
    #[inline(always)]
    fn is_zero<S: BlindMulSimd<V = V>>(&self, simd: S) -> V::Mask {
        let [a, b, c, d, e] = self.canonical(simd);
        (a | b | c | d | e).is_equal(simd.zero())
    }

    /// Converts a value below 2^255 from four words, and returns the lanes in which it is below p.
    #[inline(always)]
    fn from_words_below_p<S: BlindMulSimd<V = V>>(simd: S, words: &[V; 4]) -> (Self, V::Mask) {
        let value = Self::from_words(simd, words);
        let canonical = value.canonical(simd);
        let mut is_canonical = value.0[0].is_equal(canonical[0]);
        for (limb, canonical) in value.0.iter().zip(canonical).skip(1) {
            is_canonical = is_canonical & limb.is_equal(canonical);
        }
        (value, is_canonical)
    }

    /// Returns the lanes in which the canonical value is odd.
    #[inline(always)]
    fn is_odd<S: BlindMulSimd<V = V>>(&self, simd: S) -> V::Mask {
        self.canonical(simd)[0].has_any(simd.splat(1))
    }

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    #[inline(always)]
    fn or_if(&self, mask: V::Mask, yes: &Self) -> Self {
        let mut chosen = self.0;
        for (limb, yes) in chosen.iter_mut().zip(&yes.0) {
            *limb = limb.or_if(mask, *yes);
        }
        Self(chosen)
    }

    /// Returns the same value as a term of sums.
    #[inline(always)]
    fn widen<S: BlindMulSimd<V = V>>(&self, simd: S) -> LimbSum<V> {
        let mut sum = self.0;
        for limb in &mut sum {
            *limb = *limb & simd.splat(LOW_52);
        }
        LimbSum(sum)
    }

    /// Multiplies with 59 `vpmadd52`. The limbs of the result are below 2^56.
    #[inline(always)]
    pub(crate) fn times<S: BlindMulSimd<V = V>>(&self, simd: S, other: &Self) -> LimbSum<V> {
        simd.step(
            #[inline(always)]
            || {
                self.check(simd);
                other.check(simd);
                let (a, b) = (&self.0, &other.0);
                // Column k gets at most five low and five high halves, each below 2^52: below 10 * 2^52, so 64 bits
                // hold every sum and no carry runs in between.
                let mut columns = [simd.zero(); 10];
                for i in 0..5 {
                    for j in 0..5 {
                        columns[i + j] = columns[i + j].madd_lo(a[i], b[j]);
                        columns[i + j + 1] = columns[i + j + 1].madd_hi(a[i], b[j]);
                    }
                }
                fold(simd, columns)
            },
        )
    }

    /// Squares with 39 `vpmadd52`. The limbs of the result are below 2^56.
    #[inline(always)]
    pub(crate) fn square<S: BlindMulSimd<V = V>>(&self, simd: S) -> LimbSum<V> {
        simd.step(
            #[inline(always)]
            || {
                self.check(simd);
                let a = &self.0;
                let mut columns = [simd.zero(); 10];
                for i in 0..5 {
                    for j in i + 1..5 {
                        columns[i + j] = columns[i + j].madd_lo(a[i], a[j]);
                        columns[i + j + 1] = columns[i + j + 1].madd_hi(a[i], a[j]);
                    }
                }
                // Products of different limbs occur twice. Doubling columns costs an addition each; doubled limbs
                // would have 53 bits, and the instruction reads 52.
                for (at, column) in columns.iter_mut().enumerate() {
                    *column = *column + *column;
                    let limb = a[at / 2];
                    *column =
                        if at % 2 == 0 { column.madd_lo(limb, limb) } else { column.madd_hi(limb, limb) };
                }
                fold(simd, columns)
            },
        )
    }

    /// Multiplies by a number below 2^20 with eleven `vpmadd52`. The limbs of the result are below 2^54.
    #[inline(always)]
    pub(crate) fn times_small<S: BlindMulSimd<V = V>>(&self, simd: S, number: u64) -> LimbSum<V> {
        simd.step(
            #[inline(always)]
            || {
                self.check(simd);
                let by = simd.splat(number);
                let mut product = [simd.zero(); 5];
                for at in 0..5 {
                    product[at] = product[at].madd_lo(self.0[at], by);
                    if at < 4 {
                        product[at + 1] = product[at + 1].madd_hi(self.0[at], by);
                    }
                }
                // The part at 2^260, below 2^16 because the top limb has 48 bits, comes back times 608.
                let beyond = simd.zero().madd_hi(self.0[4], by);
                product[0] = product[0].madd_lo(beyond, simd.splat(FOLD));
                LimbSum(product)
            },
        )
    }

    #[inline(always)]
    fn check<S: BlindMulSimd<V = V>>(&self, simd: S) {
        // 2^47 + 2^10 in the top limb is the bound 2^255 + 2^218 of the type.
        let top = self.0[4] & simd.splat(LOW_52);
        top.is_below(simd.splat((1 << TOP_BITS) + (1 << 10))).claim("a factor is below 2^255 + 2^218");
    }
}

/// Reduces ten columns to five. Each column must be below 10 * 2^52, and the topmost below 2^42.75.
#[inline(always)]
fn fold<S: BlindMulSimd>(simd: S, mut c: [S::V; 10]) -> LimbSum<S::V> {
    for at in 5..9 {
        // The upper columns are carried first, because `vpmadd52` reads only 52 bits of each.
        c[at + 1] = c[at + 1] + c[at].shr::<52>();
    }
    let by = simd.splat(FOLD);
    let mut low = [c[0], c[1], c[2], c[3], c[4]];
    for at in 0..4 {
        low[at] = low[at].madd_lo(c[at + 5], by);
        low[at + 1] = low[at + 1].madd_hi(c[at + 5], by);
    }
    // No high half: column 9 is below 2^42.01, and 608 times that below 2^51.3.
    low[4] = low[4].madd_lo(c[9], by);
    LimbSum(low)
}

impl<V: BlindMulVector> LimbSum<V> {
    /// Reduces the value to a factor with one `vpmadd52`. Bits from 255 on fold by 19, and carries run once.
    #[inline(always)]
    pub(crate) fn reduce<S: BlindMulSimd<V = V>>(&self, simd: S) -> FactorLimbs<V> {
        simd.step(
            #[inline(always)]
            || {
                self.check(simd, 1 << 61);
                let [l0, l1, l2, l3, l4] = self.0;
                // 2^255 = 19 (mod p). The limbs keep their carried bits: the next product reads 52 of them.
                let top = l4 & simd.splat(LOW_47);
                let l0 = l0.madd_lo(l4.shr::<TOP_BITS>(), simd.splat(19));
                let l1 = l1 + l0.shr::<52>();
                let l2 = l2 + l1.shr::<52>();
                let l3 = l3 + l2.shr::<52>();
                FactorLimbs([l0, l1, l2, l3, top + l3.shr::<52>()])
            },
        )
    }

    /// Computes `self - other`. `other` must be a product or a sum of up to five.
    #[inline(always)]
    pub(crate) fn minus<S: BlindMulSimd<V = V>>(&self, simd: S, other: &Self) -> Self {
        simd.step(
            #[inline(always)]
            || {
                // Five products are below 55 * 2^52, and every limb of the bias is above.
                other.check(simd, BIAS[0]);
                let mut difference = self.0;
                for at in 0..5 {
                    // Unsigned limbs must not go below zero, so a multiple of p is added.
                    difference[at] = difference[at] + (simd.splat(BIAS[at]) - other.0[at]);
                }
                Self(difference)
            },
        )
    }

    /// Returns the same value in every lane.
    #[inline(always)]
    fn splat<S: BlindMulSimd<V = V>>(simd: S, limbs: &[u64; 5]) -> Self {
        Self(FactorLimbs::splat(simd, limbs).0)
    }

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    #[inline(always)]
    fn or_if(&self, mask: V::Mask, yes: &Self) -> Self {
        Self(FactorLimbs(self.0).or_if(mask, &FactorLimbs(yes.0)).0)
    }

    #[inline(always)]
    fn check<S: BlindMulSimd<V = V>>(&self, simd: S, bound: u64) {
        for limb in self.0 {
            limb.is_below(simd.splat(bound)).claim("a limb of a sum is below its bound");
        }
    }
}

impl<V: BlindMulVector> Add for LimbSum<V> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut sum = self.0;
        for (limb, other) in sum.iter_mut().zip(other.0) {
            *limb = *limb + other;
        }
        Self(sum)
    }
}

/// The traits call the methods above, which have the same names.
impl<V, S> FieldFactor<S> for FactorLimbs<V>
where
    V: MulVector,
    S: FieldSimd<V = V, Factor = FactorLimbs<V>, Sum = LimbSum<V>>,
{
    #[inline(always)]
    fn splat(simd: S, limbs: &[u64; 5]) -> Self {
        Self::splat(simd, limbs)
    }

    #[inline(always)]
    fn from_limbs(_simd: S, limbs: [V; 5]) -> Self {
        Self::from_limbs(limbs)
    }

    #[inline(always)]
    fn from_words(simd: S, words: &[V; 4]) -> Self {
        Self::from_words(simd, words)
    }

    #[inline(always)]
    fn from_words_below_p(simd: S, words: &[V; 4]) -> (Self, Mask) {
        Self::from_words_below_p(simd, words)
    }

    #[inline(always)]
    fn from_rows(_simd: S, rows: [[V; 8]; 3]) -> [Self; 4] {
        let [[a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p], [q, r, s, t, ..]] = rows;
        [Self([a, b, c, d, e]), Self([f, g, h, i, j]), Self([k, l, m, n, o]), Self([p, q, r, s, t])]
    }

    #[inline(always)]
    fn rows(simd: S, factors: [&Self; 4]) -> [[V; 8]; 3] {
        let [Self([a, b, c, d, e]), Self([f, g, h, i, j]), Self([k, l, m, n, o]), Self([p, q, r, s, t])] =
            factors.map(|factor| *factor);
        let zero = simd.zero();
        [[a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p], [q, r, s, t, zero, zero, zero, zero]]
    }

    #[inline(always)]
    fn canonical(&self, simd: S) -> [V; 5] {
        self.canonical(simd)
    }

    #[inline(always)]
    fn as_words(&self, simd: S) -> [V; 4] {
        self.as_words(simd)
    }

    #[inline(always)]
    fn is_zero(&self, simd: S) -> Mask {
        self.is_zero(simd)
    }

    #[inline(always)]
    fn is_odd(&self, simd: S) -> Mask {
        self.is_odd(simd)
    }

    #[inline(always)]
    fn or_if(&self, mask: Mask, yes: &Self) -> Self {
        self.or_if(mask, yes)
    }

    #[inline(always)]
    fn widen(&self, simd: S) -> LimbSum<V> {
        self.widen(simd)
    }

    #[inline(always)]
    fn times(&self, simd: S, other: &Self) -> LimbSum<V> {
        self.times(simd, other)
    }

    #[inline(always)]
    fn square(&self, simd: S) -> LimbSum<V> {
        self.square(simd)
    }

    #[inline(always)]
    fn replace_by_product(&mut self, simd: S, other: &Self) {
        *self = self.times(simd, other).reduce(simd);
    }

    #[inline(always)]
    fn replace_by_square(&mut self, simd: S) {
        *self = self.square(simd).reduce(simd);
    }

    #[inline(always)]
    fn times_small(&self, simd: S, number: u64) -> LimbSum<V> {
        self.times_small(simd, number)
    }
}

impl<V, S> WideSum<S> for LimbSum<V>
where
    V: MulVector,
    S: FieldSimd<V = V, Factor = FactorLimbs<V>, Sum = LimbSum<V>>,
{
    type Settled<'a> = SettledLimbs<V>;

    #[inline(always)]
    fn splat(simd: S, limbs: &[u64; 5]) -> Self {
        Self::splat(simd, limbs)
    }

    #[inline(always)]
    fn reduce(&self, simd: S) -> FactorLimbs<V> {
        self.reduce(simd)
    }

    #[inline(always)]
    fn factor(&self, simd: S) -> SettledLimbs<V> {
        SettledLimbs(self.reduce(simd))
    }

    #[inline(always)]
    fn settle(&self, _simd: S) -> Self {
        *self
    }

    #[inline(always)]
    fn minus(&self, simd: S, other: &Self) -> Self {
        self.minus(simd, other)
    }

    #[inline(always)]
    fn or_if(&self, mask: Mask, yes: &Self) -> Self {
        self.or_if(mask, yes)
    }

    #[inline(always)]
    fn multiply_by(&mut self, simd: S, factor: &FactorLimbs<V>) {
        *self = self.reduce(simd).times(simd, factor);
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::super::tests::{integers, on_every_leaf_of_limbs, p};
    use super::*;
    use crate::simd::MulSimd;

    /// Products ignore bits above 52 of each limb of a reduced value, and the value stays near p.
    fn reduction<S: MulSimd>(simd: S) {
        let wide = LimbSum::splat(simd, &[(1 << 61) - 1; 5]);
        let factor = wide.reduce(simd);
        let expected = (0..5).map(|at| BigUint::from((1_u64 << 61) - 1) << (52 * at)).sum::<BigUint>();
        let found = integers(&factor.0);
        assert!(found[0] < (BigUint::from(1_u8) << 255) + (BigUint::from(1_u8) << 218));
        assert_eq!(&found[0] % p(), expected % p());
    }

    #[test]
    fn reductions_stay_in_bounds() {
        on_every_leaf_of_limbs!(reduction);
    }
}
