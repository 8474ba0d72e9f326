//! Arithmetic modulo a prime in eight lanes, radix 2^52, in Montgomery form. `docs/math/ecdsa.md` has bounds and counts.
//!
//! | type | limbs | what it is good for |
//! |---|---|---|
//! | [`Element`] | each below 2^52 | a factor; a term |
//! | [`Loose`] | signed, of at most 60 bits | a sum of a few terms whose carries have not moved yet |
//! | [`Wide`] | 2L signed columns of at most 62 bits | a sum of products that has not been reduced |

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Sub};

use zeroize::Zeroize;

use super::constants::{LOW_52, multiple, negated_inverse, shifted, small};
use super::side::{Masks, Side, not, part, put};
use crate::simd::{Mask, Simd, Vector, Words};

/// An odd modulus of L limbs, and how products are reduced by it. R is 2^(52 L).
pub(crate) trait Modulus<const L: usize>: Copy + fmt::Debug + Send + Sync + 'static {
    /// The modulus m.
    const LIMBS: [u64; L];
    /// `-1/m mod 2^52`.
    const NEGATED_INVERSE: u64 = negated_inverse(Self::LIMBS[0]);
    /// `R mod m`: one in Montgomery form.
    const ONE: [u64; L] = shifted(small(1), 52 * L, &Self::LIMBS);
    /// `R^2 mod m`: what brings a factor into Montgomery form.
    const R2: [u64; L] = shifted(Self::ONE, 52 * L, &Self::LIMBS);

    /// Montgomery reduction: `(wide + q m) / R` with q below R, so a value in `(wide/R, wide/R + m)`.
    #[inline(always)]
    fn reduce<S: Simd, const N: usize>(simd: S, mut wide: Wide<S::V, L, N>) -> Loose<S::V, L, N> {
        let (zero, inverse) = (Side::splat(simd, 0), Side::splat(simd, Self::NEGATED_INVERSE));
        rows::<S::V, L>(
            #[inline(always)]
            |row| {
                let digit = zero.madd_lo(wide.at(row), inverse);
                for limb in 0..L {
                    let word = Side::splat(simd, Self::LIMBS[limb]);
                    wide.set(row + limb, wide.at(row + limb).madd_lo(digit, word));
                    wide.set(row + limb + 1, wide.at(row + limb + 1).madd_hi(digit, word));
                }
                wide.add(row + 1, wide.at(row).sar::<52>());
            },
        );
        Loose(wide.high)
    }
}

/// A modulus of coordinates, whose differences are brought back into bounds.
pub(crate) trait Field<const L: usize>: Modulus<L> {
    /// The same residue for a value of either sign within 31 m: positive, and below `m (1 + 2^-8)`.
    fn settle<S: Simd, const N: usize>(simd: S, loose: Loose<S::V, L, N>) -> Element<S::V, L, N>;
}

/// Limbs below 2^52.
#[derive(Clone, Copy)]
pub(crate) struct Element<V, const L: usize, const N: usize>(pub(crate) [Side<V, N>; L]);

/// Signed limbs whose carries have not moved.
#[derive(Clone, Copy)]
pub(crate) struct Loose<V, const L: usize, const N: usize>(pub(crate) [Side<V, N>; L]);

/// Columns of products.
#[derive(Clone, Copy)]
pub(crate) struct Wide<V, const L: usize, const N: usize> {
    pub(crate) low: [Side<V, N>; L],
    pub(crate) high: [Side<V, N>; L],
}

/// The integers modulo M on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring<S, M, const L: usize, const N: usize> {
    pub(crate) simd: S,
    modulus: PhantomData<M>,
}

impl<S: Simd, M: Modulus<L>, const L: usize, const N: usize> Ring<S, M, L, N> {
    /// Whether the N parts take turns by whole steps, in an order that the compiler may not change: it would mix them and
    /// spill. One part's multiplications run while the other's carries wait, because the CPU looks that far ahead. It does not
    /// past a step of eight limbs, so there the instructions are mixed.
    const TURNS: bool = L <= 5;

    #[inline(always)]
    pub(crate) fn new(simd: S) -> Self {
        Self { simd, modulus: PhantomData }
    }

    /// The same integer in every lane.
    #[inline(always)]
    pub(crate) fn splat(self, limbs: &[u64; L]) -> Element<S::V, L, N> {
        let mut element = self.zero();
        for (limb, word) in element.0.iter_mut().zip(limbs) {
            *limb = self.word(*word);
        }
        element
    }

