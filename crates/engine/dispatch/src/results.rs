//! The answers of a submission.

use std::time::Duration;

use oarlock_core::{JobError, Outcomes, Shape, Status};

/// Answers of a submission, in its order. Buffers are zeroized on drop.
#[derive(Debug)]
pub struct Results {
    pub(crate) shape: Option<Shape>,
    pub(crate) len: usize,
    pub(crate) unanswered: JobError,
    pub(crate) outcomes: Outcomes,
    pub(crate) held: Vec<Option<Result<Vec<u8>, JobError>>>,
    /// By index.
    pub(crate) errors: Vec<(u32, JobError)>,
    pub(crate) engine_ns: f64,
}

/// Sorts errors by job. Batches of one submission may end in any order.
pub(crate) fn sort_errors(mut errors: Vec<(u32, JobError)>) -> Vec<(u32, JobError)> {
    errors.sort_unstable_by_key(|(at, _)| *at);
    errors
}

impl Results {
    /// Returns the answers of a submission of which every job was computed or has an error.
    pub(crate) fn complete(shape: Shape, outcomes: Outcomes, errors: Vec<(u32, JobError)>) -> Self {
        let len = outcomes.len();
        let errors = sort_errors(errors);
        Self {
            shape: Some(shape),
            len,
            unanswered: unconfirmed_error(shape),
            outcomes,
            held: Vec::new(),
            errors,
            engine_ns: 0.0,
        }
    }

    /// Returns the same error for each of `len` jobs.
    pub(crate) fn refused(len: usize, error: JobError) -> Self {
        let outcomes = Outcomes::default();
        let (held, errors) = (Vec::new(), Vec::new());
        Self { shape: None, len, unanswered: error, outcomes, held, errors, engine_ns: 0.0 }
    }

    /// Returns the number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there was no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the result of the operation or held job at `index`. The bytes of a successful verification are empty.
    /// For records the answer is their status only; their bytes are in [`Results::outcomes`].
    ///
    /// # Errors
    /// The reason why this job has no result.
    pub fn get(&self, index: usize) -> Result<&[u8], JobError> {
        if let Some(answer) = self.held.get(index) {
            return match answer {
                Some(result) => result.as_deref().map_err(Clone::clone),
                None => Err(self.unanswered.clone()),
            };
        }
        // Few jobs have errors, so they are kept in a sorted list and not beside each result.
        if let Ok(position) = self.errors.binary_search_by_key(&index, |(at, _)| *at as usize) {
            return Err(self.errors[position].1.clone());
        }
        let (Some(shape), Some(status)) = (self.shape, self.outcomes.statuses().get(index)) else {
            return Err(self.unanswered.clone());
        };
        match status {
            Status::Done => Ok(if shape.is_record() { &[] } else { self.outcomes.result(index) }),
            Status::Pending => Err(self.unanswered.clone()),
            status => Err(status.error(shape).unwrap_or(JobError::Rejected)),
        }
    }

    /// Returns the share of these jobs in the engines' time for their batches. Zero for those of
    /// [`run_all`](crate::Dispatcher::run_all), held jobs and tasks.
    #[must_use]
    pub fn engine_time(&self) -> Duration {
        Duration::from_nanos(self.engine_ns as u64)
    }

    /// Returns the raw outcome: statuses and buffers. Records are read from it.
    #[must_use]
    pub fn outcomes(&self) -> &Outcomes {
        &self.outcomes
    }

    /// Takes the raw outcome.
    #[must_use]
    pub fn into_outcomes(self) -> Outcomes {
        self.outcomes
    }
}

/// Returns the error of a job whose result did not pass the release checks.
pub(crate) fn unconfirmed_error(shape: Shape) -> JobError {
    JobError::EngineFailed { shape, reason: "no engine gave a result that could be confirmed".into() }
}
