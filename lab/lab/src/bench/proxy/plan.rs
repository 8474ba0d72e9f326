//! The proxies and the loads of `oarlock bench proxy`.

use std::fmt;

use clap::ValueEnum;
use serde::{Serialize, Serializer};

use super::super::plan::BenchProgram;

/// A proxy that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyName {
    /// Oarlock's.
    Own(OwnProxy),
    /// Another program.
    Peer(ProxyPeer),
}

/// A set-up of Oarlock's proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OwnProxy {
    /// The lanes and the scalar engine
    Lanes,
    /// The scalar engine alone
    Scalar,
    /// The private key at a cryptoserver
    Keyless,
}

/// Another TLS-terminating proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProxyPeer {
    /// hitch
    Hitch,
    /// HAProxy in TCP mode
    Haproxy,
    /// nginx with its stream module
    Nginx,
    /// stunnel
    Stunnel,
}

/// The load of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProxyLoad {
    /// Full handshakes, and 1 KiB each way behind each
    Full,
    /// Resumed handshakes, and 1 KiB each way behind each
    Resumed,
    /// Writes of 16 KiB from the backend, on open connections
    Bulk,
}

impl ProxyName {
    /// Returns the program that is started.
    pub(super) fn program(self) -> BenchProgram {
        match self {
            Self::Own(_) => BenchProgram::Proxy,
            Self::Peer(ProxyPeer::Hitch) => BenchProgram::Hitch,
            Self::Peer(ProxyPeer::Haproxy) => BenchProgram::Haproxy,
            Self::Peer(ProxyPeer::Nginx) => BenchProgram::Nginx,
            Self::Peer(ProxyPeer::Stunnel) => BenchProgram::Stunnel,
        }
    }

    /// True for Oarlock's.
    pub(super) fn is_own(self) -> bool {
        matches!(self, Self::Own(_))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Own(OwnProxy::Lanes) => "oarlock-lanes",
            Self::Own(OwnProxy::Scalar) => "oarlock-scalar",
            Self::Own(OwnProxy::Keyless) => "oarlock-keyless",
            Self::Peer(ProxyPeer::Hitch) => "hitch",
            Self::Peer(ProxyPeer::Haproxy) => "haproxy",
            Self::Peer(ProxyPeer::Nginx) => "nginx",
            Self::Peer(ProxyPeer::Stunnel) => "stunnel",
        }
    }
}

impl ProxyLoad {
    /// True if the load is a number of handshakes.
    pub(super) fn is_of_handshakes(self) -> bool {
        self != Self::Bulk
    }
}

impl fmt::Display for ProxyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for ProxyName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for ProxyLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "full",
            Self::Resumed => "resumed",
            Self::Bulk => "bulk",
        })
    }
}
