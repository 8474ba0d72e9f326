//! The configuration file `oarlock.toml`.

use std::collections::BTreeMap;
use std::iter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock::ConfirmRule;
use oarlock_hsm::{HsmSettings, HsmSettingsError, Pkcs11Uri, UriError};
use oarlock_key_files::is_key_name;
use oarlock_service_kit::EngineSettings;
use oarlock_service_kit::settings::{SettingsError, expect, expect_paths, parse_unix_mode, read_settings};
use oarlock_sockets::ChainLimit;
use oarlock_wire::MessageLimits;
use serde::Deserialize;

use crate::buffers::{CONNECTION_BYTES, GUARANTEED_BYTES, SEND_BUFFER_BYTES, WINDOW_BYTES};
use crate::client_pattern::{ClientPattern, ClientPatternError};
use crate::operations::{nearest_names, operation_names};
use crate::pattern::Pattern;

/// The configuration of a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CryptoserverConfig {
    /// The addresses at which the server listens.
    pub listen: ListenConfig,
    /// The certificates; required if `listen.tcp` is set.
    pub tls: Option<TlsConfig>,
    /// The resident keys.
    #[serde(default)]
    pub keys: KeysConfig,
    /// The grants to use resident keys.
    #[serde(default, rename = "grant")]
    pub grants: Vec<GrantConfig>,
    /// The devices that hold keys.
    #[serde(default, rename = "hsm")]
    pub devices: Vec<HsmSettings>,
    /// The audit log, if there is one.
    pub audit: Option<AuditConfig>,
    /// The bounds of what clients may use.
    #[serde(default)]
    pub limits: ServerLimits,
    /// The engines that may be used, and their threads.
    #[serde(default)]
    pub engines: EnginesConfig,
}

/// The addresses at which a server listens. At least one of `tcp`, `plaintext` and `unix` is required.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListenConfig {
    /// The address for gRPC under mutual TLS 1.3.
    pub tcp: Option<SocketAddr>,
    /// The address for gRPC without protection. Only a loopback address is allowed, because every process of the
    /// machine can connect.
    pub plaintext: Option<SocketAddr>,
    /// The path of a UNIX socket, whose clients are known by their credentials.
    pub unix: Option<PathBuf>,
    /// The permissions of the UNIX socket, in octal.
    pub unix_mode: Option<String>,
    /// The address for metrics and the health probe over HTTP. Every client that reaches it may read them.
    pub metrics: Option<SocketAddr>,
    /// The address of the dashboard over HTTP: one page for browsers. Every client that reaches it may read it.
    pub dashboard: Option<SocketAddr>,
}

/// The files of certificates and keys for TLS, in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// The file of the server's chain, its own certificate first.
    pub certificate: PathBuf,
    /// The file of the server's private key.
    pub private_key: PathBuf,
    /// The file of the authorities that certify clients.
    pub client_ca: PathBuf,
    /// The maximum certificates in a client's chain, its own one included, 1 to 32. Longer chains are refused before
    /// any of their signatures is checked.
    #[serde(default = "max_chain_certificates")]
    pub max_chain_certificates: usize,
}

fn max_chain_certificates() -> usize {
    ChainLimit::DEFAULT_MAX_CERTIFICATES
}

/// The files of resident keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeysConfig {
    /// A directory of PEM or DER files, each named like its key. It is read again when a file changes. Files that end
    /// in `.age` are sealed.
    pub directory: Option<PathBuf>,
    /// A file with the identities that open sealed files, as `age-keygen` writes it.
    pub identity: Option<PathBuf>,
    /// A file with the passphrase of encrypted keys in its first line.
    pub passphrase_file: Option<PathBuf>,
    /// A file of symmetric keys with their policies, one JSON object per line, as for `oarlock records --keys`.
    pub records: Option<PathBuf>,
    /// The first bytes of counted nonces, in 8 hexadecimal digits. It overrides the file of symmetric keys, and must
    /// differ between servers with the same file.
    pub nonce_field: Option<NonceField>,
    /// The keys of devices by name: URIs of RFC 7512, with `object`, `id` or both, and with `token` if several devices
    /// have such an object.
    pub hsm: BTreeMap<String, String>,
}

