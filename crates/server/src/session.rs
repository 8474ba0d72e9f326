//! One client's stream: the keys that it has opened, and its requests.

mod jobs;
mod records;
mod verdicts;

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use oarlock::KeyKind;
use oarlock::keys::import;
use oarlock::table::{KeyPolicy, KeyTable, KeyType, TableError};
use oarlock::{Key, keys};
use oarlock_wire::proto::{self, Blame, Code, Fault, Request, Response, open_key, request, response};
use oarlock_wire::{Message, task};

use self::jobs::{PendingJobs, run_long};
use self::records::PendingRecords;
use self::verdicts::Verdicts;
use crate::audit::{AuditError, Operation, Origin};
use crate::budget::{BytesError, HeldBytes};
use crate::clients::Client;
use crate::config::RSA_KEY_UNITS;
use crate::identity::Identity;
use crate::keyring::{Denied, Keyring, Resident, Rights, about};
use crate::service::Service;
use crate::transport::KnownClient;

/// A client's stream. Keys that came with it end with it.
#[derive(Debug)]
pub(crate) struct Session {
    service: Arc<Service>,
    client: Identity,
    /// The counts of the client in all its streams together.
    account: Arc<Client>,
    /// The part of audit entries that describes the client.
    origin: Arc<Origin>,
    keyring: Arc<Keyring>,
    /// Shared with batches that are under way.
    handles: Arc<Vec<Option<Opened>>>,
    own_keys: Arc<OwnKeys>,
    /// Own symmetric keys that are to be wiped.
    closed: Vec<Opened>,
    /// Held by each batch that may use own keys.
    batches: Arc<()>,
    verdicts: Verdicts,
    /// Bytes that handles and keys hold.
    held: HeldBytes,
}

/// Bytes that a handle holds: its slot, a name, and rights.
const HANDLE_BYTES: usize = 256;

/// Bytes that a key of the client's own holds beside that.
const OWN_KEY_BYTES: usize = 16 << 10;

/// The most bytes of a key's name. No key has a longer name.
const MAX_NAME_BYTES: usize = 256;

/// Bytes of a key that a client brings: PEM of an RSA key of 16,384 bits has 13 KiB.
const MAX_KEY_BYTES: usize = 64 << 10;

/// Symmetric keys that came with the stream and are open.
#[derive(Clone, Debug, Default)]
struct OwnKeys {
    /// For batches that use the server's keys too. A key that was closed has left a key of zeros in its place.
    keys: Vec<Key>,
    /// The same by the same indices, each for whatever its type can do with data.
    table: KeyTable,
    /// The names in the table, by index.
    names: Vec<Arc<str>>,
    /// Numbers that have been given as names.
    last_name: u64,
}

/// A key that a handle stands for.
#[derive(Clone, Debug)]
struct Opened {
    /// A resident key's name; of a client's own key the fingerprint.
    name: Arc<str>,
    source: Source,
    rights: Rights,
    /// The fingerprint that the client expects; empty for any.
    expected: Bytes,
    /// Bytes that a key of the client's own holds, for as long as batches use it too.
    _held: Option<Arc<HeldBytes>>,
}

#[derive(Clone, Debug)]
enum Source {
    Resident(Resident),
    /// A resident key that is no longer there.
    Gone,
    /// A resident key in whose place another one is than the client expects.
    Another,
    Own(Key),
    /// Its index among the stream's own symmetric keys.
    OwnSymmetric(u32),
}

/// An answer that is under way. Dropping it cancels what has not been done.
#[derive(Debug)]
pub(crate) struct Pending {
    work: Work,
    /// Bytes that request and answer hold; None once it is answered.
    held: Option<HeldBytes>,
}

#[derive(Debug)]
enum Work {
    Ready(Option<Response>),
    Jobs(Box<PendingJobs>),
    Records(PendingRecords),
}

/// An answer, and the bytes that it holds until it has been sent.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) response: Response,
    pub(crate) held: HeldBytes,
}

