//! The state of a device: its phase, its queue and its threads.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock::engine_api::OwnedJob;

use crate::HsmError;
use crate::task::{Reply, Task};
use crate::token::TokenConnection;

/// The state that the lock of a pool protects.
#[derive(Debug)]
pub(super) struct PoolState {
    pub(super) phase: DevicePhase,
    /// The number of the connection. Threads of an earlier one leave.
    pub(super) epoch: u64,
    pub(super) queue: VecDeque<Task>,
    /// The threads by their numbers. A thread that was abandoned is not here any more.
    pub(super) workers: HashMap<u64, WorkerState>,
    pub(super) next_worker: u64,
    /// The number of abandoned threads that have not returned.
    pub(super) hanging: usize,
    /// The maximum number of threads: that of the settings, or fewer if the token has fewer sessions.
    pub(super) max_workers: usize,
    /// The number of connection attempts that have ended.
    pub(super) attempts: u64,
    /// The number of failed attempts in a row.
    pub(super) failed_attempts: u32,
    /// The measure of wrong answers among the last ones.
    pub(super) distrust: u32,
    /// The signature that was wrong last. A probe makes it again.
    pub(super) suspect: Option<OwnedJob>,
    pub(super) supervisor: SupervisorState,
    pub(super) counts: DeviceCounts,
    /// The mechanisms of the last connection.
    pub(super) mechanisms: Vec<String>,
}

/// The phase of a device.
#[derive(Debug)]
pub(super) enum DevicePhase {
    /// A connector is in the module, or will be soon.
    Connecting,
    Ready(Arc<TokenConnection>),
    Quarantined {
        /// The time of the next attempt.
        until: Instant,
        reason: HsmError,
    },
}

/// The state of the supervisor's thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum SupervisorState {
    Awake,
    /// It sleeps until an event.
    Idle,
    /// It sleeps until a time or an event.
    SleepsUntil(Instant),
}

/// A thread with a session, or one that opens it.
#[derive(Debug)]
pub(super) struct WorkerState {
    pub(super) epoch: u64,
    /// The call that it makes, if it is in the module.
    pub(super) busy: Option<BusyCall>,
}

/// A call of the module.
#[derive(Debug)]
pub(super) struct BusyCall {
    pub(super) since: Instant,
    /// The answer that it owes, if it computes a task.
    pub(super) reply: Option<Reply>,
}

/// The statistics of a device.
#[derive(Debug, Default)]
pub(super) struct DeviceCounts {
    pub(super) answered: u64,
    pub(super) failed: u64,
    pub(super) wrong: u64,
    pub(super) abandoned: u64,
    pub(super) repaired: u64,
    pub(super) connected: u64,
}

/// The epoch of threads that leave. No device connects as often.
const RETIRED: u64 = u64::MAX;

/// The minimum and the maximum time of a quarantine. It doubles with each failed attempt.
const MIN_QUARANTINE: Duration = Duration::from_millis(250);
const MAX_QUARANTINE: Duration = Duration::from_secs(60);

/// A wrong answer adds as much distrust as this number of right ones removes, and three of them are too many.
const DISTRUST_PER_WRONG: u32 = 64;
const MAX_DISTRUST: u32 = 2 * DISTRUST_PER_WRONG;

impl PoolState {
    pub(super) fn new(max_workers: usize) -> Self {
        Self {
            phase: DevicePhase::Connecting,
            epoch: 0,
            queue: VecDeque::new(),
            workers: HashMap::new(),
            next_worker: 0,
            hanging: 0,
            max_workers,
            attempts: 0,
            failed_attempts: 0,
            distrust: 0,
            suspect: None,
            supervisor: SupervisorState::Awake,
            counts: DeviceCounts::default(),
            mechanisms: Vec::new(),
        }
    }

