//! gRPC over HTTP/2: the services, and the bounds of their connections.

use std::future::{Future, ready};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use oarlock_wire::proto::DESCRIPTORS;
use oarlock_wire::proto::cryptoserver_server::CryptoserverServer;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::interval;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tracing::debug;

use crate::grpc::Grpc;
use crate::server::ServerError;
use crate::service::Service;
use crate::transport::Transport;

/// Bytes of a stream's and a connection's window: batches both ways fit without waiting for each other.
const WINDOW: u32 = 4 << 20;

/// Serves the connections that arrive until the server stops.
pub(crate) fn serve_grpc(
    mut arrived: mpsc::Receiver<Transport>,
    service: Arc<Service>,
) -> Result<impl Future<Output = ()>, ServerError> {
    let most = service.limits.message_bytes;
    let cryptoserver = CryptoserverServer::new(Grpc(Arc::clone(&service)))
        .max_decoding_message_size(most)
        .max_encoding_message_size(usize::MAX);
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?;
    let (health, health_service) = tonic_health::server::health_reporter();
    let routes = Routes::new(health_service).add_service(reflection).add_service(cryptoserver).prepare();
    let streams = u32::try_from(service.limits.in_flight).unwrap_or(u32::MAX);
    let server = Server::builder()
        .max_concurrent_streams(streams)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW);
    Ok(async move {
        let mut connections = JoinSet::new();
        connections.spawn(report_health(health, Arc::clone(&service)));
        let mut draining = Box::pin(service.draining());
        loop {
            while connections.try_join_next().is_some() {}
            let transport = tokio::select! {
                transport = arrived.recv() => transport,
                () = &mut draining => break,
            };
            let Some(transport) = transport else { break };
            connections.spawn(serve_one(server.clone(), routes.clone(), transport, Arc::clone(&service)));
        }
        while connections.join_next().await.is_some() {}
    })
}

/// Serves one connection to its end. A server of its own lets it end by itself: with a GOAWAY, and with what is under way answered.
async fn serve_one(mut server: Server, routes: Routes, transport: Transport, service: Arc<Service>) {
    let (ending, draining) = (transport.stage().ending(), service.draining());
    let end = async move {
        tokio::select! {
            _ = ending => {}
            () = draining => {}
        }
    };
    let incoming = stream::once(ready(Ok::<_, io::Error>(transport))).chain(stream::pending());
    if let Err(error) = server.add_routes(routes).serve_with_incoming_shutdown(incoming, end).await {
        debug!(%error, "a client was left");
    }
}

/// How often the health that clients may ask for is brought up to date.
const HEALTH: Duration = Duration::from_millis(500);

/// Reports whether requests are served, until the server stops.
async fn report_health(health: HealthReporter, service: Arc<Service>) {
    let mut ticks = interval(HEALTH);
    let mut draining = Box::pin(service.draining());
    loop {
        let status = match service.refusal() {
            None => ServingStatus::Serving,
            Some(_) => ServingStatus::NotServing,
        };
        for name in ["", <CryptoserverServer<Grpc> as tonic::server::NamedService>::NAME] {
            health.set_service_status(name, status).await;
        }
        if service.is_draining() {
            return;
        }
        tokio::select! {
            _ = ticks.tick() => {}
            () = &mut draining => {}
        }
    }
}
