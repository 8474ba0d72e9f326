//! Arrays of Arrow as values in place.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Int8Type, Int16Type,
    Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, StringViewType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type, Utf8Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_buffer::bit_iterator::BitIndexIterator;
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::DataType;

use crate::ColumnError;

/// The values of a column, which are read where they lie.
///
/// An array that comes through the C interface may be wrong in every field. So every place is checked before it is
/// read, and a wrong one is an error.
pub(crate) struct ValueColumn<'a> {
    /// The name of the column in errors.
    what: &'static str,
    layout: ValueLayout<'a>,
    nulls: Option<NullBuffer>,
    len: usize,
    /// True if results have 64-bit offsets.
    is_large: bool,
    dictionary: Option<DictionaryRows>,
}

/// Reads the values of a column where they lie; `None` is a null row. `what` names the column in errors.
///
/// # Errors
/// The column has a type without bytes, or its buffers contradict each other.
pub fn read_values<'a>(
    what: &'static str,
    array: &'a dyn Array,
) -> Result<Vec<Option<&'a [u8]>>, ColumnError> {
    let values = ValueColumn::read(what, array)?;
    (0..values.len()).map(|row| values.value(row)).collect()
}

/// The entry of a dictionary for each row.
struct DictionaryRows {
    /// The index of the entry. The entries of null rows are 0.
    entries: Vec<u32>,
    nulls: Option<NullBuffer>,
}

enum ValueLayout<'a> {
    /// A column of nulls.
    Nothing,
    Small {
        offsets: &'a [i32],
        bytes: &'a [u8],
    },
    Large {
        offsets: &'a [i64],
        bytes: &'a [u8],
    },
    Fixed {
        width: usize,
        bytes: &'a [u8],
    },
    Views {
        views: &'a [u128],
        /// The memory of the views, in which short values lie.
        inline: &'a [u8],
        buffers: &'a [Buffer],
    },
}

/// The place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueSpan {
    /// The number of the buffer.
    pub(crate) buffer: u32,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// Values of equal length at a constant distance from each other, in one buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvenValues {
    /// The place of the first value.
    pub(crate) first: ValueSpan,
    /// The bytes from one value to the next.
    pub(crate) stride: usize,
    pub(crate) count: usize,
    /// The row after the last value and the null rows behind it.
    pub(crate) end: usize,
}

impl EvenValues {
    /// True if a value of the same length lies where the next one has to. The second value decides how far apart they
    /// are: not so far that mostly other bytes would lie between them.
    fn is_next(&self, next: ValueSpan) -> bool {
        let stride = next.start.checked_sub(self.span(self.count - 1).start);
        let max = MAX_STRIDE * self.first.len.max(size_of::<u128>());
        stride.is_some_and(|stride| if self.count == 1 { stride <= max } else { stride == self.stride })
    }

    /// Returns the place of a value.
    #[inline]
    pub(crate) fn span(&self, index: usize) -> ValueSpan {
        ValueSpan { start: self.first.start + index * self.stride, ..self.first }
    }

    /// Returns at most `max` values from `index` on. No row between these values may be null.
    pub(crate) fn part(&self, index: usize, max: usize) -> Self {
        let count = max.min(self.count - index);
        let end = self.end - self.count + index + count;
        Self { first: self.span(index), count, end, ..*self }
    }

    /// Returns the bytes from the first value to the end of the last one.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.first.start..self.span(self.count - 1).start + self.first.len
    }
}

/// The longest value that lies within its view.
const MAX_INLINE: u32 = 12;
/// The largest distance between even values, in units of their length.
const MAX_STRIDE: usize = 4;
/// The number of the buffer of short values, before the data buffers of a column of views.
const INLINE_BUFFER: u32 = 0;

impl<'a> ValueColumn<'a> {
    /// Reads an array. `what` names the column in errors.
    pub(crate) fn read(what: &'static str, array: &'a dyn Array) -> Result<Self, ColumnError> {
        let (nulls, len) = (array.nulls().filter(|nulls| nulls.null_count() > 0).cloned(), array.len());
        let plain = |layout, is_large| Ok(Self { what, layout, nulls, len, is_large, dictionary: None });
        match array.data_type() {
            DataType::Null => plain(ValueLayout::Nothing, false),
            DataType::Binary => plain(small::<BinaryType>(array), false),
            DataType::Utf8 => plain(small::<Utf8Type>(array), false),
            DataType::LargeBinary => plain(large::<LargeBinaryType>(array), true),
            DataType::LargeUtf8 => plain(large::<LargeUtf8Type>(array), true),
            DataType::BinaryView => plain(views::<BinaryViewType>(array), true),
            DataType::Utf8View => plain(views::<StringViewType>(array), true),
            DataType::FixedSizeBinary(_) => {
                let array = array.as_fixed_size_binary();
                plain(ValueLayout::Fixed { width: array.value_size(), bytes: array.value_data() }, false)
            }
            DataType::Dictionary(key_type, _) => Self::read_dictionary(what, array, key_type),
            other => Err(ColumnError::ColumnType { what, found: other.to_string() }),
        }
    }

