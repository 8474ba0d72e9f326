//! The servers of a fleet, and the name that stands for them.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::BoxFuture;
use oarlock::Curve;
use oarlock::keys::{export, generate};
use oarlock_terminal::GlobalOptions;
use oarlock_wire::NameResolver;
use rustix::process::Signal;

use crate::bench::BenchError;
use crate::bench::directory::{BenchDirectory, make_directory, write};
use crate::bench::plan::BenchProgram;
use crate::bench::process::ServerProcess;
use crate::product::oarlock_path;

/// The name of the key.
pub(super) const KEY: &str = "fleet";

/// The addresses that the name has now.
#[derive(Clone, Debug, Default)]
pub(super) struct FleetNames(Arc<Mutex<Vec<SocketAddr>>>);

impl FleetNames {
    fn lock(&self) -> MutexGuard<'_, Vec<SocketAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NameResolver for FleetNames {
    fn resolve<'r>(&'r self, _host: &'r str, _port: u16) -> BoxFuture<'r, io::Result<Vec<SocketAddr>>> {
        let addresses = self.lock().clone();
        Box::pin(async move { Ok(addresses) })
    }
}

/// A server at work.
struct FleetServer {
    process: ServerProcess,
    address: SocketAddr,
}

/// The servers, the oldest first.
pub(super) struct FleetServers {
    servers: VecDeque<FleetServer>,
    /// Servers that run on without a name.
    unnamed: Vec<FleetServer>,
    names: FleetNames,
    directory: PathBuf,
    config: String,
    started: usize,
    /// The address of a killed server that the name still has.
    killed: Option<SocketAddr>,
}

impl FleetServers {
    pub(super) fn start(
        global: &GlobalOptions,
        bench: &BenchDirectory,
        count: usize,
    ) -> Result<Self, BenchError> {
        let directory = bench.path().to_owned();
        let keys = make_directory(directory.join("keys"))?;
        let pem = export::private_pkcs8_pem(&generate::ec(Curve::P256)?)?;
        write(&keys.join(format!("{KEY}.pem")), pem.as_bytes())?;
        let (servers, names) = (VecDeque::new(), FleetNames::default());
        let config = config(global);
        let mut fleet =
            Self { servers, unnamed: Vec::new(), names, directory, config, started: 0, killed: None };
        for _ in 0..count {
            fleet.add()?;
        }
        Ok(fleet)
    }

    /// Returns the name that stands for the servers.
    pub(super) fn names(&self) -> FleetNames {
        self.names.clone()
    }

    /// Returns the number of servers that the name stands for.
    pub(super) fn len(&self) -> usize {
        self.servers.len()
    }

    /// Starts a server, and adds it to the name.
    pub(super) fn add(&mut self) -> Result<SocketAddr, BenchError> {
        self.started += 1;
        let path = self.directory.join(format!("server-{}.toml", self.started));
        write(&path, self.config.as_bytes())?;
        let mut command = Command::new(oarlock_path()?);
        command.args(["--json", "serve", "--config"]).arg(&path).stdout(Stdio::piped());
        let log = path.with_extension("log");
        let mut process = ServerProcess::start_here(BenchProgram::Cryptoserver, command, log)?;
        let said: serde_json::Value = serde_json::from_str(&process.first_line()?).unwrap_or_default();
        let address = said["plaintext"].as_str().and_then(|address| address.parse().ok());
        let Some(address) = address else { return Err(process.ended()) };
        self.servers.push_back(FleetServer { process, address });
        self.names.lock().push(address);
        Ok(address)
    }

    /// Ends the oldest server as a service manager does, and starts it again at another address.
    pub(super) fn restart_oldest(&mut self) -> Result<(), BenchError> {
        let Some(mut oldest) = self.servers.pop_front() else { return Ok(()) };
        oldest.process.signal(Signal::TERM)?;
        oldest.process.wait()?;
        self.add()?;
        self.forget(oldest.address);
        Ok(())
    }

    /// Kills the oldest server. The name still has its address.
    pub(super) fn kill_oldest(&mut self) -> Result<(), BenchError> {
        let Some(oldest) = self.servers.pop_front() else { return Ok(()) };
        oldest.process.signal(Signal::KILL)?;
        self.killed = Some(oldest.address);
        Ok(())
    }

    /// Starts a server in the place of the killed one.
    pub(super) fn replace_killed(&mut self) -> Result<(), BenchError> {
        if let Some(address) = self.killed.take() {
            self.forget(address);
        }
        self.add().map(drop)
    }

    /// Removes the oldest server from the name, and returns its address. It runs on.
    pub(super) fn remove_oldest_from_name(&mut self) -> SocketAddr {
        let Some(oldest) = self.servers.pop_front() else { return SocketAddr::from(([0; 4], 0)) };
        let address = oldest.address;
        self.forget(address);
        self.unnamed.push(oldest);
        address
    }

    /// Fails if a server has ended.
    pub(super) fn check(&mut self) -> Result<(), BenchError> {
        self.servers.iter_mut().chain(&mut self.unnamed).try_for_each(|server| server.process.check())
    }

    fn forget(&self, address: SocketAddr) {
        self.names.lock().retain(|name| *name != address);
    }
}

/// Returns the configuration of a server. Every process of this machine may sign.
fn config(global: &GlobalOptions) -> String {
    let engines = global.engines.as_ref().map(|names| format!("allowed = {names:?}\n")).unwrap_or_default();
    let threads = global.threads.unwrap_or(1);
    format!(
        "[listen]\nplaintext = \"127.0.0.1:0\"\n\
         [keys]\ndirectory = \"keys\"\n\
         [engines]\n{engines}threads = {threads}\n\
         [[grant]]\nkeys = [\"*\"]\nclients = [\"loopback\"]\nschemes = [\"*-sign\"]\n"
    )
}
