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
use std::fmt;

use oarlock::Accelerator;
use oarlock_core::{Column, ColumnValue, JobError, KeySource, Records, SecretSlots};

pub use self::builder::{BatchBuilder, BatchEntry, EntryInput, EntryIv, EntryOutput};
pub use self::outcome::{BatchOutcome, RecordError};
use self::plan::RecordBatchPlan;
pub use self::unwrap_key::WrappedKey;
use crate::table::{BatchTask, IvSource, KeyColumns, KeyTable, TableSnapshot};

/// Records of mixed tasks.
///
/// The first record that names a slot writes it, and later records read it. A slot that an unwrapping fills is used
/// as a key only. A slot that any other record fills is used as data only. Data that a translate-only key has
/// decrypted can only be encrypted again. Slots end with the call.
#[derive(Clone)]
pub struct Batch<'a> {
    /// The task of each record.
    pub task: Column<'a, BatchTask>,
    /// The columns in the form that engines take.
    ///
    /// `keys` are keys of the caller beside those of the table ([`Batch::outside_key`] names them). `slots` is
    /// ignored. The tag column holds the check values of unwrapped keys.
    pub records: Records<'a>,
    /// The source of each IV. The spans of `records.iv` are those of [`IvSource::Given`].
    pub iv_from: Column<'a, IvSource>,
    /// The source of the IV of the encrypting half of a translation.
    pub second_iv_from: Column<'a, IvSource>,
    /// The capacity of each secret slot, in bytes.
    pub slots: Cow<'a, [u32]>,
}

impl<'a> Batch<'a> {
    /// Creates a batch of mixed tasks, with the caller's IVs and without slots.
    #[must_use]
    pub fn new(task: Column<'a, BatchTask>, records: Records<'a>) -> Self {
        let iv = Column::One(IvSource::Given);
        Self { task, records, iv_from: iv.clone(), second_iv_from: iv, slots: Cow::Borrowed(&[]) }
    }

    /// Creates a batch of one task, with the caller's IVs and without slots.
    #[must_use]
    pub fn of(task: impl Into<BatchTask>, records: Records<'a>) -> Self {
        Self::new(Column::One(task.into()), records)
    }

    /// Names the key at `index` of `records.keys`, which the caller brings instead of the table.
    ///
    /// No policy holds for it. No IV for GCM is made under it, because nobody counts its uses.
    #[must_use]
    pub fn outside_key(index: u32) -> KeySource {
        KeySource::Table(TableSnapshot::FIRST_OUTSIDE | index)
    }

    /// True if every column covers every record.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let len = self.records.len;
        self.records.is_complete()
            && self.task.covers(len)
            && self.iv_from.covers(len)
            && self.second_iv_from.covers(len)
    }

    fn names_slots(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Returns the same batch, borrowed, with other key columns.
    fn with_keys(&self, [key, second_key]: KeyColumns) -> Batch<'_> {
        Batch {
            task: self.task.borrowed(),
            records: Records { key, second_key, ..self.records.borrowed() },
            iv_from: self.iv_from.borrowed(),
            second_iv_from: self.second_iv_from.borrowed(),
            slots: Cow::Borrowed(&self.slots),
        }
    }

    /// Returns the same batch, borrowed, with runs written out. Its records can then be read in any order.
    fn flattened(&self) -> Batch<'_> {
        let records = self.records.borrowed();
        Batch {
            task: flat(&self.task),
            records: Records {
                key: flat(&self.records.key),
                second_key: flat(&self.records.second_key),
                iv: flat(&self.records.iv),
                second_iv: flat(&self.records.second_iv),
                aad: flat(&self.records.aad),
                input: flat(&self.records.input),
                output: flat(&self.records.output),
                tag: flat(&self.records.tag),
                ..records
            },
            iv_from: flat(&self.iv_from),
            second_iv_from: flat(&self.second_iv_from),
            slots: Cow::Borrowed(&self.slots),
        }
    }
}

fn flat<'a, T: ColumnValue>(column: &'a Column<'_, T>) -> Column<'a, T> {
    match column {
        Column::Runs(_) => Column::Each(column.cursor().collect()),
        other => other.borrowed(),
    }
}

impl KeyTable {
    /// Computes records of mixed tasks on this thread, under keys of the table and as their policies allow.
    ///
    /// # Errors
    /// A column does not cover the records, or data or slots exceed 4 GiB. A bad record has a status and is no error.
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
    let mut memory = outcome.take_memory();
    if !batch.is_complete() {
        return Err(JobError::Malformed { what: "a column does not cover the records" });
    }
    let (snapshot, columns) = table.begin(&batch.records);
    let named;
    let batch = match columns {
        None => batch,
        Some(columns) => {
            named = batch.with_keys(columns);
            &named
        }
    };
    match RecordBatchPlan::new(batch, &snapshot)? {
        RecordBatchPlan::Plain(shape) => {
            plain::run(accelerator, shape, &batch.records, &snapshot, &mut memory)?;
        }
        RecordBatchPlan::MadeIvs(shape, made) => {
            made.run(accelerator, shape, batch, &snapshot, &mut memory)?;
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
    *outcome = BatchOutcome::of(memory, Vec::new());
    Ok(SecretSlots::default())
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Batch({:?}, {} slots)", self.records, self.slots.len())
    }
}
