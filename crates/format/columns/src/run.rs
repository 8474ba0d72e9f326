//! Chunks of rows, computed and collected.

use arrow_buffer::NullBuffer;
use oarlock::{Span, Status};
use oarlock_keytable::BatchOutcome;

use crate::keys::{BatchLimits, row_fault};
use crate::output::Computed;
use crate::records::{BatchParts, BatchRecords};
use crate::values::{EvenValues, ValueColumn, ValueSpan};
use crate::{ColumnError, ColumnKeys, RowFault};

/// An operation on the rows of a column.
pub(crate) trait ColumnOperation {
    /// Returns the names of the keys, for errors.
    fn key_names(&self) -> &str;

    /// Returns the task and the keys of each batch.
    fn parts(&self) -> BatchParts;

    /// True if a record needs bytes beside its value, such as a padding. The values are then gathered.
    fn gathers(&self) -> bool {
        false
    }

    /// True if a row has data of its own beside its value, or several records. The records of equally long values then
    /// differ in more than their places.
    fn has_row_data(&self) -> bool {
        false
    }

    /// Returns the bytes that a batch has for a row beside its value, such as associated data.
    fn extra_len(&self, _row: usize) -> Result<usize, ColumnError> {
        Ok(0)
    }

    /// Returns the number of records of a row.
    fn records_per_row(&self) -> usize {
        1
    }

    /// Returns the length of the longest result of a value.
    fn max_result_len(&self, value_len: usize) -> usize;

    /// Prepares a chunk, before its records are added.
    fn prepare(&mut self, _rows: &ChunkRows<'_>, _keys: &ColumnKeys) -> Result<(), ColumnError> {
        Ok(())
    }

    /// Adds the input of a row to the gathered bytes: the value, or what the records need in its place.
    fn gather(&self, value: &[u8], records: &mut BatchRecords) -> Result<Span, RowFault> {
        records.store(value)
    }

    /// Adds the inputs of values of one length, as [`gather`](Self::gather) does. Returns the place of the first one and
    /// the bytes from one to the next, or `None` if the rows have to be looked at one by one.
    fn gather_even(&self, texts: &EvenBytes<'_>, records: &mut BatchRecords) -> Option<(Span, usize)> {
        let mut values = texts.values();
        if let (Some(joined), Some(first)) =
            (texts.joined(), Span::new(records.gathered_len(), texts.even.first.len))
        {
            records.store(joined).ok()?;
            return Some((first, first.len as usize));
        }
        let first = self.gather(values.next()?, records).ok()?;
        for value in values {
            self.gather(value, records).ok()?;
        }
        Some((first, first.len as usize))
    }

    /// Adds the records of a row. `value` is the place of its input among the bytes of the batch, and `index` the
    /// number of the row among those of the chunk that have a value. Returns the place of the result in the output.
    fn add(
        &self,
        row: usize,
        index: usize,
        value: Span,
        records: &mut BatchRecords,
    ) -> Result<Span, RowError>;

    /// Adds the result of a row to those of the column. `output` is what the records of the row have put out, at the
    /// place that [`add`](Self::add) has returned.
    fn push_result(&self, row: &ChunkRow<'_>, output: &[u8], computed: &mut Computed) {
        let _ = row;
        computed.push_value(&[], output);
    }

    /// Adds the results of all rows of a chunk whose values have one length. `output` has these results side by side.
    /// Returns false if the rows have to be looked at one by one.
    fn push_even(&self, texts: &EvenBytes<'_>, output: &[u8], computed: &mut Computed) -> bool {
        push_equal_results(texts, output, computed)
    }

    /// True if equal values have equal results. The distinct values of a dictionary are then computed once.
    fn is_deterministic(&self) -> bool;
}

/// The reason why a row has no records.
pub(crate) enum RowError {
    Row(RowFault),
    Call(ColumnError),
}

impl From<RowFault> for RowError {
    fn from(fault: RowFault) -> Self {
        Self::Row(fault)
    }
}

impl From<ColumnError> for RowError {
    fn from(error: ColumnError) -> Self {
        Self::Call(error)
    }
}

/// The rows of a chunk that have a value.
pub(crate) struct ChunkRows<'c> {
    pub(crate) values: &'c ValueColumn<'c>,
    pub(crate) rows: &'c [(usize, ValueSpan)],
}

