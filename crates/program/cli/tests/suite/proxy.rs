//! The TLS proxy as its operators run it.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;

use crate::hsm::Tokens;
use crate::program::printed::{PrintedLines, announcement};
use crate::program::{code, command, oarlock, passing, stderr};
use crate::served::Served;
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with a certificate and settings.
struct ProxyFiles {
    directory: TempDir,
}

impl ProxyFiles {
    /// Writes a certificate for `localhost` and settings with free ports.
    fn new(backend: &str, more: &str) -> Self {
        let proxied = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(proxied.path("certificates")).unwrap();
        proxied.add("localhost");
        let settings = format!(
            "listen.sockets = [\"127.0.0.1:0\"]\nlisten.metrics = \"127.0.0.1:0\"\nlisten.threads = 2\n\
             backend.address = \"{backend}\"\ncertificates.path = \"certificates\"\n{more}"
        );
        fs::write(proxied.path("proxy.toml"), settings).unwrap();
        proxied
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn config(&self) -> String {
        self.path("proxy.toml").to_str().unwrap().to_owned()
    }

    fn add(&self, name: &str) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().self_signed(&key).unwrap();
        fs::write(self.path(&format!("{name}.ca.pem")), certificate.pem()).unwrap();
        let path = self.path("certificates").join(format!("{name}.pem"));
        write_private(&path, &(certificate.pem() + &key.serialize_pem()));
    }
}

fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A running proxy, which is killed at the end of a failed test.
struct RunningProxy {
    child: Child,
    said: Value,
    log: PrintedLines,
}

impl RunningProxy {
    fn start(arguments: &[&str]) -> Self {
        Self::start_command(&mut command(arguments))
    }

    fn start_command(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = announcement(&mut child);
        let log = PrintedLines::from_stream(child.stderr.take().unwrap());
        Self { child, said, log }
    }

    fn start_with(files: &ProxyFiles) -> Self {
        Self::start(&["--json", "proxy", "--log", "json", "--config", &files.config()])
    }

    fn address(&self) -> &str {
        self.said["sockets"][0].as_str().unwrap()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn page(&self) -> String {
        let mut stream = TcpStream::connect(self.said["metrics"].as_str().unwrap()).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }
}

impl Drop for RunningProxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a backend that answers each connection with a short page of HTTP.
fn web_backend() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut head = [0; 4_096];
                // The request of the test's clients comes in one piece.
                let _ = stream.read(&mut head);
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n");
            });
        }
    });
    address
}

/// Returns true if a peer program is there, and says so if it is not.
fn has(program: &str) -> bool {
    let found =
        Command::new(program).arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        println!("SKIPPED: {program} is not installed");
    }
    found
}

/// Runs a client of OpenSSL, with a request on its stdin, and returns what it printed.
fn openssl_client(address: &str, files: &ProxyFiles, more: &[&str]) -> String {
    let mut child = Command::new("openssl")
        .args(["s_client", "-connect", address, "-servername", "localhost", "-CAfile"])
        .arg(files.path("localhost.ca.pem"))
        .args(["-verify_return_error", "-ign_eof"])
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned()
}

#[test]
fn check_reads_all_certificates_and_reports_their_faults() {
    let files = ProxyFiles::new("127.0.0.1:1", "");
    let check = || oarlock(&["proxy", "--config", &files.config(), "--check"]);
    let good = check();
    assert_eq!(code(&good), 0, "{}", stderr(&good));
    let said = String::from_utf8(good.stdout).unwrap();
    assert!(
        said.contains("would listen at\n  127.0.0.1:0\n") && said.contains("with 1 certificate\n"),
        "{said}"
    );
    let settings = fs::read_to_string(files.path("proxy.toml")).unwrap();
    for (file, text, fault) in [
        ("certificates/b.pem", "no certificate", "b.pem: expected certificates in PEM"),
        ("proxy.toml", "[listen]\nsocket = 1\n", "proxy.toml:2: unknown field `socket`"),
        ("proxy.toml", "backend.address = \"x\"\n", "expected HOST:PORT or unix:PATH"),
        ("proxy.toml", "backend.address = \"a:1\"\ncertificates.path = \"nowhere\"\n", "nowhere"),
    ] {
        write_private(&files.path(file), text);
        let bad = check();
        assert_eq!(code(&bad), 2, "{}", stderr(&bad));
        assert!(stderr(&bad).contains(fault), "{}", stderr(&bad));
        fs::write(files.path("proxy.toml"), &settings).unwrap();
    }
}