impl KeysConfig {
    /// Returns the keys of devices.
    ///
    /// # Errors
    /// A name or a URI is not valid, or no device has the token.
    pub(crate) fn device_keys(
        &self,
        devices: &[HsmSettings],
    ) -> Result<BTreeMap<String, Pkcs11Uri>, ConfigError> {
        self.hsm.iter().map(|(name, text)| Ok((name.clone(), device_key(name, text, devices)?))).collect()
    }
}

fn device_key(name: &str, text: &str, devices: &[HsmSettings]) -> Result<Pkcs11Uri, ConfigError> {
    let fault = |reason: String| ConfigError::DeviceKey { name: name.to_owned(), reason };
    // The process of a device serves its keys under their URIs.
    if !is_key_name(name) && name != text {
        return Err(fault(
            "expected a name of letters, digits, '.', '-' and '_', at most 64 of them".to_owned(),
        ));
    }
    let uri: Pkcs11Uri = text.parse().map_err(|error: UriError| fault(error.to_string()))?;
    if uri.object.is_none() && uri.id.is_none() {
        return Err(fault("expected a URI with `object` or `id`".to_owned()));
    }
    match devices.iter().any(|device| device.may_be_named_by(&uri)) {
        true => Ok(uri),
        false => Err(fault("no section [[hsm]] has its token".to_owned())),
    }
}

/// The first bytes of the counted nonces of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct NonceField(pub [u8; 4]);

impl TryFrom<String> for NonceField {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let field = oarlock_records::parse_nonce_field(&text);
        field.map(Self).ok_or("nonce_field: expected 8 hexadecimal digits, such as \"00000001\"")
    }
}

/// A grant for clients to use keys. An operation that no grant allows is refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantConfig {
    /// The names of keys, with `*` for any characters.
    pub keys: Vec<Pattern>,
    /// The clients, in the form that `ClientPattern` parses.
    pub clients: Vec<Pattern>,
    /// The names of schemes and tasks, such as `rsa-pkcs1-sha256-sign` or `tdes2-cbc-encrypt`, with `*` for any
    /// characters.
    #[serde(default = "everything")]
    pub schemes: Vec<Pattern>,
    /// The maximum operations per second under this grant, for all its clients and keys together.
    pub rate: Option<u32>,
}

fn everything() -> Vec<Pattern> {
    vec![Pattern::from("*")]
}

/// The audit log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditConfig {
    /// The file, to which one JSON object per line is appended.
    pub file: PathBuf,
    /// The reaction to a file that cannot be written.
    #[serde(default)]
    pub on_failure: AuditFailure,
    /// The maximum bytes of entries that wait for the disk, including reserved space.
    #[serde(default = "max_queue_bytes")]
    pub max_queue_bytes: usize,
    /// The datagram socket of syslog or journald, which gets each entry too.
    pub syslog: Option<PathBuf>,
}

impl AuditConfig {
    /// Returns the settings of a log in a file, with defaults for the rest.
    #[must_use]
    pub fn at(file: PathBuf, on_failure: AuditFailure) -> Self {
        Self { file, on_failure, max_queue_bytes: max_queue_bytes(), syslog: None }
    }
}

/// Returns the default: space for the entries of 16,000 batches, or of 200,000 single operations.
fn max_queue_bytes() -> usize {
    64 << 20
}

/// The reaction to an audit log that cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditFailure {
    /// Refuses requests until the log can be written.
    #[default]
    Stop,
    /// Reports the failure in the log and in a metric, and serves requests without entries.
    Warn,
}

/// The units that an RSA private key counts when a client brings it. Checking such a key takes long, 50 µs a unit.
pub(crate) const RSA_KEY_UNITS: u32 = 20;

