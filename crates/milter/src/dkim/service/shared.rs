//! The state that all connections share: parts that stay as long as the filter runs, and settings, which may be replaced.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use oarlock::{Accelerator, AcceleratorBuilder, SubmitOptions};
use oarlock_dkim::{BodyHasher, BodyNeed, Canonicalization, Policy, Sealer, SignedFields, Signer};
use oarlock_io::dns::TxtLookup;
use oarlock_wire::Remote;
use tracing::warn;

use super::{ServiceError, log_absent, remote};
use crate::dkim::config::{Config, ConfigError, Mode, RequiredFrom, Seal};
use crate::dkim::host_name;
use crate::dkim::keys::{KeyFile, KeyReader};
use crate::dkim::lookup::Lookups;
use crate::dkim::metrics::Metrics;
use crate::dkim::network::Network;
use crate::dkim::outcome::Responses;
use crate::dkim::table::{Reload, Tables};
use crate::dkim::trust::TrustSettings;

/// The parts that stay as long as the filter runs.
#[derive(Clone)]
pub(in crate::dkim) struct Base {
    pub(super) accelerator: Accelerator,
    pub(super) lookups: Arc<Lookups>,
    pub(super) metrics: Arc<Metrics>,
    remote: Option<Remote>,
    /// Messages from MAIL to their answers.
    under_way: Arc<AtomicUsize>,
}

impl Base {
    pub(super) fn open(
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

/// Settings made real: a message has the same ones from its beginning to its end.
pub(in crate::dkim) struct Shared {
    pub(in crate::dkim) mode: Mode,
    pub(in crate::dkim) trust: TrustSettings,
    pub(in crate::dkim) networks: Vec<Network>,
    pub(in crate::dkim) policy: Policy,
    pub(in crate::dkim) responses: Responses,
    pub(in crate::dkim) style: Style,
    pub(in crate::dkim) tables: Option<Arc<Tables>>,
    pub(super) reload_seconds: u64,
    pub(in crate::dkim) keys: KeyReader,
    pub(in crate::dkim) sealer: Option<Sealer>,
    pub(in crate::dkim) lookups: Arc<Lookups>,
    pub(in crate::dkim) accelerator: Accelerator,
    pub(in crate::dkim) metrics: Arc<Metrics>,
    under_way: Arc<AtomicUsize>,
}

/// The settings that all signatures of ours have in common.
#[derive(Clone, Debug)]
pub(in crate::dkim) struct Style {
    pub(in crate::dkim) canonicalization: Canonicalization,
    pub(in crate::dkim) fields: SignedFields,
    pub(in crate::dkim) lifetime_s: Option<u64>,
    pub(in crate::dkim) required_from: RequiredFrom,
}

impl Shared {
    /// Reads everything that the settings name. The signing table of `before` is kept if it is the same file, and read again last, so
    /// that nothing is replaced if anything else is no good.
    pub(super) fn build(config: &Config, base: &Base, before: Option<&Self>) -> Result<Self, ServiceError> {
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
    pub(in crate::dkim) fn authserv_id(&self) -> &str {
        &self.trust.authserv_id
    }

    pub(in crate::dkim) fn hashers(&self, needs: &[BodyNeed]) -> Vec<BodyHasher> {
        needs.iter().map(|need| BodyHasher::new(&self.accelerator, *need)).collect()
    }

    /// A message alone has its jobs computed at once. Several gather theirs.
    pub(in crate::dkim) fn options(&self) -> SubmitOptions {
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
pub(in crate::dkim) struct Current(RwLock<Arc<Shared>>);

impl Current {
    pub(super) fn new(shared: Shared) -> Self {
        Self(RwLock::new(Arc::new(shared)))
    }

    pub(in crate::dkim) fn get(&self) -> Arc<Shared> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn replace(&self, shared: Shared) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(shared);
    }
}

/// A message that counts among those under way.
#[derive(Debug)]
pub(in crate::dkim) struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    pub(in crate::dkim) fn new(shared: &Shared) -> Self {
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
