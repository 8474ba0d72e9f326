//! Outcomes: one status per job, and a buffer that nobody sees before the release.

use std::fmt;
use std::ops::Range;

use smallvec::SmallVec;
use zeroize::Zeroize;

use crate::{Jobs, OutputSink, SecretSlots, Shape, Span, Status, erase};

/// The results of a batch, with statuses in the order of the jobs.
///
/// Results of operations lie side by side at the width of the shape. Results of records lie in one output buffer per
/// part. The memory is zeroized on drop if the results of the shape are secret.
#[derive(Default)]
pub struct Outcomes {
    // Inline up to a run of two groups of lanes, so that small batches do not allocate it.
    statuses: SmallVec<[Status; 16]>,
    width: usize,
    bytes: Vec<u8>,
    is_secret: bool,
    /// True if the bytes are results of an earlier run, which none can see: an engine gets the buffer with zeros, or
    /// overwrites all of it.
    is_stale: bool,
    parts: Vec<OutcomePart>,
}

struct OutcomePart {
    first_status: usize,
    statuses: usize,
    first_byte: usize,
    bytes: usize,
    slots: SecretSlots,
    /// The real length of each result that is shorter than its place (AES-KWP), by record.
    short: Vec<(u32, u32)>,
}

/// The outcome of one [`Records`](crate::Records) of a run, for an engine to write.
pub struct OutcomeWriter<'a> {
    /// The status of each record.
    pub statuses: &'a mut [Status],
    /// The output buffer.
    pub output: &'a mut [u8],
    /// The secret slots, in the places of [`Records::slots`](crate::Records::slots).
    pub slots: &'a mut SecretSlots,
    /// The record and the length of each result that is shorter than its place.
    pub short: &'a mut Vec<(u32, u32)>,
}

impl OutcomeWriter<'_> {
    /// Marks the records of a window as pending, before an engine computes them. Outcomes can be reused: an old
    /// [`Status::Done`] must not hide a record that a kernel skips.
    #[inline]
    pub fn begin_window(&mut self, window: Range<usize>) {
        self.statuses[window].fill(Status::Pending);
    }

    /// Sets [`Status::Done`] for every record of a window that is still pending: accepted, and not rejected by its
    /// kernel.
    ///
    /// The contract allows `Done` only after the result is written. So this runs after the kernel, once per window
    /// and over adjacent bytes, which the compiler vectorises.
    #[inline]
    pub fn finish_window(&mut self, window: Range<usize>) {
        for status in &mut self.statuses[window] {
            if *status == Status::Pending {
                *status = Status::Done;
            }
        }
    }

    /// Returns the memory for a result of `len` bytes: a whole span of the output, or the start of a slot.
    ///
    /// # Errors
    /// [`Status::Malformed`] if there is no such span or slot.
    #[inline]
    pub fn result_mut(&mut self, sink: OutputSink, len: usize) -> Result<&mut [u8], Status> {
        match sink {
            OutputSink::Output(span) => span.slice_mut(self.output).ok_or(Status::Malformed),
            OutputSink::Slot(slot) => self.slots.fill(slot, len).ok_or(Status::Malformed),
        }
    }

    /// Writes a result. A shorter span takes the leading bytes.
    ///
    /// # Errors
    /// [`Status::Malformed`] if there is no such span or slot.
    pub fn write(&mut self, sink: OutputSink, result: &[u8]) -> Result<(), Status> {
        // `zip` ends with the shorter one, which is the truncation of a tag.
        let out = self.result_mut(sink, result.len())?;
        out.iter_mut().zip(result).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    /// Writes a detached tag. A shorter span takes the leading bytes.
    ///
    /// # Errors
    /// [`Status::Malformed`] if there is no such span or slot.
    pub fn write_tag(&mut self, span: Span, tag: &[u8]) -> Result<(), Status> {
        self.write(OutputSink::Output(span), tag)
    }

    /// Shortens the result of `record` to `len` bytes of its place. The caller has zeroed the rest.
    ///
    /// # Errors
    /// [`Status::Malformed`] if there is no such span or slot.
    pub fn shorten(&mut self, record: usize, sink: OutputSink, len: usize) -> Result<(), Status> {
        match sink {
            OutputSink::Slot(slot) => self.slots.fill(slot, len).map(|_| ()).ok_or(Status::Malformed)?,
            // A list of exceptions and not a column: only AES-KWP shortens results.
            OutputSink::Output(span) if (len as u64) < u64::from(span.len) => {
                let (Ok(record), Ok(len)) = (u32::try_from(record), u32::try_from(len)) else {
                    return Err(Status::Malformed);
                };
                self.short.push((record, len));
            }
            OutputSink::Output(_) => {}
        }
        Ok(())
    }

    /// Zeroizes the place of a result.
    pub fn wipe(&mut self, sink: OutputSink) {
        match sink {
            OutputSink::Slot(slot) => self.slots.clear(slot),
            OutputSink::Output(span) => span.slice_mut(self.output).into_iter().for_each(Zeroize::zeroize),
        }
    }
}

