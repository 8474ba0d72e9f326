//! Chunks of rows, computed and collected.

use oarlock::{Span, Status};
use oarlock_keytable::BatchOutcome;

use crate::keys::{BatchLimits, row_fault};
use crate::output::Computed;
use crate::records::{BatchParts, BatchRecords};
use crate::values::{ValueColumn, ValueSpan};
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
    let mut max_len = 0_usize;
    for row in values.rows_from(0) {
        if let Some(span) = values.span(row)? {
            max_len = max_len.saturating_add(operation.max_result_len(span.len));
        }
    }
    // All memory at once: a plaintext would be left behind where a vector grows out of its memory.
    let mut computed = Computed::new(values.len(), max_len, values.is_large())?;
    let mut chunk = Chunk::default();
    let limits = ColumnKeys::limits(operation.parts().key);
    while computed.len() < values.len() {
        chunk.cut(values, operation, computed.len(), limits)?;
        operation.prepare(&ChunkRows { values, rows: &chunk.rows }, keys)?;
        chunk.fill(values, operation, limits)?;
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
        let (statuses, output) = (self.outcome.statuses(), self.outcome.output());
        let per_row = operation.records_per_row();
        let mut record = 0;
        for (index, (row, value_span)) in self.rows.iter().enumerate() {
            // The rows between those with a value are null.
            computed.push_nulls(row - computed.len());
            let span = match self.results[index] {
                Ok(span) => span,
                Err(fault) => {
                    computed.push_fault(fault);
                    continue;
                }
            };
            let records = record..record + per_row;
            record += per_row;
            // The first record that failed is the reason; those after it only depend on it.
            match records.into_iter().find(|record| statuses[*record] != Status::Done) {
                Some(failed) => {
                    computed.push_fault(row_fault(&self.outcome, failed, operation.key_names())?);
                }
                None => {
                    let output = span.slice(output).ok_or_else(too_short)?;
                    let row = ChunkRow { index, value: values.bytes(*value_span) };
                    operation.push_result(&row, output, computed);
                }
            }
        }
        computed.push_nulls(self.end - computed.len());
        Ok(())
    }
}

fn too_short() -> ColumnError {
    ColumnError::Machine("the output is too short".to_owned())
}

/// The largest distance of values that are read in place, in units of the bytes of a batch.
const MAX_SPREAD: usize = 4;
