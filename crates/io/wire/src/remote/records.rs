//! Records under symmetric keys of the servers.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use oarlock::engine_api::{Holder, Jobs, RecordHolder};
use oarlock::{Column, JobError, KeyHome, KeySource, Outcomes, Records, Shape, Status};
use oarlock_keytable::{Batch, BatchTask};
use zeroize::{Zeroize, Zeroizing};

use super::rank::servers_by_rank;
use super::{RemoteHolder, RemoteInner};
use crate::fault::error_of;
use crate::proto::{self, Code, Fault};
use crate::records;

/// The maximum number of times that a server is asked. A dead stream is noticed only by asking.
const MAX_PASSES: usize = 2;

impl RecordHolder for RemoteHolder {
    fn name(&self) -> &str {
        Holder::name(self)
    }

    fn run_records(&self, shape: Shape, records: &Records<'_>) -> Result<Outcomes, JobError> {
        let keys = references(records)?;
        let batch = Batch::of(BatchTask::Do(shape), records.borrowed());
        let message = records::write(&batch, |index| index)
            .map_err(|_| JobError::Unsupported { wanted: format!("{shape} at a server") })?;
        let mut results = self.ask_for_records(keys, message)?;
        let outcomes = read_outcomes(shape, records, &results, &self.0.config.name);
        wipe_output(&mut results);
        outcomes
    }
}

impl RemoteHolder {
    /// Computes records of mixed tasks at a server, and blocks until it has answered. A key column of the batch names a
    /// key by the index of its name in `names`; the batch brings no keys of its own. Keys that no record names are not
    /// opened. Returns one status per record, and the output.
    ///
    /// # Errors
    /// No server answers, or a server refuses a key or an operation. A bad record has a status and is no error.
    pub fn run_batch(
        &self,
        names: &[Arc<str>],
        batch: &Batch<'_>,
    ) -> Result<(Vec<Status>, Zeroizing<Vec<u8>>), JobError> {
        let used = used_keys(&batch.records);
        let keys: Option<Vec<_>> = used.iter().map(|index| names.get(*index as usize).cloned()).collect();
        let keys = keys.ok_or(JobError::Malformed { what: "a key of the batch has no name" })?;
        // unreachable `None` because every index is among those that are used
        let handle = |index| used.iter().position(|own| *own == index).map_or(u32::MAX, |at| at as u32);
        let message = records::write(batch, handle)
            .map_err(|_| JobError::Unsupported { wanted: "this batch at a server".to_owned() })?;
        let mut results = self.ask_for_records(keys, message)?;
        let statuses = self.0.read_statuses(&batch.records, &results);
        let output = Zeroizing::new(results.output.to_vec());
        wipe_output(&mut results);
        Ok((statuses?, output))
    }

    /// Sends a message of records, and blocks until a server has answered.
    fn ask_for_records(
        &self,
        keys: Vec<Arc<str>>,
        message: proto::Records,
    ) -> Result<proto::RecordResults, JobError> {
        let failed = |reason: &str| self.0.failed(reason);
        let runtime = self.0.runtime.as_ref().ok_or_else(|| failed("the runtime has ended"))?;
        let (sender, answer) = sync_channel(1);
        let inner = Arc::clone(&self.0);
        runtime.spawn(async move {
            // An error means that the caller has gone.
            let _ = sender.send(inner.perform_records(&keys, &message).await);
        });
        answer.recv().map_err(|_| failed("the request was dropped"))?
    }
}

/// Erases the output, which may be plaintexts: no other copy stays in memory.
fn wipe_output(results: &mut proto::RecordResults) {
    if let Ok(mut output) = std::mem::take(&mut results.output).try_into_mut() {
        output.as_mut().zeroize();
    }
}

/// Returns the distinct indices in the key columns.
fn used_keys(records: &Records<'_>) -> Vec<u32> {
    let mut used = Vec::new();
    for column in [&records.key, &records.second_key] {
        // A column of one value is read once, and neighbouring records often have the same key.
        let len = if matches!(column, Column::One(_)) { 1 } else { records.len };
        for source in column.cursor().take(len) {
            if let KeySource::Table(index) = source
                && !used.contains(&index)
            {
                used.push(index);
            }
        }
    }
    used
}

