//! Bad peers, bad keys, bad engines, and handshakes that nobody finishes.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use oarlock::engine_api::{Completion, Holder, OwnedJobs};
use oarlock::keys::{export, held, import};
use oarlock::{Accelerator, JobError};
use oarlock_rustls::{
    BoundedVerifier, ChainLimit, HandshakeLimits, Handshakes, TlsAcceptor, TlsConnector, TlsHandshakeError,
    signing_key,
};
use rustls::pki_types::CertificateDer;
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{AlertDescription, Error, InvalidMessage, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use crate::support::{
    self, BOTH_VERSIONS, Identity, KeyChoice, TestEngine, client_config, localhost, ours, plain, run_local,
    server_config, talk,
};

type Accepted = Result<tokio_rustls::server::TlsStream<DuplexStream>, TlsHandshakeError>;
type Connected = std::io::Result<tokio_rustls::client::TlsStream<DuplexStream>>;

/// Runs a handshake with a client of rustls.
fn meet(acceptor: &TlsAcceptor, connector: &tokio_rustls::TlsConnector) -> (Accepted, Connected) {
    run_local(async {
        let (near, far) = duplex(1 << 14);
        tokio::join!(acceptor.accept(near), async {
            // A client of TLS 1.3 ends its handshake before the server has read its last message.
            let mut connected = connector.connect(localhost(), far).await?;
            connected.write_all(b"hello").await?;
            connected.flush().await?;
            Ok(connected)
        })
    })
}

fn resolver(key: Arc<dyn SigningKey>, chain: &Identity) -> Arc<dyn ResolvesServerCert> {
    #[derive(Debug)]
    struct Always(Arc<CertifiedKey>);
    impl ResolvesServerCert for Always {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }
    Arc::new(Always(Arc::new(CertifiedKey::new(chain.chain.clone(), key))))
}

fn resolved_config(resolver: Arc<dyn ResolvesServerCert>) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(ours()).with_safe_default_protocol_versions().unwrap();
    Arc::new(builder.with_no_client_auth().with_cert_resolver(resolver))
}

fn alert_of(accepted: Accepted) -> AlertDescription {
    match accepted {
        Err(TlsHandshakeError::Tls(Error::AlertReceived(alert))) => alert,
        other => panic!("expected an alert, found {:?}", other.map(drop)),
    }
}

#[test]
fn a_client_that_does_not_trust_the_server_sends_an_alert() {
    let (server, other) = (Identity::new(KeyChoice::P256), Identity::new(KeyChoice::P256));
    for version in BOTH_VERSIONS {
        let acceptor = TlsAcceptor::new(server_config(ours(), version, &server, None));
        let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &other, None));
        let (accepted, connected) = meet(&acceptor, &connector);
        assert_eq!(connected.unwrap_err().kind(), ErrorKind::InvalidData);
        // The authorities have the same name and different keys, so the signature is the fault.
        let alert = alert_of(accepted);
        assert!(matches!(alert, AlertDescription::DecryptError | AlertDescription::UnknownCA), "{alert:?}");
    }
}

#[test]
fn our_client_rejects_a_server_that_it_does_not_trust() {
    for key in support::ALL_KEYS {
        let (server, other) = (Identity::new(key), Identity::new(key));
        let acceptor =
            tokio_rustls::TlsAcceptor::from(server_config(plain(), BOTH_VERSIONS[1], &server, None));
        let connector = TlsConnector::new(client_config(ours(), &other, None));
        run_local(async {
            let (near, far) = duplex(1 << 14);
            let (accepted, connected) =
                tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
            assert!(
                matches!(connected, Err(TlsHandshakeError::Tls(Error::InvalidCertificate(_)))),
                "{key:?}"
            );
            assert!(accepted.is_err(), "the alert has been sent");
        });
    }
}

#[test]
fn a_client_certificate_of_another_authority_is_rejected() {
    let server = Identity::new(KeyChoice::P256);
    for key in support::ALL_KEYS {
        let (client, other) = (Identity::new(key), Identity::new(key));
        let acceptor = TlsAcceptor::new(server_config(ours(), BOTH_VERSIONS[1], &server, Some(&other)));
        let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, Some(&client)));
        let (accepted, _) = meet(&acceptor, &connector);
        assert!(matches!(accepted, Err(TlsHandshakeError::Tls(Error::InvalidCertificate(_)))), "{key:?}");
    }
}

