//! The server: its listeners, its tasks, and its orderly end.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_hsm::HsmSet;
use oarlock_key_files::SecretReader;
use oarlock_network::{PassedSockets, SocketFile};
use oarlock_service_kit::{Current, KeyHolders, ListenError, ServiceClock, bind_tcp, metrics};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::accept::{ListenerProtection, TcpAcceptor, accept_unix};
use crate::admission::Admission;
use crate::audit::{AuditLog, EventKind};
use crate::config::{ConfigError, CryptoserverConfig};
use crate::dashboard::Dashboard;
use crate::descriptors::fit_to_descriptors;
use crate::error::CryptoserverError;
use crate::http2::serve_grpc;
use crate::keyring::{CounterUse, KeySources};
use crate::lifetime::ConnectionLifetimes;
use crate::null::NullHolder;
use crate::reload::{ReloadHandle, Reloader, Reloads, audit_keys, log_key_changes};
use crate::service::SharedService;
use crate::tls::{TlsFiles, TlsState};

/// A server that is bound to its addresses and does not answer yet.
pub struct BoundServer {
    service: Arc<SharedService>,
    sources: KeySources,
    tls_files: Option<TlsFiles>,
    listeners: Listeners,
    config: CryptoserverConfig,
    handle: ReloadHandle,
    reloads: Reloads,
}

struct Listeners {
    tcp: Option<TcpListener>,
    plaintext: Option<TcpListener>,
    unix: Option<UnixSocket>,
    metrics: Option<TcpListener>,
    dashboard: Option<TcpListener>,
}

/// A UNIX socket. Its file is removed at the end, unless the service manager has bound it.
struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    file: Option<SocketFile>,
}

impl fmt::Debug for BoundServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({:?})", self.addresses())
    }
}

/// The addresses at which a server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// The address for mutual TLS.
    pub tcp: Option<SocketAddr>,
    /// The address without protection.
    pub plaintext: Option<SocketAddr>,
    /// The path of the UNIX socket.
    pub unix: Option<PathBuf>,
    /// The address of metrics over HTTP.
    pub metrics: Option<SocketAddr>,
    /// The address of the dashboard over HTTP.
    pub dashboard: Option<SocketAddr>,
}

impl BoundServer {
    /// Builds the engines, reads the keys and binds the addresses. Needs a tokio runtime.
    ///
    /// # Errors
    /// The configuration or a file that it names is invalid, or an address cannot be bound.
    pub async fn bind(
        config: CryptoserverConfig,
        engines: AcceleratorBuilder,
    ) -> Result<Self, CryptoserverError> {
        Self::bind_passed(config, engines, PassedSockets::default()).await
    }

    /// Builds a server that takes the sockets that the service manager has bound, and binds the others.
    ///
    /// # Errors
    /// As for [`BoundServer::bind`], or a passed socket is not one of the configuration.
    pub async fn bind_passed(
        config: CryptoserverConfig,
        engines: AcceleratorBuilder,
        passed: PassedSockets,
    ) -> Result<Self, CryptoserverError> {
        Self::build(config, engines, ServiceClock::default(), passed).await
    }

    /// Builds a server whose clock can be advanced.
    ///
    /// # Errors
    /// As for [`BoundServer::bind`].
    pub async fn bind_with_clock(
        config: CryptoserverConfig,
        engines: AcceleratorBuilder,
        clock: ServiceClock,
    ) -> Result<Self, CryptoserverError> {
        Self::build(config, engines, clock, PassedSockets::default()).await
    }

    async fn build(
        config: CryptoserverConfig,
        engines: AcceleratorBuilder,
        clock: ServiceClock,
        passed: PassedSockets,
    ) -> Result<Self, CryptoserverError> {
        config.check()?;
        let tls = config.listen.tcp.and(config.tls.as_ref());
        // The stamps are taken before the files are read, so that a change in between is found by the first check.
        let tls_files = tls.cloned().map(TlsFiles::new);
        let tls = tls.map(|tls| TlsState::read(tls, &clock, SecretReader::ThisProcess)).transpose()?;
        let tls = tls.map(Current::new);
        let checkers = config.engines.settings().builder(Accelerator::builder());
        let KeyHolders { devices, .. } = KeyHolders::open(None, &config.devices, &checkers)?;
        let (sources, keyring, first) = KeySources::open(&config, devices.clone(), CounterUse::Create)?;
        log_key_changes(&first);
        let audit = AuditLog::open(config.audit.as_ref()).map_err(|error| {
            let path = config.audit.as_ref().map(|audit| audit.file.clone()).unwrap_or_default();
            CryptoserverError::Audit { path, error }
        })?;
        let engines = engine_builder(&config, engines);
        let engines = devices.iter().fold(engines, |engines, set| engines.holder(Arc::new(set.clone())));
        let accelerator = engines.build()?;
        config.engines.settings().log_absent(&accelerator);
        let lifetimes = Arc::new(ConnectionLifetimes::new(clock, &config.limits));
        if config.engines.null_key {
            warn!(
                "[engines] null_key is on: the key \"null\" answers with zeros. Use it for benchmarks only"
            );
        }
        let (limits, reduced) = fit_to_descriptors(config.limits.clone());
        if let Some(reduced) = reduced {
            warn!("{reduced}");
        }
        let service = SharedService::new(accelerator, devices, keyring, limits, audit, tls, lifetimes);
        let listeners = Listeners::bind(&config, passed).await?;
        // Only a server that could bind all its addresses has started.
        service.audit.event(EventKind::Start, &format_args!("version {}", env!("CARGO_PKG_VERSION")));
        audit_keys(&first, &service.audit);
        let (handle, reloads) = ReloadHandle::new();
        Ok(Self { service: Arc::new(service), sources, tls_files, listeners, config, handle, reloads })
    }

