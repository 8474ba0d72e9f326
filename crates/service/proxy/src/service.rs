//! The proxy as a service: it is opened, bound, run and reconfigured.

use std::collections::HashSet;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_network::{DrainSwitch, PassedSockets};
use oarlock_service_kit::{ServiceClock, bind_tcp, metrics};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::{error, info, warn};

use crate::backend::BackendWatch;
use crate::certificate::CertificateEntry;
use crate::config::{LogSettings, ProxyConfig};
use crate::counters::count;
use crate::error::ProxyServiceError;
use crate::kernel::KernelPaths;
use crate::listen::BoundSockets;
use crate::log::LogSink;
use crate::ocsp::ROUND_PAUSE;
use crate::page::ProxyPage;
use crate::state::{ProxyResources, ProxyShared, ProxyState, WatchedFiles};
use crate::warning::ProxyWarning;
use crate::worker::{ProxyWorker, start_worker};

/// An opened proxy: its engines are tested and its certificates are read. Sockets are bound later.
#[derive(Clone)]
pub struct ProxyService {
    shared: Arc<ProxyShared>,
    resources: Arc<ProxyResources>,
    /// The settings at the start, which decide what needs a restart.
    first: Arc<ProxyConfig>,
    /// One reload at a time.
    reloads: Arc<Mutex<ReloadState>>,
}

struct ReloadState {
    config: Arc<ProxyConfig>,
    /// The files of the last attempt, successful or not. A fault is not reported again until a file changes.
    seen: WatchedFiles,
}

/// The maximum number of warnings that a start or a reload logs one by one.
const MAX_WARNINGS: usize = 20;

/// The result of a look at the files.
#[derive(Debug)]
pub enum ProxyReload {
    /// No file has changed.
    Unchanged,
    /// The files were read again.
    Replaced,
    /// The new files have a fault. The old ones stay in use.
    Refused(ProxyServiceError),
}

impl ProxyService {
    /// Opens a proxy with these settings.
    ///
    /// # Errors
    /// A setting is not valid, or a file that it names cannot be used.
    pub async fn open(config: ProxyConfig, engines: AcceleratorBuilder) -> Result<Self, ProxyServiceError> {
        Self::open_with_clock(config, engines, ServiceClock::default()).await
    }

    /// Opens a proxy with another clock.
    ///
    /// # Errors
    /// As for [`ProxyService::open`].
    pub async fn open_with_clock(
        config: ProxyConfig,
        engines: AcceleratorBuilder,
        clock: ServiceClock,
    ) -> Result<Self, ProxyServiceError> {
        config.check()?;
        let settings = config.clone();
        let opened = spawn_blocking(move || {
            LogSink::check(&settings.log).map_err(|error| log_error(&settings.log, error))?;
            let resources = ProxyResources::open(&settings, engines, clock)?;
            let seen = WatchedFiles::read(&settings);
            let state = ProxyState::build(&settings, &resources, None)?;
            let kernel = KernelPaths::probe(&settings.kernel, &resources.keys.accelerator);
            Ok::<_, ProxyServiceError>((resources, state, seen, kernel))
        });
        let (resources, state, seen, kernel) = opened.await.map_err(failed_task)??;
        let config = Arc::new(config);
        let shared = Arc::new(ProxyShared::new(&resources, kernel, state));
        Ok(Self {
            shared,
            resources: Arc::new(resources),
            first: Arc::clone(&config),
            reloads: Arc::new(Mutex::new(ReloadState { config, seen })),
        })
    }

    /// Binds the sockets of the settings. It needs a tokio runtime.
    ///
    /// # Errors
    /// A socket cannot be bound.
    pub async fn bind(&self) -> Result<BoundProxy, ProxyServiceError> {
        let sink = open_log(&self.first.log)?;
        let sockets = BoundSockets::bind(&self.first)?;
        self.apply_log(&self.first.log, sink)?;
        self.log_warnings();
        let metrics = bind_tcp(self.first.listen.metrics, &mut PassedSockets::default()).await;
        let metrics = metrics.map_err(ProxyServiceError::Metrics)?;
        Ok(BoundProxy { service: self.clone(), sockets, metrics })
    }

