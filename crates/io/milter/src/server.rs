//! The server: it is bound, runs and drains.
//!
//! | file | content |
//! |---|---|
//! | `server` | settings, listeners, limits, shutdown |
//! | `listen` | sockets: a dead server's socket is replaced, mode and group are set |
//! | `peers` | the users that may connect to a UNIX socket |
//! | `connection` | one connection: frames to its session, replies to the MTA |

mod connection;
mod listen;
mod peers;

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oarlock_network::{
    DrainSwitch, DrainWatch, HandshakeAdmission, HandshakeSlot, LogLimit, PassedSockets, SocketFileError,
    accept_next,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};
use tracing::{debug, error, info, warn};

use crate::counters::{MilterCounters, count};
use crate::protocol::MilterDecoder;
use crate::session::{FilterFactory, MtaSocket};
use crate::socket::MilterSocket;
use connection::{ConnectionEnd, MilterConnection};
use listen::{AcceptOutcome, MilterListener};
pub use peers::{UnixUsers, user_numbers};

/// The settings of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MilterSettings {
    /// The maximum number of connections over all sockets, at least 1. A further connection takes the place of one that
    /// has sent nothing, or is closed. The MTA then does what it is configured to do without the filter, which is
    /// usually a temporary rejection.
    pub max_connections: usize,
    /// The maximum time without data from the MTA, and the maximum time for it to read replies. MTAs keep connections
    /// open while their clients are idle, so it must not be shorter than the timeouts of an SMTP session. `libmilter`
    /// uses 7,210 s.
    pub max_idle: Duration,
    /// The maximum time for messages in progress during shutdown.
    pub max_drain: Duration,
    /// The interval of progress replies at the end of a message, at least 1 ms. Without them Postfix and Sendmail wait
    /// five minutes by default.
    pub progress_interval: Duration,
    /// The maximum length of a frame in bytes.
    pub max_frame_bytes: u32,
    /// The permissions of UNIX sockets.
    pub unix_mode: u32,
    /// The users that may connect to UNIX sockets, besides root and the server's own user. A user is a name in
    /// `/etc/passwd` or a number. None allows the members of the socket's group.
    pub unix_users: Option<Vec<String>>,
    /// The group of UNIX sockets: a name in `/etc/group` or a number. None keeps the group of the process.
    pub unix_group: Option<String>,
}

impl Default for MilterSettings {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_idle: Duration::from_secs(7210),
            max_drain: Duration::from_secs(30),
            progress_interval: Duration::from_secs(10),
            max_frame_bytes: MilterDecoder::DEFAULT_MAX_BYTES,
            unix_mode: 0o660,
            unix_users: None,
            unix_group: None,
        }
    }
}

/// An error of starting a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MilterServerError {
    /// A socket cannot be bound.
    #[error("cannot listen at {socket}: {error}")]
    Listen {
        /// The address of the socket.
        socket: MilterSocket,
        /// The error of the system.
        error: io::Error,
    },
    /// A UNIX socket cannot be created.
    #[error("cannot listen at unix:{0}")]
    SocketFile(#[from] SocketFileError),
    /// The group does not exist.
    #[error("unknown group {0:?}: expected a number or a name in /etc/group")]
    Group(String),
    /// The user does not exist.
    #[error("unknown user {0:?}: expected a number or a name in /etc/passwd")]
    User(String),
    /// The list of sockets is empty.
    #[error("no socket to listen at: expected one or more")]
    NoSocket,
}

/// A bound server that does not accept connections yet.
pub struct MilterServer<F> {
    filters: Arc<F>,
    counters: Arc<MilterCounters>,
    listeners: Vec<MilterListener>,
    settings: MilterSettings,
    users: UnixUsers,
}

impl<F> fmt::Debug for MilterServer<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Server")
            .field("listeners", &self.listeners)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The state that all connections of a server share.
struct ServerContext<F> {
    filters: Arc<F>,
    counters: Arc<MilterCounters>,
    settings: MilterSettings,
    permits: Arc<Semaphore>,
    /// The connections that have sent nothing.
    silent: Arc<HandshakeAdmission>,
    drain: DrainWatch,
}

impl<F: FilterFactory> MilterServer<F> {
    /// Binds the sockets. It needs a tokio runtime.
    ///
    /// # Errors
    /// A socket cannot be bound.
    pub async fn bind(
        sockets: &[MilterSocket],
        filters: F,
        settings: MilterSettings,
    ) -> Result<Self, MilterServerError> {
        Self::bind_passed(sockets, filters, settings, &mut PassedSockets::default()).await
    }