/// A row with its value.
pub(crate) struct ChunkRow<'v> {
    /// The number of the row among those of the chunk that have a value.
    pub(crate) index: usize,
    pub(crate) value: &'v [u8],
}

/// Adds results of one length, as they are.
pub(crate) fn push_equal_results(texts: &EvenBytes<'_>, output: &[u8], computed: &mut Computed) -> bool {
    computed.push_even(texts.rows, texts.nulls.as_ref(), output.len() / texts.even.count, output);
    true
}

/// The values of a chunk, if they have one length.
pub(crate) struct EvenBytes<'c> {
    /// The buffer that they lie in.
    buffer: &'c [u8],
    pub(crate) even: EvenValues,
    /// The number of rows, null rows included.
    pub(crate) rows: usize,
    pub(crate) nulls: Option<NullBuffer>,
}

impl<'c> EvenBytes<'c> {
    fn new(values: &'c ValueColumn<'c>, even: EvenValues, first: usize) -> Self {
        let (buffer, nulls) = (values.buffer(even.first.buffer), values.nulls(first..even.end));
        Self { buffer, even, rows: even.end - first, nulls }
    }

    /// Returns the values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &'c [u8]> + use<'c> {
        let (buffer, even) = (self.buffer, self.even);
        (0..even.count).map(move |index| {
            let ValueSpan { start, len, .. } = even.span(index);
            &buffer[start..start + len]
        })
    }

    /// Returns all values at once if they lie side by side.
    pub(crate) fn joined(&self) -> Option<&'c [u8]> {
        (self.even.stride == self.even.first.len).then(|| &self.buffer[self.even.range()])
    }
}

/// Computes a column.
pub(crate) fn run(
    keys: &ColumnKeys,
    values: ValueColumn<'_>,
    operation: &mut dyn ColumnOperation,
) -> Result<Computed, ColumnError> {
    if values.is_dictionary() && operation.is_deterministic() {
        let (distinct, entries) = values.into_distinct();
        return run_rows(keys, &distinct, operation)?.expand(&entries);
    }
    run_rows(keys, &values, operation)
}

fn run_rows(
    keys: &ColumnKeys,
    values: &ValueColumn<'_>,
    operation: &mut dyn ColumnOperation,
) -> Result<Computed, ColumnError> {
    let mut chunk = Chunk { front: values.even_values(0, values.len()), ..Chunk::default() };
    let mut max_len = 0_usize;
    values.each_len(chunk.front.as_ref(), |len, count| {
        max_len = max_len.saturating_add(operation.max_result_len(len).saturating_mul(count));
    })?;
    // All memory at once: a plaintext would be left behind where a vector grows out of its memory.
    let mut computed = Computed::new(values.len(), max_len, values.is_large())?;
    let limits = ColumnKeys::limits(operation.parts().key);
    while computed.len() < values.len() {
        if !chunk.cut_even(values, operation, computed.len(), limits)? {
            chunk.cut(values, operation, computed.len(), limits)?;
            operation.prepare(&ChunkRows { values, rows: &chunk.rows }, keys)?;
            chunk.fill(values, operation, limits)?;
        }
        chunk.compute(values, operation, keys)?;
        chunk.collect(values, operation, &mut computed)?;
    }
    Ok(computed)
}

/// A chunk of rows, in memory that is used again.
#[derive(Default)]
struct Chunk {
    /// The row after the last one of the chunk.
    end: usize,
    /// The even values of which the last chunk had some. Chunks are cut from them if there are no null rows between.
    front: Option<EvenValues>,
    /// The values and the span of the first result, if the values have one length. Then nothing is kept for each row.
    even: Option<(EvenValues, Span)>,
    /// The rows with a value.
    rows: Vec<(usize, ValueSpan)>,
    /// The span of each result, or the fault of the row, for the rows with a value.
    results: Vec<Result<Span, RowFault>>,
    /// The values that are read in place: the number of their buffer, and the first byte and the end in it.
    in_place: Option<(u32, usize, usize)>,
    records: BatchRecords,
    outcome: BatchOutcome,
}

