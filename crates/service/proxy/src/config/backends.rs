//! Backends: the sections `[backend]` and `[[backend]]`, and the backends of routes.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use oarlock_service_kit::resolve_key_path;
use oarlock_service_kit::settings::{SettingsError, expect};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{BackendAddress, CheckSettings, check_chain, max_chain_certificates};
use crate::header::HeaderVersion;

/// The maximum number of addresses of a backend.
const MAX_ADDRESSES: usize = 256;

/// The maximum length of a backend's name, in bytes.
const MAX_NAME_LEN: usize = 64;

/// A backend: one or more addresses that serve the same.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BackendSettings {
    /// The name by which routes refer to the backend. A backend without a name serves the connections without a route.
    pub name: Option<String>,
    /// The address, if there is only one: `HOST:PORT` or `unix:PATH`.
    pub address: Option<BackendAddress>,
    /// The addresses, if there are several.
    pub addresses: Vec<EndpointSettings>,
    /// The rule that chooses among the addresses.
    pub balance: BalanceRule,
    /// The health checks of the addresses. Default: only failed connects tell.
    pub check: Option<CheckSettings>,
    /// The interval at which names of hosts are looked up again.
    pub resolve_seconds: u64,
    /// The version of the PROXY header that the backend gets, if any.
    pub proxy_protocol: Option<HeaderVersion>,
    /// True if a PROXY header of version 2 has a checksum.
    pub proxy_checksum: bool,
    /// The settings of TLS to the backend, if it has TLS.
    pub tls: Option<BackendTlsSettings>,
}

/// An address of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointSettings {
    /// The address: `HOST:PORT` or `unix:PATH`.
    pub address: BackendAddress,
    /// True if the address is used only while no address without this setting can be used.
    pub backup: bool,
    /// True if the address gets no new connections.
    pub drain: bool,
}

/// The rule that chooses among the addresses of a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BalanceRule {
    /// Each address in turn.
    #[default]
    RoundRobin,
    /// The address with the fewest open connections.
    LeastConnections,
    /// The same address for all connections of a client's IP address, as long as it can be used.
    SourceHash,
}

/// TLS to a backend.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackendTlsSettings {
    /// The authorities that issue the backend's certificate, in PEM.
    pub authorities: PathBuf,
    /// The name in the backend's certificate. Default: the host of the address.
    #[serde(default)]
    pub server_name: Option<String>,
    /// The application protocols that are offered. Default: in the mode `server` the one that the client negotiated.
    #[serde(default)]
    pub alpn: Vec<String>,
    /// The proxy's own certificate for the backend, with its chain.
    #[serde(default)]
    pub certificate: Option<PathBuf>,
    /// The file of that certificate's private key, or the URI of a key in a device.
    #[serde(default)]
    pub private_key: Option<PathBuf>,
    /// The maximum certificates in the backend's chain, its own one included, 1 to 32.
    #[serde(default = "max_chain_certificates")]
    pub max_chain_certificates: usize,
}

/// The backend of a route.
#[derive(Clone, Debug, PartialEq)]
pub enum RouteBackend {
    /// The name of a `[[backend]]`.
    Named(String),
    /// A backend of this route alone.
    Inline(Box<BackendSettings>),
}

impl Default for BackendSettings {
    fn default() -> Self {
        Self {
            name: None,
            address: None,
            addresses: Vec::new(),
            balance: BalanceRule::default(),
            check: None,
            resolve_seconds: 30,
            proxy_protocol: None,
            proxy_checksum: false,
            tls: None,
        }
    }
}

impl BackendSettings {
    /// Returns the settings of a backend without TLS and without a header.
    #[must_use]
    pub fn plain(address: BackendAddress) -> Self {
        Self { address: Some(address), ..Self::default() }
    }

    /// Returns the addresses.
    pub fn endpoints(&self) -> impl Iterator<Item = EndpointSettings> {
        self.address.iter().cloned().map(EndpointSettings::from).chain(self.addresses.iter().cloned())
    }

    /// Returns the name, or the first address of a backend without a name.
    pub(crate) fn label(&self) -> String {
        let first = || self.endpoints().next().map(|endpoint| endpoint.address.to_string());
        self.name.clone().or_else(first).unwrap_or_default()
    }

    pub(super) fn resolve_paths(&mut self, base: &Path) {
        let Some(tls) = &mut self.tls else { return };
        tls.private_key.iter_mut().for_each(|path| resolve_key_path(path, base));
        for path in tls.certificate.iter_mut().chain([&mut tls.authorities]) {
            *path = base.join(&*path);
        }
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        self.check_addresses()?;
        let seconds = self.resolve_seconds;
        expect("[backend] resolve_seconds", "1 to 86400", (1..=86_400).contains(&seconds), seconds)?;
        self.check.iter().try_for_each(|check| check.check(self.tls.is_some()))?;
        let Some(tls) = &self.tls else { return Ok(()) };
        let is_unix = |endpoint: &EndpointSettings| matches!(endpoint.address, BackendAddress::Unix(_));
        let has_name = tls.server_name.is_some() || !self.endpoints().any(|endpoint| is_unix(&endpoint));
        expect("[backend.tls] server_name", "a name, because an address has none", has_name, "nothing")?;
        let is_pair = tls.certificate.is_some() == tls.private_key.is_some();
        expect("[backend.tls] certificate", "a private_key beside it", is_pair, "only one of both")?;
        check_chain("[backend.tls] max_chain_certificates", tls.max_chain_certificates)
    }

