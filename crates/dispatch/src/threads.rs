//! Workers and the watchdog. They start at the first queued job. A worker in which an engine hangs is replaced.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use oarlock_core::{EngineLocation, JobError};

use crate::flight::BatchFlight;
use crate::metrics::count;
use crate::scheduler::Decision;
use crate::state::{DispatchState, FinishedBatch, WorkerKind, unsupported};
use crate::submission::SubmissionEnd;
use crate::timers::DeadlineTimers;

/// The interval at which the watchdog looks at batches in flight.
const ROUND: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct WorkerThreads {
    is_started: AtomicBool,
    /// True once the threads for tasks have started, at the first task.
    has_task_threads: AtomicBool,
    team: Mutex<ThreadTeam>,
    /// True once no worker is left, so that the watchdog may end.
    may_watchdog_end: AtomicBool,
    /// Notified when a worker has ended or was abandoned.
    thread_ended: Condvar,
}

#[derive(Default)]
struct ThreadTeam {
    workers: Vec<WorkerThread>,
    /// The kinds of workers that are missing because no thread could be started.
    vacant: Vec<WorkerKind>,
    watchdog: Option<JoinHandle<()>>,
    /// The number of threads for tasks that have started.
    task_threads: usize,
    /// Threads for tasks and probes, each with a flag that it has ended.
    helpers: Vec<(Arc<AtomicBool>, JoinHandle<()>)>,
}

/// A worker thread and the batch that it runs.
struct WorkerThread {
    slot: Arc<WorkerSlot>,
    handle: JoinHandle<()>,
}

struct WorkerSlot {
    kind: WorkerKind,
    flight: Mutex<Option<Arc<BatchFlight>>>,
    has_ended: AtomicBool,
}

impl WorkerSlot {
    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    fn set(&self, flight: Option<Arc<BatchFlight>>) {
        *self.flight.lock().unwrap_or_else(PoisonError::into_inner) = flight;
    }

