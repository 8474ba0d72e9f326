//! Batches of one task whose IVs are all random or all zero: the table's keys, and no slots.
//!
//! They cost what a plain batch costs, a copy of the data, one draw of randomness for all records, and a copy of each
//! IV to the place that its record names.

use std::borrow::Cow;

use aws_lc_rs::rand;
use oarlock::Accelerator;
use oarlock_core::{
    Batch, BatchTask, Column, IvSource, JobError, KeySource, Outcomes, OutputSink, Records, Shape, Span,
    Status, erase,
};

use super::judge::is_in_output;
use super::plain;
use crate::table::{KeyPolicy, TableSnapshot};

/// The IVs of a batch, all from one source.
pub(super) struct MadeIvs {
    len: usize,
    /// The sources of the IVs, of which the first stands for all.
    from: IvSource,
}

impl MadeIvs {
    /// Returns `None` if a record has to be looked at.
    pub(super) fn new(task: BatchTask, batch: &Batch<'_>, snapshot: &TableSnapshot) -> Option<Self> {
        let len = task.iv_len().filter(|len| *len > 0 && task.has_key() && !task.has_second_key())?;
        // The column of given IVs is not used, but it must lie in the data.
        let is_in_data = |span: Span| span.slice(&batch.records.data).is_some();
        let are_in_data = match &batch.records.iv {
            Column::One(span) => is_in_data(*span),
            spans => spans.cursor().take(batch.records.len).all(is_in_data),
        };
        if !are_in_data {
            return None;
        }
        let from = batch.iv_from.get(0)?;
        let are_alike = match from {
            IvSource::Zero => are_zero(batch),
            IvSource::Generated(_) => task.encrypts() && are_random(batch, snapshot, len),
            _ => false,
        };
        let made = Self { len, from };
        (are_alike && made.end(&batch.records).is_some()).then_some(made)
    }

    /// Returns the source that stands for all.
    pub(super) fn source(&self) -> IvSource {
        self.from
    }

    /// Returns the bytes of the data with the IVs behind it, or `None` if spans cannot reach them.
    fn end(&self, records: &Records<'_>) -> Option<usize> {
        let ivs = match self.from {
            IvSource::Zero => self.len,
            _ => self.len.checked_mul(records.len)?,
        };
        records.data.len().checked_add(ivs).filter(|end| u32::try_from(*end).is_ok())
    }

    /// Runs a batch. Without randomness no record is computed.
    pub(super) fn run(
        &self,
        accelerator: &Accelerator,
        shape: Shape,
        batch: &Batch<'_>,
        snapshot: &TableSnapshot,
        outcomes: &mut Outcomes,
    ) -> Result<(), JobError> {
        let end =
            self.end(&batch.records).ok_or(JobError::Malformed { what: "too many IVs for one batch" })?;
        let start = batch.records.data.len();
        // At full capacity from the start: a vector that grew would leave plaintexts in freed memory.
        let mut data = CopiedData(Vec::with_capacity(end));
        data.0.extend_from_slice(&batch.records.data);
        data.0.resize(end, 0);
        let first = Span { start: start as u32, len: self.len as u32 };
        let iv = match self.from {
            IvSource::Zero => Column::One(first),
            _ => Column::Stride { first, stride: first.len },
        };
        let is_made = self.from == IvSource::Zero || rand::fill(&mut data.0[start..]).is_ok();
        if !is_made {
            // A constant IV would be a silent flaw.
            outcomes.reset_mixed(batch.records.len, batch.records.output_len);
            outcomes.part_mut(0).statuses.fill(Status::NoIv);
            return Ok(());
        }
        let records = Records { data: Cow::Borrowed(&data.0), iv, ..batch.records.borrowed() };
        plain::run(accelerator, shape, &records, snapshot, outcomes)?;
        if self.from != IvSource::Zero {
            let part = outcomes.part_mut(0);
            let ivs = data.0[start..].chunks_exact(self.len);
            for ((from, iv), status) in batch.iv_from.cursor().zip(ivs).zip(&*part.statuses) {
                let IvSource::Generated(OutputSink::Output(span)) = from else { continue };
                if let (Status::Done, Some(out)) = (status, span.slice_mut(part.output)) {
                    out.copy_from_slice(iv);
                }
            }
        }
        Ok(())
    }
}

fn are_zero(batch: &Batch<'_>) -> bool {
    match &batch.iv_from {
        Column::One(IvSource::Zero) => true,
        sources => sources.cursor().take(batch.records.len).all(|from| from == IvSource::Zero),
    }
}

/// True if every record wants a random IV of this length in the output, and no key counts its IVs.
fn are_random(batch: &Batch<'_>, snapshot: &TableSnapshot, len: usize) -> bool {
    let records = &batch.records;
    let is_placed = |from| match from {
        IvSource::Generated(OutputSink::Output(span)) => {
            span.len as usize == len && is_in_output(records, span)
        }
        _ => false,
    };
    let is_random = |source| match source {
        KeySource::Table(index) => {
            let policy = snapshot.entry(index).map(|entry| &*entry.policy);
            policy.is_some_and(|policy| KeyPolicy::counter(policy).is_none())
        }
        KeySource::Slot(_) => false,
    };
    let are_random = match &records.key {
        Column::One(source) => is_random(*source),
        sources => sources.cursor().take(records.len).all(is_random),
    };
    are_random && batch.iv_from.cursor().take(records.len).all(is_placed)
}

/// A copy of the caller's data, with IVs behind it.
struct CopiedData(Vec<u8>);

impl Drop for CopiedData {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}