    fn check_addresses(&self) -> Result<(), SettingsError> {
        if let Some(name) = &self.name {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            let is_name = (1..=MAX_NAME_LEN).contains(&name.len()) && name.bytes().all(is_letter);
            let expected = "1 to 64 letters, digits, dots, hyphens and underscores";
            expect("[backend] name", expected, is_name, format_args!("{name:?}"))?;
        }
        let is_one = self.address.is_none() || self.addresses.is_empty();
        expect("[backend] addresses", "none beside address", is_one, self.found(self.addresses.len()))?;
        let endpoints: Vec<_> = self.endpoints().collect();
        let is_number = (1..=MAX_ADDRESSES).contains(&endpoints.len());
        expect("[backend] addresses", "1 to 256 addresses", is_number, self.found(endpoints.len()))?;
        let mut seen = BTreeSet::new();
        let mut addresses = endpoints.iter().map(|endpoint| endpoint.address.to_string());
        let twice = addresses.find(|address| !seen.insert(address.clone()));
        let shown = twice.as_deref().unwrap_or_default();
        expect("[backend] addresses", "no address twice", twice.is_none(), self.found(shown))?;
        let is_used = endpoints.iter().any(|endpoint| !endpoint.drain);
        expect("[backend] addresses", "at least one without drain", is_used, self.found("drain in all"))?;
        let is_first = endpoints.iter().any(|endpoint| !endpoint.backup);
        expect("[backend] addresses", "at least one without backup", is_first, self.found("backup in all"))
    }

    /// Returns a value found, with the backend that has it.
    fn found(&self, value: impl fmt::Display) -> String {
        match &*self.label() {
            "" => value.to_string(),
            label => format!("{value} in the backend {label}"),
        }
    }
}

/// Checks that each backend has its own name, and that at most one has none.
pub(super) fn check_names(backends: &[BackendSettings]) -> Result<(), SettingsError> {
    let unnamed = backends.iter().filter(|backend| backend.name.is_none()).count();
    expect(
        "[[backend]] name",
        "a name in all backends but one",
        unnamed <= 1,
        format_args!("{unnamed} without"),
    )?;
    let mut seen = BTreeSet::new();
    let twice = backends.iter().flat_map(|backend| &backend.name).find(|name| !seen.insert(*name));
    expect("[[backend]] name", "no name twice", twice.is_none(), format_args!("{twice:?}"))
}

impl From<BackendAddress> for EndpointSettings {
    fn from(address: BackendAddress) -> Self {
        Self { address, backup: false, drain: false }
    }
}

impl<'de> Deserialize<'de> for EndpointSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct EndpointTable {
            address: BackendAddress,
            #[serde(default)]
            backup: bool,
            #[serde(default)]
            drain: bool,
        }
        let address = |text: &str| text.parse::<BackendAddress>().map(Self::from);
        let table = |EndpointTable { address, backup, drain }| Self { address, backup, drain };
        deserialize_either(deserializer, "an address or a table with an address", address, table)
    }
}

impl<'de> Deserialize<'de> for RouteBackend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = |name: &str| Ok::<_, fmt::Error>(Self::Named(name.to_owned()));
        deserialize_either(deserializer, "the name of a [[backend]] or a table", name, Self::Inline)
    }
}

/// Deserializes a text or a table.
fn deserialize_either<'de, D, T, V, E>(
    deserializer: D,
    expected: &'static str,
    from_text: impl FnOnce(&str) -> Result<V, E>,
    from_table: impl FnOnce(T) -> V,
) -> Result<V, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
    E: fmt::Display,
{
    struct Either<A, B, T>(&'static str, A, B, std::marker::PhantomData<T>);

    impl<'de, V, E, T, A, B> Visitor<'de> for Either<A, B, T>
    where
        A: FnOnce(&str) -> Result<V, E>,
        B: FnOnce(T) -> V,
        T: Deserialize<'de>,
        E: fmt::Display,
    {
        type Value = V;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<F: Error>(self, text: &str) -> Result<V, F> {
            (self.1)(text).map_err(F::custom)
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<V, M::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(self.2)
        }
    }

    deserializer.deserialize_any(Either(expected, from_text, from_table, std::marker::PhantomData))
}

/// Deserializes `[backend]`, one table, or `[[backend]]`, several.
pub(super) fn one_or_several<'de, D>(deserializer: D) -> Result<Vec<BackendSettings>, D::Error>
where
    D: Deserializer<'de>,
{
    struct Backends;

    impl<'de> Visitor<'de> for Backends {
        type Value = Vec<BackendSettings>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table [backend] or tables [[backend]]")
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
            BackendSettings::deserialize(MapAccessDeserializer::new(map)).map(|backend| vec![backend])
        }

        fn visit_seq<S: SeqAccess<'de>>(self, tables: S) -> Result<Self::Value, S::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(tables))
        }
    }

    deserializer.deserialize_any(Backends)
}

#[cfg(test)]
mod tests;
