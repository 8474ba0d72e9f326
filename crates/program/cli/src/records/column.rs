//! A column of record batches: computed on all threads, and replaced by its results.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, LargeStringArray, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::concat::concat;
use arrow_select::filter::{filter, filter_record_batch};
use oarlock_columns::{
    AssociatedData, ColumnError, ColumnKeys, ColumnResult, Decryption, Encryption, MacOptions, OnError,
    TokenOptions, Translation, decrypt, detokenise, encrypt, mac, tokenise, translate,
};

use super::args::{ArrowJob, ArrowOperation};
use super::error::BatchFault;

/// Replaces a column by the results of a job.
pub(super) struct ColumnEditor<'j> {
    pub(super) job: &'j ArrowJob,
    pub(super) keys: ColumnKeys,
    pub(super) key: Arc<str>,
    /// The key that encrypts in a translation.
    pub(super) to_key: Arc<str>,
    pub(super) threads: usize,
}

/// A batch with its results, without the rows that were rejected.
pub(super) struct EditedBatch {
    pub(super) batch: RecordBatch,
    /// The rejected rows, with their reasons.
    pub(super) bad: Vec<(usize, String)>,
}

/// The min number of rows for another thread: as many as one batch of the accelerator has.
const MIN_ROWS: usize = 8192;
/// The max number of rows of an array that the Arrow format recommends.
const MAX_ROWS: usize = i32::MAX as usize;

impl ColumnEditor<'_> {
    /// Computes a batch.
    pub(super) fn edit(&self, batch: &RecordBatch) -> Result<EditedBatch, BatchFault> {
        let rows = batch.num_rows();
        // A column of nulls has any number of rows in no bytes.
        if rows > MAX_ROWS {
            return Err(BatchFault::TooManyRows { rows, max: MAX_ROWS });
        }
        let schema = batch.schema_ref();
        let column = find_column(schema, &self.job.column)?;
        let beside = self.job.beside.as_ref().map(|name| find_column(schema, name)).transpose()?;
        let beside = beside.map(|index| batch.column(index));
        let (results, reasons) = split_results(&self.compute(batch.column(column), beside)?)?;
        let reasons = reasons.as_string::<i32>();
        let is_text = |row| !self.job.is_text || is_utf8(&results, row);
        let reason = |row| match reasons.is_valid(row) {
            true => Some((row, reasons.value(row).to_owned())),
            false if is_text(row) => None,
            false => Some((row, NO_TEXT.to_owned())),
        };
        let bad: Vec<(usize, String)> = (0..rows).filter_map(reason).collect();
        let (mut batch, mut results) = (batch.clone(), results);
        if !bad.is_empty() {
            let mut is_good = vec![true; rows];
            bad.iter().for_each(|(row, _)| is_good[*row] = false);
            let is_good = BooleanArray::from(is_good);
            (batch, results) = (filter_record_batch(&batch, &is_good)?, filter(&results, &is_good)?);
        }
        if self.job.is_text {
            results = into_text(&results)?;
        }
        Ok(EditedBatch { batch: self.replace(&batch, column, results)?, bad })
    }

    /// Computes a column in parts of whole rows, one for each thread.
    fn compute(&self, values: &ArrayRef, beside: Option<&ArrayRef>) -> Result<ArrayRef, BatchFault> {
        let rows = values.len();
        let parts = (rows / MIN_ROWS).clamp(1, self.threads);
        let part = |number: usize| {
            let (start, end) = (rows * number / parts, rows * (number + 1) / parts);
            let slice = |array: &ArrayRef| array.slice(start, end - start);
            self.run(&*slice(values), beside.map(slice).as_deref())
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let part = &part;
            let others: Vec<_> = (1..parts).map(|number| scope.spawn(move || part(number))).collect();
            let panicked = || ColumnError::Machine("a thread has panicked".to_owned());
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|_| Err(panicked())));
            // This thread computes the first part while the others compute theirs.
            [part(0)].into_iter().chain(others).collect()
        });
        let results = results.into_iter().map(|result| Ok(result?.array));
        let results = results.collect::<Result<Vec<ArrayRef>, ColumnError>>().map_err(without_space)?;
        let results: Vec<&dyn Array> = results.iter().map(|array| &**array).collect();
        Ok(concat(&results)?)
    }

    fn run(&self, values: &dyn Array, beside: Option<&dyn Array>) -> Result<ColumnResult, ColumnError> {
        let beside = beside.map_or(AssociatedData::None, AssociatedData::Column);
        // With `Struct`, a bad value is reported in its row and does not end the batch.
        let (keys, key, on_error) = (&self.keys, &*self.key, OnError::Struct);
        match &self.job.operation {
            ArrowOperation::Encrypt(cipher, iv) => {
                encrypt(keys, values, &Encryption::new(key, *cipher).iv(*iv).aad(beside), on_error)
            }
            ArrowOperation::Decrypt(cipher) => {
                decrypt(keys, values, &Decryption::new(key, *cipher).aad(beside), on_error)
            }
            ArrowOperation::Translate(from, to) => {
                let options = Translation::new(Decryption::new(key, *from), &self.to_key, *to);
                translate(keys, values, &options, on_error)
            }
            ArrowOperation::Mac(alg, len) => {
                mac(keys, values, &MacOptions::new(key, *alg).len(*len), on_error)
            }
            ArrowOperation::Tokenise(alg, format, tweak) => {
                let options = TokenOptions::new(key, *alg, format).tweak(tweak_of(tweak, beside));
                tokenise(keys, values, &options, on_error)
            }
            ArrowOperation::Detokenise(alg, format, tweak) => {
                let options = TokenOptions::new(key, *alg, format).tweak(tweak_of(tweak, beside));
                detokenise(keys, values, &options, on_error)
            }
        }
    }

    /// Puts results into their column, which is added at the end if it does not exist.
    fn replace(
        &self,
        batch: &RecordBatch,
        column: usize,
        results: ArrayRef,
    ) -> Result<RecordBatch, BatchFault> {
        let (schema, into) = (batch.schema_ref(), &self.job.into);
        let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
        let mut columns = batch.columns().to_vec();
        let values = schema.field(column);
        let mut field = Field::new(into, results.data_type().clone(), values.is_nullable());
        match find_column(schema, into) {
            Ok(index) => {
                let mut metadata = fields[index].metadata().clone();
                // An extension names the type that the column had.
                metadata.retain(|name, _| !name.starts_with("ARROW:extension:"));
                field.set_metadata(metadata);
                (fields[index], columns[index]) = (Arc::new(field), results);
            }
            Err(BatchFault::NoColumn { .. }) => {
                fields.push(Arc::new(field));
                columns.push(results);
            }
            Err(fault) => return Err(fault),
        }
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        Ok(RecordBatch::try_new(Arc::new(schema), columns)?)
    }
}

