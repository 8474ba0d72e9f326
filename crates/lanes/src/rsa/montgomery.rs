//! Eight moduli, and Montgomery products and squares under them.
//!
//! `R = 2^(52 L)` with `16 n <= R`. Every number is L limbs of 52 bits, fully carried. A product of numbers below `4 n` is
//! below `2 n`; so is one of a number below R with one below n. `docs/math/rsa.md` has the proofs.

use zeroize::Zeroizing;

use super::factor::{Factor, Plain};
use super::single::{Operands, products, squares};
use super::tile::{Tile, add_square, part};
use super::window::{LIMB_BITS, Window};
use crate::simd::Simd;

/// Bits that a modulus leaves free in its limbs: `16 n <= R`.
const SPARE_BITS: usize = 4;

/// Numbers of limbs that have kernels.
const SIZES: [usize; 6] = [10, 20, 30, 40, 60, 80];

/// Widest tile.
const WIDEST: usize = 20;

/// Limbs of products whose windows fit in registers two by two.
pub(super) const PAIRED: usize = 10;

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

/// Places for quotients, limbs, doubles and columns of the product at work.
#[derive(Debug)]
pub(crate) struct Scratch<S: Simd> {
    quotients: Number<S>,
    kept: Number<S>,
    doubled: Number<S>,
    columns: [Number<S>; 2],
    nothing: Number<S>,
}

impl<S: Simd> Scratch<S> {
    pub(crate) fn new(simd: S, limbs: usize) -> Self {
        let zeros = |len| number(simd, len);
        let columns = || zeros(if limbs > WIDEST { limbs + WIDEST + 1 } else { 0 });
        Self {
            quotients: zeros(WIDEST),
            kept: zeros(WIDEST),
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

    /// Takes other moduli: their inverses, and a place for their limbs.
    pub(super) fn set(&mut self, inverses: S::V) -> &mut [S::V] {
        self.inverse = inverses;
        &mut self.limbs
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
        Task { moduli: self, a: Plain(a), b, out, scratch }.run();
    }
}

/// Products (`a b / R mod n`, below `a b / R + n`) one after the other, or two side by side where their windows fit in registers
/// together. The highest limb of a number that is squared is below 2^51, as of any number below R / 2.
pub(crate) fn in_turn<'a, S: Simd, A: Factor<S::V>>(tasks: impl IntoIterator<Item = Task<'a, S, A>>) {
    let mut tasks = tasks.into_iter();
    while let Some(first) = tasks.next() {
        match tasks.next() {
            Some(second) if first.b.len() == PAIRED => first.beside(second),
            Some(second) => {
                first.run();
                second.run();
            }
            None => first.run(),
        }
    }
}

/// A product to be computed.
pub(crate) struct Task<'a, S: Simd, A> {
    pub(crate) moduli: &'a Moduli<S>,
    pub(crate) a: A,
    pub(crate) b: &'a [S::V],
    pub(crate) out: &'a mut [S::V],
    pub(crate) scratch: &'a mut Scratch<S>,
}

impl<'a, S: Simd, A: Factor<S::V>> Task<'a, S, A> {
    pub(crate) fn run(self) {
        match self.b.len() {
            10 => self.single::<10>(),
            20 => self.single::<20>(),
            30 => self.rows::<15>(),
            _ => self.rows::<20>(),
        }
    }

    fn beside(self, other: Self) {
        let simd = self.moduli.simd;
        let (Some(own), Some(other)) = (self.operands::<PAIRED>(), other.operands::<PAIRED>()) else {
            return;
        };
        single(simd, &mut [own, other]);
    }

    fn single<const W: usize>(self) {
        let simd = self.moduli.simd;
        let Some(operands) = self.operands::<W>() else { return };
        single(simd, &mut [operands]);
    }

