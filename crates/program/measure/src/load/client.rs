//! Clients of a server.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use futures_util::future::try_join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use oarlock_terminal::GlobalOptions;
use oarlock_wire::proto::cryptoserver_client::CryptoserverClient;
use oarlock_wire::proto::{self, Code, request, response};
use oarlock_wire::{Endpoint, LinkError, LinkTransport, ServerLink};
use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until, timeout_at};
use tonic::transport::Channel;
use tonic_health::pb::health_client::HealthClient;

use super::LoadError;
use super::args::{LoadArgs, LoadKeyHome, LoadOp, LoadPlan, LoadTransport};
use super::report::LoadRow;
use super::work::{LoadAnswer, LoadRequest, LoadWork};
use crate::random::SplitMix64;
use crate::statistics::LatencyHistogram;

/// The time that answers may take after the end.
const PATIENCE: Duration = Duration::from_secs(30);

/// The time until a server is asked again for a key that it has not found yet.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The results of clients.
#[derive(Default)]
struct ClientResults {
    latencies: LatencyHistogram,
    operations: u64,
    /// The number of operations that were answered at any time, also before and after the counted span.
    answered: u64,
    errors: u64,
    first_error: String,
}

/// The span in which answers count. After it nothing is sent. It ends at `end`, or with the first answer if that is
/// later.
struct CountedSpan {
    begin: Instant,
    end: Instant,
    counted: Cell<bool>,
    /// Notified at the first answer that counts, and when no further answer can come.
    first: Notify,
}

impl CountedSpan {
    fn counts(&self, now: Instant) -> bool {
        now >= self.begin && (now < self.end || !self.counted.get())
    }

    fn count(&self) {
        self.counted.set(true);
        self.first.notify_one();
    }
}

pub(super) async fn measure(
    plan: &LoadPlan,
    works: &[LoadWork],
    endpoint: &Endpoint,
    args: &LoadArgs,
    global: &GlobalOptions,
) -> Result<LoadRow, LoadError> {
    let observer = connect(plan.way, endpoint).await?;
    global.note(|| format!("{}: requests go through {}", plan.name(), observer.transport()));
    let mut links = Vec::with_capacity(plan.clients);
    for work in works.iter().cycle().take(plan.clients) {
        links.push((work, open(plan, endpoint, work).await?));
    }
    if plan.ops.iter().any(|op| matches!(op, LoadOp::Real(op) if op.shape().signature_len().is_some())) {
        warm_up(plan, &links).await;
    }
    // What crosses is counted from silence to silence, so that no batch is cut, less what asking for it takes.
    let unasked = usage(&observer).await?;
    let silent = usage(&observer).await?;
    let now = Instant::now();
    let begin = now + args.warm_up();
    let span =
        CountedSpan { begin, end: begin + args.length(), counted: Cell::new(false), first: Notify::new() };
    let mut clients: FuturesUnordered<_> =
        (0_u64..).zip(&links).map(|(seed, (work, link))| client(plan, work, link, &span, seed)).collect();
    let mut seen = ClientResults::default();
    let counted = async {
        sleep_until(begin.into()).await;
        let before = usage(&observer).await?;
        let own_before = ProcessTime::now();
        sleep_until(span.end.into()).await;
        // Without any, it is said below that answers were missing.
        let _ = timeout_at((span.end + PATIENCE).into(), span.first.notified()).await;
        // Not the planned length: the span ends later if its first answer does.
        let length = begin.elapsed();
        let client_cpu = own_before.elapsed();
        let after = usage(&observer).await?;
        Ok::<_, LoadError>((before, after, client_cpu, length))
    };
    let all = async {
        while let Some(row) = clients.next().await {
            seen.add(row);
        }
        span.first.notify_one();
    };
    let (usages, ended) = tokio::join!(counted, timeout_at((span.end + PATIENCE).into(), all));
    let (before, after, client_cpu, length) = usages?;
    drop(clients);
    if ended.is_err() {
        seen.fail(1, "answers were missing at the end".into());
    }
    let bytes = |usage: &proto::Usage| usage.received_bytes + usage.sent_bytes;
    let asking = bytes(&silent).saturating_sub(bytes(&unasked));
    // The two of `counted` and this one.
    let crossed = bytes(&usage(&observer).await?).saturating_sub(bytes(&silent) + 3 * asking);
    let cpu_us = after.cpu_us.saturating_sub(before.cpu_us);
    Ok(LoadRow {
        operations: seen.operations,
        rate_per_s: seen.operations as f64 / length.as_secs_f64(),
        server_cpu_us_per_op: Some(cpu_us as f64 / seen.operations.max(1) as f64),
        client_cpu_us_per_op: Some(client_cpu.as_secs_f64() * 1e6 / seen.operations.max(1) as f64),
        wire_bytes_per_op: Some(crossed as f64 / seen.answered.max(1) as f64),
        p50_us: Some(seen.latencies.quantile_us(0.5)),
        p99_us: Some(seen.latencies.quantile_us(0.99)),
        errors: seen.errors,
        first_error: seen.first_error,
        rss_start_kb: Some(before.resident_kb),
        rss_end_kb: Some(after.resident_kb),
        ..LoadRow::from_plan(
            plan,
            works.iter().map(LoadWork::request_bytes).sum::<usize>() / works.len().max(1),
        )
    })
}

