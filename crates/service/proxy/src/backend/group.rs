//! One backend: a connection is tried at one endpoint after the other.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use smallvec::SmallVec;
use tokio::io::AsyncWriteExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::balance::{BalanceInput, choose_endpoint};
use super::endpoint::{BackendEndpoint, EndpointLease};
use super::error::{BackendError, EndpointError};
use super::health::Availability;
use super::history::{BackendHistory, BackendRegistry};
use super::host::BackendHost;
use super::members::{BackendMember, MemberList, MemberSource};
use super::tls::{BackendTls, BackendTlsContext};
use crate::certificate::CertificateWarning;
use crate::config::{BackendSettings, BalanceRule, CheckSettings, EndpointSettings};
use crate::error::ProxyServiceError;
use crate::header::{HeaderVersion, ProxyHeader};
use crate::stream::{RelayStream, SocketStream};

/// The pauses before the second and the third time that all endpoints are tried. An endpoint that restarts, or a group
/// whose endpoints fail in turns, is reached by a later try.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(400)];

/// The maximum number of parts of the time that is left, of which a try gets one. So a try gets at least a quarter.
const MAX_TIME_PARTS: u32 = 4;

/// A backend of the current settings.
#[derive(Debug)]
pub(crate) struct Backend {
    history: Arc<BackendHistory>,
    rule: BalanceRule,
    sources: Vec<MemberSource>,
    members: watch::Sender<MemberList>,
    pub(super) resolve_interval: Duration,
    pub(super) check: Option<CheckSettings>,
    header: Option<HeaderVersion>,
    has_checksum: bool,
    tls: Option<BackendTls>,
    max_connect: Duration,
}

/// The resources of backends.
pub(crate) struct BackendContext<'a> {
    pub(crate) tls: BackendTlsContext<'a>,
    pub(crate) max_connect: Duration,
    pub(crate) registry: &'a BackendRegistry,
}

/// A connection to a backend.
#[derive(Debug)]
pub(crate) struct BackendConnection {
    pub(crate) stream: RelayStream,
    /// Counts the connection at its endpoint until it is dropped.
    pub(crate) lease: EndpointLease,
    /// The number of tries, the successful one included.
    pub(crate) tries: u32,
}

impl Backend {
    /// Opens a backend under a label.
    pub(super) fn open(
        settings: &BackendSettings,
        label: &str,
        context: &BackendContext<'_>,
    ) -> Result<Self, ProxyServiceError> {
        let tls = settings.tls.as_ref().map(|tls| BackendTls::open(tls, &context.tls)).transpose()?;
        let history = context.registry.history(label);
        let source = |endpoint: EndpointSettings| {
            let peer = tls.as_ref().map(|tls| tls.peer(&endpoint.address)).transpose()?;
            Ok(MemberSource::new(endpoint, peer, &history))
        };
        let sources = settings.endpoints().map(source).collect::<Result<Vec<_>, ProxyServiceError>>()?;
        Ok(Self {
            rule: settings.balance,
            members: watch::Sender::new(MemberList::collect(&sources, &history)),
            sources,
            history,
            resolve_interval: Duration::from_secs(settings.resolve_seconds),
            check: settings.check.clone(),
            header: settings.proxy_protocol,
            has_checksum: settings.proxy_checksum,
            tls,
            max_connect: context.max_connect,
        })
    }

    /// Returns the backend's name, or its first address if it has none.
    pub(crate) fn label(&self) -> &str {
        &self.history.label
    }

    /// Returns the number of connections that reached no endpoint.
    pub(super) fn unavailable(&self) -> u64 {
        self.history.unavailable.load(Relaxed)
    }

    /// Returns the endpoints now.
    pub(super) fn members(&self) -> Arc<[Arc<BackendMember>]> {
        Arc::clone(&self.members.borrow().members)
    }