#[test]
fn a_long_chain_is_rejected_without_a_search() {
    let (server, client) = (Identity::new(KeyChoice::P256), Identity::new(KeyChoice::P256));
    for (len, is_accepted) in [(8, true), (9, false)] {
        let verifier = WebPkiClientVerifier::builder_with_provider(client.roots(), ours()).build().unwrap();
        let bounded = Arc::new(BoundedVerifier::new(verifier, ChainLimit::default()));
        let builder = ServerConfig::builder_with_provider(ours()).with_safe_default_protocol_versions();
        let builder = builder.unwrap().with_client_cert_verifier(bounded);
        let config = builder.with_single_cert(server.chain.clone(), server.key()).unwrap();
        // Certificates that nobody can read, and that no path needs.
        let mut chain = vec![CertificateDer::from(vec![0]); len];
        chain[0] = client.chain[0].clone();
        let key_der = client.key_der.clone();
        let long = Identity { chain, key_der, ..Identity::new(KeyChoice::P256) };
        let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, Some(&long)));
        let (accepted, _) = meet(&TlsAcceptor::new(Arc::new(config)), &connector);
        assert_eq!(accepted.is_ok(), is_accepted, "{len}: {:?}", accepted.err());
    }
}

#[test]
fn a_missing_client_certificate_is_rejected() {
    let server = Identity::new(KeyChoice::P256);
    let acceptor = TlsAcceptor::new(server_config(ours(), BOTH_VERSIONS[1], &server, Some(&server)));
    let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
    let (accepted, _) = meet(&acceptor, &connector);
    assert!(matches!(accepted, Err(TlsHandshakeError::Tls(Error::NoCertificatesPresented))));
}

#[test]
fn a_key_that_does_not_fit_the_certificate_is_noticed() {
    let accelerator = Accelerator::new().unwrap();
    for key in support::ALL_KEYS {
        let (server, other) = (Identity::new(key), Identity::new(key));
        let wrong = signing_key(&accelerator, import::pkcs8_der(&other.key_der).unwrap()).unwrap();
        // rustls compares both halves when it is asked to.
        assert!(CertifiedKey::new(server.chain.clone(), Arc::clone(&wrong)).keys_match().is_err());
        let acceptor = TlsAcceptor::new(resolved_config(resolver(wrong, &server)));
        let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
        let (accepted, connected) = meet(&acceptor, &connector);
        assert!(connected.is_err());
        assert_eq!(alert_of(accepted), AlertDescription::DecryptError, "{key:?}");
    }
}

#[test]
fn a_hello_that_is_cut_anywhere_is_an_error() {
    let server = Identity::new(KeyChoice::P256);
    let acceptor = TlsAcceptor::new(server_config(ours(), BOTH_VERSIONS[1], &server, None));
    let config = client_config(plain(), &server, None);
    let mut hello = Vec::new();
    let mut client = rustls::ClientConnection::new(config, localhost()).unwrap();
    client.write_tls(&mut hello).unwrap();
    for cut in (0..hello.len()).step_by(7) {
        let accepted = run_local(async {
            let (near, mut far) = duplex(1 << 14);
            far.write_all(&hello[..cut]).await.unwrap();
            far.shutdown().await.unwrap();
            acceptor.accept(near).await
        });
        assert!(
            matches!(&accepted, Err(TlsHandshakeError::Io(error)) if error.kind() == ErrorKind::UnexpectedEof),
            "cut at {cut}: {accepted:?}"
        );
    }
}

#[test]
fn bytes_of_another_protocol_get_an_alert() {
    let server = Identity::new(KeyChoice::P256);
    let acceptor = TlsAcceptor::new(server_config(ours(), BOTH_VERSIONS[1], &server, None));
    let (accepted, answer) = run_local(async {
        let (near, mut far) = duplex(1 << 14);
        far.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        let accepted = acceptor.accept(near).await;
        let mut answer = Vec::new();
        far.read_to_end(&mut answer).await.unwrap();
        (accepted, answer)
    });
    assert!(matches!(
        accepted,
        Err(TlsHandshakeError::Tls(Error::InvalidMessage(InvalidMessage::InvalidContentType)))
    ));
    // An alert record: fatal, decode_error or similar. RFC 8446 6.
    assert_eq!((answer[0], answer[5]), (21, 2), "{answer:?}");
}

