//! One server as a client sees it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock::JobError;
use oarlock::KeyHome;
use oarlock::engine_api::HeldJob;
use tokio::time::timeout;

use super::breaker::CircuitBreaker;
use crate::fault::error_of;
use crate::held::plain;
use crate::proto::{Fault, OpenKey, open_key, request, response};
use crate::{Endpoint, LinkError, ServerLink, jobs};

/// A server: its stream, what is under way there, and how it has done.
#[derive(Debug)]
pub(super) struct RemoteServer {
    endpoint: Endpoint,
    place: String,
    began: Instant,
    breaker: Mutex<CircuitBreaker>,
    /// One task at a time connects.
    stream: tokio::sync::Mutex<Option<Arc<ServerStream>>>,
    pub(super) outstanding: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) wrong: AtomicU64,
    /// Nanoseconds that a request takes, smoothed.
    latency_ns: AtomicU64,
    /// Which share of a threshold key it has, from 1, by the key's name.
    shares: Mutex<HashMap<Arc<str>, u8>>,
}

/// A job, and its second input as it is sent.
pub(super) type RemoteJob<'j> = (&'j HeldJob, &'j [u8]);

/// A stream, and the handles of the keys that it has opened.
#[derive(Debug)]
struct ServerStream {
    link: ServerLink,
    handles: Mutex<OpenHandles>,
}

#[derive(Debug, Default)]
struct OpenHandles {
    open: HashMap<Arc<str>, u32>,
    /// Given back by keys that could not be opened.
    free: Vec<u32>,
    next: u32,
}

/// What a server says to one job.
pub(super) type JobAnswer = Result<Vec<u8>, JobError>;

