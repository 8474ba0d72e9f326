//! The threads that serve connections: a runtime and a listener for each core.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use oarlock_network::{DrainWatch, accept_next};
use oarlock_service_kit::admission::{report_crowd, report_failure};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep_until, timeout};
use tracing::{error, warn};

use crate::admission::CountedConnection;
use crate::connection::{OpenHandshake, serve_connection};
use crate::counters::{RefusalReason, count};
use crate::listen::{NumberedSocket, ProxyListener};
use crate::state::ProxyShared;
use crate::stream::SocketStream;
use crate::tracked::TrackedConnection;

/// A connection that was accepted and is not served yet.
#[derive(Debug)]
struct AcceptedSocket {
    socket: PassedSocket,
    counted: CountedConnection,
    handshake: OpenHandshake,
    tracked: TrackedConnection,
}

/// A socket on its way to the thread that serves it.
#[derive(Debug)]
enum PassedSocket {
    /// A socket of the same thread.
    Own(SocketStream),
    /// A socket that belongs to no runtime.
    Tcp(std::net::TcpStream),
    Unix(std::os::unix::net::UnixStream),
}

/// The address of a thread: the queue of its connections, and their number.
#[derive(Debug)]
struct WorkerAddress {
    queue: mpsc::UnboundedSender<AcceptedSocket>,
    load: AtomicUsize,
}

/// A thread that serves connections.
#[derive(Debug)]
pub(crate) struct ProxyWorker {
    number: usize,
    workers: Arc<Vec<WorkerAddress>>,
    queue: mpsc::UnboundedReceiver<AcceptedSocket>,
    sockets: Vec<NumberedSocket>,
    shared: Arc<ProxyShared>,
}

impl ProxyWorker {
    /// Makes a worker for each list of sockets.
    pub(crate) fn new_all(threads: Vec<Vec<NumberedSocket>>, shared: &Arc<ProxyShared>) -> Vec<Self> {
        let (addresses, queues): (Vec<_>, Vec<_>) = threads
            .iter()
            .map(|_| {
                let (sender, receiver) = mpsc::unbounded_channel();
                (WorkerAddress { queue: sender, load: AtomicUsize::new(0) }, receiver)
            })
            .unzip();
        let workers = Arc::new(addresses);
        let parts = threads.into_iter().zip(queues).enumerate();
        let worker = |(number, (sockets, queue))| {
            let (workers, shared) = (Arc::clone(&workers), Arc::clone(shared));
            Self { number, workers, queue, sockets, shared }
        };
        parts.map(worker).collect()
    }

    /// Runs the worker on this thread until it has drained.
    ///
    /// # Errors
    /// The system gives no runtime.
    pub(crate) fn run(self, drain: DrainWatch) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        // Handshakes stay on their thread, so their tasks are local.
        LocalSet::new().block_on(&runtime, self.serve(drain))
    }

    async fn serve(mut self, mut drain: DrainWatch) -> io::Result<()> {
        let mut acceptors = JoinSet::new();
        for NumberedSocket { listener, socket } in std::mem::take(&mut self.sockets) {
            let acceptor = WorkerAcceptor {
                number: self.number,
                listener,
                workers: Arc::clone(&self.workers),
                shared: Arc::clone(&self.shared),
            };
            acceptors.spawn_local(acceptor.run(Rc::new(socket.serve()?), drain.clone()));
        }
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                Some(accepted) = self.queue.recv() => self.spawn(accepted, &mut connections),
                Some(_) = connections.join_next() => {}
                () = drain.thrown() => break,
            }
        }
        while acceptors.join_next().await.is_some() {}
        self.drain(connections).await;
        Ok(())
    }

    /// Serves the remaining connections to their end or to the deadline.
    async fn drain(&mut self, mut connections: JoinSet<()>) {
        // From now on other threads get their connections back.
        self.queue.close();
        while let Some(accepted) = self.queue.recv().await {
            self.spawn(accepted, &mut connections);
        }
        let end = Instant::now() + self.shared.current.get().limits.max_drain();
        loop {
            tokio::select! {
                ended = connections.join_next() => if ended.is_none() { return },
                () = sleep_until(end) => break,
            }
        }
        // Those that have just ended were not cut.
        while connections.try_join_next().is_some() {}
        warn!(connections = connections.len(), "connections were cut: [limits] max_drain_seconds has passed");
    }

    fn spawn(&self, accepted: AcceptedSocket, connections: &mut JoinSet<()>) {
        let load = ConnectionLoad { number: self.number, workers: Arc::clone(&self.workers) };
        let shared = Arc::clone(&self.shared);
        let AcceptedSocket { socket, counted, handshake, tracked } = accepted;
        let socket = match socket.enter_runtime() {
            Ok(socket) => socket,
            Err(error) => return lose(&error, tracked),
        };
        connections.spawn_local(async move {
            let _load = load;
            serve_connection(socket, counted, handshake, tracked, &shared).await;
        });
    }
}

