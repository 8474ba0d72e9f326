//! The rows of `oarlock bench tls` and `reloads`.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::product::oarlock_path;
use clap::ValueEnum;
use serde::Serialize;

/// A row: a program with a certificate and a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub(crate) enum TlsRowName {
    /// nginx with an RSA-2048 certificate
    #[value(name = "nginx-rsa2048")]
    #[serde(rename = "nginx-rsa2048")]
    NginxRsa2048,
    /// nginx with a P-256 certificate
    #[value(name = "nginx-p256")]
    #[serde(rename = "nginx-p256")]
    NginxP256,
    /// nginx with an RSA-2048 certificate, one connection at a time
    #[value(name = "nginx-rsa2048-one")]
    #[serde(rename = "nginx-rsa2048-one")]
    NginxRsa2048One,
    /// HAProxy with an RSA-2048 certificate
    #[value(name = "haproxy-rsa2048")]
    #[serde(rename = "haproxy-rsa2048")]
    HaproxyRsa2048,
}

/// The provider of the server's cryptography.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub(crate) enum TlsProvider {
    /// OpenSSL alone
    #[serde(rename = "default")]
    Default,
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

/// The quantity that a row's ratio compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RatioBasis {
    /// Handshakes per CPU second of the servers.
    Cpu,
    /// The median latency of a handshake.
    Latency,
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
    pub(super) const ALL: [Self; 4] =
        [Self::NginxRsa2048, Self::NginxP256, Self::NginxRsa2048One, Self::HaproxyRsa2048];

    pub(super) fn program(self) -> BenchProgram {
        match self {
            Self::HaproxyRsa2048 => BenchProgram::Haproxy,
            _ => BenchProgram::Nginx,
        }
    }

    /// Returns the providers of the row. The others are compared with the first one. With `beside_rustls` the last one
    /// is rustls.
    pub(super) fn providers(self, beside_rustls: bool) -> Vec<TlsProvider> {
        let of_openssl: &[TlsProvider] = match self {
            Self::NginxRsa2048 => &[TlsProvider::Default, TlsProvider::Service, TlsProvider::Held],
            Self::NginxP256 | Self::NginxRsa2048One => &[TlsProvider::Default, TlsProvider::Service],
            Self::HaproxyRsa2048 => &[TlsProvider::Default, TlsProvider::Local],
        };
        let rustls = beside_rustls.then_some(TlsProvider::Rustls);
        of_openssl.iter().copied().chain(rustls).collect()
    }

    pub(super) fn key_kind(self) -> ServerKeyKind {
        match self {
            Self::NginxP256 => ServerKeyKind::P256,
            _ => ServerKeyKind::Rsa2048,
        }
    }

    pub(super) fn is_one_at_a_time(self) -> bool {
        self == Self::NginxRsa2048One
    }

    pub(super) fn measure(self) -> RatioBasis {
        if self.is_one_at_a_time() { RatioBasis::Latency } else { RatioBasis::Cpu }
    }
}

impl TlsProvider {
    /// The providers of nginx and HAProxy.
    pub(super) const ALL: [Self; 4] = [Self::Default, Self::Service, Self::Held, Self::Local];

    /// Returns the program of a row that this provider is measured with.
    pub(super) fn program(self, name: TlsRowName) -> BenchProgram {
        if self == Self::Rustls { BenchProgram::Rustls } else { name.program() }
    }

    pub(super) fn has_cryptoserver(self) -> bool {
        matches!(self, Self::Service | Self::Held)
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
            Self::NginxRsa2048One => "nginx-rsa2048-one",
            Self::HaproxyRsa2048 => "haproxy-rsa2048",
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
