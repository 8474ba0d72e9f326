//! A TLS server of rustls with AWS-LC alone: a peer without OpenSSL and without Oarlock.

use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::crypto::aws_lc_rs::{Ticketer, default_provider, kx_group};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use super::BenchError;
use super::settings::{BODY, ServerCertificate, TlsServerConfig};

/// The name with which a process of this role is called.
pub(crate) const ROLE: &str = "rustls-server";

/// The longest request that is read.
const MAX_REQUEST_LEN: usize = 1 << 10;

/// Arguments of the role.
#[derive(Args, Debug)]
pub(crate) struct RustlsServerArgs {
    #[arg(long)]
    port: u16,
    #[arg(long)]
    certificate: PathBuf,
    #[arg(long)]
    private_key: PathBuf,
    /// The authority of the certificates that clients must have.
    #[arg(long)]
    client_authority: Option<PathBuf>,
    /// Gives tickets to clients.
    #[arg(long)]
    tickets: bool,
}

/// Returns the arguments of a server.
pub(super) fn arguments(server: &TlsServerConfig<'_>) -> Vec<OsString> {
    let port = server.port.to_string();
    let mut arguments: Vec<OsString> = vec!["--port".into(), port.into()];
    // With several certificates, clients take the last one.
    if let Some(ServerCertificate { certificate, key }) = server.certificates.last() {
        arguments.extend(["--certificate".into(), certificate.into()]);
        arguments.extend(["--private-key".into(), key.into()]);
    }
    if server.handshake.has_client_certificates {
        arguments.extend(["--client-authority".into(), server.client_authority.into()]);
    }
    arguments.extend(server.handshake.resumes.then(|| "--tickets".into()));
    arguments
}

/// Serves until the process is killed, on one thread.
///
/// # Errors
/// The port is taken, or a file has no certificate or key.
pub(crate) fn run(args: &RustlsServerArgs) -> Result<(), BenchError> {
    serve(args).map_err(BenchError::Backend)
}

fn serve(args: &RustlsServerArgs) -> io::Result<()> {
    let acceptor = TlsAcceptor::from(Arc::new(config(args)?));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // The client notices and counts failures.
                let _ = answer(&acceptor, stream).await;
            });
        }
    })
}

fn config(args: &RustlsServerArgs) -> io::Result<ServerConfig> {
    let kx_groups = vec![kx_group::X25519MLKEM768, kx_group::X25519, kx_group::SECP256R1];
    let provider = Arc::new(CryptoProvider { kx_groups, ..default_provider() });
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_protocol_versions(&[&TLS13]).map_err(io::Error::other)?;
    let builder = match &args.client_authority {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            let authority = CertificateDer::from_pem_file(path).map_err(io::Error::other)?;
            roots.add(authority).map_err(io::Error::other)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(io::Error::other)?)
        }
    };
    let certificate = CertificateDer::from_pem_file(&args.certificate).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from_pem_file(&args.private_key).map_err(io::Error::other)?;
    let mut config = builder.with_single_cert(vec![certificate], key).map_err(io::Error::other)?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    match args.tickets {
        true => config.ticketer = Ticketer::new().map_err(io::Error::other)?,
        false => config.send_tls13_tickets = 0,
    }
    Ok(config)
}

/// Answers one request of HTTP.
async fn answer(acceptor: &TlsAcceptor, stream: TcpStream) -> io::Result<()> {
    // Nagle's algorithm would hold the answer back until the client acknowledges the handshake.
    stream.set_nodelay(true)?;
    let mut tls = acceptor.accept(stream).await?;
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") && request.len() < MAX_REQUEST_LEN {
        if tls.read_buf(&mut request).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let answer = format!("HTTP/1.0 200 OK\r\ncontent-length: {}\r\n\r\n{BODY}", BODY.len());
    tls.write_all(answer.as_bytes()).await?;
    tls.shutdown().await
}
