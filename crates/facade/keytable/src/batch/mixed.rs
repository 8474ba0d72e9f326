//! Batches of several tasks whose records are plain: the table's keys, the caller's IVs, no slots.
//!
//! The records of each task go to the engines as one run. A record costs a look at the rights of its key, a copy of
//! the columns that its task reads, and a copy of its result.

use std::borrow::Cow;

use oarlock::Accelerator;
use oarlock_core::{Column, InputSource, Outcomes, OutputSink, Records, SecretSlots, Shape, Span, Status};

use super::Batch;
use super::gather::GroupColumns;
use super::judge::{MAX_GROWTH, MAX_TAG, is_in_output};
use super::plain::{needed, rights_of};
use super::reserve::{UseTally, reserve_all};
use super::waves::{copy, status_of};
use crate::table::{BatchTask, IvSource, RightSet, TableSnapshot};

/// The records of one task.
pub(super) struct TaskRecords {
    task: BatchTask,
    /// The rights that the task needs of a key.
    needed: RightSet,
    /// The rights that all its keys have in common.
    common: RightSet,
    /// Their places in the batch, in order.
    members: Vec<u32>,
    /// Bytes of their outputs and tags.
    output_len: u64,
}

/// The largest number of tasks that a linear search finds. The general path hashes tasks.
const MAX_TASKS: usize = 32;

impl TaskRecords {
    /// None for a task whose records have to be looked at one by one.
    fn of(task: BatchTask) -> Option<Self> {
        match task {
            BatchTask::Do(
                Shape::Cipher { .. }
                | Shape::Aead { .. }
                | Shape::Mac { .. }
                | Shape::Digest { .. }
                | Shape::DigestPart { .. },
            ) => {}
            _ => return None,
        }
        let members = Vec::new();
        Some(Self { task, needed: needed(task), common: RightSet::ALL, members, output_len: 0 })
    }

    /// True if the records may run as far as their keys are concerned.
    fn may(&self) -> bool {
        self.common.has(self.needed) && u32::try_from(self.output_len).is_ok()
    }

    fn is_uncounted(&self) -> bool {
        !self.task.has_key() || self.common.is_uncounted(self.task.is_gcm_seal())
    }
}

/// The tasks of a batch that may go so; its uses are then reserved. None if a record has to be looked at.
pub(super) fn admit(batch: &Batch<'_>, snapshot: &TableSnapshot) -> Option<Vec<TaskRecords>> {
    let (Column::One(IvSource::Given), Column::One(IvSource::Given)) =
        (&batch.iv_from, &batch.second_iv_from)
    else {
        return None;
    };
    if batch.names_slots() {
        return None;
    }
    let records = &batch.records;
    let mut lots: Vec<TaskRecords> = Vec::new();
    let mut latest = 0;
    let what = batch.task.cursor().zip(records.key.cursor());
    let places = records.input.cursor().zip(records.output.cursor().zip(records.tag.cursor()));
    let indices = 0..u32::try_from(records.len).ok()?;
    for (index, ((task, key), (input, (output, tag)))) in indices.zip(what.zip(places)) {
        // Neighbours mostly have the same task, so the search begins with the latest one.
        if lots.get(latest).is_none_or(|lot| lot.task != task) {
            latest = place_of(task, &mut lots)?;
        }
        let lot = &mut lots[latest];
        let (InputSource::Data(input), OutputSink::Output(output)) = (input, output) else { return None };
        let mut is_placed =
            is_in_output(records, output) && output.len <= input.len.saturating_add(MAX_GROWTH);
        if lot.task.is_seal() {
            is_placed &= is_in_output(records, tag) && tag.len <= MAX_TAG;
            lot.output_len += u64::from(tag.len);
        }
        // The general path says which record it is, and why.
        if !is_placed {
            return None;
        }
        lot.output_len += u64::from(output.len);
        lot.common = lot.common.common(rights_of(&snapshot.rights, key));
        lot.members.push(index);
    }
    let may = lots.iter().all(TaskRecords::may)
        && (lots.iter().all(TaskRecords::is_uncounted) || reserve(&lots, records, snapshot));
    may.then_some(lots)
}

/// The place of a task, made if it is new.
fn place_of(task: BatchTask, lots: &mut Vec<TaskRecords>) -> Option<usize> {
    if let Some(known) = lots.iter().position(|lot| lot.task == task) {
        return Some(known);
    }
    lots.push(TaskRecords::of(task)?);
    (lots.len() <= MAX_TASKS).then_some(lots.len() - 1)
}

/// Reserves the uses of all keys, or none if a key has too few left.
fn reserve(lots: &[TaskRecords], records: &Records<'_>, snapshot: &TableSnapshot) -> bool {
    let count = |is_meant: fn(BatchTask) -> bool, tally: &mut UseTally| {
        let members = lots.iter().filter(|lot| is_meant(lot.task)).flat_map(|lot| &lot.members);
        let keys = members.filter_map(|index| records.key.get(*index as usize));
        keys.for_each(|source| tally.add_source(source));
    };
    reserve_all(
        snapshot,
        |tally| count(BatchTask::has_key, tally),
        |tally| count(BatchTask::is_gcm_seal, tally),
    )
}

/// Runs a batch that was admitted.
pub(super) fn run(
    accelerator: &Accelerator,
    lots: &[TaskRecords],
    records: &Records<'_>,
    snapshot: &TableSnapshot,
    outcomes: &mut Outcomes,
) {
    outcomes.reset_mixed(records.len, records.output_len);
    let (mut gathered, mut results) = (GroupColumns::default(), Outcomes::default());
    for lot in lots {
        gathered.clear();
        lot.members.iter().for_each(|index| gathered.push_plain(*index, lot.task, records));
        let own = gathered.records(&snapshot.keys, Cow::Borrowed(&records.data), SecretSlots::default());
        match accelerator.run_records_into(lot.task.shape(), &own, &mut results) {
            Ok(()) => scatter(lot.task, &gathered, records, &mut results, outcomes),
            // A task that no engine could compute does not spoil the others.
            Err(error) => {
                lot.members.iter().for_each(|index| outcomes.set(*index as usize, status_of(&error)));
            }
        }
    }
}

/// Copies the results of a task to the places that its records name.
fn scatter(
    task: BatchTask,
    gathered: &GroupColumns,
    records: &Records<'_>,
    results: &mut Outcomes,
    outcomes: &mut Outcomes,
) {
    let (from, to) = (results.part_mut(0), outcomes.part_mut(0));
    for (local, index) in gathered.members.iter().map(|index| *index as usize).enumerate() {
        to.statuses[index] = from.statuses[local];
        if from.statuses[local] != Status::Done {
            continue;
        }
        if let (OutputSink::Output(own), Some(OutputSink::Output(span))) =
            (gathered.output[local], records.output.get(index))
        {
            copy(own.of(from.output), span.of_mut(to.output));
        }
        if task.is_seal() {
            let span: Span = records.tag.get(index).unwrap_or_default();
            copy(gathered.tag[local].of(from.output), span.of_mut(to.output));
        }
    }
}
