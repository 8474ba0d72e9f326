//! Batches that go to the engines unchanged: one task, the table's keys, the caller's IVs and no slots.
//!
//! The cost is one pass over the key column, which finds the rights that all keys have in common, and a second pass
//! if uses are counted. No column is copied.

use std::borrow::Cow;

use oarlock::Accelerator;
use oarlock_core::{Column, JobError, KeySource, Outcomes, Records, SecretSlots, Shape, Status};

use super::Batch;
use super::domain::are_large_enough;
use super::reserve::{UseTally, reserve_all};
use crate::table::{BatchTask, IvSource, IvUse, RightSet, TableSnapshot};

/// The shape of a batch that may go as it is; its uses are then reserved. None if a record has to be looked at.
pub(super) fn admit(batch: &Batch<'_>, snapshot: &TableSnapshot) -> Option<Shape> {
    let (Column::One(task), Column::One(IvSource::Given), Column::One(IvSource::Given)) =
        (&batch.task, &batch.iv_from, &batch.second_iv_from)
    else {
        return None;
    };
    admit_keys(batch, snapshot, needed(*task))
}

/// The shape of a batch of one task, if all its keys have the rights that are needed; its uses are then reserved.
pub(super) fn admit_keys(batch: &Batch<'_>, snapshot: &TableSnapshot, needed: RightSet) -> Option<Shape> {
    let Column::One(task @ BatchTask::Do(shape)) = &batch.task else { return None };
    // Slots order the records, and public-key shapes are refused. Both are the business of the general path.
    if batch.names_slots() || !shape.is_record() || !are_large_enough(*task, &batch.records) {
        return None;
    }
    let mut keys = Vec::new();
    if task.has_key() {
        keys.push((&batch.records.key, needed));
    }
    if task.has_second_key() {
        let needed =
            RightSet::needed_second(*task).and(RightSet::needed_to_encrypt(IvSource::Given, IvUse::Chain));
        keys.push((&batch.records.second_key, needed));
    }
    // All keys must have the rights. If one lacks them, the general path finds out which records fail.
    let mut is_uncounted = true;
    for (column, needed) in &keys {
        let common = common(&snapshot.rights, column, batch.records.len);
        if !common.has(*needed) {
            return None;
        }
        is_uncounted &= common.is_uncounted(task.is_gcm_seal());
    }
    (is_uncounted || reserve(*task, batch, snapshot)).then_some(*shape)
}

/// Runs a batch that was admitted.
pub(super) fn run(
    accelerator: &Accelerator,
    shape: Shape,
    batch: &Batch<'_>,
    snapshot: &TableSnapshot,
    outcomes: &mut Outcomes,
) -> Result<(), JobError> {
    let records = Records {
        keys: Cow::Borrowed(&snapshot.keys),
        slots: Cow::Owned(SecretSlots::default()),
        ..batch.records.borrowed()
    };
    accelerator.run_records_into(shape, &records, outcomes)?;
    // There are no slots to depend on. A fold looks at many statuses at once, a search at one.
    let names_slot = |status: &Status| *status == Status::DependencyFailed;
    if outcomes.statuses().iter().fold(false, |found, status| found | names_slot(status)) {
        for index in 0..outcomes.len() {
            if names_slot(&outcomes.statuses()[index]) {
                outcomes.set(index, Status::Malformed);
            }
        }
    }
    Ok(())
}

/// Returns the rights that a task needs of its key, under the caller's IV.
pub(super) fn needed(task: BatchTask) -> RightSet {
    let needed = RightSet::needed(task);
    if task.encrypts() {
        needed.and(RightSet::needed_to_encrypt(IvSource::Given, task.iv_use()))
    } else {
        needed
    }
}

/// The rights of a key; nothing if it is not the table's.
#[inline]
pub(super) fn rights_of(rights: &[RightSet], source: KeySource) -> RightSet {
    // An index past the end finds the last entry, which has no rights. This saves a branch per record.
    let last = rights.len() - 1;
    match source {
        KeySource::Table(index) => rights[(index as usize).min(last)],
        KeySource::Slot(_) => rights[last],
    }
}

/// Returns the rights that all keys of a column have in common, or none if a key is not in the table.
fn common(rights: &[RightSet], column: &Column<'_, KeySource>, len: usize) -> RightSet {
    let of = |source| rights_of(rights, source);
    match column {
        Column::One(source) => of(*source),
        Column::Runs(runs) => {
            runs.iter().fold(RightSet::ALL, |common, (_, source)| common.common(of(*source)))
        }
        Column::Each(sources) => {
            sources.iter().fold(RightSet::ALL, |common, source| common.common(of(*source)))
        }
        Column::Stride { .. } => {
            column.cursor().take(len).fold(RightSet::ALL, |common, source| common.common(of(source)))
        }
    }
}

/// Reserves the uses of all keys, or none if a key has too few left.
fn reserve(task: BatchTask, batch: &Batch<'_>, snapshot: &TableSnapshot) -> bool {
    let Records { len, key, second_key, .. } = &batch.records;
    let count_keys = |tally: &mut UseTally| match key {
        Column::Each(sources) => sources.iter().for_each(|source| tally.add_source(*source)),
        _ => key.cursor().take(*len).for_each(|source| tally.add_source(source)),
    };
    let count_seconds = |tally: &mut UseTally| {
        let pairs = key.cursor().zip(second_key.cursor()).take(*len);
        pairs.filter(|(first, second)| first != second).for_each(|(_, second)| tally.add_source(second));
    };
    reserve_all(
        snapshot,
        |records| {
            count_keys(records);
            if task.has_second_key() {
                count_seconds(records);
            }
        },
        |seals| {
            if task.is_gcm_seal() {
                count_keys(seals);
            }
        },
    )
}
