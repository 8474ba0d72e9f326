//! The calls of threads that serve the queues.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use oarlock_core::Shape;

use super::{QueueState, SharedQueues};
use crate::flight::WorkerReport;
use crate::queue::QueueItem;
use crate::scheduler::{Decision, WorkerLoad};
use crate::submission::Submission;
use crate::task::EndedTask;
use crate::threads::WorkerKind;

impl SharedQueues {
    /// Blocks a worker until there is something to do. Returns None if the worker should end. The same call reports
    /// the end of the worker's last step, so that a batch costs one acquisition of the lock.
    pub(crate) fn next(&self, kind: WorkerKind, report: WorkerReport) -> Option<Decision<Arc<Submission>>> {
        let mut state = self.lock();
        state.end_step(report);
        // A far worker never spins: what it waits for is a backlog of milliseconds, so that a slow wakeup costs
        // nothing.
        let mut may_spin = kind == WorkerKind::Near;
        loop {
            if self.is_stopping() {
                return None;
            }
            match self.choose_next(&mut state, kind) {
                // One spinning worker is enough to find the next job at once. More of them only heat the core.
                Decision::Idle if may_spin && self.spinning.load(Ordering::Relaxed) == 0 => {
                    drop(state);
                    self.spin();
                    may_spin = false;
                    state = self.lock();
                }
                Decision::Idle => state = self.park(state, kind),
                decision => return Some(self.begin_step(&mut state, decision)),
            }
        }
    }

    /// Takes the next step for a thread that polls for `ops` operations. Returns None if anything else runs or waits,
    /// or if a worker should batch or probe for them.
    pub(crate) fn take_lone(
        &self,
        shape: Shape,
        ops: usize,
        bytes: usize,
    ) -> Option<Decision<Arc<Submission>>> {
        // As in `claim_caller_run`: this look without the lock is only a hint.
        if self.pending.load(Ordering::Acquire) != ops {
            return None;
        }
        let mut state = self.lock();
        if state.busy > 0 || state.scheduler.live() != ops || !self.is_cheap(&mut state, shape, ops, bytes) {
            return None;
        }
        match self.choose_next(&mut state, WorkerKind::Near) {
            Decision::Idle => None,
            decision => Some(self.begin_step(&mut state, decision)),
        }
    }

    /// Reports the end of a step that a caller's thread did.
    pub(crate) fn end_caller_step(&self, report: WorkerReport) {
        let mut state = self.lock();
        state.end_step(report);
        // Jobs that came meanwhile found no idle dispatcher, and their callers may have left them to this thread.
        if self.note_pending(&mut state) {
            drop(state);
            self.near_work.notify_one();
        }
    }

    fn choose_next(&self, state: &mut QueueState, kind: WorkerKind) -> Decision<Arc<Submission>> {
        let workers = self.blueprint.config.threads;
        match kind {
            WorkerKind::Near => {
                let idle_others = state.parked + self.spinning.load(Ordering::Relaxed);
                // Relaxed: a stale count of spinning workers only changes the size of this batch. The builder ensures that
                // there is at least one worker.
                let load = WorkerLoad { idle_others: idle_others.min(workers - 1) };
                state.scheduler.next(self.clock.now(), load)
            }
            WorkerKind::Far(engine) => state.scheduler.next_far(engine, workers),
        }
    }

    /// Counts a batch out of the queue and into flight. If more operations wait, the next worker is woken: workers
    /// wake each other one by one instead of all at once.
    fn begin_step(
        &self,
        state: &mut QueueState,
        decision: Decision<Arc<Submission>>,
    ) -> Decision<Arc<Submission>> {
        let items = match &decision {
            Decision::Run(plan) => plan.items.as_slice(),
            Decision::Start { items, .. } | Decision::Fail { items, .. } | Decision::Refuse { items, .. } => {
                items.as_slice()
            }
            Decision::Probe(_) | Decision::Idle => &[],
        };
        for item in items {
            item.owner.leave_queue(item.count);
        }
        // Steps without an engine count too, since `end_step` does not tell them apart. Meanwhile callers queue their
        // jobs instead of computing them.
        state.busy += 1;
        if self.note_pending(state) {
            self.near_work.notify_one();
        }
        decision
    }

    /// Looks for jobs for a short time without the lock, because waking a sleeping thread costs more than most jobs.
    fn spin(&self) {
        // The increment makes `note_pending` spare a notification. The decrement comes before this thread takes the
        // lock again, and the lock orders both for submitters. See `note_pending` for the reason why no wakeup is lost.
        self.spinning.fetch_add(1, Ordering::AcqRel);
        for _ in 0..self.blueprint.config.spins {
            if self.pending.load(Ordering::Acquire) > 0 || self.is_stopping() {
                break;
            }
            std::hint::spin_loop();
        }
        self.spinning.fetch_sub(1, Ordering::AcqRel);
    }

    fn park<'a>(
        &'a self,
        mut state: MutexGuard<'a, QueueState>,
        kind: WorkerKind,
    ) -> MutexGuard<'a, QueueState> {
        if let WorkerKind::Far(_) = kind {
            return self.far_work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.parked += 1;
        let mut state = self.near_work.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.parked -= 1;
        // A spurious wakeup, or one by `wake_all`, was not announced in `woken`. Then the count may drop too early, and
        // the worst that follows is one notification too many.
        state.woken = state.woken.saturating_sub(1);
        state
    }

    /// Blocks a thread for tasks until there is a task, or returns None at the end. The same call reports the end of
    /// its last task.
    pub(crate) fn next_task(&self, ended: Option<EndedTask>) -> Option<QueueItem<Arc<Submission>>> {
        let mut state = self.lock();
        if let Some(ended) = ended {
            state.scheduler.end_task(ended.tenant, ended.more_ns);
        }
        // As many threads as there are workers is half of the threads for tasks.
        let max_of_tenant = self.blueprint.config.threads;
        loop {
            if self.is_stopping() {
                return None;
            }
            if let Some(item) = state.scheduler.next_task(max_of_tenant) {
                item.owner.leave_queue(1);
                return Some(item);
            }
            state = self.task_work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl QueueState {
    /// Counts the last step of a worker out of flight, and charges tenants what it took beyond the prediction.
    fn end_step(&mut self, report: WorkerReport) {
        match report {
            WorkerReport::Started => {}
            WorkerReport::Unmeasured => self.end_batch(None),
            WorkerReport::Measured(finished) => {
                let took_ns = finished.report.took_ns;
                finished.shares.correct(took_ns, |tenant, more_ns| self.scheduler.correct(tenant, more_ns));
                self.end_batch(Some(finished.report));
            }
        }
    }
}
