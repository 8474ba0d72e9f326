//! Integers modulo p = 2^255 - 19, one per lane: five limbs of radix 2^52. Bounds and counts:
//! `docs/math/curve25519.md`.
//!
//! A [`FieldFactor`] is ready to be multiplied. A product, or a sum of products, is a [`WideSum`] until it is
//! reduced. So carries run once per factor, for any number of terms.

use std::ops::Add;

use zeroize::Zeroize;

use super::constants::BIAS;
use super::words;
use crate::simd::{Mask, MulSimd, MulVector, Vector};

/// A value below 2^255 + 2^218. Only the low 52 bits of each limb count, because multiplications read no others.
#[derive(Clone, Copy, Debug, Zeroize)]
pub(crate) struct FieldFactor<V>(pub(crate) [V; 5]);

/// A value of five unsigned limbs, each below 2^61: a product (limbs below 2^56), or a sum whose terms' bounds add
/// up.
#[derive(Clone, Copy, Debug, Zeroize)]
pub(crate) struct WideSum<V>(pub(crate) [V; 5]);

/// The residue 2^260 mod p.
const FOLD: u64 = 608;
/// The bits of the topmost limb below bit 255.
const TOP_BITS: u32 = 47;
const LOW_52: u64 = (1 << 52) - 1;
const LOW_47: u64 = (1 << TOP_BITS) - 1;

impl<V: MulVector> FieldFactor<V> {
    /// Returns the same value in every lane.
    #[inline(always)]
    pub(crate) fn splat<S: MulSimd<V = V>>(simd: S, limbs: &[u64; 5]) -> Self {
        let mut own = [simd.zero(); 5];
        for (own, limb) in own.iter_mut().zip(limbs) {
            *own = simd.splat(*limb);
        }
        Self(own)
    }

    /// Wraps the limbs of a value below 2^255.
    #[inline(always)]
    pub(crate) fn from_limbs(limbs: [V; 5]) -> Self {
        Self(limbs)
    }

    /// Returns the limbs, of which the low 52 bits count.
    #[inline(always)]
    pub(crate) fn limbs(&self) -> &[V; 5] {
        &self.0
    }

    /// Converts a value below 2^255 from four words.
    #[inline(always)]
    pub(crate) fn from_words<S: MulSimd<V = V>>(simd: S, words: &[V; 4]) -> Self {
        Self(words::split(simd, words))
    }

    /// Returns the limbs of the canonical value, which is below p.
    #[inline(always)]
    pub(crate) fn canonical<S: MulSimd<V = V>>(&self, simd: S) -> [V; 5] {
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
    pub(crate) fn as_words<S: MulSimd<V = V>>(&self, simd: S) -> [V; 4] {
        words::join(simd, &self.canonical(simd))
    }

    /// Returns the lanes in which the value is zero.
    #[inline(always)]
    pub(crate) fn is_zero<S: MulSimd<V = V>>(&self, simd: S) -> Mask {
        let [a, b, c, d, e] = self.canonical(simd);
        (a | b | c | d | e).is_equal(simd.zero())
    }

    /// Returns the lanes in which the canonical value is odd.
    #[inline(always)]
    pub(crate) fn is_odd<S: MulSimd<V = V>>(&self, simd: S) -> Mask {
        self.canonical(simd)[0].has_any(simd.splat(1))
    }

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    #[inline(always)]
    pub(crate) fn or_if(&self, mask: Mask, yes: &Self) -> Self {
        let mut own = self.0;
        for (own, yes) in own.iter_mut().zip(&yes.0) {
            *own = own.or_if(mask, *yes);
        }
        Self(own)
    }

    /// Returns the same value as a term of sums.
    #[inline(always)]
    pub(crate) fn widen<S: MulSimd<V = V>>(&self, simd: S) -> WideSum<V> {
        let mut own = self.0;
        for limb in &mut own {
            *limb = *limb & simd.splat(LOW_52);
        }
        WideSum(own)
    }

    /// Multiplies with 59 `vpmadd52`. The limbs of the result are below 2^56.
    #[inline(always)]
    pub(crate) fn times<S: MulSimd<V = V>>(&self, simd: S, other: &Self) -> WideSum<V> {
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
    pub(crate) fn square<S: MulSimd<V = V>>(&self, simd: S) -> WideSum<V> {
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
    pub(crate) fn times_small<S: MulSimd<V = V>>(&self, simd: S, number: u64) -> WideSum<V> {
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
                WideSum(product)
            },
        )
    }

    #[inline(always)]
    fn check<S: MulSimd<V = V>>(&self, simd: S) {
        if cfg!(debug_assertions) {
            // 2^47 + 2^10 in the top limb is the bound 2^255 + 2^218 of the type.
            let top = self.0[4] & simd.splat(LOW_52);
            debug_assert_eq!(top.is_below(simd.splat((1 << TOP_BITS) + (1 << 10))), Mask::MAX);
        }
    }
}

/// Reduces ten columns to five. Each column must be below 10 * 2^52, and the topmost below 2^42.75.
#[inline(always)]
fn fold<S: MulSimd>(simd: S, mut c: [S::V; 10]) -> WideSum<S::V> {
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
    WideSum(low)
}

impl<V: MulVector> WideSum<V> {
    /// Reduces the value to a factor with one `vpmadd52`. Bits from 255 on fold by 19, and carries run once.
    #[inline(always)]
    pub(crate) fn reduce<S: MulSimd<V = V>>(&self, simd: S) -> FieldFactor<V> {
        simd.step(
            #[inline(always)]
            || {
                self.check(simd, 1 << 61);
                let [l0, l1, l2, l3, l4] = self.0;
                // 2^255 = 19 (mod p). The limbs keep their carried bits: whoever multiplies next reads 52 of them.
                let top = l4 & simd.splat(LOW_47);
                let l0 = l0.madd_lo(l4.shr::<TOP_BITS>(), simd.splat(19));
                let l1 = l1 + l0.shr::<52>();
                let l2 = l2 + l1.shr::<52>();
                let l3 = l3 + l2.shr::<52>();
                FieldFactor([l0, l1, l2, l3, top + l3.shr::<52>()])
            },
        )
    }

    /// Computes `self - other`. `other` must be a product or a sum of up to five.
    #[inline(always)]
    pub(crate) fn minus<S: MulSimd<V = V>>(&self, simd: S, other: &Self) -> Self {
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
    pub(crate) fn splat<S: MulSimd<V = V>>(simd: S, limbs: &[u64; 5]) -> Self {
        Self(FieldFactor::splat(simd, limbs).0)
    }

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    #[inline(always)]
    pub(crate) fn or_if(&self, mask: Mask, yes: &Self) -> Self {
        Self(FieldFactor(self.0).or_if(mask, &FieldFactor(yes.0)).0)
    }

    #[inline(always)]
    fn check<S: MulSimd<V = V>>(&self, simd: S, bound: u64) {
        if cfg!(debug_assertions) {
            for limb in self.0 {
                debug_assert_eq!(limb.is_below(simd.splat(bound)), Mask::MAX);
            }
        }
    }
}

impl<V: MulVector> Add for WideSum<V> {
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
