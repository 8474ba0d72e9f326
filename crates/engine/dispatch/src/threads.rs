//! The threads of a dispatcher: workers, the watchdog, and helpers for tasks and probes.
//!
//! This part starts and joins threads. Their loops are in the modules `worker`, `watchdog` and `task_threads`.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use oarlock_core::JobError;

use crate::flight::BatchFlight;
use crate::timers::DeadlineTimers;

/// The kind of a worker: for near engines, or for one far engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerKind {
    Near,
    Far(usize),
}

#[derive(Default)]
pub(crate) struct WorkerThreads {
    /// Set under the lock of `team`, after the threads have started. The acquiring load without the lock spares each
    /// submission that lock; a thread that reads false looks again under it.
    is_started: AtomicBool,
    /// True once the threads for tasks have started, at the first task. Set and read as `is_started`.
    has_task_threads: AtomicBool,
    team: Mutex<ThreadTeam>,
    /// The batches that callers' threads compute.
    callers: Mutex<Vec<Arc<BatchFlight>>>,
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
pub(crate) struct WorkerThread {
    slot: Arc<WorkerSlot>,
    handle: JoinHandle<()>,
}

/// The batch that a worker runs, which the watchdog reads.
pub(crate) struct WorkerSlot {
    pub(crate) kind: WorkerKind,
    flight: Mutex<Option<Arc<BatchFlight>>>,
    /// True once joining the thread does not block. The join itself orders the thread's memory.
    has_ended: AtomicBool,
}

impl WorkerSlot {
    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self, flight: Option<Arc<BatchFlight>>) {
        *self.flight.lock().unwrap_or_else(PoisonError::into_inner) = flight;
    }

    fn get(&self) -> Option<Arc<BatchFlight>> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl WorkerThreads {
    /// Starts workers and watchdog once. After an error the next call continues with the threads that are missing.
    pub(crate) fn ensure_started(
        &self,
        kinds: impl Iterator<Item = WorkerKind>,
        start_worker: impl Fn(WorkerKind) -> std::io::Result<WorkerThread>,
        run_watchdog: impl FnOnce() + Send + 'static,
    ) -> Result<(), JobError> {
        if self.is_started() {
            return Ok(());
        }
        let mut team = self.lock();
        if self.is_started() {
            return Ok(());
        }
        // If a thread could not be started before, the first ones run already.
        for kind in kinds.skip(team.workers.len()) {
            let worker = start_worker(kind).map_err(no_threads)?;
            team.workers.push(worker);
        }
        let watchdog = Builder::new().name("oarlock-watchdog".into()).spawn(run_watchdog);
        team.watchdog = Some(watchdog.map_err(no_threads)?);
        self.is_started.store(true, Ordering::Release);
        Ok(())
    }

    pub(crate) fn is_started(&self) -> bool {
        self.is_started.load(Ordering::Acquire)
    }

    /// Starts `count` threads for tasks once.
    pub(crate) fn ensure_task_threads<F: FnOnce() + Send + 'static>(
        self: &Arc<Self>,
        count: usize,
        loop_of: impl Fn() -> F,
    ) -> Result<(), JobError> {
        if self.has_task_threads.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut team = self.lock();
        while team.task_threads < count {
            team.start_helper("oarlock-task", self, loop_of()).map_err(no_threads)?;
            team.task_threads += 1;
        }
        self.has_task_threads.store(true, Ordering::Release);
        Ok(())
    }

    /// Starts a probe's thread, which is joined at the end unless it hangs. Returns false if no thread can be
    /// started.
    pub(crate) fn start_probe(self: &Arc<Self>, run: impl FnOnce() + Send + 'static) -> bool {
        self.lock().start_helper("oarlock-probe", self, run).is_ok()
    }

    /// Starts a worker's thread. `run` gets the slot for its batches.
    pub(crate) fn spawn_worker(
        self: &Arc<Self>,
        name: String,
        kind: WorkerKind,
        run: impl FnOnce(&WorkerSlot) + Send + 'static,
    ) -> std::io::Result<WorkerThread> {
        let slot = Arc::new(WorkerSlot { kind, flight: Mutex::new(None), has_ended: AtomicBool::new(false) });
        let (threads, flight) = (Arc::clone(self), Arc::clone(&slot));
        let handle = Builder::new().name(name).spawn(move || {
            let _end = ThreadEndGuard { threads: &threads, has_ended: &flight.has_ended };
            run(&flight);
        })?;
        Ok(WorkerThread { slot, handle })
    }

