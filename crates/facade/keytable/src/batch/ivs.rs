//! The IVs that the accelerator makes: zeros, keys, random values and counters.
//!
//! They lie behind a copy of the caller's data, so that spans of the IV column reach them.

use std::borrow::Cow;

use aws_lc_rs::rand;
use oarlock_core::{
    Batch, BatchTask, Column, IvSource, JobError, KeySource, KeyWrap, OutputSink, Records, SecretSlots, Span,
    Status, erase,
};

use super::slots::SlotClaims;
use super::wave_plan::BatchRow;
use crate::table::{IvCounter, KeyPolicy, TableSnapshot};

/// The IVs of a batch.
pub(super) struct BatchIvs {
    /// The place of each record's IV, or `None` if the caller's column has it.
    first: Option<Vec<Span>>,
    second: Option<Vec<Span>>,
    data: IvData,
    /// A block of zeros, for legacy wraps.
    zeros: Span,
}

/// The caller's data and what lies behind it; empty if nothing does. Wiped, because keys may be IVs.
struct IvData(Vec<u8>);

impl Drop for IvData {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}

/// Longest IV that the accelerator makes.
const ZEROS: usize = 16;

impl BatchIvs {
    /// Makes the IVs of all records that may run. A record whose IV cannot be made is refused.
    pub(super) fn make(
        batch: &Batch<'_>,
        snapshot: &TableSnapshot,
        claims: &SlotClaims<'_>,
        statuses: &mut [Status],
    ) -> Result<Self, JobError> {
        let is_made = |from: &Column<'_, IvSource>| !matches!(from, Column::One(IvSource::Given));
        let (makes_first, makes_second) = (is_made(&batch.iv_from), is_made(&batch.second_iv_from));
        if !makes_first && !makes_second && batch.slots.is_empty() {
            return Ok(Self { first: None, second: None, data: IvData(Vec::new()), zeros: Span::default() });
        }
        let mut maker = IvMaker { batch, snapshot, claims, end: batch.records.data.len(), work: Vec::new() };
        let zeros = maker.reserve(ZEROS)?;
        let first = makes_first.then(|| maker.lay_out(First, statuses)).transpose()?;
        let second = makes_second.then(|| maker.lay_out(Second, statuses)).transpose()?;
        // At full capacity from the start: a vector that grew would leave keys in freed memory.
        let mut data = IvData(Vec::with_capacity(maker.end));
        data.0.extend_from_slice(&batch.records.data);
        data.0.resize(maker.end, 0);
        maker.fill(&mut data.0, statuses);
        Ok(Self { first, second, data, zeros })
    }

    /// The data that the engines read.
    pub(super) fn data<'a>(&'a self, records: &'a Records<'_>) -> Cow<'a, [u8]> {
        Cow::Borrowed(if self.data.0.is_empty() { &records.data } else { &self.data.0 })
    }

    /// The IV columns that the engines read.
    pub(super) fn columns<'a>(&'a self, records: &'a Records<'_>) -> [Column<'a, Span>; 2] {
        let column = |made: &'a Option<Vec<Span>>, given: &'a Column<'_, Span>| match made {
            Some(spans) => Column::Each(Cow::Borrowed(&spans[..])),
            None => given.borrowed(),
        };
        [column(&self.first, &records.iv), column(&self.second, &records.second_iv)]
    }

    /// Returns the spans of the IVs of one record.
    pub(super) fn spans(&self, records: &Records<'_>, task: BatchTask, index: usize) -> [Span; 2] {
        let of = |made: &Option<Vec<Span>>, given: &Column<'_, Span>| match made {
            Some(spans) => spans[index],
            None => given.get(index).unwrap_or_default(),
        };
        match task {
            BatchTask::UnwrapKey { wrap: KeyWrap::LegacyEcb(alg) | KeyWrap::LegacyCbc(alg), .. } => {
                [Span { len: alg.block_len() as u32, ..self.zeros }, Span::default()]
            }
            BatchTask::UnwrapKey { .. } => [Span::default(); 2],
            _ => [of(&self.first, &records.iv), of(&self.second, &records.second_iv)],
        }
    }

    /// Copies the content of a slot, which an earlier wave filled, to the IV of a record that reads it.
    pub(super) fn take_from_slots(
        &mut self,
        batch: &Batch<'_>,
        index: usize,
        slots: &SecretSlots,
    ) -> Result<(), Status> {
        let row = BatchRow::at(batch, index);
        let halves =
            [(row.iv_from, row.key, &self.first), (row.second_iv_from, row.second_key, &self.second)];
        for (from, key, spans) in halves {
            let slot = match (from, key) {
                (IvSource::Slot(slot), _) | (IvSource::KeyItself, KeySource::Slot(slot)) => slot,
                _ => continue,
            };
            let secret = slots.get(slot).ok_or(Status::DependencyFailed)?;
            let Some(iv) = spans.as_ref().and_then(|spans| spans[index].slice_mut(&mut self.data.0)) else {
                return Err(Status::Malformed);
            };
            let secret = if from == IvSource::KeyItself { secret.get(..iv.len()) } else { Some(secret) };
            let secret = secret.filter(|secret| secret.len() == iv.len()).ok_or(Status::BadLength)?;
            iv.copy_from_slice(secret);
        }
        Ok(())
    }

    /// Copies the IVs that were made for a record to the sinks that it names.
    pub(super) fn give(&self, row: &BatchRow, index: usize, output: &mut [u8], slots: &mut SecretSlots) {
        for (from, spans) in [(row.iv_from, &self.first), (row.second_iv_from, &self.second)] {
            let IvSource::Generated(sink) = from else { continue };
            let made = spans.as_ref().and_then(|spans| spans[index].slice(&self.data.0)).unwrap_or_default();
            let out = match sink {
                OutputSink::Output(span) => span.slice_mut(output),
                OutputSink::Slot(slot) => slots.fill(slot, made.len()),
            };
            if let Some(out) = out {
                out.copy_from_slice(made);
            }
        }
    }

    /// True if the caller gets IVs back.
    pub(super) fn are_made(&self) -> bool {
        self.first.is_some() || self.second.is_some()
    }
}

