//! The dispatcher's public interface.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oarlock_core::{
    Engine, JobError, Jobs, Key, KeyHome, Operation, OperationSet, Outcomes, OwnedJob, ProcessLocal, Records,
    SecondInput, Shape,
};

use crate::blueprint::{Blueprint, REFEREE, unsupported};
use crate::bulk::BulkRun;
use crate::check::CheckedRun;
use crate::clock::Nanos;
use crate::config::SchedulerConfig;
use crate::cost::EngineCost;
use crate::flight::{RunReport, RunningEngine};
use crate::fork::count_forks;
use crate::held::start_held;
use crate::histograms::Histograms;
use crate::long::LongOperation;
use crate::metrics::{DispatchCounters, count};
use crate::options::SubmitOptions;
use crate::quarantine::Quarantined;
use crate::queue::QueueKey;
use crate::results::Results;
use crate::state::DispatchState;
use crate::submission::{Payload, Submission};
use crate::task::CallerTask;
use crate::task_threads::enqueue_task;
use crate::ticket::Ticket;
use crate::watchdog::ensure_started;

/// Queues jobs, chooses engine and batch size by cost, checks results and fails over to other engines. Cheap to
/// clone. Dropping the last clone stops its threads. In a forked child it starts again with its own threads and
/// queues.
#[derive(Clone, Debug)]
pub struct Dispatcher(Arc<DispatcherShared>);

struct DispatcherShared {
    blueprint: Arc<Blueprint>,
    state: ProcessLocal<DispatchOwner>,
}

/// The state of the process that made it. Its drop stops the threads.
struct DispatchOwner(Arc<DispatchState>);

impl Dispatcher {
    pub(crate) fn new(blueprint: Arc<Blueprint>) -> Self {
        count_forks();
        Self(Arc::new(DispatcherShared { blueprint, state: ProcessLocal::new() }))
    }

    /// Submits one operation. It is computed on this thread if the dispatcher is idle, the operation is cheap and
    /// `options` allow it. Otherwise it is queued.
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

    /// Submits a set of operations under one ticket. Its operations may run in several batches, together with other
    /// submissions. Each operation of a long shape ([`Shape::is_long`]) is a task of its own
    /// ([`submit_task`](Self::submit_task)), so that it keeps no other job waiting.
    ///
    /// # Errors
    /// No engine offers the shape, it is a shape of records, or the tenant's queue is full. Then no job of the set is
    /// computed.
    pub fn submit_many(&self, set: OperationSet, options: SubmitOptions) -> Result<Ticket, JobError> {
        let dispatch = self.dispatch();
        let (shape, ops, bytes) = (set.shape(), set.len(), set.input_bytes());
        if shape.is_record() {
            return Err(unsupported(shape));
        }
        let submission =
            Submission::new(Payload::Operations(set), QueueKey::from_shape(shape), options.tenant);
        if shape.is_long() {
            return self.queue_long(dispatch, submission, options);
        }
        // Coalesced jobs wait for others on purpose, so they are not computed here one by one.
        let may_run_here = ops > 0 && !options.never_on_caller_thread && !options.coalesce;
        if may_run_here
            && dispatch.queues.claim_caller_run(shape, ops, bytes)
            && run_here(dispatch, shape, &submission)
        {
            return Ok(Ticket::new(submission, Arc::clone(dispatch)));
        }
        self.queue(dispatch, submission, options)
    }

