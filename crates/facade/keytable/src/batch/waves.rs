//! The execution of a plan: wave after wave, group after group, with results copied to the places that the caller
//! named.

use std::borrow::Cow;

use oarlock::Accelerator;
use oarlock_core::{
    Batch, BatchTask, Column, InputSource, JobError, Key, KeySource, Outcomes, OutputSink, Records,
    SecretSlots, Status,
};

use super::BatchOutcome;
use super::gather::GroupColumns;
use super::unwrapped::UnwrappedKeys;
use super::wave_plan::{BatchRow, WaveGroup, WavePlan};
use crate::table::{KeyWeakness, TableSnapshot, WeakKeyRule};

/// Runs a plan to its end, in the memory of earlier outcomes. With the outcome come the slots.
pub(super) fn run(
    accelerator: &Accelerator,
    batch: &Batch<'_>,
    plan: WavePlan<'_>,
    outcomes: Outcomes,
) -> Result<(BatchOutcome, SecretSlots), JobError> {
    let slots = SecretSlots::with_capacities(&batch.slots);
    let slots = slots.ok_or(JobError::Malformed { what: "the slots of one batch exceed 4 GiB" })?;
    let keys = keys_of(batch, plan.snapshot);
    let run = PlanRun { accelerator, batch, keys, plan, slots, outcomes, warnings: Vec::new() };
    if run.is_whole() { run.run_whole() } else { run.run_waves() }
}

/// Returns the table's keys, and behind them the keys of the caller.
fn keys_of<'a>(batch: &'a Batch<'_>, snapshot: &'a TableSnapshot) -> Cow<'a, [Key]> {
    if batch.records.keys.is_empty() {
        return Cow::Borrowed(&snapshot.keys);
    }
    Cow::Owned([&snapshot.keys[..], &batch.records.keys].concat())
}

struct PlanRun<'a, 'p> {
    accelerator: &'a Accelerator,
    batch: &'a Batch<'a>,
    keys: Cow<'a, [Key]>,
    plan: WavePlan<'p>,
    slots: SecretSlots,
    outcomes: Outcomes,
    warnings: Vec<(u32, KeyWeakness)>,
}

/// The index of no key. An engine computes nothing for a record that was refused.
const NO_KEY: KeySource = KeySource::Table(u32::MAX);

impl PlanRun<'_, '_> {
    /// True if one run of the engines does all, with the caller's columns but for keys and IVs.
    fn is_whole(&self) -> bool {
        let is_refused = |group: &WaveGroup| group.members.len() < self.batch.records.len;
        match &self.plan.groups[..] {
            // A refused record gets no key, so that no engine computes it. A task without a key has no such
            // means.
            [group] => self.batch.slots.is_empty() && (group.task.has_key() || !is_refused(group)),
            _ => false,
        }
    }

