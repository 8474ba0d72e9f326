//! Short symmetric operations of a session.

mod judge;

use std::collections::HashMap;
use std::future::Future;
use std::iter;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use oarlock::batch::{Batch, BatchOutcome, BatchTask, RecordError};
use oarlock::table::KeyTable;
use oarlock::{self, Column, KeySource};
use oarlock::{Accelerator, Ticket};
use oarlock_wire::proto::{self, Blame, Code, Fault, RecordResults, Response, response};
use oarlock_wire::{fault, records, task};
use tokio::sync::oneshot;

use self::judge::{Denials, has_key, judge};
use super::{Opened, OwnKeys, Session, Work, refusal, too_much, unaudited};
use crate::audit::{Operation, Origin, ReservedBytes, max_entry_bytes};
use crate::budget::HeldBytes;
use crate::keyring::Keyring;
use crate::metrics::{Tally, time};
use crate::service::Service;

/// Records under way.
#[derive(Debug)]
pub(crate) struct PendingRecords {
    id: u64,
    answer: oneshot::Receiver<response::Body>,
    /// Dropping it takes a batch that has not begun out of its queue.
    _ticket: Ticket,
}

/// Bytes of a batch that is computed on the thread that reads it.
const MAX_BYTES_AT_ONCE: usize = 4096;

/// Records of such a batch.
const MAX_AT_ONCE: u32 = 256;

/// Bytes that a record holds beside its data: its columns, its state and its verdict.
const RECORD_BYTES: usize = 64;

/// The least that a message holds: it may lie in a buffer with others, which stays as long as it does.
const MIN_MESSAGE_BYTES: usize = 64 << 10;

impl Session {
    pub(super) fn start_records(
        &self,
        id: u64,
        number: u64,
        message: proto::Records,
        held: &mut HeldBytes,
    ) -> Result<Work, Fault> {
        let (records, output) = (message.count as usize, message.output_len as usize);
        let needed = held.len().max(MIN_MESSAGE_BYTES) + records.saturating_mul(RECORD_BYTES) + output;
        held.resize(needed).map_err(too_much)?;
        let work = RecordWork {
            service: Arc::clone(&self.service),
            keyring: Arc::clone(&self.keyring),
            own_keys: Arc::clone(&self.own_keys),
            _batch: Arc::clone(&self.batches),
            handles: Arc::clone(&self.handles),
            origin: Arc::clone(&self.origin),
            audit_bytes: Arc::clone(&self.account.audit_bytes),
            number,
            message,
            began: Instant::now(),
        };
        if is_small(&work.message) {
            return Ok(Work::ready(id, work.run()));
        }
        let predicted = predict(&self.service.accelerator, &work.message);
        let (sender, answer) = oneshot::channel();
        let task = move || {
            // Whoever does not wait any more does not want it.
            let _ = sender.send(work.run());
        };
        let dispatcher = self.service.accelerator.diagnostics().dispatcher();
        let ticket = dispatcher
            .submit_task(self.account.tenant, predicted, task)
            .map_err(|error| fault::fault_of(0, &error))?;
        Ok(Work::Records(PendingRecords { id, answer, _ticket: ticket }))
    }
}

/// True if a batch is computed sooner than it would be handed to another thread.
fn is_small(message: &proto::Records) -> bool {
    message.count <= MAX_AT_ONCE && message.data.len() + message.output_len as usize <= MAX_BYTES_AT_ONCE
}

