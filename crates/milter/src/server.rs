//! The server: bound, running, drained.
//!
//! | file | what it holds |
//! |---|---|
//! | `server` | settings, listeners, limits, the end |
//! | `listen` | sockets: taken over from the dead, with mode and group |
//! | `peers` | who may connect over a UNIX socket |
//! | `connection` | one connection: read, told to its session, written |

mod connection;
mod listen;
mod peers;

use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oarlock_io::{LogLimit, SocketFileError, accept_next};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};
use tracing::{debug, error, info, warn};

use crate::counters::{MilterCounters, count};
use crate::protocol::FrameDecoder;
use crate::session::{FilterFactory, MtaSocket};
use crate::socket::MilterSocket;
use connection::{ConnectionEnd, MilterConnection};
use listen::{AcceptOutcome, MilterListener};

/// How a server behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MilterSettings {
    /// Connections at once, of all sockets together; one more is hung up on, for which an MTA does what it does without a filter:
    /// mostly it has the client come again later. At least 1.
    pub connections: usize,
    /// How long a connection may be silent, or leave replies unread. MTAs keep connections while their clients think, so this is not
    /// shorter than an SMTP session's timeouts: 7,210 s is `libmilter`'s.
    pub idle: Duration,
    /// How long messages under way may take once the server is to stop.
    pub drain: Duration,
    /// How often an MTA is asked for patience at the end of a message. Postfix and Sendmail wait for five minutes by default without
    /// that. At least 1 ms.
    pub progress: Duration,
    /// Bytes of a frame, at most.
    pub frame_bytes: u32,
    /// Permissions of UNIX sockets.
    pub unix_mode: u32,
    /// Users that may connect over UNIX sockets, by name in `/etc/passwd` or by number, beside root and the server's own; None for the
    /// members of the socket's group.
    pub unix_users: Option<Vec<String>>,
    /// Group of UNIX sockets, by name in `/etc/group` or by number; None for the process's own.
    pub unix_group: Option<String>,
}

impl Default for MilterSettings {
    fn default() -> Self {
        Self {
            connections: 1024,
            idle: Duration::from_secs(7210),
            drain: Duration::from_secs(30),
            progress: Duration::from_secs(10),
            frame_bytes: FrameDecoder::MOST,
            unix_mode: 0o660,
            unix_users: None,
            unix_group: None,
        }
    }
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MilterServerError {
    /// A socket cannot be listened at.
    #[error("cannot listen at {socket}: {error}")]
    Listen {
        /// Which one.
        socket: MilterSocket,
        /// What the system said.
        error: io::Error,
    },
    /// A UNIX socket cannot be had.
    #[error("cannot listen at unix:{0}")]
    SocketFile(#[from] SocketFileError),
    /// There is no such group.
    #[error("no group {0:?}, neither a number nor in /etc/group")]
    Group(String),
    /// There is no such user.
    #[error("no user {0:?}, neither a number nor in /etc/passwd")]
    User(String),
    /// No socket at all.
    #[error("no socket to listen at")]
    Nowhere,
}

/// A server that listens and does not answer yet.
pub struct MilterServer<F> {
    filters: Arc<F>,
    counters: Arc<MilterCounters>,
    listeners: Vec<MilterListener>,
    settings: MilterSettings,
}

impl<F> fmt::Debug for MilterServer<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Server")
            .field("listeners", &self.listeners)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What all connections of a server share.
struct ServerContext<F> {
    filters: Arc<F>,
    counters: Arc<MilterCounters>,
    settings: MilterSettings,
    seats: Arc<Semaphore>,
    /// True from when the server is to stop.
    is_draining: watch::Receiver<bool>,
}

impl<F: FilterFactory> MilterServer<F> {
    /// Everything but answering. Needs a tokio runtime.
    ///
    /// # Errors
    /// A socket cannot be bound.
    pub async fn bind(
        sockets: &[MilterSocket],
        filters: F,
        settings: MilterSettings,
    ) -> Result<Self, MilterServerError> {
        if sockets.is_empty() {
            return Err(MilterServerError::Nowhere);
        }
        let mut listeners = Vec::with_capacity(sockets.len());
        for socket in sockets {
            listeners.push(MilterListener::bind(socket, &settings).await?);
        }
        Ok(Self { filters: Arc::new(filters), counters: Arc::default(), listeners, settings })
    }

    /// Where it listens: ports that were left to the system are filled in.
    #[must_use]
    pub fn sockets(&self) -> Vec<MilterSocket> {
        self.listeners.iter().map(MilterListener::socket).collect()
    }

    /// What it counts.
    #[must_use]
    pub fn counters(&self) -> Arc<MilterCounters> {
        Arc::clone(&self.counters)
    }

    /// Serves until `stop` is ready. Then connections between messages are closed, those with one under way after it, and what has not
    /// ended by the deadline is cut.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (drain, is_draining) = watch::channel(false);
        let shared = Arc::new(ServerContext {
            filters: self.filters,
            counters: self.counters,
            seats: Arc::new(Semaphore::new(self.settings.connections.clamp(1, Semaphore::MAX_PERMITS))),
            settings: self.settings,
            is_draining,
        });
        let mut gates = JoinSet::new();
        for listener in self.listeners {
            gates.spawn(serve(listener, Arc::clone(&shared)));
        }
        stop.await;
        info!(deadline_s = shared.settings.drain.as_secs_f64(), "draining: messages under way are finished");
        // Nobody listens where all gates are closed already.
        let _ = drain.send(true);
        while gates.join_next().await.is_some() {}
        info!("stopped");
    }
}

/// One listener and its connections, until all have ended.
async fn serve<F: FilterFactory>(listener: MilterListener, shared: Arc<ServerContext<F>>) {
    let mut connections = JoinSet::new();
    let mut is_draining = shared.is_draining.clone();
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
                            "a connection was refused: if it is an MTA, make its user a member of the socket's group, or name it in [listen] unix_users"
                        );
                    }
                }
            },
            Some(ended) = connections.join_next() => note(&shared.counters, ended),
            () = draining(&mut is_draining) => break,
        }
    }
    drop(listener);
    let deadline = Instant::now() + shared.settings.drain;
    while let Ok(Some(ended)) = timeout_at(deadline, connections.join_next()).await {
        note(&shared.counters, ended);
    }
    let cut = connections.len();
    if cut > 0 {
        count(&shared.counters.cut_connections, cut);
        warn!(connections = cut, "the deadline passed: messages that had not ended were cut");
    }
    connections.shutdown().await;
}

