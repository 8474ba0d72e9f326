//! A batch on its way through an engine: built from the queue, run, checked, and landed or abandoned.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use oarlock_core::{Jobs, Operation, Outcomes, Records, Shape};

use crate::group::{Group, Payload};
use crate::inner::{Inner, Learnt, Report};
use crate::queue::{Item, Nanos};
use crate::scheduler::Plan;

/// A batch in flight. It owns its inputs, so it can be abandoned while its engine still reads them.
pub(crate) struct Flight {
    pub(crate) shape: Shape,
    pub(crate) items: Vec<Item<Arc<Group>>>,
    /// When it is held to hang.
    pub(crate) hang_at: Nanos,
    /// The engine at work now: a confirming or cross-checking one may be it that hangs.
    pub(crate) engine: AtomicUsize,
    first_engine: usize,
    ops: usize,
    predicted_ns: f64,
    began: Nanos,
    state: AtomicU8,
    /// Items answered so far.
    answered: AtomicUsize,
}

const UP: u8 = 0;
const LANDED: u8 = 1;
const ABANDONED: u8 = 2;

impl Flight {
    pub(crate) fn new(plan: Plan<Arc<Group>>, inner: &Inner) -> Arc<Self> {
        let floor = inner.config().hang_after.as_nanos() as f64;
        let limit = floor.max(HANG_FACTOR * plan.predicted_ns);
        let began = inner.now();
        Arc::new(Self {
            shape: plan.shape,
            items: plan.items,
            hang_at: began.saturating_add(limit as Nanos),
            engine: AtomicUsize::new(plan.engine),
            first_engine: plan.engine,
            ops: plan.ops,
            predicted_ns: plan.predicted_ns,
            began,
            state: AtomicU8::new(UP),
            answered: AtomicUsize::new(0),
        })
    }

    /// Claims the right to answer; false where the batch was abandoned.
    fn land(&self) -> bool {
        self.state.compare_exchange(UP, LANDED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Gives the batch up; false where it has landed.
    pub(crate) fn abandon(&self) -> bool {
        self.state.compare_exchange(UP, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.state.load(Ordering::Acquire) == ABANDONED
    }

    /// Runs, checks and answers the batch. Returns what the cost model learns from it. Afterwards it has landed or is
    /// abandoned, even where something in it panics.
    pub(crate) fn fly(&self, inner: &Inner) -> Option<Learnt> {
        let result = catch_unwind(AssertUnwindSafe(|| self.fly_in(inner)));
        let report = result.unwrap_or_else(|_| {
            self.crash(inner);
            None
        });
        report.map(|report| Learnt { report, shares: Shares::of(&self.items, self.predicted_ns) })
    }

    /// What is not answered yet runs again, or fails where results were already being handed out.
    fn crash(&self, inner: &Inner) {
        let reason = format!("{} gave results that cannot be read", inner.engine(self.first_engine).name());
        inner.put_aside(self.first_engine, None, &reason);
        if self.land() {
            inner.run_again(self.shape, &self.items, &reason);
        } else if !self.is_abandoned() {
            inner.fail(self.shape, &self.items[self.answered.load(Ordering::Relaxed)..], &reason);
        }
    }

    fn fly_in(&self, inner: &Inner) -> Option<Report> {
        let is_records = matches!(self.items.first()?.work.payload, Payload::Records(..));
        if is_records { self.fly_records(inner) } else { self.fly_operations(inner) }
    }

    fn fly_operations(&self, inner: &Inner) -> Option<Report> {
        let mut operations: Vec<Operation<'_>> = Vec::with_capacity(self.ops);
        for item in &self.items {
            if let Payload::Operations(set) = &item.work.payload {
                operations
                    .extend((item.first..item.first + item.count).filter_map(|at| set.get(at as usize)));
            }
        }
        let (outcomes, report) = self.run(inner, &Jobs::Operations(self.shape, &operations))?;
        let mut from = 0;
        for item in &self.items {
            item.work.answer(item.first, item.count, &outcomes, from, &inner.metrics.completed);
            from += item.count as usize;
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
        Some(report)
    }

    fn fly_records(&self, inner: &Inner) -> Option<Report> {
        let records: Vec<&Records<'_>> = self
            .items
            .iter()
            .filter_map(|item| match &item.work.payload {
                Payload::Records(_, records) => Some(&**records),
                _ => None,
            })
            .collect();
        let (mut outcomes, report) = self.run(inner, &Jobs::Records(self.shape, &records))?;
        for (part, item) in self.items.iter().enumerate() {
            item.work.answer_all(outcomes.take_part(part), &inner.metrics.completed);
            self.answered.fetch_add(1, Ordering::Relaxed);
        }
        Some(report)
    }

    /// Outcomes that may be released, or None where the batch was handed on or abandoned.
    fn run(&self, inner: &Inner, jobs: &Jobs<'_>) -> Option<(Outcomes, Report)> {
        match inner.compute(self.first_engine, jobs, &self.engine) {
            Ok((outcomes, took_ns)) => {
                let bytes = self.items.iter().map(|item| item.bytes as usize).sum();
                let (engine, shape, ops) = (self.first_engine, self.shape, self.ops);
                let report = Report { engine, shape, ops, bytes, took_ns };
                if !self.land() {
                    return None;
                }
                inner.recorders.answered(shape, &self.items, self.began, inner.now());
                Some((outcomes, report))
            }
            Err(fault) => {
                if self.land() {
                    inner.put_aside(self.first_engine, None, &fault.to_string());
                    inner.run_again(self.shape, &self.items, &fault.to_string());
                }
                None
            }
        }
    }
}

/// Whose operations a batch had.
#[derive(Debug)]
pub(crate) struct Shares {
    /// Time that its tenants were charged together.
    predicted_ns: f64,
    ops: u32,
    /// The first tenant and its operations.
    first: (u64, u32),
    /// The others. Most batches have none.
    others: Vec<(u64, u32)>,
}

impl Shares {
    fn of(items: &[Item<Arc<Group>>], predicted_ns: f64) -> Self {
        let mut runs = items.chunk_by(|one, other| one.tenant == other.tenant);
        let share = |run: &[Item<_>]| (run[0].tenant, run.iter().map(|item| item.count).sum());
        let first = runs.next().map_or((0, 0), share);
        let others: Vec<_> = runs.map(share).collect();
        let ops = first.1 + others.iter().map(|(_, ops)| ops).sum::<u32>();
        Self { predicted_ns, ops, first, others }
    }

    /// Gives each tenant its share of what the batch took beyond its prediction.
    pub(crate) fn correct(&self, took_ns: f64, mut correct: impl FnMut(u64, f64)) {
        let each = (took_ns - self.predicted_ns) / f64::from(self.ops.max(1));
        for (tenant, ops) in std::iter::once(&self.first).chain(&self.others) {
            correct(*tenant, each * f64::from(*ops));
        }
    }
}

/// A batch hangs when it takes so many times its prediction, and not before the configured time.
const HANG_FACTOR: f64 = 50.0;

impl fmt::Debug for Flight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flight({}, {} operations)", self.shape, self.ops)
    }
}