impl Outcomes {
    /// Creates pending outcomes for `jobs`.
    #[must_use]
    pub fn for_jobs(jobs: &Jobs<'_>) -> Self {
        let mut outcomes = Self::default();
        outcomes.reset(jobs);
        outcomes
    }

    /// Creates pending outcomes for a number of operations of `shape`.
    #[must_use]
    pub fn for_operations(shape: Shape, operations: usize) -> Self {
        let width = shape.output_len();
        Self {
            statuses: SmallVec::from_elem(Status::Pending, operations),
            width,
            bytes: vec![0; operations * width],
            is_secret: shape.result_is_secret(),
            is_stale: false,
            parts: Vec::new(),
        }
    }

    /// Turns these into pending outcomes of records of mixed shapes, in one part without slots. The memory is used
    /// again.
    pub fn reset_mixed(&mut self, records: usize, output_len: usize) {
        self.parts.clear();
        self.parts.push(OutcomePart {
            first_status: 0,
            statuses: records,
            first_byte: 0,
            bytes: output_len,
            slots: SecretSlots::default(),
            short: Vec::new(),
        });
        self.width = 0;
        // Some of the shapes may have secret results.
        self.renew(records, output_len, true, false);
    }

    /// Turns these into pending outcomes of `jobs`. The memory is used again.
    pub fn reset(&mut self, jobs: &Jobs<'_>) {
        self.parts.clear();
        self.width = jobs.shape().output_len();
        let mut len = 0;
        match jobs {
            Jobs::Operations(_, operations) => len = operations.len() * self.width,
            Jobs::Records(_, parts) => {
                let mut first_status = 0;
                for records in *parts {
                    self.parts.push(OutcomePart {
                        first_status,
                        statuses: records.len,
                        first_byte: len,
                        bytes: records.output_len,
                        slots: records.slots.emptied(),
                        short: Vec::new(),
                    });
                    first_status += records.len;
                    len += records.output_len;
                }
            }
        }
        // Zeros take a tenth of the time of short records, and most of them would be overwritten.
        let may_be_stale = self.parts.len() == 1;
        self.renew(jobs.len(), len, jobs.shape().result_is_secret(), may_be_stale);
    }

    fn renew(&mut self, jobs: usize, len: usize, is_secret: bool, may_be_stale: bool) {
        self.is_stale = false;
        self.statuses.clear();
        self.statuses.resize(jobs, Status::Pending);
        // The old flag says whether the old results were secret, also those behind the length.
        let was_secret = std::mem::replace(&mut self.is_secret, is_secret);
        if self.bytes.capacity() < len {
            if was_secret {
                erase(&mut self.bytes);
            }
            // New memory from the system is zero already.
            self.bytes = vec![0; len];
        } else if may_be_stale && !was_secret {
            self.bytes.resize(len, 0);
            self.is_stale = true;
        } else {
            self.bytes.clear();
            self.bytes.resize(if was_secret { self.bytes.capacity() } else { len }, 0);
            self.bytes.truncate(len);
        }
    }

