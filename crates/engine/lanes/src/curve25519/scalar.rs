//! Scalars modulo L, one per lane, in constant time.

use zeroize::Zeroize;

use super::constants::{ORDER, ORDER_INVERSE, ORDER_SQUARED_RADIX};
use super::words::{self, RADIX};
use crate::simd::{BlindMulSimd, BlindMulVector, BlindVector, Mask, MulSimd, Vector, Words};

const LOW_52: u64 = (1 << RADIX) - 1;

/// The bits of a scalar below L, and one more for signed digits.
const SCALAR_BITS: usize = 254;

/// A value below L in fully carried limbs.
#[derive(Clone, Copy, Debug, Zeroize)]
pub(crate) struct ScalarLanes<V>([V; 5]);

/// A value below 2 L in limbs of which the low 52 bits count.
struct BelowTwice<V>([V; 5]);

impl<V: BlindMulVector> ScalarLanes<V> {
    /// Reduces 512 bits modulo L. RFC 8032 5.1.6 and 5.1.7.
    #[inline(always)]
    pub(crate) fn from_wide<S: BlindMulSimd<V = V>>(simd: S, words: &[V; 8]) -> Self {
        // The value is below 2^512, which is less than 2^260 L. One reduction divides by 2^260, and a product with
        // 2^520 undoes it.
        let quotient = reduce(simd, words::split(simd, words));
        let square = Self::splat(simd, &ORDER_SQUARED_RADIX);
        reduce(simd, product(simd, &quotient.0, &square.0)).canonical(simd)
    }

    /// Reduces 256 bits modulo L.
    #[inline(always)]
    pub(super) fn from_words<S: BlindMulSimd<V = V>>(simd: S, words: &[V; 4]) -> Self {
        let [a, b, c, d] = *words;
        let zero = simd.zero();
        Self::from_wide(simd, &[a, b, c, d, zero, zero, zero, zero])
    }

    #[inline(always)]
    fn splat<S: BlindMulSimd<V = V>>(simd: S, limbs: &[u64; 5]) -> Self {
        let mut splats = [simd.zero(); 5];
        for (to, limb) in splats.iter_mut().zip(limbs) {
            *to = simd.splat(*limb);
        }
        Self(splats)
    }

    /// Wraps the carried limbs of a value that is known to be below L.
    #[inline(always)]
    pub(crate) fn from_limbs(limbs: [V; 5]) -> Self {
        Self(limbs)
    }

    /// Returns the limbs.
    #[inline(always)]
    pub(crate) fn limbs(&self) -> &[V; 5] {
        &self.0
    }

    /// Returns `2^260 self mod L`, the form of the second factor of [`Self::times_plus`].
    #[inline(always)]
    pub(super) fn into_montgomery<S: BlindMulSimd<V = V>>(self, simd: S) -> Self {
        let square = Self::splat(simd, &ORDER_SQUARED_RADIX);
        reduce(simd, product(simd, &self.0, &square.0)).canonical(simd)
    }

    /// Computes `self * factor / 2^260 + term mod L`.
    #[inline(always)]
    pub(crate) fn times_plus<S: BlindMulSimd<V = V>>(&self, simd: S, factor: &Self, term: &Self) -> Self {
        // Canonical first: two values below L add up to less than 2 L, which one subtraction corrects.
        let mut sum = reduce(simd, product(simd, &self.0, &factor.0)).canonical(simd).0;
        for (sum, term) in sum.iter_mut().zip(&term.0) {
            *sum = *sum + *term;
        }
        BelowTwice(sum).canonical(simd)
    }

    /// Returns the scalar as signed digits of `WIDTH` bits.
    #[inline(always)]
    pub(super) fn digits<S: BlindMulSimd<V = V>, const WIDTH: usize>(&self, simd: S) -> DigitLanes<V, WIDTH> {
        let (offset, low) = (const { offset::<WIDTH>() }, simd.splat(LOW_52));
        let (mut limbs, mut carry) = (self.0, simd.zero());
        // The sum stays below 2^(WIDTH COUNT), which is at most 2^260, so nothing is carried out of the top limb.
        for (limb, offset) in limbs.iter_mut().zip(offset) {
            let sum = *limb + simd.splat(offset) + carry;
            (*limb, carry) = (sum & low, sum.shr::<52>());
        }
        DigitLanes(limbs)
    }

    /// Returns the scalar as four words of 64 bits.
    #[inline(always)]
    pub(super) fn as_words<S: BlindMulSimd<V = V>>(&self, simd: S) -> [V; 4] {
        words::join(simd, &self.0)
    }
}

/// Digits of `WIDTH` bits from -2^(WIDTH-1) to 2^(WIDTH-1) - 1. Each is stored with 2^(WIDTH-1) added. So the digits
/// are the bits of one sum, and no carry runs from digit to digit.
#[derive(Clone, Copy, Debug, Zeroize)]
pub(super) struct DigitLanes<V, const WIDTH: usize>([V; 5]);

impl<V: BlindMulVector, const WIDTH: usize> DigitLanes<V, WIDTH> {
    /// The number of digits of a scalar.
    pub(super) const COUNT: usize = SCALAR_BITS.div_ceil(WIDTH);

