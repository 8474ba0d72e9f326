//! The short symmetric operations of a session.

mod authorize;
mod translation;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock::Accelerator;
use oarlock::{self, Column, KeySource};
use oarlock_keytable::{Batch, BatchOutcome, BatchTask, KeyTable, RecordError};
use oarlock_wire::proto::{self, Blame, Code, Fault, RecordResults, Response, response};
use oarlock_wire::{fault, records, task};
use tokio::sync::oneshot;

use self::authorize::{AuthorizedRecords, Denials, authorize_records, operation_name};
use super::admitted::{Admitted, CodedResults};
use super::audit_trail::{AuditTrail, OperationKind};
use super::faults::{refusal, too_many_bytes};
use super::opened_key::OpenedKey;
use super::own_keys::OwnKeys;
use super::{ClientSession, PendingWork};
use crate::budget::HeldBytes;
use crate::clients::KnownClient;
use crate::keyring::Keyring;
use crate::metrics::{CodeTally, time};
use crate::service::SharedService;

/// The maximum bytes of a batch that is computed on the thread that reads it.
const MAX_BYTES_AT_ONCE: usize = 4096;

/// The maximum number of records of such a batch.
const MAX_AT_ONCE: usize = 256;

/// The bytes that a record holds beside its data: its columns, its state and its status.
const RECORD_BYTES: usize = 64;

/// The minimum bytes that a message holds. It may share a buffer with other messages, which lives as long as it does.
pub(super) const MIN_MESSAGE_BYTES: usize = 64 << 10;

impl ClientSession {
    pub(super) fn start_records(
        &self,
        id: u64,
        number: u64,
        message: proto::Records,
        held: &mut HeldBytes,
    ) -> Result<PendingWork, Fault> {
        let (records, output) = (message.count as usize, message.output_len as usize);
        let needed = held.len().max(MIN_MESSAGE_BYTES) + working_bytes(records, output);
        // Columns, output and statuses are counted before any of them is allocated.
        held.resize(needed).map_err(too_many_bytes)?;
        let batch = RecordBatchTask {
            service: Arc::clone(&self.service),
            client: self.client.clone(),
            keyring: Arc::clone(&self.keyring),
            own_keys: Arc::clone(&self.own_keys),
            // Held until the batch ends, so that the session does not reuse the indices of own keys meanwhile.
            _batch: Arc::clone(&self.batches),
            handles: Arc::clone(&self.handles),
            number,
            message,
            began: Instant::now(),
        };
        if batch.waits_for_devices() {
            return Ok(batch.run_blocking(id));
        }
        if is_small(records, batch.message.data.len() + output) {
            return Ok(PendingWork::ready(id, batch.run()));
        }
        let predicted = predict_message_time(&self.service.accelerator, &batch.message);
        let (sender, answer) = oneshot::channel();
        let task = move || {
            // An error means that the client has left and needs no answer.
            let _ = sender.send(batch.run());
        };
        let dispatcher = self.service.accelerator.diagnostics().dispatcher();
        let ticket = dispatcher
            .submit_task(self.client.account.tenant, predicted, task)
            .map_err(|error| fault::fault_of(0, &error))?;
        Ok(PendingWork::Later(Box::pin(async move {
            // Dropping the ticket removes a batch that has not begun.
            let _ticket = ticket;
            let body = answer.await.map_err(|_| unfinished()).unwrap_or_else(response::Body::Fault);
            Response { id, body: Some(body) }
        })))
    }
}

/// Returns true if computing a batch takes less time than handing it to another thread. `bytes` are those of its data
/// and its output.
pub(super) fn is_small(records: usize, bytes: usize) -> bool {
    records <= MAX_AT_ONCE && bytes <= MAX_BYTES_AT_ONCE
}

