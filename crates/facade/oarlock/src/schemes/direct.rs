//! Whole jobs on one engine without a dispatcher, for test suites and checks.

use oarlock_core::{Engine, JobError, Jobs, Operation, OperationSet, Outcomes, Shape};

use super::{Finisher, NonceSource, ShapedJob, finish, prepare};
use crate::Job;

/// Computes jobs on `engine` alone, in batches of one shape: no queue, no second engine and no release check.
///
/// The results have the order of the jobs. Those of verifications are empty. The caller zeroizes them.
pub fn compute_on(engine: &dyn Engine, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>> {
    let mut batches: Vec<ShapeBatch> = Vec::new();
    let mut results: Vec<Result<Vec<u8>, JobError>> = Vec::with_capacity(jobs.len());
    let mut random = NonceSource::for_jobs(jobs.len());
    for (index, job) in jobs.iter().enumerate() {
        results.push(Ok(Vec::new()));
        if let Err(error) = ShapeBatch::add(&mut batches, index, job, &mut random) {
            results[index] = Err(error);
        }
    }
    for batch in batches {
        batch.run(engine, &mut results);
    }
    results
}

/// Jobs of one shape with their indices.
struct ShapeBatch {
    set: OperationSet,
    waiting: Vec<(usize, Finisher)>,
}

impl ShapeBatch {
    fn add(
        batches: &mut Vec<Self>,
        index: usize,
        job: &Job<'_>,
        random: &mut NonceSource,
    ) -> Result<(), JobError> {
        let shaped = ShapedJob::new(job)?;
        let shape = shaped.shape();
        let known = batches.iter().position(|batch| batch.set.shape() == shape);
        let at = known.unwrap_or_else(|| {
            batches.push(Self { set: OperationSet::new(shape), waiting: Vec::new() });
            batches.len() - 1
        });
        let finisher = prepare(&shaped, &mut batches[at].set, random)?;
        batches[at].waiting.push((index, finisher));
        Ok(())
    }

    fn run(self, engine: &dyn Engine, results: &mut [Result<Vec<u8>, JobError>]) {
        let shape = self.set.shape();
        let operations: Vec<Operation<'_>> = self.set.iter().collect();
        let max = engine.offers(shape).map_or(1, |lanes| lanes.max.max(1));
        let mut waiting = self.waiting.into_iter();
        for part in operations.chunks(max) {
            let jobs = Jobs::Operations(shape, part);
            let mut outcomes = Outcomes::for_jobs(&jobs);
            let fault = engine.run(&jobs, &mut outcomes).err();
            for (lane, (index, finisher)) in waiting.by_ref().take(part.len()).enumerate() {
                let raw = match &fault {
                    Some(fault) => Err(JobError::EngineFailed { shape, reason: fault.to_string() }),
                    None => raw_result(&outcomes, lane, shape),
                };
                let mut out = Vec::new();
                results[index] = finish(finisher, raw, &mut out).map(|_| out);
            }
        }
    }
}

/// The raw result of the operation at `lane`, or the error of its status.
///
/// # Errors
/// As [`Status::error`](oarlock_core::Status::error).
pub fn raw_result(outcomes: &Outcomes, lane: usize, shape: Shape) -> Result<&[u8], JobError> {
    match outcomes.statuses().get(lane).copied().unwrap_or_default().error(shape) {
        Some(error) => Err(error),
        None => Ok(outcomes.result(lane)),
    }
}
