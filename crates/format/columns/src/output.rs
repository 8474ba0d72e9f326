//! Results as arrays, and the fate of bad rows.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{ArrayBuilder, StringBuilder};
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{Array, ArrayRef, BooleanArray, GenericByteArray, OffsetSizeTrait, StructArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use oarlock::engine_api::erase;

use crate::{ColumnError, RowFault};

/// The fate of bad rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// A bad row becomes null, and is counted.
    #[default]
    Null,
    /// The result is a struct of `value` and `error`, of which at most one is not null.
    Struct,
    /// The first bad row is an error of the call.
    Raise,
}

/// A column of results.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ColumnResult {
    /// The results, one for each row.
    pub array: ArrayRef,
    /// The bad rows.
    pub rejected: RejectedRows,
}

impl ColumnResult {
    /// Returns a column without bad rows.
    #[must_use]
    pub fn whole(array: ArrayRef) -> Self {
        Self { array, rejected: RejectedRows::default() }
    }
}

/// The number of bad rows, by their fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectedRows(BTreeMap<RowFault, usize>);

impl RejectedRows {
    /// True if no row is bad.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of bad rows.
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Returns the faults with their numbers of rows.
    pub fn iter(&self) -> impl Iterator<Item = (RowFault, usize)> + '_ {
        self.0.iter().map(|(fault, count)| (*fault, *count))
    }

    /// Adds the bad rows of another column.
    pub fn add(&mut self, other: &Self) {
        for (fault, count) in other.iter() {
            *self.0.entry(fault).or_default() += count;
        }
    }
}

/// The results of a column, in the order of its rows. They are erased if no array takes them.
pub(crate) struct Computed {
    values: Vec<u8>,
    offsets: Offsets,
    /// Rows without a result: null rows, and bad ones.
    nulls: NullBufferBuilder,
    bad: Vec<BadRow>,
}

/// A bad row and its fault.
type BadRow = (usize, RowFault);

/// The end of each result, in the form of the array.
enum Offsets {
    Small(Vec<i32>),
    Large(Vec<i64>),
}

/// The most bytes of a column with 32-bit offsets.
const MAX_SMALL: usize = i32::MAX as usize;

impl Computed {
    /// Creates the results of a column without rows yet, with memory for `bytes` bytes.
    pub(crate) fn new(rows: usize, bytes: usize, is_large: bool) -> Result<Self, ColumnError> {
        if !is_large && bytes > MAX_SMALL {
            return Err(ColumnError::TooLarge { found: bytes, max: MAX_SMALL });
        }
        let mut values = Vec::new();
        let reserved = values.try_reserve_exact(bytes);
        reserved.map_err(|_| ColumnError::Machine(format!("no memory for {bytes} bytes of results")))?;
        let offsets = Offsets::new(is_large, rows);
        Ok(Self { values, offsets, nulls: NullBufferBuilder::new(rows), bad: Vec::new() })
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.nulls.len()
    }

    #[inline]
    pub(crate) fn push_value(&mut self, prefix: &[u8], value: &[u8]) {
        self.values.extend_from_slice(prefix);
        self.values.extend_from_slice(value);
        self.push(true);
    }

    /// Adds rows whose results lie side by side in `results`, each `len` bytes long. The other rows are null.
    pub(crate) fn push_even(&mut self, rows: usize, nulls: Option<&NullBuffer>, len: usize, results: &[u8]) {
        let start = self.values.len();
        self.values.extend_from_slice(results);
        self.push_lens(rows, nulls, start, len);
    }

