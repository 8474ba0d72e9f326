//! The log of connections: one line for each end, with what the connection was.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oarlock_service_kit::ServiceClock;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ProtocolVersion};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::client::TlsStream;

use crate::hello::ClientHelloBytes;
use crate::proxied::{
    DEADLINE, RunningProxy, TestAuthority, backend, check_echo, closed_address, config, connect_over, day_s,
    echo_backend,
};

const LOG: &str = "log.connections = \"all\"\nlog.file = \"connections.log\"\nlog.format = \"json\"\n";

/// Waits until the log has a number of lines, and returns them.
async fn wait_for_lines(path: &Path, count: usize) -> Vec<Value> {
    let wait = async {
        loop {
            let text = fs::read_to_string(path).unwrap_or_default();
            // The last line may be half written.
            let complete = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
            if complete.lines().count() >= count {
                return complete.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            }
            tokio::task::yield_now().await;
        }
    };
    let waited: Result<Vec<Value>, _> = tokio::time::timeout(DEADLINE, wait).await;
    let lines = waited.unwrap_or_else(|_| panic!("{:?}", fs::read_to_string(path)));
    assert_eq!(lines.len(), count, "{lines:#?}");
    lines
}

fn log_of(authority: &TestAuthority) -> PathBuf {
    authority.path("connections.log")
}

/// Ends both directions properly.
async fn end(mut stream: TlsStream<TcpStream>) {
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap(), 0);
}

