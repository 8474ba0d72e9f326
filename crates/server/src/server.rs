//! The server: bound, running, drained.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use oarlock::{BuildError, Builder};
use oarlock_wire::proto::DESCRIPTORS;
use oarlock_wire::proto::cryptoserver_server::CryptoserverServer;
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, info, warn};

use crate::audit::Audit;
use crate::config::{Config, ConfigError};
use crate::grpc::Grpc;
use crate::identity::Identity;
use crate::keyring::{KeySources, KeysError, Refreshed};
use crate::metrics::count;
use crate::null::Null;
use crate::service::Service;
use crate::tls::{self, TlsError};
use crate::transport::{Counted, Seat, Transport};
use crate::unix;

/// A server that listens and does not answer yet.
pub struct Server {
    service: Arc<Service>,
    sources: KeySources,
    listeners: Listeners,
    config: Config,
}

struct Listeners {
    tcp: Option<(TcpListener, TlsAcceptor)>,
    plaintext: Option<TcpListener>,
    unix: Option<(UnixListener, PathBuf)>,
    metrics: Option<TcpListener>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({:?})", self.addresses())
    }
}

/// Where a server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Mutual TLS.
    pub tcp: Option<SocketAddr>,
    /// Without protection.
    pub plaintext: Option<SocketAddr>,
    /// UNIX socket.
    pub unix: Option<PathBuf>,
    /// Metrics over HTTP.
    pub metrics: Option<SocketAddr>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There are no engines.
    #[error("[engines] {0}")]
    Build(#[from] BuildError),
    /// Keys cannot be had.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// Certificates cannot be used.
    #[error("[tls] {0}")]
    Tls(#[from] TlsError),
    /// The audit log cannot be opened.
    #[error("[audit] {}: {error}", path.display())]
    Audit {
        /// Its file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// An address cannot be listened at.
    #[error("cannot listen at {place}: {error}")]
    Listen {
        /// Which one.
        place: String,
        /// What the system said.
        error: io::Error,
    },
    /// gRPC failed.
    #[error("gRPC: {0}")]
    Grpc(#[from] tonic::transport::Error),
    /// The description of the protocol, for reflection, cannot be read.
    #[error("gRPC reflection: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

impl Server {
    /// Everything but answering: engines proved, keys read, addresses bound. Needs a tokio runtime.
    ///
    /// # Errors
    /// What is wrong with the configuration or what it names.
    pub async fn bind(config: Config, engines: Builder) -> Result<Self, ServerError> {
        config.check()?;
        let acceptor = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let (sources, keyring, first) = KeySources::open(&config)?;
        tell(&first);
        let audit = Audit::open(config.audit.as_ref()).map_err(|error| {
            let path = config.audit.as_ref().map(|audit| audit.file.clone()).unwrap_or_default();
            ServerError::Audit { path, error }
        })?;
        let accelerator = settings(&config, engines).build()?;
        let service = Arc::new(Service::new(accelerator, keyring, config.limits.clone(), audit));
        let listeners = Listeners::bind(&config, acceptor).await?;
        Ok(Self { service, sources, listeners, config })
    }

    /// Where it listens: ports that were left to the system are filled in.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        let local = |listener: &TcpListener| listener.local_addr().ok();
        Addresses {
            tcp: self.listeners.tcp.as_ref().and_then(|(listener, _)| local(listener)),
            plaintext: self.listeners.plaintext.as_ref().and_then(local),
            unix: self.listeners.unix.as_ref().map(|(_, path)| path.clone()),
            metrics: self.listeners.metrics.as_ref().and_then(local),
        }
    }

    /// Serves until `stop` is ready; then requests under way are answered, new ones refused, and what has not ended by the
    /// deadline is cut.
    ///
    /// # Errors
    /// gRPC cannot go on.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let Self { service, sources, listeners, config } = self;
        let mut tasks = JoinSet::new();
        let seats = Arc::new(Semaphore::new(config.limits.connections));
        let (transports, arrived) = mpsc::channel(64);
        let socket = listeners.unix.as_ref().map(|(_, path)| path.clone());
        if let Some((listener, acceptor)) = listeners.tcp {
            let gate = Gate {
                service: Arc::clone(&service),
                seats: Arc::clone(&seats),
                transports: transports.clone(),
            };
            tasks.spawn(gate.accept(listener, Some(acceptor)));
        }
        if let Some(listener) = listeners.plaintext {
            let gate = Gate { service: Arc::clone(&service), seats: Arc::clone(&seats), transports };
            tasks.spawn(gate.accept(listener, None));
        }
        let unix = listeners
            .unix
            .map(|(listener, _)| tokio::spawn(accept_unix(listener, Arc::clone(&service), seats)));
        tasks.spawn(watch_keys(sources, Arc::clone(&service)));
        // Watched until the very end: that the server drains is something to see.
        let mut watched = JoinSet::new();
        if let Some(listener) = listeners.metrics {
            watched.spawn(oarlock_io::metrics::serve(listener, Arc::clone(&service)));
        }
        let grpc = tokio::spawn(serve_grpc(arrived, Arc::clone(&service))?);
        stop.await;
        info!(
            deadline_s = config.limits.drain_seconds,
            "draining: requests under way are answered, new ones refused"
        );
        service.drain();
        tasks.shutdown().await;
        let rest = async {
            if let Some(unix) = unix {
                let _ = unix.await;
            }
            grpc.await
        };
        let end = timeout(config.limits.drain(), rest).await;
        if let Some(socket) = socket {
            let _ = std::fs::remove_file(socket);
        }
        let audit = service.audit.clone();
        let _ = tokio::task::spawn_blocking(move || audit.close()).await;
        match end {
            Err(_) => warn!("the deadline passed: connections that had not ended were cut"),
            Ok(Ok(ended)) => ended?,
            Ok(Err(_)) => warn!("gRPC ended by a panic"),
        }
        info!("stopped");
        Ok(())
    }
}

fn settings(config: &Config, engines: Builder) -> Builder {
    let own = &config.engines;
    let engines = match &own.allowed {
        Some(names) => engines.engines(names.iter().map(String::as_str)),
        None => engines,
    };
    let engines = own.threads.map_or(engines.clone(), |threads| engines.clone().threads(threads));
    let engines = if own.null_key { engines.holder(Arc::new(Null)) } else { engines };
    own.cross_check.map_or(engines.clone(), |share| engines.clone().cross_check(share))
}

/// Says what came of looking at the keys.
fn tell(found: &Refreshed) {
    let changes = &found.changes;
    if !(changes.added.is_empty() && changes.replaced.is_empty() && changes.removed.is_empty()) {
        let (added, replaced, removed) = (&changes.added, &changes.replaced, &changes.removed);
        info!(?added, ?replaced, ?removed, "keys");
    }
    for (path, fault) in &changes.refused {
        warn!(path = %path.display(), %fault, "this file is not used; a key that it held before stays");
    }
    for path in &changes.exposed {
        warn!(path = %path.display(), "every user of this machine may read this private key");
    }
    for fault in &found.faults {
        warn!(%fault, "what was there before stays in use");
    }
    if found.has_new_records {
        info!("symmetric keys were read");
    }
}

/// How often keys are looked at.
const LOOK: Duration = Duration::from_secs(1);

async fn watch_keys(mut sources: KeySources, service: Arc<Service>) {
    let mut ticks = interval(LOOK);
    loop {
        ticks.tick().await;
        // Files are read where that holds up nobody.
        let looked = tokio::task::spawn_blocking(move || {
            let found = sources.refresh();
            (sources, found)
        });
        let Ok((back, mut found)) = looked.await else { return };
        sources = back;
        tell(&found);
        if let Some(keyring) = found.keyring.take() {
            service.replace_keyring(keyring);
        }
    }
}

impl Listeners {
    async fn bind(config: &Config, acceptor: Option<TlsAcceptor>) -> Result<Self, ServerError> {
        let listen = &config.listen;
        let tcp = match (listen.tcp, acceptor) {
            (Some(address), Some(acceptor)) => Some((bind_tcp(address).await?, acceptor)),
            _ => None,
        };
        let plaintext = match listen.plaintext {
            Some(address) => Some(bind_tcp(address).await?),
            None => None,
        };
        let unix = match &listen.unix {
            Some(path) => Some((bind_unix(path, listen.mode()?)?, path.clone())),
            None => None,
        };
        let metrics = match listen.metrics {
            Some(address) => Some(bind_tcp(address).await?),
            None => None,
        };
        Ok(Self { tcp, plaintext, unix, metrics })
    }
}

async fn bind_tcp(address: SocketAddr) -> Result<TcpListener, ServerError> {
    let place = address.to_string();
    TcpListener::bind(address).await.map_err(|error| ServerError::Listen { place, error })
}

/// A socket that a dead server left behind is taken over, that of a living one is not.
fn bind_unix(path: &Path, mode: u32) -> Result<UnixListener, ServerError> {
    let failed = |error| ServerError::Listen { place: path.display().to_string(), error };
    let is_socket = path.symlink_metadata().is_ok_and(|about| about.file_type().is_socket());
    if is_socket {
        match std::os::unix::net::UnixStream::connect(path) {
            Ok(_) => {
                return Err(failed(io::Error::new(io::ErrorKind::AddrInUse, "another server answers there")));
            }
            Err(_) => std::fs::remove_file(path).map_err(failed)?,
        }
    }
    // Bound under another name and moved when its permissions are right: nobody comes in between.
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let _ = std::fs::remove_file(&new);
    let listener = UnixListener::bind(&new).map_err(failed)?;
    let permissions = std::fs::Permissions::from_mode(mode);
    let moved = std::fs::set_permissions(&new, permissions).and_then(|()| std::fs::rename(&new, path));
    moved.map(|()| listener).map_err(failed)
}

/// What takes TCP connections in.
struct Gate {
    service: Arc<Service>,
    seats: Arc<Semaphore>,
    transports: mpsc::Sender<Transport>,
}

impl Gate {
    async fn accept(self, listener: TcpListener, acceptor: Option<TlsAcceptor>) {
        let mut handshakes = JoinSet::new();
        loop {
            while handshakes.try_join_next().is_some() {}
            let stream = accepted(listener.accept().await.map(|(stream, _)| stream)).await;
            let Some(stream) = stream else { continue };
            let Ok(permit) = Arc::clone(&self.seats).try_acquire_owned() else {
                count(&self.service.metrics.refused_connections, 1);
                continue;
            };
            let seat = Seat::new(Arc::clone(&self.service), permit);
            let (service, transports) = (Arc::clone(&self.service), self.transports.clone());
            handshakes.spawn(enter(stream, acceptor.clone(), seat, service, transports));
        }
    }
}

/// A connection, or none for now. Where the system has no descriptors left, accepting at once again would only burn time.
pub(crate) async fn accepted<T>(accepted: io::Result<T>) -> Option<T> {
    match accepted {
        Ok(stream) => Some(stream),
        Err(error) => {
            warn!(%error, "a connection could not be accepted");
            sleep(Duration::from_millis(20)).await;
            None
        }
    }
}

/// One connection: its handshake, and who it is.
async fn enter(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    seat: Seat,
    service: Arc<Service>,
    transports: mpsc::Sender<Transport>,
) {
    let from = stream.peer_addr().ok();
    let fail = |reason: &dyn std::fmt::Display| {
        count(&service.metrics.failed_handshakes, 1);
        debug!(?from, %reason, "no handshake");
    };
    // Small answers leave at once.
    let _ = stream.set_nodelay(true);
    let stream = Counted { socket: stream, service: Arc::clone(&service) };
    let idle = service.limits.idle();
    let transport = match acceptor {
        None => Transport::new(Box::new(stream), Identity::loopback(), idle, seat),
        Some(acceptor) => {
            let stream = match timeout(service.limits.handshake(), acceptor.accept(stream)).await {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => return fail(&error),
                Err(_) => return fail(&"it took too long"),
            };
            let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
            let client = certificates.first().map(Identity::of_certificate);
            match client {
                Some(Ok(client)) => Transport::new(Box::new(stream), client, idle, seat),
                Some(Err(error)) => return fail(&error),
                None => return fail(&"no certificate"),
            }
        }
    };
    // Nobody takes it where the server stops.
    let _ = transports.send(transport).await;
}

async fn accept_unix(listener: UnixListener, service: Arc<Service>, seats: Arc<Semaphore>) {
    let mut connections = JoinSet::new();
    let mut draining = Box::pin(service.draining());
    loop {
        while connections.try_join_next().is_some() {}
        let stream = tokio::select! {
            stream = listener.accept() => accepted(stream.map(|(stream, _)| stream)).await,
            () = &mut draining => break,
        };
        let Some(stream) = stream else { continue };
        match Arc::clone(&seats).try_acquire_owned() {
            Ok(permit) => {
                let seat = Seat::new(Arc::clone(&service), permit);
                let service = Arc::clone(&service);
                connections.spawn(async move {
                    if let Err(error) = unix::serve(stream, service).await {
                        debug!(%error, "a client of the UNIX socket was left");
                    }
                    drop(seat);
                });
            }
            Err(_) => {
                count(&service.metrics.refused_connections, 1);
                connections.spawn(async move { drop(unix::turn_away(stream).await) });
            }
        }
    }
    while connections.join_next().await.is_some() {}
}

/// Bytes of a stream's and a connection's window: batches both ways fit without waiting for each other.
const WINDOW: u32 = 4 << 20;

fn serve_grpc(
    arrived: mpsc::Receiver<Transport>,
    service: Arc<Service>,
) -> Result<impl Future<Output = Result<(), tonic::transport::Error>>, ServerError> {
    let most = service.limits.message_bytes;
    let cryptoserver = CryptoserverServer::new(Grpc(Arc::clone(&service)))
        .max_decoding_message_size(most)
        .max_encoding_message_size(usize::MAX);
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?;
    let (health, health_service) = tonic_health::server::health_reporter();
    let draining = service.draining();
    let incoming = stream::unfold(arrived, |mut arrived| async {
        let transport = arrived.recv().await?;
        Some((Ok::<_, io::Error>(transport), arrived))
    });
    let streams = u32::try_from(service.limits.in_flight).unwrap_or(u32::MAX);
    let server = tonic::transport::Server::builder()
        .max_concurrent_streams(streams)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .add_service(health_service)
        .add_service(reflection)
        .add_service(cryptoserver);
    Ok(async move {
        health.set_serving::<CryptoserverServer<Grpc>>().await;
        let stop = async move {
            draining.await;
            health.set_not_serving::<CryptoserverServer<Grpc>>().await;
        };
        server.serve_with_incoming_shutdown(incoming, stop).await
    })
}
