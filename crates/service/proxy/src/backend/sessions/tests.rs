use std::time::Duration;

use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, HandshakeKind, RootCertStore, ServerConfig,
    ServerConnection, SideData,
};

use super::*;
use crate::tickets::rotating_tickets;

/// The time at which each test begins.
const START_S: u64 = 1_800_000_000;

fn name() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

fn transfer<A: SideData, B: SideData>(from: &mut ConnectionCommon<A>, to: &mut ConnectionCommon<B>) {
    let mut bytes = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut bytes).unwrap();
    }
    let mut rest = &*bytes;
    while !rest.is_empty() {
        to.read_tls(&mut rest).unwrap();
        to.process_new_packets().unwrap();
    }
}

#[test]
fn a_session_ends_although_each_connection_gives_tickets() {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    for version in [&TLS12, &TLS13] {
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(&[version]).unwrap().with_no_client_auth();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut server = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        server.ticketer = rotating_tickets(86_400).unwrap();
        let server = Arc::new(server);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_protocol_versions(&[version]).unwrap();
        let client = builder.with_root_certificates(roots.clone()).with_no_client_auth();
        let clock = ServiceClock::standing_at(START_S);
        let sessions = BackendSessions::new(2_000, clock.clone());
        let connect = |seconds: u64| {
            clock.set(START_S + seconds);
            let mut config = client.clone();
            config.resumption = Resumption::store(sessions.for_connection());
            let mut client = ClientConnection::new(Arc::new(config), name()).unwrap();
            let mut server = ServerConnection::new(Arc::clone(&server)).unwrap();
            while client.wants_write() || server.wants_write() {
                transfer(&mut client, &mut server);
                transfer(&mut server, &mut client);
            }
            client.handshake_kind().unwrap()
        };
        assert_eq!(connect(0), HandshakeKind::Full);
        assert_eq!(connect(900), HandshakeKind::Resumed);
        assert_eq!(connect(2_000), HandshakeKind::Resumed);
        assert_eq!(connect(2_001), HandshakeKind::Full);
        assert_eq!(connect(2_002), HandshakeKind::Resumed);
        sessions.clear();
        assert_eq!(connect(2_003), HandshakeKind::Full);
    }
}

#[test]
fn a_chain_is_verified_again_once_a_certificate_has_ended() {
    let issuer =
        CertifiedIssuer::self_signed(CertificateParams::default(), KeyPair::generate().unwrap()).unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.not_after = (std::time::UNIX_EPOCH + Duration::from_secs(1_800_000_000)).into();
    let leaf = params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap().der().clone();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(issuer.der().to_vec())).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
    let verify = |seconds| {
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        verify_again(&*verifier, &name(), std::slice::from_ref(&leaf), now)
    };
    assert_eq!(verify(1_800_000_000), Ok(()));
    assert!(matches!(verify(1_800_000_001), Err(Error::InvalidCertificate(_))));
}
