//! Arithmetic modulo a prime in eight lanes, radix 2^52, in Montgomery form. `docs/math/ecdsa.md` has bounds and
//! counts.

use std::fmt;
use std::marker::PhantomData;

use super::constants::{multiple, negated_inverse, shifted, small};
use super::element::{Element, LooseElement, ProductColumns};
use super::interleaved::{BlindMasks, Interleaved, set_part};
use super::kernels::{carry, products, propagate, rows, square};
use crate::simd::{BlindMulSimd, MulSimd, Words};

/// An odd modulus of L limbs, and the reduction of products by it. R is 2^(52 L).
pub(crate) trait OddModulus<const L: usize>: Copy + fmt::Debug + Send + Sync + 'static {
    /// The modulus m.
    const LIMBS: [u64; L];
    /// `-1/m mod 2^52`.
    const NEGATED_INVERSE: u64 = negated_inverse(Self::LIMBS[0]);
    /// `R mod m`: one in Montgomery form.
    const ONE: [u64; L] = shifted(small(1), 52 * L, &Self::LIMBS);
    /// `R^2 mod m`, which brings a factor into Montgomery form.
    const R2: [u64; L] = shifted(Self::ONE, 52 * L, &Self::LIMBS);

    /// Runs Montgomery's reduction: `(wide + q m) / R` with q below R, so the result is in `(wide/R, wide/R + m)`.
    #[inline(always)]
    fn reduce<S: BlindMulSimd, const N: usize>(
        simd: S,
        mut wide: ProductColumns<S::V, L, N>,
    ) -> LooseElement<S::V, L, N> {
        let (zero, inverse) = (Interleaved::splat(simd, 0), Interleaved::splat(simd, Self::NEGATED_INVERSE));
        rows::<S::V, L>(
            #[inline(always)]
            |row| {
                let digit = zero.madd_lo(wide.at(row), inverse);
                for limb in 0..L {
                    let word = Interleaved::splat(simd, Self::LIMBS[limb]);
                    wide.set(row + limb, wide.at(row + limb).madd_lo(digit, word));
                    wide.set(row + limb + 1, wide.at(row + limb + 1).madd_hi(digit, word));
                }
                // The low 52 bits of the row are zero now; only its carry is left.
                wide.add(row + 1, wide.at(row).sar::<52>());
            },
        );
        LooseElement(wide.high)
    }
}

/// A modulus of coordinates, with a cheap reduction of differences.
pub(crate) trait FieldModulus<const L: usize>: OddModulus<L> {
    /// Returns the same residue as a positive value below `m (1 + 2^-8)`. The value must be within 31 m of zero.
    fn reduce_weakly<S: BlindMulSimd, const N: usize>(
        simd: S,
        loose: LooseElement<S::V, L, N>,
    ) -> Element<S::V, L, N>;
}

/// The integers modulo M on a CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MontgomeryRing<S, M, const L: usize, const N: usize> {
    pub(crate) simd: S,
    modulus: PhantomData<M>,
}

impl<S: BlindMulSimd, M: OddModulus<L>, const L: usize, const N: usize> MontgomeryRing<S, M, L, N> {
    /// True if the N parts take turns by whole steps. The order is pinned, because the compiler would mix the steps
    /// and spill. The multiplications of one part run while the carries of the other wait, as far as the CPU looks
    /// ahead. It does not look beyond a step of eight limbs, so there the instructions are mixed.
    const TURNS: bool = L <= 5;

    #[inline(always)]
    pub(crate) fn new(simd: S) -> Self {
        Self { simd, modulus: PhantomData }
    }

    /// Returns the same integer in every lane.
    #[inline(always)]
    pub(crate) fn splat(self, limbs: &[u64; L]) -> Element<S::V, L, N> {
        let mut element = self.zero();
        for (limb, word) in element.0.iter_mut().zip(limbs) {
            *limb = self.word(*word);
        }
        element
    }

    /// Returns the same word in every lane.
    #[inline(always)]
    pub(crate) fn word(self, word: u64) -> Interleaved<S::V, N> {
        Interleaved::splat(self.simd, word)
    }

    #[inline(always)]
    pub(crate) fn zero(self) -> Element<S::V, L, N> {
        Element([self.word(0); L])
    }

    /// Returns one in Montgomery form.
    #[inline(always)]
    pub(crate) fn one(self) -> Element<S::V, L, N> {
        self.splat(&M::ONE)
    }

    /// Computes `a b / R`, below `(ab / (R m) + 1) m`.
    #[inline(always)]
    pub(crate) fn mul(self, a: &Element<S::V, L, N>, b: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.carry(self.times(a, b))
    }

