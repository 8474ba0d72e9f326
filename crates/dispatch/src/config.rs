//! What can be set about a dispatcher.

use std::time::Duration;

/// Settings of a [`Dispatcher`](crate::Dispatcher). `SchedulerConfig::default()` suits a server.
#[derive(Clone, Debug)]
pub struct SchedulerConfig {
    /// Worker threads, started at the first queued job.
    pub threads: usize,
    /// How far workers stand back for other threads, 0 to 19, as nice(1) counts; on Linux only. Where those who bring jobs share
    /// cores with the workers, the first job would otherwise be computed alone before the second one can be brought.
    pub nice: u8,
    /// Operations that one tenant may have waiting in one queue before it is refused with `Overloaded`.
    pub tenant_bound: usize,
    /// The longest predicted time of the work that one tenant may have waiting in all queues together. Beyond it the tenant is refused
    /// with `Overloaded`. None sets no such bound, which suits callers of one's own process: they may submit millions of jobs.
    pub max_tenant_backlog: Option<Duration>,
    /// What a single job may be predicted to cost to run on its caller's thread when all is idle; zero forbids it.
    pub caller_budget: Duration,
    /// When a job without a deadline of its own should be done: it ranks queues and measures the CPU's backlog for far
    /// engines, it refuses nothing.
    pub target_latency: Duration,
    /// A batch that would take longer is made smaller while another queue waits, down to one group of lanes, and to a single
    /// operation where that keeps another queue in time.
    pub longest_batch: Duration,
    /// The least time after which a running batch is held to hang (more where its prediction is long).
    pub hang_after: Duration,
    /// How long an engine put aside waits for its first probe; doubled after each failed one, up to a minute.
    pub probe_after: Duration,
    /// How long a held job without a deadline of its own waits for its holder.
    pub holder_patience: Duration,
    /// Share of all results that is recomputed on a different engine, 0 to 1.
    pub cross_check: f64,
    /// What a batch costs beside its engine: queue, threads, release.
    pub overhead: Duration,
    /// How a free worker looks for work before it sleeps, in iterations of about a dozen nanoseconds.
    pub spins: u32,
    /// Whether the referee answers jobs too; else it only judges, and shapes that no other engine offers are refused.
    pub referee_serves: bool,
    /// How engine and batch size are chosen.
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
            // On one core whoever looks keeps those who would bring work from bringing it.
            spins: if threads == 1 { 0 } else { 2_000 },
            referee_serves: true,
            rule: SchedulingRule::Adaptive,
        }
    }
}

/// How engine and batch size are chosen. All but [`SchedulingRule::Adaptive`] are there to be compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingRule {
    /// By cost: one on the referee while fewer jobs wait than the break-even, else as many as fill the lanes. Nobody
    /// waits for a batch to fill.
    Adaptive,
    /// One after another on the referee.
    ScalarOnly,
    /// Two or more waiting jobs are a batch.
    TwoOrMore,
    /// A batch starts when it is full or its oldest job has waited so long.
    Timer(Duration),
}
