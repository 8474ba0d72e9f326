//! The plan of a batch: one of four ways to compute it, with the uses of its keys reserved.

use oarlock_core::{Batch, BatchTask, Column, IvSource, JobError, KeySource, Records, Shape};

use super::by_task::TaskGroup;
use super::domain::are_large_enough;
use super::flattened;
use super::made_ivs::MadeIvs;
use super::plain::common_rights;
use super::reserve::{BatchUses, reserve_one_key};
use super::wave_plan::WavePlan;
use crate::table::{IvUse, RightSet, TableSnapshot};

/// The plan of a batch. The uses of its keys are reserved.
pub(super) enum RecordBatchPlan<'b> {
    /// One task under the caller's IVs, without slots: the batch goes to the engines unchanged.
    Plain(Shape),
    /// One task whose IVs are all random or all zero.
    MadeIvs(Shape, MadeIvs),
    /// Several tasks of records that are plain otherwise.
    ByTask(Batch<'b>, Vec<TaskGroup>),
    /// Records that are checked one by one.
    Waves(Batch<'b>, WavePlan<'b>),
}

impl<'b> RecordBatchPlan<'b> {
    /// Plans a batch whose columns are complete.
    ///
    /// Only the last kind of plan checks single records. It finds out which records fail if one of them does.
    pub(super) fn new(batch: &'b Batch<'_>, snapshot: &'b TableSnapshot) -> Result<Self, JobError> {
        if let Some(plan) = Self::of_one_task(batch, snapshot) {
            return Ok(plan);
        }
        let flat = flattened(batch);
        match TaskGroup::sort(&flat, snapshot) {
            Some(groups) => Ok(Self::ByTask(flat, groups)),
            None => {
                let plan = WavePlan::new(&flat, snapshot)?;
                Ok(Self::Waves(flat, plan))
            }
        }
    }

    /// Plans a batch of one task whose keys all have the rights that it needs.
    fn of_one_task(batch: &Batch<'_>, snapshot: &TableSnapshot) -> Option<Self> {
        let (Column::One(task @ BatchTask::Do(shape)), Column::One(IvSource::Given)) =
            (&batch.task, &batch.second_iv_from)
        else {
            return None;
        };
        // Slots order the records, and public-key shapes are refused.
        if !batch.slots.is_empty() || !shape.is_record() || !are_large_enough(*task, &batch.records) {
            return None;
        }
        let (plan, iv_from) = match &batch.iv_from {
            Column::One(IvSource::Given) => (Self::Plain(*shape), IvSource::Given),
            _ => {
                let made = MadeIvs::new(*task, batch, snapshot)?;
                let iv_from = made.source();
                (Self::MadeIvs(*shape, made), iv_from)
            }
        };
        admit_keys(*task, iv_from, &batch.records, snapshot).then_some(plan)
    }
}

/// True if all keys have the rights that a task needs. Their uses are then reserved.
fn admit_keys(task: BatchTask, iv_from: IvSource, records: &Records<'_>, snapshot: &TableSnapshot) -> bool {
    let second =
        RightSet::needed_second(task).and(RightSet::needed_to_encrypt(IvSource::Given, IvUse::Chain));
    let columns = [
        task.has_key().then_some((&records.key, RightSet::needed_with_iv(task, iv_from))),
        task.has_second_key().then_some((&records.second_key, second)),
    ];
    let mut is_uncounted = true;
    for (column, needed) in columns.into_iter().flatten() {
        let common = common_rights(&snapshot.rights, column, records.len);
        if !common.has(needed) {
            return false;
        }
        is_uncounted &= common.is_uncounted(task.is_gcm_seal());
    }
    is_uncounted || reserve(task, records, snapshot)
}

/// Reserves the uses of all keys, or none if a key has too few left.
fn reserve(task: BatchTask, records: &Records<'_>, snapshot: &TableSnapshot) -> bool {
    let Records { len, key, second_key, .. } = records;
    if let (Column::One(KeySource::Table(index)), false) = (key, task.has_second_key()) {
        return reserve_one_key(*index, *len, task.is_gcm_seal(), snapshot);
    }
    let (mut uses, is_seal) = (BatchUses::new(snapshot), task.is_gcm_seal());
    match key {
        Column::Each(sources) => sources.iter().for_each(|source| uses.add(*source, is_seal)),
        _ => key.cursor().take(*len).for_each(|source| uses.add(source, is_seal)),
    }
    if task.has_second_key() {
        let pairs = key.cursor().zip(second_key.cursor()).take(*len);
        pairs.filter(|(first, second)| first != second).for_each(|(_, second)| uses.add(second, false));
    }
    uses.reserve_all(snapshot)
}
