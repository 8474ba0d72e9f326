//! The state that all connections share: long-lived resources, and settings that can be replaced.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use oarlock::{Accelerator, AcceleratorBuilder, SubmitOptions};
use oarlock_dkim::{BodyHasher, BodyNeed, VerifyPolicy};
use oarlock_mail_files::dns::TxtLookup;
use oarlock_service_kit::settings::SettingsError;
use oarlock_service_kit::{KeyHolders, ServiceClock};
use tracing::warn;

use crate::client_list::ClientList;
use crate::config::{ExemptSettings, FilterConfig, FilterConfigError, FilterMode};
use crate::error::FilterServiceError;
use crate::host_name;
use crate::keys::KeyReader;
use crate::lookup::KeyLookups;
use crate::metrics::FilterMetrics;
use crate::outcome::FaultResponses;
use crate::seal::SealSource;
use crate::style::SigningStyle;
use crate::table::{TableFile, TableReload};
use crate::trust::TrustSettings;

/// The resources that stay as long as the filter runs.
#[derive(Clone)]
pub(crate) struct FilterResources {
    pub(crate) accelerator: Accelerator,
    pub(crate) lookups: Arc<KeyLookups>,
    pub(crate) metrics: Arc<FilterMetrics>,
    pub(crate) clock: ServiceClock,
    pub(crate) holders: KeyHolders,
    /// The number of messages between MAIL and their verdict.
    in_flight: Arc<AtomicUsize>,
}

impl FilterResources {
    pub(crate) fn open(
        config: &FilterConfig,
        engines: AcceleratorBuilder,
        source: Arc<dyn TxtLookup>,
        clock: ServiceClock,
    ) -> Result<Self, FilterServiceError> {
        let engines = config.engines.builder(engines);
        let holders = KeyHolders::open(config.cryptoserver.as_ref(), &config.devices, &engines)?;
        let accelerator = holders.register(engines).build()?;
        config.engines.log_absent(&accelerator);
        let metrics = Arc::new(FilterMetrics::default());
        let patience = Duration::from_millis(config.dns.timeout_ms);
        let lookups = KeyLookups::new(source, config.cache_limits(), patience, Arc::clone(&metrics));
        let lookups = Arc::new(lookups);
        Ok(Self { accelerator, lookups, metrics, clock, holders, in_flight: Arc::default() })
    }

    /// Returns the number of messages between MAIL and their verdict.
    pub(crate) fn open_messages(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for FilterResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base").finish_non_exhaustive()
    }
}

/// The settings in use with everything that they name. A message keeps the same state from its beginning to its end.
pub(crate) struct FilterState {
    pub(crate) mode: FilterMode,
    pub(crate) trust: TrustSettings,
    pub(crate) internal_hosts: ClientList,
    pub(crate) exempt: ExemptSettings,
    pub(crate) policy: VerifyPolicy,
    pub(crate) responses: FaultResponses,
    pub(crate) style: Arc<SigningStyle>,
    pub(crate) tables: Option<Arc<TableFile>>,
    pub(crate) reload_seconds: u64,
    pub(crate) keys: KeyReader,
    pub(crate) seal: Option<SealSource>,
    pub(crate) lookups: Arc<KeyLookups>,
    pub(crate) accelerator: Accelerator,
    pub(crate) metrics: Arc<FilterMetrics>,
    in_flight: Arc<AtomicUsize>,
}

impl FilterState {
    /// Reads everything that the settings name. The table of `before` is kept if it is the same file. It is read again
    /// after everything else, so nothing changes if there is a fault.
    pub(crate) fn build(
        config: &FilterConfig,
        base: &FilterResources,
        before: Option<&Self>,
    ) -> Result<Self, FilterServiceError> {
        let keys = KeyReader {
            holders: base.holders.clone(),
            allows_open_keys: config.signing.allows_open_keys,
            reads: Arc::clone(&base.metrics.key_reads),
            clock: base.clock.clone(),
        };
        // A seal contains results, which only verifying produces.
        let seal = config.arc.seal.as_ref().filter(|_| config.mode.verifies());
        let style = Arc::new(style(config)?);
        let seal = seal.map(|seal| SealSource::open(seal, &style, &keys)).transpose()?;
        Ok(Self {
            mode: config.mode,
            trust: trust(config)?,
            internal_hosts: config.internal_hosts.clone(),
            exempt: config.exempt.clone(),
            policy: config.policy(),
            responses: config.on.clone(),
            style,
            tables: tables(config, before, &keys)?,
            reload_seconds: config.signing.reload_seconds,
            keys,
            seal,
            lookups: Arc::clone(&base.lookups),
            accelerator: base.accelerator.clone(),
            metrics: Arc::clone(&base.metrics),
            in_flight: Arc::clone(&base.in_flight),
        })
    }

