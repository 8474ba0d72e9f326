//! Revoked certificates of clients.

use std::fs;
use std::time::SystemTime;

use oarlock_proxy::ProxyReload;
use oarlock_service_kit::ServiceClock;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind, SupportedProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::peers::{HttpsClient, Peer, http_backend};
use crate::proxied::{self, RunningProxy, TestAuthority, day_s, echo_backend};

const VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

fn settings(backend: impl std::fmt::Display, more: &str) -> String {
    format!(
        "backend.address = \"{backend}\"\n[clients]\nauthorities = \"ca.pem\"\ncrl_files = [\"ca.crl\"]\n{more}"
    )
}

/// Returns the kind of the handshake of a client that is served, or the error with which it is refused.
async fn outcome(proxy: &RunningProxy, client: &ClientConfig) -> Result<HandshakeKind, String> {
    let said = |error: std::io::Error| error.to_string();
    let mut stream = proxy.connect(client, "localhost").await.map_err(said)?;
    stream.write_all(b"hello").await.map_err(said)?;
    // In TLS 1.3 the client has finished before the server looks at the certificate.
    stream.read_exact(&mut [0; 5]).await.map_err(said)?;
    Ok(stream.get_ref().1.handshake_kind().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_refused_once_a_new_list_revokes_it() {
    let clock = ServiceClock::standing_at(day_s(5));
    for version in VERSIONS {
        let authority = TestAuthority::new();
        authority.write_list("ca.crl", &[], day_s(1)..=day_s(9));
        let proxy = RunningProxy::start_at(&authority, &settings(echo_backend().await, ""), &clock).await;
        let (good, revoked) = (authority.identity("good"), authority.identity("bad"));
        let [good, bad] = [&good, &revoked].map(|identity| authority.client_of(identity, &[version]));
        for client in [&good, &bad] {
            assert_eq!(outcome(&proxy, client).await, Ok(HandshakeKind::Full));
            assert_eq!(outcome(&proxy, client).await, Ok(HandshakeKind::Resumed));
        }
        authority.write_list("ca.crl", &[&revoked.serial], day_s(2)..=day_s(9));
        assert!(matches!(proxy.service.refresh().await, ProxyReload::Replaced));
        // The ticket is of the time before, and the full handshake finds the certificate in the list.
        let refused = outcome(&proxy, &bad).await.unwrap_err();
        assert!(refused.contains("CertificateRevoked"), "{refused}");
        assert_eq!(outcome(&proxy, &good).await, Ok(HandshakeKind::Full));
        proxy.wait_for_refusal("client_certificate", 1).await;
        // A faulty list changes nothing.
        fs::write(authority.path("ca.crl"), "-----BEGIN X509 CRL-----\nMI\n").unwrap();
        let refused = proxy.service.refresh().await;
        let ProxyReload::Refused(error) = refused else { panic!("{refused:?}") };
        assert!(error.to_string().contains("[clients] crl_files: "), "{error}");
        assert_eq!(outcome(&proxy, &good).await, Ok(HandshakeKind::Resumed));
        outcome(&proxy, &bad).await.unwrap_err();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_list_refuses_clients_unless_it_is_used_nevertheless() {
    let authority = TestAuthority::new();
    authority.write_list("ca.crl", &[], day_s(1)..=day_s(2));
    let clock = ServiceClock::standing_at(day_s(2) - 1);
    let backend = echo_backend().await;
    let proxy = RunningProxy::start_at(&authority, &settings(backend, ""), &clock).await;
    let client = authority.client_of(&authority.identity("client"), &VERSIONS);
    assert_eq!(outcome(&proxy, &client).await, Ok(HandshakeKind::Full));
    let metric = format!("oarlock_proxy_crl_end_seconds{{file=\"{}\"}}", authority.path("ca.crl").display());
    assert_eq!(proxy.metric(&metric).await, day_s(2));
    assert!(proxy.service.warnings().is_empty());
    clock.set(day_s(2));
    let said = proxy.service.warnings()[0].to_string();
    assert!(said.contains("ca.crl: the CRL of CN=test authority has expired"), "{said}");
    outcome(&proxy, &client).await.unwrap_err();
    proxy.wait_for_refusal("client_certificate", 1).await;
    let used = proxied::config(&authority, &settings(backend, "expired_crls = \"use\"\n"));
    proxy.service.reconfigure(used).await.unwrap();
    assert_eq!(outcome(&proxy, &client).await, Ok(HandshakeKind::Full));
    assert_eq!(outcome(&proxy, &client).await, Ok(HandshakeKind::Resumed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_another_issuer_protects_nothing_and_is_named() {
    let (authority, other) = (TestAuthority::new(), TestAuthority::named("other authority"));
    let identity = authority.identity("client");
    let client = authority.client_of(&identity, &VERSIONS);
    other.write_list("ca.crl", &[&identity.serial], day_s(1)..=day_s(9));
    fs::copy(other.path("ca.crl"), authority.path("ca.crl")).unwrap();
    let clock = ServiceClock::standing_at(day_s(5));
    let proxy = RunningProxy::start_at(&authority, &settings(echo_backend().await, ""), &clock).await;
    let said: Vec<_> = proxy.service.warnings().iter().map(ToString::to_string).collect();
    assert!(
        said[0].contains("the CRL is of CN=other authority, which is not one of the authorities"),
        "{said:?}"
    );
    assert!(said[1].contains("no CRL of crl_files is of the authority CN=test authority"), "{said:?}");
    // Nobody knows whether the certificate is revoked.
    let refused = outcome(&proxy, &client).await.unwrap_err();
    assert!(!refused.contains("CertificateRevoked"), "{refused}");
    proxy.wait_for_refusal("client_certificate", 1).await;
}

/// The same authority, list and clients before HAProxy, stunnel and this proxy.
#[tokio::test(flavor = "multi_thread")]
async fn haproxy_and_stunnel_refuse_the_same_clients() {
    let authority = TestAuthority::new();
    let now_s = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let (good, _) = HttpsClient::with_certificate(&authority, "good");
    let (bad, serial) = HttpsClient::with_certificate(&authority, "bad");
    let backend = http_backend();
    let [ca, crl, certificate] =
        ["ca.pem", "ca.crl", "certificates/a-localhost.pem"].map(|file| authority.path(file));
    for (term, expected) in
        [(now_s - 600..=now_s + 86_400, [true, false]), (now_s - 600..=now_s - 300, [false; 2])]
    {
        authority.write_list("ca.crl", &[&serial], term);
        let proxy = RunningProxy::start_with(&authority, &settings(backend, "")).await;
        let served = |address| [&good, &bad].map(|client| client.is_served(address, "localhost"));
        assert_eq!(served(proxy.address), expected);
        let haproxy = Peer::haproxy(&format!(
            "frontend f\n bind {{address}} ssl crt {} ca-file {} crl-file {} verify required\n default_backend b\n\
             backend b\n server s {backend}\n",
            certificate.display(),
            ca.display(),
            crl.display()
        ));
        let stunnel = Peer::stunnel(&format!(
            "[s]\naccept = {{address}}\nconnect = {backend}\ncert = {}\nCAfile = {}\nCRLfile = {}\n\
             verifyChain = yes\nrequireCert = yes\n",
            certificate.display(),
            ca.display(),
            crl.display()
        ));
        for peer in [haproxy, stunnel].into_iter().flatten() {
            assert_eq!(served(peer.address), expected, "{}", peer.name);
        }
    }
}
