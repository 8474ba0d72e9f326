//! Columns as bytes: consecutive little-endian numbers.

use bytes::{BufMut, Bytes, BytesMut};
use oarlock::engine_api::ColumnValue;
use oarlock::{Column, Span};

use crate::WireError;
use crate::proto::Spans;

/// A column of numbers: one number for all jobs, or one number for each job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WireNumbers<'a> {
    One(u32),
    Each(&'a [[u8; 4]]),
}

impl<'a> WireNumbers<'a> {
    /// Reads a column of numbers. An empty column means zero for all jobs.
    pub(crate) fn read(bytes: &'a [u8], count: usize, what: &'static str) -> Result<Self, WireError> {
        let (numbers, []) = bytes.as_chunks::<4>() else {
            return Err(WireError::Column {
                what,
                expected: "whole numbers of four bytes".into(),
                found: bytes.len(),
            });
        };
        match numbers {
            [] => Ok(Self::One(0)),
            // One number stands for any number of jobs: this keeps small batches small on the wire.
            [one] => Ok(Self::One(u32::from_le_bytes(*one))),
            each if each.len() == count => Ok(Self::Each(each)),
            _ => Err(WireError::Column {
                what,
                expected: format!("4 or {} bytes", 4 * count),
                found: bytes.len(),
            }),
        }
    }

    /// Returns the number of one job, or zero beyond the last job.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> u32 {
        match self {
            Self::One(number) => *number,
            Self::Each(numbers) => numbers.get(index).map_or(0, |bytes| u32::from_le_bytes(*bytes)),
        }
    }

    /// Returns the sum of the numbers of `count` jobs.
    pub(crate) fn sum(&self, count: usize) -> u64 {
        match self {
            // 64 bits: 2^17 jobs of 2^32 bytes each do not overflow.
            Self::One(number) => u64::from(*number) * count as u64,
            Self::Each(numbers) => numbers.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes))).sum(),
        }
    }
}

/// Writes a column of numbers. Equal numbers are written once.
pub(crate) fn write_numbers(values: impl ExactSizeIterator<Item = u32> + Clone) -> Bytes {
    let mut rest = values.clone();
    let first = rest.next();
    let is_even = rest.all(|value| Some(value) == first);
    // One pass to compare and one to write cost less than a buffer that grows.
    let count = if is_even { usize::from(first.is_some()) } else { values.len() };
    let mut bytes = BytesMut::with_capacity(4 * count);
    values.take(count).for_each(|value| bytes.put_u32_le(value));
    bytes.freeze()
}

/// A column of bytes: one byte for all jobs, or one byte for each job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WireBytes<'a> {
    One(u8),
    Each(&'a [u8]),
}

impl<'a> WireBytes<'a> {
    /// Reads a column of bytes. An empty column means zero for all jobs.
    pub(crate) fn read(bytes: &'a [u8], count: usize, what: &'static str) -> Result<Self, WireError> {
        match bytes {
            [] => Ok(Self::One(0)),
            [one] => Ok(Self::One(*one)),
            each if each.len() == count => Ok(Self::Each(each)),
            _ => Err(WireError::Column { what, expected: format!("1 or {count} bytes"), found: bytes.len() }),
        }
    }

    /// Returns the byte of one job, or zero beyond the last job.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> u8 {
        match self {
            Self::One(mark) => *mark,
            Self::Each(marks) => marks.get(index).copied().unwrap_or_default(),
        }
    }

    /// Returns true if every byte is below `bound`.
    pub(crate) fn are_below(&self, bound: usize) -> bool {
        match self {
            Self::One(mark) => usize::from(*mark) < bound,
            Self::Each(marks) => marks.iter().all(|mark| usize::from(*mark) < bound),
        }
    }
}

/// Writes a column of bytes. Equal bytes are written once, and zeros not at all.
pub(crate) fn write_bytes(values: &[u8]) -> Bytes {
    match values {
        [] | [0] => Bytes::new(),
        [first, rest @ ..] if rest.iter().all(|value| value == first) => {
            if *first == 0 {
                Bytes::new()
            } else {
                Bytes::copy_from_slice(&[*first])
            }
        }
        each => Bytes::copy_from_slice(each),
    }
}

/// The length that marks the start of a span as the number of a slot.
pub(crate) const SLOT: u32 = u32::MAX;

/// Reads a column of spans. `value` converts each span to a value.
pub(crate) fn read_spans<T: ColumnValue>(
    message: Option<&Spans>,
    count: usize,
    what: &'static str,
    value: impl Fn(Span) -> T,
) -> Result<Column<'static, T>, WireError> {
    // An absent column is valid: protobuf omits empty messages.
    let Some(message) = message else { return Ok(Column::One(value(Span::default()))) };
    if message.each.is_empty() {
        let first = value(Span { start: message.start, len: message.len });
        return Ok(match message.stride {
            0 => Column::One(first),
            stride => Column::Stride { first, stride },
        });
    }
    let each = span_entries(message, count, what)?;
    Ok(Column::Each(each.iter().map(|bytes| value(parse_span(bytes))).collect()))
}

/// Returns the spans of a column that has one for each record.
fn span_entries<'a>(
    message: &'a Spans,
    count: usize,
    what: &'static str,
) -> Result<&'a [[u8; 8]], WireError> {
    match message.each.as_chunks::<8>() {
        (each, []) if each.len() == count => Ok(each),
        _ => {
            let expected = format!("{} bytes", 8 * count);
            Err(WireError::Column { what, expected, found: message.each.len() })
        }
    }
}

fn parse_span(bytes: &[u8; 8]) -> Span {
    let [a, b, c, d, e, f, g, h] = *bytes;
    Span { start: u32::from_le_bytes([a, b, c, d]), len: u32::from_le_bytes([e, f, g, h]) }
}

/// Writes a column of spans. `to_span` converts each value to a span.
pub(crate) fn write_spans<T: ColumnValue>(column: &Column<'_, T>, to_span: impl Fn(T) -> Span) -> Spans {
    let plain = |span: Span, stride| Spans { start: span.start, len: span.len, stride, each: Bytes::new() };
    match column {
        Column::One(value) => plain(to_span(*value), 0),
        Column::Stride { first, stride } => plain(to_span(*first), *stride),
        each => write_each_span(each.cursor().map(to_span)),
    }
}

/// Writes a column with one span for each record.
pub(crate) fn write_each_span(list: impl Iterator<Item = Span>) -> Spans {
    let mut bytes = BytesMut::with_capacity(8 * list.size_hint().0);
    for span in list {
        bytes.put_u32_le(span.start);
        bytes.put_u32_le(span.len);
    }
    Spans { each: bytes.freeze(), ..Spans::default() }
}
