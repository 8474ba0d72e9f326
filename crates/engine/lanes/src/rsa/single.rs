//! Products of as many limbs as a window has. Only vanishing columns leave the window, none enters, and the product
//! replaces the value.

use super::factor::LimbFactor;
use super::window::{ColumnWindow, rounds};
use crate::simd::{BlindMulVector, MulSimd};

/// A value and its moduli.
pub(super) struct Operands<'a, V, const W: usize> {
    pub(super) value: &'a mut [V; W],
    pub(super) n: &'a [V; W],
    /// -n^-1 mod 2^52.
    pub(super) inverse: &'a V,
    /// Memory for the value doubled.
    pub(super) doubled: &'a mut [V; W],
}

/// Replaces each stream's value v by `f v / R mod n`. The rows of streams take turns: the carries of one are hidden
/// under the products of the other. All windows must fit in registers.
#[inline(always)]
pub(super) fn products<S: MulSimd, A: LimbFactor<S::V>, const W: usize, const N: usize>(
    simd: S,
    streams: &mut [Operands<'_, S::V, W>; N],
    factors: [A; N],
) {
    // A loop: the rows of a product are alike. Code of its own for each took 75.7 us instead of 74.7 (10 limbs,
    // docs/performance/public-key.md, RSA).
    let mut windows = [ColumnWindow::<S::V, W>::zero(simd); N];
    for row in 0..W {
        rounds::<S::V, N>(
            0,
            #[inline(always)]
            |at| {
                windows[at].add_row(factors[at].limb(row), streams[at].value);
                windows[at].cancel_row(simd, S::V::fetch(streams[at].inverse), streams[at].n);
                // The vanished column leaves below, and zero enters above.
                windows[at].slide(simd.zero());
            },
        );
    }
    store_limbs(simd, windows, streams);
}

/// Replaces each stream's value by `v^2 / R mod n`, and calls `beside` in each row for other work.
#[inline(always)]
pub(super) fn squares<S: MulSimd, const W: usize, const N: usize>(
    simd: S,
    streams: &mut [Operands<'_, S::V, W>; N],
    mut beside: impl FnMut(usize),
) {
    // Rows of a square differ in length, so each is code of its own.
    let mut windows = [ColumnWindow::<S::V, W>::zero(simd); N];
    rounds::<S::V, W>(
        0,
        #[inline(always)]
        |row| {
            rounds::<S::V, N>(
                0,
                #[inline(always)]
                |at| {
                    let Operands { value, doubled, .. } = &mut streams[at];
                    if row == 0 {
                        windows[at].add_first_square_row(value, doubled);
                    } else {
                        windows[at].add_square_row(row, value, doubled);
                    }
                    windows[at].cancel_row(simd, S::V::fetch(streams[at].inverse), streams[at].n);
                    windows[at].slide(simd.zero());
                },
            );
            beside(row);
        },
    );
    store_limbs(simd, windows, streams);
}

#[inline(always)]
fn store_limbs<S: MulSimd, const W: usize, const N: usize>(
    simd: S,
    windows: [ColumnWindow<S::V, W>; N],
    streams: &mut [Operands<'_, S::V, W>; N],
) {
    rounds::<S::V, N>(
        0,
        #[inline(always)]
        |at| windows[at].store_limbs(simd, streams[at].value),
    );
}
