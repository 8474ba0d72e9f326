//! The watchdog: deadlines, hung batches, probes of engines in quarantine.

use std::sync::Arc;
use std::time::Duration;

use oarlock_core::{EngineLocation, JobError};

use crate::flight::BatchFlight;
use crate::metrics::count;
use crate::state::DispatchState;
use crate::submission::SubmissionEnd;
use crate::threads::{WorkerKind, WorkerThread};
use crate::worker::start_worker;

/// The interval at which the watchdog looks at batches in flight. Batches do not wake it when they start, which would
/// cost each of them a system call. So a hang is found this much later at most.
const ROUND: Duration = Duration::from_millis(100);

/// The minimal sleep of the watchdog. It keeps a deadline in the past from making it spin.
const MIN_SLEEP: Duration = Duration::from_micros(50);

/// Starts workers and watchdog at the first queued job.
pub(crate) fn ensure_started(dispatch: &Arc<DispatchState>) -> Result<(), JobError> {
    if dispatch.threads.is_started() {
        return Ok(());
    }
    let engines = dispatch.blueprint.engines.iter().enumerate();
    let far = engines
        .filter(|(_, engine)| engine.location() == EngineLocation::Far)
        .map(|(index, _)| WorkerKind::Far(index));
    let kinds = std::iter::repeat_n(WorkerKind::Near, dispatch.config().threads).chain(far);
    let watched = Arc::clone(dispatch);
    dispatch.threads.ensure_started(
        kinds,
        |kind| start_worker(dispatch, kind),
        move || run_watchdog(&watched),
    )
}

/// Runs the watchdog until no worker is left.
fn run_watchdog(dispatch: &Arc<DispatchState>) {
    while !dispatch.threads.may_watchdog_end() {
        let now = dispatch.clock.now();
        for submission in dispatch.timers.expired(now) {
            dispatch.end_early(&submission, SubmissionEnd::Expired);
        }
        let flights = dispatch.threads.flights();
        for flight in flights.iter().filter(|flight| flight.hang_at <= now) {
            abandon_hung(dispatch, flight);
        }
        dispatch.threads.fill_vacant(|kind| start_unless_stopping(dispatch, kind));
        start_probes(dispatch);
        dispatch.timers.wait(dispatch.clock.now(), sleep_of(dispatch, &flights));
    }
}

/// Returns the time for which the watchdog may sleep if no new deadline is added.
fn sleep_of(dispatch: &DispatchState, flights: &[Arc<BatchFlight>]) -> Duration {
    let now = dispatch.clock.now();
    let hangs = flights.iter().map(|flight| flight.hang_at);
    let next = hangs.chain(dispatch.quarantine.next_probe()).min();
    let next = next.map_or(ROUND, |at| Duration::from_nanos(at.saturating_sub(now)));
    // A batch that starts during the sleep may hang `hang_after` later, so that time bounds the sleep too.
    next.clamp(MIN_SLEEP, ROUND.min(dispatch.config().hang_after.max(MIN_SLEEP)))
}

/// Abandons a hung batch. Its engine is quarantined, its jobs run on another engine, and its thread is left alone.
fn abandon_hung(dispatch: &Arc<DispatchState>, flight: &Arc<BatchFlight>) {
    if !flight.abandon() {
        return;
    }
    count(&dispatch.metrics.hangs, 1);
    let engine = flight.running_engine();
    let reason = format!("{} hung in {}", dispatch.engine(engine).name(), flight.shape);
    // Quarantine first: otherwise the jobs, which run again at once, could meet the same engine.
    dispatch.quarantine(engine, None, &reason);
    dispatch.threads.replace(flight, |kind| start_unless_stopping(dispatch, kind));
    dispatch.queues.end_batch(None);
    dispatch.run_again(flight.shape, &flight.items, &reason);
}

fn start_unless_stopping(dispatch: &Arc<DispatchState>, kind: WorkerKind) -> Option<WorkerThread> {
    if dispatch.queues.is_stopping() {
        return None;
    }
    start_worker(dispatch, kind).ok()
}

/// Starts the probes that are due. Each runs on its own thread because the engine may hang again.
fn start_probes(dispatch: &Arc<DispatchState>) {
    for entry in dispatch.quarantine.take_due(dispatch.clock.now()) {
        let (dispatcher, probed) = (Arc::clone(dispatch), entry.clone());
        if !dispatch.threads.start_probe(move || dispatcher.probe(&probed)) {
            dispatch.end_probe(&entry, false);
        }
    }
}
