//! Numbers in limbs of doubles, four lanes side by side, and their Montgomery products. `docs/math/fma.md` has the
//! representation, the bounds and the proofs.
//!
//! | module | contents |
//! |---|---|
//! | this one | [`DoubleVector`], and [`DoubleSimd`]: a CPU that multiplies such numbers |
//! | `shapes` | the sizes of numbers |
//! | `twin` | the kernels in plain Rust, equal in every bit; only with the feature `portable` |

#[cfg_attr(
    not(any(test, feature = "portable")),
    expect(dead_code, reason = "the twin and the generator of the kernels read the pieces of products")
)]
mod shapes;
#[cfg(any(test, feature = "portable"))]
pub(super) mod twin;

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::{Add, Sub};

use zeroize::Zeroize;

use super::Cpu;
use super::Leaf;
use super::float::ROUND;

pub(crate) use shapes::{DoubleShape, SHAPES};

/// The lanes of a vector of doubles.
pub(crate) const DOUBLES: usize = 4;

/// The bits of a window of an exponent, and so the size of the tables of [`DoubleSimd::pick`].
pub(crate) const PICK_BITS: usize = 5;

/// One limb of a number in each lane: a double whose value is an integer.
// The alignment lets kernels load a vector as an operand.
#[derive(Clone, Copy, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct DoubleVector([f64; DOUBLES]);

/// Odd moduli n, and `-n^-1 mod R`, whose limbs are signed.
#[derive(Clone, Copy)]
pub(crate) struct DoubleModulus<'a> {
    pub(crate) n: &'a [DoubleVector],
    pub(crate) inverse: &'a [DoubleVector],
}

/// A CPU that multiplies numbers in limbs of doubles.
///
/// Every number has as many limbs as the shape. Limbs are at most [`DoubleShape::limb_bound`] in magnitude, and numbers
/// below `4 n` in magnitude; products are below n. The time does not depend on values.
pub(crate) trait DoubleSimd: Cpu {
    /// The state of the floating-point unit during a run.
    type FloatState;

    /// Prepares the floating-point unit for a run. The state before returns when the value is dropped.
    fn float_state(self) -> Self::FloatState;

    /// Replaces the value v by `f v / R mod n`. `scratch` has [`DoubleShape::scratch_len`] vectors.
    fn multiply(
        self,
        shape: &DoubleShape,
        value: &mut [DoubleVector],
        factor: &[DoubleVector],
        modulus: DoubleModulus<'_>,
        scratch: &mut [DoubleVector],
    );

    /// Replaces the value v `times` times by `v^2 / R mod n`.
    fn square(
        self,
        shape: &DoubleShape,
        times: NonZeroUsize,
        value: &mut [DoubleVector],
        modulus: DoubleModulus<'_>,
        scratch: &mut [DoubleVector],
    );

    /// Copies the entry of a table whose number is the integer in the bits of each lane. The table has one entry after
    /// the other, and all are read whole.
    fn pick(
        self,
        shape: &DoubleShape,
        table: &[DoubleVector],
        index: DoubleVector,
        entry: &mut [DoubleVector],
    );
}

/// A CPU with kernels of doubles, as a leaf.
// A type of its own, because the traits of RSA have an implementation for every CPU with other vectors already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleLeaf<D>(pub(crate) D);

impl<D: DoubleSimd> Cpu for DoubleLeaf<D> {
    const LEAF: Leaf = D::LEAF;

    fn detect() -> Option<Self> {
        D::detect().map(Self)
    }

    #[inline(always)]
    fn call<R>(self, body: impl FnOnce() -> R) -> R {
        self.0.call(body)
    }

    fn clear_registers(self) {
        self.0.clear_registers();
    }
}

impl DoubleShape {
    /// Returns the largest magnitude of a limb. A carry is below the number of limbs: docs/math/fma.md.
    pub(crate) fn limb_bound(&self) -> f64 {
        (1_u64 << (self.limb_bits - 1)) as f64 + self.limbs as f64
    }

    /// Checks in debug builds that all limbs of a number are within their bound.
    pub(super) fn check(&self, number: &[DoubleVector]) {
        let is_bounded = |limb: f64| limb.abs() <= self.limb_bound() && limb.fract() == 0.0;
        debug_assert!(number.iter().all(|limb| limb.0.into_iter().all(is_bounded)), "a limb out of bounds");
    }
}

impl DoubleVector {
    /// Zero in every lane.
    pub(crate) const ZERO: Self = Self::splat(0.0);

    /// Returns the same double in every lane.
    #[inline(always)]
    pub(crate) const fn splat(value: f64) -> Self {
        Self([value; DOUBLES])
    }

    /// Returns the doubles that have these bits.
    #[inline(always)]
    pub(crate) fn from_bits(bits: [u64; DOUBLES]) -> Self {
        Self(bits.map(f64::from_bits))
    }

    /// Returns the bits of the lanes.
    #[inline(always)]
    pub(crate) fn bits(self) -> [u64; DOUBLES] {
        self.0.map(f64::to_bits)
    }

    /// Converts integers below 2^51 in magnitude.
    #[inline(always)]
    pub(crate) fn from_integers(integers: [i64; DOUBLES]) -> Self {
        // The sum's bits are those of the constant plus the integer, because its unit in the last place is 1.
        let bits = integers.map(|integer| ROUND.to_bits().wrapping_add_signed(integer));
        Self::from_bits(bits) - Self::splat(ROUND)
    }

    /// Returns the lanes as integers. They must be below 2^51 in magnitude.
    #[inline(always)]
    pub(crate) fn integers(self) -> [i64; DOUBLES] {
        let bits = (self + Self::splat(ROUND)).bits();
        bits.map(|bits| bits.wrapping_sub(ROUND.to_bits()).cast_signed())
    }

    /// Computes `self * b + c` with one rounding.
    #[inline(always)]
    pub(crate) fn mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(
            #[inline(always)]
            |lane| self.0[lane].mul_add(b.0[lane], c.0[lane]),
        ))
    }

    /// Multiplies by a power of two.
    #[inline(always)]
    pub(crate) fn scaled(self, power: f64) -> Self {
        Self(self.0.map(
            #[inline(always)]
            |value| value * power,
        ))
    }

    /// Rounds to the nearest integer, ties to even. Values must be below 2^51 in magnitude.
    // Not by `f64::round_ties_even`, which is a function with branches on CPUs without an instruction for it.
    #[inline(always)]
    pub(crate) fn rounded(self) -> Self {
        self + Self::splat(ROUND) - Self::splat(ROUND)
    }

    /// Returns `self` in lanes that `keep` names, and `other` in the others.
    #[inline(always)]
    pub(crate) fn or_unless(self, keep: [bool; DOUBLES], other: Self) -> Self {
        Self(std::array::from_fn(
            #[inline(always)]
            |lane| if keep[lane] { self.0[lane] } else { other.0[lane] },
        ))
    }

    /// Returns true if every lane is at most the bound in magnitude.
    #[cfg(any(test, feature = "portable"))]
    pub(super) fn is_within(self, bound: f64) -> bool {
        self.0.into_iter().all(|value| value.abs() <= bound)
    }
}

impl Add for DoubleVector {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(
            #[inline(always)]
            |lane| self.0[lane] + other.0[lane],
        ))
    }
}

impl Sub for DoubleVector {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(
            #[inline(always)]
            |lane| self.0[lane] - other.0[lane],
        ))
    }
}

impl Zeroize for DoubleVector {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Prints no value, which can be secret.
impl fmt::Debug for DoubleVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DoubleVector")
    }
}
