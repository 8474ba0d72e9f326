//! The state that all connections share: parts that stay as long as the filter runs, and settings, which may be replaced.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use oarlock::{Accelerator, AcceleratorBuilder, SubmitOptions};
use oarlock_dkim::{BodyHasher, BodyNeed, Canonicalization, Policy, Sealer, SignedFields, Signer};
use oarlock_io::dns::TxtLookup;
use oarlock_wire::RemoteHolder;
use tracing::{info, warn};

use crate::config::{Config, ConfigError, Mode, RequiredFrom, Seal};
use crate::cryptoserver::remote;
use crate::error::ServiceError;
use crate::host_name;
use crate::keys::{KeyFile, KeyReader};
use crate::lookup::Lookups;
use crate::metrics::Metrics;
use crate::network::Network;
use crate::outcome::Responses;
use crate::table::{Reload, Tables};
use crate::trust::TrustSettings;

/// The parts that stay as long as the filter runs.
#[derive(Clone)]
pub(crate) struct Base {
    pub(crate) accelerator: Accelerator,
    pub(crate) lookups: Arc<Lookups>,
    pub(crate) metrics: Arc<Metrics>,
    remote: Option<RemoteHolder>,
    /// Messages from MAIL to their answers.
    under_way: Arc<AtomicUsize>,
}

impl Base {
    pub(crate) fn open(
        config: &Config,
        engines: AcceleratorBuilder,
        source: Arc<dyn TxtLookup>,
    ) -> Result<Self, ServiceError> {
        let engines = config.engines.builder(engines);
        let remote = match &config.cryptoserver {
            Some(server) => Some(remote(server, engines.clone().build()?)?),
            None => None,
        };
        let engines = remote.iter().fold(engines, |engines, remote| engines.holder(Arc::new(remote.clone())));
        let accelerator = engines.build()?;
        log_absent(config.engines.allowed.as_deref(), &accelerator);
        let metrics = Arc::new(Metrics::default());
        let patience = Duration::from_millis(config.dns.timeout_ms);
        let lookups = Lookups::new(source, config.cache_limits(), patience, Arc::clone(&metrics));
        Ok(Self { accelerator, lookups: Arc::new(lookups), metrics, remote, under_way: Arc::default() })
    }
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base").finish_non_exhaustive()
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

/// Settings made real: a message has the same ones from its beginning to its end.
pub(crate) struct Shared {
    pub(crate) mode: Mode,
    pub(crate) trust: TrustSettings,
    pub(crate) networks: Vec<Network>,
    pub(crate) policy: Policy,
    pub(crate) responses: Responses,
    pub(crate) style: Style,
    pub(crate) tables: Option<Arc<Tables>>,
    pub(crate) reload_seconds: u64,
    pub(crate) keys: KeyReader,
    pub(crate) sealer: Option<Sealer>,
    pub(crate) lookups: Arc<Lookups>,
    pub(crate) accelerator: Accelerator,
    pub(crate) metrics: Arc<Metrics>,
    under_way: Arc<AtomicUsize>,
}

/// The settings that all signatures of ours have in common.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) canonicalization: Canonicalization,
    pub(crate) fields: SignedFields,
    pub(crate) lifetime_s: Option<u64>,
    pub(crate) required_from: RequiredFrom,
}

impl Shared {
    /// Reads everything that the settings name. The signing table of `before` is kept if it is the same file, and read again last, so
    /// that nothing is replaced if anything else is no good.
    pub(crate) fn build(config: &Config, base: &Base, before: Option<&Self>) -> Result<Self, ServiceError> {
        let keys = KeyReader {
            remote: base.remote.clone(),
            allows_open_keys: config.signing.allows_open_keys,
            reads: Arc::clone(&base.metrics.key_reads),
        };
        let seal = config.arc.seal.as_ref().filter(|_| config.mode.verifies());
        let sealer = seal.map(|seal| sealer(config, seal, &keys)).transpose()?;
        Ok(Self {
            mode: config.mode,
            trust: trust(config)?,
            networks: config.internal_networks.clone(),
            policy: config.policy(),
            responses: config.on.clone(),
            style: style(config)?,
            tables: tables(config, before, &keys)?,
            reload_seconds: config.signing.reload_seconds,
            keys,
            sealer,
            lookups: Arc::clone(&base.lookups),
            accelerator: base.accelerator.clone(),
            metrics: Arc::clone(&base.metrics),
            under_way: Arc::clone(&base.under_way),
        })
    }

    /// The name under which results are written.
    pub(crate) fn authserv_id(&self) -> &str {
        &self.trust.authserv_id
    }

