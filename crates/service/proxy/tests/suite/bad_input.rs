//! Bad clients, bad backends, bad engines, and ends in every state.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rcgen::{CertifiedIssuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::hello::ClientHelloBytes;
use crate::proxied::{
    RunningProxy, TestAuthority, authority_params, backend, check_echo, closed_address, connect_over,
    echo_backend,
};
use crate::test_engine::TestEngine;

/// The type of a record with handshake messages.
const HANDSHAKE: u8 = 22;
const ALERT: u8 = 21;

/// Sends bytes, and returns the type of the first record of the answer; None if there is no answer.
async fn answer(address: SocketAddr, bytes: &[u8]) -> Option<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The proxy may have closed the connection before everything was sent.
    let _ = stream.write_all(bytes).await;
    stream.read_u8().await.ok()
}

async fn wait_until_closed(mut stream: TcpStream) {
    let mut rest = [0; 1_024];
    while let Ok(1..) = stream.read(&mut rest).await {}
}

async fn reset(stream: TcpStream) {
    stream.set_zero_linger().unwrap();
    drop(stream);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_are_cut_in_each_state() {
    let authority = TestAuthority::new();
    let more = "limits.max_handshake_seconds = 1\nlisten.proxy_protocol_from = [\"127.0.0.2\"]\n";
    let proxy = RunningProxy::start(&authority, echo_backend().await, more).await;
    let hello = ClientHelloBytes::new(b"localhost").in_records(1 << 14);
    let direct =
        [&b""[..], &hello[..3], &hello[..hello.len() - 1], &hello].map(|start| ("127.0.0.1:0", start));
    let headers = [&b""[..], b"PROXY TCP4 192.0.2", b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01"];
    let balanced = headers.map(|start| ("127.0.0.2:0", start));
    let mut slow = tokio::task::JoinSet::new();
    for (from, start) in direct.into_iter().chain(balanced) {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(from.parse().unwrap()).unwrap();
        let mut stream = socket.connect(proxy.address).await.unwrap();
        stream.write_all(start).await.unwrap();
        slow.spawn(wait_until_closed(stream));
    }
    slow.join_all().await;
    proxy.wait_for_refusal("timeout", 7).await;
    proxy.wait_for("oarlock_proxy_connections_open", 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_ends_without_a_close_notify() {
    let authority = TestAuthority::new();
    let more = "limits.max_idle_seconds = 1\n";
    let proxy = RunningProxy::start(&authority, echo_backend().await, more).await;
    let mut stream = proxy.echo(&authority.client(), "localhost").await;
    assert!(stream.read_u8().await.is_err());
    proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"idle\"}", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hello_may_come_in_pieces_and_in_a_hundred_records() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    let hello = ClientHelloBytes::new(b"localhost");
    assert_eq!(answer(proxy.address, &hello.in_records(1 << 14)).await, Some(HANDSHAKE));
    let small = hello.in_records(hello.message.len().div_ceil(100));
    assert_eq!(answer(proxy.address, &small).await, Some(HANDSHAKE));
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in hello.in_records(1 << 14) {
        stream.write_all(&[byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(stream.read_u8().await.unwrap(), HANDSHAKE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hello_of_64_kib_is_answered_and_a_longer_one_is_refused() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    // rustls takes 65,535 bytes, with the headers of five records.
    let longest = ClientHelloBytes::padded(b"localhost", 65_510);
    assert_eq!(longest.message.len(), 65_510);
    assert_eq!(answer(proxy.address, &longest.in_records(1 << 14)).await, Some(HANDSHAKE));
    // A message that announces 16 MiB is refused as soon as it is longer than any message may be.
    let mut endless = vec![22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff];
    let record = [&[22, 3, 1, 0x40, 0][..], &[0; 1 << 14]].concat();
    (0..8).for_each(|_| endless.extend_from_slice(&record));
    let answered = answer(proxy.address, &endless).await;
    assert!(answered.is_none_or(|kind| kind == ALERT), "{answered:?}");
    proxy.wait_for_refusal("protocol", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_names_get_the_default_or_an_alert() {
    let authority = TestAuthority::new();
    let address = echo_backend().await;
    for (policy, expected) in [("default", HANDSHAKE), ("refuse", ALERT)] {
        let more = format!("certificates.unknown_names = \"{policy}\"\n");
        let proxy = RunningProxy::start(&authority, address, &more).await;
        // No name: always the default.
        let without = ClientHelloBytes::without_name().in_records(1 << 14);
        assert_eq!(answer(proxy.address, &without).await, Some(HANDSHAKE));
        let label = "a".repeat(63);
        let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
        let unknown = ClientHelloBytes::new(longest.as_bytes()).in_records(1 << 14);
        assert_eq!(answer(proxy.address, &unknown).await, Some(expected), "{policy}");
        // 255 bytes are more than a name may have, and these are not names at all.
        for name in [&[b'a'; 255][..], b"", b"a b", b"\xff\xfe", b"a..b"] {
            let odd = ClientHelloBytes::new(name).in_records(1 << 14);
            assert_eq!(answer(proxy.address, &odd).await, Some(ALERT), "{name:?}");
        }
        // One final dot and the case do not count. RFC 1034 3.1.
        for name in [&b"localhost"[..], b"localhost.", b"LocalHost", b"LOCALHOST."] {
            let known = ClientHelloBytes::new(name).in_records(1 << 14);
            assert_eq!(answer(proxy.address, &known).await, Some(HANDSHAKE), "{name:?}");
        }
        let two_dots = ClientHelloBytes::new(b"localhost..").in_records(1 << 14);
        assert_eq!(answer(proxy.address, &two_dots).await, Some(ALERT));
        // rustls ignores an address as a name. RFC 6066 3.
        let literal = ClientHelloBytes::new(b"127.0.0.1").in_records(1 << 14);
        assert_eq!(answer(proxy.address, &literal).await, Some(HANDSHAKE));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_of_a_foreign_network_is_refused() {
    let authority = TestAuthority::new();
    let more = "listen.proxy_protocol_from = [\"192.0.2.0/24\"]\n";
    let proxy = RunningProxy::start(&authority, echo_backend().await, more).await;
    for header in ["PROXY TCP4 192.0.2.1 198.51.100.7 5000 443\r\n", "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"] {
        let tcp = {
            let mut tcp = TcpStream::connect(proxy.address).await.unwrap();
            tcp.write_all(header.as_bytes()).await.unwrap();
            tcp
        };
        assert!(connect_over(tcp, &authority.client(), "localhost").await.is_err());
    }
    proxy.wait_for_refusal("protocol", 2).await;
    proxy.echo(&authority.client(), "localhost").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn faulty_and_cut_headers_are_refused() {
    let authority = TestAuthority::new();
    let more = "listen.proxy_protocol_from = [\"127.0.0.1\"]\n";
    let proxy = RunningProxy::start(&authority, echo_backend().await, more).await;
    let hello = ClientHelloBytes::new(b"localhost").in_records(1 << 14);
    let faulty = [&b"PROXY TCP4 192.0.2.1 x 1 2\r\n"[..], b"\r\n\r\n\0\r\nQUIT\n\x31\x11\0\0", &hello];
    for header in faulty {
        assert_eq!(answer(proxy.address, header).await, None);
    }
    proxy.wait_for_refusal("proxy_header", 3).await;
    for cut in [&b"PROXY TCP4 192.0.2"[..], b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01\x02"] {
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        stream.write_all(cut).await.unwrap();
        stream.shutdown().await.unwrap();
        wait_until_closed(stream).await;
    }
    proxy.wait_for_refusal("left", 2).await;
    // LOCAL: the load balancer checks the proxy, and its own address counts.
    let local = [b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", &hello[..]].concat();
    assert_eq!(answer(proxy.address, &local).await, Some(HANDSHAKE));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_in_each_state_ends_the_connection_and_nothing_else() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let proxy = RunningProxy::start(&authority, address, "").await;
    let hello = ClientHelloBytes::new(b"localhost").in_records(1 << 14);
    for start in [&b""[..], &hello[..20], &hello] {
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        stream.write_all(start).await.unwrap();
        if start == hello {
            stream.read_u8().await.unwrap();
        }
        reset(stream).await;
    }
    proxy.wait_for_refusal("left", 3).await;
    // A reset of the client while bytes are relayed is passed on to the backend.
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    server.read_exact(&mut [0; 5]).await.unwrap();
    reset(stream.into_inner().0).await;
    assert!(server.read_u8().await.is_err());
    proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"client\"}", 1).await;
    // And one of the backend to the client.
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    server.read_exact(&mut [0; 5]).await.unwrap();
    reset(server).await;
    assert!(stream.read_u8().await.is_err());
    proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"backend\"}", 1).await;
    proxy.wait_for("oarlock_proxy_connections_open", 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_ends_without_a_close_notify_is_not_complete_for_the_backend() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let proxy = RunningProxy::start(&authority, address, "").await;
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    server.read_exact(&mut [0; 5]).await.unwrap();
    // Only the TCP stream ends, as an attacker can make it end.
    let mut tcp = stream.into_inner().0;
    tcp.shutdown().await.unwrap();
    let end = server.read(&mut [0; 1]).await;
    assert!(end.is_err(), "{end:?}");
    wait_until_closed(tcp).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_reaches_a_client_that_is_still_writing() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let proxy = RunningProxy::start(&authority, address, "").await;
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    server.read_exact(&mut [0; 5]).await.unwrap();
    let (mut tcp, _) = stream.into_inner();
    // Records that no key opens, and more of them than the proxy reads.
    let record = [&[23, 3, 3, 0x10, 0][..], &[0; 1 << 12]].concat();
    for _ in 0..8 {
        tcp.write_all(&record).await.unwrap();
    }
    // Tickets, the alert, and then an ordinary end: a reset would be an error.
    let mut rest = Vec::new();
    tcp.read_to_end(&mut rest).await.unwrap();
    let last = rest.len() - (5 + 2 + 1 + 16);
    assert_eq!(rest[last..last + 5], [23, 3, 3, 0, 19], "an encrypted alert");
    drop(tcp);
    // The stream was cut, so the backend gets a reset.
    assert!(server.read_u8().await.is_err());
    proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"client\"}", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_refuses_is_counted_and_the_client_gets_an_end() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, closed_address().await, "").await;
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
    proxy.wait_for_refusal("backend", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_that_is_slower_than_the_client_loses_nothing() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let proxy = RunningProxy::start(&authority, address, "").await;
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    const LEN: usize = 20 << 20;
    let writing = tokio::spawn(async move {
        stream.write_all(&vec![7; LEN]).await.unwrap();
        stream.shutdown().await.unwrap();
        stream
    });
    let (mut server, _) = listener.accept().await.unwrap();
    let (mut total, mut piece) = (0, vec![0; 9_000]);
    loop {
        match server.read(&mut piece).await.unwrap() {
            0 => break,
            len => total += len,
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(total, LEN);
    drop((server, writing.await.unwrap()));
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_beyond_the_limits_are_refused_at_once() {
    let authority = TestAuthority::new();
    let address = echo_backend().await;
    let more = "limits.max_connections = 2\n";
    let proxy = RunningProxy::start(&authority, address, more).await;
    let open = [
        proxy.echo(&authority.client(), "localhost").await,
        proxy.echo(&authority.client(), "localhost").await,
    ];
    assert!(proxy.connect(&authority.client(), "localhost").await.is_err());
    proxy.wait_for_refusal("max_connections", 1).await;
    drop(open);
    proxy.wait_for("oarlock_proxy_connections_open", 0).await;
    proxy.echo(&authority.client(), "localhost").await;
    // The oldest connection without a handshake gives way to a new one.
    let more = "limits.max_handshakes = 1\nlimits.max_waiting_handshakes = 0\n";
    let proxy = RunningProxy::start(&authority, address, more).await;
    let silent = TcpStream::connect(proxy.address).await.unwrap();
    proxy.wait_for("oarlock_proxy_handshakes_open", 1).await;
    proxy.echo(&authority.client(), "localhost").await;
    wait_until_closed(silent).await;
    proxy.wait_for_refusal("busy", 1).await;
}

/// Opens connections that send the start of a hello, or nothing.
async fn crowd(proxy: &RunningProxy, from: &str, start: &[u8], len: usize) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for _ in 0..len {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(from.parse().unwrap()).unwrap();
        let mut stream = socket.connect(proxy.address).await.unwrap();
        // The proxy may have evicted it already.
        let _ = stream.write_all(start).await;
        streams.push(stream);
    }
    streams
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_without_handshakes_keeps_nobody_out() {
    let authority = TestAuthority::new();
    // Longer than any test: no client is served because the time of a silent connection was over.
    let common = "limits.max_handshake_seconds = 3600\n";
    let address = echo_backend().await;
    let hello = ClientHelloBytes::new(b"localhost").in_records(1 << 14);
    for limits in [
        // More connections than may compute at once, but not as many as may wait.
        "limits.max_handshakes = 2\nlimits.max_waiting_handshakes = 1000\n",
        // More than may be open.
        "limits.max_handshakes = 2\nlimits.max_waiting_handshakes = 30\n",
    ] {
        // Silent ones, ones that stop in the middle of their hello, and ones that stop after it.
        for start in [&[][..], &hello[..20], &hello] {
            let proxy = RunningProxy::start(&authority, address, &format!("{common}{limits}")).await;
            let _crowd = crowd(&proxy, "127.0.0.2:0", start, 60).await;
            let _others = crowd(&proxy, "127.0.0.3:0", start, 10).await;
            proxy.echo(&authority.client(), "localhost").await;
        }
    }
    // Silent connections give way where all connections of the proxy, or of an address, are counted.
    for limits in ["limits.max_connections = 20\n", "limits.max_connections_per_address = 20\n"] {
        let proxy = RunningProxy::start(&authority, address, &format!("{common}{limits}")).await;
        let _crowd = crowd(&proxy, "127.0.0.1:0", &[], 20).await;
        proxy.wait_for("oarlock_proxy_handshakes_open", 20).await;
        proxy.echo(&authority.client(), "localhost").await;
        proxy.wait_for_refusal("busy", 1).await;
    }
}

/// Returns authorities of a stranger, which a verifier can join in many ways.
fn strange_authorities(
    names: usize,
    len: usize,
) -> (CertifiedIssuer<'static, KeyPair>, Vec<CertificateDer<'static>>) {
    let issuer = |name: usize| {
        let key = KeyPair::generate().unwrap();
        CertifiedIssuer::self_signed(authority_params(&format!("strange {name}")), key).unwrap()
    };
    let issuers: Vec<_> = (0..names).map(issuer).collect();
    let pairs = (0..names).flat_map(|subject| (0..names).map(move |by| (subject, by))).cycle().take(len);
    let all = pairs.map(|(subject, by)| {
        let params = authority_params(&format!("strange {subject}"));
        params.signed_by(&KeyPair::generate().unwrap(), &issuers[by]).unwrap().der().clone()
    });
    let all = all.collect();
    (issuers.into_iter().next().unwrap(), all)
}

#[tokio::test(flavor = "multi_thread")]
async fn long_chains_are_refused_before_they_are_searched() {
    let authority = TestAuthority::new();
    let address = echo_backend().await;
    let settings = format!("backend.address = \"{address}\"\nclients.authorities = \"ca.pem\"\n");
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    proxy.echo(&authority.client_of_eight(), "localhost").await;
    // Nine, a hundred, and eight of one name.
    for (refused, (names, len)) in (1..).zip([(1, 8), (10, 100), (1, 7)]) {
        let (issuer, others) = strange_authorities(names, len);
        let client = authority.client_below(&issuer, "stranger", others);
        if let Ok(mut stream) = proxy.connect(&client, "localhost").await {
            // In TLS 1.3 the client has finished before the server looks at the certificate.
            assert!(stream.read_u8().await.is_err());
        }
        proxy.wait_for_refusal("client_certificate", refused).await;
    }
    let shorter = format!("{settings}clients.max_chain_certificates = 7\n");
    let proxy = RunningProxy::start_with(&authority, &shorter).await;
    let refused = proxy.connect(&authority.client_of_eight(), "localhost").await;
    assert!(refused.unwrap().read_u8().await.is_err());
    proxy.wait_for_refusal("client_certificate", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_with_a_long_chain_is_refused() {
    let authority = TestAuthority::new();
    let (pem, key) = authority.issue(&["localhost"], "backend");
    let (_, leaf) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).unwrap();
    let leaf = CertificateDer::from(leaf.contents);
    for (len, is_accepted) in [(8, true), (9, false)] {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let chain = vec![leaf.clone(); len];
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let acceptor = TlsAcceptor::from(Arc::new(builder.with_single_cert(chain, key).unwrap()));
        let (listener, address) = backend().await;
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let Ok(stream) = acceptor.accept(tcp).await else { continue };
                let (mut reader, mut writer) = tokio::io::split(stream);
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
            }
        });
        let settings = format!(
            "mode = \"client\"\n[backend]\naddress = \"{address}\"\n[backend.tls]\nauthorities = \"ca.pem\"\n\
             server_name = \"localhost\"\n"
        );
        let proxy = RunningProxy::start_with(&authority, &settings).await;
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        if is_accepted {
            check_echo(&mut stream).await;
        } else {
            assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
            proxy.wait_for_refusal("backend", 1).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_while_its_job_is_under_way_takes_nothing_along() {
    let authority = TestAuthority::new();
    let engine = TestEngine::new();
    let settings = format!("backend.address = \"{}\"\n", echo_backend().await);
    let proxy = RunningProxy::start_on(&authority, &settings, engine.builder()).await;
    engine.close();
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(&ClientHelloBytes::new(b"localhost").in_records(1 << 14)).await.unwrap();
    while engine.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    reset(stream).await;
    // Others are served as soon as the engine answers.
    let client = authority.client();
    let (other, ()) = tokio::join!(proxy.connect(&client, "localhost"), async { engine.open() });
    check_echo(&mut other.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_lies_makes_no_wrong_connection() {
    let authority = TestAuthority::new();
    let engine = TestEngine::new();
    let settings = format!("backend.address = \"{}\"\n", echo_backend().await);
    let proxy = RunningProxy::start_on(&authority, &settings, engine.builder()).await;
    let client = authority.client();
    proxy.echo(&client, "localhost").await;
    engine.lies.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        assert!(proxy.connect(&client, "localhost").await.is_err());
    }
    engine.lies.store(false, Ordering::Relaxed);
    proxy.wait_for("oarlock_proxy_connections_open", 0).await;
}
