//! What the suites run on.

use oarlock::selftest::representative;
use oarlock::{Accelerator, Job, SubmitOptions, schemes};
use oarlock_core::{Engine, JobError, Jobs, Outcomes, Records, Shape};

use crate::{Report, differential, edges, official, seams};

/// Whatever computes whole jobs and records: one engine, or engines behind a dispatcher.
pub trait Unit {
    /// True where jobs of `shape` can be computed.
    fn offers(&self, shape: Shape) -> bool;

    /// Computes jobs of any schemes; results in their order, empty for verifications.
    fn jobs(&self, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>>;

    /// Computes records of one shape.
    ///
    /// # Errors
    /// Where the batch as a whole was not computed.
    fn records(&self, shape: Shape, records: &Records<'static>) -> Result<Outcomes, JobError>;
}

/// One engine alone.
#[derive(Clone, Copy, Debug)]
pub struct OnEngine<'e>(pub &'e dyn Engine);

impl Unit for OnEngine<'_> {
    fn offers(&self, shape: Shape) -> bool {
        self.0.offers(shape).is_some()
    }

    fn jobs(&self, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>> {
        schemes::compute_on(self.0, jobs)
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
impl Unit for Accelerator {
    /// As its self tests found, by the shape that stands for all of its kind.
    fn offers(&self, shape: Shape) -> bool {
        let is_same = |own: Shape| match (own, shape) {
            (Shape::Translate { .. }, Shape::Translate { .. }) => true,
            _ => own == representative(shape),
        };
        let mut proved = self.engines().iter().flat_map(|engine| &engine.shapes);
        proved.any(|own| is_same(own.shape) && own.verdict.is_ok())
    }

    fn jobs(&self, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>> {
        self.run_all(jobs).iter().map(|answer| answer.map(<[u8]>::to_vec)).collect()
    }

    fn records(&self, shape: Shape, records: &Records<'static>) -> Result<Outcomes, JobError> {
        self.run_records(shape, records)
    }
}

/// Engines behind a dispatcher, through its queue and workers.
#[derive(Clone, Copy, Debug)]
pub struct Queued<'a>(pub &'a Accelerator);

impl Unit for Queued<'_> {
    fn offers(&self, shape: Shape) -> bool {
        self.0.offers(shape)
    }

    fn jobs(&self, jobs: &[Job<'_>]) -> Vec<Result<Vec<u8>, JobError>> {
        let answers = self.0.submit_many(jobs, SubmitOptions::default()).wait();
        answers.iter().map(|answer| answer.map(<[u8]>::to_vec)).collect()
    }

    fn records(&self, shape: Shape, records: &Records<'static>) -> Result<Outcomes, JobError> {
        let ticket = self.0.submit_records(shape, records.clone(), SubmitOptions::default())?;
        let results = ticket.wait();
        if results.outcomes().parts() == 0 {
            return Err(results.get(0).err().unwrap_or(JobError::Cancelled));
        }
        Ok(results.into_outcomes())
    }
}

/// Everything an engine must pass: official vectors, batch seams and agreement with the referee. Shapes that it does
/// not offer are skipped, and the report says so.
#[must_use]
pub fn stamp(engine: &dyn Engine, referee: &dyn Engine) -> Report {
    let mut report = official::run(&OnEngine(engine));
    report.append(seams::run(engine, referee));
    report.append(differential::run(engine, referee));
    report.append(edges::run(engine, referee));
    report
}
