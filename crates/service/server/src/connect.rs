//! Single calls over plain HTTP, for `curl` and for clients of Connect: the unary calls of the Connect protocol,
//! <https://connectrpc.com/docs/protocol>.
//!
//! Each becomes a gRPC call inside the server. So its client is identified, limited and audited as every other.

use std::pin::{Pin, pin};

use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, RETRY_AFTER,
};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tonic::body::Body;
use tonic::codegen::Service as _;
use tonic::service::Routes;
use tonic::{Code, Status};

use crate::budget::HeldBytes;
use crate::call::{GrpcCall, PREFIX_BYTES};
use crate::clients::ClientAccount;
use crate::grpc::{status, unreadable_message};
use crate::json::{JsonCall, JsonCalls, reading_bytes};
use crate::service::SharedService;

/// The form in which the messages of a call are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageFormat {
    Json,
    Binary,
}

const JSON: &str = "application/json";
const BINARY: &str = "application/proto";
const GRPC: &str = "application/grpc";

/// The header that lists the content types of calls. W3C Linked Data Platform 1.0, 7.1.
const ACCEPT_POST: HeaderName = HeaderName::from_static("accept-post");

/// The trailer that says when a client may try again.
const PUSHBACK: &str = "grpc-retry-pushback-ms";

/// True if a request is a call of gRPC.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(GRPC.as_bytes()))
}

/// Returns the answer to a request that is refused before its body is read.
pub(crate) fn refuse(status: Status) -> Response<Body> {
    CallRefusal::from(status).into_response()
}

/// Returns the answer to a request with too long headers. RFC 6585 section 5.
pub(crate) fn refuse_headers(status: Status) -> Response<Body> {
    let http = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    CallRefusal { http, ..status.into() }.into_response()
}

/// The context that the calls of one client share.
pub(crate) struct ConnectCaller<'c> {
    pub(crate) service: &'c SharedService,
    pub(crate) account: &'c ClientAccount,
    pub(crate) held: &'c GrpcCall,
}

/// Answers a request that is not a call of gRPC.
pub(crate) async fn answer<B>(
    calls: &JsonCalls,
    routes: Routes,
    request: Request<B>,
    caller: &ConnectCaller<'_>,
) -> Response<Body>
where
    B: hyper::body::Body<Data = Bytes, Error = Status>,
{
    let accepted = accept(calls, &request);
    let (head, body) = request.into_parts();
    let mut body = pin!(body);
    let answered = async {
        let (call, format) = accepted?;
        // Bounded, because `RequestBody` refuses more than `max_unary_bytes`.
        let text = body.as_mut().collect().await?.to_bytes();
        run(call, format, routes, Request::from_parts(head, text), caller).await
    };
    let answered = answered.await;
    match answered {
        Ok(answer) => answer,
        Err(refusal) => {
            drain(body).await;
            refusal.into_response()
        }
    }
}

/// The bytes of a refused request that are still read. A client that is still sending may take an answer for a broken
/// stream if the stream ends before its request (RFC 9113 8.1).
const MAX_DRAINED_BYTES: usize = 1 << 20;

/// The bytes of a frame whose length is not known, because they were refused.
const REFUSED_FRAME_BYTES: usize = 16 << 10;

/// Reads the rest of a request and forgets it. The body itself limits the time.
async fn drain<B: hyper::body::Body<Data = Bytes, Error = Status>>(mut body: Pin<&mut B>) {
    let mut drained = 0;
    while drained < MAX_DRAINED_BYTES {
        drained += match body.frame().await {
            None => return,
            Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
            Some(Err(status)) if status.code() == Code::ResourceExhausted => REFUSED_FRAME_BYTES,
            Some(Err(_)) => return,
        };
    }
}