    /// Applies new settings to connections that begin from now on, and reads all files again that have changed. If
    /// anything is not valid, nothing changes. Settings that need a restart are logged.
    ///
    /// # Errors
    /// A setting is not valid, or a file that it names cannot be used.
    pub async fn reconfigure(&self, config: ProxyConfig) -> Result<(), ProxyServiceError> {
        let mut reloads = self.reloads.lock().await;
        let changed = self.first.fixed_changes(&config);
        let config = Arc::new(config.with_fixed_sections(&self.first));
        self.rebuild(&mut reloads, config, None).await?;
        for section in changed {
            warn!(section, "changed settings need a restart");
        }
        Ok(())
    }

    /// Reads the files again if one of them has changed. Files with a fault are rejected, and the old ones stay in use.
    pub async fn refresh(&self) -> ProxyReload {
        let mut reloads = self.reloads.lock().await;
        let config = Arc::clone(&reloads.config);
        let settings = Arc::clone(&config);
        let now = match spawn_blocking(move || WatchedFiles::read(&settings)).await {
            Ok(now) if now != reloads.seen => now,
            _ => return ProxyReload::Unchanged,
        };
        match self.rebuild(&mut reloads, config, Some(now)).await {
            Ok(()) => ProxyReload::Replaced,
            Err(error) => ProxyReload::Refused(error),
        }
    }

    /// Builds the state of the settings beside the old one, and swaps both.
    async fn rebuild(
        &self,
        reloads: &mut ReloadState,
        config: Arc<ProxyConfig>,
        seen: Option<WatchedFiles>,
    ) -> Result<(), ProxyServiceError> {
        let began = Instant::now();
        let (settings, resources) = (Arc::clone(&config), Arc::clone(&self.resources));
        let before = self.shared.current.get();
        let built = spawn_blocking(move || {
            let is_new = seen.is_none();
            let seen = seen.unwrap_or_else(|| WatchedFiles::read(&settings));
            let check = settings.check().map_err(ProxyServiceError::from);
            let state = check.and_then(|()| ProxyState::build(&settings, &resources, Some(&before)));
            // Last of all, so that settings with a fault make no file.
            let sink = |state| Ok((state, if is_new { open_log(&settings.log)? } else { None }));
            (state.and_then(sink), seen)
        });
        let (result, seen) = built.await.map_err(failed_task)?;
        reloads.seen = seen;
        let counters = &self.shared.counters;
        let applied = result.and_then(|(state, sink)| {
            self.apply_log(&config.log, sink)?;
            Ok(state)
        });
        match applied {
            Ok(state) => {
                self.forget_labels(&state);
                let certificates = state.certificates().count();
                self.resources.backends.install(&state.backends);
                self.shared.current.replace(state);
                reloads.config = config;
                // Without this, glibc keeps the memory of the old certificates for the next reload. Nobody waits for it.
                spawn_blocking(oarlock_ffi::trim_memory);
                count(&counters.reloads);
                let ms = began.elapsed().as_millis();
                info!(certificates, ms, "the settings and the certificates were read again");
                self.log_warnings();
                Ok(())
            }
            Err(error) => {
                self.refuse_settings(&error);
                Err(error)
            }
        }
    }

    fn apply_log(&self, settings: &LogSettings, sink: Option<LogSink>) -> Result<(), ProxyServiceError> {
        self.shared.log.apply(settings, sink).map_err(|error| ProxyServiceError::Start(error.to_string()))
    }

    /// Forgets the counts of routes and certificates that the new state does not have.
    fn forget_labels(&self, state: &ProxyState) {
        let routes: HashSet<&str> = state.route_labels().collect();
        let certificates: HashSet<&str> = state.certificate_labels().collect();
        self.shared.counters.routes.retain(|route| routes.contains(route));
        self.shared.counters.certificates.retain(|file| certificates.contains(file));
    }

    /// Counts and logs new settings or certificates that are not valid, or that could not be read.
    pub fn refuse_settings(&self, error: &dyn std::error::Error) {
        count(&self.shared.counters.refused_reloads);
        error!(%error, "the new settings or certificates were rejected: the old ones stay in use");
    }

    /// Returns the accelerator.
    #[must_use]
    pub fn accelerator(&self) -> &Accelerator {
        &self.shared.accelerator
    }

    /// Returns the certificates in use.
    #[must_use]
    pub fn certificates(&self) -> Vec<Arc<CertificateEntry>> {
        self.shared.current.get().certificates().cloned().collect()
    }

    /// Returns the warnings about certificates that clients or backends reject now, in the order of their files, and
    /// about revocation lists.
    #[must_use]
    pub fn warnings(&self) -> Vec<ProxyWarning> {
        self.resources.warnings(&self.shared.current.get())
    }

