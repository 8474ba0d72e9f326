//! The supervisor: it abandons calls that hang, replaces their threads, and ends quarantines.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Instant;

use super::state::{DevicePhase, PoolState, SupervisorState};
use super::worker::{Worker, WorkerStart};
use super::{DevicePool, FailedReplies};
use crate::HsmError;

impl DevicePool {
    /// Watches the threads until the device is closed.
    pub(super) fn supervise(self: Arc<Self>) {
        let mut failed = FailedReplies::default();
        let mut state = self.lock();
        // A device that was closed before this thread began must not enter the module: its process may be ending.
        if !self.is_closed() {
            self.start_connector(&mut state, &mut failed);
        }
        while !self.is_closed() {
            let now = Instant::now();
            self.abandon_overdue(&mut state, now, &mut failed);
            self.end_expired_quarantine(&mut state, now, &mut failed);
            if !failed.is_none() {
                // What the answers cause may change the state, so it is looked at again before the wait.
                drop(state);
                std::mem::take(&mut failed).answer(&self.context.name);
                state = self.lock();
                continue;
            }
            state = self.sleep(state);
        }
        failed.drain(&mut state.queue, &HsmError::Closed);
        drop(state);
        failed.answer(&self.context.name);
    }

    /// Waits for a deadline or an event.
    fn sleep<'p>(&'p self, mut state: MutexGuard<'p, PoolState>) -> MutexGuard<'p, PoolState> {
        let deadline = self.next_deadline(&state);
        state.supervisor = deadline.map_or(SupervisorState::Idle, SupervisorState::SleepsUntil);
        let mut state = match deadline {
            Some(deadline) => {
                let wait = deadline.saturating_duration_since(Instant::now());
                self.watch.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.watch.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
        state.supervisor = SupervisorState::Awake;
        state
    }

    /// Returns the time at which something has to be done without any other event.
    fn next_deadline(&self, state: &PoolState) -> Option<Instant> {
        let patience = self.context.settings.patience();
        let overdue = state.busy_since().map(|since| since + patience).min();
        let probe = match &state.phase {
            DevicePhase::Quarantined { until, .. } if state.hanging <= self.max_hanging() => Some(*until),
            _ => None,
        };
        overdue.into_iter().chain(probe).min()
    }

    /// Abandons the threads whose calls have taken too long. Each lives on until its call returns.
    fn abandon_overdue(self: &Arc<Self>, state: &mut PoolState, now: Instant, failed: &mut FailedReplies) {
        let patience = self.context.settings.patience();
        let is_overdue = |since: Instant| now.saturating_duration_since(since) >= patience;
        let overdue: Vec<u64> = state
            .workers
            .iter()
            .filter(|(_, worker)| worker.busy.as_ref().is_some_and(|call| is_overdue(call.since)))
            .map(|(id, _)| *id)
            .collect();
        for id in overdue {
            let Some(worker) = state.workers.remove(&id) else { continue };
            state.hanging += 1;
            state.counts.abandoned += 1;
            self.attempts.notify_all();
            let hung = HsmError::Hung { patience_ms: self.context.settings.patience_ms };
            if let Some(reply) = worker.busy.and_then(|call| call.reply) {
                state.counts.failed += 1;
                failed.push(reply, hung.clone());
            }
            if worker.epoch != state.epoch {
                continue;
            }
            if state.hanging > self.max_hanging() {
                let reason = HsmError::TooManyHung { threads: state.hanging };
                self.quarantine(state, reason, failed);
            } else if matches!(state.phase, DevicePhase::Ready(_)) {
                self.fill_workers(state, failed);
            } else {
                self.quarantine(state, hung, failed);
            }
        }
    }

    fn end_expired_quarantine(
        self: &Arc<Self>,
        state: &mut PoolState,
        now: Instant,
        failed: &mut FailedReplies,
    ) {
        if let DevicePhase::Quarantined { until, .. } = &state.phase
            && *until <= now
            && state.hanging <= self.max_hanging()
        {
            state.reconnect();
            self.start_connector(state, failed);
        }
    }

    /// Starts the thread that connects.
    pub(super) fn start_connector(self: &Arc<Self>, state: &mut PoolState, failed: &mut FailedReplies) {
        self.start_worker(state, WorkerStart::Connect { suspect: state.suspect.clone() }, failed);
    }

    /// Starts threads until there are as many as the device may have.
    pub(super) fn fill_workers(self: &Arc<Self>, state: &mut PoolState, failed: &mut FailedReplies) {
        while let DevicePhase::Ready(token) = &state.phase
            && state.current_workers() < state.max_workers
        {
            let token = Arc::clone(token);
            self.start_worker(state, WorkerStart::Open(token), failed);
        }
    }

    fn start_worker(self: &Arc<Self>, state: &mut PoolState, start: WorkerStart, failed: &mut FailedReplies) {
        let id = state.add_worker(Instant::now());
        self.wake_supervisor(state);
        // The worker is made in its thread: if there is none, its end would take the lock that is held here.
        let pool = Arc::clone(self);
        if let Err(error) = self.spawn(move || Worker::new(pool, id).run(start)) {
            state.workers.remove(&id);
            match state.current_workers() {
                0 => self.quarantine(state, error, failed),
                fewer => state.max_workers = fewer,
            }
        }
    }

    /// Begins a quarantine: everything that is queued fails.
    pub(super) fn quarantine(&self, state: &mut PoolState, reason: HsmError, failed: &mut FailedReplies) {
        let error = HsmError::Quarantined { reason: reason.to_string() };
        state.counts.failed += state.queue.len() as u64;
        failed.drain(&mut state.queue, &error);
        // A failed probe is no news.
        if !matches!(&state.phase, DevicePhase::Connecting) || state.failed_attempts == 0 {
            failed.note_change(Some(reason.clone()));
        }
        state.quarantine(Instant::now(), reason);
        // Threads that wait for tasks leave, callers that wait for the attempt learn its end, and the supervisor has
        // another deadline.
        self.tasks.notify_all();
        self.attempts.notify_all();
        self.watch.notify_one();
    }

    /// Wakes the supervisor if it would sleep beyond the deadline of a call that begins now. It seldom does, because
    /// all calls have the same patience.
    pub(super) fn wake_supervisor(&self, state: &PoolState) {
        let is_late = match state.supervisor {
            SupervisorState::Awake => false,
            SupervisorState::Idle => true,
            SupervisorState::SleepsUntil(end) => Instant::now() + self.context.settings.patience() < end,
        };
        if is_late {
            self.watch.notify_one();
        }
    }
}
