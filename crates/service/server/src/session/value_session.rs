//! The session of a call with values. Its few keys are opened without messages, and its records are never written as
//! one: for a single value, that took longer than its encryption.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oarlock_keytable::{BatchBuilder, BatchTask, KeyPolicy, KeyType};
use oarlock_wire::proto::{Blame, Code, Fault, RecordResults};
use oarlock_wire::{Message, fault, records};
use tokio::sync::oneshot;

use super::faults::{refusal, too_many_bytes};
use super::opened_key::OpenedKey;
use super::records::{MIN_MESSAGE_BYTES, RecordContext, is_small, predict_time, working_bytes};
use super::{HANDLE_BYTES, check_accepting, check_handle};
use crate::budget::HeldBytes;
use crate::call::GrpcCall;
use crate::clients::KnownClient;
use crate::keyring::{Keyring, ResidentKey};
use crate::service::SharedService;

/// A call with values under resident symmetric keys. Grants, limits, the audit log and metrics see the same operations
/// as in a stream. Its keys stay as they are until its end, even if the files change meanwhile.
///
/// It borrows what its call has, because copies of it would be a notable part of the cost of one value.
pub(crate) struct ValueSession<'c> {
    service: &'c Arc<SharedService>,
    client: &'c KnownClient,
    call: &'c GrpcCall,
    keyring: Arc<Keyring>,
    /// The server's number of the request.
    number: u64,
    /// The keys, by handle from 0.
    keys: Vec<Option<OpenedKey>>,
    /// True if older versions of keys make codes, which are only compared.
    verifies: bool,
    /// The bytes that the keys and the records hold.
    held: HeldBytes,
}

/// A symmetric key that a call has opened.
pub(crate) struct OpenedValueKey {
    pub(crate) handle: u32,
    pub(crate) key_type: KeyType,
    pub(crate) policy: Arc<KeyPolicy>,
    /// The number of its newest version.
    pub(crate) newest: u32,
}

impl<'c> ValueSession<'c> {
    pub(crate) fn new(service: &'c Arc<SharedService>, client: &'c KnownClient, call: &'c GrpcCall) -> Self {
        Self {
            keyring: service.keyring(),
            number: service.next_request_number(),
            held: HeldBytes::none(&client.account.bytes),
            service,
            client,
            call,
            keys: Vec::new(),
            verifies: false,
        }
    }

    /// Lets older versions of keys make message authentication codes, which the caller only compares.
    pub(crate) fn verify_by_older_keys(&mut self) {
        self.verifies = true;
    }

    /// Opens a resident symmetric key under the next handle, from 0.
    ///
    /// # Errors
    /// The client has no right to the key, there is no such key, it is asymmetric, or there are too many.
    pub(crate) fn open_key(&mut self, name: &str) -> Result<OpenedValueKey, Fault> {
        let opened = self.open(name);
        opened.inspect_err(|fault| self.service.metrics.rejections.count(fault.code(), 1))
    }

    fn open(&mut self, name: &str) -> Result<OpenedValueKey, Fault> {
        check_accepting(self.service)?;
        let handle = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        check_handle(handle, &self.service.limits)?;
        self.held.resize(self.held.len() + HANDLE_BYTES).map_err(too_many_bytes)?;
        let (opened, key) =
            OpenedKey::open_resident(self.service, &self.keyring, self.client, name, self.number)?;
        let info = match key {
            ResidentKey::Symmetric(index) => self.keyring.symmetric_policy(index, name),
            _ => None,
        };
        let (key_type, policy) = info.ok_or_else(|| {
            let kind = self.keyring.key_info(&key, name, &opened.rights).kind;
            refusal(Code::WrongKey, &format!("the key is {kind}: expected a symmetric key"), Blame::Caller)
        })?;
        self.keys.push(Some(opened));
        Ok(OpenedValueKey { handle, key_type, policy, newest: self.keyring.newest_version(name) })
    }

