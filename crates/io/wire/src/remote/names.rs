//! The servers that the names of endpoints stand for.
//!
//! A name may stand for many servers, and for others tomorrow. Each of its addresses is a server of its own. The names
//! are resolved again every five seconds while the holder is in use, and as soon as a server fails.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::{Notify, OnceCell};
use tokio::time::timeout;

use super::RemoteConfig;
use super::observer::ConnectObserver;
use super::server::RemoteServer;
use crate::Endpoint;

/// The time between two resolutions of a name that is in use.
const PERIOD: Duration = Duration::from_secs(5);

/// The minimum time between two resolutions: each failing request asks for one.
const MIN_GAP: Duration = Duration::from_millis(250);

/// A source of the addresses of names. The default is the resolver of the system.
pub trait NameResolver: fmt::Debug + Send + Sync {
    /// Resolves a host name to the addresses of its servers at a port.
    ///
    /// # Errors
    /// The name has no address, or its name server gives no answer. The servers that are known stay in use.
    fn resolve<'r>(&'r self, host: &'r str, port: u16) -> BoxFuture<'r, io::Result<Vec<SocketAddr>>>;
}

/// The resolver of the system: DNS, `/etc/hosts` and the other sources that it is set up with.
#[derive(Debug)]
struct SystemResolver;

impl NameResolver for SystemResolver {
    fn resolve<'r>(&'r self, host: &'r str, port: u16) -> BoxFuture<'r, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}

/// The servers of a holder at one moment.
pub(super) type ServerSet = Arc<[Arc<RemoteServer>]>;

/// The servers of a holder. A server that leaves it still answers the requests that it has.
#[derive(Debug)]
pub(super) struct ServerList {
    groups: Mutex<Vec<ServerGroup>>,
    resolver: Arc<dyn NameResolver>,
    /// Set once the names have been resolved for the first time.
    is_resolved: OnceCell<()>,
    is_used: AtomicBool,
    observer: Option<ConnectObserver>,
    /// Asks for a resolution before its time.
    look: Arc<Notify>,
}

/// The servers of one endpoint.
#[derive(Debug)]
struct ServerGroup {
    endpoint: Endpoint,
    /// The host and the port to resolve. None for an address that stands for one server.
    name: Option<(String, u16)>,
    servers: Vec<Arc<RemoteServer>>,
}

impl ServerList {
    pub(super) fn new(config: &RemoteConfig) -> Self {
        // Two addresses of one name may be one machine, which must not agree with itself or give two shares.
        let are_independent = config.agreement > 1 || !config.threshold_keys.is_empty();
        let look = Arc::new(Notify::new());
        let group = |endpoint: &Endpoint| ServerGroup {
            endpoint: endpoint.clone(),
            name: if are_independent { None } else { name(endpoint) },
            servers: vec![Arc::new(RemoteServer::new(
                endpoint.clone(),
                None,
                config.observer.clone(),
                Arc::clone(&look),
            ))],
        };
        Self {
            groups: Mutex::new(config.servers.iter().map(group).collect()),
            resolver: config.resolver.clone().unwrap_or_else(|| Arc::new(SystemResolver)),
            is_resolved: OnceCell::new(),
            is_used: AtomicBool::new(false),
            observer: config.observer.clone(),
            look,
        }
    }

    /// Returns the servers as they are known now.
    pub(super) fn current(&self) -> ServerSet {
        self.groups().iter().flat_map(|group| &group.servers).cloned().collect()
    }

    /// Returns the servers for a request. The first request waits until the names are resolved, for this time at most.
    pub(super) async fn for_request(&self, patience: Duration) -> ServerSet {
        self.is_used.store(true, Ordering::Relaxed);
        // After the time, the name itself is connected to, and the error of that is the answer.
        let _ = timeout(patience, self.is_resolved.get_or_init(|| self.resolve())).await;
        self.current()
    }

    /// Returns the servers after a resolution, for a request that all known servers have failed.
    pub(super) async fn renewed(&self, patience: Duration) -> ServerSet {
        let _ = timeout(patience, self.resolve()).await;
        self.current()
    }

    /// Resolves the names again and again. Never ends.
    pub(super) async fn watch(self: Arc<Self>) {
        if self.groups().iter().all(|group| group.name.is_none()) {
            return;
        }
        loop {
            let is_early = timeout(PERIOD, self.look.notified()).await.is_ok();
            if is_early || self.is_used.swap(false, Ordering::Relaxed) {
                self.resolve().await;
            }
            tokio::time::sleep(MIN_GAP).await;
        }
    }

    /// Resolves all names. A name without an answer keeps its servers.
    async fn resolve(&self) {
        let names: Vec<(usize, (String, u16))> = self
            .groups()
            .iter()
            .enumerate()
            .filter_map(|(at, group)| Some((at, group.name.clone()?)))
            .collect();
        for (at, (host, port)) in names {
            let Ok(addresses) = self.resolver.resolve(&host, port).await else { continue };
            if let Some(group) = self.groups().get_mut(at) {
                group.renew(addresses, &self.observer, &self.look);
            }
        }
    }

    fn groups(&self) -> MutexGuard<'_, Vec<ServerGroup>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerGroup {
    /// Takes the addresses of an answer. Servers that stay keep their streams, loads and breakers.
    fn renew(
        &mut self,
        mut addresses: Vec<SocketAddr>,
        observer: &Option<ConnectObserver>,
        look: &Arc<Notify>,
    ) {
        // An empty answer is a mistake of a moment, such as a restart of all servers.
        if addresses.is_empty() {
            return;
        }
        addresses.sort_unstable();
        addresses.dedup();
        let known = |at: &SocketAddr| self.servers.iter().find(|server| server.at() == Some(*at)).cloned();
        let server = |at: SocketAddr| {
            known(&at).unwrap_or_else(|| {
                let server =
                    RemoteServer::new(self.endpoint.clone(), Some(at), observer.clone(), Arc::clone(look));
                Arc::new(server)
            })
        };
        let servers = addresses.into_iter().map(server).collect();
        self.servers = servers;
    }
}

/// Returns the host and the port of an endpoint whose host is a name.
fn name(endpoint: &Endpoint) -> Option<(String, u16)> {
    let Endpoint::Grpc { url, .. } = endpoint else { return None };
    let (host, port) = crate::endpoint::host_and_port(&url.parse().ok()?);
    let is_name = !host.is_empty() && host.parse::<IpAddr>().is_err();
    is_name.then_some((host, port))
}
