//! Remote servers as a holder of keys.

mod batch;
mod breaker;
mod server;
mod threshold;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use oarlock::engine_api::{Completion, Holder, OwnedJobs};
use oarlock::keys::threshold::ThresholdKey;
use oarlock::keys::{KeyError, export, held};
use oarlock::{Accelerator, Key};
use tokio::runtime::{Builder, Runtime};

use self::batch::AgreementBatch;
use self::server::{RemoteServer, reference};
use self::threshold::ThresholdBatch;
use crate::AnswerCheck;
use crate::proto::{self, request, response};
use crate::{Endpoint, LinkError};

/// Settings of a [`RemoteHolder`].
#[derive(Clone, Debug)]
pub struct RemoteConfig {
    /// The holder's name, which its keys carry.
    pub name: String,
    /// The servers, all of which have the keys.
    pub servers: Vec<Endpoint>,
    /// How long a server may take for a batch before another one is asked.
    pub patience: Duration,
    /// How many servers must give the same answer before it is released; 1 asks one.
    pub agreement: usize,
    /// Which answers are verified with the public key before they are released.
    pub check: AnswerCheck,
    /// Threshold keys by name: of these every server has a share, and as many as the key says sign together.
    pub threshold_keys: HashMap<String, ThresholdKey>,
}

impl RemoteConfig {
    /// One answer is enough, RSA signatures are verified, and a server has two seconds.
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
        }
    }
}

/// Servers whose resident keys can be used as if they were here: a job goes to the server that will have done it first by what is
/// under way there and what it took before; where that one fails, to another.
///
/// An operation that was sent twice has one effect, for only one answer is released. What a client cannot know is whether a
/// server that went away had worked on it.
#[derive(Clone)]
pub struct RemoteHolder(Arc<RemoteInner>);

struct RemoteInner {
    config: RemoteConfig,
    servers: Vec<RemoteServer>,
    /// Verifies answers.
    checker: Accelerator,
    /// None while it is being dropped.
    runtime: Option<Runtime>,
}

/// Why there is no remote holder, or no key of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// No server, or fewer than must agree.
    #[error("expected at least {expected} servers, as many as must agree, found {found}")]
    TooFewServers {
        /// How many must agree.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// There is no runtime.
    #[error("cannot start a thread for the network: {0}")]
    Runtime(#[from] io::Error),
    /// No server has told.
    #[error("no server has told of key {name:?}: {reason}")]
    NoKey {
        /// The key's name.
        name: String,
        /// What the last one asked has said.
        reason: String,
    },
    /// What it told is no key.
    #[error("key {name:?}: {error}")]
    Key {
        /// The key's name.
        name: String,
        /// What is wrong.
        error: KeyError,
    },
}

/// How a server has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerReport {
    /// Where it is.
    pub place: String,
    /// Whether it is asked at present.
    pub is_trusted: bool,
    /// Operations under way there.
    pub outstanding: u64,
    /// Operations that it answered.
    pub answered: u64,
    /// Requests that it failed: lost, too slow, or refused for its own reasons.
    pub failures: u64,
    /// Answers of it that were wrong: others disagreed, or the public key did.
    pub wrong: u64,
}

impl RemoteHolder {
    /// A holder. Connections are made when they are needed. `checker` verifies answers on this machine.
    ///
    /// # Errors
    /// Fewer servers than must agree, or the system gives no thread.
    pub fn new(config: RemoteConfig, checker: Accelerator) -> Result<Self, RemoteError> {
        let (expected, found) = (config.agreement.max(1), config.servers.len());
        if found < expected {
            return Err(RemoteError::TooFewServers { expected, found });
        }
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("remote").enable_all().build()?;
        let servers = config.servers.iter().map(|endpoint| RemoteServer::new(endpoint.clone())).collect();
        Ok(Self(Arc::new(RemoteInner { config, servers, checker, runtime: Some(runtime) })))
    }