    /// Runs work that takes time in the length of its input, at the turn of the client.
    ///
    /// # Errors
    /// The client has too much work that waits.
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        input_bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        self.service.in_turn(self.client.account.tenant, input_bytes, work).await
    }

    /// Runs records under handles of the session, and ends it: few records at once, and many on a worker at the turn of
    /// the client. The call holds the bytes of the results until its end.
    ///
    /// # Errors
    /// Those of a batch as a whole. A bad record has a code and a fault in the results.
    pub(crate) async fn run(&mut self, records: &mut BatchBuilder) -> Result<RecordResults, Fault> {
        let ran = match self.run_or_predict(records) {
            Ok(Ok(results)) => Ok(results),
            // In memory of its own: the futures of most calls would be longer by it, and are moved.
            Ok(Err(predicted)) => Box::pin(self.run_on_worker(records, predicted)).await,
            Err(fault) => Err(fault),
        };
        let ran = ran.and_then(|results| {
            // The answer has no more bytes than the results.
            self.held.resize(results.encoded_len()).map_err(too_many_bytes)?;
            Ok(results)
        });
        self.call.keep(mem::replace(&mut self.held, HeldBytes::none(&self.client.account.bytes)));
        ran.inspect_err(|fault| self.service.metrics.rejections.count(fault.code(), 1))
    }

    /// Runs few records. Of many, returns the predicted time.
    fn run_or_predict(&mut self, records: &BatchBuilder) -> Result<Result<RecordResults, Duration>, Fault> {
        check_accepting(self.service)?;
        let batch = records.batch();
        records::check(&batch, &self.service.limits.wire()).map_err(|error| error.fault())?;
        let (count, output_len) = (batch.records.len, batch.records.output_len);
        let bytes = batch.records.data.len() + output_len;
        let needed = self.held.len() + MIN_MESSAGE_BYTES + working_bytes(count, output_len);
        self.held.resize(needed).map_err(too_many_bytes)?;
        if is_small(count, bytes) && !self.waits_for_devices() {
            return self.context(Instant::now()).run(batch).map(Ok);
        }
        let mut tasks: Vec<BatchTask> = batch.task.cursor().take(count).collect();
        tasks.dedup();
        Ok(Err(predict_time(&self.service.accelerator, &tasks, count, bytes)))
    }

    fn waits_for_devices(&self) -> bool {
        self.keys.iter().flatten().any(OpenedKey::is_in_device)
    }

    fn context(&self, began: Instant) -> RecordContext<'_> {
        RecordContext {
            service: self.service,
            client: self.client,
            keyring: &self.keyring,
            own_table: None,
            handles: &self.keys,
            verifies: self.verifies,
            number: self.number,
            began,
        }
    }

    async fn run_on_worker(
        &mut self,
        records: &mut BatchBuilder,
        predicted: Duration,
    ) -> Result<RecordResults, Fault> {
        let waits_for_devices = self.waits_for_devices();
        let work = WorkerBatch {
            service: Arc::clone(self.service),
            client: self.client.clone(),
            keyring: Arc::clone(&self.keyring),
            handles: mem::take(&mut self.keys),
            verifies: self.verifies,
            number: self.number,
            records: mem::take(records),
            began: Instant::now(),
        };
        let (sender, answer) = oneshot::channel();
        let task = move || {
            let results = work.run();
            // An error means that the client has left and needs no answer.
            let _ = sender.send((work.records, results));
        };
        let _ticket = match waits_for_devices {
            // A worker that waits would compute nothing.
            true => {
                drop(tokio::task::spawn_blocking(task));
                None
            }
            false => {
                let dispatcher = self.service.accelerator.diagnostics().dispatcher();
                let submitted = dispatcher.submit_task(self.client.account.tenant, predicted, task);
                // Dropping the ticket removes a batch that has not begun.
                Some(submitted.map_err(|error| fault::fault_of(0, &error))?)
            }
        };
        let unfinished = |_| refusal(Code::Failed, "the batch was not finished", Blame::Machine);
        let (computed, results) = answer.await.map_err(unfinished)?;
        *records = computed;
        results
    }
}

/// Records with everything that they need on a worker.
struct WorkerBatch {
    service: Arc<SharedService>,
    client: KnownClient,
    keyring: Arc<Keyring>,
    handles: Vec<Option<OpenedKey>>,
    verifies: bool,
    number: u64,
    records: BatchBuilder,
    began: Instant,
}

impl WorkerBatch {
    fn run(&self) -> Result<RecordResults, Fault> {
        let context = RecordContext {
            service: &self.service,
            client: &self.client,
            keyring: &self.keyring,
            own_table: None,
            handles: &self.handles,
            verifies: self.verifies,
            number: self.number,
            began: self.began,
        };
        context.run(self.records.batch())
    }
}
