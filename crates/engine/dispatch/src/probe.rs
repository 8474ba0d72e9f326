//! Requests to probe engines for a shape, and what is known of a queue's engines.

use oarlock_core::Shape;

/// The engines that have been probed for the shape of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeState {
    Nobody,
    Referee,
    All,
}

/// The probes that are needed before so many operations can be placed.
#[derive(Debug)]
pub(crate) enum ProbeNeed {
    /// No probe: enough is known.
    Known,
    /// These probes, which the caller must run.
    Probe(ProbeRequest),
    /// The probes that another thread runs now.
    Wait,
}

/// The engines to be probed for a shape.
#[derive(Debug)]
pub(crate) struct ProbeRequest {
    pub(crate) queue: usize,
    pub(crate) shape: Shape,
    pub(crate) engines: Vec<usize>,
    /// The state of the queue afterwards.
    pub(crate) then: ProbeState,
}
