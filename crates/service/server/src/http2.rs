//! gRPC over HTTP/2: the services, and the limits of their connections.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::server::conn::http2;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use oarlock_wire::proto::DESCRIPTORS;
use oarlock_wire::proto::cryptoserver_server::CryptoserverServer;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::interval;
use tonic::Status;
use tonic::codegen::Service as _;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};
use tracing::debug;

use crate::buffers::{SEND_BUFFER_BYTES, WINDOW_BYTES};
use crate::call::{AnswerBody, GrpcCall, RequestBody, UntakenAnswers};
use crate::config::ServerLimits;
use crate::connect::{self, ConnectCaller};
use crate::error::CryptoserverError;
use crate::grpc::{GrpcService, unreadable_message};
use crate::json::JsonCalls;
use crate::service::SharedService;
use crate::transport::{CallPeer, ClientTransport};

type Http2 = http2::Builder<TokioExecutor>;

/// Serves the connections that arrive, until the server stops.
pub(crate) fn serve_grpc(
    mut arrived: mpsc::Receiver<ClientTransport>,
    service: Arc<SharedService>,
) -> Result<impl Future<Output = ()>, CryptoserverError> {
    let health = HealthReporter::new();
    let health_service = HealthServer::new(HealthService::from_health_reporter(health.clone()));
    let cryptoserver = CryptoserverServer::new(GrpcService(Arc::clone(&service)))
        .max_decoding_message_size(service.limits.max_message_bytes)
        // Answers are limited by the bytes that a client may hold, not by their length.
        .max_encoding_message_size(usize::MAX);
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?;
    let routes = Routes::new(health_service.clone()).add_service(reflection);
    let routes = routes.add_service(cryptoserver.clone()).prepare();
    let json = Arc::new(JsonCalls::new(&[DESCRIPTORS, tonic_health::pb::FILE_DESCRIPTOR_SET])?);
    let served =
        ServedCalls { cryptoserver, health: health_service, routes, json, service: Arc::clone(&service) };
    let http2 = http2(&service.limits);
    Ok(async move {
        let mut connections = JoinSet::new();
        connections.spawn(report_health(health, Arc::clone(&service)));
        let mut draining = Box::pin(service.drain.thrown());
        loop {
            while connections.try_join_next().is_some() {}
            let transport = tokio::select! {
                transport = arrived.recv() => transport,
                () = &mut draining => break,
            };
            let Some(transport) = transport else { break };
            connections.spawn(serve_one(http2.clone(), served.clone(), transport));
        }
        while connections.join_next().await.is_some() {}
    })
}

fn http2(limits: &ServerLimits) -> Http2 {
    let mut http2 = Http2::new(TokioExecutor::new());
    http2
        .max_concurrent_streams(u32::try_from(limits.max_in_flight).unwrap_or(u32::MAX))
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        // Longer headers than `MAX_HEADER_BYTES` are refused with a status that the client's protocol knows.
        .max_header_list_size(4 * MAX_HEADER_BYTES as u32);
    http2
}

/// Serves one connection to its end. The end is announced by a GOAWAY, and requests in progress are answered. A client
/// that takes no answers is disconnected.
async fn serve_one(http2: Http2, served: ServedCalls, transport: ClientTransport) {
    let (peer, service) = (transport.peer().clone(), Arc::clone(&served.service));
    let untaken = Arc::new(UntakenAnswers::default());
    let calls = ConnectionCalls { served, peer: peer.clone(), untaken: Arc::clone(&untaken) };
    let mut connection = pin!(http2.serve_connection(TokioIo::new(transport), calls));
    let mut ending = pin!(async {
        tokio::select! {
            _ = peer.stage.ending() => {}
            () = service.drain.thrown() => {}
        }
    });
    let mut is_ending = false;
    let mut has_waited = false;
    let mut looks = interval(LOOK);
    loop {
        // The runtime polls a connection after each call that has an answer, and each poll is a packet. So while several
        // calls are in progress, the connection waits once for the tasks that are ready, and sends their answers together.
        let sending = poll_fn(|context| {
            let has_others = Arc::strong_count(&untaken) > ONE_CALL_COUNT;
            if has_others && !mem::replace(&mut has_waited, true) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            has_waited = false;
            connection.as_mut().poll(context)
        });
        tokio::select! {
            end = sending => {
                return end.unwrap_or_else(|error| debug!(%error, "a connection ended with an error"));
            }
            // A future that was ready must not be polled again.
            () = &mut ending, if !is_ending => {
                is_ending = true;
                connection.as_mut().graceful_shutdown();
            }
            _ = looks.tick() => {
                if untaken.longest().is_some_and(|longest| longest > service.limits.max_stall()) {
                    return debug!(client = %peer.client.identity, "a client that takes no answers was disconnected");
                }
            }
        }
    }
}

/// The number of references to a connection's untaken answers if it has one call in progress: its own, that of its
/// calls, and one for each call.
const ONE_CALL_COUNT: usize = 3;

/// The time between two checks for a client that takes no answers.
const LOOK: Duration = Duration::from_secs(1);

/// The calls that the server answers, by gRPC and as JSON.
#[derive(Clone)]
struct ServedCalls {
    cryptoserver: CryptoserverServer<GrpcService>,
    health: HealthServer<HealthService>,
    /// All services, also those that are rarely called.
    routes: Routes,
    json: Arc<JsonCalls>,
    service: Arc<SharedService>,
}