    /// A resident key of the servers: its public half, and where its private one is. Blocks until a server has told.
    ///
    /// # Errors
    /// No server can be reached or has such a key for this client.
    pub fn key(&self, name: &str) -> Result<Key, RemoteError> {
        let bad = |error| RemoteError::Key { name: name.to_owned(), error };
        let spki = match self.0.config.threshold_keys.get(name) {
            Some(key) => export::spki_der(key.public()).map_err(bad)?.into(),
            None => self.block_on(self.0.info(name))?.public_key,
        };
        held::from_spki(&spki, &self.0.config.name, name).map_err(bad)
    }

    /// How the servers have done so far, in the order of the settings.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerReport> {
        self.0.servers.iter().map(RemoteServer::report).collect()
    }

    fn block_on<T: Send>(
        &self,
        future: impl Future<Output = Result<T, RemoteError>> + Send,
    ) -> Result<T, RemoteError> {
        let runtime = self.0.runtime.as_ref().ok_or_else(|| io::Error::other("it has ended"))?;
        // On a thread of its own: the caller's may belong to a runtime, where nothing may block.
        let handle = runtime.handle();
        std::thread::scope(|scope| scope.spawn(|| handle.block_on(future)).join())
            .unwrap_or_else(|_| Err(io::Error::other("it failed").into()))
    }
}

impl RemoteInner {
    /// Jobs under threshold keys go their own way, those of each key together.
    async fn perform(&self, jobs: OwnedJobs, done: Completion) {
        let mut plain = Vec::new();
        let mut shared: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, job) in jobs.iter().enumerate() {
            match reference(job).filter(|name| self.config.threshold_keys.contains_key(&***name)) {
                Some(name) => shared.entry(name).or_default().push(at),
                None => plain.push(at),
            }
        }
        let shared = shared.iter().filter_map(|(name, places)| {
            let key = self.config.threshold_keys.get(*name)?;
            Some(ThresholdBatch::new(self, key, jobs.clone(), places, done.clone()).run())
        });
        let plain = AgreementBatch::new(self, jobs.clone(), &plain, done.clone()).run();
        tokio::join!(join_all(shared), plain);
    }

    async fn info(&self, name: &str) -> Result<proto::KeyInfo, RemoteError> {
        let mut reason = "none can be reached".to_owned();
        for place in self.by_turn(&[], 1) {
            let server = &self.servers[place];
            let body = request::Body::GetPublicKey(proto::GetPublicKeyRequest { name: name.to_owned() });
            match server.call(body, self.config.patience).await {
                Ok(response::Body::Key(info)) => return Ok(info),
                Ok(_) => reason = "it answered something else".to_owned(),
                Err(LinkError::Refused(fault)) => reason = fault.message,
                Err(error) => reason = format!("{}: {error}", server.place()),
            }
        }
        Err(RemoteError::NoKey { name: name.to_owned(), reason })
    }

    /// The places of servers to ask for so many operations, the one that will be done first in front; those put aside come last, for
    /// an answer from them is better than none.
    fn by_turn(&self, asked: &[usize], operations: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.servers.len()).filter(|place| !asked.contains(place)).collect();
        places.sort_by_key(|place| self.servers[*place].rank(operations));
        places
    }
}

impl Holder for RemoteHolder {
    fn name(&self) -> &str {
        &self.0.config.name
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        // Where there is no runtime any more, dropping `done` says so.
        if let Some(runtime) = &self.0.runtime {
            let inner = Arc::clone(&self.0);
            runtime.spawn(async move { inner.perform(jobs, done).await });
        }
    }
}

impl Drop for RemoteInner {
    fn drop(&mut self) {
        // A runtime must not wait for its threads on one of them.
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
            place: self.place().to_owned(),
            is_trusted: self.is_trusted(),
            outstanding: load(&self.outstanding),
            answered: load(&self.answered),
            failures: load(&self.failures),
            wrong: load(&self.wrong),
        }
    }
}
