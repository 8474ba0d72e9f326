//! The gRPC service: the stream, and single calls.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::Stream;
use oarlock::{Input, MlKemSet};
use oarlock_wire::Message;
use oarlock_wire::proto::cryptoserver_server::Cryptoserver;
use oarlock_wire::proto::{
    self, Code, Fault, Request, Response, encapsulate_request, request, response, scheme, sign_request,
    verify_request,
};
use oarlock_wire::scheme::WireScheme;
use tonic::metadata::MetadataMap;
use tonic::{Status, Streaming};

use crate::budget::HeldBytes;
use crate::call::GrpcCall;
use crate::clients::KnownClient;
use crate::service::SharedService;
use crate::session::{
    HeldAnswer, HeldRequest, RequestDriver, RequestSource, SingleCall, UnaryJob, UnaryKey, UnaryOutcome,
    ValueSession, no_answer, refusal, run_unary,
};
use crate::transport::CallPeer;
use crate::values::{TokenDirection, ValueCall};

/// The service as tonic calls it.
#[derive(Debug)]
pub(crate) struct GrpcService(pub(crate) Arc<SharedService>);

/// The length of a public key of X25519.
const X25519_LEN: usize = 32;

/// The answers to a stream of requests, each sent as soon as it is complete.
pub(crate) struct AnswerStream {
    driver: RequestDriver,
    requests: GrpcRequests,
    /// The error that ends the stream after the last answer.
    failure: Option<Status>,
    /// The bytes that the last answer holds, until the next one is asked for.
    sent: Option<HeldBytes>,
}

impl Stream for AnswerStream {
    type Item = Result<Response, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        // The next answer is asked for, so the one before has been taken over.
        this.sent = None;
        this.driver.begin_turn();
        loop {
            return match this.driver.poll_answer(&mut this.requests, context) {
                Poll::Ready(Ok(Some(HeldAnswer { response, held }))) => {
                    this.sent = Some(held);
                    Poll::Ready(Some(Ok(response)))
                }
                Poll::Ready(Ok(None)) => {
                    let stopped = this.driver.take_end_message().map(Status::unavailable);
                    Poll::Ready(this.failure.take().or(stopped).map(Err))
                }
                // The requests before the fault are still answered.
                Poll::Ready(Err(status)) => {
                    this.failure = Some(status);
                    this.driver.close();
                    continue;
                }
                Poll::Pending => Poll::Pending,
            };
        }
    }
}

/// The requests of a stream, and the call that counts their bytes.
struct GrpcRequests {
    stream: Streaming<Request>,
    call: Arc<GrpcCall>,
    client: KnownClient,
    max_message_bytes: usize,
}

impl RequestSource for GrpcRequests {
    type Error = Status;

    fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<HeldRequest>, Status>> {
        Pin::new(&mut self.stream).poll_next(context).map(|received| {
            let received = received.transpose();
            let received = received.map_err(|status| unreadable_message(&status).unwrap_or(status))?;
            let Some(request) = received else { return Ok(None) };
            // `encoded_len` is the length on the wire: tonic compresses nothing here.
            match self.call.take_message(&self.client.account, request.encoded_len()) {
                Ok(held) => Ok(Some((request, held))),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn pause(&mut self) {
        self.call.pause();
    }

    fn needed_bytes(&self) -> usize {
        // tonic may have buffered a message in addition to the next one.
        2 * self.max_message_bytes
    }
}

impl GrpcService {
    /// Begins a call with one request.
    fn single_call<T>(&self, request: &tonic::Request<T>) -> Result<SingleCall, Status> {
        Ok(SingleCall::new(&self.0, client_of(request)?, call_of(request)?))
    }

    /// Begins a call with values.
    fn values<'c, T>(&'c self, request: &'c tonic::Request<T>) -> Result<ValueCall<'c>, Status> {
        Ok(ValueCall(ValueSession::new(&self.0, known_client(request)?, grpc_call(request)?)))
    }

    /// Answers a request that names no key.
    async fn answer<T>(
        &self,
        request: &tonic::Request<T>,
        body: request::Body,
    ) -> Result<response::Body, Status> {
        self.single_call(request)?.answer(body).await.map_err(status)
    }

    /// Runs one job. The bytes of its answer are held until the call has ended.
    async fn run_job<T>(
        &self,
        request: &tonic::Request<T>,
        job: UnaryJob<'_>,
    ) -> Result<UnaryOutcome, Status> {
        let (client, call) = (client_of(request)?, call_of(request)?);
        let mut held = HeldBytes::none(&client.account.bytes);
        let outcome = run_unary(&self.0, &client, &job, &mut held).await;
        call.keep(held);
        Ok(outcome)
    }

    /// Runs one job whose answer is an output.
    async fn run_job_with_output<T>(
        &self,
        request: &tonic::Request<T>,
        job: UnaryJob<'_>,
    ) -> Result<Bytes, Status> {
        match self.run_job(request, job).await? {
            UnaryOutcome::Output(output) => Ok(output),
            UnaryOutcome::Rejected => Err(status(refusal(
                Code::Rejected,
                "rejected: the ciphertext or signature is not valid",
                proto::Blame::Peer,
            ))),
            UnaryOutcome::Failed(fault) => Err(status(fault)),
        }
    }
}

/// Returns a field that the client must set. An absent field is a mistake of the client, never an empty value.
fn required<T>(field: Option<T>, name: &str, expected: &str) -> Result<T, Status> {
    field.ok_or_else(|| Status::invalid_argument(format!("{name} is missing: expected {expected}")))
}

/// Returns the name of a resident key.
fn required_key(name: &str) -> Result<&str, Status> {
    required(Some(name).filter(|name| !name.is_empty()), "key", "the name of a resident key")
}

/// Returns the scheme that the client chose.
fn required_scheme(scheme: Option<proto::Scheme>, takes_digest: bool) -> Result<WireScheme, Status> {
    let chosen = scheme.filter(|scheme| scheme.kind != scheme::Kind::Unspecified as i32);
    let scheme = required(chosen, "scheme", "a scheme with its kind")?;
    WireScheme::read(&proto::Scheme { takes_digest, ..scheme }).map_err(|error| status(error.fault()))
}

/// Returns the scheme of a call whose key says the parameter set.
fn kem_scheme(kind: scheme::Kind) -> Result<WireScheme, Status> {
    required_scheme(Some(proto::Scheme { kind: kind.into(), ..Default::default() }), false)
}

/// Returns bytes that must not be empty.
fn required_bytes<'r>(bytes: &'r Bytes, name: &str, expected: &str) -> Result<&'r [u8], Status> {
    required(Some(&**bytes).filter(|bytes| !bytes.is_empty()), name, expected)
}

/// The expected content of the field `input`.
const INPUT: &str = "a message or a digest";

/// The expected content of the field `key` of a call that needs no private key.
const PUBLIC_KEY: &str = "a resident key's name or a public key";

#[tonic::async_trait]
impl Cryptoserver for GrpcService {
    type StreamStream = AnswerStream;

    async fn stream(
        &self,
        request: tonic::Request<Streaming<Request>>,
    ) -> Result<tonic::Response<AnswerStream>, Status> {
        let (client, call) = (client_of(&request)?, call_of(&request)?);
        let stage = peer_of(&request)?.stage.clone();
        let driver = RequestDriver::new(client.clone(), &self.0, stage);
        let (stream, max_message_bytes) = (request.into_inner(), self.0.limits.max_message_bytes);
        let requests = GrpcRequests { stream, call, client, max_message_bytes };
        Ok(tonic::Response::new(AnswerStream { driver, requests, failure: None, sent: None }))
    }

    async fn sign(
        &self,
        request: tonic::Request<proto::SignRequest>,
    ) -> Result<tonic::Response<proto::SignResponse>, Status> {
        let body = request.get_ref();
        let key = UnaryKey::Resident(required_key(&body.key)?);
        // The scheme is asked for first: a call without it and without input names the scheme.
        let input = body.input.as_ref().map(|input| match input {
            sign_request::Input::Message(message) => Input::Message(message),
            sign_request::Input::Digest(digest) => Input::Digest(digest),
        });
        let scheme = required_scheme(body.scheme, input.is_some_and(|input| input.is_digest()))?;
        let input = required(input, "input", INPUT)?;
        let job = UnaryJob { key, scheme, input, second: &[], context: &body.context };
        let signature = self.run_job_with_output(&request, job).await?;
        Ok(tonic::Response::new(proto::SignResponse { signature }))
    }

    async fn verify(
        &self,
        request: tonic::Request<proto::VerifyRequest>,
    ) -> Result<tonic::Response<proto::VerifyResponse>, Status> {
        let body = request.get_ref();
        let key = match required(body.key.as_ref(), "key", PUBLIC_KEY)? {
            verify_request::Key::Resident(name) => UnaryKey::Resident(required_key(name)?),
            verify_request::Key::PublicKey(bytes) => UnaryKey::Brought(bytes),
        };
        let input = body.input.as_ref().map(|input| match input {
            verify_request::Input::Message(message) => Input::Message(message),
            verify_request::Input::Digest(digest) => Input::Digest(digest),
        });
        let scheme = required_scheme(body.scheme, input.is_some_and(|input| input.is_digest()))?;
        let input = required(input, "input", INPUT)?;
        let second = required_bytes(&body.signature, "signature", "the signature to verify")?;
        let job = UnaryJob { key, scheme, input, second, context: &body.context };
        let is_valid = match self.run_job(&request, job).await? {
            UnaryOutcome::Output(_) => true,
            UnaryOutcome::Rejected => false,
            UnaryOutcome::Failed(fault) => return Err(status(fault)),
        };
        Ok(tonic::Response::new(proto::VerifyResponse { is_valid }))
    }

    async fn decrypt(
        &self,
        request: tonic::Request<proto::DecryptRequest>,
    ) -> Result<tonic::Response<proto::DecryptResponse>, Status> {
        let body = request.get_ref();
        let is_for_rsa = body.scheme.is_some() || !body.ciphertext.is_empty();
        match (is_for_rsa, body.ciphertexts.is_empty()) {
            (true, false) => {
                let message =
                    "ciphertext and ciphertexts: expected one of them, for RSA or for a symmetric key";
                return Err(Status::invalid_argument(message));
            }
            (false, false) => {
                return self.values(&request)?.decrypt(body).await.map(tonic::Response::new).map_err(status);
            }
            (_, true) => {}
        }
        let key = UnaryKey::Resident(required_key(&body.key)?);
        let scheme = required_scheme(body.scheme, false)?;
        let input = required_bytes(&body.ciphertext, "ciphertext", "the ciphertext to decrypt")?;
        let job = UnaryJob { key, scheme, input: Input::Message(input), second: &body.label, context: &[] };
        let plaintext = self.run_job_with_output(&request, job).await?;
        Ok(tonic::Response::new(proto::DecryptResponse { plaintext, ..Default::default() }))
    }

    async fn derive(
        &self,
        request: tonic::Request<proto::DeriveRequest>,
    ) -> Result<tonic::Response<proto::DeriveResponse>, Status> {
        let body = request.get_ref();
        let expected = "the other side's public key: 32 bytes for X25519, an uncompressed point for ECDH";
        let input = required_bytes(&body.peer, "peer", expected)?;
        // The length decides, because the key is looked up later: a key of another kind is then refused as such.
        let kind = if input.len() == X25519_LEN { scheme::Kind::X25519 } else { scheme::Kind::Ecdh };
        let agreement = proto::Scheme { kind: kind.into(), ..Default::default() };
        let (key, scheme) =
            (UnaryKey::Resident(required_key(&body.key)?), required_scheme(Some(agreement), false)?);
        let job = UnaryJob { key, scheme, input: Input::Message(input), second: &[], context: &[] };
        let shared_secret = self.run_job_with_output(&request, job).await?;
        Ok(tonic::Response::new(proto::DeriveResponse { shared_secret }))
    }

    async fn encapsulate(
        &self,
        request: tonic::Request<proto::EncapsulateRequest>,
    ) -> Result<tonic::Response<proto::EncapsulateResponse>, Status> {
        let key = match required(request.get_ref().key.as_ref(), "key", PUBLIC_KEY)? {
            encapsulate_request::Key::Resident(name) => UnaryKey::Resident(required_key(name)?),
            encapsulate_request::Key::PublicKey(bytes) => UnaryKey::Brought(bytes),
        };
        let scheme = kem_scheme(scheme::Kind::MlKemEncaps)?;
        let job = UnaryJob { key, scheme, input: Input::Message(&[]), second: &[], context: &[] };
        let mut ciphertext = self.run_job_with_output(&request, job).await?;
        let secret_start = ciphertext.len().checked_sub(MlKemSet::SECRET_LEN).ok_or_else(unexpected)?;
        let shared_secret = ciphertext.split_off(secret_start);
        Ok(tonic::Response::new(proto::EncapsulateResponse { ciphertext, shared_secret }))
    }

    async fn decapsulate(
        &self,
        request: tonic::Request<proto::DecapsulateRequest>,
    ) -> Result<tonic::Response<proto::DecapsulateResponse>, Status> {
        let body = request.get_ref();
        let key = UnaryKey::Resident(required_key(&body.key)?);
        let input = required_bytes(&body.ciphertext, "ciphertext", "the ciphertext to decapsulate")?;
        let scheme = kem_scheme(scheme::Kind::MlKemDecaps)?;
        let job = UnaryJob { key, scheme, input: Input::Message(input), second: &[], context: &[] };
        let shared_secret = self.run_job_with_output(&request, job).await?;
        Ok(tonic::Response::new(proto::DecapsulateResponse { shared_secret }))
    }

    async fn encrypt(
        &self,
        request: tonic::Request<proto::EncryptRequest>,
    ) -> Result<tonic::Response<proto::EncryptResponse>, Status> {
        let answer = self.values(&request)?.encrypt(request.get_ref()).await;
        answer.map(tonic::Response::new).map_err(status)
    }

    async fn mac(
        &self,
        request: tonic::Request<proto::MacRequest>,
    ) -> Result<tonic::Response<proto::MacResponse>, Status> {
        let answer = self.values(&request)?.mac(request.get_ref()).await;
        answer.map(tonic::Response::new).map_err(status)
    }

    async fn verify_mac(
        &self,
        request: tonic::Request<proto::VerifyMacRequest>,
    ) -> Result<tonic::Response<proto::VerifyMacResponse>, Status> {
        let answer = self.values(&request)?.verify_mac(request.get_ref()).await;
        answer.map(tonic::Response::new).map_err(status)
    }

    async fn rewrap(
        &self,
        request: tonic::Request<proto::RewrapRequest>,
    ) -> Result<tonic::Response<proto::EncryptResponse>, Status> {
        let answer = self.values(&request)?.rewrap(request.get_ref()).await;
        answer.map(tonic::Response::new).map_err(status)
    }

    async fn tokenise(
        &self,
        request: tonic::Request<proto::TokeniseRequest>,
    ) -> Result<tonic::Response<proto::TokeniseResponse>, Status> {
        let answer = self.values(&request)?.tokens(request.get_ref(), TokenDirection::ToToken).await;
        answer.map(tonic::Response::new).map_err(status)
    }

    async fn detokenise(
        &self,
        request: tonic::Request<proto::TokeniseRequest>,
    ) -> Result<tonic::Response<proto::TokeniseResponse>, Status> {
        let answer = self.values(&request)?.tokens(request.get_ref(), TokenDirection::ToText).await;
        answer.map(tonic::Response::new).map_err(status)
    }

    async fn process(
        &self,
        request: tonic::Request<proto::ProcessRequest>,
    ) -> Result<tonic::Response<proto::RecordResults>, Status> {
        let body = request.get_ref();
        let records = required(body.records.clone(), "records", "a batch of records")?;
        let names = body.keys.iter().map(|name| required_key(name)).collect::<Result<Vec<_>, _>>()?;
        let mut call = self.single_call(&request)?;
        for name in names {
            call.open_key(name.to_owned()).await.map_err(status)?;
        }
        call.run_records(records).await.map(tonic::Response::new).map_err(status)
    }

    async fn list_keys(
        &self,
        request: tonic::Request<proto::ListKeysRequest>,
    ) -> Result<tonic::Response<proto::KeyList>, Status> {
        match self.answer(&request, request::Body::ListKeys(proto::ListKeysRequest {})).await? {
            response::Body::Keys(keys) => Ok(tonic::Response::new(keys)),
            _ => Err(unexpected()),
        }
    }

    async fn get_public_key(
        &self,
        request: tonic::Request<proto::GetPublicKeyRequest>,
    ) -> Result<tonic::Response<proto::KeyInfo>, Status> {
        let body = request::Body::GetPublicKey(request.get_ref().clone());
        match self.answer(&request, body).await? {
            response::Body::Key(info) => Ok(tonic::Response::new(info)),
            _ => Err(unexpected()),
        }
    }

    async fn list_engines(
        &self,
        request: tonic::Request<proto::ListEnginesRequest>,
    ) -> Result<tonic::Response<proto::EngineList>, Status> {
        match self.answer(&request, request::Body::ListEngines(proto::ListEnginesRequest {})).await? {
            response::Body::Engines(engines) => Ok(tonic::Response::new(engines)),
            _ => Err(unexpected()),
        }
    }
}

/// Returns the client of a call. A connection that is about to end makes no further calls.
fn client_of<T>(request: &tonic::Request<T>) -> Result<KnownClient, Status> {
    known_client(request).cloned()
}

fn known_client<T>(request: &tonic::Request<T>) -> Result<&KnownClient, Status> {
    let peer = peer_of(request)?;
    match peer.stage.end_reason() {
        None => Ok(&peer.client),
        Some(reason) => Err(Status::unavailable(reason.message())),
    }
}

/// Returns the counter of a call's bytes.
fn call_of<T>(request: &tonic::Request<T>) -> Result<Arc<GrpcCall>, Status> {
    grpc_call(request).cloned()
}

fn grpc_call<T>(request: &tonic::Request<T>) -> Result<&Arc<GrpcCall>, Status> {
    request.extensions().get().ok_or_else(unexpected)
}

fn peer_of<T>(request: &tonic::Request<T>) -> Result<&CallPeer, Status> {
    let peer = request.extensions().get::<CallPeer>();
    peer.ok_or_else(|| Status::unauthenticated("the connection has no known client"))
}

fn unexpected() -> Status {
    status(no_answer())
}

/// Returns the status of a message that is too long or no message at all, in place of the one that tonic has for it.
/// `INTERNAL` would be taken for a fault of the server.
pub(crate) fn unreadable_message(status: &Status) -> Option<Status> {
    let code = match status.code() {
        // Nothing else here is out of range.
        tonic::Code::OutOfRange => tonic::Code::ResourceExhausted,
        tonic::Code::Internal if status.message().starts_with(UNREADABLE) => tonic::Code::InvalidArgument,
        _ => return None,
    };
    Some(Status::new(code, status.message()))
}

/// The beginning of the message of `prost::DecodeError`.
const UNREADABLE: &str = "failed to decode Protobuf message";

/// Returns the gRPC status of a fault.
pub(crate) fn status(fault: Fault) -> Status {
    let code = match fault.code() {
        Code::Done => tonic::Code::Internal,
        // The statuses are part of the protocol: its comments and docs/cryptoserver/clients.md list them.
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
    // Clients of gRPC read the trailer, people read the message.
    metadata.insert(PUSHBACK, fault.retry_after_ms.into());
    let message = format!("{}; try again in {} ms", fault.message, fault.retry_after_ms);
    Status::with_metadata(code, message, metadata)
}

/// The trailer that says when gRPC clients may try again. gRPC proposal A6, pushback.
const PUSHBACK: &str = "grpc-retry-pushback-ms";