    /// Binds the sockets, except those that the service manager has bound. It takes these out of `passed`, with their
    /// permissions.
    ///
    /// # Errors
    /// A socket cannot be bound.
    pub async fn bind_passed(
        sockets: &[MilterSocket],
        filters: F,
        settings: MilterSettings,
        passed: &mut PassedSockets,
    ) -> Result<Self, MilterServerError> {
        if sockets.is_empty() {
            return Err(MilterServerError::NoSocket);
        }
        let users = UnixUsers::new(user_numbers(settings.unix_users.as_deref())?);
        let mut listeners = Vec::with_capacity(sockets.len());
        for socket in sockets {
            listeners.push(MilterListener::bind(socket, &settings, &users, passed).await?);
        }
        Ok(Self { filters: Arc::new(filters), counters: Arc::default(), listeners, settings, users })
    }

    /// Returns the users that may connect to UNIX sockets, which can be replaced while the server runs.
    #[must_use]
    pub fn unix_users(&self) -> UnixUsers {
        self.users.clone()
    }

    /// Returns the addresses of the sockets. Ports that the system chose are filled in.
    #[must_use]
    pub fn sockets(&self) -> Vec<MilterSocket> {
        self.listeners.iter().map(MilterListener::socket).collect()
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> Arc<MilterCounters> {
        Arc::clone(&self.counters)
    }

    /// Serves until `stop` is ready, then drains. Connections between messages are closed at once, others after their
    /// message. Those that are left at the deadline are cut.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let drain = DrainSwitch::default();
        let shared = Arc::new(ServerContext {
            filters: self.filters,
            counters: self.counters,
            permits: Arc::new(Semaphore::new(self.settings.max_connections.clamp(1, Semaphore::MAX_PERMITS))),
            // A connection gives way only if there is no permit, so this has no limits of its own.
            silent: Arc::new(HandshakeAdmission::new(usize::MAX, usize::MAX)),
            settings: self.settings,
            drain: drain.watch(),
        });
        let mut running = JoinSet::new();
        for listener in self.listeners {
            running.spawn(serve(listener, Arc::clone(&shared)));
        }
        stop.await;
        info!(
            deadline_s = shared.settings.max_drain.as_secs_f64(),
            "draining: messages in progress may finish"
        );
        drain.throw();
        while running.join_next().await.is_some() {}
        info!("stopped");
    }
}

/// Serves one listener and its connections until all have ended.
async fn serve<F: FilterFactory>(listener: MilterListener, shared: Arc<ServerContext<F>>) {
    let mut connections = JoinSet::new();
    let mut drain = shared.drain.clone();
    let limits = AcceptLogLimits::new();
    loop {
        tokio::select! {
            accepted = accept_next(|| listener.accept(), |error| limits.report_failure(&error)) => match accepted {
                AcceptOutcome::Stream(stream, socket) => {
                    admit(stream, socket, &shared, &mut connections, &limits.full);
                }
                AcceptOutcome::Refused { uid, pid } => {
                    count(&shared.counters.refused_connections, 1);
                    if let Some(suppressed) = limits.refused.admit() {
                        warn!(
                            uid, pid, suppressed,
                            "a connection was refused: if it is an MTA, add its user to the group of the socket or to [listen] unix_users"
                        );
                    }
                }
            },
            Some(ended) = connections.join_next() => record_end(&shared.counters, ended),
            () = drain.thrown() => break,
        }
    }
    drop(listener);
    let deadline = Instant::now() + shared.settings.max_drain;
    while let Ok(Some(ended)) = timeout_at(deadline, connections.join_next()).await {
        record_end(&shared.counters, ended);
    }
    let cut = connections.len();
    if cut > 0 {
        count(&shared.counters.cut_connections, cut);
        warn!(connections = cut, "the deadline passed: unfinished connections were cut");
    }
    connections.shutdown().await;
}

/// The interval between log lines that peers can cause.
const INTERVAL: Duration = Duration::from_secs(10);

/// Log lines about MTAs that break the protocol.
static BROKEN: LogLimit = LogLimit::new(INTERVAL);

/// Log lines about filters that cannot continue.
static FILTER_FAULTS: LogLimit = LogLimit::new(INTERVAL);