#[test]
fn check_warns_about_certificates_that_clients_reject_in_one_line_per_file() {
    let files = ProxyFiles::new("127.0.0.1:1", "");
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let old = params.self_signed(&key).unwrap().pem() + &key.serialize_pem();
    write_private(&files.path("certificates/old.pem"), &old);
    let checked = oarlock(&["proxy", "--config", &files.config(), "--check"]);
    assert_eq!(code(&checked), 0, "{}", stderr(&checked));
    let said = stderr(&checked);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("oarlock: warning: ")).collect();
    assert_eq!(lines.len(), 1, "{said}");
    for expected in ["old.pem: the certificate has expired at Jan  1", "no DNS name"] {
        assert!(lines[0].contains(expected), "{said}");
    }
    // The memory of a check does not matter.
    assert!(!said.contains("memory is"), "{said}");
    let checked = oarlock(&["--json", "proxy", "--config", &files.config(), "--check"]);
    let said: Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert!(said["warnings"][0].as_str().unwrap().contains("has expired"), "{said}");
    let mut proxy = RunningProxy::start_with(&files);
    let line = proxy.log.wait_for("peers reject a certificate");
    assert!(line.contains("old.pem"), "{line}");
    proxy.signal("-HUP");
    proxy.log.wait_for("peers reject a certificate");
    // Without connections, the end needs no time.
    proxy.signal("-TERM");
    assert!(proxy.child.wait().unwrap().success());
}

#[test]
fn a_start_without_settings_says_which_options_it_needs() {
    for arguments in [&["proxy"][..], &["proxy", "--listen", ":1"], &["proxy", "--backend", "127.0.0.1:1"]] {
        let refused = oarlock(arguments);
        assert_eq!(code(&refused), 2);
        let said = stderr(&refused);
        assert!(said.contains("--config FILE, or --backend ADDRESS and --certificates DIRECTORY"), "{said}");
    }
}

#[test]
fn a_second_proxy_at_the_same_port_starts_only_if_it_may_share_it() {
    let files = ProxyFiles::new("127.0.0.1:1", "");
    let first = RunningProxy::start_with(&files);
    let second = ["--json", "proxy", "--config", &files.config(), "--listen", first.address()];
    let refused = oarlock(&second);
    assert_eq!(code(&refused), 3);
    let said = stderr(&refused);
    assert!(said.contains("another process listens at") && said.contains("--share-ports"), "{said}");
    let sharing = RunningProxy::start(&[&second[..], &["--share-ports"]].concat());
    assert_eq!(sharing.address(), first.address());
}

#[test]
fn a_final_dot_and_capitals_lead_to_the_same_certificate_route_and_authority() {
    if !has("openssl") {
        return;
    }
    let (backend, headers) = header_backend();
    let more = format!(
        "certificates.unknown_names = \"refuse\"\n[[route]]\nnames = [\"LocalHost.\"]\n\
         backend.address = \"{backend}\"\nbackend.proxy_protocol = \"v2\"\n"
    );
    let files = ProxyFiles::new("127.0.0.1:1", &more);
    let proxy = RunningProxy::start_with(&files);
    for name in ["localhost", "localhost.", "LOCALHOST", "LocalHost."] {
        let said = openssl_client(proxy.address(), &files, &["-servername", name]);
        // The backend closes its connection later, and only then the client ends.
        let header =
            headers.try_recv().unwrap_or_else(|_| panic!("{name} did not reach the backend: {said}"));
        // PP2_TYPE_AUTHORITY.
        let authority = [&[2, 0, 9][..], b"localhost"].concat();
        assert!(header.windows(authority.len()).any(|window| window == authority), "{name}: {header:?}");
    }
}

/// Starts a backend that takes the PROXY header of version 2 of each connection, and then closes it.
fn header_backend() -> (SocketAddr, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, headers) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut start = [0; 16];
            stream.read_exact(&mut start).unwrap();
            let mut rest = vec![0; usize::from(u16::from_be_bytes([start[14], start[15]]))];
            stream.read_exact(&mut rest).unwrap();
            if sender.send(rest).is_err() {
                return;
            }
        }
    });
    (address, headers)
}

