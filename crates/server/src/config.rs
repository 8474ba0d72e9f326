//! `oarlock.toml`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock_io::{KeyForPath, check_key_path};
use oarlock_wire::MessageLimits;
use serde::Deserialize;

use crate::budget::GUARANTEED_BYTES;
use crate::client_pattern::{ClientPattern, ClientPatternError};
use crate::http2::{SEND_BUFFER_BYTES, WINDOW_BYTES};
use crate::operations::{nearest_names, operation_names};
use crate::pattern::Pattern;

/// Everything that can be set about a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where to listen.
    pub listen: ListenConfig,
    /// Certificates; must be there where `listen.tcp` is.
    pub tls: Option<TlsConfig>,
    /// Keys that live at the server.
    #[serde(default)]
    pub keys: KeysConfig,
    /// Who may do what with which of them.
    #[serde(default, rename = "grant")]
    pub grants: Vec<GrantConfig>,
    /// A record of what was done.
    pub audit: Option<AuditConfig>,
    /// Bounds.
    #[serde(default)]
    pub limits: ServerLimits,
    /// Which engines.
    #[serde(default)]
    pub engines: EnginesConfig,
}

/// Where to listen; at least one place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListenConfig {
    /// gRPC under mutual TLS 1.3.
    pub tcp: Option<SocketAddr>,
    /// gRPC without protection, on a loopback address only: every process of the machine may come.
    pub plaintext: Option<SocketAddr>,
    /// Frames on a UNIX socket, whose clients are known by their credentials.
    pub unix: Option<PathBuf>,
    /// Permissions of the UNIX socket, in octal.
    pub unix_mode: Option<String>,
    /// Metrics for Prometheus and a probe of health, over HTTP: anybody who reaches it may read it.
    pub metrics: Option<SocketAddr>,
}

/// Certificates and keys in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// The server's chain, its own certificate first.
    pub certificate: PathBuf,
    /// Its private key.
    pub private_key: PathBuf,
    /// The authorities that certify clients.
    pub client_ca: PathBuf,
}

/// Keys that live at the server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeysConfig {
    /// PEM or DER files, each named as its key; looked at again when it changes.
    pub directory: Option<PathBuf>,
    /// The passphrase of encrypted ones, in the first line.
    pub passphrase_file: Option<PathBuf>,
    /// Symmetric keys with their policies, a JSON object a line, as `oarlock records --keys` takes them.
    pub records: Option<PathBuf>,
    /// 8 hexadecimal digits that counted nonces of these begin with, whatever the file says: another for each server with the same file.
    pub nonce_field: Option<NonceField>,
}

/// The bytes with which counted nonces of one server begin.
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

/// Who may do what with which keys. What no grant allows is refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantConfig {
    /// Names of keys, with `*` for any characters.
    pub keys: Vec<Pattern>,
    /// Clients, in the form that [`ClientPattern`] parses.
    pub clients: Vec<Pattern>,
    /// Schemes and tasks by name, such as `rsa-pkcs1-sha256-sign`, `tdes2-cbc-encrypt`, with `*`.
    #[serde(default = "everything")]
    pub schemes: Vec<Pattern>,
    /// Operations a second that may be done under this grant, all its clients and keys together.
    pub rate: Option<u32>,
}

fn everything() -> Vec<Pattern> {
    vec![Pattern::from("*")]
}

/// The audit log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditConfig {
    /// Appended to, a JSON object a line.
    pub file: PathBuf,
    /// What to do where it cannot be written.
    #[serde(default)]
    pub on_failure: AuditFailure,
    /// Bytes of entries that may wait for the disk, or are promised a place there.
    #[serde(default = "max_queue_bytes")]
    pub max_queue_bytes: usize,
}

impl AuditConfig {
    /// A log in a file, with what else is the default.
    #[must_use]
    pub fn at(file: PathBuf, on_failure: AuditFailure) -> Self {
        Self { file, on_failure, max_queue_bytes: max_queue_bytes() }
    }
}

/// Entries of 16,000 batches, or of 200,000 single operations.
fn max_queue_bytes() -> usize {
    64 << 20
}

/// What to do where the audit log cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditFailure {
    /// Refuse to work until it can.
    #[default]
    Stop,
    /// Say so in the log and in a metric, and go on.
    Warn,
}

/// Bytes that a connection needs for TLS and its state.
const BUFFER_BYTES: usize = 64 << 10;

/// Units that bringing an RSA private key counts. Such a key is checked at length.
pub const RSA_KEY_UNITS: u32 = 20;

