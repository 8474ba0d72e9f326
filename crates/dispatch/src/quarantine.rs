//! Engines in quarantine. An engine returns after it has passed a probe with known answers.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock_core::Shape;

use crate::metrics::count;
use crate::queue::Nanos;
use crate::state::{DispatchState, REFEREE};

/// The longest wait between two probes.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// An engine that is not used at present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// The engine's name.
    pub engine: &'static str,
    /// The shape for which it lost a dispute, or None after a fault or a hang.
    pub shape: Option<Shape>,
    /// The reason: a fault, a hang or a lost dispute.
    pub reason: String,
}

/// The list of engines in quarantine.
#[derive(Debug, Default)]
pub(crate) struct QuarantineList(Mutex<Vec<QuarantineEntry>>);

#[derive(Clone, Debug)]
struct QuarantineEntry {
    engine: usize,
    shape: Option<Shape>,
    reason: String,
    probe_at: Nanos,
    wait: Duration,
    is_probing: bool,
}

impl QuarantineList {
    fn lock(&self) -> MutexGuard<'_, Vec<QuarantineEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time of the next probe.
    pub(crate) fn next_probe(&self) -> Option<Nanos> {
        self.lock().iter().filter(|entry| !entry.is_probing).map(|entry| entry.probe_at).min()
    }
}

impl DispatchState {
    /// Puts an engine into quarantine, for one shape or for all. The referee stays in service because no engine can
    /// replace it.
    pub(crate) fn quarantine(&self, engine: usize, shape: Option<Shape>, reason: &str) {
        if engine == REFEREE {
            return;
        }
        let mut entries = self.quarantine.lock();
        if entries.iter().any(|entry| (entry.engine, entry.shape) == (engine, shape)) {
            return;
        }
        count(&self.metrics.quarantines, 1);
        let wait = self.config().probe_after;
        let probe_at = self.now().saturating_add(wait.as_nanos() as u64);
        entries.push(QuarantineEntry {
            engine,
            shape,
            reason: reason.to_owned(),
            probe_at,
            wait,
            is_probing: false,
        });
        self.publish(&entries, engine);
        drop(entries);
        self.timers.wake();
    }

    /// Lists the engines in quarantine.
    pub(crate) fn list_quarantined(&self) -> Vec<Quarantined> {
        let entries = self.quarantine.lock();
        let list = entries.iter().map(|entry| Quarantined {
            engine: self.engine(entry.engine).name(),
            shape: entry.shape,
            reason: entry.reason.clone(),
        });
        list.collect()
    }

    /// Starts the probes that are due. Each runs on its own thread because the engine may hang again.
    pub(crate) fn start_probes(self: &Arc<Self>) {
        for entry in self.take_due(self.now()) {
            let dispatch = Arc::clone(self);
            let own = entry.clone();
            if !self.threads.start_probe(self, move || dispatch.probe(&own)) {
                self.note_probe(&entry, false);
            }
        }
    }

    /// Probes every engine in quarantine now, on this thread.
    pub(crate) fn probe_all(&self) {
        for entry in self.take_due(Nanos::MAX) {
            self.probe(&entry);
        }
    }

    fn take_due(&self, now: Nanos) -> Vec<QuarantineEntry> {
        let mut entries = self.quarantine.lock();
        let due = entries.iter_mut().filter(|entry| !entry.is_probing && entry.probe_at <= now);
        due.map(|entry| {
            entry.is_probing = true;
            entry.clone()
        })
        .collect()
    }

    fn probe(&self, entry: &QuarantineEntry) {
        count(&self.metrics.probes, 1);
        let engine = self.engine(entry.engine);
        let probe = std::panic::AssertUnwindSafe(|| (self.blueprint.prober)(engine, entry.shape));
        let is_well = std::panic::catch_unwind(probe).unwrap_or(false);
        self.note_probe(entry, is_well);
    }

    fn note_probe(&self, entry: &QuarantineEntry, is_well: bool) {
        let mut entries = self.quarantine.lock();
        let same = |other: &QuarantineEntry| (other.engine, other.shape) == (entry.engine, entry.shape);
        if is_well {
            entries.retain(|other| !same(other));
            self.metrics.returned.fetch_add(1, Ordering::Relaxed);
        }
        let now = self.now();
        for other in entries.iter_mut().filter(|other| same(other)) {
            other.is_probing = false;
            other.wait = (other.wait * 2).min(LONGEST_WAIT);
            other.probe_at = now.saturating_add(other.wait.as_nanos() as u64);
        }
        self.publish(&entries, entry.engine);
    }

    /// Passes an engine's quarantine on to the scheduler. The caller keeps the list locked, so that two changes reach
    /// the scheduler in their order.
    fn publish(&self, entries: &[QuarantineEntry], engine: usize) {
        let own = entries.iter().filter(|entry| entry.engine == engine).map(|entry| entry.shape).collect();
        self.lock().scheduler.set_quarantine(engine, own);
        self.wake_all();
    }
}