    fn get(&self) -> Option<Arc<BatchFlight>> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl WorkerThreads {
    /// Starts workers and watchdog once.
    pub(crate) fn ensure_started(&self, dispatch: &Arc<DispatchState>) -> Result<(), JobError> {
        if self.is_started.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut team = self.lock();
        if self.is_started.load(Ordering::Acquire) {
            return Ok(());
        }
        let engines = dispatch.blueprint.engines.iter().enumerate();
        let far = engines
            .filter(|(_, engine)| engine.location() == EngineLocation::Far)
            .map(|(index, _)| WorkerKind::Far(index));
        let kinds = std::iter::repeat_n(WorkerKind::Near, dispatch.config().threads).chain(far);
        // If a thread could not be started before, the first ones run already.
        for kind in kinds.skip(team.workers.len()) {
            let worker = start_worker(dispatch, kind).map_err(no_threads)?;
            team.workers.push(worker);
        }
        let watched = Arc::clone(dispatch);
        let watchdog = Builder::new().name("oarlock-watchdog".into()).spawn(move || run_watchdog(&watched));
        team.watchdog = Some(watchdog.map_err(no_threads)?);
        self.is_started.store(true, Ordering::Release);
        Ok(())
    }

    /// Starts the threads for tasks once.
    pub(crate) fn ensure_task_threads(&self, dispatch: &Arc<DispatchState>) -> Result<(), JobError> {
        if self.has_task_threads.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut team = self.lock();
        while team.task_threads < 2 * dispatch.config().threads {
            let own = Arc::clone(dispatch);
            team.start_helper("oarlock-task", dispatch, move || own.run_tasks()).map_err(no_threads)?;
            team.task_threads += 1;
        }
        self.has_task_threads.store(true, Ordering::Release);
        Ok(())
    }

    /// Starts a probe's thread, which is joined at the end unless it hangs. Returns false if no thread can be
    /// started.
    pub(crate) fn start_probe(
        &self,
        dispatch: &Arc<DispatchState>,
        run: impl FnOnce() + Send + 'static,
    ) -> bool {
        self.lock().start_helper("oarlock-probe", dispatch, run).is_ok()
    }

    /// Returns the batches in flight.
    pub(crate) fn flights(&self) -> Vec<Arc<BatchFlight>> {
        self.lock().workers.iter().filter_map(|worker| worker.slot.get()).collect()
    }

    /// Removes the worker of an abandoned batch and starts a new one in its place, unless the dispatcher stops.
    fn replace(&self, dispatch: &Arc<DispatchState>, flight: &Arc<BatchFlight>) {
        let mut team = self.lock();
        let is_meant = |worker: &WorkerThread| worker.slot.get().is_some_and(|own| Arc::ptr_eq(&own, flight));
        let Some(at) = team.workers.iter().position(is_meant) else { return };
        let hung = team.workers.swap_remove(at);
        team.vacant.push(hung.slot.kind);
        self.thread_ended.notify_all();
        team.fill(dispatch);
    }

    /// Starts workers that could not be started before.
    fn fill_vacant(&self, dispatch: &Arc<DispatchState>) {
        self.lock().fill(dispatch);
    }

    /// Waits for all threads except abandoned ones and the calling one. The watchdog runs until the last worker has
    /// ended, so that a hung worker is abandoned in the end. Probes and tasks are awaited for at most `patience`.
    pub(crate) fn join(&self, timers: &DeadlineTimers, patience: Duration) {
        let this = std::thread::current().id();
        let mut team = self.lock();
        while team
            .workers
            .iter()
            .any(|worker| !worker.slot.has_ended() && worker.handle.thread().id() != this)
        {
            team = self.thread_ended.wait(team).unwrap_or_else(PoisonError::into_inner);
        }
        self.may_watchdog_end.store(true, Ordering::Release);
        timers.wake();
        let is_running = |(has_ended, handle): &(Arc<AtomicBool>, JoinHandle<()>)| {
            !has_ended.load(Ordering::Acquire) && handle.thread().id() != this
        };
        let is_probing = |team: &mut ThreadTeam| team.helpers.iter().any(is_running);
        team = self
            .thread_ended
            .wait_timeout_while(team, patience, is_probing)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        team.helpers.retain(|(has_ended, _)| has_ended.load(Ordering::Acquire));
        let (workers, watchdog, helpers) =
            (std::mem::take(&mut team.workers), team.watchdog.take(), std::mem::take(&mut team.helpers));
        drop(team);
        let handles = workers
            .into_iter()
            .map(|worker| worker.handle)
            .chain(watchdog)
            .chain(helpers.into_iter().map(|(_, handle)| handle));
        for handle in handles.filter(|handle| handle.thread().id() != this) {
            // A worker that panicked has released nothing, so its panic is ignored here.
            let _ = handle.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, ThreadTeam> {
        self.team.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ThreadTeam {
    fn start_helper(
        &mut self,
        name: &str,
        dispatch: &Arc<DispatchState>,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        self.helpers.retain(|(has_ended, _)| !has_ended.load(Ordering::Acquire));
        let (dispatch, has_ended) = (Arc::clone(dispatch), Arc::new(AtomicBool::new(false)));
        let sign = Arc::clone(&has_ended);
        let handle = Builder::new().name(name.into()).spawn(move || {
            let _end = ThreadEndGuard { threads: &dispatch.threads, has_ended: &sign };
            run();
        })?;
        self.helpers.push((has_ended, handle));
        Ok(())
    }

    fn fill(&mut self, dispatch: &Arc<DispatchState>) {
        while !dispatch.is_stopping()
            && let Some(kind) = self.vacant.last()
            && let Ok(worker) = start_worker(dispatch, *kind)
        {
            self.vacant.pop();
            self.workers.push(worker);
        }
    }
}

fn no_threads(error: std::io::Error) -> JobError {
    JobError::NoThreads { reason: error.to_string() }
}

fn start_worker(dispatch: &Arc<DispatchState>, kind: WorkerKind) -> std::io::Result<WorkerThread> {
    let slot = Arc::new(WorkerSlot { kind, flight: Mutex::new(None), has_ended: AtomicBool::new(false) });
    let (dispatch, own) = (Arc::clone(dispatch), Arc::clone(&slot));
    let name = match kind {
        WorkerKind::Near => "oarlock-worker".to_owned(),
        WorkerKind::Far(engine) => format!("oarlock-{}", dispatch.engine(engine).name()),
    };
    let handle = Builder::new().name(name).spawn(move || {
        let _end = ThreadEndGuard { threads: &dispatch.threads, has_ended: &own.has_ended };
        lower_priority(dispatch.config().nice);
        run_worker(&dispatch, &own);
    })?;
    Ok(WorkerThread { slot, handle })
}

/// Reports the end of a thread when it is dropped, also by a panic.
struct ThreadEndGuard<'a> {
    threads: &'a WorkerThreads,
    has_ended: &'a AtomicBool,
}

impl Drop for ThreadEndGuard<'_> {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
        drop(self.threads.lock());
        self.threads.thread_ended.notify_all();
    }
}

/// Lowers the calling thread's priority for the rest of its life.
fn lower_priority(nice: u8) {
    #[cfg(target_os = "linux")]
    if nice > 0 {
        // Linux sets the priority of one thread here, contrary to POSIX: setpriority(2). Lowering one's own is always
        // allowed.
        let lowered = rustix::process::setpriority_process(None, i32::from(nice.min(19)));
        debug_assert!(lowered.is_ok(), "{lowered:?}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}

/// Runs a worker until the dispatcher stops or its batch is abandoned.
fn run_worker(dispatch: &Arc<DispatchState>, slot: &WorkerSlot) {
    let mut ended: Option<Option<FinishedBatch>> = None;
    while let Some(decision) = dispatch.next(slot.kind, ended.take()) {
        let finished = match decision {
            Decision::Run(plan) => {
                let flight = BatchFlight::new(plan, dispatch);
                if slot.kind != WorkerKind::Near {
                    count(&dispatch.metrics.far_batches, 1);
                }
                slot.set(Some(Arc::clone(&flight)));
                let finished = flight.run_and_answer(dispatch);
                // The batch stays in the slot: the watchdog finds the worker to replace by it.
                if flight.is_abandoned() {
                    return;
                }
                slot.set(None);
                finished
            }
            Decision::Start { holder, items } => {
                dispatch.start_held(holder, &items);
                None
            }
            Decision::Fail { shape, items } => {
                dispatch.fail(shape, &items, "every engine that offers it is in quarantine");
                None
            }
            Decision::Refuse { shape, items } => {
                dispatch.answer_errors(&items, &unsupported(shape));
                None
            }
            Decision::Probe(request) => {
                dispatch.run_probe(&request);
                None
            }
            Decision::Do(_) | Decision::WaitUntil(_) | Decision::Idle => None,
        };
        ended = Some(finished);
    }
}

/// Runs the watchdog: deadlines, hung batches, probes.
fn run_watchdog(dispatch: &Arc<DispatchState>) {
    while !dispatch.threads.may_watchdog_end.load(Ordering::Acquire) {
        let now = dispatch.now();
        for submission in dispatch.timers.expired(now) {
            dispatch.end_early(&submission, SubmissionEnd::Expired);
        }
        let flights = dispatch.flights();
        for flight in flights.iter().filter(|flight| flight.hang_at <= now) {
            abandon_hung(dispatch, flight);
        }
        dispatch.threads.fill_vacant(dispatch);
        dispatch.start_probes();
        dispatch.timers.wait(dispatch.now(), patience(dispatch, &flights));
    }
}

/// Returns the time for which the watchdog may sleep if no new deadline is added.
fn patience(dispatch: &DispatchState, flights: &[Arc<BatchFlight>]) -> Duration {
    let now = dispatch.now();
    let hangs = flights.iter().map(|flight| flight.hang_at);
    let next = hangs.chain(dispatch.quarantine.next_probe()).min();
    let next = next.map_or(ROUND, |at| Duration::from_nanos(at.saturating_sub(now)));
    let min = Duration::from_micros(50);
    next.clamp(min, ROUND.min(dispatch.config().hang_after.max(min)))
}

/// Abandons a hung batch. Its engine is quarantined, its jobs run on another engine, and its thread is left alone.
fn abandon_hung(dispatch: &Arc<DispatchState>, flight: &Arc<BatchFlight>) {
    if !flight.abandon() {
        return;
    }
    count(&dispatch.metrics.hangs, 1);
    let engine = flight.engine.load(Ordering::Acquire);
    let reason = format!("{} hung in {}", dispatch.engine(engine).name(), flight.shape);
    dispatch.quarantine(engine, None, &reason);
    dispatch.threads.replace(dispatch, flight);
    dispatch.end_batch(None);
    dispatch.run_again(flight.shape, &flight.items, &reason);
}

impl fmt::Debug for WorkerThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads({} workers)", self.lock().workers.len())
    }
}
