//! Backends: their addresses, their TLS, and the header that they get.

mod sessions;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use oarlock::keys::import;
use oarlock_rustls::{BoundedVerifier, ChainLimit, HandshakeLimits, TlsConnector, TlsHandshakeError};
use oarlock_service_kit::ServiceClock;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, Error, HandshakeKind, SignatureScheme};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use self::sessions::{BackendSessions, verify_again};
use crate::certificate::{CertificateKeySources, CertificateWarning, ChainProperties};
use crate::clients::{AuthorityError, read_authorities};
use crate::config::{BackendAddress, BackendSettings, BackendTlsSettings};
use crate::error::ProxyServiceError;
use crate::header::{HeaderVersion, ProxyHeader};
use crate::stream::{RelayStream, SocketStream};

/// A backend of the current settings.
#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) address: BackendAddress,
    header: Option<HeaderVersion>,
    has_checksum: bool,
    tls: Option<BackendTls>,
    max_connect: Duration,
}

#[derive(Debug)]
struct BackendTls {
    connector: TlsConnector,
    verifier: Arc<dyn ServerCertVerifier>,
    sessions: Arc<BackendSessions>,
    name: ServerName<'static>,
    /// True if the client's protocol is offered.
    follows_client: bool,
    /// The proxy's own certificate, and its file.
    certificate: Option<(PathBuf, ChainProperties)>,
}

/// The resources for TLS to backends.
pub(crate) struct BackendContext<'a> {
    pub(crate) provider: &'a Arc<CryptoProvider>,
    pub(crate) keys: &'a CertificateKeySources,
    pub(crate) handshakes: HandshakeLimits,
    pub(crate) max_handshake: Duration,
    /// The maximum age of a session, counted from its full handshake.
    pub(crate) max_session_s: u64,
    pub(crate) max_connect: Duration,
}

/// The reason why a backend could not be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackendError {
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    #[error("no connection within [limits] max_connect_seconds")]
    Timeout,
    #[error("cannot send the PROXY header: {0}")]
    Header(io::Error),
    #[error("{0}")]
    Tls(TlsHandshakeError),
    #[error("the session cannot be resumed any more: {0}")]
    Outdated(Error),
}

impl Backend {
    pub(crate) fn open(
        settings: &BackendSettings,
        context: &BackendContext<'_>,
    ) -> Result<Self, ProxyServiceError> {
        let tls = settings.tls.as_ref().map(|tls| BackendTls::open(tls, &settings.address, context));
        Ok(Self {
            address: settings.address.clone(),
            header: settings.proxy_protocol,
            has_checksum: settings.proxy_checksum,
            tls: tls.transpose()?,
            max_connect: context.max_connect,
        })
    }

    /// Returns the faults for which the backend rejects the proxy's own certificate.
    pub(crate) fn certificate_warning(&self, now_s: i64) -> Option<CertificateWarning> {
        let (path, properties) = self.tls.as_ref()?.certificate.as_ref()?;
        properties.warning(path, now_s)
    }

    /// Connects, sends the header, and does the handshake if the backend has TLS. `alpn` is the protocol that the
    /// client has negotiated.
    pub(crate) async fn connect(
        &self,
        header: &ProxyHeader,
        alpn: Option<&[u8]>,
    ) -> Result<RelayStream, BackendError> {
        let socket = self.connect_with_header(header).await?;
        let Some(tls) = &self.tls else { return Ok(RelayStream::Plain(socket)) };
        let connected = match tls.connect(alpn, socket).await {
            // Its certificate has ended since the session began. The backend may have a new one, which a full
            // handshake shows.
            Err(BackendError::Outdated(_)) => {
                tls.sessions.clear();
                tls.connect(alpn, self.connect_with_header(header).await?).await
            }
            connected => connected,
        };
        Ok(RelayStream::Connected(Box::new(connected?)))
    }

    async fn connect_with_header(&self, header: &ProxyHeader) -> Result<SocketStream, BackendError> {
        let connecting = timeout(self.max_connect, self.connect_socket()).await;
        let mut socket = connecting.map_err(|_| BackendError::Timeout)?.map_err(BackendError::Connect)?;
        if let Some(version) = self.header {
            let mut bytes = Vec::with_capacity(256);
            let encoded = header.encode(version, self.has_checksum, &mut bytes);
            encoded.map_err(|error| BackendError::Header(io::Error::other(error)))?;
            let written = timeout(self.max_connect, socket.write_all(&bytes)).await;
            written.map_err(|_| BackendError::Timeout)?.map_err(BackendError::Header)?;
        }
        Ok(socket)
    }

    async fn connect_socket(&self) -> io::Result<SocketStream> {
        match &self.address {
            BackendAddress::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await?;
                // Small answers leave at once.
                stream.set_nodelay(true)?;
                Ok(SocketStream::Tcp(stream))
            }
            BackendAddress::Unix(path) => UnixStream::connect(path).await.map(SocketStream::Unix),
        }
    }
}

