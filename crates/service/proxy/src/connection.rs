//! One connection, from its first byte to its end.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use oarlock_network::{HandshakeSlot, HostName, LogLimit, linger};
use oarlock_rustls::TlsHandshakeError;
use rustls::server::{ClientHello, ServerConnection};
use rustls::{HandshakeKind, ServerConfig};
use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_rustls::server;
use tracing::field::display;
use tracing::{debug, warn};

use crate::admission::{CountedConnection, ExceededLimit};
use crate::backend::{Backend, BackendConnection, BackendError};
use crate::bytes::ByteMeter;
use crate::certificate::{RecordedHello, RecordedResolver};
use crate::clients::ClientNames;
use crate::counters::{EndKind, HandshakeLabels, ProxyCounters, RefusalReason, version_name};
use crate::handover::relay_connection;
use crate::header::{
    ConnectionAddresses, HeaderError, HeaderFields, HeaderProgress, MAX_HEADER_LEN, ProxyHeader, TlsFields,
};
use crate::kernel::TrafficSecrets;
use crate::record::{ConnectionRecord, RecordedAlert, RecordedTls};
use crate::relay::RelayEnd;
use crate::routes::RouteChoice;
use crate::state::{ProxyShared, ProxyState, ProxyTlsState};
use crate::stream::{RecordStream, RelayStream, SocketStream};
use crate::term::ConnectionTerm;
use crate::tracked::TrackedConnection;