    fn operands<const W: usize>(self) -> Option<Operands<'a, S::V, A, W>> {
        Some(Operands {
            a: self.a,
            b: self.b.first_chunk()?,
            n: self.moduli.limbs.first_chunk()?,
            inverse: &self.moduli.inverse,
            doubled: self.scratch.doubled.first_chunk_mut()?,
            out: self.out.first_chunk_mut()?,
        })
    }

    /// Rows of tiles from the lowest limbs of a to the highest.
    fn rows<const W: usize>(self) {
        let (b, n) = (self.b.as_chunks::<W>().0, self.moduli.limbs.as_chunks::<W>().0);
        let out = self.out.as_chunks_mut::<W>().0;
        let Scratch { quotients, kept, doubled, columns: [from, to], nothing } = self.scratch;
        let doubled = doubled.as_chunks_mut::<W>().0;
        let (Some(quotients), Some(kept)) = (quotients.first_chunk_mut::<W>(), kept.first_chunk_mut::<W>())
        else {
            return;
        };
        debug_assert!(b.len() == n.len() && out.len() == n.len());
        for index in 0..b.len() {
            if A::IS_ITSELF && index > 0 {
                let columns = &mut from.as_chunks_mut::<W>().0[index..];
                self.moduli.simd.call(
                    #[inline(always)]
                    || add_square(self.moduli.simd, &b[index], &doubled[index], columns),
                );
            }
            let entering = if index == 0 { &**nothing } else { &**from };
            let is_last = index + 1 == b.len();
            let leaving = if is_last { &mut *out } else { to.as_chunks_mut::<W>().0 };
            let mut row = Row {
                moduli: self.moduli,
                index,
                a: self.a,
                kept: &mut *kept,
                b,
                doubled: &mut *doubled,
                n,
                quotients: &mut *quotients,
                entering,
                leaving,
            };
            self.moduli.simd.call(
                #[inline(always)]
                || row.run(is_last),
            );
            std::mem::swap(from, to);
        }
        // Nothing enters above the columns of the next product.
        to[W * b.len()..].fill(self.moduli.simd.zero());
    }
}

fn single<S: Simd, A: Factor<S::V>, const W: usize, const N: usize>(
    simd: S,
    streams: &mut [Operands<'_, S::V, A, W>; N],
) {
    simd.call(
        #[inline(always)]
        || {
            if A::IS_ITSELF {
                squares(simd, streams);
            } else {
                products(simd, streams);
            }
        },
    );
}

/// A row of tiles: `W` limbs of a and of q, times all of b and n.
struct Row<'a, S: Simd, A, const W: usize> {
    moduli: &'a Moduli<S>,
    index: usize,
    a: A,
    /// The row's limbs of a.
    kept: &'a mut [S::V; W],
    b: &'a [[S::V; W]],
    doubled: &'a mut [[S::V; W]],
    n: &'a [[S::V; W]],
    quotients: &'a mut [S::V; W],
    /// Columns from the row's lowest on.
    entering: &'a [S::V],
    /// The same without the lowest `W`, which vanish.
    leaving: &'a mut [[S::V; W]],
}

impl<S: Simd, A: Factor<S::V>, const W: usize> Row<'_, S, A, W> {
    /// What leaves are columns of the next row, or the limbs of the result.
    #[inline(always)]
    fn run(&mut self, is_last: bool) {
        let Some((low, [top, ..])) = self.entering.split_first_chunk::<W>() else { return };
        let window = Window::new(self.moduli.simd, low, *top);
        let window = if !A::IS_ITSELF {
            self.product(window)
        } else if self.index == 0 {
            self.first_of_square(window)
        } else {
            self.next_of_square(window)
        };
        let top = &mut self.leaving[self.n.len() - 1];
        if is_last { window.settle(self.moduli.simd, top) } else { window.store(top) }
    }

    #[inline(always)]
    fn product(&mut self, window: Window<S::V, W>) -> Window<S::V, W> {
        let mut window = self.tile::<{ part::PRODUCT }, true>(0, window);
        for at in 1..self.n.len() {
            window = self.tile::<{ part::PRODUCT }, false>(at, window);
        }
        window
    }

    #[inline(always)]
    fn first_of_square(&mut self, window: Window<S::V, W>) -> Window<S::V, W> {
        let mut window = self.tile::<{ part::SQUARE }, true>(0, window);
        for at in 1..self.n.len() {
            window = self.tile::<{ part::DOUBLING }, false>(at, window);
        }
        window
    }

    #[inline(always)]
    fn next_of_square(&mut self, window: Window<S::V, W>) -> Window<S::V, W> {
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
        window: Window<S::V, W>,
    ) -> Window<S::V, W> {
        let entering = &self.entering[(at + 1) * W + 1..(at + 2) * W + 1];
        let Some(entering) = entering.first_chunk() else { return window };
        let mut tile = Tile {
            factor: self.a,
            first: self.index * W,
            kept: &mut *self.kept,
            multiplicand: &self.b[at],
            below: if at == 0 { self.moduli.simd.zero() } else { self.b[at - 1][W - 1] },
            doubled: &mut self.doubled[at],
            modulus: &self.n[at],
            quotients: &mut *self.quotients,
            entering,
            leaving: &mut self.leaving[at.saturating_sub(1)],
        };
        tile.add::<S, PART, PRODUCES>(self.moduli.simd, &self.moduli.inverse, window)
    }
}

#[cfg(test)]
mod tests;
