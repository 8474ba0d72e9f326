//! Bits of blocks, each in a vector of its own: 64 blocks for each of its `W` words.
//!
//! Row `g` has block `W g + w` in word `w`. Transposing the 64 x 64 bits of each word makes row `p` of bit `p` of
//! all blocks: block `W g + w` is bit `g` of word `w`. Bit `p` of a block is bit `p % 8` (the lowest is 0) of byte
//! `p / 8`.

use crate::simd::{Simd, Vector};

/// The bits of a block.
pub(crate) const BITS: usize = 64;

/// Transposes the bits of each word in place. The operation is its own inverse.
pub(crate) fn transpose<S: Simd>(simd: S, rows: &mut [S::V; BITS]) {
    both_passes(
        simd,
        rows,
        #[inline(always)]
        |rows, row| rows[row],
        #[inline(always)]
        |_, _| {},
    );
}

/// Transposes `rows` and passes each row of the result to `take`. Leaves `rows` in an undefined order.
#[inline(always)]
pub(super) fn transpose_to<S: Simd>(simd: S, rows: &mut [S::V; BITS], take: impl FnMut(usize, S::V)) {
    both_passes(
        simd,
        rows,
        #[inline(always)]
        |rows, row| rows[row],
        take,
    );
}

/// Transposes the rows that `give` returns into `rows`.
#[inline(always)]
pub(super) fn transpose_from<S: Simd>(simd: S, rows: &mut [S::V; BITS], mut give: impl FnMut(usize) -> S::V) {
    both_passes(
        simd,
        rows,
        #[inline(always)]
        |_, row| give(row),
        #[inline(always)]
        |_, _| {},
    );
}

/// Runs the six steps of a transposition: three between the rows that `give` returns, and three between the rows
/// that these leave in `rows`. Passes the result to `take`.
#[inline(always)]
fn both_passes<S: Simd>(
    simd: S,
    rows: &mut [S::V; BITS],
    mut give: impl FnMut(&[S::V; BITS], usize) -> S::V,
    mut take: impl FnMut(usize, S::V),
) {
    simd.call(
        #[inline(always)]
        || {
            // Steps of 32, 16 and 8 rows mix only rows with equal lower bits, steps of 4, 2 and 1 only neighbours.
            for first in 0..8 {
                // Eight rows at a time stay in registers; all 64 at once would be spilled after every step.
                let mut part = [simd.zero(); 8];
                for (at, row) in part.iter_mut().enumerate() {
                    *row = give(rows, first + 8 * at);
                }
                far_steps(simd, &mut part);
                part.into_iter().enumerate().for_each(|(at, row)| rows[first + 8 * at] = row);
            }
            for (first, part) in rows.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                near_steps(simd, part);
                for (at, row) in part.iter().enumerate() {
                    take(8 * first + at, *row);
                }
            }
        },
    );
}

/// Runs the steps between rows whose numbers differ by 8 or more.
#[inline(always)]
fn far_steps<S: Simd>(simd: S, rows: &mut [S::V; 8]) {
    let masks =
        [0x0000_0000_FFFF_FFFF, 0x0000_FFFF_0000_FFFF, 0x00FF_00FF_00FF_00FF].map(|word| simd.splat(word));
    eight::<S, 32, 16, 8>(simd, rows, masks);
}

/// Runs the steps between rows whose numbers differ by less than 8.
#[inline(always)]
fn near_steps<S: Simd>(simd: S, rows: &mut [S::V; 8]) {
    let masks =
        [0x0F0F_0F0F_0F0F_0F0F, 0x3333_3333_3333_3333, 0x5555_5555_5555_5555].map(|word| simd.splat(word));
    eight::<S, 4, 2, 1>(simd, rows, masks);
}

/// Runs three of the six steps on eight rows whose numbers differ in three bits only.
#[inline(always)]
fn eight<S: Simd, const A: u32, const B: u32, const C: u32>(simd: S, rows: &mut [S::V; 8], masks: [S::V; 3]) {
    simd.step(
        #[inline(always)]
        || {
            for at in 0..4 {
                swap::<S::V, A>(rows, at, at + 4, masks[0]);
            }
            for at in [0, 1, 4, 5] {
                swap::<S::V, B>(rows, at, at + 2, masks[1]);
            }
            for at in [0, 2, 4, 6] {
                swap::<S::V, C>(rows, at, at + 1, masks[2]);
            }
        },
    );
}

/// Exchanges the upper half of each `2 N` bits of one row with the lower half of the other row.
#[inline(always)]
fn swap<V: Vector, const N: u32>(rows: &mut [V; 8], low: usize, high: usize, mask: V) {
    (rows[low], rows[high]) = V::swap_halves::<N>(rows[low], rows[high], mask);
}

/// Returns the bits of `yes` if the mask bit is one, and the bits of `no` otherwise.
#[inline(always)]
pub(crate) fn choose<V: Vector>(mask: V, yes: V, no: V) -> V {
    // 0xCA is `mask ? yes : no`, one instruction instead of three.
    mask.ternary::<0xCA>(yes, no)
}
