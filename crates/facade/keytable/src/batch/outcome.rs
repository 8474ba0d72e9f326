//! The outcome of a batch, in the order of its records.

use std::fmt;
use std::sync::Arc;

use oarlock_core::{
    AeadAlg, Batch, BatchTask, Blame, CipherSpec, HeldOutcomes, IvSource, JobError, KeySource,
    MAX_FF1_NUMERALS, MAX_FF1_TWEAK, Outcomes, OutputSink, Span, Status,
};

use super::made_ivs::CopiedData;
use super::wave_plan::BatchRow;
use crate::table::{KeyTable, KeyWeakness};

/// The statuses and results of a batch, zeroized on drop if anything in it may be secret.
#[derive(Default)]
pub struct BatchOutcome {
    outcomes: Outcomes,
    warnings: Vec<(u32, KeyWeakness)>,
    /// The reasons of the keys' holder, by record.
    refusals: Vec<(u32, Arc<JobError>)>,
    /// Memory for the data of later batches.
    copy: CopiedData,
}

/// The reason why one record has no result, for a human reader.
///
/// It names the record, its task, its key and the expected lengths. It contains no data and no key material.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordError {
    /// The index of the record in the batch.
    pub record: usize,
    /// The task of the record.
    pub task: BatchTask,
    /// The name of its key, if the table has it.
    pub key: Option<Arc<str>>,
    /// The reason for the refusal.
    pub status: Status,
    /// The reason in the words of the key's holder, if the holder refused the record.
    pub refusal: Option<Arc<JobError>>,
}

impl BatchOutcome {
    pub(super) fn from_outcomes(outcomes: Outcomes, mut warnings: Vec<(u32, KeyWeakness)>) -> Self {
        warnings.sort_unstable_by_key(|(record, _)| *record);
        Self { outcomes, warnings, ..Self::default() }
    }

    pub(super) fn from_holder(held: HeldOutcomes) -> Self {
        Self { outcomes: held.outcomes, refusals: held.refusals, ..Self::default() }
    }

    /// Takes the memory of results and of data out, and drops the outcome that it held.
    pub(super) fn take_memory(&mut self) -> (Outcomes, CopiedData) {
        let Self { outcomes, copy, .. } = std::mem::take(self);
        (outcomes, copy)
    }

    /// Keeps memory for the data of later batches.
    pub(super) fn keep_copy(&mut self, copy: CopiedData) {
        self.copy = copy;
    }

    /// Returns one status per record, in the caller's order.
    #[must_use]
    pub fn statuses(&self) -> &[Status] {
        self.outcomes.statuses()
    }

    /// True if every record is done.
    #[must_use]
    pub fn is_all_done(&self) -> bool {
        // Many at once: a search would look at one after the other.
        self.statuses().iter().fold(true, |all, status| all & (*status == Status::Done))
    }

    /// Returns the output buffer, with the results at the spans that the batch names. The span of a record that is not
    /// done holds zeros.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.outcomes.bytes()
    }

    /// Returns the result of a record that is done and whose output is not a slot, at its real length.
    #[must_use]
    pub fn result(&self, batch: &Batch<'_>, record: usize) -> Option<&[u8]> {
        match batch.records.output.get(record)? {
            OutputSink::Output(span) => self.done(record, span).map(|bytes| match self.short_len(record) {
                Some(len) => &bytes[..len],
                None => bytes,
            }),
            OutputSink::Slot(_) => None,
        }
    }

    /// Returns the tag that a record made.
    #[must_use]
    pub fn tag(&self, batch: &Batch<'_>, record: usize) -> Option<&[u8]> {
        batch.task.get(record).filter(|task| task.is_seal())?;
        self.done(record, batch.records.tag.get(record)?)
    }

    /// Returns the IV that was made for a record. For a translation, it is the IV of the encrypting half.
    #[must_use]
    pub fn iv(&self, batch: &Batch<'_>, record: usize) -> Option<&[u8]> {
        let second = batch.second_iv_from.get(record)?;
        match (second, batch.iv_from.get(record)?) {
            (IvSource::Generated(OutputSink::Output(span)), _)
            | (_, IvSource::Generated(OutputSink::Output(span))) => self.done(record, span),
            _ => None,
        }
    }

    /// Returns the real length of a result that is shorter than its span.
    #[must_use]
    pub fn short_len(&self, record: usize) -> Option<usize> {
        self.outcomes.short_len(0, record)
    }

    /// Returns the weaknesses of keys that were accepted with a warning, by the record that unwrapped them.
    #[must_use]
    pub fn warnings(&self) -> &[(u32, KeyWeakness)] {
        &self.warnings
    }

    /// Returns the reason why a record has no result, or `None` if it has one.
    #[must_use]
    pub fn error(&self, table: &KeyTable, batch: &Batch<'_>, record: usize) -> Option<RecordError> {
        let status = *self.statuses().get(record).filter(|status| **status != Status::Done)?;
        let row = BatchRow::at(batch, record);
        let key = match row.key {
            KeySource::Table(index) if row.task.has_key() => table.name(index),
            _ => None,
        };
        let refusal = self.refusal(record).cloned();
        Some(RecordError { record, task: row.task, key, status, refusal })
    }

    /// Returns the reason of the key's holder if it refused a record.
    #[must_use]
    pub fn refusal(&self, record: usize) -> Option<&Arc<JobError>> {
        let found = self.refusals.binary_search_by_key(&record, |(refused, _)| *refused as usize);
        found.ok().map(|found| &self.refusals[found].1)
    }

    /// Returns the reasons of all records that have no result, in order.
    pub fn errors<'a>(
        &'a self,
        table: &'a KeyTable,
        batch: &'a Batch<'_>,
    ) -> impl Iterator<Item = RecordError> + 'a {
        (0..self.statuses().len()).filter_map(move |record| self.error(table, batch, record))
    }

    fn done(&self, record: usize, span: Span) -> Option<&[u8]> {
        let is_done = self.statuses().get(record) == Some(&Status::Done);
        span.slice(self.output()).filter(|_| is_done)
    }
}

