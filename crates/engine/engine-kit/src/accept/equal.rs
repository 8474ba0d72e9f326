//! Records of equal length at a constant stride. Their fields follow from those of the first, without a look at the
//! columns.

use std::fmt;

use oarlock_core::{ColumnValue, Span};

use super::RecordRef;

/// The layout of such records.
#[derive(Clone, Copy)]
pub(super) struct EqualRecords {
    pub(super) first: RecordRef,
    pub(super) strides: Strides,
    pub(super) iv_len: u32,
    pub(super) output_len: u32,
    /// The associated data of the first record, and their stride.
    pub(super) aad: (Span, u32),
    /// The tag of the first record, and their stride.
    pub(super) tag: (Span, u32),
}

/// The bytes from one record to the next.
#[derive(Clone, Copy, Debug)]
pub struct Strides {
    /// The distance between inputs.
    pub input: u32,
    /// The distance between outputs.
    pub output: u32,
    /// The distance between IVs.
    pub iv: u32,
}

/// The fields of accepted records. All of them are in memory, and none in a slot.
#[derive(Clone, Copy)]
pub struct EqualFields<'a> {
    pub(super) data: &'a [u8],
    pub(super) records: &'a EqualRecords,
}

impl EqualRecords {
    #[inline(always)]
    pub(super) fn record(&self, index: u32, key: u32) -> RecordRef {
        // Cannot wrap: the last record was found to be in bounds, and its offset is the largest.
        let moved = |first: u32, stride: u32| first.wrapping_add(stride.wrapping_mul(index));
        let Self { first, strides, .. } = self;
        RecordRef {
            index,
            len: first.len,
            input: moved(first.input, strides.input),
            output: moved(first.output, strides.output),
            iv: moved(first.iv, strides.iv),
            key,
        }
    }

    /// Returns true if the outputs and tags of `count` records fill an output of `len` bytes: first all of one kind,
    /// then all of the other.
    pub(super) fn fills(&self, count: usize, len: usize, has_tags: bool) -> bool {
        let side_by_side = |start: u32, stride: u32, len: u32| {
            (stride == len).then_some((u64::from(start), u64::from(len) * count as u64))
        };
        let output = side_by_side(self.first.output, self.strides.output, self.output_len);
        let (tag, stride) = self.tag;
        let tags = if has_tags { side_by_side(tag.start, stride, tag.len) } else { Some((len as u64, 0)) };
        let (Some(output), Some(tags)) = (output, tags) else { return false };
        let [(first, first_len), (second, second_len)] =
            if output <= tags { [output, tags] } else { [tags, output] };
        first == 0 && second == first_len && second + second_len == len as u64
    }
}

impl<'a> EqualFields<'a> {
    /// Returns the buffer that spans refer to.
    #[must_use]
    #[inline(always)]
    pub fn data(self) -> &'a [u8] {
        self.data
    }

    /// Returns the offset of the input of the record `by` places further on, which can be past the end of the data.
    #[must_use]
    #[inline(always)]
    pub fn later_input(self, record: RecordRef, by: u32) -> u32 {
        record.input.wrapping_add(self.records.strides.input.wrapping_mul(by))
    }

    /// Returns a record's input.
    #[must_use]
    #[inline(always)]
    pub fn input(self, record: RecordRef) -> &'a [u8] {
        Span { start: record.input, len: record.len }.slice(self.data).unwrap_or_default()
    }

    /// Returns the span of a record's IV.
    #[must_use]
    #[inline(always)]
    pub fn iv_span(self, record: RecordRef) -> Span {
        Span { start: record.iv, len: self.records.iv_len }
    }

    /// Returns the span of a record's associated data.
    #[must_use]
    #[inline(always)]
    pub fn aad_span(self, record: RecordRef) -> Span {
        let (first, stride) = self.records.aad;
        first.moved(stride.wrapping_mul(record.index))
    }

    /// Returns the span of a record's tag.
    #[must_use]
    #[inline(always)]
    pub fn tag_span(self, record: RecordRef) -> Span {
        let (first, stride) = self.records.tag;
        first.moved(stride.wrapping_mul(record.index))
    }

    /// Returns the length of every record's output.
    #[must_use]
    #[inline(always)]
    pub fn output_len(self) -> usize {
        self.records.output_len as usize
    }
}

/// Shows lengths only, because the records can be secret.
impl fmt::Debug for EqualFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EqualFields(records of {} bytes)", self.records.first.len)
    }
}
