//! The CPU time of the server beside that of its engines.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// The time from one look at the clock of the process to the next, at least.
const EVERY: Duration = Duration::from_millis(20);
/// The longest time between two looks that are compared, and the requests between them, at least: few requests would
/// have to answer for the timers of an idle server, and the first ones for the tests of its engines.
const WITHIN: Duration = Duration::from_millis(100);
const MIN_REQUESTS: u64 = 16;

/// The mean CPU time of a request beside the engines': reading, queueing, checking, writing.
#[derive(Debug)]
pub(crate) struct RequestOverhead {
    ns: AtomicU64,
    last: Mutex<ConsumptionLooks>,
}

/// The last look at the clock, and the one before that the next is compared with.
#[derive(Debug)]
struct ConsumptionLooks {
    looked: Instant,
    compared: Instant,
    before: Consumption,
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
        let now = Instant::now();
        let looks = ConsumptionLooks { looked: now, compared: now, before: Consumption::new(0, 0) };
        Self { ns: AtomicU64::new(0), last: Mutex::new(looks) }
    }

    /// Returns the overhead of the last requests. `consumption` returns the totals.
    pub(crate) fn of_request(&self, consumption: impl FnOnce() -> Consumption) -> Duration {
        // Another thread that looks at the clock at the moment is as good.
        if let Ok(mut last) = self.last.try_lock()
            && last.looked.elapsed() >= EVERY
        {
            let now = Instant::now();
            let consumption = consumption();
            let overhead = consumption.overhead_since(last.before);
            let is_late = now - last.compared > WITHIN;
            if let Some(ns) = overhead.filter(|_| !is_late) {
                self.ns.store(ns, Ordering::Relaxed);
            }
            if overhead.is_some() || is_late {
                (last.compared, last.before) = (now, consumption);
            }
            last.looked = now;
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
        assert_eq!(Consumption { requests: 25, ..after }.overhead_since(before), None);
        // The clocks of threads and of the process differ a little.
        let after = Consumption { engines_ns: 18_100, ..after };
        assert_eq!(after.overhead_since(before), Some(0));
    }
}
