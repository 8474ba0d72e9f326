//! The TLS alert of a server that refuses a client.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::version::TLS13;
use tonic::transport::Uri;

use crate::Credentials;
use crate::server_verifier::server_verifier;

/// The maximum time of the second handshake.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connects once more, without HTTP/2, and returns the server's alert, or `None` if the server does not refuse the
/// client. Under TLS 1.3 the alert comes after the end of the client's handshake, and HTTP/2 often reports only that
/// the connection was closed.
pub(crate) async fn read_refusal(url: &str, credentials: &Credentials) -> Option<String> {
    timeout(PATIENCE, connect_again(url, credentials)).await.ok()?
}

async fn connect_again(url: &str, credentials: &Credentials) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    // IPv6 addresses have brackets in a URL and none in a server name.
    let host = uri.host()?.trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, uri.port_u16().unwrap_or(443))).await.ok()?;
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let connector = TlsConnector::from(Arc::new(client_config(credentials)?));
    let mut stream = match connector.connect(name, stream).await {
        Ok(stream) => stream,
        Err(error) => return Some(error.to_string()),
    };
    // A server that accepts the client sends its HTTP/2 settings first.
    stream.read_u8().await.err().map(|error| error.to_string())
}

fn client_config(credentials: &Credentials) -> Option<ClientConfig> {
    let chain = CertificateDer::pem_slice_iter(&credentials.certificate).collect::<Result<_, _>>().ok()?;
    let key = PrivateKeyDer::from_pem_slice(&credentials.private_key).ok()?;
    let mut client_config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(server_verifier(credentials).ok()?)
        .with_client_auth_cert(chain, key)
        .ok()?;
    client_config.alpn_protocols = vec![b"h2".to_vec()];
    Some(client_config)
}
