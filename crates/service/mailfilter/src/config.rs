//! The settings file `milter.toml`.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use oarlock_dkim::{
    CacheLimits, Canonicalization, HeaderCoverage, MailLimits, SignedFields, SignerError, UnknownForm,
    VerifyPolicy,
};
use oarlock_hsm::HsmSettings;
use oarlock_mail_files::dns::{ResolverError, TrustedValidators, server_address};
use oarlock_network::IpNetwork;
use oarlock_service_kit::settings::{SettingsError, expect, expect_paths, parse_unix_mode, read_settings};
use oarlock_service_kit::{EngineSettings, resolve_key_path};
use oarlock_wire::ServerSettings;
use serde::Deserialize;

use crate::client_list::{ClientList, DomainList};
use crate::outcome::FaultResponses;
use oarlock_milter::server::MilterSettings;
use oarlock_milter::socket::{MilterSocket, SocketError};

/// The default socket of the filter. A UNIX socket has permissions and reports the peer's user, which TCP does not.
const DEFAULT_SOCKET: &str = "unix:/run/oarlock-milter/milter.sock";

/// All settings of the filter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilterConfig {
    /// The mode: sign, verify or both.
    pub mode: FilterMode,
    /// The name in `Authentication-Results`. Default: the name of the host.
    pub authserv_id: Option<String>,
    /// The clients whose messages are signed without authentication. Messages from UNIX sockets are signed too.
    #[serde(alias = "internal_networks")]
    pub internal_hosts: ClientList,
    /// The clients and authors whose messages are neither signed nor verified.
    pub exempt: ExemptSettings,
    /// The other sources of `Authentication-Results` that are believed.
    pub trusted_results: TrustedResults,
    /// The sockets.
    pub listen: ListenSettings,
    /// The settings for signing.
    pub signing: SigningSettings,
    /// The settings for verifying.
    pub verifying: VerifyingSettings,
    /// The settings for ARC chains.
    pub arc: ArcSettings,
    /// The responses to faulty messages.
    pub on: FaultResponses,
    /// The settings for key records.
    pub dns: DnsSettings,
    /// The bounds of connections, headers and time.
    pub limits: FilterLimits,
    /// The cryptoserver that holds keys, if there is one.
    pub cryptoserver: Option<ServerSettings>,
    /// The devices that hold keys.
    #[serde(rename = "hsm")]
    pub devices: Vec<HsmSettings>,
    /// The settings for engines.
    pub engines: EngineSettings,
}

/// The mode of the filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FilterMode {
    /// Signs own messages and lets others pass.
    Sign,
    /// Verifies all messages.
    Verify,
    /// Signs own messages and verifies others.
    #[default]
    Both,
}

impl FilterMode {
    /// Returns true if messages are signed.
    #[must_use]
    pub fn signs(self) -> bool {
        self != Self::Verify
    }

    /// Returns true if messages are verified.
    #[must_use]
    pub fn verifies(self) -> bool {
        self != Self::Sign
    }
}

/// The other sources of `Authentication-Results` at this site. ARC sets contain their results beside those of this
/// filter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrustedResults {
    /// The hosts of this site that verify before this filter and remove forged fields under its names.
    pub networks: Vec<IpNetwork>,
    /// The names that those hosts write besides `authserv_id`.
    pub authserv_ids: Vec<String>,
    /// The names of filters that run earlier in the same MTA. The MTA must remove these names from incoming messages.
    pub filters: Vec<String>,
}

/// The messages that are exempt from signing, verifying or both.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExemptSettings {
    /// The task from which the messages are exempt.
    pub mode: FilterMode,
    /// The clients whose messages are exempt.
    pub hosts: ClientList,
    /// The domains of `From` whose messages are exempt.
    pub domains: DomainList,
}

/// The rule for the `From` of authenticated clients whose messages are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequiredFrom {
    /// Any `From` is signed.
    Any,
    /// The domain of `From` must be that of MAIL FROM.
    #[default]
    MailFromDomain,
    /// The address of `From` must be that of MAIL FROM.
    MailFrom,
}

/// The source of the address that selects the lines of the signing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressSource {
    /// The field `From`.
    From,
    /// The field `Sender`, in which lists and forwarders name themselves.
    Sender,
    /// The envelope sender.
    MailFrom,
}

