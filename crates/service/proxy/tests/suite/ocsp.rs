//! OCSP responses: those of a real responder, which openssl is, and of bad ones.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use oarlock_service_kit::ServiceClock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::peers::{Peer, find, free_address, http_backend};
use crate::proxied::{self, RunningProxy, TestAuthority, echo_backend};

/// A bound on waits. It only ends a test that would wait forever.
const DEADLINE: Duration = Duration::from_secs(60);

/// A responder of openssl, which ends with the test.
struct Responder(Child);

impl Responder {
    /// Starts a responder that knows certificates, V for valid ones and R for revoked ones. Its responses are good for
    /// some days.
    fn start(authority: &TestAuthority, address: SocketAddr, known: &[(char, &str)], days: u8) -> Self {
        let line = |(state, serial): &(char, &str)| {
            let revoked = if *state == 'R' { "260101000000Z" } else { "" };
            format!("{state}\t490101000000Z\t{revoked}\t{serial}\tunknown\t/CN=x\n")
        };
        fs::write(authority.path("index.txt"), known.iter().map(line).collect::<String>()).unwrap();
        authority.write_key("responder.pem");
        let file = |name: &str| authority.path(name).display().to_string();
        let child = Command::new("openssl")
            .args(["ocsp", "-index", &file("index.txt"), "-port", &address.port().to_string()])
            .args(["-ndays", &days.to_string()])
            .args(["-rsigner", &file("responder.pem"), "-CA", &file("ca.pem"), "-ignore_err"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.0.id())]).status();
        let _ = self.0.wait();
    }
}

/// Returns what a client of OpenSSL says about the OCSP response of a server.
fn stapled(address: SocketAddr, name: &str, more: &[&str]) -> String {
    let client = Command::new("openssl")
        .args(["s_client", "-connect", &address.to_string(), "-servername", name, "-status"])
        .args(more)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&client.stdout).into_owned()
}

/// Asks until a metric has a value. After each failure the clock advances, so that a responder may start late.
async fn fetch_until(proxy: &RunningProxy, clock: &ServiceClock, metric: &str, value: u64) {
    let began = Instant::now();
    loop {
        proxy.service.fetch_staples().await;
        if proxy.metric(metric).await == value {
            return;
        }
        assert!(began.elapsed() < DEADLINE, "{}", proxy.page().await);
        clock.advance(Duration::from_secs(30));
        tokio::task::yield_now().await;
    }
}

fn fetches(result: &str) -> String {
    format!("oarlock_proxy_ocsp_fetches_total{{result=\"{result}\"}}")
}

const GOOD: &str = "oarlock_proxy_ocsp_responses{state=\"good\"}";
const MISSING: &str = "oarlock_proxy_ocsp_responses{state=\"missing\"}";

