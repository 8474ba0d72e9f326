//! The examples, with a client of rustls and its own provider.

#[path = "../../examples/axum.rs"]
mod axum_example;
#[path = "../../examples/tonic.rs"]
mod tonic_example;

use std::sync::Arc;

use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tonic::transport::{Endpoint, Uri};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tower::service_fn;

use crate::support::{Identity, KeyChoice, client_config, localhost, plain};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_axum_example_serves() {
    let identity = Identity::new(KeyChoice::P256);
    let config = axum_example::server_config(identity.chain_pem.as_bytes(), &identity.key_der).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(axum_example::serve(listener, config));
    let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &identity, None));
    let tcp = TcpStream::connect(address).await.unwrap();
    let mut stream = connector.connect(localhost(), tcp).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("Hello, World!\n"), "{answer}");
    server.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tonic_example_serves() {
    let identity = Identity::new(KeyChoice::Rsa2048);
    let config = tonic_example::server_config(identity.chain_pem.as_bytes(), &identity.key_der).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(tonic_example::serve(listener, config));
    let mut client = ClientConfig::clone(&client_config(plain(), &identity, None));
    client.alpn_protocols = vec![b"h2".to_vec()];
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let connect = service_fn(move |_: Uri| {
        let connector = connector.clone();
        async move {
            let tcp = TcpStream::connect(address).await?;
            Ok::<_, std::io::Error>(TokioIo::new(connector.connect(localhost(), tcp).await?))
        }
    });
    let channel = Endpoint::from_static("http://localhost").connect_with_connector(connect).await.unwrap();
    let request = HealthCheckRequest { service: String::new() };
    let answer = HealthClient::new(channel).check(request).await.unwrap();
    assert_eq!(answer.into_inner().status, 1, "serving");
    server.abort();
}