/// The length of a turn of the warm-up.
const WARM_UP_TURN: Duration = Duration::from_millis(250);
/// Turns in a row that must bring nothing more.
const EVEN_TURNS: u32 = 4;
/// The longest warm-up, for servers whose rate never settles.
const MAX_WARM_UP: Duration = Duration::from_secs(30);
/// The share by which a turn must beat all before it to count as growth.
const GROWTH: f64 = 0.03;

/// Lets all clients work until the rate no longer grows. Servers build tables for recurring keys while they verify, so
/// how long that takes depends on keys and machine and not on the length of the measurement.
async fn warm_up(plan: &LoadPlan, links: &[(&LoadWork, LoadLink)]) {
    let mut growth = RateGrowth::default();
    let end = Instant::now() + MAX_WARM_UP;
    while !growth.has_ended() && Instant::now() < end {
        let begin = Instant::now();
        // As if an answer had counted already, so that the turn ends in time.
        let span =
            CountedSpan { begin, end: begin + WARM_UP_TURN, counted: Cell::new(true), first: Notify::new() };
        let clients = (0_u64..).zip(links).map(|(seed, (work, link))| client(plan, work, link, &span, seed));
        let mut clients: FuturesUnordered<_> = clients.collect();
        let mut answered = 0;
        while let Some(seen) = clients.next().await {
            // The measurement says what fails.
            if seen.errors > 0 {
                return;
            }
            answered += seen.answered;
        }
        growth.add(answered as f64 / begin.elapsed().as_secs_f64());
    }
}

/// The best rate of all turns, and the number of turns since it last grew.
#[derive(Debug, Default)]
struct RateGrowth {
    best: f64,
    even_turns: u32,
}

impl RateGrowth {
    fn add(&mut self, rate: f64) {
        self.even_turns = if rate > self.best * (1.0 + GROWTH) { 0 } else { self.even_turns + 1 };
        self.best = self.best.max(rate);
    }

    fn has_ended(&self) -> bool {
        self.even_turns >= EVEN_TURNS
    }
}

/// The connection of one client.
enum LoadLink {
    /// A stream of requests.
    Stream(ServerLink),
    /// Single calls.
    Calls(Channel),
}

