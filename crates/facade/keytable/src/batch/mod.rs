//! Mixed batches: records of any tasks, under keys of a table, in one call.
//!
//! A [`Batch`] consists of columns, like [`Records`], and of a task for each record. A [`BatchBuilder`] makes it record
//! by record. [`KeyTable::run`] checks each record against the policy of its key, groups the records by
//! shape, and answers in the caller's order. A record that reads a secret slot runs in a later wave than the record
//! that fills it. A batch of one shape, with the caller's IVs and without slots, goes to the engines unchanged.
//!
//! | file | content |
//! |---|---|
//! | [`builder`](BatchBuilder) | a batch made record by record |
//! | [`outcome`](BatchOutcome) | statuses and results in the caller's order, and messages for human readers |
//! | `held` | batches under held keys, which their holder computes |
//! | `plan` | the choice among the four ways to compute a batch, the next three and waves |
//! | `plain` | batches that go unchanged, with one comparison per record |
//! | `made_ivs` | batches of one task whose IVs are all random or all zero |
//! | `by_task` | batches of several tasks whose records are plain, with columns copied by task |
//! | `wave_plan`, `judge`, `slots` | the check of each record, and its wave |
//! | `reserve` | the uses of keys, taken before anything runs |
//! | `ivs` | IVs that waves make |
//! | `waves`, `gather` | groups of one shape, run and put back into order |
//! | `unwrapped` | the checks of an unwrapped key before its use |
//! | `unwrap_key` | keys that come into the table wrapped |
//! | `agreement` | random batches on which all paths must agree; only with the feature `random-batches` |

#[cfg(any(test, feature = "random-batches"))]
pub mod agreement;
mod builder;
mod by_task;
mod domain;
mod gather;
mod held;
mod ivs;
mod judge;
mod made_ivs;
mod outcome;
mod plain;
mod plan;
mod reserve;
mod slots;
#[cfg(test)]
pub(crate) mod tests;
mod unwrap_key;
mod unwrapped;
mod wave_plan;
mod waves;

use std::borrow::Cow;

use oarlock::Accelerator;
use oarlock_core::{Batch, Column, ColumnValue, JobError, Records, SecretSlots};

pub use self::builder::{BatchBuilder, BatchEntry, EntryInput, EntryIv, EntryOutput};
use self::held::held_batch;
pub use self::outcome::{BatchOutcome, RecordError};
use self::plan::RecordBatchPlan;
pub use self::unwrap_key::WrappedKey;
use crate::table::{KeyColumns, KeyTable};

/// Returns a batch, borrowed, with other key columns.
fn with_keys<'b>(batch: &'b Batch<'_>, [key, second_key]: KeyColumns) -> Batch<'b> {
    let records = Records { key, second_key, ..batch.records.borrowed() };
    Batch {
        task: batch.task.borrowed(),
        records,
        iv_from: batch.iv_from.borrowed(),
        second_iv_from: batch.second_iv_from.borrowed(),
        slots: Cow::Borrowed(&batch.slots),
    }
}

/// Returns a batch, borrowed, with runs written out. Its records can then be read in any order.
fn flattened<'b>(batch: &'b Batch<'_>) -> Batch<'b> {
    let records = batch.records.borrowed();
    Batch {
        task: flat(&batch.task),
        records: Records {
            key: flat(&batch.records.key),
            second_key: flat(&batch.records.second_key),
            iv: flat(&batch.records.iv),
            second_iv: flat(&batch.records.second_iv),
            aad: flat(&batch.records.aad),
            input: flat(&batch.records.input),
            output: flat(&batch.records.output),
            tag: flat(&batch.records.tag),
            ..records
        },
        iv_from: flat(&batch.iv_from),
        second_iv_from: flat(&batch.second_iv_from),
        slots: Cow::Borrowed(&batch.slots),
    }
}

fn flat<'a, T: ColumnValue>(column: &'a Column<'_, T>) -> Column<'a, T> {
    match column {
        Column::Runs(_) => Column::Each(column.cursor().collect()),
        other => other.borrowed(),
    }
}

impl KeyTable {
    /// Computes records of mixed tasks on this thread, under keys of the table and as their policies allow. Records
    /// under held keys are computed by their holder, which the accelerator must have, and the thread waits.
    ///
    /// # Errors
    /// A column does not cover the records, data or slots exceed 4 GiB, the keys have several homes, or their holder
    /// failed. A bad record has a status and is no error.
    pub fn run(&self, accelerator: &Accelerator, batch: &Batch<'_>) -> Result<BatchOutcome, JobError> {
        let mut outcome = BatchOutcome::default();
        self.run_into(accelerator, batch, &mut outcome)?;
        Ok(outcome)
    }

    /// Computes a batch as [`run`](Self::run) does, into the memory of an earlier outcome.
    ///
    /// For many short records, new memory costs as much as the computation. The outcome is empty on an error.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub fn run_into(
        &self,
        accelerator: &Accelerator,
        batch: &Batch<'_>,
        outcome: &mut BatchOutcome,
    ) -> Result<(), JobError> {
        run(accelerator, self, batch, outcome).map(drop)
    }
}

/// Computes a batch into an outcome whose memory is used again. Returns the slots, from which an unwrapped key can be
/// taken.
fn run(
    accelerator: &Accelerator,
    table: &KeyTable,
    batch: &Batch<'_>,
    outcome: &mut BatchOutcome,
) -> Result<SecretSlots, JobError> {
    let (mut memory, mut copy) = outcome.take_memory();
    if !batch.is_complete() {
        return Err(JobError::Malformed { what: "a column does not cover the records" });
    }
    if let Some(held) = held_batch(batch, table)? {
        *outcome = BatchOutcome::from_holder(accelerator.records().run_held(&held)?);
        return Ok(SecretSlots::default());
    }
    let (snapshot, columns) = table.begin(&batch.records);
    let named;
    let batch = match columns {
        None => batch,
        Some(columns) => {
            named = with_keys(batch, columns);
            &named
        }
    };
    match RecordBatchPlan::new(batch, &snapshot)? {
        RecordBatchPlan::Plain(shape) => {
            plain::run(accelerator, shape, &batch.records, &snapshot, &mut memory)?;
        }
        RecordBatchPlan::MadeIvs(shape, made) => {
            made.run(accelerator, shape, batch, &snapshot, (&mut memory, &mut copy))?;
        }
        RecordBatchPlan::ByTask(flat, groups) => {
            by_task::run(accelerator, &groups, &flat.records, &snapshot, &mut memory);
        }
        RecordBatchPlan::Waves(flat, plan) => {
            let slots;
            (*outcome, slots) = waves::run(accelerator, &flat, plan, memory)?;
            table.count_weak(outcome.warnings().len() as u64);
            return Ok(slots);
        }
    }
    *outcome = BatchOutcome::from_outcomes(memory, Vec::new());
    outcome.keep_copy(copy);
    Ok(SecretSlots::default())
}
