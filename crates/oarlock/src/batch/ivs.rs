//! IVs that the hall makes: zeros, keys, random values, counters. They lie behind a copy of the caller's data, where the
//! spans of the engines' IV column reach them.

use std::borrow::Cow;

use aws_lc_rs::rand;
use oarlock_core::{Column, JobError, KeySource, OutputSink, Records, SecretSlots, Span, Status, erase};

use super::plan::Row;
use super::slots::Claims;
use super::{Batch, Iv, KeyWrap, Task};
use crate::table::{Counter, Policy, Snapshot};

/// The IVs of a batch.
pub(super) struct Ivs {
    /// Where each record's IV is; None where the caller's column says it.
    first: Option<Vec<Span>>,
    second: Option<Vec<Span>>,
    data: Data,
    /// A block of zeros, where a legacy wrap needs one.
    zeros: Span,
}

/// The caller's data and what lies behind it; empty where nothing does. Wiped, because keys may be IVs.
struct Data(Vec<u8>);

impl Drop for Data {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}

/// Longest IV that the hall makes.
const ZEROS: usize = 16;

impl Ivs {
    /// Makes the IVs of all records that may run; one that has none to be had is refused.
    pub(super) fn make(
        batch: &Batch<'_>,
        snapshot: &Snapshot,
        claims: &Claims<'_>,
        statuses: &mut [Status],
    ) -> Result<Self, JobError> {
        let is_made = |from: &Column<'_, Iv>| !matches!(from, Column::One(Iv::Given));
        let (makes_first, makes_second) = (is_made(&batch.iv_from), is_made(&batch.second_iv_from));
        if !makes_first && !makes_second && !batch.names_slots() {
            return Ok(Self { first: None, second: None, data: Data(Vec::new()), zeros: Span::default() });
        }
        let mut maker = Maker { batch, snapshot, claims, end: batch.records.data.len(), work: Vec::new() };
        let zeros = maker.place(ZEROS)?;
        let first = makes_first.then(|| maker.lay_out(First, statuses)).transpose()?;
        let second = makes_second.then(|| maker.lay_out(Second, statuses)).transpose()?;
        let mut data = Data(Vec::with_capacity(maker.end));
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
        let column = |made: &'a Option<Vec<Span>>, own: &'a Column<'_, Span>| match made {
            Some(spans) => Column::Each(Cow::Borrowed(&spans[..])),
            None => own.borrowed(),
        };
        [column(&self.first, &records.iv), column(&self.second, &records.second_iv)]
    }

    /// Where the IVs of one record are.
    pub(super) fn of(&self, records: &Records<'_>, task: Task, index: usize) -> [Span; 2] {
        let of = |made: &Option<Vec<Span>>, own: &Column<'_, Span>| match made {
            Some(spans) => spans[index],
            None => own.get(index).unwrap_or_default(),
        };
        match task {
            Task::UnwrapKey { wrap: KeyWrap::LegacyEcb(alg) | KeyWrap::LegacyCbc(alg), .. } => {
                [Span { len: alg.block_len() as u32, ..self.zeros }, Span::default()]
            }
            Task::UnwrapKey { .. } => [Span::default(); 2],
            Task::Do(_) => [of(&self.first, &records.iv), of(&self.second, &records.second_iv)],
        }
    }

    /// Puts what an earlier wave left in a slot where a record finds it as its IV.
    pub(super) fn take_from_slots(
        &mut self,
        batch: &Batch<'_>,
        index: usize,
        slots: &SecretSlots,
    ) -> Result<(), Status> {
        let row = Row::at(batch, index);
        let halves =
            [(row.iv_from, row.key, &self.first), (row.second_iv_from, row.second_key, &self.second)];
        for (from, key, places) in halves {
            let slot = match (from, key) {
                (Iv::Slot(slot), _) | (Iv::KeyItself, KeySource::Slot(slot)) => slot,
                _ => continue,
            };
            let secret = slots.get(slot).ok_or(Status::DependencyFailed)?;
            let Some(place) = places.as_ref().and_then(|places| places[index].of_mut(&mut self.data.0))
            else {
                return Err(Status::Malformed);
            };
            let secret = if from == Iv::KeyItself { secret.get(..place.len()) } else { Some(secret) };
            let secret = secret.filter(|secret| secret.len() == place.len()).ok_or(Status::BadLength)?;
            place.copy_from_slice(secret);
        }
        Ok(())
    }

    /// Hands the IVs that were made for a record to where they were asked for.
    pub(super) fn give(&self, row: &Row, index: usize, output: &mut [u8], slots: &mut SecretSlots) {
        for (from, places) in [(row.iv_from, &self.first), (row.second_iv_from, &self.second)] {
            let Iv::Generated(sink) = from else { continue };
            let made = places.as_ref().and_then(|places| places[index].of(&self.data.0)).unwrap_or_default();
            let place = match sink {
                OutputSink::Output(span) => span.of_mut(output),
                OutputSink::Slot(slot) => slots.fill(slot, made.len()),
            };
            if let Some(place) = place {
                place.copy_from_slice(made);
            }
        }
    }

    /// True where the caller gets IVs back.
    pub(super) fn are_made(&self) -> bool {
        self.first.is_some() || self.second.is_some()
    }
}

