//! Handshakes of a client.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::{cipher_suite, default_provider};
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, SharedSecret, SupportedKxGroup};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, NamedGroup, SignatureScheme, version,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::client::TlsStream;

use crate::handshake::{complete, pausable, within};
use crate::limits::{HandshakeQueue, QueueTicket};
use crate::pause::HandshakeCount;
use crate::{HandshakeLimits, TlsHandshakeError};

/// Opens TLS connections. The jobs of handshakes that are open at the same time share batches.
///
/// Cheap to clone. Clones share the limits.
#[derive(Clone)]
pub struct TlsConnector {
    config: Arc<ClientConfig>,
    queue: Arc<HandshakeQueue>,
    timeout: Option<Duration>,
}

impl TlsConnector {
    /// Returns a connector with default limits and without a timeout.
    #[must_use]
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self { config, queue: HandshakeQueue::new(HandshakeLimits::default()), timeout: None }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: HandshakeLimits) -> Self {
        Self { queue: HandshakeQueue::new(limits), ..self }
    }

    /// Sets the maximum time of a handshake, in which it waits for its turn too. The runtime needs its timer then.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Returns a connector with another configuration, which shares the limits of this one.
    #[must_use]
    pub fn with_config(&self, config: Arc<ClientConfig>) -> Self {
        Self { config, queue: Arc::clone(&self.queue), timeout: self.timeout }
    }

    /// Does the handshake with a server on this thread. The future is not `Send`, which suits a current-thread
    /// runtime; [`Handshakes::connect`](crate::Handshakes::connect) returns one that is.
    ///
    /// # Errors
    /// As [`TlsAcceptor::accept`](crate::TlsAcceptor::accept).
    pub async fn connect<IO>(
        &self,
        name: ServerName<'static>,
        io: IO,
    ) -> Result<TlsStream<IO>, TlsHandshakeError>
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        let queued = self.enter()?;
        self.connect_in(queued, name, io).await
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &Arc<ClientConfig> {
        &self.config
    }

    pub(crate) fn enter(&self) -> Result<QueueTicket, TlsHandshakeError> {
        self.queue.enter()
    }

    pub(crate) async fn connect_in<IO>(
        &self,
        queued: QueueTicket,
        name: ServerName<'static>,
        mut io: IO,
    ) -> Result<TlsStream<IO>, TlsHandshakeError>
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        let handshake = async {
            let _count = HandshakeCount::new();
            let config = Arc::clone(&self.config);
            let turn = queued.wait_turn().await?;
            // A new client has made its key share.
            let connection = pausable(move || ClientConnection::new(config, name).map(Box::new)).await??;
            drop(turn);
            let finished = complete(&mut io, connection, &queued).await?;
            let unused = ServerName::from(std::net::Ipv4Addr::UNSPECIFIED);
            Ok(STREAMS.connect_with(unused, io, |connection| *connection = *finished).await?)
        };
        within(self.timeout, handshake).await
    }
}

impl std::fmt::Debug for TlsConnector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TlsConnector({:?}, {:?})", self.queue, self.timeout)
    }
}

/// A connector that makes streams of finished connections.
///
/// tokio-rustls has no constructor for its stream, and creates a connection that the finished one replaces. This
/// configuration makes that cheap: its key share is not a key. No byte of that connection is sent, and its verifier
/// would accept no server.
static STREAMS: LazyLock<tokio_rustls::TlsConnector> = LazyLock::new(|| {
    let provider = CryptoProvider {
        cipher_suites: vec![cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![&PlaceholderGroup],
        ..default_provider()
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let builder = builder.with_protocol_versions(&[&version::TLS13]);
    #[expect(clippy::expect_used, reason = "the provider above has a suite and a group of TLS 1.3")]
    let builder = builder.expect("a suite and a group of TLS 1.3");
    let config = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(RejectEveryServer))
        .with_no_client_auth();
    Arc::new(config).into()
});

#[derive(Debug)]
struct PlaceholderGroup;

impl SupportedKxGroup for PlaceholderGroup {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(Self))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl ActiveKeyExchange for PlaceholderGroup {
    fn complete(self: Box<Self>, _: &[u8]) -> Result<SharedSecret, Error> {
        Err(Error::General("this connection must not be used".into()))
    }

    fn pub_key(&self) -> &[u8] {
        // rustls asserts that a share has at least one byte.
        &[0; 32]
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

#[derive(Debug)]
struct RejectEveryServer;

impl ServerCertVerifier for RejectEveryServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Err(Error::General("this connection must not be used".into()))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("this connection must not be used".into()))
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("this connection must not be used".into()))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
