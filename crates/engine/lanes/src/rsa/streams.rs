//! Streams of eight moduli, and values that Montgomery products and squares replace.
//!
//! `R = 2^(52 L)` with `16 n <= R`. Every number is L fully carried limbs of 52 bits. A product of numbers below `4
//! n` is below `2 n`; so is the product of a number below R with one below n. `docs/math/rsa.md` has the proofs.

use std::ops::Range;

use super::factor::{LimbFactor, PickedFactor, PlainFactor, SecretChoice, SquareFactor, WINDOW_BITS};
use super::memory::{FreeSpans, VectorSpan};
use super::rows::{ProductTask, RowScratch};
use super::single::{Operands, products, squares};
use super::window::LIMB_BITS;
use crate::simd::MulSimd;

/// The bits that a modulus leaves free in its limbs: `16 n <= R`.
const SPARE_BITS: usize = 4;

/// The numbers of limbs that have kernels.
// For primes of 1024, 2048, 3072 and 4096 bits of modulus, and for these moduli themselves: docs/math/rsa.md.
const SIZES: [usize; 6] = [10, 20, 30, 40, 60, 80];

/// The maximum number of limbs of a product whose window fits in registers.
const SINGLE: usize = 20;

/// The number of limbs of products of which two windows fit in registers.
const PAIRED: usize = 10;

/// Returns the number of limbs for a modulus of `bits` bits, or None if it is too long.
pub(super) fn limbs_for(bits: usize) -> Option<usize> {
    SIZES.into_iter().find(|limbs| bits + SPARE_BITS <= limbs * LIMB_BITS as usize)
}

/// One or two streams of equal length, whose products take turns. The carries of one are hidden under the products
/// of the other.
#[derive(Debug)]
pub(crate) struct ModulusStreams<'m, S: MulSimd> {
    simd: S,
    streams: Vec<ModulusStream<'m, S>>,
    scratch: RowScratch<'m, S::V>,
}

/// Eight odd moduli, one per lane, and eight values.
#[derive(Debug)]
struct ModulusStream<'m, S: MulSimd> {
    modulus: &'m mut [S::V],
    /// The constant -n^-1 mod 2^52, in one vector.
    inverse: &'m mut [S::V],
    value: &'m mut [S::V],
    /// The value before the current product, if a product cannot replace it in place. Otherwise empty.
    last: &'m mut [S::V],
    /// Memory for the value doubled.
    doubled: &'m mut [S::V],
}

impl<'m, S: MulSimd> ModulusStreams<'m, S> {
    /// Returns the memory of `count` streams.
    pub(crate) fn spans(limbs: usize, count: usize) -> impl Iterator<Item = VectorSpan> {
        let streams = (0..count).flat_map(move |at| Self::stream_spans(limbs, at));
        RowScratch::<S::V>::spans(if limbs > SINGLE { limbs } else { 0 }).into_iter().chain(streams)
    }

    /// Returns the memory of one stream.
    ///
    /// Two streams of [`PAIRED`] limbs have moduli, doubles and values side by side in a page. With twice as many
    /// limbs, the doubles of one stream share the offset of the other's value: they are written while moduli and the
    /// first value are read. Longer numbers have a third of a page between the modulus and all else. At any time the
    /// tiles of the modulus, of the value and of the columns in use are then side by side.
    fn stream_spans(limbs: usize, at: usize) -> [VectorSpan; 5] {
        let [modulus, doubled, inverse] = match limbs {
            PAIRED => [10 * at, 20 + 10 * at, 60 + at],
            SINGLE => [20, 40 * at, 60],
            _ => [0, 42, 62],
        };
        let value = Self::value_offset(limbs, at);
        let last = if limbs > SINGLE { limbs } else { 0 };
        [
            VectorSpan::at(modulus, limbs),
            VectorSpan::at(inverse, 1),
            VectorSpan::at(value, limbs),
            VectorSpan::at(value, last),
            VectorSpan::at(doubled, limbs),
        ]
    }

    /// Returns the offset in a page of a stream's value.
    pub(super) fn value_offset(limbs: usize, at: usize) -> usize {
        match limbs {
            PAIRED => 40 + 10 * at,
            SINGLE => 40 * (1 - at),
            _ => 42,
        }
    }

    /// Allocates streams. The caller then sets values and moduli.
    pub(crate) fn new(simd: S, limbs: usize, count: usize, spans: &mut FreeSpans<'m, S::V>) -> Self {
        debug_assert!(SIZES.contains(&limbs));
        let scratch = RowScratch::new(if limbs > SINGLE { limbs } else { 0 }, spans);
        let stream = |at| {
            let [modulus, inverse, value, last, doubled] = spans.take(Self::stream_spans(limbs, at));
            ModulusStream { modulus, inverse, value, last, doubled }
        };
        Self { simd, streams: (0..count).map(stream).collect(), scratch }
    }

