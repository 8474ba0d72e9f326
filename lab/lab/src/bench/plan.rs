//! The rows of `oarlock bench tls` and `reloads`.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::product::oarlock_path;
use clap::ValueEnum;
use serde::Serialize;

/// A row: a program with certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TlsRowName {
    /// nginx with an RSA-2048 certificate
    #[value(name = "nginx-rsa2048")]
    #[serde(rename = "nginx-rsa2048")]
    NginxRsa2048,
    /// nginx with a P-256 certificate
    #[value(name = "nginx-p256")]
    #[serde(rename = "nginx-p256")]
    NginxP256,
    /// nginx with both certificates
    NginxBoth,
    /// HAProxy with an RSA-2048 certificate
    #[value(name = "haproxy-rsa2048")]
    #[serde(rename = "haproxy-rsa2048")]
    HaproxyRsa2048,
    /// HAProxy with a P-256 certificate
    #[value(name = "haproxy-p256")]
    #[serde(rename = "haproxy-p256")]
    HaproxyP256,
    /// HAProxy with both certificates
    HaproxyBoth,
}

/// The provider of the server's cryptography.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub(crate) enum TlsProvider {
    /// OpenSSL alone
    #[serde(rename = "default")]
    Default,
    /// The default settings, with a cryptoserver at hand
    #[serde(rename = "oarlock")]
    Oarlock,
    /// A cryptoserver that gets the key from the server's file
    #[value(name = "oarlock-service")]
    #[serde(rename = "oarlock-service")]
    Service,
    /// A cryptoserver that alone has the key
    #[value(name = "oarlock-held")]
    #[serde(rename = "oarlock-held")]
    Held,
    /// Engines in the server's own process
    #[value(name = "oarlock-local")]
    #[serde(rename = "oarlock-local")]
    Local,
    /// No provider of OpenSSL: a server of rustls, with AWS-LC alone
    #[value(skip)]
    #[serde(rename = "rustls")]
    Rustls,
}

/// A program that is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BenchProgram {
    /// nginx, from PATH
    Nginx,
    /// HAProxy, from PATH
    Haproxy,
    /// This program as a cryptoserver
    Cryptoserver,
    /// This program as a mail filter
    Milter,
    /// This program as a TLS-terminating proxy
    Proxy,
    /// hitch, from PATH
    Hitch,
    /// stunnel, from PATH
    Stunnel,
    /// Unbound, from PATH
    Unbound,
    /// BIND's resolver, from PATH
    Named,
    /// Knot's authoritative server, from PATH
    Knotd,
    /// This program as a TLS server of rustls
    Rustls,
}

/// The kind of a server's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum ServerKeyKind {
    /// RSA with 2048 bits
    Rsa2048,
    /// ECDSA with the curve P-256
    P256,
}

impl TlsRowName {
    pub(super) fn program(self) -> BenchProgram {
        match self {
            Self::NginxRsa2048 | Self::NginxP256 | Self::NginxBoth => BenchProgram::Nginx,
            Self::HaproxyRsa2048 | Self::HaproxyP256 | Self::HaproxyBoth => BenchProgram::Haproxy,
        }
    }

    /// Returns the kinds of the server's keys.
    pub(super) fn key_kinds(self) -> &'static [ServerKeyKind] {
        match self {
            Self::NginxRsa2048 | Self::HaproxyRsa2048 => &[ServerKeyKind::Rsa2048],
            Self::NginxP256 | Self::HaproxyP256 => &[ServerKeyKind::P256],
            Self::NginxBoth | Self::HaproxyBoth => &[ServerKeyKind::Rsa2048, ServerKeyKind::P256],
        }
    }
}

impl TlsProvider {
    /// The providers of nginx and HAProxy.
    pub(super) const ALL: [Self; 5] = [Self::Default, Self::Oarlock, Self::Service, Self::Held, Self::Local];

    /// Returns the program of a row that this provider is measured with.
    pub(super) fn program(self, name: TlsRowName) -> BenchProgram {
        if self == Self::Rustls { BenchProgram::Rustls } else { name.program() }
    }

    pub(super) fn has_cryptoserver(self) -> bool {
        matches!(self, Self::Oarlock | Self::Service | Self::Held)
    }
}

impl BenchProgram {
    /// Returns the path of the program, if it is installed.
    pub(super) fn path(self) -> Option<PathBuf> {
        let name = match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Hitch => "hitch",
            Self::Stunnel => "stunnel",
            Self::Unbound => "unbound",
            Self::Named => "named",
            Self::Knotd => "knotd",
            Self::Cryptoserver | Self::Milter | Self::Proxy => return oarlock_path().ok(),
            Self::Rustls => return std::env::current_exe().ok(),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Debian installs servers in /usr/sbin, which only root's PATH contains.
        let mut directories = std::env::split_paths(&path).chain([Path::new("/usr/sbin").to_owned()]);
        directories.find_map(|directory| Some(directory.join(name)).filter(|path| path.is_file()))
    }

    /// Returns the package of Debian and Ubuntu that has the program. None for `oarlock`.
    pub(super) fn package(self) -> Option<&'static str> {
        match self {
            Self::Nginx => Some("nginx"),
            Self::Haproxy => Some("haproxy"),
            Self::Hitch => Some("hitch"),
            Self::Stunnel => Some("stunnel4"),
            Self::Unbound => Some("unbound"),
            Self::Named => Some("bind9"),
            Self::Knotd => Some("knot"),
            Self::Cryptoserver | Self::Milter | Self::Proxy | Self::Rustls => None,
        }
    }
}

impl fmt::Display for TlsRowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NginxRsa2048 => "nginx-rsa2048",
            Self::NginxP256 => "nginx-p256",
            Self::NginxBoth => "nginx-both",
            Self::HaproxyRsa2048 => "haproxy-rsa2048",
            Self::HaproxyP256 => "haproxy-p256",
            Self::HaproxyBoth => "haproxy-both",
        })
    }
}

impl fmt::Display for ServerKeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rsa2048 => "rsa2048",
            Self::P256 => "p256",
        })
    }
}

impl fmt::Display for TlsProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Oarlock => "oarlock",
            Self::Service => "oarlock-service",
            Self::Held => "oarlock-held",
            Self::Local => "oarlock-local",
            Self::Rustls => "rustls",
        })
    }
}

impl fmt::Display for BenchProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Cryptoserver => "cryptoserver",
            Self::Milter => "the mail filter",
            Self::Proxy => "oarlock proxy",
            Self::Hitch => "hitch",
            Self::Stunnel => "stunnel",
            Self::Unbound => "unbound",
            Self::Named => "named",
            Self::Knotd => "knotd",
            Self::Rustls => "rustls",
        })
    }
}
