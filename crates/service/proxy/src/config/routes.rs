//! Routes: the sections `[[route]]`.

use std::path::{Path, PathBuf};

use oarlock_network::HostNamePattern;
use oarlock_service_kit::settings::{SettingsError, expect};
use serde::Deserialize;

use super::{ClientSettings, ProxyConfig, RouteBackend, TlsSettings, TlsVersion, check_chain};

/// A route: the connections of some names, protocols and listeners, their backend, and the TLS that they get.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteSettings {
    /// The host names, exact or `*.` and a name. Default: all, and connections without a name.
    #[serde(default)]
    pub names: Vec<HostNamePattern>,
    /// The negotiated application protocols. Default: all.
    #[serde(default)]
    pub alpn: Vec<String>,
    /// The names of the listeners. Default: all.
    #[serde(default)]
    pub listeners: Vec<String>,
    /// The backend of the names.
    pub backend: RouteBackend,
    /// The directory of the route's certificates, or one file with chain and key. Default: `[certificates] path`.
    #[serde(default)]
    pub certificates: Option<PathBuf>,
    /// The application protocols that are offered, the preferred one first. Default: `[tls] alpn`.
    #[serde(default)]
    pub offer_alpn: Option<Vec<String>>,
    /// The oldest version. Default: `[tls] min_version`.
    #[serde(default)]
    pub min_version: Option<TlsVersion>,
    /// The newest version. Default: `[tls] max_version`.
    #[serde(default)]
    pub max_version: Option<TlsVersion>,
    /// The certificates of clients. Default: `[clients]`.
    #[serde(default)]
    pub clients: Option<ClientSettings>,
}

impl RouteSettings {
    /// Returns true if the route has settings of TLS of its own.
    pub(crate) fn has_tls(&self) -> bool {
        self.certificates.is_some()
            || self.offer_alpn.is_some()
            || self.min_version.is_some()
            || self.max_version.is_some()
            || self.clients.is_some()
    }

    /// Returns the settings of TLS for the clients of the route.
    pub(crate) fn tls(&self, default: &TlsSettings) -> TlsSettings {
        TlsSettings {
            min_version: self.min_version.unwrap_or(default.min_version),
            max_version: self.max_version.unwrap_or(default.max_version),
            alpn: self.offer_alpn.clone().unwrap_or_else(|| default.alpn.clone()),
            ..default.clone()
        }
    }

    /// Returns the label of the route in logs and metrics: its first name and its first protocol.
    pub(crate) fn label(&self) -> String {
        let name = self.names.first().map_or_else(|| "*".to_owned(), ToString::to_string);
        self.alpn.first().map_or(name.clone(), |protocol| format!("{name}/{protocol}"))
    }

    /// Returns true if each connection of `other` is one of this route too.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let has_names = |other: &HostNamePattern| self.names.iter().any(|name| name.covers(other));
        let covers = |mine: &[String], others: &[String]| {
            mine.is_empty() || (!others.is_empty() && others.iter().all(|other| mine.contains(other)))
        };
        (self.names.is_empty() || (!other.names.is_empty() && other.names.iter().all(has_names)))
            && covers(&self.alpn, &other.alpn)
            && covers(&self.listeners, &other.listeners)
    }

    pub(super) fn resolve_paths(&mut self, base: &Path) {
        self.certificates.iter_mut().for_each(|path| *path = base.join(&*path));
        self.clients.iter_mut().for_each(|clients| clients.resolve_paths(base));
    }
}

impl ProxyConfig {
    pub(super) fn check_routes(&self) -> Result<(), SettingsError> {
        self.route.iter().zip(1..).try_for_each(|(route, number)| self.check_route(route, number))
    }

    fn check_route(&self, route: &RouteSettings, number: usize) -> Result<(), SettingsError> {
        for name in &route.listeners {
            let is_known = self.listener_number(name).is_some();
            let expected =
                "names of [[listener]] (a new one needs a restart), or \"listen\" for [listen] sockets";
            expect("[[route]] listeners", expected, is_known, format_args!("{name:?} in route {number}"))?;
        }
        let TlsSettings { min_version, max_version, .. } = route.tls(&self.tls);
        let found = format!("{min_version} above {max_version} in route {number}");
        expect("[[route]] min_version", "not above max_version", min_version <= max_version, found)?;
        let longest = route.clients.as_ref().map_or(1, |clients| clients.max_chain_certificates);
        check_chain("[route.clients] max_chain_certificates", longest)
    }
}
