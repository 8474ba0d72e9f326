//! Where operations are done: by the engines of this process, or by the cryptoserver.

use std::io::Write as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use oarlock::engine_api::{Jobs, Operation, OperationSet};
use oarlock::schemes::{compute_on, raw_result, shape_of};
use oarlock::selftest::{prove, representative};
use oarlock::{Accelerator, Job, JobError, Key, PendingAnswer, Scheme, Shape, SubmitOptions};
use oarlock::{KeyKind, Outcomes};
use oarlock_ffi::Event;
use oarlock_wire::proto::KeyInfo;
use oarlock_wire::{ConnectionPool, PendingJob, PoolConfig, PrivateKeySource};
use zeroize::Zeroizing;

use crate::config::{Config, Mode};
use crate::entry::async_job::{Fibre, Waits};
use crate::entry::core::Core;
use crate::error::Failure;
use crate::key::held_name;

/// One loaded provider; clones are the same.
#[derive(Clone)]
pub(crate) struct Provider(Arc<Inner>);

struct Inner {
    core: Core,
    config: Config,
    waits: Waits,
    engines: OnceLock<Result<Arc<Accelerator>, String>>,
    pool: OnceLock<ConnectionPool>,
    outage: Mutex<Option<Instant>>,
    is_blocking_said: AtomicBool,
    /// What the scalar engine has been proved for, where it computes without the dispatcher.
    proved: Mutex<Vec<Shape>>,
}

/// For how long the cryptoserver is not asked again about keys that are here, once it could not be had.
const OUTAGE: Duration = Duration::from_secs(1);

/// Who calls OpenSSL outside of jobs waits for the answer: where nobody else does, a worker would only add its waking.
const CALLER_BUDGET: Duration = Duration::from_secs(1);

/// Connections to the cryptoserver that are kept.
const MAX_IDLE: usize = 64;

/// An operation on its way.
pub(crate) enum Flight {
    Here(PendingAnswer),
    Service(Box<PendingJob>),
}

impl Provider {
    pub(crate) fn new(core: Core, config: Config) -> Self {
        Self(Arc::new(Inner {
            core,
            config,
            waits: Waits::find(&core),
            engines: OnceLock::new(),
            pool: OnceLock::new(),
            outage: Mutex::new(None),
            is_blocking_said: AtomicBool::new(false),
            proved: Mutex::new(Vec::new()),
        }))
    }

    pub(crate) fn core(&self) -> &Core {
        &self.0.core
    }

    pub(crate) fn mode(&self) -> Mode {
        self.0.config.mode
    }

    /// How long the cryptoserver's answer may take.
    pub(crate) fn patience(&self) -> Duration {
        self.0.config.patience
    }

    /// Does a job, wherever its key and the settings want it. Inside an `ASYNC_JOB` the job pauses meanwhile.
    pub(crate) fn run(&self, job: &Job<'_>) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let fibre = self.0.waits.current(self);
        if job.scheme.is_verification() || job.scheme == Scheme::X25519 && held_name(job.key).is_none() {
            return self.compute(job, fibre.is_some());
        }
        match (self.mode(), held_name(job.key)) {
            (Mode::Local, Some(name)) => Err(Failure::NoService(name.to_owned())),
            (Mode::Service, Some(name)) => {
                let fingerprint = Some(job.key.fingerprint());
                self.ask(job, PrivateKeySource::Resident { name, fingerprint }, fibre.as_ref())
            }
            (Mode::Service, None) if is_for_service(job) && !self.is_outage() => {
                match self.ask(job, PrivateKeySource::Brought(job.key), fibre.as_ref()) {
                    Err(Failure::Service(error)) if error.is_unavailable() => {
                        self.begin_outage(&error.to_string());
                        self.here(job, fibre.as_ref())
                    }
                    answer => {
                        self.end_outage();
                        answer
                    }
                }
            }
            _ => self.here(job, fibre.as_ref()),
        }
    }

    /// The public operation of an RSA key, at the modulus's length.
    pub(crate) fn rsa_public(&self, key: &Key, input: &[u8]) -> Result<Vec<u8>, Failure> {
        let shape = key.rsa_public_shape().ok_or(Failure::NoKey)?;
        let engines = self.engines(self.0.waits.current(self).is_some())?;
        self.prove(&engines, shape)?;
        let mut set = OperationSet::new(shape);
        set.push(key, input, oarlock::engine_api::SecondInput::None)?;
        let operations: Vec<Operation<'_>> = set.iter().collect();
        let jobs = Jobs::Operations(shape, &operations);
        let mut outcomes = Outcomes::for_jobs(&jobs);
        engines
            .diagnostics()
            .referee()
            .run(&jobs, &mut outcomes)
            .map_err(|fault| JobError::EngineFailed { shape, reason: fault.to_string() })?;
        Ok(raw_result(&outcomes, 0, shape)?.to_vec())
    }

    /// What the cryptoserver tells of a key.
    pub(crate) fn key_info(&self, name: &str) -> Result<KeyInfo, Failure> {
        if self.mode() == Mode::Local {
            return Err(Failure::NoService(name.to_owned()));
        }
        Ok(self.pool(false)?.key_info(name)?)
    }

