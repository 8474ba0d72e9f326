//! The settings in force and the resources that outlive them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock::{Accelerator, AcceleratorBuilder};
use oarlock_files::FileStamp;
use oarlock_network::{HandshakeAdmission, HostName, HostNamePattern, IpNetwork};
use oarlock_rustls::{HandshakeLimits, TlsAcceptor, provider};
use oarlock_service_kit::{Current, KeyHolders, ServiceClock};
use rustls::crypto::CryptoProvider;

use crate::admission::{ConnectionLimits, ConnectionMaxima};
use crate::backend::{Backend, BackendContext, BackendRegistry, BackendSet, BackendTlsContext};
use crate::certificate::{
    CertificateFiles, CertificateKeySources, CertificateResolver, CertificateSource, CertificateTable,
    list_certificates,
};
use crate::clients::ClientNameVerifier;
use crate::config::{ProxyConfig, ProxyLimits, ProxyMode};
use crate::counters::ProxyCounters;
use crate::error::ProxyServiceError;
use crate::kernel::KernelPaths;
use crate::log::ConnectionLog;
use crate::tickets::{TicketPolicy, max_session_seconds};
use crate::tls::{RotatingTickets, build_config, build_tickets, read_clients, with_settings};
use crate::warning::ProxyWarning;

/// The resources that outlive the settings.
pub(crate) struct ProxyResources {
    pub(crate) keys: CertificateKeySources,
    /// The health of backends.
    pub(crate) backends: Arc<BackendRegistry>,
    provider: CryptoProvider,
    handshakes: HandshakeLimits,
    clock: ServiceClock,
    /// The number of handshakes for which no certificate was valid.
    without_valid_certificate: Arc<AtomicU64>,
}

/// The settings in force. They never change: a reload builds new ones beside them.
pub(crate) struct ProxyState {
    /// The acceptor of clients; None in the mode `client`.
    pub(crate) acceptor: Option<TlsAcceptor>,
    pub(crate) table: Option<Arc<CertificateTable>>,
    /// The choice of certificates for clients.
    pub(crate) certificates: Option<Arc<CertificateResolver>>,
    pub(crate) limits: ProxyLimits,
    pub(crate) header_networks: Vec<IpNetwork>,
    pub(crate) clock: ServiceClock,
    pub(crate) backends: BackendSet,
    default_backend: Option<Arc<Backend>>,
    default_label: Arc<str>,
    routes: Vec<BackendRoute>,
    /// The rules for certificates of clients, if these are asked for.
    pub(crate) clients: Option<Arc<ClientNameVerifier>>,
    /// The tickets of clients, if they get any.
    pub(crate) tickets: Option<Arc<TicketPolicy>>,
    ticket_keys: RotatingTickets,
}