#[test]
fn a_renegotiation_is_refused_at_once_while_the_backend_is_silent() {
    if !has("openssl") {
        return;
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    // Without the alert, the connection ends by this limit, and not the test.
    let more = "limits.max_idle_seconds = 5\n";
    let files = ProxyFiles::new(&silent.local_addr().unwrap().to_string(), more);
    let proxy = RunningProxy::start_with(&files);
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", proxy.address(), "-servername", "localhost", "-tls1_2", "-quiet"])
        .args(["-no_ign_eof"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = client.stdin.take().unwrap();
    stdin.write_all(b"R\n").unwrap();
    let said = client.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&said.stderr).contains("no renegotiation"), "{}", stderr(&said));
    drop(stdin);
}

#[test]
fn three_options_are_enough_and_curl_gets_a_page() {
    let (files, backend) = (ProxyFiles::new("127.0.0.1:1", ""), web_backend());
    let certificates = files.path("certificates");
    let mut proxy = RunningProxy::start(&[
        "--json",
        "proxy",
        "--listen",
        "127.0.0.1:0",
        "--backend",
        &backend,
        "--certificates",
        certificates.to_str().unwrap(),
        "--alpn",
        "http/1.1",
        "--metrics",
        "127.0.0.1:0",
    ]);
    assert_eq!(proxy.said["certificates"], 1);
    if has("curl") {
        let port = proxy.address().rsplit(':').next().unwrap().to_owned();
        let page = Command::new("curl")
            .args(["--silent", "--show-error", "--cacert"])
            .arg(files.path("localhost.ca.pem"))
            .args([
                "--resolve",
                &format!("localhost:{port}:127.0.0.1"),
                &format!("https://localhost:{port}/"),
            ])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&page.stdout), "hello\n", "{}", stderr(&page));
        assert!(proxy.page().contains("\noarlock_proxy_connections_total 1\n"), "{}", proxy.page());
    }
    proxy.signal("-TERM");
    assert!(proxy.child.wait().unwrap().success());
}

#[test]
fn openssl_gets_its_page_in_both_versions_resumes_and_negotiates() {
    if !has("openssl") {
        return;
    }
    let files = ProxyFiles::new(&web_backend(), "tls.alpn = [\"h2\", \"http/1.1\"]\n");
    fs::write(files.path("certificates/localhost.ocsp"), [0x30, 0x03, 0x0a, 0x01, 0x06]).unwrap();
    let proxy = RunningProxy::start_with(&files);
    let session = files.path("session.pem").to_str().unwrap().to_owned();
    for (version, name) in [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")] {
        let first = openssl_client(
            proxy.address(),
            &files,
            &[version, "-alpn", "http/1.1", "-status", "-sess_out", &session],
        );
        assert!(first.contains("\r\nhello\n") || first.contains("\nhello\n"), "{first}");
        assert!(first.contains(name) && first.contains("New, "), "{first}");
        assert!(first.contains("ALPN protocol: http/1.1"), "{first}");
        assert!(first.contains("OCSP Response Status: unauthorized (0x6)"), "{first}");
        let second =
            openssl_client(proxy.address(), &files, &[version, "-alpn", "http/1.1", "-sess_in", &session]);
        assert!(second.contains("\nReused, ") && second.contains("hello\n"), "{second}");
    }
    let refused = openssl_client(proxy.address(), &files, &["-tls1_1"]);
    assert!(!refused.contains("hello\n"), "{refused}");
}

#[test]
fn reloads_at_a_hangup_and_keeps_the_old_certificates_if_new_ones_are_broken() {
    let files = ProxyFiles::new(&web_backend(), "certificates.reload_seconds = 0\n");
    let mut proxy = RunningProxy::start_with(&files);
    assert_eq!(proxy.said["certificates"], 1);
    files.add("example.com");
    proxy.signal("-USR1");
    proxy.signal("-HUP");
    proxy.log.wait_for("the settings and the certificates were read again");
    assert!(proxy.page().contains("\noarlock_proxy_certificates 2\n"), "{}", proxy.page());
    write_private(&files.path("certificates/x.pem"), "broken");
    proxy.signal("-HUP");
    let line = proxy.log.wait_for("were rejected: the old ones stay in use");
    assert!(line.contains("x.pem"), "{line}");
    let settings = fs::read_to_string(files.path("proxy.toml")).unwrap();
    fs::write(files.path("proxy.toml"), settings.clone() + "mode = 7\n").unwrap();
    proxy.signal("-HUP");
    proxy.log.wait_for("were rejected: the old ones stay in use");
    let page = proxy.page();
    assert!(page.contains("\noarlock_proxy_reloads_total{result=\"rejected\"} 2\n"), "{page}");
    fs::remove_file(files.path("certificates/x.pem")).unwrap();
    fs::write(files.path("proxy.toml"), settings.replace("threads = 2", "threads = 1")).unwrap();
    proxy.signal("-HUP");
    proxy.log.wait_for("changed settings need a restart");
    proxy.signal("-TERM");
    assert!(proxy.child.wait().unwrap().success());
}