    fn read_dictionary(
        what: &'static str,
        array: &'a dyn Array,
        key_type: &DataType,
    ) -> Result<Self, ColumnError> {
        let unknown = || ColumnError::ColumnType { what, found: array.data_type().to_string() };
        let dictionary = array.as_any_dictionary_opt().ok_or_else(unknown)?;
        let values: &'a dyn Array = dictionary.values().as_ref();
        if matches!(values.data_type(), DataType::Dictionary(..)) {
            return Err(unknown());
        }
        let distinct = Self::read(what, values)?;
        let keys = dictionary.keys();
        let entries = match key_type {
            DataType::Int8 => entries::<Int8Type>(what, keys, distinct.len),
            DataType::Int16 => entries::<Int16Type>(what, keys, distinct.len),
            DataType::Int32 => entries::<Int32Type>(what, keys, distinct.len),
            DataType::Int64 => entries::<Int64Type>(what, keys, distinct.len),
            DataType::UInt8 => entries::<UInt8Type>(what, keys, distinct.len),
            DataType::UInt16 => entries::<UInt16Type>(what, keys, distinct.len),
            DataType::UInt32 => entries::<UInt32Type>(what, keys, distinct.len),
            DataType::UInt64 => entries::<UInt64Type>(what, keys, distinct.len),
            _ => return Err(unknown()),
        }?;
        let rows = DictionaryRows { entries, nulls: keys.nulls().cloned() };
        Ok(Self { dictionary: Some(rows), ..distinct })
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.dictionary.as_ref().map_or(self.len, |rows| rows.entries.len())
    }

    /// True if a column of results has 64-bit offsets.
    pub(crate) fn is_large(&self) -> bool {
        self.is_large
    }

    /// True if the column is a dictionary.
    pub(crate) fn is_dictionary(&self) -> bool {
        self.dictionary.is_some()
    }

    /// Returns the distinct values of a dictionary, without those that no row names, and the entry of each row, or
    /// `None` for a null row.
    pub(crate) fn into_distinct(mut self) -> (Self, Vec<Option<u32>>) {
        let Some(rows) = self.dictionary.take() else {
            let all = (0..self.len).map(|row| u32::try_from(row).ok()).collect();
            return (self, all);
        };
        let is_valid = |row| rows.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        let entries: Vec<Option<u32>> =
            rows.entries.iter().enumerate().map(|(row, entry)| is_valid(row).then_some(*entry)).collect();
        let mut is_named = vec![false; self.len];
        entries.iter().flatten().for_each(|entry| is_named[*entry as usize] = true);
        // A value that no row names is not computed: it may be bad, and nobody asked for it.
        let named: NullBuffer = is_named.into();
        self.nulls = NullBuffer::union(self.nulls.as_ref(), Some(&named));
        (self, entries)
    }

    /// Returns the rows from `first` on that may have a value. Nulls are looked at 64 at a time.
    pub(crate) fn rows_from(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        let nulls = match &self.dictionary {
            Some(rows) => rows.nulls.as_ref(),
            None => self.nulls.as_ref(),
        };
        let valid = nulls.map(|nulls| {
            let len = nulls.len().saturating_sub(first);
            BitIndexIterator::new(nulls.validity(), nulls.offset() + first, len)
        });
        let all = if valid.is_none() { first..self.len() } else { 0..0 };
        valid.into_iter().flatten().map(move |row| row + first).chain(all)
    }