/// The sockets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ListenSettings {
    /// The sockets for MTAs.
    pub sockets: Vec<String>,
    /// The permissions of UNIX sockets in octal digits.
    pub unix_mode: String,
    /// The group of UNIX sockets, by name or number.
    pub unix_group: Option<String>,
    /// The users that may connect to UNIX sockets, by name or number, besides root and the filter's own user. Default:
    /// the members of the socket's group.
    pub unix_users: Option<Vec<String>>,
    /// The HTTP address for Prometheus metrics and a health check. Anyone who reaches it can read them.
    pub metrics: Option<SocketAddr>,
}

/// The settings for signing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SigningSettings {
    /// The signing table: a text file or a SQLite database. Without it nothing is signed.
    pub table: Option<PathBuf>,
    /// The interval in seconds at which the table is checked for changes. 0 turns the check off.
    pub reload_seconds: u64,
    /// The sources of the address that selects the lines of the table. The first that may sign counts.
    pub domain_from: Vec<AddressSource>,
    /// The rule for the `From` of authenticated clients.
    pub require_from: RequiredFrom,
    /// The value of `c=`.
    pub canonicalization: String,
    /// The fields to sign if they are present. Default: those of RFC 6376 5.4.1.
    pub signed_headers: Option<Vec<String>>,
    /// The fields that nobody can add again. Default: the fields that mail programs show or interpret.
    pub oversigned_headers: Option<Vec<String>>,
    /// The lifetime of signatures for `x=`, in seconds. 0 never expires.
    pub lifetime_seconds: u64,
    /// True to use private keys that other users can read.
    pub allows_open_keys: bool,
}

/// The settings for verifying.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyingSettings {
    /// The minimum length of RSA keys in bits, 1024 to 4096.
    pub min_rsa_bits: u32,
    /// True if rsa-sha1 may pass.
    pub accepts_sha1: bool,
    /// True if a signature may pass whose `l=` leaves a part of the body unsigned.
    pub accepts_partial_body: bool,
    /// True if only signatures pass whose keys are protected by DNSSEC.
    pub requires_dnssec: bool,
    /// The maximum number of signatures of a message that are verified.
    pub max_signatures: usize,
    /// The maximum number of key records that are looked up for one message, its ARC chain included.
    pub max_lookups: usize,
    /// The maximum difference of clocks in seconds.
    pub clock_skew_seconds: u64,
}

/// The settings for ARC chains. RFC 8617.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArcSettings {
    /// True to verify chains.
    pub verify: bool,
    /// The key to seal verified messages with. Sealing also verifies chains.
    pub seal: Option<SealSettings>,
}

/// The identity and key of seals.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealSettings {
    /// The value of `d=`.
    pub domain: String,
    /// The value of `s=`.
    pub selector: String,
    /// The key file, or the URI of a key in a device.
    pub key: PathBuf,
}

/// The settings for key records.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DnsSettings {
    /// The name servers, with or without a port. Default: those of `/etc/resolv.conf`.
    pub servers: Vec<String>,
    /// True if results and metrics show whether keys are protected by DNSSEC, as a trusted name server states.
    pub dnssec: bool,
    /// The name servers whose statement on DNSSEC is believed, besides those at loopback addresses.
    pub trusted_resolvers: Vec<IpAddr>,
    /// The maximum time for a lookup in milliseconds.
    pub timeout_ms: u64,
    /// The maximum number of names in the cache.
    pub max_cached_names: usize,
    /// The maximum time to keep records in seconds.
    pub max_ttl_seconds: u64,
    /// The maximum time to keep the answer that there is no record, in seconds.
    pub max_negative_ttl_seconds: u64,
    /// The time to keep a failed lookup in seconds.
    pub failure_seconds: u64,
}

/// The limits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FilterLimits {
    /// The maximum number of connections from MTAs.
    pub max_connections: usize,
    /// The maximum number of header fields in a message.
    pub max_headers: usize,
    /// The maximum length of all header fields of a message in bytes.
    pub max_header_bytes: usize,
    /// The maximum time without data on a connection, in seconds.
    pub max_idle_seconds: u64,
    /// The maximum time for messages in progress during shutdown, in seconds.
    pub max_drain_seconds: u64,
    /// The interval of progress replies at the end of a message, in seconds.
    pub progress_seconds: u64,
}

