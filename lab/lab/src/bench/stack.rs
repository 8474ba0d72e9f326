//! A TLS server, with its cryptoserver if it has one.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use oarlock_measure::cores::DividedCores;
use oarlock_measure::ports::free_port;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::table::count;
use rustix::process::Signal;

use super::BenchError;
use super::client::{NotReady, TlsClients};
use super::cryptoserver::{restart_cryptoserver, start_cryptoserver};
use super::directory::{ProviderLibrary, ServerIdentity, make_directory, write};
use super::handshake::HandshakeKind;
use super::libssl::ServerLibssl;
use super::plan::{BenchProgram, TlsProvider, TlsRowName};
use super::process::ServerProcess;
use super::rustls_server;
use super::settings::{self, ServerCertificate, TlsServerConfig};
use super::turns::{CpuUse, TlsTurn};

/// The place and the size of servers.
pub(super) struct ServerSite<'a> {
    pub(super) global: &'a GlobalOptions,
    pub(super) library: &'a ProviderLibrary,
    /// The OpenSSL that servers load instead of the system's.
    pub(super) libssl: Option<&'a ServerLibssl>,
    pub(super) cores: &'a DividedCores,
    /// Worker processes of nginx.
    pub(super) workers: u32,
    /// Connections at once.
    pub(super) connections: usize,
    pub(super) handshake: HandshakeKind,
}

/// A TLS server with one provider.
pub(super) struct ServerStack {
    name: TlsRowName,
    pub(super) provider: TlsProvider,
    // Dropped first: it depends on the cryptoserver.
    server: ServerProcess,
    cryptoserver: Option<ServerProcess>,
    pub(super) address: SocketAddr,
    /// The libraries that the server must have loaded.
    modules: Vec<PathBuf>,
    /// The process numbers of nginx's workers, once they have started.
    workers: Vec<u32>,
    workers_expected: usize,
}

/// The beginning of a log line in which the provider reports that it does not work as configured, unless it is a note.
const EXCUSE: &str = "oarlock: ";
const NOTE: &str = "oarlock: note: ";

impl ServerStack {
    /// Starts the servers on their core.
    pub(super) fn start(
        site: &ServerSite<'_>,
        name: TlsRowName,
        identities: &[ServerIdentity],
        provider: TlsProvider,
    ) -> Result<Self, BenchError> {
        let parent = identities.first().map(|identity| identity.directory.clone()).unwrap_or_default();
        let directory = make_directory(parent.join(provider.to_string()))?;
        let held = if provider == TlsProvider::Held { identities } else { &[] };
        let cryptoserver = match provider.has_cryptoserver() {
            true => Some(start_cryptoserver(site.global, held, &directory, Some(site.cores))?),
            false => None,
        };
        let port = free_port().map_err(BenchError::Clients)?;
        let openssl = directory.join("openssl.cnf");
        let socket = directory.join("oarlock.sock");
        let text = settings::openssl(provider, &site.library.link, &socket, site.global);
        write(&openssl, text.as_bytes())?;
        let program = provider.program(name);
        let mut command = command(site, program, identities, provider, &directory, port)?;
        command.env("OPENSSL_CONF", &openssl).stdout(Stdio::null());
        if let Some(libssl) = site.libssl {
            libssl.set_for(&mut command);
        }
        let log = directory.join("server.log");
        Ok(Self {
            name,
            provider,
            server: ServerProcess::start(program, command, log, site.cores)?,
            cryptoserver,
            address: (Ipv4Addr::LOCALHOST, port).into(),
            modules: modules(site, provider),
            workers: Vec::new(),
            workers_expected: if program == BenchProgram::Nginx { site.workers as usize } else { 0 },
        })
    }

