//! The kernels: a square of `W` by `W` limbs of a product and of its reduction, over a window of columns in registers.
//!
//! With `R = 2^(52 L)`, a Montgomery product is `(a b + q n) / R`, where limb i of q makes column i vanish. Both sums are cut
//! into tiles of `W` rows (limbs of a and q) and `W` columns (limbs of b and n). Row i of a tile adds `a_i b_j` and `q_i n_j` for
//! its j to a window of `W + 1` columns, of which the lowest then leaves and another enters above. Tiles with the lowest
//! limbs of n produce q: `q_i = column * -n^-1 mod 2^52`. The others consume it.
//!
//! A column is a sum of at most `4 L` halves of products (52 bits each) and carries, so it stays below 2^61 for L to 80.

use crate::simd::{Simd, Vector};

/// Bits of a limb.
pub(super) const LIMB_BITS: u32 = 52;

/// The largest limb.
pub(super) const LIMB: u64 = (1 << LIMB_BITS) - 1;

/// `W + 1` neighbouring columns: the lowest `W`, and the one above them.
#[derive(Clone, Copy)]
pub(super) struct Window<V, const W: usize> {
    pub(super) low: [V; W],
    pub(super) top: V,
}

/// What a tile adds besides its reduction.
pub(super) mod part {
    /// Nothing.
    pub(in crate::rsa) const NONE: u8 = 0;
    /// The product of rows and multiplicand.
    pub(in crate::rsa) const PRODUCT: u8 = 1;
    /// The square of the rows, of which the multiplicand is the double.
    pub(in crate::rsa) const SQUARE: u8 = 2;
}

/// The operands of a tile.
pub(super) struct Tile<'a, V, const W: usize> {
    /// Limbs of a.
    pub(super) rows: &'a [V; W],
    /// Limbs of b, or of a doubled.
    pub(super) multiplicand: &'a [V; W],
    /// Limbs of n.
    pub(super) modulus: &'a [V; W],
    /// Limbs of q that belong to the rows.
    pub(super) quotients: &'a mut [V; W],
    /// Columns that enter the window above.
    pub(super) entering: &'a [V; W],
    /// Columns that leave it below, as limbs. Those that vanish are not written.
    pub(super) leaving: &'a mut [V; W],
}

impl<V: Vector, const W: usize> Tile<'_, V, W> {
    /// Adds the tile to the window. `PRODUCES` says whether q is computed (from `inverse`, -n^-1 mod 2^52) or given.
    #[inline(always)]
    pub(super) fn add<S: Simd<V = V>, const PART: u8, const PRODUCES: bool>(
        &mut self,
        simd: S,
        inverse: &V,
        mut window: Window<V, W>,
    ) -> Window<V, W> {
        let mut step = inlined(
            #[inline(always)]
            |row: usize| {
                match PART {
                    part::PRODUCT => window.add_row(V::fetch(&self.rows[row]), self.multiplicand),
                    part::SQUARE => window.add_square_row(row, self.rows, self.multiplicand),
                    _ => {}
                }
                if PRODUCES {
                    self.quotients[row] = window.cancel_row(simd, V::fetch(inverse), self.modulus);
                } else {
                    window.add_row(V::fetch(&self.quotients[row]), self.modulus);
                    self.leaving[row] = window.settle_lowest(simd);
                }
                window.slide(V::fetch(&self.entering[row]));
            },
        );
        if PART == part::SQUARE {
            rounds::<V, W>(0, step);
        } else {
            for row in 0..W {
                step(row);
            }
        }
        window
    }
}

impl<V: Vector, const W: usize> Window<V, W> {
    /// The columns from `columns[0]` on.
    #[inline(always)]
    pub(super) fn load<S: Simd<V = V>>(simd: S, columns: &[V]) -> Self {
        let mut window = Self { low: [simd.zero(); W], top: simd.zero() };
        if let Some((low, [top, ..])) = columns.split_first_chunk::<W>() {
            rounds::<V, W>(
                0,
                #[inline(always)]
                |j| window.low[j] = low[j],
            );
            window.top = *top;
        }
        window
    }

    /// Adds `low52(x) * b_j` to the columns j and j + 1.
    #[inline(always)]
    fn add_row(&mut self, x: V, b: &[V; W]) {
        rounds::<V, W>(
            0,
            #[inline(always)]
            |j| self.add_limb(j, x, V::fetch(&b[j])),
        );
    }