impl Session {
    pub(crate) fn new(service: Arc<Service>, client: KnownClient) -> Self {
        let keyring = service.keyring();
        let KnownClient { identity, account } = client;
        Self {
            service,
            origin: Arc::new(Origin::of(&identity)),
            client: identity,
            held: HeldBytes::none(Arc::clone(&account)),
            account,
            keyring,
            handles: Arc::default(),
            own_keys: Arc::default(),
            closed: Vec::new(),
            batches: Arc::default(),
            verdicts: Verdicts::default(),
        }
    }

    /// Begins to answer a request, which holds so many bytes.
    pub(crate) fn start(&mut self, request: Request, mut held: HeldBytes) -> Pending {
        // The server's own number of the request, since its start: numbers of clients' say nothing about each other.
        let number = self.service.metrics.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let id = request.id;
        let work = self.begin(id, number, request, &mut held).unwrap_or_else(|fault| {
            self.service.metrics.rejections.count(fault.code(), 1);
            Work::ready(id, response::Body::Fault(fault))
        });
        Pending { work, held: Some(held) }
    }

    fn begin(&mut self, id: u64, number: u64, request: Request, held: &mut HeldBytes) -> Result<Work, Fault> {
        if self.service.is_draining() {
            return Err(refusal(Code::Unavailable, "the server is stopping", Blame::Machine));
        }
        if self.service.audit.forbids_work() {
            return Err(refusal(Code::Unavailable, "the audit log cannot be written", Blame::Machine));
        }
        self.renew();
        if !self.closed.is_empty() {
            self.clear_closed();
        }
        let ready = |body| Ok(Work::ready(id, body));
        match request.body {
            None => Err(refusal(Code::Invalid, NO_BODY, Blame::Caller)),
            Some(request::Body::OpenKey(open)) => ready(response::Body::Key(self.open(open, number)?)),
            Some(request::Body::CloseKey(close)) => {
                self.close(close.handle)?;
                ready(response::Body::Closed(proto::Closed {}))
            }
            Some(request::Body::Jobs(message)) => {
                run_long(message.count as usize, || self.start_jobs(id, number, &message, held))
            }
            Some(request::Body::Records(message)) => self.start_records(id, number, message, held),
            Some(request::Body::ListKeys(_)) => {
                ready(response::Body::Keys(proto::KeyList { keys: self.keyring.visible(&self.client) }))
            }
            Some(request::Body::GetPublicKey(get)) => {
                let info = Some(&*get.name).filter(|name| name.len() <= MAX_NAME_BYTES);
                let info = info.and_then(|name| self.keyring.info(name, &self.client));
                let info = info.ok_or_else(|| no_key(&get.name))?;
                ready(response::Body::Key(info))
            }
            Some(request::Body::ListEngines(_)) => ready(response::Body::Engines(self.service.engines())),
        }
    }

    /// Where the server's keys have changed, handles stand for the new ones of the same names, unless the client expects others.
    fn renew(&mut self) {
        let now = self.service.keyring();
        if now.generation == self.keyring.generation {
            return;
        }
        for opened in Arc::make_mut(&mut self.handles).iter_mut().flatten() {
            if matches!(opened.source, Source::Resident(_) | Source::Gone | Source::Another) {
                opened.source = opened.source_in(&now);
                opened.rights = now.rights(&opened.name, &self.client);
            }
        }
        self.keyring = now;
        self.verdicts.clear();
    }

    fn open(&mut self, open: proto::OpenKey, number: u64) -> Result<proto::KeyInfo, Fault> {
        self.slot(open.handle)?;
        let (mut opened, info) = match open.source {
            None => return Err(refusal(Code::Invalid, NO_SOURCE, Blame::Caller)),
            Some(open_key::Source::Resident(name)) => self.open_resident(&name, number)?,
            Some(source) if self.keyring.may_bring_keys => self.take_in(source, number)?,
            Some(_) => {
                let message = "no client may bring keys here ([limits] may_bring_keys is false)";
                return Err(refusal(Code::PermissionDenied, message, Blame::Caller));
            }
        };
        if !is_expected(&open.fingerprint, &info.fingerprint) {
            self.audit_refusal(number, &opened.name, Code::WrongKey);
            let fault = another_key(&opened.name);
            self.drop_own(Some(opened));
            return Err(fault);
        }
        opened.expected = open.fingerprint;
        let former = self.slot(open.handle)?.replace(opened);
        self.drop_own(former);
        self.verdicts.forget(open.handle);
        Ok(info)
    }

