//! TLS for clients: the policy of all connections, and those of routes with settings of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock_service_kit::ServiceClock;
use rustls::crypto::CryptoProvider;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, NoServerSessionStorage, ProducesTickets};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use smallvec::SmallVec;

use crate::certificate::{CertificateKeySources, CertificateResolver, CertificateSource, CertificateTable};
use crate::clients::{ClientNameVerifier, read_client_verifier};
use crate::config::{
    ClientSettings, HandOverRule, ProxyConfig, RouteSettings, TlsCipher, TlsSettings, TlsVersion,
};
use crate::error::ProxyServiceError;
use crate::tickets::{TicketPolicy, rotating_tickets, shared_tickets};

/// Ticket keys that were made at random, and their lifetime. A reload with the same lifetime keeps them.
pub(crate) type RotatingTickets = Option<(u32, Arc<dyn ProducesTickets>)>;

/// The tables of certificates, by the path of their directory or file.
pub(crate) type CertificateTables = BTreeMap<PathBuf, Arc<CertificateTable>>;

/// The rules of TLS for some clients: their certificates, versions, protocols, and what is asked of them.
pub(crate) struct TlsPolicy {
    /// The configuration. It has no tickets: each connection gets its own, by [`TicketPolicy::for_connection`].
    pub(crate) config: Arc<ServerConfig>,
    /// The choice of certificates.
    pub(crate) certificates: Arc<CertificateResolver>,
    /// The rules for certificates of clients, if these are asked for.
    pub(crate) clients: Option<Arc<ClientNameVerifier>>,
    /// The tickets of clients, if they get any.
    pub(crate) tickets: Option<Arc<TicketPolicy>>,
}

/// Builds the policies of some settings. Routes with the same directory share its table.
pub(crate) struct PolicyBuilder<'a> {
    config: &'a ProxyConfig,
    resources: PolicyResources<'a>,
    /// The tables of the settings before, of which unchanged certificates are taken.
    before: Option<&'a CertificateTables>,
    tables: CertificateTables,
    ticket_keys: Option<Arc<dyn ProducesTickets>>,
}

/// The parts of policies that outlive the settings.
#[derive(Clone, Copy)]
pub(crate) struct PolicyResources<'a> {
    pub(crate) provider: &'a Arc<CryptoProvider>,
    pub(crate) keys: &'a CertificateKeySources,
    pub(crate) clock: &'a ServiceClock,
    /// The number of handshakes for which no certificate was valid.
    pub(crate) without_valid: &'a Arc<AtomicU64>,
}

impl<'a> PolicyBuilder<'a> {
    /// Begins without a policy. `ticket_keys` seal the tickets of all policies; without them clients get none.
    pub(crate) fn new(
        config: &'a ProxyConfig,
        resources: PolicyResources<'a>,
        before: Option<&'a CertificateTables>,
        ticket_keys: Option<Arc<dyn ProducesTickets>>,
    ) -> Self {
        Self { config, resources, before, tables: CertificateTables::new(), ticket_keys }
    }

    /// Builds the policy of connections without a route.
    pub(crate) fn build_default(&mut self) -> Result<TlsPolicy, ProxyServiceError> {
        let settings = &self.config.certificates;
        let path = settings.path.as_deref().unwrap_or(Path::new(""));
        let table = self.read_table(path, settings.default.as_deref())?;
        let clients = self.read_clients(self.config.clients.as_ref())?;
        self.build(&self.config.tls, table, clients)
    }

    /// Builds the policy of a route: the default one, if it has no settings of its own.
    pub(crate) fn build_route(
        &mut self,
        route: &RouteSettings,
        default: &Arc<TlsPolicy>,
    ) -> Result<Arc<TlsPolicy>, ProxyServiceError> {
        if !route.has_tls() {
            return Ok(Arc::clone(default));
        }
        let table = match &route.certificates {
            Some(path) => self.read_table(path, None)?,
            None => Arc::clone(&default.certificates.table),
        };
        let clients = match &route.clients {
            Some(clients) => self.read_clients(Some(clients))?,
            None => default.clients.clone(),
        };
        self.build(&route.tls(&self.config.tls), table, clients).map(Arc::new)
    }

    /// Returns the tables of all policies.
    pub(crate) fn into_tables(self) -> CertificateTables {
        self.tables
    }

    fn read_table(
        &mut self,
        path: &Path,
        default: Option<&str>,
    ) -> Result<Arc<CertificateTable>, ProxyServiceError> {
        if let Some(table) = self.tables.get(path) {
            return Ok(Arc::clone(table));
        }
        let source = CertificateSource { path: path.to_owned() };
        let before = self.before.and_then(|tables| tables.get(path)).map(|table| &**table);
        let unknown = self.config.certificates.unknown_names;
        let table = CertificateTable::load(&source, default, unknown, self.resources.keys, before)?;
        let table = Arc::new(table);
        self.tables.insert(path.to_owned(), Arc::clone(&table));
        Ok(table)
    }

    /// Reads the authorities and the revocation lists of clients.
    fn read_clients(
        &self,
        settings: Option<&ClientSettings>,
    ) -> Result<Option<Arc<ClientNameVerifier>>, ProxyServiceError> {
        let read = |settings| read_client_verifier(settings, self.resources.provider).map(Arc::new);
        Ok(settings.map(read).transpose()?)
    }

