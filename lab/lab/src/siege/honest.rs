//! The client with a small load: one signature or mail at a time, with a pause after each, some of them on new
//! connections.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use oarlock::keys::generate;
use oarlock::{Input, Job, SigningScheme};
use oarlock_milter::client::SentMessage;
use oarlock_milter::protocol::FilterReply;
use oarlock_milter::{MilterClient, MilterSocket};
use oarlock_wire::proto::{self, OpenKey, open_key, request, response};
use oarlock_wire::{Endpoint, ServerLink, jobs};

use super::server::AttackedServer;
use super::{SiegeError, pause};

/// The pause after each answer.
const PAUSE: Duration = Duration::from_millis(10);

/// The number of requests of which one uses a new connection.
const NEW_CONNECTION: usize = 20;

/// The maximum time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// An honest client at work.
pub(super) struct ReferenceClient {
    shared: Arc<HonestState>,
    thread: Option<JoinHandle<()>>,
}

/// The address to which the honest client connects.
pub(super) enum HonestTarget {
    Keys(Endpoint),
    Filter(MilterSocket),
}

/// A connection of the honest client.
enum HonestLink {
    Keys(ServerLink),
    Filter(MilterClient),
}

#[derive(Default)]
struct HonestState {
    latencies: Mutex<Vec<Duration>>,
    failures: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl ReferenceClient {
    /// Starts a client and connects it.
    pub(super) fn start(besieged: &AttackedServer) -> Result<Self, SiegeError> {
        let (target, shared) = (besieged.honest()?, Arc::new(HonestState::default()));
        let job = signature()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let link = runtime.block_on(target.connect()).map_err(SiegeError::Honest)?;
        let client = Arc::clone(&shared);
        let thread = std::thread::spawn(move || runtime.block_on(client.work(link, &target, &job)));
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Waits until the client has this number of answers, and returns the time of each.
    pub(super) fn wait_for(&self, requests: usize) -> Vec<Duration> {
        while self.shared.lock().len() < requests && self.shared.failures().is_empty() {
            pause(PAUSE);
        }
        self.latencies()
    }

    /// Removes the times so far.
    pub(super) fn forget(&self) {
        self.shared.lock().clear();
    }

    /// Returns the time of each answer.
    pub(super) fn latencies(&self) -> Vec<Duration> {
        self.shared.lock().clone()
    }

    /// True if a request has been answered, or has failed, since the times were removed.
    pub(super) fn has_ended_a_request(&self) -> bool {
        !self.shared.lock().is_empty() || !self.shared.failures().is_empty()
    }

    /// Stops the client, and returns its failures.
    pub(super) fn stop(mut self) -> Vec<String> {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            self.shared.fail("it panicked".to_owned());
        }
        self.shared.failures().clone()
    }
}

impl Drop for ReferenceClient {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}

impl HonestState {
    async fn work(&self, mut link: HonestLink, target: &HonestTarget, job: &proto::Jobs) {
        let mut requests = 0_usize;
        while !self.is_over.load(Ordering::Relaxed) {
            requests += 1;
            // The time of a new connection counts too.
            let began = Instant::now();
            if requests.is_multiple_of(NEW_CONNECTION) {
                match timed(target.connect()).await {
                    Ok(new) => link = new,
                    Err(error) => {
                        self.fail(format!("a new connection: {error}"));
                        continue;
                    }
                }
            }
            match timed(link.ask(job)).await {
                Ok(()) => self.lock().push(began.elapsed()),
                Err(error) => self.fail(error),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn fail(&self, failure: String) {
        self.failures().push(failure);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Duration>> {
        self.latencies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failures(&self) -> MutexGuard<'_, Vec<String>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn timed<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
    }
}

impl HonestTarget {
    async fn connect(&self) -> Result<HonestLink, String> {
        match self {
            Self::Keys(endpoint) => {
                let link = ServerLink::open(endpoint).await.map_err(|error| error.to_string())?;
                let source = Some(open_key::Source::Resident("ed25519".to_owned()));
                let open = request::Body::OpenKey(OpenKey { handle: 0, source, ..OpenKey::default() });
                link.call(open).await.map_err(|error| error.to_string())?;
                Ok(HonestLink::Keys(link))
            }
            Self::Filter(socket) => {
                let mut mta = MilterClient::connect(socket).await.map_err(|error| error.to_string())?;
                mta.negotiate().await.map_err(|error| error.to_string())?;
                mta.greet(b"").await.map_err(|error| error.to_string())?;
                Ok(HonestLink::Filter(mta))
            }
        }
    }
}

impl HonestLink {
    /// Has a message signed, or a mail accepted.
    async fn ask(&mut self, job: &proto::Jobs) -> Result<(), String> {
        match self {
            Self::Keys(link) => sign(link, job).await,
            Self::Filter(mta) => {
                let mail = SentMessage {
                    from: b"<sender@example.com>",
                    recipients: &[b"<receiver@example.net>"],
                    headers: &[(b"Subject", b"siege")],
                    body: b"message\r\n",
                    ..SentMessage::default()
                };
                match mta.send(&mail).await.map_err(|error| error.to_string())?.reply {
                    FilterReply::Continue | FilterReply::Accept => Ok(()),
                    reply => Err(format!("the filter answered {reply:?}")),
                }
            }
        }
    }
}

async fn sign(link: &ServerLink, job: &proto::Jobs) -> Result<(), String> {
    let answer = link.call(request::Body::Jobs(job.clone())).await.map_err(|error| error.to_string())?;
    match answer {
        response::Body::Results(results) => match results.faults.first() {
            None => Ok(()),
            Some(fault) => Err(fault.message.clone()),
        },
        _ => Err("the answer is to something else".to_owned()),
    }
}

fn signature() -> Result<proto::Jobs, SiegeError> {
    // The key only shapes the message. The server signs with its own key under handle 0.
    let key = generate::ed25519()?;
    let job = Job::sign(SigningScheme::ED25519, &key, Input::Message(b"message"));
    jobs::write([(job, 0)].into_iter()).map_err(|error| io::Error::other(error.to_string()).into())
}
