//! The dispatcher as its users hold it.

use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use oarlock_core::{
    BatchSize, Engine, HeldJob, Holder, JobError, Jobs, Key, KeyHome, Operation, OperationSet, Outcomes,
    Records, SecondInput, Shape,
};

use crate::appraisal::FirstUseProbe;
use crate::aside::Quarantined;
use crate::config::SchedulerConfig;
use crate::cost::EngineCost;
use crate::fork;
use crate::group::{Group, Payload};
use crate::histograms::Histograms;
use crate::inner::{Blueprint, Inner, Prober, REFEREE, Report, unsupported};
use crate::metrics::{DispatchCounters, count};
use crate::queue::{Lane, Nanos};
use crate::results::Results;
use crate::task::Task;
use crate::ticket::Ticket;

/// Queues jobs, chooses engine and batch size by cost, checks results and fails over. Cheap to clone; the last handle
/// dropped stops its threads. In a forked child it starts anew.
#[derive(Clone, Debug)]
pub struct Dispatcher(Arc<Shared>);

struct Shared {
    blueprint: Arc<Blueprint>,
    first: Generation,
}

/// What one process of a family of forks uses. A child appends its own; the parent's is never touched there, because its
/// locks may be held by threads that did not come along.
struct Generation {
    inner: Arc<Inner>,
    next: OnceLock<Box<Self>>,
}

/// What a submission asks for beside its jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubmitOptions {
    /// Whose jobs these are: engine time is shared equally between tenants that have something waiting, each with its own bounds.
    pub tenant: u64,
    /// Counted from now; after it, jobs without an answer end with `DeadlineExceeded`.
    pub deadline: Option<Duration>,
    /// Never computed on the caller's thread, however idle the workers and cheap the job. For callers whose stack is short, such as
    /// OpenSSL's `ASYNC_JOB` fibres with 32 KiB: an engine's batch takes more than that. Submitting itself stays shallow: it
    /// copies inputs, takes a lock and, the first time, starts threads; its errors come the same way.
    pub never_on_caller_thread: bool,
    /// Queued, and no worker is called yet: the first poll of the answer wakes its own task, and the second one calls. By then the
    /// other tasks that were ready in the executor have brought their jobs too, and a batch is made of them where each alone would
    /// have been computed at once. For tasks that are many on few threads. Where [`wait`](Ticket::wait) is used, that calls.
    pub coalesce: bool,
}

/// Makes a [`Dispatcher`].
#[derive(Clone)]
pub struct DispatcherBuilder {
    config: SchedulerConfig,
    engines: Vec<Arc<dyn Engine>>,
    costs: Vec<(&'static str, Shape, EngineCost)>,
    holders: Vec<Arc<dyn Holder>>,
    prober: Prober,
    appraiser: Option<FirstUseProbe>,
}

impl DispatcherBuilder {
    /// A dispatcher around `referee`, the engine that is baseline, fallback and judge of disputes.
    #[must_use]
    pub fn new(referee: Arc<dyn Engine>) -> Self {
        Self {
            config: SchedulerConfig::default(),
            engines: vec![referee],
            costs: Vec::new(),
            holders: Vec::new(),
            prober: Arc::new(|_, _| false),
            appraiser: None,
        }
    }

    /// Settings.
    #[must_use]
    pub fn config(mut self, config: SchedulerConfig) -> Self {
        self.config = SchedulerConfig { threads: config.threads.max(1), ..config };
        self
    }

    /// A further engine.
    #[must_use]
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engines.push(engine);
        self
    }

    /// The measured cost of an engine for a shape.
    #[must_use]
    pub fn cost(mut self, engine: &'static str, shape: Shape, cost: EngineCost) -> Self {
        self.costs.push((engine, shape, cost));
        self
    }

    /// A holder of keys.
    #[must_use]
    pub fn holder(mut self, holder: Arc<dyn Holder>) -> Self {
        self.holders.push(holder);
        self
    }

