//! Short symmetric operations of a session.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use oarlock::Key;
use oarlock::batch::{Batch, BatchOutcome, RecordError, Task};
use oarlock::contract::{self, Column, KeySource, Shape};
use oarlock_wire::proto::{self, Blame, Code, Fault, RecordResults, Response, response};
use oarlock_wire::{fault, records};
use tokio::sync::oneshot;

use super::verdicts::not_open;
use super::{Opened, Pending, Session, Source, denial, refusal};
use crate::audit::{Entry, now_ms};
use crate::keyring::{Keyring, Resident};
use crate::metrics::count;
use crate::service::Service;

/// Records under way.
#[derive(Debug)]
pub(crate) struct PendingRecords {
    id: u64,
    answer: oneshot::Receiver<response::Body>,
}

/// An index that no table has: a record under it fails alone.
const NOWHERE: u32 = (1 << 31) - 1;

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
    own_keys: Arc<Vec<Key>>,
    handles: Arc<Vec<Option<Opened>>>,
    client: String,
    message: proto::Records,
}

/// Records that their key's grants do not allow, in order.
type Denials = Vec<(usize, Fault)>;

impl RecordWork {
    fn run(self) -> response::Body {
        match self.results() {
            Ok(results) => response::Body::RecordResults(results),
            Err(fault) => {
                count(&self.service.metrics.rejections, 1);
                response::Body::Fault(fault)
            }
        }
    }

    fn results(&self) -> Result<RecordResults, Fault> {
        let limits = self.service.limits.wire();
        let mut batch = records::read(&self.message, &limits, &self.own_keys, KeySource::Table)
            .map_err(|error| error.fault())?;
        count(&self.service.metrics.operations, batch.records.len);
        let handles = batch.clone();
        let denials = self.judge(&mut batch);
        count(&self.service.metrics.rejections, denials.len());
        let mut outcome = BatchOutcome::default();
        self.service
            .accelerator
            .run_batch_into(&self.keyring.table, &batch, &mut outcome)
            .map_err(|error| fault::fault_of(0, &error))?;
        let results = self.write(&batch, &outcome, &denials);
        if self.service.audit.is_kept() {
            self.service.audit.put(self.entries(&handles, &results));
        }
        Ok(results)
    }

    /// Puts the table's keys in the place of handles, and a key that is not there where no grant allows the task.
    fn judge(&self, batch: &mut Batch<'_>) -> Denials {
        let mut denials = Vec::new();
        let mut known = HashMap::new();
        let len = batch.records.len;
        let tasks = batch.task.borrowed();
        let mut allow = |source: KeySource, task: Task, index: usize, denials: &mut Denials| match source {
            KeySource::Table(handle) if has_key(task) => {
                let verdict = known.entry((task, handle)).or_insert_with(|| self.verdict(handle, task));
                match verdict {
                    Ok((source, None)) => *source,
                    Ok((source, Some(grant))) => match grant.take() {
                        Ok(()) => *source,
                        Err(denied) => deny(denials, index, denial(denied, &task.to_string())),
                    },
                    Err(fault) => deny(denials, index, fault.clone()),
                }
            }
            KeySource::Table(_) => KeySource::Table(0),
            slot => slot,
        };
        let mut change = |column: &Column<'_, KeySource>, denials: &mut Denials| match (column, &tasks) {
            // One verdict for all, where nothing is counted and nothing denied.
            (Column::One(source), Column::One(task)) if self.is_uncounted(*source) => {
                let mut denied = Vec::new();
                let key = allow(*source, *task, 0, &mut denied);
                if let Some((_, fault)) = denied.pop() {
                    denials.extend((0..len).map(|index| (index, fault.clone())));
                }
                Column::One(key)
            }
            _ => {
                let each = column.cursor().zip(tasks.cursor()).take(len).enumerate();
                Column::Each(
                    each.map(|(index, (source, task))| allow(source, task, index, denials)).collect(),
                )
            }
        };
        let key = change(&batch.records.key, &mut denials);
        let is_translation = |task: Task| matches!(task, Task::Do(Shape::Translate { .. }));
        if tasks.cursor().take(len).any(is_translation) {
            let mut second = Vec::new();
            batch.records.second_key = change(&batch.records.second_key, &mut second);
            denials.extend(second);
            denials.sort_by_key(|(index, _)| *index);
            denials.dedup_by_key(|(index, _)| *index);
        }
        batch.records.key = key;
        denials
    }

    fn is_uncounted(&self, source: KeySource) -> bool {
        let KeySource::Table(handle) = source else { return true };
        let opened = self.handles.get(handle as usize).and_then(Option::as_ref);
        opened.is_none_or(|opened| !opened.rights.is_counted())
    }

    fn verdict(&self, handle: u32, task: Task) -> Result<(KeySource, Option<Grant>), Fault> {
        let Some(opened) = self.handles.get(handle as usize).and_then(Option::as_ref) else {
            return Err(not_open(handle));
        };
        let operation = task.to_string();
        let grant = opened.rights.allow(&operation).map_err(|denied| denial(denied, &operation))?;
        let grant = grant.filter(|grant| grant.is_counted()).cloned();
        match opened.source {
            Source::Resident(Resident::Symmetric(index)) => Ok((KeySource::Table(index), grant)),
            Source::OwnSymmetric(index) => Ok((Batch::outside_key(index), grant)),
            Source::Gone => Err(refusal(Code::NoSuchKey, "the server no longer has this key", Blame::Caller)),
            _ => Err(refusal(Code::WrongKey, "this is an asymmetric key: it serves jobs", Blame::Caller)),
        }
    }

    fn write(&self, batch: &Batch<'_>, outcome: &BatchOutcome, denials: &Denials) -> RecordResults {
        let mut denials = denials.iter().peekable();
        records::write_outcome(outcome, |index, status| {
            // What a grant denies was given a key that is not there: what there is to say is why.
            if let Some((_, fault)) = denials.next_if(|(denied, _)| *denied == index) {
                return fault.clone();
            }
            let reason = outcome.error(&self.keyring.table, batch, index);
            let blame = reason.as_ref().map_or(contract::Blame::Machine, RecordError::blame);
            let expected = reason.and_then(|reason| reason.expected());
            let expected = expected.map_or(String::new(), |expected| format!("; expected {expected}"));
            refusal(fault::code_of_status(status), &format!("{status}{expected}"), fault::blame_of(blame))
        })
    }

    fn entries(&self, handles: &Batch<'_>, results: &RecordResults) -> Vec<Entry> {
        let mut counts: HashMap<(KeySource, Task, Code), u32> = HashMap::new();
        let mut faults = results.faults.iter().peekable();
        let rows = handles.records.key.cursor().zip(handles.task.cursor()).take(handles.records.len);
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

type Grant = Arc<crate::keyring::Granted>;

fn deny(denials: &mut Denials, index: usize, fault: Fault) -> KeySource {
    denials.push((index, fault));
    KeySource::Table(NOWHERE)
}

fn has_key(task: Task) -> bool {
    !matches!(task, Task::Do(Shape::Digest { .. } | Shape::DigestPart { .. }))
}