    /// Begins a quarantine. The threads of this epoch leave. The caller fails the queued tasks.
    pub(super) fn quarantine(&mut self, now: Instant, reason: HsmError) {
        // The shift is limited to 10, far beyond MAX_QUARANTINE, so that it cannot overflow.
        let delay = MIN_QUARANTINE.saturating_mul(1 << self.failed_attempts.min(10)).min(MAX_QUARANTINE);
        self.failed_attempts += 1;
        if matches!(self.phase, DevicePhase::Connecting) {
            self.attempts += 1;
        }
        self.phase = DevicePhase::Quarantined { until: now + delay, reason };
        self.epoch += 1;
    }

    /// Ends a connection, so that another one can begin. The queue stays.
    pub(super) fn reconnect(&mut self) {
        self.phase = DevicePhase::Connecting;
        self.epoch += 1;
    }

    /// Notes that a connector has succeeded.
    pub(super) fn connected(&mut self, token: Arc<TokenConnection>, max_workers: usize) {
        self.mechanisms = token.mechanisms.iter().map(ToString::to_string).collect();
        self.max_workers = token.max_sessions.unwrap_or(max_workers).min(max_workers);
        self.phase = DevicePhase::Ready(token);
        self.attempts += 1;
        self.failed_attempts = 0;
        self.distrust = 0;
        self.suspect = None;
        self.counts.connected += 1;
    }

    /// Notes a right answer.
    pub(super) fn trust(&mut self) {
        self.counts.answered += 1;
        self.distrust = self.distrust.saturating_sub(1);
    }

    /// Notes a wrong answer. Returns true if it is one too many.
    pub(super) fn distrust(&mut self, suspect: Option<OwnedJob>) -> bool {
        self.counts.wrong += 1;
        self.distrust += DISTRUST_PER_WRONG;
        self.suspect = suspect.or_else(|| self.suspect.take());
        self.distrust > MAX_DISTRUST
    }

    /// Adds a thread of this epoch, which begins in the module. Returns its number.
    pub(super) fn add_worker(&mut self, now: Instant) -> u64 {
        let id = self.next_worker;
        self.next_worker += 1;
        let busy = Some(BusyCall { since: now, reply: None });
        self.workers.insert(id, WorkerState { epoch: self.epoch, busy });
        id
    }

    /// Makes a thread leave although its epoch lasts.
    pub(super) fn retire(&mut self, id: u64) {
        if let Some(worker) = self.workers.get_mut(&id) {
            worker.epoch = RETIRED;
        }
    }

    /// Returns the number of threads of this epoch.
    pub(super) fn current_workers(&self) -> usize {
        self.workers.values().filter(|worker| worker.epoch == self.epoch).count()
    }

    /// Returns the times since which threads are in the module.
    pub(super) fn busy_since(&self) -> impl Iterator<Item = Instant> {
        self.workers.values().filter_map(|worker| Some(worker.busy.as_ref()?.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(state: &PoolState, now: Instant) -> Duration {
        let DevicePhase::Quarantined { until, .. } = &state.phase else { panic!("{:?}", state.phase) };
        until.duration_since(now)
    }

    #[test]
    fn the_third_wrong_answer_in_a_short_time_is_one_too_many() {
        let mut state = PoolState::new(1);
        assert!(!state.distrust(None) && !state.distrust(None) && state.distrust(None));
        let mut state = PoolState::new(1);
        for _ in 0..50 {
            assert!(!state.distrust(None));
            (0..DISTRUST_PER_WRONG).for_each(|_| state.trust());
        }
    }

    #[test]
    fn a_quarantine_doubles_up_to_a_minute_and_ends_the_epoch() {
        let mut state = PoolState::new(1);
        let now = Instant::now();
        let times: Vec<Duration> = (0..12)
            .map(|epoch| {
                assert_eq!(state.epoch, epoch);
                state.quarantine(now, HsmError::Closed);
                until(&state, now)
            })
            .collect();
        assert_eq!(times[..3], [MIN_QUARANTINE, 2 * MIN_QUARANTINE, 4 * MIN_QUARANTINE]);
        assert_eq!(times[11], MAX_QUARANTINE);
        let worker = state.add_worker(now);
        state.reconnect();
        assert_eq!((state.workers[&worker].epoch + 1, state.current_workers()), (state.epoch, 0));
    }
}