    /// Submits records, which are computed in one batch.
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
        let dispatch = self.dispatch();
        let submission = Submission::new(
            Payload::Records(shape, Box::new(records)),
            QueueKey::from_shape(shape),
            options.tenant,
        );
        self.queue(dispatch, submission, options)
    }

    /// Submits jobs whose keys live with one holder. Without a deadline they get the configured `holder_patience`.
    ///
    /// # Errors
    /// A key has another home, the dispatcher has no such holder, or the tenant's queue is full.
    pub fn submit_held(&self, jobs: Vec<OwnedJob>, options: SubmitOptions) -> Result<Ticket, JobError> {
        let dispatch = self.dispatch();
        let holder = self.holder_of(&jobs)?;
        let submission = Submission::new(Payload::Held(jobs), QueueKey::Holder(holder), options.tenant);
        let deadline = options.deadline.or(Some(dispatch.config().holder_patience));
        // A holder without jobs gets these at once: no others wait that a worker could gather with them, and waking one
        // takes as long as a short signature. Otherwise those that come while it computes go to it together.
        if dispatch.at_holders.get(holder).is_some_and(|jobs| jobs.load(Ordering::Relaxed) == 0) {
            return self.start_at_once(dispatch, holder, submission, deadline);
        }
        self.queue(dispatch, submission, options.with_deadline(deadline))
    }

    /// Starts jobs of a holder on this thread.
    fn start_at_once(
        &self,
        dispatch: &Arc<DispatchState>,
        holder: usize,
        submission: Arc<Submission>,
        deadline: Option<Duration>,
    ) -> Result<Ticket, JobError> {
        if submission.len() > 0 {
            // The watchdog ends what is overdue.
            ensure_started(dispatch)?;
            count(&dispatch.metrics.submitted, submission.len());
            let due = deadline.map_or(Nanos::MAX, |deadline| dispatch.clock.after(deadline));
            if due < Nanos::MAX {
                dispatch.timers.add(due, &submission);
            }
            start_held(dispatch, holder, &[submission.item(dispatch.clock.now(), due)]);
        }
        Ok(Ticket::new(submission, Arc::clone(dispatch)))
    }

    /// Submits a task that runs on a thread of this dispatcher at its tenant's turn. Jobs and tasks of a tenant are
    /// charged to one account. One tenant gets at most half of the threads for tasks. Dropping the ticket drops a
    /// task that has not begun. The ticket carries no results: the task must pass them on itself.
    ///
    /// # Errors
    /// The tenant's backlog is full, and then [`JobError::Overloaded`] counts milliseconds; or no thread can be
    /// started.
    pub fn submit_task(
        &self,
        tenant: u64,
        predicted: Duration,
        task: impl FnOnce() + Send + 'static,
    ) -> Result<Ticket, JobError> {
        let dispatch = self.dispatch();
        let predicted_ns = Nanos::try_from(predicted.as_nanos()).unwrap_or(Nanos::MAX);
        let submission =
            Submission::new(Payload::Task(CallerTask::new(predicted_ns, task)), QueueKey::Tasks, tenant);
        enqueue_task(dispatch, &submission)?;
        Ok(Ticket::new(submission, Arc::clone(dispatch)))
    }

    /// Predicts the time of `ops` operations of a shape with `bytes` bytes in total, in full batches on one thread.
    /// Zero if no engine offers the shape.
    #[must_use]
    pub fn predict(&self, shape: Shape, ops: usize, bytes: usize) -> Duration {
        self.dispatch().queues.predict(shape, ops, bytes).unwrap_or_default()
    }

    /// Returns the time that a tenant's waiting jobs and tasks are predicted to take.
    #[must_use]
    pub fn backlog(&self, tenant: u64) -> Duration {
        self.dispatch().queues.backlog(tenant)
    }

    /// Computes a set on this thread, in full batches and without a queue.
    #[must_use]
    pub fn run_all(&self, set: &OperationSet) -> Results {
        let dispatch = self.dispatch();
        if set.shape().is_record() {
            return Results::refused(set.len(), unsupported(set.shape()));
        }
        count(&dispatch.metrics.submitted, set.len());
        BulkRun(dispatch).run_all(set)
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

    /// Computes records into the outcomes of an earlier call, whose memory is reused. For many short records,
    /// allocating that memory costs as much as computing them. After an error the outcomes are empty.
    ///
    /// # Errors
    /// As [`run_records`](Self::run_records).
    pub fn run_records_into(
        &self,
        shape: Shape,
        records: &Records<'_>,
        outcomes: &mut Outcomes,
    ) -> Result<(), JobError> {
        let dispatch = self.dispatch();
        let ran = check_complete(shape, records).and_then(|()| {
            count(&dispatch.metrics.submitted, records.len);
            BulkRun(dispatch).run_records(shape, records, outcomes)
        });
        // A failed engine may have written wrong bytes.
        ran.inspect_err(|_| *outcomes = Outcomes::default())
    }

    /// Returns a snapshot of the counters.
    #[must_use]
    pub fn counters(&self) -> DispatchCounters {
        self.dispatch().counters()
    }

    /// Returns a snapshot of the histograms.
    #[must_use]
    pub fn histograms(&self) -> Histograms {
        let dispatch = self.dispatch();
        dispatch.recorders.read(|engine| dispatch.engine(engine).name())
    }

    /// Returns the number of waiting operations by the name of a shape or holder, and of waiting tasks.
    #[must_use]
    pub fn queued(&self) -> Vec<(String, usize)> {
        self.dispatch().queues.queued()
    }

    /// Returns the engines in quarantine.
    #[must_use]
    pub fn quarantined(&self) -> Vec<Quarantined> {
        self.dispatch().list_quarantined()
    }

    /// Probes every engine in quarantine now, on this thread.
    pub fn probe(&self) {
        self.dispatch().probe_all();
    }

    /// Returns the present costs of a shape, by the name of the engine.
    #[must_use]
    pub fn costs(&self, shape: Shape) -> Vec<(&'static str, EngineCost)> {
        let dispatch = self.dispatch();
        // With two operations the other engines are probed too, not only the referee.
        let (state, _) = dispatch.queues.lock_for(shape, 2);
        let choices = state.scheduler.choices(shape);
        choices.iter().map(|choice| (dispatch.engine(choice.engine).name(), choice.cost)).collect()
    }

    /// Returns the engines, the referee first.
    pub fn engines(&self) -> impl Iterator<Item = &dyn Engine> {
        self.0.blueprint.engines.iter().map(|engine| &**engine)
    }

    /// Returns the settings.
    #[must_use]
    pub fn config(&self) -> &SchedulerConfig {
        &self.0.blueprint.config
    }

    fn queue(
        &self,
        dispatch: &Arc<DispatchState>,
        submission: Arc<Submission>,
        options: SubmitOptions,
    ) -> Result<Ticket, JobError> {
        let mut predicted_ns = 0.0;
        // An empty submission is answered from the start.
        if submission.len() > 0 {
            ensure_started(dispatch)?;
            let deadline = options.deadline.map(|deadline| dispatch.clock.after(deadline));
            predicted_ns =
                dispatch.queues.enqueue(&submission, deadline, options.coalesce, &dispatch.metrics)?;
            if let Some(deadline) = deadline {
                dispatch.timers.add(deadline, &submission);
            }
        }
        let ticket = Ticket::new(submission, Arc::clone(dispatch)).expected_after(predicted_ns);
        Ok(match options.coalesce {
            true => ticket.without_wakeup(!options.never_on_caller_thread),
            false => ticket,
        })
    }

    fn queue_long(
        &self,
        dispatch: &Arc<DispatchState>,
        submission: Arc<Submission>,
        options: SubmitOptions,
    ) -> Result<Ticket, JobError> {
        let (Some(shape), ops) = (submission.shape(), submission.len()) else {
            return Err(JobError::Malformed { what: "a task of a caller is no long operation" });
        };
        let each = dispatch.queues.predict(shape, 1, submission.bytes() / ops.max(1));
        let each = each.ok_or_else(|| unsupported(shape))?;
        let mut tasks = Vec::with_capacity(ops);
        for index in 0..ops as u32 {
            let operation = LongOperation::new(dispatch, &submission, index);
            tasks.push(self.submit_task(options.tenant, each, move || operation.run())?);
        }
        count(&dispatch.metrics.submitted, ops);
        if let Some(deadline) = options.deadline.filter(|_| ops > 0) {
            ensure_started(dispatch)?;
            dispatch.timers.add(dispatch.clock.after(deadline), &submission);
        }
        Ok(Ticket::new(submission, Arc::clone(dispatch))
            .expected_after(each.as_nanos() as f64)
            .with_tasks(tasks))
    }

    fn holder_of(&self, jobs: &[OwnedJob]) -> Result<usize, JobError> {
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

    /// Returns the state of this process, and creates it at first use.
    fn dispatch(&self) -> &Arc<DispatchState> {
        let DispatcherShared { blueprint, state } = &*self.0;
        &state.get(|_| DispatchOwner(DispatchState::new(Arc::clone(blueprint)))).0
    }
}

/// Runs a submission on its caller's thread and answers it. Returns false if the referee failed, so that it must be
/// queued.
fn run_here(dispatch: &Arc<DispatchState>, shape: Shape, submission: &Arc<Submission>) -> bool {
    let Payload::Operations(set) = &submission.payload else { return false };
    let mut flight = CallerRun { dispatch, report: None };
    // No watchdog looks at it: if the referee hangs, nobody could compute in its place.
    let running_engine = RunningEngine::new(REFEREE);
    let run = CheckedRun::new(dispatch, &running_engine);
    let result = match set.get(0) {
        // A single job needs no list in memory of its own.
        Some(operation) if set.len() == 1 => run.compute(REFEREE, &Jobs::Operations(shape, &[operation])),
        _ => {
            let operations: Vec<Operation<'_>> = set.iter().collect();
            run.compute(REFEREE, &Jobs::Operations(shape, &operations))
        }
    };
    let Ok((outcomes, took_ns)) = result else { return false };
    flight.report =
        Some(RunReport { engine: REFEREE, shape, ops: submission.len(), bytes: submission.bytes(), took_ns });
    count(&dispatch.metrics.submitted, submission.len());
    count(&dispatch.metrics.on_caller, submission.len());
    dispatch.recorders.record_direct_answers(shape, submission.len(), took_ns);
    submission.add_engine_time(took_ns);
    submission.answer_all(outcomes, &dispatch.metrics.completed);
    true
}

/// A batch in flight on its caller's thread. Its drop ends the batch, also if the thread unwinds.
struct CallerRun<'a> {
    dispatch: &'a DispatchState,
    report: Option<RunReport>,
}

impl Drop for CallerRun<'_> {
    fn drop(&mut self) {
        self.dispatch.queues.end_batch(self.report.take());
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

impl Drop for DispatchOwner {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl fmt::Debug for DispatcherShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.blueprint.engines.iter().map(|engine| engine.name())).finish()
    }
}
