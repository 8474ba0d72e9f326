//! Bulk owner: the caller's thread cuts full batches, without a queue.

use std::sync::atomic::AtomicUsize;

use oarlock_core::{JobError, Jobs, Operation, OperationSet, Outcomes, Records, Shape};

use crate::metrics::count;
use crate::results::Results;
use crate::state::{DispatchState, REFEREE, RunReport, unsupported};

impl DispatchState {
    /// Computes a set on this thread, in full batches. A faulty engine is quarantined and the batch runs on the next
    /// one.
    pub(crate) fn run_all(&self, set: &OperationSet) -> Results {
        let operations: Vec<Operation<'_>> = set.iter().collect();
        let shape = set.shape();
        let all = || Outcomes::for_operations(shape, operations.len());
        let mut outcomes = None;
        let mut errors = Vec::new();
        let bytes_per_op = set.input_bytes() / operations.len().max(1);
        let mut at = 0;
        let mut last_fault = None;
        while at < operations.len() {
            let Some((engine, ops)) = self.bulk_unit(shape, operations.len() - at, bytes_per_op) else {
                let error = last_fault
                    .map_or_else(|| unsupported(shape), |reason| JobError::EngineFailed { shape, reason });
                count(&self.metrics.failed, operations.len() - at);
                errors.extend((at..operations.len()).map(|index| (index as u32, error.clone())));
                break;
            };
            let chunk = &operations[at..at + ops];
            match self.run_chunk(engine, &Jobs::Operations(shape, chunk), ops * bytes_per_op) {
                Ok(whole) if ops == operations.len() => outcomes = Some(whole),
                Ok(chunk) => outcomes.get_or_insert_with(all).copy_results(at, &chunk, 0, ops),
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
        count(&self.metrics.bulk, at);
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
                    count(&self.metrics.bulk, records.len);
                    return Ok(());
                }
                Err(_) if engine != REFEREE => {}
                Err(reason) => return Err(JobError::EngineFailed { shape, reason }),
            }
        }
    }

    fn bulk_unit(&self, shape: Shape, ops: usize, bytes_per_op: usize) -> Option<(usize, usize)> {
        let (state, queue) = self.lock_for(shape, ops);
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
        let running_engine = AtomicUsize::new(engine);
        match self.compute_into(engine, jobs, &running_engine, outcomes) {
            Ok(took_ns) => {
                self.observe(RunReport { engine, shape: jobs.shape(), ops: jobs.len(), bytes, took_ns });
                count(&self.metrics.completed, jobs.len());
                Ok(())
            }
            Err(fault) => {
                self.quarantine(engine, None, &fault.to_string());
                count(&self.metrics.rerun, jobs.len());
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
                    count(&self.metrics.failed, 1);
                    errors.push(((first + index) as u32, JobError::EngineFailed { shape, reason }));
                }
            }
        }
    }
}