    /// What must not be waited for: too little to be worth a queue.
    fn compute(&self, job: &Job<'_>, is_fibre: bool) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let engines = self.engines(is_fibre)?;
        if is_fibre {
            self.prove(&engines, shape_of(job)?)?;
            // An engine's batch would not fit on the stack of a fibre; the scalar engine needs no more than OpenSSL itself.
            let answer = compute_on(engines.diagnostics().referee(), std::slice::from_ref(job)).pop();
            return Ok(Zeroizing::new(answer.unwrap_or(Err(JobError::Cancelled))?));
        }
        Ok(engines.submit(job, SubmitOptions::default()).wait()?)
    }

    fn here(&self, job: &Job<'_>, fibre: Option<&Fibre>) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let engines = self.engines(fibre.is_some())?;
        match fibre {
            None => Ok(engines.submit(job, SubmitOptions::default()).wait()?),
            Some(fibre) => {
                let options = SubmitOptions { never_on_caller_thread: true, ..SubmitOptions::default() };
                fibre.finish(Flight::Here(engines.submit(job, options)))
            }
        }
    }

    fn ask(
        &self,
        job: &Job<'_>,
        source: PrivateKeySource<'_>,
        fibre: Option<&Fibre>,
    ) -> Result<Zeroizing<Vec<u8>>, Failure> {
        if let Some(shape) = job.key.rsa_public_shape() {
            // The pool verifies with it.
            self.prove(&*self.engines(fibre.is_some())?, shape)?;
        }
        let flight = Flight::Service(Box::new(self.pool(fibre.is_some())?.start(job, source)?));
        match fibre {
            None => flight.wait(),
            Some(fibre) => fibre.finish(flight),
        }
    }

    fn pool(&self, is_fibre: bool) -> Result<&ConnectionPool, Failure> {
        if let Some(pool) = self.0.pool.get() {
            return Ok(pool);
        }
        let checker = Accelerator::clone(&*self.engines(is_fibre)?);
        let config = &self.0.config;
        let settings = PoolConfig {
            path: config.socket.clone(),
            server_uids: server_uids(&config.server_user),
            patience: config.patience,
            max_idle: MAX_IDLE,
        };
        let made = ConnectionPool::new(settings, checker);
        Ok(self.0.pool.get_or_init(|| made))
    }

    /// Engines of this process, found at first use; shared by all providers of this process with the same settings.
    fn engines(&self, is_fibre: bool) -> Result<Arc<Accelerator>, Failure> {
        let config = &self.0.config;
        if let Some(engines) = self.0.engines.get() {
            return engines.clone().map_err(Failure::Accelerator);
        }
        // Made before the cell is locked: another thread may fork meanwhile, and the child would wait for ever.
        let made = match is_fibre {
            false => shared_engines(config),
            // The stack of a fibre is too short for what is done once.
            true => std::thread::scope(|scope| {
                scope.spawn(|| shared_engines(config)).join().unwrap_or_else(|_| Err("a panic".to_owned()))
            }),
        };
        self.0.engines.get_or_init(|| made).clone().map_err(Failure::Accelerator)
    }

    /// Has the scalar engine give known answers for a shape before its first use, on a thread of its own: fibres have short stacks.
    fn prove(&self, engines: &Accelerator, shape: Shape) -> Result<(), Failure> {
        let shape = representative(shape);
        if lock_briefly(&self.0.proved).is_some_and(|proved| proved.contains(&shape)) {
            return Ok(());
        }
        let scalar = engines.diagnostics().referee();
        let verdict = std::thread::scope(|scope| scope.spawn(|| prove(scalar, scalar, shape)).join());
        match verdict {
            Ok(Ok(_)) => {
                if let Some(mut proved) = lock_briefly(&self.0.proved) {
                    proved.push(shape);
                }
                Ok(())
            }
            Ok(Err(failure)) => Err(Failure::Accelerator(format!("self test of {shape}: {failure}"))),
            Err(_) => Err(Failure::Accelerator(format!("self test of {shape}: a panic"))),
        }
    }

    fn is_outage(&self) -> bool {
        lock_briefly(&self.0.outage)
            .is_some_and(|outage| outage.is_some_and(|since| since.elapsed() < OUTAGE))
    }

    fn begin_outage(&self, reason: &str) {
        let before = lock_briefly(&self.0.outage).and_then(|mut outage| outage.replace(Instant::now()));
        if before.is_none() {
            say(&format!(
                "{reason}; keys that are here are used in this process until the cryptoserver answers"
            ));
        }
    }

    fn end_outage(&self) {
        let before = lock_briefly(&self.0.outage).and_then(|mut outage| outage.take());
        if before.is_some() {
            say("the cryptoserver answers again");
        }
    }

    /// Says once that jobs block, as there is no descriptor to pause with.
    pub(crate) fn say_blocking(&self, reason: &std::io::Error) {
        if !self.0.is_blocking_said.swap(true, Ordering::Relaxed) {
            say(&format!("jobs block instead of pausing: no descriptor to wait for: {reason}"));
        }
    }
}