/// A call that ends without the message of an answer.
struct CallRefusal {
    http: StatusCode,
    code: Code,
    message: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl From<Status> for CallRefusal {
    fn from(status: Status) -> Self {
        let mut headers = Vec::new();
        for (name, value) in status.metadata().clone().into_headers().iter() {
            let trailer = HeaderName::from_bytes(format!("trailer-{name}").as_bytes());
            if let Ok(trailer) = trailer
                && !matches!(name.as_str(), "content-type" | "content-length" | "date")
            {
                headers.push((trailer, value.clone()));
            }
        }
        let wait_ms =
            status.metadata().get(PUSHBACK).and_then(|wait| wait.to_str().ok()?.parse::<u64>().ok());
        if let Some(wait_ms) = wait_ms {
            headers.push((RETRY_AFTER, wait_ms.div_ceil(1000).into()));
        }
        Self {
            http: names(status.code()).1,
            code: status.code(),
            message: status.message().to_owned(),
            headers,
        }
    }
}

impl CallRefusal {
    fn new(http: StatusCode, message: String, header: (HeaderName, &'static str)) -> Self {
        let headers = vec![(header.0, HeaderValue::from_static(header.1))];
        Self { http, code: Code::Unimplemented, message, headers }
    }

    fn into_response(self) -> Response<Body> {
        let text = json!({ "code": names(self.code).0, "message": self.message }).to_string();
        let mut response = Response::new(Body::new(Full::from(text)));
        *response.status_mut() = self.http;
        response.headers_mut().extend(self.headers);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        response
    }
}

/// Returns the name of a code in Connect, and its HTTP status.
fn names(code: Code) -> (&'static str, StatusCode) {
    match code {
        // Nginx's number for a client that went away, which Connect uses too. HTTP's registry has none.
        Code::Cancelled => ("canceled", StatusCode::from_u16(499).unwrap_or(StatusCode::REQUEST_TIMEOUT)),
        Code::Ok | Code::Unknown => ("unknown", StatusCode::INTERNAL_SERVER_ERROR),
        Code::InvalidArgument => ("invalid_argument", StatusCode::BAD_REQUEST),
        Code::DeadlineExceeded => ("deadline_exceeded", StatusCode::GATEWAY_TIMEOUT),
        Code::NotFound => ("not_found", StatusCode::NOT_FOUND),
        Code::AlreadyExists => ("already_exists", StatusCode::CONFLICT),
        Code::PermissionDenied => ("permission_denied", StatusCode::FORBIDDEN),
        Code::ResourceExhausted => ("resource_exhausted", StatusCode::TOO_MANY_REQUESTS),
        Code::FailedPrecondition => ("failed_precondition", StatusCode::BAD_REQUEST),
        Code::Aborted => ("aborted", StatusCode::CONFLICT),
        Code::OutOfRange => ("out_of_range", StatusCode::BAD_REQUEST),
        Code::Unimplemented => ("unimplemented", StatusCode::NOT_IMPLEMENTED),
        Code::Internal => ("internal", StatusCode::INTERNAL_SERVER_ERROR),
        Code::Unavailable => ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
        Code::DataLoss => ("data_loss", StatusCode::INTERNAL_SERVER_ERROR),
        Code::Unauthenticated => ("unauthenticated", StatusCode::UNAUTHORIZED),
    }
}

/// Returns the call of a request, and the format of its message.
fn accept<'a, B>(
    calls: &'a JsonCalls,
    request: &Request<B>,
) -> Result<(&'a JsonCall, MessageFormat), CallRefusal> {
    let path = request.uri().path();
    let Some(call) = calls.find(path) else {
        let message = format!("no single call has the path {path:?}: batches and streams need gRPC");
        return Err(CallRefusal { http: StatusCode::NOT_FOUND, ..Status::unimplemented(message).into() });
    };
    if request.method() != Method::POST {
        let message = format!("the method {} is not allowed: expected POST", request.method());
        return Err(CallRefusal::new(StatusCode::METHOD_NOT_ALLOWED, message, (ALLOW, "POST")));
    }
    let encoding = request.headers().get(CONTENT_ENCODING).filter(|encoding| *encoding != "identity");
    if let Some(encoding) = encoding {
        let message = format!("the content-encoding {encoding:?} is not supported: expected identity");
        return Err(CallRefusal::new(StatusCode::NOT_IMPLEMENTED, message, (ACCEPT_ENCODING, "identity")));
    }
    let content_type =
        request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    match content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase().as_str() {
        JSON => Ok((call, MessageFormat::Json)),
        BINARY => Ok((call, MessageFormat::Binary)),
        // Browsers let pages of other origins send forms and plain text without asking the server (CORS).
        _ => {
            let message = format!(
                "the content-type {content_type:?} is not supported: expected {JSON}, {BINARY} or {GRPC}"
            );
            let accepted = "application/json, application/proto, application/grpc";
            Err(CallRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message, (ACCEPT_POST, accepted)))
        }
    }
}

