//! The state that callers, workers and the watchdog of one process share.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock_core::{Engine, EngineLocation, Holder, JobError, Shape};

use crate::class::{class_of, modulus_bits, scaled, shortest_of};
use crate::config::SchedulerConfig;
use crate::cost::EngineCost;
use crate::first_use::FirstUseProbe;
use crate::flight::{BatchFlight, TenantShares};
use crate::fork;
use crate::histograms::Recorders;
use crate::metrics::{DispatchCounters, Metrics, count};
use crate::quarantine::QuarantineList;
use crate::queue::{EngineChoice, ItemOwner, Nanos, QueueItem, QueueKey};
use crate::scheduler::{Decision, Scheduler, WorkerLoad};
use crate::submission::{Submission, SubmissionEnd};
use crate::task::CallerTask;
use crate::threads::WorkerThreads;
use crate::timers::DeadlineTimers;

/// Tests an engine in quarantine with known answers, for one shape or for all that it offers. Returns true if it may
/// return.
pub type Prober = Arc<dyn Fn(&dyn Engine, Option<Shape>) -> bool + Send + Sync>;

/// The parts of a dispatcher. A forked child builds its own state from them.
pub(crate) struct Blueprint {
    pub(crate) config: SchedulerConfig,
    pub(crate) engines: Vec<Arc<dyn Engine>>,
    /// Measured costs, by engine and shape.
    pub(crate) costs: Vec<(usize, Shape, EngineCost)>,
    pub(crate) holders: Vec<Arc<dyn Holder>>,
    pub(crate) prober: Prober,
    /// The probe of engines at the first use of a shape; None if they are asked directly.
    pub(crate) first_use_probe: Option<FirstUseProbe>,
}

pub(crate) struct DispatchState {
    pub(crate) blueprint: Arc<Blueprint>,
    pub(crate) metrics: Metrics,
    pub(crate) recorders: Recorders,
    pub(crate) quarantine: QuarantineList,
    pub(crate) timers: DeadlineTimers,
    pub(crate) threads: WorkerThreads,
    /// Wakes near workers.
    near_work: Condvar,
    /// Wakes far workers.
    far_work: Condvar,
    /// Wakes threads for tasks.
    pub(crate) task_work: Condvar,
    /// Wakes threads that wait for the end of a probe.
    pub(crate) probe_done: Condvar,
    state: Mutex<LockedState>,
    /// The number of live queued operations. Written under the lock, read by spinning workers and submitters without
    /// it. It is only a hint: every decision is made again under the lock.
    pending: AtomicUsize,
    spinning: AtomicUsize,
    is_stopping: AtomicBool,
    sampler: AtomicU32,
    origin: Instant,
    /// The fork generation of the process that made this.
    generation: u32,
}

pub(crate) struct LockedState {
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

/// The kind of a worker: for near engines, or for one far engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerKind {
    Near,
    Far(usize),
}

impl DispatchState {
    pub(crate) fn new(blueprint: Arc<Blueprint>) -> Arc<Self> {
        let scheduler = Scheduler::new(blueprint.config.clone(), REFEREE, blueprint.engines.len());
        Arc::new(Self {
            metrics: Metrics::default(),
            recorders: Recorders::new(blueprint.engines.len()),
            quarantine: QuarantineList::default(),
            timers: DeadlineTimers::default(),
            threads: WorkerThreads::default(),
            near_work: Condvar::new(),
            far_work: Condvar::new(),
            task_work: Condvar::new(),
            probe_done: Condvar::new(),
            state: Mutex::new(LockedState { scheduler, busy: 0, parked: 0, woken: 0, queued: 0 }),
            pending: AtomicUsize::new(0),
            spinning: AtomicUsize::new(0),
            is_stopping: AtomicBool::new(false),
            sampler: AtomicU32::new(seed()),
            origin: Instant::now(),
            generation: fork::generation(),
            blueprint,
        })
    }