/// Opens a stream and its keys. The server finds keys in its directory only when it looks again, so these are asked
/// for until then.
async fn open(plan: &LoadPlan, endpoint: &Endpoint, work: &LoadWork) -> Result<LoadLink, LoadError> {
    if plan.has_calls() {
        return Ok(LoadLink::Calls(endpoint.connect().await?));
    }
    let link = connect(plan.way, endpoint).await?;
    let end = Instant::now() + PATIENCE;
    loop {
        match open_keys(&link, work).await {
            Err(LinkError::Refused(fault))
                if plan.home == LoadKeyHome::Server
                    && fault.code() == Code::PermissionDenied
                    && Instant::now() < end =>
            {
                sleep(LOOK_AGAIN).await;
            }
            opened => return Ok(opened.map(|()| LoadLink::Stream(link))?),
        }
    }
}

/// Connects by this transport and no other: a row must not measure another one.
async fn connect(way: LoadTransport, endpoint: &Endpoint) -> Result<ServerLink, LoadError> {
    match way {
        LoadTransport::Unix => Ok(ServerLink::open_without_ring(endpoint, "--by unix").await?),
        LoadTransport::Ring => {
            let link = ServerLink::open(endpoint).await?;
            match link.transport() {
                LinkTransport::Socket { no_ring } => Err(LoadError::RingUnavailable(no_ring.to_string())),
                _ => Ok(link),
            }
        }
        _ => Ok(ServerLink::open(endpoint).await?),
    }
}

async fn usage(link: &ServerLink) -> Result<proto::Usage, LoadError> {
    match link.call(request::Body::ListEngines(proto::ListEnginesRequest {})).await? {
        response::Body::Engines(list) => Ok(list.usage.unwrap_or_default()),
        _ => Err(LoadError::Usage("the server does not say what it uses")),
    }
}

type PendingCall<'c> = Pin<Box<dyn Future<Output = (Instant, Result<LoadAnswer, String>)> + 'c>>;

/// Runs one client until the end. It keeps its number of batches in flight, or sends them at random times.
async fn client(
    plan: &LoadPlan,
    work: &LoadWork,
    link: &LoadLink,
    span: &CountedSpan,
    seed: u64,
) -> ClientResults {
    let ask =
        |due: Instant| -> PendingCall<'_> { Box::pin(async move { (due, answer(plan, work, link).await) }) };
    let mut seen = ClientResults::default();
    let mut under_way: FuturesUnordered<PendingCall<'_>> = FuturesUnordered::new();
    let mut arrivals = plan.rate.map(|rate| Arrivals::new(rate / work.operations as f64, seed));
    match &mut arrivals {
        None => (0..plan.in_flight).for_each(|_| under_way.push(ask(Instant::now()))),
        Some(arrivals) => under_way.push(ask(arrivals.next())),
    }
    loop {
        let next_due = arrivals.as_ref().map(|arrivals| arrivals.due).filter(|due| *due < span.end);
        tokio::select! {
            // Requests that are due are sent first: many answers must not delay them.
            biased;
            () = until(next_due) => {
                if let Some(arrivals) = &mut arrivals {
                    under_way.push(ask(arrivals.next()));
                }
            }
            answer = under_way.next() => match answer {
                // The latency begins when the request was due: a client that sends too late would hide the waiting.
                Some((due, answer)) => {
                    let now = Instant::now();
                    seen.answered += work.operations as u64;
                    if span.counts(now) {
                        span.count();
                        seen.take(work, answer, now - due);
                    } else if let Err(error) = answer {
                        seen.fail(work.operations as u64, error);
                    }
                    // After an error the row counts for nothing, so the client stops.
                    if arrivals.is_none() && now < span.end && seen.errors == 0 {
                        under_way.push(ask(now));
                    }
                }
                // An empty set is ready at once, and without this waiting the loop would spin.
                None if next_due.is_some() => until(next_due).await,
                None => return seen,
            },
        }
    }
}

