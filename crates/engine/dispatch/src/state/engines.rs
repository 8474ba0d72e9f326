//! Engines, and their way into quarantine and out of it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oarlock_core::{Engine, Shape};

use super::DispatchState;
use crate::blueprint::REFEREE;
use crate::clock::Nanos;
use crate::metrics::count;
use crate::quarantine::{QuarantineEntry, Quarantined};

impl DispatchState {
    pub(crate) fn engine(&self, engine: usize) -> &dyn Engine {
        self.blueprint.engine(engine)
    }

    /// Puts an engine into quarantine, for one shape or for all. The referee stays in service because no engine can
    /// replace it.
    pub(crate) fn quarantine(&self, engine: usize, shape: Option<Shape>, reason: &str) {
        if engine == REFEREE {
            return;
        }
        let entry = QuarantineEntry::new(engine, shape, reason, self.clock.now(), self.config().probe_after);
        if self.quarantine.add(entry, &self.queues, &self.metrics) {
            // The watchdog sleeps until the next event that it knows, which may be later than the new probe.
            self.timers.wake();
        }
    }

    /// Lists the engines in quarantine.
    pub(crate) fn list_quarantined(&self) -> Vec<Quarantined> {
        self.quarantine.list(|engine| self.engine(engine).name())
    }

    /// Probes every engine in quarantine now, on this thread.
    pub(crate) fn probe_all(&self) {
        for entry in self.quarantine.take_due(Nanos::MAX) {
            self.probe(&entry);
        }
    }

    /// Probes an engine in quarantine, which returns if it passes.
    pub(crate) fn probe(&self, entry: &QuarantineEntry) {
        count(&self.metrics.probes, 1);
        let probe = || (self.blueprint.prober)(self.engine(entry.engine), entry.shape);
        let is_passed = catch_unwind(AssertUnwindSafe(probe)).unwrap_or(false);
        self.end_probe(entry, is_passed);
    }

    /// Ends a probe of an engine in quarantine.
    pub(crate) fn end_probe(&self, entry: &QuarantineEntry, is_passed: bool) {
        self.quarantine.end_probe(entry, is_passed, self.clock.now(), &self.queues, &self.metrics);
    }
}
