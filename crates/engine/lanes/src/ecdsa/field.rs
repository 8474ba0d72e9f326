//! The fields of coordinates. The representation of an element depends on the CPU: [`MontgomeryRing`] with limbs of 52
//! bits, or [`DoubleField`](super::doubles::DoubleField) with limbs in doubles.

use std::fmt::Debug;
use std::ops::{Add, Sub};

use zeroize::Zeroize;

use super::curve::CurveParams;
#[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
use super::doubles::DoubleField;
use super::element::{Element, LooseElement, ProductColumns};
use super::interleaved::{Interleaved, Masks, part};
use super::ring::{FieldModulus, MontgomeryRing};
use super::{P256, P384};
#[cfg(target_arch = "x86_64")]
use crate::simd::{FmaSimd, IfmaSimd};
use crate::simd::{LANES, MulSimd, Vector, Words};
#[cfg(any(test, feature = "portable"))]
use crate::simd::{PortableFma, PortableSimd};

/// A CPU with elements of the field of a curve.
pub(crate) trait CurveSimd<C: CurveParams<L>, const L: usize>: MulSimd {
    /// True if the curve is offered: if lanes are faster than one operation at a time.
    const IS_OFFERED: bool;

    /// True if two groups are computed side by side, because one fills the waits of the other.
    const IN_PAIRS: bool;

    /// The field in N groups of eight lanes.
    type Field<const N: usize>: CoordinateField<Self, L, N>;
}

/// The field of a curve on a CPU, in N groups of eight lanes.
pub(crate) type CurveField<S, C, const L: usize, const N: usize> = <S as CurveSimd<C, L>>::Field<N>;

/// The elements of this field.
pub(crate) type CurveElement<S, C, const L: usize, const N: usize> =
    <CurveField<S, C, L, N> as CoordinateField<S, L, N>>::Element;

/// A field of coordinates modulo p. Elements are in Montgomery form with an R of the representation.
///
/// The stored form of an element is one for all representations: the residue of `2^(52 L) x` in [0, p), in limbs of 52
/// bits.
pub(crate) trait CoordinateField<S: MulSimd, const L: usize, const N: usize>:
    Copy + Debug + Send + Sync + 'static
{
    /// A factor, and a term.
    type Element: Copy + Debug + Send + Sync + 'static + Zeroize;

    /// A sum of a few terms before its carries.
    type Loose: Copy + Add<Output = Self::Loose> + Sub<Output = Self::Loose>;

    /// A sum of products before its reduction.
    type Columns: Copy;

    /// Returns the field.
    fn new(simd: S) -> Self;

    /// Returns the CPU.
    fn simd(self) -> S;

    /// Returns the same element in every lane, from its stored form.
    fn splat(self, stored: &[u64; L]) -> Self::Element;

    /// Returns one element per lane, from their stored forms.
    fn load_stored(self, stored: &[[S::V; L]; N]) -> Self::Element;

    /// Replaces the elements of group `n` by those with these stored forms.
    fn set_group(self, a: &mut Self::Element, n: usize, stored: &[S::V; L]);

    /// Returns the stored forms.
    fn stored(self, a: &Self::Element) -> [[S::V; L]; N];

    /// Brings plain integers below 2^(52 L) into the field.
    fn enter(self, plain: &Element<S::V, L, N>) -> Self::Element;

    /// Returns the residues in [0, p).
    fn leave(self, a: &Self::Element) -> Element<S::V, L, N>;

    /// Returns zero.
    fn zero(self) -> Self::Element;

    /// Returns one.
    fn one(self) -> Self::Element;

    /// Returns the lanes in which the element is zero.
    fn is_zero(self, a: &Self::Element) -> Masks<N>;

    /// Returns `yes` in lanes whose mask bit is set, and `no` in the others.
    fn select(self, mask: Masks<N>, no: &Self::Element, yes: &Self::Element) -> Self::Element;

    /// Returns in each lane the element of the lane `distance` further.
    fn turn(self, a: &Self::Element, distance: usize) -> Self::Element;

    /// Returns an element as a term.
    fn loose(self, a: &Self::Element) -> Self::Loose;

    /// Multiplies by `2^BITS`.
    fn shl<const BITS: u32>(self, a: Self::Loose) -> Self::Loose;

    /// Computes `a - b` in lanes whose mask bit is set, and `a + b` in the others.
    fn sub_or_add(self, a: Self::Loose, mask: Masks<N>, b: Self::Loose) -> Self::Loose;

    /// Computes `a b`.
    fn times(self, a: &Self::Element, b: &Self::Element) -> Self::Loose;

    /// Computes `a^2`.
    fn squared(self, a: &Self::Element) -> Self::Loose;

    /// Computes `a b` before its reduction.
    fn product(self, a: &Self::Element, b: &Self::Element) -> Self::Columns;

    /// Computes `-2^BITS a^2` before its reduction.
    fn negated_square<const BITS: u32>(self, a: &Self::Element) -> Self::Columns;

    /// Computes `columns + a b`.
    fn times_onto(self, columns: Self::Columns, a: &Self::Element, b: &Self::Element) -> Self::Loose;

    /// Returns a value in [0, R) as an element.
    fn carry(self, a: Self::Loose) -> Self::Element;

    /// Computes `a + K p`, which must lie in [0, R). Representations with signs compute `a`.
    fn carry_plus<const K: u64>(self, a: Self::Loose) -> Self::Element;

    /// Returns the same residue as a value near [0, p). The value must be within 31 p of zero.
    fn reduce_weakly(self, a: Self::Loose) -> Self::Element;

    /// Replaces each of `all` by its inverse. The time is the same for all values. No value may be zero.
    fn invert_all(self, all: &mut [Self::Element]);

    /// Replaces each of `all` by its inverse. The values must be public and not zero.
    fn invert_all_public(self, all: &mut [Self::Element]);

    /// Computes `a b`.
    #[inline(always)]
    fn mul(self, a: &Self::Element, b: &Self::Element) -> Self::Element {
        self.carry(self.times(a, b))
    }

    /// Replaces `a` by `a b`.
    #[inline(always)]
    fn replace_by_product(self, a: &mut Self::Element, b: &Self::Element) {
        *a = self.mul(a, b);
    }

    /// Computes `a^2`.
    #[inline(always)]
    fn sqr(self, a: &Self::Element) -> Self::Element {
        self.carry(self.squared(a))
    }

    /// Loads one element per lane from its stored form.
    #[inline(always)]
    fn load(self, limbs: [&[Words; L]; N]) -> Self::Element {
        let mut stored = [[self.simd().zero(); L]; N];
        for (stored, limbs) in stored.iter_mut().zip(limbs) {
            for (limb, words) in stored.iter_mut().zip(limbs) {
                *limb = self.simd().load(words);
            }
        }
        self.load_stored(&stored)
    }

    /// Returns the stored form of the first lane.
    #[inline(always)]
    fn first_lane(self, a: &Self::Element) -> [u64; L] {
        self.stored(a)[0].map(|limb| limb.words()[0])
    }
}

