//! A thread with a session.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use oarlock::engine_api::OwnedJob;

use super::state::{BusyCall, DevicePhase, PoolState};
use super::{DevicePool, FailedReplies};
use crate::HsmError;
use crate::fault::CallFault;
use crate::operation::perform;
use crate::session::HsmSession;
use crate::task::{Reply, Task};
use crate::token::TokenConnection;

/// The maximum number of repairs of a session for one task.
const MAX_REPAIRS: usize = 3;

/// The maximum number of connections on which a task may fail because the token is lost.
const MAX_LOSSES: u8 = 2;

/// A thread of a device. It removes itself when it ends, after a panic too.
#[derive(Debug)]
pub(super) struct Worker {
    pool: Arc<DevicePool>,
    id: u64,
}

/// The first call of a thread.
#[derive(Debug)]
pub(super) enum WorkerStart {
    /// Finds the token and opens the first session.
    Connect {
        /// The signature that was wrong before. It must be right now.
        suspect: Option<OwnedJob>,
    },
    /// Opens another session of the token.
    Open(Arc<TokenConnection>),
}

impl Worker {
    pub(super) fn new(pool: Arc<DevicePool>, id: u64) -> Self {
        Self { pool, id }
    }

    pub(super) fn run(self, start: WorkerStart) {
        let Some(mut session) = self.open(start) else { return };
        while let Some(task) = self.next_task() {
            if !self.perform_task(&mut session, task) {
                break;
            }
        }
        // Closing a session is a call too, and may hang.
        self.begin(None);
        drop(session);
    }

    fn open(&self, start: WorkerStart) -> Option<HsmSession> {
        match start {
            WorkerStart::Connect { suspect } => {
                let connected = guarded(|| self.connect(suspect));
                self.end_connect(connected)
            }
            WorkerStart::Open(token) => {
                let context = Arc::clone(&self.pool.context);
                match guarded(|| HsmSession::open(context, token)) {
                    Ok(session) => Some(session),
                    Err(fault) => {
                        self.fail_open(fault);
                        None
                    }
                }
            }
        }
    }

