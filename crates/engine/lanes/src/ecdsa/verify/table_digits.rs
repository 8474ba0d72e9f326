//! The digits of scalars as rows of tables.

use crate::ecdsa::curve::CurveParams;
use crate::ecdsa::element::Element;
use crate::ecdsa::recode::{RowDigits, digit, digits, halve};
use crate::ecdsa::ring::{MontgomeryRing, OddModulus};
use crate::simd::{MulSimd, Vector};

/// The layout of a table: the rows of each digit.
#[derive(Clone, Copy)]
pub(super) struct TableWindows {
    /// The bits of a digit.
    pub(super) window: usize,
    /// The number of rows between two digits.
    rows: usize,
}

impl TableWindows {
    /// Describes a table with rows for every window.
    pub(super) fn all(window: usize) -> Self {
        Self { window, rows: 1 << (window - 1) }
    }

    /// Describes a table whose rows serve every window.
    pub(super) fn one(window: usize) -> Self {
        Self { window, rows: 0 }
    }
}

/// Returns the digits of scalars below n. An even scalar u is replaced by n - u.
pub(super) fn table_digits<S: MulSimd, C: CurveParams<L>, const L: usize, const N: usize>(
    simd: S,
    scalar: &Element<S::V, L, N>,
    TableWindows { window, rows }: TableWindows,
) -> [Vec<RowDigits>; N] {
    let order = MontgomeryRing::<S, C::Order, L, N>::new(simd);
    let count = digits(C::BITS, window);
    let mut all = std::array::from_fn(|_| Vec::with_capacity(count));
    simd.call(
        #[inline(always)]
        || {
            let negative = order.carry(order.splat(&C::Order::LIMBS).loose() - *scalar);
            let is_odd = scalar.0[0].has_any(order.word(1));
            let odd = order.select(is_odd, &negative, scalar);
            for (n, digits_of_part) in all.iter_mut().enumerate() {
                let mut limbs = [simd.zero(); L];
                for limb in 0..L {
                    limbs[limb] = odd.0[limb].0[n];
                }
                let half = halve(simd, &limbs, C::BITS, window);
                for at in 0..count {
                    let digit = digit(simd, &half, at, window);
                    let index = digit.index + simd.splat((at * rows) as u64);
                    // The sign of n - u is folded into each digit, so the sum needs no negation.
                    digits_of_part.push(RowDigits { index: index.words(), minus: digit.minus ^ !is_odd[n] });
                }
            }
        },
    );
    all
}