/// The limits that keep one client from using up the resources of others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerLimits {
    /// The maximum connections over TCP with a known client.
    pub max_connections: usize,
    /// The maximum connections of the UNIX socket, counted separately.
    pub max_unix_connections: usize,
    /// The maximum connections of one client, of every kind.
    pub max_connections_per_client: usize,
    /// The maximum connections over TCP whose client is not known yet. Above it the oldest silent connection is
    /// evicted.
    pub max_handshakes: usize,
    /// The maximum of such connections from one address, or from one IPv6 network of 64 bits.
    pub max_handshakes_per_address: usize,
    /// The maximum of unanswered requests on one connection or stream.
    pub max_in_flight: usize,
    /// The maximum bytes of a message of a stream.
    pub max_message_bytes: usize,
    /// The maximum bytes of a ring of shared memory on the UNIX socket; zero for no rings. Each connection that asks
    /// for them gets two.
    pub max_ring_bytes: usize,
    /// The maximum bytes of a call with one request.
    pub max_unary_bytes: usize,
    /// The maximum bytes that requests and answers of one client hold, on all its connections together.
    pub max_bytes_per_client: usize,
    /// The maximum bytes that requests and answers of all clients hold.
    pub max_bytes: usize,
    /// The maximum jobs or records of a batch.
    pub max_operations: u32,
    /// The maximum keys that one stream has open.
    pub max_keys_per_stream: u32,
    /// The maximum seconds of engine time that one client has waiting, as the cost model predicts it, on all its
    /// connections together.
    pub max_queued_seconds_per_client: u64,
    /// True if clients may bring keys.
    pub may_bring_keys: bool,
    /// The maximum keys that one client brings per second, and the same number at once. An RSA private key counts as
    /// 20 of them.
    pub max_brought_keys_per_second: u32,
    /// The maximum bits of the modulus of an RSA key that a client brings.
    pub max_brought_rsa_bits: u16,
    /// The maximum time of a TLS handshake, and of a UNIX client's first bytes.
    pub max_handshake_seconds: u64,
    /// The maximum time of a message from its first byte to its last.
    pub max_message_seconds: u64,
    /// The maximum time for which a client may leave answers untaken.
    pub max_stall_seconds: u64,
    /// The maximum time for which a connection may be silent.
    pub max_idle_seconds: u64,
    /// The maximum time that a connection may last.
    pub max_connection_seconds: u64,
    /// The maximum time for which requests in progress are answered when the server stops.
    pub max_drain_seconds: u64,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_unix_connections: 1024,
            max_connections_per_client: 256,
            max_handshakes: 512,
            max_handshakes_per_address: 64,
            max_in_flight: 64,
            max_message_bytes: 16 << 20,
            max_ring_bytes: 1 << 20,
            max_unary_bytes: 1 << 20,
            max_bytes_per_client: 128 << 20,
            max_bytes: 512 << 20,
            max_operations: 1 << 17,
            max_keys_per_stream: 4096,
            max_queued_seconds_per_client: 60,
            may_bring_keys: false,
            max_brought_keys_per_second: 1000,
            max_brought_rsa_bits: 4096,
            max_handshake_seconds: 10,
            max_message_seconds: 60,
            max_stall_seconds: 30,
            max_idle_seconds: 600,
            max_connection_seconds: 24 * 60 * 60,
            max_drain_seconds: 30,
        }
    }
}

impl ServerLimits {
    /// Returns the limits of one message.
    pub(crate) fn wire(&self) -> MessageLimits {
        let max_output_bytes = u32::try_from(self.max_message_bytes).unwrap_or(u32::MAX);
        MessageLimits {
            max_message_bytes: self.max_message_bytes,
            max_operations: self.max_operations,
            max_output_bytes,
        }
    }