    /// An integer per lane.
    #[inline(always)]
    pub(crate) fn load(self, limbs: [&[Words; L]; N]) -> Element<S::V, L, N> {
        let mut element = self.zero();
        for n in 0..N {
            for (limb, words) in element.0.iter_mut().zip(limbs[n]) {
                limb.0[n] = self.simd.load(words);
            }
        }
        element
    }

    /// The same word in every lane.
    #[inline(always)]
    pub(crate) fn word(self, word: u64) -> Side<S::V, N> {
        Side::splat(self.simd, word)
    }

    #[inline(always)]
    pub(crate) fn zero(self) -> Element<S::V, L, N> {
        Element([self.word(0); L])
    }

    /// One in Montgomery form.
    #[inline(always)]
    pub(crate) fn one(self) -> Element<S::V, L, N> {
        self.splat(&M::ONE)
    }

    /// `a b / R`, below `(ab / (R m) + 1) m`.
    #[inline(always)]
    pub(crate) fn mul(self, a: &Element<S::V, L, N>, b: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.carry(self.times(a, b))
    }

    /// `a^2 / R`, bounded as a product.
    #[inline(always)]
    pub(crate) fn sqr(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.carry(self.squared(a))
    }

    /// `a b / R`.
    #[inline(always)]
    pub(crate) fn times(self, a: &Element<S::V, L, N>, b: &Element<S::V, L, N>) -> Loose<S::V, L, N> {
        self.times_onto(self.nothing(), a, b)
    }

    /// `(wide + a b) / R`.
    #[inline(always)]
    pub(crate) fn times_onto(
        self,
        wide: Wide<S::V, L, N>,
        a: &Element<S::V, L, N>,
        b: &Element<S::V, L, N>,
    ) -> Loose<S::V, L, N> {
        if Self::TURNS { self.times_onto_by::<1>(wide, a, b) } else { self.times_onto_by::<N>(wide, a, b) }
    }

    #[inline(always)]
    fn times_onto_by<const K: usize>(
        self,
        wide: Wide<S::V, L, N>,
        a: &Element<S::V, L, N>,
        b: &Element<S::V, L, N>,
    ) -> Loose<S::V, L, N> {
        let mut loose = a.loose();
        for n in (0..N).step_by(K) {
            let own = self.simd.step(
                #[inline(always)]
                || M::reduce(self.simd, products::<S, L, K>(self.simd, wide.part(n), &a.part(n), &b.part(n))),
            );
            put(&mut loose.0, n, &own.0);
        }
        loose
    }

    /// `a^2 / R`.
    #[inline(always)]
    pub(crate) fn squared(self, a: &Element<S::V, L, N>) -> Loose<S::V, L, N> {
        if Self::TURNS { self.squared_by::<1>(a) } else { self.squared_by::<N>(a) }
    }

    #[inline(always)]
    fn squared_by<const K: usize>(self, a: &Element<S::V, L, N>) -> Loose<S::V, L, N> {
        let mut loose = a.loose();
        for n in (0..N).step_by(K) {
            let own = self.simd.step(
                #[inline(always)]
                || M::reduce(self.simd, square::<S, L, K>(self.simd, &a.part(n))),
            );
            put(&mut loose.0, n, &own.0);
        }
        loose
    }

    /// `wide / R`.
    #[inline(always)]
    fn reduce(self, wide: Wide<S::V, L, N>) -> Loose<S::V, L, N> {
        if Self::TURNS { self.reduce_by::<1>(wide) } else { self.reduce_by::<N>(wide) }
    }

    #[inline(always)]
    fn reduce_by<const K: usize>(self, wide: Wide<S::V, L, N>) -> Loose<S::V, L, N> {
        let mut loose = Loose(wide.low);
        for n in (0..N).step_by(K) {
            let own = self.simd.step(
                #[inline(always)]
                || M::reduce::<S, K>(self.simd, wide.part(n)),
            );
            put(&mut loose.0, n, &own.0);
        }
        loose
    }

    /// `a b`.
    #[inline(always)]
    pub(crate) fn product(self, a: &Element<S::V, L, N>, b: &Element<S::V, L, N>) -> Wide<S::V, L, N> {
        if Self::TURNS { self.product_by::<1>(a, b) } else { self.product_by::<N>(a, b) }
    }

