//! Clients of rustls, whose first message may be wrong or come in pieces.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, SharedSecret, SupportedKxGroup, aws_lc_rs, verify_tls13_signature,
};
use rustls::ffdhe_groups::FfdheGroup;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, HandshakeKind, NamedGroup, ProtocolVersion,
    SignatureScheme, version,
};

/// A client that is ready to connect.
pub struct Hello(Arc<ClientConfig>);

/// The faults of a share of X25519MLKEM768.
#[derive(Clone, Copy, Debug)]
pub enum Share {
    /// The half of X25519 is zero, of small order.
    Zero,
    Short,
    Long,
    Empty,
    /// The first coefficient of the encapsulation key is not below the modulus.
    Large,
}

impl Hello {
    /// Makes a client with these groups, whose hello has a share of the first one.
    pub fn new(groups: &[&'static dyn SupportedKxGroup]) -> Self {
        let provider =
            Arc::new(CryptoProvider { kx_groups: groups.to_vec(), ..aws_lc_rs::default_provider() });
        let verifier = Arc::new(AnyCertificate(Arc::clone(&provider)));
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13])
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Self(Arc::new(config))
    }

    /// Makes a client whose share of this group is wrong.
    pub fn changed(group: &'static dyn SupportedKxGroup, change: Share) -> Self {
        Self::new(&[Box::leak(Box::new(ChangedGroup { group, change }))])
    }

    /// Sends the hello in pieces and returns the group of the session, and whether the server asked for another share.
    pub fn send(&self, port: u16, cut: impl Fn(&[u8]) -> Vec<Vec<u8>>) -> Result<(NamedGroup, bool), String> {
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = ClientConnection::new(Arc::clone(&self.0), name).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut hello = Vec::new();
        client.write_tls(&mut hello).unwrap();
        for piece in cut(&hello) {
            stream.write_all(&piece).unwrap();
            // A packet of its own, which the server may read before the next one.
            std::thread::yield_now();
        }
        while client.is_handshaking() {
            client.complete_io(&mut stream).map_err(|error| error.to_string())?;
        }
        let is_retried = client.handshake_kind() == Some(HandshakeKind::FullWithHelloRetryRequest);
        let group = client.negotiated_key_exchange_group().unwrap().name();
        // The server has verified the client's Finished when it answers.
        let _ = client.writer().write(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
        let mut answer = [0];
        let mut session = rustls::Stream::new(&mut client, &mut stream);
        session.read_exact(&mut answer).map_err(|error| error.to_string())?;
        Ok((group, is_retried))
    }
}

pub fn whole(hello: &[u8]) -> Vec<Vec<u8>> {
    vec![hello.to_vec()]
}

/// Cuts a hello into packets of 97 bytes.
pub fn cut_into_packets(hello: &[u8]) -> Vec<Vec<u8>> {
    hello.chunks(97).map(<[u8]>::to_vec).collect()
}

/// Cuts a hello, which is one record, into records of at most 211 bytes. RFC 8446 5.1.
pub fn cut_into_records(hello: &[u8]) -> Vec<Vec<u8>> {
    let (head, content) = hello.split_at(5);
    let record = |part: &[u8]| {
        let len = u16::try_from(part.len()).unwrap().to_be_bytes();
        [&head[..3], &len, part].concat()
    };
    content.chunks(211).map(record).collect()
}

/// A group whose shares are wrong.
#[derive(Debug)]
struct ChangedGroup {
    group: &'static dyn SupportedKxGroup,
    change: Share,
}

struct ChangedExchange {
    exchange: Box<dyn ActiveKeyExchange>,
    share: Vec<u8>,
}

impl SupportedKxGroup for ChangedGroup {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let exchange = self.group.start()?;
        let mut share = exchange.pub_key().to_vec();
        let len = share.len();
        match self.change {
            Share::Zero => share[len - 32..].fill(0),
            Share::Short => share.truncate(len - 1),
            Share::Long => share.push(0),
            Share::Empty => share.truncate(1),
            Share::Large => {
                share[0] = 0xFF;
                share[1] |= 0x0F;
            }
        }
        Ok(Box::new(ChangedExchange { exchange, share }))
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn name(&self) -> NamedGroup {
        self.group.name()
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        self.group.usable_for_version(version)
    }
}

impl ActiveKeyExchange for ChangedExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        self.exchange.complete(peer)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn ffdhe_group(&self) -> Option<FfdheGroup<'static>> {
        None
    }

    fn group(&self) -> NamedGroup {
        self.exchange.group()
    }
}

/// Accepts every certificate: the tests are about the handshake before it.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
