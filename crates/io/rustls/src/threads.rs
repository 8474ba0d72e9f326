//! Threads that do handshakes, for runtimes that move tasks between threads.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};
use tokio_rustls::{client, server};

use crate::{TlsAcceptor, TlsConnector, TlsHandshakeError};

/// Threads that do handshakes only, and return streams that are `Send`.
///
/// A paused handshake cannot change its thread, so a runtime that moves tasks between threads cannot run it. Here it
/// stays on one of these threads from the first byte to the last, and the stream returns to the caller's runtime,
/// whose I/O driver it uses all the time. The threads end with the last clone.
///
/// Each thread computes what its handshakes wait for, side by side. So the threads take the time of the engines too: as
/// many as the cores that handshakes may use. Handshakes of two threads share no batch.
///
/// ```no_run
/// use std::sync::Arc;
///
/// # async fn serve(config: Arc<rustls::ServerConfig>) -> Result<(), Box<dyn std::error::Error>> {
/// let acceptor = oarlock_rustls::TlsAcceptor::new(config);
/// let handshakes = oarlock_rustls::Handshakes::new(2)?;
/// let listener = tokio::net::TcpListener::bind("0.0.0.0:443").await?;
/// loop {
///     let (tcp, _) = listener.accept().await?;
///     let (acceptor, handshakes) = (acceptor.clone(), handshakes.clone());
///     tokio::spawn(async move {
///         let stream = handshakes.accept(&acceptor, tcp).await?;
///         // Here the stream is used.
///         # drop(stream);
///         Ok::<(), oarlock_rustls::TlsHandshakeError>(())
///     });
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct Handshakes(Arc<[HandshakeThread]>);

struct HandshakeThread {
    starts: mpsc::UnboundedSender<StartTask>,
    under_way: Arc<AtomicUsize>,
}

/// Begins a task on the thread that calls it.
type StartTask = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

impl Handshakes {
    /// Starts the threads, at least one.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn new(threads: usize) -> io::Result<Self> {
        (0..threads.max(1))
            .map(|_| HandshakeThread::new())
            .collect::<io::Result<Vec<_>>>()
            .map(|all| Self(all.into()))
    }

    /// Does the handshake of a client's connection. Dropping the future cancels it.
    ///
    /// # Errors
    /// As [`TlsAcceptor::accept`].
    pub async fn accept<IO>(
        &self,
        acceptor: &TlsAcceptor,
        io: IO,
    ) -> Result<server::TlsStream<IO>, TlsHandshakeError>
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let acceptor = acceptor.clone();
        self.run(move || async move { acceptor.accept(io).await }).await
    }

    /// Does the handshake with a server. Dropping the future cancels it.
    ///
    /// # Errors
    /// As [`TlsAcceptor::accept`].
    pub async fn connect<IO>(
        &self,
        connector: &TlsConnector,
        name: ServerName<'static>,
        io: IO,
    ) -> Result<client::TlsStream<IO>, TlsHandshakeError>
    where
        IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // A full queue is noticed here, so that no thread works for a refused handshake.
        let queued = connector.enter()?;
        let connector = connector.clone();
        self.run(move || async move { connector.connect_in(queued, name, io).await }).await
    }

    async fn run<T, F>(&self, handshake: impl FnOnce() -> F + Send + 'static) -> Result<T, TlsHandshakeError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, TlsHandshakeError>> + 'static,
    {
        let least = self.0.iter().min_by_key(|thread| thread.under_way.load(Ordering::Relaxed));
        let thread = least.ok_or(TlsHandshakeError::Stopped)?;
        let count = ThreadLoad::new(Arc::clone(&thread.under_way));
        let (mut answer, result) = oneshot::channel();
        let start: StartTask = Box::new(move || {
            Box::pin(async move {
                let _count = count;
                let finished = tokio::select! {
                    finished = handshake() => finished,
                    // The caller has dropped its future.
                    () = answer.closed() => return,
                };
                // Fails only if the caller has gone meanwhile.
                let _ = answer.send(finished);
            })
        });
        thread.starts.send(start).map_err(|_| TlsHandshakeError::Stopped)?;
        // Without an answer the task has ended by a panic outside of rustls, or its thread has ended.
        result.await.unwrap_or(Err(TlsHandshakeError::Stopped))
    }
}

impl HandshakeThread {
    fn new() -> io::Result<Self> {
        let (starts, queue) = mpsc::unbounded_channel();
        let runtime = Builder::new_current_thread().enable_time().build()?;
        std::thread::Builder::new().name("handshakes".into()).spawn(move || run_tasks(&runtime, queue))?;
        Ok(Self { starts, under_way: Arc::default() })
    }
}

/// Runs tasks until the last sender is dropped.
fn run_tasks(runtime: &Runtime, mut queue: mpsc::UnboundedReceiver<StartTask>) {
    let tasks = LocalSet::new();
    tasks.block_on(runtime, async {
        while let Some(start) = queue.recv().await {
            spawn_local(start());
        }
    });
}

/// A handshake that a thread has begun or will begin.
struct ThreadLoad(Arc<AtomicUsize>);

impl ThreadLoad {
    fn new(under_way: Arc<AtomicUsize>) -> Self {
        // Relaxed: the count only chooses a thread.
        under_way.fetch_add(1, Ordering::Relaxed);
        Self(under_way)
    }
}

impl Drop for ThreadLoad {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Handshakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loads = self.0.iter().map(|thread| thread.under_way.load(Ordering::Relaxed));
        f.debug_tuple("Handshakes").field(&loads.collect::<Vec<_>>()).finish()
    }
}