    /// Computes `a^2 / R`, bounded as a product.
    #[inline(always)]
    pub(crate) fn sqr(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.carry(self.squared(a))
    }

    /// Computes `a b / R` before its carries.
    #[inline(always)]
    pub(crate) fn times(self, a: &Element<S::V, L, N>, b: &Element<S::V, L, N>) -> LooseElement<S::V, L, N> {
        self.times_onto(self.nothing(), a, b)
    }

    /// Computes `(wide + a b) / R` before its carries.
    #[inline(always)]
    pub(crate) fn times_onto(
        self,
        wide: ProductColumns<S::V, L, N>,
        a: &Element<S::V, L, N>,
        b: &Element<S::V, L, N>,
    ) -> LooseElement<S::V, L, N> {
        if Self::TURNS { self.times_onto_by::<1>(wide, a, b) } else { self.times_onto_by::<N>(wide, a, b) }
    }

    #[inline(always)]
    // K parts go through the step together: one if the parts take turns, all N if they are mixed.
    fn times_onto_by<const K: usize>(
        self,
        wide: ProductColumns<S::V, L, N>,
        a: &Element<S::V, L, N>,
        b: &Element<S::V, L, N>,
    ) -> LooseElement<S::V, L, N> {
        let mut loose = a.loose();
        for n in (0..N).step_by(K) {
            let part = self.simd.step(
                #[inline(always)]
                || M::reduce(self.simd, products::<S, L, K>(self.simd, wide.part(n), &a.part(n), &b.part(n))),
            );
            set_part(&mut loose.0, n, &part.0);
        }
        loose
    }

    /// Computes `a^2 / R` before its carries.
    #[inline(always)]
    pub(crate) fn squared(self, a: &Element<S::V, L, N>) -> LooseElement<S::V, L, N> {
        if Self::TURNS { self.squared_by::<1>(a) } else { self.squared_by::<N>(a) }
    }

    #[inline(always)]
    fn squared_by<const K: usize>(self, a: &Element<S::V, L, N>) -> LooseElement<S::V, L, N> {
        let mut loose = a.loose();
        for n in (0..N).step_by(K) {
            let part = self.simd.step(
                #[inline(always)]
                || M::reduce(self.simd, square::<S, L, K>(self.simd, &a.part(n))),
            );
            set_part(&mut loose.0, n, &part.0);
        }
        loose
    }

    /// Computes `wide / R` before its carries.
    #[inline(always)]
    fn reduce(self, wide: ProductColumns<S::V, L, N>) -> LooseElement<S::V, L, N> {
        if Self::TURNS { self.reduce_by::<1>(wide) } else { self.reduce_by::<N>(wide) }
    }

    #[inline(always)]
    fn reduce_by<const K: usize>(self, wide: ProductColumns<S::V, L, N>) -> LooseElement<S::V, L, N> {
        let mut loose = LooseElement(wide.low);
        for n in (0..N).step_by(K) {
            let part = self.simd.step(
                #[inline(always)]
                || M::reduce::<S, K>(self.simd, wide.part(n)),
            );
            set_part(&mut loose.0, n, &part.0);
        }
        loose
    }

    /// Computes `a b` as columns.
    #[inline(always)]
    pub(crate) fn product(
        self,
        a: &Element<S::V, L, N>,
        b: &Element<S::V, L, N>,
    ) -> ProductColumns<S::V, L, N> {
        if Self::TURNS { self.product_by::<1>(a, b) } else { self.product_by::<N>(a, b) }
    }

    #[inline(always)]
    fn product_by<const K: usize>(
        self,
        a: &Element<S::V, L, N>,
        b: &Element<S::V, L, N>,
    ) -> ProductColumns<S::V, L, N> {
        let mut wide = self.nothing();
        for n in (0..N).step_by(K) {
            let part = self.simd.step(
                #[inline(always)]
                || products::<S, L, K>(self.simd, wide.part(n), &a.part(n), &b.part(n)),
            );
            wide.set_part(n, &part);
        }
        wide
    }

    /// Computes `a^2` as columns: products of different limbs once and doubled, then the squares of limbs.
    #[inline(always)]
    pub(crate) fn square(self, a: &Element<S::V, L, N>) -> ProductColumns<S::V, L, N> {
        if Self::TURNS { self.square_by::<1>(a) } else { self.square_by::<N>(a) }
    }