#[test]
fn gnutls_gets_its_page_in_both_versions_and_resumes() {
    // It answers `version` with an error, and starts.
    if !has("gnutls-cli") {
        return;
    }
    let files = ProxyFiles::new(&web_backend(), "");
    let proxy = RunningProxy::start_with(&files);
    let port = proxy.address().rsplit(':').next().unwrap().to_owned();
    for (priority, version) in [
        ("NORMAL:-VERS-ALL:+VERS-TLS1.2", "(TLS1.2"),
        ("NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-SECP384R1", "(TLS1.3"),
        ("NORMAL:-VERS-ALL:+VERS-TLS1.3", "(TLS1.3"),
    ] {
        let mut child = Command::new("gnutls-cli")
            .arg("--x509cafile")
            .arg(files.path("localhost.ca.pem"))
            .args(["--priority", priority, "--resume", "--port", &port, "localhost"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let said = String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned();
        for expected in ["The certificate is trusted", version, "This is a resumed session", "hello"] {
            assert!(said.contains(expected), "{priority}: no {expected} in {said}");
        }
    }
}

#[test]
fn changed_files_are_noticed_without_a_signal() {
    let files = ProxyFiles::new(&web_backend(), "certificates.reload_seconds = 1\n");
    let mut proxy = RunningProxy::start_with(&files);
    files.add("example.com");
    proxy.log.wait_for("the settings and the certificates were read again");
    assert!(proxy.page().contains("\noarlock_proxy_certificates 2\n"), "{}", proxy.page());
}

#[test]
fn the_service_manager_is_notified() {
    let files = ProxyFiles::new(&web_backend(), "");
    let notify = UnixDatagram::bind(files.path("notify")).unwrap();
    let mut proxy = RunningProxy::start_command(
        command(&["--json", "proxy", "--log", "json", "--config", &files.config()])
            .env("NOTIFY_SOCKET", files.path("notify")),
    );
    let mut buffer = [0; 64];
    let mut told = || {
        let len = notify.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..len].to_vec()).unwrap()
    };
    assert_eq!(told(), "READY=1");
    proxy.signal("-TERM");
    assert_eq!(told(), "STOPPING=1");
    assert!(proxy.child.wait().unwrap().success());
}

#[test]
fn takes_sockets_that_systemd_has_bound() {
    let files = ProxyFiles::new(&web_backend(), "");
    let settings = fs::read_to_string(files.path("proxy.toml")).unwrap();
    fs::write(files.path("proxy.toml"), settings.replace("\"127.0.0.1:0\"]", "\"systemd\"]")).unwrap();
    let without = oarlock(&["proxy", "--config", &files.config()]);
    assert_eq!(code(&without), 2);
    assert!(stderr(&without).contains("LISTEN_FDS"), "{}", stderr(&without));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let passed: OwnedFd = listener.as_fd().try_clone_to_owned().unwrap();
    let program = command(&["--json", "proxy", "--log", "json", "--config", &files.config()]);
    let mut shell = passing(passed, &program);
    let proxy = RunningProxy::start_command(&mut shell);
    assert_eq!(proxy.address(), address);
    if has("openssl") {
        let page = openssl_client(&address, &files, &[]);
        assert!(page.contains("hello\n"), "{page}");
    }
}

