//! The thread that checks endpoints. It serves no connections, so a check can delay none.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep_until};
use tracing::error;

use super::group::{Backend, BackendMember};
use super::history::BackendRegistry;
use super::schedule::ScheduledRun;
use crate::config::CheckSettings;

/// The maximum number of checks at the same time. Further ones wait.
const MAX_RUNS: usize = 256;

/// The maximum time between two looks at the schedules.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The thread. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct BackendWatch {
    _stop: oneshot::Sender<()>,
}

impl BackendWatch {
    /// Starts the thread for the backends of a registry.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(registry: Arc<BackendRegistry>) -> io::Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("proxy-backends".to_owned()).spawn(move || {
            let watching = async {
                tokio::select! {
                    // An error says that the other side was dropped.
                    _ = stopped => {}
                    () = watch_backends(&registry) => error!("the checks of backends have ended"),
                }
            };
            LocalSet::new().block_on(&runtime, watching);
            // Without waiting for lookups that hang.
            runtime.shutdown_background();
        })?;
        Ok(Self { _stop: stop })
    }
}

/// Checks endpoints when they are due, until the future is dropped.
async fn watch_backends(registry: &BackendRegistry) {
    let mut runs = JoinSet::new();
    loop {
        let replaced = registry.replaced();
        let next = start_due_runs(&registry.current(), &mut runs);
        tokio::select! {
            () = sleep_until(next) => {}
            () = replaced => {}
            Some(_) = runs.join_next() => {}
        }
    }
}

/// Starts what is due. Returns the time of the next look.
fn start_due_runs(backends: &[Arc<Backend>], runs: &mut JoinSet<()>) -> Instant {
    let now = Instant::now();
    let mut next = now + MAX_PAUSE;
    for backend in backends {
        let Some(check) = &backend.check else { continue };
        for member in backend.members() {
            match member.endpoint.checks.due_at(now) {
                // The end of a run wakes the loop.
                Some(_) if runs.len() >= MAX_RUNS => return next,
                Some(due) if due <= now => {
                    let run = member.endpoint.checks.begin(now, check.interval());
                    runs.spawn_local(run_check(Arc::clone(backend), Arc::clone(member), check.clone(), run));
                }
                Some(due) => next = next.min(due),
                None => {}
            }
        }
    }
    next
}

async fn run_check(
    backend: Arc<Backend>,
    member: Arc<BackendMember>,
    check: CheckSettings,
    run: ScheduledRun,
) {
    let result = backend.check_member(&member, &check).await;
    member.endpoint.note_check(result.as_ref().map(drop), &check);
    drop(run);
}
