//! Values of settings: addresses, versions, groups and ciphers.

use std::fmt;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use rustls::{CipherSuite, NamedGroup};
use serde::{Deserialize, Deserializer};

use crate::header::HeaderVersion;

/// An address to listen at.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ListenAddress {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A port at every address of this machine.
    AnyAddress(u16),
    /// The path of a UNIX socket.
    Unix(PathBuf),
    /// The sockets that systemd passes.
    Systemd,
}

/// The address of a backend.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum BackendAddress {
    /// A host, by name or address, and a port.
    Tcp {
        /// The name or the address, without brackets.
        host: String,
        /// The port of the backend.
        port: u16,
    },
    /// The path of a UNIX socket.
    Unix(PathBuf),
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2.
    #[serde(rename = "1.2")]
    Tls12,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    Tls13,
}

/// A group of key exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum KeyGroup {
    /// X25519 with ML-KEM-768.
    #[serde(rename = "X25519MLKEM768")]
    X25519MlKem768,
    /// P-256 with ML-KEM-768.
    #[serde(rename = "SecP256r1MLKEM768")]
    SecP256r1MlKem768,
    /// X25519.
    #[serde(rename = "X25519")]
    X25519,
    /// P-256.
    #[serde(rename = "P-256")]
    P256,
    /// P-384.
    #[serde(rename = "P-384")]
    P384,
}

/// A cipher of records. Each stands for its suite of TLS 1.3 and those of TLS 1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TlsCipher {
    /// AES-128-GCM.
    #[serde(rename = "AES-128-GCM")]
    Aes128Gcm,
    /// AES-256-GCM.
    #[serde(rename = "AES-256-GCM")]
    Aes256Gcm,
    /// ChaCha20-Poly1305.
    #[serde(rename = "ChaCha20-Poly1305")]
    ChaCha20Poly1305,
}

/// An error for a text that is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not an address: expected {expected}")]
pub struct AddressError {
    found: String,
    expected: &'static str,
}

impl FromStr for ListenAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text == "systemd" {
            return Ok(Self::Systemd);
        }
        let tcp = || text.parse().ok().map(Self::Tcp);
        let any = || text.strip_prefix(':')?.parse().ok().map(Self::AnyAddress);
        unix(text).map(Self::Unix).or_else(tcp).or_else(any).ok_or_else(|| AddressError {
            found: text.to_owned(),
            expected: "ADDRESS:PORT, :PORT, unix:PATH or systemd",
        })
    }
}

impl FromStr for BackendAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let tcp = || {
            let (host, port) = text.rsplit_once(':')?;
            let port = port.parse().ok().filter(|port| *port > 0)?;
            let host = match host.strip_prefix('[') {
                Some(rest) => rest.strip_suffix(']').filter(|host| host.parse::<Ipv6Addr>().is_ok())?,
                None => host,
            };
            let is_host =
                !host.is_empty() && (host.parse::<Ipv6Addr>().is_ok() || !host.contains([':', '/']));
            is_host.then(|| Self::Tcp { host: host.to_owned(), port })
        };
        unix(text)
            .map(Self::Unix)
            .or_else(tcp)
            .ok_or_else(|| AddressError { found: text.to_owned(), expected: "HOST:PORT or unix:PATH" })
    }
}

fn unix(text: &str) -> Option<PathBuf> {
    text.strip_prefix("unix:").filter(|path| !path.is_empty()).map(PathBuf::from)
}

impl TryFrom<String> for ListenAddress {
    type Error = AddressError;

    fn try_from(text: String) -> Result<Self, AddressError> {
        text.parse()
    }
}

impl TryFrom<String> for BackendAddress {
    type Error = AddressError;

    fn try_from(text: String) -> Result<Self, AddressError> {
        text.parse()
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::AnyAddress(port) => write!(f, ":{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Systemd => f.write_str("systemd"),
        }
    }
}

impl fmt::Display for BackendAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl fmt::Display for TlsVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        })
    }
}

impl KeyGroup {
    /// All groups, the preferred one first.
    pub const ALL: [Self; 5] =
        [Self::X25519MlKem768, Self::SecP256r1MlKem768, Self::X25519, Self::P256, Self::P384];

    /// Returns the group's number in TLS.
    pub(crate) fn named(self) -> NamedGroup {
        match self {
            Self::X25519MlKem768 => NamedGroup::X25519MLKEM768,
            Self::SecP256r1MlKem768 => NamedGroup::secp256r1MLKEM768,
            Self::X25519 => NamedGroup::X25519,
            Self::P256 => NamedGroup::secp256r1,
            Self::P384 => NamedGroup::secp384r1,
        }
    }
}

impl TlsCipher {
    /// All ciphers, the preferred one first. AES-128-GCM costs least on processors with AES instructions.
    pub const ALL: [Self; 3] = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];

    /// Returns true for a suite with this cipher.
    pub(crate) fn is_of(self, suite: CipherSuite) -> bool {
        use CipherSuite as Suite;
        let cipher = match suite {
            Suite::TLS13_AES_128_GCM_SHA256
            | Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
            | Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => Self::Aes128Gcm,
            Suite::TLS13_AES_256_GCM_SHA384
            | Suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
            | Suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => Self::Aes256Gcm,
            Suite::TLS13_CHACHA20_POLY1305_SHA256
            | Suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
            | Suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => Self::ChaCha20Poly1305,
            _ => return false,
        };
        self == cipher
    }
}

impl<'de> Deserialize<'de> for HeaderVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*String::deserialize(deserializer)? {
            "v1" => Ok(Self::V1),
            "v2" => Ok(Self::V2),
            _ => Err(serde::de::Error::custom("expected \"v1\" or \"v2\"")),
        }
    }
}