impl RemoteInner {
    /// Asks servers until one answers.
    async fn perform_records(
        &self,
        keys: &[Arc<str>],
        message: &proto::Records,
    ) -> Result<proto::RecordResults, JobError> {
        let mut failure = self.failed("no server to ask");
        for pass in 0..MAX_PASSES {
            let servers = match pass {
                0 => self.servers.for_request(self.config.patience).await,
                // All of them may have been replaced.
                _ => self.servers.renewed(self.config.patience).await,
            };
            for server_index in servers_by_rank(&servers, &[], message.count as usize) {
                let server = &servers[server_index];
                match server.ask_records(keys, message, self.config.patience).await {
                    Ok(Ok(results)) => return Ok(results),
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

    /// Returns the statuses of a batch. A refusal that concerns the key or the operation is an error, with the server's
    /// reason.
    fn read_statuses(
        &self,
        records: &Records<'_>,
        results: &proto::RecordResults,
    ) -> Result<Vec<Status>, JobError> {
        if results.output.len() != records.output_len {
            return Err(self.failed("the output has another length than was asked for"));
        }
        let bad = |_| self.failed("not as many results as records");
        let codes = records::codes(results, records.len).map_err(bad)?;
        let faults = records::faults(results, records.len).map_err(bad)?;
        codes
            .enumerate()
            .map(|(index, code)| match code {
                Code::Done => Ok(Status::Done),
                Code::Rejected => Ok(Status::Rejected),
                Code::Invalid => Ok(Status::BadLength),
                Code::DependencyFailed => Ok(Status::DependencyFailed),
                code => {
                    let bare =
                        Fault { code: code.into(), message: code.as_str_name().into(), ..Fault::default() };
                    Err(error_of(faults(index).unwrap_or(&bare), &self.config.name))
                }
            })
            .collect()
    }

    fn failed(&self, reason: &str) -> JobError {
        JobError::HolderFailed { holder: self.config.name.clone(), reason: reason.to_owned() }
    }
}

/// Returns the servers' names of the keys.
fn references(records: &Records<'_>) -> Result<Vec<Arc<str>>, JobError> {
    let reference = |key: &oarlock::Key| match key.home() {
        KeyHome::Held { reference, .. } => Ok(Arc::clone(reference)),
        KeyHome::Local => Err(JobError::Malformed { what: "a key of these records is local" }),
    };
    records.keys.iter().map(reference).collect()
}

/// Brings results to the form of an engine's outcomes.
fn read_outcomes(
    shape: Shape,
    records: &Records<'_>,
    results: &proto::RecordResults,
    holder: &str,
) -> Result<Outcomes, JobError> {
    let failed =
        |reason: &str| JobError::HolderFailed { holder: holder.to_owned(), reason: reason.to_owned() };
    if results.output.len() != records.output_len {
        return Err(failed("the output has another length than was asked for"));
    }
    let codes = records::codes(results, records.len).map_err(|_| failed("not as many results as records"))?;
    let mut outcomes = Outcomes::for_jobs(&Jobs::Records(shape, &[records]));
    let part = outcomes.part_mut(0);
    for (status, code) in part.statuses.iter_mut().zip(codes) {
        *status = match code {
            Code::Done => Status::Done,
            Code::Rejected => Status::Rejected,
            Code::Invalid => Status::BadLength,
            Code::WrongKey | Code::BadKey => Status::BadKey,
            // A grant or a policy speaks about the key and the operation, which all records share.
            code => {
                let bare =
                    Fault { code: code.into(), message: code.as_str_name().into(), ..Fault::default() };
                return Err(error_of(results.faults.first().unwrap_or(&bare), holder));
            }
        };
    }
    part.output.copy_from_slice(&results.output);
    Ok(outcomes)
}
