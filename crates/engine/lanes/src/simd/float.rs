//! Eight lanes of doubles, and products in the fields of the curves by fused multiply-adds. `docs/math/fma-fields.md`
//! proves that every operation on limbs is exact.
//!
//! The functions of this module are the kernels in Rust. They give the same limbs as the kernels in assembly, bit by
//! bit, so they are the oracle of those, and the kernels of the portable leaf.

use std::fmt::{self, Debug};
use std::ops::{Add, Sub};

use zeroize::Zeroize;

use super::{Mask, MulSimd, Vector};

/// The limbs of an element.
pub(crate) const LIMBS: usize = 6;

/// An element as limbs of doubles, lowest first.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct DoubleLimbs<D>(pub(crate) [D; LIMBS]);

/// The factors of a product.
pub(crate) type Factors<'a, D> = [&'a DoubleLimbs<D>; 2];

/// A CPU with vectors of eight doubles beside those of words.
///
/// A product is a function of its own, so elements lie in memory. A caller stores a product by
/// [`FloatSimd::multiply_25519_into`] where it belongs, or keeps it as a new variable. Any other way copies it.
pub(crate) trait FloatSimd: MulSimd {
    /// The vectors of doubles.
    type D: FloatVector;

    /// Returns the same number in every lane.
    fn double(self, number: f64) -> Self::D;

    /// Returns the numbers whose bits are in the lanes.
    fn double_of_bits(self, bits: Self::V) -> Self::D;

    /// Returns the bits of the numbers.
    fn bits(self, numbers: Self::D) -> Self::V;

    /// Multiplies modulo 2^255 - 19. The product of the largest limbs of the factors is at most `2^86 (1 + 2^-20)`. The
    /// limbs of the result are at most `2^42 (1 + 2^-24)`.
    fn multiply_25519(self, a: &DoubleLimbs<Self::D>, b: &DoubleLimbs<Self::D>) -> DoubleLimbs<Self::D>;

    /// Squares modulo 2^255 - 19. Bounds are those of a product.
    fn square_25519(self, a: &DoubleLimbs<Self::D>) -> DoubleLimbs<Self::D>;

    /// Computes [`FloatSimd::multiply_25519`] and stores the product.
    #[inline(always)]
    fn multiply_25519_into(
        self,
        a: &DoubleLimbs<Self::D>,
        b: &DoubleLimbs<Self::D>,
        product: &mut DoubleLimbs<Self::D>,
    ) {
        *product = self.multiply_25519(a, b);
    }

    /// Computes [`FloatSimd::square_25519`] and stores the square.
    #[inline(always)]
    fn square_25519_into(self, a: &DoubleLimbs<Self::D>, square: &mut DoubleLimbs<Self::D>) {
        *square = self.square_25519(a);
    }

    /// Replaces an element by its product with another one.
    #[inline(always)]
    fn multiply_25519_by(self, a: &mut DoubleLimbs<Self::D>, b: &DoubleLimbs<Self::D>) {
        *a = self.multiply_25519(a, b);
    }

    /// Replaces an element by its square.
    #[inline(always)]
    fn replace_by_square_25519(self, a: &mut DoubleLimbs<Self::D>) {
        *a = self.square_25519(a);
    }

    /// Multiplies modulo the prime of P-256 and divides by 2^264. The product of the largest limbs of the factors is at
    /// most `84 * 2^86`. The limbs of the result are at most `2^43 (1 + 2^-30)`.
    fn multiply_p256(self, a: &DoubleLimbs<Self::D>, b: &DoubleLimbs<Self::D>) -> DoubleLimbs<Self::D>;

    /// Replaces an element by [`FloatSimd::multiply_p256`] of it and another one.
    #[inline(always)]
    fn multiply_p256_by(self, a: &mut DoubleLimbs<Self::D>, b: &DoubleLimbs<Self::D>) {
        *a = self.multiply_p256(a, b);
    }

    /// Squares modulo the prime of P-256 and divides by 2^264. Bounds are those of a product.
    fn square_p256(self, a: &DoubleLimbs<Self::D>) -> DoubleLimbs<Self::D>;

    /// Computes the sum of two products modulo the prime of P-256, divided by 2^264. The bound holds for the sum of
    /// both products of largest limbs.
    fn sum_p256(self, a: Factors<'_, Self::D>, b: Factors<'_, Self::D>) -> DoubleLimbs<Self::D>;
}

/// Eight doubles. Operations round to nearest. No operation meets a denormal number, an infinity or NaN:
/// `docs/math/fma-fields.md`.
pub(crate) trait FloatVector:
    Copy + Debug + Send + Sync + 'static + Zeroize + Add<Output = Self> + Sub<Output = Self>
{
    /// Computes `self * by`.
    fn times(self, by: Self) -> Self;

    /// Computes `self * by + term` with one rounding.
    fn times_plus(self, by: Self, term: Self) -> Self;

    /// Computes `term - self * by` with one rounding.
    fn minus_times(self, by: Self, term: Self) -> Self;

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    fn or_if(self, mask: Mask, yes: Self) -> Self;
}

