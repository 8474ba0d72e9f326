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

use crate::counters::{Counters, count};
use crate::protocol::Decoder;
use crate::session::{Filters, MtaSocket};
use crate::socket::Socket;
use connection::{Connection, End};
use listen::{Accepted, Listener};

/// How a server behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            connections: 1024,
            idle: Duration::from_secs(7210),
            drain: Duration::from_secs(30),
            progress: Duration::from_secs(10),
            frame_bytes: Decoder::MOST,
            unix_mode: 0o660,
            unix_users: None,
            unix_group: None,
        }
    }
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// A socket cannot be listened at.
    #[error("cannot listen at {socket}: {error}")]
    Listen {
        /// Which one.
        socket: Socket,
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
pub struct Server<F> {
    filters: Arc<F>,
    counters: Arc<Counters>,
    listeners: Vec<Listener>,
    settings: Settings,
}

impl<F> fmt::Debug for Server<F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Server")
            .field("listeners", &self.listeners)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What all connections of a server share.
struct Shared<F> {
    filters: Arc<F>,
    counters: Arc<Counters>,
    settings: Settings,
    seats: Arc<Semaphore>,
    /// True from when the server is to stop.
    is_draining: watch::Receiver<bool>,
}

impl<F: Filters> Server<F> {
    /// Everything but answering. Needs a tokio runtime.
    ///
    /// # Errors
    /// A socket cannot be bound.
    pub async fn bind(sockets: &[Socket], filters: F, settings: Settings) -> Result<Self, ServerError> {
        if sockets.is_empty() {
            return Err(ServerError::Nowhere);
        }
        let mut listeners = Vec::with_capacity(sockets.len());
        for socket in sockets {
            listeners.push(Listener::bind(socket, &settings).await?);
        }
        Ok(Self { filters: Arc::new(filters), counters: Arc::default(), listeners, settings })
    }

    /// Where it listens: ports that were left to the system are filled in.
    #[must_use]
    pub fn sockets(&self) -> Vec<Socket> {
        self.listeners.iter().map(Listener::socket).collect()
    }

    /// What it counts.
    #[must_use]
    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    /// Serves until `stop` is ready. Then connections between messages are closed, those with one under way after it, and what has not
    /// ended by the deadline is cut.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (drain, is_draining) = watch::channel(false);
        let shared = Arc::new(Shared {
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
async fn serve<F: Filters>(listener: Listener, shared: Arc<Shared<F>>) {
    let mut connections = JoinSet::new();
    let mut is_draining = shared.is_draining.clone();
    let limits = AcceptLimits::new();
    loop {
        tokio::select! {
            accepted = accept_next(|| listener.accept(), |error| limits.report_failure(&error)) => match accepted {
                Accepted::Stream(stream, socket) => {
                    admit(stream, socket, &shared, &mut connections, &limits.full);
                }
                Accepted::Refused { uid, pid } => {
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
struct AcceptLimits {
    failed: LogLimit,
    refused: LogLimit,
    full: LogLimit,
}

impl AcceptLimits {
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
fn admit<F: Filters>(
    stream: Box<dyn Stream>,
    socket: MtaSocket,
    shared: &Arc<Shared<F>>,
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
    let seat = Seat::new(Arc::clone(&shared.counters), permit);
    connections.spawn(attend(stream, socket, Arc::clone(shared), seat));
}

async fn attend<F: Filters>(stream: Box<dyn Stream>, socket: MtaSocket, shared: Arc<Shared<F>>, _seat: Seat) {
    let counters = &shared.counters;
    let end = Connection::new(stream, socket, &shared).run().await;
    match &end {
        End::Done => {}
        End::Silent => count(&counters.timed_out_connections, 1),
        End::Lost(_) => count(&counters.lost_connections, 1),
        End::Protocol(error) => counters.note_error(error.kind()),
        End::Filter(_) => count(&counters.filter_faults, 1),
    }
    match end {
        End::Done => {}
        End::Silent => debug!("a connection was silent for too long"),
        End::Lost(error) => debug!(%error, "a connection was lost"),
        End::Protocol(error) => {
            if let Some(suppressed) = BROKEN.admit() {
                warn!(%error, suppressed, "the MTA broke the protocol: its connection is closed");
            }
        }
        End::Filter(error) => {
            if let Some(suppressed) = FILTER_FAULTS.admit() {
                warn!(%error, suppressed, "a connection is closed");
            }
        }
    }
}

/// A filter that panics costs its connection, nothing else.
fn note(counters: &Counters, ended: Result<(), JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        count(&counters.panics, 1);
        error!("a filter panicked: its connection is closed");
    }
}

/// A stream of bytes.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A place among the connections that the server has at once, given back with it.
struct Seat {
    counters: Arc<Counters>,
    _permit: OwnedSemaphorePermit,
}

impl Seat {
    fn new(counters: Arc<Counters>, permit: OwnedSemaphorePermit) -> Self {
        count(&counters.connections, 1);
        count(&counters.open_connections, 1);
        Self { counters, _permit: permit }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.counters.open_connections.fetch_sub(1, Ordering::Relaxed);
    }
}
