//! Inversion of many values at the cost of one.

use zeroize::Zeroizing;

use super::constants::{minus, small};
use super::element::Element;
use super::ring::{MontgomeryRing, OddModulus};
use super::single::invert as invert_one;
use crate::simd::{BlindMulVector, MulSimd};

/// The bits of the exponent that are processed together.
pub(super) const WINDOW: usize = 4;

impl<S: MulSimd, M: OddModulus<L>, const L: usize, const N: usize> MontgomeryRing<S, M, L, N> {
    /// Computes `1/a` in Montgomery form as `a^(m-2)` (Fermat). The exponent is public, so the time is the same for
    /// every `a`. No lane may be zero.
    pub(crate) fn invert(self, a: &Element<S::V, L, N>) -> Element<S::V, L, N> {
        if !S::V::HAS_PRODUCTS {
            // One inversion for all lanes, with the multiplier of words. No lane may be zero here.
            return self.invert_joined(a, |single, joined| {
                single.splat(&Zeroizing::new(invert_one::<M, L>(joined)))
            });
        }
        self.simd.call(
            #[inline(always)]
            || {
                let mut powers = Zeroizing::new([self.one(); 1 << WINDOW]);
                // Secret values, public indices: the digits below are those of m - 2.
                for power in 1..1 << WINDOW {
                    powers[power] = self.mul(&powers[power - 1], a);
                }
                let mut result = self.one();
                // Squares and products follow the public exponent only. Even a product with one is computed.
                for digit in (0..(52 * L) / WINDOW).rev() {
                    for _ in 0..WINDOW {
                        result = self.sqr(&result);
                    }
                    result = self.mul(&result, &powers[exponent_digit::<M, L>(digit)]);
                }
                result
            },
        )
    }

    /// Replaces each of `all` by its inverse, with three products each and one inversion. No value may be zero.
    pub(crate) fn invert_all(self, all: &mut [Element<S::V, L, N>]) {
        self.invert_all_by(all, |product| self.invert(product));
    }

    /// Replaces each of `all` by its inverse. `invert` inverts the product of all.
    pub(crate) fn invert_all_by(
        self,
        all: &mut [Element<S::V, L, N>],
        invert: impl FnOnce(&Element<S::V, L, N>) -> Element<S::V, L, N>,
    ) {
        let mut before = Zeroizing::new(Vec::with_capacity(all.len()));
        let mut product = Zeroizing::new(self.one());
        for element in all.iter() {
            before.push(*product);
            self.simd.call(
                #[inline(always)]
                || *product = self.mul(&product, element),
            );
        }
        // One zero would make the whole product zero. Callers replace zeros before, under a mask if they are secret.
        let mut inverse = Zeroizing::new(invert(&product));
        for (element, before) in all.iter_mut().zip(before.iter()).rev() {
            self.simd.call(
                #[inline(always)]
                || {
                    let next = self.mul(&inverse, element);
                    *element = self.mul(&inverse, before);
                    *inverse = next;
                },
            );
        }
    }
}

/// Returns four bits of m - 2.
#[inline(always)]
pub(super) fn exponent_digit<M: OddModulus<L>, const L: usize>(digit: usize) -> usize {
    let exponent = const { minus(&M::LIMBS, &small(2)).0 };
    (exponent[digit / 13] >> (WINDOW * (digit % 13))) as usize & ((1 << WINDOW) - 1)
}
