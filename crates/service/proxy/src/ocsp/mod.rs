//! OCSP responses for the proxy's own certificates: asked for in the background, verified, and stapled while they are
//! good. RFC 6960, RFC 6066 8.
//!
//! No handshake waits for a responder, and a failure leaves a handshake without a response, as it was without this.

mod fetch;
mod question;
mod response;
mod slot;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oarlock_network::LogLimit;
use oarlock_service_kit::ServiceClock;
use oarlock_service_kit::metrics::read_counter;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{debug, error, warn};

use self::fetch::{FetchError, fetch};
use self::response::{ResponseFault, verify_response};
use self::slot::RetryPause;

pub(crate) use self::question::OcspQuestion;
pub use self::question::OcspQuestionFault;
pub(crate) use self::slot::StapleSlot;

/// The maximum number of responders that are asked at the same time, each by one connection.
const MAX_RESPONDERS: usize = 8;

/// The maximum time of a responder in a round. A later round asks about the remaining certificates.
const MAX_ROUND: Duration = Duration::from_secs(60);

/// The time between two rounds.
pub(crate) const ROUND_PAUSE: Duration = Duration::from_secs(5);

/// Limits the log lines about failures: there may be thousands of certificates.
static FAILURES: LogLimit = LogLimit::new(Duration::from_secs(10));

/// Fetches the responses of certificates.
#[derive(Debug)]
pub(crate) struct StapleFetcher {
    clock: ServiceClock,
    /// The responders that failed, by host and port.
    resting: Mutex<HashMap<String, RestingResponder>>,
    results: [AtomicU64; FetchResult::ALL.len()],
    /// One round at a time, so that nobody is asked twice.
    round: tokio::sync::Mutex<()>,
}

/// A responder that could not be reached.
#[derive(Debug, Default)]
struct RestingResponder {
    pause: RetryPause,
    /// The time of the next attempt in seconds since 1970.
    next_s: i64,
}

/// The result of an attempt, for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FetchResult {
    Good,
    Revoked,
    /// The responder could not be reached, or did not answer by HTTP.
    Unreachable,
    /// The response was not valid, or did not say that the certificate is good.
    Rejected,
}

impl FetchResult {
    const ALL: [Self; 4] = [Self::Good, Self::Revoked, Self::Unreachable, Self::Rejected];

    fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Revoked => "revoked",
            Self::Unreachable => "unreachable",
            Self::Rejected => "rejected",
        }
    }
}

type Slots = Vec<Arc<StapleSlot>>;

impl StapleFetcher {
    pub(crate) fn new(clock: ServiceClock) -> Self {
        Self {
            clock,
            resting: Mutex::default(),
            results: Default::default(),
            round: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the number of attempts by their result.
    pub(crate) fn results(&self) -> impl Iterator<Item = (&'static str, u64)> {
        FetchResult::ALL.into_iter().map(FetchResult::name).zip(self.results.iter().map(read_counter))
    }

    /// Asks about the certificates that are due. Each responder is asked about one after the other, so one that
    /// does not answer keeps no other from its turn.
    pub(crate) async fn run_round(self: &Arc<Self>, slots: impl Iterator<Item = Arc<StapleSlot>>) {
        let _round = self.round.lock().await;
        let mut waiting = self.due(slots).into_iter();
        let mut tasks = JoinSet::new();
        loop {
            while tasks.len() < MAX_RESPONDERS
                && let Some((responder, slots)) = waiting.next()
            {
                let fetcher = Arc::clone(self);
                tasks.spawn(async move { fetcher.ask_responder(responder, slots).await });
            }
            if tasks.join_next().await.is_none() {
                return;
            }
        }
    }

    /// Returns the certificates that are due, by their responders.
    fn due(&self, slots: impl Iterator<Item = Arc<StapleSlot>>) -> BTreeMap<String, Slots> {
        let now_s = self.clock.signed_now_s();
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut due, mut known) = (BTreeMap::<_, Slots>::new(), Vec::new());
        for slot in slots {
            let responder = slot.question.responder.name();
            let is_resting = resting.get(&responder).is_some_and(|resting| now_s < resting.next_s);
            if !is_resting && slot.is_due(now_s) {
                due.entry(responder.clone()).or_default().push(slot);
            }
            known.push(responder);
        }
        // Responders that no certificate names any more take no memory.
        known.sort_unstable();
        resting.retain(|responder, _| known.binary_search(responder).is_ok());
        due
    }

    async fn ask_responder(&self, responder: String, slots: Slots) {
        let began = Instant::now();
        for slot in slots {
            if began.elapsed() >= MAX_ROUND {
                return;
            }
            let is_reachable = self.ask_about(&slot).await;
            let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
            if is_reachable {
                resting.remove(&responder);
            } else {
                let state = resting.entry(responder).or_default();
                state.next_s = self.clock.signed_now_s().saturating_add(state.pause.grow());
                return;
            }
        }
    }

    /// Asks about a certificate. Returns false if the responder cannot be reached.
    async fn ask_about(&self, slot: &StapleSlot) -> bool {
        let (file, url) = (slot.file.display(), slot.question.responder.url());
        let fetched = match slot.question.request() {
            Ok(request) => fetch(&slot.question.responder, request).await,
            Err(error) => Err(FetchError::Request(error.to_string())),
        };
        let now_s = self.clock.signed_now_s();
        let answer = fetched.map(|bytes| verify_response(bytes, &slot.question, now_s));
        let result = match &answer {
            Ok(Ok(_)) => FetchResult::Good,
            Ok(Err(ResponseFault::Revoked(_))) => FetchResult::Revoked,
            Ok(Err(_)) => FetchResult::Rejected,
            Err(error) if error.is_unreachable() => FetchResult::Unreachable,
            Err(_) => FetchResult::Rejected,
        };
        self.results[result as usize].fetch_add(1, Ordering::Relaxed);
        match answer {
            Ok(Ok(response)) => {
                debug!(%file, url, end = response.end, "an OCSP response was fetched");
                slot.keep(response, now_s);
            }
            Ok(Err(fault @ ResponseFault::Revoked(_))) => {
                error!(%file, url, error = %fault, "a certificate is revoked: replace it");
                slot.revoke(now_s);
            }
            Ok(Err(fault)) => {
                report(&file, &url, &fault);
                slot.fail(now_s);
            }
            Err(error) => {
                report(&file, &url, &error);
                if result == FetchResult::Rejected {
                    slot.fail(now_s);
                }
            }
        }
        result != FetchResult::Unreachable
    }
}

fn report(file: &impl std::fmt::Display, url: &str, error: &dyn std::fmt::Display) {
    if let Some(suppressed) = FAILURES.admit() {
        warn!(%file, url, %error, suppressed, "an OCSP response could not be fetched: handshakes continue without it");
    }
}
