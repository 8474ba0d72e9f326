//! The settings file `proxy.toml`.

mod backends;
mod checks;
mod listeners;
mod log;
mod routes;
mod values;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock_hsm::HsmSettings;
use oarlock_network::IpNetwork;
use oarlock_service_kit::EngineSettings;
use oarlock_service_kit::settings::{SettingsError, expect, expect_paths, read_settings};
use oarlock_sockets::ChainLimit;
use oarlock_wire::ServerSettings;
use serde::Deserialize;

use crate::certificate::UnknownNamePolicy;
use crate::clients::{ExpiredCrlRule, NamePattern};

use self::backends::check_names;
pub use backends::{BackendSettings, BackendTlsSettings, BalanceRule, EndpointSettings, RouteBackend};
pub use checks::{CheckSettings, HealthCheckKind};
pub use listeners::{LISTEN_NAME, ListenerSettings};
pub use log::{LineFormat, LogSettings, LoggedConnections};
pub use routes::RouteSettings;
pub use values::{BackendAddress, KeyGroup, ListenAddress, TlsCipher, TlsVersion};

/// All settings of the proxy.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProxyConfig {
    /// The mode: TLS of clients is terminated, or plain connections get TLS.
    pub mode: ProxyMode,
    /// The sockets.
    pub listen: ProxySocketSettings,
    /// Sockets with names, to which routes may be restricted.
    pub listener: Vec<ListenerSettings>,
    /// The backends. The one without a name serves connections without a route.
    #[serde(deserialize_with = "backends::one_or_several")]
    pub backend: Vec<BackendSettings>,
    /// The backends of names and protocols. The first route that matches counts.
    pub route: Vec<RouteSettings>,
    /// The directory of certificates, and the choice among them.
    pub certificates: CertificateSettings,
    /// The settings of TLS.
    pub tls: TlsSettings,
    /// The session tickets.
    pub tickets: TicketSettings,
    /// The certificates of clients, if they are asked for.
    pub clients: Option<ClientSettings>,
    /// The bounds of connections, handshakes and time.
    pub limits: ProxyLimits,
    /// The log of connections.
    pub log: LogSettings,
    /// The hand-over of long transfers to the kernel.
    pub kernel: KernelSettings,
    /// The cryptoserver that holds keys, if there is one.
    pub cryptoserver: Option<ServerSettings>,
    /// The devices that hold keys.
    #[serde(rename = "hsm")]
    pub devices: Vec<HsmSettings>,
    /// The engines that may be used, and their threads.
    pub engines: EngineSettings,
}

/// The mode of the proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProxyMode {
    /// Clients connect with TLS.
    #[default]
    Server,
    /// Clients connect without TLS, and the backend has TLS.
    Client,
}

/// The sockets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProxySocketSettings {
    /// The addresses: `ADDRESS:PORT`, `:PORT`, `unix:PATH`, or `systemd` for the sockets of a socket unit. Default:
    /// `:443`, unless there are sockets with names.
    pub sockets: Option<Vec<ListenAddress>>,
    /// True if another process may listen at the same TCP ports. The system then shares connections between both.
    pub share_ports: bool,
    /// The permissions of UNIX sockets in octal digits.
    pub unix_mode: String,
    /// The networks whose connections begin with a PROXY header, of version 1 or 2.
    pub proxy_protocol_from: Vec<IpNetwork>,
    /// The number of threads that serve connections. Default: the number of cores.
    pub threads: Option<usize>,
    /// The HTTP address for Prometheus metrics and a health check. Anyone who reaches it can read them.
    pub metrics: Option<SocketAddr>,
}

