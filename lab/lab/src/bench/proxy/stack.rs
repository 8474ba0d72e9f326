//! A proxy as a process, with its cryptoserver if it has one.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use oarlock_measure::cores::DividedCores;
use oarlock_measure::ports::free_port;
use oarlock_terminal::GlobalOptions;

use super::super::BenchError;
use super::super::client::NotReady;
use super::super::cryptoserver::start_cryptoserver;
use super::super::directory::{HOST, ServerIdentity, make_directory, write};
use super::super::handshake::ClientTlsGroup;
use super::super::plan::BenchProgram;
use super::super::process::ServerProcess;
use super::clients::ProxyClients;
use super::plan::{OwnProxy, ProxyLoad, ProxyName, ProxyPeer};
use super::settings::{self, ProxySite};
use super::turns::{ProxyCpuUse, ProxyTurn};

/// The settings that all proxies of a bench share.
#[derive(Clone, Copy)]
pub(super) struct StackSite<'a> {
    pub(super) global: &'a GlobalOptions,
    pub(super) cores: &'a DividedCores,
    /// The port of the backend.
    pub(super) backend: u16,
    /// The number of connections at once.
    pub(super) connections: usize,
}

/// A running proxy.
pub(super) struct ProxyStack {
    name: ProxyName,
    // Dropped first: it depends on the cryptoserver.
    server: ServerProcess,
    cryptoserver: Option<ServerProcess>,
    address: SocketAddr,
    /// The group of its handshakes.
    pub(super) group: ClientTlsGroup,
}

impl ProxyStack {
    /// Starts a proxy on the servers' core, and waits until it answers.
    pub(super) fn start(
        site: StackSite<'_>,
        name: ProxyName,
        identity: &ServerIdentity,
        clients: &ProxyClients<'_>,
    ) -> Result<Self, BenchError> {
        let directory = make_directory(identity.directory.join(name.to_string()))?;
        let cryptoserver = match name {
            // Not on the proxy's core: the work of the key is elsewhere.
            ProxyName::Own(OwnProxy::Keyless) => {
                Some(start_cryptoserver(site.global, std::slice::from_ref(identity), &directory, None)?)
            }
            _ => None,
        };
        let port = free_port().map_err(BenchError::Clients)?;
        let mut command = command(site, name, identity, &directory, port)?;
        command.stdout(Stdio::null());
        let log = directory.join("proxy.log");
        let server = ServerProcess::start(name.program(), command, log, site.cores)?;
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let mut stack = Self { name, server, cryptoserver, address, group: clients.group };
        match clients.wait_until(name, address, || stack.check().map(|()| true))? {
            Ok(()) => Ok(Self { group: clients.chosen_group(name, address)?, ..stack }),
            Err(NotReady::Server(error)) => Err(error),
            Err(NotReady::Client(reason)) => Err(stack.failure(reason)),
        }
    }

    /// Measures a turn.
    pub(super) fn measure(
        &mut self,
        clients: &ProxyClients<'_>,
        load: ProxyLoad,
    ) -> Result<ProxyTurn, BenchError> {
        let turn = clients.measure(self.name, load, self.address, || self.cpu_use());
        // A proxy that has ended explains more than its connections do.
        if !matches!(turn, Err(BenchError::Interrupted)) {
            self.check()?;
        }
        turn
    }

    fn cpu_use(&self) -> Result<ProxyCpuUse, BenchError> {
        let cryptoserver_us = self.cryptoserver.as_ref().map(ServerProcess::cpu_us).transpose()?;
        Ok(ProxyCpuUse { proxy_us: self.server.cpu_us()?, cryptoserver_us })
    }

    /// Fails if one of its processes has ended.
    fn check(&mut self) -> Result<(), BenchError> {
        if let Some(cryptoserver) = &mut self.cryptoserver {
            cryptoserver.check()?;
        }
        self.server.check()
    }

    fn failure(&self, reason: String) -> BenchError {
        BenchError::Proxy { name: self.name.to_string(), reason, log: self.server.tail() }
    }
}

/// Writes the files of a proxy, and returns the command that starts it.
fn command(
    site: StackSite<'_>,
    name: ProxyName,
    identity: &ServerIdentity,
    directory: &Path,
    port: u16,
) -> Result<Command, BenchError> {
    let program = name.program();
    let path = program.path().ok_or(BenchError::ProgramAbsent(program))?;
    let mut command = Command::new(&path);
    let bundle = directory.join("bundle.pem");
    let mut proxy = ProxySite {
        directory,
        port,
        backend: site.backend,
        bundle: &bundle,
        connections: site.connections,
        is_root: rustix::process::geteuid().is_root(),
        stream_module: None,
    };
    match name {
        ProxyName::Own(set_up) => {
            let certificates = own_certificates(set_up, identity, directory)?;
            let file = directory.join("proxy.toml");
            write(&file, settings::own_configuration(set_up, &proxy, &certificates).as_bytes())?;
            command.args(settings::own_arguments(set_up, &file));
        }
        ProxyName::Peer(peer) => {
            write(&bundle, identity.bundle().as_bytes())?;
            let module = if peer == ProxyPeer::Nginx { stream_module(&path)? } else { None };
            proxy.stream_module = module.as_deref();
            let file = directory.join("proxy.conf");
            write(&file, settings::configuration(peer, &proxy).as_bytes())?;
            command.args(settings::arguments(peer, directory, &file));
        }
    }
    Ok(command)
}

/// Makes the directory of certificates of Oarlock's proxy.
fn own_certificates(
    set_up: OwnProxy,
    identity: &ServerIdentity,
    directory: &Path,
) -> Result<PathBuf, BenchError> {
    let certificates = make_directory(directory.join("certificates"))?;
    write(&certificates.join(format!("{HOST}.pem")), identity.certificate.as_bytes())?;
    let key = certificates.join(format!("{HOST}.key"));
    match set_up {
        OwnProxy::Keyless => write(&key, identity.reference()?.as_bytes())?,
        OwnProxy::Lanes | OwnProxy::Scalar => write(&key, identity.private_key().as_bytes())?,
    }
    Ok(certificates)
}

/// Returns nginx's module for TCP, if it has to be loaded.
pub(super) fn stream_module(nginx: &Path) -> Result<Option<PathBuf>, BenchError> {
    let failed = |error| BenchError::Start { program: BenchProgram::Nginx, error };
    // It prints its version on stderr.
    let output = Command::new(nginx).arg("-V").stdin(Stdio::null()).output().map_err(failed)?;
    settings::stream_module(&String::from_utf8_lossy(&output.stderr)).map_err(BenchError::NoStream)
}