impl Default for FilterConfig {
    fn default() -> Self {
        let local = ["127.0.0.0/8", "::1"].map(str::to_owned);
        Self {
            mode: FilterMode::default(),
            authserv_id: None,
            internal_hosts: local.to_vec().try_into().unwrap_or_default(),
            exempt: ExemptSettings::default(),
            trusted_results: TrustedResults::default(),
            listen: ListenSettings::default(),
            signing: SigningSettings::default(),
            verifying: VerifyingSettings::default(),
            arc: ArcSettings::default(),
            on: FaultResponses::default(),
            dns: DnsSettings::default(),
            limits: FilterLimits::default(),
            cryptoserver: None,
            devices: Vec::new(),
            engines: EngineSettings::default(),
        }
    }
}

impl Default for ListenSettings {
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

impl Default for SigningSettings {
    fn default() -> Self {
        Self {
            table: None,
            reload_seconds: 5,
            domain_from: vec![AddressSource::From],
            require_from: RequiredFrom::default(),
            canonicalization: "relaxed/relaxed".to_owned(),
            signed_headers: None,
            oversigned_headers: None,
            lifetime_seconds: 0,
            allows_open_keys: false,
        }
    }
}

impl Default for VerifyingSettings {
    fn default() -> Self {
        let VerifyPolicy {
            limits,
            min_rsa_bits,
            accepts_sha1,
            accepts_partial_body,
            requires_dnssec,
            clock_skew_s,
            ..
        } = VerifyPolicy::default();
        Self {
            min_rsa_bits,
            accepts_sha1,
            accepts_partial_body,
            requires_dnssec,
            max_signatures: limits.max_signatures,
            max_lookups: limits.max_lookups,
            clock_skew_seconds: clock_skew_s,
        }
    }
}

impl Default for DnsSettings {
    fn default() -> Self {
        let CacheLimits { max_names, max_ttl_s, max_negative_ttl_s, failure_s } = CacheLimits::default();
        Self {
            servers: Vec::new(),
            dnssec: false,
            trusted_resolvers: Vec::new(),
            timeout_ms: 10_000,
            max_cached_names: max_names,
            max_ttl_seconds: max_ttl_s,
            max_negative_ttl_seconds: max_negative_ttl_s,
            failure_seconds: failure_s,
        }
    }
}

impl Default for FilterLimits {
    fn default() -> Self {
        let MilterSettings { max_connections, max_idle, max_drain, progress_interval, .. } =
            MilterSettings::default();
        let MailLimits { max_headers, max_header_bytes, .. } = MailLimits::default();
        Self {
            max_connections,
            max_headers,
            max_header_bytes,
            max_idle_seconds: max_idle.as_secs(),
            max_drain_seconds: max_drain.as_secs(),
            progress_seconds: progress_interval.as_secs(),
        }
    }
}

/// An error in the settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterConfigError {
    /// The file cannot be read, or a value is not allowed.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The address of a socket is not valid.
    #[error("[listen] sockets: {0}")]
    Socket(#[from] SocketError),
    /// The canonicalization is not valid.
    #[error("[signing] canonicalization: {0}")]
    Form(#[from] UnknownForm),
    /// A field name is not valid, or `From` is missing.
    #[error("[signing] signed_headers and oversigned_headers: {0}")]
    Fields(SignerError),
    /// The address of a name server is not valid.
    #[error("[dns] servers: {0}")]
    NameServer(ResolverError),
}

impl FilterConfig {
    /// Reads and checks a file. Relative paths in it start at its directory.
    ///
    /// # Errors
    /// The file cannot be read, or a setting is not valid.
    pub fn read(path: &Path) -> Result<Self, FilterConfigError> {
        let config = read_settings(path, Self::resolve_paths)?;
        config.check()?;
        Ok(config)
    }

    fn resolve_paths(&mut self, base: &Path) {
        self.arc.seal.iter_mut().for_each(|seal| resolve_key_path(&mut seal.key, base));
        self.cryptoserver.iter_mut().for_each(|server| server.resolve_paths(base));
        self.devices.iter_mut().for_each(|device| device.resolve_paths(base));
        self.signing.table.iter_mut().for_each(|path| *path = base.join(&*path));
    }

    /// Checks the settings without touching any file or socket.
    ///
    /// # Errors
    /// The first setting that is not valid.
    pub fn check(&self) -> Result<(), FilterConfigError> {
        let seal = self.arc.seal.iter().map(|seal| ("[arc] seal.key", &seal.key));
        let server = self.cryptoserver.iter().flat_map(|server| &server.private_key);
        expect_paths(seal.chain(server.map(|path| ("[cryptoserver] private_key", path))))?;
        HsmSettings::check_all(&self.devices).map_err(SettingsError::from)?;
        self.sockets()?;
        self.settings()?;
        self.name_servers()?;
        self.canonicalization()?;
        self.signed_fields()?;
        let (limits, verifying) = (&self.limits, &self.verifying);
        let sockets = &self.listen.sockets;
        expect("[listen] sockets", "at least one", !sockets.is_empty(), format_args!("{sockets:?}"))?;
        for (field, found) in [
            ("[limits] max_connections", limits.max_connections),
            ("[limits] max_headers", limits.max_headers),
            ("[limits] max_header_bytes", limits.max_header_bytes),
            ("[dns] max_cached_names", self.dns.max_cached_names),
        ] {
            expect(field, "1 or more", found > 0, found)?;
        }
        expect("[limits] progress_seconds", "1 or more", limits.progress_seconds > 0, 0)?;
        expect("[dns] timeout_ms", "1 or more", self.dns.timeout_ms > 0, 0)?;
        let bits = verifying.min_rsa_bits;
        expect("[verifying] min_rsa_bits", "1024 to 4096", (1024..=4096).contains(&bits), bits)?;
        let sources = &self.signing.domain_from;
        let is_set = (1..=sources.len()).all(|end| !sources[..end - 1].contains(&sources[end - 1]));
        let expected = "one or more of \"from\", \"sender\" and \"mail_from\", each once";
        expect(
            "[signing] domain_from",
            expected,
            is_set && !sources.is_empty(),
            format_args!("{sources:?}"),
        )?;
        let is_known = self.dns.dnssec || !verifying.requires_dnssec;
        expect("[verifying] requires_dnssec", "false, or [dns] dnssec = true", is_known, true)?;
        self.engines.check()?;
        let TrustedResults { authserv_ids, filters, .. } = &self.trusted_results;
        let names = self.authserv_id.iter().map(|id| ("authserv_id", id));
        let names = names.chain(authserv_ids.iter().map(|id| ("[trusted_results] authserv_ids", id)));
        for (field, id) in names.chain(filters.iter().map(|id| ("[trusted_results] filters", id))) {
            let is_name =
                !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic() && !b"\";()".contains(&byte));
            let expected = "a name without spaces, quotes, semicolons and parentheses";
            expect(field, expected, is_name, format_args!("{id:?}"))?;
        }
        Ok(())
    }

    /// Returns the names of the sections whose changes need a restart.
    pub(crate) fn fixed_changes(&self, other: &Self) -> Vec<&'static str> {
        let fixed = |limits: &FilterLimits| {
            let FilterLimits {
                max_connections, max_idle_seconds, max_drain_seconds, progress_seconds, ..
            } = *limits;
            format!("{:?}", (max_connections, max_idle_seconds, max_drain_seconds, progress_seconds))
        };
        // A reload replaces the users.
        let listen = ListenSettings { unix_users: self.listen.unix_users.clone(), ..other.listen.clone() };
        let pairs = [
            ("listen", format!("{:?}", self.listen), format!("{listen:?}")),
            ("dns", format!("{:?}", self.dns), format!("{:?}", other.dns)),
            ("limits", fixed(&self.limits), fixed(&other.limits)),
            ("cryptoserver", format!("{:?}", self.cryptoserver), format!("{:?}", other.cryptoserver)),
            ("hsm", format!("{:?}", self.devices), format!("{:?}", other.devices)),
            ("engines", format!("{:?}", self.engines), format!("{:?}", other.engines)),
        ];
        pairs.into_iter().filter(|(_, value, others)| value != others).map(|(name, ..)| name).collect()
    }

