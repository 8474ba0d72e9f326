//! Streams of four moduli, and values that Montgomery products replace.

use std::num::NonZeroUsize;
use std::ops::Range;

use super::super::factor::{PlainFactor, SecretChoice};
use super::super::leaf::{RsaLeaf, RsaStreams};
use super::super::memory::{FreeSpans, VectorSpan};
use super::shape_of;
use crate::simd::doubles::{
    DOUBLES, DoubleLeaf, DoubleModulus, DoubleShape, DoubleSimd, DoubleVector, PICK_BITS,
};

/// Streams of equal length.
#[derive(Debug)]
pub(crate) struct DoubleStreams<'m, D> {
    leaf: DoubleLeaf<D>,
    shape: &'static DoubleShape,
    streams: Vec<DoubleStream<'m>>,
    scratch: &'m mut [DoubleVector],
}

/// Four odd moduli, one per lane, and four values.
#[derive(Debug)]
struct DoubleStream<'m> {
    n: &'m mut [DoubleVector],
    /// `-n^-1 mod R`.
    inverse: &'m mut [DoubleVector],
    value: &'m mut [DoubleVector],
}

/// The offsets of numbers in a page of 128 vectors. Scratch memory begins at 0. The doubled limbs and the product lie
/// where a square stores while it loads the value, and the quotient where it loads the moduli.
const VALUE: usize = 94;
const ENTRY: usize = 116;
const INVERSE: usize = 94;

impl DoubleStream<'_> {
    fn spans(limbs: usize) -> [VectorSpan; 3] {
        [VectorSpan::at(0, limbs), VectorSpan::at(INVERSE, limbs), VectorSpan::at(VALUE, limbs)]
    }
}

impl<'m, D: DoubleSimd> RsaStreams<'m, DoubleLeaf<D>, DOUBLES> for DoubleStreams<'m, D> {
    fn spans(limbs: usize, count: usize) -> Vec<VectorSpan> {
        let scratch = VectorSpan::at(0, shape_of(limbs).scratch_len());
        std::iter::once(scratch).chain((0..count).flat_map(|_| DoubleStream::spans(limbs))).collect()
    }

    fn value_offset(_limbs: usize, _at: usize) -> usize {
        ENTRY
    }

    fn new(leaf: DoubleLeaf<D>, limbs: usize, count: usize, spans: &mut FreeSpans<'m, DoubleVector>) -> Self {
        let shape = shape_of(limbs);
        let [scratch] = spans.take([VectorSpan::at(0, shape.scratch_len())]);
        let stream = |_| {
            let [n, inverse, value] = spans.take(DoubleStream::spans(limbs));
            DoubleStream { n, inverse, value }
        };
        Self { leaf, shape, streams: (0..count).map(stream).collect(), scratch }
    }

    fn limbs(&self) -> usize {
        self.shape.limbs
    }

    fn set_modulus(&mut self, at: usize, moduli: [&[u64]; DOUBLES], inverses: [&[u64]; DOUBLES]) {
        let DoubleStream { n, inverse, .. } = &mut self.streams[at];
        self.leaf.gather(moduli, n);
        self.leaf.gather(inverses, inverse);
    }

    fn modulus(&self, at: usize) -> &[DoubleVector] {
        self.streams[at].n
    }

    fn value(&self, at: usize) -> &[DoubleVector] {
        self.streams[at].value
    }

    fn value_mut(&mut self, at: usize) -> (&mut [DoubleVector], &[DoubleVector]) {
        let DoubleStream { value, n, .. } = &mut self.streams[at];
        (value, n)
    }

    fn square(&mut self, range: Range<usize>, times: usize) {
        let Self { leaf, shape, streams, scratch } = self;
        let Some(times) = NonZeroUsize::new(times) else { return };
        for DoubleStream { n, inverse, value } in &mut streams[range] {
            leaf.0.square(shape, times, value, DoubleModulus { n, inverse }, scratch);
        }
    }

    fn multiply(&mut self, first: usize, factors: &[PlainFactor<'_, DoubleVector>]) {
        let Self { leaf, shape, streams, scratch } = self;
        for (stream, factor) in streams[first..].iter_mut().zip(factors) {
            stream.multiply(leaf.0, shape, factor.0, scratch);
        }
    }

    fn raise(&mut self, first: usize, choices: &mut [SecretChoice<'_, DoubleVector>]) {
        self.square(first..first + choices.len(), PICK_BITS);
        let Self { leaf, shape, streams, scratch } = self;
        for (stream, choice) in streams[first..].iter_mut().zip(choices) {
            leaf.0.pick(shape, choice.table, choice.index, choice.entry);
            stream.multiply(leaf.0, shape, choice.entry, scratch);
        }
    }
}

impl DoubleStream<'_> {
    fn multiply(
        &mut self,
        simd: impl DoubleSimd,
        shape: &DoubleShape,
        factor: &[DoubleVector],
        scratch: &mut [DoubleVector],
    ) {
        let modulus = DoubleModulus { n: self.n, inverse: self.inverse };
        simd.multiply(shape, self.value, factor, modulus, scratch);
    }
}
