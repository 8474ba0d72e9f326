//! Answers to jobs, in their order.

use std::fmt;
use std::time::Duration;

use oarlock_core::{JobError, Span, erase, reserve_erasing};
use zeroize::Zeroizing;

use crate::schemes::{Finisher, finish};

/// The bytes of one answer: a signature, a message or a shared secret. They are empty if the answer is yes, and
/// zeroized on drop.
pub type AnswerBytes = Zeroizing<Vec<u8>>;

/// Answers to many jobs in one buffer, zeroized on drop.
#[derive(Clone, Default)]
pub struct Answers {
    bytes: Vec<u8>,
    /// Those of the jobs, and behind them two for each composite until it is [joined](Self::join_composites).
    results: Vec<Result<Span, JobError>>,
    /// The indices of composites, each with that of its first component.
    composites: Vec<(usize, usize)>,
    engine_time: Duration,
}

impl Answers {
    pub(super) fn unanswered(jobs: usize) -> Self {
        // Cancelled until it is answered, so that a forgotten job is an error and no empty answer.
        let results = std::iter::repeat_n(Err(JobError::Cancelled), jobs).collect();
        Self { bytes: Vec::new(), results, composites: Vec::new(), engine_time: Duration::ZERO }
    }

    /// Returns the number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// True if there was no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns the answer of the job at `index`. The bytes are empty for a signature that verifies.
    ///
    /// # Errors
    /// The error of the job. A signature that does not verify is [`JobError::Rejected`]; see
    /// [`verified`](Self::verified) for a yes or no.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn get(&self, index: usize) -> Result<&[u8], JobError> {
        let span = self.results[index].clone()?;
        Ok(&self.bytes[span.range()])
    }

    /// Returns true if the verification at `index` succeeded, and false if its signature is bad.
    ///
    /// # Errors
    /// The error of a job that could not be computed. A bad signature is not an error here.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn verified(&self, index: usize) -> Result<bool, JobError> {
        match self.get(index) {
            Ok(_) => Ok(true),
            Err(JobError::Rejected) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the share of these jobs in the engines' time for the batches that they were computed in. Zero for jobs
    /// of [`run_all`](crate::Accelerator::run_all) and of held keys.
    #[must_use]
    pub fn engine_time(&self) -> Duration {
        self.engine_time
    }

    pub(super) fn add_engine_time(&mut self, time: Duration) {
        self.engine_time += time;
    }

    /// Takes the only answer out. Its bytes are moved, so no copy of a secret stays behind.
    pub(super) fn into_single(mut self) -> Result<AnswerBytes, JobError> {
        let span = self.results.first().cloned().unwrap_or(Err(JobError::Cancelled))?;
        let mut bytes = AnswerBytes::new(std::mem::take(&mut self.bytes));
        // Only the answer of a composite has something before it: those of its components, which are no secrets.
        bytes.truncate(span.range().end);
        bytes.drain(..span.range().start);
        Ok(bytes)
    }

    /// Returns the answers in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Result<&[u8], JobError>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Returns the answers one behind the other.
    ///
    /// # Errors
    /// The first error among the jobs.
    pub fn joined(&self) -> Result<AnswerBytes, JobError> {
        let parts = self.iter().collect::<Result<Vec<_>, _>>()?;
        // Allocated once, so that no copy of a secret stays behind.
        Ok(AnswerBytes::new(parts.concat()))
    }

    /// Makes room for the two answers of which that at `index` will consist. Returns the index of the first.
    pub(super) fn split(&mut self, index: usize) -> usize {
        let first = self.results.len();
        self.results.extend([Err(JobError::Cancelled), Err(JobError::Cancelled)]);
        self.composites.push((index, first));
        first
    }

    /// Joins the answers of the components of composites. A composite with a bad component has the error of the first
    /// one.
    pub(super) fn join_composites(&mut self) {
        let Some((_, jobs)) = self.composites.first().copied() else { return };
        for (index, first) in std::mem::take(&mut self.composites) {
            let parts = [self.results[first].clone(), self.results[first + 1].clone()];
            let start = self.bytes.len();
            self.results[index] = parts.into_iter().collect::<Result<Vec<_>, _>>().and_then(|parts| {
                reserve_erasing(&mut self.bytes, parts.iter().map(|part| part.range().len()).sum());
                parts.iter().for_each(|part| self.bytes.extend_from_within(part.range()));
                span(start, self.bytes.len())
            });
        }
        self.results.truncate(jobs);
    }

    pub(super) fn refuse(&mut self, index: usize, error: JobError) {
        self.results[index] = Err(error);
    }

    /// Turns a raw result into the answer of the job at `index`.
    pub(super) fn finish(&mut self, index: usize, finisher: Finisher, raw: Result<&[u8], JobError>) {
        let start = self.bytes.len();
        self.results[index] =
            finish(finisher, raw, &mut self.bytes).and_then(|_| span(start, self.bytes.len()));
    }

    /// Takes the whole answer of a holder.
    pub(super) fn take(&mut self, index: usize, answer: Result<&[u8], JobError>) {
        let start = self.bytes.len();
        self.results[index] = answer.and_then(|bytes| {
            // A vector that grows by itself would leave earlier answers in freed memory.
            reserve_erasing(&mut self.bytes, bytes.len());
            self.bytes.extend_from_slice(bytes);
            span(start, self.bytes.len())
        });
    }

    pub(super) fn reserve(&mut self, bytes: usize) {
        reserve_erasing(&mut self.bytes, bytes);
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        erase(&mut self.bytes);
    }
}

fn span(start: usize, end: usize) -> Result<Span, JobError> {
    Span::new(start, end - start).ok_or(JobError::Malformed { what: "the answers of one call exceed 4 GiB" })
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.results.iter().filter(|result| result.is_ok()).count();
        write!(f, "Answers({done} of {} done)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_end_within_four_gibibytes() {
        let max = u32::MAX as usize;
        assert!(span(max - 8, max).is_ok_and(|span| span.range() == (max - 8..max)));
        assert!(matches!(span(max - 8, max + 1), Err(JobError::Malformed { .. })));
    }
}
