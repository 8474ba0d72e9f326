//! The choice between the engines of this process and a cryptoserver.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use oarlock::engine_api::schemes::{compute_on, raw_result, shape_of};
use oarlock::engine_api::selftest::{prove, representative};
use oarlock::engine_api::{Jobs, Operation, OperationSet, SecondInput};
use oarlock::process::{ForkSafeCell, ProcessLocal};
use oarlock::{Accelerator, Job, JobError, Key, KeyHome, KeyKind, Outcomes, Scheme, Shape, SubmitOptions};
use oarlock_ffi::print_line;
use oarlock_wire::proto::{Code, KeyInfo};
use oarlock_wire::{ConnectionPool, JobKeySource, PoolConfig, PoolError, ServerUsers};
use zeroize::Zeroizing;

use crate::config::{Config, OperationMode, VerifyAt};
use crate::error::{INSECURE_FORK, ProviderError};
use crate::ffi::libcrypto::async_job::{AsyncJobs, JobFibre};
use crate::ffi::libcrypto::core::CoreHandle;
use crate::ffi::libcrypto::fallback::FallbackProvider;
use crate::pending::PendingOperation;

/// A loaded provider. Clones share its state.
#[derive(Clone)]
pub(crate) struct LoadedProvider(Arc<ProviderState>);

struct ProviderState {
    core: CoreHandle,
    config: Config,
    async_jobs: AsyncJobs,
    fallback: ForkSafeCell<Arc<FallbackProvider>>,
    engines: ForkSafeCell<Result<Arc<Accelerator>, String>>,
    verifier: ForkSafeCell<Result<Arc<Accelerator>, String>>,
    pool: ForkSafeCell<ConnectionPool>,
    notes: ProcessLocal<Mutex<ProviderNotes>>,
    /// True after a warning that there is no shared memory.
    is_ring_missed: AtomicBool,
    /// True after a warning that the server has refused to verify.
    is_verification_refused: AtomicBool,
}

/// The findings of a process. A forked child inherits them.
#[derive(Clone, Default)]
struct ProviderNotes {
    /// The time since which the cryptoserver has not answered.
    outage: Option<Instant>,
    /// The shapes for which the scalar engine has passed its self test outside of the dispatcher.
    tested_shapes: Vec<Shape>,
}

/// The time for which this process uses its own keys after a failed call to the cryptoserver.
const OUTAGE: Duration = Duration::from_secs(1);

/// A caller outside of jobs waits for the answer. On an idle machine, its own thread is faster than a worker that must
/// wake up.
const CALLER_BUDGET: Duration = Duration::from_secs(1);

/// The maximum number of idle connections to the cryptoserver.
const MAX_IDLE: usize = 64;

impl LoadedProvider {
    pub(crate) fn new(core: CoreHandle, config: Config) -> Self {
        Self(Arc::new(ProviderState {
            async_jobs: AsyncJobs::find(&core, config.mode == OperationMode::Service, config.patience),
            core,
            config,
            fallback: ForkSafeCell::new(),
            engines: ForkSafeCell::new(),
            verifier: ForkSafeCell::new(),
            pool: ForkSafeCell::new(),
            notes: ProcessLocal::new(),
            is_ring_missed: AtomicBool::new(false),
            is_verification_refused: AtomicBool::new(false),
        }))
    }

    /// Returns a provider that no library has loaded, with default settings.
    #[cfg(test)]
    pub(crate) fn detached() -> Self {
        let (config, _) = Config::read(|_| None, |_| None).unwrap();
        Self::new(CoreHandle::detached(), config)
    }

    pub(crate) fn core(&self) -> &CoreHandle {
        &self.0.core
    }

    /// Returns the answer to a question as OpenSSL's 1 or 0. Only an error goes to the error queue.
    pub(crate) fn report(&self, result: Result<bool, ProviderError>) -> c_int {
        // A bad signature is an answer. An entry for it in the queue would look like an error of a later call to
        // programs that read the queue to learn whether a call failed: SSL_get_error(3).
        result.map_or_else(
            |error| {
                self.core().raise(&error);
                0
            },
            c_int::from,
        )
    }

