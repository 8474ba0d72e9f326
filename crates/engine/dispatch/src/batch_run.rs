//! The run of a batch in flight: build its jobs, run them on an engine, check the results, and answer.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oarlock_core::{Jobs, Operation, Outcomes, Records};

use crate::check::CheckedRun;
use crate::flight::{BatchFlight, WorkerReport};
use crate::state::DispatchState;
use crate::submission::Payload;

/// Runs, checks and answers a batch. Afterwards the batch is claimed or abandoned, even if something in it panicked.
pub(crate) fn run_and_answer(dispatch: &DispatchState, flight: &BatchFlight) -> WorkerReport {
    let run = BatchRun { dispatch, flight };
    let took_ns = catch_unwind(AssertUnwindSafe(|| run.run_payload())).unwrap_or_else(|_| {
        run.handle_panic();
        None
    });
    took_ns.map_or(WorkerReport::Unmeasured, |took_ns| WorkerReport::Measured(flight.report(took_ns)))
}

/// A batch on its worker's thread. The steps return the engine's own time in nanoseconds, or None if the batch runs
/// again or was abandoned.
#[derive(Clone, Copy)]
struct BatchRun<'a> {
    dispatch: &'a DispatchState,
    flight: &'a BatchFlight,
}

impl BatchRun<'_> {
    /// Handles a panic: the unanswered items run again, or fail if answers had begun to go out.
    fn handle_panic(self) {
        let (dispatch, flight) = (self.dispatch, self.flight);
        let reason =
            format!("{} gave results that cannot be read", dispatch.engine(flight.first_engine).name());
        dispatch.quarantine(flight.first_engine, None, &reason);
        if flight.claim_answers() {
            dispatch.run_again(flight.shape, &flight.items, &reason);
        } else if !flight.is_abandoned() {
            // This thread had claimed the batch before the panic, so nobody else will answer the rest.
            dispatch.fail(flight.shape, flight.unanswered(), &reason);
        }
    }

    fn run_payload(self) -> Option<f64> {
        // A queue holds operations or records, never both, because its shape decides.
        let is_records = matches!(self.flight.items.first()?.owner.payload, Payload::Records(..));
        if is_records { self.run_record_batch() } else { self.run_operations() }
    }

    fn run_operations(self) -> Option<f64> {
        let BatchRun { dispatch, flight } = self;
        let mut operations: Vec<Operation<'_>> = Vec::with_capacity(flight.ops);
        for item in &flight.items {
            if let Payload::Operations(set) = &item.owner.payload {
                operations
                    .extend((item.first..item.first + item.count).filter_map(|at| set.get(at as usize)));
            }
        }
        let (outcomes, took_ns) = self.run(&Jobs::Operations(flight.shape, &operations))?;
        let mut from = 0;
        for item in &flight.items {
            item.owner.add_engine_time(took_ns * f64::from(item.count) / flight.ops.max(1) as f64);
            item.owner.answer(item.first, item.count, &outcomes, from, &dispatch.metrics.completed);
            from += item.count as usize;
            flight.note_answered();
        }
        Some(took_ns)
    }

    fn run_record_batch(self) -> Option<f64> {
        let BatchRun { dispatch, flight } = self;
        let records: Vec<&Records<'_>> = flight
            .items
            .iter()
            .filter_map(|item| match &item.owner.payload {
                Payload::Records(_, records) => Some(&**records),
                _ => None,
            })
            .collect();
        let (mut outcomes, took_ns) = self.run(&Jobs::Records(flight.shape, &records))?;
        for (part, item) in flight.items.iter().enumerate() {
            item.owner.answer_all(outcomes.take_part(part), &dispatch.metrics.completed);
            flight.note_answered();
        }
        Some(took_ns)
    }

    /// Computes outcomes that may be released.
    fn run(self, jobs: &Jobs<'_>) -> Option<(Outcomes, f64)> {
        let BatchRun { dispatch, flight } = self;
        match CheckedRun::new(dispatch, &flight.running_engine).compute(flight.first_engine, jobs) {
            Ok((outcomes, took_ns)) => {
                if !flight.claim_answers() {
                    return None;
                }
                // Recorded before the answers: a caller that is woken finds its own jobs in the histograms.
                dispatch.recorders.record_answers(
                    flight.shape,
                    &flight.items,
                    flight.began,
                    dispatch.clock.now(),
                );
                Some((outcomes, took_ns))
            }
            Err(fault) => {
                // If the watchdog was faster, it has put the items back into their queue already.
                if flight.claim_answers() {
                    dispatch.quarantine(flight.first_engine, None, &fault.to_string());
                    dispatch.run_again(flight.shape, &flight.items, &fault.to_string());
                }
                None
            }
        }
    }
}
