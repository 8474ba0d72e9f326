//! The session of one client's stream: the keys that it has opened, and its requests.
//!
//! | module | content |
//! |---|---|
//! | `session` | requests: begun in their order, answered in any order |
//! | `session/driver` | the loop that drives the requests of a stream over gRPC or a UNIX socket |
//! | `session/unary` | calls with one job, without a session |
//! | `session/opened_key`, `session/own_keys` | the keys behind handles, and the keys that clients bring |
//! | `session/single_call` | the session of one call over gRPC or Connect |
//! | `session/value_session` | the session of one call with values, without messages between its parts |
//! | `session/authorization` | the schemes that a client may use with its keys |
//! | `session/admitted` | work from its permission to the release of its results |
//! | `session/jobs`, `session/shares` | public-key operations, and partial signatures by shares |
//! | `session/records` | short symmetric operations |
//! | `session/audit_trail` | the audit entries and the metrics of a request |
//! | `session/faults` | the faults that requests are refused with |

mod admitted;
mod audit_trail;
mod authorization;
mod driver;
mod faults;
mod jobs;
mod opened_key;
mod own_keys;
mod records;
mod shares;
mod single_call;
mod unary;
mod value_session;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use oarlock::keys;
use oarlock_wire::proto::{self, Blame, Code, Fault, Request, Response, open_key, request, response};
use oarlock_wire::{Message, task};

use self::authorization::AuthorizationCache;
pub(crate) use self::driver::{HeldRequest, RequestDriver, RequestSource};
pub(crate) use self::faults::refusal;
use self::faults::{bad_key, no_key, replaced_key, too_many_bytes};
use self::jobs::run_long;
use self::opened_key::{MAX_NAME_BYTES, OpenedKey, OpenedSource, absent_key, audit_refusal, is_expected};
use self::own_keys::{OwnKeys, count_brought_key, no_brought_keys};
pub(crate) use self::single_call::{SingleCall, no_answer};
pub(crate) use self::unary::{UnaryJob, UnaryKey, UnaryOutcome, run_unary};
pub(crate) use self::value_session::{OpenedValueKey, ValueSession};
use crate::budget::HeldBytes;
use crate::clients::KnownClient;
use crate::config::ServerLimits;
use crate::keyring::{ClientRights, Keyring, describe_key};
use crate::service::SharedService;

/// The session of a client's stream. Keys that came with the stream end with it.
#[derive(Debug)]
pub(crate) struct ClientSession {
    service: Arc<SharedService>,
    client: KnownClient,
    keyring: Arc<Keyring>,
    /// The keys by handle, shared with batches in progress.
    handles: Arc<Vec<Option<OpenedKey>>>,
    own_keys: Arc<OwnKeys>,
    /// The own symmetric keys that must be wiped.
    closed: Vec<OpenedKey>,
    /// A reference that each batch that may use own keys shares.
    batches: Arc<()>,
    authorizations: AuthorizationCache,
    /// The bytes that handles hold.
    held: HeldBytes,
    /// True if the session lasts for one call, whose keys and grants are of one generation.
    is_one_call: bool,
}

/// The bytes that a handle holds: its slot, a name, and rights.
const HANDLE_BYTES: usize = 256;

/// An answer in progress. Dropping it cancels the operations that have not been done.
pub(crate) struct PendingResponse {
    work: PendingWork,
    /// The bytes that request and answer hold; `None` after the answer.
    held: Option<HeldBytes>,
}

enum PendingWork {
    Ready(Option<Response>),
    Later(BoxFuture<'static, Response>),
}

/// An answer, and the bytes that it holds until it has been sent.
#[derive(Debug)]
pub(crate) struct HeldAnswer {
    pub(crate) response: Response,
    pub(crate) held: HeldBytes,
}

impl ClientSession {
    pub(crate) fn new(service: Arc<SharedService>, client: KnownClient) -> Self {
        Self {
            keyring: service.keyring(),
            service,
            held: HeldBytes::none(&client.account.bytes),
            client,
            handles: Arc::default(),
            own_keys: Arc::default(),
            closed: Vec::new(),
            batches: Arc::default(),
            authorizations: AuthorizationCache::default(),
            is_one_call: false,
        }
    }

