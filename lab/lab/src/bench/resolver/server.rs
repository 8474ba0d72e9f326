//! Knot with all zones, and resolvers that ask it.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use oarlock_measure::cores::DividedCores;
use oarlock_measure::ports::free_port;
use oarlock_terminal::GlobalOptions;

use super::args::WARM_UP_NAMES;
use super::plan::{ResolverName, ResolverProvider};
use super::queries::{QueryClient, QueryFailure, ResolverAnswer};
use super::rounds::ResolverTurn;
use super::settings::{self, ResolverConfig};
use super::zones::{ResolverZones, insecure_zone, secure_zone};
use crate::bench::BenchError;
use crate::bench::directory::{ProviderLibrary, make_directory, write};
use crate::bench::plan::BenchProgram;
use crate::bench::process::ServerProcess;
use crate::dnssec::bench::ZoneKeyKind;
use crate::process_stats;

/// The server of all zones.
pub(super) struct ZoneAuthority {
    server: ServerProcess,
    port: u16,
}

/// The state that all resolvers of a bench share.
pub(super) struct ResolverSite<'a> {
    pub(super) global: &'a GlobalOptions,
    pub(super) library: &'a ProviderLibrary,
    pub(super) cores: &'a DividedCores,
    pub(super) zones: &'a ResolverZones,
    pub(super) authority: &'a ZoneAuthority,
    /// The number of queries at once.
    pub(super) in_flight: usize,
}

/// A resolver with one provider.
pub(super) struct ResolverProcess {
    row: String,
    pub(super) provider: ResolverProvider,
    server: ServerProcess,
    client: QueryClient,
    secure: String,
    insecure: String,
    /// The first name that it was not asked for yet.
    next_name: u32,
}

/// The longest start of a server.
const MAX_START: Duration = Duration::from_secs(30);

impl ZoneAuthority {
    /// Starts Knot on the cores of this thread, and waits until it serves every zone.
    pub(super) fn start(zones: &ResolverZones) -> Result<Self, BenchError> {
        let program = BenchProgram::Knotd;
        let path = program.path().ok_or(BenchError::ProgramAbsent(program))?;
        let port = free_port().map_err(BenchError::Clients)?;
        let directory = zones.directory();
        make_directory(directory.join("database"))?;
        let configuration = directory.join("knot.conf");
        write(&configuration, settings::knot(directory, port, &zones.names, &own_user()).as_bytes())?;
        let mut command = Command::new(path);
        command.arg("-c").arg(&configuration).stdout(Stdio::null());
        let server = ServerProcess::start_here(program, command, directory.join("knot.log"))?;
        let mut authority = Self { server, port };
        for zone in zones.names.iter().filter(|zone| *zone != ".") {
            authority.wait_for(&format!("n0.{zone}"))?;
        }
        Ok(authority)
    }

    /// Returns the number of signatures that its answer for the first name of a zone has.
    pub(super) fn count_signatures(&mut self, zone: &str) -> Result<u32, BenchError> {
        let counted = QueryClient::new(self.address(), 1).and_then(|client| client.count_signatures(zone));
        counted.map_err(|failure| self.failure(&failure))
    }

