//! The CPU time of the server beside that of its engines.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The time from one look at the clock of the process to the next, at least.
const EVERY: Duration = Duration::from_millis(20);
/// The requests between two looks, at least: few requests would have to answer for the timers of an idle server.
const MIN_REQUESTS: u64 = 64;

/// The mean CPU time of a request beside the engines': reading, queueing, checking, writing.
#[derive(Debug)]
pub(crate) struct RequestOverhead {
    ns: AtomicU64,
    last: Mutex<(Instant, Consumption)>,
}

/// Totals since the start of the server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Consumption {
    /// The CPU time of the process.
    cpu_ns: u64,
    pub(crate) engines_ns: u64,
    pub(crate) requests: u64,
}

impl Consumption {
    pub(crate) fn new(engines_ns: u64, requests: u64) -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let cpu = Duration::try_from(cpu).unwrap_or_default();
        Self { cpu_ns: u64::try_from(cpu.as_nanos()).unwrap_or(u64::MAX), engines_ns, requests }
    }

    /// Returns the nanoseconds of a request since then; `None` if there were too few.
    fn overhead_since(self, before: Self) -> Option<u64> {
        let requests = self.requests.saturating_sub(before.requests);
        if requests < MIN_REQUESTS {
            return None;
        }
        let cpu_ns = self.cpu_ns.saturating_sub(before.cpu_ns);
        cpu_ns.saturating_sub(self.engines_ns.saturating_sub(before.engines_ns)).checked_div(requests)
    }
}

impl RequestOverhead {
    pub(crate) fn start() -> Self {
        Self { ns: AtomicU64::new(0), last: Mutex::new((Instant::now(), Consumption::new(0, 0))) }
    }

    /// Returns the overhead of the last requests. `consumption` returns the totals.
    pub(crate) fn of_request(&self, consumption: impl FnOnce() -> Consumption) -> Duration {
        // Another thread that looks at the clock at the moment is as good.
        if let Ok(mut last) = self.last.try_lock()
            && last.0.elapsed() >= EVERY
        {
            let now = consumption();
            if let Some(ns) = now.overhead_since(last.1) {
                self.ns.store(ns, Ordering::Relaxed);
                *last = (Instant::now(), now);
            } else {
                last.0 = Instant::now();
            }
        }
        Duration::from_nanos(self.ns.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_engines_is_no_overhead() {
        let before = Consumption { cpu_ns: 1_000, engines_ns: 100, requests: 10 };
        let after = Consumption { cpu_ns: 18_000, engines_ns: 7_100, requests: 110 };
        assert_eq!(after.overhead_since(before), Some(100));
        assert_eq!(Consumption { requests: 73, ..after }.overhead_since(before), None);
        // The clocks of threads and of the process differ a little.
        let after = Consumption { engines_ns: 18_100, ..after };
        assert_eq!(after.overhead_since(before), Some(0));
    }
}
