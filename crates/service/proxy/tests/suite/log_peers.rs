//! The log of connections beside the logs of HAProxy and hitch: the same clients give the same values.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use rustls::crypto::aws_lc_rs::cipher_suite::{
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS13_AES_256_GCM_SHA384,
};
use rustls::{ClientConfig, SupportedCipherSuite};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::hello::ClientHelloBytes;
use crate::peers::free_address;
use crate::proxied::{DEADLINE, RunningProxy, TestAuthority, connect_over, echo_backend};

const LOG: &str = "log.connections = \"all\"\nlog.file = \"connections.log\"\nlog.format = \"json\"\ntls.alpn = [\"h2\", \"http/1.1\"]\n";

/// Another proxy, which ends with the test, and the lines that it prints.
struct LoggingPeer {
    child: Child,
    address: SocketAddr,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Drop for LoggingPeer {
    fn drop(&mut self) {
        // The group, because hitch serves by processes of its own.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.child.wait();
    }
}

impl LoggingPeer {
    /// Starts a program whose settings name `ADDRESS`. Returns None, and says so, if it is not installed.
    async fn start(name: &str, options: &[&str], file: &Path, settings: &str) -> Option<Self> {
        let directories = ["/usr/sbin", "/usr/local/sbin", "/usr/bin"].map(PathBuf::from);
        let found = directories.into_iter().map(|directory| directory.join(name)).find(|path| path.is_file());
        let Some(program) = found else {
            println!("SKIPPED: {name} is not installed");
            return None;
        };
        let address = free_address();
        let port = address.port();
        fs::write(file, settings.replace("PORT", &port.to_string())).unwrap();
        let mut command = Command::new(program);
        command.args(options).arg(file).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.process_group(0).spawn().unwrap();
        let (sender, lines) = mpsc::unbounded_channel();
        let printed = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            printed.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let peer = Self { child, address, lines };
        // A connection would be a line of its log. The state 0A is LISTEN.
        let listening = format!(" 0100007F:{port:04X} 00000000:0000 0A ");
        wait_until(|| fs::read_to_string("/proc/net/tcp").is_ok_and(|text| text.contains(&listening))).await;
        Some(peer)
    }

    /// Returns the next line of a connection.
    async fn line(&mut self) -> String {
        loop {
            let line = tokio::time::timeout(DEADLINE, self.lines.recv()).await.unwrap().unwrap();
            if let Some((_, values)) = line.split_once("sni=") {
                return format!("sni={values}");
            }
        }
    }
}

async fn wait_until(is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(DEADLINE, wait).await.unwrap();
}

/// Returns the last line of our log, once it has a number of lines.
async fn line_of(authority: &TestAuthority, count: usize) -> Value {
    let read = || fs::read_to_string(authority.path("connections.log")).unwrap_or_default();
    wait_until(|| read().matches('\n').count() >= count).await;
    serde_json::from_str(read().lines().nth(count - 1).unwrap()).unwrap()
}

/// Connects, gets an echo, and ends the connection.
async fn visit(address: SocketAddr, client: &ClientConfig) {
    let tcp = TcpStream::connect(address).await.unwrap();
    let mut stream = connect_over(tcp, client, "localhost").await.unwrap();
    stream.write_all(b"hello, backend").await.unwrap();
    stream.read_exact(&mut [0; 14]).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap(), 0);
}

/// Returns a client with one suite and these protocols.
fn with_suite(authority: &TestAuthority, suite: SupportedCipherSuite, alpn: &[&str]) -> ClientConfig {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.cipher_suites = vec![suite];
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let versions: &[_] = match suite {
        SupportedCipherSuite::Tls12(_) => &[&rustls::version::TLS12],
        SupportedCipherSuite::Tls13(_) => &[&rustls::version::TLS13],
    };
    let builder = builder.with_protocol_versions(versions).unwrap();
    let mut client = builder.with_root_certificates(authority.roots()).with_no_client_auth();
    client.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    client
}

const HAPROXY: &str = "global
 log stdout format raw local0
defaults
 mode tcp
 log global
 timeout connect 60s
 timeout client 60s
 timeout server 60s
frontend proxy
 bind 127.0.0.1:PORT ssl crt CERTIFICATE ca-file CLIENTS verify optional alpn h2,http/1.1 ssl-min-ver TLSv1.2
 log-format \"sni=%[ssl_fc_sni] version=%sslv cipher=%sslc alpn=%[ssl_fc_alpn] resumed=%[ssl_fc_is_resumed] \
name=%[ssl_c_s_dn(cn)] to_client=%B to_backend=%U client=%ci\"
 default_backend echo
backend echo
 server echo BACKEND
";

