//! TLS to a backend.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use oarlock::keys::import;
use oarlock_rustls::{BoundedVerifier, ChainLimit, HandshakeLimits, TlsConnector};
use oarlock_service_kit::ServiceClock;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, HandshakeKind, SignatureScheme};
use tokio_rustls::client::TlsStream;

use super::error::EndpointError;
use super::sessions::{BackendSessions, verify_again};
use crate::certificate::{CertificateKeySources, CertificateWarning, ChainProperties};
use crate::clients::{AuthorityError, read_authorities};
use crate::config::{BackendAddress, BackendTlsSettings};
use crate::error::ProxyServiceError;
use crate::stream::SocketStream;

/// The TLS of a backend.
#[derive(Debug)]
pub(super) struct BackendTls {
    connector: TlsConnector,
    verifier: Arc<dyn ServerCertVerifier>,
    server_name: Option<String>,
    max_session_s: u64,
    /// True if the client's protocol is offered.
    follows_client: bool,
    /// The proxy's own certificate, and its file.
    certificate: Option<(PathBuf, ChainProperties)>,
}

/// The peer at one address of a backend with TLS: its name, and the sessions under that name.
#[derive(Debug)]
pub(super) struct TlsPeer {
    name: ServerName<'static>,
    sessions: Arc<BackendSessions>,
}

/// The resources for TLS to backends.
pub(crate) struct BackendTlsContext<'a> {
    pub(crate) provider: &'a Arc<CryptoProvider>,
    pub(crate) keys: &'a CertificateKeySources,
    pub(crate) handshakes: HandshakeLimits,
    pub(crate) max_handshake: Duration,
    /// The maximum age of a session, counted from its full handshake.
    pub(crate) max_session_s: u64,
}

impl BackendTls {
    pub(super) fn open(
        settings: &BackendTlsSettings,
        context: &BackendTlsContext<'_>,
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
        let connector = TlsConnector::new(Arc::new(config))
            .with_limits(context.handshakes)
            .with_timeout(context.max_handshake);
        Ok(Self {
            connector,
            verifier,
            server_name: settings.server_name.clone(),
            max_session_s: context.max_session_s,
            follows_client: settings.alpn.is_empty(),
            certificate: source,
        })
    }

    /// Returns the peer at an address. Each address has sessions of its own, because it may have another name.
    pub(super) fn peer(&self, address: &BackendAddress) -> Result<TlsPeer, ProxyServiceError> {
        let name = match (&self.server_name, address) {
            (Some(name), _) => name.clone(),
            (None, BackendAddress::Tcp { host, .. }) => host.clone(),
            (None, BackendAddress::Unix(_)) => String::new(),
        };
        let name =
            ServerName::try_from(name.clone()).map_err(|_| ProxyServiceError::ServerName { found: name })?;
        Ok(TlsPeer { name, sessions: BackendSessions::new(self.max_session_s, ServiceClock::default()) })
    }

    /// Returns the faults for which the backend rejects the proxy's own certificate.
    pub(super) fn certificate_warning(&self, now_s: i64) -> Option<CertificateWarning> {
        let (path, properties) = self.certificate.as_ref()?;
        properties.warning(path, now_s)
    }

    /// Does a handshake. `alpn` is the protocol that the client has negotiated.
    pub(super) async fn connect(
        &self,
        peer: &TlsPeer,
        alpn: Option<&[u8]>,
        socket: SocketStream,
    ) -> Result<TlsStream<SocketStream>, EndpointError> {
        let connected = self.connector(peer, alpn).connect(peer.name.clone(), socket).await;
        let connected = connected.map_err(EndpointError::Tls)?;
        let connection = connected.get_ref().1;
        if connection.handshake_kind() == Some(HandshakeKind::Resumed) {
            let chain = connection.peer_certificates().unwrap_or_default();
            let verified = verify_again(&*self.verifier, &peer.name, chain, UnixTime::now());
            if let Err(error) = verified {
                // The peer may have a new certificate, which a full handshake shows.
                peer.sessions.clear();
                return Err(EndpointError::Outdated(error));
            }
        }
        Ok(connected)
    }

    /// Returns a connector with the sessions of one connection. It offers the client's protocol, if the settings name
    /// none.
    fn connector(&self, peer: &TlsPeer, alpn: Option<&[u8]>) -> TlsConnector {
        let mut config = ClientConfig::clone(self.connector.config());
        config.resumption = Resumption::store(peer.sessions.for_connection());
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
    context: &BackendTlsContext<'_>,
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