/// The certificates.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CertificateSettings {
    /// The directory of certificates and keys, or one file with both.
    pub path: Option<PathBuf>,
    /// The name of the default certificate's file, without its ending. Default: the first file.
    pub default: Option<String>,
    /// The answer to clients that ask for an unknown name.
    pub unknown_names: UnknownNamePolicy,
    /// The interval in seconds at which files are checked for changes. 0 turns the check off.
    pub reload_seconds: u64,
    /// True if OCSP responses are fetched for certificates that name a responder and have no response in a file.
    pub fetch_ocsp: bool,
}

/// TLS of clients.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsSettings {
    /// The oldest version.
    pub min_version: TlsVersion,
    /// The newest version.
    pub max_version: TlsVersion,
    /// The application protocols, the preferred one first. Default: none is negotiated.
    pub alpn: Vec<String>,
    /// The groups of key exchange, the preferred one first.
    pub groups: Vec<KeyGroup>,
    /// The ciphers, the preferred one first. The order of the client does not count.
    pub ciphers: Vec<TlsCipher>,
}

/// Session tickets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TicketSettings {
    /// True if clients get tickets.
    pub enabled: bool,
    /// The time in seconds after which a key is replaced. It opens tickets for as long again.
    pub lifetime_seconds: u32,
    /// The number of tickets that a client of TLS 1.3 gets.
    pub count: usize,
    /// The file of keys that several proxies share. The first key seals, all open.
    pub keys: Option<PathBuf>,
}

/// Certificates of clients.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSettings {
    /// The authorities of clients, in PEM.
    pub authorities: PathBuf,
    /// The allowed names. Default: all names.
    #[serde(default)]
    pub allowed_names: Vec<NamePattern>,
    /// The files of revocation lists, in PEM or DER. Default: none, and no certificate counts as
    /// revoked.
    #[serde(default)]
    pub crl_files: Vec<PathBuf>,
    /// The use of lists whose end has passed.
    #[serde(default)]
    pub expired_crls: ExpiredCrlRule,
    /// True if a client without a certificate is refused.
    #[serde(default = "is_required")]
    pub required: bool,
    /// The maximum certificates in a client's chain, its own one included, 1 to 32. Longer chains are refused before
    /// any of their signatures is checked.
    #[serde(default = "max_chain_certificates")]
    pub max_chain_certificates: usize,
}

fn max_chain_certificates() -> usize {
    ChainLimit::DEFAULT_MAX_CERTIFICATES
}

fn is_required() -> bool {
    true
}

/// The limits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProxyLimits {
    /// The maximum number of connections.
    pub max_connections: usize,
    /// The maximum number of connections of an address; for IPv6, of a network of 64 bits. 0 means no limit.
    pub max_connections_per_address: usize,
    /// The maximum number of open handshakes.
    pub max_handshakes: usize,
    /// The maximum number of handshakes that wait. Further connections are refused at once.
    pub max_waiting_handshakes: usize,
    /// The time limit of a PROXY header and a handshake.
    pub max_handshake_seconds: u64,
    /// The time limit of connecting to a backend.
    pub max_connect_seconds: u64,
    /// The time after which a connection without traffic ends.
    pub max_idle_seconds: u64,
    /// The time that connections have to end when the proxy stops.
    pub max_drain_seconds: u64,
}

/// The hand-over to the kernel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KernelSettings {
    /// The rule for the hand-over of long transfers.
    pub hand_over: HandOverRule,
    /// The number of bytes after which a transfer counts as long.
    pub after_bytes: u64,
    /// True if the kernel opens the client's records too. False by default: it costs no less than in user space.
    pub receives: bool,
}

/// The rule for the hand-over of long transfers to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandOverRule {
    /// All records are made in user space.
    Never,
    /// The kernel gets a transfer if it is predicted to cost less, by costs that are measured at the start.
    #[default]
    IfCheaper,
    /// The kernel gets every long transfer that it can take.
    Always,
}

impl Default for ProxySocketSettings {
    fn default() -> Self {
        Self {
            sockets: None,
            share_ports: false,
            unix_mode: listeners::unix_mode(),
            proxy_protocol_from: Vec::new(),
            threads: None,
            metrics: None,
        }
    }
}