    /// Returns the CPU.
    pub(super) fn simd(&self) -> S {
        self.simd
    }

    /// Returns the number of limbs of every number.
    pub(super) fn limbs(&self) -> usize {
        self.streams[0].modulus.len()
    }

    /// Returns the moduli of a stream.
    pub(super) fn modulus(&self, at: usize) -> &[S::V] {
        self.streams[at].modulus
    }

    /// Sets the inverses of new moduli, and returns the memory for their limbs.
    pub(crate) fn set_modulus(&mut self, at: usize, inverses: S::V) -> &mut [S::V] {
        let stream = &mut self.streams[at];
        stream.inverse.fill(inverses);
        stream.modulus
    }

    /// Returns the value of a stream.
    pub(crate) fn value(&self, at: usize) -> &[S::V] {
        self.streams[at].value
    }

    /// Returns a stream's value for writing, and its moduli.
    pub(crate) fn value_mut(&mut self, at: usize) -> (&mut [S::V], &[S::V]) {
        let ModulusStream { value, modulus, .. } = &mut self.streams[at];
        (value, modulus)
    }

    /// Squares the values of a range of streams `times` times: `v^2 / R mod n`, below `v^2 / R + n`. The highest
    /// limb of a value must be below 2^51, which holds for any number below R / 2.
    pub(crate) fn square(&mut self, range: Range<usize>, times: usize) {
        let Self { simd, streams, scratch } = self;
        let streams = &mut streams[range];
        if streams[0].value.len() <= SINGLE {
            return single(*simd, streams, SquareKernel { times });
        }
        for _ in 0..times {
            streams.iter_mut().for_each(|stream| stream.multiply(*simd, SquareFactor, scratch));
        }
    }

    /// Multiplies the values of streams from `first` on by one factor each: `f v / R mod n`, below `f v / R + n`.
    pub(crate) fn multiply<A: LimbFactor<S::V>>(&mut self, first: usize, factors: &[A]) {
        let Self { simd, streams, scratch } = self;
        let streams = &mut streams[first..first + factors.len()];
        if streams[0].value.len() <= SINGLE {
            return single(*simd, streams, ProductKernel { factors });
        }
        streams
            .iter_mut()
            .zip(factors)
            .for_each(|(stream, factor)| stream.multiply(*simd, |_| *factor, scratch));
    }

    /// Squares each value once for every bit of a window, then multiplies it by the selected entry. Entries of short
    /// numbers are read beside the squares, which load less than products. Entries of longer numbers are read beside
    /// the product.
    pub(crate) fn raise(&mut self, choices: &mut [SecretChoice<'_, S::V>]) {
        if self.limbs() <= SINGLE {
            return single(self.simd, &mut self.streams[..choices.len()], WindowKernel { choices });
        }
        // Longer numbers pick each limb while the limb before is multiplied, which takes far longer than the scan.
        self.square(0..choices.len(), WINDOW_BITS);
        let simd = self.simd;
        let picked: Vec<PickedFactor<'_, S::V>> = choices.iter().map(|choice| choice.picked(simd)).collect();
        self.multiply(0, &picked);
    }
}

impl<S: MulSimd> ModulusStream<'_, S> {
    /// Multiplies the value by a factor, which can be the value itself.
    fn multiply<'s, A: LimbFactor<S::V>>(
        &'s mut self,
        simd: S,
        factor: impl FnOnce(&'s [S::V]) -> A,
        scratch: &mut RowScratch<'_, S::V>,
    ) {
        // Rows of tiles read the old value until the last row, so the product goes to the other buffer.
        std::mem::swap(&mut self.value, &mut self.last);
        let task = ProductTask {
            factor: factor(self.last),
            value: self.last,
            modulus: self.modulus,
            inverse: &self.inverse[0],
            doubled: self.doubled,
            out: self.value,
        };
        task.run(simd, scratch);
    }

    fn operands<const W: usize>(&mut self) -> Option<Operands<'_, S::V, W>> {
        Some(Operands {
            value: self.value.first_chunk_mut()?,
            n: self.modulus.first_chunk()?,
            inverse: &self.inverse[0],
            doubled: self.doubled.first_chunk_mut()?,
        })
    }
}

