//! A loaded provider: its settings, its engines, and the way of each operation to the engines of this process or to a
//! cryptoserver.

use std::cell::Cell;
use std::ffi::c_int;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use corosensei::stack::DefaultStack;
use oarlock::engine_api::schemes::{compute_on, raw_result, shape_of};
use oarlock::engine_api::selftest::{prove, representative};
use oarlock::engine_api::{Jobs, Operation, OperationSet, SecondInput};
use oarlock::process::{ForkSafeCell, ProcessLocal};
use oarlock::{Accelerator, Job, JobError, Key, KeyHome, KeyKind, Outcomes, Scheme, Shape, SubmitOptions};
use oarlock_ffi::print_line;
use oarlock_wire::proto::{Code, KeyInfo};
use oarlock_wire::{ConnectionPool, JobKeySource, PoolConfig, PoolError, ServerUsers};
use rustix::time::{ClockId, clock_gettime};
use zeroize::Zeroizing;

use crate::config::{Config, OperationMode, VerifyAt};
use crate::engines::{AcceleratorSettings, SCALAR, lock_inherited, shared_engines};
use crate::error::{INSECURE_FORK, ProviderError};
use crate::ffi::fork_shared::ForkShared;
use crate::ffi::libcrypto::async_job::{AsyncJobs, JobFibre};
use crate::ffi::libcrypto::core::CoreHandle;
use crate::ffi::libcrypto::fallback::FallbackProvider;
use crate::knowledge::ForkKnowledge;
use crate::pending::{ComputedOutput, PendingOperation};
use crate::route::{ComputingSite, RouteChange, SiteFailures};

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
    known: ForkShared<ForkKnowledge>,
    /// The number of threads that compute here at this moment.
    computing: ProcessLocal<AtomicUsize>,
    /// True in a program of TLS, which has asked for groups.
    is_tls: AtomicBool,
    /// The number of times that OpenSSL has asked for decoders before.
    decoder_lists: AtomicUsize,
    /// True after a warning that there is no shared memory.
    is_ring_missed: AtomicBool,
    /// True after a warning that the server has refused to verify.
    is_verification_refused: AtomicBool,
}

/// The decoders that OpenSSL gets when it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecoderList {
    All,
    /// All, but OpenSSL asks again the next time.
    AllForNow,
    /// Those that programs of TLS need.
    Few,
}

/// The number of times that OpenSSL before 3.2 gets decoders that it does not keep. A program may read its keys before
/// it shows that it is one of TLS, and what OpenSSL keeps cannot be taken back.
const UNKEPT_LISTS: usize = 64;

/// The findings of a process. A forked child inherits them.
#[derive(Clone, Default)]
struct ProviderNotes {
    /// The time since which the cryptoserver has not answered.
    outage: Option<Instant>,
    /// The failures of places that compute, by the kind of operations.
    failures: Vec<(RoutedKind, SiteFailures)>,
}

/// Operations that measured costs send to the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RoutedKind {
    shape: Shape,
    is_fibre: bool,
}

/// Returns a number that is the same in every fork of this process, and never 0.
fn number_of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() | 1
}

/// The beginning of the sentence "are computed here".
impl fmt::Display for RoutedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{} operations are computed",
            self.shape,
            if self.is_fibre { " asynchronous" } else { "" }
        )
    }
}

/// The time for which this process uses its own keys after a failed call to the cryptoserver.
const OUTAGE: Duration = Duration::from_secs(1);

/// The time that an answer may take if this process would compute as well.
const AUTO_PATIENCE: Duration = Duration::from_millis(250);

/// The maximum number of idle connections to the cryptoserver.
const MAX_IDLE: usize = 64;