    /// Waits until it answers and all its workers have started.
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
            Err(NotReady::Client(reason)) => return Err(self.failure(reason)),
        }
        for module in &self.modules {
            if !self.server.has_loaded(module)? {
                return Err(self.failure(format!("it has not loaded {}", module.display())));
            }
        }
        Ok(())
    }

    /// Measures one turn.
    pub(super) fn measure(&mut self, clients: &TlsClients, length: Duration) -> Result<TlsTurn, BenchError> {
        let address = self.address;
        let measured = clients.measure(address, length, || self.used())?;
        self.check()?;
        if measured.errors > 0 {
            return Err(self.failure(format!(
                "{} without a right answer; the first: {}",
                count(measured.errors, "connection"),
                measured.first_error
            )));
        }
        let turn = measured.turn();
        if clients.resume && turn.resumed == 0 {
            return Err(self.failure("it resumed no session".to_owned()));
        }
        if self.server.children()? != self.workers {
            return Err(self.failure("workers ended while they were measured".to_owned()));
        }
        self.excuse().map_or(Ok(turn), Err)
    }

    /// Reloads nginx.
    pub(super) fn reload(&self) -> Result<(), BenchError> {
        self.server.signal(Signal::HUP)
    }

    /// Kills the worker of nginx that `choose` selects, and returns its number. None if there is no worker at the
    /// moment.
    pub(super) fn kill_worker(&self, choose: impl FnOnce(usize) -> usize) -> Result<Option<u32>, BenchError> {
        let workers = self.server.children()?;
        let chosen = if workers.is_empty() { None } else { workers.get(choose(workers.len())) };
        chosen.copied().map(|worker| self.server.kill_child(worker).map(|()| worker)).transpose()
    }

    /// Sends a signal to the cryptoserver, if there is one.
    pub(super) fn signal_cryptoserver(&self, signal: Signal) -> Result<(), BenchError> {
        self.cryptoserver.as_ref().map_or(Ok(()), |cryptoserver| cryptoserver.signal(signal))
    }

    /// Kills the cryptoserver, if there is one, and starts it again.
    pub(super) fn restart_cryptoserver(&mut self, cores: &DividedCores) -> Result<(), BenchError> {
        let cryptoserver = self.cryptoserver.as_mut();
        cryptoserver.map_or(Ok(()), |cryptoserver| restart_cryptoserver(cryptoserver, cores))
    }

    /// Returns the number of times that the provider has changed where it computes.
    pub(super) fn decisions(&self) -> usize {
        self.server
            .log()
            .lines()
            .filter(|line| line.starts_with(NOTE) && line.contains(" from now on"))
            .count()
    }

    /// Returns the memory of all its processes, in KiB.
    pub(super) fn memory_kib(&self) -> Result<u64, BenchError> {
        let cryptoserver = self.cryptoserver.as_ref().map(ServerProcess::memory_kib).transpose()?;
        Ok(self.server.memory_kib()? + cryptoserver.unwrap_or_default())
    }

    /// Returns the provider's report that it does not work as configured.
    pub(super) fn excuse(&self) -> Option<BenchError> {
        let log = self.server.log();
        let line = log.lines().find(|line| line.starts_with(EXCUSE) && !line.starts_with(NOTE))?;
        Some(self.failure(format!("the provider said: {line}")))
    }

    /// Describes the servers for a reader.
    pub(super) fn about(&self) -> String {
        format!("{} at {}, {} workers", self.provider.program(self.name), self.address, self.workers.len())
    }

    /// Returns the CPU time until now.
    fn used(&self) -> Result<CpuUse, BenchError> {
        let cryptoserver = self.cryptoserver.as_ref().map(ServerProcess::cpu_us).transpose()?;
        let server_us = self.server.cpu_us()? + cryptoserver.unwrap_or_default();
        Ok(CpuUse { server_us, cryptoserver_us: cryptoserver })
    }

    /// Fails if one of the servers has ended.
    pub(super) fn check(&mut self) -> Result<(), BenchError> {
        if let Some(cryptoserver) = &mut self.cryptoserver {
            cryptoserver.check()?;
        }
        self.server.check()
    }

    fn failure(&self, reason: String) -> BenchError {
        let mut log = self.server.tail();
        if let Some(cryptoserver) = &self.cryptoserver {
            log = log + "\n" + &cryptoserver.tail();
        }
        BenchError::Server { name: self.name, provider: self.provider, reason, log }
    }
}

/// Returns the libraries that a server must have loaded.
fn modules(site: &ServerSite<'_>, provider: TlsProvider) -> Vec<PathBuf> {
    if provider == TlsProvider::Rustls {
        return Vec::new();
    }
    let module = (provider != TlsProvider::Default).then(|| site.library.real.clone());
    module.into_iter().chain(site.libssl.map(|libssl| libssl.library.clone())).collect()
}

/// Writes the configuration of the TLS server, and returns the command that starts it.
fn command(
    site: &ServerSite<'_>,
    program: BenchProgram,
    identities: &[ServerIdentity],
    provider: TlsProvider,
    directory: &Path,
    port: u16,
) -> Result<Command, BenchError> {
    let path = program.path().ok_or(BenchError::NotInstalled(program))?;
    let certificates = identities.iter().map(|identity| {
        let key = key_file(program, identity, provider, directory)?;
        Ok(ServerCertificate { certificate: identity.certificate_file(), key })
    });
    let client_authority = identities.first().map(ServerIdentity::client_authority_file).unwrap_or_default();
    let server = TlsServerConfig {
        directory,
        port,
        certificates: certificates.collect::<Result<_, BenchError>>()?,
        workers: site.workers,
        connections: site.connections,
        handshake: site.handshake,
        client_authority: &client_authority,
    };
    let mut command = Command::new(path);
    if program == BenchProgram::Rustls {
        command.arg(rustls_server::ROLE).args(rustls_server::arguments(&server));
        return Ok(command);
    }
    if program == BenchProgram::Haproxy {
        let config = directory.join("haproxy.cfg");
        write(&config, settings::haproxy(&server, provider != TlsProvider::Default).as_bytes())?;
        command.args(["-db", "-f"]).arg(config);
        return Ok(command);
    }
    let config = directory.join("nginx.conf");
    write(&config, settings::nginx(&server, rustix::process::geteuid().is_root()).as_bytes())?;
    command.arg("-p").arg(directory).arg("-c").arg(config).arg("-e").arg(directory.join("server.log"));
    Ok(command)
}

/// Writes the file that the server reads a key from, if needed, and returns its path.
fn key_file(
    program: BenchProgram,
    identity: &ServerIdentity,
    provider: TlsProvider,
    directory: &Path,
) -> Result<PathBuf, BenchError> {
    let path = directory.join(format!("{}.pem", identity.held_name()));
    match (program, provider) {
        (BenchProgram::Haproxy, TlsProvider::Held) => {
            write(&path, (identity.certificate.clone() + &identity.reference()?).as_bytes())?;
        }
        (BenchProgram::Haproxy, _) => write(&path, identity.bundle().as_bytes())?,
        (_, TlsProvider::Held) => write(&path, identity.reference()?.as_bytes())?,
        _ => return Ok(identity.key_file()),
    }
    Ok(path)
}
