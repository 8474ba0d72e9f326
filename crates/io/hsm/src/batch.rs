//! Batches of records at a device in this process: each record is a task.

use std::sync::mpsc;

use oarlock::JobError;
use oarlock::engine_api::HeldOutcomes;
use oarlock_keytable::Batch;

use crate::record::{HeldRecord, HeldResult, RecordFault, copied_at_once, read_batch, write_batch};
use crate::task::Task;
use crate::{Hsm, HsmError};

impl Hsm {
    /// Computes a batch and waits for it.
    pub(crate) fn compute(&self, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        let records = read_batch(batch)?;
        let good: Vec<&HeldRecord<'_>> = records.iter().flatten().collect();
        let mut results = self.run_records(&good).into_iter();
        let results = records.iter().map(|record| match record {
            Ok(_) => results.next().unwrap_or_else(|| Err(self.no_answer())),
            Err(fault) => Err(fault.clone()),
        });
        Ok(write_batch(batch, &records, results))
    }

    /// Computes records on all sessions, and waits for them. The results are in the order of the records.
    pub(crate) fn run_records(&self, records: &[&HeldRecord<'_>]) -> Vec<Result<HeldResult, RecordFault>> {
        let mut results = Vec::with_capacity(records.len());
        while results.len() < records.len() {
            let rest = &records[results.len()..];
            results.extend(self.run_copied(&rest[..copied_at_once(rest)]));
        }
        results
    }

    fn no_answer(&self) -> RecordFault {
        RecordFault::of_error(HsmError::Closed, self.holder_name())
    }

    fn run_copied(&self, records: &[&HeldRecord<'_>]) -> Vec<Result<HeldResult, RecordFault>> {
        let (sender, answers) = mpsc::channel();
        let mut ivs = Vec::with_capacity(records.len());
        let mut results = Vec::with_capacity(records.len());
        let tasks = records.iter().enumerate().filter_map(|(index, record)| {
            let call = match record.call(self.drawn_ivs()) {
                Ok((call, iv)) => {
                    ivs.push(iv);
                    results.push(Err(self.no_answer()));
                    call
                }
                Err(fault) => {
                    ivs.push(Vec::new());
                    results.push(Err(fault));
                    return None;
                }
            };
            let sender = sender.clone();
            // An error means that nobody waits any more.
            let answer = move |result| drop(sender.send((index, result)));
            Some(Task::answering(move |session| call.run(session), answer))
        });
        let tasks: Vec<Task> = tasks.collect();
        drop(sender);
        self.submit(tasks);
        // Each task is answered once, and then drops its sender.
        for (index, result) in answers {
            results[index] = match result {
                Ok(output) => Ok(HeldResult { iv: std::mem::take(&mut ivs[index]), output }),
                Err(error) => Err(RecordFault::of_error(error, self.holder_name())),
            };
        }
        results
    }
}