    /// Returns the memory that clients can make the server use in addition to its memory at rest. The queue of the
    /// audit log, `[audit] max_queue_bytes`, is not included.
    ///
    /// The bytes that requests and answers hold count twice, because a growing buffer may be twice as long as its
    /// content. In addition each connection has buffers: for TLS and the kernel's copies, for bytes that HTTP/2 has not
    /// read yet, and for the end of each answer. And each client has its guaranteed bytes.
    #[must_use]
    pub fn max_memory_bytes(&self) -> usize {
        let of_call = 2 * SEND_BUFFER_BYTES;
        let of_network =
            CONNECTION_BYTES + WINDOW_BYTES as usize + of_call.saturating_mul(self.max_in_flight);
        let network = self.max_connections.saturating_mul(of_network + GUARANTEED_BYTES);
        let unix = self.max_unix_connections.saturating_mul(CONNECTION_BYTES + GUARANTEED_BYTES);
        let handshakes = self.max_handshakes.saturating_mul(CONNECTION_BYTES);
        [network, unix, handshakes].into_iter().fold(self.max_bytes.saturating_mul(2), usize::saturating_add)
    }

    /// Returns the maximum engine time that one client may have waiting.
    pub(crate) fn max_queued(&self) -> Duration {
        Duration::from_secs(self.max_queued_seconds_per_client)
    }

    /// Returns the maximum time of a handshake.
    pub(crate) fn max_handshake(&self) -> Duration {
        Duration::from_secs(self.max_handshake_seconds.max(1))
    }

    /// Returns the maximum time of a message.
    pub(crate) fn max_message(&self) -> Duration {
        Duration::from_secs(self.max_message_seconds)
    }

    /// Returns the maximum time for which answers may be left untaken.
    pub(crate) fn max_stall(&self) -> Duration {
        Duration::from_secs(self.max_stall_seconds)
    }

    /// Returns the maximum time for which a connection may be silent.
    pub(crate) fn max_idle(&self) -> Duration {
        Duration::from_secs(self.max_idle_seconds.max(1))
    }

    /// Returns the maximum time for which requests in progress are answered when the server stops.
    pub(crate) fn max_drain(&self) -> Duration {
        Duration::from_secs(self.max_drain_seconds)
    }
}

/// The settings of engines.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EnginesConfig {
    /// The names of the engines in use; all engines if absent.
    pub allowed: Option<Vec<String>>,
    /// The number of worker threads; the number of cores if absent.
    pub threads: Option<usize>,
    /// The share of results that another engine computes again, 0 to 1.
    pub cross_check: Option<f64>,
    /// The confirmation of SLH-DSA signatures before their release.
    pub confirm: ConfirmSetting,
    /// False if products by the floating-point unit (the leaf `fma`) may not compute with secrets; true if absent.
    pub fma_secrets: Option<bool>,
    /// True if there is a resident key "null" that answers every scheme with zeros. It is a hook for benchmarks: it
    /// measures the service without cryptography, and must be switched on.
    pub null_key: bool,
}

impl EnginesConfig {
    /// Returns the settings that all services have.
    pub(crate) fn settings(&self) -> EngineSettings {
        let Self { allowed, threads, cross_check, confirm: _, fma_secrets, null_key: _ } = self.clone();
        EngineSettings { allowed, threads, cross_check, fma_secrets }
    }
}

/// The confirmation of SLH-DSA signatures before their release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfirmSetting {
    /// `"verify"`: a verification, which does not find every fault of the machine.
    #[default]
    Verify,
    /// `"twice"`: a second computation, which doubles the time.
    Twice,
}

impl From<ConfirmSetting> for ConfirmRule {
    fn from(setting: ConfirmSetting) -> Self {
        match setting {
            ConfirmSetting::Verify => Self::Verify,
            ConfirmSetting::Twice => Self::Twice,
        }
    }
}

/// An error of a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ConfigError {
    /// The file cannot be read, or a value is not allowed.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A device has an invalid setting.
    #[error("[[hsm]] {0}")]
    Device(#[from] HsmSettingsError),
    /// A key of a device cannot be named so.
    #[error("[keys.hsm] {name}: {reason}")]
    DeviceKey {
        /// The name of the key.
        name: String,
        /// The reason. It does not quote the URI, which may contain a PIN by mistake.
        reason: String,
    },
    /// A grant has an invalid pattern of clients.
    #[error("[[grant]] {number}, clients: {error}")]
    Client {
        /// The number of the grant, from 1.
        number: usize,
        /// The fault of the pattern.
        error: ClientPatternError,
    },
    /// A grant has a pattern that fits no operation.
    #[error(
        "[[grant]] {number}, schemes: no operation has a name that {found:?} fits{hint} (docs/operations.md has all names)"
    )]
    Operation {
        /// The number of the grant, from 1.
        number: usize,
        /// The pattern.
        found: String,
        /// The nearest names.
        hint: String,
    },
}

