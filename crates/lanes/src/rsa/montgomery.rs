//! Eight moduli, and Montgomery products and squares under them.
//!
//! `R = 2^(52 L)` with `16 n <= R`. Every number is L limbs of 52 bits, fully carried. A product of numbers below `4 n` is
//! below `2 n`; so is one of a number below R with one below n. `docs/math/rsa.md` has the proofs.

use zeroize::Zeroizing;

use super::tile::{LIMB_BITS, Tile, Window, part};
use crate::simd::{Simd, Vector};

/// Bits that a modulus leaves free in its limbs: `16 n <= R`.
const SPARE_BITS: usize = 4;

/// Numbers of limbs that have kernels.
const SIZES: [usize; 6] = [10, 20, 30, 40, 60, 80];

/// Widest tile.
const WIDEST: usize = 20;

/// Vectors of a number, or of whatever is as secret.
pub(super) type Number<S> = Zeroizing<Vec<<S as Simd>::V>>;

/// Limbs for a modulus of so many bits, or None where it is too long.
pub(super) fn limbs_for(bits: usize) -> Option<usize> {
    SIZES.into_iter().find(|limbs| bits + SPARE_BITS <= limbs * LIMB_BITS as usize)
}

/// Eight odd moduli of L limbs, one per lane.
#[derive(Debug)]
pub(crate) struct Moduli<S: Simd> {
    pub(super) simd: S,
    limbs: Number<S>,
    /// -n^-1 mod 2^52.
    inverse: S::V,
}

/// Places for columns, quotients and doubles of the product at work.
#[derive(Debug)]
pub(crate) struct Scratch<S: Simd> {
    quotients: Number<S>,
    doubled: Number<S>,
    columns: [Number<S>; 2],
    nothing: Number<S>,
}

impl<S: Simd> Scratch<S> {
    pub(crate) fn new(simd: S, limbs: usize) -> Self {
        let zeros = |len| number(simd, len);
        let columns = || zeros(limbs + WIDEST + 1);
        Self {
            quotients: zeros(WIDEST),
            doubled: zeros(limbs),
            columns: [columns(), columns()],
            nothing: columns(),
        }
    }
}

/// Zero.
pub(super) fn number<S: Simd>(simd: S, limbs: usize) -> Number<S> {
    Zeroizing::new(vec![simd.zero(); limbs])
}

impl<S: Simd> Moduli<S> {
    /// Of limbs and of `-n^-1 mod 2^52`.
    pub(crate) fn new(simd: S, limbs: Number<S>, inverse: S::V) -> Self {
        debug_assert!(SIZES.contains(&limbs.len()));
        Self { simd, limbs, inverse }
    }

    /// The CPU.
    pub(super) fn simd(&self) -> S {
        self.simd
    }

    /// n.
    pub(crate) fn limbs(&self) -> &[S::V] {
        &self.limbs
    }

    /// `a b / R mod n`, below `a b / R + n`.
    pub(crate) fn product(&self, a: &[S::V], b: &[S::V], out: &mut [S::V], scratch: &mut Scratch<S>) {
        match self.limbs.len() {
            10 => self.rows::<10, false>(a, b, out, scratch),
            30 => self.rows::<15, false>(a, b, out, scratch),
            _ => self.rows::<20, false>(a, b, out, scratch),
        }
    }

    /// `a^2 / R mod n`, below `a^2 / R + n`. The highest limb of a is below 2^51, as of any number below R / 2.
    pub(crate) fn square(&self, a: &[S::V], out: &mut [S::V], scratch: &mut Scratch<S>) {
        let mut doubled = std::mem::take(&mut scratch.doubled);
        self.simd.call(
            #[inline(always)]
            || double(self.simd, a, &mut doubled),
        );
        match self.limbs.len() {
            10 => self.rows::<10, true>(a, &doubled, out, scratch),
            30 => self.rows::<15, true>(a, &doubled, out, scratch),
            _ => self.rows::<20, true>(a, &doubled, out, scratch),
        }
        scratch.doubled = doubled;
    }

