//! Handshakes with rustls and its own provider as the other side.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use oarlock_rustls::{Handshakes, TlsAcceptor, TlsConnector, TlsHandshakeError};
use rustls::crypto::CryptoProvider;
use rustls::quic::{ClientConnection, Connection, ServerConnection, Version};
use rustls::{Error, HandshakeKind, NamedGroup, ProtocolVersion, ServerConfig, SupportedProtocolVersion};
use tokio::io::duplex;
use tokio::net::{TcpListener, TcpStream};

use crate::support::{
    ALL_KEYS, BOTH_VERSIONS, HYBRIDS, Identity, KeyChoice, ML_DSA_KEYS, TestEngine, client_config, localhost,
    ours, plain, plain_with_hybrids, run_local, server_config, talk,
};

fn keys_and_versions() -> Vec<(KeyChoice, &'static SupportedProtocolVersion)> {
    let both = ALL_KEYS.into_iter().flat_map(|key| BOTH_VERSIONS.map(|version| (key, version)));
    both.chain(ML_DSA_KEYS.map(|key| (key, BOTH_VERSIONS[1]))).collect()
}

/// A server of ours, with and without client certificates.
#[test]
fn servers_accept_every_key_and_version() {
    for (key, version) in keys_and_versions() {
        let (server, client) = (Identity::new(key), Identity::new(key));
        {
            for client in [None, Some(&client)] {
                let acceptor = TlsAcceptor::new(server_config(ours(), version, &server, client));
                let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, client));
                run_local(async {
                    let (near, far) = duplex(1 << 14);
                    let (accepted, connected) =
                        tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
                    let (mut accepted, mut connected) = (accepted.unwrap(), connected.unwrap());
                    talk(&mut accepted, &mut connected).await;
                    let connection = accepted.get_ref().1;
                    assert_eq!(connection.protocol_version(), Some(version.version));
                    assert_eq!(connection.peer_certificates().is_some(), client.is_some());
                });
            }
        }
    }
}

/// A client of ours, with and without a certificate of its own.
#[test]
fn clients_connect_with_every_key_and_version() {
    for (key, version) in keys_and_versions() {
        let (server, client) = (Identity::new(key), Identity::new(key));
        {
            for client in [None, Some(&client)] {
                let acceptor =
                    tokio_rustls::TlsAcceptor::from(server_config(plain(), version, &server, client));
                let connector = TlsConnector::new(client_config(ours(), &server, client));
                run_local(async {
                    let (near, far) = duplex(1 << 14);
                    let (accepted, connected) =
                        tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
                    let (mut accepted, mut connected) = (accepted.unwrap(), connected.unwrap());
                    talk(&mut connected, &mut accepted).await;
                    assert_eq!(connected.get_ref().1.protocol_version(), Some(version.version));
                });
            }
        }
    }
}

#[test]
fn every_group_is_agreed_on_by_both_sides() {
    let server = Identity::new(KeyChoice::P256);
    for group in 0..ours().kx_groups.len() {
        let only = CryptoProvider { kx_groups: vec![ours().kx_groups[group]], ..(*ours()).clone() };
        let name = only.kx_groups[0].name();
        let acceptor =
            TlsAcceptor::new(server_config(Arc::new(only.clone()), BOTH_VERSIONS[1], &server, None));
        let plain_acceptor = tokio_rustls::TlsAcceptor::from(server_config(
            plain_with_hybrids(),
            BOTH_VERSIONS[1],
            &server,
            None,
        ));
        let connector = tokio_rustls::TlsConnector::from(client_config(plain_with_hybrids(), &server, None));
        let our_connector = TlsConnector::new(client_config(Arc::new(only), &server, None));
        run_local(async {
            let (near, far) = duplex(1 << 14);
            let (accepted, connected) =
                tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
            let (accepted, connected) = (accepted.unwrap(), connected.unwrap());
            assert_eq!(accepted.get_ref().1.negotiated_key_exchange_group().unwrap().name(), name);
            // The client sends a share of its first group, and the server asks for that of another one.
            let is_asked_again = name != HYBRIDS[0] && name != NamedGroup::X25519;
            let kind = connected.get_ref().1.handshake_kind().unwrap();
            assert_eq!(kind == HandshakeKind::FullWithHelloRetryRequest, is_asked_again, "{name:?}");
            let (near, far) = duplex(1 << 14);
            let (accepted, connected) =
                tokio::join!(plain_acceptor.accept(near), our_connector.connect(localhost(), far));
            let (_accepted, connected) = (accepted.unwrap(), connected.unwrap());
            assert_eq!(connected.get_ref().1.negotiated_key_exchange_group().unwrap().name(), name);
        });
    }
}