/// The reason why a connection was refused.
#[derive(Debug, thiserror::Error)]
enum ConnectionError {
    #[error("{0}")]
    Limit(#[from] ExceededLimit),
    #[error("the PROXY header or the handshake took longer than [limits] max_handshake_seconds")]
    Timeout,
    #[error("the client left")]
    Left,
    #[error(
        "evicted for a newer connection: the maximum of connections is open ([limits] max_handshakes and \
         max_waiting_handshakes, or max_connections)"
    )]
    Evicted,
    #[error("{0}")]
    Header(#[from] HeaderError),
    #[error("{0}")]
    Handshake(#[from] TlsHandshakeError),
    #[error("the client has changed its application protocols during the handshake")]
    ChangedOffer,
    #[error("no route fits, and there is no [backend]")]
    NoRoute,
    #[error("the backend {name}: {error}")]
    Backend { name: String, error: BackendError, client: Box<(RelayStream, CountedConnection)> },
}

/// The limit of log lines about refused clients: unknown peers must not fill the disk.
static REFUSALS: LogLimit = LogLimit::new(Duration::from_secs(1));

/// The limit of log lines about backends.
static BACKENDS: LogLimit = LogLimit::new(Duration::from_secs(1));

/// The place of a connection among those that have not finished their handshake.
#[derive(Debug)]
pub(crate) struct OpenHandshake {
    pub(crate) slot: HandshakeSlot,
    /// The number of the listener.
    pub(crate) listener: usize,
    /// The addresses of both ends, of TCP only.
    pub(crate) addresses: Option<ConnectionAddresses>,
    /// Ready when a newer connection takes the place.
    pub(crate) evicted: oneshot::Receiver<()>,
}

/// Serves one connection to its end.
pub(crate) async fn serve_connection(
    socket: SocketStream,
    counted: CountedConnection,
    handshake: OpenHandshake,
    mut tracked: TrackedConnection,
    shared: &ProxyShared,
) {
    let state = shared.current.get();
    let record = &mut *tracked.record;
    // In a box, so that an idle connection does not keep the memory of its handshake.
    match Box::pin(open(socket, counted, handshake, record, &state, shared)).await {
        Err(error) => {
            report_refusal(&error, record);
            record.refuse(error.reason(), &error);
            record.alert = error.alert();
            if let ConnectionError::Backend { mut client, .. } = error {
                // A close_notify: the client learns at once that it gets no answer.
                linger(&mut client.0).await;
            }
        }
        Ok((client, BackendConnection { stream: backend, lease: _lease, .. }, _counted)) => {
            let max_idle = state.limits.max_idle();
            let term = ConnectionTerm::new(&client, &backend, &state.clock);
            // A long connection must not keep the certificates of replaced settings in memory.
            drop(state);
            let bytes = ByteMeter { all: &shared.counters.bytes, connection: &record.bytes };
            let end = relay_connection(client, backend, (max_idle, term), bytes, shared).await;
            finish_record(record, &end);
        }
    }
}

fn finish_record(record: &mut ConnectionRecord, end: &RelayEnd) {
    let (kind, error) = match end {
        RelayEnd::Complete | RelayEnd::Paused => (EndKind::Complete, None),
        RelayEnd::Idle => (EndKind::Idle, None),
        RelayEnd::Certificate => (EndKind::Certificate, None),
        RelayEnd::Client(error) => (EndKind::Client, Some(error)),
        RelayEnd::Backend(error) => (EndKind::Backend, Some(error)),
    };
    if let Some(error) = error {
        debug!(side = kind.name(), %error, "a connection failed");
    }
    record.finish(kind, error);
}

/// Opens both sides of a connection.
async fn open(
    socket: SocketStream,
    mut counted: CountedConnection,
    OpenHandshake { slot, listener, addresses, evicted }: OpenHandshake,
    record: &mut ConnectionRecord,
    state: &Arc<ProxyState>,
    shared: &ProxyShared,
) -> Result<(RelayStream, BackendConnection, CountedConnection), ConnectionError> {
    record.listener = state.listeners.get(listener).map(|listener| listener.name.as_str().into());
    let accepting =
        accept_client(socket, (listener, addresses), (&mut counted, &slot), record, state, shared);
    let accepted = tokio::select! {
        accepted = timeout(state.limits.max_handshake(), accepting) => accepted,
        Ok(()) = evicted => return Err(ConnectionError::Evicted),
    };
    let AcceptedClient { stream: client, header, label, backend } =
        accepted.map_err(|_| ConnectionError::Timeout)??;
    drop(slot);
    record.finish_handshake();
    let alpn = header.fields.alpn.as_deref();
    let backend = backend.ok_or(ConnectionError::NoRoute)?;
    shared.counters.routes.count(&label);
    record.route = Some(label);
    record.backend = Some(backend.label().into());
    match backend.connect(&header, alpn).await {
        Ok(connected) => {
            record.finish_connect();
            record.endpoint = Some(connected.lease.endpoint().label().into());
            record.tries = connected.tries;
            Ok((client, connected, counted))
        }
        Err(error) => {
            if let BackendError::Failed { endpoint, tries, .. } = &error {
                record.endpoint = Some(endpoint.as_str().into());
                record.tries = *tries;
            }
            let (name, client) = (backend.label().to_owned(), Box::new((client, counted)));
            Err(ConnectionError::Backend { name, error, client })
        }
    }
}

/// A client whose handshake is finished.
struct AcceptedClient {
    stream: RelayStream,
    header: ProxyHeader,
    /// The label of its route.
    label: Arc<str>,
    /// The backend of its route; None if no route fits.
    backend: Option<Arc<Backend>>,
}

/// Reads the PROXY header, if the client's network sends one, and does the handshake.
async fn accept_client(
    mut socket: SocketStream,
    (listener, addresses): (usize, Option<ConnectionAddresses>),
    (counted, slot): (&mut CountedConnection, &HandshakeSlot),
    record: &mut ConnectionRecord,
    state: &ProxyState,
    shared: &ProxyShared,
) -> Result<AcceptedClient, ConnectionError> {
    let mut header = ProxyHeader::default();
    if state.expects_header(listener, record.client.map(|client| client.ip())) {
        hear_client(&socket, slot).await?;
        header = read_header(&mut socket).await?;
        if let Some(named) = header.addresses {
            record.balancer = record.client.replace(named.source);
        }
    }
    header.addresses = header.addresses.or(addresses);
    if let Some(address) = record.client.map(|client| client.ip()) {
        let make_space = || slot.evict_older(address);
        counted.set_address(address, state.maxima(), make_space)?;
    }
    let Some(server) = &state.server else {
        record_fields(record, &header.fields);
        let (label, backend) = (Arc::clone(&state.default_label), state.default_backend.clone());
        return Ok(AcceptedClient { stream: RelayStream::Plain(socket), header, label, backend });
    };
    hear_client(&socket, slot).await?;
    let (stream, choice) = accept_tls(server, listener, socket, &record.hello, shared).await?;
    let connection = stream.get_ref().1;
    record_tls(record, connection, &shared.counters);
    describe_tls(connection, record, &mut header.fields);
    if !choice.has_kept(connection.alpn_protocol()) {
        return Err(ConnectionError::ChangedOffer);
    }
    let stream = RelayStream::Accepted(Box::new(stream));
    Ok(AcceptedClient { stream, header, label: choice.label, backend: choice.backend })
}

/// Notes what a load balancer says about a connection without TLS.
fn record_fields(record: &mut ConnectionRecord, fields: &HeaderFields) {
    let server_name = fields.authority.as_deref().map(Into::into);
    // Nobody else has set it, because there is no ClientHello.
    let _ = record.hello.set(RecordedHello { server_name, certificate: None });
    record.alpn = fields.alpn.as_deref().map(Into::into);
}

/// Notes and counts a finished handshake.
fn record_tls(record: &mut ConnectionRecord, connection: &ServerConnection, counters: &ProxyCounters) {
    let labels = HandshakeLabels::new(connection);
    debug!(
        version = labels.version,
        group = labels.group,
        resumed = labels.is_resumed,
        "a handshake with a client was finished"
    );
    counters.handshake(labels.clone());
    if let Some(file) = record.certificate() {
        counters.certificates.count(file);
    }
    // rustls writes TLS13_ for the suites whose registered names begin with TLS_.
    let cipher = connection.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
    let cipher = cipher.map(|name| name.replacen("TLS13_", "TLS_", 1).into());
    record.tls = Some(RecordedTls { labels, cipher });
    record.alpn = connection.alpn_protocol().map(Into::into);
}

/// Waits for the first bytes of the client. Until then its connection is the first to give way.
async fn hear_client(socket: &SocketStream, slot: &HandshakeSlot) -> Result<(), ConnectionError> {
    socket.readable().await.map_err(|_| ConnectionError::Left)?;
    slot.has_spoken().store(true, Ordering::Relaxed);
    Ok(())
}

/// Does a handshake by the rules of the route that the client's first message chooses, with a configuration of its own:
/// the tickets belong to the session of this connection, and the traffic secrets are kept for the time when the kernel
/// has it.
async fn accept_tls(
    server: &ProxyTlsState,
    listener: usize,
    socket: SocketStream,
    recorded: &Arc<OnceLock<RecordedHello>>,
    shared: &ProxyShared,
) -> Result<(server::TlsStream<RecordStream>, RouteChoice), ConnectionError> {
    let may_move = matches!(socket, SocketStream::Tcp(_)) && shared.kernel.has_tls();
    let secrets = may_move.then(|| Arc::new(TrafficSecrets::default()));
    let key_log = secrets.clone();
    let mut chosen = None;
    let choose = |hello: &ClientHello<'_>| {
        let choice = chosen.insert(server.routes.choose(listener, hello));
        let mut config = ServerConfig::clone(&choice.policy.config);
        let certificates = Arc::clone(&choice.policy.certificates);
        config.cert_resolver = Arc::new(RecordedResolver { certificates, hello: Arc::clone(recorded) });
        if let Some(tickets) = &choice.policy.tickets {
            config.ticketer = tickets.for_connection();
        }
        if let Some(secrets) = key_log {
            config.key_log = secrets;
        }
        Arc::new(config)
    };
    let stream = server.acceptor.accept_with(RecordStream { secrets, ..socket.into() }, choose).await?;
    // No handshake is finished without a first message.
    Ok((stream, chosen.ok_or(ConnectionError::NoRoute)?))
}