    #[inline(always)]
    fn square_by<const K: usize>(self, a: &Element<S::V, L, N>) -> ProductColumns<S::V, L, N> {
        let mut wide = self.nothing();
        for n in (0..N).step_by(K) {
            let part = self.simd.step(
                #[inline(always)]
                || square::<S, L, K>(self.simd, &a.part(n)),
            );
            wide.set_part(n, &part);
        }
        wide
    }

    /// Runs the carries of a value in [0, R).
    #[inline(always)]
    pub(crate) fn carry(self, loose: LooseElement<S::V, L, N>) -> Element<S::V, L, N> {
        if Self::TURNS { self.carry_by::<1>(loose) } else { self.carry_by::<N>(loose) }
    }

    #[inline(always)]
    fn carry_by<const K: usize>(self, loose: LooseElement<S::V, L, N>) -> Element<S::V, L, N> {
        let mut element = Element(loose.0);
        for n in (0..N).step_by(K) {
            let part = self.simd.step(
                #[inline(always)]
                || carry::<S, L, K>(self.simd, loose.part(n)),
            );
            set_part(&mut element.0, n, &part.0);
        }
        element
    }

    #[inline(always)]
    fn nothing(self) -> ProductColumns<S::V, L, N> {
        let zeros = [self.word(0); L];
        ProductColumns { low: zeros, high: zeros }
    }

    /// Computes `loose + K m`, which must lie in [0, R).
    #[inline(always)]
    pub(crate) fn carry_plus<const K: u64>(self, loose: LooseElement<S::V, L, N>) -> Element<S::V, L, N> {
        self.carry(loose + self.splat(&const { multiple(&M::LIMBS, K) }))
    }

    /// Brings a value below R into Montgomery form.
    #[inline(always)]
    pub(crate) fn enter(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.mul(a, &self.splat(&M::R2))
    }

    /// Takes a value out of Montgomery form and returns its residue in [0, m).
    #[inline(always)]
    pub(crate) fn leave(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        self.below_modulus(&self.carry(self.reduce(ProductColumns { low: a.0, ..self.nothing() })))
    }

    /// Returns the residue in [0, m) of a value below 2 m.
    #[inline(always)]
    pub(crate) fn below_modulus(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        // Always subtracted and then selected, so the time does not show whether the value was at or above m.
        let (less, is_below) = self.minus_modulus(a);
        self.select(is_below, &less, a)
    }

    /// Returns the lanes in which a plain value is below m.
    #[inline(always)]
    pub(crate) fn is_below_modulus(self, a: &Element<S::V, L, N>) -> BlindMasks<S::V, N> {
        self.minus_modulus(a).1
    }

    #[inline(always)]
    fn minus_modulus(self, a: &Element<S::V, L, N>) -> (Element<S::V, L, N>, BlindMasks<S::V, N>) {
        let mut less = (a.loose() - self.splat(&M::LIMBS)).0;
        propagate(self.simd, &mut less);
        // The top limb keeps the sign of the difference.
        let is_below = less[L - 1].has_any(self.word(1 << 63));
        (Element(less), is_below)
    }

    /// Returns the lanes in which all limbs are zero.
    #[inline(always)]
    pub(crate) fn is_zero(self, a: &Element<S::V, L, N>) -> BlindMasks<S::V, N> {
        let mut any = a.0[0];
        for limb in &a.0[1..] {
            any = any | *limb;
        }
        any.is_equal(self.word(0))
    }

    /// Returns `yes` in lanes whose mask bit is set, and `no` in the others.
    #[inline(always)]
    pub(crate) fn select(
        self,
        mask: BlindMasks<S::V, N>,
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

impl<S: BlindMulSimd, F: FieldModulus<L>, const L: usize, const N: usize> MontgomeryRing<S, F, L, N> {
    /// As [`FieldModulus::reduce_weakly`].
    #[inline(always)]
    pub(crate) fn reduce_weakly(self, loose: LooseElement<S::V, L, N>) -> Element<S::V, L, N> {
        if Self::TURNS { self.reduce_weakly_by::<1>(loose) } else { self.reduce_weakly_by::<N>(loose) }
    }

    #[inline(always)]
    fn reduce_weakly_by<const K: usize>(self, loose: LooseElement<S::V, L, N>) -> Element<S::V, L, N> {
        let mut element = Element(loose.0);
        for n in (0..N).step_by(K) {
            let part = self.simd.step(
                #[inline(always)]
                || F::reduce_weakly::<S, K>(self.simd, loose.part(n)),
            );
            set_part(&mut element.0, n, &part.0);
        }
        element
    }
}

impl<S: MulSimd, M: OddModulus<L>, const L: usize, const N: usize> MontgomeryRing<S, M, L, N> {
    /// Loads one integer per lane.
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
}