    /// Erases the results of an earlier run.
    fn clear_stale(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            self.bytes.fill(0);
        }
    }

    /// Returns the number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.statuses.len()
    }

    /// True if there is no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.statuses.is_empty()
    }

    /// Returns the statuses in the order of the jobs.
    #[must_use]
    pub fn statuses(&self) -> &[Status] {
        &self.statuses
    }

    /// Sets the status of the job at `index`.
    pub fn set(&mut self, index: usize, status: Status) {
        self.clear_stale();
        self.statuses[index] = status;
    }

    /// Returns the result of the operation at `index`.
    #[must_use]
    pub fn result(&self, index: usize) -> &[u8] {
        &self.bytes[index * self.width..(index + 1) * self.width]
    }

    /// Returns the place for the result of the operation at `index`.
    pub fn result_mut(&mut self, index: usize) -> &mut [u8] {
        &mut self.bytes[index * self.width..(index + 1) * self.width]
    }

    /// Copies the outcome of operation `from` of `other`, which has the same shape.
    pub fn copy_result(&mut self, to: usize, other: &Self, from: usize) {
        self.statuses[to] = other.statuses[from];
        self.result_mut(to).copy_from_slice(other.result(from));
    }

    /// Copies `count` outcomes of `other`, which has the same shape, from index `from` there to index `to` here.
    pub fn copy_results(&mut self, to: usize, other: &Self, from: usize, count: usize) {
        self.statuses[to..to + count].copy_from_slice(&other.statuses[from..from + count]);
        let (to, from, len) = (to * self.width, from * other.width, count * self.width);
        self.bytes[to..to + len].copy_from_slice(&other.bytes[from..from + len]);
    }

    /// Returns the number of record parts.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the outcome of the records at `part` for writing.
    pub fn part_mut(&mut self, part: usize) -> OutcomeWriter<'_> {
        self.clear_stale();
        self.part_to_overwrite(part)
    }

    /// Returns the same for an engine that writes every byte of the output: the result of each record that succeeds,
    /// and zeros for the others. The output can hold results of an earlier run in these outcomes.
    pub fn part_to_overwrite(&mut self, part: usize) -> OutcomeWriter<'_> {
        // Stale outcomes have one part.
        self.is_stale = false;
        let part = &mut self.parts[part];
        OutcomeWriter {
            statuses: &mut self.statuses[part.first_status..part.first_status + part.statuses],
            output: &mut self.bytes[part.first_byte..part.first_byte + part.bytes],
            slots: &mut part.slots,
            short: &mut part.short,
        }
    }

    /// Takes the outcome of the records at `part` out. The only part is moved and not copied.
    #[must_use]
    pub fn take_part(&mut self, part: usize) -> Self {
        if self.parts.len() == 1 {
            return std::mem::take(self);
        }
        let chosen = &mut self.parts[part];
        let taken = OutcomePart {
            first_status: 0,
            statuses: chosen.statuses,
            first_byte: 0,
            bytes: chosen.bytes,
            slots: std::mem::take(&mut chosen.slots),
            short: std::mem::take(&mut chosen.short),
        };
        Self {
            statuses: self.statuses[chosen.first_status..chosen.first_status + chosen.statuses].into(),
            width: 0,
            bytes: self.bytes[chosen.first_byte..chosen.first_byte + chosen.bytes].to_vec(),
            is_secret: self.is_secret,
            is_stale: self.is_stale,
            parts: vec![taken],
        }
    }

    /// Returns the bytes of all results.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the secret slots that the records at `part` filled.
    #[must_use]
    pub fn slots(&self, part: usize) -> &SecretSlots {
        &self.parts[part].slots
    }

    /// Returns the real length of a record's result if it is shorter than its place.
    #[must_use]
    pub fn short_len(&self, part: usize, record: usize) -> Option<usize> {
        let short = &self.parts.get(part)?.short;
        short.iter().find(|(index, _)| *index as usize == record).map(|(_, len)| *len as usize)
    }

    /// True if both hold the same statuses, results and secret slots.
    #[must_use]
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.statuses == other.statuses
            && self.bytes == other.bytes
            && self.parts.len() == other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(ours, theirs)| ours.slots == theirs.slots)
    }

    /// True if no job was left pending.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.has_status(Status::Pending)
    }

    /// True if a job has this status. All are looked at, many at once: a search would look at one after the other.
    #[must_use]
    pub fn has_status(&self, status: Status) -> bool {
        self.statuses.iter().fold(false, |found, other| found | (*other == status))
    }
}

