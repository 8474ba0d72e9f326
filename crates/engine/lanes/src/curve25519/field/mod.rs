//! Integers modulo p = 2^255 - 19, one per lane. The representation of an element depends on the CPU.
//!
//! | module | elements |
//! |---|---|
//! | `limbs` | five limbs of 52 bits, for products of 52 bits |
//! | `doubles` | six signed limbs of 43 bits in doubles, for fused multiply-adds |
//!
//! A factor is ready to be multiplied. A product, or a sum of products, is a [`WideSum`] until it becomes a factor. So
//! carries run once per factor, for any number of terms.

#[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
mod doubles;
mod limbs;

use std::fmt::Debug;
use std::ops::{Add, Deref};

use zeroize::Zeroize;

pub(crate) use self::limbs::{FactorLimbs, LimbSum};
#[cfg(any(target_arch = "x86_64", test, feature = "portable"))]
use crate::simd::float::{DoubleLimbs, FloatSimd};
#[cfg(target_arch = "x86_64")]
use crate::simd::{FmaSimd, IfmaSimd};
use crate::simd::{Mask, MulSimd};
#[cfg(any(test, feature = "portable"))]
use crate::simd::{PortableFma, PortableSimd};

/// A CPU with elements of the field.
pub(crate) trait FieldSimd: MulSimd {
    /// True if halves of sums of two groups take turns: one multiplies while the carries of the other run. False if the
    /// halves lie in memory, where each is used at once.
    const TAKES_TURNS: bool;

    /// The elements that can be multiplied.
    type Factor: FieldFactor<Self>;
    /// The sums of products.
    type Sum: WideSum<Self>;
}

/// A factor of products.
pub(crate) trait FieldFactor<S: FieldSimd>: Copy + Debug + Send + Sync + 'static + Zeroize {
    /// Returns the same value below p in every lane, from limbs of 52 bits.
    fn splat(simd: S, limbs: &[u64; 5]) -> Self;

    /// Converts a value below 2^255 from limbs of 52 bits.
    fn from_limbs(simd: S, limbs: [S::V; 5]) -> Self;

    /// Converts a value below 2^255 from four words.
    fn from_words(simd: S, words: &[S::V; 4]) -> Self;

    /// Converts a value below 2^255 from four words, and returns the lanes in which it is below p.
    fn from_words_below_p(simd: S, words: &[S::V; 4]) -> (Self, Mask);

    /// Returns four factors from the words that [`FieldFactor::rows`] returned.
    fn from_rows(simd: S, rows: [[S::V; 8]; 3]) -> [Self; 4];

    /// Returns four factors as the words of three cache lines. Their content depends on the representation.
    fn rows(simd: S, factors: [&Self; 4]) -> [[S::V; 8]; 3];

    /// Returns the limbs of 52 bits of the canonical value, which is below p.
    fn canonical(&self, simd: S) -> [S::V; 5];

    /// Returns the canonical value in four words.
    fn as_words(&self, simd: S) -> [S::V; 4];

    /// Returns the lanes in which the value is zero.
    fn is_zero(&self, simd: S) -> Mask;

    /// Returns the lanes in which the canonical value is odd.
    fn is_odd(&self, simd: S) -> Mask;

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    fn or_if(&self, mask: Mask, yes: &Self) -> Self;

    /// Returns the same value as a term of sums.
    fn widen(&self, simd: S) -> S::Sum;

    /// Computes a product.
    fn times(&self, simd: S, other: &Self) -> S::Sum;

    /// Computes a square.
    fn square(&self, simd: S) -> S::Sum;

    /// Computes [`FieldFactor::times`] and stores the product. Elements in memory are stored without a copy.
    #[inline(always)]
    fn times_into(&self, simd: S, other: &Self, product: &mut S::Sum) {
        *product = self.times(simd, other);
    }

    /// Computes [`FieldFactor::square`] and stores the square.
    #[inline(always)]
    fn square_into(&self, simd: S, square: &mut S::Sum) {
        *square = self.square(simd);
    }

    /// Replaces a factor by its product with another one.
    fn replace_by_product(&mut self, simd: S, other: &Self);

    /// Replaces a factor by its square.
    fn replace_by_square(&mut self, simd: S);

    /// Multiplies by a number below 2^20.
    fn times_small(&self, simd: S, number: u64) -> S::Sum;
}

/// A product, or a sum of products.
pub(crate) trait WideSum<S: FieldSimd>:
    Copy + Debug + Send + Sync + 'static + Zeroize + Add<Output = Self>
{
    /// A factor from a sum: a reference if both are the same.
    type Settled<'a>: Deref<Target = S::Factor>;

    /// Returns the same value below p in every lane, from limbs of 52 bits.
    fn splat(simd: S, limbs: &[u64; 5]) -> Self;

    /// Returns the value as a factor. Carries always run.
    fn reduce(&self, simd: S) -> S::Factor;

    /// Returns a product, or the sum or difference of two products, as a factor. Carries run only if the representation
    /// needs them.
    fn factor(&self, simd: S) -> Self::Settled<'_>;

    /// Returns the same value, such that [`WideSum::factor`] accepts it. The value may be a sum of four products.
    fn settle(&self, simd: S) -> Self;

    /// Computes `self - other`. `other` must be a product or a sum of up to five.
    fn minus(&self, simd: S, other: &Self) -> Self;

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    fn or_if(&self, mask: Mask, yes: &Self) -> Self;

    /// Replaces a value that [`WideSum::factor`] accepts by its product with a factor.
    fn multiply_by(&mut self, simd: S, factor: &S::Factor);
}

/// The factors of a CPU.
pub(crate) type Factor<S> = <S as FieldSimd>::Factor;

/// The sums of a CPU.
pub(crate) type Sum<S> = <S as FieldSimd>::Sum;

/// Implements [`FieldSimd`] by limbs of 52 bits.
macro_rules! field_of_limbs {
    ($simd:ty) => {
        impl $crate::curve25519::field::FieldSimd for $simd {
            const TAKES_TURNS: bool = true;
            type Factor = $crate::curve25519::field::FactorLimbs<<Self as $crate::simd::BlindSimd>::V>;
            type Sum = $crate::curve25519::field::LimbSum<<Self as $crate::simd::BlindSimd>::V>;
        }
    };
}

/// Implements [`FieldSimd`] by doubles.
macro_rules! field_of_doubles {
    ($simd:ty) => {
        impl FieldSimd for $simd {
            const TAKES_TURNS: bool = false;
            type Factor = DoubleLimbs<<Self as FloatSimd>::D>;
            type Sum = DoubleLimbs<<Self as FloatSimd>::D>;
        }
    };
}

#[cfg(feature = "measure")]
pub(crate) use field_of_limbs;

#[cfg(target_arch = "x86_64")]
field_of_limbs!(IfmaSimd);
#[cfg(any(test, feature = "portable"))]
field_of_limbs!(PortableSimd);
#[cfg(target_arch = "x86_64")]
field_of_doubles!(FmaSimd);
#[cfg(any(test, feature = "portable"))]
field_of_doubles!(PortableFma);