/// Returns `2^exponent`. Exact, which `f64::powi` does not promise to be.
pub(crate) const fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The number that rounds to an integer: a double at this size has no fraction. Its unit in the last place is 1, also
/// after integers below 2^51 are added.
pub(crate) const ROUND: f64 = 1.5 * power_of_two(52);

/// The constants of limbs of 43 bits.
pub(crate) mod of_25519 {
    use super::power_of_two;

    /// The bits of a limb.
    pub(crate) const LIMB_BITS: usize = 43;
    /// The value from which high sums start. Its unit in the last place is 2^45.
    pub(crate) const START: f64 = 1.5 * power_of_two(97);
    /// The residue 2^258 mod p.
    pub(crate) const FOLD: f64 = 152.0;
}

/// The constants of limbs of 44 bits.
pub(crate) mod of_p256 {
    /// The bits of a limb.
    pub(crate) const LIMB_BITS: usize = 44;
    /// The value from which high sums start. Its unit in the last place is 2^44.
    #[cfg(any(test, feature = "portable"))]
    pub(crate) const START: f64 = 1.5 * super::power_of_two(96);
}

/// Rounds limbs below `2^53 (1 - 2^-10)` to 43 bits, and adds what is beyond to the next.
#[inline(always)]
pub(crate) fn carry_limbs_25519<S: FloatSimd>(
    simd: S,
    DoubleLimbs(values): &DoubleLimbs<S::D>,
) -> DoubleLimbs<S::D> {
    let bits = of_25519::LIMB_BITS as i32;
    let (round, down, up) =
        (simd.double(ROUND), simd.double(power_of_two(-bits)), simd.double(power_of_two(bits)));
    let mut carries = *values;
    for carry in &mut carries {
        *carry = carry.times_plus(down, round) - round;
    }
    let mut limbs = *values;
    for at in 0..LIMBS {
        let rest = carries[at].minus_times(up, values[at]);
        limbs[at] = match at {
            0 => carries[LIMBS - 1].times_plus(simd.double(of_25519::FOLD), rest),
            _ => rest + carries[at - 1],
        };
    }
    DoubleLimbs(limbs)
}

/// Rounds limbs below 2^52 to 44 bits, and adds what is beyond to the next. The topmost limb keeps what is beyond.
#[inline(always)]
pub(crate) fn carry_limbs_p256<S: FloatSimd>(
    simd: S,
    DoubleLimbs(values): &DoubleLimbs<S::D>,
) -> DoubleLimbs<S::D> {
    let bits = of_p256::LIMB_BITS as i32;
    let (round, down, up) =
        (simd.double(ROUND), simd.double(power_of_two(-bits)), simd.double(power_of_two(bits)));
    let mut carries = *values;
    for carry in &mut carries {
        *carry = carry.times_plus(down, round) - round;
    }
    let mut limbs = *values;
    for at in 0..LIMBS {
        if at + 1 < LIMBS {
            limbs[at] = carries[at].minus_times(up, values[at]);
        }
        if at > 0 {
            limbs[at] = limbs[at] + carries[at - 1];
        }
    }
    DoubleLimbs(limbs)
}

impl<D: FloatVector> DoubleLimbs<D> {
    /// Multiplies every limb.
    #[inline(always)]
    pub(crate) fn scaled(self, by: D) -> Self {
        let mut limbs = self.0;
        for limb in &mut limbs {
            *limb = limb.times(by);
        }
        Self(limbs)
    }

    /// Returns `yes` in lanes whose mask bit is set, and `self` in the others.
    #[inline(always)]
    pub(crate) fn or_if(&self, mask: Mask, yes: &Self) -> Self {
        let mut limbs = self.0;
        for (limb, yes) in limbs.iter_mut().zip(&yes.0) {
            *limb = limb.or_if(mask, *yes);
        }
        Self(limbs)
    }

    /// Returns the largest magnitude of a limb of any lane.
    pub(crate) fn largest<S: FloatSimd<D = D>>(&self, simd: S) -> f64 {
        let limbs = self.0.iter().flat_map(|limb| simd.bits(*limb).words());
        limbs.map(|bits| f64::from_bits(bits).abs()).fold(0.0, f64::max)
    }
}

impl<D: FloatVector> Add for DoubleLimbs<D> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let mut limbs = self.0;
        for (limb, other) in limbs.iter_mut().zip(other.0) {
            *limb = *limb + other;
        }
        Self(limbs)
    }
}

impl<D: FloatVector> Sub for DoubleLimbs<D> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let mut limbs = self.0;
        for (limb, other) in limbs.iter_mut().zip(other.0) {
            *limb = *limb - other;
        }
        Self(limbs)
    }
}

impl<D: FloatVector> Zeroize for DoubleLimbs<D> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Prints no lanes, which can hold secrets.
impl<D> fmt::Debug for DoubleLimbs<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DoubleLimbs")
    }
}
