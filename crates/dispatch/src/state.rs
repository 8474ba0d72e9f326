//! What callers, workers and the watchdog of one process share.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock_core::{Engine, EngineLocation, Holder, JobError, Shape};

use crate::appraisal::FirstUseProbe;
use crate::aside::Asides;
use crate::class::{class_of, modulus_bits, scaled, shortest_of};
use crate::config::SchedulerConfig;
use crate::cost::EngineCost;
use crate::flight::{Flight, Shares};
use crate::fork;
use crate::group::{End, Group};
use crate::histograms::Recorders;
use crate::metrics::{DispatchCounters, Metrics, count};
use crate::queue::{Choice, Item, Lane, Nanos, Work};
use crate::scheduler::{Asking, Decision, Scheduler, choice};
use crate::task::Task;
use crate::threads::Threads;
use crate::timers::Timers;

/// Decides by known answers whether an engine put aside may return: for one shape, or for all it offers.
pub type Prober = Arc<dyn Fn(&dyn Engine, Option<Shape>) -> bool + Send + Sync>;

/// Everything that a dispatcher is made of, and made anew of in a forked child.
pub(crate) struct Blueprint {
    pub(crate) config: SchedulerConfig,
    pub(crate) engines: Vec<Arc<dyn Engine>>,
    /// Cost by engine and shape, where it has been measured.
    pub(crate) costs: Vec<(usize, Shape, EngineCost)>,
    pub(crate) holders: Vec<Arc<dyn Holder>>,
    pub(crate) prober: Prober,
    /// How engines are asked about a shape at its first use; None where they can say at once.
    pub(crate) appraiser: Option<FirstUseProbe>,
}

pub(crate) struct Inner {
    pub(crate) blueprint: Arc<Blueprint>,
    pub(crate) metrics: Metrics,
    pub(crate) recorders: Recorders,
    pub(crate) asides: Asides,
    pub(crate) timers: Timers,
    pub(crate) threads: Threads,
    /// Wakes near workers.
    work: Condvar,
    /// Wakes far workers.
    far_work: Condvar,
    /// Wakes threads for tasks.
    pub(crate) task_work: Condvar,
    /// Wakes who waits for engines to be asked.
    pub(crate) answered: Condvar,
    state: Mutex<State>,
    /// Live queued operations, for workers that look without the lock.
    pending: AtomicUsize,
    spinning: AtomicUsize,
    is_stopping: AtomicBool,
    sampler: AtomicU32,
    origin: Instant,
    /// Which process of a line of forks made this.
    generation: u32,
}

pub(crate) struct State {
    pub(crate) scheduler: Scheduler<Arc<Group>>,
    /// Batches running now, on workers and on callers.
    busy: usize,
    /// Workers asleep.
    parked: usize,
    /// Of these, those that have been called.
    called: usize,
    /// Operations that came in through the queue: counted here because its line is at hand under the lock.
    queued: u64,
}

/// What a worker has just run, told with its next question so that a batch costs one lock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    pub(crate) engine: usize,
    pub(crate) shape: Shape,
    pub(crate) ops: usize,
    pub(crate) bytes: usize,
    pub(crate) took_ns: f64,
}

/// The information that a worker gives about its last batch.
#[derive(Debug)]
pub(crate) struct Learnt {
    pub(crate) report: Report,
    pub(crate) shares: Shares,
}

/// Who asks for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Near,
    Far(usize),
}

