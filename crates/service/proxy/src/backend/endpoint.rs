//! An endpoint: one address of a backend, with its health and its connections.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oarlock_network::LogLimit;
use oarlock_service_kit::metrics::read_counter;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::Instant;
use tracing::{info, warn};

use super::balance::endpoint_seed;
use super::error::{CheckError, ConnectResult, EndpointError};
use super::health::{Availability, ConnectKind, EndpointHealth, HealthChange};
use super::history::BackendHistory;
use super::schedule::Schedule;
use crate::config::CheckSettings;
use crate::stream::SocketStream;

/// An endpoint. It lives as long as the settings or an open connection use it, so a reload does not forget its health.
#[derive(Debug)]
pub(crate) struct BackendEndpoint {
    history: Arc<BackendHistory>,
    label: String,
    target: EndpointTarget,
    seed: u64,
    health: Mutex<EndpointHealth>,
    /// Open connections, and those that are being opened.
    open: AtomicUsize,
    connects: [AtomicU64; ConnectResult::ALL.len()],
    /// The times of checks.
    pub(super) checks: Arc<Schedule>,
    passed_checks: AtomicU64,
    failed_checks: AtomicU64,
    changes: LogLimit,
}

/// The address to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EndpointTarget {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A connection of an endpoint, which counts until this is dropped.
#[derive(Debug)]
pub(crate) struct EndpointLease {
    endpoint: Arc<BackendEndpoint>,
    /// The weight of the connect, until its result is noted.
    kind: Option<ConnectKind>,
}

impl BackendEndpoint {
    pub(super) fn new(history: Arc<BackendHistory>, target: EndpointTarget) -> Self {
        let label = target.to_string();
        Self {
            history,
            seed: endpoint_seed(&label),
            label,
            target,
            health: Mutex::default(),
            open: AtomicUsize::new(0),
            connects: Default::default(),
            checks: Arc::default(),
            passed_checks: AtomicU64::new(0),
            failed_checks: AtomicU64::new(0),
            changes: LogLimit::new(Duration::from_secs(5)),
        }
    }

    /// Returns the address in the notation of the settings.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn open(&self) -> usize {
        self.open.load(Relaxed)
    }

    pub(super) fn availability(&self, now: Instant, has_checks: bool) -> Availability {
        self.health().availability(now, has_checks)
    }

    /// Returns true unless the last connect failed, or checks have found the endpoint down.
    pub(super) fn is_healthy(&self, has_checks: bool) -> bool {
        self.health().is_healthy(has_checks)
    }

    /// Notes the result of a check.
    pub(super) fn note_check(&self, result: Result<(), &CheckError>, check: &CheckSettings) {
        let count = if result.is_ok() { &self.passed_checks } else { &self.failed_checks };
        count.fetch_add(1, Relaxed);
        let change = self.health().check(result.is_ok(), check.rise, check.fall);
        match result {
            Ok(()) => self.report(change, "checks pass"),
            Err(error) => self.report(change, error),
        }
    }

    /// Returns the numbers of checks that have passed and that have failed.
    pub(super) fn checks(&self) -> [(&'static str, u64); 2] {
        [("passed", read_counter(&self.passed_checks)), ("failed", read_counter(&self.failed_checks))]
    }

    pub(super) fn connects(&self) -> impl Iterator<Item = (ConnectResult, u64)> {
        ConnectResult::ALL.into_iter().zip(self.connects.iter().map(read_counter))
    }

    /// Begins a connection, which counts from now on.
    pub(super) fn begin(self: &Arc<Self>, now: Instant) -> EndpointLease {
        self.open.fetch_add(1, Relaxed);
        let kind = self.health().begin(now);
        EndpointLease { endpoint: Arc::clone(self), kind: Some(kind) }
    }

    /// Connects, without a header and without TLS.
    pub(super) async fn connect_socket(&self) -> io::Result<SocketStream> {
        match &self.target {
            EndpointTarget::Tcp(address) => {
                let stream = TcpStream::connect(*address).await?;
                // Small answers leave at once.
                stream.set_nodelay(true)?;
                Ok(SocketStream::Tcp(stream))
            }
            EndpointTarget::Unix(path) => UnixStream::connect(path).await.map(SocketStream::Unix),
        }
    }

    fn count(&self, result: ConnectResult) {
        self.connects[result as usize].fetch_add(1, Relaxed);
    }

    fn report(&self, change: Option<HealthChange>, reason: impl std::fmt::Display) {
        let Some(change) = change else { return };
        let Some(suppressed) = self.changes.admit() else { return };
        let (backend, endpoint) = (&*self.history.label, &*self.label);
        match change {
            HealthChange::Worse => {
                warn!(backend, endpoint, %reason, suppressed, "an endpoint of a backend is not used for now");
            }
            HealthChange::Better => {
                info!(backend, endpoint, %reason, suppressed, "an endpoint of a backend is used again");
            }
        }
    }

    fn health(&self) -> MutexGuard<'_, EndpointHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EndpointLease {
    pub(crate) fn endpoint(&self) -> &Arc<BackendEndpoint> {
        &self.endpoint
    }

    /// Notes the result of the connect.
    pub(super) fn note(&mut self, result: Result<(), &EndpointError>) {
        let endpoint = &self.endpoint;
        match result {
            Ok(()) => {
                self.kind = None;
                endpoint.count(ConnectResult::Done);
                let change = endpoint.health().succeed();
                endpoint.report(change, "a connection was opened");
            }
            Err(error) => {
                endpoint.count(error.result());
                if error.is_of_endpoint()
                    && let Some(kind) = self.kind.take()
                {
                    let change = endpoint.health().fail(kind, Instant::now());
                    endpoint.report(change, error);
                }
            }
        }
    }
}

impl Drop for EndpointLease {
    fn drop(&mut self) {
        self.endpoint.open.fetch_sub(1, Relaxed);
        if let Some(kind) = self.kind {
            self.endpoint.health().abandon(kind, Instant::now());
        }
    }
}

impl std::fmt::Display for EndpointTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