impl Default for CertificateSettings {
    fn default() -> Self {
        Self {
            path: None,
            default: None,
            unknown_names: UnknownNamePolicy::default(),
            reload_seconds: 10,
            fetch_ocsp: true,
        }
    }
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self {
            min_version: TlsVersion::Tls12,
            max_version: TlsVersion::Tls13,
            alpn: Vec::new(),
            groups: KeyGroup::ALL.to_vec(),
            ciphers: TlsCipher::ALL.to_vec(),
        }
    }
}

impl Default for TicketSettings {
    fn default() -> Self {
        Self { enabled: true, lifetime_seconds: 6 * 60 * 60, count: 2, keys: None }
    }
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self {
            max_connections: 10_000,
            max_connections_per_address: 1_000,
            max_handshakes: 1_024,
            max_waiting_handshakes: 4_096,
            max_handshake_seconds: 10,
            max_connect_seconds: 10,
            max_idle_seconds: 600,
            max_drain_seconds: 30,
        }
    }
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self { hand_over: HandOverRule::default(), after_bytes: 64 << 10, receives: false }
    }
}

impl ProxyConfig {
    /// Reads and checks a file. Relative paths in it start at its directory.
    ///
    /// # Errors
    /// The file cannot be read, or a setting is not valid.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let config = read_settings(path, Self::resolve_paths)?;
        config.check()?;
        Ok(config)
    }

    fn resolve_paths(&mut self, base: &Path) {
        let certificates = self.certificates.path.iter_mut().chain(&mut self.tickets.keys);
        let certificates = certificates.chain(&mut self.log.file);
        self.clients.iter_mut().for_each(|clients| clients.resolve_paths(base));
        self.route.iter_mut().for_each(|route| route.resolve_paths(base));
        self.cryptoserver.iter_mut().for_each(|server| server.resolve_paths(base));
        self.devices.iter_mut().for_each(|device| device.resolve_paths(base));
        for path in certificates {
            *path = base.join(&*path);
        }
        let routes = self.route.iter_mut().filter_map(|route| match &mut route.backend {
            RouteBackend::Inline(backend) => Some(&mut **backend),
            RouteBackend::Named(_) => None,
        });
        self.backend.iter_mut().chain(routes).for_each(|backend| backend.resolve_paths(base));
    }

    /// Checks the settings without touching any file or socket.
    ///
    /// # Errors
    /// The first setting that is not valid.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.check_key_paths()?;
        HsmSettings::check_all(&self.devices)?;
        check_names(&self.backend)?;
        self.backends().try_for_each(BackendSettings::check)?;
        self.route.iter().try_for_each(|route| self.backend_of_route(route).map(drop))?;
        self.check_mode()?;
        self.check_listeners()?;
        self.check_routes()?;
        let threads = self.threads();
        expect("[listen] threads", "1 to 1024", (1..=1_024).contains(&threads), threads)?;
        self.check_protocols()?;
        self.check_numbers()
    }

    fn check_mode(&self) -> Result<(), SettingsError> {
        let default = self.default_backend();
        let has_backend = default.is_some() || !self.route.is_empty();
        let expected = "an address in a backend without a name, or at least one [[route]]";
        expect("[backend]", expected, has_backend, "nothing")?;
        match self.mode {
            ProxyMode::Server => {
                let has_certificates = self.certificates.path.is_some();
                expect("[certificates] path", "a directory or a file", has_certificates, "nothing")
            }
            ProxyMode::Client => {
                let tls = default.and_then(|backend| backend.tls.as_ref());
                let expected = "TLS to the backend, because mode is \"client\"";
                expect("[backend.tls]", expected, tls.is_some(), "nothing")?;
                let expected = "none in the mode \"client\", whose clients send no name";
                expect("[[route]]", expected, self.route.is_empty(), self.route.len())
            }
        }
    }

    fn check_protocols(&self) -> Result<(), SettingsError> {
        let tls = &self.tls;
        let is_range = tls.min_version <= tls.max_version;
        expect("[tls] min_version", "not above max_version", is_range, tls.min_version)?;
        expect("[tls] groups", "at least one", !tls.groups.is_empty(), "none")?;
        expect("[tls] ciphers", "at least one", !tls.ciphers.is_empty(), "none")?;
        let backends = self.backends().flat_map(|backend| &backend.tls).flat_map(|tls| &tls.alpn);
        let offers = self.route.iter().flat_map(|route| &route.offer_alpn).flatten();
        let routes = self.route.iter().flat_map(|route| &route.alpn).chain(offers);
        for protocol in tls.alpn.iter().chain(backends).chain(routes) {
            // RFC 7301 3.1.
            let is_protocol = (1..=255).contains(&protocol.len());
            expect("alpn", "names of 1 to 255 bytes", is_protocol, format_args!("{protocol:?}"))?;
        }
        Ok(())
    }

    fn check_numbers(&self) -> Result<(), SettingsError> {
        let limits = &self.limits;
        for (field, found) in [
            ("[limits] max_connections", limits.max_connections as u64),
            ("[limits] max_handshakes", limits.max_handshakes as u64),
            ("[limits] max_handshake_seconds", limits.max_handshake_seconds),
            ("[limits] max_connect_seconds", limits.max_connect_seconds),
            ("[limits] max_idle_seconds", limits.max_idle_seconds),
            ("[tickets] lifetime_seconds", self.tickets.lifetime_seconds.into()),
        ] {
            expect(field, "1 or more", found > 0, found)?;
        }
        // RFC 8446 4.6.1.
        let lifetime = self.tickets.lifetime_seconds;
        expect("[tickets] lifetime_seconds", "at most 604800, a week", lifetime <= 604_800, lifetime)?;
        let count = self.tickets.count;
        expect("[tickets] count", "1 to 16", (1..=16).contains(&count), count)?;
        let longest = self.clients.as_ref().map_or(1, |clients| clients.max_chain_certificates);
        check_chain("[clients] max_chain_certificates", longest)?;
        self.log.check()?;
        self.engines.check()
    }

    /// Checks that no key was pasted in place of a file name, because messages quote file names.
    fn check_key_paths(&self) -> Result<(), SettingsError> {
        let server = self.cryptoserver.iter().flat_map(|server| &server.private_key);
        let backends = self.backends().flat_map(|backend| &backend.tls).flat_map(|tls| &tls.private_key);
        let certificates = self.certificates.path.iter().map(|path| ("[certificates] path", path));
        let routes = self.route.iter().flat_map(|route| &route.certificates);
        let certificates = certificates.chain(routes.map(|path| ("[[route]] certificates", path)));
        let tickets = self.tickets.keys.iter().map(|path| ("[tickets] keys", path));
        let server = server.map(|path| ("[cryptoserver] private_key", path));
        let backends = backends.map(|path| ("[backend.tls] private_key", path));
        expect_paths(certificates.chain(tickets).chain(server).chain(backends))
    }

    /// Returns the backends of the settings, those of routes included.
    pub(crate) fn backends(&self) -> impl Iterator<Item = &BackendSettings> {
        let routes = self.route.iter().filter_map(|route| match &route.backend {
            RouteBackend::Inline(backend) => Some(&**backend),
            RouteBackend::Named(_) => None,
        });
        self.backend.iter().chain(routes)
    }

    /// Returns the settings of the backend of connections without a route.
    pub(crate) fn default_backend(&self) -> Option<&BackendSettings> {
        self.backend.iter().find(|backend| backend.name.is_none())
    }

    /// Returns the settings of a route's backend.
    pub(crate) fn backend_of_route<'c>(
        &'c self,
        route: &'c RouteSettings,
    ) -> Result<&'c BackendSettings, SettingsError> {
        match &route.backend {
            RouteBackend::Inline(backend) => {
                let expected = "none, because the route refers to no name";
                let found = backend.name.as_deref().unwrap_or_default();
                expect("[route.backend] name", expected, backend.name.is_none(), found)?;
                Ok(backend)
            }
            RouteBackend::Named(name) => {
                let named = self.backend.iter().find(|backend| backend.name.as_ref() == Some(name));
                named.ok_or_else(|| SettingsError::Value {
                    field: "[[route]] backend",
                    expected: "the name of a [[backend]]",
                    found: format!("{name:?}"),
                })
            }
        }
    }

    /// Returns the addresses of the backends.
    pub fn backend_addresses(&self) -> impl Iterator<Item = BackendAddress> {
        self.backends().flat_map(BackendSettings::endpoints).map(|endpoint| endpoint.address)
    }

    /// Returns the number of threads that serve connections.
    #[must_use]
    pub fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.listen.threads.unwrap_or_else(cores)
    }

    /// Returns the names of the sections whose changes need a restart.
    pub(crate) fn fixed_changes(&self, other: &Self) -> Vec<&'static str> {
        let pairs = [
            ("mode", self.mode == other.mode),
            ("listen", self.listen == other.listen),
            ("listener", self.listener == other.listener),
            ("kernel", self.kernel == other.kernel),
            ("cryptoserver", self.cryptoserver == other.cryptoserver),
            ("hsm", self.devices == other.devices),
            ("engines", self.engines == other.engines),
            ("limits.max_handshakes", self.limits.max_handshakes == other.limits.max_handshakes),
            (
                "limits.max_waiting_handshakes",
                self.limits.max_waiting_handshakes == other.limits.max_waiting_handshakes,
            ),
            ("limits.max_drain_seconds", self.limits.max_drain_seconds == other.limits.max_drain_seconds),
        ];
        pairs.into_iter().filter(|(_, is_equal)| !is_equal).map(|(name, _)| name).collect()
    }
}