    /// Returns the batches in flight.
    pub(crate) fn flights(&self) -> Vec<Arc<BatchFlight>> {
        let mut flights: Vec<_> = self.lock().workers.iter().filter_map(|worker| worker.slot.get()).collect();
        flights.extend(self.callers().iter().map(Arc::clone));
        flights
    }

    /// Shows the watchdog a batch that this thread computes, until the guard is dropped.
    pub(crate) fn watch_caller<'a>(&'a self, flight: &'a Arc<BatchFlight>) -> CallerFlightGuard<'a> {
        self.callers().push(Arc::clone(flight));
        CallerFlightGuard { threads: self, flight }
    }

    fn callers(&self) -> MutexGuard<'_, Vec<Arc<BatchFlight>>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the worker of an abandoned batch and starts a new one in its place. `start_worker` returns None if no
    /// worker is wanted or can be started.
    pub(crate) fn replace(
        &self,
        flight: &Arc<BatchFlight>,
        start_worker: impl Fn(WorkerKind) -> Option<WorkerThread>,
    ) {
        let mut team = self.lock();
        let is_meant =
            |worker: &WorkerThread| worker.slot.get().is_some_and(|current| Arc::ptr_eq(&current, flight));
        let Some(at) = team.workers.iter().position(is_meant) else { return };
        let hung = team.workers.swap_remove(at);
        team.vacant.push(hung.slot.kind);
        // `join` waits for the workers of the team. The hung one is no longer among them.
        self.thread_ended.notify_all();
        team.fill(start_worker);
    }

    /// Starts workers that could not be started before.
    pub(crate) fn fill_vacant(&self, start_worker: impl Fn(WorkerKind) -> Option<WorkerThread>) {
        self.lock().fill(start_worker);
    }

    /// True if the watchdog may end, because no worker is left.
    pub(crate) fn may_watchdog_end(&self) -> bool {
        self.may_watchdog_end.load(Ordering::Acquire)
    }

    /// Waits for all threads except abandoned ones and the calling one. The watchdog runs until the last worker has
    /// ended, so that a hung worker is abandoned in the end. Probes and tasks are awaited for at most `patience`.
    pub(crate) fn join(&self, timers: &DeadlineTimers, patience: Duration) {
        // A task or a waker may drop the last dispatcher, and then a thread of the team is the one that joins.
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
        // The ending threads take this lock in their guards, so that joining them under it would block for ever.
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
        threads: &Arc<WorkerThreads>,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        // Ended probes would otherwise pile up here until the dispatcher stops.
        self.helpers.retain(|(has_ended, _)| !has_ended.load(Ordering::Acquire));
        let (threads, has_ended) = (Arc::clone(threads), Arc::new(AtomicBool::new(false)));
        let sign = Arc::clone(&has_ended);
        let handle = Builder::new().name(name.into()).spawn(move || {
            let _end = ThreadEndGuard { threads: &threads, has_ended: &sign };
            run();
        })?;
        self.helpers.push((has_ended, handle));
        Ok(())
    }

    fn fill(&mut self, start_worker: impl Fn(WorkerKind) -> Option<WorkerThread>) {
        // `start_worker` is called under the lock of the team. It returns None once the dispatcher stops, so a worker
        // that starts at the last moment is already in the list when `join` takes the lock.
        while let Some(kind) = self.vacant.last()
            && let Some(worker) = start_worker(*kind)
        {
            self.vacant.pop();
            self.workers.push(worker);
        }
    }
}

/// A batch on its caller's thread. Its drop ends the watch.
pub(crate) struct CallerFlightGuard<'a> {
    threads: &'a WorkerThreads,
    flight: &'a Arc<BatchFlight>,
}

impl Drop for CallerFlightGuard<'_> {
    fn drop(&mut self) {
        self.threads.callers().retain(|caller| !Arc::ptr_eq(caller, self.flight));
    }
}

fn no_threads(error: std::io::Error) -> JobError {
    JobError::NoThreads { reason: error.to_string() }
}

/// Reports the end of a thread when it is dropped, also by a panic.
struct ThreadEndGuard<'a> {
    threads: &'a WorkerThreads,
    has_ended: &'a AtomicBool,
}

impl Drop for ThreadEndGuard<'_> {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
        // The lock is taken and released between the flag and the notification. A `join` that read the flag before is
        // waiting then, and cannot miss the notification.
        drop(self.threads.lock());
        self.threads.thread_ended.notify_all();
    }
}

impl fmt::Debug for WorkerThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkerThreads({} workers)", self.lock().workers.len())
    }
}