    /// Begins to answer a request, which holds `held`.
    pub(crate) fn start(&mut self, request: Request, mut held: HeldBytes) -> PendingResponse {
        let number = self.service.next_request_number();
        let id = request.id;
        let work = self.begin(id, number, request, &mut held).unwrap_or_else(|fault| {
            self.service.metrics.rejections.count(fault.code(), 1);
            PendingWork::ready(id, response::Body::Fault(fault))
        });
        PendingResponse { work, held: Some(held) }
    }

    fn begin(
        &mut self,
        id: u64,
        number: u64,
        request: Request,
        held: &mut HeldBytes,
    ) -> Result<PendingWork, Fault> {
        check_accepting(&self.service)?;
        self.prepare();
        let ready = |body| Ok(PendingWork::ready(id, body));
        match request.body {
            None => Err(refusal(Code::Invalid, NO_BODY, Blame::Caller)),
            Some(request::Body::OpenKey(open)) => ready(response::Body::Key(self.open_key(open, number)?)),
            Some(request::Body::CloseKey(close)) => {
                self.close_key(close.handle)?;
                ready(response::Body::Closed(proto::Closed {}))
            }
            Some(request::Body::Jobs(message)) => {
                run_long(message.count as usize, || self.start_jobs(id, number, &message, held))
            }
            Some(request::Body::Records(message)) => self.start_records(id, number, message, held),
            Some(request::Body::ListKeys(_)) => {
                let keys = self.keyring.visible_keys(&self.client.identity);
                ready(response::Body::Keys(proto::KeyList { keys }))
            }
            Some(request::Body::GetPublicKey(get)) => {
                let name = Some(&*get.name).filter(|name| name.len() <= MAX_NAME_BYTES);
                let name = name.ok_or_else(|| no_key(&get.name))?;
                let info = self.keyring.info_for_client(name, &self.client.identity);
                let info = info.ok_or_else(|| absent_key(&self.keyring, name, &self.client))?;
                ready(response::Body::Key(info))
            }
            Some(request::Body::OpenRing(_)) => {
                Err(refusal(Code::Unsupported, NO_SHARED_MEMORY, Blame::Caller))
            }
            Some(request::Body::ListEngines(_)) => ready(response::Body::Engines(self.service.engines())),
        }
    }

    /// Takes the current keyring, and wipes keys that nothing uses any more.
    fn prepare(&mut self) {
        if !self.is_one_call {
            self.renew_keyring();
        }
        if !self.closed.is_empty() {
            self.wipe_closed_keys();
        }
    }

    /// Takes the current keyring. If it has changed, handles stand for the new keys of the same names, unless the
    /// client expects other keys.
    fn renew_keyring(&mut self) {
        let now = self.service.keyring();
        if now.generation == self.keyring.generation {
            return;
        }
        // Copied if a batch in progress shares the handles: it ends with the keys that it began with.
        for opened in Arc::make_mut(&mut self.handles).iter_mut().flatten() {
            if matches!(opened.source, OpenedSource::Own(_) | OpenedSource::OwnSymmetric(_)) {
                // A key that came while keys were allowed does not outlive that.
                if !now.may_bring_keys {
                    opened.rights = ClientRights::Granted(Vec::new());
                }
            } else {
                opened.source = opened.source_in(&now);
                opened.is_older = now.versions.older(&opened.name).is_some();
                opened.uses = self.service.key_uses.of_key(&opened.name);
                // Grants may have changed together with the keys.
                opened.rights = now.rights(&opened.name, &self.client.identity);
            }
        }
        self.keyring = now;
        self.authorizations.clear();
    }

