//! Engines: units that compute raw shapes with keys in this process.

use std::fmt::Debug;

use crate::{Jobs, Outcomes, Shape};

/// A unit that computes raw shapes in this process.
///
/// The `detect()` of its crate is the only constructor, and the value holds the token of the CPU features or of the
/// device.
pub trait Engine: Debug + Send + Sync {
    /// Returns a short stable name: `scalar`, `lanes`.
    fn name(&self) -> &'static str;

    /// Returns the preferred and the largest number of jobs per run for `shape`, or `None` if the engine does not
    /// offer it.
    fn offers(&self, shape: Shape) -> Option<BatchSize>;

    /// True if the engine confirms results of `shape` itself, so that the release need not repeat it. AWS-LC does so
    /// for RSA.
    fn confirms(&self, shape: Shape) -> bool;

    /// Returns the place where batches are computed: the calling core or a device.
    fn location(&self) -> EngineLocation {
        EngineLocation::Near
    }

    /// Returns the group of instructions by which a shape is computed, or `None` if the engine has one way only or does
    /// not offer the shape.
    fn leaf(&self, _shape: Shape) -> Option<EngineLeaf> {
        None
    }

    /// Returns the memory used for keys that recur, such as verification tables.
    fn table_usage(&self) -> TableUsage {
        TableUsage::default()
    }

    /// Waits until nothing is being built in the background. Tests and measurements need this.
    fn wait_for_tables(&self) {}

    /// Drops everything that was built for keys that recur, right or wrong.
    fn drop_tables(&self) {}

    /// Computes every job of the batch into `out`, and gives each job its own status.
    ///
    /// The caller guarantees that operations were made for the shape of `jobs`
    /// ([`Operation::fits`](crate::Operation::fits)) and that columns are complete
    /// ([`Records::is_complete`](crate::Records::is_complete)). Values may be out of range and records malformed:
    /// that is the status of the one job and no fault of the engine.
    ///
    /// The engine writes [`Status::Done`](crate::Status::Done) only after the result is in `out`. A job that is not
    /// done leaves zeros in the place of its result. The dispatcher takes a job that is still
    /// [`Status::Pending`](crate::Status::Pending) as work that the engine has skipped.
    ///
    /// # Errors
    /// The engine itself failed. The batch is then run again on another engine, and the content of `out` is ignored.
    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault>;
}

/// The number of jobs that an engine takes per run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchSize {
    /// The number of jobs that fill the engine once. The cost grows in steps of it.
    pub preferred: usize,
    /// The largest number of jobs in one run.
    pub max: usize,
}

/// The memory that an engine uses for keys that recur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUsage {
    /// The bytes in use now.
    pub bytes: usize,
    /// The largest number of bytes that may be in use.
    pub max_bytes: usize,
}

/// The place where an engine computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineLocation {
    /// The thread that calls it.
    Near,
    /// A device across a bus. It is offered only the backlog that the CPU cannot finish in time.
    Far,
}

/// A failure of an engine, not of a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum EngineFault {
    /// The engine was asked for a shape that it does not offer.
    #[error("{engine} does not offer {shape}")]
    NotOffered {
        /// The engine's name.
        engine: &'static str,
        shape: Shape,
    },
    /// The device or the library below the engine failed.
    #[error("{engine}: {reason}")]
    Failed {
        /// The engine's name.
        engine: &'static str,
        /// The reason, without any key material.
        reason: String,
    },
}

/// The group of instructions by which an engine computes a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineLeaf {
    /// Its short stable name: `avx512`, `aes-ni`.
    pub name: &'static str,
    /// The number of operations that are computed side by side.
    pub width: usize,
    /// The better leaf that does not compute the shape here, and the reason.
    pub better: Option<(&'static str, LeafAbsence)>,
}

/// The reason why a leaf does not compute a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeafAbsence {
    /// The processor lacks the instructions.
    Processor,
    /// The caller has turned the leaf off.
    TurnedOff,
    /// The processor has the instructions, and computes the shape faster without them.
    Slower,
}

impl std::fmt::Display for LeafAbsence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Processor => "not on this processor",
            Self::TurnedOff => "turned off",
            Self::Slower => "slower on this processor",
        })
    }
}
