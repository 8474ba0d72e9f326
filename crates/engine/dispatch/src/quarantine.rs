//! Engines in quarantine. An engine returns after it has passed a probe with known answers.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock_core::Shape;

use crate::clock::Nanos;
use crate::metrics::{Metrics, count};
use crate::shared_queues::SharedQueues;

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
///
/// Every change is passed on to the queues while the list is locked, so that two changes reach the scheduler in their
/// order. The list is therefore locked before the queues.
#[derive(Debug, Default)]
pub(crate) struct QuarantineList(Mutex<Vec<QuarantineEntry>>);

/// An engine in quarantine, and its next probe.
#[derive(Clone, Debug)]
pub(crate) struct QuarantineEntry {
    pub(crate) engine: usize,
    pub(crate) shape: Option<Shape>,
    reason: String,
    probe_at: Nanos,
    wait: Duration,
    is_probing: bool,
}

impl QuarantineEntry {
    /// Returns an entry whose first probe is due `wait` after `now`.
    pub(crate) fn new(engine: usize, shape: Option<Shape>, reason: &str, now: Nanos, wait: Duration) -> Self {
        Self { engine, shape, reason: reason.to_owned(), probe_at: later(now, wait), wait, is_probing: false }
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.engine, self.shape) == (other.engine, other.shape)
    }
}

impl QuarantineList {
    fn lock(&self) -> MutexGuard<'_, Vec<QuarantineEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time of the next probe.
    pub(crate) fn next_probe(&self) -> Option<Nanos> {
        self.lock().iter().filter(|entry| !entry.is_probing).map(|entry| entry.probe_at).min()
    }

    /// Adds an entry. Returns false if the engine is in quarantine for the same shape already.
    pub(crate) fn add(&self, entry: QuarantineEntry, queues: &SharedQueues, metrics: &Metrics) -> bool {
        let mut entries = self.lock();
        if entries.iter().any(|other| other.is_same(&entry)) {
            return false;
        }
        count(&metrics.quarantines, 1);
        let engine = entry.engine;
        entries.push(entry);
        publish(&entries, engine, queues);
        true
    }

    /// Lists the engines in quarantine. `name` returns the name of an engine.
    pub(crate) fn list(&self, name: impl Fn(usize) -> &'static str) -> Vec<Quarantined> {
        let entries = self.lock();
        let list = entries.iter().map(|entry| Quarantined {
            engine: name(entry.engine),
            shape: entry.shape,
            reason: entry.reason.clone(),
        });
        list.collect()
    }

    /// Takes the entries whose probe is due at `now`. They are not due again before [`end_probe`](Self::end_probe).
    pub(crate) fn take_due(&self, now: Nanos) -> Vec<QuarantineEntry> {
        let mut entries = self.lock();
        let due = entries.iter_mut().filter(|entry| !entry.is_probing && entry.probe_at <= now);
        due.map(|entry| {
            entry.is_probing = true;
            entry.clone()
        })
        .collect()
    }

    /// Ends a probe at `now`: an engine that passed it returns, and another one waits twice as long for the next.
    pub(crate) fn end_probe(
        &self,
        entry: &QuarantineEntry,
        is_passed: bool,
        now: Nanos,
        queues: &SharedQueues,
        metrics: &Metrics,
    ) {
        let mut entries = self.lock();
        if is_passed {
            entries.retain(|other| !other.is_same(entry));
            count(&metrics.returned, 1);
        }
        for other in entries.iter_mut().filter(|other| other.is_same(entry)) {
            other.is_probing = false;
            other.wait = (other.wait * 2).min(LONGEST_WAIT);
            other.probe_at = later(now, other.wait);
        }
        publish(&entries, entry.engine, queues);
    }
}

/// Passes an engine's quarantine on to the scheduler.
fn publish(entries: &[QuarantineEntry], engine: usize, queues: &SharedQueues) {
    // An engine may be in quarantine for a shape and for all at once. One probe passed ends one of them, so the whole
    // list is passed on each time.
    let shapes = entries.iter().filter(|entry| entry.engine == engine).map(|entry| entry.shape).collect();
    queues.set_quarantine(engine, shapes);
}

fn later(now: Nanos, wait: Duration) -> Nanos {
    now.saturating_add(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX))
}
