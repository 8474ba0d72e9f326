//! Runs engines and checks their results before any of them is released.
//!
//! An RSA private result is confirmed by the public operation, because one faulty CRT half reveals the key (Boneh,
//! DeMillo, Lipton, EUROCRYPT 1997). An ML-DSA or SLH-DSA signature is verified, and an SLH-DSA signature computed
//! twice if the settings ask for it ([`ConfirmRule`](crate::ConfirmRule)). A share of all results is recomputed on a
//! different engine. If two engines differ, the referee computes again: its result is released and the loser is
//! quarantined. Only an engine whose result differs from the referee's can lose, so no crafted input can bring an
//! honest engine into quarantine.

mod cross;
mod rsa;
mod signature;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use oarlock_core::{EngineFault, Jobs, Operation, Outcomes, Shape, Status};

use crate::blueprint::REFEREE;
use crate::clock::EngineClock;
use crate::flight::RunningEngine;
use crate::metrics::count;
use crate::state::DispatchState;

/// A run of jobs on engines, with the checks of its results.
#[derive(Clone, Copy)]
pub(crate) struct CheckedRun<'a> {
    dispatch: &'a DispatchState,
    running_engine: &'a RunningEngine,
}

/// A batch of operations that an engine has computed.
struct CheckedBatch<'a> {
    run: CheckedRun<'a>,
    engine: usize,
    shape: Shape,
    operations: &'a [Operation<'a>],
}

impl<'a> CheckedRun<'a> {
    /// Begins a run. It stores the engine that runs in `running_engine`.
    pub(crate) fn new(dispatch: &'a DispatchState, running_engine: &'a RunningEngine) -> Self {
        Self { dispatch, running_engine }
    }

    /// Runs `jobs` on an engine and checks the results. Returns the outcomes and the engine's own time in
    /// nanoseconds.
    pub(crate) fn compute(&self, engine: usize, jobs: &Jobs<'_>) -> Result<(Outcomes, f64), EngineFault> {
        let mut outcomes = Outcomes::default();
        let took_ns = self.compute_into(engine, jobs, &mut outcomes)?;
        Ok((outcomes, took_ns))
    }

    /// Does the same into outcomes whose memory is reused.
    pub(crate) fn compute_into(
        &self,
        engine: usize,
        jobs: &Jobs<'_>,
        outcomes: &mut Outcomes,
    ) -> Result<f64, EngineFault> {
        let metrics = &self.dispatch.metrics;
        let clock = EngineClock::start(jobs.shape());
        self.run_engine_into(engine, jobs, outcomes)?;
        // The checks are left out: they would make the model blame the engine for the time of other engines.
        let took_ns = clock.elapsed_ns();
        count(&metrics.batches, 1);
        count(&metrics.engine_ns, took_ns as usize);
        count(&metrics.batched_ops, jobs.len());
        self.dispatch.recorders.record_run(engine, jobs.shape(), jobs.len(), took_ns);
        match jobs {
            Jobs::Operations(shape, operations) => {
                let batch = CheckedBatch { run: *self, engine, shape: *shape, operations };
                batch.confirm_rsa(outcomes);
                batch.confirm_signatures(outcomes);
                batch.cross_check(outcomes);
            }
            Jobs::Records(..) => self.cross_check_records(engine, jobs, outcomes),
        }
        Ok(took_ns)
    }

    fn run_engine(&self, engine: usize, jobs: &Jobs<'_>) -> Result<Outcomes, EngineFault> {
        let mut outcomes = Outcomes::default();
        self.run_engine_into(engine, jobs, &mut outcomes)?;
        Ok(outcomes)
    }

