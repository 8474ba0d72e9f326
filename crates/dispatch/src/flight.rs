//! A batch in flight: built from the queue, run on an engine, checked, and then answered or abandoned.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use oarlock_core::{Jobs, Operation, Outcomes, Records, Shape};

use crate::queue::{Nanos, QueueItem};
use crate::scheduler::BatchPlan;
use crate::state::{DispatchState, FinishedBatch, RunReport};
use crate::submission::{Payload, Submission};

/// A batch in flight. It owns its inputs, so it can be abandoned while its engine still reads them.
pub(crate) struct BatchFlight {
    pub(crate) shape: Shape,
    pub(crate) items: Vec<QueueItem<Arc<Submission>>>,
    /// The time from which the batch counts as hung.
    pub(crate) hang_at: Nanos,
    /// The engine that runs now. Confirmations and cross-checks run on other engines, and those may hang too.
    pub(crate) engine: AtomicUsize,
    first_engine: usize,
    ops: usize,
    predicted_ns: f64,
    began: Nanos,
    state: AtomicU8,
    /// The number of items answered so far.
    answered: AtomicUsize,
}

const RUNNING: u8 = 0;
const CLAIMED: u8 = 1;
const ABANDONED: u8 = 2;

impl BatchFlight {
    pub(crate) fn new(plan: BatchPlan<Arc<Submission>>, dispatch: &DispatchState) -> Arc<Self> {
        let floor = dispatch.config().hang_after.as_nanos() as f64;
        let limit = floor.max(HANG_FACTOR * plan.predicted_ns);
        let began = dispatch.now();
        Arc::new(Self {
            shape: plan.shape,
            items: plan.items,
            hang_at: began.saturating_add(limit as Nanos),
            engine: AtomicUsize::new(plan.engine),
            first_engine: plan.engine,
            ops: plan.ops,
            predicted_ns: plan.predicted_ns,
            began,
            state: AtomicU8::new(RUNNING),
            answered: AtomicUsize::new(0),
        })
    }

    /// Claims the right to answer. Returns false if the batch was abandoned. Worker and watchdog race here: the
    /// exchange lets exactly one of them answer the jobs or run them again.
    fn claim_answers(&self) -> bool {
        self.state.compare_exchange(RUNNING, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Abandons the batch. Returns false if the worker has claimed the answers.
    pub(crate) fn abandon(&self) -> bool {
        self.state.compare_exchange(RUNNING, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.state.load(Ordering::Acquire) == ABANDONED
    }

    /// Runs, checks and answers the batch. Returns the measurement for the cost model. Afterwards the batch is
    /// claimed or abandoned, even if something in it panicked.
    pub(crate) fn run_and_answer(&self, dispatch: &DispatchState) -> Option<FinishedBatch> {
        let result = catch_unwind(AssertUnwindSafe(|| self.run_payload(dispatch)));
        let report = result.unwrap_or_else(|_| {
            self.handle_panic(dispatch);
            None
        });
        report
            .map(|report| FinishedBatch { report, shares: TenantShares::of(&self.items, self.predicted_ns) })
    }

    /// Handles a panic: the unanswered items run again, or fail if answers had begun to go out.
    fn handle_panic(&self, dispatch: &DispatchState) {
        let reason =
            format!("{} gave results that cannot be read", dispatch.engine(self.first_engine).name());
        dispatch.quarantine(self.first_engine, None, &reason);
        if self.claim_answers() {
            dispatch.run_again(self.shape, &self.items, &reason);
        } else if !self.is_abandoned() {
            dispatch.fail(self.shape, &self.items[self.answered.load(Ordering::Relaxed)..], &reason);
        }
    }

    fn run_payload(&self, dispatch: &DispatchState) -> Option<RunReport> {
        let is_records = matches!(self.items.first()?.owner.payload, Payload::Records(..));
        if is_records { self.run_record_batch(dispatch) } else { self.run_operations(dispatch) }
    }

    fn run_operations(&self, dispatch: &DispatchState) -> Option<RunReport> {
        let mut operations: Vec<Operation<'_>> = Vec::with_capacity(self.ops);
        for item in &self.items {
            if let Payload::Operations(set) = &item.owner.payload {
                operations
                    .extend((item.first..item.first + item.count).filter_map(|at| set.get(at as usize)));
            }
        }
        let (outcomes, report) = self.run(dispatch, &Jobs::Operations(self.shape, &operations))?;
        let mut from = 0;
        for item in &self.items {
            item.owner.answer(item.first, item.count, &outcomes, from, &dispatch.metrics.completed);
            from += item.count as usize;
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
        Some(report)
    }

    fn run_record_batch(&self, dispatch: &DispatchState) -> Option<RunReport> {
        let records: Vec<&Records<'_>> = self
            .items
            .iter()
            .filter_map(|item| match &item.owner.payload {
                Payload::Records(_, records) => Some(&**records),
                _ => None,
            })
            .collect();
        let (mut outcomes, report) = self.run(dispatch, &Jobs::Records(self.shape, &records))?;
        for (part, item) in self.items.iter().enumerate() {
            item.owner.answer_all(outcomes.take_part(part), &dispatch.metrics.completed);
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
        Some(report)
    }

    /// Computes outcomes that may be released. Returns None if the batch runs again or was abandoned.
    fn run(&self, dispatch: &DispatchState, jobs: &Jobs<'_>) -> Option<(Outcomes, RunReport)> {
        match dispatch.compute(self.first_engine, jobs, &self.engine) {
            Ok((outcomes, took_ns)) => {
                let bytes = self.items.iter().map(|item| item.bytes as usize).sum();
                let (engine, shape, ops) = (self.first_engine, self.shape, self.ops);
                let report = RunReport { engine, shape, ops, bytes, took_ns };
                if !self.claim_answers() {
                    return None;
                }
                dispatch.recorders.record_answers(shape, &self.items, self.began, dispatch.now());
                Some((outcomes, report))
            }
            Err(fault) => {
                if self.claim_answers() {
                    dispatch.quarantine(self.first_engine, None, &fault.to_string());
                    dispatch.run_again(self.shape, &self.items, &fault.to_string());
                }
                None
            }
        }
    }
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
    fn of(items: &[QueueItem<Arc<Submission>>], predicted_ns: f64) -> Self {
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
        write!(f, "Flight({}, {} operations)", self.shape, self.ops)
    }
}
