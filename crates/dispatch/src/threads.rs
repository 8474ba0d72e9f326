//! Workers and the watchdog: started at the first queued job, replaced when an engine hangs in them.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use oarlock_core::{EngineLocation, JobError};

use crate::flight::Flight;
use crate::group::End;
use crate::inner::{Asker, Inner, Learnt, unsupported};
use crate::metrics::count;
use crate::scheduler::Decision;
use crate::timers::Timers;

/// How often the watchdog looks at batches in flight while there are any.
const ROUND: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct Threads {
    is_started: AtomicBool,
    /// Threads for tasks are started at the first one.
    has_task_threads: AtomicBool,
    team: Mutex<Team>,
    /// No worker is left: the watchdog may end.
    is_over: AtomicBool,
    /// A worker has ended or was given up.
    one_less: Condvar,
}

#[derive(Default)]
struct Team {
    posts: Vec<Post>,
    /// Posts whose worker is missing because no thread could be started.
    vacant: Vec<Asker>,
    watchdog: Option<JoinHandle<()>>,
    /// Threads for tasks that have been started.
    task_threads: usize,
    /// These and probes, each with the sign of its end.
    loose: Vec<(Arc<AtomicBool>, JoinHandle<()>)>,
}

/// A worker and what it flies.
struct Post {
    slot: Arc<Slot>,
    handle: JoinHandle<()>,
}

struct Slot {
    asker: Asker,
    flight: Mutex<Option<Arc<Flight>>>,
    has_ended: AtomicBool,
}

impl Slot {
    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    fn set(&self, flight: Option<Arc<Flight>>) {
        *self.flight.lock().unwrap_or_else(PoisonError::into_inner) = flight;
    }

