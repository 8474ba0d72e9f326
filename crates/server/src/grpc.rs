//! gRPC: the stream, and single calls.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::stream::{FuturesUnordered, Stream};
use oarlock_wire::Message;
use oarlock_wire::proto::cryptoserver_server::Cryptoserver;
use oarlock_wire::proto::{
    self, Code, Fault, Request, Response, open_key, request, response, scheme, sign_request, verify_request,
};
use tonic::metadata::MetadataMap;
use tonic::{Status, Streaming};

use crate::budget::HeldBytes;
use crate::call::GrpcCall;
use crate::lifetime::StageWatch;
use crate::service::SharedService;
use crate::session::{ClientSession, HeldAnswer, PendingResponse, refusal};
use crate::transport::{CallPeer, KnownClient};

/// The service as tonic calls it.
#[derive(Debug)]
pub(crate) struct GrpcService(pub(crate) Arc<SharedService>);

/// Answers to a stream of requests, each as soon as it is there.
pub(crate) struct AnswerStream {
    session: ClientSession,
    service: Arc<SharedService>,
    client: KnownClient,
    call: Arc<GrpcCall>,
    requests: Streaming<Request>,
    pending: FuturesUnordered<PendingResponse>,
    ending: Pin<Box<dyn Future<Output = &'static str> + Send>>,
    /// How the stream will end, once nothing more is read.
    end: Option<Result<(), Status>>,
    /// Bytes that the last answer holds, until the next one is asked for.
    sent: Option<HeldBytes>,
}

impl Stream for AnswerStream {
    type Item = Result<Response, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        this.sent = None;
        loop {
            if let Poll::Ready(Some(HeldAnswer { response, held })) =
                Pin::new(&mut this.pending).poll_next(context)
            {
                this.sent = Some(held);
                return Poll::Ready(Some(Ok(response)));
            }
            if this.end.is_none()
                && let Poll::Ready(message) = this.ending.as_mut().poll(context)
            {
                this.end = Some(Err(Status::unavailable(message)));
            }
            if let Some(end) = &mut this.end {
                if !this.pending.is_empty() {
                    return Poll::Pending;
                }
                return Poll::Ready(std::mem::replace(end, Ok(())).err().map(Err));
            }
            if this.has_enough() {
                this.call.pause();
                return Poll::Pending;
            }
            match ready!(Pin::new(&mut this.requests).poll_next(context)) {
                Some(Ok(request)) => this.begin(request),
                Some(Err(status)) => this.end = Some(Err(status)),
                None => this.end = Some(Ok(())),
            }
        }
    }
}

impl AnswerStream {
    fn begin(&mut self, request: Request) {
        match self.call.take_message(&self.client.account, request.encoded_len()) {
            Ok(held) => self.pending.push(self.session.start(request, held)),
            Err(error) => self.end = Some(Err(Status::resource_exhausted(error.to_string()))),
        }
    }

    /// True while the client gets no more read: it has as much under way as it may.
    fn has_enough(&self) -> bool {
        let limits = &self.service.limits;
        // With room for one more message of any length, what a stream sends is not refused for what it has sent before.
        let is_full = self.client.account.bytes.left() < 2 * limits.max_message_bytes;
        self.pending.len() >= limits.max_in_flight || (is_full && !self.pending.is_empty())
    }
}

impl GrpcService {
    /// One request of a client, in a session of its own, after the keys it names have been opened.
    async fn once<T>(
        &self,
        request: &tonic::Request<T>,
        keys: Vec<open_key::Source>,
        body: request::Body,
    ) -> Result<response::Body, Status> {
        let (client, call) = (client(request)?, call(request)?);
        let mut session = self.0.session(client.clone());
        // The request itself is held by its call.
        let held = || HeldBytes::none(Arc::clone(&client.account));
        for (handle, source) in (0_u32..).zip(keys) {
            let open = proto::OpenKey { handle, source: Some(source), ..Default::default() };
            let open = Request { id: 0, body: Some(request::Body::OpenKey(open)) };
            answer(session.start(open, held()).await.response)?;
        }
        let HeldAnswer { response, held } = session.start(Request { id: 0, body: Some(body) }, held()).await;
        call.keep(held);
        answer(response)
    }

    /// One job under one key.
    async fn job<T>(
        &self,
        request: &tonic::Request<T>,
        key: open_key::Source,
        job: proto::Jobs,
    ) -> Result<bytes::Bytes, Result<(), Status>> {
        let answer = self.once(request, vec![key], request::Body::Jobs(job)).await.map_err(Err)?;
        let response::Body::Results(mut results) = answer else { return Err(Err(unexpected())) };
        match results.faults.pop() {
            Some(fault) => Err(Err(status(fault))),
            // No reason is needed to say no.
            None if results.codes.first() == Some(&(Code::Rejected as u8)) => Err(Ok(())),
            None => Ok(results.outputs),
        }
    }
}

/// Returns a field that the client must set. An absent one is a mistake of the client, never an empty value.
fn required<T>(field: Option<T>, name: &str, expected: &str) -> Result<T, Status> {
    field.ok_or_else(|| Status::invalid_argument(format!("{name} is missing: expected {expected}")))
}

