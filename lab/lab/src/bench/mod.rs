//! `oarlock bench`: programs of others with and without Oarlock, side by side in one run.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the commands' arguments |
//! | `plan` | the rows: programs, providers, keys |
//! | `handshake` | the handshakes: version of TLS, key exchange, client certificates, resumption |
//! | `sessions` | sessions that clients resume |
//! | `libssl` | the OpenSSL of servers |
//! | `rustls_server` | this program as a TLS server of rustls with AWS-LC alone |
//! | `directory` | keys, certificates and configurations in a directory |
//! | `settings` | the text of configurations |
//! | `process` | server programs as child processes |
//! | `stack` | a TLS server, with its cryptoserver if it has one |
//! | `cryptoserver` | `oarlock` as a cryptoserver |
//! | `client` | clients, which connect anew as soon as they have their answer |
//! | `turns` | providers in turns, and their medians |
//! | `reloads` | nginx while it is reloaded and its workers are killed |
//! | `report` | table and JSON |
//! | `milter` | MTAs at a mail filter |
//! | `proxy` | TLS-terminating proxies |
//! | `resolver` | resolvers that validate |

mod args;
mod client;
mod cryptoserver;
mod directory;
mod error;
mod fleet;
mod handshake;
mod libssl;
mod milter;
mod plan;
mod process;
mod proxy;
mod reloads;
mod report;
mod resolver;
pub(crate) mod rustls_server;
mod sessions;
mod settings;
mod stack;
mod turns;

use std::time::Duration;

use indicatif::ProgressBar;
use oarlock_measure::cores::DividedCores;
use oarlock_terminal::report::print_report;
use oarlock_terminal::{GlobalOptions, progress};

pub(crate) use self::args::BenchArgs;
use self::args::{BenchCommand, TlsArgs};
use self::client::TlsClients;
use self::directory::{BenchDirectory, ProviderLibrary, ServerIdentity};
pub(crate) use self::error::BenchError;
use self::handshake::{ClientTlsGroup, HandshakeKind};
use self::libssl::{OpensslVersion, ServerLibssl};
pub(crate) use self::milter::AcceptingFilters;
use self::plan::{TlsProvider, TlsRowName};
use self::report::TlsRow;
use self::stack::{ServerSite, ServerStack};
use self::turns::ProviderTurns;

/// The template of the progress bar.
const BAR: &str = "{bar:20} {pos}/{len} {wide_msg}";

/// Measures whole programs, and prints a table or JSON.
///
/// # Errors
/// Wrong arguments, a program that fails or answers wrongly, connections that failed while no worker was killed.
pub(crate) fn run(global: &GlobalOptions, args: &BenchArgs) -> Result<(), BenchError> {
    match &args.command {
        BenchCommand::Tls(args) => run_tls(global, args),
        BenchCommand::Reloads(args) => reloads::run(global, args),
        BenchCommand::Milter(args) => milter::run(global, args),
        BenchCommand::Proxy(args) => proxy::run(global, args),
        BenchCommand::Resolver(args) => resolver::run(global, args),
        BenchCommand::Fleet(args) => fleet::run(global, args),
    }
}

/// Measures TLS servers with each provider, in turns.
fn run_tls(global: &GlobalOptions, args: &TlsArgs) -> Result<(), BenchError> {
    args.check()?;
    let module = args.set_up.module()?;
    let libssl = args.libssl()?;
    let handshake = args.handshake();
    let names = installed(args.rows())?;
    let directory = BenchDirectory::new(args.set_up.keep.as_deref())?;
    let library = directory.link_library(module)?;
    let cores = DividedCores::divide();
    cores.leave();
    let rows_of_one = args.providers().len() * args.connections.len() * args.turns as usize;
    let bar = progress::bar((names.len() * rows_of_one) as u64, BAR);
    let libssl = libssl.as_ref();
    let bench =
        TlsBench { global, args, directory: &directory, library: &library, libssl, cores: &cores, bar: &bar };
    let mut rows = Vec::new();
    let done = names.into_iter().try_for_each(|name| {
        args.connections.iter().try_for_each(|connections| {
            bench.rows(name, *connections as usize).map(|measured| rows.extend(measured))
        })
    });
    bar.finish_and_clear();
    // Rows that were measured before a failure are printed.
    if !rows.is_empty() {
        print_report(global.json, &rows, |in_colour| report::to_text(handshake, &rows, in_colour))?;
    }
    done
}