impl<S: MulSimd, F: FieldModulus<L>, const L: usize, const N: usize> CoordinateField<S, L, N>
    for MontgomeryRing<S, F, L, N>
{
    type Element = Element<S::V, L, N>;
    type Loose = LooseElement<S::V, L, N>;
    type Columns = ProductColumns<S::V, L, N>;

    #[inline(always)]
    fn new(simd: S) -> Self {
        Self::new(simd)
    }

    #[inline(always)]
    fn simd(self) -> S {
        self.simd
    }

    #[inline(always)]
    fn splat(self, stored: &[u64; L]) -> Self::Element {
        self.splat(stored)
    }

    #[inline(always)]
    fn load_stored(self, stored: &[[S::V; L]; N]) -> Self::Element {
        let mut element = self.zero();
        for (limb, interleaved) in element.0.iter_mut().enumerate() {
            for (n, stored) in stored.iter().enumerate() {
                interleaved.0[n] = stored[limb];
            }
        }
        element
    }

    #[inline(always)]
    fn set_group(self, a: &mut Self::Element, n: usize, stored: &[S::V; L]) {
        for (limb, stored) in a.0.iter_mut().zip(stored) {
            limb.0[n] = *stored;
        }
    }

    #[inline(always)]
    fn stored(self, a: &Self::Element) -> [[S::V; L]; N] {
        let a = self.below_modulus(a);
        let mut stored = [[self.simd.zero(); L]; N];
        for (n, stored) in stored.iter_mut().enumerate() {
            for (limb, to) in stored.iter_mut().enumerate() {
                *to = a.0[limb].0[n];
            }
        }
        stored
    }

    #[inline(always)]
    fn enter(self, plain: &Element<S::V, L, N>) -> Self::Element {
        self.enter(plain)
    }

    #[inline(always)]
    fn leave(self, a: &Self::Element) -> Element<S::V, L, N> {
        self.leave(a)
    }

    #[inline(always)]
    fn zero(self) -> Self::Element {
        self.zero()
    }

    #[inline(always)]
    fn one(self) -> Self::Element {
        self.one()
    }

    #[inline(always)]
    fn is_zero(self, a: &Self::Element) -> Masks<N> {
        self.is_zero(&self.leave(a))
    }

    #[inline(always)]
    fn select(self, mask: Masks<N>, no: &Self::Element, yes: &Self::Element) -> Self::Element {
        self.select(mask, no, yes)
    }

    #[inline(always)]
    fn turn(self, a: &Self::Element, distance: usize) -> Self::Element {
        let mut turned = *a;
        for limb in &mut turned.0 {
            for vector in &mut limb.0 {
                let words: Words = vector.words();
                *vector = self.simd.load(&std::array::from_fn(|lane| words[(lane + distance) % LANES]));
            }
        }
        turned
    }

    #[inline(always)]
    fn loose(self, a: &Self::Element) -> Self::Loose {
        a.loose()
    }

    #[inline(always)]
    fn shl<const BITS: u32>(self, a: Self::Loose) -> Self::Loose {
        a.shl::<BITS>()
    }

    #[inline(always)]
    fn sub_or_add(self, a: Self::Loose, mask: Masks<N>, b: Self::Loose) -> Self::Loose {
        a.sub_or_add(mask, b)
    }

    #[inline(always)]
    fn times(self, a: &Self::Element, b: &Self::Element) -> Self::Loose {
        self.times(a, b)
    }

    #[inline(always)]
    fn squared(self, a: &Self::Element) -> Self::Loose {
        self.squared(a)
    }

    #[inline(always)]
    fn product(self, a: &Self::Element, b: &Self::Element) -> Self::Columns {
        self.product(a, b)
    }

    #[inline(always)]
    fn negated_square<const BITS: u32>(self, a: &Self::Element) -> Self::Columns {
        self.square(a).negated_shl::<BITS>(self.word(0))
    }

    #[inline(always)]
    fn times_onto(self, columns: Self::Columns, a: &Self::Element, b: &Self::Element) -> Self::Loose {
        self.times_onto(columns, a, b)
    }

    #[inline(always)]
    fn carry(self, a: Self::Loose) -> Self::Element {
        self.carry(a)
    }

    #[inline(always)]
    fn carry_plus<const K: u64>(self, a: Self::Loose) -> Self::Element {
        self.carry_plus::<K>(a)
    }

    #[inline(always)]
    fn reduce_weakly(self, a: Self::Loose) -> Self::Element {
        self.reduce_weakly(a)
    }

    fn invert_all(self, all: &mut [Self::Element]) {
        self.invert_all(all);
    }

    fn invert_all_public(self, all: &mut [Self::Element]) {
        self.invert_all_public(all);
    }

    #[inline(always)]
    fn load(self, limbs: [&[Words; L]; N]) -> Self::Element {
        self.load(limbs)
    }

    #[inline(always)]
    fn first_lane(self, a: &Self::Element) -> [u64; L] {
        part::<S::V, L, N, 1>(&a.0, 0).map(|limb: Interleaved<S::V, 1>| limb.0[0].words()[0])
    }
}