    fn get(&self) -> Option<Arc<Flight>> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Threads {
    /// Starts workers and watchdog once.
    pub(crate) fn ensure_started(&self, inner: &Arc<Inner>) -> Result<(), JobError> {
        if self.is_started.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut team = self.lock();
        if self.is_started.load(Ordering::Acquire) {
            return Ok(());
        }
        let engines = inner.blueprint.engines.iter().enumerate();
        let far = engines
            .filter(|(_, engine)| engine.location() == EngineLocation::Far)
            .map(|(index, _)| Asker::Far(index));
        let askers = std::iter::repeat_n(Asker::Near, inner.config().threads).chain(far);
        // Where threads ran out before, some have started.
        for asker in askers.skip(team.posts.len()) {
            let post = start_worker(inner, asker).map_err(no_threads)?;
            team.posts.push(post);
        }
        let watched = Arc::clone(inner);
        let watchdog = Builder::new().name("oarlock-watchdog".into()).spawn(move || watch(&watched));
        team.watchdog = Some(watchdog.map_err(no_threads)?);
        self.is_started.store(true, Ordering::Release);
        Ok(())
    }

    /// Starts the threads for tasks once.
    pub(crate) fn ensure_task_threads(&self, inner: &Arc<Inner>) -> Result<(), JobError> {
        if self.has_task_threads.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut team = self.lock();
        while team.task_threads < 2 * inner.config().threads {
            let own = Arc::clone(inner);
            team.start_loose("oarlock-task", inner, move || own.run_tasks()).map_err(no_threads)?;
            team.task_threads += 1;
        }
        self.has_task_threads.store(true, Ordering::Release);
        Ok(())
    }

    /// Starts a thread that is joined at the end unless it hangs; false where it cannot be started.
    pub(crate) fn start_probe(&self, inner: &Arc<Inner>, run: impl FnOnce() + Send + 'static) -> bool {
        self.lock().start_loose("oarlock-probe", inner, run).is_ok()
    }

    /// Batches in flight now.
    pub(crate) fn flights(&self) -> Vec<Arc<Flight>> {
        self.lock().posts.iter().filter_map(|post| post.slot.get()).collect()
    }

    /// Takes the worker that flies an abandoned batch off the team and, unless all is to end, puts a new one in its place.
    fn replace(&self, inner: &Arc<Inner>, flight: &Arc<Flight>) {
        let mut team = self.lock();
        let is_meant = |post: &Post| post.slot.get().is_some_and(|own| Arc::ptr_eq(&own, flight));
        let Some(at) = team.posts.iter().position(is_meant) else { return };
        let hung = team.posts.swap_remove(at);
        team.vacant.push(hung.slot.asker);
        self.one_less.notify_all();
        team.fill(inner);
    }

    /// Starts workers that could not be started before.
    fn fill_vacant(&self, inner: &Arc<Inner>) {
        self.lock().fill(inner);
    }

    /// Waits for all threads but those given up and the one that calls. The watchdog lives until the last worker has
    /// ended, so that one that hangs is given up in the end; probes and tasks get so much `patience`.
    pub(crate) fn join(&self, timers: &Timers, patience: Duration) {
        let this = std::thread::current().id();
        let mut team = self.lock();
        while team.posts.iter().any(|post| !post.slot.has_ended() && post.handle.thread().id() != this) {
            team = self.one_less.wait(team).unwrap_or_else(PoisonError::into_inner);
        }
        self.is_over.store(true, Ordering::Release);
        timers.wake();
        let is_running = |(has_ended, handle): &(Arc<AtomicBool>, JoinHandle<()>)| {
            !has_ended.load(Ordering::Acquire) && handle.thread().id() != this
        };
        let is_probing = |team: &mut Team| team.loose.iter().any(is_running);
        team = self
            .one_less
            .wait_timeout_while(team, patience, is_probing)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        team.loose.retain(|(has_ended, _)| has_ended.load(Ordering::Acquire));
        let (posts, watchdog, loose) =
            (std::mem::take(&mut team.posts), team.watchdog.take(), std::mem::take(&mut team.loose));
        drop(team);
        let handles = posts
            .into_iter()
            .map(|post| post.handle)
            .chain(watchdog)
            .chain(loose.into_iter().map(|(_, handle)| handle));
        for handle in handles.filter(|handle| handle.thread().id() != this) {
            // A worker that panicked has answered nothing wrongly; there is nothing left to do about it here.
            let _ = handle.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Team> {
        self.team.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Team {
    fn start_loose(
        &mut self,
        name: &str,
        inner: &Arc<Inner>,
        run: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        self.loose.retain(|(has_ended, _)| !has_ended.load(Ordering::Acquire));
        let (inner, has_ended) = (Arc::clone(inner), Arc::new(AtomicBool::new(false)));
        let sign = Arc::clone(&has_ended);
        let handle = Builder::new().name(name.into()).spawn(move || {
            let _end = Ending { threads: &inner.threads, has_ended: &sign };
            run();
        })?;
        self.loose.push((has_ended, handle));
        Ok(())
    }

    fn fill(&mut self, inner: &Arc<Inner>) {
        while !inner.is_stopping()
            && let Some(asker) = self.vacant.last()
            && let Ok(post) = start_worker(inner, *asker)
        {
            self.vacant.pop();
            self.posts.push(post);
        }
    }
}

fn no_threads(error: std::io::Error) -> JobError {
    JobError::NoThreads { reason: error.to_string() }
}

fn start_worker(inner: &Arc<Inner>, asker: Asker) -> std::io::Result<Post> {
    let slot = Arc::new(Slot { asker, flight: Mutex::new(None), has_ended: AtomicBool::new(false) });
    let (inner, own) = (Arc::clone(inner), Arc::clone(&slot));
    let name = match asker {
        Asker::Near => "oarlock-worker".to_owned(),
        Asker::Far(engine) => format!("oarlock-{}", inner.engine(engine).name()),
    };
    let handle = Builder::new().name(name).spawn(move || {
        let _end = Ending { threads: &inner.threads, has_ended: &own.has_ended };
        stand_back(inner.config().nice);
        work(&inner, &own);
    })?;
    Ok(Post { slot, handle })
}

/// Tells the end of a thread, however it comes.
struct Ending<'a> {
    threads: &'a Threads,
    has_ended: &'a AtomicBool,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Release);
        drop(self.threads.lock());
        self.threads.one_less.notify_all();
    }
}

/// Lowers the calling thread's priority. It lasts as long as the thread.
fn stand_back(nice: u8) {
    #[cfg(target_os = "linux")]
    if nice > 0 {
        // Linux has priorities of threads, against POSIX: setpriority(2). Lowering one's own is always allowed.
        let lowered = rustix::process::setpriority_process(None, i32::from(nice.min(19)));
        debug_assert!(lowered.is_ok(), "{lowered:?}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}

/// A worker's life.
fn work(inner: &Arc<Inner>, slot: &Slot) {
    let mut ended: Option<Option<Learnt>> = None;
    while let Some(decision) = inner.next(slot.asker, ended.take()) {
        let learnt = match decision {
            Decision::Run(plan) => {
                let flight = Flight::new(plan, inner);
                if slot.asker != Asker::Near {
                    count(&inner.metrics.far_batches, 1);
                }
                slot.set(Some(Arc::clone(&flight)));
                let learnt = flight.fly(inner);
                // The flight stays in its slot: by it the watchdog finds whom to replace.
                if flight.is_abandoned() {
                    return;
                }
                slot.set(None);
                learnt
            }
            Decision::Start { holder, items } => {
                inner.start_held(holder, &items);
                None
            }
            Decision::Fail { shape, items } => {
                inner.fail(shape, &items, "every engine that offers it has been put aside");
                None
            }
            Decision::Refuse { shape, items } => {
                inner.answer_errors(&items, &unsupported(shape));
                None
            }
            Decision::Ask(question) => {
                inner.put(&question);
                None
            }
            Decision::Do(_) | Decision::WaitUntil(_) | Decision::Idle => None,
        };
        ended = Some(learnt);
    }
}

/// The watchdog's life: deadlines, hung batches, probes.
fn watch(inner: &Arc<Inner>) {
    while !inner.threads.is_over.load(Ordering::Acquire) {
        let now = inner.now();
        for group in inner.timers.expired(now) {
            inner.end_early(&group, End::Expired);
        }
        let flights = inner.flights();
        for flight in flights.iter().filter(|flight| flight.hang_at <= now) {
            give_up(inner, flight);
        }
        inner.threads.fill_vacant(inner);
        inner.start_probes();
        inner.timers.wait(inner.now(), patience(inner, &flights));
    }
}

/// How long nothing but a new deadline needs the watchdog.
fn patience(inner: &Inner, flights: &[Arc<Flight>]) -> Duration {
    let now = inner.now();
    let hangs = flights.iter().map(|flight| flight.hang_at);
    let next = hangs.chain(inner.asides.next_probe()).min();
    let next = next.map_or(ROUND, |at| Duration::from_nanos(at.saturating_sub(now)));
    let min = Duration::from_micros(50);
    next.clamp(min, ROUND.min(inner.config().hang_after.max(min)))
}

/// Abandons a hung batch: its engine is put aside, its jobs run elsewhere, its thread is left behind.
fn give_up(inner: &Arc<Inner>, flight: &Arc<Flight>) {
    if !flight.abandon() {
        return;
    }
    count(&inner.metrics.hangs, 1);
    let engine = flight.engine.load(Ordering::Acquire);
    let reason = format!("{} hung in {}", inner.engine(engine).name(), flight.shape);
    inner.put_aside(engine, None, &reason);
    inner.threads.replace(inner, flight);
    inner.end_flight(None);
    inner.run_again(flight.shape, &flight.items, &reason);
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads({} workers)", self.lock().posts.len())
    }
}