/// Sends one batch.
async fn answer(plan: &LoadPlan, work: &LoadWork, link: &LoadLink) -> Result<LoadAnswer, String> {
    match (&work.request, link) {
        (LoadRequest::Stream(request), LoadLink::Stream(link)) => {
            let answered = match plan.home {
                LoadKeyHome::Batch => answer_with_keys(work, request, link).await,
                _ => link.call(request::Body::clone(request)).await,
            };
            answered.map(LoadAnswer::Stream).map_err(|error| error.to_string())
        }
        (LoadRequest::Empty(request), LoadLink::Calls(channel)) => {
            let answered = HealthClient::new(channel.clone()).check(request.clone()).await;
            answered.map(|answer| LoadAnswer::Empty(answer.into_inner())).map_err(|status| status.to_string())
        }
        (LoadRequest::Encrypt(request), LoadLink::Calls(channel)) => {
            let answered = CryptoserverClient::new(channel.clone()).encrypt(request.clone()).await;
            let answered = answered.map(|answer| LoadAnswer::Encrypted(answer.into_inner()));
            answered.map_err(|status| status.to_string())
        }
        // unreachable because `open` chooses the link by the plan, as the work is
        _ => Err("the connection does not fit the operation".to_owned()),
    }
}

/// Sends one batch and its keys, which come and go with it. A server begins requests in the order of their arrival.
async fn answer_with_keys(
    work: &LoadWork,
    request: &request::Body,
    link: &ServerLink,
) -> Result<response::Body, LinkError> {
    let close = (0_u32..)
        .zip(&work.keys)
        .map(|(handle, _)| link.call(request::Body::CloseKey(proto::CloseKey { handle })));
    let (opened, answer, closed) =
        tokio::join!(open_keys(link, work), link.call(request.clone()), try_join_all(close));
    opened?;
    closed?;
    answer
}

async fn open_keys(link: &ServerLink, work: &LoadWork) -> Result<(), LinkError> {
    let open = (0_u32..).zip(&work.keys).map(|(handle, source)| {
        let open = proto::OpenKey { handle, source: Some(source.clone()), ..Default::default() };
        link.call(request::Body::OpenKey(open))
    });
    try_join_all(open).await.map(drop)
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// Poisson arrivals of batches, as independent callers make them.
struct Arrivals {
    due: Instant,
    mean: f64,
    random: SplitMix64,
}

impl Arrivals {
    fn new(per_second: f64, seed: u64) -> Self {
        Self { due: Instant::now(), mean: 1.0 / per_second, random: SplitMix64::new(seed + 1) }
    }

    /// Returns the time of the next arrival, and draws the one after it.
    fn next(&mut self) -> Instant {
        let due = self.due;
        // The inverse of the exponential distribution. It is infinite for 1, which `from_secs_f64` does not take.
        let gap = -(1.0 - self.random.unit()).ln() * self.mean;
        self.due += Duration::from_secs_f64(gap.min(3600.0));
        due
    }
}

impl ClientResults {
    fn take(&mut self, work: &LoadWork, answer: Result<LoadAnswer, String>, taken: Duration) {
        match answer {
            Err(error) => self.fail(work.operations as u64, error),
            Ok(body) => {
                if let Some((wrong, reason)) = work.judge(&body) {
                    self.fail(wrong as u64, reason);
                }
                self.operations += work.operations as u64;
                self.latencies.record(taken);
            }
        }
    }

    fn fail(&mut self, operations: u64, reason: String) {
        if self.errors == 0 {
            self.first_error = reason;
        }
        self.errors += operations;
    }

    fn add(&mut self, other: Self) {
        self.latencies.add(&other.latencies);
        self.operations += other.operations;
        self.answered += other.answered;
        if other.errors > 0 {
            self.fail(other.errors, other.first_error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_lasts_while_the_rate_grows() {
        let mut growth = RateGrowth::default();
        for rate in [100.0, 150.0, 150.0, 152.0, 200.0, 420.0, 430.0, 425.0] {
            growth.add(rate);
            assert!(!growth.has_ended(), "{growth:?}");
        }
        for _ in 0..2 {
            growth.add(428.0);
        }
        assert!(growth.has_ended(), "{growth:?}");
    }
}