impl CryptoserverConfig {
    /// Reads and checks a file. Relative paths are relative to the directory of the file.
    ///
    /// # Errors
    /// The file cannot be read, or a setting is invalid.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let config = read_settings(path, Self::resolve_paths)?;
        config.check()?;
        Ok(config)
    }

    fn resolve_paths(&mut self, base: &Path) {
        let tls = self
            .tls
            .iter_mut()
            .flat_map(|tls| [&mut tls.certificate, &mut tls.private_key, &mut tls.client_ca]);
        let KeysConfig { directory, identity, passphrase_file, records, .. } = &mut self.keys;
        let keys = [directory, identity, passphrase_file, records];
        let paths = keys.into_iter().chain([&mut self.listen.unix]).flatten();
        let audit =
            self.audit.iter_mut().flat_map(|audit| iter::once(&mut audit.file).chain(&mut audit.syslog));
        for path in tls.chain(paths).chain(audit) {
            *path = base.join(&*path);
        }
        self.devices.iter_mut().for_each(|device| device.resolve_paths(base));
    }

    /// Checks that no setting contains a key instead of a path, because messages quote paths.
    fn check_key_paths(&self) -> Result<(), SettingsError> {
        let KeysConfig { directory, identity, passphrase_file, records, .. } = &self.keys;
        let keys = [
            ("[keys] directory", directory),
            ("[keys] identity", identity),
            ("[keys] passphrase_file", passphrase_file),
            ("[keys] records", records),
        ];
        let keys = keys.into_iter().filter_map(|(setting, path)| Some((setting, path.as_ref()?)));
        let tls = self.tls.iter().map(|tls| ("[tls] private_key", &tls.private_key));
        expect_paths(tls.chain(keys))
    }

    /// Checks the settings alone, without opening any file.
    ///
    /// # Errors
    /// A setting is invalid.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_key_paths()?;
        self.listen.check(self.tls.is_some())?;
        let longest = self.tls.as_ref().map_or(1, |tls| tls.max_chain_certificates);
        expect("[tls] max_chain_certificates", "1 to 32", (1..=32).contains(&longest), longest)?;
        self.limits.check()?;
        // One client may always reserve 32 KiB, so a shorter queue would leave too little for other clients.
        let queue = self.audit.as_ref().map_or(1 << 16, |audit| audit.max_queue_bytes);
        let is_queue = ((1 << 16)..=(1 << 30)).contains(&queue);
        expect("[audit] max_queue_bytes", "65536 to 1073741824", is_queue, queue)?;
        self.engines.settings().check()?;
        HsmSettings::check_all(&self.devices)?;
        self.keys.device_keys(&self.devices)?;
        expect("[grant] rate", "1 or more", self.grants.iter().all(|grant| grant.rate != Some(0)), 0)?;
        (1..).zip(&self.grants).try_for_each(|(number, grant)| grant.check(number))
    }
}