impl ServedCalls {
    /// Answers a call of gRPC. The services with many short calls are found by the name in the path: the router would
    /// box the request, the answer and the service itself for each call.
    fn answer_grpc(&self, request: Request<RequestBody<Incoming>>) -> GrpcAnswer {
        match service_name(request.uri().path()) {
            <CryptoserverServer<GrpcService> as NamedService>::NAME => {
                self.cryptoserver.clone().call(request)
            }
            <HealthServer<HealthService> as NamedService>::NAME => self.health.clone().call(request),
            _ => Box::pin(self.routes.clone().call(request)),
        }
    }
}

/// Returns the name of the service in the path of a call: `/SERVICE/METHOD`.
fn service_name(path: &str) -> &str {
    let path = path.strip_prefix('/').unwrap_or_default();
    path.split_once('/').map_or("", |(service, _)| service)
}

/// The answer to a call of gRPC.
type GrpcAnswer = Pin<Box<dyn Future<Output = Result<Response<tonic::body::Body>, Infallible>> + Send>>;

/// The calls of one connection.
struct ConnectionCalls {
    served: ServedCalls,
    peer: CallPeer,
    untaken: Arc<UntakenAnswers>,
}

impl hyper::service::Service<Request<Incoming>> for ConnectionCalls {
    type Response = Response<AnswerBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        // Only the path is known before the body: a unary call has a lower limit than a stream.
        let is_stream = request.uri().path().ends_with("/Stream");
        let limits = &self.served.service.limits;
        let is_grpc = connect::is_grpc(request.headers());
        if let Err(status) = check_headers(request.headers()) {
            let refusal = if is_grpc { status.into_http() } else { connect::refuse_headers(status) };
            return Box::pin(async move { Ok(refusal.map(AnswerBody::of_refusal)) });
        }
        let call = match GrpcCall::begin(&self.peer.client.account, limits, is_stream) {
            Ok(call) => call,
            Err(status) => {
                let refusal = if is_grpc { status.into_http() } else { connect::refuse(status) };
                return Box::pin(async move { Ok(refusal.map(AnswerBody::of_refusal)) });
            }
        };
        // Extensions carry the client to the service methods, which see only the request.
        request.extensions_mut().insert(self.peer.clone());
        request.extensions_mut().insert(Arc::clone(&call));
        let call_of_body = Arc::clone(&call);
        let request = request.map(|body| RequestBody::new(body, call_of_body));
        let untaken = Arc::clone(&self.untaken);
        if is_grpc {
            let answer = self.served.answer_grpc(request);
            return Box::pin(async move {
                Ok(with_known_status(answer.await?).map(|body| AnswerBody::new(body, call, untaken)))
            });
        }
        let routes = self.served.routes.clone();
        let (json, account) = (Arc::clone(&self.served.json), Arc::clone(&self.peer.client.account));
        let service = Arc::clone(&self.served.service);
        Box::pin(async move {
            let caller = ConnectCaller { service: &service, account: &account, held: &call };
            let answer = connect::answer(&json, routes, request, &caller).await;
            Ok(answer.map(|body| AnswerBody::new(body, call, untaken)))
        })
    }
}

/// The maximum bytes of the headers of a call.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// Checks the length of the headers of a call.
///
/// # Errors
/// They are too long.
fn check_headers(headers: &HeaderMap) -> Result<(), Status> {
    // As HTTP/2 counts them: RFC 9113 6.5.2.
    let found: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum();
    if found <= MAX_HEADER_BYTES {
        return Ok(());
    }
    let message = format!("the headers (metadata) have {found} bytes: expected {MAX_HEADER_BYTES} at most");
    Err(Status::resource_exhausted(message))
}

/// Replaces the status of a message that could not be read.
fn with_known_status(answer: Response<tonic::body::Body>) -> Response<tonic::body::Body> {
    let status = Status::from_header_map(answer.headers());
    match status.as_ref().and_then(unreadable_message) {
        Some(status) => status.into_http(),
        None => answer,
    }
}

/// The time between two updates of the health service.
const HEALTH: Duration = Duration::from_millis(500);

/// Reports whether requests are served, until the server stops.
async fn report_health(health: HealthReporter, service: Arc<SharedService>) {
    let mut ticks = interval(HEALTH);
    let mut draining = Box::pin(service.drain.thrown());
    loop {
        let status = match service.refusal() {
            None => ServingStatus::Serving,
            Some(_) => ServingStatus::NotServing,
        };
        for name in ["", <CryptoserverServer<GrpcService> as NamedService>::NAME] {
            health.set_service_status(name, status).await;
        }
        // After the update, so that clients see NotServing before the server ends.
        if service.drain.is_thrown() {
            return;
        }
        tokio::select! {
            _ = ticks.tick() => {}
            () = &mut draining => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_its_service() {
        for (path, service) in [
            ("/oarlock.v1.Cryptoserver/Encrypt", "oarlock.v1.Cryptoserver"),
            ("/grpc.health.v1.Health/Check", "grpc.health.v1.Health"),
            ("/oarlock.v1.Cryptoserver/", "oarlock.v1.Cryptoserver"),
            ("/oarlock.v1.Cryptoserver", ""),
            ("oarlock.v1.Cryptoserver/Encrypt", ""),
            ("//Encrypt", ""),
            ("/", ""),
        ] {
            assert_eq!(service_name(path), service, "{path}");
        }
    }
}