    fn build(
        &self,
        tls: &TlsSettings,
        table: Arc<CertificateTable>,
        clients: Option<Arc<ClientNameVerifier>>,
    ) -> Result<TlsPolicy, ProxyServiceError> {
        let clock = self.resources.clock.clone();
        let without_valid = Arc::clone(self.resources.without_valid);
        let certificates = Arc::new(CertificateResolver { table, clock: clock.clone(), without_valid });
        let config =
            build_config(self.config, tls, self.resources.provider, &certificates, clients.as_ref())?;
        let lifetime_s = self.config.tickets.lifetime_seconds;
        let policy = |keys: &Arc<dyn ProducesTickets>| {
            let (keys, clients, clock) = (Arc::clone(keys), clients.clone(), clock.clone());
            Arc::new(TicketPolicy { keys, lifetime_s, clients, clock })
        };
        let tickets = self.ticket_keys.as_ref().map(policy);
        Ok(TlsPolicy { config, certificates, clients, tickets })
    }
}

impl TlsPolicy {
    /// Returns the protocol that a client will negotiate, if it offers one. The first one of the proxy's order counts.
    pub(crate) fn negotiate(&self, hello: &ClientHello<'_>) -> Option<&[u8]> {
        let offered: SmallVec<[&[u8]; 4]> = hello.alpn()?.collect();
        self.config.alpn_protocols.iter().map(|name| &**name).find(|name| offered.contains(name))
    }
}

/// Returns a provider with the groups and ciphers of the settings, in their order.
pub(crate) fn with_settings(provider: &CryptoProvider, tls: &TlsSettings) -> Arc<CryptoProvider> {
    let group = |name| provider.kx_groups.iter().copied().find(|group| group.name() == name);
    let kx_groups = tls.groups.iter().filter_map(|wanted| group(wanted.named())).collect();
    let suites = |cipher: &TlsCipher| {
        let cipher = *cipher;
        provider.cipher_suites.iter().copied().filter(move |suite| cipher.is_of(suite.suite()))
    };
    let cipher_suites = tls.ciphers.iter().flat_map(suites).collect();
    Arc::new(CryptoProvider { kx_groups, cipher_suites, ..provider.clone() })
}

fn build_config(
    config: &ProxyConfig,
    tls: &TlsSettings,
    provider: &CryptoProvider,
    certificates: &Arc<CertificateResolver>,
    clients: Option<&Arc<ClientNameVerifier>>,
) -> Result<Arc<ServerConfig>, ProxyServiceError> {
    let versions = versions(tls);
    // rustls finds the signature schemes for a certificate by the suites. So those of a version that is off would let it
    // choose an ML-DSA certificate for TLS 1.2.
    let mut provider = provider.clone();
    provider.cipher_suites.retain(|suite| versions.contains(&suite.version()));
    let clock = Arc::new(certificates.clock.clone());
    let builder =
        ServerConfig::builder_with_details(Arc::new(provider), clock).with_protocol_versions(&versions)?;
    let builder = match clients {
        Some(verifier) => {
            builder.with_client_cert_verifier(Arc::clone(verifier) as Arc<dyn ClientCertVerifier>)
        }
        None => builder.with_no_client_auth(),
    };
    let mut server = builder.with_cert_resolver(Arc::clone(certificates) as _);
    server.alpn_protocols = tls.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    // Tickets are stateless: a session of any connection is resumed on any thread and any proxy with the same keys.
    server.session_storage = Arc::new(NoServerSessionStorage {});
    server.ignore_client_order = true;
    // Early data can be replayed, and a proxy of TCP cannot know whether that is harmless. RFC 8446 8.
    server.max_early_data_size = 0;
    server.send_tls13_tickets = if config.tickets.enabled { config.tickets.count } else { 0 };
    // The kernel gets the keys of long transfers.
    server.enable_secret_extraction = config.kernel.hand_over != HandOverRule::Never;
    Ok(Arc::new(server))
}

/// Returns the keys of tickets, if clients get any. The keys of `before` stay in use if the settings allow it.
pub(crate) fn build_ticket_keys(
    config: &ProxyConfig,
    before: &RotatingTickets,
) -> Result<(Option<Arc<dyn ProducesTickets>>, RotatingTickets), ProxyServiceError> {
    if !config.tickets.enabled {
        return Ok((None, None));
    }
    let lifetime_s = config.tickets.lifetime_seconds;
    let keys = match (&config.tickets.keys, before) {
        (Some(path), _) => shared_tickets(path, lifetime_s)?,
        (None, Some((kept, keys))) if *kept == lifetime_s => Arc::clone(keys),
        (None, _) => rotating_tickets(lifetime_s)?,
    };
    let rotating = config.tickets.keys.is_none().then(|| (lifetime_s, Arc::clone(&keys)));
    Ok((Some(keys), rotating))
}

fn versions(tls: &TlsSettings) -> Vec<&'static SupportedProtocolVersion> {
    let all = [(TlsVersion::Tls12, &TLS12), (TlsVersion::Tls13, &TLS13)];
    let range = tls.min_version..=tls.max_version;
    all.into_iter().filter(|(version, _)| range.contains(version)).map(|(_, version)| version).collect()
}
