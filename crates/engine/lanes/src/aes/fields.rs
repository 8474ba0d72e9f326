//! The fields that kernels read of an accepted record.

use oarlock_core::Span;

use crate::records::{EqualFields, RecordPart, RecordRef};

/// The fields of the accepted records of a part. One implementation looks at the columns; the other is for records of
/// equal length at a constant stride, for which that would take a third of a short record's time.
pub(super) trait RecordFields<'a>: Copy {
    /// Returns the buffer that spans refer to.
    fn data(self) -> &'a [u8];

    fn input(self, record: RecordRef) -> &'a [u8];

    fn iv_span(self, record: RecordRef) -> Span;

    fn aad_span(self, record: RecordRef) -> Span;

    fn tag_span(self, record: RecordRef) -> Span;

    /// Returns the start of a record's output, or None if it is a slot.
    fn output_start(self, record: RecordRef) -> Option<usize>;

    /// Returns the length of a record's output, which is not a slot.
    fn output_len(self, record: RecordRef) -> usize;

    /// Returns the bytes of a span of an accepted record. Accepted spans are in bounds.
    #[inline(always)]
    fn bytes(self, span: Span) -> &'a [u8] {
        span.slice(self.data()).unwrap_or_default()
    }

    /// Returns the IV of an accepted record, which has `N` bytes.
    #[inline(always)]
    fn iv<const N: usize>(self, record: RecordRef) -> &'a [u8; N] {
        self.data().get(record.iv as usize..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; N])
    }
}

impl<'a> RecordFields<'a> for &'a RecordPart<'a> {
    #[inline(always)]
    fn data(self) -> &'a [u8] {
        RecordPart::data(self)
    }

    #[inline(always)]
    fn input(self, record: RecordRef) -> &'a [u8] {
        RecordPart::input(self, &record, 0)
    }

    #[inline(always)]
    fn iv_span(self, record: RecordRef) -> Span {
        RecordPart::iv_span(self, record)
    }

    #[inline(always)]
    fn aad_span(self, record: RecordRef) -> Span {
        RecordPart::aad_span(self, record)
    }

    #[inline(always)]
    fn tag_span(self, record: RecordRef) -> Span {
        RecordPart::tag_span(self, record)
    }

    #[inline(always)]
    fn output_start(self, record: RecordRef) -> Option<usize> {
        RecordPart::output_start(self, record)
    }

    #[inline(always)]
    fn output_len(self, record: RecordRef) -> usize {
        self.output_span(record).len as usize
    }
}

impl<'a> RecordFields<'a> for EqualFields<'a> {
    #[inline(always)]
    fn data(self) -> &'a [u8] {
        EqualFields::data(self)
    }

    #[inline(always)]
    fn input(self, record: RecordRef) -> &'a [u8] {
        EqualFields::input(self, record)
    }

    #[inline(always)]
    fn iv_span(self, record: RecordRef) -> Span {
        EqualFields::iv_span(self, record)
    }

    #[inline(always)]
    fn aad_span(self, record: RecordRef) -> Span {
        EqualFields::aad_span(self, record)
    }

    #[inline(always)]
    fn tag_span(self, record: RecordRef) -> Span {
        EqualFields::tag_span(self, record)
    }

    #[inline(always)]
    fn output_start(self, record: RecordRef) -> Option<usize> {
        Some(record.output as usize)
    }

    #[inline(always)]
    fn output_len(self, _: RecordRef) -> usize {
        EqualFields::output_len(self)
    }
}
