//! One server of a remote holder.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock::{Job, JobError, Key, KeyHome};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::breaker::CircuitBreaker;
use super::observer::ConnectObserver;
use crate::fault::error_of;
use crate::proto::{self, Fault, OpenKey, open_key, request, response};
use crate::{Endpoint, LinkError, MessageLimits, ServerLink, jobs, records};

/// A server with its stream, its load and its statistics.
#[derive(Debug)]
pub(super) struct RemoteServer {
    endpoint: Endpoint,
    /// The address among those of the endpoint's name; None for every address of the name.
    at: Option<SocketAddr>,
    address: String,
    /// Asks for a resolution of names after a failure.
    look: Arc<Notify>,
    observer: Option<ConnectObserver>,
    began: Instant,
    breaker: Mutex<CircuitBreaker>,
    /// The stream. The lock lets only one task connect at a time.
    stream: tokio::sync::Mutex<Option<Arc<ServerStream>>>,
    pub(super) outstanding: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) wrong: AtomicU64,
    /// The smoothed nanoseconds of a request.
    latency_ns: AtomicU64,
    /// The nanoseconds from the start to the last answer.
    answered_ns: AtomicU64,
    /// True after a connection until the first answer, which took the time of the handshake too.
    is_fresh: AtomicBool,
    /// The index of the server's share of each threshold key, from 1, by the key's name.
    shares: Mutex<HashMap<Arc<str>, u8>>,
}

/// A stream with the handles of the keys that are open on it.
#[derive(Debug)]
struct ServerStream {
    link: ServerLink,
    handles: Mutex<OpenHandles>,
}

#[derive(Debug, Default)]
struct OpenHandles {
    open: HashMap<Arc<str>, u32>,
    /// The free handles of keys that could not be opened.
    free: Vec<u32>,
    next: u32,
}

/// A server's answer to records.
pub(super) struct RecordsAnswer {
    pub(super) results: proto::RecordResults,
    /// The fault of each key that the server does not open.
    pub(super) refused_keys: Vec<Option<Fault>>,
}

/// A server's answer to one job.
pub(super) type JobAnswer = Result<Vec<u8>, JobError>;

impl RemoteServer {
    pub(super) fn new(
        endpoint: Endpoint,
        at: Option<SocketAddr>,
        observer: Option<ConnectObserver>,
        look: Arc<Notify>,
    ) -> Self {
        let address = match at {
            Some(at) => format!("{endpoint} at {at}"),
            None => endpoint.to_string(),
        };
        Self {
            endpoint,
            at,
            address,
            look,
            observer,
            began: Instant::now(),
            breaker: Mutex::default(),
            stream: tokio::sync::Mutex::default(),
            outstanding: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            wrong: AtomicU64::new(0),
            latency_ns: AtomicU64::new(0),
            answered_ns: AtomicU64::new(0),
            is_fresh: AtomicBool::new(false),
            shares: Mutex::default(),
        }
    }

