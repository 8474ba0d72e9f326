//! Probes of engines at the first use of a shape. A probe runs the self test of the shape and measures its cost,
//! which takes long.
//!
//! A worker that finds a job of an unknown shape runs the probes while the job waits in its queue. A caller that
//! computes on its own thread runs them there. Probes run without the lock, and on one thread at a time for each
//! shape. For a single job only the referee is probed. The other engines are probed once two jobs wait together, or one
//! of a long shape.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{MutexGuard, PoisonError};

use oarlock_core::{EngineLocation, Shape};

use super::{QueueState, SharedQueues};
use crate::class::shortest_of;
use crate::probe::{ProbeNeed, ProbeRequest};
use crate::queue::EngineChoice;

impl SharedQueues {
    /// Locks the state and finds the queue of a shape. Enough is then known of the shape to place `ops` operations.
    /// The queue is None if no engine offers the shape. If engines must be probed, this thread does it or waits for
    /// the thread that does.
    pub(crate) fn lock_for(&self, shape: Shape, ops: usize) -> (MutexGuard<'_, QueueState>, Option<usize>) {
        let mut state = self.lock();
        loop {
            // Looked up again in each round: while the lock was open, another shape may have replaced the queue.
            let Some(queue) = self.queue_of(&mut state, shape) else { return (state, None) };
            match state.scheduler.need_probe(queue, ops) {
                ProbeNeed::Known => return (state, Some(queue)),
                ProbeNeed::Wait => {
                    state = self.probe_done.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                ProbeNeed::Probe(request) => {
                    drop(state);
                    self.run_probe(&request);
                    state = self.lock();
                }
            }
        }
    }

    /// Probes engines, adds those that offer the shape, and wakes every thread that waited for that.
    pub(crate) fn run_probe(&self, request: &ProbeRequest) {
        let choices = request.engines.iter().filter_map(|engine| self.probe_engine(*engine, request.shape));
        let choices: Vec<EngineChoice> = choices.collect();
        // The index in the request is still right: a queue is not replaced while it is being probed.
        self.lock().scheduler.add_choices(request, choices);
        self.probe_done.notify_all();
        self.wake_all();
    }

    /// Probes one engine. Returns None if it panics or does not offer every shape of the class.
    fn probe_engine(&self, index: usize, shape: Shape) -> Option<EngineChoice> {
        let engine = self.blueprint.engine(index);
        let first_use_probe = self.blueprint.first_use_probe.as_ref()?;
        let probe_engine = || {
            let offer = first_use_probe(engine, shape)?;
            engine.offers(shortest_of(shape)).map(|_| offer)
        };
        // Without the catch, the queue would stay marked as being probed and its jobs would wait for ever.
        let (batch_size, cost) = catch_unwind(AssertUnwindSafe(probe_engine)).ok().flatten()?;
        Some(EngineChoice::new(index, batch_size, cost, engine.location() == EngineLocation::Far))
    }
}
