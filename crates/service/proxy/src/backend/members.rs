//! The endpoints of a backend: those of its addresses, and those that its names have now.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::endpoint::{BackendEndpoint, EndpointTarget};
use super::history::BackendHistory;
use super::host::BackendHost;
use super::tls::TlsPeer;
use crate::config::{BackendAddress, EndpointSettings};

/// An endpoint as the settings of a backend see it.
#[derive(Debug)]
pub(super) struct BackendMember {
    pub(super) endpoint: Arc<BackendEndpoint>,
    pub(super) is_backup: bool,
    pub(super) is_draining: bool,
    /// The peer of TLS, if the backend has TLS.
    pub(super) peer: Option<Arc<TlsPeer>>,
}

/// An address of the settings.
#[derive(Debug)]
pub(super) enum MemberSource {
    Address(Arc<BackendMember>),
    Host { host: Arc<BackendHost>, is_backup: bool, is_draining: bool, peer: Option<Arc<TlsPeer>> },
}

/// The endpoints at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct MemberList {
    pub(super) members: Arc<[Arc<BackendMember>]>,
    /// True if a name has not been looked up yet.
    is_pending: bool,
    /// The sum of the versions of all names.
    version: u64,
}

impl MemberSource {
    pub(super) fn new(
        settings: EndpointSettings,
        peer: Option<TlsPeer>,
        history: &Arc<BackendHistory>,
    ) -> Self {
        let EndpointSettings { address, backup: is_backup, drain: is_draining } = settings;
        let peer = peer.map(Arc::new);
        let target = match address {
            BackendAddress::Unix(path) => EndpointTarget::Unix(path),
            BackendAddress::Tcp { host, port } => match host.parse::<IpAddr>() {
                Ok(address) => EndpointTarget::Tcp(SocketAddr::new(address, port)),
                Err(_) => {
                    return Self::Host { host: history.host(&host, port), is_backup, is_draining, peer };
                }
            },
        };
        let endpoint = history.endpoint(target);
        Self::Address(Arc::new(BackendMember { endpoint, is_backup, is_draining, peer }))
    }

    pub(super) fn host(&self) -> Option<&Arc<BackendHost>> {
        match self {
            Self::Address(_) => None,
            Self::Host { host, .. } => Some(host),
        }
    }

    fn members(&self, history: &Arc<BackendHistory>) -> Vec<Arc<BackendMember>> {
        match self {
            Self::Address(member) => vec![Arc::clone(member)],
            Self::Host { host, is_backup, is_draining, peer } => {
                let member = |address| BackendMember {
                    endpoint: history.endpoint(EndpointTarget::Tcp(address)),
                    is_backup: *is_backup,
                    is_draining: *is_draining,
                    peer: peer.clone(),
                };
                host.addresses().into_iter().map(member).map(Arc::new).collect()
            }
        }
    }
}

impl MemberList {
    /// Collects the endpoints. One that several names have counts once.
    pub(super) fn collect(sources: &[MemberSource], history: &Arc<BackendHistory>) -> Self {
        // Before the addresses: if they change meanwhile, the next look sees another version.
        let version = Self::version_of(sources);
        let is_pending = sources.iter().filter_map(MemberSource::host).any(|host| host.version() == 0);
        let mut seen = BTreeSet::new();
        let members = sources.iter().flat_map(|source| source.members(history));
        let members = members.filter(|member| seen.insert(member.endpoint.label().to_owned()));
        Self { members: members.collect(), is_pending, version }
    }

    /// Returns true if no name was looked up since the list was collected.
    pub(super) fn is_current(&self, sources: &[MemberSource]) -> bool {
        self.version == Self::version_of(sources)
    }

    /// Returns true if a connection has an endpoint, or need not wait for one.
    pub(super) fn is_known(&self) -> bool {
        !self.is_pending || self.members.iter().any(|member| !member.is_draining)
    }

    fn version_of(sources: &[MemberSource]) -> u64 {
        sources.iter().filter_map(MemberSource::host).map(|host| host.version()).sum()
    }
}
