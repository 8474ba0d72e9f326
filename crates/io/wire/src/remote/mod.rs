//! Remote servers as one holder of keys.

mod batch;
mod breaker;
mod names;
mod observer;
mod rank;
mod records;
mod server;
mod threshold;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use oarlock::engine_api::{Batch, Completion, HeldOutcomes, Holder, OwnedJobs};
use oarlock::keys::threshold::ThresholdKey;
use oarlock::keys::{KeyError, export, held};
use oarlock::{Accelerator, JobError, Key};
use tokio::runtime::{Builder, Runtime};

use self::batch::AgreementBatch;
pub use self::names::NameResolver;
use self::names::ServerList;
pub use self::observer::ConnectObserver;
pub use self::rank::order_by_time;
use self::rank::servers_by_rank;
use self::server::{RemoteServer, key_reference};
use self::threshold::ThresholdBatch;
use crate::AnswerCheck;
use crate::proto::{self, request, response};
use crate::{Endpoint, LinkError};

/// Settings of a [`RemoteHolder`].
#[derive(Clone, Debug)]
pub struct RemoteConfig {
    /// The name of the holder, which its keys carry.
    pub name: String,
    /// The servers. Each of them has all keys. A host name stands for a server at each of its addresses, which may
    /// change while the holder is in use. If answers are compared or keys are shared, a name stands for one server,
    /// because its addresses need not be independent.
    pub servers: Vec<Endpoint>,
    /// The maximum time of a server for a batch, before another server is asked.
    pub patience: Duration,
    /// The number of servers that must give the same answer before it is released. With 1 one server is asked.
    pub agreement: usize,
    /// The answers that are verified with the public key before they are released.
    pub check: AnswerCheck,
    /// The threshold keys by name. Every server has a share of them, and the number of servers that the key requires
    /// sign together.
    pub threshold_keys: HashMap<String, ThresholdKey>,
    /// The function to call after each connection; `None` for none.
    pub observer: Option<ConnectObserver>,
    /// The resolver of host names; `None` for that of the system.
    pub resolver: Option<Arc<dyn NameResolver>>,
}

impl RemoteConfig {
    /// Returns settings with one answer per job, verified RSA signatures, and two seconds per batch.
    #[must_use]
    pub fn new(name: impl Into<String>, servers: Vec<Endpoint>) -> Self {
        let patience = Duration::from_secs(2);
        Self {
            name: name.into(),
            servers,
            patience,
            agreement: 1,
            check: AnswerCheck::Rsa,
            threshold_keys: HashMap::new(),
            observer: None,
            resolver: None,
        }
    }
}

/// A holder of keys that live at servers. A job goes to the server that will finish it first, by the unanswered
/// operations there and its latency so far. If that server fails, the job goes to another one.
///
/// A job that was sent twice has one effect, because only one answer is released. The client cannot know if a failed
/// server has done the work.
#[derive(Clone)]
pub struct RemoteHolder(Arc<RemoteInner>);

struct RemoteInner {
    config: RemoteConfig,
    servers: Arc<ServerList>,
    /// The number of choices among the servers.
    turn: AtomicUsize,
    /// The accelerator that verifies answers.
    checker: Accelerator,
    /// The runtime; `None` while this is being dropped.
    runtime: Option<Runtime>,
}

/// An error of a remote holder or of one of its keys.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// There are fewer servers than must agree.
    #[error("expected at least {expected} servers, which must agree, found {found}")]
    TooFewServers {
        /// The number of servers that must agree.
        expected: usize,
        /// The number of servers.
        found: usize,
    },
    /// The runtime cannot be started, or has ended.
    #[error("cannot start a thread for the network: {0}")]
    Runtime(#[from] io::Error),
    /// No server described the key.
    #[error("no server described key {name:?}: {reason}")]
    NoKey {
        /// The key's name.
        name: String,
        /// The error of the last server.
        reason: String,
    },
    /// No server listed its keys.
    #[error("no server listed its keys: {reason}")]
    NoList {
        /// The error of the last server.
        reason: String,
    },
    /// The description of the key is invalid.
    #[error("key {name:?}: {error}")]
    Key {
        /// The key's name.
        name: String,
        /// The fault.
        error: KeyError,
    },
}

/// The statistics of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerReport {
    /// The address as the settings name it.
    pub address: String,
    /// True if the server is asked at present.
    pub is_trusted: bool,
    /// The number of unanswered operations.
    pub outstanding: u64,
    /// The number of operations that the server answered.
    pub answered: u64,
    /// The number of requests that failed: lost, too slow, or refused for reasons of the server.
    pub failures: u64,
    /// The number of wrong answers, contradicted by other servers or by the public key.
    pub wrong: u64,
}

impl RemoteHolder {
    /// Returns a holder, which connects when it is needed. `checker` verifies answers on this machine.
    ///
    /// # Errors
    /// There are fewer servers than must agree, or the system gives no thread.
    pub fn new(config: RemoteConfig, checker: Accelerator) -> Result<Self, RemoteError> {
        let (expected, found) = (config.agreement.max(1), config.servers.len());
        if found < expected {
            return Err(RemoteError::TooFewServers { expected, found });
        }
        // Tokio panics if its first thread cannot be started, and this reports it.
        std::thread::Builder::new().spawn(|| ())?;
        // A runtime of its own, because a holder is also used in programs without one.
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("remote").enable_all().build()?;
        let servers = Arc::new(ServerList::new(&config));
        // Ends with the runtime.
        runtime.spawn(Arc::clone(&servers).watch());
        Ok(Self(Arc::new(RemoteInner {
            config,
            servers,
            turn: AtomicUsize::new(0),
            checker,
            runtime: Some(runtime),
        })))
    }

