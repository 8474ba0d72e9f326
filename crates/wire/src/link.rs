//! A stream of requests to one server.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::BytesMut;
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::endpoint::{PATIENCE, status_reason};
use crate::proto::cryptoserver_client::CryptoserverClient;
use crate::proto::{Code, Fault, Request, Response, request, response};
use crate::{ConnectError, Credentials, Endpoint, MessageLimits, alert, frame};

/// A stream of requests to a server, for any number of tasks at once. Keys that are opened on it end with it. Needs a
/// tokio runtime.
#[derive(Debug)]
pub struct ServerLink {
    requests: mpsc::Sender<Request>,
    shared: Arc<LinkState>,
    last_id: AtomicU64,
    tasks: Vec<AbortHandle>,
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
    /// Connects to a server.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses the client.
    pub async fn open(endpoint: &Endpoint) -> Result<Self, ConnectError> {
        match endpoint {
            Endpoint::Grpc { url, credentials } => Self::over_grpc(url, credentials.as_ref()).await,
            Endpoint::Unix(path) => Self::over_unix(path, &[]).await,
            Endpoint::UnixOf { path, server_uids } => Self::over_unix(path, server_uids).await,
        }
    }

    async fn over_grpc(url: &str, credentials: Option<&Credentials>) -> Result<Self, ConnectError> {
        let channel = Endpoint::channel(url, credentials).await?;
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
        let own = Arc::clone(&shared);
        let reader = tokio::spawn(async move {
            let mut answers = answered.into_inner();
            let end = loop {
                match answers.message().await {
                    Ok(Some(response)) => own.answer(response),
                    Ok(None) => break "the server closed it".to_owned(),
                    Err(status) => break status_reason(&status),
                }
            };
            own.close(end);
        });
        Ok(Self { requests, shared, last_id: AtomicU64::new(0), tasks: vec![reader.abort_handle()] })
    }

    /// Connects to a UNIX socket, and checks the server's user before anything is sent. Any user with write access to
    /// the directory of a socket can replace it.
    async fn over_unix(path: &Path, server_uids: &[u32]) -> Result<Self, ConnectError> {
        let unreachable = |error: io::Error| ConnectError::Unreachable {
            address: path.display().to_string(),
            reason: error.to_string(),
        };
        let mut stream = UnixStream::connect(path).await.map_err(unreachable)?;
        let found = stream.peer_cred().map_err(unreachable)?.uid();
        let own = rustix::process::geteuid().as_raw();
        let expected = [&[0, own], server_uids].concat();
        if !expected.contains(&found) {
            return Err(ConnectError::WrongOwner { path: path.to_owned(), found, expected });
        }
        stream.write_all(frame::PREAMBLE).await.map_err(unreachable)?;
        let (incoming, outgoing) = stream.into_split();
        let (requests, waiting) = mpsc::channel(QUEUE);
        let shared = LinkState::new();
        let own = Arc::clone(&shared);
        let reader = tokio::spawn(async move {
            let end = read_frames(incoming, &own).await;
            own.close(end.map_or_else(|error| error.to_string(), |()| "the server closed it".to_owned()));
        });
        let writer = tokio::spawn(write_frames(waiting, outgoing));
        let tasks = vec![reader.abort_handle(), writer.abort_handle()];
        Ok(Self { requests, shared, last_id: AtomicU64::new(0), tasks })
    }

    /// Sends a request and waits for its answer. Dropping the future abandons the answer.
    ///
    /// # Errors
    /// The stream ended, or the server refused the request.
    pub async fn call(&self, body: request::Body) -> Result<response::Body, LinkError> {
        // Ids start at 1, because zero marks faults of the stream.
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        let mut entry = WaiterEntry { shared: &self.shared, id, is_taken: self.shared.enter(id, sender) };
        if !entry.is_taken || self.requests.send(Request { id, body: Some(body) }).await.is_err() {
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

    /// Returns true if the stream has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.end.get().is_some()
    }
}

/// Returns the error of a server that ended a connection before it answered.
async fn refusal_error(url: &str, credentials: Option<&Credentials>, status: &tonic::Status) -> ConnectError {
    let own = status_reason(status);
    let alert = match credentials {
        Some(credentials) if !own.contains("alert") => alert::read_refusal(url, credentials).await,
        _ => None,
    };
    ConnectError::Unreachable { address: url.to_owned(), reason: alert.unwrap_or(own) }
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

async fn read_frames(mut stream: OwnedReadHalf, shared: &LinkState) -> io::Result<()> {
    let max = MessageLimits::default().max_message_bytes;
    let mut received = BytesMut::with_capacity(READ);
    loop {
        while let Some(message) = frame::take(&mut received, max).map_err(io::Error::other)? {
            shared.answer(Response::decode(message)?);
        }
        received.reserve(READ);
        if stream.read_buf(&mut received).await? == 0 {
            return Ok(());
        }
    }
}

/// Writes requests. The requests that wait are written together.
async fn write_frames(mut waiting: mpsc::Receiver<Request>, mut stream: OwnedWriteHalf) {
    let mut bytes = BytesMut::new();
    while let Some(first) = waiting.recv().await {
        bytes.clear();
        let mut next = Some(first);
        while let Some(request) = next {
            // A message beyond 4 GiB does not fit a frame. Ending the stream reports the failure to its caller.
            if frame::write(&request, &mut bytes).is_err() {
                return;
            }
            next = if bytes.len() < READ { waiting.try_recv().ok() } else { None };
        }
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// The bytes to read or write at once.
const READ: usize = 64 << 10;