/// Implements [`CurveSimd`] by limbs of 52 bits, for every curve.
macro_rules! curves_of_limbs {
    ($simd:ty) => {
        impl<C: $crate::ecdsa::curve::CurveParams<L>, const L: usize> $crate::ecdsa::field::CurveSimd<C, L>
            for $simd
        {
            const IS_OFFERED: bool = true;
            // On the portable leaf two groups gain nothing and double the code.
            const IN_PAIRS: bool =
                <<Self as $crate::simd::BlindSimd>::V as $crate::simd::BlindVector>::UNROLLS;
            type Field<const N: usize> = $crate::ecdsa::ring::MontgomeryRing<Self, C::Field, L, N>;
        }
    };
}

/// Implements [`CurveSimd`] by doubles for P-256.
macro_rules! curves_of_doubles {
    ($simd:ty) => {
        impl CurveSimd<P256, 5> for $simd {
            const IS_OFFERED: bool = true;
            const IN_PAIRS: bool = false;
            type Field<const N: usize> = DoubleField<Self, N>;
        }

        impl CurveSimd<P384, 8> for $simd {
            // By count nine limbs gain hardly anything over the multiplier of words.
            const IS_OFFERED: bool = false;
            const IN_PAIRS: bool = false;
            type Field<const N: usize> = MontgomeryRing<Self, <P384 as CurveParams<8>>::Field, 8, N>;
        }
    };
}

#[cfg(feature = "measure")]
pub(crate) use curves_of_limbs;

#[cfg(target_arch = "x86_64")]
curves_of_limbs!(IfmaSimd);
#[cfg(any(test, feature = "portable"))]
curves_of_limbs!(PortableSimd);
#[cfg(target_arch = "x86_64")]
curves_of_doubles!(FmaSimd);
#[cfg(any(test, feature = "portable"))]
curves_of_doubles!(PortableFma);