/// Predicts how long a batch takes.
fn predict_message_time(accelerator: &Accelerator, message: &proto::Records) -> Duration {
    // A task that cannot be read makes the batch fail later, with its reason. Here it only takes no time.
    let tasks: Vec<BatchTask> = message.tasks.iter().filter_map(|task| task::read(task).ok()).collect();
    let count = message.count as usize;
    // Records may all read the same data, so the length of the data alone says little.
    let bytes = match &message.input {
        Some(input) if input.each.is_empty() => count.saturating_mul(input.len as usize),
        _ => message.data.len(),
    };
    predict_time(accelerator, &tasks, count, bytes)
}

/// Predicts how long records take. Each task is assumed to have the same share of them.
pub(super) fn predict_time(
    accelerator: &Accelerator,
    tasks: &[BatchTask],
    records: usize,
    bytes: usize,
) -> Duration {
    let tasks_len = tasks.len().max(1);
    let (records, bytes) = (records.div_ceil(tasks_len), bytes.div_ceil(tasks_len));
    tasks
        .iter()
        .map(|task| accelerator.diagnostics().dispatcher().predict(task.shape(), records, bytes))
        .sum()
}

/// Returns the bytes that a batch holds beside its message: columns, output and statuses.
pub(super) fn working_bytes(records: usize, output_len: usize) -> usize {
    records.saturating_mul(RECORD_BYTES).saturating_add(output_len)
}

/// A batch with everything that it needs away from its session.
struct RecordBatchTask {
    service: Arc<SharedService>,
    client: KnownClient,
    keyring: Arc<Keyring>,
    own_keys: Arc<OwnKeys>,
    /// A reference that shows the session that its own keys are in use.
    _batch: Arc<()>,
    handles: Arc<Vec<Option<OpenedKey>>>,
    /// The server's number of the request.
    number: u64,
    message: proto::Records,
    began: Instant,
}

fn unfinished() -> Fault {
    refusal(Code::Failed, "the batch was not finished", Blame::Machine)
}

impl RecordBatchTask {
    /// Computes the batch on a thread that may wait for devices. The event loop and the workers of the accelerator
    /// serve others meanwhile.
    fn run_blocking(self, id: u64) -> PendingWork {
        let work = tokio::task::spawn_blocking(move || self.run());
        PendingWork::Later(Box::pin(async move {
            let body = work.await.unwrap_or_else(|_| response::Body::Fault(unfinished()));
            Response { id, body: Some(body) }
        }))
    }

    /// True if a record is under a symmetric key of a device.
    fn waits_for_devices(&self) -> bool {
        let opened = |handle: u32| self.handles.get(handle as usize).and_then(Option::as_ref);
        let is_in_device = |source| match source {
            KeySource::Table(handle) => opened(handle).is_some_and(OpenedKey::is_in_device),
            KeySource::Slot(_) => false,
        };
        // The columns are read only for a client that has opened such a key.
        self.handles.iter().flatten().any(OpenedKey::is_in_device)
            && self.batch().is_ok_and(|batch| {
                let records = &batch.records;
                let keys = [&records.key, &records.second_key];
                keys.into_iter().any(|keys| keys.cursor().take(records.len).any(is_in_device))
            })
    }

    /// Reads the message.
    fn batch(&self) -> Result<Batch<'_>, Fault> {
        let limits = self.service.limits.wire();
        records::read(&self.message, &limits, &self.own_keys.keys, KeySource::Table)
            .map_err(|error| error.fault())
    }

    fn run(self) -> response::Body {
        match self.results() {
            Ok(results) => response::Body::RecordResults(results),
            Err(fault) => {
                self.service.metrics.rejections.count(fault.code(), 1);
                response::Body::Fault(fault)
            }
        }
    }

    fn results(&self) -> Result<RecordResults, Fault> {
        let batch = self.batch()?;
        let context = RecordContext {
            service: &self.service,
            client: &self.client,
            keyring: &self.keyring,
            own_table: Some(&self.own_keys.table),
            handles: &self.handles,
            verifies: false,
            number: self.number,
            began: self.began,
        };
        context.run(batch)
    }
}

