//! The memory of a run in one allocation, so that its speed does not depend on the allocator.
//!
//! A core compares a load with earlier stores by the low twelve bits of their addresses. If these bits are equal,
//! the load waits, even if the rest differs. So each number starts at a chosen offset within a page (4096 bytes: 64
//! vectors of eight lanes, 128 of four), and a kernel never stores at the offset of a load that follows soon.

use zeroize::Zeroizing;

use super::leaf::LimbLeaf;

/// The vectors of a number, or of other secret values.
pub(crate) type Number<L> = Zeroizing<Vec<<L as LimbLeaf>::Limb>>;

/// Returns zero.
pub(crate) fn number<L: LimbLeaf>(leaf: L, limbs: usize) -> Number<L> {
    Zeroizing::new(vec![leaf.zero_limb(); limbs])
}

/// Returns the vectors of a page.
const fn page<V>() -> usize {
    4096 / size_of::<V>()
}

/// A contiguous range of vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VectorSpan {
    vectors: usize,
    /// The offset of the first vector in a page, or None if it does not matter.
    offset: Option<usize>,
}

impl VectorSpan {
    /// Returns a span of `vectors` vectors at an offset within a page.
    pub(crate) fn at(offset: usize, vectors: usize) -> Self {
        Self { vectors, offset: Some(offset) }
    }

    /// Returns a span of `vectors` vectors at any offset.
    pub(crate) fn anywhere(vectors: usize) -> Self {
        Self { vectors, offset: None }
    }

    /// Returns the number of vectors to skip after `end` vectors, if a page has `page` vectors.
    fn gap(self, end: usize, page: usize) -> usize {
        // The base of the allocation does not matter: only differences of offsets decide which loads wait.
        self.offset.map_or(0, |offset| (offset + page - end % page) % page)
    }
}

/// The memory of spans, which is erased on drop.
#[derive(Debug)]
pub(crate) struct SpanMemory<L: LimbLeaf>(Number<L>);

impl<L: LimbLeaf> SpanMemory<L> {
    /// Allocates zeros for spans, which must be taken in this order.
    pub(crate) fn new(leaf: L, spans: impl IntoIterator<Item = VectorSpan>) -> Self {
        let page = page::<L::Limb>();
        let end = spans.into_iter().fold(0, |end, span| end + span.gap(end, page) + span.vectors);
        Self(number(leaf, end))
    }

    /// Returns all of the memory.
    pub(crate) fn free_spans(&mut self) -> FreeSpans<'_, L::Limb> {
        FreeSpans { rest: &mut self.0, end: 0 }
    }
}

/// The memory that is not taken yet.
#[derive(Debug)]
pub(crate) struct FreeSpans<'m, V> {
    rest: &'m mut [V],
    /// The number of vectors before it.
    end: usize,
}

impl<'m, V> FreeSpans<'m, V> {
    /// Takes the next spans.
    pub(crate) fn take<const N: usize>(&mut self, spans: [VectorSpan; N]) -> [&'m mut [V]; N] {
        // Same order as in `SpanMemory::new`, or the gaps differ. `split_at_mut` would panic past the end.
        spans.map(|span| {
            let gap = span.gap(self.end, page::<V>());
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
    use crate::simd::{BlindSimd, LANES, PortableSimd, Vector};

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
        for (mark, span) in (1..).zip(memory.free_spans().take(spans)) {
            span.fill(PortableSimd::<LANES>.splat(mark));
        }
        let marks: Vec<u64> = memory.0.iter().map(|vector| vector.words()[LANES - 1]).collect();
        let expected = [(0, 3), (1, 70), (2, 2), (0, 56), (3, 1), (0, 62), (4, 5)];
        assert_eq!(marks, expected.map(|(mark, count)| vec![mark; count]).concat());
    }
}