    fn log_warnings(&self) {
        let warnings = self.warnings();
        for warning in warnings.iter().take(MAX_WARNINGS) {
            match warning {
                ProxyWarning::Certificate(warning) => warn!(%warning, "peers reject a certificate"),
                ProxyWarning::Crl(warning) => warn!(%warning, "a revocation list needs attention"),
                ProxyWarning::Ocsp { .. } => {
                    warn!(%warning, "a certificate is served without an OCSP response");
                }
                ProxyWarning::Route { .. } => warn!(%warning, "a route is of no use"),
            }
        }
        if let Some(more @ 1..) = warnings.len().checked_sub(MAX_WARNINGS) {
            warn!(more, "there are further warnings: `oarlock proxy --check` prints them");
        }
    }

    /// Asks about the certificates whose OCSP response is missing or has passed half of its time, and returns once all
    /// responders have answered or failed.
    pub async fn fetch_staples(&self) {
        let state = self.shared.current.get();
        let slots =
            state.certificates().filter(|_| state.fetches_ocsp).filter_map(|entry| entry.fetched.clone());
        let slots: Vec<_> = slots.collect();
        // A round may take a while, and the settings may be replaced meanwhile.
        drop(state);
        self.shared.staples.run_round(slots.into_iter()).await;
    }

    /// Fetches OCSP responses until the future is dropped.
    async fn keep_staples(&self) {
        loop {
            self.fetch_staples().await;
            sleep(ROUND_PAUSE).await;
        }
    }

    /// Looks at the files until the future is dropped.
    async fn watch(&self) {
        loop {
            let seconds = self.reloads.lock().await.config.certificates.reload_seconds;
            // New settings may turn the check on, so the loop continues while it is off.
            sleep(Duration::from_secs(if seconds > 0 { seconds } else { 5 })).await;
            if seconds > 0 {
                self.refresh().await;
            }
        }
    }
}

fn open_log(settings: &LogSettings) -> Result<Option<LogSink>, ProxyServiceError> {
    LogSink::open(settings).map_err(|error| log_error(settings, error))
}

fn log_error(settings: &LogSettings, error: std::io::Error) -> ProxyServiceError {
    ProxyServiceError::Log { path: settings.file.clone().unwrap_or_default(), error }
}

fn failed_task(error: tokio::task::JoinError) -> ProxyServiceError {
    ProxyServiceError::Start(error.to_string())
}

/// A bound proxy that does not accept connections yet.
#[derive(Debug)]
pub struct BoundProxy {
    service: ProxyService,
    sockets: BoundSockets,
    metrics: Option<TcpListener>,
}

impl BoundProxy {
    /// Returns the addresses of the sockets, in the notation of the settings.
    #[must_use]
    pub fn addresses(&self) -> &[String] {
        &self.sockets.addresses
    }

    /// Returns the address of the metrics page.
    #[must_use]
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves until `stop` is ready, and then drains. The metrics page is served all the time.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ProxyServiceError> {
        let Self { service, sockets: BoundSockets { threads, files, .. }, metrics } = self;
        let drain = Arc::new(DrainSwitch::default());
        let (ended, mut all_ended) = mpsc::unbounded_channel();
        for worker in ProxyWorker::new_all(threads, &service.shared) {
            start_worker(worker, drain.watch(), ended.clone())
                .map_err(|error| ProxyServiceError::Start(error.to_string()))?;
        }
        drop(ended);
        let backends = &service.resources.backends;
        backends.install(&service.shared.current.get().backends);
        let _watch = BackendWatch::start(Arc::clone(backends))
            .map_err(|error| ProxyServiceError::Start(error.to_string()))?;
        let page = Arc::new(ProxyPage { shared: Arc::clone(&service.shared), drain: Arc::clone(&drain) });
        let stop = async {
            stop.await;
            drain.throw();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            // No worker ever sends: the channel ends with the last worker.
            _ = all_ended.recv() => {}
            () = stop => {}
            () = service.watch() => {}
            () = service.keep_staples() => {}
            () = metrics::serve(metrics, page) => {}
        }
        drop(files);
        // The workers have ended, and so have all connections.
        let closed = spawn_blocking(move || service.shared.log.close()).await;
        closed.map_err(failed_task)
    }
}

impl std::fmt::Debug for ProxyService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ProxyService({:?})", self.shared)
    }
}