#[test]
fn the_hybrids_are_preferred() {
    let names = ours().kx_groups.iter().map(|group| group.name()).collect::<Vec<_>>();
    assert_eq!(names[..2], HYBRIDS);
    assert_eq!(names[2..], [NamedGroup::X25519, NamedGroup::secp256r1, NamedGroup::secp384r1]);
}

/// A client of TLS 1.2 has no signature scheme for such a certificate.
#[test]
fn ml_dsa_certificates_are_for_tls_1_3_only() {
    let server = Identity::new(KeyChoice::MlDsa65);
    let acceptor = TlsAcceptor::new(server_config(ours(), BOTH_VERSIONS[0], &server, None));
    let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
    run_local(async {
        let (near, far) = duplex(1 << 14);
        let (accepted, connected) = tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
        assert!(matches!(accepted.err(), Some(TlsHandshakeError::Tls(Error::PeerIncompatible(_)))));
        connected.unwrap_err();
    });
}

#[test]
fn resumed_connections_work() {
    let server = Identity::new(KeyChoice::P256);
    for version in BOTH_VERSIONS {
        let acceptor = TlsAcceptor::new(server_config(ours(), version, &server, None));
        let connector = tokio_rustls::TlsConnector::from(client_config(plain(), &server, None));
        let kinds = run_local(async {
            let mut kinds = Vec::new();
            for _ in 0..2 {
                let (near, far) = duplex(1 << 14);
                let (accepted, connected) =
                    tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
                let (mut accepted, mut connected) = (accepted.unwrap(), connected.unwrap());
                talk(&mut accepted, &mut connected).await;
                kinds.push(connected.get_ref().1.handshake_kind().unwrap());
            }
            kinds
        });
        assert_eq!(kinds, [rustls::HandshakeKind::Full, rustls::HandshakeKind::Resumed]);
    }
}

/// A server of ours with client certificates, and a client of ours. QUIC carries the messages without TLS records.
#[test]
fn quic_connections_shake_hands() {
    let (server, client) = (Identity::new(KeyChoice::P256), Identity::new(KeyChoice::Ed25519));
    let config = server_config(ours(), BOTH_VERSIONS[1], &server, Some(&client));
    let mut server_side = Connection::from(ServerConnection::new(config, Version::V1, vec![1]).unwrap());
    let config = client_config(ours(), &server, Some(&client));
    let mut client_side =
        Connection::from(ClientConnection::new(config, Version::V1, localhost(), vec![2]).unwrap());
    for _ in 0..10 {
        pass_messages(&mut client_side, &mut server_side);
        pass_messages(&mut server_side, &mut client_side);
    }
    assert!(!client_side.is_handshaking() && !server_side.is_handshaking());
    assert_eq!(server_side.peer_certificates(), Some(&*client.chain));
    assert_eq!(server_side.quic_transport_parameters(), Some(&[2][..]));
    let group = client_side.negotiated_key_exchange_group().unwrap();
    assert_eq!(group.name(), ours().kx_groups[0].name());
}

/// Passes the messages of one level of encryption.
fn pass_messages(from: &mut Connection, to: &mut Connection) {
    let mut messages = Vec::new();
    let mut len_before = None;
    while len_before.replace(messages.len()) != Some(messages.len()) {
        if from.write_hs(&mut messages).is_some() {
            break;
        }
    }
    to.read_hs(&messages).unwrap();
}

#[test]
fn the_provider_is_no_fips_module() {
    let server = Identity::new(KeyChoice::P256);
    assert!(!ours().fips());
    assert!(!server_config(ours(), BOTH_VERSIONS[1], &server, None).fips());
    assert!(ours().kx_groups[..2].iter().all(|group| !group.fips()));
}