    #[inline(always)]
    fn product_by<const K: usize>(
        self,
        a: &Element<S::V, L, N>,
        b: &Element<S::V, L, N>,
    ) -> Wide<S::V, L, N> {
        let mut wide = self.nothing();
        for n in (0..N).step_by(K) {
            let own = self.simd.step(
                #[inline(always)]
                || products::<S, L, K>(self.simd, wide.part(n), &a.part(n), &b.part(n)),
            );
            wide.put(n, &own);
        }
        wide
    }

    /// `a^2`: products of different limbs once, doubled, and the squares of limbs.
    #[inline(always)]
    pub(crate) fn square(self, a: &Element<S::V, L, N>) -> Wide<S::V, L, N> {
        if Self::TURNS { self.square_by::<1>(a) } else { self.square_by::<N>(a) }
    }

    #[inline(always)]
    fn square_by<const K: usize>(self, a: &Element<S::V, L, N>) -> Wide<S::V, L, N> {
        let mut wide = self.nothing();
        for n in (0..N).step_by(K) {
            let own = self.simd.step(
                #[inline(always)]
                || square::<S, L, K>(self.simd, &a.part(n)),
            );
            wide.put(n, &own);
        }
        wide
    }

    /// Moves the carries of a value in [0, R).
    #[inline(always)]
    pub(crate) fn carry(self, loose: Loose<S::V, L, N>) -> Element<S::V, L, N> {
        if Self::TURNS { self.carry_by::<1>(loose) } else { self.carry_by::<N>(loose) }
    }

    #[inline(always)]
    fn carry_by<const K: usize>(self, loose: Loose<S::V, L, N>) -> Element<S::V, L, N> {
        let mut element = Element(loose.0);
        for n in (0..N).step_by(K) {
            let own = self.simd.step(
                #[inline(always)]
                || carry::<S, L, K>(self.simd, loose.part(n)),
            );
            put(&mut element.0, n, &own.0);
        }
        element
    }

    #[inline(always)]
    fn nothing(self) -> Wide<S::V, L, N> {
        let zeros = [self.word(0); L];
        Wide { low: zeros, high: zeros }
    }

    /// `loose + K m`, which must lie in [0, R).
    #[inline(always)]
    pub(crate) fn carry_plus<const K: u64>(self, loose: Loose<S::V, L, N>) -> Element<S::V, L, N> {
        self.carry(loose + self.splat(&const { multiple(&M::LIMBS, K) }))
    }

    /// Into Montgomery form; for values below R.
    #[inline(always)]
    pub(crate) fn enter(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.mul(a, &self.splat(&M::R2))
    }

    /// Out of Montgomery form: the residue in [0, m).
    #[inline(always)]
    pub(crate) fn leave(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.below_modulus(&self.carry(self.reduce(Wide { low: a.0, ..self.nothing() })))
    }

    /// The residue in [0, m) of a value below 2 m.
    #[inline(always)]
    pub(crate) fn below_modulus(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        let (less, is_below) = self.minus_modulus(a);
        self.select(is_below, &less, a)
    }

    /// Lanes in which a plain value is below m.
    #[inline(always)]
    pub(crate) fn is_below_modulus(self, a: &Element<S::V, L, N>) -> Masks<N> {
        self.minus_modulus(a).1
    }

    #[inline(always)]
    fn minus_modulus(self, a: &Element<S::V, L, N>) -> (Element<S::V, L, N>, Masks<N>) {
        let mut less = (a.loose() - self.splat(&M::LIMBS)).0;
        propagate(self.simd, &mut less);
        let is_below = less[L - 1].has_any(self.word(1 << 63));
        (Element(less), is_below)
    }

    /// Lanes in which all limbs are zero.
    #[inline(always)]
    pub(crate) fn is_zero(self, a: &Element<S::V, L, N>) -> Masks<N> {
        let mut any = a.0[0];
        for limb in &a.0[1..] {
            any = any | *limb;
        }
        any.is_equal(self.word(0))
    }

    /// `yes` where the mask is set, `no` elsewhere.
    #[inline(always)]
    pub(crate) fn select(
        self,
        mask: Masks<N>,
        no: &Element<S::V, L, N>,
        yes: &Element<S::V, L, N>,
    ) -> Element<S::V, L, N> {
        let mut chosen = *no;
        for (limb, yes) in chosen.0.iter_mut().zip(&yes.0) {
            *limb = limb.or_if(mask, *yes);
        }
        chosen
    }
}