/// A computation on values of at most [`SINGLE`] limbs. The rows of the `N` streams in a group alternate; groups run
/// one after the other.
trait StreamKernel<S: MulSimd> {
    fn run<const W: usize, const N: usize>(self, simd: S, groups: &mut [[Operands<'_, S::V, W>; N]]);
}

struct SquareKernel {
    times: usize,
}

struct ProductKernel<'a, A> {
    factors: &'a [A],
}

struct WindowKernel<'a, 'm, V> {
    choices: &'a mut [SecretChoice<'m, V>],
}

fn single<S: MulSimd>(simd: S, streams: &mut [ModulusStream<'_, S>], kernel: impl StreamKernel<S>) {
    let _done = match (streams[0].value.len(), streams) {
        (PAIRED, [first, second]) => pair(simd, first, second, kernel),
        (PAIRED, [one]) => alone::<S, PAIRED>(simd, one, kernel),
        (_, [first, second]) => both(simd, first, second, kernel),
        (_, [one, ..]) => alone::<S, SINGLE>(simd, one, kernel),
        (_, []) => None,
    };
}

fn pair<S: MulSimd>(
    simd: S,
    first: &mut ModulusStream<'_, S>,
    second: &mut ModulusStream<'_, S>,
    kernel: impl StreamKernel<S>,
) -> Option<()> {
    kernel.run::<PAIRED, 2>(simd, &mut [[first.operands()?, second.operands()?]]);
    Some(())
}

fn both<S: MulSimd>(
    simd: S,
    first: &mut ModulusStream<'_, S>,
    second: &mut ModulusStream<'_, S>,
    kernel: impl StreamKernel<S>,
) -> Option<()> {
    // One after the other: two windows of 21 columns do not fit in the registers.
    kernel.run::<SINGLE, 1>(simd, &mut [[first.operands()?], [second.operands()?]]);
    Some(())
}

fn alone<S: MulSimd, const W: usize>(
    simd: S,
    one: &mut ModulusStream<'_, S>,
    kernel: impl StreamKernel<S>,
) -> Option<()> {
    kernel.run::<W, 1>(simd, &mut [[one.operands()?]]);
    Some(())
}

impl<S: MulSimd> StreamKernel<S> for SquareKernel {
    fn run<const W: usize, const N: usize>(self, simd: S, groups: &mut [[Operands<'_, S::V, W>; N]]) {
        simd.call(
            #[inline(always)]
            || {
                for _ in 0..self.times {
                    for group in groups.iter_mut() {
                        squares(simd, group, |_| {});
                    }
                }
            },
        );
    }
}

impl<S: MulSimd, A: LimbFactor<S::V>> StreamKernel<S> for ProductKernel<'_, A> {
    fn run<const W: usize, const N: usize>(self, simd: S, groups: &mut [[Operands<'_, S::V, W>; N]]) {
        simd.call(
            #[inline(always)]
            || {
                for (group, factors) in groups.iter_mut().zip(self.factors.as_chunks::<N>().0) {
                    products(simd, group, *factors);
                }
            },
        );
    }
}

impl<S: MulSimd> StreamKernel<S> for WindowKernel<'_, '_, S::V> {
    fn run<const W: usize, const N: usize>(self, simd: S, groups: &mut [[Operands<'_, S::V, W>; N]]) {
        simd.call(
            #[inline(always)]
            || {
                for part in 0..WINDOW_BITS {
                    for (group, choices) in groups.iter_mut().zip(self.choices.as_chunks_mut::<N>().0) {
                        square_and_choose(simd, group, choices, part);
                    }
                }
                for (group, choices) in groups.iter_mut().zip(self.choices.as_chunks::<N>().0) {
                    let entries = std::array::from_fn(
                        #[inline(always)]
                        |at| PlainFactor(&*choices[at].entry),
                    );
                    products(simd, group, entries);
                }
            },
        );
    }
}

/// The limbs of an entry that are selected beside one square.
const CHOSEN: usize = SINGLE / WINDOW_BITS;

/// Squares the values, and beside that selects some limbs of the entry of one stream.
#[inline(always)]
fn square_and_choose<S: MulSimd, const W: usize, const N: usize>(
    simd: S,
    group: &mut [Operands<'_, S::V, W>; N],
    choices: &mut [SecretChoice<'_, S::V>; N],
    part: usize,
) {
    // The scan of the table would fill both load ports beside a product, which loads two vectors a cycle. A square
    // loads 1.5, so five limbs of the entry fit beside each of the four.
    let first = part * CHOSEN;
    let choice = &mut choices[first / W % N];
    let picked = choice.picked(simd);
    let Some(entry) = choice.entry[first % W..].first_chunk_mut::<CHOSEN>() else { return };
    let picked = picked.from(first % W);
    squares(
        simd,
        group,
        #[inline(always)]
        |row| {
            if row % (W / CHOSEN) == 0 {
                entry[row / (W / CHOSEN)] = picked.limb(row / (W / CHOSEN));
            }
        },
    );
}

#[cfg(test)]
mod tests;