/// The state that all rows share.
struct TlsBench<'a> {
    global: &'a GlobalOptions,
    args: &'a TlsArgs,
    directory: &'a BenchDirectory,
    library: &'a ProviderLibrary,
    libssl: Option<&'a ServerLibssl>,
    cores: &'a DividedCores,
    bar: &'a ProgressBar,
}

impl TlsBench<'_> {
    /// Returns the rows of one name and number of connections: all its servers run at the same time and are measured
    /// in turns.
    fn rows(&self, name: TlsRowName, connections: usize) -> Result<Vec<TlsRow>, BenchError> {
        self.bar.set_message(format!("{name}: starting"));
        let directory = match self.args.connections.len() {
            1 => name.to_string(),
            _ => format!("{name}-{connections}"),
        };
        let identities = self.directory.identities(&directory, name.key_kinds())?;
        let (workers, handshake) = (self.args.workers, self.args.handshake());
        // With several certificates, clients take that of the last kind.
        let shown = identities.last().filter(|_| handshake.has_client_certificates);
        let client = shown.map(ServerIdentity::make_client).transpose()?;
        let clients = |handshake| TlsClients::new(handshake, &identities, client.as_ref(), connections);
        let beside = HandshakeKind { group: ClientTlsGroup::X25519, ..handshake };
        let (global, library, libssl, cores) = (self.global, self.library, self.libssl, self.cores);
        let default_group = self.default_group(name)?;
        let mut servers = Vec::new();
        for provider in self.args.providers() {
            let handshake = match provider {
                TlsProvider::Default => HandshakeKind { group: default_group, ..handshake },
                _ => handshake,
            };
            let site = ServerSite { global, library, libssl, cores, workers, connections, handshake };
            let mut stack = ServerStack::start(&site, name, &identities, provider)?;
            // Each server has clients of its own: a ticket is of use only to the server that made it.
            let with_x25519 = (handshake != beside).then(|| clients(beside)).transpose()?;
            let clients = clients(handshake)?;
            stack.wait_until_ready(&clients)?;
            self.global.note(|| format!("{name} {provider}: {}", stack.about()));
            let turns = ProviderTurns { group: handshake.group, turns: Vec::new(), with_x25519: Vec::new() };
            servers.push(TlsBenchServer { stack, clients, with_x25519, turns });
        }
        for _ in 0..self.args.turns {
            for server in &mut servers {
                self.bar.set_message(format!("{name} {}", server.stack.provider));
                server.measure(self.args.length())?;
                self.bar.inc(1);
            }
        }
        let turns: Vec<ProviderTurns> = servers.into_iter().map(|server| server.turns).collect();
        Ok(turns::rows(name, connections, self.args, &turns))
    }

    /// Returns the group of the row's default provider: the one that was asked for, or X25519 with a note if the
    /// server's OpenSSL lacks it.
    fn default_group(&self, name: TlsRowName) -> Result<ClientTlsGroup, BenchError> {
        let (group, program) = (self.args.handshake().group, name.program());
        if group == ClientTlsGroup::X25519 {
            return Ok(group);
        }
        let version = OpensslVersion::from_program(program, self.libssl)?;
        if version.has_ml_kem() {
            return Ok(group);
        }
        eprintln!(
            "oarlock: {name} default: measured with X25519: {program} runs with OpenSSL {}, and {} needs 3.5 or later; \
             name a directory with its libssl.so.3 and libcrypto.so.3 as --libssl",
            version.0,
            group.name()
        );
        Ok(ClientTlsGroup::X25519)
    }
}

/// A server of a row with its clients and its turns until now.
struct TlsBenchServer {
    stack: ServerStack,
    clients: TlsClients,
    /// Clients that offer X25519 alone, if the others offer another group.
    with_x25519: Option<TlsClients>,
    turns: ProviderTurns,
}

impl TlsBenchServer {
    fn measure(&mut self, length: Duration) -> Result<(), BenchError> {
        self.turns.turns.push(self.stack.measure(&self.clients, length)?);
        if let Some(clients) = &self.with_x25519 {
            self.turns.with_x25519.push(self.stack.measure(clients, length)?);
        }
        Ok(())
    }
}

/// Returns the rows whose program is installed. The others get a note.
fn installed(names: Vec<TlsRowName>) -> Result<Vec<TlsRowName>, BenchError> {
    let (here, missing): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|name| name.program().path().is_some());
    for name in &missing {
        eprintln!("oarlock: {name}: left out: {} is neither in PATH nor in /usr/sbin", name.program());
    }
    match (here.as_slice(), missing.first()) {
        ([], Some(name)) => Err(BenchError::NotInstalled(name.program())),
        _ => Ok(here),
    }
}