/// Returns the name of a resident key.
fn resident(name: &str) -> Result<open_key::Source, Status> {
    let name = required(Some(name).filter(|name| !name.is_empty()), "key", "the name of a resident key")?;
    Ok(open_key::Source::Resident(name.to_owned()))
}

/// Returns the scheme that the client chose.
fn chosen(scheme: Option<proto::Scheme>) -> Result<proto::Scheme, Status> {
    let chosen = scheme.filter(|scheme| scheme.kind != scheme::Kind::Unspecified as i32);
    required(chosen, "scheme", "a scheme with its kind")
}

/// The expected content of the field `input`.
const INPUT: &str = "a message or a digest";

fn single(scheme: proto::Scheme, input: bytes::Bytes, second: bytes::Bytes) -> proto::Jobs {
    let len = |bytes: &bytes::Bytes| bytes::Bytes::copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    let (input_lens, second_lens) = (len(&input), len(&second));
    proto::Jobs {
        count: 1,
        schemes: vec![scheme],
        inputs: input,
        input_lens,
        seconds: second,
        second_lens,
        ..Default::default()
    }
}

#[tonic::async_trait]
impl Cryptoserver for GrpcService {
    type StreamStream = AnswerStream;

    async fn stream(
        &self,
        request: tonic::Request<Streaming<Request>>,
    ) -> Result<tonic::Response<AnswerStream>, Status> {
        let (client, call) = (client(&request)?, call(&request)?);
        let ending = Box::pin(ending(Arc::clone(&self.0), peer(&request)?.stage.clone()));
        Ok(tonic::Response::new(AnswerStream {
            session: self.0.session(client.clone()),
            service: Arc::clone(&self.0),
            client,
            call,
            requests: request.into_inner(),
            pending: FuturesUnordered::new(),
            ending,
            end: None,
            sent: None,
        }))
    }

    async fn sign(
        &self,
        request: tonic::Request<proto::SignRequest>,
    ) -> Result<tonic::Response<proto::SignResponse>, Status> {
        let own = request.get_ref();
        let (key, scheme) = (resident(&own.key)?, chosen(own.scheme)?);
        let (input, takes_digest) = match required(own.input.as_ref(), "input", INPUT)? {
            sign_request::Input::Message(bytes) => (bytes.clone(), false),
            sign_request::Input::Digest(bytes) => (bytes.clone(), true),
        };
        let job = single(proto::Scheme { takes_digest, ..scheme }, input, Default::default());
        let signature = self.job(&request, key, job).await.map_err(refused)?;
        Ok(tonic::Response::new(proto::SignResponse { signature }))
    }

    async fn verify(
        &self,
        request: tonic::Request<proto::VerifyRequest>,
    ) -> Result<tonic::Response<proto::VerifyResponse>, Status> {
        let own = request.get_ref();
        let key = match required(own.key.as_ref(), "key", "a resident key's name or a public key")? {
            verify_request::Key::Resident(name) => resident(name)?,
            verify_request::Key::PublicKey(bytes) => open_key::Source::Asymmetric(bytes.clone()),
        };
        let scheme = chosen(own.scheme)?;
        let (input, takes_digest) = match required(own.input.as_ref(), "input", INPUT)? {
            verify_request::Input::Message(bytes) => (bytes.clone(), false),
            verify_request::Input::Digest(bytes) => (bytes.clone(), true),
        };
        let signature = Some(own.signature.clone()).filter(|signature| !signature.is_empty());
        let signature = required(signature, "signature", "the signature to verify")?;
        let job = single(proto::Scheme { takes_digest, ..scheme }, input, signature);
        let is_valid = match self.job(&request, key, job).await {
            Ok(_) => true,
            Err(Ok(())) => false,
            Err(Err(status)) => return Err(status),
        };
        Ok(tonic::Response::new(proto::VerifyResponse { is_valid }))
    }

    async fn decrypt(
        &self,
        request: tonic::Request<proto::DecryptRequest>,
    ) -> Result<tonic::Response<proto::DecryptResponse>, Status> {
        let own = request.get_ref();
        let (key, scheme) = (resident(&own.key)?, chosen(own.scheme)?);
        let ciphertext = Some(own.ciphertext.clone()).filter(|ciphertext| !ciphertext.is_empty());
        let ciphertext = required(ciphertext, "ciphertext", "what is to be decrypted")?;
        let job = single(scheme, ciphertext, own.label.clone());
        let plaintext = self.job(&request, key, job).await.map_err(refused)?;
        Ok(tonic::Response::new(proto::DecryptResponse { plaintext }))
    }

    async fn derive(
        &self,
        request: tonic::Request<proto::DeriveRequest>,
    ) -> Result<tonic::Response<proto::DeriveResponse>, Status> {
        let own = request.get_ref();
        let x25519 = proto::Scheme { kind: scheme::Kind::X25519.into(), ..Default::default() };
        let peer = Some(own.peer.clone()).filter(|peer| !peer.is_empty());
        let peer = required(peer, "peer", "the 32 bytes of the other side's public key")?;
        let job = single(x25519, peer, Default::default());
        let key = resident(&own.key)?;
        let shared_secret = self.job(&request, key, job).await.map_err(refused)?;
        Ok(tonic::Response::new(proto::DeriveResponse { shared_secret }))
    }

