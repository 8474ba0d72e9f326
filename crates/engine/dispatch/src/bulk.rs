//! Bulk work: the caller's thread cuts full batches, without a queue.

use oarlock_core::{JobError, Jobs, Operation, OperationSet, Outcomes, Records, Shape, Status};

use crate::blueprint::{REFEREE, unsupported};
use crate::check::CheckedRun;
use crate::flight::{RunReport, RunningEngine};
use crate::metrics::count;
use crate::results::Results;
use crate::state::DispatchState;

/// Bulk work on a caller's thread.
pub(crate) struct BulkRun<'a>(pub(crate) &'a DispatchState);

impl BulkRun<'_> {
    /// Computes a set on this thread, in full batches. A faulty engine is quarantined and the batch runs on the next
    /// one.
    pub(crate) fn run_all(&self, set: &OperationSet) -> Results {
        let operations: Vec<Operation<'_>> = set.iter().collect();
        count(&self.0.metrics.bulk, operations.len());
        self.run_operations(set.shape(), &operations, set.input_bytes() / operations.len().max(1))
    }

    /// Does the same with operations of one shape, each of about `bytes_per_op` bytes of input.
    pub(crate) fn run_operations(
        &self,
        shape: Shape,
        operations: &[Operation<'_>],
        bytes_per_op: usize,
    ) -> Results {
        let all = || Outcomes::for_operations(shape, operations.len());
        let mut outcomes = None;
        let mut errors = Vec::new();
        let mut at = 0;
        let mut last_fault = None;
        while at < operations.len() {
            let Some((engine, ops)) = self.bulk_unit(shape, operations.len() - at, bytes_per_op) else {
                let error = last_fault
                    .map_or_else(|| unsupported(shape), |reason| JobError::EngineFailed { shape, reason });
                count(&self.0.metrics.failed, operations.len() - at);
                errors.extend((at..operations.len()).map(|index| (index as u32, error.clone())));
                break;
            };
            let chunk = &operations[at..at + ops];
            match self.run_chunk(engine, &Jobs::Operations(shape, chunk), ops * bytes_per_op) {
                Ok(whole) if ops == operations.len() => outcomes = Some(whole),
                Ok(chunk) => outcomes.get_or_insert_with(all).copy_results(at, &chunk, 0, ops),
                // The engine is in quarantine now, so the next plan of this chunk uses another one.
                Err(reason) if engine != REFEREE => {
                    last_fault = Some(reason);
                    continue;
                }
                Err(reason) => {
                    let outcomes = outcomes.get_or_insert_with(all);
                    self.run_one_by_one(shape, chunk, at, outcomes, &mut errors, &reason);
                }
            }
            at += ops;
        }
        Results::complete(shape, outcomes.unwrap_or_else(all), errors)
    }

    /// Computes records on this thread.
    pub(crate) fn run_records(
        &self,
        shape: Shape,
        records: &Records<'_>,
        outcomes: &mut Outcomes,
    ) -> Result<(), JobError> {
        let parts = [records];
        let bytes = records.input_bytes();
        let bytes_per_op = bytes / records.len.max(1);
        loop {
            let unit = self.bulk_unit(shape, records.len, bytes_per_op);
            let (engine, _) = unit.ok_or_else(|| unsupported(shape))?;
            match self.run_chunk_into(engine, &Jobs::Records(shape, &parts), bytes, outcomes) {
                Ok(()) => {
                    count(&self.0.metrics.bulk, records.len);
                    return Ok(());
                }
                // As above: the next plan uses another engine. Records are not cut, since their columns are one buffer.
                Err(_) if engine != REFEREE => {}
                Err(reason) => return Err(JobError::EngineFailed { shape, reason }),
            }
        }
    }

    fn bulk_unit(&self, shape: Shape, ops: usize, bytes_per_op: usize) -> Option<(usize, usize)> {
        let (state, queue) = self.0.queues.lock_for(shape, ops);
        let (choice, ops) = state.scheduler.bulk_plan(queue?, ops, bytes_per_op)?;
        Some((choice.engine, ops))
    }

    fn run_chunk(&self, engine: usize, jobs: &Jobs<'_>, bytes: usize) -> Result<Outcomes, String> {
        let mut outcomes = Outcomes::default();
        self.run_chunk_into(engine, jobs, bytes, &mut outcomes)?;
        Ok(outcomes)
    }

    fn run_chunk_into(
        &self,
        engine: usize,
        jobs: &Jobs<'_>,
        bytes: usize,
        outcomes: &mut Outcomes,
    ) -> Result<(), String> {
        // No watchdog looks at it: a hang blocks the caller, who would wait here in any case.
        let running_engine = RunningEngine::new(engine);
        match CheckedRun::new(self.0, &running_engine).compute_into(engine, jobs, outcomes) {
            Ok(took_ns) => {
                // A cancelled operation took less than the model should learn.
                if !outcomes.has_status(Status::Cancelled) {
                    let (shape, ops) = (jobs.shape(), jobs.len());
                    self.0.queues.observe(RunReport { engine, shape, ops, bytes, took_ns });
                }
                count(&self.0.metrics.completed, jobs.len());
                Ok(())
            }
            Err(fault) => {
                self.0.quarantine(engine, None, &fault.to_string());
                count(&self.0.metrics.rerun, jobs.len());
                Err(fault.to_string())
            }
        }
    }

    /// Runs the jobs of a chunk one by one after the referee failed at the whole chunk, so that a bad job fails
    /// alone.
    fn run_one_by_one(
        &self,
        shape: Shape,
        chunk: &[Operation<'_>],
        first: usize,
        outcomes: &mut Outcomes,
        errors: &mut Vec<(u32, JobError)>,
        reason: &str,
    ) {
        for (index, operation) in chunk.iter().enumerate() {
            let single = std::slice::from_ref(operation);
            let result = if chunk.len() == 1 {
                Err(reason.to_owned())
            } else {
                self.run_chunk(REFEREE, &Jobs::Operations(shape, single), operation.input.len())
            };
            match result {
                Ok(single) => outcomes.copy_results(first + index, &single, 0, 1),
                Err(reason) => {
                    count(&self.0.metrics.failed, 1);
                    errors.push(((first + index) as u32, JobError::EngineFailed { shape, reason }));
                }
            }
        }
    }
}