    fn open_key(&mut self, open: proto::OpenKey, number: u64) -> Result<proto::KeyInfo, Fault> {
        // Checked before the key is read: a handle out of range must not cost an import.
        self.slot(open.handle)?;
        let (mut opened, info) = match open.source {
            None => return Err(refusal(Code::Invalid, NO_SOURCE, Blame::Caller)),
            Some(open_key::Source::Resident(name)) => self.open_resident(&name, number)?,
            Some(_) if !self.keyring.may_bring_keys => return Err(no_brought_keys()),
            Some(open_key::Source::Asymmetric(bytes)) => self.open_own(&bytes)?,
            Some(open_key::Source::Symmetric(symmetric)) => self.open_own_symmetric(&symmetric)?,
        };
        // The client is sent no description of an unexpected key, only the refusal.
        if !is_expected(&open.fingerprint, &info.fingerprint) {
            audit_refusal(&self.service, &self.client, number, &opened.name, Code::WrongKey);
            let fault = replaced_key(&opened.name);
            self.retire(Some(opened));
            return Err(fault);
        }
        opened.expected = open.fingerprint;
        let former = self.slot(open.handle)?.replace(opened);
        self.retire(former);
        self.authorizations.remove_handle(open.handle);
        Ok(info)
    }

    fn open_resident(&self, name: &str, number: u64) -> Result<(OpenedKey, proto::KeyInfo), Fault> {
        let (opened, key) =
            OpenedKey::open_resident(&self.service, &self.keyring, &self.client, name, number)?;
        // A client that opens a key to use it has its certificates or needs none, and each connection opens its keys.
        let info = self.keyring.key_info(&key, name, &opened.rights);
        Ok((opened, proto::KeyInfo { certificates: Vec::new(), ..info }))
    }

    fn open_own(&self, bytes: &[u8]) -> Result<(OpenedKey, proto::KeyInfo), Fault> {
        let (opened, key) = OpenedKey::open_brought(&self.service, &self.client, bytes)?;
        let info = proto::KeyInfo { allowed: vec!["*".into()], ..describe_key(&key, "") };
        Ok((opened, info))
    }

