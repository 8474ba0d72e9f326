//! The settings of a dispatcher.

use std::time::Duration;

/// The settings of a [`Dispatcher`](crate::Dispatcher). `SchedulerConfig::default()` suits a server; the methods
/// change one setting each.
///
/// ```
/// use oarlock_dispatch::SchedulerConfig;
///
/// let config = SchedulerConfig::default().with_threads(4).with_cross_check(0.01);
/// assert_eq!(config.threads, 4);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SchedulerConfig {
    /// The number of worker threads, which start at the first queued job.
    pub threads: usize,
    /// The niceness of workers, 0 to 19 as in nice(1). Linux only. If submitters share cores with workers, a worker
    /// at normal priority would compute the first job alone before the second one can be submitted.
    pub nice: u8,
    /// The maximal number of operations that one tenant may have waiting in one queue. Beyond it the tenant is
    /// refused with `Overloaded`.
    pub tenant_bound: usize,
    /// The maximal predicted time of all jobs and tasks that one tenant may have waiting. Beyond it the tenant is
    /// refused with `Overloaded`. None sets no such bound. That suits callers in the same process, which may submit
    /// millions of jobs.
    pub max_tenant_backlog: Option<Duration>,
    /// The maximal predicted time of a submission that runs on its caller's thread if the dispatcher is idle. Zero
    /// forbids it.
    pub caller_budget: Duration,
    /// The time after which a job without a deadline should be done. It ranks queues and bounds the backlog that far
    /// engines leave to the CPU. No job is refused because of it.
    pub target_latency: Duration,
    /// The maximal time of a batch while another queue waits. A longer batch is cut down to one group of lanes, or to
    /// a single operation if that keeps another queue in time.
    pub longest_batch: Duration,
    /// The minimal time after which a running batch counts as hung. The time is longer if the prediction is long.
    pub hang_after: Duration,
    /// The time from quarantine to the first probe. It doubles after each failed probe, up to a minute.
    pub probe_after: Duration,
    /// The time that a held job without a deadline waits for its holder.
    pub holder_patience: Duration,
    /// The share of all results that is recomputed on a different engine, 0 to 1.
    pub cross_check: f64,
    /// The confirmation of an SLH-DSA signature before its release.
    pub confirm: ConfirmRule,
    /// The cost of a batch outside its engine: queue, threads, release.
    pub overhead: Duration,
    /// The number of iterations, of about a dozen nanoseconds each, in which a free worker looks for jobs before it
    /// sleeps.
    pub spins: u32,
    /// True if the referee answers jobs too. Otherwise it only decides disputes, and shapes that no other engine
    /// offers are refused.
    pub referee_serves: bool,
    /// The number of waiting operations from which they run as a batch. None computes the break-even from the costs of
    /// the engines, which is the fastest choice. `Some(usize::MAX)` runs single operations on the referee only.
    pub fixed_break_even: Option<usize>,
}

/// The confirmation of an SLH-DSA signature before its release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfirmRule {
    /// The signature is verified. That costs about a thousandth of its computation, and finds most faults. It does not
    /// find a wrong node beside the path in a tree: the signature then verifies, and two such signatures let others
    /// forge (Castelnovi, Martinelli, Prest, "Grafting Trees", PQCrypto 2018).
    #[default]
    Verify,
    /// The signature is verified and computed twice, on different engines if there are two. Only equal results leave.
    Twice,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads,
            nice: 0,
            tenant_bound: 65_536,
            max_tenant_backlog: None,
            // On an idle dispatcher this saves the wakeup of a worker, some ten microseconds. A longer budget would
            // block the executor of an async caller for as long.
            caller_budget: Duration::from_micros(500),
            target_latency: Duration::from_millis(10),
            longest_batch: Duration::from_millis(1),
            hang_after: Duration::from_secs(2),
            probe_after: Duration::from_millis(100),
            holder_patience: Duration::from_secs(30),
            // The checks cost about a thousandth of the throughput. An engine whose every result is wrong is found
            // after a thousand results on average.
            cross_check: 0.001,
            confirm: ConfirmRule::Verify,
            overhead: Duration::from_nanos(500),
            // On one core a spinning worker only keeps submitters from running.
            spins: if threads == 1 { 0 } else { 2_000 },
            referee_serves: true,
            fixed_break_even: None,
        }
    }
}

impl SchedulerConfig {
    /// Sets the number of worker threads.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets the niceness of workers, 0 to 19.
    #[must_use]
    pub fn with_nice(self, nice: u8) -> Self {
        Self { nice, ..self }
    }

    /// Sets the maximal number of operations that one tenant may have waiting in one queue.
    #[must_use]
    pub fn with_tenant_bound(self, tenant_bound: usize) -> Self {
        Self { tenant_bound, ..self }
    }

    /// Sets the maximal predicted time of all that one tenant may have waiting, or removes the bound.
    #[must_use]
    pub fn with_max_tenant_backlog(self, max_tenant_backlog: impl Into<Option<Duration>>) -> Self {
        Self { max_tenant_backlog: max_tenant_backlog.into(), ..self }
    }

    /// Sets the maximal predicted time of a submission that runs on its caller's thread.
    #[must_use]
    pub fn with_caller_budget(self, caller_budget: Duration) -> Self {
        Self { caller_budget, ..self }
    }

    /// Sets the time after which a job without a deadline should be done.
    #[must_use]
    pub fn with_target_latency(self, target_latency: Duration) -> Self {
        Self { target_latency, ..self }
    }

    /// Sets the minimal time after which a running batch counts as hung.
    #[must_use]
    pub fn with_hang_after(self, hang_after: Duration) -> Self {
        Self { hang_after, ..self }
    }

    /// Sets the time from quarantine to the first probe.
    #[must_use]
    pub fn with_probe_after(self, probe_after: Duration) -> Self {
        Self { probe_after, ..self }
    }

    /// Sets the share of all results that is recomputed on a different engine, 0 to 1.
    #[must_use]
    pub fn with_cross_check(self, cross_check: f64) -> Self {
        Self { cross_check, ..self }
    }

    /// Sets the confirmation of SLH-DSA signatures.
    #[must_use]
    pub fn with_confirm(self, confirm: ConfirmRule) -> Self {
        Self { confirm, ..self }
    }

    /// Sets the cost of a batch outside its engine.
    #[must_use]
    pub fn with_overhead(self, overhead: Duration) -> Self {
        Self { overhead, ..self }
    }

    /// Sets the number of iterations in which a free worker looks for jobs before it sleeps.
    #[must_use]
    pub fn with_spins(self, spins: u32) -> Self {
        Self { spins, ..self }
    }

    /// Sets if the referee answers jobs too.
    #[must_use]
    pub fn with_referee_serves(self, referee_serves: bool) -> Self {
        Self { referee_serves, ..self }
    }

    /// Fixes the number of waiting operations from which they run as a batch, or lets the costs decide.
    #[must_use]
    pub fn with_fixed_break_even(self, fixed_break_even: impl Into<Option<usize>>) -> Self {
        Self { fixed_break_even: fixed_break_even.into(), ..self }
    }
}