/// The load of a worker by one connection, until it is dropped.
struct ConnectionLoad {
    number: usize,
    workers: Arc<Vec<WorkerAddress>>,
}

impl Drop for ConnectionLoad {
    fn drop(&mut self) {
        self.workers[self.number].load.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Accepts the connections of one listener, and hands each to a worker.
struct WorkerAcceptor {
    number: usize,
    /// The number of the listener.
    listener: usize,
    workers: Arc<Vec<WorkerAddress>>,
    shared: Arc<ProxyShared>,
}

impl WorkerAcceptor {
    async fn run(self, listener: Rc<ProxyListener>, mut drain: DrainWatch) {
        loop {
            tokio::select! {
                socket = accept_next(|| listener.accept(), |error| report_failure(&error)) => self.admit(socket),
                () = drain.thrown() => break,
            }
        }
        // Connections that the kernel has accepted already would get a reset when the listener is closed.
        while let Ok(Ok(socket)) = timeout(Duration::ZERO, listener.accept()).await {
            self.admit(socket);
        }
    }

    fn admit(&self, socket: SocketStream) {
        let counters = &self.shared.counters;
        count(&counters.connections);
        let handshakes = &self.shared.handshakes;
        let maxima = self.shared.current.get().maxima();
        let addresses = socket.addresses();
        let client = addresses.map(|addresses| addresses.source);
        let mut tracked = TrackedConnection::new(client, &self.shared);
        match self.shared.connections.admit(maxima, || handshakes.evict_silent()) {
            Ok(counted) => {
                let (slot, evicted) = handshakes.begin(client.map(|client| client.ip()));
                report_crowd(handshakes, "max_handshakes and max_waiting_handshakes");
                let handshake = OpenHandshake { slot, listener: self.listener, addresses, evicted };
                self.hand_over(socket, counted, handshake, tracked);
            }
            Err(limit) => tracked.record.refuse(limit.into(), &limit),
        }
    }

    fn hand_over(
        &self,
        socket: SocketStream,
        counted: CountedConnection,
        handshake: OpenHandshake,
        tracked: TrackedConnection,
    ) {
        let target = self.choose();
        self.workers[target].load.fetch_add(1, Ordering::Relaxed);
        let socket = if target == self.number {
            PassedSocket::Own(socket)
        } else {
            count(&self.shared.counters.handed_on);
            match PassedSocket::leave_runtime(socket) {
                Ok(socket) => socket,
                Err(error) => {
                    self.workers[target].load.fetch_sub(1, Ordering::Relaxed);
                    return lose(&error, tracked);
                }
            }
        };
        let accepted = AcceptedSocket { socket, counted, handshake, tracked };
        if let Err(returned) = self.workers[target].queue.send(accepted) {
            // The other thread has drained already. The own one waits for this function.
            self.workers[target].load.fetch_sub(1, Ordering::Relaxed);
            self.workers[self.number].load.fetch_add(1, Ordering::Relaxed);
            // An error means that this thread has ended, too.
            if let Err(mut returned) = self.workers[self.number].queue.send(returned.0) {
                returned.0.tracked.record.refuse(RefusalReason::Machine, &"the proxy has stopped");
            }
        }
    }

    /// Returns the number of the thread for the next connection: this one, unless another one has clearly fewer.
    fn choose(&self) -> usize {
        let load = |number: usize| self.workers[number].load.load(Ordering::Relaxed);
        let load_here = load(self.number);
        let lightest = (0..self.workers.len()).min_by_key(|number| load(*number)).unwrap_or(self.number);
        if load(lightest) + 1 + load_here / 8 < load_here { lightest } else { self.number }
    }
}

impl PassedSocket {
    fn leave_runtime(socket: SocketStream) -> io::Result<Self> {
        match socket {
            SocketStream::Tcp(tcp) => tcp.into_std().map(Self::Tcp),
            SocketStream::Unix(unix) => unix.into_std().map(Self::Unix),
        }
    }

    fn enter_runtime(self) -> io::Result<SocketStream> {
        match self {
            Self::Own(socket) => Ok(socket),
            Self::Tcp(tcp) => tokio::net::TcpStream::from_std(tcp).map(SocketStream::Tcp),
            Self::Unix(unix) => tokio::net::UnixStream::from_std(unix).map(SocketStream::Unix),
        }
    }
}

/// Reports an accepted connection that cannot be served.
fn lose(error: &io::Error, mut tracked: TrackedConnection) {
    tracked.record.refuse(RefusalReason::Machine, error);
    report_failure(error);
}

/// Starts a thread for a worker. The receiver gets its result.
pub(crate) fn start_worker(
    worker: ProxyWorker,
    drain: DrainWatch,
    ended: mpsc::UnboundedSender<()>,
) -> io::Result<()> {
    let name = format!("proxy-{}", worker.number);
    std::thread::Builder::new().name(name).spawn(move || {
        if let Err(error) = worker.run(drain) {
            error!(%error, "a thread of the proxy ended");
        }
        drop(ended);
    })?;
    Ok(())
}
