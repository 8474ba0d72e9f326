//! Batches that go to the engines as they are: one task, the table's keys, the caller's IVs, no slots.
//!
//! All they cost is one pass over the key column, which finds what is common to the rights of all keys, and a second one
//! where uses are counted. No column is copied.

use std::borrow::Cow;

use oarlock_core::{Column, JobError, KeySource, Records, Shape, Slots, Status};

use super::reserve::Tally;
use super::{Batch, BatchOutcome, Iv, Task};
use crate::Accelerator;
use crate::table::{Rights, Snapshot, Uses};

/// The shape of a batch that may go as it is; its uses are then reserved. None where a record has to be looked at.
pub(super) fn admit(batch: &Batch<'_>, snapshot: &Snapshot) -> Option<Shape> {
    let (Column::One(task @ Task::Do(shape)), Column::One(Iv::Given), Column::One(Iv::Given)) =
        (&batch.task, &batch.iv_from, &batch.second_iv_from)
    else {
        return None;
    };
    if batch.names_slots() || !shape.is_record() {
        return None;
    }
    let mut keys = Vec::new();
    if task.has_key() {
        keys.push((&batch.records.key, needed(*task)));
    }
    if task.has_second_key() {
        let needed = Rights::needed_second(*task).and(Rights::needed_to_encrypt(Iv::Given, false));
        keys.push((&batch.records.second_key, needed));
    }
    let mut is_uncounted = true;
    for (column, needed) in &keys {
        let common = common(&snapshot.rights, column, batch.records.len);
        if !common.has(*needed) {
            return None;
        }
        is_uncounted &= common.is_uncounted(task.is_seal());
    }
    (is_uncounted || reserve(*task, batch, snapshot)).then_some(*shape)
}

/// Runs a batch that was admitted.
pub(super) fn run(
    accelerator: &Accelerator,
    shape: Shape,
    batch: &Batch<'_>,
    snapshot: &Snapshot,
) -> Result<(BatchOutcome, Slots), JobError> {
    let records = Records {
        keys: Cow::Borrowed(&snapshot.keys),
        slots: Cow::Owned(Slots::default()),
        ..batch.records.borrowed()
    };
    let mut outcomes = accelerator.run_records(shape, &records)?;
    // There are no slots to depend on. A fold looks at many statuses at once, a search at one.
    let names_slot = |status: &Status| *status == Status::DependencyFailed;
    if outcomes.statuses().iter().fold(false, |found, status| found | names_slot(status)) {
        for index in 0..outcomes.len() {
            if names_slot(&outcomes.statuses()[index]) {
                outcomes.set(index, Status::Malformed);
            }
        }
    }
    Ok((BatchOutcome::of(outcomes, Vec::new()), Slots::default()))
}

fn needed(task: Task) -> Rights {
    let needed = Rights::needed(task);
    if task.encrypts() { needed.and(Rights::needed_to_encrypt(Iv::Given, task.is_seal())) } else { needed }
}

/// What is common to the rights of all keys of a column; nothing where one is not the table's.
fn common(rights: &[Rights], column: &Column<'_, KeySource>, len: usize) -> Rights {
    let last = rights.len() - 1;
    // A key that is not there has the rights at the end, which are none: no branch per record.
    let of = |source: KeySource| match source {
        KeySource::Table(index) => rights[(index as usize).min(last)],
        KeySource::Slot(_) => rights[last],
    };
    match column {
        Column::One(source) => of(*source),
        Column::Runs(runs) => runs.iter().fold(Rights::ALL, |common, (_, source)| common.common(of(*source))),
        Column::Each(sources) => {
            sources.iter().fold(Rights::ALL, |common, source| common.common(of(*source)))
        }
        Column::Stride { .. } => {
            column.cursor().take(len).fold(Rights::ALL, |common, source| common.common(of(source)))
        }
    }
}

/// Reserves the uses of all keys; takes none where some key has too few left.
fn reserve(task: Task, batch: &Batch<'_>, snapshot: &Snapshot) -> bool {
    let tally = |column: &Column<'_, KeySource>| {
        let mut tally = Tally::new(snapshot.entries.len());
        for source in column.cursor().take(batch.records.len) {
            if let KeySource::Table(index) = source {
                tally.add(index);
            }
        }
        tally
    };
    let mut records = tally(&batch.records.key);
    if task.has_second_key() {
        let keys = batch.records.key.cursor().zip(batch.records.second_key.cursor());
        for (first, second) in keys.take(batch.records.len) {
            if let KeySource::Table(index) = second
                && first != second
            {
                records.add(index);
            }
        }
    }
    if !records.reserve_all(snapshot, |uses: &Uses| uses.records.as_ref()) {
        return false;
    }
    if !task.is_seal() {
        return true;
    }
    let mut seals = tally(&batch.records.key);
    let counts = |index| snapshot.rights[index as usize].counts_gcm();
    seals.keep(counts);
    let is_reserved = seals.reserve_all(snapshot, |uses| Some(&uses.gcm));
    if !is_reserved {
        records.give_back(snapshot, |uses| uses.records.as_ref());
    }
    is_reserved
}
