//! `milter.toml`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock::AcceleratorBuilder;
use oarlock_dkim::{
    CacheLimits, Canonicalization, Coverage, Limits as MessageLimits, Policy, SignedFields, SignerError,
    UnknownForm,
};
use oarlock_io::check_key_path;
use oarlock_io::dns::{ResolverError, server_address};
use serde::Deserialize;

use crate::network::Network;
use crate::outcome::Responses;
use oarlock_milter::server::Settings;
use oarlock_milter::socket::{Socket, SocketError};

/// The socket at which the filter listens by default: permissions and the system say who comes, which TCP does not.
const DEFAULT_SOCKET: &str = "unix:/run/oarlock-milter/milter.sock";

/// Everything that can be set about the filter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What is done at all.
    pub mode: Mode,
    /// The name in `Authentication-Results`; the host's where absent.
    pub authserv_id: Option<String>,
    /// Whose messages are signed without authentication, beside those of UNIX sockets.
    pub internal_networks: Vec<Network>,
    /// Whose results are believed.
    pub trusted_results: TrustedResults,
    /// Where to listen.
    pub listen: Listen,
    /// How messages are signed.
    pub signing: Signing,
    /// What passes when messages are verified.
    pub verifying: Verifying,
    /// Chains of those who handed a message on.
    pub arc: Arc,
    /// What is done with messages that something is wrong with.
    pub on: Responses,
    /// Key records.
    pub dns: Dns,
    /// Bounds.
    pub limits: Limits,
    /// Where keys live that are not here.
    pub cryptoserver: Option<Cryptoserver>,
    /// Which engines.
    pub engines: Engines,
}

/// What is done at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Own messages are signed, others pass.
    Sign,
    /// All messages are verified.
    Verify,
    /// Own messages are signed, others verified.
    #[default]
    Both,
}

impl Mode {
    /// True where messages are signed.
    #[must_use]
    pub fn signs(self) -> bool {
        self != Self::Verify
    }

    /// True where messages are verified.
    #[must_use]
    pub fn verifies(self) -> bool {
        self != Self::Sign
    }
}

/// Others of this site that write `Authentication-Results`. What they found goes into ARC sets beside what we find.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrustedResults {
    /// Hosts of this site that verify before us, and remove what strangers write under its names.
    pub networks: Vec<Network>,
    /// Names that those hosts write beside `authserv_id`.
    pub authserv_ids: Vec<String>,
    /// Names of filters that run before this one in the same MTA, which must remove these names from what comes in.
    pub filters: Vec<String>,
}

/// For which messages of authenticated clients we sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequiredFrom {
    /// For all.
    Any,
    /// For those whose `From` is of the same domain as MAIL FROM.
    #[default]
    MailFromDomain,
    /// For those whose `From` is the address of MAIL FROM.
    MailFrom,
}

/// Where to listen.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Listen {
    /// For MTAs.
    pub sockets: Vec<String>,
    /// Permissions of UNIX sockets, in octal.
    pub unix_mode: String,
    /// Group of UNIX sockets, by name or number.
    pub unix_group: Option<String>,
    /// Users that may connect over UNIX sockets, by name or number, beside root and the filter's own; the members of the socket's group
    /// if absent.
    pub unix_users: Option<Vec<String>>,
    /// Metrics for Prometheus and a probe of health, over HTTP: anybody who reaches it may read it.
    pub metrics: Option<SocketAddr>,
}

/// How messages are signed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Signing {
    /// The signing table, a text file or a SQLite database. Nothing is signed without one.
    pub table: Option<PathBuf>,
    /// How often it is looked at whether the table has changed; 0 for never.
    pub reload_seconds: u64,
    /// The `From` that mail of an authenticated client must have to be signed.
    pub require_from: RequiredFrom,
    /// `c=`
    pub canonicalization: String,
    /// Fields that are signed wherever they are there; those of RFC 6376 5.4.1 where absent.
    pub signed_headers: Option<Vec<String>>,
    /// Those that nobody can add another of; what mail programs show or act upon where absent.
    pub oversigned_headers: Option<Vec<String>>,
    /// `x=`: how long signatures hold; 0 for ever.
    pub lifetime_seconds: u64,
    /// Whether private keys may be used that others than their owner can read.
    pub allows_open_keys: bool,
}

/// What passes when messages are verified.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Verifying {
    /// Shortest RSA modulus in bits, 1024 to 4096.
    pub min_rsa_bits: u32,
    /// Whether rsa-sha1 can pass.
    pub accepts_sha1: bool,
    /// Whether a signature can pass whose `l=` leaves some of the body unsigned.
    pub accepts_partial_body: bool,
    /// Most signatures of a message that are verified.
    pub max_signatures: usize,
    /// Most key records that are looked up for one message, those of its ARC chain among them.
    pub max_lookups: usize,
    /// By how much clocks may differ.
    pub clock_skew_seconds: u64,
}