/// Ready once the server is to stop.
async fn draining(is_draining: &mut watch::Receiver<bool>) {
    // A server that is gone has stopped too.
    let _ = is_draining.wait_for(|is_draining| *is_draining).await;
}

/// The interval of log lines that peers bring about.
const INTERVAL: Duration = Duration::from_secs(10);

/// Lines about MTAs that break the protocol.
static BROKEN: LogLimit = LogLimit::new(INTERVAL);

/// Lines about filters that cannot go on.
static FILTER_FAULTS: LogLimit = LogLimit::new(INTERVAL);

/// The log limits of a listener for connections that it did not serve.
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

/// Gives a connection a seat, or hangs up.
fn admit<F: FilterFactory>(
    stream: Box<dyn ByteStream>,
    socket: MtaSocket,
    shared: &Arc<ServerContext<F>>,
    connections: &mut JoinSet<()>,
    limit: &LogLimit,
) {
    let Ok(permit) = Arc::clone(&shared.seats).try_acquire_owned() else {
        count(&shared.counters.refused_connections, 1);
        if let Some(suppressed) = limit.admit() {
            let max = shared.settings.connections;
            warn!(max, suppressed, "a connection was refused: there are as many as there may be");
        }
        return;
    };
    let seat = ConnectionGuard::new(Arc::clone(&shared.counters), permit);
    connections.spawn(attend(stream, socket, Arc::clone(shared), seat));
}

async fn attend<F: FilterFactory>(
    stream: Box<dyn ByteStream>,
    socket: MtaSocket,
    shared: Arc<ServerContext<F>>,
    _seat: ConnectionGuard,
) {
    let counters = &shared.counters;
    let end = MilterConnection::new(stream, socket, &shared).run().await;
    match &end {
        ConnectionEnd::Done => {}
        ConnectionEnd::Silent => count(&counters.timed_out_connections, 1),
        ConnectionEnd::Lost(_) => count(&counters.lost_connections, 1),
        ConnectionEnd::Protocol(error) => counters.note_error(error.kind()),
        ConnectionEnd::Filter(_) => count(&counters.filter_faults, 1),
    }
    match end {
        ConnectionEnd::Done => {}
        ConnectionEnd::Silent => debug!("a connection was silent for too long"),
        ConnectionEnd::Lost(error) => debug!(%error, "a connection was lost"),
        ConnectionEnd::Protocol(error) => {
            if let Some(suppressed) = BROKEN.admit() {
                warn!(%error, suppressed, "the MTA broke the protocol: its connection is closed");
            }
        }
        ConnectionEnd::Filter(error) => {
            if let Some(suppressed) = FILTER_FAULTS.admit() {
                warn!(%error, suppressed, "a connection is closed");
            }
        }
    }
}

/// A filter that panics costs its connection, nothing else.
fn note(counters: &MilterCounters, ended: Result<(), JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        count(&counters.panics, 1);
        error!("a filter panicked: its connection is closed");
    }
}

/// A stream of bytes.
pub(crate) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A place among the connections that the server has at once, given back with it.
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