    /// Returns the span of the value of a row, or `None` if the row is null.
    #[inline]
    pub(crate) fn span(&self, row: usize) -> Result<Option<ValueSpan>, ColumnError> {
        let entry = match &self.dictionary {
            None => row,
            Some(rows) => {
                if rows.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                    return Ok(None);
                }
                rows.entries[row] as usize
            }
        };
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(entry)) {
            return Ok(None);
        }
        match self.layout.span(entry) {
            Ok(span) => Ok(span),
            Err(fault) => Err(ColumnError::Malformed { what: self.what, row, fault }),
        }
    }

    /// Returns the values from row `first` on as far as they are even, at most `max` of them, and `None` if there is
    /// none. Null rows may lie between them. The values of a dictionary are never even.
    pub(crate) fn even_values(&self, first: usize, max: usize) -> Option<EvenValues> {
        if self.dictionary.is_some() {
            return None;
        }
        let mut rows = self.rows_from(first);
        let span_of = |row| self.layout.span(row).ok().flatten();
        let row = rows.next()?;
        let mut even = EvenValues { first: span_of(row)?, stride: 0, count: 1, end: self.len };
        if self.nulls.is_none()
            && let Some(count) = self.layout.count_even(row, max.min(self.len - row))
        {
            return Some(EvenValues { stride: even.first.len, count, end: row + count, ..even });
        }
        for row in rows {
            let next = span_of(row).filter(|next| {
                let is_alike = next.buffer == even.first.buffer && next.len == even.first.len;
                is_alike && even.count < max && even.is_next(*next)
            });
            let Some(next) = next else {
                even.end = row;
                break;
            };
            even.stride = next.start - even.span(even.count - 1).start;
            even.count += 1;
        }
        if even.count == 1 {
            even.stride = even.first.len;
        }
        Some(even)
    }

    /// Calls `visit` with each length and the number of values that have it, once or several times.
    /// `front` are the even values at the front.
    pub(crate) fn each_len(
        &self,
        front: Option<&EvenValues>,
        mut visit: impl FnMut(usize, usize),
    ) -> Result<(), ColumnError> {
        if let Some(even) = front.filter(|even| even.end == self.len) {
            visit(even.first.len, even.count);
            return Ok(());
        }
        for row in self.rows_from(0) {
            if let Some(span) = self.span(row)? {
                visit(span.len, 1);
            }
        }
        Ok(())
    }

    /// True if a row may be null.
    pub(crate) fn has_nulls(&self) -> bool {
        self.nulls.is_some() || self.dictionary.is_some()
    }

    /// Returns the nulls of rows, if there are any in the column.
    pub(crate) fn nulls(&self, rows: std::ops::Range<usize>) -> Option<NullBuffer> {
        let nulls = match &self.dictionary {
            Some(rows) => rows.nulls.as_ref(),
            None => self.nulls.as_ref(),
        };
        nulls.map(|nulls| nulls.slice(rows.start, rows.len()))
    }

    /// Returns the value of a row, or `None` if the row is null.
    #[inline]
    pub(crate) fn value(&self, row: usize) -> Result<Option<&'a [u8]>, ColumnError> {
        Ok(self.span(row)?.map(|span| self.bytes(span)))
    }

    /// Returns the bytes of a span that [`span`](Self::span) has returned.
    #[inline]
    pub(crate) fn bytes(&self, span: ValueSpan) -> &'a [u8] {
        &self.buffer(span.buffer)[span.start..span.start + span.len]
    }

    /// Returns a buffer by its number.
    #[inline]
    pub(crate) fn buffer(&self, number: u32) -> &'a [u8] {
        match &self.layout {
            ValueLayout::Nothing => &[],
            ValueLayout::Small { bytes, .. }
            | ValueLayout::Large { bytes, .. }
            | ValueLayout::Fixed { bytes, .. } => bytes,
            ValueLayout::Views { inline, .. } if number == INLINE_BUFFER => inline,
            ValueLayout::Views { buffers, .. } => buffers[number as usize - 1].as_slice(),
        }
    }
}

