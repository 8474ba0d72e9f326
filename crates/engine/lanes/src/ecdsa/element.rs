//! Integers of limbs, by the state of their carries.
//!
//! | type | limbs | use |
//! |---|---|---|
//! | [`Element`] | each below 2^52 | a factor; a term |
//! | [`LooseElement`] | signed, of at most 60 bits | a sum of a few terms before its carries |
//! | [`ProductColumns`] | 2L signed columns of at most 62 bits | a sum of products before its reduction |

use std::fmt;
use std::ops::{Add, Sub};

use zeroize::Zeroize;

use super::interleaved::{BlindMasks, Interleaved, not, part, set_part};
use crate::simd::BlindMulVector;

/// An integer with limbs below 2^52.
#[derive(Clone, Copy)]
pub(crate) struct Element<V, const L: usize, const N: usize>(pub(crate) [Interleaved<V, N>; L]);

/// An integer with signed limbs, before its carries.
#[derive(Clone, Copy)]
pub(crate) struct LooseElement<V, const L: usize, const N: usize>(pub(crate) [Interleaved<V, N>; L]);

/// The columns of a sum of products.
#[derive(Clone, Copy)]
pub(crate) struct ProductColumns<V, const L: usize, const N: usize> {
    pub(crate) low: [Interleaved<V, N>; L],
    pub(crate) high: [Interleaved<V, N>; L],
}

impl<V: BlindMulVector, const L: usize, const N: usize> Element<V, L, N> {
    #[inline(always)]
    pub(crate) fn loose(&self) -> LooseElement<V, L, N> {
        LooseElement(self.0)
    }

    /// Returns K parts from `n` on.
    #[inline(always)]
    pub(crate) fn part<const K: usize>(&self, n: usize) -> Element<V, L, K> {
        Element(part(&self.0, n))
    }

    /// Replaces K parts from `n` on.
    #[inline(always)]
    pub(crate) fn set_part<const K: usize>(&mut self, n: usize, part: &Element<V, L, K>) {
        set_part(&mut self.0, n, &part.0);
    }
}

impl<V: BlindMulVector, const L: usize, const N: usize> LooseElement<V, L, N> {
    #[inline(always)]
    pub(crate) fn part<const K: usize>(&self, n: usize) -> LooseElement<V, L, K> {
        LooseElement(part(&self.0, n))
    }

    /// Multiplies the value by `2^BITS`.
    #[inline(always)]
    pub(crate) fn shl<const BITS: u32>(mut self) -> Self {
        for limb in &mut self.0 {
            *limb = limb.shl::<BITS>();
        }
        self
    }

    /// Computes `self - other` in lanes whose mask bit is set, and `self + other` in the others.
    #[inline(always)]
    pub(crate) fn sub_or_add(mut self, mask: BlindMasks<V, N>, other: Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = limb.sub_if(mask, other).add_if(not(mask), other);
        }
        self
    }
}

impl<V: BlindMulVector, const L: usize, const N: usize> ProductColumns<V, L, N> {
    #[inline(always)]
    pub(crate) fn part<const K: usize>(&self, n: usize) -> ProductColumns<V, L, K> {
        ProductColumns { low: part(&self.low, n), high: part(&self.high, n) }
    }

    #[inline(always)]
    pub(crate) fn set_part<const K: usize>(&mut self, n: usize, part: &ProductColumns<V, L, K>) {
        set_part(&mut self.low, n, &part.low);
        set_part(&mut self.high, n, &part.high);
    }

    #[inline(always)]
    pub(crate) fn at(&self, column: usize) -> Interleaved<V, N> {
        if column < L { self.low[column] } else { self.high[column - L] }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, column: usize, value: Interleaved<V, N>) {
        if column < L {
            self.low[column] = value;
        } else {
            self.high[column - L] = value;
        }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, column: usize, value: Interleaved<V, N>) {
        self.set(column, self.at(column) + value);
    }

    #[inline(always)]
    pub(crate) fn sub(&mut self, column: usize, value: Interleaved<V, N>) {
        self.set(column, self.at(column) - value);
    }

    /// Multiplies the value by `-2^BITS`.
    #[inline(always)]
    pub(crate) fn negated_shl<const BITS: u32>(mut self, zero: Interleaved<V, N>) -> Self {
        for limb in 0..L {
            self.low[limb] = zero - self.low[limb].shl::<BITS>();
            self.high[limb] = zero - self.high[limb].shl::<BITS>();
        }
        self
    }
}

impl<V: BlindMulVector, const L: usize, const N: usize> Add for LooseElement<V, L, N> {
    type Output = Self;

    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = *limb + other;
        }
        self
    }
}

impl<V: BlindMulVector, const L: usize, const N: usize> Sub for LooseElement<V, L, N> {
    type Output = Self;

    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            *limb = *limb - other;
        }
        self
    }
}

impl<V: BlindMulVector, const L: usize, const N: usize> Add<Element<V, L, N>> for LooseElement<V, L, N> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Element<V, L, N>) -> Self {
        self + other.loose()
    }
}

impl<V: BlindMulVector, const L: usize, const N: usize> Sub<Element<V, L, N>> for LooseElement<V, L, N> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Element<V, L, N>) -> Self {
        self - other.loose()
    }
}

impl<V: BlindMulVector, const L: usize, const N: usize> Zeroize for Element<V, L, N> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Prints no lanes, which can hold secrets.
impl<V, const L: usize, const N: usize> fmt::Debug for Element<V, L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Element({L} limbs)")
    }
}
