//! The program `oarlock`: arguments, ordinary commands and exit codes. Whatever measures is in `oarlock-measure`.
//!
//! | module | what it holds |
//! |---|---|
//! | `args`, `usage` | the command line; its help and mistakes of usage |
//! | `exit` | the end of a command: errors and exit codes |
//! | `engines`, `records`, `serve`, `audit`, `milter`, `proxy`, `call`, `keys`, `token`, `dkim`, `dnssec` | the commands |
//! | `load` | the server that `oarlock load` measures |
//! | `manual` | completions of shells, manual pages |
//! | `key_records` | the sources of the keys of mail |
//! | `key_path` | options that name files of keys |
//! | `time` | points in time as options |
#![forbid(unsafe_code)]

mod args;
mod audit;
mod call;
mod dkim;
mod dnssec;
mod engines;
mod exit;
mod key_path;
mod key_records;
mod keys;
mod load;
mod manual;
mod milter;
mod proxy;
mod records;
mod runtime;
mod serve;
mod time;
mod token;
mod usage;

use std::process::ExitCode;

use oarlock_measure::{bench, ladder, latency, sockets, speed};

use crate::args::{CliCommand, OarlockCli};
use crate::exit::Failure;

fn main() -> ExitCode {
    let cli = match usage::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: &OarlockCli) -> Result<(), Failure> {
    let global = &cli.global;
    match &cli.command {
        CliCommand::Engines => Ok(engines::run(global)?),
        CliCommand::Speed(args) => Ok(speed::run(global, args)?),
        CliCommand::Latency(args) => Ok(latency::run(global, args)?),
        CliCommand::Records(args) => Ok(records::run(global, args)?),
        CliCommand::Ladder(args) => ladder::run(global, args).map_err(Failure::in_command("ladder")),
        CliCommand::Serve(args) => serve::run(global, args).map_err(Failure::in_command("serve")),
        CliCommand::Milter(args) => milter::run(global, args).map_err(Failure::in_command("milter")),
        CliCommand::Proxy(args) => proxy::run(global, args).map_err(Failure::in_command("proxy")),
        CliCommand::Call(args) => call::run(global, args).map_err(Failure::in_command("call")),
        CliCommand::Audit(args) => audit::run(global, args).map_err(Failure::in_command("audit")),
        CliCommand::Load(args) => load::run(global, args),
        CliCommand::Bench(args) => {
            oarlock_server::raise_open_files();
            bench::run(global, args).map_err(Failure::in_command("bench"))
        }
        CliCommand::Sockets(args) => sockets::run(global, args).map_err(Failure::in_command("sockets")),
        CliCommand::Dkim(args) => dkim::run(global, args).map_err(Failure::in_command("dkim")),
        CliCommand::Dnssec(args) => dnssec::run(global, args).map_err(Failure::in_command("dnssec")),
        CliCommand::Completions(args) => Ok(manual::completions(args)?),
        CliCommand::Man(args) => Ok(manual::pages(args)?),
        CliCommand::Keys(args) => keys::run(global, args).map_err(Failure::in_command("keys")),
        CliCommand::Token(args) => token::run(global, args).map_err(Failure::in_command("token")),
    }
}