/// Bounds that keep one client from the others' way.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerLimits {
    /// Connections over TCP with a known client at once.
    pub max_connections: usize,
    /// Connections of the UNIX socket at once, counted apart.
    pub max_unix_connections: usize,
    /// Connections that one client may have at once, of every kind.
    pub max_connections_per_client: usize,
    /// Connections over TCP whose client is not known yet; beyond it the oldest silent one gives way.
    pub max_handshakes: usize,
    /// The same of one address, or of one IPv6 network of 64 bits.
    pub max_handshakes_per_address: usize,
    /// Requests that one connection or stream may have under way.
    pub max_in_flight: usize,
    /// Bytes of a message of a stream.
    pub max_message_bytes: usize,
    /// Bytes of a call with one request.
    pub max_unary_bytes: usize,
    /// Bytes that requests and answers of one client hold at once, all its connections together.
    pub max_bytes_per_client: usize,
    /// Bytes that requests and answers of all clients hold at once.
    pub max_bytes: usize,
    /// Jobs or records of a batch.
    pub max_operations: u32,
    /// Keys that one stream may have open.
    pub max_keys_per_stream: u32,
    /// Seconds of engine time, as the cost model predicts it, that one client may have waiting in all its connections together.
    pub max_queued_seconds_per_client: u64,
    /// Whether clients may bring keys along.
    pub may_bring_keys: bool,
    /// Keys that one client may bring per second, and as many at once. An RSA private key counts as [`RSA_KEY_UNITS`].
    pub max_brought_keys_per_second: u32,
    /// Bits of the modulus of an RSA key that a client brings.
    pub max_brought_rsa_bits: u16,
    /// How long a TLS handshake may take, or a UNIX client's first bytes.
    pub max_handshake_seconds: u64,
    /// The longest time that a message may take from its first byte to its last.
    pub max_message_seconds: u64,
    /// Time after which a client's connection is cut if it leaves answers untaken.
    pub max_stall_seconds: u64,
    /// How long a connection may be silent.
    pub max_idle_seconds: u64,
    /// The longest time that a connection may last.
    pub max_connection_seconds: u64,
    /// How long requests under way have to end when the server stops.
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
    /// The bounds of one message.
    #[must_use]
    pub fn wire(&self) -> MessageLimits {
        let max_output_bytes = u32::try_from(self.max_message_bytes).unwrap_or(u32::MAX);
        MessageLimits {
            max_message_bytes: self.max_message_bytes,
            max_operations: self.max_operations,
            max_output_bytes,
        }
    }

    /// Returns the memory that clients can make the server use beyond what it needs at rest, with what is still to be written to the
    /// audit log apart: `[audit] max_queue_bytes` comes on top.
    ///
    /// The bytes that requests and answers hold count twice, because a buffer that grows may be twice as long as what is in it. Then
    /// each connection has buffers whether anything is held or not: of TLS and the kernel's copies, of HTTP/2 for what is not read yet,
    /// and for the end of each answer; and each client has its guaranteed bytes.
    #[must_use]
    pub fn max_memory_bytes(&self) -> usize {
        let of_call = 2 * SEND_BUFFER_BYTES;
        let of_network = BUFFER_BYTES + WINDOW_BYTES as usize + of_call.saturating_mul(self.max_in_flight);
        let network = self.max_connections.saturating_mul(of_network + GUARANTEED_BYTES);
        let unix = self.max_unix_connections.saturating_mul(BUFFER_BYTES + GUARANTEED_BYTES);
        let handshakes = self.max_handshakes.saturating_mul(BUFFER_BYTES);
        [network, unix, handshakes].into_iter().fold(self.max_bytes.saturating_mul(2), usize::saturating_add)
    }

    /// Returns the engine time that one client may have waiting.
    #[must_use]
    pub fn max_queued(&self) -> Duration {
        Duration::from_secs(self.max_queued_seconds_per_client)
    }

    /// How long a handshake may take.
    #[must_use]
    pub fn handshake(&self) -> Duration {
        Duration::from_secs(self.max_handshake_seconds.max(1))
    }

    /// Returns the longest time that a message may take.
    #[must_use]
    pub fn max_message(&self) -> Duration {
        Duration::from_secs(self.max_message_seconds)
    }

    /// Returns the longest time that answers may be left untaken.
    #[must_use]
    pub fn max_stall(&self) -> Duration {
        Duration::from_secs(self.max_stall_seconds)
    }

    /// How long a connection may be silent.
    #[must_use]
    pub fn idle(&self) -> Duration {
        Duration::from_secs(self.max_idle_seconds.max(1))
    }

    /// How long requests under way have to end.
    #[must_use]
    pub fn drain(&self) -> Duration {
        Duration::from_secs(self.max_drain_seconds)
    }
}