impl Flight {
    /// Blocks until it has ended.
    pub(crate) fn wait(self) -> Result<Zeroizing<Vec<u8>>, Failure> {
        match self {
            Self::Here(single) => Ok(single.wait()?),
            Self::Service(pending) => Ok(Zeroizing::new(pending.wait()?.expose().to_vec())),
        }
    }

    /// The answer, where it is there. Where not, `event` is signalled when it is, or the descriptor of the connection is readable.
    pub(crate) fn poll(&mut self, event: &Arc<Event>) -> Option<Result<Zeroizing<Vec<u8>>, Failure>> {
        match self {
            Self::Here(single) => {
                let waker = Waker::from(Arc::clone(event));
                match Pin::new(single).poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(answer) => Some(answer.map_err(Failure::from)),
                    Poll::Pending => None,
                }
            }
            Self::Service(pending) => match pending.try_take() {
                Ok(answer) => answer.map(|answer| Ok(Zeroizing::new(answer.expose().to_vec()))),
                Err(error) => Some(Err(error.into())),
            },
        }
    }
}

/// RSA private operations that the protocol has: everything else costs less than asking.
fn is_for_service(job: &Job<'_>) -> bool {
    matches!(job.key.kind(), KeyKind::RsaPrivate(_)) && job.scheme != Scheme::RsaPkcs1SignEncoded
}

/// The settings with which an accelerator was made: its engines, threads and nice value.
type Settings = (Option<Vec<String>>, Option<usize>, u8);

/// The accelerators of this process. Locked for a look and for an entry, never while one is made.
static SHARED: Mutex<Vec<(Settings, Weak<Accelerator>)>> = Mutex::new(Vec::new());

fn shared_engines(config: &Config) -> Result<Arc<Accelerator>, String> {
    let settings = match config.mode {
        Mode::Local => (config.engines.clone(), config.threads, config.nice),
        // The service has the engines; here are verifications and what its absence leaves.
        Mode::Service => (Some(vec!["scalar".to_owned()]), Some(1), config.nice),
    };
    let known = |shared: &Vec<(Settings, Weak<Accelerator>)>| {
        shared.iter().find(|(other, _)| *other == settings).and_then(|(_, engines)| engines.upgrade())
    };
    if let Some(engines) = lock_briefly(&SHARED).and_then(|shared| known(&shared)) {
        return Ok(engines);
    }
    let made = Arc::new(new_engines(&settings)?);
    // A process that cannot lock the list does without sharing.
    let Some(mut shared) = lock_briefly(&SHARED) else { return Ok(made) };
    if let Some(engines) = known(&shared) {
        return Ok(engines);
    }
    shared.retain(|(_, engines)| engines.strong_count() > 0);
    shared.push((settings.clone(), Arc::downgrade(&made)));
    Ok(made)
}

fn new_engines((names, threads, nice): &Settings) -> Result<Accelerator, String> {
    let own = oarlock::SchedulerConfig {
        caller_budget: CALLER_BUDGET,
        nice: *nice,
        ..oarlock::SchedulerConfig::default()
    };
    let mut builder = Accelerator::builder().config(own).lazy();
    if !oarlock_ffi::is_privileged() {
        builder = builder.environment(true).cost_cache(oarlock::default_cost_cache());
    }
    if let Some(names) = names {
        builder = builder.engines(names.clone());
    }
    if let Some(threads) = threads {
        builder = builder.threads(*threads);
    }
    builder.build().map_err(|error| error.to_string())
}

/// The most tries for a lock that is held for a few instructions. They take some milliseconds, in which its holder gets its turn.
const MAX_LOCK_TRIES: u32 = 20_000;

/// Locks what is held for a few instructions only. None if it stays locked: a thread held it when this process was forked, and that
/// thread does not exist here, so that waiting would never end.
fn lock_briefly<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    for _ in 0..MAX_LOCK_TRIES {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

/// Users who may run the cryptoserver: root, this process's, and the one of the settings where it exists.
fn server_uids(server_user: &str) -> Vec<u32> {
    let own = rustix::process::geteuid().as_raw();
    let mut uids = vec![0, own];
    uids.extend(oarlock_ffi::uid_of(server_user));
    uids.dedup();
    uids
}

/// One line on stderr, where there is one.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "oarlock: {text}");
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A fork leaves behind a lock that nobody opens if another thread held it.
    #[test]
    fn a_lock_that_is_never_opened_keeps_nobody_waiting() {
        let (config, _) = Config::read(|_| None, |_| None).unwrap();
        let config = Config { engines: Some(vec!["scalar".to_owned()]), threads: Some(1), ..config };
        let first = shared_engines(&config).unwrap();
        assert!(Arc::ptr_eq(&first, &shared_engines(&config).unwrap()));
        let held = SHARED.lock().unwrap();
        let (sender, receiver) = mpsc::channel();
        let child = std::thread::spawn(move || sender.send(shared_engines(&config).map(|_| ())));
        let made = receiver.recv_timeout(Duration::from_secs(60));
        drop(held);
        assert_eq!(made, Ok(Ok(())));
        child.join().unwrap().unwrap();
    }
}
