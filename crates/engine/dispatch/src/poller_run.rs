//! A job that waits alone, computed by the thread that polls for it.
//!
//! A worker would have to be woken, and would have to wake the waiting task: two changes of threads for one job. So a
//! task that has let all other ready tasks submit first looks at the queues again, and computes its own job if that is
//! still all there is. It does so as a worker would: the watchdog looks at the batch, and gives the job to a worker if
//! the engine hangs.

use std::sync::Arc;

use crate::batch_run::run_and_answer;
use crate::flight::{BatchFlight, WorkerReport};
use crate::metrics::count;
use crate::scheduler::Decision;
use crate::state::DispatchState;
use crate::submission::{Payload, Submission};
use crate::worker::run_other;

/// Computes a queued submission on this thread if nothing else runs or waits, and if it is cheap. Returns false if a
/// worker must be woken for it.
pub(crate) fn run_single_on_poller(dispatch: &Arc<DispatchState>, submission: &Submission) -> bool {
    let Payload::Operations(set) = &submission.payload else { return false };
    let (ops, bytes) = (submission.len(), submission.bytes());
    let Some(decision) = dispatch.queues.take_lone(set.shape(), ops, bytes) else { return false };
    let report = match decision {
        Decision::Run(plan) => {
            let hang_after_ns = dispatch.config().hang_after.as_nanos() as f64;
            let flight = BatchFlight::new(plan, dispatch.clock.now(), hang_after_ns);
            let _watched = dispatch.threads.watch_caller(&flight);
            count(&dispatch.metrics.on_caller, flight.ops);
            let report = run_and_answer(dispatch, &flight);
            // The watchdog has counted an abandoned batch out of flight.
            if flight.is_abandoned() {
                return true;
            }
            report
        }
        other => {
            run_other(dispatch, other);
            WorkerReport::Unmeasured
        }
    };
    dispatch.queues.end_caller_step(report);
    true
}