/// The log limits of a listener for connections that were not served.
struct AcceptLogLimits {
    failed: LogLimit,
    refused: LogLimit,
    full: LogLimit,
}

impl AcceptLogLimits {
    fn new() -> Self {
        let limit = || LogLimit::new(INTERVAL);
        Self { failed: limit(), refused: limit(), full: limit() }
    }

    fn report_failure(&self, error: &io::Error) {
        if let Some(suppressed) = self.failed.admit() {
            warn!(%error, suppressed, "a connection could not be accepted");
        }
    }
}

/// Serves a connection. At the limit it takes the place of the oldest one that has sent nothing, or else is closed: an
/// MTA speaks at once, so a silent connection is none of an MTA.
fn admit<F: FilterFactory>(
    stream: Box<dyn MilterStream>,
    socket: MtaSocket,
    shared: &Arc<ServerContext<F>>,
    connections: &mut JoinSet<()>,
    limit: &LogLimit,
) {
    let permit = Arc::clone(&shared.permits).try_acquire_owned();
    if permit.is_err() {
        // Either this connection or a silent one is not served.
        count(&shared.counters.refused_connections, 1);
        if let Some(suppressed) = limit.admit() {
            let max = shared.settings.max_connections;
            warn!(max, suppressed, "a connection was refused: the limit was reached");
        }
        if !shared.silent.evict_silent() {
            return;
        }
    }
    let (shared, newcomer) = (Arc::clone(shared), shared.silent.begin(None));
    connections.spawn(async move {
        let permit = match permit {
            Ok(permit) => Ok(permit),
            // The evicted connection gives its permit back as soon as its task has run.
            Err(_) => Arc::clone(&shared.permits).acquire_owned().await,
        };
        // unreachable otherwise because nobody closes the semaphore
        if let Ok(permit) = permit {
            let guard = ConnectionGuard::new(Arc::clone(&shared.counters), permit);
            serve_connection(stream, socket, shared, newcomer, guard).await;
        }
    });
}

async fn serve_connection<F: FilterFactory>(
    stream: Box<dyn MilterStream>,
    socket: MtaSocket,
    shared: Arc<ServerContext<F>>,
    (slot, evicted): (HandshakeSlot, oneshot::Receiver<()>),
    _guard: ConnectionGuard,
) {
    let counters = &shared.counters;
    let end = tokio::select! {
        end = MilterConnection::new(stream, socket, &shared, slot).run() => end,
        Ok(()) = evicted => ConnectionEnd::Evicted,
    };
    match &end {
        ConnectionEnd::Done | ConnectionEnd::Evicted => {}
        ConnectionEnd::Silent => count(&counters.timed_out_connections, 1),
        ConnectionEnd::Lost(_) => count(&counters.lost_connections, 1),
        ConnectionEnd::Protocol(error) => counters.count_error(error.kind()),
        ConnectionEnd::Filter(_) => count(&counters.filter_faults, 1),
    }
    match end {
        ConnectionEnd::Done => {}
        ConnectionEnd::Evicted => debug!("a silent connection gave way to a newer one"),
        ConnectionEnd::Silent => debug!("a connection was silent for too long"),
        ConnectionEnd::Lost(error) => debug!(%error, "a connection was lost"),
        ConnectionEnd::Protocol(error) => {
            if let Some(suppressed) = BROKEN.admit() {
                warn!(%error, suppressed, "an MTA broke the protocol: its connection was closed");
            }
        }
        ConnectionEnd::Filter(error) => {
            if let Some(suppressed) = FILTER_FAULTS.admit() {
                warn!(%error, suppressed, "a filter could not continue: its connection was closed");
            }
        }
    }
}

/// Records the end of a connection's task. A panic of a filter ends only its connection.
fn record_end(counters: &MilterCounters, ended: Result<(), JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        count(&counters.panics, 1);
        error!("a filter panicked: its connection was closed");
    }
}

/// A stream of bytes.
pub(crate) trait MilterStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> MilterStream for T {}

/// A connection that counts against the limit until it is dropped.
struct ConnectionGuard {
    counters: Arc<MilterCounters>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionGuard {
    fn new(counters: Arc<MilterCounters>, permit: OwnedSemaphorePermit) -> Self {
        count(&counters.connections, 1);
        count(&counters.open_connections, 1);
        Self { counters, _permit: permit }
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.counters.open_connections.fetch_sub(1, Ordering::Relaxed);
    }
}
