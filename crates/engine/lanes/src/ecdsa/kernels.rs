//! Products, squares and carries of limbs.

use super::constants::LOW_52;
use super::element::{Element, LooseElement, ProductColumns};
use super::interleaved::Interleaved;
use crate::simd::{BlindMulSimd, BlindMulVector, LaneMask};

/// Computes `wide + a b`.
#[inline(always)]
pub(crate) fn products<S: BlindMulSimd, const L: usize, const N: usize>(
    simd: S,
    wide: ProductColumns<S::V, L, N>,
    a: &Element<S::V, L, N>,
    b: &Element<S::V, L, N>,
) -> ProductColumns<S::V, L, N> {
    let mut halves = ColumnHalves::new(simd, wide);
    rows::<S::V, L>(
        #[inline(always)]
        |i| {
            for j in 0..L {
                halves.add_product(i + j, a.0[i], b.0[j]);
            }
        },
    );
    halves.sum()
}

/// Computes `a^2`.
#[inline(always)]
pub(crate) fn square<S: BlindMulSimd, const L: usize, const N: usize>(
    simd: S,
    a: &Element<S::V, L, N>,
) -> ProductColumns<S::V, L, N> {
    let zeros = [Interleaved::splat(simd, 0); L];
    let mut halves = ColumnHalves::new(simd, ProductColumns { low: zeros, high: zeros });
    rows::<S::V, L>(
        #[inline(always)]
        |i| {
            for j in i + 1..L {
                halves.add_product(i + j, a.0[i], a.0[j]);
            }
        },
    );
    let mut wide = halves.sum();
    // Only products of different limbs occur twice in a square, so the doubling comes before the squares of limbs.
    for column in 1..2 * L - 1 {
        wide.add(column, wide.at(column));
    }
    for i in 0..L {
        wide.set(2 * i, wide.at(2 * i).madd_lo(a.0[i], a.0[i]));
        wide.set(2 * i + 1, wide.at(2 * i + 1).madd_hi(a.0[i], a.0[i]));
    }
    wide
}

/// The columns of a product. If the registers suffice, the high halves have columns of their own, which halves the
/// longest chain of multiply-adds.
struct ColumnHalves<V, const L: usize, const N: usize> {
    wide: ProductColumns<V, L, N>,
    above: ProductColumns<V, L, N>,
}

impl<V: BlindMulVector, const L: usize, const N: usize> ColumnHalves<V, L, N> {
    // With eight limbs the second set of columns would not fit in the 32 registers.
    const APART: bool = L <= 5;

    #[inline(always)]
    fn new<S: BlindMulSimd<V = V>>(simd: S, wide: ProductColumns<V, L, N>) -> Self {
        let zeros = [Interleaved::splat(simd, 0); L];
        Self { wide, above: ProductColumns { low: zeros, high: zeros } }
    }

    #[inline(always)]
    fn add_product(&mut self, column: usize, a: Interleaved<V, N>, b: Interleaved<V, N>) {
        self.wide.set(column, self.wide.at(column).madd_lo(a, b));
        let (columns, at) =
            if Self::APART { (&mut self.above, column) } else { (&mut self.wide, column + 1) };
        columns.set(at, columns.at(at).madd_hi(a, b));
    }

    #[inline(always)]
    fn sum(mut self) -> ProductColumns<V, L, N> {
        if Self::APART {
            for column in 0..2 * L - 1 {
                self.wide.add(column + 1, self.above.at(column));
            }
        }
        self.wide
    }
}

/// Calls `row` with 0 to L-1. The calls are written out: the compiler does not unroll a loop of that size, and
/// columns are registers only in unrolled code.
#[inline(always)]
pub(crate) fn rows<V: BlindMulVector, const L: usize>(mut row: impl FnMut(usize)) {
    if !V::UNROLLS {
        for at in 0..L {
            row(at);
        }
        return;
    }
    const { assert!(L == 5 || L == 8, "a number of limbs that is not written out") };
    row(0);
    row(1);
    row(2);
    row(3);
    row(4);
    if L == 8 {
        row(5);
        row(6);
        row(7);
    }
}

/// Runs the carries of a value in [0, R).
#[inline(always)]
pub(crate) fn carry<S: BlindMulSimd, const L: usize, const N: usize>(
    simd: S,
    mut loose: LooseElement<S::V, L, N>,
) -> Element<S::V, L, N> {
    propagate(simd, &mut loose.0);
    for is_below in loose.0[L - 1].is_below(Interleaved::splat(simd, 1 << 52)) {
        is_below.claim("a value is not negative and fits its limbs");
    }
    Element(loose.0)
}

/// Runs carries upwards. The top limb keeps the rest with its sign.
#[inline(always)]
pub(crate) fn propagate<S: BlindMulSimd, const L: usize, const N: usize>(
    simd: S,
    limbs: &mut [Interleaved<S::V, N>; L],
) {
    let low = Interleaved::splat(simd, LOW_52);
    for limb in 0..L - 1 {
        limbs[limb + 1] = limbs[limb + 1] + limbs[limb].sar::<52>();
        limbs[limb] = limbs[limb] & low;
    }
}
