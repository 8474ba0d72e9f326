//! The proxy as clients and backends see it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use oarlock_proxy::ProxyReload;
use oarlock_proxy::header::{HeaderProgress, ProxyHeader};
use oarlock_service_kit::ServiceClock;
use rcgen::{GeneralSubtree, NameConstraints};
use rustls::version::{TLS12, TLS13};
use rustls::{CipherSuite, ClientConfig, HandshakeKind, NamedGroup, ProtocolVersion};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};

use crate::proxied::{
    self, RunningProxy, TestAuthority, backend, check_echo, day_s, echo_backend, with_versions, write_private,
};

/// Returns the DNS names in the certificate that the proxy showed.
fn shown_name(stream: &tokio_rustls::client::TlsStream<TcpStream>) -> Vec<u8> {
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_decides_the_certificate_and_both_versions_work() {
    let authority = TestAuthority::new();
    authority.add("b", &["*.example.com"]);
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    for versions in [&[&TLS12], &[&TLS13]] {
        let client = with_versions(&authority, versions);
        let mut first = proxy.echo(&client, "localhost").await;
        let second = proxy.echo(&client, "www.example.com").await;
        assert_ne!(shown_name(&first), shown_name(&second));
        assert_eq!(first.get_ref().1.protocol_version(), Some(versions[0].version));
        // The default certificate answers for unknown names, and this client rejects it.
        let error = proxy.connect(&client, "unknown.example").await.unwrap_err();
        assert!(error.to_string().contains("not valid for name"), "{error}");
        first.shutdown().await.unwrap();
        let mut rest = Vec::new();
        // The end of the backend arrives as a close_notify: without it, this would be an error.
        first.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"");
    }
    let page = proxy.page().await;
    for version in ["TLSv1.2", "TLSv1.3"] {
        let line = format!(
            "oarlock_proxy_handshakes_total{{version=\"{version}\",group=\"X25519\",resumed=\"no\"}} "
        );
        assert!(page.contains(&line), "{page}");
    }
    proxy.wait_for_refusal("protocol", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_begins_or_ends_changes_the_choice_of_a_running_proxy() {
    let authority = TestAuthority::new();
    authority.add_with_term("b-old", &["timed.x.example"], 1..=10);
    authority.add_with_term("c-new", &["timed.x.example"], 8..=20);
    authority.add_with_term("d-wildcard", &["*.x.example"], 1..=25);
    let clock = ServiceClock::standing_at(day_s(1));
    let settings = format!("backend.address = \"{}\"\n", echo_backend().await);
    let proxy = RunningProxy::start_at(&authority, &settings, &clock).await;
    let without_valid = "oarlock_proxy_handshakes_without_valid_certificate_total";
    // A client with the proxy's clock, and without sessions of others.
    let client = || {
        let mut client = authority.client();
        client.time_provider = Arc::new(clock.clone());
        client
    };
    let mut shown = Vec::new();
    for day in [1, 7, 8, 10, 11, 20, 21, 25] {
        clock.set(day_s(day));
        shown.push(shown_name(&proxy.echo(&client(), "timed.x.example").await));
    }
    let is_same = |days: std::ops::Range<usize>| shown[days].windows(2).all(|pair| pair[0] == pair[1]);
    assert!(is_same(0..2) && is_same(2..6) && is_same(6..8));
    assert!(shown[0] != shown[2] && shown[2] != shown[6] && shown[0] != shown[6]);
    assert_eq!(proxy.metric(without_valid).await, 0);
    clock.set(day_s(26));
    let error = proxy.connect(&client(), "timed.x.example").await.unwrap_err().to_string();
    assert!(error.contains("Expired") || error.contains("expired"), "{error}");
    assert_eq!(proxy.metric(without_valid).await, 1);
    let warnings: Vec<String> = proxy.service.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings[0].contains("b-old.pem: the certificate has expired at Jan 10"), "{warnings:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_ends_with_a_certificate_of_its_client() {
    let authority = TestAuthority::new();
    let clock = ServiceClock::standing_at(day_s(2) - 1);
    let settings =
        format!("backend.address = \"{}\"\nclients.authorities = \"ca.pem\"\n", echo_backend().await);
    let proxy = RunningProxy::start_at(&authority, &settings, &clock).await;
    let mut streams = Vec::new();
    for days in [1..=2, 1..=20] {
        let mut client = authority.client_with_term(days);
        client.time_provider = Arc::new(clock.clone());
        streams.push(proxy.echo(&client, "localhost").await);
    }
    clock.set(day_s(3));
    proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"certificate\"}", 1).await;
    let error = streams[0].read_u8().await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    check_echo(&mut streams[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_limit_versions_groups_and_protocols() {
    let authority = TestAuthority::new();
    let more = "tls.min_version = \"1.3\"\ntls.groups = [\"P-384\"]\ntls.alpn = [\"h2\", \"http/1.1\"]\n\
                certificates.unknown_names = \"refuse\"\n";
    let proxy = RunningProxy::start(&authority, echo_backend().await, more).await;
    assert!(proxy.connect(&with_versions(&authority, &[&TLS12]), "localhost").await.is_err());
    let mut client = authority.client();
    let stream = proxy.echo(&client, "localhost").await;
    let connection = stream.get_ref().1;
    assert_eq!(connection.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    assert_eq!(connection.negotiated_key_exchange_group().unwrap().name(), NamedGroup::secp384r1);
    assert_eq!(connection.alpn_protocol(), None);
    client.alpn_protocols = vec![b"http/1.1".to_vec(), b"h2".to_vec()];
    let stream = proxy.echo(&client, "localhost").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    client.alpn_protocols = vec![b"imap".to_vec()];
    let refused = proxy.connect(&client, "localhost").await.unwrap_err();
    assert!(refused.to_string().contains("NoApplicationProtocol"), "{refused}");
    proxy.wait_for_refusal("incompatible", 2).await;
    let refused = proxy.connect(&authority.client(), "unknown.example").await.unwrap_err();
    assert!(refused.to_string().contains("AccessDenied"), "{refused}");
    proxy.wait_for_refusal("unknown_name", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_the_settings_decides_the_cipher() {
    let authority = TestAuthority::new();
    // The client prefers AES-256-GCM.
    let client = authority.client();
    for (more, tls13, tls12) in [
        ("", CipherSuite::TLS13_AES_128_GCM_SHA256, CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
        (
            "tls.ciphers = [\"ChaCha20-Poly1305\", \"AES-128-GCM\"]\n",
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256,
            CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        ),
    ] {
        let proxy = RunningProxy::start(&authority, echo_backend().await, more).await;
        let suite = |stream: &tokio_rustls::client::TlsStream<TcpStream>| {
            stream.get_ref().1.negotiated_cipher_suite().unwrap().suite()
        };
        assert_eq!(suite(&proxy.echo(&client, "localhost").await), tls13);
        assert_eq!(suite(&proxy.echo(&with_versions(&authority, &[&TLS12]), "localhost").await), tls12);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_side_may_end_first_and_ends_are_passed_on() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let proxy = RunningProxy::start(&authority, address, "").await;
    for is_client_first in [true, false] {
        let mut client = proxy.connect(&authority.client(), "localhost").await.unwrap();
        client.write_all(b"request").await.unwrap();
        client.flush().await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 7];
        server.read_exact(&mut bytes).await.unwrap();
        let mut rest = Vec::new();
        if is_client_first {
            client.shutdown().await.unwrap();
            assert_eq!(server.read(&mut bytes).await.unwrap(), 0);
            server.write_all(b"answer").await.unwrap();
            drop(server);
            client.read_to_end(&mut rest).await.unwrap();
            assert_eq!(rest, b"answer");
        } else {
            server.shutdown().await.unwrap();
            assert_eq!(client.read(&mut bytes).await.unwrap(), 0);
            client.write_all(b"more").await.unwrap();
            client.shutdown().await.unwrap();
            server.read_to_end(&mut rest).await.unwrap();
            assert_eq!(rest, b"more");
        }
    }
    proxy.wait_for("oarlock_proxy_connections_ended_total{by=\"complete\"}", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_transfers_arrive_whole_both_ways() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    let stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    let (mut reader, mut writer) = tokio::io::split(stream);
    let sent: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let expected = sent.clone();
    let writing = tokio::spawn(async move {
        writer.write_all(&sent).await.unwrap();
        writer.shutdown().await.unwrap();
    });
    let mut got = Vec::new();
    reader.read_to_end(&mut got).await.unwrap();
    writing.await.unwrap();
    assert!(got == expected);
    let name =
        |direction, path| format!("oarlock_proxy_bytes_total{{direction=\"{direction}\",path=\"{path}\"}}");
    let by_kernel = proxy.metric(&name("to_clients", "kernel")).await;
    assert_eq!(proxy.metric(&name("to_clients", "user")).await + by_kernel, 3_000_000);
    // The transfer was long, and the page says which path it took and why.
    let page = proxy.page().await;
    let line = page.lines().find(|line| line.starts_with("oarlock_proxy_kernel_tls{")).unwrap();
    let reasons = [("user", "absent"), ("user", "short"), ("user", "costs"), ("kernel", "costs")].map(
        |(path, reason)| {
            format!("oarlock_proxy_long_transfers_total{{path=\"{path}\",reason=\"{reason}\"}} 1")
        },
    );
    assert!(reasons.iter().any(|line| page.contains(line)), "{page}");
    assert_eq!(line.ends_with("} 0"), page.contains(&reasons[0]), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tickets_resume_sessions_on_every_thread_and_after_a_reload() {
    let authority = TestAuthority::new();
    let more = "tickets.count = 4\n";
    let address = echo_backend().await;
    let proxy = RunningProxy::start(&authority, address, more).await;
    for versions in [&[&TLS12], &[&TLS13]] {
        let client = with_versions(&authority, versions);
        let first = proxy.echo(&client, "localhost").await;
        assert_ne!(first.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
        let settings = format!("backend.address = \"{address}\"\n{more}limits.max_idle_seconds = 60\n");
        proxy.service.reconfigure(proxied::config(&authority, &settings)).await.unwrap();
        let second = proxy.echo(&client, "localhost").await;
        assert_eq!(second.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
    }
    let off = format!("backend.address = \"{address}\"\ntickets.enabled = false\n");
    proxy.service.reconfigure(proxied::config(&authority, &off)).await.unwrap();
    let client = authority.client();
    proxy.echo(&client, "localhost").await;
    let again = proxy.echo(&client, "localhost").await;
    assert_ne!(again.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_with_one_file_of_keys_resume_each_other_s_sessions() {
    let authority = TestAuthority::new();
    write_private(&authority.path("ticket.keys"), "5a".repeat(48));
    let more = "tickets.keys = \"ticket.keys\"\n";
    let first = RunningProxy::start(&authority, echo_backend().await, more).await;
    let second = RunningProxy::start(&authority, echo_backend().await, more).await;
    let client = authority.client();
    first.echo(&client, "localhost").await;
    let resumed = second.echo(&client, "localhost").await;
    assert_eq!(resumed.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_need_an_allowed_name_even_if_they_resume() {
    let authority = TestAuthority::new();
    let address = echo_backend().await;
    let section = |names: &str| {
        format!(
            "backend.address = \"{address}\"\n[clients]\nauthorities = \"ca.pem\"\nallowed_names = [\"{names}\"]\n"
        )
    };
    let proxy = RunningProxy::start_with(&authority, &section("DNS:db.example.com")).await;
    let allowed = authority.client_named(&["db.example.com"], "database");
    proxy.echo(&allowed, "localhost").await;
    let resumed = proxy.echo(&allowed, "localhost").await;
    assert_eq!(resumed.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
    for refused in [authority.client_named(&["web.example.com"], "db.example.com"), authority.client()] {
        let mut stream = match proxy.connect(&refused, "localhost").await {
            // In TLS 1.3 the client has finished before the server looks at the certificate.
            Ok(stream) => stream,
            Err(_) => continue,
        };
        assert!(stream.read_u8().await.is_err());
    }
    proxy.wait_for_refusal("client_certificate", 2).await;
    // The same authorities, another name: the ticket is not opened, and the full handshake refuses the name.
    let changed = proxied::config(&authority, &section("DNS:other.example.com"));
    proxy.service.reconfigure(changed).await.unwrap();
    let mut stream = proxy.connect(&allowed, "localhost").await.unwrap();
    assert_ne!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
    assert!(stream.read_u8().await.is_err());
    proxy.wait_for_refusal("client_certificate", 3).await;
}

/// Returns true if a client is served.
async fn is_served(proxy: &RunningProxy, client: &ClientConfig) -> bool {
    let Ok(mut stream) = proxy.connect(client, "localhost").await else { return false };
    let mut echo = [0; 5];
    stream.write_all(b"hello").await.is_ok() && stream.read_exact(&mut echo).await.is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_without_a_certificate_ends_when_one_is_required() {
    let authority = TestAuthority::new();
    write_private(&authority.path("ticket.keys"), "5a".repeat(48));
    let address = echo_backend().await;
    let settings = |is_required: bool| {
        format!(
            "backend.address = \"{address}\"\ntickets.keys = \"ticket.keys\"\n[clients]\n\
             authorities = \"ca.pem\"\nrequired = {is_required}\n"
        )
    };
    for versions in [&[&TLS12], &[&TLS13]] {
        let proxy = RunningProxy::start_with(&authority, &settings(false)).await;
        let client = with_versions(&authority, versions);
        proxy.echo(&client, "localhost").await;
        let resumed = proxy.echo(&client, "localhost").await;
        assert_eq!(resumed.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
        proxy.service.reconfigure(proxied::config(&authority, &settings(true))).await.unwrap();
        assert!(!is_served(&proxy, &client).await);
        proxy.wait_for_refusal("client_certificate", 1).await;
        // A proxy that starts with the new rule and the old keys.
        proxy.service.reconfigure(proxied::config(&authority, &settings(false))).await.unwrap();
        proxy.echo(&client, "localhost").await;
        let restarted = RunningProxy::start_with(&authority, &settings(true)).await;
        assert!(!is_served(&restarted, &client).await);
        restarted.wait_for_refusal("client_certificate", 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn name_constraints_hold_for_common_names() {
    let authority = TestAuthority::new();
    let settings =
        format!("backend.address = \"{}\"\nclients.authorities = \"ca.pem\"\n", echo_backend().await);
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let subtree = |name: &str| vec![GeneralSubtree::DnsName(name.to_owned())];
    let permits = NameConstraints {
        permitted_subtrees: subtree("good.example"),
        excluded_subtrees: subtree("old.good.example"),
    };
    let constrained = authority.intermediate("constrained", Some(permits));
    let free = authority.intermediate("free", None);
    // A dot is what makes a common name look like a DNS name.
    for (issuer, name, expected) in [
        (&constrained, "www.good.example", true),
        (&constrained, "database", true),
        (&constrained, "x.bad.example", false),
        (&constrained, "X.BAD.example.", false),
        (&constrained, "www.old.good.example", false),
        (&free, "x.bad.example", true),
    ] {
        let client = authority.client_below(issuer, name, vec![proxied::der(issuer)]);
        assert_eq!(is_served(&proxy, &client).await, expected, "{name}");
    }
    proxy.wait_for_refusal("client_certificate", 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_backend_gets_a_header_with_the_properties_of_the_connection() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let settings = format!(
        "backend.address = \"{address}\"\nbackend.proxy_protocol = \"v2\"\nbackend.proxy_checksum = true\n\
         tls.alpn = [\"h2\"]\nclients.authorities = \"ca.pem\"\n"
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let mut client = authority.client_named(&["db.example.com"], "database");
    client.alpn_protocols = vec![b"h2".to_vec()];
    let mut stream = proxy.connect(&client, "localhost").await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    let mut bytes = Vec::new();
    let header = loop {
        match ProxyHeader::parse(&bytes).unwrap() {
            HeaderProgress::Complete { header, .. } => break header,
            HeaderProgress::Incomplete { missing } => {
                let start = bytes.len();
                bytes.resize(start + missing, 0);
                server.read_exact(&mut bytes[start..]).await.unwrap();
            }
        }
    };
    let addresses = header.addresses.unwrap();
    assert_eq!(addresses.source, stream.get_ref().0.local_addr().unwrap());
    assert_eq!(addresses.destination, proxy.address);
    assert_eq!(header.fields.alpn.as_deref(), Some(&b"h2"[..]));
    assert_eq!(header.fields.authority.as_deref(), Some("localhost"));
    let tls = header.fields.tls.unwrap();
    assert!(tls.has_certificate && tls.is_verified);
    assert_eq!(tls.version.as_deref(), Some("TLSv1.3"));
    assert_eq!(tls.common_name.as_deref(), Some("database"));
    assert!(tls.cipher.unwrap().starts_with("TLS_"));
    let mut hello = [0; 5];
    server.read_exact(&mut hello).await.unwrap();
    assert_eq!(&hello, b"hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_of_named_networks_give_the_client_s_address() {
    let authority = TestAuthority::new();
    let (listener, address) = backend().await;
    let settings = format!(
        "backend.address = \"{address}\"\nbackend.proxy_protocol = \"v1\"\n\
         listen.proxy_protocol_from = [\"127.0.0.0/8\"]\nlimits.max_connections_per_address = 1\n"
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let connect = async |source: &str| {
        let mut tcp = TcpStream::connect(proxy.address).await.unwrap();
        let header = format!("PROXY TCP4 {source} 198.51.100.7 5000 443\r\n");
        tcp.write_all(header.as_bytes()).await.unwrap();
        proxied::connect_over(tcp, &authority.client(), "localhost").await
    };
    let _first = connect("192.0.2.1").await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    let mut line = String::new();
    tokio::io::AsyncBufReadExt::read_line(&mut tokio::io::BufReader::new(server), &mut line).await.unwrap();
    assert_eq!(line, "PROXY TCP4 192.0.2.1 198.51.100.7 5000 443\r\n");
    // The limit counts the address in the header, not that of the load balancer.
    let _second = connect("192.0.2.2").await.unwrap();
    assert!(connect("192.0.2.1").await.is_err());
    proxy.wait_for_refusal("max_connections_per_address", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_choose_backends_by_name_and_protocol() {
    let authority = TestAuthority::new();
    authority.add("b", &["*.example.com"]);
    let (web, mail, rest) = (backend().await, backend().await, backend().await);
    let settings = format!(
        "backend.address = \"{}\"\ntls.alpn = [\"imap\", \"h2\"]\n\
         [[route]]\nnames = [\"*.example.com\"]\nalpn = [\"imap\"]\nbackend.address = \"{}\"\n\
         [[route]]\nnames = [\"WWW.example.com\"]\nbackend.address = \"{}\"\n",
        rest.1, mail.1, web.1
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    for (name, protocol, expected) in [
        ("www.example.com", "imap", &mail.0),
        ("www.example.com", "h2", &web.0),
        ("ftp.example.com", "h2", &rest.0),
        ("localhost", "imap", &rest.0),
    ] {
        let mut client = authority.client();
        client.alpn_protocols = vec![protocol.into()];
        let _stream = proxy.connect(&client, name).await.unwrap();
        expected.accept().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_may_have_a_unix_socket() {
    let authority = TestAuthority::new();
    let listener = UnixListener::bind(authority.path("backend.sock")).unwrap();
    let settings = format!("backend.address = \"unix:{}\"\n", authority.path("backend.sock").display());
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let mut stream = proxy.connect(&authority.client(), "localhost").await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    let mut bytes = [0; 5];
    server.read_exact(&mut bytes).await.unwrap();
    server.write_all(&bytes).await.unwrap();
    drop(server);
    let mut got = Vec::new();
    stream.read_to_end(&mut got).await.unwrap();
    assert_eq!(got, b"hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_with_tls_gets_the_protocol_that_the_client_has_negotiated() {
    let authority = TestAuthority::new();
    let protocols = "tls.alpn = [\"h2\", \"imap\"]\n";
    let inner = RunningProxy::start(&authority, echo_backend().await, protocols).await;
    let settings = format!(
        "{protocols}[backend]\naddress = \"localhost:{}\"\n[backend.tls]\nauthorities = \"ca.pem\"\n",
        inner.address.port()
    );
    let outer = RunningProxy::start_with(&authority, &settings).await;
    let mut client = authority.client();
    client.alpn_protocols = vec![b"imap".to_vec()];
    let mut stream = outer.echo(&client, "localhost").await;
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
    client.alpn_protocols = Vec::new();
    outer.echo(&client, "localhost").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_clients_reach_a_backend_with_tls() {
    let authority = TestAuthority::new();
    // A proxy in the mode `server` is the backend with TLS of a proxy in the mode `client`.
    let more = "clients.authorities = \"ca.pem\"\ntls.alpn = [\"postgresql\"]\n";
    let server = RunningProxy::start(&authority, echo_backend().await, more).await;
    let (chain, key) = authority.issue(&["client.example"], "client");
    fs::write(authority.path("own.pem"), chain).unwrap();
    write_private(&authority.path("own.key"), key.serialize_pem());
    let settings = format!(
        "mode = \"client\"\n[backend]\naddress = \"{}\"\n[backend.tls]\nauthorities = \"ca.pem\"\n\
         server_name = \"localhost\"\nalpn = [\"postgresql\"]\ncertificate = \"own.pem\"\nprivate_key = \"own.key\"\n",
        server.address
    );
    let client = RunningProxy::start_with(&authority, &settings).await;
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    check_echo(&mut stream).await;
    stream.shutdown().await.unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
    client.wait_for("oarlock_proxy_connections_ended_total{by=\"complete\"}", 1).await;
    // A backend with another name is not trusted.
    let other = settings.replace("server_name = \"localhost\"", "server_name = \"other.example\"");
    client.service.reconfigure(proxied::config(&authority, &other)).await.unwrap();
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
    client.wait_for_refusal("backend", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_may_come_over_a_unix_socket() {
    let authority = TestAuthority::new();
    let path = authority.path("proxy.sock");
    let address = echo_backend().await;
    let more = format!(
        "listen.sockets = [\"127.0.0.1:0\", \"unix:{}\"]\nlisten.unix_mode = \"0600\"\n",
        path.display()
    );
    let proxy = RunningProxy::start(&authority, address, &more).await;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let unix = UnixStream::connect(&path).await.unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(authority.client()));
    let mut stream = connector.connect("localhost".try_into().unwrap(), unix).await.unwrap();
    check_echo(&mut stream).await;
    drop(stream);
    proxy.stop().await.unwrap();
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_is_whole_or_does_not_happen() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    let client = authority.client();
    let old = proxy.echo(&client, "localhost").await;
    authority.add("b", &["new.example"]);
    fs::write(authority.path("certificates/c.pem"), "broken").unwrap();
    let reload = proxy.service.refresh().await;
    assert!(
        matches!(&reload, ProxyReload::Refused(error) if error.to_string().contains("c.pem")),
        "{reload:?}"
    );
    // The same fault is not tried again, and the old certificates answer.
    assert!(matches!(proxy.service.refresh().await, ProxyReload::Unchanged));
    assert!(proxy.connect(&client, "new.example").await.is_err());
    fs::remove_file(authority.path("certificates/c.pem")).unwrap();
    assert!(matches!(proxy.service.refresh().await, ProxyReload::Replaced));
    proxy.echo(&client, "new.example").await;
    let mut old = old;
    check_echo(&mut old).await;
    assert_eq!(proxy.metric("oarlock_proxy_reloads_total{result=\"done\"}").await, 1);
    assert_eq!(proxy.metric("oarlock_proxy_reloads_total{result=\"rejected\"}").await, 1);
    assert_eq!(proxy.metric("oarlock_proxy_certificates").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_reloads_disturb_no_connection() {
    let authority = TestAuthority::new();
    let address = echo_backend().await;
    let proxy = RunningProxy::start(&authority, address, "").await;
    let mut old = proxy.echo(&authority.client(), "localhost").await;
    let config = proxied::config(&authority, &format!("backend.address = \"{address}\"\n"));
    for number in 0..1_000 {
        proxy.service.reconfigure(config.clone()).await.unwrap();
        if number % 100 == 0 {
            proxy.echo(&authority.client(), "localhost").await;
            check_echo(&mut old).await;
        }
    }
    assert_eq!(proxy.metric("oarlock_proxy_reloads_total{result=\"done\"}").await, 1_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn draining_lets_connections_end_and_takes_no_new_ones() {
    let authority = TestAuthority::new();
    let proxy =
        RunningProxy::start(&authority, echo_backend().await, "limits.max_drain_seconds = 100\n").await;
    let mut open = proxy.echo(&authority.client(), "localhost").await;
    let address = proxy.address;
    let stopped = proxy.stop();
    // The listeners are closed as soon as the threads have heard of the stop.
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    check_echo(&mut open).await;
    open.shutdown().await.unwrap();
    assert_eq!(open.read(&mut [0; 1]).await.unwrap(), 0);
    stopped.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_stay_are_cut_at_the_deadline() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "limits.max_drain_seconds = 0\n").await;
    let mut open = proxy.echo(&authority.client(), "localhost").await;
    proxy.stop().await.unwrap();
    let end = open.read(&mut [0; 1]).await;
    // No close_notify: the stream is not complete.
    assert!(matches!(&end, Err(error) if error.kind() == io::ErrorKind::UnexpectedEof), "{end:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_handed_to_the_less_loaded_thread() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    let client = authority.client();
    // The kernel spreads them by a hash, so the threads get equal numbers in turn with a chance of one in 2^63 only.
    let mut streams = Vec::new();
    for _ in 0..64 {
        streams.push(proxy.echo(&client, "localhost").await);
    }
    assert!(proxy.metric("oarlock_proxy_connections_handed_on_total").await > 0);
    for stream in &mut streams {
        check_echo(stream).await;
    }
    drop(streams);
    proxy.wait_for("oarlock_proxy_connections_open", 0).await;
}