impl Chunk {
    /// Takes rows from `first` on as long as their values have one length, and adds one record for all of them. Returns
    /// false if there are too few, or if they have to be looked at one by one.
    fn cut_even(
        &mut self,
        values: &ValueColumn<'_>,
        operation: &dyn ColumnOperation,
        first: usize,
        limits: BatchLimits,
    ) -> Result<bool, ColumnError> {
        self.even = None;
        if operation.has_row_data() {
            return Ok(false);
        }
        let Some(even) = self.even_values(values, first, limits.rows) else { return Ok(false) };
        // The bytes between values belong to a batch too.
        let max = (limits.bytes / even.stride.max(even.first.len).max(1)).max(1);
        let even = match even.count <= max {
            true => even,
            false => self.even_values(values, first, max).unwrap_or(even),
        };
        let is_long = even.count >= MIN_EVEN || even.end == values.len();
        if !is_long || even.first.len > limits.value_bytes {
            return Ok(false);
        }
        self.records.clear();
        let (value, stride) = if operation.gathers() {
            self.in_place = None;
            let texts = EvenBytes::new(values, even, first);
            let Some(gathered) = operation.gather_even(&texts, &mut self.records) else { return Ok(false) };
            gathered
        } else {
            let range = even.range();
            self.in_place = Some((even.first.buffer, range.start, range.end));
            let Some(value) = Span::new(0, even.first.len) else { return Ok(false) };
            (value, even.stride)
        };
        let row = values.rows_from(first).next().unwrap_or(first);
        // A fault is that of every row, and is told for each of them.
        let Ok(result) = operation.add(row, 0, value, &mut self.records) else { return Ok(false) };
        if self.records.repeat(even.count, value, stride).is_err() {
            return Ok(false);
        }
        (self.even, self.end) = (Some((even, result)), even.end);
        Ok(true)
    }

    /// Returns the even values from row `first` on, at most `max`.
    fn even_values(&mut self, values: &ValueColumn<'_>, first: usize, max: usize) -> Option<EvenValues> {
        if values.has_nulls() {
            return values.even_values(first, max);
        }
        // A row is a value, so the rest of the values is known by its first row.
        let is_known = |front: &EvenValues| (front.end - front.count..front.end).contains(&first);
        if !self.front.as_ref().is_some_and(is_known) {
            self.front = values.even_values(first, values.len());
        }
        let front = self.front?;
        Some(front.part(first - (front.end - front.count), max))
    }

    /// Takes rows from `first` on until the chunk is full.
    fn cut(
        &mut self,
        values: &ValueColumn<'_>,
        operation: &dyn ColumnOperation,
        first: usize,
        limits: BatchLimits,
    ) -> Result<(), ColumnError> {
        self.rows.clear();
        self.end = values.len();
        let (mut bytes, mut start, mut end) = (0, usize::MAX, 0);
        let mut is_one_buffer = true;
        for row in values.rows_from(first) {
            if let Some(span) = values.span(row)? {
                let len = span.len.saturating_add(operation.extra_len(row)?);
                let is_full = self.rows.len() == limits.rows || bytes + len > limits.bytes;
                if is_full && !self.rows.is_empty() {
                    self.end = row;
                    break;
                }
                bytes = bytes.saturating_add(len);
                (start, end) = (start.min(span.start), end.max(span.start + span.len));
                is_one_buffer &= self.rows.first().is_none_or(|(_, other)| other.buffer == span.buffer);
                self.rows.push((row, span));
            }
        }
        // A server gets all bytes between the first value and the last, so they must not be far apart.
        let is_near = end.saturating_sub(start) <= bytes.max(MAX_SPREAD * limits.bytes);
        let buffer = self.rows.first().map(|(_, span)| span.buffer);
        self.in_place = buffer.filter(|_| is_one_buffer && is_near).map(|buffer| (buffer, start, end));
        Ok(())
    }

