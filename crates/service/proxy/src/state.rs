//! The settings in force and the resources that outlive them.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_files::FileStamp;
use oarlock_network::HandshakeAdmission;
use oarlock_rustls::{HandshakeLimits, TlsAcceptor, provider};
use oarlock_service_kit::{Current, KeyHolders, ServiceClock};
use rustls::crypto::CryptoProvider;

use crate::admission::{ConnectionLimits, ConnectionMaxima};
use crate::backend::{Backend, BackendContext, BackendRegistry, BackendSet, BackendTlsContext};
use crate::certificate::{
    CertificateEntry, CertificateFiles, CertificateKeySources, CertificateSource, list_certificates,
};
use crate::clients::ClientNameVerifier;
use crate::config::{ClientSettings, ListenerSettings, ProxyConfig, ProxyLimits, ProxyMode, RouteSettings};
use crate::counters::ProxyCounters;
use crate::error::ProxyServiceError;
use crate::kernel::KernelPaths;
use crate::log::ConnectionLog;
use crate::ocsp::StapleFetcher;
use crate::routes::{ProxyRoute, ProxyRoutes};
use crate::tickets::max_session_seconds;
use crate::tls::{
    CertificateTables, PolicyBuilder, PolicyResources, RotatingTickets, TlsPolicy, build_ticket_keys,
    with_settings,
};
use crate::warning::ProxyWarning;

/// The resources that outlive the settings.
pub(crate) struct ProxyResources {
    pub(crate) keys: CertificateKeySources,
    /// The health of backends.
    pub(crate) backends: Arc<BackendRegistry>,
    provider: CryptoProvider,
    handshakes: HandshakeLimits,
    clock: ServiceClock,
    staples: Arc<StapleFetcher>,
    /// The number of handshakes for which no certificate was valid.
    without_valid_certificate: Arc<AtomicU64>,
}

/// The settings in force. They never change: a reload builds new ones beside them.
pub(crate) struct ProxyState {
    /// The TLS of clients and the routes; None in the mode `client`.
    pub(crate) server: Option<ProxyTlsState>,
    pub(crate) limits: ProxyLimits,
    /// The listeners, in the order of the settings.
    pub(crate) listeners: Vec<ListenerSettings>,
    pub(crate) clock: ServiceClock,
    pub(crate) backends: BackendSet,
    /// The label and the backend of connections without a route.
    pub(crate) default_label: Arc<str>,
    pub(crate) default_backend: Option<Arc<Backend>>,
    /// True if OCSP responses are fetched.
    pub(crate) fetches_ocsp: bool,
    lasting_warnings: Vec<ProxyWarning>,
    ticket_keys: RotatingTickets,
}

/// The TLS of clients, and their routes.
pub(crate) struct ProxyTlsState {
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) routes: ProxyRoutes,
    tables: CertificateTables,
}

/// The parts of a proxy that all its threads share.
pub(crate) struct ProxyShared {
    pub(crate) accelerator: Accelerator,
    pub(crate) holders: KeyHolders,
    pub(crate) counters: ProxyCounters,
    pub(crate) connections: Arc<ConnectionLimits>,
    /// The connections whose client has not finished its handshake.
    pub(crate) handshakes: Arc<HandshakeAdmission>,
    pub(crate) kernel: KernelPaths,
    pub(crate) log: ConnectionLog,
    pub(crate) staples: Arc<StapleFetcher>,
    /// The settings in force for new connections. Old ones are dropped with their last connection.
    pub(crate) current: Current<ProxyState>,
}

/// The files that the settings name, with their stamps. Equal values mean that nothing has changed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct WatchedFiles {
    certificates: Vec<CertificateFiles>,
    others: Vec<Option<FileStamp>>,
}

impl ProxyResources {
    /// Tests the engines and opens the holders of keys.
    pub(crate) fn open(
        config: &ProxyConfig,
        engines: AcceleratorBuilder,
        clock: ServiceClock,
    ) -> Result<Self, ProxyServiceError> {
        let builder = config.engines.builder(engines);
        let holders = KeyHolders::open(config.cryptoserver.as_ref(), &config.devices, &builder)?;
        let accelerator = holders.register(builder).build()?;
        let limits = &config.limits;
        Ok(Self {
            provider: provider(&accelerator),
            keys: CertificateKeySources { accelerator, holders },
            backends: Arc::default(),
            handshakes: HandshakeLimits {
                max_under_way: limits.max_handshakes,
                max_waiting: limits.max_waiting_handshakes,
            },
            staples: Arc::new(StapleFetcher::new(clock.clone())),
            clock,
            without_valid_certificate: Arc::default(),
        })
    }