    /// Returns the provider that computes what this one does not offer, or None if no other one is active.
    pub(crate) fn fallback(&self) -> Option<&Arc<FallbackProvider>> {
        // One that is not active may become so later.
        let find = || FallbackProvider::find(self.core()).map(Arc::new).ok_or(());
        self.0.fallback.get_or_try_make(find).ok()
    }

    /// True if this is the fibre of an `ASYNC_JOB`, whose stack is small.
    pub(crate) fn is_fibre(&self) -> bool {
        self.0.async_jobs.current().is_some()
    }

    /// Runs work that needs more stack than a fibre has: on another thread if this is a fibre.
    pub(crate) fn off_fibre<T: Send>(&self, work: impl Fn() -> T + Sync) -> Result<T, ProviderError> {
        if self.is_fibre() { with_large_stack(true, work) } else { Ok(work()) }
    }

    pub(crate) fn mode(&self) -> OperationMode {
        self.0.config.mode
    }

    /// Computes a job on the engines or the cryptoserver that its key and the settings require. An `ASYNC_JOB` pauses
    /// meanwhile.
    pub(crate) fn run(&self, job: &Job<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let fibre = self.0.async_jobs.current();
        if is_verified_at_server(job, &self.0.config) {
            return self.verify_at_server(job, fibre.as_ref());
        }
        // To pause and resume a fibre costs more than these operations.
        if job.scheme.is_verification() || job.scheme.is_agreement() && held_name(job.key).is_none() {
            return self.compute_at_once(job, fibre.as_ref());
        }
        // A public operation, for which every key has its public half here.
        if matches!(job.scheme, Scheme::MlKemEncaps { .. }) {
            return self.compute_locally(job, fibre.as_ref());
        }
        match (self.mode(), held_name(job.key)) {
            (OperationMode::Local, Some(name)) => Err(ProviderError::NoService(name.to_owned())),
            (OperationMode::Service, Some(name)) => {
                let fingerprint = Some(job.key.fingerprint());
                self.ask_service(job, JobKeySource::Resident { name, fingerprint }, fibre.as_ref())
            }
            (OperationMode::Service, None) if is_for_service(job) && !self.is_outage() => {
                // This process has the key, so a lost server costs time and not the handshake. Any other error is the
                // server's answer about this job.
                match self.ask_service(job, JobKeySource::Brought(job.key), fibre.as_ref()) {
                    Err(ProviderError::Service(error)) if error.is_unavailable() => {
                        self.begin_outage(&error.to_string());
                        self.compute_locally(job, fibre.as_ref())
                    }
                    answer => {
                        self.end_outage();
                        answer
                    }
                }
            }
            _ => self.compute_locally(job, fibre.as_ref()),
        }
    }

