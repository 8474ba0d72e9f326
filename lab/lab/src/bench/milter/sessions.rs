//! MTAs. Each sends its next message as soon as the last one is answered.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use oarlock_measure::statistics::LatencyHistogram;
use oarlock_milter::{MilterClient, MilterSocket};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};

use super::super::BenchError;
use super::mails::MtaMailSet;
use crate::process_stats;

/// The share of a turn before anything counts.
const WARM_UP: f64 = 0.1;

/// Sessions at one filter.
pub(super) struct MtaSessions<'a> {
    pub(super) socket: &'a MilterSocket,
    /// The process whose CPU time is counted.
    pub(super) process: Option<u32>,
    pub(super) count: usize,
}

/// The result of one turn.
#[derive(Clone, Debug)]
pub(super) struct MeasuredSessions {
    pub(super) messages: u64,
    pub(super) seconds: f64,
    pub(super) cpu_us: Option<u64>,
    /// From MAIL to the end of the answer, in microseconds.
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
}

/// The state that all sessions of a turn share.
struct SessionState {
    counts: AtomicBool,
    /// Notified at the first message that counts.
    first: Notify,
    stops: AtomicBool,
    next: AtomicUsize,
}

impl MtaSessions<'_> {
    pub(super) fn measure(
        &self,
        mails: &MtaMailSet,
        length: Duration,
    ) -> Result<MeasuredSessions, BenchError> {
        Runtime::new().map_err(BenchError::Clients)?.block_on(self.turn(mails, length))
    }

    async fn turn(&self, mails: &MtaMailSet, length: Duration) -> Result<MeasuredSessions, BenchError> {
        let shared = std::sync::Arc::new(SessionState {
            counts: AtomicBool::new(false),
            first: Notify::new(),
            stops: AtomicBool::new(false),
            next: AtomicUsize::new(0),
        });
        let mut sessions = JoinSet::new();
        for _ in 0..self.count {
            let mut client = self.connect().await.map_err(|error| self.failure(error.to_string()))?;
            let (shared, mails) = (shared.clone(), mails.clone());
            sessions.spawn(async move { send_all(&mut client, &mails, &shared).await });
        }
        tokio::time::sleep(length.mul_f64(WARM_UP)).await;
        let (began, cpu) = (Instant::now(), self.cpu_us()?);
        shared.counts.store(true, Ordering::Relaxed);
        tokio::time::sleep(length).await;
        let mut times = LatencyHistogram::default();
        let mut add = |session: Result<Result<LatencyHistogram, String>, JoinError>| {
            let result = session.unwrap_or_else(|error| Err(error.to_string()));
            times.add(&result.map_err(|reason| self.failure(reason))?);
            Ok::<_, BenchError>(())
        };
        // However slow the filter is, a turn has a message.
        tokio::select! {
            () = shared.first.notified() => {}
            // Before `stops` is set, a session ends only by failing.
            Some(session) = sessions.join_next() => add(session)?,
        }
        shared.counts.store(false, Ordering::Relaxed);
        let (seconds, cpu_after) = (began.elapsed().as_secs_f64(), self.cpu_us()?);
        shared.stops.store(true, Ordering::Relaxed);
        while let Some(session) = sessions.join_next().await {
            add(session)?;
        }
        Ok(MeasuredSessions {
            messages: times.len(),
            seconds,
            cpu_us: cpu_after.zip(cpu).map(|(after, before)| after.saturating_sub(before)),
            p50_us: times.quantile_us(0.5),
            p99_us: times.quantile_us(0.99),
        })
    }

    /// Connects as an MTA, negotiates and greets.
    async fn connect(&self) -> std::io::Result<MilterClient> {
        let mut client = MilterClient::connect(self.socket).await?;
        client.negotiate().await.map_err(std::io::Error::other)?;
        client.greet(b"").await.map_err(std::io::Error::other)?;
        Ok(client)
    }

    fn failure(&self, reason: String) -> BenchError {
        BenchError::Filter { socket: self.socket.to_string(), reason }
    }

    fn cpu_us(&self) -> Result<Option<u64>, BenchError> {
        self.process.map(process_stats::cpu_us).transpose().map_err(BenchError::Clients)
    }
}

async fn send_all(
    client: &mut MilterClient,
    mails: &MtaMailSet,
    shared: &SessionState,
) -> Result<LatencyHistogram, String> {
    let mut times = LatencyHistogram::default();
    while !shared.stops.load(Ordering::Relaxed) {
        let index = shared.next.fetch_add(1, Ordering::Relaxed);
        let began = Instant::now();
        mails.send(client, index).await?;
        if shared.counts.load(Ordering::Relaxed) {
            times.record(began.elapsed());
            shared.first.notify_one();
        }
    }
    Ok(times)
}
