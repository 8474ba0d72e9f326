//! Accepts connections, from the listening socket to a known client.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use oarlock_network::{HandshakeSlot, LogLimit, accept_next, linger};
use oarlock_service_kit::admission::{report_crowd, report_failure};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{debug, warn};

use crate::admission::{Admission, AdmissionError, ConnectionSlot, ListenerKind};
use crate::clients::KnownClient;
use crate::identity::{ClientIdentity, IdentityError};
use crate::lifetime::ConnectionLifetime;
use crate::metrics::count;
use crate::service::SharedService;
use crate::transport::{ClientTransport, CountedStream, TransportStream};
use crate::unix;

/// Accepts TCP connections, and hands connections with a known client to gRPC.
#[derive(Clone)]
pub(crate) struct TcpAcceptor {
    pub(crate) service: Arc<SharedService>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) transports: mpsc::Sender<ClientTransport>,
}

impl TcpAcceptor {
    /// Accepts connections until it is dropped.
    pub(crate) async fn run(self, listener: TcpListener, protection: ListenerProtection) {
        let mut handshakes = JoinSet::new();
        loop {
            // A task that has ended keeps its memory until it is taken out of the set.
            while handshakes.try_join_next().is_some() {}
            let failed = |error| give_way(&error, &self.admission);
            let (stream, _) = accept_next(|| listener.accept(), failed).await;
            let acceptor = self.clone();
            let from = stream.peer_addr().ok();
            let (slot, evicted) = self.admission.handshakes.begin(from.map(|from| from.ip()));
            report_crowd(&self.admission.handshakes, "max_handshakes");
            handshakes.spawn(async move {
                tokio::select! {
                    () = acceptor.introduce(stream, from, protection, slot) => {}
                    Ok(()) = evicted => acceptor.report(from, &HandshakeError::GaveWay),
                }
            });
        }
    }

    /// Completes the handshake of one connection, finds its client, and hands it to gRPC if the client is admitted.
    async fn introduce(
        &self,
        stream: TcpStream,
        from: Option<SocketAddr>,
        protection: ListenerProtection,
        slot: HandshakeSlot,
    ) {
        let service = &self.service;
        // Without Nagle's algorithm small answers leave at once.
        let _ = stream.set_nodelay(true);
        let stream = CountedStream::new(stream, Arc::clone(service), Some(slot.has_spoken()));
        let entered = match protection {
            ListenerProtection::Plaintext => {
                let lifetime = service.lifetimes.enter(Vec::new());
                Ok((Box::new(stream) as Box<dyn TransportStream>, ClientIdentity::loopback(), lifetime))
            }
            ListenerProtection::Tls => {
                match timeout(service.limits.max_handshake(), shake_hands(stream, service)).await {
                    Ok(entered) => entered,
                    Err(_) => Err(HandshakeError::TooSlow.into()),
                }
            }
        };
        match entered {
            Ok((bytes, client, lifetime)) => {
                let client = service.clients.introduce(client.with_address(from));
                match self.admission.admit(ListenerKind::Network, &client.account, service) {
                    Ok(connection_slot) => {
                        // Given back only now, because the connection has its other slot: at every moment it counts
                        // somewhere.
                        drop(slot);
                        debug!(client = %client.identity, peer = ?from, "a client has connected");
                        let transport =
                            ClientTransport::new(bytes, client, &service.limits, connection_slot, lifetime);
                        // An error means that the server stops and serves no new connection.
                        let _ = self.transports.send(transport).await;
                    }
                    Err(error) => report_refusal(&error, &client.identity, service),
                }
            }
            Err(HandshakeRefusal { reason, stream }) => {
                self.report(from, &reason);
                // The slot is kept meanwhile, so that a crowd of refused clients displaces its own connections only.
                if let Some(mut stream) = stream {
                    linger(&mut stream).await;
                }
                drop(slot);
            }
        }
    }

    fn report(&self, from: Option<SocketAddr>, reason: &HandshakeError) {
        report_handshake(from, reason, &self.service);
    }
}

/// Reports a connection that could not be accepted, and evicts a handshake to free its descriptor.
fn give_way(error: &io::Error, admission: &Admission) {
    // The descriptor of the evicted connection is free as soon as its task has run.
    admission.handshakes.evict_one();
    report_failure(error);
}

/// The protection of a listener's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerProtection {
    Tls,
    Plaintext,
}

/// A handshake that failed, with the stream of a client that is still connected.
struct HandshakeRefusal {
    reason: HandshakeError,
    stream: Option<CountedStream<TcpStream>>,
}

impl<E: Into<HandshakeError>> From<E> for HandshakeRefusal {
    fn from(reason: E) -> Self {
        Self { reason: reason.into(), stream: None }
    }
}

/// An error of a connection that never had a known client.
#[derive(Debug, thiserror::Error)]
enum HandshakeError {
    #[error("the handshake took longer than [limits] max_handshake_seconds")]
    TooSlow,
    #[error("the client left before the end of the handshake")]
    Left,
    #[error("{0}")]
    Tls(io::Error),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error("the authority of the client's certificate was withdrawn meanwhile")]
    NotTrusted,
    #[error(
        "evicted for a newer connection: the maximum of handshakes is open ([limits] max_handshakes or max_handshakes_per_address)"
    )]
    GaveWay,
}

