//! Tiles of long products: a square of `W` by `W` limbs of a product and of its reduction.
//!
//! Both sums `a b` and `q n` are cut into tiles of `W` rows (limbs of a and q) and `W` columns (limbs of b and n).
//! The window moves up through a tile: its lowest column leaves, and another enters above. Tiles with the lowest
//! limbs of n produce q, and their lowest columns vanish. The other tiles consume q.

use super::factor::LimbFactor;
use super::window::{ColumnWindow, inlined, rounds};
use crate::simd::{BlindMulVector, MulSimd, MulVector};

/// The terms that a tile adds besides its reduction.
pub(super) mod part {
    /// No terms.
    pub(in crate::rsa) const NONE: u8 = 0;
    /// The rows times the multiplicand.
    pub(in crate::rsa) const PRODUCT: u8 = 1;
    /// The square of the multiplicand. Row 0 computes the doubles.
    pub(in crate::rsa) const SQUARE: u8 = 2;
    /// The rows times the doubled multiplicand.
    pub(in crate::rsa) const TWICE: u8 = 3;
    /// The rows times the doubled multiplicand. Row 0 computes the doubles.
    pub(in crate::rsa) const DOUBLING: u8 = 4;
}

/// The operands of a tile.
pub(super) struct TileOperands<'a, V, A, const W: usize> {
    /// The factor a, and the index of the rows' first limb in it.
    pub(super) factor: A,
    pub(super) first: usize,
    /// The rows' limbs of a, which the first tile of the row stores for the others.
    pub(super) kept: &'a mut [V; W],
    /// The limbs of b.
    pub(super) multiplicand: &'a [V; W],
    /// The limb below them, for doubling.
    pub(super) below: V,
    /// The limbs of b doubled.
    pub(super) doubled: &'a mut [V; W],
    /// The limbs of n.
    pub(super) modulus: &'a [V; W],
    /// The limbs of q of these rows.
    pub(super) quotients: &'a mut [V; W],
    /// The columns that enter the window above.
    pub(super) entering: &'a [V; W],
    /// The limbs of the columns that leave it below. Columns that vanish are not written.
    pub(super) leaving: &'a mut [V; W],
}

impl<V: MulVector, A: LimbFactor<V>, const W: usize> TileOperands<'_, V, A, W> {
    /// Adds the tile to the window. If `PRODUCES` is true, q is computed from `inverse`, which is -n^-1 mod 2^52;
    /// otherwise q is given.
    #[inline(always)]
    pub(super) fn add<S: MulSimd<V = V>, const PART: u8, const PRODUCES: bool>(
        &mut self,
        simd: S,
        inverse: &V,
        mut window: ColumnWindow<V, W>,
    ) -> ColumnWindow<V, W> {
        let mut step = inlined(
            #[inline(always)]
            |row: usize| {
                self.add_part::<PART, PRODUCES>(row, &mut window);
                // Only the tile of the lowest limbs of n sees the column that the quotient must cancel.
                if PRODUCES {
                    self.quotients[row] = window.cancel_row(simd, V::fetch(inverse), self.modulus);
                } else {
                    window.add_row(V::fetch(&self.quotients[row]), self.modulus);
                    self.leaving[row] = window.take_lowest(simd);
                }
                window.slide(V::fetch(&self.entering[row]));
            },
        );
        // Rows of a square differ in length, so each needs code of its own.
        if PART == part::SQUARE {
            rounds::<V, W>(0, step);
        } else {
            // Row 0 is peeled off if it differs, so that the loop has one body.
            let first = usize::from(PART == part::DOUBLING);
            if first > 0 {
                step(0);
            }
            for row in first..W {
                step(row);
            }
        }
        window
    }

    /// Adds the terms of one row. The first tile of a row produces q.
    #[inline(always)]
    fn add_part<const PART: u8, const IS_FIRST: bool>(
        &mut self,
        row: usize,
        window: &mut ColumnWindow<V, W>,
    ) {
        match PART {
            part::PRODUCT if IS_FIRST => {
                self.kept[row] = self.factor.limb(self.first + row);
                window.add_row(self.kept[row], self.multiplicand);
            }
            part::PRODUCT => window.add_row(V::fetch(&self.kept[row]), self.multiplicand),
            part::SQUARE if row == 0 => window.add_first_square_row(self.multiplicand, self.doubled),
            part::SQUARE => window.add_square_row(row, self.multiplicand, self.doubled),
            part::DOUBLING if row == 0 => {
                let x = self.factor.limb(self.first);
                window.add_doubling_row(x, self.below, self.multiplicand, self.doubled);
            }
            part::TWICE | part::DOUBLING => window.add_row(self.factor.limb(self.first + row), self.doubled),
            _ => {}
        }
    }
}

/// Adds the square of limbs to columns, without a reduction. All squares on the diagonal but the first use this
/// separate code: together with their reductions they would not fit in the instruction cache. The doubles must be
/// there.
#[inline(always)]
pub(super) fn add_square<S: MulSimd, const W: usize>(
    simd: S,
    limbs: &[S::V; W],
    doubled: &[S::V; W],
    columns: &mut [[S::V; W]],
) {
    let [low, high, ..] = columns else { return };
    let mut window = ColumnWindow::new(simd, low, high[0]);
    rounds::<S::V, W>(
        0,
        #[inline(always)]
        |row| {
            window.add_square_row(row, limbs, doubled);
            low[row] = window.lowest();
            window.slide(if row + 1 < W { S::V::fetch(&high[row + 1]) } else { simd.zero() });
        },
    );
    window.store_columns(high);
}