impl Inner {
    pub(crate) fn new(blueprint: Arc<Blueprint>) -> Arc<Self> {
        let scheduler = Scheduler::new(blueprint.config.clone(), REFEREE, blueprint.engines.len());
        Arc::new(Self {
            metrics: Metrics::default(),
            recorders: Recorders::new(blueprint.engines.len()),
            asides: Asides::default(),
            timers: Timers::default(),
            threads: Threads::default(),
            work: Condvar::new(),
            far_work: Condvar::new(),
            task_work: Condvar::new(),
            answered: Condvar::new(),
            state: Mutex::new(State { scheduler, busy: 0, parked: 0, called: 0, queued: 0 }),
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

    /// True in a forked child of the process that made this.
    pub(crate) fn is_foreign(&self) -> bool {
        self.generation != fork::generation()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queue of a shape, or None where it is known that no engine offers it.
    pub(crate) fn queue_of(&self, state: &mut State, shape: Shape) -> Option<usize> {
        let index = match self.blueprint.appraiser {
            None => state.scheduler.queue_for(Lane::of(shape), || self.choices(class_of(shape))),
            Some(_) => state.scheduler.queue_unasked(shape),
        };
        state.scheduler.has_choices(index).then_some(index)
    }

    /// The engines that offer every shape of a class.
    fn choices(&self, class: Shape) -> Vec<Choice> {
        let is_serving = |index: &usize| *index != REFEREE || self.config().referee_serves;
        let engines = self.blueprint.engines.iter().enumerate().filter(|(index, _)| is_serving(index));
        let offers = engines.filter_map(|(index, engine)| {
            let lanes = engine.offers(class)?;
            engine.offers(shortest_of(class))?;
            let cost = self.first_cost(index, class).unwrap_or_default();
            Some(choice(index, lanes, cost, engine.location() == EngineLocation::Far))
        });
        offers.collect()
    }

    /// The cost of a shape as it was measured, or as that of the nearest length suggests.
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

    /// Puts a submission into its queue and wakes who may serve it; near workers only where `coalesce` does not leave that to
    /// [`call_near`](Self::call_near).
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        group: &Arc<Group>,
        deadline: Option<Nanos>,
        coalesce: bool,
    ) -> Result<(), JobError> {
        self.threads.ensure_started(self)?;
        let now = self.now();
        let patience = u64::try_from(self.config().target_latency.as_nanos()).unwrap_or(u64::MAX);
        let item = group.item(now, deadline.unwrap_or_else(|| now.saturating_add(patience)));
        let ops = item.count;
        let mut state = self.lock();
        if self.is_stopping() {
            return Err(JobError::ShutDown);
        }
        let queue = match group.lane {
            Lane::Engines(class) => {
                self.queue_of(&mut state, class).ok_or_else(|| unsupported(group.shape().unwrap_or(class)))?
            }
            lane @ (Lane::Holder(_) | Lane::Tasks) => state.scheduler.queue_for(lane, Vec::new),
        };
        state.scheduler.submit(queue, item).inspect_err(|_| count(&self.metrics.refused, ops as usize))?;
        group.enter_queue(ops);
        state.queued += u64::from(ops);
        let is_far_wanted = state.scheduler.has_surplus(queue, self.config().threads);
        let is_near_wanted = !coalesce && self.note_pending(&mut state);
        if coalesce {
            self.pending.store(state.scheduler.live(), Ordering::Release);
        }
        drop(state);
        if is_near_wanted {
            self.work.notify_one();
        }
        if is_far_wanted {
            self.far_work.notify_all();
        }
        if let Some(deadline) = deadline {
            self.timers.add(deadline, group);
        }
        Ok(())
    }

    /// Calls a worker to what was gathered, if anything of it still waits.
    pub(crate) fn call_near(&self) {
        if self.pending.load(Ordering::Acquire) == 0 {
            return;
        }
        let is_wanted = self.note_pending(&mut self.lock());
        if is_wanted {
            self.work.notify_one();
        }
    }

    /// Publishes how much waits; true where a sleeping worker has to be called beside those already looking.
    fn note_pending(&self, state: &mut State) -> bool {
        let live = state.scheduler.live();
        self.pending.store(live, Ordering::Release);
        let is_wanted =
            state.parked > state.called && live > state.called + self.spinning.load(Ordering::Relaxed);
        state.called += usize::from(is_wanted);
        is_wanted
    }

    /// Takes a batch in flight for the caller's thread where all is idle and `ops` operations are cheap on the referee.
    pub(crate) fn claim_caller_run(&self, shape: Shape, ops: usize, bytes: usize) -> bool {
        let budget = self.config().caller_budget.as_nanos() as f64;
        // A look without the lock spares a busy dispatcher a second round of it.
        if budget == 0.0 || self.pending.load(Ordering::Relaxed) > 0 {
            return false;
        }
        let mut state = self.lock();
        if state.busy > 0 || !state.scheduler.is_empty() {
            return false;
        }
        let Some(queue) = self.queue_of(&mut state, shape) else { return false };
        // Who submits is not made to wait for engines to be asked: a worker does that.
        let single_ns =
            state.scheduler.is_known(queue, ops).then(|| state.scheduler.single_ns(queue, ops, bytes));
        let is_cheap = single_ns.flatten().is_some_and(|cost| cost <= budget);
        state.busy += usize::from(is_cheap);
        is_cheap
    }

    /// Ends a batch in flight other than by a worker's next question: a caller's run, or an abandoned batch. Nobody waits while a
    /// caller runs, so that nobody is charged for it.
    pub(crate) fn end_flight(&self, report: Option<Report>) {
        let mut state = self.lock();
        self.finish(&mut state, report);
    }

    /// Predicted time of a submission that fills the lanes.
    pub(crate) fn predict(&self, shape: Shape, ops: usize, bytes: usize) -> Duration {
        let mut state = self.lock();
        let Some(queue) = self.queue_of(&mut state, shape) else { return Duration::ZERO };
        Duration::from_nanos(state.scheduler.predict_ns(queue, ops, bytes) as u64)
    }

    /// Predicted time of what a tenant has waiting.
    pub(crate) fn backlog(&self, tenant: u64) -> Duration {
        Duration::from_nanos(self.lock().scheduler.backlog_ns(tenant) as u64)
    }

    /// Lets every worker look again: what an engine's leaving or return changes is not known from any one queue.
    pub(crate) fn call_all(&self) {
        self.work.notify_all();
        self.far_work.notify_all();
        self.task_work.notify_all();
    }

    fn finish(&self, state: &mut State, report: Option<Report>) {
        state.busy -= 1;
        if let Some(report) = report {
            state.scheduler.observe(report.shape, report.engine, report.ops, report.bytes, report.took_ns);
        }
    }

    /// The counters now.
    pub(crate) fn counters(&self) -> DispatchCounters {
        let queued = self.lock().queued;
        let counters = self.metrics.read();
        DispatchCounters { submitted: counters.submitted + queued, ..counters }
    }

    /// Operations that wait now, by the name of a shape or a holder.
    pub(crate) fn queued(&self) -> Vec<(String, usize)> {
        let queued: Vec<_> = self.lock().scheduler.queued().collect();
        let name = |lane| match lane {
            Lane::Engines(shape) => shape.to_string(),
            Lane::Holder(holder) => self.blueprint.holders[holder].name().to_owned(),
            Lane::Tasks => "tasks".to_owned(),
        };
        queued.into_iter().map(|(lane, operations)| (name(lane), operations)).collect()
    }

    /// Notes a batch of bulk work, which was never in flight here.
    pub(crate) fn observe(&self, report: Report) {
        let scheduler = &mut self.lock().scheduler;
        scheduler.observe(report.shape, report.engine, report.ops, report.bytes, report.took_ns);
    }

    /// Blocks a worker until there is something to do; None when it should end. `learnt` ends its last batch.
    pub(crate) fn next(&self, asker: Asker, learnt: Option<Option<Learnt>>) -> Option<Decision<Arc<Group>>> {
        let mut state = self.lock();
        if let Some(learnt) = learnt {
            if let Some(Learnt { report, shares }) = &learnt {
                shares.correct(report.took_ns, |tenant, more_ns| state.scheduler.correct(tenant, more_ns));
            }
            self.finish(&mut state, learnt.map(|learnt| learnt.report));
        }
        let mut may_spin = asker == Asker::Near;
        loop {
            if self.is_stopping() {
                return None;
            }
            let decision = self.ask(&mut state, asker);
            match decision {
                Decision::Idle if may_spin && self.spinning.load(Ordering::Relaxed) == 0 => {
                    drop(state);
                    self.spin();
                    may_spin = false;
                    state = self.lock();
                }
                Decision::Idle => state = self.park(state, asker, None),
                Decision::WaitUntil(time) => {
                    let wait = Duration::from_nanos(time.saturating_sub(self.now()));
                    state = self.park(state, asker, Some(wait));
                }
                decision => return Some(self.take_off(&mut state, decision)),
            }
        }
    }

    fn ask(&self, state: &mut State, asker: Asker) -> Decision<Arc<Group>> {
        let workers = self.config().threads;
        match asker {
            Asker::Near => {
                let idle_others = state.parked + self.spinning.load(Ordering::Relaxed);
                state.scheduler.next(self.now(), Asking { idle_others: idle_others.min(workers - 1) })
            }
            Asker::Far(engine) => state.scheduler.next_far(engine, workers),
        }
    }

    /// Counts a decided batch out of the queue and into flight, and wakes the next worker where more waits.
    fn take_off(&self, state: &mut State, decision: Decision<Arc<Group>>) -> Decision<Arc<Group>> {
        let items = match &decision {
            Decision::Run(plan) => plan.items.as_slice(),
            Decision::Start { items, .. } | Decision::Fail { items, .. } | Decision::Refuse { items, .. } => {
                items.as_slice()
            }
            Decision::Do(_) | Decision::Ask(_) => &[],
            Decision::WaitUntil(_) | Decision::Idle => return decision,
        };
        for item in items {
            item.work.leave_queue(item.count);
        }
        state.busy += 1;
        if self.note_pending(state) {
            self.work.notify_one();
        }
        decision
    }

    /// Looks for work for a little while without the lock: waking a sleeping thread costs more than most jobs.
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
        mut state: MutexGuard<'a, State>,
        asker: Asker,
        at_most: Option<Duration>,
    ) -> MutexGuard<'a, State> {
        if let Asker::Far(_) = asker {
            return self.far_work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.parked += 1;
        let mut state = match at_most {
            None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(time) => self.work.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0,
        };
        state.parked -= 1;
        state.called = state.called.saturating_sub(1);
        state
    }

    /// Ends a submission that nobody wants or can have any more.
    pub(crate) fn end_early(&self, group: &Arc<Group>, end: End) -> bool {
        let counter = match end {
            End::Expired => &self.metrics.expired,
            End::Cancelled => &self.metrics.cancelled,
            _ => &self.metrics.failed,
        };
        let counter = if group.lane == Lane::Tasks { &self.metrics.tasks_dropped } else { counter };
        if !group.end_early(end, counter) {
            return false;
        }
        let mut state = self.lock();
        let queued = group.take_queued();
        if queued > 0 {
            let bytes = (group.bytes() * queued / group.len().max(1)) as u64;
            state.scheduler.forget(group.lane, group.tenant, queued, bytes, group.task_ns());
            self.pending.store(state.scheduler.live(), Ordering::Release);
        }
        drop(state);
        // What a task holds goes with it, not when its place in the queue is met.
        drop(group.task().and_then(Task::take));
        true
    }

    /// Returns the items of a faulted or abandoned batch to their queue, less those no longer wanted; what failed too
    /// often is answered with `reason`.
    pub(crate) fn run_again(&self, shape: Shape, items: &[Item<Arc<Group>>], reason: &str) {
        let mut state = self.lock();
        if self.is_stopping() {
            drop(state);
            for item in items {
                self.end_early(&item.work, End::ShutDown);
            }
            return;
        }
        // Under the lock: who ends later finds the operations queued and takes them off the count.
        let live = items.iter().filter(|item| item.work.end() == End::Live);
        let (again, given_up): (Vec<_>, Vec<_>) =
            live.cloned().partition(|item| item.attempts < MAX_ATTEMPTS);
        for item in &again {
            item.work.enter_queue(item.count);
        }
        count(&self.metrics.rerun, again.iter().map(|item| item.count as usize).sum());
        // The queue may have gone while nothing waited in it.
        let _ = self.queue_of(&mut state, shape);
        state.scheduler.submit_again(Lane::of(shape), again);
        self.note_pending(&mut state);
        drop(state);
        self.call_all();
        self.fail(shape, &given_up, reason);
    }

    /// Answers items with an engine failure.
    pub(crate) fn fail(&self, shape: Shape, items: &[Item<Arc<Group>>], reason: &str) {
        self.answer_errors(items, &JobError::EngineFailed { shape, reason: reason.to_owned() });
    }

    /// Answers items with an error.
    pub(crate) fn answer_errors(&self, items: &[Item<Arc<Group>>], error: &JobError) {
        for item in items {
            item.work.answer_error(item.first, item.count, error, &self.metrics.failed);
        }
    }

    /// True for about a share of the calls, in no order that a peer could know.
    pub(crate) fn is_sampled(&self, share: f64) -> bool {
        self.sample(share, 1).next().is_some()
    }

    /// About a share of the numbers below `count`, likewise.
    pub(crate) fn sample(&self, share: f64, count: usize) -> impl Iterator<Item = usize> + use<> {
        // unreachable because no batch has 2^32 jobs
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let first = self.sampler.fetch_add(STEP.wrapping_mul(count), Ordering::Relaxed);
        let max = if share >= 1.0 { u64::MAX } else { (share.max(0.0) * f64::from(u32::MAX)) as u64 };
        let is_meant = move |at: &u32| u64::from(scattered(first.wrapping_add(STEP.wrapping_mul(*at)))) < max;
        (0..count).filter(is_meant).map(|at| at as usize)
    }

    /// Stops the threads and ends what waits. Batches in flight are finished first, unless they hang.
    pub(crate) fn stop(&self) {
        let drained = {
            let mut state = self.lock();
            self.is_stopping.store(true, Ordering::Release);
            state.scheduler.drain()
        };
        self.call_all();
        for item in drained {
            let is_task = item.work.task().is_some();
            let counter = if is_task { &self.metrics.tasks_dropped } else { &self.metrics.failed };
            item.work.end_early(End::ShutDown, counter);
            drop(item.work.task().and_then(Task::take));
        }
        self.threads.join(&self.timers, self.config().hang_after);
        // Nobody is left to see to deadlines: jobs that a holder still keeps end here.
        for group in self.timers.expired(Nanos::MAX) {
            group.end_early(End::ShutDown, &self.metrics.failed);
        }
    }

    /// Flights that are up now, for the watchdog.
    pub(crate) fn flights(&self) -> Vec<Arc<Flight>> {
        self.threads.flights()
    }
}

/// The first engine is baseline, fallback and referee.
pub(crate) const REFEREE: usize = 0;
/// After so many failed runs a job is answered with the failure.
const MAX_ATTEMPTS: u8 = 4;

pub(crate) fn unsupported(shape: Shape) -> JobError {
    JobError::Unsupported { wanted: shape.to_string() }
}

/// What each job adds to the sampler.
const STEP: u32 = 0x9E37_79B9;

/// A number that looks random for each x.
fn scattered(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x21F0_AAAD);
    let x = (x ^ (x >> 15)).wrapping_mul(0x735A_2D97);
    x ^ (x >> 15)
}

/// Unpredictable enough to choose samples; the standard library seeds its hashers from the system.
fn seed() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() as u32
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inner(generation {}, {} engines)", self.generation, self.blueprint.engines.len())
    }
}
