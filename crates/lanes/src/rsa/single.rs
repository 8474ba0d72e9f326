//! Products of as many limbs as a window has: no column leaves but those that vanish, none enters.

use super::factor::Factor;
use super::window::{Window, rounds};
use crate::simd::{Simd, Vector};

/// The operands of a product.
pub(super) struct Operands<'a, V, A, const W: usize> {
    pub(super) a: A,
    pub(super) b: &'a [V; W],
    pub(super) n: &'a [V; W],
    /// -n^-1 mod 2^52.
    pub(super) inverse: &'a V,
    /// Room for b doubled.
    pub(super) doubled: &'a mut [V; W],
    pub(super) out: &'a mut [V; W],
}

/// `a b / R mod n` of each stream, their rows in turn: one's carries are hidden under the other's products. All windows must
/// fit in registers.
#[inline(always)]
pub(super) fn products<S: Simd, A: Factor<S::V>, const W: usize, const N: usize>(
    simd: S,
    streams: &mut [Operands<'_, S::V, A, W>; N],
) {
    let mut windows = [Window::<S::V, W>::zero(simd); N];
    for row in 0..W {
        rounds::<S::V, N>(
            0,
            #[inline(always)]
            |at| {
                windows[at].add_row(streams[at].a.limb(row), streams[at].b);
                windows[at].cancel_row(simd, S::V::fetch(streams[at].inverse), streams[at].n);
                windows[at].slide(simd.zero());
            },
        );
    }
    settle(simd, windows, streams);
}

/// `b^2 / R mod n` of each stream; a is not read.
#[inline(always)]
pub(super) fn squares<S: Simd, A: Factor<S::V>, const W: usize, const N: usize>(
    simd: S,
    streams: &mut [Operands<'_, S::V, A, W>; N],
) {
    let mut windows = [Window::<S::V, W>::zero(simd); N];
    rounds::<S::V, W>(
        0,
        #[inline(always)]
        |row| {
            rounds::<S::V, N>(
                0,
                #[inline(always)]
                |at| {
                    let Operands { b, doubled, .. } = &mut streams[at];
                    if row == 0 {
                        windows[at].add_first_square_row(b, doubled);
                    } else {
                        windows[at].add_square_row(row, b, doubled);
                    }
                    windows[at].cancel_row(simd, S::V::fetch(streams[at].inverse), streams[at].n);
                    windows[at].slide(simd.zero());
                },
            );
        },
    );
    settle(simd, windows, streams);
}

#[inline(always)]
fn settle<S: Simd, A: Factor<S::V>, const W: usize, const N: usize>(
    simd: S,
    windows: [Window<S::V, W>; N],
    streams: &mut [Operands<'_, S::V, A, W>; N],
) {
    rounds::<S::V, N>(
        0,
        #[inline(always)]
        |at| windows[at].settle(simd, streams[at].out),
    );
}
