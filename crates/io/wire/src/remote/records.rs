//! Records under symmetric keys of the servers.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use oarlock::engine_api::{Batch, HeldOutcomes};
use oarlock::{JobError, Key, KeyHome, KeySource, Outcomes, Records};
use zeroize::Zeroize;

use super::RemoteInner;
use super::server::RecordsAnswer;
use crate::fault::{error_of, status_of_code};
use crate::proto::{self, Code, Fault};
use crate::records;

/// The maximum number of times that a server is asked. A dead stream is noticed only by asking.
const MAX_PASSES: usize = 2;

impl RemoteInner {
    /// Computes a batch at a server, and blocks until a server has answered.
    pub(super) fn run_batch(self: &Arc<Self>, batch: &Batch<'_>) -> Result<HeldOutcomes, JobError> {
        let keys = references(&batch.records)?;
        let message = records::write(batch, |index| index)
            .map_err(|_| JobError::Unsupported { wanted: "this batch at a server".to_owned() })?;
        let mut answer = self.ask_for_records(keys, message)?;
        let outcomes = self.read_outcomes(&batch.records, &answer);
        wipe_output(&mut answer.results);
        outcomes
    }

    /// Sends a message of records, and blocks until a server has answered.
    fn ask_for_records(
        self: &Arc<Self>,
        keys: Vec<Arc<str>>,
        message: proto::Records,
    ) -> Result<RecordsAnswer, JobError> {
        let runtime = self.runtime.as_ref().ok_or_else(|| self.failure("the runtime has ended"))?;
        let (sender, answer) = sync_channel(1);
        let inner = Arc::clone(self);
        runtime.spawn(async move {
            // An error means that the caller has gone.
            let _ = sender.send(inner.perform_records(&keys, &message).await);
        });
        answer.recv().map_err(|_| self.failure("the request was dropped"))?
    }

    /// Asks servers until one answers.
    async fn perform_records(
        &self,
        keys: &[Arc<str>],
        message: &proto::Records,
    ) -> Result<RecordsAnswer, JobError> {
        let mut failure = self.failure("no server to ask");
        for pass in 0..MAX_PASSES {
            let servers = match pass {
                0 => self.servers.for_request(self.config.patience).await,
                // All of them may have been replaced.
                _ => self.servers.renewed(self.config.patience).await,
            };
            for server_index in self.ranked(&servers, &[], message.count as usize) {
                let server = &servers[server_index];
                match server.ask_records(keys, message, self.config.patience).await {
                    Ok(Ok(answer)) => return Ok(answer),
                    Ok(Err(fault)) => failure = error_of(&fault, server.address()),
                    Err(crate::LinkError::Refused(fault)) => failure = error_of(&fault, server.address()),
                    Err(error) => {
                        let (holder, reason) = (server.address().to_owned(), error.to_string());
                        failure = JobError::HolderFailed { holder, reason };
                    }
                }
                // Another server may have the key, but asking the same one again gives the same refusal.
                if servers.len() == 1 && matches!(failure, JobError::HolderRefused { .. }) {
                    return Err(failure);
                }
            }
        }
        Err(failure)
    }

    /// Brings results to the form of an engine's outcomes. A refusal that concerns the key or the operation has the
    /// server's reason.
    fn read_outcomes(&self, records: &Records<'_>, answer: &RecordsAnswer) -> Result<HeldOutcomes, JobError> {
        let results = &answer.results;
        if results.output.len() != records.output_len {
            return Err(self.failure("the output has another length than was asked for"));
        }
        let bad = |_| self.failure("not as many results as records");
        let codes = records::codes(results, records.len).map_err(bad)?;
        let faults = records::faults(results, records.len).map_err(bad)?;
        let mut held = HeldOutcomes { outcomes: Outcomes::default(), refusals: Vec::new() };
        held.outcomes.reset_mixed(records.len, records.output_len);
        let part = held.outcomes.part_mut(0);
        part.output.copy_from_slice(&results.output);
        for (index, (status, code)) in part.statuses.iter_mut().zip(codes).enumerate() {
            *status = status_of_code(code);
            if is_refusal(code) {
                let fault = answer.refused_key(records, index).or_else(|| faults(index));
                held.refusals.push((index as u32, self.refusal(code, fault, held.refusals.last())));
            }
        }
        Ok(held)
    }

    /// Returns the reason of a refusal. Neighbouring records are often refused for the same one.
    fn refusal(
        &self,
        code: Code,
        fault: Option<&Fault>,
        last: Option<&(u32, Arc<JobError>)>,
    ) -> Arc<JobError> {
        let error = match fault {
            Some(fault) => error_of(fault, &self.config.name),
            None => {
                let message = code.as_str_name().into();
                error_of(&Fault { code: code.into(), message, ..Fault::default() }, &self.config.name)
            }
        };
        match last {
            Some((_, last)) if **last == error => Arc::clone(last),
            _ => Arc::new(error),
        }
    }

    fn failure(&self, reason: &str) -> JobError {
        JobError::HolderFailed { holder: self.config.name.clone(), reason: reason.to_owned() }
    }
}

impl RecordsAnswer {
    /// Returns the fault of a key of a record that the server did not open.
    fn refused_key(&self, records: &Records<'_>, index: usize) -> Option<&Fault> {
        let fault = |source| match source {
            KeySource::Table(key) => self.refused_keys.get(key as usize)?.as_ref(),
            KeySource::Slot(_) => None,
        };
        if self.refused_keys.is_empty() {
            return None;
        }
        records.key.get(index).and_then(fault).or_else(|| records.second_key.get(index).and_then(fault))
    }
}

/// True if a code concerns the key or the operation, and not the values of the record.
fn is_refusal(code: Code) -> bool {
    !matches!(code, Code::Done | Code::Rejected | Code::Invalid | Code::DependencyFailed)
}

/// Erases the output, which may be plaintexts: no other copy stays in memory.
fn wipe_output(results: &mut proto::RecordResults) {
    if let Ok(mut output) = std::mem::take(&mut results.output).try_into_mut() {
        output.as_mut().zeroize();
    }
}

/// Returns the servers' names of the keys.
fn references(records: &Records<'_>) -> Result<Vec<Arc<str>>, JobError> {
    let reference = |key: &Key| match key.home() {
        KeyHome::Held { reference, .. } => Ok(Arc::clone(reference)),
        KeyHome::Local => Err(JobError::Malformed { what: "a key of these records is local" }),
    };
    records.keys.iter().map(reference).collect()
}