    pub(crate) fn clock(&self) -> &ServiceClock {
        &self.keys.clock
    }

    /// Returns the name under which results are written.
    pub(crate) fn authserv_id(&self) -> &str {
        &self.trust.authserv_id
    }

    /// Returns the number of lines of the signing table in use.
    pub(crate) fn signing_lines(&self) -> usize {
        self.tables.as_ref().map_or(0, |tables| tables.current().len())
    }

    pub(crate) fn hashers(&self, needs: &[BodyNeed]) -> Vec<BodyHasher> {
        needs.iter().map(|need| BodyHasher::new(&self.accelerator, *need)).collect()
    }

    /// Returns the options for jobs. Jobs of a single message run at once. Jobs of several messages are batched.
    pub(crate) fn options(&self) -> SubmitOptions {
        SubmitOptions::default().with_coalesce(self.in_flight.load(Ordering::Relaxed) > 1)
    }
}

impl fmt::Debug for FilterState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("trust", &self.trust).finish_non_exhaustive()
    }
}

/// A message that is counted as in progress until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlightGuard(Arc<AtomicUsize>);

impl InFlightGuard {
    pub(crate) fn new(shared: &FilterState) -> Self {
        shared.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&shared.in_flight))
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn style(config: &FilterConfig) -> Result<SigningStyle, FilterServiceError> {
    Ok(SigningStyle {
        canonicalization: config.canonicalization().map_err(FilterConfigError::from)?,
        fields: config.signed_fields()?,
        lifetime_s: Some(config.signing.lifetime_seconds).filter(|seconds| *seconds > 0),
        required_from: config.signing.require_from,
        address_sources: config.signing.domain_from.clone(),
    })
}

fn tables(
    config: &FilterConfig,
    before: Option<&FilterState>,
    keys: &KeyReader,
) -> Result<Option<Arc<TableFile>>, FilterServiceError> {
    let Some(path) = config.signing.table.as_deref().filter(|_| config.mode.signs()) else { return Ok(None) };
    let kept = before.and_then(|before| before.tables.as_ref()).filter(|tables| tables.path() == path);
    if let Some(tables) = kept {
        return match tables.reload(true, keys) {
            TableReload::Refused(error) => Err(error.into()),
            TableReload::Unchanged | TableReload::Replaced(_) => Ok(Some(Arc::clone(tables))),
        };
    }
    let tables = TableFile::open(path)?;
    tables.check_keys(keys)?;
    Ok(Some(Arc::new(tables)))
}

fn trust(config: &FilterConfig) -> Result<TrustSettings, FilterServiceError> {
    let trusted = &config.trusted_results;
    let settings = TrustSettings {
        authserv_id: authserv_id(config).map_err(FilterConfigError::from)?,
        authserv_ids: trusted.authserv_ids.clone(),
        networks: trusted.networks.clone(),
        filters: trusted.filters.clone(),
    };
    if let Some(name) = settings.contested_name() {
        let error = SettingsError::Value {
            field: "[trusted_results] filters",
            expected: "names other than authserv_id and authserv_ids, whose fields by strangers are removed",
            found: format!("{name:?}"),
        };
        return Err(FilterConfigError::from(error).into());
    }
    if !settings.filters.is_empty() && config.arc.seal.is_none() {
        warn!(
            "[trusted_results] filters has no effect: only a seal repeats results, and [arc.seal] is not set"
        );
    }
    Ok(settings)
}

/// Returns the configured name or the host's full name. A host without a full name can only sign, because other hosts
/// could have the same name, and its results would not be distinct.
fn authserv_id(config: &FilterConfig) -> Result<String, SettingsError> {
    if let Some(name) = &config.authserv_id {
        return Ok(name.clone());
    }
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    match host_name::full_name(&node, &std::fs::read_to_string("/etc/hosts").unwrap_or_default()) {
        Some(name) => Ok(name),
        None if !config.mode.verifies() => Ok(node),
        None => Err(SettingsError::Value {
            field: "authserv_id",
            expected: "the full name of this mail host, such as authserv_id = \"mx.example.com\"",
            found: format!("nothing, and the host name {node:?} has no domain"),
        }),
    }
}
