//! The memory of a run, in one piece, so that its speed does not depend on where an allocator puts things.
//!
//! A core compares a load with the stores before it by the low twelve bits of their addresses, and lets the load wait where
//! these are the same though the rest differs. So a number begins at a chosen place within a page (4096 bytes, 64 vectors):
//! what a kernel stores is never where it loads something else soon after.

use zeroize::Zeroizing;

use crate::simd::Simd;

/// Vectors of a number, or of whatever is as secret.
pub(crate) type Number<S> = Zeroizing<Vec<<S as Simd>::V>>;

/// Zero.
pub(crate) fn number<S: Simd>(simd: S, limbs: usize) -> Number<S> {
    Zeroizing::new(vec![simd.zero(); limbs])
}

/// Vectors of a page.
const PAGE: usize = 64;

/// Vectors that lie together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VectorSpan {
    vectors: usize,
    /// Where in a page they begin; None where it does not matter.
    place: Option<usize>,
}

impl VectorSpan {
    /// So many vectors from a place within a page on.
    pub(crate) fn at(place: usize, vectors: usize) -> Self {
        Self { vectors, place: Some(place) }
    }

    /// So many vectors anywhere.
    pub(crate) fn anywhere(vectors: usize) -> Self {
        Self { vectors, place: None }
    }

    /// Vectors to be left out after so many.
    fn gap(self, end: usize) -> usize {
        self.place.map_or(0, |place| (place + PAGE - end % PAGE) % PAGE)
    }
}

/// Memory for spans, erased in the end.
#[derive(Debug)]
pub(crate) struct SpanMemory<S: Simd>(Number<S>);

impl<S: Simd> SpanMemory<S> {
    /// Zeros for spans, which are to be taken in this order.
    pub(crate) fn new(simd: S, spans: impl IntoIterator<Item = VectorSpan>) -> Self {
        let end = spans.into_iter().fold(0, |end, span| end + span.gap(end) + span.vectors);
        Self(number(simd, end))
    }

    /// All of it.
    pub(crate) fn places(&mut self) -> FreeSpans<'_, S::V> {
        FreeSpans { rest: &mut self.0, end: 0 }
    }
}

/// What has not been taken yet.
#[derive(Debug)]
pub(crate) struct FreeSpans<'m, V> {
    rest: &'m mut [V],
    /// Vectors that lie before it.
    end: usize,
}

impl<'m, V> FreeSpans<'m, V> {
    /// Takes the next spans.
    pub(crate) fn take<const N: usize>(&mut self, spans: [VectorSpan; N]) -> [&'m mut [V]; N] {
        spans.map(|span| {
            let gap = span.gap(self.end);
            let (_, rest) = std::mem::take(&mut self.rest).split_at_mut(gap);
            let (taken, rest) = rest.split_at_mut(span.vectors);
            self.rest = rest;
            self.end += gap + span.vectors;
            taken
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{LANES, PortableSimd, Vector};

    #[test]
    fn spans_begin_at_their_places_and_do_not_overlap() {
        let spans = [
            VectorSpan::at(3, 70),
            VectorSpan::anywhere(2),
            VectorSpan::at(3, 1),
            VectorSpan::at(2, 5),
            VectorSpan::at(7, 0),
        ];
        let mut memory = SpanMemory::new(PortableSimd, spans);
        for (mark, span) in (1..).zip(memory.places().take(spans)) {
            span.fill(PortableSimd.splat(mark));
        }
        let marks: Vec<u64> = memory.0.iter().map(|vector| vector.words()[LANES - 1]).collect();
        let expected = [(0, 3), (1, 70), (2, 2), (0, 56), (3, 1), (0, 62), (4, 5)];
        assert_eq!(marks, expected.map(|(mark, count)| vec![mark; count]).concat());
    }
}