    /// Adds row `i` of a square: `x_i^2`, and `x_i` times the limbs above it doubled.
    #[inline(always)]
    fn add_square_row(&mut self, i: usize, rows: &[V; W], doubled: &[V; W]) {
        let x = V::fetch(&rows[i]);
        self.add_limb(i, x, x);
        if i + 1 < W {
            // The double of the next limb without the bit that x_i itself would shift in; bit 52 is not read.
            let next = V::fetch(&rows[i + 1]);
            self.add_limb(i + 1, x, next + next);
        } else {
            // In the tile beside this one the double of the limb above has the bit that x_i shifts in: take it off.
            self.top = self.top - (x & x.shl::<12>().sar::<63>());
        }
        rounds::<V, W>(
            i + 2,
            #[inline(always)]
            |j| self.add_limb(j, x, V::fetch(&doubled[j])),
        );
    }

    /// Adds the multiple of n that makes the lowest column vanish, and returns the multiplier. The column's carry needs no
    /// product: it is one more than its high bits unless its low bits were zero already.
    #[inline(always)]
    fn cancel_row<S: Simd<V = V>>(&mut self, simd: S, inverse: V, n: &[V; W]) -> V {
        let quotient = simd.zero().pinned_lo(self.low[0], inverse);
        let carry = (self.low[0] + simd.splat(LIMB)).shr::<LIMB_BITS>();
        self.low[1] = (self.low[1] + carry).pinned_hi(quotient, V::fetch(&n[0]));
        rounds::<V, W>(
            1,
            #[inline(always)]
            |j| self.add_limb(j, quotient, V::fetch(&n[j])),
        );
        quotient
    }

    #[inline(always)]
    fn add_limb(&mut self, column: usize, x: V, y: V) {
        self.low[column] = self.low[column].pinned_lo(x, y);
        let above = if column + 1 < W { &mut self.low[column + 1] } else { &mut self.top };
        *above = above.pinned_hi(x, y);
    }

    /// The limb of the lowest column, whose carry goes to the next.
    #[inline(always)]
    fn settle_lowest<S: Simd<V = V>>(&mut self, simd: S) -> V {
        self.low[1] = self.low[1] + self.low[0].shr::<LIMB_BITS>();
        self.low[0] & simd.splat(LIMB)
    }

    /// Moves up by one column.
    #[inline(always)]
    fn slide(&mut self, entering: V) {
        rounds::<V, W>(
            1,
            #[inline(always)]
            |j| self.low[j - 1] = self.low[j],
        );
        self.low[W - 1] = self.top;
        self.top = entering;
    }

    /// Writes all columns as limbs; the one above them must come out as zero.
    #[inline(always)]
    pub(super) fn settle<S: Simd<V = V>>(self, simd: S, limbs: &mut [V; W]) {
        let mut carry = simd.zero();
        rounds::<V, W>(
            0,
            #[inline(always)]
            |j| {
                let column = self.low[j] + carry;
                limbs[j] = column & simd.splat(LIMB);
                carry = column.shr::<LIMB_BITS>();
            },
        );
        debug_assert_eq!((self.top + carry).words(), [0; 8]);
    }

    /// Writes all columns as they are; there is nothing above them.
    #[inline(always)]
    pub(super) fn store(self, columns: &mut [V; W]) {
        rounds::<V, W>(
            0,
            #[inline(always)]
            |j| columns[j] = self.low[j],
        );
        debug_assert_eq!(self.top.words(), [0; 8]);
    }
}

/// Calls `body` for `first` to `N - 1`, at most 19; where the CPU's kernels unroll, each call is code of its own.
#[inline(always)]
fn rounds<V: Vector, const N: usize>(first: usize, mut body: impl FnMut(usize)) {
    const { assert!(N <= 20) };
    if !V::UNROLLS {
        (first..N).for_each(body);
        return;
    }
    let mut at = inlined(
        #[inline(always)]
        |round: usize| {
            if (first..N).contains(&round) {
                body(round);
            }
        },
    );
    at(0);
    at(1);
    at(2);
    at(3);
    at(4);
    at(5);
    at(6);
    at(7);
    at(8);
    at(9);
    at(10);
    at(11);
    at(12);
    at(13);
    at(14);
    at(15);
    at(16);
    at(17);
    at(18);
    at(19);
}

/// A closure with an attribute may only be written as an argument.
#[inline(always)]
fn inlined<F: FnMut(usize)>(body: F) -> F {
    body
}
