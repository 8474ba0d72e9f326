//! Public-key cases and how their answers are judged.

use oarlock::{Input, Job, schemes};
use oarlock_core::{JobError, Key, Scheme};

use crate::{FileReport, Unit};

/// One official case as a job.
pub(crate) struct JobCase {
    /// How the file names it.
    pub(crate) name: String,
    pub(crate) scheme: Scheme,
    pub(crate) key: Key,
    pub(crate) input: OwnedInput,
    pub(crate) second: Vec<u8>,
    pub(crate) expected: Expected,
}

pub(crate) enum OwnedInput {
    Message(Vec<u8>),
    Digest(Vec<u8>),
}

/// What a case must give.
pub(crate) enum Expected {
    /// This output; empty for verifications.
    Output(Vec<u8>),
    /// The error of a bad signature or ciphertext.
    Rejected,
    /// The error of a peer's key of small order.
    SmallOrderPeer,
    /// No error, and anything but this message: implicit rejection.
    AnythingBut(Vec<u8>),
}

/// Runs all cases in one call and judges each.
pub(crate) fn judge(unit: &dyn Unit, cases: &[JobCase], report: &mut FileReport) {
    let (mut jobs, mut asked) = (Vec::new(), Vec::new());
    for case in cases {
        let job = case.job();
        match schemes::shape_of(&job) {
            Ok(shape) if !unit.offers(shape) => report.skip(format!("{shape} not offered"), 1),
            _ => {
                jobs.push(job);
                asked.push(case);
            }
        }
    }
    let results = unit.jobs(&jobs);
    if results.len() != jobs.len() {
        report.failures.push(format!("{} results for {} jobs", results.len(), jobs.len()));
    }
    for (case, result) in asked.iter().zip(&results) {
        report.count(case.verdict(result).map_err(|what| format!("{}: {what}", case.name)));
    }
}

impl JobCase {
    fn job(&self) -> Job<'_> {
        let input = match &self.input {
            OwnedInput::Message(bytes) => Input::Message(bytes),
            OwnedInput::Digest(bytes) => Input::Digest(bytes),
        };
        Job::with_scheme(self.scheme, &self.key, input, &self.second)
    }

    fn verdict(&self, result: &Result<Vec<u8>, JobError>) -> Result<(), String> {
        match (&self.expected, result) {
            (Expected::Output(expected), Ok(found)) if expected == found => Ok(()),
            (Expected::Output(_), Ok(_)) => Err("another output than the known one".into()),
            (Expected::Output(_), Err(error)) => Err(format!("refused: {error}")),
            (Expected::Rejected, Err(JobError::Rejected))
            | (Expected::SmallOrderPeer, Err(JobError::SmallOrderPeer)) => Ok(()),
            (Expected::Rejected | Expected::SmallOrderPeer, Ok(_)) => Err("accepted".into()),
            (Expected::Rejected | Expected::SmallOrderPeer, Err(error)) => {
                Err(format!("wrong error: {error}"))
            }
            (Expected::AnythingBut(secret), Ok(found)) if secret != found => Ok(()),
            (Expected::AnythingBut(_), Ok(_)) => Err("a badly padded message came out".into()),
            (Expected::AnythingBut(_), Err(error)) => Err(format!("the bad padding shows: {error}")),
        }
    }
}