/// Bytes that arrive one by one, so that every message is cut everywhere.
#[test]
fn narrow_pipes_work() {
    let server = Identity::new(KeyChoice::P256);
    let mut config = ServerConfig::clone(&server_config(ours(), BOTH_VERSIONS[1], &server, None));
    // The server would wait until somebody reads its tickets, and the client has ended its handshake by then.
    config.send_tls13_tickets = 0;
    let acceptor = TlsAcceptor::new(Arc::new(config));
    let connector = TlsConnector::new(client_config(ours(), &server, None));
    run_local(async {
        let (near, far) = duplex(1);
        let (accepted, connected) = tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
        let (mut accepted, mut connected) = (accepted.unwrap(), connected.unwrap());
        tokio::join!(
            async {
                tokio::io::AsyncWriteExt::write_all(&mut accepted, b"hello").await.unwrap();
                tokio::io::AsyncWriteExt::flush(&mut accepted).await.unwrap();
            },
            async {
                let mut heard = [0; 5];
                tokio::io::AsyncReadExt::read_exact(&mut connected, &mut heard).await.unwrap();
                assert_eq!(&heard, b"hello");
            }
        );
    });
}

/// Both sides over TCP, on a runtime that moves tasks between threads.
#[test]
fn handshakes_on_their_own_threads_return_streams_to_the_runtime() {
    let server = Identity::new(KeyChoice::Rsa2048);
    let acceptor = TlsAcceptor::new(server_config(ours(), BOTH_VERSIONS[1], &server, None));
    let connector = TlsConnector::new(client_config(ours(), &server, None));
    let handshakes = Handshakes::new(2).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let clients: Vec<_> = (0..16)
            .map(|_| {
                let (connector, handshakes) = (connector.clone(), handshakes.clone());
                tokio::spawn(async move {
                    let tcp = TcpStream::connect(address).await.unwrap();
                    handshakes.connect(&connector, localhost(), tcp).await.unwrap()
                })
            })
            .collect();
        let mut servers = Vec::new();
        for _ in 0..16 {
            let (tcp, from) = listener.accept().await.unwrap();
            let (acceptor, handshakes) = (acceptor.clone(), handshakes.clone());
            servers
                .push((from, tokio::spawn(async move { handshakes.accept(&acceptor, tcp).await.unwrap() })));
        }
        for client in clients {
            let mut client = client.await.unwrap();
            let address = client.get_ref().0.local_addr().unwrap();
            let at = servers.iter().position(|(from, _)| *from == address).unwrap();
            let mut server = servers.swap_remove(at).1.await.unwrap();
            assert_eq!(server.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_3));
            talk(&mut client, &mut server).await;
        }
    });
}

/// 64 handshakes at once, whose jobs are computed in batches of several.
#[test]
fn handshakes_share_batches() {
    // A signature, a key and an agreement each.
    check_shared_batches(plain(), 3);
    // Also an encapsulation.
    check_shared_batches(plain_with_hybrids(), 4);
}

fn check_shared_batches(client: Arc<CryptoProvider>, jobs_each: u64) {
    const HANDSHAKES: usize = 64;
    let engine = TestEngine::new();
    let accelerator = engine.accelerator();
    let provider = Arc::new(oarlock_rustls::provider(&accelerator));
    let server = Identity::new(KeyChoice::P256);
    let acceptor = TlsAcceptor::new(server_config(provider, BOTH_VERSIONS[1], &server, None));
    let connector = tokio_rustls::TlsConnector::from(client_config(client, &server, None));
    engine.largest.store(0, Ordering::Relaxed);
    let before = accelerator.counters();
    run_local(async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..HANDSHAKES {
            let (near, far) = duplex(1 << 14);
            let (acceptor, connector) = (acceptor.clone(), connector.clone());
            tasks.spawn_local(async move {
                let (accepted, connected) =
                    tokio::join!(acceptor.accept(near), connector.connect(localhost(), far));
                talk(&mut accepted.unwrap(), &mut connected.unwrap()).await;
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
    });
    let after = accelerator.counters();
    let (batches, jobs) = (after.batches - before.batches, after.batched_ops - before.batched_ops);
    assert_eq!(jobs, jobs_each * HANDSHAKES as u64, "{after:?}");
    assert!(batches <= jobs / 4, "{jobs} jobs ran in {batches} batches");
    assert!(engine.largest.load(Ordering::Relaxed) >= 8, "{:?}", engine.largest);
}