/// Chains of those who handed a message on. RFC 8617.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Arc {
    /// Whether chains are verified.
    pub verify: bool,
    /// With what verified messages are sealed; chains are verified then, too.
    pub seal: Option<Seal>,
}

/// With what messages are sealed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// `d=`
    pub domain: String,
    /// `s=`
    pub selector: String,
    /// The key file.
    pub key: PathBuf,
}

/// Key records.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dns {
    /// Name servers, with or without port; those of `/etc/resolv.conf` where absent.
    pub servers: Vec<String>,
    /// How long a lookup may take, in milliseconds.
    pub timeout_ms: u64,
    /// Names that are kept.
    pub cached_names: usize,
    /// How long records are kept, at most.
    pub max_ttl_seconds: u64,
    /// How long it is kept that there is no record, at most.
    pub max_negative_ttl_seconds: u64,
    /// How long it is kept that DNS could not say.
    pub failure_seconds: u64,
}

/// Bounds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Connections of MTAs at once.
    pub connections: usize,
    /// Header fields of a message.
    pub headers: usize,
    /// Bytes of all header fields of a message together.
    pub header_bytes: usize,
    /// How long a connection may be silent.
    pub idle_seconds: u64,
    /// How long messages under way have to end when the filter stops.
    pub drain_seconds: u64,
    /// How often an MTA is asked for patience at the end of a message.
    pub progress_seconds: u64,
}

/// Where keys live that are not here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cryptoserver {
    /// `https://HOST:PORT`, `http://HOST:PORT` or the path of a UNIX socket; all of them have the keys.
    pub servers: Vec<String>,
    /// Who may serve the UNIX sockets, beside root and the user of this process: a name or a number.
    #[serde(default = "server_user")]
    pub server_user: String,
    /// The authority of the servers' certificates; must be there for `https`, as the next two.
    pub server_ca: Option<PathBuf>,
    /// Our certificate and its chain.
    pub certificate: Option<PathBuf>,
    /// Our private key.
    pub private_key: Option<PathBuf>,
    /// How long a server may take before another one is asked.
    #[serde(default = "patience")]
    pub patience_ms: u64,
}

fn server_user() -> String {
    "oarlock".to_owned()
}

fn patience() -> u64 {
    2000
}

/// Which engines, and how they are used.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Engines {
    /// Names of those that may answer; all where absent.
    pub allowed: Option<Vec<String>>,
    /// Worker threads; as many as cores where absent.
    pub threads: Option<usize>,
    /// Share of results that is computed again on another engine, 0 to 1.
    pub cross_check: Option<f64>,
}

impl Default for Config {
    fn default() -> Self {
        let local = ["127.0.0.0/8", "::1"];
        Self {
            mode: Mode::default(),
            authserv_id: None,
            internal_networks: local.iter().filter_map(|network| network.parse().ok()).collect(),
            trusted_results: TrustedResults::default(),
            listen: Listen::default(),
            signing: Signing::default(),
            verifying: Verifying::default(),
            arc: Arc::default(),
            on: Responses::default(),
            dns: Dns::default(),
            limits: Limits::default(),
            cryptoserver: None,
            engines: Engines::default(),
        }
    }
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            sockets: vec![DEFAULT_SOCKET.to_owned()],
            unix_mode: "0660".to_owned(),
            unix_group: None,
            unix_users: None,
            metrics: None,
        }
    }
}

impl Default for Signing {
    fn default() -> Self {
        Self {
            table: None,
            reload_seconds: 5,
            require_from: RequiredFrom::default(),
            canonicalization: "relaxed/relaxed".to_owned(),
            signed_headers: None,
            oversigned_headers: None,
            lifetime_seconds: 0,
            allows_open_keys: false,
        }
    }
}

impl Default for Verifying {
    fn default() -> Self {
        let Policy { limits, min_rsa_bits, accepts_sha1, accepts_partial_body, clock_skew_s, .. } =
            Policy::default();
        Self {
            min_rsa_bits,
            accepts_sha1,
            accepts_partial_body,
            max_signatures: limits.signatures,
            max_lookups: limits.max_lookups,
            clock_skew_seconds: clock_skew_s,
        }
    }
}

