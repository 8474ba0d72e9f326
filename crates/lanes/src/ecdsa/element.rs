//! Integers of limbs, by the state that they are in.
//!
//! | type | limbs | what it is good for |
//! |---|---|---|
//! | [`Element`] | each below 2^52 | a factor; a term |
//! | [`Loose`] | signed, of at most 60 bits | a sum of a few terms whose carries have not moved yet |
//! | [`Wide`] | 2L signed columns of at most 62 bits | a sum of products that has not been reduced |

use std::fmt;
use std::ops::{Add, Sub};

use zeroize::Zeroize;

use super::side::{Masks, Side, not, part, put};
use crate::simd::Vector;

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
    pub(crate) fn part<const K: usize>(&self, n: usize) -> Loose<V, L, K> {
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
    pub(crate) fn part<const K: usize>(&self, n: usize) -> Wide<V, L, K> {
        Wide { low: part(&self.low, n), high: part(&self.high, n) }
    }

    #[inline(always)]
    pub(crate) fn put<const K: usize>(&mut self, n: usize, own: &Wide<V, L, K>) {
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