/// Runs a call as one of gRPC.
async fn run(
    call: &JsonCall,
    format: MessageFormat,
    mut routes: Routes,
    request: Request<Bytes>,
    caller: &ConnectCaller<'_>,
) -> Result<Response<Body>, CallRefusal> {
    let (mut head, body) = request.into_parts();
    let message = match format {
        MessageFormat::Binary => body,
        MessageFormat::Json => read_json(call, body, caller).await?,
    };
    // These describe the text that the client has sent, and not the message of the inner call.
    for name in [CONTENT_LENGTH, CONTENT_ENCODING] {
        head.headers.remove(name);
    }
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(GRPC));
    let inner = Request::from_parts(head, Body::new(Full::new(with_prefix(&message)?)));
    let answer = match routes.call(inner).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    };
    let message = message_of(answer).await?;
    let (text, content_type) = match format {
        MessageFormat::Binary => (message, BINARY),
        MessageFormat::Json => (write_json(call, message, caller).await?, JSON),
    };
    let mut response = Response::new(Body::new(Full::new(text)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    Ok(response)
}

/// Returns the encoded message of a JSON text. The memory for this is held meanwhile.
async fn read_json(call: &JsonCall, text: Bytes, caller: &ConnectCaller<'_>) -> Result<Bytes, CallRefusal> {
    let _held = HeldBytes::new(&caller.account.bytes, reading_bytes(text.len())).map_err(Status::from)?;
    let (call, len) = (call.clone(), text.len());
    let read = caller.service.in_turn(caller.account.tenant, len, move || call.read_request(&text));
    let message = read.await.map_err(status)?;
    Ok(message.map_err(|error| Status::invalid_argument(error.to_string()))?.into())
}

/// Returns the JSON text of an answer, whose bytes the call holds to its end.
async fn write_json(
    call: &JsonCall,
    message: Bytes,
    caller: &ConnectCaller<'_>,
) -> Result<Bytes, CallRefusal> {
    let (call, len) = (call.clone(), message.len());
    let written = caller.service.in_turn(caller.account.tenant, len, move || call.write_answer(&message));
    let text = written.await.map_err(status)?;
    let text = text.map_err(|error| Status::internal(error.to_string()))?;
    caller.held.keep(HeldBytes::new(&caller.account.bytes, text.len()).map_err(Status::from)?);
    Ok(text.into())
}

/// Returns a message as gRPC frames it: uncompressed, and its length.
fn with_prefix(message: &[u8]) -> Result<Bytes, Status> {
    let len =
        u32::try_from(message.len()).map_err(|_| Status::resource_exhausted("the message is too long"))?;
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    framed.put_u8(0);
    framed.put_u32(len);
    framed.put_slice(message);
    Ok(framed.freeze())
}

/// Returns the message in an answer of gRPC.
async fn message_of(answer: Response<Body>) -> Result<Bytes, CallRefusal> {
    let (head, body) = answer.into_parts();
    let body = body.collect().await?;
    // An answer without a message has its status among the headers.
    let status =
        body.trailers().and_then(Status::from_header_map).or_else(|| Status::from_header_map(&head.headers));
    match status {
        Some(status) if status.code() == Code::Ok => {}
        Some(status) => return Err(unreadable_message(&status).unwrap_or(status).into()),
        None => return Err(Status::internal("the answer has no status").into()),
    }
    let mut framed = body.to_bytes();
    if framed.len() < PREFIX_BYTES {
        return Err(Status::internal("the answer has no message").into());
    }
    Ok(framed.split_off(PREFIX_BYTES))
}