    /// Adds a result that `write` appends. If it fails, no row is added.
    pub(crate) fn push_written<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.values.len();
        let written = write(&mut self.values);
        match written {
            Ok(()) => self.push(true),
            Err(_) => self.values.truncate(start),
        }
        written
    }

    /// Adds rows whose results `write` appends, each `len` bytes long. The other rows are null. If it returns false, no
    /// row is added.
    pub(crate) fn push_written_even(
        &mut self,
        rows: usize,
        nulls: Option<&NullBuffer>,
        len: usize,
        write: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> bool {
        let start = self.values.len();
        let is_written = write(&mut self.values);
        match is_written {
            true => self.push_lens(rows, nulls, start, len),
            false => self.values.truncate(start),
        }
        is_written
    }

    pub(crate) fn push_nulls(&mut self, rows: usize) {
        if rows == 0 {
            // The builder would begin a bitmap, and an array without nulls has none.
            return;
        }
        self.offsets.repeat(self.values.len(), rows);
        self.nulls.append_n_nulls(rows);
    }

    pub(crate) fn push_fault(&mut self, fault: RowFault) {
        self.bad.push((self.len(), fault));
        self.push(false);
    }

    #[inline]
    fn push(&mut self, has_result: bool) {
        self.offsets.repeat(self.values.len(), 1);
        self.nulls.append(has_result);
    }

    /// Adds rows of equal results that begin at `start`.
    fn push_lens(&mut self, rows: usize, nulls: Option<&NullBuffer>, start: usize, len: usize) {
        match nulls.filter(|nulls| nulls.null_count() > 0) {
            None => {
                self.offsets.extend((1..=rows).map(|row| start + row * len));
                self.nulls.append_n_non_nulls(rows);
            }
            Some(nulls) => {
                let mut end = start;
                self.offsets.extend(nulls.iter().map(|is_valid| {
                    end += if is_valid { len } else { 0 };
                    end
                }));
                self.nulls.append_buffer(nulls);
            }
        }
    }

    /// Returns the result of a row.
    pub(crate) fn result(&self, row: usize) -> Result<Option<&[u8]>, RowFault> {
        if self.nulls.is_valid(row) {
            return Ok(Some(&self.values[self.offsets.range(row)]));
        }
        match self.bad.binary_search_by_key(&row, |(bad, _)| *bad) {
            Ok(found) => Err(self.bad[found].1),
            Err(_) => Ok(None),
        }
    }

    /// Returns the results of rows that name these rows as their entries.
    pub(crate) fn expand(&self, entries: &[Option<u32>]) -> Result<Self, ColumnError> {
        let len = |entry: &u32| self.result(*entry as usize).ok().flatten().map_or(0, <[u8]>::len);
        let bytes = entries.iter().flatten().map(len).sum();
        let mut expanded = Self::new(entries.len(), bytes, matches!(self.offsets, Offsets::Large(_)))?;
        for entry in entries {
            match entry.map(|entry| self.result(entry as usize)) {
                None | Some(Ok(None)) => expanded.push_nulls(1),
                Some(Ok(Some(value))) => expanded.push_value(&[], value),
                Some(Err(fault)) => expanded.push_fault(fault),
            }
        }
        Ok(expanded)
    }

    /// Returns the results as a column of bytes.
    pub(crate) fn finish(mut self, on_error: OnError) -> Result<ColumnResult, ColumnError> {
        match self.offsets.take() {
            Offsets::Small(offsets) => self.finish_as::<BinaryType>(offsets, on_error),
            Offsets::Large(offsets) => self.finish_as::<LargeBinaryType>(offsets, on_error),
        }
    }

    /// Returns the results as a column of text.
    pub(crate) fn finish_text(mut self, on_error: OnError) -> Result<ColumnResult, ColumnError> {
        match self.offsets.take() {
            Offsets::Small(offsets) => self.finish_as::<Utf8Type>(offsets, on_error),
            Offsets::Large(offsets) => self.finish_as::<LargeUtf8Type>(offsets, on_error),
        }
    }

    fn finish_as<T: ByteArrayType>(
        &mut self,
        offsets: Vec<T::Offset>,
        on_error: OnError,
    ) -> Result<ColumnResult, ColumnError> {
        let rejected = judge(&self.bad, on_error)?;
        debug_assert!(T::Offset::MAX_OFFSET >= self.values.len());
        let values = Buffer::from_vec(std::mem::take(&mut self.values));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let array = GenericByteArray::<T>::try_new(offsets, values, self.nulls.finish());
        let array = array.map_err(|error| ColumnError::Machine(error.to_string()))?;
        with_faults(Arc::new(array), &self.bad, on_error, rejected)
    }
}

impl Offsets {
    fn new(is_large: bool, rows: usize) -> Self {
        let mut offsets = match is_large {
            false => Self::Small(Vec::with_capacity(rows + 1)),
            true => Self::Large(Vec::with_capacity(rows + 1)),
        };
        offsets.repeat(0, 1);
        offsets
    }