    pub(super) fn at(&self) -> Option<SocketAddr> {
        self.at
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the number of unanswered operations.
    pub(super) fn under_way(&self) -> u64 {
        self.outstanding.load(Ordering::Relaxed)
    }

    /// Returns the latency, in nanoseconds. None if no request on an open stream has been answered yet.
    ///
    /// A server that was slow once is not asked for a while, so its latency would never be corrected. It is halved for
    /// each second since its last answer.
    pub(super) fn latency_ns(&self) -> Option<u64> {
        let latency = self.latency_ns.load(Ordering::Relaxed);
        let idle = self.now().saturating_sub(Duration::from_nanos(self.answered_ns.load(Ordering::Relaxed)));
        (latency > 0).then(|| latency.checked_shr(idle.as_secs().min(64) as u32).unwrap_or_default().max(1))
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.breaker().allows(self.now())
    }

    /// Notes a wrong answer: the server is not asked for a while.
    pub(super) fn distrust(&self) {
        self.wrong.fetch_add(1, Ordering::Relaxed);
        self.breaker().distrust(self.now());
    }

    /// Returns the answers to jobs, in their order.
    pub(super) async fn ask(
        &self,
        jobs: &[Job<'_>],
        patience: Duration,
    ) -> Result<Vec<JobAnswer>, LinkError> {
        let _under_way = OutstandingGuard::new(&self.outstanding, jobs.len());
        let began = Instant::now();
        self.breaker().ask();
        let answers = self.with_timeout(patience, self.ask_stream(jobs)).await;
        self.record_outcome(began, answers)
    }

    /// Returns the answer to a request of another kind.
    pub(super) async fn call(
        &self,
        body: request::Body,
        patience: Duration,
    ) -> Result<response::Body, LinkError> {
        let began = Instant::now();
        self.breaker().ask();
        let asked = async { self.stream().await?.link.call(body).await };
        let answer = self.with_timeout(patience, asked).await;
        self.record_outcome(began, answer)
    }

    /// Returns the results of records. The message names keys by their indices in `keys`, which become handles. A fault
    /// means that the server opens none of the keys.
    pub(super) async fn ask_records(
        &self,
        keys: &[Arc<str>],
        message: &proto::Records,
        patience: Duration,
    ) -> Result<Result<RecordsAnswer, Fault>, LinkError> {
        let count = message.count as usize;
        let _under_way = OutstandingGuard::new(&self.outstanding, count);
        let began = Instant::now();
        self.breaker().ask();
        let asked = async {
            let stream = self.stream().await?;
            let (mut handles, mut refused_keys) = (Vec::new(), Vec::new());
            for name in keys {
                let opened = self.open_key(&stream, name).await?;
                handles.push(opened.as_ref().ok().copied());
                refused_keys.push(opened.err());
            }
            if !handles.iter().any(Option::is_some)
                && let Some(fault) = refused_keys.iter_mut().find_map(Option::take)
            {
                return Ok(Err(fault));
            }
            let message = records::with_handles(message, &handles);
            match stream.link.call(request::Body::Records(message)).await? {
                response::Body::RecordResults(results) => Ok(Ok(RecordsAnswer { results, refused_keys })),
                _ => Err(LinkError::Unexpected("results of records")),
            }
        };
        let answers = self.with_timeout(patience, asked).await;
        if let Ok(Ok(_)) = answers {
            self.answered.fetch_add(count as u64, Ordering::Relaxed);
        }
        self.record_outcome(began, answers)
    }

    async fn with_timeout<T>(
        &self,
        patience: Duration,
        asked: impl Future<Output = Result<T, LinkError>>,
    ) -> Result<T, LinkError> {
        match timeout(patience, asked).await {
            Ok(answer) => answer,
            Err(_) => {
                // The stream stalls, so the next request opens another one.
                self.stream.lock().await.take();
                Err(LinkError::Lost(format!("no answer within {} ms", patience.as_millis())))
            }
        }
    }

    fn record_outcome<T>(&self, began: Instant, answer: Result<T, LinkError>) -> Result<T, LinkError> {
        match &answer {
            // A refusal is a valid answer: it must not open the breaker.
            Err(error) if error.is_elsewhere() => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                self.breaker().fail(self.now());
                self.look.notify_one();
            }
            _ => {
                self.breaker().succeed();
                self.answered_ns.store(self.now().as_nanos() as u64, Ordering::Relaxed);
                if self.is_fresh.swap(false, Ordering::Relaxed) {
                    return answer;
                }
                let taken = began.elapsed().as_nanos() as u64;
                // An exponential average over about eight requests, so that one slow request does not banish a server.
                let smooth = |old: u64| Some(if old == 0 { taken } else { old - old / 8 + taken / 8 });
                let _ = self.latency_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, smooth);
            }
        }
        answer
    }

