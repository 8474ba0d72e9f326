//! The loop of a worker: take the next step from the queues, do it, report its end.

use std::sync::Arc;

use crate::batch_run::run_and_answer;
use crate::blueprint::unsupported;
use crate::flight::{BatchFlight, WorkerReport};
use crate::held::start_held;
use crate::metrics::count;
use crate::scheduler::{BatchPlan, Decision};
use crate::state::DispatchState;
use crate::submission::Submission;
use crate::threads::{WorkerKind, WorkerSlot, WorkerThread};

/// Starts a worker.
pub(crate) fn start_worker(dispatch: &Arc<DispatchState>, kind: WorkerKind) -> std::io::Result<WorkerThread> {
    let name = match kind {
        WorkerKind::Near => "oarlock-worker".to_owned(),
        WorkerKind::Far(engine) => format!("oarlock-{}", dispatch.engine(engine).name()),
    };
    let dispatcher = Arc::clone(dispatch);
    dispatch.threads.spawn_worker(name, kind, move |slot| {
        lower_priority(dispatcher.config().nice);
        run_worker(&dispatcher, slot);
    })
}

/// Lowers the calling thread's priority for the rest of its life.
fn lower_priority(nice: u8) {
    #[cfg(target_os = "linux")]
    if nice > 0 {
        // Linux sets the priority of one thread here, contrary to POSIX: setpriority(2). Lowering one's own is always
        // allowed.
        let lowered = rustix::process::setpriority_process(None, i32::from(nice.min(19)));
        debug_assert!(lowered.is_ok(), "{lowered:?}");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}

/// Runs a worker until the dispatcher stops or its batch is abandoned.
fn run_worker(dispatch: &Arc<DispatchState>, slot: &WorkerSlot) {
    let mut report = WorkerReport::Started;
    while let Some(decision) = dispatch.queues.next(slot.kind, report) {
        report = match decision {
            Decision::Run(plan) => match run_batch(dispatch, slot, plan) {
                Some(report) => report,
                // The watchdog has counted the batch out of flight and has started another worker.
                None => return,
            },
            other => {
                run_other(dispatch, other);
                WorkerReport::Unmeasured
            }
        };
    }
}

/// Runs a batch. Returns None if it was abandoned meanwhile.
fn run_batch(
    dispatch: &DispatchState,
    slot: &WorkerSlot,
    plan: BatchPlan<Arc<Submission>>,
) -> Option<WorkerReport> {
    let hang_after_ns = dispatch.config().hang_after.as_nanos() as f64;
    let flight = BatchFlight::new(plan, dispatch.clock.now(), hang_after_ns);
    if slot.kind != WorkerKind::Near {
        count(&dispatch.metrics.far_batches, 1);
    }
    slot.set(Some(Arc::clone(&flight)));
    let report = run_and_answer(dispatch, &flight);
    // The batch stays in the slot: the watchdog finds the worker to replace by it.
    if flight.is_abandoned() {
        return None;
    }
    slot.set(None);
    if flight.items.len() > 1 {
        // The callers of these jobs were woken just now. If all cores are busy, they need this one to submit their next
        // jobs. Without them, the next batch would be a small one.
        std::thread::yield_now();
    }
    Some(report)
}

/// Does a step that needs no engine of this worker.
pub(crate) fn run_other(dispatch: &Arc<DispatchState>, decision: Decision<Arc<Submission>>) {
    match decision {
        Decision::Start { holder, items } => start_held(dispatch, holder, &items),
        Decision::Fail { shape, items } => {
            dispatch.fail(shape, &items, "every engine that offers it is in quarantine");
        }
        Decision::Refuse { shape, items } => dispatch.answer_errors(&items, &unsupported(shape)),
        Decision::Probe(request) => dispatch.queues.run_probe(&request),
        Decision::Run(_) | Decision::Idle => {}
    }
}
