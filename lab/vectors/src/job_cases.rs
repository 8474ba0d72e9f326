//! Public-key cases and the check of their results.

use oarlock::engine_api::schemes;
use oarlock_core::{JobError, OwnedJob};

use crate::{FileReport, JobRunner};

/// An official case as a job.
pub(crate) struct JobCase {
    /// The name of the case in its file.
    pub(crate) name: String,
    pub(crate) job: OwnedJob,
    pub(crate) expected: ExpectedResult,
}

/// The result that a case must have.
pub(crate) enum ExpectedResult {
    /// This output, which is empty for verifications.
    Output(Vec<u8>),
    /// The error of a bad signature or ciphertext.
    Rejected,
    /// The error of a peer's key of small order.
    SmallOrderPeer,
    /// The error of a peer's key that is not an uncompressed point on the curve.
    PeerNotOnCurve,
    /// The error of a field of the caller that is too long.
    WrongLength,
    /// No error, and any message except this one: implicit rejection.
    AnythingBut(Vec<u8>),
}

/// Runs all cases in one call and checks each result.
pub(crate) fn check_cases(runner: &dyn JobRunner, cases: &[JobCase], report: &mut FileReport) {
    let (mut jobs, mut run_cases) = (Vec::new(), Vec::new());
    for case in cases {
        let job = case.job.as_job();
        match schemes::shape_of(&job) {
            Ok(shape) if !runner.offers(shape) => report.skip(format!("{shape} not offered"), 1),
            _ => {
                jobs.push(job);
                run_cases.push(case);
            }
        }
    }
    let results = runner.jobs(&jobs);
    if results.len() != jobs.len() {
        report.failures.push(format!("{} results for {} jobs", results.len(), jobs.len()));
    }
    for (case, result) in run_cases.iter().zip(&results) {
        report.count(case.verdict(result).map_err(|what| format!("{}: {what}", case.name)));
    }
}

impl JobCase {
    fn verdict(&self, result: &Result<Vec<u8>, JobError>) -> Result<(), String> {
        match (&self.expected, result) {
            (ExpectedResult::Output(expected), Ok(found)) if expected == found => Ok(()),
            (ExpectedResult::Output(_), Ok(_)) => Err("the output differs from the known one".into()),
            (ExpectedResult::Output(_), Err(error)) => Err(format!("rejected: {error}")),
            (ExpectedResult::Rejected, Err(JobError::Rejected))
            | (ExpectedResult::SmallOrderPeer, Err(JobError::SmallOrderPeer))
            | (ExpectedResult::PeerNotOnCurve, Err(JobError::PeerNotOnCurve))
            | (ExpectedResult::WrongLength, Err(JobError::Length { .. })) => Ok(()),
            (
                ExpectedResult::Rejected
                | ExpectedResult::SmallOrderPeer
                | ExpectedResult::PeerNotOnCurve
                | ExpectedResult::WrongLength,
                Ok(_),
            ) => Err("accepted".into()),
            (
                ExpectedResult::Rejected
                | ExpectedResult::SmallOrderPeer
                | ExpectedResult::PeerNotOnCurve
                | ExpectedResult::WrongLength,
                Err(error),
            ) => Err(format!("wrong error: {error}")),
            (ExpectedResult::AnythingBut(secret), Ok(found)) if secret != found => Ok(()),
            (ExpectedResult::AnythingBut(_), Ok(_)) => Err("a badly padded message was returned".into()),
            (ExpectedResult::AnythingBut(_), Err(error)) => {
                Err(format!("an error reveals the bad padding: {error}"))
            }
        }
    }
}