    /// Computes jobs of ephemeral keys together on the engines of this process. Their answers stand one behind the
    /// other. An `ASYNC_JOB` pauses meanwhile, because the stack of a fibre is too small for ML-KEM.
    pub(crate) fn run_together(&self, jobs: &[Job<'_>]) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let fibre = self.0.async_jobs.current();
        let engines = self.engines(fibre.is_some())?;
        let Some(fibre) = fibre else {
            return match engines.submit_many(jobs, SubmitOptions::default()).wait().joined() {
                Err(JobError::NoThreads { .. }) => {
                    warn_without_threads(ALONE);
                    Ok(engines.run_all(jobs).joined()?)
                }
                answer => Ok(answer?),
            };
        };
        let options = SubmitOptions::default().with_never_on_caller_thread(true);
        finish_on_fibre(&fibre, PendingOperation::Together(engines.submit_many(jobs, options)))
    }

    /// Verifies at the cryptoserver, or in this process if the server cannot be reached or refuses.
    fn verify_at_server(
        &self,
        job: &Job<'_>,
        fibre: Option<&JobFibre>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        if self.is_outage() {
            return self.compute_at_once(job, fibre);
        }
        match self.ask_service(job, JobKeySource::Public(job.key), fibre) {
            Err(ProviderError::Service(PoolError::Refused { code: Code::Rejected, .. })) => {
                self.end_outage();
                Err(JobError::Rejected.into())
            }
            Err(ProviderError::Service(error)) => {
                match &error {
                    // About this key or this job: others, and private operations, still go to the server.
                    PoolError::Refused { .. } => self.warn_of_refused_verification(&error),
                    _ => self.begin_outage(&error.to_string()),
                }
                self.compute_at_once(job, fibre)
            }
            answer => {
                self.end_outage();
                answer
            }
        }
    }

    /// Computes the public operation of an RSA key. The result has the length of the modulus.
    pub(crate) fn rsa_public(&self, key: &Key, input: &[u8]) -> Result<Vec<u8>, ProviderError> {
        let shape = key.rsa_public_shape().ok_or(ProviderError::NoKey)?;
        let is_fibre = self.is_fibre();
        let engines = self.engines(is_fibre)?;
        self.self_test(&engines, shape, is_fibre)?;
        let mut set = OperationSet::new(shape);
        set.push(key, input, SecondInput::None)?;
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

    /// Asks the cryptoserver for the public half of a key.
    pub(crate) fn key_info(&self, name: &str) -> Result<KeyInfo, ProviderError> {
        if self.mode() == OperationMode::Local {
            return Err(ProviderError::NoService(name.to_owned()));
        }
        Ok(self.pool(false)?.key_info(name)?)
    }

    /// Computes a job that is too small for a queue.
    fn compute_at_once(
        &self,
        job: &Job<'_>,
        fibre: Option<&JobFibre>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let is_fibre = fibre.is_some();
        if is_fibre && matches!(job.scheme, Scheme::MlDsaVerify { .. }) {
            // The scalar engine needs more stack than a fibre has.
            return self.compute_locally(job, fibre);
        }
        if job.scheme.is_verification() && !is_fibre {
            // A caller waits for one verification at a time. The change to a worker's thread and back takes as long as
            // a verification under a recurring key.
            let answers = self.verifier()?.run_all(std::slice::from_ref(job));
            return Ok(Zeroizing::new(answers.get(0)?.to_vec()));
        }
        let engines = self.engines(is_fibre)?;
        if is_fibre {
            self.self_test(&engines, shape_of(job)?, is_fibre)?;
            // An engine's batch does not fit on the stack of a fibre. The scalar engine needs no more stack than
            // OpenSSL itself.
            let answer = compute_on(engines.diagnostics().referee(), std::slice::from_ref(job)).pop();
            return Ok(Zeroizing::new(answer.unwrap_or(Err(JobError::Cancelled))?));
        }
        self.compute_on_any_thread(&engines, job)
    }

    fn compute_locally(
        &self,
        job: &Job<'_>,
        fibre: Option<&JobFibre>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let engines = self.engines(fibre.is_some())?;
        match fibre {
            None => self.compute_on_any_thread(&engines, job),
            Some(fibre) => {
                let options = SubmitOptions::default().with_never_on_caller_thread(true);
                finish_on_fibre(fibre, PendingOperation::Local(engines.submit(job, options)))
            }
        }
    }

    fn ask_service(
        &self,
        job: &Job<'_>,
        source: JobKeySource<'_>,
        fibre: Option<&JobFibre>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        if let Some(shape) = job.key.rsa_public_shape() {
            // The pool verifies answers with the public operation.
            self.self_test(&*self.engines(fibre.is_some())?, shape, fibre.is_some())?;
        }
        let pool = self.pool(fibre.is_some())?;
        let flight = PendingOperation::Service(Box::new(pool.start(job, source)?));
        let answer = match fibre {
            None => flight.wait(),
            Some(fibre) => fibre.finish(flight),
        };
        self.warn_without_ring(pool);
        answer
    }

    /// Computes a job in a batch, or alone on this thread if the process may start no others.
    fn compute_on_any_thread(
        &self,
        engines: &Accelerator,
        job: &Job<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        match engines.submit(job, SubmitOptions::default()).wait() {
            Err(JobError::NoThreads { .. }) => {
                warn_without_threads(ALONE);
                let answers = engines.run_all(std::slice::from_ref(job));
                Ok(Zeroizing::new(answers.get(0)?.to_vec()))
            }
            answer => Ok(answer?),
        }
    }

    /// Warns once that this process verifies although the server should.
    fn warn_of_refused_verification(&self, error: &PoolError) {
        if !self.0.is_verification_refused.swap(true, Ordering::Relaxed) {
            print_line(&format!("{error}; this process verifies what the cryptoserver refuses to verify"));
        }
    }

    /// Warns once if a system forbids the shared memory that both sides want.
    fn warn_without_ring(&self, pool: &ConnectionPool) {
        if let Some(no_ring) = pool.no_ring().filter(|no_ring| no_ring.is_unexpected())
            && !self.0.is_ring_missed.swap(true, Ordering::Relaxed)
        {
            print_line(&format!("the cryptoserver is asked without shared memory: {no_ring}"));
        }
    }

    fn pool(&self, is_fibre: bool) -> Result<&ConnectionPool, ProviderError> {
        self.0.pool.get_or_try_make(|| {
            let checker = Accelerator::clone(&*self.engines(is_fibre)?);
            let config = &self.0.config;
            let settings = PoolConfig {
                path: config.socket.clone(),
                users: ServerUsers::with_user(&config.server_user),
                patience: config.patience,
                max_idle: MAX_IDLE,
                has_ring: true,
            };
            Ok(ConnectionPool::new(settings, checker))
        })
    }

    /// Returns the engines of this process, which are created at first use and shared by all providers with the same
    /// settings.
    fn engines(&self, is_fibre: bool) -> Result<Arc<Accelerator>, ProviderError> {
        let make = || shared_engines(AcceleratorSettings::from_config(&self.0.config));
        let engines = self.0.engines.get_or_try_make(|| match is_fibre {
            false => Ok(make()),
            true => with_large_stack(true, make),
        })?;
        engines.clone().map_err(ProviderError::Accelerator)
    }

    /// Returns the engines that verify on the threads of callers, which are created at first use.
    fn verifier(&self) -> Result<Arc<Accelerator>, ProviderError> {
        let settings = || AcceleratorSettings::from_config(&self.0.config).for_verification();
        let verifier = self.0.verifier.get_or_make(|| shared_engines(settings()));
        verifier.clone().map_err(ProviderError::Accelerator)
    }

    /// Runs the known answers of a shape on the scalar engine before its first use.
    fn self_test(&self, engines: &Accelerator, shape: Shape, is_fibre: bool) -> Result<(), ProviderError> {
        let shape = representative(shape);
        if self.notes().tested_shapes.contains(&shape) {
            return Ok(());
        }
        let scalar = engines.diagnostics().referee();
        let verdict = with_large_stack(is_fibre, || prove(scalar, scalar, shape))?;
        verdict.map_err(|failure| ProviderError::Accelerator(format!("self test of {shape}: {failure}")))?;
        self.notes().tested_shapes.push(shape);
        Ok(())
    }

    fn is_outage(&self) -> bool {
        self.notes().outage.is_some_and(|since| since.elapsed() < OUTAGE)
    }

    fn begin_outage(&self, reason: &str) {
        let before = self.notes().outage.replace(Instant::now());
        if before.is_none() {
            print_line(&format!("{reason}; this process uses its own keys until the cryptoserver answers"));
        }
    }

    fn end_outage(&self) {
        let before = self.notes().outage.take();
        if before.is_some() {
            print_line("the cryptoserver answers again");
        }
    }

    fn notes(&self) -> MutexGuard<'_, ProviderNotes> {
        lock_inherited(&self.0.notes)
    }
}

/// Returns the name of a key that a cryptoserver holds.
pub(crate) fn held_name(key: &Key) -> Option<&str> {
    match key.home() {
        KeyHome::Held { reference, .. } => Some(reference),
        KeyHome::Local => None,
    }
}

/// True for RSA private operations that the protocol has. Everything else costs less than a call to the cryptoserver.
fn is_for_service(job: &Job<'_>) -> bool {
    matches!(job.key.kind(), KeyKind::RsaPrivate(_)) && job.scheme != Scheme::RsaPkcs1SignEncoded
}

/// True for verifications that the settings leave to the cryptoserver and the protocol has.
fn is_verified_at_server(job: &Job<'_>, config: &Config) -> bool {
    config.verify_at == VerifyAt::Server
        && job.scheme.is_verification()
        && job.scheme != Scheme::RsaPkcs1VerifyEncoded
        // One under a recurring key costs less than a call.
        && !matches!(job.scheme, Scheme::MlDsaVerify { .. })
}

/// The settings of an accelerator.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AcceleratorSettings {
    /// All engines if None.
    names: Option<Vec<String>>,
    threads: Option<usize>,
    nice: u8,
}

