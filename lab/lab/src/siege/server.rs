//! The cryptoserver under attack: a process of its own, with limits that are small enough to be reached.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use oarlock::Accelerator;
use oarlock_server::development::Development;
use oarlock_server::{BoundServer, CryptoserverConfig};
use oarlock_wire::{Credentials, Endpoint};
use tempfile::TempDir;

use super::SiegeError;
use crate::role_process::{BenchProcess, answer};

/// The name with which a process of this role is called.
pub(crate) const ROLE: &str = "besieged";

/// Arguments of the role.
#[derive(Args, Debug)]
pub(crate) struct BesiegedArgs {
    #[arg(long)]
    config: PathBuf,
}

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

[[grant]]
keys = ["rsa2048"]
clients = ["uid:*", "loopback"]
"#;

/// The maximum of audit entries that may wait in memory: `max_queue_bytes` of the configuration.
const AUDIT_KB: u64 = 4 << 10;

/// A server at work.
pub(super) struct BesiegedServer {
    process: BenchProcess,
    development: Development,
    max_memory_kb: u64,
    _directory: TempDir,
}

impl BesiegedServer {
    /// Starts a server with a limit of open files: `oarlock serve` of `program`, or this program in the role.
    pub(super) fn start(open_files: Option<u32>, program: Option<&Path>) -> Result<Self, SiegeError> {
        let directory = tempfile::tempdir()?;
        let development = Development::at(directory.path());
        development.prepare()?;
        fs::write(development.config(), CONFIG)?;
        // The limit to check comes from the server's own calculation, and not from a copy of it here.
        let limits = CryptoserverConfig::read(&development.config())?.limits;
        let config = ["--config".to_owned(), development.config().display().to_string()];
        let (program, role) = match program {
            None => (std::env::current_exe()?, vec![ROLE.to_owned()]),
            Some(program) => (program.to_owned(), vec!["--json".to_owned(), "serve".to_owned()]),
        };
        let process = BenchProcess::start_program(&program, &[role, config.to_vec()].concat(), open_files)?;
        let max_memory_kb = limits.max_memory_bytes() as u64 / 1024 + AUDIT_KB;
        Ok(Self { process, development, max_memory_kb, _directory: directory })
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

    /// Returns the address of a listener, `tcp` or `plaintext`.
    pub(super) fn address(&self, name: &str) -> String {
        self.process.said[name].as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.development.socket()
    }

    /// Returns the endpoint to which the honest client connects.
    pub(super) fn honest(&self) -> io::Result<Endpoint> {
        let credentials = Credentials {
            server_ca: fs::read(self.development.ca())?,
            certificate: fs::read(self.development.client_certificate())?,
            private_key: fs::read(self.development.client_key())?.into(),
        };
        let url = format!("https://{}", self.address("tcp"));
        Ok(Endpoint::Grpc { url, credentials: Some(credentials) })
    }
}

pub(crate) fn run(args: &BesiegedArgs) -> Result<(), SiegeError> {
    oarlock_server::raise_open_files();
    // As `oarlock serve` does: memory that the allocator keeps would look like memory that clients hold.
    oarlock_server::keep_little_memory();
    let config = CryptoserverConfig::read(&args.config)?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let server = BoundServer::bind(
            config,
            Accelerator::builder().environment(true).cost_cache(oarlock::default_cost_cache()),
        )
        .await?;
        let addresses = server.addresses();
        answer(&serde_json::json!({
            "tcp": addresses.tcp, "plaintext": addresses.plaintext, "unix": addresses.unix,
        }))?;
        Ok(server.run(std::future::pending()).await?)
    })
}