impl LoadedProvider {
    pub(crate) fn new(core: CoreHandle, config: Config) -> Self {
        // A slot for a cryptoserver has two descriptors more.
        let is_service = match config.mode {
            OperationMode::Auto => config.socket.exists(),
            OperationMode::Local => false,
            OperationMode::Service => true,
        };
        Self(Arc::new(ProviderState {
            async_jobs: AsyncJobs::find(&core, is_service, config.patience),
            core,
            config,
            fallback: ForkSafeCell::new(),
            engines: ForkSafeCell::new(),
            verifier: ForkSafeCell::new(),
            pool: ForkSafeCell::new(),
            notes: ProcessLocal::new(),
            known: ForkShared::new(),
            computing: ProcessLocal::new(),
            is_tls: AtomicBool::new(false),
            decoder_lists: AtomicUsize::new(0),
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

    /// Notes that this is a program of TLS.
    pub(crate) fn note_tls(&self) {
        self.0.is_tls.store(true, Ordering::Relaxed);
    }

    /// Returns the decoders that OpenSSL gets.
    pub(crate) fn decoders(&self) -> DecoderList {
        let version = self.core().setting(c"openssl-version").unwrap_or_default();
        if !["3.0.", "3.1."].iter().any(|old| version.starts_with(old)) {
            DecoderList::All
        } else if self.0.is_tls.load(Ordering::Relaxed) {
            DecoderList::Few
        } else if self.0.decoder_lists.fetch_add(1, Ordering::Relaxed) < UNKEPT_LISTS {
            DecoderList::AllForNow
        } else {
            DecoderList::All
        }
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

    /// Runs work that needs more stack than a fibre has.
    pub(crate) fn off_fibre<T>(&self, work: impl FnOnce() -> T) -> Result<T, ProviderError> {
        with_large_stack(self.is_fibre(), work)
    }

    pub(crate) fn mode(&self) -> OperationMode {
        self.0.config.mode
    }

    /// Computes a job on the engines or the cryptoserver that its key and the settings require. An `ASYNC_JOB` may
    /// pause meanwhile.
    pub(crate) fn run(&self, job: &Job<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let fibre = self.0.async_jobs.current();
        let fibre = fibre.as_ref();
        if is_verified_at_server(job, &self.0.config) {
            return self.verify_at_server(job, fibre);
        }
        if job.scheme.is_verification() {
            return self.verify_here(job, fibre);
        }
        let answer = match (self.mode(), held_name(job.key)) {
            // A public operation, for which every key has its public half here.
            _ if matches!(job.scheme, Scheme::MlKemEncaps { .. }) => self.compute_here(job, fibre),
            (OperationMode::Local, Some(name)) => Err(ProviderError::NoService(name.to_owned())),
            (_, Some(name)) => {
                let fingerprint = Some(job.key.fingerprint());
                self.ask_service(job, JobKeySource::Resident { name, fingerprint }, fibre)
            }
            (OperationMode::Service, None) if is_for_service(job) && !self.is_outage() => {
                // This process has the key, so a lost server costs time and not the handshake. Any other error is the
                // server's answer about this job.
                match self.ask_service(job, JobKeySource::Brought(job.key), fibre) {
                    Err(ProviderError::Service(error)) if error.is_unavailable() => {
                        self.begin_outage(&error.to_string());
                        self.compute_here(job, fibre)
                    }
                    answer => {
                        self.end_outage();
                        answer
                    }
                }
            }
            _ => self.compute_here(job, fibre),
        };
        Ok(answer?.output)
    }

    /// Computes jobs of ephemeral keys together on the engines of this process. Their answers stand one behind the
    /// other.
    pub(crate) fn run_together(&self, jobs: &[Job<'_>]) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let fibre = self.0.async_jobs.current();
        Ok(self.compute_routed(jobs, fibre.as_ref())?.output)
    }

    /// Verifies at the cryptoserver, or in this process if the server cannot be reached or refuses.
    fn verify_at_server(
        &self,
        job: &Job<'_>,
        fibre: Option<&JobFibre>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        if self.is_outage() {
            return self.verify_here(job, fibre);
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
                self.verify_here(job, fibre)
            }
            answer => {
                self.end_outage();
                Ok(answer?.output)
            }
        }
    }

    /// Computes the public operation of an RSA key. The result has the length of the modulus.
    pub(crate) fn rsa_public(&self, key: &Key, input: &[u8]) -> Result<Vec<u8>, ProviderError> {
        let shape = key.rsa_public_shape().ok_or(ProviderError::NoKey)?;
        let engines = self.engines(self.is_fibre())?;
        self.off_fibre(|| self.self_test(&engines, shape))??;
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

    /// Verifies on this thread: a caller waits for one verification at a time, and the change to a worker's thread and
    /// back takes as long as a verification under a recurring key.
    fn verify_here(
        &self,
        job: &Job<'_>,
        fibre: Option<&JobFibre>,
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        with_large_stack(fibre.is_some(), || {
            let (engines, jobs) = (self.verifier()?, std::slice::from_ref(job));
            // RSA has no tables of recurring keys, which the way through the dispatcher would find.
            if job.key.rsa_public_shape().is_some() && self.is_scalar(jobs) {
                return self.compute_alone(&engines, jobs);
            }
            Ok(Zeroizing::new(engines.run_all(jobs).get(0)?.to_vec()))
        })?
    }

    /// Computes a job with a key of this process.
    fn compute_here(&self, job: &Job<'_>, fibre: Option<&JobFibre>) -> Result<ComputedOutput, ProviderError> {
        match fibre {
            // To pause and resume a fibre costs more.
            Some(_) if job.scheme.is_agreement() => {
                self.compute_at(ComputingSite::Here, std::slice::from_ref(job), fibre)
            }
            _ => self.compute_routed(std::slice::from_ref(job), fibre),
        }
    }

    /// Computes jobs at the place that the settings or measured costs choose.
    fn compute_routed(
        &self,
        jobs: &[Job<'_>],
        fibre: Option<&JobFibre>,
    ) -> Result<ComputedOutput, ProviderError> {
        let sites = self.sites(jobs, fibre.is_some());
        let [first, _, ..] = sites[..] else {
            let site = sites.first().copied().unwrap_or(ComputingSite::Here);
            return match self.compute_at(site, jobs, fibre) {
                Err(ProviderError::Job(JobError::NoThreads { .. })) => {
                    warn_without_threads();
                    self.compute_at(ComputingSite::Here, jobs, fibre)
                }
                answer => answer,
            };
        };
        let Some(shape) = jobs.first().and_then(|job| shape_of(job).ok()).map(representative) else {
            return self.compute_at(first, jobs, fibre);
        };
        let kind = RoutedKind { shape, is_fibre: fibre.is_some() };
        let Some(route) = self.0.known.routes.route(number_of(kind), &sites) else {
            return self.compute_at(first, jobs, fibre);
        };
        let failures = self.failures(kind, |failures| *failures);
        let began = monotonic_time();
        let (site, change) = route.choose(began, &failures);
        if let Some(change) = change {
            note_change(kind, change);
        }
        let before = thread_time();
        let answer = match (site, self.compute_at(site, jobs, fibre)) {
            (ComputingSite::Batches, Err(ProviderError::Job(JobError::NoThreads { .. }))) => {
                warn_without_threads();
                self.failures(kind, |failures| failures.shut(began, site));
                return self.compute_at(ComputingSite::Here, jobs, fibre);
            }
            (ComputingSite::Service, Err(ProviderError::Service(error))) => {
                // This process has the key, so that any failure of the server costs time and not the handshake.
                self.failures(kind, |failures| failures.shut(monotonic_time(), site));
                if route.current() == site || !is_absent(&error) {
                    print_line(&format!("note: {error}; {kind} in this process"));
                }
                return self.compute_at(ComputingSite::Here, jobs, fibre);
            }
            (_, answer) => answer?,
        };
        // While a fibre pauses, its thread works for others.
        let on_this_thread = match site {
            ComputingSite::Batches => Duration::ZERO,
            ComputingSite::Here | ComputingSite::Service => thread_time().saturating_sub(before),
        };
        route.complete(began, &failures, site, on_this_thread + answer.elsewhere);
        if site != ComputingSite::Here {
            self.failures(kind, |failures| failures.forget(site));
        }
        Ok(answer)
    }

    /// Returns the places that may compute jobs, the usual one first.
    fn sites(&self, jobs: &[Job<'_>], is_fibre: bool) -> Vec<ComputingSite> {
        let for_service = |job: &&Job<'_>| is_for_service(job);
        match (self.mode(), is_fibre) {
            // An event loop must not wait for a long operation.
            (OperationMode::Auto, true) if self.is_scalar(jobs) => {
                vec![ComputingSite::Batches, ComputingSite::Here]
            }
            (OperationMode::Auto, false) if jobs.first().filter(for_service).is_some() => {
                vec![ComputingSite::Here, ComputingSite::Service]
            }
            (_, true) => vec![ComputingSite::Batches],
            (_, false) => vec![ComputingSite::Here],
        }
    }

    fn compute_at(
        &self,
        site: ComputingSite,
        jobs: &[Job<'_>],
        fibre: Option<&JobFibre>,
    ) -> Result<ComputedOutput, ProviderError> {
        match (site, fibre, jobs) {
            (ComputingSite::Batches, Some(fibre), _) => {
                let options = SubmitOptions::default().with_never_on_caller_thread(true);
                let engines = self.engines(true)?;
                fibre.finish(PendingOperation::Local(engines.submit_many(jobs, options)))
            }
            (ComputingSite::Service, _, [job]) => {
                self.ask_service(job, JobKeySource::Brought(job.key), fibre)
            }
            _ => with_large_stack(fibre.is_some(), || self.compute_on_this_thread(jobs))?
                .map(ComputedOutput::here),
        }
    }

    /// Computes jobs while this thread waits: on it if no other thread computes here, else in batches with theirs.
    fn compute_on_this_thread(&self, jobs: &[Job<'_>]) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        let engines = self.engines(false)?;
        let turn = ComputingTurn::begin(self.0.computing.get(|_| AtomicUsize::new(0)));
        if turn.is_alone && self.is_scalar(jobs) {
            return self.compute_alone(&engines, jobs);
        }
        match engines.submit_many(jobs, SubmitOptions::default()).wait().joined() {
            Err(JobError::NoThreads { .. }) => {
                warn_without_threads();
                Ok(engines.run_all(jobs).joined()?)
            }
            answer => Ok(answer?),
        }
    }

    /// Computes jobs by the scalar engine on this thread, where no other thread computes now: no batch would form, and
    /// the way through the dispatcher costs some microseconds, most of them for code that the caches have lost.
    fn compute_alone(
        &self,
        engines: &Accelerator,
        jobs: &[Job<'_>],
    ) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        for job in jobs {
            self.self_test(engines, shape_of(job)?)?;
        }
        // Wrapped before the first error is returned: the other answers may be secrets too.
        let wrap = |answer: Result<Vec<u8>, JobError>| answer.map(Zeroizing::new);
        let answers: Vec<_> =
            compute_on(engines.diagnostics().referee(), jobs).into_iter().map(wrap).collect();
        let parts = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        // Allocated once, so that no copy of a secret stays behind.
        let len = parts.iter().map(|part| part.len()).sum();
        let mut all = Zeroizing::new(Vec::with_capacity(len));
        parts.iter().for_each(|part| all.extend_from_slice(part));
        Ok(all)
    }

    /// True if the scalar engine computes these jobs where nothing else waits. Lanes compute a long one alone.
    fn is_scalar(&self, jobs: &[Job<'_>]) -> bool {
        self.0.config.allows(SCALAR)
            && jobs.iter().all(|job| shape_of(job).is_ok_and(|shape| !shape.is_long()))
    }

    /// Calls a function with the failures for a kind of operations.
    fn failures<T>(&self, kind: RoutedKind, call: impl FnOnce(&mut SiteFailures) -> T) -> T {
        let mut notes = self.notes();
        let known = notes.failures.iter().position(|(known, _)| *known == kind);
        let at = known.unwrap_or_else(|| {
            notes.failures.push((kind, SiteFailures::default()));
            notes.failures.len() - 1
        });
        call(&mut notes.failures[at].1)
    }

    fn ask_service(
        &self,
        job: &Job<'_>,
        source: JobKeySource<'_>,
        fibre: Option<&JobFibre>,
    ) -> Result<ComputedOutput, ProviderError> {
        if let Some(shape) = job.key.rsa_public_shape() {
            // The pool verifies answers with the public operation.
            with_large_stack(fibre.is_some(), || self.self_test(&*self.engines(false)?, shape))??;
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
                patience: match config.mode {
                    OperationMode::Auto => config.patience.min(AUTO_PATIENCE),
                    _ => config.patience,
                },
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
        let engines = self.0.engines.get_or_try_make(|| with_large_stack(is_fibre, make))?;
        engines.clone().map_err(ProviderError::Accelerator)
    }

    /// Returns the engines that verify on the threads of callers, which are created at first use.
    fn verifier(&self) -> Result<Arc<Accelerator>, ProviderError> {
        let settings = || AcceleratorSettings::from_config(&self.0.config).for_verification();
        let verifier = self.0.verifier.get_or_make(|| shared_engines(settings()));
        verifier.clone().map_err(ProviderError::Accelerator)
    }

    /// Runs the known answers of a shape on the scalar engine before its first use.
    fn self_test(&self, engines: &Accelerator, shape: Shape) -> Result<(), ProviderError> {
        let shape = representative(shape);
        let (tested, number) = (&self.0.known.tested, number_of(shape));
        if tested.contains(number) {
            return Ok(());
        }
        let scalar = engines.diagnostics().referee();
        prove(scalar, scalar, shape)
            .map_err(|failure| ProviderError::Accelerator(format!("self test of {shape}: {failure}")))?;
        tested.add(number);
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

/// A thread that computes, counted until it is dropped.
struct ComputingTurn<'c> {
    computing: &'c AtomicUsize,
    /// True if no other thread computed when this one began.
    is_alone: bool,
}

impl<'c> ComputingTurn<'c> {
    fn begin(computing: &'c AtomicUsize) -> Self {
        // Relaxed is enough: the count guards no other memory, and either way of computing is right.
        Self { computing, is_alone: computing.fetch_add(1, Ordering::Relaxed) == 0 }
    }
}

impl Drop for ComputingTurn<'_> {
    fn drop(&mut self) {
        self.computing.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The bytes of a stack for work that a fibre has no space for. Kernels need up to 160 KiB.
const LARGE_STACK: usize = 512 << 10;

thread_local! {
    /// The stack of this thread for such work, while nothing uses it.
    static KEPT_STACK: Cell<Option<DefaultStack>> = const { Cell::new(None) };
}

/// Runs work that needs more stack than a fibre has: on a stack of its own if this is a fibre.
pub(crate) fn with_large_stack<T>(is_fibre: bool, work: impl FnOnce() -> T) -> Result<T, ProviderError> {
    if !is_fibre {
        return Ok(work());
    }
    let mut stack = match KEPT_STACK.take() {
        Some(stack) => stack,
        None => DefaultStack::new(LARGE_STACK).map_err(|error| {
            ProviderError::Accelerator(format!("no stack of {LARGE_STACK} bytes: {error}"))
        })?,
    };
    let result = corosensei::on_stack(&mut stack, work);
    KEPT_STACK.set(Some(stack));
    Ok(result)
}

/// Returns the time of the machine's monotonic clock.
fn monotonic_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default()
}

/// Returns the CPU time of this thread.
fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// True if no server listens.
fn is_absent(error: &PoolError) -> bool {
    matches!(error, PoolError::Connect { error, .. }
        if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused))
}

fn note_change(kind: RoutedKind, change: RouteChange) {
    let RouteChange { from, to, costs: [before, now] } = change;
    print_line(&format!(
        "note: {kind} {to} from now on: {} us of CPU time for each instead of {} us {from}",
        now.as_micros(),
        before.as_micros()
    ));
}

/// Warns once that this process may start no threads.
fn warn_without_threads() {
    static IS_WARNED: AtomicBool = AtomicBool::new(false);
    if !IS_WARNED.swap(true, Ordering::Relaxed) {
        print_line(&format!(
            "this process may start no threads, so each operation is computed alone on its caller's \
             thread{INSECURE_FORK}"
        ));
    }
}