#[test]
fn a_dropped_handshake_releases_everything() {
    let engine = TestEngine::new();
    let accelerator = engine.accelerator();
    let provider = Arc::new(oarlock_rustls::provider(&accelerator));
    let server = Identity::new(KeyChoice::P256);
    let config = server_config(provider, BOTH_VERSIONS[1], &server, None);
    let acceptor = TlsAcceptor::new(Arc::clone(&config));
    let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
    let holders = Arc::strong_count(&config);
    engine.close();
    run_local(async {
        let (near, far) = duplex(1 << 14);
        let client =
            tokio::task::spawn_local(async move { connector.connect(localhost(), far).await.map(drop) });
        {
            let mut handshake = std::pin::pin!(acceptor.accept(near));
            while engine.waiting() == 0 {
                tokio::select! {
                    biased;
                    _ = &mut handshake => panic!("its job cannot end"),
                    () = tokio::task::yield_now() => {}
                }
            }
            assert!(Arc::strong_count(&config) > holders);
        }
        assert_eq!(Arc::strong_count(&config), holders, "the connection has been dropped");
        assert!(client.await.unwrap().is_err(), "the stream has been dropped");
    });
    engine.open();
    // The engine still serves others.
    let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
    let (accepted, connected) = meet(&acceptor, &connector);
    assert!(accepted.is_ok() && connected.is_ok());
}

#[test]
fn a_handshake_dropped_by_its_caller_ends_on_its_thread() {
    let server = Identity::new(KeyChoice::P256);
    let config = server_config(ours(), BOTH_VERSIONS[1], &server, None);
    let acceptor = TlsAcceptor::new(Arc::clone(&config));
    let handshakes = Handshakes::new(1).unwrap();
    run_local(async {
        let (near, mut far) = duplex(1 << 14);
        let mut handshake = Box::pin(handshakes.accept(&acceptor, near));
        // Polled once, so that the thread has it. The client sends nothing.
        tokio::select! {
            biased;
            _ = &mut handshake => panic!("no client speaks"),
            () = tokio::task::yield_now() => {}
        }
        drop(handshake);
        // The thread drops its half of the pipe.
        assert_eq!(far.read(&mut [0; 1]).await.unwrap(), 0);
    });
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_timed_out() {
    let server = Identity::new(KeyChoice::P256);
    let limit = Duration::from_secs(10);
    let acceptor =
        TlsAcceptor::new(server_config(ours(), BOTH_VERSIONS[1], &server, None)).with_timeout(limit);
    let (near, _far) = duplex(1 << 14);
    let accepted = acceptor.accept(near).await;
    assert!(matches!(accepted, Err(TlsHandshakeError::Timeout { limit: found }) if found == limit));
}

#[test]
fn a_full_queue_refuses_at_once() {
    let server = Identity::new(KeyChoice::P256);
    let limits = HandshakeLimits { max_under_way: 1, max_waiting: 1 };
    let config = server_config(ours(), BOTH_VERSIONS[1], &server, None);
    let acceptor = TlsAcceptor::new(config).with_limits(limits);
    let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
    run_local(async {
        let open = async || {
            let (near, mut far) = duplex(1 << 14);
            let acceptor = acceptor.clone();
            let handshake = tokio::task::spawn_local(async move { acceptor.accept(near).await.map(drop) });
            // The type of a handshake record.
            far.write_all(&[22]).await.unwrap();
            tokio::task::yield_now().await;
            (handshake, far)
        };
        let (first, first_far) = open().await;
        let _second = open().await;
        let (third, _far) = open().await;
        assert!(matches!(third.await.unwrap(), Err(TlsHandshakeError::Busy { max: 2 })));
        drop(first_far);
        assert!(first.await.unwrap().is_err());
        // The second one waits for its client, and has no turn meanwhile.
        let (near, far) = duplex(1 << 14);
        let (accepted, connected) = tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
        talk(&mut accepted.unwrap(), &mut connected.unwrap()).await;
    });
}

#[test]
fn silent_connections_do_not_count() {
    let server = Identity::new(KeyChoice::P256);
    let limits = HandshakeLimits { max_under_way: 1, max_waiting: 0 };
    let config = server_config(ours(), BOTH_VERSIONS[1], &server, None);
    let acceptor = TlsAcceptor::new(config).with_limits(limits);
    let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
    run_local(async {
        let silent: Vec<_> = (0..100)
            .map(|_| {
                let ((near, far), acceptor) = (duplex(64), acceptor.clone());
                (tokio::task::spawn_local(async move { acceptor.accept(near).await.map(drop) }), far)
            })
            .collect();
        tokio::task::yield_now().await;
        let (near, far) = duplex(1 << 14);
        let (accepted, connected) = tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
        talk(&mut accepted.unwrap(), &mut connected.unwrap()).await;
        assert!(silent.iter().all(|(handshake, _)| !handshake.is_finished()));
    });
}

#[test]
fn a_callback_that_panics_ends_its_handshake_only() {
    #[derive(Debug)]
    struct Panics;
    impl ResolvesServerCert for Panics {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            panic!("a test")
        }
    }
    let server = Identity::new(KeyChoice::P256);
    let acceptor = TlsAcceptor::new(resolved_config(Arc::new(Panics)));
    let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
    let (accepted, connected) = meet(&acceptor, &connector);
    assert!(matches!(accepted, Err(TlsHandshakeError::Panicked)));
    assert!(connected.is_err());
}

