//! Settings by name and listener: certificates, versions, protocols, and certificates of clients.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use oarlock_proxy::ProxyConfig;
use rustls::HandshakeKind;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::peers::{HttpsClient, Peer, find, named_backend};
use crate::proxied::{self, RunningProxy, TestAuthority, check_echo, echo_backend, write_private};

/// Returns an authority with certificates for `localhost`, and for `admin.example` and `old.example` in directories of
/// their own.
fn authority() -> TestAuthority {
    let authority = TestAuthority::new();
    authority.add_in("admin", "admin", &["admin.example"]);
    authority.add_in("old", "old", &["old.example"]);
    authority
}

/// Returns settings with a route whose clients need a certificate, a route without TLS 1.3 and h2, and a backend for
/// all others. The pages of the backends are their names.
fn settings() -> String {
    let [rest, admin, old] = ["rest", "admin", "old"].map(named_backend);
    format!(
        "tls.alpn = [\"h2\", \"http/1.1\"]\nbackend.address = \"{rest}\"\n\
         [[route]]\nnames = [\"Admin.example.\"]\ncertificates = \"admin\"\nbackend.address = \"{admin}\"\n\
         clients.authorities = \"ca.pem\"\nclients.allowed_names = [\"CN:boss\"]\n\
         [[route]]\nnames = [\"old.example\"]\ncertificates = \"old\"\noffer_alpn = [\"http/1.1\"]\n\
         max_version = \"1.2\"\nbackend.address = \"{old}\"\n"
    )
}