    fn wait_for(&mut self, name: &str) -> Result<(), BenchError> {
        let client = QueryClient::new(self.address(), 1).map_err(|failure| self.failure(&failure))?;
        let end = Instant::now() + MAX_START;
        loop {
            match client.count_signatures(name) {
                Ok(_) => return Ok(()),
                Err(failure) if Instant::now() > end => return Err(self.failure(&failure)),
                Err(_) => self.server.check()?,
            }
        }
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn failure(&mut self, failure: &QueryFailure) -> BenchError {
        BenchError::Resolver { name: "knot".into(), reason: failure.to_string(), log: self.server.tail() }
    }
}

impl ResolverProcess {
    /// Starts a resolver on the servers' core, and lets it answer from both zones of a kind of key.
    pub(super) fn start(
        site: &ResolverSite<'_>,
        name: ResolverName,
        kind: ZoneKeyKind,
        provider: ResolverProvider,
    ) -> Result<Self, BenchError> {
        let program = name.program();
        let path = program.path().ok_or(BenchError::ProgramAbsent(program))?;
        let row = format!("{name}-{} {provider}", kind.name());
        let directory = make_directory(site.zones.directory().join(row.replace(' ', "-")))?;
        let port = free_port().map_err(BenchError::Clients)?;
        let config = ResolverConfig {
            directory: &directory,
            port,
            authority: site.authority.port,
            anchor: &site.zones.anchor,
        };
        let (configuration, openssl) = (directory.join("resolver.conf"), directory.join("openssl.cnf"));
        write(&configuration, config.text(name).as_bytes())?;
        write(&openssl, settings::openssl(provider, &site.library.link, site.global).as_bytes())?;
        let mut command = Command::new(path);
        match name {
            ResolverName::Unbound => command.arg("-d"),
            ResolverName::Bind => command.args(["-g", "-n", "1"]),
        };
        command.arg("-c").arg(&configuration).env("OPENSSL_CONF", &openssl).stdout(Stdio::null());
        let server = ServerProcess::start(program, command, directory.join("resolver.log"), site.cores)?;
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let client = QueryClient::new(address, site.in_flight);
        let client = client.map_err(|error| failure(&row, &server, error.to_string()))?;
        let (secure, insecure) = (secure_zone(kind), insecure_zone(kind));
        let mut resolver = Self { row, provider, server, client, secure, insecure, next_name: 0 };
        resolver.warm_up(&site.library.real)?;
        Ok(resolver)
    }

    /// Waits for its first answer, and asks for enough names that the chain of trust and the tables of keys are there.
    fn warm_up(&mut self, library: &Path) -> Result<(), BenchError> {
        let end = Instant::now() + MAX_START;
        let first = format!("n0.{}", self.insecure);
        while let Err(failure) = self.client.count_signatures(&first) {
            self.server.check()?;
            if Instant::now() > end {
                return Err(self.failure(failure.to_string()));
            }
        }
        let is_loaded = self.server.has_loaded(library)?;
        if is_loaded != (self.provider != ResolverProvider::Default) {
            let found = if is_loaded { "it has loaded" } else { "it has not loaded" };
            return Err(self.failure(format!("{found} {}", library.display())));
        }
        self.turn(WARM_UP_NAMES).map(drop)
    }

    /// Asks for names that it has not seen, with validation and again without it.
    pub(super) fn turn(&mut self, names: u32) -> Result<ResolverTurn, BenchError> {
        let range = self.next_name..self.next_name + names;
        self.next_name = range.end;
        let began = Instant::now();
        let before = self.cpu_time()?;
        let validated = self.client.ask_all(&self.secure, range.clone(), ResolverAnswer::Validated);
        validated.map_err(|failure| self.failure(failure.to_string()))?;
        let (middle, elapsed) = (self.cpu_time()?, began.elapsed());
        let passed_on = self.client.ask_all(&self.insecure, range, ResolverAnswer::Unvalidated);
        passed_on.map_err(|failure| self.failure(failure.to_string()))?;
        let after = self.cpu_time()?;
        self.server.check()?;
        let each_us = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(names);
        Ok(ResolverTurn {
            elapsed_us: each_us(elapsed),
            validated_us: each_us(middle.saturating_sub(before)),
            unvalidated_us: each_us(after.saturating_sub(middle)),
        })
    }

    fn cpu_time(&self) -> Result<Duration, BenchError> {
        process_stats::cpu_time(self.server.id())
            .map_err(|error| self.failure(format!("its CPU time: {error}")))
    }

    fn failure(&self, reason: String) -> BenchError {
        failure(&self.row, &self.server, reason)
    }
}

fn failure(row: &str, server: &ServerProcess, reason: String) -> BenchError {
    BenchError::Resolver { name: row.to_owned(), reason, log: server.tail() }
}

/// Returns this process's user and group as Knot reads them. Debian's default is a user of Knot's own, who may not read
/// the directory.
fn own_user() -> String {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let name = |file: &str, id: u32| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let is_own = |line: &&str| line.split(':').nth(2).and_then(|field| field.parse().ok()) == Some(id);
        let name = text.lines().find(is_own).and_then(|line| line.split(':').next()).map(str::to_owned);
        name.unwrap_or_else(|| id.to_string())
    };
    format!("{}:{}", name("/etc/passwd", user), name("/etc/group", group))
}