impl ValueLayout<'_> {
    /// Returns the number of entries from `first` on, at most `max`, that are as long as the first one and lie side by
    /// side. `None` if the layout does not say it by itself, or if they are wrong.
    fn count_even(&self, first: usize, max: usize) -> Option<usize> {
        fn count<T: Copy + PartialEq>(offsets: &[T], distance: impl Fn(T, T) -> T) -> usize {
            let [start, second, ..] = offsets else { return 0 };
            let len = distance(*second, *start);
            // A fold over many offsets takes as long as a search over few.
            let is_even = |part: &[T]| {
                let pairs = part.iter().zip(&part[1..]);
                pairs.fold(true, |all, (start, end)| all & (distance(*end, *start) == len))
            };
            let parts = offsets.windows(SEARCHED + 1).step_by(SEARCHED);
            let counted = SEARCHED * parts.take_while(|part| is_even(part)).count();
            let rest = offsets[counted..].windows(2);
            counted + rest.take_while(|pair| distance(pair[1], pair[0]) == len).count()
        }
        let end = first.checked_add(max)?;
        let (count, bytes) = match self {
            Self::Fixed { bytes, .. } => (max, bytes),
            Self::Small { offsets, bytes } => (count(offsets.get(first..=end)?, i32::wrapping_sub), bytes),
            Self::Large { offsets, bytes } => (count(offsets.get(first..=end)?, i64::wrapping_sub), bytes),
            Self::Views { .. } | Self::Nothing => return None,
        };
        let first = self.span(first).ok().flatten()?;
        let end = count.checked_mul(first.len)?.checked_add(first.start)?;
        (count > 0 && end <= bytes.len()).then_some(count)
    }

    /// Returns the span of a value, or the fault of the array.
    #[inline]
    fn span(&self, entry: usize) -> Result<Option<ValueSpan>, &'static str> {
        let (start, end) = match self {
            Self::Nothing => return Ok(None),
            Self::Fixed { width, .. } => (entry * width, (entry + 1) * width),
            Self::Small { offsets, .. } => match offsets.get(entry..entry + 2) {
                Some([start, end]) => (place_of(i64::from(*start))?, place_of(i64::from(*end))?),
                _ => return Err("there are too few offsets"),
            },
            Self::Large { offsets, .. } => match offsets.get(entry..entry + 2) {
                Some([start, end]) => (place_of(*start)?, place_of(*end)?),
                _ => return Err("there are too few offsets"),
            },
            Self::Views { views, inline, buffers } => {
                let view = views.get(entry).ok_or("there are too few views")?;
                return view_place(entry, *view, inline, buffers).map(Some);
            }
        };
        let bytes = match self {
            Self::Small { bytes, .. } | Self::Large { bytes, .. } | Self::Fixed { bytes, .. } => *bytes,
            Self::Views { .. } | Self::Nothing => &[],
        };
        let len = end.checked_sub(start).ok_or("an offset is smaller than the one before it")?;
        if end > bytes.len() {
            return Err("an offset lies behind the end of the values");
        }
        Ok(Some(ValueSpan { buffer: 0, start, len }))
    }
}

/// The offsets that are compared at once.
const SEARCHED: usize = 64;

#[inline]
fn place_of(offset: i64) -> Result<usize, &'static str> {
    usize::try_from(offset).map_err(|_| "an offset is negative")
}

/// Returns the place of a value that a view describes. The layout of a view is that of the Arrow format: the length,
/// then the value itself, or its first bytes, the number of its buffer and its place there.
#[inline]
fn view_place(
    entry: usize,
    view: u128,
    inline: &[u8],
    buffers: &[Buffer],
) -> Result<ValueSpan, &'static str> {
    let len = view as u32;
    if len <= MAX_INLINE {
        let start = entry * size_of::<u128>() + size_of::<u32>();
        let span = ValueSpan { buffer: INLINE_BUFFER, start, len: len as usize };
        return if start + span.len <= inline.len() { Ok(span) } else { Err("there are too few views") };
    }
    let (number, start) = ((view >> 64) as u32, (view >> 96) as u32 as usize);
    let bytes = buffers.get(number as usize).ok_or("a view names a buffer that does not exist")?;
    if start + len as usize > bytes.len() {
        return Err("a view lies behind the end of its buffer");
    }
    Ok(ValueSpan { buffer: number + 1, start, len: len as usize })
}

fn small<T: ByteArrayType<Offset = i32>>(array: &dyn Array) -> ValueLayout<'_> {
    let array = array.as_bytes::<T>();
    ValueLayout::Small { offsets: array.value_offsets(), bytes: array.value_data() }
}

fn large<T: ByteArrayType<Offset = i64>>(array: &dyn Array) -> ValueLayout<'_> {
    let array = array.as_bytes::<T>();
    ValueLayout::Large { offsets: array.value_offsets(), bytes: array.value_data() }
}

fn views<T: ByteViewType>(array: &dyn Array) -> ValueLayout<'_> {
    let array = array.as_byte_view::<T>();
    let (views, inline) = (array.views(), array.views().inner().as_slice());
    ValueLayout::Views { views, inline, buffers: array.data_buffers() }
}

/// Returns the entries of a dictionary that keys name. The entries of null rows are 0.
fn entries<K: ArrowDictionaryKeyType>(
    what: &'static str,
    keys: &dyn Array,
    len: usize,
) -> Result<Vec<u32>, ColumnError>
where
    <K as ArrowPrimitiveType>::Native: TryInto<u32>,
{
    let keys = keys.as_primitive::<K>();
    let entry = |row: usize, key: K::Native| {
        if keys.is_null(row) {
            return Ok(0);
        }
        let entry: Option<u32> = key.try_into().ok();
        entry.filter(|entry| (*entry as usize) < len).ok_or(ColumnError::Malformed {
            what,
            row,
            fault: "the key of a dictionary names an entry that does not exist",
        })
    };
    keys.values().iter().enumerate().map(|(row, key)| entry(row, *key)).collect()
}