    /// The offset of each digit.
    pub(super) const HALF: u64 = 1 << (WIDTH - 1);

    /// Returns digit `at`, lowest first, plus [`Self::HALF`].
    #[inline(always)]
    pub(super) fn at<S: BlindMulSimd<V = V>>(&self, simd: S, at: usize) -> V {
        words::window::<S, RADIX>(simd, &self.0, WIDTH * at, WIDTH.min(5 * RADIX - WIDTH * at))
    }
}

/// The public signed digits of each lane's scalar.
pub(super) struct SignedDigits<const WIDTH: usize>(Vec<(Words, Mask)>);

impl<const WIDTH: usize> SignedDigits<WIDTH> {
    pub(super) fn new<S: MulSimd>(simd: S, scalar: &ScalarLanes<S::V>) -> Self {
        let mut signed = Vec::with_capacity(DigitLanes::<S::V, WIDTH>::COUNT);
        simd.call(
            #[inline(always)]
            || {
                let (digits, half) =
                    (scalar.digits::<S, WIDTH>(simd), simd.splat(DigitLanes::<S::V, WIDTH>::HALF));
                for at in 0..DigitLanes::<S::V, WIDTH>::COUNT {
                    let digit = digits.at(simd, at);
                    let negative = digit.is_below(half);
                    let magnitude = (digit - half).or_if(negative, half - digit);
                    signed.push((magnitude.words(), negative));
                }
            },
        );
        Self(signed)
    }

    /// Returns the number of digits.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the magnitudes of digit `at`, and the lanes in which it is negative.
    #[inline(always)]
    pub(super) fn at(&self, at: usize) -> (&Words, Mask) {
        let (magnitudes, negative) = &self.0[at];
        (magnitudes, *negative)
    }
}

/// Returns 2^(WIDTH-1) in every digit.
const fn offset<const WIDTH: usize>() -> [u64; 5] {
    let mut limbs = [0; 5];
    let mut at = 0;
    while at < SCALAR_BITS.div_ceil(WIDTH) {
        let bit = WIDTH * at + WIDTH - 1;
        if bit < 5 * RADIX {
            limbs[bit / RADIX] |= 1 << (bit % RADIX);
        }
        at += 1;
    }
    limbs
}

impl<V: BlindMulVector> BelowTwice<V> {
    #[inline(always)]
    fn canonical<S: BlindMulSimd<V = V>>(&self, simd: S) -> ScalarLanes<V> {
        let low = simd.splat(LOW_52);
        let (mut reduced, mut less) = (self.0, self.0);
        let (mut carry, mut borrow) = (simd.zero(), simd.zero());
        for at in 0..5 {
            let sum = reduced[at] + carry;
            (reduced[at], carry) = (sum & low, sum.shr::<52>());
            // The arithmetic shift of `borrow` keeps its sign: -1 or 0.
            let difference = reduced[at] + borrow - simd.splat(ORDER[at]);
            (less[at], borrow) = (difference & low, difference.sar::<52>());
        }
        // A select and not a branch: the scalar may be a nonce.
        let is_below = borrow.has_any(simd.splat(1));
        for (limb, less) in reduced.iter_mut().zip(less) {
            *limb = less.or_if(is_below, *limb);
        }
        ScalarLanes(reduced)
    }
}

#[inline(always)]
fn product<S: BlindMulSimd>(simd: S, a: &[S::V; 5], b: &[S::V; 5]) -> [S::V; 10] {
    let mut columns = [simd.zero(); 10];
    for i in 0..5 {
        for j in 0..5 {
            columns[i + j] = columns[i + j].madd_lo(a[i], b[j]);
            columns[i + j + 1] = columns[i + j + 1].madd_hi(a[i], b[j]);
        }
    }
    columns
}

/// Computes `value / 2^260 mod L` for a value below 2^260 L with columns below 2^56, by Montgomery's reduction limb
/// by limb.
#[inline(always)]
fn reduce<S: BlindMulSimd>(simd: S, mut columns: [S::V; 10]) -> BelowTwice<S::V> {
    let inverse = simd.splat(ORDER_INVERSE);
    for at in 0..5 {
        // Needs no mask: the products read the low 52 bits of column and quotient.
        let quotient = simd.zero().madd_lo(columns[at], inverse);
        // The fourth limb of L is zero, which saves two multiplications per step.
        for (j, limb) in ORDER.into_iter().enumerate().filter(|(_, limb)| *limb != 0) {
            let limb = simd.splat(limb);
            columns[at + j] = columns[at + j].madd_lo(quotient, limb);
            columns[at + j + 1] = columns[at + j + 1].madd_hi(quotient, limb);
        }
        // The low 52 bits of this column are zero now, so the shift loses nothing.
        columns[at + 1] = columns[at + 1] + columns[at].shr::<52>();
    }
    let [_, _, _, _, _, a, b, c, d, e] = columns;
    let b = b + a.shr::<52>();
    let c = c + b.shr::<52>();
    let d = d + c.shr::<52>();
    let low = simd.splat(LOW_52);
    BelowTwice([a & low, b & low, c & low, d & low, e + d.shr::<52>()])
}
