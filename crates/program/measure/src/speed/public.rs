//! Public-key work for `oarlock speed`.

use std::hint::black_box;

use oarlock::Outcomes;
use oarlock::engine_api::schemes::{NonceSource, ShapedJob, prepare, shape_of};
use oarlock::engine_api::{Engine, Jobs, OperationSet};
use oarlock::{Accelerator, Input, Job, JobError, Scheme};

use super::error::SpeedError;
use super::measure::SpeedContender;
use crate::operation::PublicKeyWork;

/// The accelerator, from digest to encoded result, with `batch` jobs per call.
pub(crate) struct AcceleratorJobs<'a> {
    pub(crate) accelerator: &'a Accelerator,
    pub(crate) op: &'a str,
    pub(crate) jobs: Vec<Job<'a>>,
    pub(crate) batch: usize,
    pub(crate) at: usize,
}

impl SpeedContender for AcceleratorJobs<'_> {
    fn run(&mut self) -> Result<usize, SpeedError> {
        let batch = self.batch.min(self.jobs.len());
        if self.at + batch > self.jobs.len() {
            self.at = 0;
        }
        let answers = black_box(self.accelerator.run_all(&self.jobs[self.at..self.at + batch]));
        self.at += batch;
        match answers.iter().find_map(Result::err) {
            Some(error) => Err(SpeedError::Job { op: self.op.to_owned(), error }),
            None => Ok(batch),
        }
    }
}

/// An engine called bare with raw operations, one at a time.
pub(crate) struct BareOperations<'a> {
    engine: &'a dyn Engine,
    op: &'a str,
    set: OperationSet,
    outcomes: Outcomes,
    batch: usize,
    at: usize,
}

impl<'a> BareOperations<'a> {
    /// Lowers the jobs once, so that only the engine is measured.
    pub(crate) fn new(
        engine: &'a dyn Engine,
        op: &'a str,
        jobs: &[Job<'_>],
        batch: usize,
    ) -> Result<Self, JobError> {
        let first = jobs.first().ok_or(JobError::Malformed { what: "there are no jobs" })?;
        let mut set = OperationSet::new(shape_of(first)?);
        let mut nonces = NonceSource::for_jobs(jobs.len());
        for job in jobs {
            prepare(&ShapedJob::new(job)?, &mut set, &mut nonces)?;
        }
        Ok(Self { engine, op, set, outcomes: Outcomes::default(), batch, at: 0 })
    }
}

impl SpeedContender for BareOperations<'_> {
    fn run(&mut self) -> Result<usize, SpeedError> {
        for _ in 0..self.batch {
            let single = self.set.get(self.at);
            let jobs = Jobs::Operations(self.set.shape(), single.as_slice());
            self.outcomes.reset(&jobs);
            let ran = self.engine.run(&jobs, &mut self.outcomes);
            ran.map_err(|error| SpeedError::Bare { op: self.op.to_owned(), error })?;
            self.at = (self.at + 1) % self.set.len();
        }
        Ok(self.batch)
    }
}

/// True if a peer's result for an item is right: it equals Oarlock's, or Oarlock verifies it if it has a nonce.
pub(crate) fn is_right(accelerator: &Accelerator, work: &PublicKeyWork, item: usize, output: &[u8]) -> bool {
    let Some(job) = work.job(item) else { return false };
    if job.scheme.is_verification() {
        return output == [1];
    }
    let answers = match job.scheme {
        Scheme::EcdsaSign { curve, digest, encoding, .. } => {
            let scheme = Scheme::EcdsaVerify { curve, digest, encoding };
            let input: Input<'_> = job.input;
            return accelerator.run_all(&[Job::with_scheme(scheme, job.key, input, output)]).get(0).is_ok();
        }
        Scheme::MlDsaSign { set, variant, .. } => {
            let scheme = Scheme::MlDsaVerify { set, variant };
            return accelerator
                .run_all(&[Job::with_scheme(scheme, job.key, job.input, output)])
                .get(0)
                .is_ok();
        }
        Scheme::SlhDsaSign { set, pre_hash, .. } => {
            let scheme = Scheme::SlhDsaVerify { set, pre_hash };
            return accelerator
                .run_all(&[Job::with_scheme(scheme, job.key, job.input, output)])
                .get(0)
                .is_ok();
        }
        // Random, so that only the ciphertext leads to the secret again.
        Scheme::MlKemEncaps { set } => {
            let Some((ciphertext, secret)) = output.split_at_checked(set.ciphertext_len()) else {
                return false;
            };
            let again = accelerator.run_all(&[Job::decapsulate(job.key, ciphertext)]);
            return again.get(0).is_ok_and(|found| found == secret);
        }
        _ => accelerator.run_all(&[job]),
    };
    answers.get(0).is_ok_and(|ours| ours == output)
}
