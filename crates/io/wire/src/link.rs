//! A stream of requests to one server.

mod unix;

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use self::unix::RingSender;
use crate::endpoint::{PATIENCE, status_reason};
use crate::proto::cryptoserver_client::CryptoserverClient;
use crate::proto::{Code, Fault, Request, Response, request, response};
use crate::{ConnectError, Credentials, Endpoint, MessageLimits, RingUnavailable, alert, ring};

/// A stream of requests to a server, for any number of tasks at once. Keys that are opened on it end with it. Needs a
/// tokio runtime.
#[derive(Debug)]
pub struct ServerLink {
    requests: LinkSender,
    shared: Arc<LinkState>,
    last_id: AtomicU64,
    tasks: Vec<AbortHandle>,
    transport: LinkTransport,
}

/// The way of requests to the server.
#[derive(Debug)]
enum LinkSender {
    Queue(mpsc::Sender<Request>),
    Ring(RingSender),
}

/// The way of messages between a client and its server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkTransport {
    /// gRPC under mutual TLS.
    Tls,
    /// gRPC without protection.
    Plaintext,
    /// A UNIX socket alone.
    Socket {
        /// The reason why there is no shared memory.
        no_ring: RingUnavailable,
    },
    /// Shared memory; a UNIX socket wakes the sides, and takes messages that do not fit.
    Ring,
}

#[derive(Debug, Default)]
struct LinkState {
    /// The senders of the answers that are waited for; `None` once the stream has ended.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<Response>>>>,
    end: OnceLock<String>,
}

/// An error of a request without an answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The stream ended before the answer came. The client cannot know if the server has done the work.
    #[error("the stream ended: {0}")]
    Lost(String),
    /// The server refused the request.
    #[error("{}", .0.message)]
    Refused(Fault),
    /// The server sent another kind of answer.
    #[error("expected {0} from the server, found another kind of answer")]
    Unexpected(&'static str),
}

/// The maximum number of requests that wait to be sent.
const QUEUE: usize = 256;

impl ServerLink {
    /// Connects to a server. On a UNIX socket it asks for rings of shared memory, unless the variable `OARLOCK_NO_RING`
    /// is set to another value than `0`. [`transport`](Self::transport) returns what is in use.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the client.
    pub async fn open(endpoint: &Endpoint) -> Result<Self, ConnectError> {
        Self::open_at(endpoint, None).await
    }

    /// Connects to a server at one of the addresses of its name.
    pub(crate) async fn open_at(endpoint: &Endpoint, at: Option<SocketAddr>) -> Result<Self, ConnectError> {
        let no_ring = ring::is_switched_off().then(RingUnavailable::switched_off);
        Self::open_by(endpoint, at, no_ring).await
    }

    /// Connects to a server, without shared memory for this reason.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_without_ring(endpoint: &Endpoint, reason: &str) -> Result<Self, ConnectError> {
        Self::open_by(endpoint, None, Some(RingUnavailable::Unwanted(reason.to_owned()))).await
    }

    async fn open_by(
        endpoint: &Endpoint,
        at: Option<SocketAddr>,
        no_ring: Option<RingUnavailable>,
    ) -> Result<Self, ConnectError> {
        match endpoint {
            Endpoint::Grpc { url, credentials } => Self::over_grpc(url, credentials.as_ref(), at).await,
            Endpoint::Unix { path, users } => unix::open(path, users, no_ring).await,
        }
    }

    async fn over_grpc(
        url: &str,
        credentials: Option<&Credentials>,
        at: Option<SocketAddr>,
    ) -> Result<Self, ConnectError> {
        let channel = Endpoint::channel(url, credentials, at).await?;
        let max = MessageLimits::default().max_message_bytes;
        let mut client = CryptoserverClient::new(channel).max_decoding_message_size(max);
        // A bounded queue: callers wait if the server takes no more requests.
        let (requests, outgoing) = mpsc::channel(QUEUE);
        let outgoing = tokio_stream::wrappers::ReceiverStream::new(outgoing);
        // A server may accept connections and never answer.
        let answered = match timeout(PATIENCE, client.stream(outgoing)).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(status)) => return Err(refusal_error(url, credentials, &status).await),
            Err(_) => {
                let reason = format!("the server did not accept a stream within {} s", PATIENCE.as_secs());
                return Err(ConnectError::Unreachable { address: url.to_owned(), reason });
            }
        };
        let shared = LinkState::new();
        let link = Arc::clone(&shared);
        let reader = tokio::spawn(async move {
            let mut answers = answered.into_inner();
            let end = loop {
                match answers.message().await {
                    Ok(Some(response)) => link.answer(response),
                    Ok(None) => break "the server closed it".to_owned(),
                    Err(status) => break status_reason(&status),
                }
            };
            link.close(end);
        });
        let (requests, tasks) = (LinkSender::Queue(requests), vec![reader.abort_handle()]);
        let is_tls = url.starts_with("https:");
        let transport = if is_tls { LinkTransport::Tls } else { LinkTransport::Plaintext };
        Ok(Self { requests, shared, last_id: AtomicU64::new(0), tasks, transport })
    }

    /// Sends a request and waits for its answer. Dropping the future abandons the answer.
    ///
    /// # Errors
    /// The stream ended, or the server refused the request.
    pub async fn call(&self, body: request::Body) -> Result<response::Body, LinkError> {
        // Ids start at 1, because zero marks faults of the stream.
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        let is_taken = self.shared.enter(id, sender);
        let mut entry = WaiterEntry { shared: &self.shared, id, is_taken };
        let request = Request { id, body: Some(body) };
        if !entry.is_taken || !self.send(request).await {
            return Err(self.shared.lost());
        }
        let response = answer.await.map_err(|_| self.shared.lost())?;
        entry.is_taken = false;
        match response.body {
            Some(response::Body::Fault(fault)) => Err(LinkError::Refused(fault)),
            Some(body) => Ok(body),
            None => Err(LinkError::Unexpected("an answer")),
        }
    }

    /// Sends a request. Returns false if the stream has ended.
    async fn send(&self, request: Request) -> bool {
        match &self.requests {
            LinkSender::Queue(queue) => queue.send(request).await.is_ok(),
            LinkSender::Ring(ring) => ring.send(request).await,
        }
    }

    /// Returns the way of the messages.
    #[must_use]
    pub fn transport(&self) -> &LinkTransport {
        &self.transport
    }

    /// Returns true if the stream has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.end.get().is_some()
    }
}