fn find_column(schema: &Schema, name: &str) -> Result<usize, BatchFault> {
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    let found: Vec<usize> =
        names().enumerate().filter(|(_, candidate)| *candidate == name).map(|(at, _)| at).collect();
    match found[..] {
        [index] => Ok(index),
        [] => {
            let known = names().collect::<Vec<_>>().join(", ");
            Err(BatchFault::NoColumn { name: name.to_owned(), known })
        }
        _ => Err(BatchFault::RepeatedColumn { name: name.to_owned(), count: found.len() }),
    }
}

/// Returns the two columns of [`OnError::Struct`].
fn split_results(array: &ArrayRef) -> Result<(ArrayRef, ArrayRef), BatchFault> {
    match array.as_struct_opt().map(|pair| pair.columns()) {
        Some([values, reasons]) => Ok((values.clone(), reasons.clone())),
        _ => Err(ColumnError::Machine("a result is not a struct of value and error".to_owned()).into()),
    }
}

/// The reason of a row whose decrypted value is not a string.
const NO_TEXT: &str = "the value is not UTF-8 text: the key is wrong, or leave --encoding out";

fn is_utf8(values: &ArrayRef, row: usize) -> bool {
    values.is_null(row)
        || match values.data_type() {
            DataType::LargeBinary => std::str::from_utf8(values.as_binary::<i64>().value(row)).is_ok(),
            _ => std::str::from_utf8(values.as_binary::<i32>().value(row)).is_ok(),
        }
}

fn into_text(values: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match values.data_type() {
        DataType::LargeBinary => {
            Arc::new(LargeStringArray::try_from_binary(values.as_binary::<i64>().clone())?)
        }
        _ => Arc::new(StringArray::try_from_binary(values.as_binary::<i32>().clone())?),
    })
}

/// Returns the tweaks of a column, or else that of all rows.
fn tweak_of<'a>(tweak: &'a [u8], column: AssociatedData<'a>) -> AssociatedData<'a> {
    match column {
        AssociatedData::None => AssociatedData::Constant(tweak),
        column => column,
    }
}

/// Corrects the name of a key from outside a file of keys: in the table it begins with a space.
fn without_space(error: ColumnError) -> ColumnError {
    match error {
        ColumnError::KeyRefused { name, reason } => {
            ColumnError::KeyRefused { name: name.trim_start().to_owned(), reason }
        }
        other => other,
    }
}
