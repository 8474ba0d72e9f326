//! The queues of a dispatcher. Callers and workers share them under one lock.
//!
//! This file has the calls of submitters. Module `serving` has those of workers and threads for tasks, and module
//! `probing` finds engines at the first use of a shape.
//!
//! Lock order: the list of engines in quarantine is locked before the queues. No lock of this crate is taken while
//! the queues are locked.

mod probing;
mod serving;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock_core::{JobError, Shape};

use crate::blueprint::{Blueprint, REFEREE, unsupported};
use crate::class::class_of;
use crate::clock::{DispatchClock, Nanos};
use crate::flight::RunReport;
use crate::metrics::{Metrics, count};
use crate::queue::{QueueItem, QueueKey};
use crate::scheduler::Scheduler;
use crate::submission::{Submission, SubmissionEnd};

/// Waiting jobs and tasks, and the threads that wait for them.
pub(crate) struct SharedQueues {
    blueprint: Arc<Blueprint>,
    clock: DispatchClock,
    /// Wakes near workers.
    near_work: Condvar,
    /// Wakes far workers.
    far_work: Condvar,
    /// Wakes threads for tasks.
    task_work: Condvar,
    /// Wakes threads that wait for the end of a probe.
    probe_done: Condvar,
    state: Mutex<QueueState>,
    /// The number of live queued operations. Written under the lock, read by spinning workers and submitters without
    /// it. It is only a hint: every decision is made again under the lock.
    pending: AtomicUsize,
    /// The number of workers that look for jobs without the lock.
    spinning: AtomicUsize,
    /// Set once, under the lock. A thread that decides under the lock therefore sees it if the queues were drained
    /// before. Spinning workers read it without the lock, only to stop spinning earlier.
    is_stopping: AtomicBool,
}

/// The state under the lock.
pub(crate) struct QueueState {
    pub(crate) scheduler: Scheduler<Arc<Submission>>,
    /// The number of batches that run now, on workers and on callers' threads.
    busy: usize,
    /// The number of workers that sleep.
    parked: usize,
    /// The number of sleeping workers that have been notified and have not woken yet.
    woken: usize,
    /// The number of operations that were queued. It is counted here because this cache line is already owned under
    /// the lock.
    queued: u64,
}