impl RemoteServer {
    pub(super) fn new(endpoint: Endpoint) -> Self {
        let place = endpoint.to_string();
        Self {
            endpoint,
            place,
            began: Instant::now(),
            breaker: Mutex::default(),
            stream: tokio::sync::Mutex::default(),
            outstanding: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            wrong: AtomicU64::new(0),
            latency_ns: AtomicU64::new(0),
            shares: Mutex::default(),
        }
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Smaller is better: not those put aside, then by when they will be done with what is under way.
    pub(super) fn rank(&self, operations: usize) -> (bool, u128) {
        let under_way = u128::from(self.outstanding.load(Ordering::Relaxed)) + operations as u128;
        let latency = u128::from(self.latency_ns.load(Ordering::Relaxed).max(1));
        (!self.breaker().allows(self.now()), under_way * latency)
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.breaker().allows(self.now())
    }

    /// It gave a wrong answer.
    pub(super) fn distrust(&self) {
        self.wrong.fetch_add(1, Ordering::Relaxed);
        self.breaker().distrust(self.now());
    }

    /// Answers to jobs, in their order.
    pub(super) async fn ask(
        &self,
        jobs: &[RemoteJob<'_>],
        patience: Duration,
    ) -> Result<Vec<JobAnswer>, LinkError> {
        let _under_way = OutstandingGuard::new(&self.outstanding, jobs.len());
        let began = Instant::now();
        self.breaker().ask();
        let answers = self.within(patience, self.ask_stream(jobs)).await;
        self.judge(began, answers)
    }

    /// An answer to a request of another kind.
    pub(super) async fn call(
        &self,
        body: request::Body,
        patience: Duration,
    ) -> Result<response::Body, LinkError> {
        let began = Instant::now();
        self.breaker().ask();
        let asked = async { self.stream().await?.link.call(body).await };
        let answer = self.within(patience, asked).await;
        self.judge(began, answer)
    }

    async fn within<T>(
        &self,
        patience: Duration,
        asked: impl Future<Output = Result<T, LinkError>>,
    ) -> Result<T, LinkError> {
        match timeout(patience, asked).await {
            Ok(answer) => answer,
            Err(_) => {
                // What stalls will not be waited for again: the next request gets a stream of its own.
                self.stream.lock().await.take();
                Err(LinkError::Lost(format!("no answer within {} ms", patience.as_millis())))
            }
        }
    }

    fn judge<T>(&self, began: Instant, answer: Result<T, LinkError>) -> Result<T, LinkError> {
        match &answer {
            Err(error) if error.is_elsewhere() => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                self.breaker().fail(self.now());
            }
            _ => {
                self.breaker().succeed();
                let taken = began.elapsed().as_nanos() as u64;
                let smooth = |old: u64| Some(if old == 0 { taken } else { old - old / 8 + taken / 8 });
                let _ = self.latency_ns.try_update(Ordering::Relaxed, Ordering::Relaxed, smooth);
            }
        }
        answer
    }

    async fn ask_stream(&self, jobs: &[RemoteJob<'_>]) -> Result<Vec<JobAnswer>, LinkError> {
        let stream = self.stream().await?;
        let handles = self.open(&stream, jobs).await?;
        let handle =
            |job: &HeldJob| reference(job).and_then(|name| handles.get(name)?.as_ref().ok().copied());
        let rows: Vec<_> =
            jobs.iter().filter_map(|(job, second)| Some((plain(job, second), handle(job)?))).collect();
        let count = rows.len();
        let message = jobs::write(rows.into_iter()).map_err(|error| LinkError::Refused(error.fault()))?;
        let response::Body::Results(results) = stream.link.call(request::Body::Jobs(message)).await? else {
            return Err(LinkError::Unexpected("results"));
        };
        let columns = jobs::ResultColumns::read(&results, count)
            .map_err(|_| LinkError::Unexpected("as many results as jobs"))?;
        self.answered.fetch_add(count as u64, Ordering::Relaxed);
        let mut answers = columns.iter(&self.place);
        let refused = |job: &HeldJob| match reference(job).and_then(|name| handles.get(name)) {
            Some(Err(fault)) => error_of(fault, &self.place),
            _ => self.unanswered(),
        };
        let next = |(job, _): &RemoteJob<'_>| match handle(job) {
            Some(_) => answers.next().unwrap_or_else(|| Err(self.unanswered())).map(<[u8]>::to_vec),
            None => Err(refused(job)),
        };
        Ok(jobs.iter().map(next).collect())
    }

    fn unanswered(&self) -> JobError {
        JobError::HolderFailed { holder: self.place.clone(), reason: "it gave no answer".to_owned() }
    }

    /// The handles of the jobs' keys, which are opened where they are new, or why the server does not open them.
    async fn open(
        &self,
        stream: &ServerStream,
        jobs: &[RemoteJob<'_>],
    ) -> Result<HashMap<Arc<str>, Result<u32, Fault>>, LinkError> {
        let mut found = HashMap::new();
        for name in jobs.iter().filter_map(|(job, _)| reference(job)) {
            if !found.contains_key(name) {
                found.insert(Arc::clone(name), self.handle(stream, name).await?);
            }
        }
        Ok(found)
    }

    async fn handle(&self, stream: &ServerStream, name: &Arc<str>) -> Result<Result<u32, Fault>, LinkError> {
        let handle = {
            let mut handles = stream.handles();
            if let Some(handle) = handles.open.get(name) {
                return Ok(Ok(*handle));
            }
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
                // Two tasks may have opened the same key at once: both handles are good.
                handles.open.entry(Arc::clone(name)).or_insert(handle);
                Ok(Ok(handle))
            }
            Ok(_) => Err(LinkError::Unexpected("a key")),
            Err(LinkError::Refused(fault)) => {
                handles.free.push(handle);
                Ok(Err(fault))
            }
            Err(error) => Err(error),
        }
    }

    /// Which share of a threshold key it has said to have; zero where none.
    pub(super) fn share(&self, name: &str) -> u8 {
        self.shares().get(name).copied().unwrap_or_default()
    }

    fn shares(&self) -> MutexGuard<'_, HashMap<Arc<str>, u8>> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream, made anew where there is none or it has ended.
    async fn stream(&self) -> Result<Arc<ServerStream>, LinkError> {
        let mut stream = self.stream.lock().await;
        if let Some(stream) = stream.as_ref().filter(|stream| !stream.link.is_closed()) {
            return Ok(Arc::clone(stream));
        }
        let link =
            ServerLink::open(&self.endpoint).await.map_err(|error| LinkError::Lost(error.to_string()))?;
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

/// What the servers call the job's key.
pub(super) fn reference(job: &HeldJob) -> Option<&Arc<str>> {
    match job.key.home() {
        KeyHome::Held { reference, .. } => Some(reference),
        KeyHome::Local => None,
    }
}

/// Operations that are under way, until this is dropped.
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
