//! The whole suite on one engine.

use oarlock_core::Engine;

use crate::{EngineRunner, SuiteReport, differential, edges, official, seams};

/// Tests an engine with everything that it must pass: official vectors, batch seams and agreement with the referee. The
/// report counts shapes that the engine does not offer as skipped.
#[must_use]
pub fn stamp(engine: &dyn Engine, referee: &dyn Engine) -> SuiteReport {
    let mut report = official::run(&EngineRunner(engine));
    report.append(seams::run(engine, referee));
    report.append(differential::run(engine, referee));
    report.append(edges::run(engine, referee));
    report
}
