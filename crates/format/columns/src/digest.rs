//! Authentication codes and hashes of columns.

use arrow_array::Array;
use oarlock::{DigestAlg, MacAlg, Span};
use oarlock_keytable::{BatchTask, MIN_MAC_LEN};
use subtle::ConstantTimeEq;

use crate::output::Verdicts;
use crate::records::{BatchParts, BatchRecords, NewRecord};
use crate::run::{ColumnOperation, RowError, run};
use crate::values::ValueColumn;
use crate::{ColumnError, ColumnKeys, ColumnResult, OnError};

/// The options of authentication codes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MacOptions<'a> {
    /// The name of the key.
    pub key: &'a str,
    /// The algorithm.
    pub alg: MacAlg,
    /// The number of leading bytes of a code that are kept.
    pub len: usize,
}

impl<'a> MacOptions<'a> {
    /// Creates options of whole codes.
    #[must_use]
    pub fn new(key: &'a str, alg: MacAlg) -> Self {
        Self { key, alg, len: alg.tag_len() }
    }

    /// Sets the number of leading bytes that are kept.
    #[must_use]
    pub fn len(self, len: usize) -> Self {
        Self { len, ..self }
    }
}

/// Makes the authentication code of each value.
///
/// # Errors
/// The column or the options do not fit, the key is unknown or refused, or the machine or the server failed.
pub fn mac(
    keys: &ColumnKeys,
    column: &dyn Array,
    options: &MacOptions<'_>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    run(keys, values, &mut DigestRows::mac(keys, options)?)?.finish(on_error)
}

/// Compares authentication codes with those of the values. A row is true if its code is right, and null if one of the
/// two is null. A code of another length than `options.len` is false.
///
/// # Errors
/// As [`mac`].
pub fn verify_mac(
    keys: &ColumnKeys,
    column: &dyn Array,
    codes: &dyn Array,
    options: &MacOptions<'_>,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    let codes = ValueColumn::read("column of codes", codes)?;
    let (expected, found) = (values.len(), codes.len());
    if expected != found {
        return Err(ColumnError::Rows { what: "column of codes", expected, found });
    }
    let computed = run(keys, values, &mut DigestRows::mac(keys, options)?)?;
    let mut verdicts = Verdicts::new(expected);
    for row in 0..expected {
        let found = codes.value(row)?;
        verdicts.push(computed.result(row).map(|code| Some(code?.ct_eq(found?).into())));
    }
    verdicts.finish(on_error)
}

/// Hashes each value.
///
/// # Errors
/// The column does not fit, or the machine failed.
pub fn hash(
    keys: &ColumnKeys,
    column: &dyn Array,
    alg: DigestAlg,
    on_error: OnError,
) -> Result<ColumnResult, ColumnError> {
    let values = ValueColumn::read("column", column)?;
    let mut rows = DigestRows { key: 0, key_name: "", task: BatchTask::digest(alg), len: alg.output_len() };
    run(keys, values, &mut rows)?.finish(on_error)
}

/// The records of codes or hashes.
struct DigestRows<'a> {
    key: u32,
    key_name: &'a str,
    task: BatchTask,
    len: usize,
}

impl<'a> DigestRows<'a> {
    fn mac(keys: &ColumnKeys, options: &MacOptions<'a>) -> Result<Self, ColumnError> {
        let (alg, len) = (options.alg, options.len);
        if !(MIN_MAC_LEN..=alg.tag_len()).contains(&len) {
            let max = alg.tag_len();
            return Err(ColumnError::Options(format!(
                "a code of {alg} has {MIN_MAC_LEN} to {max} bytes, found {len}"
            )));
        }
        let key = keys.index(options.key)?;
        Ok(Self { key, key_name: options.key, task: BatchTask::mac(alg), len })
    }
}

impl ColumnOperation for DigestRows<'_> {
    fn key_names(&self) -> &str {
        self.key_name
    }

    fn parts(&self) -> BatchParts {
        BatchParts { task: self.task, key: self.key, second_key: self.key }
    }

    fn max_result_len(&self, _value_len: usize) -> usize {
        self.len
    }

    fn add(
        &self,
        _row: usize,
        _index: usize,
        value: Span,
        records: &mut BatchRecords,
    ) -> Result<Span, RowError> {
        let output = records.reserve(self.len)?;
        records.push(NewRecord::new(value, output));
        Ok(output)
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}