#[tokio::test(flavor = "multi_thread")]
async fn haproxy_logs_the_same_values_of_the_same_clients() {
    let authority = TestAuthority::new();
    let backend = echo_backend().await;
    let path = |name: &str| authority.path(name).display().to_string();
    let settings = HAPROXY
        .replace("CERTIFICATE", &path("certificates/a-localhost.pem"))
        .replace("CLIENTS", &path("ca.pem"))
        .replace("BACKEND", &backend.to_string());
    let file = authority.path("haproxy.cfg");
    let Some(mut peer) = LoggingPeer::start("haproxy", &["-db", "-f"], &file, &settings).await else {
        return;
    };
    let more = format!("{LOG}clients.authorities = \"ca.pem\"\nclients.required = false\n");
    let proxy = RunningProxy::start(&authority, backend, &more).await;
    let tls12 = |alpn: &[&str]| with_suite(&authority, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, alpn);
    let tls13 = |alpn: &[&str]| with_suite(&authority, TLS13_AES_256_GCM_SHA384, alpn);
    let mut without_name = tls13(&[]);
    without_name.enable_sni = false;
    let named = authority.client_named(&[], "backup");
    // A session belongs to the proxy that made it.
    let resuming = [tls12(&["h2", "http/1.1"]), tls12(&["h2", "http/1.1"])];
    let mut found = Vec::new();
    let clients = [
        [tls13(&["http/1.1"]), tls13(&["http/1.1"])],
        [without_name.clone(), without_name],
        [named.clone(), named],
    ];
    for [of_peer, of_proxy] in clients.iter().chain([&resuming, &resuming]) {
        visit(peer.address, of_peer).await;
        visit(proxy.address, of_proxy).await;
        let ours = line_of(&authority, found.len() + 1).await;
        found.push((peer.line().await, in_words_of_haproxy(&ours)));
    }
    for (haproxys, ours) in &found {
        // Of a client with all suites each proxy prefers its own.
        let comparable = |line: &str| match line.contains("name=backup") {
            true => {
                line.split(' ').filter(|field| !field.starts_with("cipher=")).collect::<Vec<_>>().join(" ")
            }
            false => line.to_owned(),
        };
        assert_eq!(comparable(haproxys), comparable(ours));
    }
    assert!(found[1].1.starts_with("sni=- ") && found[2].1.contains(" name=backup "), "{found:?}");
    assert!(found[3].1.contains(" resumed=0 ") && found[4].1.contains(" resumed=1 "), "{found:?}");
}

/// Returns the values of a line in the form of the test's HAProxy.
fn in_words_of_haproxy(line: &Value) -> String {
    let text = |field: &str| line[field].as_str().unwrap_or("-").to_owned();
    let (name, client) = (text("client_name"), text("client"));
    format!(
        "sni={} version={} cipher={} alpn={} resumed={} name={} to_client={} to_backend={} client={}",
        text("sni"),
        text("version"),
        // OpenSSL's name of the suite of TLS 1.2.
        text("cipher").replace("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        text("alpn"),
        u8::from(line["resumed"] == true),
        name.strip_prefix("CN:").unwrap_or("-"),
        line["bytes_to_client"],
        line["bytes_to_backend"],
        client.rsplit_once(':').unwrap().0,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn hitch_logs_the_same_steps_of_the_same_clients() {
    let authority = TestAuthority::new();
    let backend = echo_backend().await;
    let (file, log) = (authority.path("hitch.conf"), authority.path("hitch.log"));
    // hitch refuses to serve as root.
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let settings = format!(
        "{}frontend = \"[127.0.0.1]:PORT\"\nbackend = \"[127.0.0.1]:{}\"\npem-file = \"{}\"\n\
         alpn-protos = \"h2, http/1.1\"\nlog-level = 2\nlog-filename = \"{}\"\ndaemon = off\nworkers = 1\n",
        if is_root { "user = \"nobody\"\n" } else { "" },
        backend.port(),
        authority.path("certificates/a-localhost.pem").display(),
        log.display()
    );
    let Some(peer) = LoggingPeer::start("hitch", &["--config"], &file, &settings).await else { return };
    let proxy = RunningProxy::start(&authority, backend, LOG).await;
    let suites = [TLS13_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384];
    for (count, (suite, alpn)) in suites.into_iter().zip(["http/1.1", "h2"]).enumerate() {
        let before = fs::read_to_string(&log).unwrap().len();
        let client = with_suite(&authority, suite, &[alpn]);
        visit(peer.address, &client).await;
        visit(proxy.address, &client).await;
        let steps = || fs::read_to_string(&log).unwrap().split_off(before);
        wait_until(|| steps().contains("SHUTDOWN_HARD")).await;
        let (steps, line) = (steps(), line_of(&authority, count + 1).await);
        assert!(steps.contains("backend connected") && steps.contains(" 127.0.0.1:"), "{steps}");
        assert!(steps.contains(&format!("ALPN protocol: {alpn}\n")), "{steps}");
        assert_eq!((&line["end"], &line["alpn"]), (&"complete".into(), &alpn.into()), "{line:#}");
        assert_eq!(line["backend"], backend.to_string(), "{line:#}");
    }
    // Bytes that are not TLS fail in both.
    let mut bytes = ClientHelloBytes::new(b"localhost").in_records(1 << 14);
    bytes[5] = 0xff;
    for address in [peer.address, proxy.address] {
        let mut tcp = TcpStream::connect(address).await.unwrap();
        tcp.write_all(&bytes).await.unwrap();
        while let Ok(1..) = tcp.read(&mut [0; 64]).await {}
    }
    wait_until(|| fs::read_to_string(&log).unwrap().contains("Handshake failure")).await;
    let line = line_of(&authority, 3).await;
    assert_eq!((&line["end"], &line["reason"]), (&"refused".into(), &"protocol".into()), "{line:#}");
}