/// Returns what a client of OpenSSL prints that asks for a page and offers h2 and http/1.1.
fn openssl_client(address: SocketAddr, more: &[&str]) -> String {
    let mut child = Command::new("openssl")
        .args(["s_client", "-connect", &address.to_string(), "-ign_eof", "-alpn", "h2,http/1.1"])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let request = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), request).unwrap();
    String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_has_certificates_versions_and_protocols_of_its_own() {
    let authority = authority();
    let proxy = RunningProxy::start_with(&authority, &settings()).await;
    let mut client = authority.client();
    client.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    for (name, version, protocol) in [
        ("localhost", rustls::ProtocolVersion::TLSv1_3, &b"h2"[..]),
        ("old.example", rustls::ProtocolVersion::TLSv1_2, b"http/1.1"),
    ] {
        // The certificate has the name, or the handshake would fail.
        let stream = proxy.connect(&client, name).await.unwrap();
        let connection = stream.get_ref().1;
        assert_eq!(connection.protocol_version(), Some(version));
        assert_eq!(connection.alpn_protocol(), Some(protocol));
    }
    let identity = authority.identity("boss");
    let only_13 = authority.client_of(&identity, &[&TLS13]);
    assert!(proxy.connect(&only_13, "old.example").await.is_err());
    proxy.wait_for_refusal("incompatible", 1).await;
    assert_eq!(proxy.service.certificates().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clients_of_a_route_are_asked_however_its_name_is_written() {
    if find("openssl").is_none() {
        return;
    }
    let authority = authority();
    let proxy = RunningProxy::start_with(&authority, &settings()).await;
    let (boss, other) = (authority.identity("boss"), authority.identity("other"));
    let [boss, other] = [("boss", boss), ("other", other)].map(|(name, identity)| {
        let path = authority.path(&format!("{name}.pem"));
        write_private(&path, &identity.pem);
        path.to_str().unwrap().to_owned()
    });
    for name in ["admin.example", "ADMIN.Example", "admin.example.", "Admin.Example."] {
        let with = |more: &[&str]| openssl_client(proxy.address, &[&["-servername", name], more].concat());
        assert!(!with(&[]).contains("HTTP/1.1 200"), "{name}");
        assert!(!with(&["-cert", &other]).contains("HTTP/1.1 200"), "{name}");
        let served = with(&["-cert", &boss]);
        assert!(served.contains("\r\n\r\nadmin"), "{name}: {served}");
    }
    // The name decides once: a client without a name, with an unknown one or with that of an open route gets another backend.
    for more in [&["-noservername"][..], &["-servername", "x.admin.example"], &["-servername", "localhost"]] {
        let served = openssl_client(proxy.address, more);
        assert!(served.contains("\r\n\r\nrest") && !served.contains("\r\n\r\nadmin"), "{more:?}: {served}");
        assert!(served.contains("ALPN protocol: h2"), "{more:?}: {served}");
    }
    let served = openssl_client(proxy.address, &["-servername", "old.example"]);
    assert!(served.contains("\r\n\r\nold") && served.contains("ALPN protocol: http/1.1"), "{served}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_of_one_listener_or_route_does_not_open_another() {
    let authority = authority();
    let backend = echo_backend().await;
    let settings = format!(
        "listen.sockets = [\"127.0.0.1:0\"]\nbackend.address = \"{backend}\"\n\
         [[listener]]\nname = \"inner\"\nsockets = [\"127.0.0.1:0\"]\n\
         [[route]]\nlisteners = [\"inner\"]\nbackend.address = \"{backend}\"\nclients.authorities = \"ca.pem\"\n"
    );
    for version in [&TLS12, &TLS13] {
        let proxy = RunningProxy::start_with(&authority, &settings).await;
        let (outer, inner) = (proxy.addresses[0], proxy.addresses[1]);
        let connect = async |client: &rustls::ClientConfig, address: SocketAddr| {
            let tcp = tokio::net::TcpStream::connect(address).await?;
            let mut stream = proxied::connect_over(tcp, client, "localhost").await?;
            stream.write_all(b"hello").await?;
            stream.read_exact(&mut [0; 5]).await?;
            Ok::<_, std::io::Error>(stream.get_ref().1.handshake_kind().unwrap())
        };
        // Without a certificate: the tickets of the open listener are of no use at the other one.
        let client = proxied::with_versions(&authority, &[version]);
        assert_eq!(connect(&client, outer).await.unwrap(), HandshakeKind::Full);
        assert_eq!(connect(&client, outer).await.unwrap(), HandshakeKind::Resumed);
        assert!(connect(&client, inner).await.is_err());
        proxy.wait_for_refusal("client_certificate", 1).await;
        // With one: the session of the open listener has no certificate, so there is a full handshake.
        let client = authority.client_of(&authority.identity("client"), &[version]);
        assert_eq!(connect(&client, outer).await.unwrap(), HandshakeKind::Full);
        assert_eq!(connect(&client, inner).await.unwrap(), HandshakeKind::Full);
        assert_eq!(connect(&client, inner).await.unwrap(), HandshakeKind::Resumed);
        // A reload that asks more ends the sessions of the route.
        let stricter = settings.clone() + "clients.allowed_names = [\"CN:boss\"]\n";
        proxy.service.reconfigure(proxied::config(&authority, &stricter)).await.unwrap();
        assert!(connect(&client, inner).await.is_err());
        assert!(connect(&client, outer).await.is_ok());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_protocol_decides_between_routes_of_one_name_before_the_handshake() {
    let authority = authority();
    let (open, protected) = (proxied::backend().await, proxied::backend().await);
    let settings = format!(
        "tls.alpn = [\"imap\", \"h2\"]\n\
         [[route]]\nnames = [\"*.example\"]\nalpn = [\"imap\"]\nbackend.address = \"{}\"\n\
         clients.authorities = \"ca.pem\"\nclients.required = true\n\
         [[route]]\nbackend.address = \"{}\"\n",
        protected.1, open.1
    );
    authority.add("b", &["a.example"]);
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let mut anonymous = authority.client();
    for (protocols, is_served) in [(vec!["h2"], true), (vec![], true), (vec!["h2", "imap"], false)] {
        anonymous.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let connected = proxy.connect(&anonymous, "a.example").await;
        if is_served {
            connected.unwrap();
            open.0.accept().await.unwrap();
        } else {
            // The proxy prefers imap, so the client would reach the protected backend.
            proxy.wait_for_refusal("client_certificate", 1).await;
        }
    }
    let mut known = authority.client_of(&authority.identity("client"), &[&TLS13]);
    known.alpn_protocols = vec![b"imap".to_vec()];
    let _stream = proxy.connect(&known, "a.example").await.unwrap();
    protected.0.accept().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_listener_has_its_own_networks_of_load_balancers() {
    let authority = authority();
    let backend = echo_backend().await;
    let settings = format!(
        "listen.sockets = [\"127.0.0.1:0\"]\nbackend.address = \"{backend}\"\n\
         [[listener]]\nname = \"balanced\"\nsockets = [\"127.0.0.1:0\"]\nproxy_protocol_from = [\"127.0.0.1/32\"]\n"
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let connect = async |address: SocketAddr, header: &str| {
        let mut tcp = tokio::net::TcpStream::connect(address).await.unwrap();
        tcp.write_all(header.as_bytes()).await.unwrap();
        proxied::connect_over(tcp, &authority.client(), "localhost").await
    };
    let header = "PROXY TCP4 192.0.2.1 198.51.100.7 5000 443\r\n";
    check_echo(&mut connect(proxy.addresses[0], "").await.unwrap()).await;
    check_echo(&mut connect(proxy.addresses[1], header).await.unwrap()).await;
    assert!(connect(proxy.addresses[0], header).await.is_err());
    assert!(connect(proxy.addresses[1], "").await.is_err());
    proxy.wait_for_refusal("proxy_header", 1).await;
}

fn fault(authority: &TestAuthority, settings: &str) -> String {
    let path = authority.path("faulty.toml");
    std::fs::write(&path, format!("certificates.path = \"certificates\"\n{settings}")).unwrap();
    ProxyConfig::read(&path).unwrap_err().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn contradictory_settings_are_rejected_or_named() {
    let authority = authority();
    let backend = "backend.address = \"127.0.0.1:1\"\n";
    let route = |more: &str| format!("{backend}[[route]]\n{more}{backend}");
    let listeners =
        |more: &str| format!("{backend}[[listener]]\nname = \"a\"\nsockets = [\":1443\"]\n{more}");
    for (settings, expected) in [
        (
            route("min_version = \"1.3\"\nmax_version = \"1.2\"\n"),
            "[[route]] min_version: expected not above",
        ),
        (
            format!("tls.max_version = \"1.2\"\n{}", route("min_version = \"1.3\"\n")),
            "1.3 above 1.2 in route 1",
        ),
        (route("listeners = [\"inner\"]\n"), "[[route]] listeners: expected names of [[listener]]"),
        (route("offer_alpn = [\"\"]\n"), "alpn: expected names of 1 to 255 bytes"),
        (route("clients.allowed_names = [\"CN:x\"]\n"), "missing field `authorities`"),
        (route("certificats = \"x\"\n"), "unknown field `certificats`"),
        (
            listeners("[[listener]]\nname = \"a\"\nsockets = [\":2443\"]\n"),
            "[[listener]] name: expected another name",
        ),
        (
            listeners("[[listener]]\nname = \"listen\"\nsockets = [\":2443\"]\n"),
            "the name of [listen] sockets",
        ),
        (listeners("[[listener]]\nname = \"b c\"\nsockets = [\":2443\"]\n"), "expected 1 to 64 letters"),
        (
            listeners("[[listener]]\nname = \"b\"\nsockets = [\"[::]:1443\"]\n"),
            "each address once, in one listener",
        ),
        (
            listeners("[[listener]]\nname = \"b\"\nsockets = []\n"),
            "[[listener]] sockets: expected at least one",
        ),
        (listeners("[[listener]]\nname = \"b\"\nsockets = [\":2\"]\nunix_mode = \"9\"\n"), "octal digits"),
        (format!("listen.sockets = [\":1443\"]\n{}", listeners("")), "each address once, in one listener"),
    ] {
        let said = fault(&authority, &settings);
        assert!(said.contains(expected), "{settings}: {said}");
    }
    let backend = echo_backend().await;
    let routes = |second: &str| {
        format!(
            "[[route]]\nnames = [\"*.example\", \"a.test\"]\nbackend.address = \"{backend}\"\n\
             [[route]]\n{second}backend.address = \"{backend}\"\n"
        )
    };
    for (second, is_useless) in [
        ("names = [\"b.example\"]\n", true),
        ("names = [\"A.test\", \"*.example\"]\nalpn = [\"h2\"]\n", true),
        ("names = [\"*.b.example\"]\n", false),
        ("names = [\"b.example\", \"b.test\"]\n", false),
        ("", false),
    ] {
        let proxy = RunningProxy::start_with(&authority, &routes(second)).await;
        let said: Vec<_> = proxy.service.warnings().iter().map(ToString::to_string).collect();
        let expected = "[[route]] 2 never matches: route 1 stands before it";
        assert_eq!(said.iter().any(|line| line.contains(expected)), is_useless, "{second}: {said:?}");
    }
    // A directory that is missing, at the start and at a reload.
    let missing = format!("[[route]]\nbackend.address = \"{backend}\"\ncertificates = \"missing\"\n");
    let proxy = RunningProxy::start_with(&authority, &routes("")).await;
    let error =
        proxy.service.reconfigure(proxied::config(&authority, &missing)).await.unwrap_err().to_string();
    assert!(error.contains("[[route]] 1: ") && error.contains("missing: No such file"), "{error}");
    proxy.echo(&authority.client(), "localhost").await;
}

/// The same names, clients and backends before HAProxy, with a crt-list, and this proxy.
#[tokio::test(flavor = "multi_thread")]
async fn haproxy_gives_each_name_the_same_settings() {
    let authority = authority();
    let [rest, admin, old] = ["rest", "admin", "old"].map(named_backend);
    let ca = authority.path("ca.pem").display().to_string();
    let [default, admin_file, old_file] =
        ["certificates/a-localhost.pem", "admin/admin.pem", "old/old.pem"].map(|file| authority.path(file));
    let list = format!(
        "{} [alpn h2,http/1.1] localhost\n{} [verify required ca-file {ca} alpn http/1.1] admin.example\n\
         {} [alpn http/1.1 ssl-max-ver TLSv1.2] old.example\n",
        default.display(),
        admin_file.display(),
        old_file.display()
    );
    std::fs::write(authority.path("crt-list"), list).unwrap();
    let haproxy = Peer::haproxy(&format!(
        "frontend f\n bind {{address}} ssl crt-list {}\n use_backend admin if {{ ssl_fc_sni admin.example }}\n \
         use_backend old if {{ ssl_fc_sni old.example }}\n default_backend rest\n\
         backend admin\n server s {admin}\nbackend old\n server s {old}\nbackend rest\n server s {rest}\n",
        authority.path("crt-list").display()
    ));
    let settings = format!(
        "tls.alpn = [\"h2\", \"http/1.1\"]\nbackend.address = \"{rest}\"\n\
         [[route]]\nnames = [\"admin.example\"]\ncertificates = \"admin\"\nbackend.address = \"{admin}\"\n\
         offer_alpn = [\"http/1.1\"]\nclients.authorities = \"ca.pem\"\n\
         [[route]]\nnames = [\"old.example\"]\ncertificates = \"old\"\noffer_alpn = [\"http/1.1\"]\n\
         max_version = \"1.2\"\nbackend.address = \"{old}\"\n"
    );
    let proxy = RunningProxy::start_with(&authority, &settings).await;
    let addresses = std::iter::once(("oarlock", proxy.address))
        .chain(haproxy.iter().map(|peer| (peer.name, peer.address)));
    for (peer, address) in addresses {
        let http1 = || HttpsClient::new(&authority).with(&["--http1.1"]);
        let (known, _) = HttpsClient::with_certificate(&authority, "known");
        for (client, name, expected) in [
            (http1(), "localhost", Some("rest")),
            (http1(), "admin.example", None),
            (known.with(&["--http1.1"]), "admin.example", Some("admin")),
            (http1(), "old.example", Some("old")),
            (http1().with(&["--tlsv1.3"]), "old.example", None),
            (http1().with(&["--tlsv1.3"]), "localhost", Some("rest")),
        ] {
            assert_eq!(client.page(address, name).as_deref(), expected, "{peer} {name}");
        }
        for (name, protocol) in [("localhost", "h2"), ("old.example", "http/1.1")] {
            let said = openssl_client(address, &["-servername", name]);
            assert!(said.contains(&format!("ALPN protocol: {protocol}")), "{peer} {name}: {said}");
        }
    }
}
