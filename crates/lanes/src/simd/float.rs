//! Eight lanes of doubles, and products in the fields of the curves by fused multiply-adds. `docs/math/fma-fields.md`
//! proves that every operation on limbs is exact.
//!
//! The functions of this module are the kernels in Rust. They give the same limbs as the kernels in assembly, bit by
//! bit, so they are the oracle of those, and the kernels of the portable leaf.

use std::fmt::Debug;
use std::ops::{Add, Sub};

use zeroize::Zeroize;

use super::{Mask, MulSimd};

/// The limbs of an element.
pub(crate) const LIMBS: usize = 6;

/// An element as limbs of doubles, lowest first.
pub(crate) type DoubleLimbs<D> = [D; LIMBS];

/// A CPU with vectors of eight doubles beside those of words.
pub(crate) trait DoubleSimd: MulSimd {
    /// The vectors of doubles.
    type D: DoubleVector;

    /// Returns the same number in every lane.
    fn double(self, number: f64) -> Self::D;

    /// Returns the numbers whose bits are in the lanes.
    fn from_bits(self, bits: Self::V) -> Self::D;

    /// Returns the bits of the numbers.
    fn bits(self, numbers: Self::D) -> Self::V;

    /// Multiplies modulo 2^255 - 19. The product of the largest limbs of the factors is at most `2^86 (1 + 2^-20)`. The
    /// limbs of the result are at most `2^42 (1 + 2^-24)`.
    #[inline(always)]
    fn multiply_25519(self, a: &DoubleLimbs<Self::D>, b: &DoubleLimbs<Self::D>) -> DoubleLimbs<Self::D> {
        self.call(|| multiply_25519(self, a, b))
    }

    /// Squares modulo 2^255 - 19. Bounds are those of a product.
    #[inline(always)]
    fn square_25519(self, a: &DoubleLimbs<Self::D>) -> DoubleLimbs<Self::D> {
        self.call(|| square_25519(self, a))
    }
}

/// Eight doubles. Operations round to nearest. No operation meets a denormal number, an infinity or NaN:
/// `docs/math/fma-fields.md`.
pub(crate) trait DoubleVector:
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

/// Returns `2^exponent`.
pub(crate) const fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The number that rounds to an integer: a double at this size has no fraction.
pub(crate) const ROUND: f64 = 1.5 * power(52);

/// The constants of limbs of 43 bits.
pub(crate) mod of_25519 {
    use super::power;

    /// The bits of a limb.
    pub(crate) const LIMB_BITS: usize = 43;
    /// The value from which high sums start. Its unit in the last place is 2^45.
    pub(crate) const START: f64 = 1.5 * power(97);
    /// The residue 2^258 mod p.
    pub(crate) const FOLD: f64 = 152.0;
}

/// The sums of a column. `high` has a large unit in the last place, so it keeps the high part of each product. `low` has
/// the rests.
#[derive(Clone, Copy)]
struct ColumnSums<D> {
    high: D,
    low: Option<D>,
}

impl<D: DoubleVector> ColumnSums<D> {
    /// Adds a product.
    #[inline(always)]
    fn add_product(&mut self, a: D, b: D) {
        let high = a.times_plus(b, self.high);
        // The difference is exact, and so is the rest: docs/math/fma-fields.md, "One product".
        let rest = a.times_plus(b, self.high - high);
        self.high = high;
        self.low = Some(match self.low {
            Some(low) => low + rest,
            None => rest,
        });
    }
}

/// Multiplies modulo 2^255 - 19.
#[inline(always)]
pub(crate) fn multiply_25519<S: DoubleSimd>(
    simd: S,
    a: &DoubleLimbs<S::D>,
    b: &DoubleLimbs<S::D>,
) -> DoubleLimbs<S::D> {
    let folded = b.map(|limb| limb.times(simd.double(of_25519::FOLD)));
    let mut sums = [ColumnSums { high: simd.double(of_25519::START), low: None }; LIMBS];
    for i in 0..LIMBS {
        for j in 0..LIMBS {
            sums[(i + j) % LIMBS].add_product(a[i], if i + j < LIMBS { b[j] } else { folded[j] });
        }
    }
    carry_25519(simd, &sums)
}

/// Squares modulo 2^255 - 19. Products of different limbs are computed once, with a doubled factor.
#[inline(always)]
pub(crate) fn square_25519<S: DoubleSimd>(simd: S, a: &DoubleLimbs<S::D>) -> DoubleLimbs<S::D> {
    let folded = a.map(|limb| limb.times(simd.double(of_25519::FOLD)));
    let mut sums = [ColumnSums { high: simd.double(of_25519::START), low: None }; LIMBS];
    for i in 0..LIMBS {
        let twice = a[i] + a[i];
        for j in i..LIMBS {
            let factor = if i == j { a[i] } else { twice };
            sums[(i + j) % LIMBS].add_product(factor, if i + j < LIMBS { a[j] } else { folded[j] });
        }
    }
    carry_25519(simd, &sums)
}

/// Carries every column into the next, all at once.
#[inline(always)]
fn carry_25519<S: DoubleSimd>(simd: S, sums: &[ColumnSums<S::D>; LIMBS]) -> DoubleLimbs<S::D> {
    let (start, fold) = (simd.double(of_25519::START), of_25519::FOLD);
    let down = power(-(of_25519::LIMB_BITS as i32));
    let mut values = [start; LIMBS];
    for at in 0..LIMBS {
        let below = sums[(at + LIMBS - 1) % LIMBS].high - start;
        // The high sum of the topmost column comes back times 152.
        let by = simd.double(if at == 0 { fold * down } else { down });
        let Some(low) = sums[at].low else { continue };
        values[at] = below.times_plus(by, low);
    }
    carry_limbs_25519(simd, &values)
}

/// Rounds limbs below `2^53 (1 - 2^-10)` to 43 bits, and adds what is beyond to the next.
#[inline(always)]
pub(crate) fn carry_limbs_25519<S: DoubleSimd>(simd: S, values: &DoubleLimbs<S::D>) -> DoubleLimbs<S::D> {
    let bits = of_25519::LIMB_BITS as i32;
    let (round, down, up) = (simd.double(ROUND), simd.double(power(-bits)), simd.double(power(bits)));
    let carries = values.map(
        #[inline(always)]
        |value| value.times_plus(down, round) - round,
    );
    let mut limbs = *values;
    for at in 0..LIMBS {
        let rest = carries[at].minus_times(up, values[at]);
        limbs[at] = match at {
            0 => carries[LIMBS - 1].times_plus(simd.double(of_25519::FOLD), rest),
            _ => rest + carries[at - 1],
        };
    }
    limbs
}
