//! The threads of a device, its queue, calls that hang, and quarantine.
//!
//! A connector connects: it finds the token, opens the first session and logs in. Then the other threads open theirs,
//! and all take tasks. When the token is lost, the epoch ends: all threads leave, and a new connector starts. The
//! supervisor never calls the module, so nothing that the module does can stop it.

mod state;
mod supervisor;
mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use oarlock::Accelerator;
use oarlock::JobError;
use oarlock::process::ProcessMark;
use tracing::{info, warn};

use self::state::{DevicePhase, PoolState};
use crate::HsmError;
use crate::report::{HsmReport, HsmState};
use crate::session::DeviceContext;
use crate::settings::HsmSettings;
use crate::task::{Reply, Task};
use crate::token::LoginRecord;

/// The maximum number of queued tasks. More than a device computes in a minute only cost memory.
const MAX_QUEUED: usize = 1 << 16;

/// The maximum time for which a device that is closed waits for its threads.
const MAX_CLOSE_WAIT: Duration = Duration::from_secs(2);

/// The threads of a device and their queue.
#[derive(Debug)]
pub(crate) struct DevicePool {
    context: Arc<DeviceContext>,
    /// The process of the threads. A forked child has none of them.
    process: ProcessMark,
    state: Mutex<PoolState>,
    /// Wakes threads that wait for tasks.
    tasks: Condvar,
    /// Wakes the supervisor.
    watch: Condvar,
    /// Wakes callers that wait for the end of a connection attempt.
    attempts: Condvar,
    is_closed: AtomicBool,
}

/// The effects for which the lock of the state is released first: errors for replies, whose callbacks are the caller's
/// code, and lines of the log.
#[derive(Debug, Default)]
#[must_use = "the replies must be answered"]
struct FailedReplies {
    replies: Vec<(Reply, HsmError)>,
    /// The reasons of quarantines that began, and `None` for connections.
    changes: Vec<Option<HsmError>>,
}

impl DevicePool {
    /// Starts the supervisor, which starts everything else.
    pub(crate) fn start(
        name: String,
        settings: HsmSettings,
        checker: Accelerator,
    ) -> Result<Arc<Self>, HsmError> {
        let state = PoolState::new(settings.sessions);
        let context = Arc::new(DeviceContext { name, settings, logins: LoginRecord::default(), checker });
        let pool = Arc::new(Self {
            context,
            process: ProcessMark::counted(),
            state: Mutex::new(state),
            tasks: Condvar::new(),
            watch: Condvar::new(),
            attempts: Condvar::new(),
            is_closed: AtomicBool::new(false),
        });
        let supervised = Arc::clone(&pool);
        pool.spawn(move || supervised.supervise())?;
        Ok(pool)
    }

    pub(crate) fn name(&self) -> &str {
        &self.context.name
    }

    /// Queues tasks. If the device is not available, they fail at once.
    pub(crate) fn submit(&self, tasks: impl IntoIterator<Item = Task>) {
        let mut failed = FailedReplies::default();
        if !self.is_own_process() {
            tasks.into_iter().for_each(|task| failed.push(task.reply(), HsmError::Forked));
            return failed.answer(&self.context.name);
        }
        let mut state = self.lock();
        let mut queued = 0;
        for task in tasks {
            match self.refusal(&state) {
                Some(error) => failed.push(task.reply(), error),
                None => {
                    state.queue.push_back(task);
                    queued += 1;
                }
            }
        }
        state.counts.failed += failed.len() as u64;
        drop(state);
        match queued {
            0 => {}
            1 => self.tasks.notify_one(),
            _ => self.tasks.notify_all(),
        }
        failed.answer(&self.context.name);
    }

    /// Returns the reason why the device takes no task now.
    fn refusal(&self, state: &PoolState) -> Option<HsmError> {
        if self.is_closed() {
            return Some(HsmError::Closed);
        }
        if state.queue.len() >= MAX_QUEUED {
            return Some(JobError::Overloaded { queued: state.queue.len(), bound: MAX_QUEUED }.into());
        }
        match &state.phase {
            DevicePhase::Quarantined { reason, .. } => {
                Some(HsmError::Quarantined { reason: reason.to_string() })
            }
            DevicePhase::Connecting | DevicePhase::Ready(_) => None,
        }
    }

    /// Returns true if the device takes tasks: it is connected, or connects.
    pub(crate) fn is_available(&self) -> bool {
        !matches!(self.lock().phase, DevicePhase::Quarantined { .. })
    }

    /// Connects a device in quarantine, and waits for the end of the attempt. An attempt that began before and fails is
    /// followed by another one, because it may have met what was repaired since.
    pub(crate) fn end_quarantine(&self) -> Result<(), HsmError> {
        if !self.is_own_process() {
            return Err(HsmError::Forked);
        }
        let mut state = self.lock();
        if matches!(state.phase, DevicePhase::Connecting) {
            state = self.wait_for_attempt(state);
        }
        let is_blocked = state.hanging > self.max_hanging();
        if let DevicePhase::Quarantined { until, reason } = &mut state.phase {
            if is_blocked {
                return Err(reason.clone());
            }
            *until = Instant::now();
            self.watch.notify_one();
            state = self.wait_for_attempt(state);
        }
        match &state.phase {
            _ if self.is_closed() => Err(HsmError::Closed),
            DevicePhase::Quarantined { reason, .. } => Err(reason.clone()),
            DevicePhase::Connecting | DevicePhase::Ready(_) => Ok(()),
        }
    }

