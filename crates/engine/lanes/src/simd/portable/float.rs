//! Eight doubles in an array, and the lanes of [`PortableFma`].

use std::ops::{Add, Sub};

use zeroize::Zeroize;

use super::products;
use super::{PortableFma, PortableSimd, PortableVector};
use crate::simd::float::{DoubleLimbs, Factors, FloatSimd, FloatVector};
use crate::simd::pair::{Pair, halves};
use crate::simd::{BlindMulVector, BlindSimd, Cpu, LANES, Mask, MulSimd, Simd, Vector, Words};

const HALF: PortableSimd<4> = PortableSimd;

impl BlindSimd for PortableFma {
    type V = Pair<PortableVector<4>>;

    #[inline(always)]
    fn splat(self, word: u64) -> Self::V {
        Pair([HALF.splat(word); 2])
    }
}

impl Simd for PortableFma {
    #[inline(always)]
    fn load(self, words: &Words) -> Self::V {
        let [low, high] = halves(words);
        Pair([HALF.load(low), HALF.load(high)])
    }

    #[inline(always)]
    fn load_bytes(self, bytes: &[u8; 8 * LANES]) -> Self::V {
        let [low, high] = halves(bytes);
        Pair([HALF.load_bytes(low), HALF.load_bytes(high)])
    }

    #[inline(always)]
    fn splat32(self, word: u32) -> Self::V {
        Pair([HALF.splat32(word); 2])
    }

    fn load_prefix(self, bytes: &[u8]) -> Self::V {
        let (low, high) = bytes.split_at(bytes.len().min(4 * LANES));
        Pair([HALF.load_prefix(low), HALF.load_prefix(high)])
    }
}

impl MulSimd for PortableFma {
    type RunState = ();

    #[inline(always)]
    fn run_state(self) {}
}

/// Eight doubles in an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortableFloats([f64; LANES]);

impl FloatSimd for PortableFma {
    type D = PortableFloats;

    #[inline(always)]
    fn double(self, number: f64) -> PortableFloats {
        PortableFloats([number; LANES])
    }

    #[inline(always)]
    fn double_of_bits(self, bits: Self::V) -> PortableFloats {
        PortableFloats(bits.words().map(f64::from_bits))
    }

    #[inline(always)]
    fn bits(self, numbers: PortableFloats) -> Self::V {
        self.load(&numbers.0.map(f64::to_bits))
    }

    #[inline(always)]
    fn multiply_25519(self, a: &PortableLimbs, b: &PortableLimbs) -> PortableLimbs {
        self.call(|| products::multiply_25519(self, a, b))
    }

    #[inline(always)]
    fn square_25519(self, a: &PortableLimbs) -> PortableLimbs {
        self.call(|| products::square_25519(self, a))
    }

    #[inline(always)]
    fn multiply_p256(self, a: &PortableLimbs, b: &PortableLimbs) -> PortableLimbs {
        self.call(|| products::multiply_p256(self, a, b))
    }

    #[inline(always)]
    fn square_p256(self, a: &PortableLimbs) -> PortableLimbs {
        self.call(|| products::square_p256(self, a))
    }

    #[inline(always)]
    fn sum_p256(self, a: Factors<'_, PortableFloats>, b: Factors<'_, PortableFloats>) -> PortableLimbs {
        self.call(|| products::sum_p256(self, a, b))
    }
}

type PortableLimbs = DoubleLimbs<PortableFloats>;

impl PortableFloats {
    #[inline(always)]
    fn zip3(self, b: Self, c: Self, f: impl Fn(f64, f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], b.0[lane], c.0[lane])))
    }
}

impl FloatVector for PortableFloats {
    #[inline(never)]
    fn times(self, by: Self) -> Self {
        self.zip3(by, by, |a, b, _| a * b)
    }

    #[inline(never)]
    fn times_plus(self, by: Self, term: Self) -> Self {
        self.zip3(by, term, f64::mul_add)
    }

    #[inline(never)]
    fn minus_times(self, by: Self, term: Self) -> Self {
        self.zip3(by, term, |a, b, c| (-a).mul_add(b, c))
    }

    #[inline(never)]
    fn or_if(self, mask: Mask, yes: Self) -> Self {
        let bits = |numbers: Self| PortableVector(numbers.0.map(f64::to_bits));
        Self(bits(self).or_if(mask, bits(yes)).0.map(f64::from_bits))
    }
}

impl Add for PortableFloats {
    type Output = Self;

    #[inline(never)]
    fn add(self, other: Self) -> Self {
        self.zip3(other, other, |a, b, _| a + b)
    }
}

impl Sub for PortableFloats {
    type Output = Self;

    #[inline(never)]
    fn sub(self, other: Self) -> Self {
        self.zip3(other, other, |a, b, _| a - b)
    }
}

impl Zeroize for PortableFloats {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