impl<S: Simd, F: Field<L>, const L: usize, const N: usize> Ring<S, F, L, N> {
    /// See [`Field::settle`].
    #[inline(always)]
    pub(crate) fn settle(self, loose: Loose<S::V, L, N>) -> Element<S::V, L, N> {
        if Self::TURNS { self.settle_by::<1>(loose) } else { self.settle_by::<N>(loose) }
    }

    #[inline(always)]
    fn settle_by<const K: usize>(self, loose: Loose<S::V, L, N>) -> Element<S::V, L, N> {
        let mut element = Element(loose.0);
        for n in (0..N).step_by(K) {
            let own = self.simd.step(
                #[inline(always)]
                || F::settle::<S, K>(self.simd, loose.part(n)),
            );
            put(&mut element.0, n, &own.0);
        }
        element
    }
}

/// `wide + a b`.
#[inline(always)]
fn products<S: Simd, const L: usize, const N: usize>(
    simd: S,
    wide: Wide<S::V, L, N>,
    a: &Element<S::V, L, N>,
    b: &Element<S::V, L, N>,
) -> Wide<S::V, L, N> {
    let mut halves = Halves::new(simd, wide);
    rows::<S::V, L>(
        #[inline(always)]
        |i| {
            for j in 0..L {
                halves.add_product(i + j, a.0[i], b.0[j]);
            }
        },
    );
    halves.sum()
}

/// `a^2`.
#[inline(always)]
fn square<S: Simd, const L: usize, const N: usize>(simd: S, a: &Element<S::V, L, N>) -> Wide<S::V, L, N> {
    let zeros = [Side::splat(simd, 0); L];
    let mut halves = Halves::new(simd, Wide { low: zeros, high: zeros });
    rows::<S::V, L>(
        #[inline(always)]
        |i| {
            for j in i + 1..L {
                halves.add_product(i + j, a.0[i], a.0[j]);
            }
        },
    );
    let mut wide = halves.sum();
    for column in 1..2 * L - 1 {
        wide.add(column, wide.at(column));
    }
    for i in 0..L {
        wide.set(2 * i, wide.at(2 * i).madd_lo(a.0[i], a.0[i]));
        wide.set(2 * i + 1, wide.at(2 * i + 1).madd_hi(a.0[i], a.0[i]));
    }
    wide
}

/// Columns as products gather. Where there are registers for it, high halves have columns of their own, which makes the longest
/// chain of multiply-adds half as long.
struct Halves<V, const L: usize, const N: usize> {
    wide: Wide<V, L, N>,
    above: Wide<V, L, N>,
}

impl<V: Vector, const L: usize, const N: usize> Halves<V, L, N> {
    const APART: bool = L <= 5;

    #[inline(always)]
    fn new<S: Simd<V = V>>(simd: S, wide: Wide<V, L, N>) -> Self {
        let zeros = [Side::splat(simd, 0); L];
        Self { wide, above: Wide { low: zeros, high: zeros } }
    }

    #[inline(always)]
    fn add_product(&mut self, column: usize, a: Side<V, N>, b: Side<V, N>) {
        self.wide.set(column, self.wide.at(column).madd_lo(a, b));
        let (columns, at) =
            if Self::APART { (&mut self.above, column) } else { (&mut self.wide, column + 1) };
        columns.set(at, columns.at(at).madd_hi(a, b));
    }

    #[inline(always)]
    fn sum(mut self) -> Wide<V, L, N> {
        if Self::APART {
            for column in 0..2 * L - 1 {
                self.wide.add(column + 1, self.above.at(column));
            }
        }
        self.wide
    }
}

/// Calls `row` with 0 to L-1. Written out, because the compiler unrolls no loop of that size, and only then are columns
/// registers.
#[inline(always)]
pub(crate) fn rows<V: Vector, const L: usize>(mut row: impl FnMut(usize)) {
    if !V::UNROLLS {
        (0..L).for_each(row);
        return;
    }
    const { assert!(L == 5 || L == 8, "a number of limbs that is not written out") };
    row(0);
    row(1);
    row(2);
    row(3);
    row(4);
    if L == 8 {
        row(5);
        row(6);
        row(7);
    }
}

/// Moves the carries of a value in [0, R).
#[inline(always)]
pub(crate) fn carry<S: Simd, const L: usize, const N: usize>(
    simd: S,
    mut loose: Loose<S::V, L, N>,
) -> Element<S::V, L, N> {
    propagate(simd, &mut loose.0);
    debug_assert!(
        loose.0[L - 1].is_below(Side::splat(simd, 1 << 52)) == [Mask::MAX; N],
        "a value is negative or does not fit its limbs"
    );
    Element(loose.0)
}

