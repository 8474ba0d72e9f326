//! Products of more limbs than a window has: a square of `W` by `W` limbs of a product and of its reduction.
//!
//! Both sums `a b` and `q n` are cut into tiles of `W` rows (limbs of a and q) and `W` columns (limbs of b and n). The window
//! moves up through a tile: its lowest column leaves, another enters above. Tiles with the lowest limbs of n produce q, and
//! their lowest columns vanish; the others consume it.

use super::factor::LimbFactor;
use super::window::{ColumnWindow, inlined, rounds};
use crate::simd::{Simd, Vector};

/// What a tile adds besides its reduction.
pub(super) mod part {
    /// Nothing.
    pub(in crate::rsa) const NONE: u8 = 0;
    /// Rows times multiplicand.
    pub(in crate::rsa) const PRODUCT: u8 = 1;
    /// The square of the multiplicand, whose doubles row 0 makes.
    pub(in crate::rsa) const SQUARE: u8 = 2;
    /// Rows times the multiplicand doubled.
    pub(in crate::rsa) const TWICE: u8 = 3;
    /// The same, and row 0 makes the doubles.
    pub(in crate::rsa) const DOUBLING: u8 = 4;
}

/// The operands of a tile.
pub(super) struct TileOperands<'a, V, A, const W: usize> {
    /// a, and where the rows' limbs begin in it.
    pub(super) factor: A,
    pub(super) first: usize,
    /// The rows' limbs of a, as the row's first tile leaves them for the others.
    pub(super) kept: &'a mut [V; W],
    /// Limbs of b.
    pub(super) multiplicand: &'a [V; W],
    /// The limb below them, for doubling.
    pub(super) below: V,
    /// Limbs of b doubled.
    pub(super) doubled: &'a mut [V; W],
    /// Limbs of n.
    pub(super) modulus: &'a [V; W],
    /// Limbs of q that belong to the rows.
    pub(super) quotients: &'a mut [V; W],
    /// Columns that enter the window above.
    pub(super) entering: &'a [V; W],
    /// Columns that leave it below, as limbs. Those that vanish are not written.
    pub(super) leaving: &'a mut [V; W],
}

impl<V: Vector, A: LimbFactor<V>, const W: usize> TileOperands<'_, V, A, W> {
    /// Adds the tile to the window. `PRODUCES` says whether q is computed (from `inverse`, -n^-1 mod 2^52) or given.
    #[inline(always)]
    pub(super) fn add<S: Simd<V = V>, const PART: u8, const PRODUCES: bool>(
        &mut self,
        simd: S,
        inverse: &V,
        mut window: ColumnWindow<V, W>,
    ) -> ColumnWindow<V, W> {
        let mut step = inlined(
            #[inline(always)]
            |row: usize| {
                self.add_part::<PART, PRODUCES>(row, &mut window);
                if PRODUCES {
                    self.quotients[row] = window.cancel_row(simd, V::fetch(inverse), self.modulus);
                } else {
                    window.add_row(V::fetch(&self.quotients[row]), self.modulus);
                    self.leaving[row] = window.take_lowest(simd);
                }
                window.slide(V::fetch(&self.entering[row]));
            },
        );
        if PART == part::SQUARE {
            rounds::<V, W>(0, step);
        } else {
            // Row 0 is code of its own where it differs.
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

    /// A row's first tile is the one that produces.
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

/// Adds the square of limbs to columns, without a reduction: code of its own for every square on the diagonal but the first,
/// which together with their reductions would not fit in the instruction cache. The doubles are made.
#[inline(always)]
pub(super) fn add_square<S: Simd, const W: usize>(
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
