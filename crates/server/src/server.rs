//! The server: bound, running, drained.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oarlock::{Accelerator, AcceleratorBuilder, BuildError};
use oarlock_io::{SecretReader, SocketFile, SocketFileError};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::accept::{ListenerProtection, TcpAcceptor, accept_unix};
use crate::admission::Admission;
use crate::audit::{AuditLog, EventKind};
use crate::clock::ServerClock;
use crate::config::{Config, ConfigError};
use crate::descriptors::fit_to_descriptors;
use crate::http2::serve_grpc;
use crate::keyring::{CounterUse, KeySources, ResidentKeysError};
use crate::lifetime::ConnectionLifetimes;
use crate::null::NullHolder;
use crate::reload::{ReloadHandle, Reloader, Reloads, audit_keys, tell_keys};
use crate::service::SharedService;
use crate::tls::{TlsError, TlsFiles, TlsState, TlsStore};

/// A server that listens and does not answer yet.
pub struct BoundServer {
    service: Arc<SharedService>,
    sources: KeySources,
    tls_files: Option<TlsFiles>,
    listeners: Listeners,
    config: Config,
    handle: ReloadHandle,
    reloads: Reloads,
}

struct Listeners {
    tcp: Option<TcpListener>,
    plaintext: Option<TcpListener>,
    unix: Option<(UnixListener, SocketFile)>,
    metrics: Option<TcpListener>,
}

impl fmt::Debug for BoundServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({:?})", self.addresses())
    }
}