    /// Returns the certificates of a state that clients or backends reject now, and the revocation lists for which
    /// clients are refused.
    pub(crate) fn warnings(&self, state: &ProxyState) -> Vec<ProxyWarning> {
        let now_s = self.clock.signed_now_s();
        let tables = state.server.iter().flat_map(|server| server.tables.values());
        let served = tables.flat_map(|table| table.warnings(now_s));
        let backends = state.backends.iter().filter_map(|backend| backend.certificate_warning(now_s));
        let certificates = served.chain(backends).map(ProxyWarning::from);
        let lists = state.clients().flat_map(|clients| clients.rule.lists.warnings(now_s));
        let ocsp = state.certificates().filter(|_| state.fetches_ocsp).filter_map(|entry| {
            let (path, fault) = (entry.files.chain().to_owned(), entry.ocsp_fault.clone()?);
            Some(ProxyWarning::Ocsp { path, fault })
        });
        let lasting = state.lasting_warnings.iter().cloned();
        certificates.chain(lists.map(ProxyWarning::from)).chain(ocsp).chain(lasting).collect()
    }
}

impl ProxyState {
    /// Builds the state of some settings. Certificates and ticket keys that have not changed are taken from `before`.
    pub(crate) fn build(
        config: &ProxyConfig,
        resources: &ProxyResources,
        before: Option<&Self>,
    ) -> Result<Self, ProxyServiceError> {
        let provider = with_settings(&resources.provider, &config.tls);
        let tls = BackendTlsContext {
            provider: &provider,
            keys: &resources.keys,
            handshakes: resources.handshakes,
            max_handshake: config.limits.max_handshake(),
            max_session_s: max_session_seconds(config.tickets.lifetime_seconds),
        };
        let max_connect = config.limits.max_connect();
        let context = BackendContext { tls, max_connect, registry: &resources.backends };
        let backends = BackendSet::open(config, &context)?;
        let default_backend = config.default_backend().map(|backend| backends.find(backend)).transpose()?;
        let mut state = Self {
            server: None,
            limits: config.limits.clone(),
            listeners: config.listeners(),
            clock: resources.clock.clone(),
            default_label: Arc::from("default"),
            default_backend,
            backends,
            fetches_ocsp: config.certificates.fetch_ocsp,
            lasting_warnings: route_warnings(&config.route),
            ticket_keys: None,
        };
        if config.mode == ProxyMode::Server {
            state.add_server(config, resources, &provider, before)?;
        }
        Ok(state)
    }

    fn add_server(
        &mut self,
        config: &ProxyConfig,
        resources: &ProxyResources,
        provider: &Arc<CryptoProvider>,
        before: Option<&Self>,
    ) -> Result<(), ProxyServiceError> {
        let (ticket_keys, rotating) =
            build_ticket_keys(config, before.map_or(&None, |before| &before.ticket_keys))?;
        let shared = PolicyResources {
            provider,
            keys: &resources.keys,
            clock: &resources.clock,
            without_valid: &resources.without_valid_certificate,
        };
        let before = before.and_then(|before| before.server.as_ref());
        let tables = before.map(|before| &before.tables);
        let mut policies = PolicyBuilder::new(config, shared, tables, ticket_keys);
        let default_policy = Arc::new(policies.build_default()?);
        let mut routes = Vec::with_capacity(config.route.len());
        for (settings, number) in config.route.iter().zip(1..) {
            let policy = policies.build_route(settings, &default_policy);
            let policy =
                policy.map_err(|error| ProxyServiceError::Route { number, error: Box::new(error) })?;
            routes.push(self.route(settings, config, policy)?);
        }
        let server = Arc::clone(&default_policy.config);
        let acceptor = match before {
            Some(before) => before.acceptor.with_config(server),
            // The admission of connections limits those that wait.
            None => TlsAcceptor::new(server)
                .with_limits(HandshakeLimits { max_waiting: usize::MAX, ..resources.handshakes }),
        };
        let default_backend = self.default_backend.clone();
        let default_label = Arc::clone(&self.default_label);
        let routes = ProxyRoutes { routes, default_label, default_backend, default_policy };
        self.ticket_keys = rotating;
        self.server = Some(ProxyTlsState { acceptor, routes, tables: policies.into_tables() });
        Ok(())
    }