impl RecordError {
    /// Returns the party at fault.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match &self.refusal {
            Some(refusal) => refusal.blame(),
            None => self.status.error(self.task.shape()).as_ref().map_or(Blame::Machine, JobError::blame),
        }
    }

    /// Returns the lengths that fit, if a length was wrong.
    #[must_use]
    pub fn expected(&self) -> Option<String> {
        if self.status != Status::BadLength {
            return None;
        }
        let iv = |len: Option<usize>| len.map_or(String::new(), |len| format!(", an IV of {len}"));
        Some(match self.task {
            BatchTask::UnwrapKey { key, .. } => format!(
                "a {key} key of {} bytes, a check value of 3",
                key.key_len().map_or("1 or more".into(), |len| len.to_string())
            ),
            BatchTask::Do(oarlock_core::Shape::Cipher { alg, mode, .. }) => {
                let unit = CipherSpec { alg, mode }.granularity();
                format!("a multiple of {unit} bytes{}", iv(self.task.iv_len()))
            }
            BatchTask::Do(oarlock_core::Shape::Translate { from, to }) => format!(
                "a multiple of {} bytes, IVs of {} and {}",
                from.alg.block_len().max(to.alg.block_len()),
                from.alg.block_len(),
                to.alg.block_len()
            ),
            BatchTask::Do(oarlock_core::Shape::Aead {
                alg: alg @ (AeadAlg::ChaCha20Poly1305 | AeadAlg::ChaCha20Poly1305Ssh),
                ..
            }) => format!(
                "a tag of 16 bytes, an IV of {}, at least {} bytes, an output as long as the input",
                alg.usual_iv_len(),
                alg.min_input_len()
            ),
            BatchTask::Do(oarlock_core::Shape::Aead { alg, .. }) if alg.is_siv() => {
                "a tag of 16 bytes, an output as long as the input".into()
            }
            BatchTask::Do(oarlock_core::Shape::Aead { alg, .. }) if alg.may_repeat_ivs() => {
                "a tag of 16 bytes, an IV of 12, an output as long as the input".into()
            }
            BatchTask::Do(oarlock_core::Shape::Fpe { .. }) => format!(
                "at most {MAX_FF1_NUMERALS} numerals with a million possible texts, two bytes each above radix 256, a \
                 radix of 2 to 65536 in four bytes, a tweak of at most {MAX_FF1_TWEAK} bytes, an output as long as the \
                 input"
            ),
            BatchTask::Do(oarlock_core::Shape::Aead { .. }) => {
                "a tag of 12 to 16 bytes, an IV of 1 or more, an output as long as the input".into()
            }
            BatchTask::Do(oarlock_core::Shape::Mac { alg }) => {
                format!("a place of 4 to {} bytes", alg.tag_len())
            }
            BatchTask::Do(oarlock_core::Shape::Wrap { .. }) => {
                "whole blocks of 8 bytes, at least 2, and a place that is one block longer".into()
            }
            _ => "a place as long as the result".into(),
        })
    }
}

impl std::error::Error for RecordError {}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}, {}", self.record, self.task)?;
        if let Some(key) = &self.key {
            write!(f, " under key {key:?}")?;
        }
        match &self.refusal {
            Some(refusal) => write!(f, ": {refusal}")?,
            None => write!(f, ": {}", self.status)?,
        }
        match self.expected() {
            Some(expected) => write!(f, "; expected {expected}"),
            None => Ok(()),
        }
    }
}

/// Shows the number of records that are done, because results may be secret.
impl fmt::Debug for BatchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.statuses().iter().filter(|status| **status == Status::Done).count();
        write!(f, "BatchOutcome({done} of {} done)", self.statuses().len())
    }
}