    /// Returns a resident key of the servers as a held key with its public half. Blocks until a server has described
    /// the key.
    ///
    /// # Errors
    /// No server can be reached, or none has such a key for this client.
    pub fn key(&self, name: &str) -> Result<Key, RemoteError> {
        let bad = |error| RemoteError::Key { name: name.to_owned(), error };
        let spki = match self.0.config.threshold_keys.get(name) {
            Some(key) => export::spki_der(key.public()).map_err(bad)?.into(),
            None => self.block_on(self.0.info(name))?.public_key,
        };
        held::from_spki(&spki, &self.0.config.name, name).map_err(bad)
    }

    /// Returns descriptions of the keys that this client may use. Blocks until a server has listed them.
    ///
    /// # Errors
    /// No server can be reached, or none lists its keys.
    pub fn keys(&self) -> Result<Vec<proto::KeyInfo>, RemoteError> {
        self.block_on(self.0.key_list())
    }

    /// Returns the statistics of the servers, in the order of the settings.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerReport> {
        self.0.servers.current().iter().map(|server| server.report()).collect()
    }

    fn block_on<T: Send>(
        &self,
        future: impl Future<Output = Result<T, RemoteError>> + Send,
    ) -> Result<T, RemoteError> {
        let runtime = self.0.runtime.as_ref().ok_or_else(|| io::Error::other("the runtime has ended"))?;
        // A thread of its own, because the caller's thread may belong to a runtime, in which `block_on` panics.
        let handle = runtime.handle();
        std::thread::scope(|scope| {
            let asking = std::thread::Builder::new().spawn_scoped(scope, || handle.block_on(future))?;
            asking.join().unwrap_or_else(|_| Err(io::Error::other("the request panicked").into()))
        })
    }
}

impl RemoteInner {
    /// Returns the indices of the servers to ask, the best first.
    fn ranked(&self, servers: &[Arc<RemoteServer>], asked: &[usize], operations: usize) -> Vec<usize> {
        servers_by_rank(servers, asked, operations, self.turn.fetch_add(1, Ordering::Relaxed))
    }

    /// Performs jobs. Jobs under threshold keys are grouped by key and need several servers.
    async fn perform(&self, jobs: OwnedJobs, done: Completion) {
        let servers = self.servers.for_request(self.config.patience).await;
        let mut plain = Vec::new();
        let mut shared: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, job) in jobs.iter().enumerate() {
            match key_reference(&job.key).filter(|name| self.config.threshold_keys.contains_key(&***name)) {
                Some(name) => shared.entry(name).or_default().push(at),
                None => plain.push(at),
            }
        }
        let shared = shared.iter().filter_map(|(name, indices)| {
            let key = self.config.threshold_keys.get(*name)?;
            Some(
                ThresholdBatch::new(self, Arc::clone(&servers), key, jobs.clone(), indices, done.clone())
                    .run(),
            )
        });
        let plain = AgreementBatch::new(self, &servers, jobs.clone(), &plain, done.clone()).run();
        // Both groups run at the same time: a threshold key must not delay the other jobs.
        tokio::join!(join_all(shared), plain);
    }

    async fn info(&self, name: &str) -> Result<proto::KeyInfo, RemoteError> {
        let body = request::Body::GetPublicKey(proto::GetPublicKeyRequest { name: name.to_owned() });
        let key = |answer| if let response::Body::Key(info) = answer { Some(info) } else { None };
        self.ask_any(body, key).await.map_err(|reason| RemoteError::NoKey { name: name.to_owned(), reason })
    }

    async fn key_list(&self) -> Result<Vec<proto::KeyInfo>, RemoteError> {
        let body = request::Body::ListKeys(proto::ListKeysRequest {});
        let keys = |answer| if let response::Body::Keys(list) = answer { Some(list.keys) } else { None };
        self.ask_any(body, keys).await.map_err(|reason| RemoteError::NoList { reason })
    }

    /// Asks one server after the other until one gives the answer that `read` takes. Returns the reason of the last one
    /// if none does.
    async fn ask_any<T>(
        &self,
        body: request::Body,
        read: impl Fn(response::Body) -> Option<T>,
    ) -> Result<T, String> {
        let mut reason = "no server can be reached".to_owned();
        let servers = self.servers.for_request(self.config.patience).await;
        for server_index in self.ranked(&servers, &[], 1) {
            let server = &servers[server_index];
            match server.call(body.clone(), self.config.patience).await.map(&read) {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => reason = format!("{}: it gave another kind of answer", server.address()),
                Err(LinkError::Refused(fault)) => reason = fault.message,
                Err(error) => reason = format!("{}: {error}", server.address()),
            }
        }
        Err(reason)
    }
}

impl Holder for RemoteHolder {
    fn name(&self) -> &str {
        &self.0.config.name
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        // Without a runtime, dropping `done` fails the jobs.
        if let Some(runtime) = &self.0.runtime {
            let inner = Arc::clone(&self.0);
            runtime.spawn(async move { inner.perform(jobs, done).await });
        }
    }

    fn run_batch(&self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        self.0.run_batch(batch)
    }
}

impl Drop for RemoteInner {
    fn drop(&mut self) {
        // The last reference may be dropped on a thread of the runtime, which must not wait for itself.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for RemoteHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("name", &self.0.config.name).field("servers", &self.servers()).finish()
    }
}

impl RemoteServer {
    fn report(&self) -> ServerReport {
        let load = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        ServerReport {
            address: self.address().to_owned(),
            is_trusted: self.is_trusted(),
            outstanding: load(&self.outstanding),
            answered: load(&self.answered),
            failures: load(&self.failures),
            wrong: load(&self.wrong),
        }
    }
}