    async fn ask_stream(&self, jobs: &[Job<'_>]) -> Result<Vec<JobAnswer>, LinkError> {
        let stream = self.stream().await?;
        let handles = self.open_keys(&stream, jobs).await?;
        let handle =
            |job: &Job<'_>| key_reference(job.key).and_then(|name| handles.get(name)?.as_ref().ok().copied());
        let rows: Vec<_> = jobs.iter().filter_map(|job| Some((*job, handle(job)?))).collect();
        let count = rows.len();
        let mut answers = Vec::with_capacity(count);
        for part in jobs::split_by_outputs(&rows, &MessageLimits::default()) {
            let message =
                jobs::write(part.iter().copied()).map_err(|error| LinkError::Refused(error.fault()))?;
            let response::Body::Results(results) = stream.link.call(request::Body::Jobs(message)).await?
            else {
                return Err(LinkError::Unexpected("results"));
            };
            let columns = jobs::ResultColumns::read(&results, part.len())
                .map_err(|_| LinkError::Unexpected("as many results as jobs"))?;
            answers.extend(columns.iter(&self.address).map(|answer| answer.map(<[u8]>::to_vec)));
        }
        self.answered.fetch_add(count as u64, Ordering::Relaxed);
        let mut answers = answers.into_iter();
        let refused = |job: &Job<'_>| match key_reference(job.key).and_then(|name| handles.get(name)) {
            Some(Err(fault)) => error_of(fault, &self.address),
            _ => self.unanswered(),
        };
        let next = |job: &Job<'_>| match handle(job) {
            Some(_) => answers.next().unwrap_or_else(|| Err(self.unanswered())),
            None => Err(refused(job)),
        };
        Ok(jobs.iter().map(next).collect())
    }

    fn unanswered(&self) -> JobError {
        JobError::HolderFailed {
            holder: self.address.clone(),
            reason: "the server gave no answer".to_owned(),
        }
    }

    /// Opens the keys of jobs that are not open yet. Returns the handle of each key, or the fault of a key that the
    /// server does not open.
    async fn open_keys(
        &self,
        stream: &ServerStream,
        jobs: &[Job<'_>],
    ) -> Result<HashMap<Arc<str>, Result<u32, Fault>>, LinkError> {
        let mut found = HashMap::new();
        for name in jobs.iter().filter_map(|job| key_reference(job.key)) {
            if !found.contains_key(name) {
                found.insert(Arc::clone(name), self.open_key(stream, name).await?);
            }
        }
        Ok(found)
    }

    async fn open_key(
        &self,
        stream: &ServerStream,
        name: &Arc<str>,
    ) -> Result<Result<u32, Fault>, LinkError> {
        let handle = {
            let mut handles = stream.handles();
            if let Some(handle) = handles.open.get(name) {
                return Ok(Ok(*handle));
            }
            // The lock is released while the server answers, so the handle is reserved first.
            handles.reserve()
        };
        let source = Some(open_key::Source::Resident(name.to_string()));
        let opened =
            stream.link.call(request::Body::OpenKey(OpenKey { handle, source, ..OpenKey::default() })).await;
        let mut handles = stream.handles();
        match opened {
            Ok(response::Body::Key(info)) => {
                let share = u8::try_from(info.share_index).unwrap_or_default();
                self.shares().insert(Arc::clone(name), share);
                // Two tasks may have opened the same key at the same time. Both handles are valid.
                handles.open.entry(Arc::clone(name)).or_insert(handle);
                Ok(Ok(handle))
            }
            Ok(_) => Err(LinkError::Unexpected("a key")),
            Err(LinkError::Refused(fault)) => {
                // The server did not open the handle, so another key can have it.
                handles.free.push(handle);
                Ok(Err(fault))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the index of the share of a threshold key that the server reported, or zero if it reported none.
    pub(super) fn share(&self, name: &str) -> u8 {
        self.shares().get(name).copied().unwrap_or_default()
    }

    fn shares(&self) -> MutexGuard<'_, HashMap<Arc<str>, u8>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the stream, and connects if there is none or it has ended.
    async fn stream(&self) -> Result<Arc<ServerStream>, LinkError> {
        let mut stream = self.stream.lock().await;
        if let Some(stream) = stream.as_ref().filter(|stream| !stream.link.is_closed()) {
            return Ok(Arc::clone(stream));
        }
        let link = ServerLink::open_at(&self.endpoint, self.at)
            .await
            .map_err(|error| LinkError::Lost(error.to_string()))?;
        if let Some(observer) = &self.observer {
            observer.report(&self.address, link.transport());
        }
        self.is_fresh.store(true, Ordering::Relaxed);
        let new = Arc::new(ServerStream { link, handles: Mutex::default() });
        *stream = Some(Arc::clone(&new));
        Ok(new)
    }

    fn breaker(&self) -> MutexGuard<'_, CircuitBreaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

impl ServerStream {
    fn handles(&self) -> MutexGuard<'_, OpenHandles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenHandles {
    fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// Returns the servers' name of a key.
pub(super) fn key_reference(key: &Key) -> Option<&Arc<str>> {
    match key.home() {
        KeyHome::Held { reference, .. } => Some(reference),
        KeyHome::Local => None,
    }
}

/// A guard that counts operations as outstanding until it is dropped.
struct OutstandingGuard<'s> {
    outstanding: &'s AtomicU64,
    operations: u64,
}

impl<'s> OutstandingGuard<'s> {
    fn new(outstanding: &'s AtomicU64, operations: usize) -> Self {
        let operations = operations as u64;
        outstanding.fetch_add(operations, Ordering::Relaxed);
        Self { outstanding, operations }
    }
}

impl Drop for OutstandingGuard<'_> {
    fn drop(&mut self) {
        self.outstanding.fetch_sub(self.operations, Ordering::Relaxed);
    }
}