/// Where a server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Mutual TLS.
    pub tcp: Option<SocketAddr>,
    /// Without protection.
    pub plaintext: Option<SocketAddr>,
    /// UNIX socket.
    pub unix: Option<PathBuf>,
    /// Metrics over HTTP.
    pub metrics: Option<SocketAddr>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CryptoserverError {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There are no engines.
    #[error("[engines] {0}")]
    Build(#[from] BuildError),
    /// Keys cannot be had.
    #[error(transparent)]
    Keys(#[from] ResidentKeysError),
    /// Certificates cannot be used.
    #[error("[tls] {0}")]
    Tls(#[from] TlsError),
    /// The audit log cannot be opened.
    #[error("[audit] {}: {error}", path.display())]
    Audit {
        /// Its file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// An address cannot be listened at.
    #[error("cannot listen at {place}: {error}")]
    Listen {
        /// Which one.
        place: String,
        /// What the system said.
        error: io::Error,
    },
    /// The UNIX socket cannot be had.
    #[error("[listen] unix: {0}")]
    SocketFile(#[from] SocketFileError),
    /// It has stopped, so it reads nothing again.
    #[error("the server has stopped")]
    Stopped,
    /// The description of the protocol, for reflection, cannot be read.
    #[error("gRPC reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

impl BoundServer {
    /// Everything but answering: engines proved, keys read, addresses bound. Needs a tokio runtime.
    ///
    /// # Errors
    /// What is wrong with the configuration or what it names.
    pub async fn bind(config: Config, engines: AcceleratorBuilder) -> Result<Self, CryptoserverError> {
        Self::bind_with_clock(config, engines, ServerClock::default()).await
    }

    /// The same with a clock that can be moved on.
    ///
    /// # Errors
    /// As for [`BoundServer::bind`].
    pub async fn bind_with_clock(
        config: Config,
        engines: AcceleratorBuilder,
        clock: ServerClock,
    ) -> Result<Self, CryptoserverError> {
        config.check()?;
        let tls = config.listen.tcp.and(config.tls.as_ref());
        let tls_files = tls.cloned().map(TlsFiles::new);
        let tls = tls.map(|tls| TlsState::read(tls, &clock, SecretReader::ThisProcess)).transpose()?;
        let tls = tls.map(TlsStore::new);
        let (sources, keyring, first) = KeySources::open(&config, CounterUse::Create)?;
        tell_keys(&first);
        let audit = AuditLog::open(config.audit.as_ref()).map_err(|error| {
            let path = config.audit.as_ref().map(|audit| audit.file.clone()).unwrap_or_default();
            CryptoserverError::Audit { path, error }
        })?;
        let accelerator = settings(&config, engines).build()?;
        log_absent(config.engines.allowed.as_deref(), &accelerator);
        let lifetimes = Arc::new(ConnectionLifetimes::new(clock, &config.limits));
        let (limits, reduced) = fit_to_descriptors(config.limits.clone());
        if let Some(reduced) = reduced {
            warn!("{reduced}");
        }
        let service = SharedService::new(accelerator, keyring, limits, audit, tls, lifetimes);
        let listeners = Listeners::bind(&config).await?;
        service.audit.event(EventKind::Start, &format_args!("version {}", env!("CARGO_PKG_VERSION")));
        audit_keys(&first, &service.audit);
        let (handle, reloads) = ReloadHandle::new();
        Ok(Self { service: Arc::new(service), sources, tls_files, listeners, config, handle, reloads })
    }

    /// Where it listens: ports that were left to the system are filled in.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        let local = |listener: &TcpListener| listener.local_addr().ok();
        Addresses {
            tcp: self.listeners.tcp.as_ref().and_then(local),
            plaintext: self.listeners.plaintext.as_ref().and_then(local),
            unix: self.listeners.unix.as_ref().map(|(_, file)| file.path().to_owned()),
            metrics: self.listeners.metrics.as_ref().and_then(local),
        }
    }

    /// Returns what asks the server to read its files again while it runs.
    #[must_use]
    pub fn reload_handle(&self) -> ReloadHandle {
        self.handle.clone()
    }

    /// Serves until `stop` is ready; then requests under way are answered, new ones refused, and what has not ended by the
    /// deadline is cut.
    ///
    /// # Errors
    /// gRPC cannot go on.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), CryptoserverError> {
        let Self { service, sources, tls_files, listeners, config, reloads, .. } = self;
        let mut tasks = JoinSet::new();
        let admission = Arc::new(Admission::new(&service.limits));
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
        let (unix, socket_file) = listeners.unix.unzip();
        let unix = unix.map(|listener| tokio::spawn(accept_unix(listener, Arc::clone(&service), admission)));
        let reloader = Reloader::new(Arc::clone(&service), sources, tls_files, config.clone());
        tasks.spawn(reloader.run(reloads));
        // Watched until the very end: that the server drains is something to see.
        let mut watched = JoinSet::new();
        if let Some(listener) = listeners.metrics {
            watched.spawn(oarlock_io::metrics::serve(listener, Arc::clone(&service)));
        }
        let grpc = tokio::spawn(serve_grpc(arrived, Arc::clone(&service))?);
        stop.await;
        info!(
            deadline_s = config.limits.max_drain_seconds,
            "draining: requests under way are answered, new ones refused"
        );
        service.drain();
        tasks.shutdown().await;
        let rest = async {
            if let Some(unix) = unix {
                let _ = unix.await;
            }
            grpc.await
        };
        let end = timeout(config.limits.drain(), rest).await;
        drop(socket_file);
        let audit = service.audit.clone();
        audit.event(EventKind::Stop, &"drained");
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

/// Logs engines that take no part: with a warning if the settings name them, since the scalar engine then does their work.
fn log_absent(allowed: Option<&[String]>, accelerator: &Accelerator) {
    for absent in accelerator.absent() {
        let (engine, reason) = (absent.name, absent.reason.to_string());
        if allowed.is_some() {
            warn!(engine, reason, "an engine that was asked for is absent: the scalar engine does its work");
        } else {
            info!(engine, reason, "an engine is absent: the scalar engine does its work");
        }
    }
}

pub(crate) fn settings(config: &Config, engines: AcceleratorBuilder) -> AcceleratorBuilder {
    let own = &config.engines;
    let engines = engines.max_tenant_backlog(config.limits.max_queued());
    let engines = match &own.allowed {
        Some(names) => engines.engines(names.iter().map(String::as_str)),
        None => engines,
    };
    let engines = own.threads.map_or(engines.clone(), |threads| engines.clone().threads(threads));
    let engines = if own.null_key { engines.holder(Arc::new(NullHolder)) } else { engines };
    own.cross_check.map_or(engines.clone(), |share| engines.clone().cross_check(share))
}

impl Listeners {
    async fn bind(config: &Config) -> Result<Self, CryptoserverError> {
        let listen = &config.listen;
        let tcp = match listen.tcp {
            Some(address) => Some(bind_tcp(address).await?),
            None => None,
        };
        let plaintext = match listen.plaintext {
            Some(address) => Some(bind_tcp(address).await?),
            None => None,
        };
        let unix = match &listen.unix {
            Some(path) => Some(bind_unix(path, listen.mode()?)?),
            None => None,
        };
        let metrics = match listen.metrics {
            Some(address) => Some(bind_tcp(address).await?),
            None => None,
        };
        Ok(Self { tcp, plaintext, unix, metrics })
    }
}

async fn bind_tcp(address: SocketAddr) -> Result<TcpListener, CryptoserverError> {
    let place = address.to_string();
    TcpListener::bind(address).await.map_err(|error| CryptoserverError::Listen { place, error })
}

/// A socket whose file goes with it. The file is made by [`SocketFile`], which leaves every file but a dead server's socket alone.
fn bind_unix(path: &Path, mode: u32) -> Result<(UnixListener, SocketFile), CryptoserverError> {
    let (listener, file) = SocketFile::bind(path, mode, None)?;
    let failed = |error| CryptoserverError::Listen { place: path.display().to_string(), error };
    listener.set_nonblocking(true).map_err(failed)?;
    Ok((UnixListener::from_std(listener).map_err(failed)?, file))
}