    fn connect(&self, suspect: Option<OwnedJob>) -> Result<HsmSession, CallFault> {
        let context = Arc::clone(&self.pool.context);
        let token = Arc::new(TokenConnection::open(&context.settings)?);
        // Each step may take as long as a call, but a thread that was abandoned stops here.
        if !self.begin(None) {
            return Err(HsmError::Closed.into());
        }
        let mut session = HsmSession::open(context, token)?;
        if let Some(job) = suspect
            && self.begin(None)
        {
            match perform(&mut session, &job) {
                Ok(_) => {}
                // The key may have been removed since, which says nothing about the module.
                Err(CallFault::Final(error)) if !matches!(error, HsmError::Failed { .. }) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(session)
    }

    fn end_connect(&self, connected: Result<HsmSession, CallFault>) -> Option<HsmSession> {
        let mut failed = FailedReplies::default();
        let mut state = self.pool.lock();
        if !self.is_current(&state) {
            return None;
        }
        let session = match connected {
            Ok(session) => {
                state.connected(Arc::clone(&session.token), self.pool.context.settings.sessions);
                failed.note_change(None);
                self.pool.fill_workers(&mut state, &mut failed);
                self.pool.attempts.notify_all();
                Some(session)
            }
            Err(fault) => {
                let reason = self.device_error(fault);
                self.pool.quarantine(&mut state, reason, &mut failed);
                None
            }
        };
        drop(state);
        failed.answer(&self.pool.context.name);
        session
    }

    /// Handles a session that cannot be opened beside others.
    fn fail_open(&self, fault: CallFault) {
        let mut failed = FailedReplies::default();
        let mut state = self.pool.lock();
        if !self.is_current(&state) {
            return;
        }
        state.retire(self.id);
        let others = state.current_workers();
        let reason = self.device_error(fault);
        if others == 0 || is_login_error(&reason) {
            self.pool.quarantine(&mut state, reason, &mut failed);
        } else {
            // Fewer sessions than the settings allow. Those that are open take the tasks.
            state.max_workers = others;
        }
        drop(state);
        failed.answer(&self.pool.context.name);
    }

    /// Waits for a task. Returns `None` if this thread has to end.
    fn next_task(&self) -> Option<Task> {
        let mut state = self.pool.lock();
        loop {
            if self.pool.is_closed() || !self.is_current(&state) {
                return None;
            }
            if let Some(task) = state.queue.pop_front() {
                let busy = Some(BusyCall { since: Instant::now(), reply: Some(task.reply()) });
                state.workers.get_mut(&self.id)?.busy = busy;
                self.pool.wake_supervisor(&state);
                return Some(task);
            }
            state.workers.get_mut(&self.id)?.busy = None;
            state = self.pool.tasks.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Performs a task, and repairs the session where that helps. Returns false if this thread has to end.
    fn perform_task(&self, session: &mut HsmSession, mut task: Task) -> bool {
        let mut lost = None;
        for _ in 0..=MAX_REPAIRS {
            // A repair and the call behind it get the whole patience again.
            if !self.begin(Some(task.reply())) {
                return false;
            }
            let attempt = guarded(|| {
                if let Some(fault) = lost.take() {
                    session.repair(fault)?;
                    self.pool.lock().counts.repaired += 1;
                }
                task.run(session)
            });
            match attempt {
                Ok(()) => return self.end_task(|state, _| state.trust()),
                Err(fault @ (CallFault::LoginLost | CallFault::SessionLost | CallFault::ObjectLost)) => {
                    lost = Some(fault);
                }
                Err(fault) => return self.fail_task(task, fault),
            }
        }
        let code = format!("the session is still lost after {MAX_REPAIRS} repairs");
        self.fail_task(task, HsmError::Failed { code }.into())
    }

    /// Fails a task, or gives it to another thread. Returns false if this thread has to end.
    fn fail_task(&self, task: Task, fault: CallFault) -> bool {
        self.end_task(|state, failed| {
            let is_current = self.is_current(state);
            let is_repeated = match fault {
                CallFault::TokenLost(_) => task.losses + 1 < MAX_LOSSES,
                CallFault::SessionLimit => !is_current || state.current_workers() > 1,
                _ => false,
            };
            // A device in quarantine has no threads that would repeat it.
            if is_repeated && !matches!(state.phase, DevicePhase::Quarantined { .. }) {
                return self.repeat_task(state, task, &fault, failed);
            }
            let is_lost = matches!(fault, CallFault::TokenLost(_) | CallFault::SessionLimit);
            let is_distrusted = matches!(fault, CallFault::Wrong(_)) && state.distrust(task.signature_job());
            let error = self.device_error(fault);
            state.counts.failed += 1;
            failed.push(task.reply(), error.clone());
            if is_current && (is_lost || is_distrusted || is_login_error(&error)) {
                self.pool.quarantine(state, error, failed);
            }
        })
    }

    /// Gives a task back, because this thread has lost its token or its session.
    fn repeat_task(
        &self,
        state: &mut PoolState,
        mut task: Task,
        fault: &CallFault,
        failed: &mut FailedReplies,
    ) {
        let is_token_lost = matches!(fault, CallFault::TokenLost(_));
        task.losses += u8::from(is_token_lost);
        // In front, because it is the oldest.
        state.queue.push_front(task);
        self.pool.tasks.notify_one();
        // Another thread may have noticed the loss before.
        if !self.is_current(state) {
            return;
        }
        if is_token_lost {
            state.reconnect();
            self.pool.tasks.notify_all();
            self.pool.start_connector(state, failed);
        } else {
            state.retire(self.id);
            state.max_workers = state.current_workers();
        }
    }

    /// Changes the state after a task, if this thread still owes its answer. Returns false if this thread has to end.
    fn end_task(&self, change: impl FnOnce(&mut PoolState, &mut FailedReplies)) -> bool {
        let mut failed = FailedReplies::default();
        let mut state = self.pool.lock();
        let Some(worker) = state.workers.get_mut(&self.id) else { return false };
        worker.busy = None;
        change(&mut state, &mut failed);
        let goes_on = self.is_current(&state);
        drop(state);
        failed.answer(&self.pool.context.name);
        goes_on
    }

    /// Notes that this thread enters the module. Returns false if it was abandoned.
    fn begin(&self, reply: Option<Reply>) -> bool {
        let mut state = self.pool.lock();
        let Some(worker) = state.workers.get_mut(&self.id) else { return false };
        worker.busy = Some(BusyCall { since: Instant::now(), reply });
        self.pool.wake_supervisor(&state);
        true
    }

    /// True if this thread belongs to the connection of now.
    fn is_current(&self, state: &PoolState) -> bool {
        let is_alive = state.workers.get(&self.id).is_some_and(|worker| worker.epoch == state.epoch);
        is_alive && !matches!(state.phase, DevicePhase::Quarantined { .. })
    }

    fn device_error(&self, fault: CallFault) -> HsmError {
        let token = self.pool.context.settings.token_name();
        match fault {
            CallFault::Final(error) => error,
            CallFault::Wrong(what) => HsmError::Wrong { what },
            CallFault::TokenLost(code) => HsmError::Removed { token, code },
            CallFault::SessionLimit => HsmError::SessionLimit { token },
            CallFault::LoginLost => HsmError::Failed { code: "it loses the login".to_owned() },
            CallFault::SessionLost => HsmError::Failed { code: "it loses the session".to_owned() },
            CallFault::ObjectLost => HsmError::Failed { code: "it loses the object".to_owned() },
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut failed = FailedReplies::default();
        let mut state = self.pool.lock();
        match state.workers.remove(&self.id) {
            // Its call has returned at last.
            None => {
                state.hanging = state.hanging.saturating_sub(1);
                self.pool.watch.notify_one();
            }
            Some(worker) => {
                if let Some(reply) = worker.busy.and_then(|call| call.reply) {
                    failed.push(reply, HsmError::Closed);
                }
            }
        }
        drop(state);
        self.pool.attempts.notify_all();
        failed.answer(&self.pool.context.name);
    }
}

/// True for errors of the login, which every other task would get too.
fn is_login_error(error: &HsmError) -> bool {
    matches!(
        error,
        HsmError::PinFile { .. }
            | HsmError::NoPin { .. }
            | HsmError::WrongPin { .. }
            | HsmError::PinLocked { .. }
            | HsmError::PinFinalTry { .. }
            | HsmError::PinUnset { .. }
            | HsmError::PinExpired { .. }
    )
}

/// Runs a call. A panic is the fault of the module: the client library panics at lengths and counts that are lies.
fn guarded<T>(call: impl FnOnce() -> Result<T, CallFault>) -> Result<T, CallFault> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(CallFault::Wrong("it gave impossible lengths or counts".to_owned())))
}
