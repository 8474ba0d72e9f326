//! An axum service on TLS whose handshakes share batches.
//!
//! `cargo run -p oarlock-rustls --example axum -- CERTIFICATE.pem KEY.pem 127.0.0.1:8443`

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use oarlock_rustls::{Handshakes, TlsAcceptor};
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::server::TlsStream;

type ExampleError = Box<dyn std::error::Error + Send + Sync>;

#[allow(dead_code, reason = "a test includes this file")]
#[tokio::main]
async fn main() -> Result<(), ExampleError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [certificate, key, address] = &arguments[..] else {
        return Err("expected CERTIFICATE.pem KEY.pem ADDRESS:PORT".into());
    };
    let config = server_config(&std::fs::read(certificate)?, &std::fs::read(key)?)?;
    serve(TcpListener::bind(address).await?, config).await
}

/// Returns the settings of the server, with a key whose signatures are jobs of an accelerator.
pub(crate) fn server_config(certificate: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, ExampleError> {
    let accelerator = oarlock::Accelerator::new()?;
    let provider = Arc::new(oarlock_rustls::provider(&accelerator));
    let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>()?;
    let key = oarlock_rustls::load_signing_key(&accelerator, key, None)?;
    let certified = CertifiedKey::new(chain, key);
    certified.keys_match()?;
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let resolver = Arc::new(SingleCertAndKey::from(certified));
    Ok(Arc::new(builder.with_no_client_auth().with_cert_resolver(resolver)))
}

/// Serves until the process ends.
pub(crate) async fn serve(tcp: TcpListener, config: Arc<ServerConfig>) -> Result<(), ExampleError> {
    let service = Router::new().route("/", get(|| async { "Hello, World!\n" }));
    Ok(axum::serve(TlsListener::new(tcp, config)?, service).await?)
}

/// The finished connections of a listener. Their handshakes run beside each other.
struct TlsListener {
    finished: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    fn new(tcp: TcpListener, config: Arc<ServerConfig>) -> std::io::Result<Self> {
        let acceptor = TlsAcceptor::new(config).with_timeout(Duration::from_secs(10));
        let handshakes = Handshakes::new(2)?;
        let (sender, finished) = mpsc::channel(64);
        let address = tcp.local_addr()?;
        tokio::spawn(async move {
            // Ends when the receiver is dropped.
            while !sender.is_closed() {
                // An error is the connection's own, such as a reset before it was accepted.
                let Ok((stream, from)) = tcp.accept().await else { continue };
                let (acceptor, handshakes, sender) = (acceptor.clone(), handshakes.clone(), sender.clone());
                tokio::spawn(async move {
                    match handshakes.accept(&acceptor, stream).await {
                        Ok(stream) => drop(sender.send((stream, from)).await),
                        Err(error) => eprintln!("{from}: {error}"),
                    }
                });
            }
        });
        Ok(Self { finished, address })
    }
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.finished.recv().await {
            Some(finished) => finished,
            // The runtime is shutting down.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        Ok(self.address)
    }
}
