//! The test suite of all engines, written once.
//!
//! ```no_run
//! # fn passes(engine: &dyn oarlock_core::Engine, referee: &dyn oarlock_core::Engine) {
//! oarlock_vectors::stamp(engine, referee).assert_clean();
//! # }
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`official`] | every Wycheproof file of our shapes, through a [`JobRunner`]: an engine, or engines behind a dispatcher |
//! | `seams` | batches of 0, 1, L-1, L, L+1 and 2L-1 jobs with one bad job at every position; only the bad job fails |
//! | `differential` | random keys, lengths and flaws: an engine agrees with the referee |
//! | [`edges`] | boundary values of the arithmetic and their neighbours: an engine agrees with the referee |
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
mod runner;
mod seams;
mod stamp;

pub use differential::compare_random_operations;
pub use operation_case::OperationCase;
pub use record_cases::{RecordCase, RecordResult, read_results, to_records};
pub use report::{FileReport, SuiteReport};
pub use runner::{EngineRunner, JobRunner, QueueRunner};
pub use stamp::stamp;