impl ServerLimits {
    fn check(&self) -> Result<(), SettingsError> {
        for (field, value) in [
            ("[limits] max_connections", self.max_connections),
            ("[limits] max_unix_connections", self.max_unix_connections),
            ("[limits] max_connections_per_client", self.max_connections_per_client),
            ("[limits] max_handshakes", self.max_handshakes),
            ("[limits] max_handshakes_per_address", self.max_handshakes_per_address),
            ("[limits] max_in_flight", self.max_in_flight),
            ("[limits] max_operations", self.max_operations as usize),
            ("[limits] max_brought_keys_per_second", self.max_brought_keys_per_second as usize),
            ("[limits] max_connection_seconds", self.max_connection_seconds as usize),
        ] {
            expect(field, "1 or more", value > 0, value)?;
        }
        for (field, seconds) in [
            ("[limits] max_queued_seconds_per_client", self.max_queued_seconds_per_client),
            ("[limits] max_message_seconds", self.max_message_seconds),
            ("[limits] max_stall_seconds", self.max_stall_seconds),
        ] {
            expect(field, "1 to 86400", (1..=86_400).contains(&seconds), seconds)?;
        }
        for (field, bytes) in [
            ("[limits] max_message_bytes", self.max_message_bytes),
            ("[limits] max_unary_bytes", self.max_unary_bytes),
        ] {
            expect(field, "1024 to 1073741824", ((1 << 10)..=(1 << 30)).contains(&bytes), bytes)?;
        }
        let ring = self.max_ring_bytes;
        let is_ring = ring == 0 || (4096..=1 << 28).contains(&ring);
        expect("[limits] max_ring_bytes", "0, or 4096 to 268435456", is_ring, ring)?;
        let per_client = self.max_bytes_per_client;
        // Twice a message: one that is being worked on, and one that arrives.
        let min = (2 * self.max_message_bytes.max(self.max_unary_bytes)).max(1 << 20);
        let enough = "1048576 or more, and twice max_message_bytes and max_unary_bytes";
        expect("[limits] max_bytes_per_client", enough, per_client >= min, per_client)?;
        // One client must be able to use its own maximum.
        let is_enough = self.max_bytes >= per_client;
        expect("[limits] max_bytes", "max_bytes_per_client or more", is_enough, self.max_bytes)
    }
}

impl GrantConfig {
    /// Checks that clients and operations can match the patterns.
    fn check(&self, number: usize) -> Result<(), ConfigError> {
        for client in &self.clients {
            // Parsed for its faults only. `ActiveGrant::activate` keeps the parsed patterns.
            ClientPattern::parse(client.as_str()).map_err(|error| ConfigError::Client { number, error })?;
        }
        let names = operation_names();
        match self.schemes.iter().find(|pattern| !names.iter().any(|name| pattern.fits(name))) {
            None => Ok(()),
            Some(pattern) => {
                let (found, hint) = (pattern.as_str().to_owned(), nearest_hint(pattern));
                Err(ConfigError::Operation { number, found, hint })
            }
        }
    }
}

fn nearest_hint(pattern: &Pattern) -> String {
    match nearest_names(pattern).as_slice() {
        [] => String::new(),
        names => format!("; near to it: {}", names.join(", ")),
    }
}

impl ListenConfig {
    fn check(&self, has_certificates: bool) -> Result<(), SettingsError> {
        let is_set = self.tcp.is_some() || self.plaintext.is_some() || self.unix.is_some();
        expect("[listen]", "at least one of tcp, plaintext, unix", is_set, "none")?;
        let certificates = "a section [tls] with certificate, private_key and client_ca";
        expect("[listen] tcp", certificates, self.tcp.is_none() || has_certificates, "none")?;
        let is_loopback = |address: SocketAddr| address.ip().is_loopback();
        // Clients without certificates are only known to be on this machine, so others must not reach the listener.
        if let Some(found) = self.plaintext {
            let found_and_hint = format_args!("{found}; tcp with [tls] is for networks");
            expect("[listen] plaintext", "a loopback address", is_loopback(found), found_and_hint)?;
        }
        if let Some(found) = self.dashboard {
            let port = found.port();
            let found_and_hint = format_args!(
                "{found}: the page names keys and clients, and asks for no password; reach it from elsewhere with \
                 `ssh -L {port}:{found} HOST`"
            );
            expect("[listen] dashboard", "a loopback address", is_loopback(found), found_and_hint)?;
        }
        self.mode().map(drop)
    }

    /// Returns the permissions of the UNIX socket. The default allows the owner only.
    ///
    /// # Errors
    /// The setting is not an octal number up to 0777.
    pub fn mode(&self) -> Result<u32, SettingsError> {
        self.unix_mode.as_deref().map_or(Ok(0o600), parse_unix_mode)
    }
}
