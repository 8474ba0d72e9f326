//! Batches of several tasks whose records are plain: the table's keys, the caller's IVs, no slots.
//!
//! The records of each task go to the engines as one run. A record costs a look at the rights of its key, a copy of
//! the columns that its task reads, and a copy of its result.

use std::borrow::Cow;

use oarlock::Accelerator;
use oarlock_core::{
    Batch, BatchTask, Column, InputSource, IvSource, Outcomes, OutputSink, Records, SecretSlots, Shape, Span,
    Status,
};

use super::gather::GroupColumns;
use super::judge::{MAX_GROWTH, MAX_TAG, is_in_output};
use super::plain::rights_of;
use super::reserve::BatchUses;
use super::waves::{copy, status_of};
use crate::table::{RightSet, TableSnapshot};

/// The records of one task.
pub(super) struct TaskGroup {
    task: BatchTask,
    /// The rights that the task needs of a key.
    needed: RightSet,
    /// The rights that all its keys have in common.
    common: RightSet,
    /// The indices of its records in the batch, in order.
    members: Vec<u32>,
    /// The bytes of their outputs and tags.
    output_len: u64,
}

/// The largest number of tasks that a linear search finds. Waves hash their tasks.
const MAX_TASKS: usize = 32;

impl TaskGroup {
    /// Sorts the records of a batch by task, and reserves the uses of their keys. `None` if a record has to be looked
    /// at.
    pub(super) fn sort(batch: &Batch<'_>, snapshot: &TableSnapshot) -> Option<Vec<Self>> {
        let (Column::One(IvSource::Given), Column::One(IvSource::Given)) =
            (&batch.iv_from, &batch.second_iv_from)
        else {
            return None;
        };
        if !batch.slots.is_empty() {
            return None;
        }
        let records = &batch.records;
        let mut groups: Vec<Self> = Vec::new();
        let mut latest = 0;
        let tasks = batch.task.cursor().zip(records.key.cursor());
        let spans = records.input.cursor().zip(records.output.cursor().zip(records.tag.cursor()));
        let indices = 0..u32::try_from(records.len).ok()?;
        for (index, ((task, key), (input, (output, tag)))) in indices.zip(tasks.zip(spans)) {
            // Neighbours mostly have the same task, so the search begins with the latest one.
            if groups.get(latest).is_none_or(|group| group.task != task) {
                latest = Self::find_or_add(task, &mut groups)?;
            }
            let group = &mut groups[latest];
            group.add_spans(records, input, output, tag)?;
            group.common = group.common.common(rights_of(&snapshot.rights, key));
            group.members.push(index);
        }
        let are_permitted = groups.iter().all(Self::is_permitted)
            && (groups.iter().all(Self::is_uncounted) || reserve(&groups, records, snapshot));
        are_permitted.then_some(groups)
    }

    /// Returns the index of the group of a task.
    fn find_or_add(task: BatchTask, groups: &mut Vec<Self>) -> Option<usize> {
        if let Some(known) = groups.iter().position(|group| group.task == task) {
            return Some(known);
        }
        groups.push(Self::new(task)?);
        (groups.len() <= MAX_TASKS).then_some(groups.len() - 1)
    }

    /// Returns `None` for a task whose records have to be looked at one by one.
    fn new(task: BatchTask) -> Option<Self> {
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
        let needed = RightSet::needed_with_iv(task, IvSource::Given);
        Some(Self { task, needed, common: RightSet::ALL, members: Vec::new(), output_len: 0 })
    }

    /// Counts the output of a record. `None` if a span is wrong or in a slot: the check of single records says which it
    /// is, and why.
    #[inline]
    fn add_spans(
        &mut self,
        records: &Records<'_>,
        input: InputSource,
        output: OutputSink,
        tag: Span,
    ) -> Option<()> {
        let (InputSource::Data(input), OutputSink::Output(output)) = (input, output) else { return None };
        let mut fits = is_in_output(records, output) && output.len <= input.len.saturating_add(MAX_GROWTH);
        if self.task.is_seal() {
            fits &= is_in_output(records, tag) && tag.len <= MAX_TAG;
            self.output_len += u64::from(tag.len);
        }
        self.output_len += u64::from(output.len);
        fits.then_some(())
    }

    /// True if the keys have the rights that the task needs.
    fn is_permitted(&self) -> bool {
        self.common.has(self.needed) && u32::try_from(self.output_len).is_ok()
    }

    fn is_uncounted(&self) -> bool {
        !self.task.has_key() || self.common.is_uncounted(self.task.is_gcm_seal())
    }
}

/// Reserves the uses of all keys, or none if a key has too few left.
fn reserve(groups: &[TaskGroup], records: &Records<'_>, snapshot: &TableSnapshot) -> bool {
    let mut uses = BatchUses::new(snapshot);
    for group in groups.iter().filter(|group| group.task.has_key()) {
        let keys = group.members.iter().filter_map(|index| records.key.get(*index as usize));
        keys.for_each(|source| uses.add(source, group.task.is_gcm_seal()));
    }
    uses.reserve_all(snapshot)
}

/// Runs the records of each task together.
pub(super) fn run(
    accelerator: &Accelerator,
    groups: &[TaskGroup],
    records: &Records<'_>,
    snapshot: &TableSnapshot,
    outcomes: &mut Outcomes,
) {
    outcomes.reset_mixed(records.len, records.output_len);
    let (mut gathered, mut results) = (GroupColumns::default(), Outcomes::default());
    for group in groups {
        gathered.clear();
        group.members.iter().for_each(|index| gathered.push_plain(*index, group.task, records));
        let columns = gathered.records(&snapshot.keys, Cow::Borrowed(&records.data), SecretSlots::default());
        match accelerator.records().run_into(group.task.shape(), &columns, &mut results) {
            Ok(()) => scatter(group.task, &gathered, records, &mut results, outcomes),
            // A task that no engine could compute fails alone.
            Err(error) => {
                group.members.iter().for_each(|index| outcomes.set(*index as usize, status_of(&error)));
            }
        }
    }
}

/// Copies the results of a task to the spans that its records name.
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
        if let (OutputSink::Output(result), Some(OutputSink::Output(span))) =
            (gathered.output[local], records.output.get(index))
        {
            copy(result.slice(from.output), span.slice_mut(to.output));
        }
        if task.is_seal() {
            let span: Span = records.tag.get(index).unwrap_or_default();
            copy(gathered.tag[local].slice(from.output), span.slice_mut(to.output));
        }
    }
}
