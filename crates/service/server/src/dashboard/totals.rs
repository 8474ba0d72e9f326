//! The counters of the server at one moment, and the differences over the last seconds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

use oarlock::metrics::{Histogram, Histograms, MetricFamily};
use oarlock_wire::proto::Code;
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

use super::TICK;
use super::latency::ValueSpread;
use crate::metrics::CodeCounters;
use crate::service::SharedService;

/// The number of ticks over which rates and latencies are taken: ten seconds.
const WINDOW_TICKS: usize = 5;

/// The operations of one name since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OperationTotals {
    pub(super) done: u64,
    /// Operations that ended otherwise: a signature that does not verify, a wrong key, a fault.
    pub(super) not_done: u64,
}

/// The counters at one moment.
#[derive(Debug)]
pub(super) struct ServerTotals {
    pub(super) at: Instant,
    pub(super) requests: u64,
    pub(super) received_bytes: u64,
    pub(super) sent_bytes: u64,
    pub(super) cpu_ns: u64,
    pub(super) operations: BTreeMap<String, OperationTotals>,
    /// Refusals by code, and by the reasons that have no code.
    pub(super) refusals: BTreeMap<String, u64>,
    pub(super) keys: Vec<(String, u64)>,
    pub(super) jobs_ns: Histogram,
    pub(super) records_ns: Histogram,
    pub(super) engines: Histograms,
}

impl ServerTotals {
    pub(super) fn read(service: &SharedService, at: Instant) -> Self {
        let metrics = &service.metrics;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let mut operations = BTreeMap::new();
        add_operations(&mut operations, &metrics.schemes);
        add_operations(&mut operations, &metrics.tasks);
        let codes = metrics.rejections.read().map(|(code, count)| (code.as_str_name().to_owned(), count));
        let others = [
            ("handshake failed", &metrics.failed_handshakes),
            ("too many connections", &metrics.refused_connections),
        ];
        let others = others.into_iter().map(|(name, counter)| (name.to_owned(), load(counter)));
        Self {
            at,
            requests: load(&metrics.requests),
            received_bytes: load(&metrics.received_bytes) + load(&metrics.ring_received_bytes),
            sent_bytes: load(&metrics.sent_bytes) + load(&metrics.ring_sent_bytes),
            cpu_ns: cpu.tv_sec as u64 * 1_000_000_000 + cpu.tv_nsec as u64,
            operations,
            refusals: codes.chain(others).filter(|(_, count)| *count > 0).collect(),
            keys: service.key_uses.read(),
            jobs_ns: metrics.jobs_ns.read(),
            records_ns: metrics.records_ns.read(),
            engines: service.accelerator.histograms(),
        }
    }

    fn operation_count(&self) -> u64 {
        self.operations.values().map(|counts| counts.done + counts.not_done).sum()
    }

    fn refusal_count(&self) -> u64 {
        self.refusals.values().sum()
    }
}

fn add_operations<K: ToString + Clone + Eq>(
    operations: &mut BTreeMap<String, OperationTotals>,
    family: &MetricFamily<K, CodeCounters>,
) {
    for (key, by_code) in family.iter() {
        for (code, count) in by_code.read() {
            let name = key.map_or_else(|| "other".to_owned(), ToString::to_string);
            let counts = operations.entry(name).or_default();
            *(if code == Code::Done { &mut counts.done } else { &mut counts.not_done }) += count;
        }
    }
}

/// Returns a value with three significant digits, which is what the page shows.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10_f64.powi(2 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

/// The counters now, and those of the last seconds for differences.
#[derive(Debug)]
pub(super) struct TotalsWindow {
    /// The oldest first.
    former: VecDeque<ServerTotals>,
    pub(super) now: ServerTotals,
}

impl TotalsWindow {
    pub(super) fn new(now: ServerTotals) -> Self {
        Self { former: VecDeque::with_capacity(WINDOW_TICKS + 1), now }
    }

    pub(super) fn add(&mut self, totals: ServerTotals) {
        self.former.push_back(std::mem::replace(&mut self.now, totals));
        if self.former.len() > WINDOW_TICKS {
            self.former.pop_front();
        }
    }

    /// Returns the counters at the beginning of the window, if a tick has passed.
    pub(super) fn before(&self) -> Option<&ServerTotals> {
        self.former.front()
    }

    /// Returns the seconds of the window.
    pub(super) fn seconds(&self) -> f64 {
        let before = self.before().map_or(self.now.at, |before| before.at);
        self.now.at.saturating_duration_since(before).max(TICK / 2).as_secs_f64()
    }

    /// Returns the rate per second of a counter.
    pub(super) fn rate(&self, counter: impl Fn(&ServerTotals) -> u64) -> f64 {
        let Some(before) = self.before() else { return 0.0 };
        counter(&self.now).saturating_sub(counter(before)) as f64 / self.seconds()
    }

    pub(super) fn operations_per_s(&self) -> f64 {
        self.rate(ServerTotals::operation_count)
    }

    pub(super) fn refusals_per_s(&self) -> f64 {
        self.rate(ServerTotals::refusal_count)
    }

    /// Returns the processor time per second: 1 is one core.
    pub(super) fn cores(&self) -> f64 {
        self.rate(|totals| totals.cpu_ns) * 1e-9
    }

    /// Returns the times of requests within the window, of jobs and records together.
    pub(super) fn request_ns(&self) -> ValueSpread {
        let mut spread = ValueSpread::between(self.before().map(|before| &before.jobs_ns), &self.now.jobs_ns);
        spread
            .add(&ValueSpread::between(self.before().map(|before| &before.records_ns), &self.now.records_ns));
        spread
    }
}