impl BackendTls {
    fn open(
        settings: &BackendTlsSettings,
        address: &BackendAddress,
        context: &BackendContext<'_>,
    ) -> Result<Self, ProxyServiceError> {
        let (roots, _) =
            read_authorities(&settings.authorities).map_err(ProxyServiceError::BackendAuthorities)?;
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(context.provider))
                .build()
                .map_err(|error| AuthorityError::Unusable {
                    path: settings.authorities.clone(),
                    reason: error.to_string(),
                })
                .map_err(ProxyServiceError::BackendAuthorities)?;
        let limit = ChainLimit::new(settings.max_chain_certificates);
        let verifier: Arc<dyn ServerCertVerifier> = Arc::new(BoundedVerifier::new(verifier, limit));
        let builder = ClientConfig::builder_with_provider(Arc::clone(context.provider))
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&verifier));
        let certificate = read_certificate(settings, context)?;
        let properties =
            |certificate: &OwnCertificate| ChainProperties::from_chain(&certificate.0.cert, true);
        let source = settings.certificate.clone().zip(certificate.as_ref().map(properties));
        let mut config = match certificate {
            Some(certificate) => builder.with_client_cert_resolver(Arc::new(certificate)),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = settings.alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        // Each connection gets its own view of the sessions.
        config.resumption = Resumption::disabled();
        let sessions = BackendSessions::new(context.max_session_s, ServiceClock::default());
        let connector = TlsConnector::new(Arc::new(config))
            .with_limits(context.handshakes)
            .with_timeout(context.max_handshake);
        let name = match (&settings.server_name, address) {
            (Some(name), _) => name.clone(),
            (None, BackendAddress::Tcp { host, .. }) => host.clone(),
            (None, BackendAddress::Unix(_)) => String::new(),
        };
        let name =
            ServerName::try_from(name.clone()).map_err(|_| ProxyServiceError::ServerName { found: name })?;
        Ok(Self {
            connector,
            verifier,
            sessions,
            name,
            follows_client: settings.alpn.is_empty(),
            certificate: source,
        })
    }

    async fn connect(
        &self,
        alpn: Option<&[u8]>,
        socket: SocketStream,
    ) -> Result<TlsStream<SocketStream>, BackendError> {
        let connected = self.connector(alpn).connect(self.name.clone(), socket).await;
        let connected = connected.map_err(BackendError::Tls)?;
        let connection = connected.get_ref().1;
        if connection.handshake_kind() == Some(HandshakeKind::Resumed) {
            let chain = connection.peer_certificates().unwrap_or_default();
            let verified = verify_again(&*self.verifier, &self.name, chain, UnixTime::now());
            verified.map_err(BackendError::Outdated)?;
        }
        Ok(connected)
    }

    /// Returns a connector with the sessions of one connection. It offers the client's protocol, if the settings name
    /// none.
    fn connector(&self, alpn: Option<&[u8]>) -> TlsConnector {
        let mut config = ClientConfig::clone(self.connector.config());
        config.resumption = Resumption::store(self.sessions.for_connection());
        if let Some(protocol) = alpn.filter(|_| self.follows_client) {
            config.alpn_protocols = vec![protocol.to_vec()];
        }
        self.connector.with_config(Arc::new(config))
    }
}

/// The proxy's own certificate for a backend.
#[derive(Debug)]
struct OwnCertificate(Arc<CertifiedKey>);

impl ResolvesClientCert for OwnCertificate {
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.key.choose_scheme(schemes).map(|_| Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

fn read_certificate(
    settings: &BackendTlsSettings,
    context: &BackendContext<'_>,
) -> Result<Option<OwnCertificate>, ProxyServiceError> {
    let (Some(chain_path), Some(key_path)) = (&settings.certificate, &settings.private_key) else {
        return Ok(None);
    };
    let fault = |path: &std::path::Path, reason: String| ProxyServiceError::BackendCertificate {
        path: path.to_owned(),
        reason,
    };
    let bytes = std::fs::read(chain_path).map_err(|error| fault(chain_path, error.to_string()))?;
    let chain = import::certificates(&bytes).ok().filter(|chain| !chain.is_empty());
    let chain = chain.ok_or_else(|| fault(chain_path, "expected certificates in PEM".to_owned()))?;
    let chain: Vec<CertificateDer<'static>> = chain.into_iter().map(CertificateDer::from).collect();
    let key = context.keys.key_at(key_path, &chain[0]).map_err(ProxyServiceError::BackendKey)?;
    let certified = CertifiedKey::new(chain, key);
    certified.keys_match().map_err(|error| fault(key_path, error.to_string()))?;
    Ok(Some(OwnCertificate(Arc::new(certified))))
}