    /// The self test that an engine put aside must pass before it returns. Without one it never does.
    #[must_use]
    pub fn prober(
        mut self,
        prober: impl Fn(&dyn Engine, Option<Shape>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.prober = Arc::new(prober);
        self
    }

    /// How engines are asked about a shape at its first use, where an answer takes long, in place of [`Engine::offers`] and
    /// [`cost`](Self::cost): on a worker or on the thread that computes, never under a lock, and by one thread at a time for each
    /// shape. A queued job of a shape that turns out not to be offered is answered with [`JobError::Unsupported`].
    #[must_use]
    pub fn appraiser(
        mut self,
        appraiser: impl Fn(&dyn Engine, Shape) -> Option<(BatchSize, EngineCost)> + Send + Sync + 'static,
    ) -> Self {
        self.appraiser = Some(Arc::new(appraiser));
        self
    }

    /// The dispatcher. No thread starts before the first queued job.
    #[must_use]
    pub fn build(self) -> Dispatcher {
        let index_of = |name: &str| self.engines.iter().position(|engine| engine.name() == name);
        let costs =
            self.costs.iter().filter_map(|(name, shape, cost)| Some((index_of(name)?, *shape, *cost)));
        let blueprint = Arc::new(Blueprint {
            costs: costs.collect(),
            config: self.config,
            engines: self.engines,
            holders: self.holders,
            prober: self.prober,
            appraiser: self.appraiser,
        });
        fork::watch();
        let first = Generation::new(&blueprint);
        Dispatcher(Arc::new(Shared { blueprint, first }))
    }
}

impl Dispatcher {
    /// Submits one operation: on this thread where all is idle, it is cheap and `options` do not forbid it, else through the queue.
    ///
    /// # Errors
    /// The operation does not fit its shape, no engine offers it, or the tenant's queue is full.
    pub fn submit(
        &self,
        shape: Shape,
        key: &Key,
        input: &[u8],
        extra: SecondInput<'_>,
        options: SubmitOptions,
    ) -> Result<Ticket, JobError> {
        let extra_len = match extra {
            SecondInput::Signature(signature) => signature.len(),
            SecondInput::NonceInput(_) => 32,
            SecondInput::None => 0,
        };
        let mut set = OperationSet::with_capacity(shape, 1, input.len() + extra_len);
        set.push(key, input, extra)?;
        self.submit_many(set, options)
    }

    /// Submits a set as one: it is answered as one, whatever batches it shares.
    ///
    /// # Errors
    /// No engine offers the shape, it is one of records, or the tenant's queue is full; then no job of the set is done.
    pub fn submit_many(&self, set: OperationSet, options: SubmitOptions) -> Result<Ticket, JobError> {
        let inner = self.inner();
        let (shape, ops, bytes) = (set.shape(), set.len(), set.input_bytes());
        if shape.is_record() {
            return Err(unsupported(shape));
        }
        let group = Group::new(Payload::Operations(set), Lane::of(shape), options.tenant);
        let may_run_here = ops > 0 && !options.never_on_caller_thread && !options.coalesce;
        if may_run_here && inner.claim_caller_run(shape, ops, bytes) && run_here(inner, shape, &group) {
            return Ok(Ticket::new(group, Arc::clone(inner)));
        }
        self.queue(inner, group, options)
    }

    /// Submits records; their outcome is one.
    ///
    /// # Errors
    /// A column does not cover the records, no engine offers the shape, or the tenant's queue is full.
    pub fn submit_records(
        &self,
        shape: Shape,
        records: Records<'static>,
        options: SubmitOptions,
    ) -> Result<Ticket, JobError> {
        check_complete(shape, &records)?;
        let inner = self.inner();
        let group = Group::new(Payload::Records(shape, Box::new(records)), Lane::of(shape), options.tenant);
        self.queue(inner, group, options)
    }

    /// Submits whole jobs whose keys live with one holder. Without a deadline they get the holder's patience.
    ///
    /// # Errors
    /// A key has another home, the holder is not known here, or the tenant's queue is full.
    pub fn submit_held(&self, jobs: Vec<HeldJob>, options: SubmitOptions) -> Result<Ticket, JobError> {
        let inner = self.inner();
        let holder = self.holder_of(&jobs)?;
        let group = Group::new(Payload::Held(jobs), Lane::Holder(holder), options.tenant);
        let deadline = options.deadline.or(Some(inner.config().holder_patience));
        self.queue(inner, group, SubmitOptions { deadline, ..options })
    }

