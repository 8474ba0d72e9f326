//! A TLS server, with its cryptoserver where it has one.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use super::BenchError;
use super::client::{NotReady, TlsClients};
use super::place::{BenchDirectory, HELD_KEY, Identity, make_directory, write};
use super::plan::{Program, Provider, RowName};
use super::process::Process;
use super::settings::{self, Server};
use super::turns::{CpuUse, TlsTurn};
use crate::cores::Cores;
use crate::options::GlobalOptions;
use crate::table::count;

/// Where servers are started, and how large.
pub(super) struct ServerSite<'a> {
    pub(super) global: &'a GlobalOptions,
    pub(super) place: &'a BenchDirectory,
    pub(super) cores: &'a Cores,
    /// Worker processes of nginx.
    pub(super) workers: u32,
    /// Connections at once.
    pub(super) connections: usize,
}

/// What a row's providers are measured in.
pub(super) struct ServerStack {
    name: RowName,
    pub(super) provider: Provider,
    // It ends before what it asks.
    server: Process,
    cryptoserver: Option<Process>,
    pub(super) address: SocketAddr,
    /// The library that it must have loaded.
    module: Option<PathBuf>,
    /// Of nginx: by their numbers, once they are there.
    workers: Vec<u32>,
    workers_expected: usize,
}

/// How a line begins that the provider says when it does not do what it is set up for.
const EXCUSE: &str = "oarlock: ";

impl ServerStack {
    /// Starts the servers on their core.
    pub(super) fn start(
        site: &ServerSite<'_>,
        identity: &Identity,
        provider: Provider,
    ) -> Result<Self, BenchError> {
        let directory = make_directory(identity.directory.join(provider.to_string()))?;
        let cryptoserver = match provider.has_cryptoserver() {
            true => Some(cryptoserver(site, identity, provider, &directory)?),
            false => None,
        };
        let port = free_port()?;
        let openssl = directory.join("openssl.cnf");
        let socket = directory.join("oarlock.sock");
        let text = settings::openssl(provider, &site.place.module, &socket, site.global);
        write(&openssl, text.as_bytes())?;
        let mut command = command(site, identity, provider, &directory, port)?;
        command.env("OPENSSL_CONF", &openssl).stdout(Stdio::null());
        let program = identity.name.program();
        let log = directory.join("server.log");
        Ok(Self {
            name: identity.name,
            provider,
            server: Process::start(program, &mut command, log, site.cores)?,
            cryptoserver,
            address: (Ipv4Addr::LOCALHOST, port).into(),
            module: (provider != Provider::Default).then(|| site.place.real_module.clone()),
            workers: Vec::new(),
            workers_expected: if program == Program::Nginx { site.workers as usize } else { 0 },
        })
    }

    /// Waits until it answers and all its workers are there.
    pub(super) fn wait_until_ready(&mut self, clients: &TlsClients) -> Result<(), BenchError> {
        let address = self.address;
        let ready = clients.wait_until(address, || {
            self.check()?;
            self.workers = self.server.children()?;
            Ok(self.workers.len() == self.workers_expected)
        });
        match ready {
            Ok(()) => {}
            Err(NotReady::Server(error)) => return Err(error),
            Err(NotReady::Client(reason)) => return Err(self.failed(reason)),
        }
        match &self.module {
            Some(module) if !self.server.has_loaded(module)? => {
                Err(self.failed(format!("it has not loaded the provider {}", module.display())))
            }
            _ => Ok(()),
        }
    }

    /// One turn.
    pub(super) fn measure(&mut self, clients: &TlsClients, length: Duration) -> Result<TlsTurn, BenchError> {
        let address = self.address;
        let measured = clients.measure(address, length, || self.used())?;
        self.check()?;
        if measured.errors > 0 {
            return Err(self.failed(format!(
                "{} without a right answer; the first: {}",
                count(measured.errors, "connection"),
                measured.first_error
            )));
        }
        if self.server.children()? != self.workers {
            return Err(self.failed("workers ended while they were measured".to_owned()));
        }
        self.excuse().map_or_else(|| Ok(measured.turn()), Err)
    }

    /// Has nginx read its configuration again.
    pub(super) fn reload(&self) -> Result<(), BenchError> {
        self.server.signal(Signal::HUP)
    }

    /// Kills one of nginx's workers, whichever `choose` takes of so many; which it was. None where there is none just now.
    pub(super) fn kill_worker(&self, choose: impl FnOnce(usize) -> usize) -> Result<Option<u32>, BenchError> {
        let workers = self.server.children()?;
        let chosen = if workers.is_empty() { None } else { workers.get(choose(workers.len())) };
        chosen.copied().map(|worker| self.server.kill_child(worker).map(|()| worker)).transpose()
    }