    fn wait_for_attempt<'p>(&'p self, mut state: MutexGuard<'p, PoolState>) -> MutexGuard<'p, PoolState> {
        let attempt = state.attempts;
        // With too many threads in the module there are no attempts.
        while state.attempts == attempt && state.hanging <= self.max_hanging() && !self.is_closed() {
            state = self.attempts.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    pub(crate) fn report(&self) -> HsmReport {
        let state = self.lock();
        let counts = &state.counts;
        HsmReport {
            state: match &state.phase {
                DevicePhase::Connecting => HsmState::Connecting,
                DevicePhase::Ready(_) => HsmState::Ready,
                DevicePhase::Quarantined { reason, .. } => {
                    HsmState::Quarantined { reason: reason.to_string() }
                }
            },
            mechanisms: state.mechanisms.clone(),
            sessions: state.workers.len(),
            queued: state.queue.len(),
            hanging: state.hanging,
            answered: counts.answered,
            failed: counts.failed,
            wrong: counts.wrong,
            abandoned: counts.abandoned,
            repaired: counts.repaired,
            connected: counts.connected,
            restarts: 0,
        }
    }

    /// Ends the threads, and waits for them for two seconds at most. Queued tasks fail, and threads in the module end
    /// when it returns. A second call does nothing.
    pub(crate) fn close(&self) {
        // In a forked child the lock may be held by a thread that does not exist.
        if !self.is_own_process() {
            return;
        }
        if self.is_closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut failed = FailedReplies::default();
        failed.drain(&mut self.lock().queue, &HsmError::Closed);
        self.tasks.notify_all();
        self.watch.notify_all();
        self.attempts.notify_all();
        failed.answer(&self.context.name);
        // A process that ends next destroys the module, and threads in it would crash.
        let deadline = Instant::now() + MAX_CLOSE_WAIT;
        let mut state = self.lock();
        while !state.workers.is_empty() || state.hanging > 0 {
            let wait = deadline.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return;
            }
            state = self.attempts.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    fn is_own_process(&self) -> bool {
        self.process == ProcessMark::counted()
    }

    /// The maximum number of threads that may hang in the module before the device is in quarantine until one returns.
    fn max_hanging(&self) -> usize {
        2 * self.context.settings.sessions
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self, run: impl FnOnce() + Send + 'static) -> Result<(), HsmError> {
        // The kernel cuts names of threads to 15 bytes.
        let thread = std::thread::Builder::new().name(format!("hsm-{}", self.context.name)).spawn(run);
        thread.map(drop).map_err(|error| HsmError::NoThread { reason: error.to_string() })
    }
}

impl FailedReplies {
    fn push(&mut self, reply: Reply, error: HsmError) {
        self.replies.push((reply, error));
    }

    fn drain(&mut self, queue: &mut std::collections::VecDeque<Task>, error: &HsmError) {
        self.replies.extend(queue.drain(..).map(|task| (task.reply(), error.clone())));
    }

    fn len(&self) -> usize {
        self.replies.len()
    }

    fn note_change(&mut self, quarantine: Option<HsmError>) {
        self.changes.push(quarantine);
    }

    fn is_none(&self) -> bool {
        self.replies.is_empty() && self.changes.is_empty()
    }

    fn answer(self, device: &str) {
        for change in self.changes {
            match change {
                Some(reason) => warn!(device, %reason, "the device is in quarantine"),
                None => info!(device, "connected to the device"),
            }
        }
        self.replies.into_iter().for_each(|(reply, error)| reply.fail(device, error));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// The lock of a forked child may be held by a thread that does not exist, so nothing may take it.
    #[test]
    fn a_forked_child_refuses_tasks_without_touching_the_lock() {
        let text = "module = '/m.so'\nslot = 1";
        let settings: HsmSettings = toml::from_str(text).unwrap();
        let checker = Accelerator::builder().lazy().threads(1).build().unwrap();
        let state = PoolState::new(1);
        let logins = LoginRecord::default();
        let pool = DevicePool {
            context: Arc::new(DeviceContext { name: "hsm".into(), settings, logins, checker }),
            process: ProcessMark::imaginary(1),
            state: Mutex::new(state),
            tasks: Condvar::new(),
            watch: Condvar::new(),
            attempts: Condvar::new(),
            is_closed: AtomicBool::new(false),
        };
        let held = pool.lock();
        let (sender, answers) = mpsc::channel();
        pool.submit([Task::of_call(|_| Ok(()), move |error| sender.send(error).unwrap())]);
        assert_eq!(answers.recv(), Ok(HsmError::Forked));
        assert_eq!(pool.end_quarantine(), Err(HsmError::Forked));
        pool.close();
        drop(held);
    }
}
