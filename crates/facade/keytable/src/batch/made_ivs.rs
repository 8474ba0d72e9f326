//! Batches of one task whose IVs are all random or all zero: the table's keys, and no slots.
//!
//! They cost what a plain batch costs, a copy of the data, one draw of randomness for all records, and a copy of each
//! IV to the place that its record names. Nothing is looked at record by record if places are at a constant stride.

use std::borrow::Cow;

use aws_lc_rs::rand;
use oarlock::Accelerator;
use oarlock_core::{
    Batch, BatchTask, Column, ColumnValue, IvSource, JobError, KeySource, OutcomeWriter, Outcomes,
    OutputSink, Records, Shape, Span, Status, erase,
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

/// The lengths of IVs that are made: a block of DES, that of GCM, a block of AES.
const IV_LENS: [usize; 3] = [8, 12, 16];

impl MadeIvs {
    /// Returns `None` if a record has to be looked at.
    pub(super) fn new(task: BatchTask, batch: &Batch<'_>, snapshot: &TableSnapshot) -> Option<Self> {
        let len =
            task.iv_len().filter(|len| task.has_key() && !task.has_second_key() && IV_LENS.contains(len))?;
        // The column of given IVs is not used, but it must lie in the data.
        if !all(&batch.records.iv, batch.records.len, |span| span.slice(&batch.records.data).is_some()) {
            return None;
        }
        let from = batch.iv_from.get(0)?;
        let are_alike = match from {
            IvSource::Zero => all(&batch.iv_from, batch.records.len, |from| from == IvSource::Zero),
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

    /// Runs a batch with `copy` as memory for its data. Without randomness no record is computed.
    pub(super) fn run(
        &self,
        accelerator: &Accelerator,
        shape: Shape,
        batch: &Batch<'_>,
        snapshot: &TableSnapshot,
        (outcomes, copy): (&mut Outcomes, &mut CopiedData),
    ) -> Result<(), JobError> {
        let end =
            self.end(&batch.records).ok_or(JobError::Malformed { what: "too many IVs for one batch" })?;
        let start = batch.records.data.len();
        let data = copy.copy_from(&batch.records.data, end);
        let first = Span { start: start as u32, len: self.len as u32 };
        let iv = match self.from {
            IvSource::Zero => Column::One(first),
            _ => Column::Stride { first, stride: first.len },
        };
        let is_made = match self.from {
            IvSource::Zero => {
                data[start..].fill(0);
                true
            }
            _ => rand::fill(&mut data[start..]).is_ok(),
        };
        if !is_made {
            // A constant IV would be a silent flaw.
            outcomes.reset_mixed(batch.records.len, batch.records.output_len);
            outcomes.part_mut(0).statuses.fill(Status::NoIv);
            return Ok(());
        }
        let records = Records { data: Cow::Borrowed(data), iv, ..batch.records.borrowed() };
        plain::run(accelerator, shape, &records, snapshot, outcomes)?;
        if self.from != IvSource::Zero {
            let (part, ivs) = (outcomes.part_mut(0), &data[start..]);
            match self.len {
                8 => give::<8>(&batch.iv_from, ivs, part),
                12 => give::<12>(&batch.iv_from, ivs, part),
                16 => give::<16>(&batch.iv_from, ivs, part),
                // unreachable because no cipher makes IVs of another length, and `new` refuses it
                _ => return Err(JobError::Malformed { what: "an IV of unknown length" }),
            }
        }
        Ok(())
    }
}

/// Copies the IVs of records that are done to the places that they name. `LEN` is a constant because a call for each
/// copy would take longer than the copy.
fn give<const LEN: usize>(iv_from: &Column<'_, IvSource>, ivs: &[u8], part: OutcomeWriter<'_>) {
    let OutcomeWriter { statuses, output, .. } = part;
    let (ivs, done) = (ivs.as_chunks::<LEN>().0, statuses.iter().map(|status| *status == Status::Done));
    if let Column::Stride { first: IvSource::Generated(OutputSink::Output(first)), stride } = iv_from
        && *stride > 0
    {
        let targets = output[first.start as usize..].chunks_mut(*stride as usize);
        for ((iv, is_done), target) in ivs.iter().zip(done).zip(targets) {
            if let (true, Some(target)) = (is_done, target.first_chunk_mut()) {
                *target = *iv;
            }
        }
        return;
    }
    for ((from, iv), is_done) in iv_from.cursor().zip(ivs).zip(done) {
        let IvSource::Generated(OutputSink::Output(span)) = from else { continue };
        if let (true, Some(target)) = (is_done, span.slice_mut(output).and_then(<[u8]>::first_chunk_mut)) {
            *target = *iv;
        }
    }
}

/// True if all values of a column fit. A value between two that fit must fit too.
fn all<T: ColumnValue>(column: &Column<'_, T>, len: usize, does_fit: impl Fn(T) -> bool) -> bool {
    match column.ends(len) {
        Some(ends) => ends.into_iter().all(does_fit),
        None => column.cursor().take(len).all(does_fit),
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
    are_random && all(&batch.iv_from, records.len, is_placed)
}

/// A copy of the caller's data, with IVs behind it, in memory that later batches use again.
#[derive(Default)]
pub(super) struct CopiedData(Vec<u8>);

impl CopiedData {
    /// Copies data to the front of `len` bytes. What lies behind it may be of an earlier batch.
    fn copy_from(&mut self, data: &[u8], len: usize) -> &mut [u8] {
        if self.0.capacity() < len {
            // Not by growth: that would leave plaintexts in freed memory.
            erase(&mut self.0);
            self.0 = Vec::with_capacity(len);
        }
        self.0.resize(len, 0);
        self.0[..data.len()].copy_from_slice(data);
        &mut self.0
    }
}

impl Drop for CopiedData {
    fn drop(&mut self) {
        erase(&mut self.0);
    }
}
