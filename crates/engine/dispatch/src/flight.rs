//! A batch in flight, and what its worker and the watchdog know of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use oarlock_core::Shape;

use crate::clock::Nanos;
use crate::queue::QueueItem;
use crate::scheduler::BatchPlan;
use crate::submission::Submission;

/// A batch in flight. It owns its inputs, so it can be abandoned while its engine still reads them.
pub(crate) struct BatchFlight {
    pub(crate) shape: Shape,
    pub(crate) items: Vec<QueueItem<Arc<Submission>>>,
    pub(crate) ops: usize,
    pub(crate) predicted_ns: f64,
    pub(crate) began: Nanos,
    /// The time from which the batch counts as hung.
    pub(crate) hang_at: Nanos,
    pub(crate) first_engine: usize,
    /// The engine that runs now. Confirmations and cross-checks run on other engines, and those may hang too.
    pub(crate) running_engine: RunningEngine,
    state: AtomicU8,
    /// The number of items answered so far. Only the worker's thread uses it. It is atomic because the watchdog shares
    /// the batch.
    answered: AtomicUsize,
}

/// The engine that runs now. The watchdog reads it to quarantine the right engine after a hang.
pub(crate) type RunningEngine = AtomicUsize;

const RUNNING: u8 = 0;
const CLAIMED: u8 = 1;
const ABANDONED: u8 = 2;

impl BatchFlight {
    /// Begins a batch at `began`. It counts as hung after `hang_after`, or later if the prediction is long.
    pub(crate) fn new(plan: BatchPlan<Arc<Submission>>, began: Nanos, hang_after_ns: f64) -> Arc<Self> {
        let limit = hang_after_ns.max(HANG_FACTOR * plan.predicted_ns);
        Arc::new(Self {
            shape: plan.shape,
            items: plan.items,
            ops: plan.ops,
            predicted_ns: plan.predicted_ns,
            began,
            hang_at: began.saturating_add(limit as Nanos),
            first_engine: plan.engine,
            running_engine: RunningEngine::new(plan.engine),
            state: AtomicU8::new(RUNNING),
            answered: AtomicUsize::new(0),
        })
    }

    /// Claims the right to answer. Returns false if the batch was abandoned.
    pub(crate) fn claim_answers(&self) -> bool {
        // Worker and watchdog race here: the exchange lets exactly one of them answer the jobs or run them again. No
        // data is passed through this atomic: both read only the items, which never change. Acquire and release keep
        // the winner's work on the items after its claim.
        self.state.compare_exchange(RUNNING, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Abandons the batch. Returns false if the worker has claimed the answers.
    pub(crate) fn abandon(&self) -> bool {
        self.state.compare_exchange(RUNNING, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.state.load(Ordering::Acquire) == ABANDONED
    }

    /// Returns the engine that runs now.
    pub(crate) fn running_engine(&self) -> usize {
        // The number is all that passes between the threads, so the ordering protects no other memory.
        self.running_engine.load(Ordering::Acquire)
    }

    /// Notes that the next item was answered.
    pub(crate) fn note_answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the items that have not been answered, after a panic between two answers.
    pub(crate) fn unanswered(&self) -> &[QueueItem<Arc<Submission>>] {
        &self.items[self.answered.load(Ordering::Relaxed)..]
    }

    /// Returns the number of input bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.items.iter().map(|item| item.bytes as usize).sum()
    }

    /// Returns the report of this batch after a run of `took_ns` nanoseconds.
    pub(crate) fn report(&self, took_ns: f64) -> FinishedBatch {
        let (engine, shape, ops) = (self.first_engine, self.shape, self.ops);
        let report = RunReport { engine, shape, ops, bytes: self.bytes(), took_ns };
        FinishedBatch { report, shares: TenantShares::from_items(&self.items, self.predicted_ns) }
    }
}

/// The measurement of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunReport {
    pub(crate) engine: usize,
    pub(crate) shape: Shape,
    pub(crate) ops: usize,
    pub(crate) bytes: usize,
    pub(crate) took_ns: f64,
}

/// A batch that was measured, with the shares of its tenants.
#[derive(Debug)]
pub(crate) struct FinishedBatch {
    pub(crate) report: RunReport,
    pub(crate) shares: TenantShares,
}

/// The end of a worker's last step, which it reports when it asks for the next one.
#[derive(Debug)]
pub(crate) enum WorkerReport {
    /// There was no step: the worker has just started.
    Started,
    /// A batch was measured and answered.
    Measured(FinishedBatch),
    /// The step has no measurement: its batch failed and runs again, or it was a step without an engine.
    Unmeasured,
}

/// The shares of tenants in a batch.
#[derive(Debug)]
pub(crate) struct TenantShares {
    /// The time that its tenants were charged in total.
    predicted_ns: f64,
    ops: u32,
    /// The first tenant and its operations.
    first: (u64, u32),
    /// The other tenants and their operations. Most batches have no others, and then this allocates nothing.
    others: Vec<(u64, u32)>,
}

impl TenantShares {
    fn from_items(items: &[QueueItem<Arc<Submission>>], predicted_ns: f64) -> Self {
        let mut runs = items.chunk_by(|one, other| one.tenant == other.tenant);
        let share = |run: &[QueueItem<_>]| (run[0].tenant, run.iter().map(|item| item.count).sum());
        let first = runs.next().map_or((0, 0), share);
        let others: Vec<_> = runs.map(share).collect();
        let ops = first.1 + others.iter().map(|(_, ops)| ops).sum::<u32>();
        Self { predicted_ns, ops, first, others }
    }

    /// Charges each tenant its share of the difference between the time taken and the prediction.
    pub(crate) fn correct(&self, took_ns: f64, mut correct: impl FnMut(u64, f64)) {
        let each = (took_ns - self.predicted_ns) / f64::from(self.ops.max(1));
        for (tenant, ops) in std::iter::once(&self.first).chain(&self.others) {
            correct(*tenant, each * f64::from(*ops));
        }
    }
}

/// A batch counts as hung after so many times its predicted time, but not before the configured time.
const HANG_FACTOR: f64 = 50.0;

impl fmt::Debug for BatchFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BatchFlight({}, {} operations)", self.shape, self.ops)
    }
}