    /// A resident key. One that the client may not use is as if it were not there: names say something too.
    fn open_resident(&self, name: &str, number: u64) -> Result<(Opened, proto::KeyInfo), Fault> {
        if name.len() > MAX_NAME_BYTES {
            self.audit_refusal(number, name, Code::PermissionDenied);
            return Err(no_key(name));
        }
        let rights = self.keyring.rights(name, &self.client);
        let info = self.keyring.info(name, &self.client);
        let (Some(found), Some(info)) = (self.keyring.find(name), info) else {
            self.audit_refusal(number, name, Code::PermissionDenied);
            return Err(no_key(name));
        };
        let source = Source::Resident(found);
        Ok((Opened { name: name.into(), source, rights, expected: Bytes::new(), _held: None }, info))
    }

    /// A key that the client brings along.
    fn take_in(&mut self, source: open_key::Source, number: u64) -> Result<(Opened, proto::KeyInfo), Fault> {
        match source {
            open_key::Source::Resident(name) => self.open_resident(&name, number),
            open_key::Source::Asymmetric(bytes) => {
                let key = self.import(&bytes)?;
                let held = HeldBytes::new(&self.account, OWN_KEY_BYTES).map_err(too_much)?;
                let info = proto::KeyInfo { allowed: vec!["*".into()], ..about(&key, "") };
                Ok((own(&key, Source::Own(key.clone()), held), info))
            }
            open_key::Source::Symmetric(symmetric) => {
                let key_type = task::key_type(&symmetric.r#type).map_err(|error| error.fault())?;
                self.count_brought(1)?;
                let key = keys::raw::secret(symmetric.secret.to_vec()).map_err(bad_key)?;
                let held = HeldBytes::new(&self.account, HANDLE_BYTES).map_err(too_much)?;
                let index = self.add(key_type, &key)?;
                let (kind, allowed) = (key_type.to_string(), vec!["*".into()]);
                let info = proto::KeyInfo { kind, allowed, ..about(&key, "") };
                Ok((own(&key, Source::OwnSymmetric(index), held), info))
            }
        }
    }

    /// Reads an asymmetric key of the client's own. The bound of its length and the rate come first: reading is work.
    fn import(&self, bytes: &[u8]) -> Result<Key, Fault> {
        if bytes.len() > MAX_KEY_BYTES {
            let message = format!("{} bytes are no key: expected {MAX_KEY_BYTES} at most", bytes.len());
            return Err(refusal(Code::BadKey, &message, Blame::Caller));
        }
        self.count_brought(1)?;
        let key = import::any(bytes, None).map_err(bad_key)?;
        let max = self.service.limits.max_brought_rsa_bits;
        match key.kind() {
            KeyKind::RsaPrivate(bits) | KeyKind::RsaPublic(bits) if bits > max => {
                let message = format!(
                    "RSA keys that clients bring have {max} bits at most here ([limits] max_brought_rsa_bits), found {bits}"
                );
                Err(refusal(Code::BadKey, &message, Blame::Caller))
            }
            KeyKind::RsaPrivate(_) => self.count_brought(RSA_KEY_UNITS - 1).map(|()| key),
            _ => Ok(key),
        }
    }

    fn count_brought(&self, units: u32) -> Result<(), Fault> {
        self.account.brought_keys.take(units).map_err(|wait| {
            let max = self.service.limits.max_brought_keys_per_second;
            let message = format!(
                "this client brings keys too often: {max} per second are allowed ([limits] max_brought_keys_per_second)"
            );
            Fault { retry_after_ms: in_ms(wait), ..refusal(Code::ResourceExhausted, &message, Blame::Caller) }
        })
    }

    fn add(&mut self, key_type: KeyType, key: &Key) -> Result<u32, Fault> {
        let refused = |error: &dyn Display| refusal(Code::BadKey, &error.to_string(), Blame::Caller);
        Arc::make_mut(&mut self.own_keys).add(key_type, key).map_err(|error| refused(&error))
    }

    /// Notes that a symmetric key of the client's own is not open any more.
    fn drop_own(&mut self, opened: Option<Opened>) {
        self.closed.extend(opened.filter(|opened| matches!(opened.source, Source::OwnSymmetric(_))));
        self.clear_closed();
    }

    /// Wipes keys that were closed, unless batches are under way: those that wait still name them by their indices.
    fn clear_closed(&mut self) {
        if Arc::strong_count(&self.batches) > 1 {
            return;
        }
        let own = Arc::make_mut(&mut self.own_keys);
        for opened in self.closed.drain(..) {
            if let Source::OwnSymmetric(index) = opened.source {
                own.remove(index);
            }
        }
    }

    /// The place of a handle.
    fn slot(&mut self, handle: u32) -> Result<&mut Option<Opened>, Fault> {
        let bound = self.service.limits.keys_per_stream;
        if handle >= bound {
            let message =
                format!("handle {handle}: expected less than {bound}, the keys that a stream may open");
            return Err(refusal(Code::ResourceExhausted, &message, Blame::Caller));
        }
        let place = handle as usize;
        let more = (place + 1).saturating_sub(self.handles.len());
        self.held.resize(self.held.len() + more * HANDLE_BYTES).map_err(too_much)?;
        let handles = Arc::make_mut(&mut self.handles);
        if more > 0 {
            handles.resize_with(place + 1, || None);
        }
        Ok(&mut handles[place])
    }

    fn close(&mut self, handle: u32) -> Result<(), Fault> {
        let former = self.slot(handle)?.take();
        self.drop_own(former);
        self.verdicts.forget(handle);
        Ok(())
    }

    /// Writes down that a key was not opened.
    fn audit_refusal(&self, number: u64, key: &str, verdict: Code) {
        let refused = Operation { key, operation: "open", count: 1, verdict };
        self.service.audit.refuse(&self.origin, number, &[refused]);
    }
}

impl OwnKeys {
    fn add(&mut self, key_type: KeyType, key: &Key) -> Result<u32, TableError> {
        self.last_name += 1;
        let name: Arc<str> = self.last_name.to_string().into();
        let secret = key.secret().cloned().unwrap_or_default();
        let added = self.table.insert(Arc::clone(&name), key_type, secret, KeyPolicy::any_data(key_type))?;
        let index = added.index as usize;
        match (self.keys.get_mut(index), self.names.get_mut(index)) {
            (Some(former), Some(former_name)) => (*former, *former_name) = (key.clone(), name),
            _ => {
                self.keys.push(key.clone());
                self.names.push(name);
            }
        }
        Ok(added.index)
    }

