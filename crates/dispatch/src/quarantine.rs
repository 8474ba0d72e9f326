//! Engines put aside, until a probe with known answers lets them return.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock_core::Shape;

use crate::inner::{Inner, REFEREE};
use crate::metrics::count;
use crate::queue::Nanos;

/// The longest wait between two probes.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// An engine that is not used at present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// The engine's name.
    pub engine: &'static str,
    /// The shape for which it lost a dispute, or None after a fault or a hang.
    pub shape: Option<Shape>,
    /// What it did.
    pub reason: String,
}

/// The list of engines put aside.
#[derive(Debug, Default)]
pub(crate) struct Asides(Mutex<Vec<Entry>>);

#[derive(Clone, Debug)]
struct Entry {
    engine: usize,
    shape: Option<Shape>,
    reason: String,
    probe_at: Nanos,
    wait: Duration,
    is_probing: bool,
}

impl Asides {
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the next probe is due.
    pub(crate) fn next_probe(&self) -> Option<Nanos> {
        self.lock().iter().filter(|entry| !entry.is_probing).map(|entry| entry.probe_at).min()
    }
}

impl Inner {
    /// Puts an engine aside, for one shape or for all. The referee stays in service: nothing could stand in for it.
    pub(crate) fn put_aside(&self, engine: usize, shape: Option<Shape>, reason: &str) {
        if engine == REFEREE {
            return;
        }
        let mut entries = self.asides.lock();
        if entries.iter().any(|entry| (entry.engine, entry.shape) == (engine, shape)) {
            return;
        }
        count(&self.metrics.quarantines, 1);
        let wait = self.config().probe_after;
        let probe_at = self.now().saturating_add(wait.as_nanos() as u64);
        entries.push(Entry { engine, shape, reason: reason.to_owned(), probe_at, wait, is_probing: false });
        self.publish(&entries, engine);
        drop(entries);
        self.timers.wake();
    }

    /// Engines put aside at present.
    pub(crate) fn list_aside(&self) -> Vec<Quarantined> {
        let entries = self.asides.lock();
        let list = entries.iter().map(|entry| Quarantined {
            engine: self.engine(entry.engine).name(),
            shape: entry.shape,
            reason: entry.reason.clone(),
        });
        list.collect()
    }

    /// Starts the probes that are due, each on a thread of its own because the engine may hang again.
    pub(crate) fn start_probes(self: &Arc<Self>) {
        for entry in self.take_due(self.now()) {
            let inner = Arc::clone(self);
            let own = entry.clone();
            if !self.threads.start_probe(self, move || inner.probe(&own)) {
                self.note_probe(&entry, false);
            }
        }
    }

    /// Probes every engine put aside, on this thread and whether due or not.
    pub(crate) fn probe_all(&self) {
        for entry in self.take_due(Nanos::MAX) {
            self.probe(&entry);
        }
    }

    fn take_due(&self, now: Nanos) -> Vec<Entry> {
        let mut entries = self.asides.lock();
        let due = entries.iter_mut().filter(|entry| !entry.is_probing && entry.probe_at <= now);
        due.map(|entry| {
            entry.is_probing = true;
            entry.clone()
        })
        .collect()
    }

    fn probe(&self, entry: &Entry) {
        count(&self.metrics.probes, 1);
        let engine = self.engine(entry.engine);
        let probe = std::panic::AssertUnwindSafe(|| (self.blueprint.prober)(engine, entry.shape));
        let is_well = std::panic::catch_unwind(probe).unwrap_or(false);
        self.note_probe(entry, is_well);
    }

    fn note_probe(&self, entry: &Entry, is_well: bool) {
        let mut entries = self.asides.lock();
        let same = |other: &Entry| (other.engine, other.shape) == (entry.engine, entry.shape);
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

    /// Tells the scheduler what the list says of an engine.
    fn publish(&self, entries: &[Entry], engine: usize) {
        let own = entries.iter().filter(|entry| entry.engine == engine).map(|entry| entry.shape).collect();
        self.lock().scheduler.set_aside(engine, own);
        self.call_all();
    }
}