/// The engine that computes one job at a time.
const SCALAR: &str = "scalar";

impl AcceleratorSettings {
    fn from_config(config: &Config) -> Self {
        match config.mode {
            OperationMode::Local => {
                Self { names: config.engines.clone(), threads: config.threads, nice: config.nice }
            }
            // The service has the engines. This process verifies, and computes if the service is unavailable.
            OperationMode::Service => Self::scalar(config.nice),
        }
    }

    /// Returns the settings of the engines for single verifications. The scalar engine keeps tables of recurring keys
    /// only if it is alone, and with them it verifies one signature faster than the lanes do. If it is not allowed, the
    /// allowed engines verify.
    fn for_verification(self) -> Self {
        match &self.names {
            Some(names) if !names.iter().any(|name| name == SCALAR) => self,
            _ => Self::scalar(self.nice),
        }
    }

    fn scalar(nice: u8) -> Self {
        Self { names: Some(vec![SCALAR.to_owned()]), threads: Some(1), nice }
    }
}

/// Runs work that needs more stack than a fibre has, on a thread of its own. In a process that may start no threads it
/// runs on this one, unless that is a fibre.
pub(crate) fn with_large_stack<T: Send>(
    is_fibre: bool,
    work: impl Fn() -> T + Sync,
) -> Result<T, ProviderError> {
    let ended = std::thread::scope(|scope| {
        std::thread::Builder::new().spawn_scoped(scope, &work).map(|thread| thread.join())
    });
    match ended {
        Ok(ended) => ended.map_err(|_| ProviderError::Accelerator("a panic".to_owned())),
        Err(_) if !is_fibre => Ok(work()),
        Err(error) => Err(no_thread(error.to_string())),
    }
}

