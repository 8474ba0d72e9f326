//! The settings of a dispatcher.

use std::time::Duration;

/// The settings of a [`Dispatcher`](crate::Dispatcher). `SchedulerConfig::default()` suits a server.
#[derive(Clone, Debug)]
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
    /// The cost of a batch outside its engine: queue, threads, release.
    pub overhead: Duration,
    /// The number of iterations, of about a dozen nanoseconds each, in which a free worker looks for jobs before it
    /// sleeps.
    pub spins: u32,
    /// True if the referee answers jobs too. Otherwise it only decides disputes, and shapes that no other engine
    /// offers are refused.
    pub referee_serves: bool,
    /// The rule that chooses engine and batch size.
    pub rule: SchedulingRule,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            threads,
            nice: 0,
            tenant_bound: 65_536,
            max_tenant_backlog: None,
            caller_budget: Duration::from_micros(500),
            target_latency: Duration::from_millis(10),
            longest_batch: Duration::from_millis(1),
            hang_after: Duration::from_secs(2),
            probe_after: Duration::from_millis(100),
            holder_patience: Duration::from_secs(30),
            cross_check: 0.001,
            overhead: Duration::from_nanos(500),
            // On one core a spinning worker only keeps submitters from running.
            spins: if threads == 1 { 0 } else { 2_000 },
            referee_serves: true,
            rule: SchedulingRule::Adaptive,
        }
    }
}

/// A rule that chooses engine and batch size. All rules but [`SchedulingRule::Adaptive`] exist for comparison with
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingRule {
    /// Decides by cost. Below the break-even, single jobs run on the referee. From the break-even on, all waiting
    /// jobs run as one batch. No job waits for a batch to fill.
    Adaptive,
    /// Runs jobs one by one on the referee.
    ScalarOnly,
    /// Runs two or more waiting jobs as a batch.
    TwoOrMore,
    /// Starts a batch when it is full or its oldest job has waited for this time.
    Timer(Duration),
}