    /// Takes the offsets out.
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Small(Vec::new()))
    }

    // The casts lose nothing: `Computed::new` has checked the bytes of all results, which no offset exceeds.
    #[inline]
    fn repeat(&mut self, end: usize, rows: usize) {
        match self {
            Self::Small(offsets) => offsets.resize(offsets.len() + rows, end as i32),
            Self::Large(offsets) => offsets.resize(offsets.len() + rows, end as i64),
        }
    }

    #[inline]
    fn extend(&mut self, ends: impl Iterator<Item = usize>) {
        match self {
            Self::Small(offsets) => offsets.extend(ends.map(|end| end as i32)),
            Self::Large(offsets) => offsets.extend(ends.map(|end| end as i64)),
        }
    }

    /// Returns the place of the result of a row.
    fn range(&self, row: usize) -> Range<usize> {
        match self {
            Self::Small(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
            Self::Large(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
        }
    }
}

impl Drop for Computed {
    fn drop(&mut self) {
        erase(&mut self.values);
    }
}

/// The answers of a column of verifications.
pub(crate) struct Verdicts(Vec<Result<Option<bool>, RowFault>>);

impl Verdicts {
    pub(crate) fn new(rows: usize) -> Self {
        Self(Vec::with_capacity(rows))
    }

    /// Adds the answer of a row, which is `None` for a null row.
    pub(crate) fn push(&mut self, answer: Result<Option<bool>, RowFault>) {
        self.0.push(answer);
    }

    /// Returns the answers as a column of booleans.
    pub(crate) fn finish(self, on_error: OnError) -> Result<ColumnResult, ColumnError> {
        let bad_row =
            |(row, answer): (usize, &Result<_, RowFault>)| answer.as_ref().err().map(|fault| (row, *fault));
        let bad: Vec<BadRow> = self.0.iter().enumerate().filter_map(bad_row).collect();
        let rejected = judge(&bad, on_error)?;
        let is_valid = BooleanBuffer::collect_bool(self.0.len(), |row| matches!(self.0[row], Ok(Some(_))));
        let nulls = Some(NullBuffer::new(is_valid)).filter(|nulls| nulls.null_count() > 0);
        let answers = BooleanBuffer::collect_bool(self.0.len(), |row| self.0[row] == Ok(Some(true)));
        with_faults(Arc::new(BooleanArray::new(answers, nulls)), &bad, on_error, rejected)
    }
}

/// Counts the bad rows of a column.
fn judge(bad: &[BadRow], on_error: OnError) -> Result<RejectedRows, ColumnError> {
    let mut rejected = RejectedRows::default();
    for (_, fault) in bad {
        *rejected.0.entry(*fault).or_default() += 1;
    }
    match (on_error, bad.first()) {
        (OnError::Raise, Some((row, fault))) => {
            Err(ColumnError::BadRow { row: *row, fault: *fault, count: bad.len() })
        }
        _ => Ok(rejected),
    }
}

/// Adds the reasons of bad rows, if the caller wants them beside the values.
fn with_faults(
    array: ArrayRef,
    bad: &[BadRow],
    on_error: OnError,
    rejected: RejectedRows,
) -> Result<ColumnResult, ColumnError> {
    if on_error != OnError::Struct {
        return Ok(ColumnResult { array, rejected });
    }
    let mut faults = StringBuilder::new();
    for (row, fault) in bad {
        faults.append_nulls(row - faults.len());
        faults.append_value(fault.text());
    }
    faults.append_nulls(array.len() - faults.len());
    let fields = struct_fields(array.data_type());
    let pair = StructArray::try_new(fields, vec![array, Arc::new(faults.finish())], None);
    let pair = pair.map_err(|error| ColumnError::Machine(error.to_string()))?;
    Ok(ColumnResult { array: Arc::new(pair), rejected })
}

/// Returns the type of the results of [`OnError::Struct`] whose values have this type.
#[must_use]
pub fn struct_type(value: &DataType) -> DataType {
    DataType::Struct(struct_fields(value))
}

fn struct_fields(value: &DataType) -> Fields {
    Fields::from(vec![Field::new("value", value.clone(), true), Field::new("error", DataType::Utf8, true)])
}

/// Writes the counts: `3 rows: the tag does not verify; 1 row: the padding is wrong`.
impl fmt::Display for RejectedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (fault, count)) in self.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            let rows = if count == 1 { "row" } else { "rows" };
            write!(f, "{separator}{count} {rows}: {fault}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_more_than_two_gibibytes_is_an_error_before_it_is_computed() {
        let error = Computed::new(3, MAX_SMALL + 1, false).err();
        assert_eq!(error, Some(ColumnError::TooLarge { found: MAX_SMALL + 1, max: MAX_SMALL }));
        // A dictionary repeats values: 2049 rows of one mebibyte.
        let mut one = Computed::new(1, 1 << 20, false).unwrap();
        one.push_value(&[], &vec![7; 1 << 20]);
        let error = one.expand(&vec![Some(0); 2049]).err();
        assert!(
            matches!(error, Some(ColumnError::TooLarge { found, .. }) if found == 2049 << 20),
            "{error:?}"
        );
        assert!(one.expand(&[Some(0), None]).is_ok());
    }

    #[test]
    fn an_impossible_amount_of_memory_is_an_error() {
        assert!(matches!(Computed::new(1, usize::MAX / 4, true), Err(ColumnError::Machine(_))));
    }
}
