//! A window of neighbouring columns in registers, on which the kernels of products are built.
//!
//! Row i of a product adds `a_i b_j` to columns j and j + 1, counted from i: the low halves of products to one, the
//! high halves to the next. It adds `q_i n_j` likewise; `q_i = column * -n^-1 mod 2^52` makes column i vanish. Then
//! the window moves up by one column. A column is a sum of at most `4 L` halves of products (52 bits each) and
//! carries, so it stays below 2^61 for L up to 80.

use crate::simd::{MulSimd, MulVector};

/// The bits of a limb.
pub(super) const LIMB_BITS: u32 = 52;

/// The largest limb.
pub(super) const LIMB: u64 = (1 << LIMB_BITS) - 1;

/// `W + 1` neighbouring columns: the lowest `W`, and the one above them.
#[derive(Clone, Copy)]
pub(super) struct ColumnWindow<V, const W: usize> {
    low: [V; W],
    top: V,
}

impl<V: MulVector, const W: usize> ColumnWindow<V, W> {
    /// Returns a window of zeros.
    #[inline(always)]
    pub(super) fn zero<S: MulSimd<V = V>>(simd: S) -> Self {
        Self { low: [simd.zero(); W], top: simd.zero() }
    }

    /// Returns a window of the lowest columns and the one above them.
    #[inline(always)]
    pub(super) fn new<S: MulSimd<V = V>>(simd: S, low: &[V; W], top: V) -> Self {
        let mut window = Self::zero(simd);
        rounds::<V, W>(
            0,
            #[inline(always)]
            |j| window.low[j] = low[j],
        );
        window.top = top;
        window
    }

    /// Returns the lowest column.
    #[inline(always)]
    pub(super) fn lowest(&self) -> V {
        self.low[0]
    }

    /// Adds `low52(x) * b_j` to the columns j and j + 1.
    #[inline(always)]
    pub(super) fn add_row(&mut self, x: V, b: &[V; W]) {
        rounds::<V, W>(
            0,
            #[inline(always)]
            |j| self.add_limb(j, x, V::fetch(&b[j])),
        );
    }

    /// Adds row `i` of a square: `x_i^2`, and `x_i` times the doubled limbs above it, which row 0 has stored.
    #[inline(always)]
    pub(super) fn add_square_row(&mut self, i: usize, limbs: &[V; W], doubled: &[V; W]) {
        let x = self.add_square(i, limbs);
        rounds::<V, W>(
            i + 2,
            #[inline(always)]
            |j| self.add_limb(j, x, V::fetch(&doubled[j])),
        );
    }

    /// Adds row 0 of a square, and stores the doubled limbs for the other rows.
    #[inline(always)]
    pub(super) fn add_first_square_row(&mut self, limbs: &[V; W], doubled: &mut [V; W]) {
        let x = self.add_square(0, limbs);
        self.add_doubling(2, x, V::fetch(&limbs[1]), limbs, doubled);
    }

    /// Adds `x` times the doubled limbs, and stores them. `below` is the limb below the first.
    #[inline(always)]
    pub(super) fn add_doubling_row(&mut self, x: V, below: V, limbs: &[V; W], doubled: &mut [V; W]) {
        self.add_doubling(0, x, below, limbs, doubled);
    }

    #[inline(always)]
    fn add_doubling(&mut self, first: usize, x: V, below: V, limbs: &[V; W], doubled: &mut [V; W]) {
        let mut below = below;
        rounds::<V, W>(
            first,
            #[inline(always)]
            |j| {
                let limb = V::fetch(&limbs[j]);
                // Bit 52 stays set; the products do not read it.
                doubled[j] = limb + limb + below.shr::<{ LIMB_BITS - 1 }>();
                self.add_limb(j, x, doubled[j]);
                below = limb;
            },
        );
    }

    /// Adds `x_i^2` and twice `x_i x_(i+1)`, and returns `x_i`. The double of that limb lacks the bit that x_i
    /// shifts into it.
    #[inline(always)]
    fn add_square(&mut self, i: usize, limbs: &[V; W]) -> V {
        let x = V::fetch(&limbs[i]);
        self.add_limb(i, x, x);
        if i + 1 < W {
            let next = V::fetch(&limbs[i + 1]);
            self.add_limb(i + 1, x, next + next);
        } else {
            // In the next tile, the double of the limb above includes the bit that x_i shifts in. It is subtracted
            // here.
            self.top = self.top - (x & x.shl::<12>().sar::<63>());
        }
        x
    }

    /// Adds the multiple of n that makes the lowest column vanish, and returns the multiplier. The carry of the
    /// column needs no product: it is one more than its high bits, unless its low bits were zero.
    #[inline(always)]
    pub(super) fn cancel_row<S: MulSimd<V = V>>(&mut self, simd: S, inverse: V, n: &[V; W]) -> V {
        // Needs no mask: the instruction reads the low 52 bits of the column.
        let quotient = simd.zero().pinned_lo(self.low[0], inverse);
        // Adding the largest limb rounds up, so any nonzero low bits carry one.
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
        // Pinned: in another order the compiler keeps more products waiting than there are registers.
        let above = if column + 1 < W { &mut self.low[column + 1] } else { &mut self.top };
        *above = above.pinned_hi(x, y);
    }

    /// Returns the limb of the lowest column, and adds its carry to the next column.
    #[inline(always)]
    pub(super) fn take_lowest<S: MulSimd<V = V>>(&mut self, simd: S) -> V {
        self.low[1] = self.low[1] + self.low[0].shr::<LIMB_BITS>();
        self.low[0] & simd.splat(LIMB)
    }

    /// Moves the window up by one column.
    #[inline(always)]
    pub(super) fn slide(&mut self, entering: V) {
        rounds::<V, W>(
            1,
            #[inline(always)]
            |j| self.low[j - 1] = self.low[j],
        );
        self.low[W - 1] = self.top;
        self.top = entering;
    }

    /// Writes all columns as limbs. The column above them must become zero.
    #[inline(always)]
    pub(super) fn store_limbs<S: MulSimd<V = V>>(self, simd: S, limbs: &mut [V; W]) {
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

    /// Writes all columns without carries. The column above them must be zero.
    #[inline(always)]
    pub(super) fn store_columns(self, columns: &mut [V; W]) {
        rounds::<V, W>(
            0,
            #[inline(always)]
            |j| columns[j] = self.low[j],
        );
        debug_assert_eq!(self.top.words(), [0; 8]);
    }
}

/// Calls `body` with `first` to `N - 1`, which is at most 19. If the kernels of the CPU unroll, each call is code of
/// its own.
#[inline(always)]
pub(super) fn rounds<V: MulVector, const N: usize>(first: usize, mut body: impl FnMut(usize)) {
    // The calls below are written out up to 19.
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
    // Calls and not a loop: columns are registers only if their indices are constants, and the compiler does not unroll
    // loops of this size.
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

/// Marks a closure as always inlined. An attribute on a closure is only allowed in an argument.
#[inline(always)]
pub(super) fn inlined<F: FnMut(usize)>(body: F) -> F {
    body
}
