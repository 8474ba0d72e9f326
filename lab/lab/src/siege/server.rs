//! The cryptoserver under attack: a process of its own, with limits that are small enough to be reached.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use oarlock_server::CryptoserverConfig;
use oarlock_server::development::Development;
use oarlock_wire::Endpoint;
use tempfile::TempDir;

use super::SiegeError;
use super::honest::HonestTarget;
use crate::cryptoserver::ROLE;
use crate::role_process::BenchProcess;

/// The honest client has every key; attackers have the one that costs most, or bring their own.
const CONFIG: &str = r#"[listen]
tcp = "127.0.0.1:0"
plaintext = "127.0.0.1:0"
unix = "oarlock.sock"

[tls]
certificate = "server.pem"
private_key = "server-key.pem"
client_ca = "ca.pem"

[keys]
directory = "keys"

[audit]
file = "audit.jsonl"
on_failure = "stop"
max_queue_bytes = 4194304

[limits]
max_connections = 128
max_unix_connections = 128
max_connections_per_client = 96
max_handshakes = 128
max_handshakes_per_address = 64
max_in_flight = 64
max_message_bytes = 16777216
max_bytes_per_client = 50331648
max_bytes = 67108864
max_stall_seconds = 5
may_bring_keys = true

[[grant]]
keys = ["*"]
clients = ["dns:developer.oarlock.test"]

# A client of the proxy is known as `loopback`.
[[grant]]
keys = ["rsa2048", "ed25519"]
clients = ["uid:*", "loopback"]
"#;

/// The maximum of audit entries that may wait in memory: `max_queue_bytes` of the configuration.
const AUDIT_KB: u64 = 4 << 10;

/// The memory of the handshakes that a proxy with default limits may have open.
const PROXY_KB: u64 = (1_024 + 4_096) * 40;

/// The memory of the connections that a filter with default limits may have, each with a frame on its way.
const FILTER_KB: u64 = 1_024 * 64;

/// The listener that is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    Server,
    /// A proxy in the same process, which needs certificates of clients, too.
    Proxy,
    /// A mail filter in the same process that accepts everything.
    Filter,
}

/// A server at work.
pub(super) struct AttackedServer {
    front: Front,
    process: BenchProcess,
    development: Development,
    max_memory_kb: u64,
    _directory: TempDir,
}

impl AttackedServer {
    /// Starts a server with a limit of open files: `oarlock serve` of `program`, or this program in the role.
    pub(super) fn start(
        front: Front,
        open_files: Option<u32>,
        program: Option<&Path>,
    ) -> Result<Self, SiegeError> {
        let directory = tempfile::tempdir()?;
        let development = Development::at(directory.path());
        development.prepare()?;
        fs::write(development.config(), CONFIG)?;
        // The limit to check comes from the server's own calculation, and not from a copy of it here.
        let limits = CryptoserverConfig::read(&development.config())?.limits;
        let config = ["--config".to_owned(), development.config().display().to_string()];
        let (program, mut role) = match program.filter(|_| front == Front::Server) {
            None => (std::env::current_exe()?, vec![ROLE.to_owned()]),
            Some(program) => (program.to_owned(), vec!["--json".to_owned(), "serve".to_owned()]),
        };
        let mut max_memory_kb = limits.max_memory_bytes() as u64 / 1024 + AUDIT_KB;
        if front == Front::Proxy {
            let certificates = directory.path().join("certificates");
            fs::create_dir(&certificates)?;
            for (from, to) in [("server.pem", "server.crt"), ("server-key.pem", "server.key")] {
                fs::copy(directory.path().join(from), certificates.join(to))?;
            }
            role.extend(["--proxy".to_owned(), certificates.display().to_string()]);
            max_memory_kb += PROXY_KB;
        }
        if front == Front::Filter {
            role.push("--filter".to_owned());
            max_memory_kb += FILTER_KB;
        }
        let process = BenchProcess::start_program(&program, &[role, config.to_vec()].concat(), open_files)?;
        Ok(Self { front, process, development, max_memory_kb, _directory: directory })
    }

    /// Returns the maximum memory that clients can make the server use beyond that at its start.
    pub(super) fn max_memory_kb(&self) -> u64 {
        self.max_memory_kb
    }

    /// Returns the memory that the server has now. proc(5), statm.
    pub(super) fn resident_kb(&self) -> io::Result<u64> {
        let text = fs::read_to_string(format!("/proc/{}/statm", self.process.id()))?;
        let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
        let pages = pages.ok_or_else(|| io::Error::other("/proc/PID/statm has no resident pages"))?;
        Ok(pages * rustix::param::page_size() as u64 / 1024)
    }

    /// Fails if the server has ended.
    pub(super) fn check_alive(&mut self) -> io::Result<()> {
        self.process.check_alive()
    }

    /// Returns the address of the listener that is attacked.
    pub(super) fn front(&self) -> String {
        self.address(match self.front {
            Front::Server => "tcp",
            Front::Proxy => "proxy",
            Front::Filter => "filter",
        })
    }

    pub(super) fn server_ca(&self) -> PathBuf {
        self.development.ca()
    }

    /// Returns the address of a listener, `tcp`, `plaintext`, `proxy` or `filter`.
    pub(super) fn address(&self, name: &str) -> String {
        self.process.said[name].as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.development.socket()
    }

    /// Returns the address to which the honest client connects.
    pub(super) fn honest(&self) -> io::Result<HonestTarget> {
        if self.front == Front::Filter {
            return Ok(HonestTarget::Filter(self.front().parse().map_err(io::Error::other)?));
        }
        let credentials = self.development.credentials().map_err(io::Error::other)?;
        let url = format!("https://{}", self.front());
        Ok(HonestTarget::Keys(Endpoint::Grpc { url, credentials: Some(credentials) }))
    }
}