/// Which engines, and how they are used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EnginesConfig {
    /// Names of those that may answer; all where absent.
    pub allowed: Option<Vec<String>>,
    /// Worker threads; as many as cores where absent.
    pub threads: Option<usize>,
    /// Share of results that is computed again on another engine, 0 to 1.
    pub cross_check: Option<f64>,
    /// A resident key "null" that answers every scheme with zeros at once: for measuring the service without cryptography.
    pub null_key: bool,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is no such file. The line is not quoted: whoever names a key in the place of the settings must not find it in a log.
    #[error("{}:{line}: {reason}", path.display())]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault of the line.
        reason: String,
    },
    /// A key in the place of the name of its file.
    #[error("{setting}: {error}")]
    KeyForPath {
        /// The setting.
        setting: &'static str,
        /// The error, with what was expected.
        error: KeyForPath,
    },
    /// Nowhere to listen.
    #[error("[listen]: expected at least one of tcp, plaintext, unix")]
    Nowhere,
    /// TLS without certificates.
    #[error("[listen] tcp: expected a section [tls] with certificate, private_key and client_ca")]
    NoCertificates,
    /// Plaintext where others than this machine can come.
    #[error("[listen] plaintext: expected a loopback address, found {found}; tcp with [tls] is for networks")]
    NotLoopback {
        /// The address.
        found: SocketAddr,
    },
    /// A mode that is none.
    #[error("[listen] unix_mode: expected octal digits such as \"0660\", found {found:?}")]
    Mode {
        /// What was there.
        found: String,
    },
    /// A grant for clients that cannot be.
    #[error("[[grant]] {number}, clients: {error}")]
    Client {
        /// The grant's place, from 1.
        number: usize,
        /// The fault of the pattern.
        error: ClientPatternError,
    },
    /// A grant for operations that are not known.
    #[error(
        "[[grant]] {number}, schemes: no operation has a name that {found:?} fits{hint} (docs/operations.md has all names)"
    )]
    Operation {
        /// The grant's place, from 1.
        number: usize,
        /// The pattern.
        found: String,
        /// Names that come near to it.
        hint: String,
    },
    /// A number that cannot work.
    #[error("[{section}] {field}: expected {expected}")]
    Number {
        /// The section.
        section: &'static str,
        /// The field.
        field: &'static str,
        /// What would do.
        expected: &'static str,
    },
}

impl ConfigError {
    fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        Self::Syntax { path: path.to_owned(), line, reason: error.message().to_owned() }
    }
}

impl Config {
    /// Reads and checks a file. Relative paths in it count from its directory.
    ///
    /// # Errors
    /// It cannot be read, or something in it cannot work.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::Read { path: path.to_owned(), error })?;
        let mut config: Self =
            toml::from_str(&text).map_err(|error| ConfigError::syntax(path, &text, &error))?;
        config.anchor(path.parent().unwrap_or(Path::new("")));
        config.check()?;
        Ok(config)
    }

    fn anchor(&mut self, base: &Path) {
        let tls = self
            .tls
            .iter_mut()
            .flat_map(|tls| [&mut tls.certificate, &mut tls.private_key, &mut tls.client_ca]);
        let keys = [&mut self.keys.directory, &mut self.keys.passphrase_file, &mut self.keys.records];
        let places = keys.into_iter().chain([&mut self.listen.unix]).flatten();
        let audit = self.audit.iter_mut().map(|audit| &mut audit.file);
        for path in tls.chain(places).chain(audit) {
            *path = base.join(&*path);
        }
    }

    /// Checks that no key stands where its file is to be named: messages quote names of files.
    fn check_key_paths(&self) -> Result<(), ConfigError> {
        let KeysConfig { directory, passphrase_file, records, .. } = &self.keys;
        let keys = [
            ("[keys] directory", directory),
            ("[keys] passphrase_file", passphrase_file),
            ("[keys] records", records),
        ];
        let keys = keys.into_iter().filter_map(|(setting, path)| Some((setting, path.as_ref()?)));
        let tls = self.tls.iter().map(|tls| ("[tls] private_key", &tls.private_key));
        for (setting, path) in tls.chain(keys) {
            check_key_path(path).map_err(|error| ConfigError::KeyForPath { setting, error })?;
        }
        Ok(())
    }

    /// Checks what can be checked without touching anything.
    ///
    /// # Errors
    /// What cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_key_paths()?;
        let listen = &self.listen;
        if listen.tcp.is_none() && listen.plaintext.is_none() && listen.unix.is_none() {
            return Err(ConfigError::Nowhere);
        }
        if listen.tcp.is_some() && self.tls.is_none() {
            return Err(ConfigError::NoCertificates);
        }
        if let Some(found) = listen.plaintext.filter(|address| !address.ip().is_loopback()) {
            return Err(ConfigError::NotLoopback { found });
        }
        listen.mode()?;
        self.limits.check()?;
        let queue = self.audit.as_ref().map_or(1 << 16, |audit| audit.max_queue_bytes);
        let is_queue = ((1 << 16)..=(1 << 30)).contains(&queue);
        number("audit", "max_queue_bytes", "65536 to 1073741824", is_queue)?;
        let share = self.engines.cross_check.unwrap_or(0.0);
        number("engines", "cross_check", "0 to 1", (0.0..=1.0).contains(&share))?;
        number("grant", "rate", "1 or more", self.grants.iter().all(|grant| grant.rate != Some(0)))?;
        (1..).zip(&self.grants).try_for_each(|(number, grant)| grant.check(number))
    }
}