/// Pauses a fibre until engines of this process have answered.
fn finish_on_fibre(
    fibre: &JobFibre<'_>,
    pending: PendingOperation,
) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
    fibre.finish(pending).map_err(|error| match error {
        ProviderError::Job(JobError::NoThreads { reason }) => no_thread(reason),
        error => error,
    })
}

/// The consequence for operations outside of jobs if no thread can be started.
const ALONE: &str = "each operation is computed alone on its caller's thread";

/// Programs such as HAProxy print no error of a handshake, so the reason is printed too.
fn no_thread(reason: String) -> ProviderError {
    warn_without_threads("no ASYNC_JOB can be computed");
    ProviderError::NoThread(reason)
}

/// Warns once that this process may start no threads.
fn warn_without_threads(consequence: &str) {
    static IS_WARNED: AtomicBool = AtomicBool::new(false);
    if !IS_WARNED.swap(true, Ordering::Relaxed) {
        print_line(&format!("this process may start no threads, so {consequence}{INSECURE_FORK}"));
    }
}

type SharedEngines = Vec<(AcceleratorSettings, Weak<Accelerator>)>;

/// The accelerators of this process. The lock is held for a look or an insertion, and never while engines are created.
static SHARED: ProcessLocal<Mutex<SharedEngines>> = ProcessLocal::new();