fn with_versions(
    authority: &TestAuthority,
    version: &'static rustls::SupportedProtocolVersion,
) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
    builder.with_root_certificates(authority.roots()).with_no_client_auth()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_says_what_the_client_and_the_backend_say() {
    let authority = TestAuthority::new();
    authority.add("b-www", &["www.x.example"]);
    let address = echo_backend().await;
    let more = format!(
        "tls.alpn = [\"h2\", \"http/1.1\"]\n{LOG}route = [{{ names = [\"www.x.example\"], backend.address = \"{address}\" }}]\n"
    );
    let proxy = RunningProxy::start(&authority, address, &more).await;
    let mut expected = Vec::new();
    for (name, version, alpn) in [
        ("www.x.example", &TLS13, Some("h2")),
        ("localhost", &TLS13, None),
        ("www.x.example", &TLS12, Some("http/1.1")),
        // A resumed session.
        ("www.x.example", &TLS12, Some("http/1.1")),
    ] {
        let client = match expected.last() {
            Some((_, _, _, client)) if expected.len() == 3 => ClientConfig::clone(client),
            _ => {
                let mut client = with_versions(&authority, version);
                client.alpn_protocols = alpn.map(|alpn| alpn.as_bytes().to_vec()).into_iter().collect();
                client
            }
        };
        let mut stream = proxy.connect(&client, name).await.unwrap();
        let from = stream.get_ref().0.local_addr().unwrap().to_string();
        stream.write_all(b"hello, backend").await.unwrap();
        stream.read_exact(&mut [0; 14]).await.unwrap();
        let connection = stream.get_ref().1;
        let is_resumed = connection.handshake_kind() == Some(rustls::HandshakeKind::Resumed);
        let suite = connection.negotiated_cipher_suite().unwrap().suite();
        let suite = format!("{suite:?}").replace("TLS13_", "TLS_");
        let group = connection.negotiated_key_exchange_group();
        let group = group.map_or("none".to_owned(), |group| format!("{:?}", group.name()));
        let version = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLSv1.2",
        };
        end(stream).await;
        let line = wait_for_lines(&log_of(&authority), expected.len() + 1).await.pop().unwrap();
        for (field, found) in [
            ("client", &*from),
            ("sni", name),
            ("version", version),
            ("cipher", &*suite),
            ("group", &*group),
            ("end", "complete"),
            ("backend", &*address.to_string()),
            ("route", if name == "localhost" { "default" } else { name }),
        ] {
            assert_eq!(line[field], found, "{field}: {line:#}");
        }
        let file =
            if name == "localhost" { "certificates/a-localhost.pem" } else { "certificates/b-www.pem" };
        assert!(line["certificate"].as_str().unwrap().ends_with(file), "{line:#}");
        assert_eq!(line["alpn"], alpn.map_or(Value::Null, Value::from));
        assert_eq!((&line["bytes_to_backend"], &line["bytes_to_client"]), (&14.into(), &14.into()));
        assert_eq!((&line["resumed"], &line["tries"]), (&is_resumed.into(), &1.into()));
        let us = |field: &str| line[field].as_u64().unwrap();
        assert!(us("handshake_us") + us("connect_us") <= us("total_us"), "{line:#}");
        expected.push((name, version, is_resumed, client));
    }
    assert_eq!(
        expected.iter().map(|(_, _, is_resumed, _)| *is_resumed).collect::<Vec<_>>(),
        [false, false, false, true]
    );
    let route = |name: &str| format!("oarlock_proxy_route_connections_total{{route=\"{name}\"}}");
    assert_eq!(proxy.metric(&route("www.x.example")).await, 3);
    assert_eq!(proxy.metric(&route("default")).await, 1);
    let file = authority.path("certificates/b-www.pem");
    let file = format!("oarlock_proxy_certificate_handshakes_total{{certificate=\"{}\"}}", file.display());
    assert_eq!(proxy.metric(&file).await, 3);
    assert_eq!(proxy.metric("oarlock_proxy_log_lines_total{result=\"written\"}").await, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_header_names_the_client_and_a_certificate_its_name() {
    let authority = TestAuthority::new();
    let more =
        format!("listen.proxy_protocol_from = [\"127.0.0.1\"]\nclients.authorities = \"ca.pem\"\n{LOG}");
    let proxy = RunningProxy::start(&authority, echo_backend().await, &more).await;
    let mut tcp = TcpStream::connect(proxy.address).await.unwrap();
    let balancer = tcp.local_addr().unwrap().to_string();
    tcp.write_all(b"PROXY TCP6 2001:db8::7 2001:db8::1 5000 443\r\n").await.unwrap();
    let name = "odd \"name\"\n\u{1b}[31m\u{202e}";
    let client = authority.client_named(&[], name);
    end(connect_over(tcp, &client, "localhost").await.unwrap()).await;
    let line = wait_for_lines(&log_of(&authority), 1).await.pop().unwrap();
    assert_eq!((&line["client"], &line["balancer"]), (&"[2001:db8::7]:5000".into(), &balancer.into()));
    assert_eq!(line["client_name"], format!("CN:{name}"));
    let text = fs::read_to_string(log_of(&authority)).unwrap();
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    let client = authority.client_named(&["db.x.example"], "other");
    let mut tcp = TcpStream::connect(proxy.address).await.unwrap();
    tcp.write_all(b"PROXY TCP4 192.0.2.9 192.0.2.1 5001 443\r\n").await.unwrap();
    end(connect_over(tcp, &client, "localhost").await.unwrap()).await;
    let line = wait_for_lines(&log_of(&authority), 2).await.pop().unwrap();
    assert_eq!(
        (&line["client"], &line["client_name"]),
        (&"192.0.2.9:5001".into(), &"DNS:db.x.example".into())
    );
}

/// A client that fails in some way, and what the line says.
async fn fail_everywhere(
    proxy: &RunningProxy,
    authority: &TestAuthority,
) -> Vec<(&'static str, Option<&'static str>)> {
    let mut expected = Vec::new();
    // Bytes that are not TLS, a client that leaves, and one that does not trust the proxy.
    let mut tcp = TcpStream::connect(proxy.address).await.unwrap();
    tcp.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    while let Ok(1..) = tcp.read(&mut [0; 64]).await {}
    expected.push(("protocol", None));
    drop(TcpStream::connect(proxy.address).await.unwrap());
    expected.push(("left", None));
    let stranger = TestAuthority::new();
    assert!(proxy.connect(&stranger.client(), "localhost").await.is_err());
    expected.push(("protocol", Some("localhost")));
    // No version, no protocol and no certificate in common.
    let mut client = authority.client();
    client.alpn_protocols = vec![b"imap".to_vec()];
    assert!(proxy.connect(&client, "localhost").await.is_err());
    expected.push(("incompatible", Some("localhost")));
    assert!(proxy.connect(&authority.client(), "unknown.example").await.is_err());
    expected.push(("unknown_name", Some("unknown.example")));
    // A certificate of another authority.
    let mut stream = proxy.connect(&stranger_with_certificate(authority), "localhost").await.unwrap();
    assert!(stream.read_u8().await.is_err());
    expected.push(("client_certificate", Some("localhost")));
    // The backend is not there.
    let mut stream = proxy.connect(&authority.client(), "down.x.example").await.unwrap();
    assert!(stream.read(&mut [0]).await.unwrap_or(0) == 0);
    expected.push(("backend", Some("down.x.example")));
    // A header of the wrong form, from an address that must send one.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut tcp = socket.connect(proxy.address).await.unwrap();
    tcp.write_all(b"PROXY TCP4 192.0.2.1 x 1 2\r\n").await.unwrap();
    while let Ok(1..) = tcp.read(&mut [0; 64]).await {}
    expected.push(("proxy_header", None));
    expected
}

/// Returns a client of the authority's servers with a certificate of another authority.
fn stranger_with_certificate(authority: &TestAuthority) -> ClientConfig {
    let stranger = TestAuthority::new();
    let mut client = stranger.client_named(&["stranger.example"], "stranger");
    let trusting = authority.client();
    let verifier = rustls::client::WebPkiServerVerifier::builder_with_provider(
        Arc::new(authority.roots()),
        Arc::clone(trusting.crypto_provider()),
    );
    client.dangerous().set_certificate_verifier(verifier.build().unwrap());
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn each_refused_connection_has_one_line_with_its_reason() {
    let authority = TestAuthority::new();
    authority.add("b-down", &["down.x.example"]);
    let (address, down) = (echo_backend().await, closed_address().await);
    let more = format!(
        "tls.alpn = [\"h2\"]\ncertificates.unknown_names = \"refuse\"\nlisten.proxy_protocol_from = [\"127.0.0.2\"]\n\
         clients.authorities = \"ca.pem\"\nclients.required = false\n{LOG}\
         route = [{{ names = [\"down.x.example\"], backend.address = \"{down}\" }}, \
         {{ names = [\"localhost\"], backend.address = \"{address}\" }}]\n"
    );
    let settings = format!("limits.max_connections = 100\n{more}");
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let expected = fail_everywhere(&proxy, &authority).await;
    let lines = wait_for_lines(&log_of(&authority), expected.len()).await;
    let mut found: Vec<_> =
        lines.iter().map(|line| (line["reason"].as_str().unwrap(), line["sni"].as_str())).collect();
    let mut expected_now = expected.clone();
    found.sort_unstable();
    expected_now.sort_unstable();
    assert_eq!(found, expected_now, "{lines:#?}");
    for line in &lines {
        assert_eq!((&line["end"], line["error"].is_string()), (&"refused".into(), true), "{line:#}");
        assert!(line["client"].as_str().unwrap().starts_with("127.0.0."), "{line:#}");
    }
    let alerts: HashSet<_> = lines.iter().filter_map(|line| line["alert_received"].as_str()).collect();
    // All authorities of these tests have one name, so that the signatures do not fit.
    assert!(alerts.contains("DecryptError"), "{lines:#?}");
    let sent: HashSet<_> = lines.iter().filter_map(|line| line["alert_sent"].as_str()).collect();
    assert!(sent.is_superset(&HashSet::from(["NoApplicationProtocol", "DecryptError"])), "{lines:#?}");
    // No route: this name has a certificate, and no backend after a reload.
    let without = more.replace("\"localhost\"", "\"other.example\"");
    proxy.service.reconfigure(config(&authority, &without)).await.unwrap();
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    assert!(stream.read(&mut [0]).await.unwrap_or(0) == 0);
    let count = expected.len() + 1;
    assert_eq!(wait_for_lines(&log_of(&authority), count).await[count - 1]["reason"], "no_route");
    assert_eq!(proxy.metric("oarlock_proxy_connections_total").await, count as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_beyond_a_limit_have_one_line() {
    let authority = TestAuthority::new();
    let more = format!("limits.max_connections = 2\nlimits.max_connections_per_address = 1\n{LOG}");
    let proxy = RunningProxy::start(&authority, echo_backend().await, &more).await;
    let first = proxy.echo(&authority.client(), "localhost").await;
    assert!(proxy.connect(&authority.client(), "localhost").await.is_err());
    assert_eq!(wait_for_lines(&log_of(&authority), 1).await[0]["reason"], "max_connections_per_address");
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut second =
        connect_over(socket.connect(proxy.address).await.unwrap(), &authority.client(), "localhost")
            .await
            .unwrap();
    check_echo(&mut second).await;
    assert!(proxy.connect(&authority.client(), "localhost").await.is_err());
    assert_eq!(wait_for_lines(&log_of(&authority), 2).await[1]["reason"], "max_connections");
    end(first).await;
    end(second).await;
    let lines = wait_for_lines(&log_of(&authority), 4).await;
    assert!(lines[2..].iter().all(|line| line["end"] == "complete"), "{lines:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_have_one_line_each() {
    let authority = TestAuthority::new();
    let more = format!("limits.max_handshake_seconds = 1\nlimits.max_idle_seconds = 1\n{LOG}");
    let proxy = RunningProxy::start(&authority, echo_backend().await, &more).await;
    let mut silent = TcpStream::connect(proxy.address).await.unwrap();
    let hello = ClientHelloBytes::new(b"localhost").in_records(1 << 14);
    let mut half = TcpStream::connect(proxy.address).await.unwrap();
    half.write_all(&hello).await.unwrap();
    let mut idle = proxy.echo(&authority.client(), "localhost").await;
    assert!(idle.read_u8().await.is_err());
    while let Ok(1..) = silent.read(&mut [0; 64]).await {}
    while let Ok(1..) = half.read(&mut [0; 4096]).await {}
    let lines = wait_for_lines(&log_of(&authority), 3).await;
    let by = |field: &str, value: &str| lines.iter().filter(|line| line[field] == value).collect::<Vec<_>>();
    assert_eq!((by("reason", "timeout").len(), by("end", "idle").len()), (2, 1), "{lines:#?}");
    // The client that has said its name is known by it.
    assert_eq!(by("sni", "localhost").len(), 2, "{lines:#?}");
    assert_eq!(
        (&by("end", "idle")[0]["bytes_to_client"], proxy.metric("oarlock_proxy_connections_total").await),
        (&5.into(), 3)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn resets_certificates_and_the_end_of_the_proxy_have_one_line_each() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let clock = ServiceClock::standing_at(day_s(2) - 1);
    let settings = format!(
        "backend.address = \"{address}\"\nclients.authorities = \"ca.pem\"\nlimits.max_drain_seconds = 0\n{LOG}"
    );
    let proxy = RunningProxy::start_at(&authority, &settings, &clock).await;
    let with_clock = |mut client: ClientConfig| {
        client.time_provider = Arc::new(clock.clone());
        client
    };
    let short = with_clock(authority.client_with_term(1..=2));
    let long = with_clock(authority.client_with_term(1..=20));
    let mut opened = Vec::new();
    for client in [&long, &long, &short, &long] {
        let mut stream = proxy.connect(client, "localhost").await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        stream.write_all(b"hello").await.unwrap();
        server.read_exact(&mut [0; 5]).await.unwrap();
        server.write_all(b"answer").await.unwrap();
        stream.read_exact(&mut [0; 6]).await.unwrap();
        opened.push((stream, server));
    }
    let mut opened = opened.into_iter();
    let (client, _server) = opened.next().unwrap();
    client.get_ref().0.set_zero_linger().unwrap();
    drop(client);
    assert_eq!(wait_for_lines(&log_of(&authority), 1).await[0]["end"], "client");
    let (_client, server) = opened.next().unwrap();
    server.set_zero_linger().unwrap();
    drop(server);
    assert_eq!(wait_for_lines(&log_of(&authority), 2).await[1]["end"], "backend");
    clock.set(day_s(3));
    assert_eq!(wait_for_lines(&log_of(&authority), 3).await[2]["end"], "certificate");
    let _last = opened.next_back().unwrap();
    proxy.stop().await.unwrap();
    let lines = wait_for_lines(&log_of(&authority), 4).await;
    assert_eq!(lines[3]["end"], "drained");
    for line in &lines {
        assert_eq!((&line["bytes_to_backend"], &line["bytes_to_client"]), (&5.into(), &6.into()), "{line:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_opens_the_file_again_and_changes_the_rules() {
    let authority = TestAuthority::new();
    let address = echo_backend().await;
    let more = |log: &str| format!("backend.address = \"{address}\"\n{log}");
    let proxy = RunningProxy::start_with(&authority, &more(LOG)).await;
    let (path, rotated) = (log_of(&authority), authority.path("connections.log.1"));
    end(proxy.echo(&authority.client(), "localhost").await).await;
    wait_for_lines(&path, 1).await;
    fs::rename(&path, &rotated).unwrap();
    // Until the hang-up, lines go to the file that was renamed.
    end(proxy.echo(&authority.client(), "localhost").await).await;
    wait_for_lines(&rotated, 2).await;
    proxy.service.reconfigure(config(&authority, &more(LOG))).await.unwrap();
    end(proxy.echo(&authority.client(), "localhost").await).await;
    wait_for_lines(&path, 1).await;
    wait_for_lines(&rotated, 2).await;
    // A file that was removed is made again.
    fs::remove_file(&path).unwrap();
    proxy.service.reconfigure(config(&authority, &more(LOG))).await.unwrap();
    end(proxy.echo(&authority.client(), "localhost").await).await;
    wait_for_lines(&path, 1).await;
    // A directory that does not exist is refused, and the old file stays.
    let absent = LOG.replace("connections.log", "absent/connections.log");
    let error = proxy.service.reconfigure(config(&authority, &more(&absent))).await.unwrap_err().to_string();
    assert!(error.starts_with("[log] file ") && error.contains("absent/connections.log: "), "{error}");
    assert_eq!(proxy.metric("oarlock_proxy_reloads_total{result=\"rejected\"}").await, 1);
    end(proxy.echo(&authority.client(), "localhost").await).await;
    wait_for_lines(&path, 2).await;
    // Only failures, as text, in another file.
    let failed = "log.connections = \"failed\"\nlog.file = \"failed.log\"\n";
    proxy.service.reconfigure(config(&authority, &more(failed))).await.unwrap();
    end(proxy.echo(&authority.client(), "localhost").await).await;
    drop(TcpStream::connect(proxy.address).await.unwrap());
    proxy.wait_for("oarlock_proxy_log_lines_total{result=\"written\"}", 6).await;
    let text = fs::read_to_string(authority.path("failed.log")).unwrap();
    assert!(text.contains(" end=refused reason=left ") && text.lines().count() == 1, "{text}");
    proxy.service.reconfigure(config(&authority, &more(""))).await.unwrap();
    drop(TcpStream::connect(proxy.address).await.unwrap());
    proxy.wait_for_refusal("left", 2).await;
    assert_eq!(proxy.metric("oarlock_proxy_log_lines_total{result=\"written\"}").await, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_continue_while_the_disk_is_full() {
    let authority = TestAuthority::new();
    let address = echo_backend().await;
    let full = "log.connections = \"all\"\nlog.file = \"/dev/full\"\nlog.max_queue_bytes = 65536\n";
    let more = |log: &str| format!("backend.address = \"{address}\"\n{log}");
    let proxy = RunningProxy::start_with(&authority, &more(full)).await;
    let lost = "oarlock_proxy_log_lines_total{result=\"lost\"}";
    while proxy.metric(lost).await == 0 {
        for _ in 0..50 {
            drop(TcpStream::connect(proxy.address).await.unwrap());
        }
        end(proxy.echo(&authority.client(), "localhost").await).await;
    }
    proxy.service.reconfigure(config(&authority, &more(LOG))).await.unwrap();
    end(proxy.echo(&authority.client(), "localhost").await).await;
    let accepted = proxy.metric("oarlock_proxy_connections_total").await;
    proxy.wait_for("oarlock_proxy_connections_open", 0).await;
    let lost = proxy.metric(lost).await;
    proxy.wait_for("oarlock_proxy_log_lines_total{result=\"written\"}", accepted - lost).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_clients_make_no_labels() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, LOG).await;
    let samples =
        async || proxy.page().await.lines().filter(|line| line.starts_with("oarlock_proxy_")).count();
    end(proxy.echo(&authority.client(), "localhost").await).await;
    let before = samples().await;
    for number in 0..500 {
        let hello = ClientHelloBytes::new(format!("{number}.x.example").as_bytes()).in_records(1 << 14);
        let mut tcp = TcpStream::connect(proxy.address).await.unwrap();
        tcp.write_all(&hello).await.unwrap();
        tcp.read_u8().await.unwrap();
    }
    assert_eq!(samples().await, before);
}