impl Drop for Outcomes {
    fn drop(&mut self) {
        if self.is_secret {
            erase(&mut self.bytes);
        }
    }
}

/// Shows lengths only, because outputs may be secret.
impl fmt::Debug for OutcomeWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutcomeWriter({} records, {} bytes)", self.statuses.len(), self.output.len())
    }
}

impl fmt::Debug for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.statuses.iter().filter(|status| **status == Status::Done).count();
        write!(f, "Outcomes({done} of {} done)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DigestAlg, Records};

    #[test]
    fn parts_keep_to_themselves() {
        let (first, second) = (
            Records { len: 2, output_len: 3, ..Records::default() },
            Records { len: 1, output_len: 2, ..Records::default() },
        );
        let parts = [&first, &second];
        let mut outcomes = Outcomes::for_jobs(&Jobs::Records(Shape::Digest { alg: DigestAlg::Sha1 }, &parts));
        let part = outcomes.part_mut(1);
        part.statuses[0] = Status::Done;
        part.output.copy_from_slice(&[8, 9]);
        assert_eq!(outcomes.statuses(), [Status::Pending, Status::Pending, Status::Done]);
        let taken = outcomes.take_part(1);
        assert_eq!((taken.bytes(), taken.statuses()), (&[8, 9][..], &[Status::Done][..]));
        assert!(taken.is_complete() && !outcomes.is_complete());
    }

    #[test]
    fn results_of_an_earlier_run_are_erased_unless_they_are_overwritten() {
        let records = Records { len: 1, output_len: 4, ..Records::default() };
        let parts = [&records];
        let jobs = Jobs::Records(Shape::Digest { alg: DigestAlg::Sha1 }, &parts);
        let mut outcomes = Outcomes::for_jobs(&jobs);
        for _ in 0..2 {
            outcomes.reset(&jobs);
            let part = outcomes.part_to_overwrite(0);
            part.output.copy_from_slice(&[1, 2, 3, 4]);
            outcomes.reset(&jobs);
            assert_eq!(outcomes.part_mut(0).output, [0; 4]);
            outcomes.part_mut(0).output.copy_from_slice(&[5, 6, 7, 8]);
            outcomes.reset(&jobs);
            outcomes.set(0, Status::BadLength);
            assert_eq!(outcomes.bytes(), [0; 4]);
        }
    }

    #[test]
    fn outcomes_agree_only_where_their_slots_do() {
        let records = Records {
            slots: std::borrow::Cow::Owned(SecretSlots::with_capacities(&[4]).unwrap()),
            ..Records::default()
        };
        let parts = [&records];
        let made = |secret: &[u8]| {
            let mut outcomes =
                Outcomes::for_jobs(&Jobs::Records(Shape::Digest { alg: DigestAlg::Sha1 }, &parts));
            outcomes.part_mut(0).slots.fill(0, secret.len()).unwrap().copy_from_slice(secret);
            outcomes
        };
        assert!(made(&[1, 2, 3, 4]).agrees_with(&made(&[1, 2, 3, 4])));
        assert!(!made(&[1, 2, 3, 4]).agrees_with(&made(&[1, 2, 3, 5])));
        assert!(!made(&[1, 2, 3]).agrees_with(&made(&[1, 2, 3, 0])), "lengths count too");
    }
}