    /// Has a thread of this dispatcher run a task, predicted to take so long, when it is its tenant's turn: jobs and tasks of a tenant
    /// are charged to one account. One tenant gets at most as many threads as there are workers, of twice as many. Dropping the
    /// ticket drops a task that has not begun. The ticket brings no results: the task gives them away itself.
    ///
    /// # Errors
    /// The tenant has too much waiting: then [`JobError::Overloaded`] counts milliseconds. Or there are no threads.
    pub fn submit_task(
        &self,
        tenant: u64,
        predicted: Duration,
        task: impl FnOnce() + Send + 'static,
    ) -> Result<Ticket, JobError> {
        let inner = self.inner();
        let predicted_ns = Nanos::try_from(predicted.as_nanos()).unwrap_or(Nanos::MAX);
        let group = Group::new(Payload::Task(Task::new(predicted_ns, task)), Lane::Tasks, tenant);
        inner.enqueue_task(&group)?;
        Ok(Ticket::new(group, Arc::clone(inner)))
    }

    /// Returns the time that so many operations of a shape, with so many bytes together, are predicted to take. They run in full batches
    /// on one thread. Zero if no engine offers the shape.
    #[must_use]
    pub fn predict(&self, shape: Shape, ops: usize, bytes: usize) -> Duration {
        self.inner().predict(shape, ops, bytes)
    }

    /// Returns the time that a tenant's waiting jobs and tasks are predicted to take.
    #[must_use]
    pub fn backlog(&self, tenant: u64) -> Duration {
        self.inner().backlog(tenant)
    }

    /// Computes a set on this thread, in full batches and without a queue.
    #[must_use]
    pub fn run_all(&self, set: &OperationSet) -> Results {
        let inner = self.inner();
        if set.shape().is_record() {
            return Results::refused(set.len(), unsupported(set.shape()));
        }
        count(&inner.metrics.submitted, set.len());
        inner.run_all(set)
    }

    /// Computes records on this thread, without a queue.
    ///
    /// # Errors
    /// A column does not cover the records, or no engine can do them.
    pub fn run_records(&self, shape: Shape, records: &Records<'_>) -> Result<Outcomes, JobError> {
        let mut outcomes = Outcomes::default();
        self.run_records_into(shape, records, &mut outcomes)?;
        Ok(outcomes)
    }

    /// The same into outcomes of an earlier call, whose memory is used again: that of many short records costs as much to get as
    /// they do to compute. Empty where this fails.
    ///
    /// # Errors
    /// As [`run_records`](Self::run_records).
    pub fn run_records_into(
        &self,
        shape: Shape,
        records: &Records<'_>,
        outcomes: &mut Outcomes,
    ) -> Result<(), JobError> {
        let inner = self.inner();
        let ran = check_complete(shape, records).and_then(|()| {
            count(&inner.metrics.submitted, records.len);
            inner.run_records(shape, records, outcomes)
        });
        // What a failing engine wrote is for nobody.
        ran.inspect_err(|_| *outcomes = Outcomes::default())
    }

    /// The counters now.
    #[must_use]
    pub fn counters(&self) -> DispatchCounters {
        self.inner().counters()
    }

    /// The histograms now.
    #[must_use]
    pub fn histograms(&self) -> Histograms {
        let inner = self.inner();
        inner.recorders.read(|engine| inner.engine(engine).name())
    }

    /// Operations that wait now, by the name of a shape or of a holder, and tasks.
    #[must_use]
    pub fn queued(&self) -> Vec<(String, usize)> {
        self.inner().queued()
    }

    /// Engines put aside now.
    #[must_use]
    pub fn aside(&self) -> Vec<Quarantined> {
        self.inner().list_aside()
    }

    /// Probes every engine put aside, on this thread, without waiting for its time.
    pub fn probe(&self) {
        self.inner().probe_all();
    }

    /// The cost model as it is now, for a shape: engine name and cost.
    #[must_use]
    pub fn costs(&self, shape: Shape) -> Vec<(&'static str, EngineCost)> {
        let inner = self.inner();
        // Two, so that others than the referee are asked.
        let (state, _) = inner.lock_for(shape, 2);
        let choices = state.scheduler.choices(shape);
        choices.iter().map(|choice| (inner.engine(choice.engine).name(), choice.cost)).collect()
    }