    /// Returns the addresses to listen at.
    pub(crate) fn sockets(&self) -> Result<Vec<MilterSocket>, SocketError> {
        self.listen.sockets.iter().map(|socket| socket.parse()).collect()
    }

    /// Returns the name servers. An empty list means those of the system.
    ///
    /// # Errors
    /// An address is not valid.
    pub fn name_servers(&self) -> Result<Vec<SocketAddr>, FilterConfigError> {
        let servers = self.dns.servers.iter().map(|text| server_address(text));
        servers.collect::<Result<_, _>>().map_err(FilterConfigError::NameServer)
    }

    /// Returns the name servers that are trusted with DNSSEC, or None if it is not asked for.
    #[must_use]
    pub fn validators(&self) -> Option<TrustedValidators> {
        self.dns.dnssec.then(|| TrustedValidators(self.dns.trusted_resolvers.clone()))
    }

    /// Returns the settings of the server.
    pub(crate) fn settings(&self) -> Result<MilterSettings, FilterConfigError> {
        let (listen, limits) = (&self.listen, &self.limits);
        let unix_mode = parse_unix_mode(&listen.unix_mode)?;
        let is_closed = unix_mode & 0o002 == 0 || listen.unix_users.is_some();
        let expected = "no permissions for others, such as \"0660\", or a list unix_users";
        let found = format_args!("{:?} without unix_users", listen.unix_mode);
        expect("[listen] unix_mode", expected, is_closed, found)?;
        Ok(MilterSettings {
            max_connections: limits.max_connections,
            max_idle: Duration::from_secs(limits.max_idle_seconds.max(1)),
            max_drain: Duration::from_secs(limits.max_drain_seconds),
            progress_interval: Duration::from_secs(limits.progress_seconds),
            unix_mode,
            unix_group: listen.unix_group.clone(),
            unix_users: listen.unix_users.clone(),
            ..MilterSettings::default()
        })
    }

