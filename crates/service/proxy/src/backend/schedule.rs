//! Times of something that is done again and again, and never twice at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The time of the next run. The first one is due at once.
#[derive(Debug, Default)]
pub(super) struct Schedule(Mutex<ScheduleState>);

#[derive(Debug, Default)]
struct ScheduleState {
    next: Option<Instant>,
    is_running: bool,
}

/// A run, until this is dropped.
#[derive(Debug)]
pub(super) struct ScheduledRun {
    schedule: Arc<Schedule>,
    next: Instant,
}

impl Schedule {
    /// Returns the time at which the next run is due. None during a run.
    pub(super) fn due_at(&self, now: Instant) -> Option<Instant> {
        let state = self.lock();
        (!state.is_running).then(|| state.next.unwrap_or(now))
    }

    /// Begins a run. The next one is due after the interval, counted from now. The caller has asked
    /// [`Schedule::due_at`].
    pub(super) fn begin(self: &Arc<Self>, now: Instant, interval: Duration) -> ScheduledRun {
        self.lock().is_running = true;
        ScheduledRun { schedule: Arc::clone(self), next: now + interval }
    }

    fn lock(&self) -> MutexGuard<'_, ScheduleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScheduledRun {
    /// Makes the next run due at another time.
    pub(super) fn set_next(&mut self, next: Instant) {
        self.next = next;
    }
}

impl Drop for ScheduledRun {
    fn drop(&mut self) {
        *self.schedule.lock() = ScheduleState { next: Some(self.next), is_running: false };
    }
}
