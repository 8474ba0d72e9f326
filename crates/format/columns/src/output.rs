//! Results as arrays, and the fate of bad rows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{Array, ArrayRef, BooleanArray, GenericByteArray, StructArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
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

/// The state of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowState {
    Null,
    Value,
    Bad(RowFault),
}

/// The results of a column, in the order of its rows. They are erased if no array takes them.
pub(crate) struct Computed {
    values: Vec<u8>,
    ends: Vec<usize>,
    states: Vec<RowState>,
    /// The number of bad rows.
    bad: usize,
    is_large: bool,
    max_bytes: usize,
}

/// The most bytes of a column with 32-bit offsets.
const MAX_SMALL: usize = i32::MAX as usize;

impl Computed {
    /// Creates the results of a column without rows yet, with memory for `bytes` bytes.
    pub(crate) fn new(rows: usize, bytes: usize, is_large: bool) -> Result<Self, ColumnError> {
        let max_bytes = if is_large { usize::MAX } else { MAX_SMALL };
        if bytes > max_bytes {
            return Err(ColumnError::TooLarge { found: bytes, max: max_bytes });
        }
        let mut values = Vec::new();
        let reserved = values.try_reserve_exact(bytes);
        reserved.map_err(|_| ColumnError::Machine(format!("no memory for {bytes} bytes of results")))?;
        let (ends, states) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        Ok(Self { values, ends, states, bad: 0, is_large, max_bytes })
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn push_value(&mut self, prefix: &[u8], value: &[u8]) {
        self.values.extend_from_slice(prefix);
        self.values.extend_from_slice(value);
        self.push(RowState::Value);
    }

    /// Adds a result that `write` appends. If it fails, no row is added.
    pub(crate) fn push_written<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.values.len();
        let written = write(&mut self.values);
        match written {
            Ok(()) => self.push(RowState::Value),
            Err(_) => self.values.truncate(start),
        }
        written
    }

    pub(crate) fn push_nulls(&mut self, rows: usize) {
        self.ends.resize(self.ends.len() + rows, self.values.len());
        self.states.resize(self.states.len() + rows, RowState::Null);
    }

    pub(crate) fn push_fault(&mut self, fault: RowFault) {
        self.bad += 1;
        self.push(RowState::Bad(fault));
    }

    #[inline]
    fn push(&mut self, state: RowState) {
        self.ends.push(self.values.len());
        self.states.push(state);
    }

    /// Returns the result of a row.
    pub(crate) fn result(&self, row: usize) -> Result<Option<&[u8]>, RowFault> {
        match self.states[row] {
            RowState::Null => Ok(None),
            RowState::Bad(fault) => Err(fault),
            RowState::Value => {
                let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
                Ok(Some(&self.values[start..self.ends[row]]))
            }
        }
    }

    /// Returns the results of rows that name these rows as their entries.
    pub(crate) fn expand(&self, entries: &[Option<u32>]) -> Result<Self, ColumnError> {
        let len = |entry: &u32| self.result(*entry as usize).ok().flatten().map_or(0, <[u8]>::len);
        let bytes = entries.iter().flatten().map(len).sum();
        let mut expanded = Self::new(entries.len(), bytes, self.is_large)?;
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
    pub(crate) fn finish(self, on_error: OnError) -> Result<ColumnResult, ColumnError> {
        match self.is_large {
            true => self.finish_as::<LargeBinaryType>(on_error),
            false => self.finish_as::<BinaryType>(on_error),
        }
    }

    /// Returns the results as a column of text.
    pub(crate) fn finish_text(self, on_error: OnError) -> Result<ColumnResult, ColumnError> {
        match self.is_large {
            true => self.finish_as::<LargeUtf8Type>(on_error),
            false => self.finish_as::<Utf8Type>(on_error),
        }
    }

    fn finish_as<T: ByteArrayType>(mut self, on_error: OnError) -> Result<ColumnResult, ColumnError> {
        let (nulls, rejected) = judge(&self.states, self.bad, on_error)?;
        debug_assert!(self.values.len() <= self.max_bytes);
        let values = Buffer::from_vec(std::mem::take(&mut self.values));
        let offsets = offsets::<T::Offset>(&self.ends);
        let array = GenericByteArray::<T>::try_new(offsets, values, nulls);
        let array = array.map_err(|error| ColumnError::Machine(error.to_string()))?;
        with_faults(Arc::new(array), &self.states, on_error, rejected)
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
        let state = |answer: &Result<Option<bool>, RowFault>| match answer {
            Ok(Some(_)) => RowState::Value,
            Ok(None) => RowState::Null,
            Err(fault) => RowState::Bad(*fault),
        };
        let states: Vec<RowState> = self.0.iter().map(state).collect();
        let bad = self.0.iter().filter(|answer| answer.is_err()).count();
        let (nulls, rejected) = judge(&states, bad, on_error)?;
        let is_true = |answer: &Result<Option<bool>, RowFault>| *answer == Ok(Some(true));
        let answers: BooleanBuffer = self.0.iter().map(is_true).collect();
        with_faults(Arc::new(BooleanArray::new(answers, nulls)), &states, on_error, rejected)
    }
}

fn offsets<T: ArrowNativeType>(ends: &[usize]) -> OffsetBuffer<T> {
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(T::usize_as(0));
    offsets.extend(ends.iter().map(|end| T::usize_as(*end)));
    OffsetBuffer::new(ScalarBuffer::from(offsets))
}

/// Returns the nulls of a column, and its bad rows, of which there are `bad`.
fn judge(
    states: &[RowState],
    bad: usize,
    on_error: OnError,
) -> Result<(Option<NullBuffer>, RejectedRows), ColumnError> {
    let mut rejected = RejectedRows::default();
    // Most columns have no bad row, and then no row is looked at.
    let bad_rows = states.iter().enumerate().filter_map(|(row, state)| match state {
        RowState::Bad(fault) => Some((row, *fault)),
        _ => None,
    });
    let mut first = None;
    for (row, fault) in bad_rows.take(bad) {
        first.get_or_insert((row, fault));
        *rejected.0.entry(fault).or_default() += 1;
    }
    if let (OnError::Raise, Some((row, fault))) = (on_error, first) {
        return Err(ColumnError::BadRow { row, fault, count: rejected.total() });
    }
    let is_valid = BooleanBuffer::collect_bool(states.len(), |row| states[row] == RowState::Value);
    let nulls = NullBuffer::new(is_valid);
    Ok((Some(nulls).filter(|nulls| nulls.null_count() > 0), rejected))
}

/// Adds the reasons of bad rows, if the caller wants them beside the values.
fn with_faults(
    array: ArrayRef,
    states: &[RowState],
    on_error: OnError,
    rejected: RejectedRows,
) -> Result<ColumnResult, ColumnError> {
    if on_error != OnError::Struct {
        return Ok(ColumnResult { array, rejected });
    }
    let mut faults = StringBuilder::new();
    for state in states {
        faults.append_option(match state {
            RowState::Bad(fault) => Some(fault.text()),
            _ => None,
        });
    }
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