/// The keys and rights under which a batch of records runs, and the request that it belongs to.
pub(super) struct RecordContext<'c> {
    pub(super) service: &'c SharedService,
    pub(super) client: &'c KnownClient,
    pub(super) keyring: &'c Keyring,
    /// The table of the keys that the client has brought; `None` if it cannot have brought any.
    pub(super) own_table: Option<&'c KeyTable>,
    pub(super) handles: &'c [Option<OpenedKey>],
    /// True if older versions of keys may make codes.
    pub(super) verifies: bool,
    /// The server's number of the request.
    pub(super) number: u64,
    pub(super) began: Instant,
}

impl RecordContext<'_> {
    /// Computes a batch whose keys are handles, as far as the grants of its keys allow.
    ///
    /// # Errors
    /// Those of a batch as a whole. A bad record has a code and a fault in the results.
    pub(super) fn run(&self, batch: Batch<'_>) -> Result<RecordResults, Fault> {
        self.count_keys(&batch);
        // Authorization replaces handles by keys, but audit entries name handles.
        let trail = self.trail(&batch);
        let (permitted, denials) = authorize_records(self.handles, &self.keyring.table, self.verifies, batch);
        for (_, fault) in &denials {
            self.service.metrics.rejections.count(fault.code(), 1);
        }
        let is_timed = permitted.is_any();
        let admitted = Admitted::new(permitted, trail, self.service, self.client)?;
        let results = admitted.try_map(|authorized| self.compute(&authorized, &denials))?;
        let results = results.release(self.service)?;
        if is_timed {
            time(&self.service.metrics.records_ns, self.began);
        }
        Ok(results)
    }

    fn compute(
        &self,
        AuthorizedRecords { batch, is_own }: &AuthorizedRecords<'_>,
        denials: &Denials,
    ) -> Result<RecordResults, Fault> {
        let table = self.own_table.filter(|_| *is_own).unwrap_or(&self.keyring.table);
        let mut outcome = BatchOutcome::default();
        table
            .run_into(&self.service.accelerator, batch, &mut outcome)
            .map_err(|error| fault::fault_of(0, &error))?;
        let results = write_results(table, batch, &outcome, denials);
        self.count(batch, &results);
        Ok(results)
    }

    /// Counts the records of each key of the server, those that will be refused among them.
    fn count_keys(&self, batch: &Batch<'_>) {
        let count = |handle: u32, records: u32| {
            if let Some(uses) = self.opened(handle).and_then(|opened| opened.uses.as_ref()) {
                uses.add(records);
            }
        };
        if let Column::One(source) = batch.records.key {
            if let KeySource::Table(handle) = source {
                count(handle, batch.records.len as u32);
            }
            return;
        }
        // Keys that the client brought have no counters.
        if self.handles.iter().flatten().all(|opened| opened.uses.is_none()) {
            return;
        }
        // One step per record, and one look at the counters per handle that occurs.
        let mut records = vec![0_u32; self.handles.len()];
        for source in batch.records.key.cursor().take(batch.records.len) {
            if let KeySource::Table(handle) = source
                && let Some(count) = records.get_mut(handle as usize)
            {
                *count += 1;
            }
        }
        (0_u32..)
            .zip(records)
            .filter(|(_, records)| *records > 0)
            .for_each(|(handle, records)| count(handle, records));
    }

    /// Counts records by task and code.
    fn count(&self, batch: &Batch<'_>, results: &RecordResults) {
        let metrics = &self.service.metrics;
        let mut tally = CodeTally::default();
        if let (Column::One(task), []) = (&batch.task, &results.codes[..]) {
            tally.note(Code::Done as u8, batch.records.len as u32);
            return metrics.tasks.get(task).add(&tally);
        }
        let mut last = None;
        // The server itself wrote the codes, so they fit the number of records.
        let codes = records::codes(results, batch.records.len).into_iter().flatten();
        for (task, code) in batch.task.cursor().take(batch.records.len).zip(codes) {
            // The counters of a task are looked up once for each run of equal tasks.
            if let Some(before) = last.replace(task).filter(|before| *before != task) {
                metrics.tasks.get(&before).add(&std::mem::take(&mut tally));
            }
            tally.note(code as u8, 1);
        }
        if let Some(task) = last {
            metrics.tasks.get(&task).add(&tally);
        }
    }

    /// Returns the keys and tasks of the records for audit entries. Nothing is looked up without a log.
    fn trail(&self, batch: &Batch<'_>) -> AuditTrail {
        let mut trail = AuditTrail::new(self.service, self.client, self.number);
        let (keys, records) = (&batch.records.key, batch.records.len);
        if !trail.is_kept() {
            return trail;
        }
        if let (Column::One(source), Column::One(task)) = (keys, &batch.task) {
            trail.add(0, records as u32, || self.kind(self.named_key(*source, *task), *task));
            return trail;
        }
        let mut kinds = HashMap::new();
        for (source, task) in keys.cursor().zip(batch.task.cursor()).take(records) {
            let (key, next) = (self.named_key(source, task), kinds.len() as u32);
            trail.add(*kinds.entry((key, task)).or_insert(next), 1, || self.kind(key, task));
        }
        trail
    }

    /// Returns the key of a record as its entry names it.
    fn named_key(&self, source: KeySource, task: BatchTask) -> NamedKey {
        match source {
            KeySource::Slot(_) => NamedKey::Slot,
            KeySource::Table(handle) if task.has_key() && self.opened(handle).is_some() => {
                NamedKey::Handle(handle)
            }
            KeySource::Table(_) => NamedKey::None,
        }
    }

    fn kind(&self, key: NamedKey, task: BatchTask) -> OperationKind {
        let opened = match key {
            NamedKey::Handle(handle) => self.opened(handle),
            NamedKey::Slot | NamedKey::None => None,
        };
        let rest = if key == NamedKey::Slot { "slot" } else { "-" };
        let key = opened.map_or_else(|| rest.into(), |opened| Arc::clone(&opened.name));
        let operation = operation_name(task, self.verifies).into();
        // Records are counted by handle.
        OperationKind { key, operation, scheme: None, uses: None }
    }

    fn opened(&self, handle: u32) -> Option<&OpenedKey> {
        self.handles.get(handle as usize)?.as_ref()
    }
}

