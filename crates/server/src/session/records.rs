//! Short symmetric operations of a session.

mod judge;

use std::collections::HashMap;
use std::future::Future;
use std::iter;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use oarlock::batch::{Batch, BatchOutcome, RecordError, Task};
use oarlock::contract::{self, Column, KeySource};
use oarlock::table::KeyTable;
use oarlock_wire::proto::{self, Blame, Code, Fault, RecordResults, Response, response};
use oarlock_wire::{fault, records};
use tokio::sync::oneshot;

use self::judge::{Denials, has_key, judge};
use super::{Opened, OwnKeys, Pending, Session, refusal};
use crate::audit::{Entry, now_ms};
use crate::keyring::Keyring;
use crate::metrics::{Tally, time};
use crate::service::Service;

/// Records under way.
#[derive(Debug)]
pub(crate) struct PendingRecords {
    id: u64,
    answer: oneshot::Receiver<response::Body>,
}

/// Batches of at most so many bytes are computed on the thread that reads them: handing them over would take longer.
const AT_ONCE: usize = 4096;

impl Session {
    pub(super) fn start_records(&self, id: u64, message: proto::Records) -> Result<Pending, Fault> {
        let work = RecordWork {
            service: Arc::clone(&self.service),
            keyring: Arc::clone(&self.keyring),
            own_keys: Arc::clone(&self.own_keys),
            handles: Arc::clone(&self.handles),
            client: self.client.to_string(),
            message,
            began: Instant::now(),
        };
        if work.message.data.len() + work.message.output_len as usize <= AT_ONCE {
            return Ok(Pending::ready(id, work.run()));
        }
        let (sender, answer) = oneshot::channel();
        let is_taken = self.service.pool.run(move || {
            // Whoever does not wait any more does not want it.
            let _ = sender.send(work.run());
        });
        if is_taken {
            return Ok(Pending::Records(PendingRecords { id, answer }));
        }
        let full =
            refusal(Code::ResourceExhausted, "too many batches of records wait already", Blame::Machine);
        Err(Fault { retry_after_ms: 20, ..full })
    }
}

impl Future for PendingRecords {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        let body = ready!(Pin::new(&mut self.answer).poll(context)).unwrap_or_else(|_| {
            response::Body::Fault(refusal(Code::Failed, "the batch came to no end", Blame::Machine))
        });
        Poll::Ready(Response { id: self.id, body: Some(body) })
    }
}

/// Everything that a batch needs, away from its session.
struct RecordWork {
    service: Arc<Service>,
    keyring: Arc<Keyring>,
    own_keys: Arc<OwnKeys>,
    handles: Arc<Vec<Option<Opened>>>,
    client: String,
    message: proto::Records,
    began: Instant,
}

impl RecordWork {
    fn run(self) -> response::Body {
        let results = self.results();
        let metrics = &self.service.metrics;
        time(&metrics.records_ns, self.began);
        match results {
            Ok(results) => response::Body::RecordResults(results),
            Err(fault) => {
                metrics.rejections.count(fault.code(), 1);
                response::Body::Fault(fault)
            }
        }
    }

    fn results(&self) -> Result<RecordResults, Fault> {
        let limits = self.service.limits.wire();
        let mut batch = records::read(&self.message, &limits, &self.own_keys.keys, KeySource::Table)
            .map_err(|error| error.fault())?;
        let named = self.service.audit.is_kept().then(|| batch.records.key.clone());
        let judged = judge(&self.handles, &mut batch);
        for (_, fault) in &judged.denials {
            self.service.metrics.rejections.count(fault.code(), 1);
        }
        let table = if judged.is_own { &self.own_keys.table } else { &self.keyring.table };
        let mut outcome = BatchOutcome::default();
        self.service
            .accelerator
            .run_batch_into(table, &batch, &mut outcome)
            .map_err(|error| fault::fault_of(0, &error))?;
        let results = write(table, &batch, &outcome, &judged.denials);
        self.count(&batch, &results.codes);
        if let Some(named) = named {
            self.service.audit.put(self.entries(&named, &batch, &results));
        }
        Ok(results)
    }

    /// Counts records by task and code. No codes say that all were done.
    fn count(&self, batch: &Batch<'_>, codes: &[u8]) {
        let metrics = &self.service.metrics;
        let mut tally = Tally::default();
        if let (Column::One(task), []) = (&batch.task, codes) {
            tally.note(Code::Done as u8, batch.records.len as u32);
            return metrics.tasks.of(task).add(&tally);
        }
        let mut last = None;
        let codes = codes.iter().copied().chain(iter::repeat(Code::Done as u8));
        for (task, code) in batch.task.cursor().take(batch.records.len).zip(codes) {
            if let Some(before) = last.replace(task).filter(|before| *before != task) {
                metrics.tasks.of(&before).add(&std::mem::take(&mut tally));
            }
            tally.note(code, 1);
        }
        if let Some(task) = last {
            metrics.tasks.of(&task).add(&tally);
        }
    }

    fn entries(
        &self,
        named: &Column<'_, KeySource>,
        batch: &Batch<'_>,
        results: &RecordResults,
    ) -> Vec<Entry> {
        let mut counts: HashMap<(KeySource, Task, Code), u32> = HashMap::new();
        let mut faults = results.faults.iter().peekable();
        let rows = named.cursor().zip(batch.task.cursor()).take(batch.records.len);
        for (index, (key, task)) in rows.enumerate() {
            let fault = faults.next_if(|fault| fault.index as usize == index);
            *counts.entry((key, task, fault.map_or(Code::Done, Fault::code))).or_default() += 1;
        }
        let time_ms = now_ms();
        let entry = |((source, task, code), count): ((KeySource, Task, Code), u32)| {
            let opened = match source {
                KeySource::Table(handle) if has_key(task) => self.handles.get(handle as usize),
                _ => None,
            };
            let key = match (opened.and_then(Option::as_ref), source) {
                (Some(opened), _) => opened.name.to_string(),
                (None, KeySource::Slot(_)) => "slot".to_owned(),
                (None, KeySource::Table(_)) => "-".to_owned(),
            };
            let verdict = code.as_str_name();
            Entry { time_ms, client: self.client.clone(), key, operation: task.to_string(), count, verdict }
        };
        let mut entries: Vec<Entry> = counts.into_iter().map(entry).collect();
        entries.sort_by(|one, other| {
            (&one.key, &one.operation, one.verdict).cmp(&(&other.key, &other.operation, other.verdict))
        });
        entries
    }
}

fn write(table: &KeyTable, batch: &Batch<'_>, outcome: &BatchOutcome, denials: &Denials) -> RecordResults {
    let mut denials = denials.iter().peekable();
    records::write_outcome(outcome, |index, status| {
        // What a grant denies was given a key that is not there: what there is to say is why.
        if let Some((_, fault)) = denials.next_if(|(denied, _)| *denied == index) {
            return fault.clone();
        }
        let reason = outcome.error(table, batch, index);
        let blame = reason.as_ref().map_or(contract::Blame::Machine, RecordError::blame);
        let expected = reason.and_then(|reason| reason.expected());
        let expected = expected.map_or(String::new(), |expected| format!("; expected {expected}"));
        refusal(fault::code_of_status(status), &format!("{status}{expected}"), fault::blame_of(blame))
    })
}
