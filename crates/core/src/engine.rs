//! Engines: units that compute raw shapes with keys in this process.

use std::fmt::Debug;

use crate::{Jobs, Outcomes, Shape};

/// A unit that computes raw shapes. Its crate's `detect()` is the only constructor and holds the CPU or device token.
pub trait Engine: Debug + Send + Sync {
    /// A short stable name: `scalar`, `lanes`.
    fn name(&self) -> &'static str;

    /// Best and largest number of jobs per run for `shape`, or None where it is not offered.
    fn offers(&self, shape: Shape) -> Option<BatchSize>;

    /// True where results of `shape` are confirmed inside (AWS-LC confirms RSA), so that release need not repeat it.
    fn confirms(&self, shape: Shape) -> bool;

    /// Whether a batch is computed on the calling core or handed to a device.
    fn location(&self) -> EngineLocation {
        EngineLocation::Near
    }

    /// What it has built for keys that recur, such as verification tables.
    fn table_usage(&self) -> TableUsage {
        TableUsage::default()
    }

    /// Waits until nothing is being built in the background: for those who measure or test what comes after.
    fn wait_for_tables(&self) {}

    /// Drops what it has built for keys that recur, right or wrong.
    fn drop_tables(&self) {}

    /// Computes every job of the batch into `out`, each with its own status; a job that is not done leaves zeros in its
    /// place. Operations are well-formed ([`Operation::check`](crate::Operation::check)) and columns complete
    /// ([`Records::is_complete`](crate::Records::is_complete)); values may be out of range and records malformed, which is
    /// that job's status and no fault.
    ///
    /// # Errors
    /// The engine itself failed: the batch is run again elsewhere, whatever `out` holds.
    fn run(&self, jobs: &Jobs<'_>, out: &mut Outcomes) -> Result<(), EngineFault>;
}

/// How many jobs an engine takes per run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchSize {
    /// Jobs that fill the engine once: cost grows in steps of this.
    pub preferred: usize,
    /// The most jobs it takes in one run.
    pub max: usize,
}

/// What an engine has built for keys that recur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUsage {
    /// Bytes that it takes now.
    pub bytes: usize,
    /// Bytes that it may take.
    pub max_bytes: usize,
}

/// Where an engine computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineLocation {
    /// On the thread that calls it.
    Near,
    /// On a device across a bus: it is offered only the backlog that the CPU cannot finish in time.
    Far,
}

/// An engine, not a job, has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineFault {
    /// It was asked for a shape that it does not offer.
    #[error("{engine} does not offer {shape}")]
    NotOffered {
        /// The engine's name.
        engine: &'static str,
        /// The shape.
        shape: Shape,
    },
    /// The device or library under it failed.
    #[error("{engine}: {reason}")]
    Failed {
        /// The engine's name.
        engine: &'static str,
        /// What failed, without any key material.
        reason: String,
    },
}