    pub(crate) fn canonicalization(&self) -> Result<Canonicalization, UnknownForm> {
        let text = &self.signing.canonicalization;
        let (header, body) = text.split_once('/').unwrap_or((text, "simple"));
        Ok(Canonicalization { header: header.parse()?, body: body.parse()? })
    }

    pub(crate) fn signed_fields(&self) -> Result<SignedFields, FilterConfigError> {
        self.coverage().fields().map_err(FilterConfigError::Fields)
    }

    fn coverage(&self) -> HeaderCoverage {
        let SigningSettings { signed_headers, oversigned_headers, .. } = &self.signing;
        let HeaderCoverage { signed, oversigned } = HeaderCoverage::default();
        HeaderCoverage {
            signed: signed_headers.clone().unwrap_or(signed),
            oversigned: oversigned_headers.clone().unwrap_or(oversigned),
        }
    }

    /// Returns the policy for verifying.
    pub(crate) fn policy(&self) -> VerifyPolicy {
        let (verifying, limits) = (&self.verifying, &self.limits);
        let VerifyPolicy { limits: default, .. } = VerifyPolicy::default();
        VerifyPolicy {
            limits: MailLimits {
                max_headers: limits.max_headers,
                max_header_bytes: limits.max_header_bytes,
                max_signatures: verifying.max_signatures,
                max_lookups: verifying.max_lookups,
                ..default
            },
            min_rsa_bits: verifying.min_rsa_bits,
            accepts_sha1: verifying.accepts_sha1,
            accepts_partial_body: verifying.accepts_partial_body,
            verifies_chains: self.arc.verify || self.arc.seal.is_some(),
            requires_dnssec: verifying.requires_dnssec,
            clock_skew_s: verifying.clock_skew_seconds,
            ..VerifyPolicy::default()
        }
    }

    pub(crate) fn cache_limits(&self) -> CacheLimits {
        let DnsSettings {
            max_cached_names, max_ttl_seconds, max_negative_ttl_seconds, failure_seconds, ..
        } = &self.dns;
        CacheLimits {
            max_names: *max_cached_names,
            max_ttl_s: *max_ttl_seconds,
            max_negative_ttl_s: *max_negative_ttl_seconds,
            failure_s: *failure_seconds,
        }
    }
}

#[cfg(test)]
mod tests;