    /// Rows of tiles from the lowest limbs of a to the highest.
    fn rows<const W: usize, const IS_SQUARE: bool>(
        &self,
        a: &[S::V],
        b: &[S::V],
        out: &mut [S::V],
        scratch: &mut Scratch<S>,
    ) {
        let (a, b, n) = (a.as_chunks::<W>().0, b.as_chunks::<W>().0, self.limbs.as_chunks::<W>().0);
        let out = out.as_chunks_mut::<W>().0;
        let Scratch { quotients, columns: [from, to], nothing, .. } = scratch;
        let Some(quotients) = quotients.first_chunk_mut::<W>() else { return };
        debug_assert!(a.len() == n.len() && b.len() == n.len() && out.len() == n.len());
        for index in 0..a.len() {
            let entering = if index == 0 { &**nothing } else { &**from };
            let is_last = index + 1 == a.len();
            let leaving = if is_last { &mut *out } else { to.as_chunks_mut::<W>().0 };
            let mut row = Row {
                moduli: self,
                index,
                a: &a[index],
                b,
                n,
                quotients: &mut *quotients,
                entering,
                leaving,
            };
            self.simd.call(
                #[inline(always)]
                || row.run::<IS_SQUARE>(is_last),
            );
            std::mem::swap(from, to);
        }
    }
}

/// A row of tiles: `W` limbs of a and of q, times all of b and n.
struct Row<'a, S: Simd, const W: usize> {
    moduli: &'a Moduli<S>,
    index: usize,
    a: &'a [S::V; W],
    b: &'a [[S::V; W]],
    n: &'a [[S::V; W]],
    quotients: &'a mut [S::V; W],
    /// Columns from the row's lowest on.
    entering: &'a [S::V],
    /// The same without the lowest `W`, which vanish.
    leaving: &'a mut [[S::V; W]],
}

impl<S: Simd, const W: usize> Row<'_, S, W> {
    /// What leaves are columns of the next row, or the limbs of the result.
    #[inline(always)]
    fn run<const IS_SQUARE: bool>(&mut self, is_last: bool) {
        let (simd, index, tiles) = (self.moduli.simd, self.index, self.n.len());
        let mut window = Window::load(simd, self.entering);
        if !IS_SQUARE {
            window = self.tile::<{ part::PRODUCT }, true>(0, window);
            for at in 1..tiles {
                window = self.tile::<{ part::PRODUCT }, false>(at, window);
            }
        } else {
            window = if index == 0 {
                self.tile::<{ part::SQUARE }, true>(0, window)
            } else {
                self.tile::<{ part::NONE }, true>(0, window)
            };
            for at in 1..index {
                window = self.tile::<{ part::NONE }, false>(at, window);
            }
            if index > 0 {
                window = self.tile::<{ part::SQUARE }, false>(index, window);
            }
            for at in index + 1..tiles {
                window = self.tile::<{ part::PRODUCT }, false>(at, window);
            }
        }
        let top = &mut self.leaving[tiles - 1];
        if is_last { window.settle(simd, top) } else { window.store(top) }
    }

    #[inline(always)]
    fn tile<const PART: u8, const PRODUCES: bool>(
        &mut self,
        at: usize,
        window: Window<S::V, W>,
    ) -> Window<S::V, W> {
        let entering = &self.entering[(at + 1) * W + 1..(at + 2) * W + 1];
        let Some(entering) = entering.first_chunk() else { return window };
        let mut tile = Tile {
            rows: self.a,
            multiplicand: &self.b[at],
            modulus: &self.n[at],
            quotients: &mut *self.quotients,
            entering,
            leaving: &mut self.leaving[at.saturating_sub(1)],
        };
        tile.add::<S, PART, PRODUCES>(self.moduli.simd, &self.moduli.inverse, window)
    }
}

/// Limb j of `2 a` with bit 52 of it still there; the kernels do not read it.
#[inline(always)]
fn double<S: Simd>(simd: S, a: &[S::V], doubled: &mut [S::V]) {
    let mut below = simd.zero();
    for (double, limb) in doubled.iter_mut().zip(a) {
        *double = *limb + *limb + below.shr::<{ LIMB_BITS - 1 }>();
        below = *limb;
    }
}