impl ProxyConfig {
    /// Returns these settings with the sections of `running` that only a restart changes.
    pub(crate) fn with_fixed_sections(self, running: &Self) -> Self {
        let limits = ProxyLimits {
            max_handshakes: running.limits.max_handshakes,
            max_waiting_handshakes: running.limits.max_waiting_handshakes,
            max_drain_seconds: running.limits.max_drain_seconds,
            ..self.limits
        };
        Self {
            mode: running.mode,
            listen: running.listen.clone(),
            listener: running.listener.clone(),
            kernel: running.kernel.clone(),
            cryptoserver: running.cryptoserver.clone(),
            devices: running.devices.clone(),
            engines: running.engines.clone(),
            limits,
            ..self
        }
    }
}

fn check_chain(field: &'static str, longest: usize) -> Result<(), SettingsError> {
    expect(field, "1 to 32", (1..=32).contains(&longest), longest)
}

impl ClientSettings {
    fn resolve_paths(&mut self, base: &Path) {
        for path in std::iter::once(&mut self.authorities).chain(&mut self.crl_files) {
            *path = base.join(&*path);
        }
    }

    /// Returns the files of the settings.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.authorities).chain(&self.crl_files)
    }
}

impl ProxyLimits {
    pub(crate) fn max_handshake(&self) -> Duration {
        Duration::from_secs(self.max_handshake_seconds)
    }

    pub(crate) fn max_connect(&self) -> Duration {
        Duration::from_secs(self.max_connect_seconds)
    }

    pub(crate) fn max_idle(&self) -> Duration {
        Duration::from_secs(self.max_idle_seconds)
    }

    pub(crate) fn max_drain(&self) -> Duration {
        Duration::from_secs(self.max_drain_seconds)
    }
}

#[cfg(test)]
mod tests;