    /// Adds the records of all rows.
    fn fill(
        &mut self,
        values: &ValueColumn<'_>,
        operation: &dyn ColumnOperation,
        limits: BatchLimits,
    ) -> Result<(), ColumnError> {
        if operation.gathers() {
            self.in_place = None;
        }
        self.records.clear();
        self.results.clear();
        for (index, (row, span)) in self.rows.iter().enumerate() {
            let len = span.len.saturating_add(operation.extra_len(*row)?);
            let value = match self.in_place {
                _ if len > limits.value_bytes => Err(RowFault::TooLong),
                // unreachable `None` because a chunk in place ends before 4 GiB
                Some((_, start, _)) => Span::new(span.start - start, span.len).ok_or(RowFault::TooLong),
                None => operation.gather(values.bytes(*span), &mut self.records),
            };
            let added = match value {
                Ok(value) => operation.add(*row, index, value, &mut self.records),
                Err(fault) => Err(RowError::Row(fault)),
            };
            self.results.push(match added {
                Ok(result) => Ok(result),
                Err(RowError::Row(fault)) => Err(fault),
                Err(RowError::Call(error)) => return Err(error),
            });
        }
        Ok(())
    }

    fn compute(
        &mut self,
        values: &ValueColumn<'_>,
        operation: &dyn ColumnOperation,
        keys: &ColumnKeys,
    ) -> Result<(), ColumnError> {
        if self.records.len() == 0 {
            return Ok(());
        }
        let data = self.in_place.map(|(buffer, start, end)| &values.buffer(buffer)[start..end]);
        let batch = self.records.batch(&operation.parts(), data);
        keys.run_batch(&batch, operation.key_names(), &mut self.outcome)
    }

    fn collect(
        &self,
        values: &ValueColumn<'_>,
        operation: &dyn ColumnOperation,
        computed: &mut Computed,
    ) -> Result<(), ColumnError> {
        match self.even {
            Some((even, result)) => {
                let output = self.outcome.output();
                // Results lie side by side, unless an operation keeps a part of its output only.
                let is_whole = result.len as usize * even.count == output.len();
                let texts = EvenBytes::new(values, even, computed.len());
                if !(is_whole && self.outcome.is_all_done() && operation.push_even(&texts, output, computed))
                {
                    let stride = output.len() / even.count;
                    let rows = values.rows_from(computed.len()).take(even.count);
                    for (index, row) in rows.enumerate() {
                        let start = result.start as usize + index * stride;
                        let result = Span::new(start, result.len as usize).ok_or(RowFault::TooLong);
                        let row_entry =
                            RowPlace { index, row, value: even.span(index), result, record: index };
                        self.collect_row(&row_entry, values, operation, computed)?;
                    }
                }
            }
            None => {
                let mut record = 0;
                for (index, (row, value)) in self.rows.iter().enumerate() {
                    let result = self.results[index];
                    let row_entry = RowPlace { index, row: *row, value: *value, result, record };
                    self.collect_row(&row_entry, values, operation, computed)?;
                    record += if result.is_ok() { operation.records_per_row() } else { 0 };
                }
            }
        }
        computed.push_nulls(self.end - computed.len());
        Ok(())
    }

    fn collect_row(
        &self,
        row: &RowPlace,
        values: &ValueColumn<'_>,
        operation: &dyn ColumnOperation,
        computed: &mut Computed,
    ) -> Result<(), ColumnError> {
        // The rows between those with a value are null.
        computed.push_nulls(row.row - computed.len());
        let span = match row.result {
            Ok(span) => span,
            Err(fault) => {
                computed.push_fault(fault);
                return Ok(());
            }
        };
        let mut records = row.record..row.record + operation.records_per_row();
        let statuses = self.outcome.statuses();
        // The first record that failed is the reason; those after it only depend on it.
        match records.find(|record| statuses[*record] != Status::Done) {
            Some(failed) => {
                computed.push_fault(row_fault(&self.outcome, failed, operation.key_names())?);
            }
            None => {
                let output = span.slice(self.outcome.output()).ok_or_else(too_short)?;
                let chunk_row = ChunkRow { index: row.index, value: values.bytes(row.value) };
                operation.push_result(&chunk_row, output, computed);
            }
        }
        Ok(())
    }
}

/// A row of a chunk that has a value.
struct RowPlace {
    /// The number of the row among those of the chunk that have a value.
    index: usize,
    row: usize,
    value: ValueSpan,
    result: Result<Span, RowFault>,
    /// The first of its records, if it has any.
    record: usize,
}

fn too_short() -> ColumnError {
    ColumnError::Machine("the output is too short".to_owned())
}

/// The values of one length that are worth a batch of their own.
const MIN_EVEN: usize = 512;

/// The largest distance of values that are read in place, in units of the bytes of a batch.
const MAX_SPREAD: usize = 4;
