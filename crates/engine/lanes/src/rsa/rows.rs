//! Products of more limbs than a window has: rows of tiles, from the lowest limbs of the factor to the highest.

use super::factor::LimbFactor;
use super::memory::{FreeSpans, VectorSpan};
use super::tile::{TileOperands, add_square, part};
use super::window::ColumnWindow;
use crate::simd::{MulSimd, MulVector};

/// The widest tile.
// 21 columns, two factors and what a row needs leave a few of the 32 registers.
const WIDEST: usize = 20;

/// The quotients, limbs and columns of the current product.
#[derive(Debug)]
pub(super) struct RowScratch<'m, V> {
    quotients: &'m mut [V],
    kept: &'m mut [V],
    columns: [&'m mut [V]; 2],
    nothing: &'m mut [V],
}

impl<'m, V> RowScratch<'m, V> {
    /// Returns the memory, which is empty for zero limbs. Columns start at the offset of values. Quotients and limbs
    /// are written while the first tiles of a modulus and a value are read, so they are placed between those two.
    pub(super) fn spans(limbs: usize) -> [VectorSpan; 5] {
        let (some, columns) = if limbs == 0 { (0, 0) } else { (WIDEST, limbs + WIDEST + 1) };
        [
            VectorSpan::at(22, some),
            VectorSpan::at(21, some),
            VectorSpan::at(42, columns),
            VectorSpan::at(42, columns),
            VectorSpan::anywhere(if limbs == 0 { 0 } else { WIDEST + 1 }),
        ]
    }

    pub(super) fn new(limbs: usize, spans: &mut FreeSpans<'m, V>) -> Self {
        let [quotients, kept, from, to, nothing] = spans.take(Self::spans(limbs));
        Self { quotients, kept, columns: [from, to], nothing }
    }
}

/// A product to be computed: `factor value / R mod n`.
pub(super) struct ProductTask<'a, V, A> {
    pub(super) factor: A,
    pub(super) value: &'a [V],
    pub(super) modulus: &'a [V],
    /// -n^-1 mod 2^52.
    pub(super) inverse: &'a V,
    /// Memory for the value doubled.
    pub(super) doubled: &'a mut [V],
    pub(super) out: &'a mut [V],
}

impl<V: MulVector, A: LimbFactor<V>> ProductTask<'_, V, A> {
    pub(super) fn run<S: MulSimd<V = V>>(self, simd: S, scratch: &mut RowScratch<'_, V>) {
        match self.value.len() {
            // 30 is no multiple of 20; two tiles of 15 waste nothing.
            30 => self.rows::<S, 15>(simd, scratch),
            _ => self.rows::<S, WIDEST>(simd, scratch),
        }
    }

    /// Runs the rows of tiles from the lowest limbs of a to the highest.
    fn rows<S: MulSimd<V = V>, const W: usize>(self, simd: S, scratch: &mut RowScratch<'_, V>) {
        let (b, n) = (self.value.as_chunks::<W>().0, self.modulus.as_chunks::<W>().0);
        let out = self.out.as_chunks_mut::<W>().0;
        let RowScratch { quotients, kept, columns: [from, to], nothing } = scratch;
        let doubled = self.doubled.as_chunks_mut::<W>().0;
        let (Some(quotients), Some(kept)) = (quotients.first_chunk_mut::<W>(), kept.first_chunk_mut::<W>())
        else {
            return;
        };
        debug_assert!(b.len() == n.len() && out.len() == n.len());
        for index in 0..b.len() {
            // The first square of the diagonal is part of its tile, which computes the doubles too.
            if A::IS_SQUARE && index > 0 {
                let columns = &mut from.as_chunks_mut::<W>().0[index..];
                simd.call(
                    #[inline(always)]
                    || add_square(simd, &b[index], &doubled[index], columns),
                );
            }
            let entering = if index == 0 { &**nothing } else { &**from };
            let is_last = index + 1 == b.len();
            let leaving = if is_last { &mut *out } else { to.as_chunks_mut::<W>().0 };
            let mut row = TileRow {
                simd,
                inverse: self.inverse,
                index,
                a: self.factor,
                kept: &mut *kept,
                b,
                doubled: &mut *doubled,
                n,
                quotients: &mut *quotients,
                entering,
                leaving,
            };
            simd.call(
                #[inline(always)]
                || row.run(is_last),
            );
            std::mem::swap(from, to);
        }
        // The next product starts with zeros above its columns.
        to[W * b.len()..].fill(simd.zero());
    }
}