/// Reads a header without reading beyond its end.
async fn read_header(socket: &mut SocketStream) -> Result<ProxyHeader, ConnectionError> {
    let mut bytes = Vec::with_capacity(256);
    loop {
        match ProxyHeader::parse(&bytes)? {
            HeaderProgress::Complete { header, .. } => return Ok(*header),
            HeaderProgress::Incomplete { missing } => {
                let start = bytes.len();
                bytes.resize((start + missing).min(MAX_HEADER_LEN), 0);
                socket.read_exact(&mut bytes[start..]).await.map_err(|_| ConnectionError::Left)?;
            }
        }
    }
}

/// Adds the properties of the TLS connection to the fields for the backend, and the client's name to the record.
fn describe_tls(connection: &ServerConnection, record: &mut ConnectionRecord, fields: &mut HeaderFields) {
    fields.alpn = connection.alpn_protocol().map(<[u8]>::to_vec);
    fields.authority = connection.server_name().map(|name| HostName::new(name).into());
    let certificate = connection.peer_certificates().and_then(|chain| chain.first());
    let names = certificate.and_then(|certificate| ClientNames::read(certificate));
    record.client_name = names.as_ref().and_then(ClientNames::first).map(Into::into);
    let is_resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
    fields.tls = Some(TlsFields {
        has_certificate: certificate.is_some() && !is_resumed,
        has_certificate_in_session: certificate.is_some(),
        is_verified: certificate.is_some(),
        version: Some(version_name(connection.protocol_version()).to_owned()),
        common_name: names.and_then(|names| names.common_name),
        cipher: record.tls.as_ref().and_then(|tls| tls.cipher.as_deref()).map(str::to_owned),
        signature_algorithm: None,
        key_algorithm: None,
    });
}

impl ConnectionError {
    fn reason(&self) -> RefusalReason {
        match self {
            Self::Limit(limit) => (*limit).into(),
            Self::Timeout => RefusalReason::Timeout,
            Self::Left => RefusalReason::Left,
            Self::Evicted => RefusalReason::Busy,
            Self::Header(_) => RefusalReason::Header,
            Self::Handshake(error) => RefusalReason::of_handshake(error),
            Self::ChangedOffer => RefusalReason::Protocol,
            Self::NoRoute => RefusalReason::NoRoute,
            Self::Backend { .. } => RefusalReason::Backend,
        }
    }

    fn alert(&self) -> Option<RecordedAlert> {
        match self {
            Self::Handshake(error) => RecordedAlert::of_handshake(error),
            _ => None,
        }
    }
}

fn report_refusal(error: &ConnectionError, record: &ConnectionRecord) {
    let (client, name) = (record.client.map(display), record.server_name());
    let limit = match error.reason() {
        RefusalReason::Backend => &BACKENDS,
        // Load balancers probe a port by connecting and leaving, and clients of the whole internet send anything.
        RefusalReason::Left
        | RefusalReason::Protocol
        | RefusalReason::Incompatible
        | RefusalReason::UnknownName => {
            debug!(client, name, %error, "a connection was refused");
            return;
        }
        _ => &REFUSALS,
    };
    if let Some(suppressed) = limit.admit() {
        let reason = error.reason().name();
        warn!(reason, client, name, %error, suppressed, "a connection was refused");
    }
}