    /// Returns the addresses at which the server listens. Ports that the system chose are filled in.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        let local = |listener: &TcpListener| listener.local_addr().ok();
        Addresses {
            tcp: self.listeners.tcp.as_ref().and_then(local),
            plaintext: self.listeners.plaintext.as_ref().and_then(local),
            unix: self.listeners.unix.as_ref().map(|socket| socket.path.clone()),
            metrics: self.listeners.metrics.as_ref().and_then(local),
            dashboard: self.listeners.dashboard.as_ref().and_then(local),
        }
    }

    /// Returns a handle that makes the running server reload its files.
    #[must_use]
    pub fn reload_handle(&self) -> ReloadHandle {
        self.handle.clone()
    }

    /// Returns the devices, if the configuration has some.
    #[must_use]
    pub fn devices(&self) -> Option<&HsmSet> {
        self.service.devices.as_ref()
    }

    /// Serves until `stop` is ready. Then requests in progress are answered, new requests are refused, and connections
    /// that have not ended by the deadline are cut.
    ///
    /// # Errors
    /// The gRPC services cannot be built.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), CryptoserverError> {
        let Self { service, sources, tls_files, listeners, config, reloads, .. } = self;
        let mut tasks = JoinSet::new();
        let admission = Arc::new(Admission::new(&service.limits));
        // A short channel: if gRPC is slow to take connections, accepting waits and the backlog of the kernel fills.
        let (transports, arrived) = mpsc::channel(64);
        if let Some(listener) = listeners.tcp {
            let accepting = TcpAcceptor {
                service: Arc::clone(&service),
                admission: Arc::clone(&admission),
                transports: transports.clone(),
            };
            tasks.spawn(accepting.run(listener, ListenerProtection::Tls));
        }
        if let Some(listener) = listeners.plaintext {
            let accepting =
                TcpAcceptor { service: Arc::clone(&service), admission: Arc::clone(&admission), transports };
            tasks.spawn(accepting.run(listener, ListenerProtection::Plaintext));
        }
        let (unix, socket_file) = listeners.unix.map(|socket| (socket.listener, socket.file)).unzip();
        let unix = unix.map(|listener| tokio::spawn(accept_unix(listener, Arc::clone(&service), admission)));
        let reloader = Reloader::new(Arc::clone(&service), sources, tls_files, config.clone());
        tasks.spawn(reloader.run(reloads));
        // Metrics are served until the very end, because operators watch the draining.
        let mut watched = JoinSet::new();
        watched.spawn(metrics::serve(listeners.metrics, Arc::clone(&service)));
        if let Some(listener) = listeners.dashboard {
            let dashboard = Arc::new(Dashboard::new(Arc::clone(&service)));
            watched.spawn(metrics::serve_pages(listener, Arc::clone(&dashboard)));
            watched.spawn(dashboard.run());
        }
        let grpc = tokio::spawn(serve_grpc(arrived, Arc::clone(&service))?);
        stop.await;
        info!(
            deadline_s = config.limits.max_drain_seconds,
            "draining: requests in progress are answered, new requests are refused"
        );
        service.drain.throw();
        // The TCP listeners and the reloader stop first. Open connections have tasks of their own.
        tasks.shutdown().await;
        let rest = async {
            if let Some(unix) = unix {
                // A panic of the task is an end as well.
                let _ = unix.await;
            }
            grpc.await
        };
        let end = timeout(config.limits.max_drain(), rest).await;
        drop(socket_file);
        let audit = service.audit.clone();
        audit.event(EventKind::Stop, &"drained");
        // Closing waits for the disk, which must not block the event loop.
        let _ = tokio::task::spawn_blocking(move || audit.close()).await;
        match end {
            Err(_) => warn!("the deadline passed: connections that had not ended were cut"),
            Ok(Ok(())) => {}
            Ok(Err(_)) => warn!("gRPC ended by a panic"),
        }
        info!("stopped");
        Ok(())
    }
}

/// Returns the builder of the engines with the settings of a configuration.
pub(crate) fn engine_builder(config: &CryptoserverConfig, engines: AcceleratorBuilder) -> AcceleratorBuilder {
    let engines = engines.max_tenant_backlog(config.limits.max_queued());
    let engines = if config.engines.null_key { engines.holder(Arc::new(NullHolder)) } else { engines };
    config.engines.settings().builder(engines.confirm(config.engines.confirm.into()))
}

impl Listeners {
    async fn bind(config: &CryptoserverConfig, mut passed: PassedSockets) -> Result<Self, CryptoserverError> {
        let listen = &config.listen;
        let tcp = bind_tcp(listen.tcp, &mut passed).await?;
        let plaintext = bind_tcp(listen.plaintext, &mut passed).await?;
        let unix = match &listen.unix {
            Some(path) => {
                let mode = listen.mode().map_err(ConfigError::from)?;
                let (listener, file) = passed.bind_unix(path, mode, None)?;
                Some(UnixSocket { listener, path: path.clone(), file })
            }
            None => None,
        };
        let metrics = bind_tcp(listen.metrics, &mut passed).await?;
        // Keys must be served also if another program has the address of the dashboard.
        let dashboard = bind_tcp(listen.dashboard, &mut passed).await.inspect_err(log_no_dashboard);
        let dashboard = dashboard.ok().flatten();
        match passed.is_empty() {
            true => Ok(Self { tcp, plaintext, unix, metrics, dashboard }),
            false => Err(CryptoserverError::Passed(passed.addresses())),
        }
    }
}

fn log_no_dashboard(error: &ListenError) {
    warn!(%error, "[listen] dashboard: the server runs without it");
}
