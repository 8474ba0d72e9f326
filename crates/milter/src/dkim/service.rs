//! The filter as a service: settings made real, then bound, running and reloaded.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use oarlock::{Accelerator, BuildError, Builder, Options};
use oarlock_dkim::{
    BodyHasher, BodyNeed, Canonicalization, Policy, Sealer, SignedFields, Signer, SignerError,
};
use oarlock_io::dns::TxtLookup;
use oarlock_wire::{Credentials, Endpoint, Remote, RemoteConfig, RemoteError};
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{error, info, warn};
use zeroize::Zeroizing;

use super::config::{Config, ConfigError, Cryptoserver, Mode, Seal};
use super::filter::DkimFilters;
use super::keys::{HOLDER, KeyFault, KeyFile, KeyReader};
use super::lookup::Lookups;
use super::metrics::Metrics;
use super::network::Network;
use super::outcome::Responses;
use super::page::Status;
use super::table::{Reload, TableError, Tables};
use crate::counters::Counters;
use crate::server::{Server, ServerError};
use crate::socket::Socket;

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// A setting cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The signing table cannot be used.
    #[error("[signing] table: {0}")]
    Table(#[from] TableError),
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyFault),
    /// With this nobody can sign.
    #[error("{place}: {error}")]
    Signer {
        /// Which settings.
        place: &'static str,
        /// What is wrong.
        error: SignerError,
    },
    /// There are no engines.
    #[error("[engines] {0}")]
    Engines(#[from] BuildError),
    /// A file of the section `[cryptoserver]` cannot be read, or one is missing.
    #[error("[cryptoserver] {field}: {reason}")]
    Credentials {
        /// Which setting.
        field: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The cryptoserver's client cannot start.
    #[error("[cryptoserver] {0}")]
    Remote(#[from] RemoteError),
    /// A socket cannot be bound.
    #[error("[listen] {0}")]
    Server(#[from] ServerError),
    /// The address of metrics cannot be bound.
    #[error("[listen] metrics: cannot listen at {address}: {error}")]
    Metrics {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// What was to be done at the start ended without an answer.
    #[error("the start failed: {0}")]
    Start(String),
}

/// What all connections share.
pub(super) struct Shared {
    pub(super) mode: Mode,
    pub(super) authserv_id: String,
    pub(super) networks: Vec<Network>,
    pub(super) policy: Policy,
    pub(super) responses: Responses,
    pub(super) style: Style,
    pub(super) tables: Option<Tables>,
    pub(super) keys: KeyReader,
    pub(super) sealer: Option<Sealer>,
    pub(super) lookups: Arc<Lookups>,
    pub(super) accelerator: Accelerator,
    pub(super) metrics: Arc<Metrics>,
    /// Messages from MAIL to their answers.
    under_way: AtomicUsize,
}

/// A message that counts among those under way.
#[derive(Debug)]
pub(super) struct UnderWay(Arc<Shared>);

impl UnderWay {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        shared.under_way.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What all signatures of ours have in common.
#[derive(Clone, Debug)]
pub(super) struct Style {
    pub(super) canonicalization: Canonicalization,
    pub(super) fields: SignedFields,
    pub(super) lifetime_s: Option<u64>,
}

impl Shared {
    pub(super) fn hashers(&self, needs: &[BodyNeed]) -> Vec<BodyHasher> {
        needs.iter().map(|need| BodyHasher::new(&self.accelerator, *need)).collect()
    }

    /// A message alone has its jobs computed at once. Several gather theirs.
    pub(super) fn options(&self) -> Options {
        Options { is_gathered: self.under_way.load(Ordering::Relaxed) > 1, ..Options::default() }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("authserv_id", &self.authserv_id).finish_non_exhaustive()
    }
}

/// Everything but sockets: engines proved, the table read, keys found when they are needed.
#[derive(Clone, Debug)]
pub struct Service {
    shared: Arc<Shared>,
    config: Config,
}

impl Service {
    /// Makes settings real. `lookups` knows key records.
    ///
    /// # Errors
    /// A setting cannot work, or a file that it names cannot be used.
    pub async fn open(
        config: Config,
        engines: Builder,
        lookups: Arc<dyn TxtLookup>,
    ) -> Result<Self, ServiceError> {
        config.check()?;
        let settings = config.clone();
        let metrics = Arc::new(Metrics::default());
        let parts = spawn_blocking({
            let metrics = Arc::clone(&metrics);
            move || Parts::open(&settings, engines, &metrics)
        });
        let Parts { accelerator, keys, tables, sealer } =
            parts.await.map_err(|error| ServiceError::Start(error.to_string()))??;
        let style = Style {
            canonicalization: config.canonicalization().map_err(ConfigError::from)?,
            fields: config.signed_fields()?,
            lifetime_s: Some(config.signing.lifetime_seconds).filter(|seconds| *seconds > 0),
        };
        let patience = Duration::from_millis(config.dns.timeout_ms);
        let lookups = Lookups::new(lookups, config.cache_limits(), patience, Arc::clone(&metrics));
        let shared = Shared {
            mode: config.mode,
            authserv_id: config.authserv_id.clone().unwrap_or_else(host_name),
            networks: config.internal_networks.clone(),
            policy: config.policy(),
            responses: config.on.clone(),
            style,
            tables,
            keys,
            sealer,
            lookups: Arc::new(lookups),
            accelerator,
            metrics,
            under_way: AtomicUsize::new(0),
        };
        Ok(Self { shared: Arc::new(shared), config })
    }

    /// Filters for a server of one's own.
    #[must_use]
    pub fn filters(&self) -> DkimFilters {
        DkimFilters(Arc::clone(&self.shared))
    }

    /// Listens where the settings say. Needs a tokio runtime.
    ///
    /// # Errors
    /// A socket cannot be bound.
    pub async fn bind(&self) -> Result<Bound, ServiceError> {
        let sockets = self.config.sockets().map_err(ConfigError::from)?;
        let server = Server::bind(&sockets, self.filters(), self.config.settings()?).await?;
        let metrics = match self.config.listen.metrics {
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                Some(listener.map_err(|error| ServiceError::Metrics { address, error })?)
            }
            None => None,
        };
        Ok(Bound { service: self.clone(), server, metrics })
    }

    /// Reads every key of the signing table, each file once, and gives those that cannot be used.
    pub async fn check_keys(&self) -> Vec<KeyFault> {
        let Some(tables) = &self.shared.tables else { return Vec::new() };
        let mut faults = Vec::new();
        for file in tables.current().files() {
            faults.extend(file.key(&self.shared.keys).await.err());
        }
        faults
    }

    /// Looks at the signing table again: where its file has changed, or because it `is_asked` for. A new table that is no good is
    /// refused, and the old one stays.
    pub async fn reload(&self, is_asked: bool) -> Reload {
        let shared = Arc::clone(&self.shared);
        let looked = spawn_blocking(move || match &shared.tables {
            Some(tables) => tables.reload(is_asked),
            None => Reload::Unchanged,
        });
        let reload = looked.await.unwrap_or(Reload::Unchanged);
        self.shared.metrics.reload(&reload);
        match &reload {
            Reload::Unchanged => {}
            Reload::Replaced(table) => info!(lines = table.len(), "the signing table was read again"),
            Reload::Refused(error) => error!(%error, "the new signing table is refused, the old one stays"),
        }
        reload
    }

    /// What it counts.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    /// Names whose keys are in the cache.
    #[must_use]
    pub fn cached_names(&self) -> usize {
        self.shared.lookups.cached()
    }

    /// The engines.
    #[must_use]
    pub fn accelerator(&self) -> &Accelerator {
        &self.shared.accelerator
    }

    /// Under which name it writes results.
    #[must_use]
    pub fn authserv_id(&self) -> &str {
        &self.shared.authserv_id
    }

    /// Lines of the signing table in use.
    #[must_use]
    pub fn signing_lines(&self) -> usize {
        self.shared.tables.as_ref().map_or(0, |tables| tables.current().len())
    }

    /// Until it is dropped.
    async fn watch(&self) {
        let seconds = self.config.signing.reload_seconds;
        if seconds == 0 || self.shared.tables.is_none() {
            return std::future::pending().await;
        }
        let mut ticks = interval(Duration::from_secs(seconds));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.reload(false).await;
        }
    }
}

/// A service that listens and does not answer yet.
#[derive(Debug)]
pub struct Bound {
    service: Service,
    server: Server<DkimFilters>,
    metrics: Option<TcpListener>,
}

impl Bound {
    /// Where it listens.
    #[must_use]
    pub fn sockets(&self) -> Vec<Socket> {
        self.server.sockets()
    }

    /// What it counts of the protocol.
    #[must_use]
    pub fn counters(&self) -> Arc<Counters> {
        self.server.counters()
    }

    /// Where metrics are shown.
    #[must_use]
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves until `stop` is ready, then drains; metrics are shown meanwhile.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { service, server, metrics } = self;
        let status = Arc::new(Status {
            service: service.clone(),
            counters: server.counters(),
            is_draining: AtomicBool::new(false),
        });
        let shown = async {
            match metrics {
                Some(listener) => oarlock_io::metrics::serve(listener, Arc::clone(&status)).await,
                None => std::future::pending().await,
            }
        };
        let stop = async {
            stop.await;
            status.is_draining.store(true, Ordering::Relaxed);
        };
        tokio::select! {
            () = server.run(stop) => {}
            () = service.watch() => {}
            () = shown => {}
        }
    }
}

/// What takes long, or blocks.
struct Parts {
    accelerator: Accelerator,
    keys: KeyReader,
    tables: Option<Tables>,
    sealer: Option<Sealer>,
}

impl Parts {
    fn open(config: &Config, engines: Builder, metrics: &Metrics) -> Result<Self, ServiceError> {
        let engines = config.engines.builder(engines);
        let remote = match &config.cryptoserver {
            Some(server) => Some(remote(server, engines.clone().build()?)?),
            None => None,
        };
        let engines = remote.iter().fold(engines, |engines, remote| engines.holder(Arc::new(remote.clone())));
        let signing = &config.signing;
        let reads = Arc::clone(&metrics.key_reads);
        let keys = KeyReader { remote, allows_open_keys: signing.allows_open_keys, reads };
        let tables =
            signing.table.as_deref().filter(|_| config.mode.signs()).map(Tables::open).transpose()?;
        if tables.is_none() && config.mode.signs() {
            warn!("nothing is signed: [signing] table is not set");
        }
        let seal = config.arc.seal.as_ref().filter(|_| config.mode.verifies());
        let sealer = seal.map(|seal| sealer(config, seal, &keys)).transpose()?;
        Ok(Self { accelerator: engines.build()?, keys, tables, sealer })
    }
}

fn remote(server: &Cryptoserver, checker: Accelerator) -> Result<Remote, ServiceError> {
    let mut endpoints = Vec::new();
    for place in &server.servers {
        let is_grpc = place.starts_with("http:") || place.starts_with("https:");
        endpoints.push(match is_grpc {
            true => {
                let is_secure = place.starts_with("https:");
                let credentials = is_secure.then(|| credentials(server)).transpose()?;
                Endpoint::Grpc { url: place.clone(), credentials }
            }
            false => Endpoint::Unix(PathBuf::from(place)),
        });
    }
    let patience = Duration::from_millis(server.patience_ms.max(1));
    Ok(Remote::new(RemoteConfig { patience, ..RemoteConfig::new(HOLDER, endpoints) }, checker)?)
}

fn credentials(server: &Cryptoserver) -> Result<Credentials, ServiceError> {
    let read = |field: &'static str, path: &Option<PathBuf>| {
        let fault = |reason: String| ServiceError::Credentials { field, reason };
        let path: &Path = path.as_deref().ok_or_else(|| fault("expected a file for https".to_owned()))?;
        std::fs::read(path).map_err(|error| fault(format!("{}: {error}", path.display())))
    };
    Ok(Credentials {
        server_ca: read("server_ca", &server.server_ca)?,
        certificate: read("certificate", &server.certificate)?,
        private_key: Zeroizing::new(read("private_key", &server.private_key)?),
    })
}

fn sealer(config: &Config, seal: &Seal, keys: &KeyReader) -> Result<Sealer, ServiceError> {
    let (_, key) = KeyFile::new(seal.key.clone()).read(keys)?;
    let canonicalization = config.canonicalization().map_err(ConfigError::from)?;
    let signer = Signer::new(&seal.domain, &seal.selector, key)
        .map_err(|error| ServiceError::Signer { place: "[arc] seal", error })?;
    Ok(Sealer::new(signer.with_canonicalization(canonicalization).with_fields(config.signed_fields()?)))
}

/// As the system calls itself.
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