    /// Returns the names.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &Arc<BackendHost>> {
        self.sources.iter().filter_map(MemberSource::host)
    }

    /// Collects the endpoints again if a name was looked up.
    pub(super) fn refresh_members(&self) {
        if !self.members.borrow().is_current(&self.sources) {
            self.members.send_replace(MemberList::collect(&self.sources, &self.history));
        }
    }

    /// Returns the faults for which the backend rejects the proxy's own certificate.
    pub(crate) fn certificate_warning(&self, now_s: i64) -> Option<CertificateWarning> {
        self.tls.as_ref()?.certificate_warning(now_s)
    }

    /// Connects to an endpoint, sends the header, and does the handshake if the backend has TLS. If that fails, the
    /// next endpoint is tried. `alpn` is the protocol that the client has negotiated.
    pub(crate) async fn connect(
        &self,
        header: &ProxyHeader,
        alpn: Option<&[u8]>,
    ) -> Result<BackendConnection, BackendError> {
        let deadline = Instant::now() + self.max_connect;
        let mut members = self.members.subscribe();
        // Without a result all names are still unknown, and the first try reports it.
        let _ = timeout_at(deadline, members.wait_for(MemberList::is_known)).await;
        let mut tries = BackendTries { tried: SmallVec::new(), count: 0, error: BackendError::NoEndpoint };
        let mut connected = self.try_all(&mut tries, header, alpn, deadline).await;
        for pause in PAUSES {
            let resumes = Instant::now() + pause;
            if connected.is_some() || tries.count == 0 || resumes >= deadline {
                break;
            }
            sleep_until(resumes).await;
            tries.tried.clear();
            connected = self.try_all(&mut tries, header, alpn, deadline).await;
        }
        connected.ok_or_else(|| {
            self.history.unavailable.fetch_add(1, Relaxed);
            tries.error
        })
    }

    /// Tries each endpoint once, until one is reached or no time is left.
    async fn try_all(
        &self,
        tries: &mut BackendTries,
        header: &ProxyHeader,
        alpn: Option<&[u8]>,
        deadline: Instant,
    ) -> Option<BackendConnection> {
        let client = header.addresses.map(|addresses| addresses.source.ip());
        while let Some((member, left)) = self.choose(&tries.tried, client) {
            let now = Instant::now();
            let time = deadline.saturating_duration_since(now) / left.min(MAX_TIME_PARTS);
            if time.is_zero() {
                return None;
            }
            tries.count += 1;
            let mut lease = member.endpoint.begin(now);
            let connecting = timeout_at(now + time, self.connect_member(&member, header, alpn)).await;
            let connected = connecting.unwrap_or(Err(EndpointError::Timeout));
            lease.note(connected.as_ref().map(drop));
            match connected {
                Ok(stream) => return Some(BackendConnection { stream, lease, tries: tries.count }),
                Err(error) => {
                    let endpoint = member.endpoint.label().to_owned();
                    tries.error = BackendError::Failed { endpoint, error, tries: tries.count };
                    tries.tried.push(Arc::clone(&member.endpoint));
                }
            }
        }
        None
    }

    /// Returns the endpoint for the next try, and the number of endpoints that are left with it.
    fn choose(
        &self,
        tried: &[Arc<BackendEndpoint>],
        client: Option<IpAddr>,
    ) -> Option<(Arc<BackendMember>, u32)> {
        let now = Instant::now();
        let has_checks = self.check.is_some();
        let is_tried = |member: &BackendMember| tried.iter().any(|one| Arc::ptr_eq(one, &member.endpoint));
        let members = self.members();
        let usable = members.iter().filter(|member| !member.is_draining && !is_tried(member));
        // Backups before endpoints that have just failed.
        let rank = |member: &BackendMember| (member.endpoint.availability(now, has_checks), member.is_backup);
        let usable = usable.map(|member| (rank(member), member));
        let usable: SmallVec<[_; 16]> = usable.filter(|((is, _), _)| *is != Availability::Down).collect();
        let best = usable.iter().map(|(rank, _)| *rank).min()?;
        let equals: SmallVec<[_; 16]> =
            usable.iter().filter(|(rank, _)| *rank == best).map(|(_, member)| *member).collect();
        let input = |member: &&Arc<BackendMember>| BalanceInput {
            open: member.endpoint.open(),
            seed: member.endpoint.seed(),
        };
        let inputs: SmallVec<[_; 16]> = equals.iter().map(input).collect();
        let turn = self.history.turns.fetch_add(1, Relaxed);
        let chosen = choose_endpoint(self.rule, &inputs, turn, client)?;
        Some((Arc::clone(equals[chosen]), u32::try_from(usable.len()).unwrap_or(u32::MAX)))
    }

    pub(super) async fn connect_member(
        &self,
        member: &BackendMember,
        header: &ProxyHeader,
        alpn: Option<&[u8]>,
    ) -> Result<RelayStream, EndpointError> {
        let socket = self.connect_with_header(&member.endpoint, header).await?;
        let Some((tls, peer)) = self.tls.as_ref().zip(member.peer.as_deref()) else {
            return Ok(RelayStream::Plain(socket));
        };
        let connected = match tls.connect(peer, alpn, socket).await {
            // Its certificate has ended since the session began.
            Err(EndpointError::Outdated(_)) => {
                let socket = self.connect_with_header(&member.endpoint, header).await?;
                tls.connect(peer, alpn, socket).await
            }
            connected => connected,
        };
        Ok(RelayStream::Connected(Box::new(connected?)))
    }

    async fn connect_with_header(
        &self,
        endpoint: &BackendEndpoint,
        header: &ProxyHeader,
    ) -> Result<SocketStream, EndpointError> {
        let mut socket = endpoint.connect_socket().await.map_err(EndpointError::Connect)?;
        if let Some(version) = self.header {
            let mut bytes = Vec::with_capacity(256);
            let encoded = header.encode(version, self.has_checksum, &mut bytes);
            encoded.map_err(EndpointError::Encode)?;
            socket.write_all(&bytes).await.map_err(EndpointError::Header)?;
        }
        Ok(socket)
    }
}

/// The tries of one connection.
struct BackendTries {
    /// The endpoints that were tried since the last pause.
    tried: SmallVec<[Arc<BackendEndpoint>; 4]>,
    count: u32,
    error: BackendError,
}
