//! Columns as bytes: little-endian numbers side by side.

use bytes::{BufMut, Bytes, BytesMut};
use oarlock::engine_api::ColumnValue;
use oarlock::{Column, Span};

use crate::WireError;
use crate::proto::Spans;

/// A number for all, or one for each of `count`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NumberColumn<'a> {
    One(u32),
    Each(&'a [[u8; 4]]),
}

impl<'a> NumberColumn<'a> {
    /// Reads a column of numbers. Nothing at all is zero for all.
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
            [one] => Ok(Self::One(u32::from_le_bytes(*one))),
            each if each.len() == count => Ok(Self::Each(each)),
            _ => Err(WireError::Column {
                what,
                expected: format!("4 or {} bytes", 4 * count),
                found: bytes.len(),
            }),
        }
    }

    /// The number of one job; zero beyond the last.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> u32 {
        match self {
            Self::One(number) => *number,
            Self::Each(numbers) => numbers.get(index).map_or(0, |bytes| u32::from_le_bytes(*bytes)),
        }
    }

    /// The sum of `count` numbers.
    pub(crate) fn sum(&self, count: usize) -> u64 {
        match self {
            Self::One(number) => u64::from(*number) * count as u64,
            Self::Each(numbers) => numbers.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes))).sum(),
        }
    }
}

/// Writes a column of numbers: one of them where all are equal.
pub(crate) fn numbers(values: impl ExactSizeIterator<Item = u32> + Clone) -> Bytes {
    let mut rest = values.clone();
    let first = rest.next();
    let is_even = rest.all(|value| Some(value) == first);
    let count = if is_even { usize::from(first.is_some()) } else { values.len() };
    let mut bytes = BytesMut::with_capacity(4 * count);
    values.take(count).for_each(|value| bytes.put_u32_le(value));
    bytes.freeze()
}

/// A byte for all, or one for each of `count`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ByteColumn<'a> {
    One(u8),
    Each(&'a [u8]),
}

impl<'a> ByteColumn<'a> {
    /// Reads a column of bytes. Nothing at all is zero for all.
    pub(crate) fn read(bytes: &'a [u8], count: usize, what: &'static str) -> Result<Self, WireError> {
        match bytes {
            [] => Ok(Self::One(0)),
            [one] => Ok(Self::One(*one)),
            each if each.len() == count => Ok(Self::Each(each)),
            _ => Err(WireError::Column { what, expected: format!("1 or {count} bytes"), found: bytes.len() }),
        }
    }

    /// The byte of one job; zero beyond the last.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> u8 {
        match self {
            Self::One(mark) => *mark,
            Self::Each(marks) => marks.get(index).copied().unwrap_or_default(),
        }
    }

    /// True where every byte is below `bound`.
    pub(crate) fn are_below(&self, bound: usize) -> bool {
        match self {
            Self::One(mark) => usize::from(*mark) < bound,
            Self::Each(marks) => marks.iter().all(|mark| usize::from(*mark) < bound),
        }
    }
}

/// Writes a column of bytes: nothing where all are zero, one where all are equal.
pub(crate) fn marks(values: &[u8]) -> Bytes {
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

/// The length that makes a start the number of a slot.
pub(crate) const SLOT: u32 = u32::MAX;

/// Reads a column of places, which stand for values as `value` says.
pub(crate) fn spans<T: ColumnValue>(
    message: Option<&Spans>,
    count: usize,
    what: &'static str,
    value: impl Fn(Span) -> T,
) -> Result<Column<'static, T>, WireError> {
    let Some(message) = message else { return Ok(Column::One(value(Span::default()))) };
    if message.each.is_empty() {
        let first = value(Span { start: message.start, len: message.len });
        return Ok(match message.stride {
            0 => Column::One(first),
            stride => Column::Stride { first, stride },
        });
    }
    let each = places(message, count, what)?;
    Ok(Column::Each(each.iter().map(|place| value(span(place))).collect()))
}

/// The places of a column that has one for each.
fn places<'a>(message: &'a Spans, count: usize, what: &'static str) -> Result<&'a [[u8; 8]], WireError> {
    match message.each.as_chunks::<8>() {
        (each, []) if each.len() == count => Ok(each),
        _ => {
            let expected = format!("{} bytes", 8 * count);
            Err(WireError::Column { what, expected, found: message.each.len() })
        }
    }
}

fn span(place: &[u8; 8]) -> Span {
    let [a, b, c, d, e, f, g, h] = *place;
    Span { start: u32::from_le_bytes([a, b, c, d]), len: u32::from_le_bytes([e, f, g, h]) }
}

/// Writes a column of places.
pub(crate) fn places_of<T: ColumnValue>(column: &Column<'_, T>, place: impl Fn(T) -> Span) -> Spans {
    let plain = |span: Span, stride| Spans { start: span.start, len: span.len, stride, each: Bytes::new() };
    match column {
        Column::One(value) => plain(place(*value), 0),
        Column::Stride { first, stride } => plain(place(*first), *stride),
        each => each_of(each.cursor().map(place)),
    }
}

/// Writes a column of places one by one.
pub(crate) fn each_of(places: impl Iterator<Item = Span>) -> Spans {
    let mut bytes = BytesMut::with_capacity(8 * places.size_hint().0);
    for span in places {
        bytes.put_u32_le(span.start);
        bytes.put_u32_le(span.len);
    }
    Spans { each: bytes.freeze(), ..Spans::default() }
}
