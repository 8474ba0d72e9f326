//! The units that the suites test: engines, alone or behind a dispatcher.

use oarlock::engine_api::schemes;
use oarlock::engine_api::selftest::representative;
use oarlock::{Accelerator, Job, SubmitOptions};
use oarlock_core::{Engine, JobError, Jobs, OperationSet, Outcomes, Records, Shape};

use crate::OperationCase;

/// A unit that computes whole jobs and records: one engine, or engines behind a dispatcher.
pub trait JobRunner {
    /// True if the unit computes jobs of `shape`.
    fn offers(&self, shape: Shape) -> bool;

    /// Computes jobs of any schemes. The results have the order of the jobs; those of verifications are empty.
    fn jobs(&self, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>>;

    /// Computes one raw operation.
    ///
    /// # Errors
    /// The error of the operation's status.
    fn operation(&self, shape: Shape, case: &OperationCase) -> Result<Vec<u8>, JobError>;

    /// Computes records of one shape.
    ///
    /// # Errors
    /// The batch as a whole was not computed.
    fn records(&self, shape: Shape, records: &Records<'static>) -> Result<Outcomes, JobError>;
}

/// One engine alone.
#[derive(Clone, Copy, Debug)]
pub struct EngineRunner<'e>(pub &'e dyn Engine);

impl JobRunner for EngineRunner<'_> {
    fn offers(&self, shape: Shape) -> bool {
        self.0.offers(shape).is_some()
    }

    fn jobs(&self, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>> {
        schemes::compute_on(self.0, jobs)
    }

    fn operation(&self, shape: Shape, case: &OperationCase) -> Result<Vec<u8>, JobError> {
        let operations = [case.operation(shape)?];
        let jobs = Jobs::Operations(shape, &operations);
        let mut outcomes = Outcomes::for_jobs(&jobs);
        let run = self.0.run(&jobs, &mut outcomes);
        run.map_err(|fault| JobError::EngineFailed { shape, reason: fault.to_string() })?;
        schemes::raw_result(&outcomes, 0, shape).map(<[u8]>::to_vec)
    }

    fn records(&self, shape: Shape, records: &Records<'static>) -> Result<Outcomes, JobError> {
        let parts = [records];
        let jobs = Jobs::Records(shape, &parts);
        let mut outcomes = Outcomes::for_jobs(&jobs);
        let run = self.0.run(&jobs, &mut outcomes);
        run.map_err(|fault| JobError::EngineFailed { shape, reason: fault.to_string() })?;
        Ok(outcomes)
    }
}

/// Engines behind a dispatcher, in full batches on the calling thread.
impl JobRunner for Accelerator {
    /// Returns the verdict of the self test of the shape's representative.
    fn offers(&self, shape: Shape) -> bool {
        let is_same = |offered: Shape| match (offered, shape) {
            (Shape::Translate { .. }, Shape::Translate { .. }) => true,
            _ => offered == representative(shape),
        };
        let mut proved = self.engines().iter().flat_map(|engine| &engine.shapes);
        proved.any(|report| is_same(report.shape) && report.verdict.is_ok())
    }

    fn jobs(&self, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>> {
        self.run_all(jobs).iter().map(|answer| answer.map(<[u8]>::to_vec)).collect()
    }

    fn operation(&self, shape: Shape, case: &OperationCase) -> Result<Vec<u8>, JobError> {
        self.raw().run(&set_of_one(shape, case)?).get(0).map(<[u8]>::to_vec)
    }

    fn records(&self, shape: Shape, records: &Records<'static>) -> Result<Outcomes, JobError> {
        self.records().run(shape, records)
    }
}

/// Engines behind a dispatcher, through its queue and workers.
#[derive(Clone, Copy, Debug)]
pub struct QueueRunner<'a>(pub &'a Accelerator);

impl JobRunner for QueueRunner<'_> {
    fn offers(&self, shape: Shape) -> bool {
        self.0.offers(shape)
    }

    fn jobs(&self, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>> {
        let answers = self.0.submit_many(jobs, SubmitOptions::default()).wait();
        answers.iter().map(|answer| answer.map(<[u8]>::to_vec)).collect()
    }

    fn operation(&self, shape: Shape, case: &OperationCase) -> Result<Vec<u8>, JobError> {
        let ticket = self.0.raw().submit(set_of_one(shape, case)?, SubmitOptions::default())?;
        ticket.wait().get(0).map(<[u8]>::to_vec)
    }

    fn records(&self, shape: Shape, records: &Records<'static>) -> Result<Outcomes, JobError> {
        let ticket = self.0.records().submit(shape, records.clone(), SubmitOptions::default())?;
        let results = ticket.wait();
        if results.outcomes().parts() == 0 {
            return Err(results.get(0).err().unwrap_or(JobError::Cancelled));
        }
        Ok(results.into_outcomes())
    }
}

fn set_of_one(shape: Shape, case: &OperationCase) -> Result<OperationSet, JobError> {
    let operation = case.operation(shape)?;
    let mut set = OperationSet::new(shape);
    set.push(operation.key, operation.input, operation.extra)?;
    Ok(set)
}