impl Default for Dns {
    fn default() -> Self {
        let CacheLimits { names, max_ttl_s, max_negative_ttl_s, failure_s } = CacheLimits::default();
        Self {
            servers: Vec::new(),
            timeout_ms: 10_000,
            cached_names: names,
            max_ttl_seconds: max_ttl_s,
            max_negative_ttl_seconds: max_negative_ttl_s,
            failure_seconds: failure_s,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        let Settings { connections, idle, drain, progress, .. } = Settings::default();
        let MessageLimits { headers, header_bytes, .. } = MessageLimits::default();
        Self {
            connections,
            headers,
            header_bytes,
            idle_seconds: idle.as_secs(),
            drain_seconds: drain.as_secs(),
            progress_seconds: progress.as_secs(),
        }
    }
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
    /// A socket that is none.
    #[error("[listen] sockets: {0}")]
    Socket(#[from] SocketError),
    /// A form that is none.
    #[error("[signing] canonicalization: {0}")]
    Form(#[from] UnknownForm),
    /// Fields that cannot be signed, or without `From`.
    #[error("[signing] signed_headers and oversigned_headers: {0}")]
    Fields(SignerError),
    /// A name server that is none.
    #[error("[dns] servers: {0}")]
    NameServer(ResolverError),
    /// A value that cannot work.
    #[error("{field}: expected {expected}, found {found}")]
    Value {
        /// Which setting.
        field: &'static str,
        /// What would do.
        expected: &'static str,
        /// What was there.
        found: String,
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
        let seal = self.arc.seal.iter_mut().map(|seal| &mut seal.key);
        let server = self.cryptoserver.iter_mut().flat_map(|server| {
            [&mut server.server_ca, &mut server.certificate, &mut server.private_key].into_iter().flatten()
        });
        for path in self.signing.table.iter_mut().chain(seal).chain(server) {
            *path = base.join(&*path);
        }
    }

    /// Checks that no key stands where its file is to be named: messages quote names of files.
    fn key_paths(&self) -> Result<(), ConfigError> {
        let seal = self.arc.seal.iter().map(|seal| ("[arc] seal.key", &seal.key));
        let server = self.cryptoserver.iter().flat_map(|server| &server.private_key);
        for (field, path) in seal.chain(server.map(|path| ("[cryptoserver] private_key", path))) {
            check_key_path(path).map_err(|_| ConfigError::Value {
                field,
                expected: "the name of a file",
                found: "what looks like a key itself (it is not shown)".to_owned(),
            })?;
        }
        Ok(())
    }

    /// Checks what can be checked without touching anything.
    ///
    /// # Errors
    /// What cannot work.
    pub fn check(&self) -> Result<(), ConfigError> {
        let number = |field, expected, is_good: bool, found: String| {
            if is_good { Ok(()) } else { Err(ConfigError::Value { field, expected, found }) }
        };
        self.key_paths()?;
        self.sockets()?;
        self.settings()?;
        self.name_servers()?;
        self.canonicalization()?;
        self.signed_fields()?;
        let (limits, verifying) = (&self.limits, &self.verifying);
        let sockets = &self.listen.sockets;
        number("[listen] sockets", "at least one", !sockets.is_empty(), format!("{sockets:?}"))?;
        for (field, found) in [
            ("[limits] connections", limits.connections),
            ("[limits] headers", limits.headers),
            ("[limits] header_bytes", limits.header_bytes),
            ("[dns] cached_names", self.dns.cached_names),
        ] {
            number(field, "1 or more", found > 0, found.to_string())?;
        }
        number("[limits] progress_seconds", "1 or more", limits.progress_seconds > 0, "0".into())?;
        number("[dns] timeout_ms", "1 or more", self.dns.timeout_ms > 0, "0".into())?;
        let bits = verifying.min_rsa_bits;
        number("[verifying] min_rsa_bits", "1024 to 4096", (1024..=4096).contains(&bits), bits.to_string())?;
        let share = self.engines.cross_check.unwrap_or(0.0);
        number("[engines] cross_check", "0 to 1", (0.0..=1.0).contains(&share), share.to_string())?;
        let TrustedResults { authserv_ids, filters, .. } = &self.trusted_results;
        let names = self.authserv_id.iter().map(|id| ("authserv_id", id));
        let names = names.chain(authserv_ids.iter().map(|id| ("[trusted_results] authserv_ids", id)));
        for (field, id) in names.chain(filters.iter().map(|id| ("[trusted_results] filters", id))) {
            let is_name =
                !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic() && !b"\";()".contains(&byte));
            let expected = "a name without spaces, quotes, semicolons and parentheses";
            number(field, expected, is_name, format!("{id:?}"))?;
        }
        Ok(())
    }

    /// Names of the sections whose changes in `other` only a restart puts in force.
    pub(crate) fn fixed_changes(&self, other: &Self) -> Vec<&'static str> {
        let fixed = |limits: &Limits| {
            let Limits { connections, idle_seconds, drain_seconds, progress_seconds, .. } = *limits;
            format!("{:?}", (connections, idle_seconds, drain_seconds, progress_seconds))
        };
        let pairs = [
            ("listen", format!("{:?}", self.listen), format!("{:?}", other.listen)),
            ("dns", format!("{:?}", self.dns), format!("{:?}", other.dns)),
            ("limits", fixed(&self.limits), fixed(&other.limits)),
            ("cryptoserver", format!("{:?}", self.cryptoserver), format!("{:?}", other.cryptoserver)),
            ("engines", format!("{:?}", self.engines), format!("{:?}", other.engines)),
        ];
        pairs.into_iter().filter(|(_, own, others)| own != others).map(|(name, ..)| name).collect()
    }

    /// Where to listen.
    pub(crate) fn sockets(&self) -> Result<Vec<Socket>, SocketError> {
        self.listen.sockets.iter().map(|socket| socket.parse()).collect()
    }

    /// Name servers to ask; those of the system where there are none.
    ///
    /// # Errors
    /// One that is none.
    pub fn name_servers(&self) -> Result<Vec<SocketAddr>, ConfigError> {
        let servers = self.dns.servers.iter().map(|text| server_address(text));
        servers.collect::<Result<_, _>>().map_err(ConfigError::NameServer)
    }

    /// How the server behaves.
    pub(crate) fn settings(&self) -> Result<Settings, ConfigError> {
        let (listen, limits) = (&self.listen, &self.limits);
        let mode = u32::from_str_radix(&listen.unix_mode, 8).ok().filter(|mode| *mode <= 0o777);
        let unix_mode = mode.ok_or_else(|| ConfigError::Value {
            field: "[listen] unix_mode",
            expected: "octal digits such as \"0660\"",
            found: format!("{:?}", listen.unix_mode),
        })?;
        if unix_mode & 0o002 != 0 && listen.unix_users.is_none() {
            return Err(ConfigError::Value {
                field: "[listen] unix_mode",
                expected: "no permissions for all others, such as \"0660\", or unix_users with those that may connect",
                found: format!("{:?} without unix_users", listen.unix_mode),
            });
        }
        Ok(Settings {
            connections: limits.connections,
            idle: Duration::from_secs(limits.idle_seconds.max(1)),
            drain: Duration::from_secs(limits.drain_seconds),
            progress: Duration::from_secs(limits.progress_seconds),
            unix_mode,
            unix_group: listen.unix_group.clone(),
            unix_users: listen.unix_users.clone(),
            ..Settings::default()
        })
    }

    pub(crate) fn canonicalization(&self) -> Result<Canonicalization, UnknownForm> {
        let text = &self.signing.canonicalization;
        let (header, body) = text.split_once('/').unwrap_or((text, "simple"));
        Ok(Canonicalization { header: header.parse()?, body: body.parse()? })
    }

    pub(crate) fn signed_fields(&self) -> Result<SignedFields, ConfigError> {
        self.coverage().fields().map_err(ConfigError::Fields)
    }

    fn coverage(&self) -> Coverage {
        let Signing { signed_headers, oversigned_headers, .. } = &self.signing;
        let Coverage { signed, oversigned } = Coverage::default();
        Coverage {
            signed: signed_headers.clone().unwrap_or(signed),
            oversigned: oversigned_headers.clone().unwrap_or(oversigned),
        }
    }

    /// What is accepted of messages.
    pub(crate) fn policy(&self) -> Policy {
        let (verifying, limits) = (&self.verifying, &self.limits);
        let Policy { limits: default, .. } = Policy::default();
        Policy {
            limits: MessageLimits {
                headers: limits.headers,
                header_bytes: limits.header_bytes,
                signatures: verifying.max_signatures,
                max_lookups: verifying.max_lookups,
                ..default
            },
            min_rsa_bits: verifying.min_rsa_bits,
            accepts_sha1: verifying.accepts_sha1,
            accepts_partial_body: verifying.accepts_partial_body,
            verifies_chains: self.arc.verify || self.arc.seal.is_some(),
            clock_skew_s: verifying.clock_skew_seconds,
            ..Policy::default()
        }
    }

    pub(crate) fn cache_limits(&self) -> CacheLimits {
        let Dns { cached_names, max_ttl_seconds, max_negative_ttl_seconds, failure_seconds, .. } = &self.dns;
        CacheLimits {
            names: *cached_names,
            max_ttl_s: *max_ttl_seconds,
            max_negative_ttl_s: *max_negative_ttl_seconds,
            failure_s: *failure_seconds,
        }
    }
}

impl Engines {
    /// An accelerator's builder with these settings, where `builder` leaves room for them.
    pub(crate) fn builder(&self, builder: AcceleratorBuilder) -> AcceleratorBuilder {
        let builder = match &self.allowed {
            Some(names) => builder.engines(names.iter().map(String::as_str)),
            None => builder,
        };
        let builder = self.threads.into_iter().fold(builder, AcceleratorBuilder::threads);
        self.cross_check.into_iter().fold(builder, AcceleratorBuilder::cross_check)
    }
}

#[cfg(test)]
mod tests;