    pub(crate) fn hashers(&self, needs: &[BodyNeed]) -> Vec<BodyHasher> {
        needs.iter().map(|need| BodyHasher::new(&self.accelerator, *need)).collect()
    }

    /// A message alone has its jobs computed at once. Several gather theirs.
    pub(crate) fn options(&self) -> SubmitOptions {
        SubmitOptions { coalesce: self.under_way.load(Ordering::Relaxed) > 1, ..SubmitOptions::default() }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("trust", &self.trust).finish_non_exhaustive()
    }
}

/// The settings in force, replaced as a whole.
#[derive(Debug)]
pub(crate) struct Current(RwLock<Arc<Shared>>);

impl Current {
    pub(crate) fn new(shared: Shared) -> Self {
        Self(RwLock::new(Arc::new(shared)))
    }

    pub(crate) fn get(&self) -> Arc<Shared> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the number of lines of the signing table in use.
    pub(crate) fn signing_lines(&self) -> usize {
        self.get().tables.as_ref().map_or(0, |tables| tables.current().len())
    }

    pub(crate) fn replace(&self, shared: Shared) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(shared);
    }
}

/// A message that counts among those under way.
#[derive(Debug)]
pub(crate) struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    pub(crate) fn new(shared: &Shared) -> Self {
        shared.under_way.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&shared.under_way))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn style(config: &Config) -> Result<Style, ServiceError> {
    Ok(Style {
        canonicalization: config.canonicalization().map_err(ConfigError::from)?,
        fields: config.signed_fields()?,
        lifetime_s: Some(config.signing.lifetime_seconds).filter(|seconds| *seconds > 0),
        required_from: config.signing.require_from,
    })
}

fn tables(
    config: &Config,
    before: Option<&Shared>,
    keys: &KeyReader,
) -> Result<Option<Arc<Tables>>, ServiceError> {
    let Some(path) = config.signing.table.as_deref().filter(|_| config.mode.signs()) else { return Ok(None) };
    let kept = before.and_then(|before| before.tables.as_ref()).filter(|tables| tables.path() == path);
    if let Some(tables) = kept {
        return match tables.reload(true, keys) {
            Reload::Refused(error) => Err(error.into()),
            Reload::Unchanged | Reload::Replaced(_) => Ok(Some(Arc::clone(tables))),
        };
    }
    let tables = Tables::open(path)?;
    tables.check_keys(keys)?;
    Ok(Some(Arc::new(tables)))
}

fn trust(config: &Config) -> Result<TrustSettings, ServiceError> {
    let trusted = &config.trusted_results;
    let settings = TrustSettings {
        authserv_id: authserv_id(config)?,
        authserv_ids: trusted.authserv_ids.clone(),
        networks: trusted.networks.clone(),
        filters: trusted.filters.clone(),
    };
    if let Some(name) = settings.contested_name() {
        return Err(ConfigError::Value {
            field: "[trusted_results] filters",
            expected: "names that are neither authserv_id nor one of authserv_ids, since what strangers write under those is removed",
            found: format!("{name:?}"),
        }
        .into());
    }
    if !settings.filters.is_empty() && config.arc.seal.is_none() {
        warn!(
            "[trusted_results] filters has no effect: only a seal repeats results, and [arc.seal] is not set"
        );
    }
    Ok(settings)
}

fn sealer(config: &Config, seal: &Seal, keys: &KeyReader) -> Result<Sealer, ServiceError> {
    let (_, key) = KeyFile::new(seal.key.clone()).read(keys)?;
    let canonicalization = config.canonicalization().map_err(ConfigError::from)?;
    let signer = Signer::new(&seal.domain, &seal.selector, key).map_err(|error| ServiceError::Signer {
        place: "[arc] seal",
        path: seal.key.clone(),
        selector: seal.selector.clone(),
        error,
    })?;
    Ok(Sealer::new(signer.with_canonicalization(canonicalization).with_fields(config.signed_fields()?)))
}

/// The name that is set, or the host's full one. A host that has none can sign, but its results would be under a name that others
/// have, too.
fn authserv_id(config: &Config) -> Result<String, ConfigError> {
    if let Some(name) = &config.authserv_id {
        return Ok(name.clone());
    }
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    match host_name::full_name(&node, &std::fs::read_to_string("/etc/hosts").unwrap_or_default()) {
        Some(name) => Ok(name),
        None if !config.mode.verifies() => Ok(node),
        None => Err(ConfigError::Value {
            field: "authserv_id",
            expected: "the full name of this mail host, as authserv_id = \"mx.example.com\", for its results to be known by",
            found: format!("nothing, and the host is called {node:?} without a domain"),
        }),
    }
}
