//! The suite that stamps every engine, written once.
//!
//! ```no_run
//! # fn passes(engine: &dyn oarlock_core::Engine, referee: &dyn oarlock_core::Engine) {
//! oarlock_vectors::stamp(engine, referee).assert_clean();
//! # }
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`official`] | every Wycheproof file of our shapes, through a [`Unit`]: an engine, or whatever runs jobs |
//! | `seams` | batches of 0, 1, L-1, L, L+1 and 2L-1 jobs with one bad job at every place, which fails alone |
//! | `differential` | random keys, lengths and flaws: an engine agrees with the referee |
//! | [`edges`] | values at which arithmetic turns, beside them and beyond: an engine agrees with the referee |
//! | `report` | counts per file: passed, skipped with the reason, failed |
#![forbid(unsafe_code)]

mod dice;
mod differential;
pub mod edges;
mod job_cases;
pub mod official;
mod operation_case;
mod record_cases;
mod report;
mod seams;
mod unit;

pub use operation_case::OperationCase;
pub use report::{FileReport, Report};
pub use unit::{OnEngine, Queued, Unit, stamp};
