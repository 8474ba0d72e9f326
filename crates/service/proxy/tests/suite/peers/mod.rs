//! Other TLS proxies in front of the same backend, and curl as a client of all of them.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use oarlock_measure::ports::free_port;
use rcgen::SerialNumber;
use tempfile::TempDir;

use crate::proxied::{TestAuthority, write_private};

/// A bound on waits. It only ends a test that would wait forever.
const DEADLINE: Duration = Duration::from_secs(60);

/// A running proxy of others, which ends with the test.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    child: Child,
    _settings: TempDir,
}

impl Peer {
    /// Starts HAProxy in TCP mode. `{address}` in the settings becomes its address.
    pub(crate) fn haproxy(settings: &str) -> Option<Self> {
        let defaults =
            "defaults\n mode tcp\n timeout connect 60s\n timeout client 60s\n timeout server 60s\n";
        Self::start("haproxy", &["-db", "-f"], &format!("{defaults}{settings}"))
    }

    /// Starts stunnel.
    pub(crate) fn stunnel(settings: &str) -> Option<Self> {
        Self::start("stunnel", &[], &format!("foreground = yes\npid =\n{settings}"))
    }

    /// Starts hitch.
    pub(crate) fn hitch(settings: &str) -> Option<Self> {
        Self::start("hitch", &["--config"], settings)
    }

    /// Returns None, and says so, if the program is not installed.
    fn start(name: &'static str, arguments: &[&str], settings: &str) -> Option<Self> {
        let program = find(name)?;
        let address = free_address();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("settings");
        let port = address.port().to_string();
        fs::write(&file, settings.replace("{address}", &address.to_string()).replace("{port}", &port))
            .unwrap();
        let mut command = Command::new(program);
        command.args(arguments).arg(&file).stdin(Stdio::null()).process_group(0);
        command.stdout(Stdio::null()).stderr(fs::File::create(directory.path().join("log")).unwrap());
        let mut peer = Self { name, address, child: command.spawn().unwrap(), _settings: directory };
        peer.wait();
        Some(peer)
    }

    /// Waits until the peer accepts connections.
    fn wait(&mut self) {
        let began = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            let log = || fs::read_to_string(self._settings.path().join("log")).unwrap_or_default();
            assert!(began.elapsed() < DEADLINE, "{} does not listen: {}", self.name, log());
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("{} has ended with {status}: {}", self.name, log());
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The group, because hitch serves by processes of its own.
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.child.wait();
    }
}

/// Returns the path of a program. Returns None, and says so, if it is not installed.
pub(crate) fn find(name: &str) -> Option<std::path::PathBuf> {
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(Into::into);
    let found = std::env::split_paths(&directories).chain(system).map(|path| path.join(name));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        println!("SKIPPED: {name} is not installed");
    }
    found
}

/// Returns an address for a program that takes no port 0. No client has its port.
pub(crate) fn free_address() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, free_port().unwrap()).into()
}

/// Starts a backend that answers each connection with a short page of HTTP.
pub(crate) fn http_backend() -> SocketAddr {
    named_backend("hello")
}

/// Starts a backend whose pages are this text.
pub(crate) fn named_backend(text: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                // The request of curl comes in one piece.
                let _ = stream.read(&mut [0; 4_096]);
                let head =
                    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", text.len());
                let _ = stream.write_all(&[head.as_bytes(), text.as_bytes()].concat());
            });
        }
    });
    address
}

/// curl with the authority of a test, and perhaps a certificate.
pub(crate) struct HttpsClient {
    arguments: Vec<String>,
}

impl HttpsClient {
    pub(crate) fn new(authority: &TestAuthority) -> Self {
        let authorities = authority.path("ca.pem").display().to_string();
        let fixed = ["--silent", "--max-time", "60", "--cacert"].map(str::to_owned);
        Self { arguments: fixed.into_iter().chain([authorities]).collect() }
    }

    /// Returns a client with a certificate, and the number of the certificate.
    pub(crate) fn with_certificate(authority: &TestAuthority, name: &str) -> (Self, SerialNumber) {
        let identity = authority.identity(name);
        let path = authority.path(&format!("{name}.client.pem"));
        write_private(&path, &identity.pem);
        (Self::new(authority).with(&["--cert", &path.display().to_string()]), identity.serial)
    }

    /// Adds options.
    pub(crate) fn with(mut self, options: &[&str]) -> Self {
        self.arguments.extend(options.iter().map(|&option| option.to_owned()));
        self
    }

    /// Returns the page of a server by its name, and None if there is none.
    pub(crate) fn page(&self, address: SocketAddr, name: &str) -> Option<String> {
        let port = address.port();
        let output = Command::new("curl")
            .args(&self.arguments)
            .args([
                "--resolve",
                &format!("{name}:{port}:{}", address.ip()),
                &format!("https://{name}:{port}/"),
            ])
            .output()
            .unwrap();
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn is_served(&self, address: SocketAddr, name: &str) -> bool {
        self.page(address, name).is_some()
    }
}
