//! What the suites run on.

use oarlock::{Job, schemes};
use oarlock_core::{Engine, JobError, Jobs, Outcomes, Records, Shape};

use crate::{Report, differential, official, seams};

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

/// Everything an engine must pass: official vectors, batch seams and agreement with the referee. Shapes that it does
/// not offer are skipped, and the report says so.
#[must_use]
pub fn stamp(engine: &dyn Engine, referee: &dyn Engine) -> Report {
    let mut report = official::run(&OnEngine(engine));
    report.append(seams::run(engine, referee));
    report.append(differential::run(engine, referee));
    report
}