    fn run_whole(mut self) -> Result<(BatchOutcome, SecretSlots), JobError> {
        let given = &self.batch.records;
        let task = self.plan.groups[0].task;
        let is_refused = self.plan.groups[0].members.len() < given.len;
        let key = |index: usize, source| match self.plan.statuses[index] {
            Status::Pending => self.key(source),
            _ => NO_KEY,
        };
        let has_outside = !given.keys.is_empty();
        let column = |keys: &Column<'_, KeySource>| {
            let each = (0..given.len).map(|index| key(index, keys.get(index).unwrap_or(NO_KEY)));
            Column::Each(each.collect())
        };
        let [iv, second_iv] = self.plan.ivs.columns(given);
        let mut records = Records {
            keys: Cow::Borrowed(&self.keys),
            data: self.plan.ivs.data(given),
            slots: Cow::Owned(SecretSlots::default()),
            iv,
            second_iv,
            ..given.borrowed()
        };
        if is_refused || has_outside {
            records.key = column(&given.key);
        }
        if task.has_second_key() && has_outside {
            records.second_key = column(&given.second_key);
        }
        let ran = self.accelerator.records().run_into(task.shape(), &records, &mut self.outcomes);
        drop(records);
        if let Err(error) = ran {
            return Ok(self.failed(&error));
        }
        let part = self.outcomes.part_mut(0);
        for (index, status) in part.statuses.iter_mut().enumerate() {
            if self.plan.statuses[index] != Status::Pending {
                *status = self.plan.statuses[index];
            } else if *status == Status::Done && self.plan.ivs.are_made() {
                self.plan.ivs.give(&BatchRow::at(self.batch, index), index, part.output, &mut self.slots);
            }
        }
        Ok((BatchOutcome::from_outcomes(self.outcomes, self.warnings), self.slots))
    }

    /// No engine could run the only group.
    fn failed(mut self, error: &JobError) -> (BatchOutcome, SecretSlots) {
        self.outcomes.reset_mixed(self.batch.records.len, self.batch.records.output_len);
        for (planned, status) in self.plan.statuses.iter().zip(self.outcomes.part_mut(0).statuses) {
            *status = if *planned == Status::Pending { status_of(error) } else { *planned };
        }
        (BatchOutcome::from_outcomes(self.outcomes, self.warnings), self.slots)
    }

    fn run_waves(mut self) -> Result<(BatchOutcome, SecretSlots), JobError> {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        outcomes.reset_mixed(self.batch.records.len, self.batch.records.output_len);
        let mut gathered = GroupColumns::default();
        for group in std::mem::take(&mut self.plan.groups) {
            self.run_group(&group, &mut gathered, &mut outcomes);
        }
        outcomes.part_mut(0).statuses.copy_from_slice(&self.plan.statuses);
        Ok((BatchOutcome::from_outcomes(outcomes, self.warnings), self.slots))
    }

    fn run_group(&mut self, group: &WaveGroup, gathered: &mut GroupColumns, outcomes: &mut Outcomes) {
        gathered.clear();
        for index in &group.members {
            let index = *index as usize;
            if let Err(status) = self.gather(group.task, index, gathered) {
                self.plan.statuses[index] = status;
            }
        }
        if gathered.members.is_empty() {
            return;
        }
        let slots = gathered.slots(&self.slots);
        let records = gathered.records(&self.keys, self.plan.ivs.data(&self.batch.records), slots);
        match self.accelerator.records().run(group.task.shape(), &records) {
            Ok(results) => self.scatter(group.task, gathered, results, outcomes),
            Err(error) => {
                for index in &gathered.members {
                    self.plan.statuses[*index as usize] = status_of(&error);
                }
            }
        }
    }

    fn gather(&mut self, task: BatchTask, index: usize, gathered: &mut GroupColumns) -> Result<(), Status> {
        let row = BatchRow::at(self.batch, index);
        if !self.batch.slots.is_empty() {
            self.plan.ivs.take_from_slots(self.batch, index, &self.slots)?;
        }
        let keys = [self.key(row.key), self.key(row.second_key)];
        let ivs = self.plan.ivs.spans(&self.batch.records, task, index);
        let capacity = |slot: u32| self.batch.slots.get(slot as usize).copied();
        gathered.push(index as u32, &row, keys, ivs, &self.slots, capacity)
    }

    /// Returns the position of a key in the engines' key column.
    fn key(&self, source: KeySource) -> KeySource {
        match source {
            KeySource::Table(index) if index >= Batch::FIRST_OUTSIDE => {
                let position = self.plan.snapshot.keys.len() + (index - Batch::FIRST_OUTSIDE) as usize;
                u32::try_from(position).map_or(NO_KEY, KeySource::Table)
            }
            other => other,
        }
    }

    /// Copies the results of a group to the places that its records name.
    fn scatter(
        &mut self,
        task: BatchTask,
        gathered: &GroupColumns,
        mut results: Outcomes,
        outcomes: &mut Outcomes,
    ) {
        let part = outcomes.part_mut(0);
        let mut from = results.part_mut(0);
        // Before any slot is filled: a key that fails its checks must never be used by a later wave.
        if let BatchTask::UnwrapKey { wrap, key } = task {
            let unwrapped = UnwrappedKeys { accelerator: self.accelerator, wrap, key_type: key };
            let wrapped = |index: u32| self.input(index);
            let weak_keys = |index: u32| self.weak_keys(index);
            let warnings = unwrapped.check(gathered, &self.batch.records.data, &mut from, wrapped, weak_keys);
            self.warnings.extend(warnings);
        }
        for (local, index) in gathered.members.iter().copied().enumerate() {
            let status = from.statuses[local];
            self.plan.statuses[index as usize] = status;
            if status != Status::Done {
                continue;
            }
            let row = BatchRow::at(self.batch, index as usize);
            match (row.output, gathered.output[local]) {
                (OutputSink::Output(to), OutputSink::Output(span)) => {
                    copy(span.slice(from.output), to.slice_mut(part.output));
                }
                (OutputSink::Slot(slot), OutputSink::Slot(group_slot)) => {
                    let secret = from.slots.get(group_slot);
                    copy(secret, self.slots.fill(slot, secret.map_or(0, <[u8]>::len)));
                }
                _ => {}
            }
            if task.is_seal() {
                copy(gathered.tag[local].slice(from.output), row.tag.slice_mut(part.output));
            }
            self.plan.ivs.give(&row, index as usize, part.output, &mut self.slots);
        }
        let short = from.short.iter().map(|(local, len)| (gathered.members[*local as usize], *len));
        part.short.extend(short);
    }

    fn input(&self, index: u32) -> Option<&[u8]> {
        match BatchRow::at(self.batch, index as usize).input {
            InputSource::Data(span) => span.slice(&self.batch.records.data),
            InputSource::Slot(slot) => self.slots.get(slot),
        }
    }

    /// Returns the rule for weak keys in the policy of an unwrapped key.
    fn weak_keys(&self, index: u32) -> WeakKeyRule {
        let row = BatchRow::at(self.batch, index as usize);
        let policy = match row.output {
            OutputSink::Slot(slot) => self.plan.claims.key(slot).ok().and_then(|key| key.policy),
            OutputSink::Output(_) => None,
        };
        policy.map_or(WeakKeyRule::Warn, |policy| policy.weak_keys)
    }
}

pub(super) fn copy(from: Option<&[u8]>, to: Option<&mut [u8]>) {
    if let (Some(from), Some(to)) = (from, to) {
        to.copy_from_slice(from);
    }
}

pub(super) fn status_of(error: &JobError) -> Status {
    match error {
        JobError::Unsupported { .. } => Status::Unsupported,
        _ => Status::EngineFailed,
    }
}