/// A row of tiles: `W` limbs of a and of q, times all of b and n.
struct TileRow<'a, S: MulSimd, A, const W: usize> {
    simd: S,
    inverse: &'a S::V,
    index: usize,
    a: A,
    /// The row's limbs of a.
    kept: &'a mut [S::V; W],
    b: &'a [[S::V; W]],
    doubled: &'a mut [[S::V; W]],
    n: &'a [[S::V; W]],
    quotients: &'a mut [S::V; W],
    /// The columns from the lowest of the row on.
    entering: &'a [S::V],
    /// The same columns without the lowest `W`, which vanish.
    leaving: &'a mut [[S::V; W]],
}

impl<S: MulSimd, A: LimbFactor<S::V>, const W: usize> TileRow<'_, S, A, W> {
    /// Runs the row. Its columns are input of the next row, or the limbs of the result.
    #[inline(always)]
    fn run(&mut self, is_last: bool) {
        let Some((low, [top, ..])) = self.entering.split_first_chunk::<W>() else { return };
        let window = ColumnWindow::new(self.simd, low, *top);
        let window = if !A::IS_SQUARE {
            self.product(window)
        } else if self.index == 0 {
            self.first_of_square(window)
        } else {
            self.next_of_square(window)
        };
        let top = &mut self.leaving[self.n.len() - 1];
        if is_last { window.store_limbs(self.simd, top) } else { window.store_columns(top) }
    }

    #[inline(always)]
    fn product(&mut self, window: ColumnWindow<S::V, W>) -> ColumnWindow<S::V, W> {
        let mut window = self.tile::<{ part::PRODUCT }, true>(0, window);
        for at in 1..self.n.len() {
            window = self.tile::<{ part::PRODUCT }, false>(at, window);
        }
        window
    }

    #[inline(always)]
    fn first_of_square(&mut self, window: ColumnWindow<S::V, W>) -> ColumnWindow<S::V, W> {
        let mut window = self.tile::<{ part::SQUARE }, true>(0, window);
        for at in 1..self.n.len() {
            window = self.tile::<{ part::DOUBLING }, false>(at, window);
        }
        window
    }

    #[inline(always)]
    fn next_of_square(&mut self, window: ColumnWindow<S::V, W>) -> ColumnWindow<S::V, W> {
        let mut window = self.tile::<{ part::NONE }, true>(0, window);
        for at in 1..=self.index {
            window = self.tile::<{ part::NONE }, false>(at, window);
        }
        for at in self.index + 1..self.n.len() {
            window = self.tile::<{ part::TWICE }, false>(at, window);
        }
        window
    }

    #[inline(always)]
    fn tile<const PART: u8, const PRODUCES: bool>(
        &mut self,
        at: usize,
        window: ColumnWindow<S::V, W>,
    ) -> ColumnWindow<S::V, W> {
        // The first row has no columns from below; its zeros are as long as one tile.
        let above = if self.index == 0 { 1 } else { (at + 1) * W + 1 };
        let Some(entering) = self.entering[above..].first_chunk() else { return window };
        let mut tile = TileOperands {
            factor: self.a,
            first: self.index * W,
            kept: &mut *self.kept,
            multiplicand: &self.b[at],
            below: if at == 0 { self.simd.zero() } else { self.b[at - 1][W - 1] },
            doubled: &mut self.doubled[at],
            modulus: &self.n[at],
            quotients: &mut *self.quotients,
            entering,
            leaving: &mut self.leaving[at.saturating_sub(1)],
        };
        tile.add::<S, PART, PRODUCES>(self.simd, self.inverse, window)
    }
}
