//! Records under symmetric keys of the servers.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use oarlock::batch::{Batch, BatchTask};
use oarlock::engine_api::{Holder, Jobs, RecordHolder};
use oarlock::{JobError, KeyHome, Outcomes, Records, Shape, Status};
use zeroize::Zeroize;

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
        let failed = |reason: &str| self.0.failed(reason);
        let keys = references(records)?;
        let batch = Batch::of(BatchTask::Do(shape), records.clone());
        let message = records::write(&batch, |index| index)
            .map_err(|_| JobError::Unsupported { wanted: format!("{shape} at a server") })?;
        let runtime = self.0.runtime.as_ref().ok_or_else(|| failed("the runtime has ended"))?;
        let (sender, answer) = sync_channel(1);
        let inner = Arc::clone(&self.0);
        runtime.spawn(async move {
            // An error means that the caller has gone.
            let _ = sender.send(inner.perform_records(&keys, &message).await);
        });
        let mut results = answer.recv().map_err(|_| failed("the request was dropped"))??;
        let outcomes = read_outcomes(shape, records, &results, &self.0.config.name);
        // The output may be plaintexts: no other copy stays in memory.
        if let Ok(mut output) = std::mem::take(&mut results.output).try_into_mut() {
            output.as_mut().zeroize();
        }
        outcomes
    }
}

impl RemoteInner {
    /// Asks servers until one answers.
    async fn perform_records(
        &self,
        keys: &[Arc<str>],
        message: &proto::Records,
    ) -> Result<proto::RecordResults, JobError> {
        let mut failure = self.failed("no server to ask");
        for _ in 0..MAX_PASSES {
            for server_index in self.servers_by_rank(&[], message.count as usize) {
                let server = &self.servers[server_index];
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
                if self.servers.len() == 1 && matches!(failure, JobError::HolderRefused { .. }) {
                    return Err(failure);
                }
            }
        }
        Err(failure)
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