    /// Removes a key, whose index a later one gets.
    fn remove(&mut self, index: u32) {
        let Some(name) = self.names.get(index as usize) else { return };
        self.table.recycle(name);
        if let Ok(zeros) = keys::raw::secret(vec![0; 16]) {
            self.keys[index as usize] = zeros;
        }
    }
}

impl Opened {
    /// What a resident key's name stands for among the keys as they are now.
    fn source_in(&self, keyring: &Keyring) -> Source {
        match keyring.find(&self.name) {
            None => Source::Gone,
            Some(found) if is_expected(&self.expected, &keyring.fingerprint(&found)) => {
                Source::Resident(found)
            }
            Some(_) => Source::Another,
        }
    }
}

/// True where the client expects no key in particular, or this one.
fn is_expected(expected: &[u8], found: &[u8]) -> bool {
    expected.is_empty() || expected == found
}

/// A key of the client's own, which it may use for everything.
fn own(key: &Key, source: Source, held: HeldBytes) -> Opened {
    let name = key.fingerprint().to_string().into();
    Opened { name, source, rights: Rights::Own, expected: Bytes::new(), _held: Some(Arc::new(held)) }
}

impl Work {
    fn ready(id: u64, body: response::Body) -> Self {
        Self::Ready(Some(Response { id, body: Some(body) }))
    }
}

impl Future for Pending {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let response = ready!(Pin::new(&mut self.work).poll(context));
        // unreachable because a future that has answered is not asked again
        let Some(held) = self.held.take() else { return Poll::Pending };
        Poll::Ready(Answer::new(response, held))
    }
}