#[test]
fn an_engine_that_fails_gives_errors_and_no_panic() {
    let engine = TestEngine::new();
    let provider = Arc::new(oarlock_rustls::provider(&engine.accelerator()));
    engine.fails.store(true, Ordering::Relaxed);
    for key in support::ALL_KEYS {
        let server = Identity::new(key);
        let acceptor =
            TlsAcceptor::new(server_config(Arc::clone(&provider), BOTH_VERSIONS[1], &server, Some(&server)));
        let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, Some(&server)));
        let (accepted, connected) = meet(&acceptor, &connector);
        match accepted {
            Ok(_) => assert!(connected.is_ok()),
            // Only the failing engine may serve here.
            Err(TlsHandshakeError::Tls(Error::Other(_))) => assert!(connected.is_err()),
            Err(other) => panic!("{key:?}: {other}"),
        }
    }
}

#[test]
fn an_engine_that_lies_gives_errors_and_no_panic() {
    let engine = TestEngine::new();
    let provider = Arc::new(oarlock_rustls::provider(&engine.accelerator()));
    engine.lies.store(true, Ordering::Relaxed);
    for key in support::ALL_KEYS {
        for version in BOTH_VERSIONS {
            let server = Identity::new(key);
            let acceptor = TlsAcceptor::new(server_config(Arc::clone(&provider), version, &server, None));
            let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
            let (accepted, connected) = meet(&acceptor, &connector);
            // Every X25519 secret is wrong.
            assert!(accepted.is_err() && connected.is_err(), "{key:?}");
        }
    }
}

/// A holder that signs with a key in its memory, or goes away.
#[derive(Debug)]
struct TestHolder {
    keys: Accelerator,
    key: oarlock::Key,
    is_gone: bool,
}

impl Holder for TestHolder {
    fn name(&self) -> &str {
        "cryptoserver"
    }

    fn start(&self, jobs: OwnedJobs, done: Completion) {
        if self.is_gone {
            return;
        }
        for (index, job) in jobs.iter().enumerate() {
            let mut job = job.as_job();
            job.key = &self.key;
            let answer = self.keys.run_all(&[job]).get(0).map(<[u8]>::to_vec);
            assert!(done.complete(index, answer));
        }
    }
}

#[test]
fn keys_at_a_cryptoserver_sign_handshakes() {
    for key in support::ALL_KEYS {
        for is_gone in [false, true] {
            let server = Identity::new(key);
            let private = import::pkcs8_der(&server.key_der).unwrap();
            let spki = export::spki_der(&private).unwrap();
            let holder = TestHolder { keys: Accelerator::new().unwrap(), key: private, is_gone };
            let accelerator = Accelerator::builder().lazy().holder(Arc::new(holder)).build().unwrap();
            let held = held::from_spki(&spki, "cryptoserver", "web").unwrap();
            let signing = signing_key(&accelerator, held).unwrap();
            let acceptor = TlsAcceptor::new(resolved_config(resolver(signing, &server)));
            let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
            let (accepted, connected) = meet(&acceptor, &connector);
            assert_eq!(connected.is_ok(), !is_gone);
            match accepted {
                Ok(_) => assert!(!is_gone),
                Err(TlsHandshakeError::Tls(Error::Other(other))) => {
                    assert!(is_gone && matches!(other.0.downcast_ref(), Some(JobError::HolderFailed { .. })));
                }
                Err(other) => panic!("{key:?}: {other}"),
            }
        }
    }
}