#[test]
fn a_key_at_a_cryptoserver_signs_and_its_absence_ends_handshakes_only() {
    if !has("openssl") {
        return;
    }
    let state = tempfile::tempdir().unwrap();
    let mut server = Served::start(state.path());
    let files = ProxyFiles::new(
        &web_backend(),
        &format!("[cryptoserver]\nservers = [\"{}\"]\n", server.socket().display()),
    );
    // The server's key `p256`, a certificate of it, and a reference in the place of the key.
    let key = KeyPair::from_pem(&fs::read_to_string(state.path().join("keys/p256.pem")).unwrap()).unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    fs::write(files.path("localhost.ca.pem"), certificate.pem()).unwrap();
    fs::remove_file(files.path("certificates/localhost.pem")).unwrap();
    fs::write(files.path("certificates/localhost.crt"), certificate.pem()).unwrap();
    let reference = server.call(&["public-key", "p256", "--reference"]);
    assert_eq!(code(&reference), 0, "{}", stderr(&reference));
    fs::write(files.path("certificates/localhost.key"), reference.stdout).unwrap();
    let proxy = RunningProxy::start_with(&files);
    let page = openssl_client(proxy.address(), &files, &[]);
    assert!(page.contains("hello\n"), "{page}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let page = openssl_client(proxy.address(), &files, &[]);
    assert!(!page.contains("hello\n"), "{page}");
    let page = proxy.page();
    assert!(page.contains("oarlock_proxy_connections_refused_total{reason=\"machine\"} 1\n"), "{page}");
}

#[test]
fn a_key_in_a_device_signs_and_its_absence_affects_no_other_certificate() {
    for tokens in Tokens::of_each_module(&["web"]) {
        if has("openssl") {
            serve_with_a_key_of(&tokens);
        }
    }
}

fn serve_with_a_key_of(tokens: &Tokens) {
    tokens.import("p256", "www", &["web"]);
    let key = KeyPair::from_pem(&fs::read_to_string(tokens.path("www.pem")).unwrap()).unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let files = ProxyFiles::new(&web_backend(), &tokens.section("web", &tokens.faulty(), ""));
    fs::remove_file(files.path("certificates/localhost.pem")).unwrap();
    fs::write(files.path("localhost.ca.pem"), certificate.pem()).unwrap();
    fs::write(files.path("certificates/localhost.crt"), certificate.pem()).unwrap();
    fs::write(files.path("certificates/localhost.key"), "pkcs11:token=web;object=www\n").unwrap();
    files.add("other");
    tokens.plant("removed");
    let mut program = command(&["--json", "proxy", "--log", "json", "--config", &files.config()]);
    tokens.set_environment(&mut program);
    let mut proxy = RunningProxy::start_command(&mut program);
    let other =
        ["-servername", "other", "-CAfile", files.path("other.ca.pem").to_str().unwrap()].map(str::to_owned);
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    let page = openssl_client(proxy.address(), &files, &[]);
    assert!(!page.contains("hello\n"), "{page}");
    let page = openssl_client(proxy.address(), &files, &other);
    assert!(page.contains("hello\n"), "{page}");
    fs::remove_file(tokens.path("removed")).unwrap();
    proxy.log.wait_for("connected to the device");
    let page = openssl_client(proxy.address(), &files, &[]);
    assert!(page.contains("hello\n"), "{page}");
    let page = proxy.page();
    assert!(page.contains("oarlock_hsm_available{device=\"web\"} 1\n"), "{page}");
}

#[test]
fn the_key_for_a_backend_may_be_in_a_device() {
    let Some(tokens) = Tokens::with(&["web"]) else { return };
    tokens.import("p256", "www", &["web"]);
    let key = KeyPair::from_pem(&fs::read_to_string(tokens.path("www.pem")).unwrap()).unwrap();
    let certificate = CertificateParams::new(vec!["proxy".to_owned()]).unwrap().self_signed(&key).unwrap();
    let backend = "backend.tls = { authorities = \"localhost.ca.pem\", server_name = \"localhost\", \
                   certificate = \"proxy.crt\", private_key = \"pkcs11:object=www\" }\n";
    let section = tokens.section("web", tokens.module(), "");
    let files = ProxyFiles::new("127.0.0.1:1", &format!("{backend}{section}"));
    fs::write(files.path("proxy.crt"), certificate.pem()).unwrap();
    let check = || tokens.run(&["proxy", "--config", &files.config(), "--check"]);
    assert_eq!(code(&check()), 0, "{}", stderr(&check()));
    let settings = fs::read_to_string(files.path("proxy.toml")).unwrap();
    for (toml, fault) in [
        (
            settings.replace(&section, ""),
            "[backend.tls] private_key pkcs11:object=www: the key pkcs11:object=www lives in a device: expected a \
             section [[hsm]]",
        ),
        (settings.replace("object=www", "object=www?pin-value=4711"), "[backend.tls] private_key: expected"),
        (settings.replace("object=www", "token=mail;object=www"), "no device of the settings has the token"),
        (format!("{settings}sessions = 0\n"), "[[hsm]] sessions: expected 1 to 256, found 0"),
    ] {
        fs::write(files.path("proxy.toml"), toml).unwrap();
        let bad = check();
        assert_eq!(code(&bad), 2, "{fault}: {}", stderr(&bad));
        assert!(stderr(&bad).contains(fault) && !stderr(&bad).contains("4711"), "{}", stderr(&bad));
    }
}
