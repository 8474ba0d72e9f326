//! The answers of a submission.

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
}

/// Errors in the order of their jobs, whatever order their batches ended in.
pub(crate) fn sorted(mut errors: Vec<(u32, JobError)>) -> Vec<(u32, JobError)> {
    errors.sort_unstable_by_key(|(at, _)| *at);
    errors
}

impl Results {
    /// Answers that an engine has given in full.
    pub(crate) fn complete(shape: Shape, outcomes: Outcomes, errors: Vec<(u32, JobError)>) -> Self {
        let len = outcomes.len();
        let errors = sorted(errors);
        Self { shape: Some(shape), len, unanswered: withheld(shape), outcomes, held: Vec::new(), errors }
    }

    /// The same error for every one of `len` jobs.
    pub(crate) fn refused(len: usize, error: JobError) -> Self {
        let outcomes = Outcomes::default();
        Self { shape: None, len, unanswered: error, outcomes, held: Vec::new(), errors: Vec::new() }
    }

    /// Number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True where there was no job.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The result of the operation or held job at `index`: its bytes, empty for a verification that says yes. For
    /// records this is their status only; the bytes are in [`Results::outcomes`].
    ///
    /// # Errors
    /// Why this job has no result.
    pub fn get(&self, index: usize) -> Result<&[u8], JobError> {
        if let Some(answer) = self.held.get(index) {
            return match answer {
                Some(result) => result.as_deref().map_err(Clone::clone),
                None => Err(self.unanswered.clone()),
            };
        }
        if let Ok(place) = self.errors.binary_search_by_key(&index, |(at, _)| *at as usize) {
            return Err(self.errors[place].1.clone());
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

    /// The raw outcome: statuses and buffers, by which records are read.
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

/// What is said of a job whose result did not pass the release checks.
pub(crate) fn withheld(shape: Shape) -> JobError {
    JobError::EngineFailed { shape, reason: "no engine gave a result that could be confirmed".into() }
}
