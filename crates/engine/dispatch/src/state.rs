//! The state of a dispatcher in one process: the parts that callers, workers and the watchdog share.
//!
//! Each part has its own lock and knows at most the parts below it. The functions here and in the two modules join
//! several parts. All other modules that compute or answer take this state.
//!
//! | lock | part | taken while holding |
//! |---|---|---|
//! | quarantine list | `QuarantineList` | nothing |
//! | queues | `SharedQueues` | nothing, or the quarantine list |
//! | threads | `WorkerThreads` | nothing |
//! | timers | `DeadlineTimers` | nothing, or the threads |
//! | answers of one submission | `Submission` | nothing |

mod answers;
mod engines;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use oarlock_core::ProcessMark;

use crate::blueprint::Blueprint;
use crate::clock::{DispatchClock, Nanos};
use crate::config::SchedulerConfig;
use crate::histograms::Recorders;
use crate::metrics::{DispatchCounters, Metrics};
use crate::quarantine::QuarantineList;
use crate::sampler::ResultSampler;
use crate::shared_queues::SharedQueues;
use crate::submission::SubmissionEnd;
use crate::task::CallerTask;
use crate::threads::WorkerThreads;
use crate::timers::DeadlineTimers;

/// The parts that callers, workers and the watchdog of one process share.
pub(crate) struct DispatchState {
    pub(crate) blueprint: Arc<Blueprint>,
    pub(crate) clock: DispatchClock,
    pub(crate) queues: SharedQueues,
    pub(crate) metrics: Metrics,
    pub(crate) recorders: Recorders,
    pub(crate) sampler: ResultSampler,
    pub(crate) quarantine: QuarantineList,
    pub(crate) timers: DeadlineTimers,
    pub(crate) threads: Arc<WorkerThreads>,
    /// The number of jobs that each holder has and has not answered.
    pub(crate) at_holders: Box<[AtomicU64]>,
    /// The process that made this.
    owner: ProcessMark,
}

impl DispatchState {
    pub(crate) fn new(blueprint: Arc<Blueprint>) -> Arc<Self> {
        let clock = DispatchClock::start();
        Arc::new(Self {
            clock,
            queues: SharedQueues::new(Arc::clone(&blueprint), clock),
            metrics: Metrics::default(),
            recorders: Recorders::new(blueprint.engines.len()),
            sampler: ResultSampler::new(),
            quarantine: QuarantineList::default(),
            timers: DeadlineTimers::default(),
            threads: Arc::default(),
            at_holders: blueprint.holders.iter().map(|_| AtomicU64::new(0)).collect(),
            owner: ProcessMark::counted(),
            blueprint,
        })
    }

    pub(crate) fn config(&self) -> &SchedulerConfig {
        &self.blueprint.config
    }

    /// True if this was made by a parent process, so that its locks may never be released here.
    pub(crate) fn is_from_parent_process(&self) -> bool {
        self.owner != ProcessMark::counted()
    }

    /// Returns a snapshot of the counters.
    pub(crate) fn counters(&self) -> DispatchCounters {
        // Queued operations are counted under the lock of the queues, which costs no atomic step per job.
        let queued = self.queues.total_queued();
        let counters = self.metrics.read();
        DispatchCounters { submitted: counters.submitted + queued, ..counters }
    }

    /// Stops the threads and ends everything that waits. Batches in flight are finished first, unless they hang.
    pub(crate) fn stop(&self) {
        // Callers that wait are answered before the threads are joined, which may take as long as their batches.
        for item in self.queues.stop() {
            let is_task = item.owner.task().is_some();
            let counter = if is_task { &self.metrics.tasks_dropped } else { &self.metrics.failed };
            item.owner.end_early(SubmissionEnd::ShutDown, counter);
            drop(item.owner.task().and_then(CallerTask::take));
        }
        self.threads.join(&self.timers, self.config().hang_after);
        // The watchdog has ended, so no deadline would end the jobs that a holder still keeps.
        for submission in self.timers.expired(Nanos::MAX) {
            submission.end_early(SubmissionEnd::ShutDown, &self.metrics.failed);
        }
    }
}

impl fmt::Debug for DispatchState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DispatchState({:?}, {} engines)", self.owner, self.blueprint.engines.len())
    }
}