impl Answer {
    /// An answer holds its own length. One for which there is no room is not given.
    fn new(response: Response, mut held: HeldBytes) -> Self {
        match held.resize(response.encoded_len()) {
            Ok(()) => Self { response, held },
            Err(error) => {
                held.shrink_to(0);
                let body = Some(response::Body::Fault(too_much(error)));
                Self { response: Response { id: response.id, body }, held }
            }
        }
    }
}

impl Future for Work {
    type Output = Response;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        match self.get_mut() {
            // A future that has answered is not asked again.
            Self::Ready(response) => Poll::Ready(response.take().unwrap_or_default()),
            Self::Jobs(pending) => Pin::new(&mut **pending).poll(context),
            Self::Records(pending) => Pin::new(pending).poll(context),
        }
    }
}

/// A message of a newer protocol decodes as one without this field: neither may pass for an empty value.
const NO_BODY: &str = "body is missing or not known here: expected open_key, close_key, jobs, records, list_keys, \
                       get_public_key or list_engines";

const NO_SOURCE: &str = "source is missing or not known here: expected resident, asymmetric or symmetric";

pub(crate) fn refusal(code: Code, message: &str, blame: Blame) -> Fault {
    Fault { code: code.into(), message: message.to_owned(), blame: blame.into(), ..Fault::default() }
}

/// A refusal of work whose entry the audit log cannot take.
fn unaudited(error: AuditError) -> Fault {
    let (code, blame, retry_after_ms) = match error {
        AuditError::Full => (Code::Unavailable, Blame::Machine, 100),
        AuditError::TooMany { .. } => (Code::ResourceExhausted, Blame::Caller, 100),
        AuditError::TooLarge { .. } => (Code::ResourceExhausted, Blame::Caller, 0),
        AuditError::Closed => (Code::Unavailable, Blame::Machine, 0),
    };
    Fault { retry_after_ms, ..refusal(code, &error.to_string(), blame) }
}

/// A refusal of what would hold too many bytes.
fn too_much(error: BytesError) -> Fault {
    let blame = match error {
        BytesError::Client { .. } => Blame::Caller,
        BytesError::All => Blame::Machine,
    };
    Fault { retry_after_ms: 100, ..refusal(Code::ResourceExhausted, &error.to_string(), blame) }
}

/// A time after which to try again, of one millisecond at least.
fn in_ms(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis()).unwrap_or(u32::MAX).max(1)
}

fn no_key(name: &str) -> Fault {
    let name: String = name.chars().take(64).collect();
    let message = format!("key {name:?}: there is none of this name that this client may use");
    refusal(Code::PermissionDenied, &message, Blame::Caller)
}

/// Names come from the server's files, or are fingerprints of keys that the client brought.
fn another_key(name: &str) -> Fault {
    let message = format!("{name:?} is not the key that the client expects: another key lives there now");
    refusal(Code::WrongKey, &message, Blame::Caller)
}

fn bad_key(error: keys::KeyError) -> Fault {
    refusal(Code::BadKey, &error.to_string(), Blame::Caller)
}

/// What there is to say where a key's grants do not allow what is asked.
fn denial(denied: Denied, operation: &str) -> Fault {
    match denied {
        Denied::Forbidden => {
            let message = format!("no grant allows this client {operation} with this key");
            refusal(Code::PermissionDenied, &message, Blame::Caller)
        }
        Denied::TooOften(after) => {
            let message =
                format!("{operation} with this key has been done too often: the grant's rate is used up");
            let retry_after_ms = in_ms(after);
            Fault { retry_after_ms, ..refusal(Code::ResourceExhausted, &message, Blame::Caller) }
        }
    }
}