    /// What all of its processes take, in KiB.
    pub(super) fn memory_kib(&self) -> Result<u64, BenchError> {
        let cryptoserver = self.cryptoserver.as_ref().map(Process::memory_kib).transpose()?;
        Ok(self.server.memory_kib()? + cryptoserver.unwrap_or_default())
    }

    /// What the provider has said in place of doing what it is set up for.
    pub(super) fn excuse(&self) -> Option<BenchError> {
        let log = self.server.log();
        let line = log.lines().find(|line| line.starts_with(EXCUSE))?;
        Some(self.failed(format!("the provider said: {line}")))
    }

    /// For people who want to look at it.
    pub(super) fn about(&self) -> String {
        format!("{} at {}, {} workers", self.name.program(), self.address, self.workers.len())
    }

    /// CPU time until now.
    fn used(&self) -> Result<CpuUse, BenchError> {
        let cryptoserver = self.cryptoserver.as_ref().map(Process::cpu_us).transpose()?;
        let server_us = self.server.cpu_us()? + cryptoserver.unwrap_or_default();
        Ok(CpuUse { server_us, cryptoserver_us: cryptoserver })
    }

    /// Fails where one of them has ended.
    pub(super) fn check(&mut self) -> Result<(), BenchError> {
        if let Some(cryptoserver) = &mut self.cryptoserver {
            cryptoserver.check()?;
        }
        self.server.check()
    }

    fn failed(&self, reason: String) -> BenchError {
        let mut log = self.server.tail();
        if let Some(cryptoserver) = &self.cryptoserver {
            log = log + "\n" + &cryptoserver.tail();
        }
        BenchError::Server { name: self.name, provider: self.provider, reason, log }
    }
}

/// This program as a cryptoserver, listening.
fn cryptoserver(
    site: &ServerSite<'_>,
    identity: &Identity,
    provider: Provider,
    directory: &Path,
) -> Result<Process, BenchError> {
    let keys = make_directory(directory.join("keys"))?;
    if provider == Provider::Held {
        write(&keys.join(format!("{HELD_KEY}.pem")), identity.private_key().as_bytes())?;
    }
    let config = directory.join("oarlock.toml");
    let user = rustix::process::geteuid().as_raw();
    write(&config, settings::cryptoserver(user, site.global).as_bytes())?;
    let mut command = Command::new(std::env::current_exe().map_err(BenchError::Own)?);
    command.args(["--json", "serve", "--config"]).arg(&config).stdout(Stdio::piped());
    let log = directory.join("cryptoserver.log");
    let mut process = Process::start(Program::Cryptoserver, &mut command, log, site.cores)?;
    match process.first_line()?.is_empty() {
        true => Err(process.ended()),
        false => Ok(process),
    }
}

/// How the TLS server is started, its configuration written.
fn command(
    site: &ServerSite<'_>,
    identity: &Identity,
    provider: Provider,
    directory: &Path,
    port: u16,
) -> Result<Command, BenchError> {
    let program = identity.name.program();
    let path = program.path().ok_or(BenchError::NotInstalled(program))?;
    let server = Server {
        directory,
        port,
        certificate: &identity.certificate_file(),
        key: &key_file(identity, provider, directory)?,
        workers: site.workers,
        connections: site.connections,
    };
    let mut command = Command::new(path);
    if program == Program::Haproxy {
        let config = directory.join("haproxy.cfg");
        write(&config, settings::haproxy(&server, provider == Provider::Local).as_bytes())?;
        command.args(["-db", "-f"]).arg(config);
        return Ok(command);
    }
    let config = directory.join("nginx.conf");
    write(&config, settings::nginx(&server, rustix::process::geteuid().is_root()).as_bytes())?;
    command.arg("-p").arg(directory).arg("-c").arg(config).arg("-e").arg(directory.join("server.log"));
    Ok(command)
}

/// The file that the server is told to read its key from.
fn key_file(identity: &Identity, provider: Provider, directory: &Path) -> Result<PathBuf, BenchError> {
    let path = directory.join("server.pem");
    match (identity.name.program(), provider) {
        (Program::Haproxy, _) => write(&path, identity.bundle().as_bytes())?,
        (_, Provider::Held) => write(&path, identity.reference()?.as_bytes())?,
        _ => return Ok(identity.key_file()),
    }
    Ok(path)
}

/// A port that nobody has: these programs cannot say which one the system chose for them.
fn free_port() -> Result<u16, BenchError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(BenchError::Clients)?;
    Ok(listener.local_addr().map_err(BenchError::Clients)?.port())
}
