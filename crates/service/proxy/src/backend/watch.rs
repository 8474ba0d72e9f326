//! The thread that checks endpoints and looks up names. It serves no connections, so a check can delay none.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::{Instant, sleep_until};
use tracing::error;

use super::group::Backend;
use super::history::BackendRegistry;
use super::host::{BackendHost, HostLookup, Lookup, SystemLookup};
use super::members::BackendMember;
use super::schedule::ScheduledRun;
use crate::config::CheckSettings;

/// The maximum number of checks at the same time. Further ones wait.
const MAX_CHECKS: usize = 256;

/// The maximum number of lookups at the same time. Each takes a thread of the system's resolver.
const MAX_LOOKUPS: usize = 64;

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
                    () = watch_backends(&registry, &SystemLookup) => error!("the checks of backends have ended"),
                }
            };
            LocalSet::new().block_on(&runtime, watching);
            // Without waiting for lookups that hang.
            runtime.shutdown_background();
        })?;
        Ok(Self { _stop: stop })
    }
}

/// Checks endpoints and looks up names when they are due, until the future is dropped.
async fn watch_backends(registry: &BackendRegistry, resolver: &dyn HostLookup) {
    let (mut checks, mut lookups) = (JoinSet::new(), JoinSet::new());
    loop {
        let backends = registry.current();
        backends.iter().for_each(|backend| backend.refresh_members());
        let now = Instant::now();
        let next = start_checks(&backends, now, &mut checks).min(start_lookups(
            &backends,
            now,
            resolver,
            &mut lookups,
        ));
        tokio::select! {
            () = sleep_until(next) => {}
            () = registry.replaced() => {}
            Some(_) = checks.join_next() => {}
            Some(_) = lookups.join_next() => {}
        }
    }
}

/// Starts the checks that are due. Returns the time of the next look.
fn start_checks(backends: &[Arc<Backend>], now: Instant, runs: &mut JoinSet<()>) -> Instant {
    let mut next = now + MAX_PAUSE;
    for backend in backends {
        let Some(check) = &backend.check else { continue };
        for member in &*backend.members() {
            match member.endpoint.checks.due_at(now) {
                // The end of a run leads to the next look.
                Some(_) if runs.len() >= MAX_CHECKS => return next,
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
    _run: ScheduledRun,
) {
    let result = backend.check_member(&member, &check).await;
    member.endpoint.note_check(result.as_ref().map(drop), &check);
}

/// Starts the lookups that are due. Returns the time of the next look.
fn start_lookups(
    backends: &[Arc<Backend>],
    now: Instant,
    resolver: &dyn HostLookup,
    runs: &mut JoinSet<()>,
) -> Instant {
    let mut next = now + MAX_PAUSE;
    for (backend, host) in
        backends.iter().flat_map(|backend| backend.hosts().map(move |host| (backend, host)))
    {
        match host.lookups.due_at(now) {
            Some(_) if runs.len() >= MAX_LOOKUPS => return next,
            Some(due) if due <= now => {
                let interval = backend.resolve_interval;
                let run = host.lookups.begin(now, interval);
                let lookup = resolver.look_up(&host.name, host.port);
                let label = backend.label().to_owned();
                runs.spawn_local(run_lookup(label, Arc::clone(host), lookup, interval, run));
            }
            Some(due) => next = next.min(due),
            None => {}
        }
    }
    next
}

async fn run_lookup(
    backend: String,
    host: Arc<BackendHost>,
    lookup: Lookup,
    interval: Duration,
    mut run: ScheduledRun,
) {
    let pause = host.note(&backend, lookup.await, interval);
    run.set_next(Instant::now() + pause);
}

#[cfg(test)]
mod tests;