/// Which half of a translation an IV belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    Second,
}
use Half::{First, Second};

struct Maker<'a> {
    batch: &'a Batch<'a>,
    snapshot: &'a Snapshot,
    claims: &'a Claims<'a>,
    end: usize,
    /// Records whose IV is not the caller's: which, where it goes, what it is.
    work: Vec<(u32, Span, Made<'a>)>,
}

#[derive(Clone, Copy)]
enum Made<'a> {
    Zero,
    Random,
    Count(&'a Counter),
    Key(KeySource),
}

impl<'a> Maker<'a> {
    fn place(&mut self, len: usize) -> Result<Span, JobError> {
        let span = Span::new(self.end, len);
        self.end += len;
        span.ok_or(JobError::Malformed { what: "the data and the IVs of one batch exceed 4 GiB" })
    }

    /// The span of each record's IV; that of a record that will not run is empty.
    fn lay_out(&mut self, half: Half, statuses: &[Status]) -> Result<Vec<Span>, JobError> {
        let mut spans = Vec::with_capacity(statuses.len());
        for (index, status) in statuses.iter().enumerate() {
            spans.push(if *status == Status::Pending { self.lay_one(half, index)? } else { Span::default() });
        }
        Ok(spans)
    }

    fn lay_one(&mut self, half: Half, index: usize) -> Result<Span, JobError> {
        let row = Row::at(self.batch, index);
        let (from, key, own, len) = match half {
            First => (row.iv_from, row.key, row.iv, row.task.iv_len()),
            Second => (row.second_iv_from, row.second_key, row.second_iv, row.task.second_iv_len()),
        };
        if from == Iv::Given {
            return Ok(own);
        }
        let span = self.place(len.unwrap_or(0))?;
        let made = match from {
            Iv::Zero => Some(Made::Zero),
            Iv::KeyItself => Some(Made::Key(key)),
            Iv::Generated(_) => {
                Some(self.policy(key).and_then(Policy::counter).map_or(Made::Random, Made::Count))
            }
            Iv::Given | Iv::Slot(_) => None,
        };
        self.work.extend(made.map(|made| (index as u32, span, made)));
        Ok(span)
    }

    fn policy(&self, key: KeySource) -> Option<&'a Policy> {
        match key {
            KeySource::Table(index) => self.snapshot.entry(index).map(|entry| &*entry.policy),
            KeySource::Slot(slot) => self.claims.key(slot).ok()?.policy.map(|policy| &**policy),
        }
    }

    fn fill(&self, data: &mut [u8], statuses: &mut [Status]) {
        let is_random = self.work.iter().any(|(_, _, made)| matches!(made, Made::Random));
        // One call for all; what is not random is written over it.
        let first = self.batch.records.data.len() + ZEROS;
        let has_randomness = !is_random || rand::fill(&mut data[first..]).is_ok();
        for (index, span, made) in &self.work {
            let Some(place) = span.of_mut(data) else { continue };
            let status = &mut statuses[*index as usize];
            match made {
                Made::Random if !has_randomness => *status = Status::NoIv,
                Made::Random => {}
                Made::Zero => place.fill(0),
                Made::Count(counter) if counter.write_next(place).is_err() => *status = Status::NoIv,
                Made::Count(_) => {}
                Made::Key(source) => match self.key_bytes(*source).and_then(|key| key.get(..place.len())) {
                    Some(key) => place.copy_from_slice(key),
                    // A key in a slot comes later; one that is too short is the engine's to refuse.
                    None => place.fill(0),
                },
            }
        }
    }

    fn key_bytes(&self, source: KeySource) -> Option<&[u8]> {
        let KeySource::Table(index) = source else { return None };
        let key = match index.checked_sub(Snapshot::FIRST_OUTSIDE) {
            Some(outside) => self.batch.records.keys.get(outside as usize)?,
            None => self.snapshot.keys.get(index as usize)?,
        };
        Some(key.secret()?.expose())
    }
}