/// The half of a translation that an IV belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IvHalf {
    First,
    Second,
}
use IvHalf::{First, Second};

struct IvMaker<'a> {
    batch: &'a Batch<'a>,
    snapshot: &'a TableSnapshot,
    claims: &'a SlotClaims<'a>,
    end: usize,
    /// The records whose IV is made here: the index, the span and the way of making it.
    work: Vec<(u32, Span, IvMethod<'a>)>,
}

#[derive(Clone, Copy)]
enum IvMethod<'a> {
    Zero,
    Random,
    Count(&'a IvCounter),
    Key(KeySource),
}

impl<'a> IvMaker<'a> {
    fn reserve(&mut self, len: usize) -> Result<Span, JobError> {
        let span = Span::new(self.end, len);
        self.end += len;
        span.ok_or(JobError::Malformed { what: "the data and the IVs of one batch exceed 4 GiB" })
    }

    /// The span of each record's IV; that of a record that will not run is empty.
    fn lay_out(&mut self, half: IvHalf, statuses: &[Status]) -> Result<Vec<Span>, JobError> {
        let mut spans = Vec::with_capacity(statuses.len());
        for (index, status) in statuses.iter().enumerate() {
            spans.push(if *status == Status::Pending { self.lay_one(half, index)? } else { Span::default() });
        }
        Ok(spans)
    }

    fn lay_one(&mut self, half: IvHalf, index: usize) -> Result<Span, JobError> {
        let row = BatchRow::at(self.batch, index);
        let (from, key, given, len) = match half {
            First => (row.iv_from, row.key, row.iv, row.task.iv_len()),
            Second => (row.second_iv_from, row.second_key, row.second_iv, row.task.second_iv_len()),
        };
        if from == IvSource::Given {
            return Ok(given);
        }
        let span = self.reserve(len.unwrap_or(0))?;
        let made = match from {
            IvSource::Zero => Some(IvMethod::Zero),
            IvSource::KeyItself => Some(IvMethod::Key(key)),
            IvSource::Generated(_) => {
                Some(self.policy(key).and_then(KeyPolicy::counter).map_or(IvMethod::Random, IvMethod::Count))
            }
            IvSource::Given | IvSource::Slot(_) => None,
        };
        self.work.extend(made.map(|made| (index as u32, span, made)));
        Ok(span)
    }

    fn policy(&self, key: KeySource) -> Option<&'a KeyPolicy> {
        match key {
            KeySource::Table(index) => self.snapshot.entry(index).map(|entry| &*entry.policy),
            KeySource::Slot(slot) => self.claims.key(slot).ok()?.policy.map(|policy| &**policy),
        }
    }

    fn fill(&self, data: &mut [u8], statuses: &mut [Status]) {
        let is_random = self.work.iter().any(|(_, _, made)| matches!(made, IvMethod::Random));
        // One call for all; what is not random is written over it.
        let first = self.batch.records.data.len() + ZEROS;
        let has_randomness = !is_random || rand::fill(&mut data[first..]).is_ok();
        for (index, span, made) in &self.work {
            let Some(iv) = span.slice_mut(data) else { continue };
            let status = &mut statuses[*index as usize];
            match made {
                // A record without randomness is refused. A constant IV would be a silent flaw.
                IvMethod::Random if !has_randomness => *status = Status::NoIv,
                IvMethod::Random => {}
                IvMethod::Zero => iv.fill(0),
                IvMethod::Count(counter) if counter.write_next(iv).is_err() => *status = Status::NoIv,
                IvMethod::Count(_) => {}
                IvMethod::Key(source) => match self.key_bytes(*source).and_then(|key| key.get(..iv.len())) {
                    Some(key) => iv.copy_from_slice(key),
                    // A key in a slot comes later; one that is too short is the engine's to refuse.
                    None => iv.fill(0),
                },
            }
        }
    }

    fn key_bytes(&self, source: KeySource) -> Option<&[u8]> {
        let KeySource::Table(index) = source else { return None };
        let key = match index.checked_sub(Batch::FIRST_OUTSIDE) {
            Some(outside) => self.batch.records.keys.get(outside as usize)?,
            None => self.snapshot.keys.get(index as usize)?,
        };
        Some(key.secret()?.expose())
    }
}
