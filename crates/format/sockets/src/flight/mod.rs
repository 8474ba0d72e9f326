//! Records of many connections in one batch.

mod batches;
mod opening;
mod sealing;

pub use self::opening::{OpenFlight, OpenedFlight, PlannedRecord};
pub use self::sealing::{Flight, Sealed};