/// Moves carries upwards; the top limb keeps what is left, with its sign.
#[inline(always)]
fn propagate<S: Simd, const L: usize, const N: usize>(simd: S, limbs: &mut [Side<S::V, N>; L]) {
    let low = Side::splat(simd, LOW_52);
    for limb in 0..L - 1 {
        limbs[limb + 1] = limbs[limb + 1] + limbs[limb].sar::<52>();
        limbs[limb] = limbs[limb] & low;
    }
}

impl<V: Vector, const L: usize, const N: usize> Element<V, L, N> {
    #[inline(always)]
    pub(crate) fn loose(&self) -> Loose<V, L, N> {
        Loose(self.0)
    }

    /// K parts from `n` on.
    #[inline(always)]
    pub(crate) fn part<const K: usize>(&self, n: usize) -> Element<V, L, K> {
        Element(part(&self.0, n))
    }

    /// Replaces K parts from `n` on.
    #[inline(always)]
    pub(crate) fn put<const K: usize>(&mut self, n: usize, own: &Element<V, L, K>) {
        put(&mut self.0, n, &own.0);
    }
}

impl<V: Vector, const L: usize, const N: usize> Loose<V, L, N> {
    #[inline(always)]
    fn part<const K: usize>(&self, n: usize) -> Loose<V, L, K> {
        Loose(part(&self.0, n))
    }

    /// `2^BITS` times the value.
    #[inline(always)]
    pub(crate) fn shl<const BITS: u32>(mut self) -> Self {
        for limb in &mut self.0 {
            *limb = limb.shl::<BITS>();
        }
        self
    }

    /// `self - other` where the mask is set, `self + other` elsewhere.
    #[inline(always)]
    pub(crate) fn sub_or_add(mut self, mask: Masks<N>, other: Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = limb.sub_if(mask, other).add_if(not(mask), other);
        }
        self
    }
}

impl<V: Vector, const L: usize, const N: usize> Wide<V, L, N> {
    #[inline(always)]
    fn part<const K: usize>(&self, n: usize) -> Wide<V, L, K> {
        Wide { low: part(&self.low, n), high: part(&self.high, n) }
    }

    #[inline(always)]
    fn put<const K: usize>(&mut self, n: usize, own: &Wide<V, L, K>) {
        put(&mut self.low, n, &own.low);
        put(&mut self.high, n, &own.high);
    }

    #[inline(always)]
    pub(crate) fn at(&self, column: usize) -> Side<V, N> {
        if column < L { self.low[column] } else { self.high[column - L] }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, column: usize, value: Side<V, N>) {
        if column < L {
            self.low[column] = value;
        } else {
            self.high[column - L] = value;
        }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, column: usize, value: Side<V, N>) {
        self.set(column, self.at(column) + value);
    }

    #[inline(always)]
    pub(crate) fn sub(&mut self, column: usize, value: Side<V, N>) {
        self.set(column, self.at(column) - value);
    }

    /// `-2^BITS` times the value.
    #[inline(always)]
    pub(crate) fn negated_shl<const BITS: u32>(mut self, zero: Side<V, N>) -> Self {
        for limb in 0..L {
            self.low[limb] = zero - self.low[limb].shl::<BITS>();
            self.high[limb] = zero - self.high[limb].shl::<BITS>();
        }
        self
    }
}

impl<V: Vector, const L: usize, const N: usize> Add for Loose<V, L, N> {
    type Output = Self;

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = *limb + other;
        }
        self
    }
}

impl<V: Vector, const L: usize, const N: usize> Sub for Loose<V, L, N> {
    type Output = Self;

    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = *limb - other;
        }
        self
    }
}

impl<V: Vector, const L: usize, const N: usize> Add<Element<V, L, N>> for Loose<V, L, N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Element<V, L, N>) -> Self {
        self + other.loose()
    }
}

impl<V: Vector, const L: usize, const N: usize> Sub<Element<V, L, N>> for Loose<V, L, N> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Element<V, L, N>) -> Self {
        self - other.loose()
    }
}

impl<V: Vector, const L: usize, const N: usize> Zeroize for Element<V, L, N> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Lanes may hold secrets.
impl<V, const L: usize, const N: usize> fmt::Debug for Element<V, L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Element({L} limbs)")
    }
}