    pub(crate) fn now(&self) -> Nanos {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn config(&self) -> &SchedulerConfig {
        &self.blueprint.config
    }

    pub(crate) fn engine(&self, engine: usize) -> &dyn Engine {
        &*self.blueprint.engines[engine]
    }

    /// True if this was made by a parent process, so that its locks may never be released here.
    pub(crate) fn is_from_parent_process(&self) -> bool {
        self.generation != fork::generation()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, LockedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the queue of a shape, or None if it is known that no engine offers it.
    pub(crate) fn queue_of(&self, state: &mut LockedState, shape: Shape) -> Option<usize> {
        let index = match self.blueprint.first_use_probe {
            None => state.scheduler.queue_for(QueueKey::of(shape), || self.choices(class_of(shape))),
            Some(_) => state.scheduler.unprobed_queue(shape),
        };
        state.scheduler.has_choices(index).then_some(index)
    }

    /// Returns the engines that offer every shape of a class.
    fn choices(&self, class: Shape) -> Vec<EngineChoice> {
        let is_serving = |index: &usize| *index != REFEREE || self.config().referee_serves;
        let engines = self.blueprint.engines.iter().enumerate().filter(|(index, _)| is_serving(index));
        let offers = engines.filter_map(|(index, engine)| {
            let batch_size = engine.offers(class)?;
            engine.offers(shortest_of(class))?;
            let cost = self.first_cost(index, class).unwrap_or_default();
            Some(EngineChoice::new(index, batch_size, cost, engine.location() == EngineLocation::Far))
        });
        offers.collect()
    }

    /// Returns the measured cost of a shape, or an estimate from the nearest measured length.
    fn first_cost(&self, engine: usize, shape: Shape) -> Option<EngineCost> {
        let costs = || self.blueprint.costs.iter().filter(|(own, ..)| *own == engine);
        if let Some((.., cost)) = costs().find(|(_, known, _)| *known == shape) {
            return Some(*cost);
        }
        let bits = modulus_bits(shape)?;
        let distance = |known: Shape| modulus_bits(known).map_or(u16::MAX, |known| known.abs_diff(bits));
        let alike =
            costs().filter_map(|(_, known, cost)| Some((distance(*known), scaled(*known, *cost, shape)?)));
        alike.min_by_key(|(distance, _)| *distance).map(|(_, cost)| cost)
    }

    /// Puts a submission into its queue and wakes the workers that may serve it. With `coalesce` no near worker is
    /// woken: [`wake_near_worker`](Self::wake_near_worker) does that later.
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        submission: &Arc<Submission>,
        deadline: Option<Nanos>,
        coalesce: bool,
    ) -> Result<(), JobError> {
        self.threads.ensure_started(self)?;
        let now = self.now();
        let patience = u64::try_from(self.config().target_latency.as_nanos()).unwrap_or(u64::MAX);
        let item = submission.item(now, deadline.unwrap_or_else(|| now.saturating_add(patience)));
        let ops = item.count;
        let mut state = self.lock();
        if self.is_stopping() {
            return Err(JobError::ShutDown);
        }
        let queue = match submission.queue_key {
            QueueKey::Engines(class) => self
                .queue_of(&mut state, class)
                .ok_or_else(|| unsupported(submission.shape().unwrap_or(class)))?,
            queue_key @ (QueueKey::Holder(_) | QueueKey::Tasks) => {
                state.scheduler.queue_for(queue_key, Vec::new)
            }
        };
        state.scheduler.submit(queue, item).inspect_err(|_| count(&self.metrics.refused, ops as usize))?;
        submission.enter_queue(ops);
        state.queued += u64::from(ops);
        let is_far_wanted = state.scheduler.has_surplus(queue, self.config().threads);
        let is_near_wanted = !coalesce && self.note_pending(&mut state);
        if coalesce {
            self.pending.store(state.scheduler.live(), Ordering::Release);
        }
        drop(state);
        if is_near_wanted {
            self.near_work.notify_one();
        }
        if is_far_wanted {
            self.far_work.notify_all();
        }
        if let Some(deadline) = deadline {
            self.timers.add(deadline, submission);
        }
        Ok(())
    }

    /// Wakes a worker for coalesced jobs, if any still wait.
    pub(crate) fn wake_near_worker(&self) {
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
    fn note_pending(&self, state: &mut LockedState) -> bool {
        let live = state.scheduler.live();
        // `parked` and `woken` change under this lock only. A worker leaves `spinning` before it takes the lock to decide
        // again, and parks under the same lock. So a spinner that misses this store still finds the jobs: no wakeup is lost.
        // A stale `spinning` costs at most one needless or one later notification.
        self.pending.store(live, Ordering::Release);
        let is_wanted =
            state.parked > state.woken && live > state.woken + self.spinning.load(Ordering::Relaxed);
        state.woken += usize::from(is_wanted);
        is_wanted
    }

    /// Counts a batch into flight for the caller's thread. Returns false if anything else runs or waits, or if `ops`
    /// operations are too costly on the referee.
    pub(crate) fn claim_caller_run(&self, shape: Shape, ops: usize, bytes: usize) -> bool {
        let budget = self.config().caller_budget.as_nanos() as f64;
        // This look without the lock spares a busy dispatcher a second acquisition: `enqueue` will take the lock
        // anyway.
        if budget == 0.0 || self.pending.load(Ordering::Relaxed) > 0 {
            return false;
        }
        let mut state = self.lock();
        if state.busy > 0 || !state.scheduler.is_empty() {
            return false;
        }
        let Some(queue) = self.queue_of(&mut state, shape) else { return false };
        // A submitter never waits for probes. If they are needed, the job is queued and a worker runs them.
        let single_ns =
            state.scheduler.is_known(queue, ops).then(|| state.scheduler.single_ns(queue, ops, bytes));
        let is_cheap = single_ns.flatten().is_some_and(|cost| cost <= budget);
        state.busy += usize::from(is_cheap);
        is_cheap
    }

    /// Ends a batch on a caller's thread or an abandoned batch. No tenant is charged: while a caller runs its batch,
    /// no other job waits.
    pub(crate) fn end_batch(&self, report: Option<RunReport>) {
        let mut state = self.lock();
        self.finish(&mut state, report);
    }

    /// Returns the predicted time of operations in full batches.
    pub(crate) fn predict(&self, shape: Shape, ops: usize, bytes: usize) -> Duration {
        let mut state = self.lock();
        let Some(queue) = self.queue_of(&mut state, shape) else { return Duration::ZERO };
        Duration::from_nanos(state.scheduler.predict_ns(queue, ops, bytes) as u64)
    }

    /// Returns the predicted time of a tenant's waiting jobs and tasks.
    pub(crate) fn backlog(&self, tenant: u64) -> Duration {
        Duration::from_nanos(self.lock().scheduler.backlog_ns(tenant) as u64)
    }

    /// Wakes every worker. If an engine enters or leaves quarantine, any queue may have become ready.
    pub(crate) fn wake_all(&self) {
        self.near_work.notify_all();
        self.far_work.notify_all();
        self.task_work.notify_all();
    }

    fn finish(&self, state: &mut LockedState, report: Option<RunReport>) {
        state.busy -= 1;
        if let Some(report) = report {
            state.scheduler.observe(report.shape, report.engine, report.ops, report.bytes, report.took_ns);
        }
    }

    /// Returns a snapshot of the counters.
    pub(crate) fn counters(&self) -> DispatchCounters {
        let queued = self.lock().queued;
        let counters = self.metrics.read();
        DispatchCounters { submitted: counters.submitted + queued, ..counters }
    }

    /// Returns the number of waiting operations by the name of a shape or holder.
    pub(crate) fn queued(&self) -> Vec<(String, usize)> {
        let queued: Vec<_> = self.lock().scheduler.queued().collect();
        let name = |queue_key| match queue_key {
            QueueKey::Engines(shape) => shape.to_string(),
            QueueKey::Holder(holder) => self.blueprint.holders[holder].name().to_owned(),
            QueueKey::Tasks => "tasks".to_owned(),
        };
        queued.into_iter().map(|(queue_key, operations)| (name(queue_key), operations)).collect()
    }

    /// Passes the measurement of a bulk batch to the cost model. Bulk work is not counted in flight.
    pub(crate) fn observe(&self, report: RunReport) {
        let scheduler = &mut self.lock().scheduler;
        scheduler.observe(report.shape, report.engine, report.ops, report.bytes, report.took_ns);
    }

    /// Blocks a worker until there is something to do. Returns None if the worker should end. The same call reports
    /// the end of the worker's last batch, so that a batch costs one acquisition of the lock.
    pub(crate) fn next(
        &self,
        kind: WorkerKind,
        finished: Option<Option<FinishedBatch>>,
    ) -> Option<Decision<Arc<Submission>>> {
        let mut state = self.lock();
        if let Some(finished) = finished {
            if let Some(FinishedBatch { report, shares }) = &finished {
                shares.correct(report.took_ns, |tenant, more_ns| state.scheduler.correct(tenant, more_ns));
            }
            self.finish(&mut state, finished.map(|finished| finished.report));
        }
        let mut may_spin = kind == WorkerKind::Near;
        loop {
            if self.is_stopping() {
                return None;
            }
            let decision = self.choose_next(&mut state, kind);
            match decision {
                Decision::Idle if may_spin && self.spinning.load(Ordering::Relaxed) == 0 => {
                    drop(state);
                    self.spin();
                    may_spin = false;
                    state = self.lock();
                }
                Decision::Idle => state = self.park(state, kind, None),
                Decision::WaitUntil(time) => {
                    let wait = Duration::from_nanos(time.saturating_sub(self.now()));
                    state = self.park(state, kind, Some(wait));
                }
                decision => return Some(self.begin_batch(&mut state, decision)),
            }
        }
    }

    fn choose_next(&self, state: &mut LockedState, kind: WorkerKind) -> Decision<Arc<Submission>> {
        let workers = self.config().threads;
        match kind {
            WorkerKind::Near => {
                let idle_others = state.parked + self.spinning.load(Ordering::Relaxed);
                state.scheduler.next(self.now(), WorkerLoad { idle_others: idle_others.min(workers - 1) })
            }
            WorkerKind::Far(engine) => state.scheduler.next_far(engine, workers),
        }
    }

    /// Counts a batch out of the queue and into flight. If more operations wait, the next worker is woken: workers
    /// wake each other one by one instead of all at once.
    fn begin_batch(
        &self,
        state: &mut LockedState,
        decision: Decision<Arc<Submission>>,
    ) -> Decision<Arc<Submission>> {
        let items = match &decision {
            Decision::Run(plan) => plan.items.as_slice(),
            Decision::Start { items, .. } | Decision::Fail { items, .. } | Decision::Refuse { items, .. } => {
                items.as_slice()
            }
            Decision::Do(_) | Decision::Probe(_) => &[],
            Decision::WaitUntil(_) | Decision::Idle => return decision,
        };
        for item in items {
            item.owner.leave_queue(item.count);
        }
        state.busy += 1;
        if self.note_pending(state) {
            self.near_work.notify_one();
        }
        decision
    }

    /// Looks for jobs for a short time without the lock, because waking a sleeping thread costs more than most jobs.
    fn spin(&self) {
        self.spinning.fetch_add(1, Ordering::AcqRel);
        for _ in 0..self.config().spins {
            if self.pending.load(Ordering::Acquire) > 0 || self.is_stopping() {
                break;
            }
            std::hint::spin_loop();
        }
        self.spinning.fetch_sub(1, Ordering::AcqRel);
    }

    fn park<'a>(
        &'a self,
        mut state: MutexGuard<'a, LockedState>,
        kind: WorkerKind,
        at_most: Option<Duration>,
    ) -> MutexGuard<'a, LockedState> {
        if let WorkerKind::Far(_) = kind {
            return self.far_work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.parked += 1;
        let mut state = match at_most {
            None => self.near_work.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(time) => self.near_work.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0,
        };
        state.parked -= 1;
        state.woken = state.woken.saturating_sub(1);
        state
    }

    /// Ends a submission that was cancelled, has expired or cannot be answered.
    pub(crate) fn end_early(&self, submission: &Arc<Submission>, end: SubmissionEnd) -> bool {
        let counter = match end {
            SubmissionEnd::Expired => &self.metrics.expired,
            SubmissionEnd::Cancelled => &self.metrics.cancelled,
            _ => &self.metrics.failed,
        };
        let counter =
            if submission.queue_key == QueueKey::Tasks { &self.metrics.tasks_dropped } else { counter };
        if !submission.end_early(end, counter) {
            return false;
        }
        let mut state = self.lock();
        let queued = submission.take_queued();
        if queued > 0 {
            let bytes = (submission.bytes() * queued / submission.len().max(1)) as u64;
            state.scheduler.forget(
                submission.queue_key,
                submission.tenant,
                queued,
                bytes,
                submission.task_ns(),
            );
            self.pending.store(state.scheduler.live(), Ordering::Release);
        }
        drop(state);
        // The closure of a task is dropped now. Its queue item may stay for long, and the closure may hold a caller's
        // resources.
        drop(submission.task().and_then(CallerTask::take));
        true
    }

    /// Returns the wanted items of a faulted or abandoned batch to their queue. Items that failed too often are
    /// answered with `reason`.
    pub(crate) fn run_again(&self, shape: Shape, items: &[QueueItem<Arc<Submission>>], reason: &str) {
        let mut state = self.lock();
        if self.is_stopping() {
            drop(state);
            for item in items {
                self.end_early(&item.owner, SubmissionEnd::ShutDown);
            }
            return;
        }
        // This runs under the lock. A submission that ends later then finds its operations queued and removes them
        // from the count.
        let live = items.iter().filter(|item| item.owner.end() == SubmissionEnd::Live);
        let (again, given_up): (Vec<_>, Vec<_>) =
            live.cloned().partition(|item| item.attempts < MAX_ATTEMPTS);
        for item in &again {
            item.owner.enter_queue(item.count);
        }
        count(&self.metrics.rerun, again.iter().map(|item| item.count as usize).sum());
        // The queue may have been replaced while nothing waited in it; this creates it again.
        let _ = self.queue_of(&mut state, shape);
        state.scheduler.submit_again(QueueKey::of(shape), again);
        self.note_pending(&mut state);
        drop(state);
        self.wake_all();
        self.fail(shape, &given_up, reason);
    }

    /// Answers items with an engine failure.
    pub(crate) fn fail(&self, shape: Shape, items: &[QueueItem<Arc<Submission>>], reason: &str) {
        self.answer_errors(items, &JobError::EngineFailed { shape, reason: reason.to_owned() });
    }

    /// Answers items with an error.
    pub(crate) fn answer_errors(&self, items: &[QueueItem<Arc<Submission>>], error: &JobError) {
        for item in items {
            item.owner.answer_error(item.first, item.count, error, &self.metrics.failed);
        }
    }

    /// Returns true for about this share of the calls, in an order that peers cannot predict.
    pub(crate) fn is_sampled(&self, share: f64) -> bool {
        self.sample(share, 1).next().is_some()
    }

    /// Returns about this share of the numbers below `count`, in the same way.
    pub(crate) fn sample(&self, share: f64, count: usize) -> impl Iterator<Item = usize> + use<> {
        // unreachable because no batch has 2^32 jobs
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let first = self.sampler.fetch_add(STEP.wrapping_mul(count), Ordering::Relaxed);
        let max = if share >= 1.0 { u64::MAX } else { (share.max(0.0) * f64::from(u32::MAX)) as u64 };
        let is_meant = move |at: &u32| u64::from(scattered(first.wrapping_add(STEP.wrapping_mul(*at)))) < max;
        (0..count).filter(is_meant).map(|at| at as usize)
    }

    /// Stops the threads and ends everything that waits. Batches in flight are finished first, unless they hang.
    pub(crate) fn stop(&self) {
        let drained = {
            let mut state = self.lock();
            self.is_stopping.store(true, Ordering::Release);
            state.scheduler.drain()
        };
        self.wake_all();
        for item in drained {
            let is_task = item.owner.task().is_some();
            let counter = if is_task { &self.metrics.tasks_dropped } else { &self.metrics.failed };
            item.owner.end_early(SubmissionEnd::ShutDown, counter);
            drop(item.owner.task().and_then(CallerTask::take));
        }
        self.threads.join(&self.timers, self.config().hang_after);
        // The watchdog has ended, so no deadline would end the jobs that a holder still keeps.
        for submission in self.timers.expired(Nanos::MAX) {
            submission.end_early(SubmissionEnd::ShutDown, &self.metrics.failed);
        }
    }

    /// Returns the batches in flight, for the watchdog.
    pub(crate) fn flights(&self) -> Vec<Arc<BatchFlight>> {
        self.threads.flights()
    }
}

/// The first engine is baseline, fallback and referee.
pub(crate) const REFEREE: usize = 0;
/// The number of runs after which a failed job is answered with its failure.
const MAX_ATTEMPTS: u8 = 4;

pub(crate) fn unsupported(shape: Shape) -> JobError {
    JobError::Unsupported { wanted: shape.to_string() }
}

/// The step of the sampler per job: 2^32 divided by the golden ratio, so that successive values spread evenly.
const STEP: u32 = 0x9E37_79B9;

/// Mixes the bits of `x`.
fn scattered(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x21F0_AAAD);
    let x = (x ^ (x >> 15)).wrapping_mul(0x735A_2D97);
    x ^ (x >> 15)
}

/// Returns a seed that is unpredictable enough for sampling. The standard library seeds its hashers from the system.
fn seed() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() as u32
}

impl fmt::Debug for DispatchState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inner(generation {}, {} engines)", self.generation, self.blueprint.engines.len())
    }
}