/// Predicts how long a batch takes: each task its share of the records.
fn predict(accelerator: &Accelerator, message: &proto::Records) -> Duration {
    let tasks: Vec<BatchTask> = message.tasks.iter().filter_map(|task| task::read(task).ok()).collect();
    let (count, tasks_len) = (message.count as usize, tasks.len().max(1));
    // Records may read the same data.
    let bytes = match &message.input {
        Some(input) if input.each.is_empty() => count.saturating_mul(input.len as usize),
        _ => message.data.len(),
    };
    let (records, bytes) = (count.div_ceil(tasks_len), bytes.div_ceil(tasks_len));
    tasks
        .iter()
        .map(|task| accelerator.diagnostics().dispatcher().predict(task.shape(), records, bytes))
        .sum()
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
    /// Says to the session that its own keys are in use.
    _batch: Arc<()>,
    handles: Arc<Vec<Option<Opened>>>,
    origin: Arc<Origin>,
    /// Bytes that the client's requests reserve of the audit log.
    audit_bytes: Arc<ReservedBytes>,
    /// The server's number of the request.
    number: u64,
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
        let is_refused = judged.denials.len() == batch.records.len;
        let named = named.as_ref();
        let reservation = match named {
            Some(named) if !is_refused => {
                let max_bytes = self.max_entry_bytes(named, &batch);
                Some(self.service.audit.reserve(&self.audit_bytes, max_bytes).map_err(unaudited)?)
            }
            _ => None,
        };
        let table = if judged.is_own { &self.own_keys.table } else { &self.keyring.table };
        let mut outcome = BatchOutcome::default();
        self.service
            .accelerator
            .run_batch_into(table, &batch, &mut outcome)
            .map_err(|error| fault::fault_of(0, &error))?;
        let results = write(table, &batch, &outcome, &judged.denials);
        self.count(&batch, &results.codes);
        let counts = named.map(|named| self.tally(named, &batch, &results)).unwrap_or_default();
        let entries: Vec<Operation<'_>> = counts.iter().map(Counted::entry).collect();
        match reservation {
            Some(place) => place.put(&self.origin, self.number, &entries).map_err(unaudited)?,
            None => self.service.audit.refuse(&self.origin, self.number, &entries),
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

    /// A bound on the bytes of the entries, before anything is known of how the records end.
    fn max_entry_bytes(&self, named: &Column<'_, KeySource>, batch: &Batch<'_>) -> usize {
        let records = batch.records.len;
        let bytes = |((key, task), records): ((NamedKey, BatchTask), usize)| {
            max_entry_bytes(&self.origin, self.name(key), &task.to_string(), records)
        };
        if let (Column::One(source), Column::One(task)) = (named, &batch.task) {
            return bytes(((self.named(*source, *task), *task), records));
        }
        let rows = named.cursor().zip(batch.task.cursor()).take(records);
        let mut kinds: HashMap<_, usize> = HashMap::new();
        rows.for_each(|(source, task)| *kinds.entry((self.named(source, task), task)).or_default() += 1);
        kinds.into_iter().map(bytes).fold(0, usize::saturating_add)
    }

    /// Counts the records of each key and task by how they ended, in the order of their names.
    fn tally<'w>(
        &'w self,
        named: &Column<'_, KeySource>,
        batch: &Batch<'_>,
        results: &RecordResults,
    ) -> Vec<Counted<'w>> {
        let mut counts: HashMap<(NamedKey, BatchTask, Code), u32> = HashMap::new();
        let rows = named.cursor().zip(batch.task.cursor());
        // The codes are this server's own, so they fit.
        let codes = records::codes(results, batch.records.len).into_iter().flatten();
        for ((source, task), code) in rows.zip(codes) {
            *counts.entry((self.named(source, task), task, code)).or_default() += 1;
        }
        let counted = |((key, task, verdict), count): ((NamedKey, BatchTask, Code), u32)| {
            let (key, operation) = (self.name(key), task.to_string());
            Counted { key, operation, count, verdict }
        };
        let mut counts: Vec<Counted<'_>> = counts.into_iter().map(counted).collect();
        counts.sort_by(|one, other| {
            let name = |counted: &Counted<'w>| (counted.key, counted.verdict.as_str_name());
            (name(one), &one.operation).cmp(&(name(other), &other.operation))
        });
        counts
    }

    /// The key of a record as its entry names it.
    fn named(&self, source: KeySource, task: BatchTask) -> NamedKey {
        match source {
            KeySource::Slot(_) => NamedKey::Slot,
            KeySource::Table(handle) if has_key(task) && self.opened(handle).is_some() => {
                NamedKey::Handle(handle)
            }
            KeySource::Table(_) => NamedKey::None,
        }
    }

    fn name(&self, key: NamedKey) -> &str {
        match key {
            NamedKey::Handle(handle) => self.opened(handle).map_or("-", |opened| &*opened.name),
            NamedKey::Slot => "slot",
            NamedKey::None => "-",
        }
    }

    fn opened(&self, handle: u32) -> Option<&Opened> {
        self.handles.get(handle as usize)?.as_ref()
    }
}

/// The name of a key in an entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NamedKey {
    Handle(u32),
    /// A key that was unwrapped in the batch.
    Slot,
    None,
}

/// Records of one key and task that ended alike.
struct Counted<'w> {
    key: &'w str,
    operation: String,
    count: u32,
    verdict: Code,
}

impl Counted<'_> {
    fn entry(&self) -> Operation<'_> {
        Operation { key: self.key, operation: &self.operation, count: self.count, verdict: self.verdict }
    }
}

fn write(table: &KeyTable, batch: &Batch<'_>, outcome: &BatchOutcome, denials: &Denials) -> RecordResults {
    let mut denials = denials.iter().peekable();
    records::write_outcome(outcome, |index, status| {
        // What a grant denies was given a key that is not there: what there is to say is why.
        if let Some((_, fault)) = denials.next_if(|(denied, _)| *denied == index) {
            return Fault::clone(fault);
        }
        let reason = outcome.error(table, batch, index);
        let blame = reason.as_ref().map_or(oarlock::Blame::Machine, RecordError::blame);
        let expected = reason.and_then(|reason| reason.expected());
        let expected = expected.map_or(String::new(), |expected| format!("; expected {expected}"));
        refusal(fault::code_of_status(status), &format!("{status}{expected}"), fault::blame_of(blame))
    })
}
