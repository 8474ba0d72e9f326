//! Faults of this engine.

use oarlock_core::{EngineFault, Shape};

/// The name of the engine.
pub(crate) const NAME: &str = "lanes";

/// Returns a fault with a fixed reason.
pub(crate) fn engine_failure(reason: &str) -> EngineFault {
    EngineFault::Failed { engine: NAME, reason: reason.into() }
}

/// Returns the fault for a shape that this engine does not compute.
pub(crate) fn not_offered(shape: Shape) -> EngineFault {
    EngineFault::NotOffered { engine: NAME, shape }
}