    /// Runs an engine. A panic, a missing status or a wrong number of outcomes counts as its fault.
    fn run_engine_into(
        &self,
        engine: usize,
        jobs: &Jobs<'_>,
        outcomes: &mut Outcomes,
    ) -> Result<(), EngineFault> {
        // Before the run, so that the watchdog blames this engine and not the one before it.
        self.running_engine.store(engine, Ordering::Release);
        let unit = self.dispatch.engine(engine);
        outcomes.reset(jobs);
        let failed = |reason: &str| EngineFault::Failed { engine: unit.name(), reason: reason.to_owned() };
        // Unwind safety: after a panic the outcomes are dropped or reset, and the engine goes into quarantine.
        let fault = match catch_unwind(AssertUnwindSafe(|| unit.run(jobs, outcomes))) {
            Ok(Ok(())) if outcomes.len() == jobs.len() && outcomes.is_complete() => return Ok(()),
            Ok(Ok(())) => failed("left jobs of the batch undone"),
            Ok(Err(fault)) => fault,
            Err(_) => failed("panicked"),
        };
        count(&self.dispatch.metrics.faults, 1);
        Err(fault)
    }

    /// Returns an engine other than `not` that can compute a shape, the referee if possible. Far engines are excluded
    /// because the check may run on a caller's thread.
    fn second_engine(&self, shape: Shape, not: usize) -> Option<usize> {
        if not != REFEREE && self.dispatch.engine(REFEREE).offers(shape).is_some() {
            return Some(REFEREE);
        }
        // With two operations the other engines are probed too, not only the referee.
        let (state, queue) = self.dispatch.queues.lock_for(shape, 2);
        queue?;
        let choices = state.scheduler.choices(shape);
        let mut near = choices.iter().filter(|choice| !choice.is_far && !choice.is_quarantined);
        near.find(|choice| choice.engine != not).map(|choice| choice.engine)
    }

    /// Returns the fastest near engine for so many operations of a shape.
    fn cheapest_engine(&self, shape: Shape, ops: usize) -> usize {
        let (state, queue) = self.dispatch.queues.lock_for(shape, ops);
        let Some(queue) = queue else { return REFEREE };
        state.scheduler.bulk_plan(queue, ops, 0).map_or(REFEREE, |(choice, _)| choice.engine)
    }

    /// Notes that an engine has lost a dispute, and quarantines it for the shape.
    fn note_lost_dispute(&self, engine: usize, shape: Shape) {
        if engine == REFEREE {
            return count(&self.dispatch.metrics.referee_wavered, 1);
        }
        self.dispatch.quarantine(engine, Some(shape), "its result differs from the referee's");
    }
}

impl CheckedBatch<'_> {
    fn dispatch(&self) -> &DispatchState {
        self.run.dispatch
    }

    /// Runs some of the batch's operations again on an engine.
    fn recompute(&self, engine: usize, indices: &[usize]) -> Option<Outcomes> {
        let operations: Vec<Operation<'_>> = indices.iter().map(|index| self.operations[*index]).collect();
        self.run_or_quarantine(engine, &Jobs::Operations(self.shape, &operations))
    }

    fn run_or_quarantine(&self, engine: usize, jobs: &Jobs<'_>) -> Option<Outcomes> {
        let result = self.run.run_engine(engine, jobs);
        result.inspect_err(|fault| self.dispatch().quarantine(engine, None, &fault.to_string())).ok()
    }

    /// Erases an unconfirmed result and sets the status of its job.
    fn withhold(&self, index: usize, status: Status, outcomes: &mut Outcomes) {
        outcomes.set(index, status);
        // The bytes may be a faulty CRT result, from which the key can be computed.
        zeroize::Zeroize::zeroize(outcomes.result_mut(index));
    }
}

/// Returns the indices of the outcomes with a status.
fn positions(outcomes: &Outcomes, is_meant: impl Fn(Status) -> bool) -> Vec<usize> {
    let statuses = outcomes.statuses().iter().enumerate();
    statuses.filter(|(_, status)| is_meant(**status)).map(|(index, _)| index).collect()
}

/// Compares two results. No constant time is needed: results differ only if an engine is faulty.
fn is_same(ours: &Outcomes, our_index: usize, theirs: &Outcomes, their_index: usize) -> bool {
    ours.statuses()[our_index] == theirs.statuses()[their_index]
        && ours.result(our_index) == theirs.result(their_index)
}