    fn route(
        &self,
        settings: &RouteSettings,
        config: &ProxyConfig,
        policy: Arc<TlsPolicy>,
    ) -> Result<ProxyRoute, ProxyServiceError> {
        Ok(ProxyRoute {
            label: settings.label().into(),
            names: settings.names.clone(),
            alpn: settings.alpn.clone(),
            // The settings were checked, so each name is that of a listener.
            listeners: settings.listeners.iter().filter_map(|name| config.listener_number(name)).collect(),
            backend: self.backends.find(config.backend_of_route(settings)?)?,
            policy,
        })
    }

    /// Returns the labels of the routes.
    pub(crate) fn route_labels(&self) -> impl Iterator<Item = &str> {
        let routes = self.server.iter().flat_map(|server| server.routes.labels());
        routes.chain([&*self.default_label])
    }

    /// Returns the labels of the certificates.
    pub(crate) fn certificate_labels(&self) -> impl Iterator<Item = &str> {
        self.certificates().map(|entry| &*entry.label)
    }

    /// Returns the certificates in the order of their files, those of routes behind the others.
    pub(crate) fn certificates(&self) -> impl Iterator<Item = &Arc<CertificateEntry>> {
        let tables = self.server.iter().flat_map(|server| server.tables.values());
        tables.flat_map(|table| table.entries())
    }

    /// Returns the rules for certificates of clients.
    pub(crate) fn clients(&self) -> impl Iterator<Item = &Arc<ClientNameVerifier>> {
        let policies = self.server.iter().flat_map(|server| server.routes.policies());
        policies.filter_map(|policy| policy.clients.as_ref())
    }

    /// Returns true if the connections of this address to a listener begin with a PROXY header.
    pub(crate) fn expects_header(&self, listener: usize, address: Option<IpAddr>) -> bool {
        let networks =
            self.listeners.get(listener).map_or(&[][..], |listener| listener.proxy_protocol_from.as_slice());
        address.is_some_and(|address| networks.iter().any(|network| network.contains(address)))
    }

    pub(crate) fn maxima(&self) -> ConnectionMaxima {
        let limits = &self.limits;
        ConnectionMaxima { all: limits.max_connections, by_address: limits.max_connections_per_address }
    }
}

impl ProxyShared {
    pub(crate) fn new(resources: &ProxyResources, kernel: KernelPaths, state: ProxyState) -> Self {
        let limits = &state.limits;
        let max_open = limits.max_handshakes.saturating_add(limits.max_waiting_handshakes);
        Self {
            // Connections of one address have a limit already.
            handshakes: Arc::new(HandshakeAdmission::new(max_open, usize::MAX)),
            accelerator: resources.keys.accelerator.clone(),
            holders: resources.keys.holders.clone(),
            kernel,
            staples: Arc::clone(&resources.staples),
            counters: ProxyCounters::new(Arc::clone(&resources.without_valid_certificate)),
            connections: Arc::default(),
            log: ConnectionLog::default(),
            current: Current::new(state),
        }
    }
}

impl WatchedFiles {
    /// Reads the stamps. A directory that cannot be read counts as empty: the reload reports it.
    pub(crate) fn read(config: &ProxyConfig) -> Self {
        let default = config.certificates.path.iter().filter(|_| config.mode == ProxyMode::Server);
        let sources: BTreeSet<_> =
            default.chain(config.route.iter().flat_map(|route| &route.certificates)).collect();
        let list = |path: &PathBuf| list_certificates(&CertificateSource { path: path.clone() });
        let certificates = sources.into_iter().flat_map(|path| list(path).unwrap_or_default()).collect();
        let clients = config.clients.iter().chain(config.route.iter().flat_map(|route| &route.clients));
        let paths = config.tickets.keys.iter().chain(clients.flat_map(ClientSettings::files));
        let backends = config.backends().flat_map(|backend| &backend.tls).flat_map(|tls| {
            [Some(&tls.authorities), tls.certificate.as_ref(), tls.private_key.as_ref()].into_iter().flatten()
        });
        Self { certificates, others: paths.chain(backends).map(|path| FileStamp::read(path).ok()).collect() }
    }
}

/// Returns a warning for each route that never matches, because an earlier one matches all of its connections.
fn route_warnings(routes: &[RouteSettings]) -> Vec<ProxyWarning> {
    let warning = |(index, route): (usize, &RouteSettings)| {
        let earlier = routes[..index].iter().position(|earlier| earlier.covers(route))?;
        Some(ProxyWarning::Route { number: index + 1, earlier: earlier + 1 })
    };
    routes.iter().enumerate().filter_map(warning).collect()
}

impl fmt::Debug for ProxyShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyShared").field("counters", &self.counters).finish_non_exhaustive()
    }
}
