//! The program `oarlock-lab`: experiments of papers, and Oarlock beside and inside the programs of others.
//!
//! `oarlock` hands its laboratory commands to this program. It is not part of any package.
//!
//! | module | what it holds |
//! |---|---|
//! | `args` | the command line |
//! | `ladder`, `latency`, `dkim`, `dnssec`, `sockets` | engines in this process, beside peers and the figures of papers |
//! | `bench` | whole programs with and without Oarlock: TLS servers, proxies, mail filters, resolvers |
//! | `siege` | an honest client of the cryptoserver beside attackers |
//! | `tls_head` | a TLS server answers HEAD; its private operations are computed in the process or elsewhere |
//! | `cryptoserver` | the cryptoserver that these measurements start |
//! | `product` | the program `oarlock`, which stands beside this one |
//! | `role_process`, `process_stats` | processes of a measurement; CPU time and memory of processes |
//! | `tls_client` | TLS clients that put load on a server |
#![forbid(unsafe_code)]

mod args;
mod bench;
mod cryptoserver;
mod dkim;
mod dnssec;
mod ladder;
mod latency;
mod process_stats;
mod product;
mod role_process;
mod siege;
mod sockets;
mod tls_client;
mod tls_head;

use std::process::ExitCode;

use oarlock_terminal::{Failure, usage};

use crate::args::{EFFECTS, LabCommand, OarlockLabCli};

fn main() -> ExitCode {
    let cli = match usage::parse::<OarlockLabCli>(EFFECTS) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: &OarlockLabCli) -> Result<(), Failure> {
    let global = &cli.global;
    match &cli.command {
        LabCommand::Ladder(args) => ladder::run(global, args).map_err(Failure::in_command("ladder")),
        LabCommand::Latency(args) => Ok(latency::run(global, args)?),
        LabCommand::Bench(args) => {
            oarlock_service_kit::raise_open_files();
            bench::run(global, args).map_err(Failure::in_command("bench"))
        }
        LabCommand::Sockets(args) => sockets::run(global, args).map_err(Failure::in_command("sockets")),
        LabCommand::Dkim(args) => dkim::run(global, args).map_err(Failure::in_command("dkim")),
        LabCommand::Dnssec(args) => dnssec::run(global, args),
        LabCommand::Siege(args) => siege::run(args, global.json).map_err(Failure::in_command("siege")),
        LabCommand::TlsHead(args) => {
            tls_head::run(args, global.json).map_err(Failure::in_command("tls-head"))
        }
        LabCommand::HeadServer(args) => Ok(tls_head::server::run(args)?),
        LabCommand::RustlsServer(args) => {
            oarlock_service_kit::raise_open_files();
            bench::rustls_server::run(args).map_err(Failure::in_command(bench::rustls_server::ROLE))
        }
        LabCommand::Cryptoserver(args) => Ok(cryptoserver::run(args)?),
    }
}