/// The stream above TLS, the client, and the lifetime of the connection.
type IntroducedClient = (Box<dyn TransportStream>, ClientIdentity, ConnectionLifetime);

async fn shake_hands(
    stream: CountedStream<TcpStream>,
    service: &Arc<SharedService>,
) -> Result<IntroducedClient, HandshakeRefusal> {
    // The configuration check refuses TLS without certificates.
    let Some(store) = &service.tls else { return Err(HandshakeError::Left.into()) };
    let state = store.get();
    let stream = match state.acceptor().accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((error, _)) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(HandshakeError::Left.into());
        }
        Err((error, stream)) => {
            return Err(HandshakeRefusal { reason: HandshakeError::Tls(error), stream: Some(stream) });
        }
    };
    let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
    let chain: Vec<_> = chain.iter().map(|certificate| certificate.clone().into_owned()).collect();
    let client = chain
        .first()
        .map(ClientIdentity::from_certificate)
        .ok_or(HandshakeError::Left)?
        .map_err(HandshakeError::from)?;
    let lifetime = service.lifetimes.enter(chain.clone());
    let now = store.get();
    // A reload during the handshake may have withdrawn the authority. A later reload finds the connection among the
    // lifetimes.
    if !Arc::ptr_eq(&state, &now) && !now.accepts(&chain) {
        return Err(HandshakeError::NotTrusted.into());
    }
    Ok((Box::new(stream), client, lifetime))
}

/// The limit of log lines about handshakes: unknown peers must not fill the disk.
static HANDSHAKES: LogLimit = LogLimit::new(Duration::from_secs(1));

fn report_handshake(from: Option<SocketAddr>, reason: &HandshakeError, service: &SharedService) {
    count(&service.metrics.failed_handshakes, 1);
    service.audit.failed_handshake(from.map(|from| from.ip()), reason);
    let peer = from.map_or_else(|| "unknown".to_owned(), |from| from.to_string());
    match reason {
        // Load balancers probe a port by connecting and leaving.
        HandshakeError::Left => debug!(%peer, %reason, "no handshake"),
        HandshakeError::GaveWay => count(&service.metrics.refused_connections, 1),
        _ => {
            if let Some(suppressed) = HANDSHAKES.admit() {
                warn!(%peer, %reason, suppressed, "a client was refused in its TLS handshake");
            }
        }
    }
}

/// The limit of log lines about clients with too many connections.
static REFUSALS: LogLimit = LogLimit::new(Duration::from_secs(10));

fn report_refusal(error: &AdmissionError, client: &ClientIdentity, service: &SharedService) {
    count(&service.metrics.refused_connections, 1);
    if let Some(suppressed) = REFUSALS.admit() {
        warn!(%client, %error, suppressed, "a connection was refused");
    }
}

/// Accepts connections of the UNIX socket until the server stops, and serves each of them.
pub(crate) async fn accept_unix(
    listener: UnixListener,
    service: Arc<SharedService>,
    admission: Arc<Admission>,
) {
    let mut connections = JoinSet::new();
    let mut draining = Box::pin(service.drain.thrown());
    loop {
        // As for TCP: ended tasks must be taken out of the set.
        while connections.try_join_next().is_some() {}
        let failed = |error| give_way(&error, &admission);
        let (stream, _) = tokio::select! {
            accepted = accept_next(|| listener.accept(), failed) => accepted,
            () = &mut draining => break,
        };
        // Admission happens here, not in the task, so that connections are admitted in the order of their arrival.
        let (service, admitted) = (Arc::clone(&service), admit_unix(&stream, &admission, &service));
        connections.spawn(async move {
            let served = match admitted {
                Ok((client, _slot)) => unix::serve(stream, client, service).await,
                Err(UnixError::NotAdmitted(error)) => unix::refuse_client(stream, &error.to_string()).await,
                Err(UnixError::Io(error)) => Err(error),
            };
            if let Err(error) = served {
                debug!(%error, "a connection of the UNIX socket ended with an error");
            }
        });
    }
    while connections.join_next().await.is_some() {}
}

/// An error of a connection of the UNIX socket that is not served.
#[derive(Debug, thiserror::Error)]
enum UnixError {
    #[error(transparent)]
    NotAdmitted(#[from] AdmissionError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Finds the client of a connection by its credentials, and admits it.
fn admit_unix(
    stream: &UnixStream,
    admission: &Admission,
    service: &Arc<SharedService>,
) -> Result<(KnownClient, ConnectionSlot), UnixError> {
    let process = stream.peer_cred()?;
    let identity = ClientIdentity::from_credentials(process.uid(), process.gid());
    let client = service.clients.introduce(identity.with_process(process.pid()));
    match admission.admit(ListenerKind::Unix, &client.account, service) {
        Ok(slot) => {
            debug!(client = %client.identity, pid = process.pid(), "a client has connected");
            Ok((client, slot))
        }
        Err(error) => {
            report_refusal(&error, &client.identity, service);
            Err(error.into())
        }
    }
}