struct BackendRoute {
    /// The route in logs and metrics.
    label: Arc<str>,
    names: Vec<HostNamePattern>,
    alpn: Vec<String>,
    backend: Arc<Backend>,
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
            clock,
            without_valid_certificate: Arc::default(),
        })
    }

    /// Returns the certificates of a state that clients or backends reject now, and the revocation lists for which
    /// clients are refused.
    pub(crate) fn warnings(&self, state: &ProxyState) -> Vec<ProxyWarning> {
        let now_s = self.clock.signed_now_s();
        let served = state.table.iter().flat_map(|table| table.warnings(now_s));
        let backends = state.backends.iter().filter_map(|backend| backend.certificate_warning(now_s));
        let certificates = served.chain(backends);
        let lists = state.clients.iter().flat_map(|clients| clients.rule.lists.warnings(now_s));
        certificates.map(ProxyWarning::from).chain(lists.map(ProxyWarning::from)).collect()
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
        let routes = config.route.iter().map(|route| {
            let (names, alpn) = (route.names.clone(), route.alpn.clone());
            let (label, backend) = (route.label().into(), backends.find(config.backend_of_route(route)?)?);
            Ok(BackendRoute { label, names, alpn, backend })
        });
        let routes = routes.collect::<Result<Vec<_>, ProxyServiceError>>()?;
        let mut state = Self {
            acceptor: None,
            table: None,
            certificates: None,
            limits: config.limits.clone(),
            header_networks: config.listen.proxy_protocol_from.clone(),
            clock: resources.clock.clone(),
            default_backend: config.default_backend().map(|backend| backends.find(backend)).transpose()?,
            backends,
            default_label: Arc::from("default"),
            routes,
            clients: None,
            tickets: None,
            ticket_keys: None,
        };
        if config.mode == ProxyMode::Server {
            state.add_tls(config, resources, provider, before)?;
        }
        Ok(state)
    }

    fn add_tls(
        &mut self,
        config: &ProxyConfig,
        resources: &ProxyResources,
        provider: Arc<CryptoProvider>,
        before: Option<&Self>,
    ) -> Result<(), ProxyServiceError> {
        let settings = &config.certificates;
        let table = Arc::new(CertificateTable::load(
            &source(config),
            settings.default.as_deref(),
            settings.unknown_names,
            &resources.keys,
            before.and_then(|before| before.table.as_deref()),
        )?);
        let clients = read_clients(config, &provider)?;
        let kept = before.map_or(&None, |before| &before.ticket_keys);
        let clock = &resources.clock;
        (self.tickets, self.ticket_keys) = build_tickets(config, clients.as_ref(), clock, kept)?;
        let certificates = Arc::new(CertificateResolver {
            table: Arc::clone(&table),
            clock: clock.clone(),
            without_valid: Arc::clone(&resources.without_valid_certificate),
        });
        let server = build_config(config, provider, Arc::clone(&certificates), clients.as_ref())?;
        let acceptor = match before.and_then(|before| before.acceptor.as_ref()) {
            Some(acceptor) => acceptor.with_config(server),
            // The admission of connections limits those that wait.
            None => TlsAcceptor::new(server)
                .with_limits(HandshakeLimits { max_waiting: usize::MAX, ..resources.handshakes }),
        };
        (self.acceptor, self.table, self.clients) = (Some(acceptor), Some(table), clients);
        self.certificates = Some(certificates);
        Ok(())
    }

    /// Returns the backend for a name and a protocol, as the handshake has found them, and the label of its route.
    pub(crate) fn find_backend(
        &self,
        name: Option<&HostName<'_>>,
        alpn: Option<&[u8]>,
    ) -> Option<(&Arc<str>, &Arc<Backend>)> {
        let route = self.routes.iter().find(|route| route.matches(name, alpn));
        let default = self.default_backend.as_ref().map(|backend| (&self.default_label, backend));
        route.map(|route| (&route.label, &route.backend)).or(default)
    }

    /// Returns the labels of the routes.
    pub(crate) fn route_labels(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().map(|route| &route.label).chain([&self.default_label]).map(|label| &**label)
    }

    /// Returns the labels of the certificates.
    pub(crate) fn certificate_labels(&self) -> impl Iterator<Item = &str> {
        self.table.iter().flat_map(|table| table.entries()).map(|entry| &*entry.label)
    }

    /// Returns true if the connections of this address begin with a PROXY header.
    pub(crate) fn expects_header(&self, address: Option<std::net::IpAddr>) -> bool {
        address.is_some_and(|address| self.header_networks.iter().any(|network| network.contains(address)))
    }

    pub(crate) fn maxima(&self) -> ConnectionMaxima {
        let limits = &self.limits;
        ConnectionMaxima { all: limits.max_connections, by_address: limits.max_connections_per_address }
    }
}

impl BackendRoute {
    fn matches(&self, name: Option<&HostName<'_>>, alpn: Option<&[u8]>) -> bool {
        let has_name = |wanted: &HostNamePattern| name.is_some_and(|name| wanted.fits(name));
        let has_protocol = |wanted: &String| alpn == Some(wanted.as_bytes());
        (self.names.is_empty() || self.names.iter().any(has_name))
            && (self.alpn.is_empty() || self.alpn.iter().any(has_protocol))
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
        let certificates = match config.mode {
            ProxyMode::Server => list_certificates(&source(config)).unwrap_or_default(),
            ProxyMode::Client => Vec::new(),
        };
        let clients = config
            .clients
            .iter()
            .flat_map(|clients| std::iter::once(&clients.authorities).chain(&clients.crl_files));
        let paths = config.tickets.keys.iter().chain(clients);
        let backends = config.backends().flat_map(|backend| &backend.tls).flat_map(|tls| {
            [Some(&tls.authorities), tls.certificate.as_ref(), tls.private_key.as_ref()].into_iter().flatten()
        });
        Self { certificates, others: paths.chain(backends).map(|path| FileStamp::read(path).ok()).collect() }
    }
}

fn source(config: &ProxyConfig) -> CertificateSource {
    let path = config.certificates.path.as_deref().unwrap_or(Path::new(""));
    CertificateSource { path: path.to_owned() }
}

impl fmt::Debug for ProxyShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyShared").field("counters", &self.counters).finish_non_exhaustive()
    }
}