    async fn process(
        &self,
        request: tonic::Request<proto::ProcessRequest>,
    ) -> Result<tonic::Response<proto::RecordResults>, Status> {
        let own = request.get_ref();
        let records = required(own.records.clone(), "records", "a batch of records")?;
        let keys = own.keys.iter().map(|name| resident(name)).collect::<Result<_, _>>()?;
        match self.once(&request, keys, request::Body::Records(records)).await? {
            response::Body::RecordResults(results) => Ok(tonic::Response::new(results)),
            _ => Err(unexpected()),
        }
    }

    async fn list_keys(
        &self,
        request: tonic::Request<proto::ListKeysRequest>,
    ) -> Result<tonic::Response<proto::KeyList>, Status> {
        match self.once(&request, vec![], request::Body::ListKeys(proto::ListKeysRequest {})).await? {
            response::Body::Keys(keys) => Ok(tonic::Response::new(keys)),
            _ => Err(unexpected()),
        }
    }

    async fn get_public_key(
        &self,
        request: tonic::Request<proto::GetPublicKeyRequest>,
    ) -> Result<tonic::Response<proto::KeyInfo>, Status> {
        let body = request::Body::GetPublicKey(request.get_ref().clone());
        match self.once(&request, vec![], body).await? {
            response::Body::Key(info) => Ok(tonic::Response::new(info)),
            _ => Err(unexpected()),
        }
    }

    async fn list_engines(
        &self,
        request: tonic::Request<proto::ListEnginesRequest>,
    ) -> Result<tonic::Response<proto::EngineList>, Status> {
        match self.once(&request, vec![], request::Body::ListEngines(proto::ListEnginesRequest {})).await? {
            response::Body::Engines(engines) => Ok(tonic::Response::new(engines)),
            _ => Err(unexpected()),
        }
    }
}

/// Returns the client of a call, unless its connection is to end: then what it still asks for is refused.
fn client<T>(request: &tonic::Request<T>) -> Result<KnownClient, Status> {
    let peer = peer(request)?;
    match peer.stage.end_reason() {
        None => Ok(peer.client.clone()),
        Some(reason) => Err(Status::unavailable(reason.message())),
    }
}

/// Returns what counts the bytes of a call.
fn call<T>(request: &tonic::Request<T>) -> Result<Arc<GrpcCall>, Status> {
    request.extensions().get().cloned().ok_or_else(unexpected)
}

fn peer<T>(request: &tonic::Request<T>) -> Result<&CallPeer, Status> {
    let peer = request.extensions().get::<CallPeer>();
    peer.ok_or_else(|| Status::unauthenticated("the connection proves nobody"))
}

/// Waits until the server stops or the connection is to end; returns what the client is told.
async fn ending(service: Arc<SharedService>, stage: StageWatch) -> &'static str {
    tokio::select! {
        () = service.draining() => "the server is stopping",
        reason = stage.ending() => reason.message(),
    }
}

fn answer(response: Response) -> Result<response::Body, Status> {
    match response.body {
        Some(response::Body::Fault(fault)) => Err(status(fault)),
        Some(body) => Ok(body),
        None => Err(unexpected()),
    }
}

/// A refusal of a call that is no verification: to say no is one too.
fn refused(refused: Result<(), Status>) -> Status {
    let rejected = || status(refusal(Code::Rejected, "the answer is no", proto::Blame::Peer));
    refused.err().unwrap_or_else(rejected)
}

fn unexpected() -> Status {
    Status::internal("the server has no answer")
}

fn status(fault: Fault) -> Status {
    let code = match fault.code() {
        Code::Done => tonic::Code::Internal,
        Code::Rejected | Code::Invalid | Code::WrongKey | Code::BadKey => tonic::Code::InvalidArgument,
        Code::NoSuchKey => tonic::Code::NotFound,
        Code::PermissionDenied => tonic::Code::PermissionDenied,
        Code::UsedUp | Code::DependencyFailed => tonic::Code::FailedPrecondition,
        Code::Unsupported => tonic::Code::Unimplemented,
        Code::ResourceExhausted => tonic::Code::ResourceExhausted,
        Code::DeadlineExceeded => tonic::Code::DeadlineExceeded,
        Code::Unavailable => tonic::Code::Unavailable,
        Code::Failed => tonic::Code::Internal,
    };
    if fault.retry_after_ms == 0 {
        return Status::new(code, fault.message);
    }
    let mut metadata = MetadataMap::new();
    metadata.insert(PUSHBACK, fault.retry_after_ms.into());
    let message = format!("{}; try again in {} ms", fault.message, fault.retry_after_ms);
    Status::with_metadata(code, message, metadata)
}

/// The trailer that tells clients of gRPC when to try again. gRPC proposal A6, pushback.
const PUSHBACK: &str = "grpc-retry-pushback-ms";