/// The key of a record in an audit entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NamedKey {
    Handle(u32),
    /// A key that was unwrapped in the batch.
    Slot,
    None,
}

impl CodedResults for RecordResults {
    fn codes(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.codes)
    }
}

fn write_results(
    table: &KeyTable,
    batch: &Batch<'_>,
    outcome: &BatchOutcome,
    denials: &Denials,
) -> RecordResults {
    let mut denials = denials.iter().peekable();
    records::write_outcome(outcome, |index, status| {
        // A denied record had a key that no table has. The status says only that, so the reason of the denial replaces
        // it.
        if let Some((_, fault)) = denials.next_if(|(denied, _)| *denied == index) {
            return Fault::clone(fault);
        }
        let reason = outcome.error(table, batch, index);
        let blame = reason.as_ref().map_or(oarlock::Blame::Machine, RecordError::blame);
        if let Some(of_holder) = reason.as_ref().and_then(|reason| reason.refusal.as_deref()) {
            return refusal(fault::code_of_status(status), &of_holder.to_string(), fault::blame_of(blame));
        }
        let expected = reason.and_then(|reason| reason.expected());
        let expected = expected.map_or(String::new(), |expected| format!("; expected {expected}"));
        refusal(fault::code_of_status(status), &format!("{status}{expected}"), fault::blame_of(blame))
    })
}
