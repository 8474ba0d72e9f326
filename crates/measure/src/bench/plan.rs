//! Which rows there are.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

/// What is measured: a program with a certificate and a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub enum RowName {
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

/// Who does the server's cryptography.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub enum Provider {
    /// OpenSSL alone
    #[serde(rename = "default")]
    Default,
    /// A cryptoserver, with the key from the server's file
    #[value(name = "oarlock-service")]
    #[serde(rename = "oarlock-service")]
    Service,
    /// A cryptoserver, which alone has the key
    #[value(name = "oarlock-held")]
    #[serde(rename = "oarlock-held")]
    Held,
    /// Engines of the server's own process
    #[value(name = "oarlock-local")]
    #[serde(rename = "oarlock-local")]
    Local,
}

/// A program that is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// nginx, from PATH
    Nginx,
    /// HAProxy, from PATH
    Haproxy,
    /// This program as a cryptoserver
    Cryptoserver,
    /// This program as a mail filter
    Milter,
}

/// What a row's ratio compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Measure {
    /// Handshakes per CPU second of the servers.
    Cpu,
    /// The median latency of a handshake.
    Latency,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Rsa2048,
    P256,
}

impl RowName {
    pub(super) const ALL: [Self; 4] =
        [Self::NginxRsa2048, Self::NginxP256, Self::NginxRsa2048One, Self::HaproxyRsa2048];

    pub(super) fn program(self) -> Program {
        match self {
            Self::HaproxyRsa2048 => Program::Haproxy,
            _ => Program::Nginx,
        }
    }

    /// The default is first: the others are compared with it.
    pub(super) fn providers(self) -> &'static [Provider] {
        match self {
            Self::NginxRsa2048 => &[Provider::Default, Provider::Service, Provider::Held],
            Self::NginxP256 | Self::NginxRsa2048One => &[Provider::Default, Provider::Service],
            Self::HaproxyRsa2048 => &[Provider::Default, Provider::Local],
        }
    }

    pub(super) fn key_kind(self) -> KeyKind {
        match self {
            Self::NginxP256 => KeyKind::P256,
            _ => KeyKind::Rsa2048,
        }
    }

    pub(super) fn is_one_at_a_time(self) -> bool {
        self == Self::NginxRsa2048One
    }

    pub(super) fn measure(self) -> Measure {
        if self.is_one_at_a_time() { Measure::Latency } else { Measure::Cpu }
    }
}

impl Provider {
    pub(super) const ALL: [Self; 4] = [Self::Default, Self::Service, Self::Held, Self::Local];

    pub(super) fn has_cryptoserver(self) -> bool {
        matches!(self, Self::Service | Self::Held)
    }
}

impl Program {
    /// Where it is.
    pub(super) fn path(self) -> Option<PathBuf> {
        let name = match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Cryptoserver | Self::Milter => return std::env::current_exe().ok(),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Debian has servers where only root's PATH looks.
        let mut directories = std::env::split_paths(&path).chain([Path::new("/usr/sbin").to_owned()]);
        directories.find_map(|directory| Some(directory.join(name)).filter(|path| path.is_file()))
    }
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NginxRsa2048 => "nginx-rsa2048",
            Self::NginxP256 => "nginx-p256",
            Self::NginxRsa2048One => "nginx-rsa2048-one",
            Self::HaproxyRsa2048 => "haproxy-rsa2048",
        })
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Service => "oarlock-service",
            Self::Held => "oarlock-held",
            Self::Local => "oarlock-local",
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Cryptoserver => "cryptoserver",
            Self::Milter => "the mail filter",
        })
    }
}