    fn open_own_symmetric(
        &mut self,
        symmetric: &proto::Symmetric,
    ) -> Result<(OpenedKey, proto::KeyInfo), Fault> {
        let key_type = task::key_type(&symmetric.r#type).map_err(|error| error.fault())?;
        count_brought_key(&self.service.limits, &self.client.account, 1)?;
        let key = keys::raw::secret(symmetric.secret.to_vec()).map_err(bad_key)?;
        let held = HeldBytes::new(&self.client.account.bytes, HANDLE_BYTES).map_err(too_many_bytes)?;
        let added = Arc::make_mut(&mut self.own_keys).add(key_type, &key);
        let index = added.map_err(|error| refusal(Code::BadKey, &error.to_string(), Blame::Caller))?;
        let (kind, allowed) = (key_type.to_string(), vec!["*".into()]);
        let info = proto::KeyInfo { kind, allowed, ..describe_key(&key, "") };
        Ok((OpenedKey::of_session(&key, OpenedSource::OwnSymmetric(index), held), info))
    }

    fn close_key(&mut self, handle: u32) -> Result<(), Fault> {
        let former = self.slot(handle)?.take();
        self.retire(former);
        self.authorizations.remove_handle(handle);
        Ok(())
    }

    /// Notes that no handle stands for a key any more. A symmetric key of the client's own is then wiped.
    fn retire(&mut self, opened: Option<OpenedKey>) {
        self.closed.extend(opened.filter(|opened| matches!(opened.source, OpenedSource::OwnSymmetric(_))));
        self.wipe_closed_keys();
    }

    /// Wipes the closed keys, unless batches are in progress: batches in the queue still name keys by their indices.
    fn wipe_closed_keys(&mut self) {
        // Each batch in progress holds one reference, and the session holds one.
        if Arc::strong_count(&self.batches) > 1 {
            return;
        }
        let keys = Arc::make_mut(&mut self.own_keys);
        for opened in self.closed.drain(..) {
            if let OpenedSource::OwnSymmetric(index) = opened.source {
                keys.remove(index);
            }
        }
    }

    /// Returns the slot of a handle.
    fn slot(&mut self, handle: u32) -> Result<&mut Option<OpenedKey>, Fault> {
        check_handle(handle, &self.service.limits)?;
        let index = handle as usize;
        let more = (index + 1).saturating_sub(self.handles.len());
        // Counted before the memory is allocated: the client chooses the handle, and with it the length of the list.
        self.held.resize(self.held.len() + more * HANDLE_BYTES).map_err(too_many_bytes)?;
        let handles = Arc::make_mut(&mut self.handles);
        if more > 0 {
            handles.resize_with(index + 1, || None);
        }
        Ok(&mut handles[index])
    }
}

/// Checks that a handle is within the limits.
///
/// # Errors
/// It is not.
fn check_handle(handle: u32, limits: &ServerLimits) -> Result<(), Fault> {
    let max = limits.max_keys_per_stream;
    if handle < max {
        return Ok(());
    }
    let message = format!("handle {handle}: expected less than {max} ([limits] max_keys_per_stream)");
    Err(refusal(Code::ResourceExhausted, &message, Blame::Caller))
}

/// Checks that the server accepts requests.
///
/// # Errors
/// The server is stopping, or it must keep an audit log that it cannot write.
fn check_accepting(service: &SharedService) -> Result<(), Fault> {
    if service.drain.is_thrown() {
        return Err(refusal(Code::Unavailable, "the server is stopping", Blame::Machine));
    }
    if service.audit.forbids_work() {
        return Err(refusal(Code::Unavailable, "the audit log cannot be written", Blame::Machine));
    }
    Ok(())
}

impl PendingWork {
    fn ready(id: u64, body: response::Body) -> Self {
        Self::Ready(Some(Response { id, body: Some(body) }))
    }
}

impl Future for PendingResponse {
    type Output = HeldAnswer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<HeldAnswer> {
        let response = ready!(Pin::new(&mut self.work).poll(context));
        // unreachable because a future that has answered is not polled again
        let Some(held) = self.held.take() else { return Poll::Pending };
        Poll::Ready(HeldAnswer::new(response, held))
    }
}

impl HeldAnswer {
    /// Lets an answer hold its own length. If there is no space for it, the answer becomes a fault.
    fn new(response: Response, mut held: HeldBytes) -> Self {
        match held.resize(response.encoded_len()) {
            Ok(()) => Self { response, held },
            Err(error) => {
                // The fault itself is short and is not counted.
                held.shrink_to(0);
                let body = Some(response::Body::Fault(too_many_bytes(error)));
                Self { response: Response { id: response.id, body }, held }
            }
        }
    }
}

impl Future for PendingWork {
    type Output = Response;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        match self.get_mut() {
            // The default is unreachable because a future that has answered is not polled again.
            Self::Ready(response) => Poll::Ready(response.take().unwrap_or_default()),
            Self::Later(pending) => pending.as_mut().poll(context),
        }
    }
}

/// The refusal of a request without a body. A message of a newer protocol decodes as one without this field, which must
/// not pass for an empty value.
const NO_BODY: &str = "body is missing or not known here: expected open_key, close_key, jobs, records, list_keys, \
                       get_public_key, list_engines or open_ring";

/// The refusal of an [`proto::OpenRing`] on a stream of gRPC. A connection of the UNIX socket handles its first itself.
const NO_SHARED_MEMORY: &str =
    "rings of shared memory are opened on the UNIX socket only, and once per connection";

/// The refusal of an [`proto::OpenKey`] without a source.
const NO_SOURCE: &str = "source is missing or not known here: expected resident, asymmetric or symmetric";