impl SharedQueues {
    pub(crate) fn new(blueprint: Arc<Blueprint>, clock: DispatchClock) -> Self {
        let scheduler = Scheduler::new(blueprint.config.clone(), REFEREE, blueprint.engines.len());
        Self {
            blueprint,
            clock,
            near_work: Condvar::new(),
            far_work: Condvar::new(),
            task_work: Condvar::new(),
            probe_done: Condvar::new(),
            state: Mutex::new(QueueState { scheduler, busy: 0, parked: 0, woken: 0, queued: 0 }),
            pending: AtomicUsize::new(0),
            spinning: AtomicUsize::new(0),
            is_stopping: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // Nothing computes under this lock, and no code of callers runs there. If the scheduler panics all the same,
        // its counts may be off by a batch, which is better than a server that answers nothing any more.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the queue of a shape, or None if it is known that no engine offers it.
    fn queue_of(&self, state: &mut QueueState, shape: Shape) -> Option<usize> {
        let index = match self.blueprint.first_use_probe {
            None => state
                .scheduler
                .queue_for(QueueKey::from_shape(shape), || self.blueprint.choices(class_of(shape))),
            Some(_) => state.scheduler.unprobed_queue(shape),
        };
        state.scheduler.has_choices(index).then_some(index)
    }

    /// Puts a submission into its queue and wakes the workers that may serve it. With `coalesce` no near worker is
    /// woken: [`wake_near_worker`](Self::wake_near_worker) does that later.
    ///
    /// Returns the predicted time of the submission in nanoseconds; 0 if it is not known.
    pub(crate) fn enqueue(
        &self,
        submission: &Arc<Submission>,
        deadline: Option<Nanos>,
        coalesce: bool,
        metrics: &Metrics,
    ) -> Result<f64, JobError> {
        let config = &self.blueprint.config;
        let now = self.clock.now();
        let patience = u64::try_from(config.target_latency.as_nanos()).unwrap_or(u64::MAX);
        let item = submission.item(now, deadline.unwrap_or_else(|| now.saturating_add(patience)));
        let ops = item.count;
        let mut state = self.lock();
        if self.is_stopping() {
            return Err(JobError::ShutDown);
        }
        let queue = self.queue_of_submission(&mut state, submission)?;
        state.scheduler.submit(queue, item).inspect_err(|_| count(&metrics.refused, ops as usize))?;
        submission.enter_queue(ops);
        state.queued += u64::from(ops);
        let predicted_ns = state.scheduler.predict_ns(queue, ops as usize, submission.bytes());
        let is_far_wanted = state.scheduler.has_surplus(queue, config.threads);
        let is_near_wanted = !coalesce && self.note_pending(&mut state);
        if coalesce {
            // Nobody is woken, but a worker that spins already may take the jobs at once.
            self.pending.store(state.scheduler.live(), Ordering::Release);
        }
        // A woken worker takes the lock first of all. Under the lock it would wake only to wait again.
        drop(state);
        if is_near_wanted {
            self.near_work.notify_one();
        }
        if is_far_wanted {
            // Each far engine has one worker, and the condition is shared: only all of them include the right one.
            self.far_work.notify_all();
        }
        Ok(predicted_ns)
    }

    fn queue_of_submission(
        &self,
        state: &mut QueueState,
        submission: &Submission,
    ) -> Result<usize, JobError> {
        match submission.queue_key {
            QueueKey::Engines(class) => {
                self.queue_of(state, class).ok_or_else(|| unsupported(submission.shape().unwrap_or(class)))
            }
            queue_key @ (QueueKey::Holder(_) | QueueKey::Tasks) => {
                Ok(state.scheduler.queue_for(queue_key, Vec::new))
            }
        }
    }

    /// Puts a task into the queue and wakes a thread for it.
    pub(crate) fn enqueue_task(
        &self,
        submission: &Arc<Submission>,
        metrics: &Metrics,
    ) -> Result<(), JobError> {
        let now = self.clock.now();
        let item = submission.item(now, now);
        let mut state = self.lock();
        if self.is_stopping() {
            return Err(JobError::ShutDown);
        }
        state.scheduler.submit_task(item).inspect_err(|_| count(&metrics.refused, 1))?;
        submission.enter_queue(1);
        drop(state);
        self.task_work.notify_one();
        Ok(())
    }

    /// Wakes a worker for coalesced jobs, if any still wait.
    pub(crate) fn wake_near_worker(&self) {
        // This thread made the submission or was handed its ticket, so it reads a count that is at least as new. Zero
        // means that a worker has taken the jobs since.
        if self.pending.load(Ordering::Acquire) == 0 {
            return;
        }
        let is_wanted = self.note_pending(&mut self.lock());
        if is_wanted {
            self.near_work.notify_one();
        }
    }

    /// Publishes the number of waiting operations. Returns true if a sleeping worker must be notified beside those
    /// that are already looking.
    fn note_pending(&self, state: &mut QueueState) -> bool {
        let live = state.scheduler.live();
        // `parked` and `woken` change under this lock only. A worker leaves `spinning` before it takes the lock to
        // decide again, and parks under the same lock. So a spinner that misses this store still finds the jobs: no
        // wakeup is lost. A stale `spinning` costs at most one needless or one later notification.
        self.pending.store(live, Ordering::Release);
        let is_wanted =
            state.parked > state.woken && live > state.woken + self.spinning.load(Ordering::Relaxed);
        state.woken += usize::from(is_wanted);
        is_wanted
    }

    /// Counts a batch into flight for the caller's thread. Returns false if anything else runs or waits, or if `ops`
    /// operations are too costly on the referee.
    pub(crate) fn claim_caller_run(&self, shape: Shape, ops: usize, bytes: usize) -> bool {
        // This look without the lock spares a busy dispatcher a second acquisition: `enqueue` will take the lock
        // anyway. Relaxed, because a stale value only leads to the other one of two correct ways.
        if self.blueprint.config.caller_budget.is_zero() || self.pending.load(Ordering::Relaxed) > 0 {
            return false;
        }
        let mut state = self.lock();
        if state.busy > 0 || !state.scheduler.is_empty() {
            return false;
        }
        let is_cheap = self.is_cheap(&mut state, shape, ops, bytes);
        state.busy += usize::from(is_cheap);
        is_cheap
    }

    /// Returns true if operations are computed one by one, and within the budget of a caller's thread.
    fn is_cheap(&self, state: &mut QueueState, shape: Shape, ops: usize, bytes: usize) -> bool {
        let Some(queue) = self.queue_of(state, shape) else { return false };
        let budget = self.blueprint.config.caller_budget.as_nanos() as f64;
        // A submitter never waits for probes. If they are needed, the job is queued and a worker runs them.
        let single_ns =
            state.scheduler.is_known(queue, ops).then(|| state.scheduler.single_ns(queue, ops, bytes));
        single_ns.flatten().is_some_and(|cost| cost <= budget)
    }

    /// Ends a batch on a caller's thread or an abandoned batch. No tenant is charged: while a caller runs its batch,
    /// no other job waits.
    pub(crate) fn end_batch(&self, report: Option<RunReport>) {
        self.lock().end_batch(report);
    }

    /// Passes the measurement of a bulk batch to the cost model. Bulk work is not counted in flight.
    pub(crate) fn observe(&self, report: RunReport) {
        self.lock().observe(report);
    }

    /// Returns the predicted time of operations in full batches, or None if it is known that no engine offers them.
    pub(crate) fn predict(&self, shape: Shape, ops: usize, bytes: usize) -> Option<Duration> {
        let mut state = self.lock();
        let queue = self.queue_of(&mut state, shape)?;
        Some(Duration::from_nanos(state.scheduler.predict_ns(queue, ops, bytes) as u64))
    }

    /// Returns the predicted time of a tenant's waiting jobs and tasks.
    pub(crate) fn backlog(&self, tenant: u64) -> Duration {
        Duration::from_nanos(self.lock().scheduler.backlog_ns(tenant) as u64)
    }

    /// Returns the number of operations that were ever queued.
    pub(crate) fn total_queued(&self) -> u64 {
        self.lock().queued
    }

    /// Returns the number of waiting operations by the name of a shape or holder, and of waiting tasks.
    pub(crate) fn queued(&self) -> Vec<(String, usize)> {
        // Copied first: names are made of strings, and allocating them would lengthen the time under the lock.
        let queued: Vec<_> = self.lock().scheduler.queued().collect();
        let name = |queue_key| match queue_key {
            QueueKey::Engines(shape) => shape.to_string(),
            QueueKey::Holder(holder) => self.blueprint.holders[holder].name().to_owned(),
            QueueKey::Tasks => "tasks".to_owned(),
        };
        queued.into_iter().map(|(queue_key, operations)| (name(queue_key), operations)).collect()
    }

    /// Sets the shapes for which an engine is in quarantine, and wakes all threads, since any queue may have become
    /// ready.
    pub(crate) fn set_quarantine(&self, engine: usize, shapes: Vec<Option<Shape>>) {
        self.lock().scheduler.set_quarantine(engine, shapes);
        self.wake_all();
    }

    /// Wakes every worker and every thread for tasks.
    pub(crate) fn wake_all(&self) {
        self.near_work.notify_all();
        self.far_work.notify_all();
        self.task_work.notify_all();
    }

    /// Removes the queued operations of a submission that has ended.
    pub(crate) fn forget(&self, submission: &Submission) {
        let mut state = self.lock();
        let queued = submission.take_queued();
        if queued == 0 {
            return;
        }
        // Items carry whole bytes, so the bytes of a part are an estimate. `JobQueue` sets them to zero whenever it is
        // empty, so that errors do not add up.
        let bytes = (submission.bytes() * queued / submission.len().max(1)) as u64;
        let task_ns = submission.task().map_or(0, |task| task.predicted_ns);
        state.scheduler.forget(submission.queue_key, submission.tenant, queued, bytes, task_ns);
        self.pending.store(state.scheduler.live(), Ordering::Release);
    }

    /// Returns the wanted items of a faulted or abandoned batch to their queue. The items that have failed
    /// `max_attempts` times are returned to the caller. Returns None if the queues are stopping.
    pub(crate) fn put_back(
        &self,
        shape: Shape,
        items: &[QueueItem<Arc<Submission>>],
        max_attempts: u8,
        metrics: &Metrics,
    ) -> Option<Vec<QueueItem<Arc<Submission>>>> {
        let mut state = self.lock();
        if self.is_stopping() {
            return None;
        }
        // This runs under the lock. A submission that ends later then finds its operations queued and removes them
        // from the count.
        let live = items.iter().filter(|item| item.owner.end() == SubmissionEnd::Live);
        let (again, given_up): (Vec<_>, Vec<_>) =
            live.cloned().partition(|item| item.attempts < max_attempts);
        for item in &again {
            item.owner.enter_queue(item.count);
        }
        // Counted before another worker can answer the jobs, whose callers may read the counters then.
        count(&metrics.rerun, again.iter().map(|item| item.count as usize).sum());
        // The queue may have been replaced while nothing waited in it; this creates it again.
        let _ = self.queue_of(&mut state, shape);
        state.scheduler.submit_again(QueueKey::from_shape(shape), again);
        self.note_pending(&mut state);
        drop(state);
        self.wake_all();
        Some(given_up)
    }

    /// Stops the queues and takes everything that waits.
    pub(crate) fn stop(&self) -> Vec<QueueItem<Arc<Submission>>> {
        let drained = {
            let mut state = self.lock();
            // Under the lock: a submission that comes later sees the flag and is refused, so that nothing enters the
            // drained queues.
            self.is_stopping.store(true, Ordering::Release);
            state.scheduler.drain()
        };
        self.wake_all();
        drained
    }
}

impl QueueState {
    /// Counts a batch out of flight.
    fn end_batch(&mut self, report: Option<RunReport>) {
        self.busy -= 1;
        if let Some(report) = report {
            self.observe(report);
        }
    }

    fn observe(&mut self, report: RunReport) {
        self.scheduler.observe(report.shape, report.engine, report.ops, report.bytes, report.took_ns);
    }
}

impl fmt::Debug for SharedQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the lock, so that a debugger's print cannot block.
        write!(f, "SharedQueues({} operations)", self.pending.load(Ordering::Relaxed))
    }
}