fn shared_engines(settings: AcceleratorSettings) -> Result<Arc<Accelerator>, String> {
    let known = |shared: &SharedEngines| {
        shared.iter().find(|(other, _)| *other == settings).and_then(|(_, engines)| engines.upgrade())
    };
    if let Some(engines) = known(&lock_inherited(&SHARED)) {
        return Ok(engines);
    }
    let made = Arc::new(new_engines(&settings)?);
    let mut shared = lock_inherited(&SHARED);
    // Another thread may have been faster. Its accelerator is used, because jobs share batches within one only.
    if let Some(engines) = known(&shared) {
        return Ok(engines);
    }
    shared.retain(|(_, engines)| engines.strong_count() > 0);
    // Weak: threads end with the last provider that uses them, and a later provider creates new ones.
    shared.push((settings, Arc::downgrade(&made)));
    Ok(made)
}

/// Locks a value that a forked child inherits, unless a thread of its parent held the lock.
fn lock_inherited<T: Clone + Default>(local: &ProcessLocal<Mutex<T>>) -> MutexGuard<'_, T> {
    let inherit = |parent: &Mutex<T>| parent.try_lock().ok().map(|value| value.clone());
    let value = local.get(|parent| Mutex::new(parent.and_then(inherit).unwrap_or_default()));
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

fn new_engines(settings: &AcceleratorSettings) -> Result<Accelerator, String> {
    let AcceleratorSettings { names, threads, nice } = settings;
    let config = oarlock::SchedulerConfig::default().with_caller_budget(CALLER_BUDGET).with_nice(*nice);
    let mut builder = Accelerator::builder().config(config).lazy();
    // A privileged process takes nothing from its environment, and no file that it names.
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

#[cfg(test)]
mod tests {
    use oarlock::process::ProcessMark;

    use super::*;

    #[test]
    fn providers_with_equal_settings_share_engines() {
        let settings = AcceleratorSettings::scalar(10);
        let first = shared_engines(settings.clone()).unwrap();
        assert!(Arc::ptr_eq(&first, &shared_engines(settings).unwrap()));
    }

    #[test]
    fn a_child_inherits_a_value_unless_a_thread_of_its_parent_held_the_lock() {
        for is_held in [false, true] {
            let local = ProcessLocal::new();
            let parent = local.get_for(ProcessMark::imaginary(1), |_| Mutex::new(7));
            let held = is_held.then(|| parent.lock());
            assert_eq!(*lock_inherited(&local), if is_held { 0 } else { 7 });
            drop(held);
        }
    }

    #[test]
    fn single_verifications_have_tables_beside_lanes_too() {
        let (config, _) = Config::read(|_| None, |_| None).unwrap();
        let verifier = shared_engines(AcceleratorSettings::from_config(&config).for_verification()).unwrap();
        assert_eq!(verifier.engine_names().collect::<Vec<_>>(), [SCALAR]);
        assert!(verifier.max_prepared_bytes() > 0);
    }

    #[test]
    fn only_allowed_engines_verify() {
        let (config, _) = Config::read(|_| None, |_| None).unwrap();
        let config = Config { engines: Some(vec!["lanes".to_owned()]), ..config };
        let settings = AcceleratorSettings::from_config(&config);
        assert_eq!(settings.clone().for_verification(), settings);
        let both = Config { engines: Some(vec!["lanes".to_owned(), SCALAR.to_owned()]), ..config };
        assert_eq!(
            AcceleratorSettings::from_config(&both).for_verification(),
            AcceleratorSettings::scalar(both.nice)
        );
    }
}