    /// The engines, the referee first.
    pub fn engines(&self) -> impl Iterator<Item = &dyn Engine> {
        self.0.blueprint.engines.iter().map(|engine| &**engine)
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &SchedulerConfig {
        &self.0.blueprint.config
    }

    fn queue(
        &self,
        inner: &Arc<Inner>,
        group: Arc<Group>,
        options: SubmitOptions,
    ) -> Result<Ticket, JobError> {
        let after = |deadline: Duration| {
            inner.now().saturating_add(Nanos::try_from(deadline.as_nanos()).unwrap_or(Nanos::MAX))
        };
        if group.len() > 0 {
            inner.enqueue(&group, options.deadline.map(after), options.coalesce)?;
        }
        let ticket = Ticket::new(group, Arc::clone(inner));
        Ok(if options.coalesce { ticket.uncalled() } else { ticket })
    }

    fn holder_of(&self, jobs: &[HeldJob]) -> Result<usize, JobError> {
        let mut holders = jobs.iter().map(|job| match job.key.home() {
            KeyHome::Held { holder, .. } => Ok(holder),
            KeyHome::Local => Err(JobError::KeyType { wanted: "a holder".into(), found: job.key.kind() }),
        });
        let Some(first) = holders.next().transpose()? else { return Ok(0) };
        if holders.any(|holder| holder.as_ref().ok() != Some(&first)) {
            return Err(JobError::Malformed { what: "the keys of one submission have different homes" });
        }
        let known = self.0.blueprint.holders.iter().position(|holder| *holder.name() == **first);
        known.ok_or_else(|| JobError::Unsupported { wanted: format!("holder {first}") })
    }

    /// What this process uses.
    fn inner(&self) -> &Arc<Inner> {
        let mut generation = &self.0.first;
        while generation.inner.is_foreign() {
            generation = generation.next.get_or_init(|| Box::new(Generation::new(&self.0.blueprint)));
        }
        &generation.inner
    }
}

/// Runs a submission on its caller's thread and answers it; false where the referee failed, so that it must be queued.
fn run_here(inner: &Arc<Inner>, shape: Shape, group: &Arc<Group>) -> bool {
    let Payload::Operations(set) = &group.payload else { return false };
    let mut flight = CallerRun { inner, report: None };
    let at_work = AtomicUsize::new(REFEREE);
    let result = match set.get(0) {
        Some(operation) if set.len() == 1 => {
            inner.compute(REFEREE, &Jobs::Operations(shape, &[operation]), &at_work)
        }
        _ => {
            let operations: Vec<Operation<'_>> = set.iter().collect();
            inner.compute(REFEREE, &Jobs::Operations(shape, &operations), &at_work)
        }
    };
    let Ok((outcomes, took_ns)) = result else { return false };
    flight.report = Some(Report { engine: REFEREE, shape, ops: group.len(), bytes: group.bytes(), took_ns });
    count(&inner.metrics.submitted, group.len());
    count(&inner.metrics.on_caller, group.len());
    inner.recorders.answered_here(shape, group.len(), took_ns);
    group.answer_all(outcomes, &inner.metrics.completed);
    true
}

/// A batch in flight on its caller's thread, which ends even where that thread unwinds.
struct CallerRun<'a> {
    inner: &'a Inner,
    report: Option<Report>,
}

impl Drop for CallerRun<'_> {
    fn drop(&mut self) {
        self.inner.end_flight(self.report.take());
    }
}

fn check_complete(shape: Shape, records: &Records<'_>) -> Result<(), JobError> {
    if !shape.is_record() {
        return Err(unsupported(shape));
    }
    if !records.is_complete() {
        return Err(JobError::Malformed { what: "a column does not cover every record" });
    }
    Ok(())
}

impl Generation {
    fn new(blueprint: &Arc<Blueprint>) -> Self {
        Self { inner: Inner::new(Arc::clone(blueprint)), next: OnceLock::new() }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut generation = Some(&self.first);
        while let Some(own) = generation {
            if !own.inner.is_foreign() {
                own.inner.stop();
            }
            generation = own.next.get().map(|next| &**next);
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.blueprint.engines.iter().map(|engine| engine.name())).finish()
    }
}

impl fmt::Debug for DispatcherBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.engines.iter().map(|engine| engine.name())).finish()
    }
}