/// Returns the error of a server that ended a connection before it answered.
async fn refusal_error(url: &str, credentials: Option<&Credentials>, status: &tonic::Status) -> ConnectError {
    let reason = status_reason(status);
    let alert = match credentials {
        Some(credentials) if !reason.contains("alert") => alert::read_refusal(url, credentials).await,
        _ => None,
    };
    ConnectError::Unreachable { address: url.to_owned(), reason: alert.unwrap_or(reason) }
}

/// An entry among the waiting requests, removed when the request is abandoned.
struct WaiterEntry<'l> {
    shared: &'l LinkState,
    id: u64,
    is_taken: bool,
}

impl Drop for WaiterEntry<'_> {
    fn drop(&mut self) {
        if self.is_taken
            && let Some(waiting) = &mut *self.shared.lock()
        {
            waiting.remove(&self.id);
        }
    }
}

impl Drop for ServerLink {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl LinkState {
    fn new() -> Arc<Self> {
        Arc::new(Self { waiting: Mutex::new(Some(HashMap::new())), end: OnceLock::new() })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<HashMap<u64, oneshot::Sender<Response>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the sender of an answer. Returns false if the stream has ended.
    fn enter(&self, id: u64, sender: oneshot::Sender<Response>) -> bool {
        self.lock().as_mut().map(|waiting| waiting.insert(id, sender)).is_some()
    }

    fn answer(&self, response: Response) {
        if response.id == 0 {
            // The id zero marks a fault of the stream as a whole, after which the server ends it.
            if let Some(response::Body::Fault(fault)) = response.body {
                let _ = self.end.set(fault.message);
            }
            return;
        }
        let sender = self.lock().as_mut().and_then(|waiting| waiting.remove(&response.id));
        if let Some(sender) = sender {
            // An error means that the request was abandoned.
            let _ = sender.send(response);
        }
    }

    fn close(&self, reason: String) {
        // The first reason stays: a fault of the server says more than the end of the connection after it.
        let _ = self.end.set(reason);
        // Dropping the senders wakes every waiting request with an error.
        self.lock().take();
    }

    fn lost(&self) -> LinkError {
        LinkError::Lost(self.end.get().cloned().unwrap_or_else(|| "the connection was lost".to_owned()))
    }
}

impl fmt::Display for LinkTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tls => f.write_str("TLS"),
            Self::Plaintext => f.write_str("gRPC without TLS"),
            Self::Socket { no_ring } => write!(f, "the UNIX socket alone, without shared memory: {no_ring}"),
            Self::Ring => f.write_str("shared memory"),
        }
    }
}

impl LinkTransport {
    /// Returns true if a system forbids the shared memory that both sides want. An administrator may want to know.
    #[must_use]
    pub fn is_unexpected(&self) -> bool {
        matches!(self, Self::Socket { no_ring } if no_ring.is_unexpected())
    }
}

impl LinkError {
    /// Returns true if another server may do the work.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        match self {
            Self::Lost(_) | Self::Unexpected(_) => true,
            Self::Refused(fault) => {
                // Other faults depend on the request, and every server would give the same.
                matches!(fault.code(), Code::Unavailable | Code::ResourceExhausted | Code::Failed)
            }
        }
    }
}