fn number(
    section: &'static str,
    field: &'static str,
    expected: &'static str,
    is_good: bool,
) -> Result<(), ConfigError> {
    if is_good { Ok(()) } else { Err(ConfigError::Number { section, field, expected }) }
}

impl ServerLimits {
    fn check(&self) -> Result<(), ConfigError> {
        for (field, value) in [
            ("max_connections", self.max_connections),
            ("max_unix_connections", self.max_unix_connections),
            ("max_connections_per_client", self.max_connections_per_client),
            ("max_handshakes", self.max_handshakes),
            ("max_handshakes_per_address", self.max_handshakes_per_address),
            ("max_in_flight", self.max_in_flight),
            ("max_operations", self.max_operations as usize),
            ("max_brought_keys_per_second", self.max_brought_keys_per_second as usize),
        ] {
            number("limits", field, "1 or more", value > 0)?;
        }
        for (field, seconds) in [
            ("max_queued_seconds_per_client", self.max_queued_seconds_per_client),
            ("max_message_seconds", self.max_message_seconds),
            ("max_stall_seconds", self.max_stall_seconds),
        ] {
            number("limits", field, "1 to 86400", (1..=86_400).contains(&seconds))?;
        }
        number("limits", "max_connection_seconds", "1 or more", self.max_connection_seconds > 0)?;
        for (field, bytes) in
            [("max_message_bytes", self.max_message_bytes), ("max_unary_bytes", self.max_unary_bytes)]
        {
            number("limits", field, "1024 to 1073741824", ((1 << 10)..=(1 << 30)).contains(&bytes))?;
        }
        let own = self.max_bytes_per_client;
        let min = (2 * self.max_message_bytes.max(self.max_unary_bytes)).max(1 << 20);
        let enough = "1048576 or more, and twice max_message_bytes and max_unary_bytes";
        number("limits", "max_bytes_per_client", enough, own >= min)?;
        number("limits", "max_bytes", "max_bytes_per_client or more", self.max_bytes >= own)
    }
}

impl GrantConfig {
    /// Checks that there could be such clients and operations.
    fn check(&self, number: usize) -> Result<(), ConfigError> {
        for client in &self.clients {
            ClientPattern::parse(client.as_str()).map_err(|error| ConfigError::Client { number, error })?;
        }
        let names = operation_names();
        match self.schemes.iter().find(|pattern| !names.iter().any(|name| pattern.fits(name))) {
            None => Ok(()),
            Some(pattern) => {
                let (found, hint) = (pattern.as_str().to_owned(), near(pattern));
                Err(ConfigError::Operation { number, found, hint })
            }
        }
    }
}

fn near(pattern: &Pattern) -> String {
    match nearest_names(pattern).as_slice() {
        [] => String::new(),
        names => format!("; near to it: {}", names.join(", ")),
    }
}

impl ListenConfig {
    /// Permissions of the UNIX socket: the owner's alone where nothing is said.
    ///
    /// # Errors
    /// They are no octal number.
    pub fn mode(&self) -> Result<u32, ConfigError> {
        let Some(found) = &self.unix_mode else { return Ok(0o600) };
        match u32::from_str_radix(found, 8) {
            Ok(mode) if mode <= 0o777 => Ok(mode),
            _ => Err(ConfigError::Mode { found: found.clone() }),
        }
    }
}
