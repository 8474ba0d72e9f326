//! The records of a batch that may run, checked one by one, in groups of one wave and one task.

use std::collections::HashMap;

use oarlock_core::{
    Batch, BatchTask, Column, InputSource, IvSource, JobError, KeySource, OutputSink, Span, Status,
};

use super::ivs::BatchIvs;
use super::judge::RecordJudge;
use super::reserve;
use super::slots::SlotClaims;
use crate::table::TableSnapshot;

/// One record, as its columns have it.
#[derive(Clone, Copy)]
pub(super) struct BatchRow {
    pub(super) task: BatchTask,
    pub(super) key: KeySource,
    pub(super) second_key: KeySource,
    pub(super) iv: Span,
    pub(super) iv_from: IvSource,
    pub(super) second_iv: Span,
    pub(super) second_iv_from: IvSource,
    pub(super) aad: Span,
    pub(super) input: InputSource,
    pub(super) output: OutputSink,
    pub(super) tag: Span,
}

/// A batch whose records have been judged and whose uses are reserved.
pub(super) struct WavePlan<'a> {
    pub(super) snapshot: &'a TableSnapshot,
    /// Pending if a record is to run, else why not.
    pub(super) statuses: Vec<Status>,
    /// In the order of their waves.
    pub(super) groups: Vec<WaveGroup>,
    pub(super) claims: SlotClaims<'a>,
    pub(super) ivs: BatchIvs,
}

/// Records that run together.
#[derive(Debug)]
pub(super) struct WaveGroup {
    pub(super) wave: u32,
    pub(super) task: BatchTask,
    /// Their places in the batch, in order.
    pub(super) members: Vec<u32>,
}

impl<'a> WavePlan<'a> {
    /// Judges, reserves and groups. The batch's columns have no runs.
    pub(super) fn new(batch: &Batch<'_>, snapshot: &'a TableSnapshot) -> Result<Self, JobError> {
        if u32::try_from(batch.records.len).is_err() {
            return Err(JobError::Malformed { what: "more than 2^32 records in one batch" });
        }
        let mut judge = RecordJudge::new(batch, snapshot);
        let mut statuses = Vec::with_capacity(batch.records.len);
        let mut waves = Vec::with_capacity(batch.records.len);
        for index in 0..batch.records.len {
            let (wave, verdict) = judge.judge(&BatchRow::at(batch, index));
            statuses.push(verdict.err().unwrap_or(Status::Pending));
            waves.push(wave);
        }
        let is_counted = judge.is_counted;
        let mut claims = judge.claims;
        if is_counted {
            reserve::reserve(batch, snapshot, &mut claims, &mut statuses);
        }
        let ivs = BatchIvs::make(batch, snapshot, &claims, &mut statuses)?;
        let groups = group(&batch.task, &waves, &statuses);
        Ok(Self { snapshot, statuses, groups, claims, ivs })
    }
}

fn group(tasks: &Column<'_, BatchTask>, waves: &[u32], statuses: &[Status]) -> Vec<WaveGroup> {
    let mut groups: Vec<WaveGroup> = Vec::new();
    let mut indices: HashMap<(u32, BatchTask), usize> = HashMap::new();
    let mut latest = 0;
    let pending = (0_u32..).zip(statuses).filter(|(_, status)| **status == Status::Pending);
    for (index, _) in pending {
        let Some(task) = tasks.get(index as usize) else { break };
        let wave = waves[index as usize];
        let is_latest = groups.get(latest).is_some_and(|group| (group.wave, group.task) == (wave, task));
        if !is_latest {
            latest = *indices.entry((wave, task)).or_insert_with(|| {
                groups.push(WaveGroup { wave, task, members: Vec::new() });
                groups.len() - 1
            });
        }
        groups[latest].members.push(index);
    }
    groups.sort_by_key(|group| group.wave);
    groups
}

impl BatchRow {
    /// A record of a batch whose columns are complete; what lies past their end would be refused.
    pub(super) fn at(batch: &Batch<'_>, index: usize) -> Self {
        let records = &batch.records;
        let nowhere = KeySource::Table(u32::MAX);
        Self {
            task: batch.task.get(index).unwrap_or(BatchTask::digest(oarlock_core::DigestAlg::Sha256)),
            key: records.key.get(index).unwrap_or(nowhere),
            second_key: records.second_key.get(index).unwrap_or(nowhere),
            iv: records.iv.get(index).unwrap_or_default(),
            iv_from: batch.iv_from.get(index).unwrap_or_default(),
            second_iv: records.second_iv.get(index).unwrap_or_default(),
            second_iv_from: batch.second_iv_from.get(index).unwrap_or_default(),
            aad: records.aad.get(index).unwrap_or_default(),
            input: records.input.get(index).unwrap_or(InputSource::Slot(u32::MAX)),
            output: records.output.get(index).unwrap_or(OutputSink::Slot(u32::MAX)),
            tag: records.tag.get(index).unwrap_or_default(),
        }
    }
}