#[tokio::test(flavor = "multi_thread")]
async fn responses_of_openssl_are_stapled_for_good_certificates_only() {
    if find("openssl").is_none() {
        return;
    }
    let authority = TestAuthority::new();
    let responder = free_address();
    let url = format!("http://{responder}");
    let good = authority.add_with_responder("good", &["good.example"], &url);
    let bad = authority.add_with_responder("bad", &["bad.example"], &url);
    authority.add_with_responder("new", &["new.example"], &url);
    let clock = ServiceClock::default();
    let settings = format!("backend.address = \"{}\"\n", echo_backend().await);
    let proxy = RunningProxy::start_at(&authority, &settings, &clock).await;
    // Nobody listens yet, and handshakes do not wait for it.
    proxy.service.fetch_staples().await;
    assert_eq!((proxy.metric(GOOD).await, proxy.metric(MISSING).await), (0, 3));
    proxy.echo(&authority.client(), "good.example").await;

    let started = Responder::start(&authority, responder, &[('V', &good), ('R', &bad)], 1);
    fetch_until(&proxy, &clock, &fetches("revoked"), 1).await;
    fetch_until(&proxy, &clock, GOOD, 1).await;
    for version in ["-tls1_2", "-tls1_3"] {
        let said = stapled(proxy.address, "good.example", &[version]);
        assert!(
            said.contains("OCSP Response Status: successful") && said.contains("Cert Status: good"),
            "{said}"
        );
        for name in ["bad.example", "new.example", "localhost"] {
            let said = stapled(proxy.address, name, &[version]);
            assert!(said.contains("OCSP response: no response sent"), "{name}: {said}");
        }
    }
    // Clients verify it themselves.
    let ca = authority.path("ca.pem").display().to_string();
    let verified = stapled(proxy.address, "good.example", &["-CAfile", &ca, "-verify_return_error"]);
    assert!(verified.contains("Verify return code: 0 (ok)"), "{verified}");

    // The responder is gone. The response stays until its end, and is not stapled after it.
    drop(started);
    clock.advance(Duration::from_secs(20 * 3_600));
    proxy.service.fetch_staples().await;
    assert!(stapled(proxy.address, "good.example", &[]).contains("Cert Status: good"));
    clock.advance(Duration::from_secs(5 * 3_600));
    assert!(stapled(proxy.address, "good.example", &[]).contains("no response sent"));
    assert_eq!((proxy.metric(GOOD).await, proxy.metric(MISSING).await), (0, 3));
    // Now it says that the certificate is revoked.
    let started = Responder::start(&authority, responder, &[('R', &good)], 30);
    let revoked = proxy.metric(&fetches("revoked")).await;
    fetch_until(&proxy, &clock, &fetches("revoked"), revoked + 1).await;
    drop(started);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_in_a_file_or_the_setting_keeps_the_responder_unasked() {
    let authority = TestAuthority::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    authority.add_with_responder("b", &["b.example"], &url);
    let settings = format!("backend.address = \"{}\"\n", echo_backend().await);
    let off = format!("{settings}certificates.fetch_ocsp = false\n");
    let proxy = RunningProxy::start_with(&authority, &off).await;
    proxy.service.fetch_staples().await;
    fs::write(authority.path("certificates/b.ocsp"), [0x30, 3, 10, 1, 1]).unwrap();
    proxy.service.reconfigure(proxied::config(&authority, &settings)).await.unwrap();
    proxy.service.fetch_staples().await;
    assert_eq!((proxy.metric(GOOD).await, proxy.metric(MISSING).await), (0, 0));
    let nobody = tokio::time::timeout(Duration::ZERO, listener.accept()).await;
    assert!(nobody.is_err(), "the responder was asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_responders_stop_no_handshake() {
    let authority = TestAuthority::new();
    let huge = [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![0; 1 << 20]].concat();
    let answers: [&[u8]; 4] = [
        b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\ngarbage",
        b"HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n\x30\x03\x0a\x01\x03",
        &huge,
    ];
    for (number, answer) in answers.iter().enumerate() {
        let url = format!("http://{}/", bad_responder(answer.to_vec()).await);
        authority.add_with_responder(&format!("b{number}"), &[&format!("b{number}.example")], &url);
    }
    let url = format!("http://{}/", bad_responder(Vec::new()).await);
    authority.add_with_responder("c", &["c.example"], &url);
    authority.add_with_responder("d", &["d.example"], "https://ocsp.example.com/");
    let settings = format!("backend.address = \"{}\"\n", echo_backend().await);
    let proxy = RunningProxy::start_at(&authority, &settings, &ServiceClock::default()).await;
    let said: Vec<_> = proxy.service.warnings().iter().map(ToString::to_string).collect();
    assert!(
        said.len() == 1
            && said[0].contains("d.pem: its OCSP response cannot be fetched: expected a responder")
    );
    proxy.service.fetch_staples().await;
    // The first round of the service itself may have come before.
    proxy.wait_for(&fetches("rejected"), 4).await;
    proxy.wait_for(&fetches("unreachable"), 1).await;
    // Before the pause has passed, nobody is asked again.
    proxy.service.fetch_staples().await;
    assert_eq!(proxy.metric(&fetches("rejected")).await, 4);
    assert_eq!((proxy.metric(GOOD).await, proxy.metric(MISSING).await), (0, 5));
    for name in ["b0.example", "b1.example", "b2.example", "b3.example", "c.example", "d.example"] {
        proxy.echo(&authority.client(), name).await;
    }
}

/// Starts a responder that answers each request with these bytes, and then closes the connection.
async fn bad_responder(answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let answer = answer.clone();
            tokio::spawn(async move {
                // All of it: a connection that is closed with unread bytes is reset.
                let mut request = Vec::new();
                while !is_complete(&request) && stream.read_buf(&mut request).await.is_ok_and(|len| len > 0) {
                }
                let _ = stream.write_all(&answer).await;
            });
        }
    });
    address
}

/// Returns true if a request with a length has arrived as a whole.
fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((_, rest)) = text.split_once("content-length: ") else { return false };
    let Some(head_len) = request.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let len: usize = rest.split("\r\n").next().unwrap().parse().unwrap();
    request.len() >= head_len + 4 + len
}

/// The same certificate and the same responder before hitch, which fetches responses too, and this proxy.
#[tokio::test(flavor = "multi_thread")]
async fn hitch_staples_the_same_responses() {
    let authority = TestAuthority::new();
    let responder = free_address();
    let good = authority.add_with_responder("good", &["good.example"], &format!("http://{responder}/"));
    let _started = Responder::start(&authority, responder, &[('V', &good)], 1);
    let backend = http_backend();
    let clock = ServiceClock::default();
    let proxy =
        RunningProxy::start_at(&authority, &format!("backend.address = \"{backend}\"\n"), &clock).await;
    fetch_until(&proxy, &clock, GOOD, 1).await;
    assert!(stapled(proxy.address, "good.example", &[]).contains("Cert Status: good"));
    let directory = authority.path("ocsp");
    fs::create_dir(&directory).unwrap();
    // hitch does not serve as root.
    let is_root = fs::metadata(&directory).unwrap().uid() == 0;
    let user = if is_root { "user = \"nobody\"\n" } else { "" };
    for (path, mode) in [(authority.directory.path(), 0o711), (&directory, 0o777)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let settings = format!(
        "{user}frontend = {{\n host = \"127.0.0.1\"\n port = \"{{port}}\"\n}}\nbackend = \"[{}]:{}\"\n\
         pem-file = \"{}\"\nocsp-dir = \"{}\"\nworkers = 1\n",
        backend.ip(),
        backend.port(),
        authority.path("certificates/good.pem").display(),
        directory.display()
    );
    let began = Instant::now();
    // hitch asks when it starts, and after a lost answer half an hour later. So it starts again.
    loop {
        let Some(hitch) = Peer::hitch(&settings) else { return };
        let is_stapled = |_| stapled(hitch.address, "good.example", &[]).contains("Cert Status: good");
        if (0..50).any(is_stapled) {
            return;
        }
        assert!(began.elapsed() < DEADLINE, "hitch staples nothing");
    }
}
