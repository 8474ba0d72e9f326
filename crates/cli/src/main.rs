//! The program `oarlock`: arguments, ordinary commands and exit codes. Whatever measures is in `oarlock-measure`.
//!
//! | module | what it holds |
//! |---|---|
//! | `args`, `usage` | the command line; its help and mistakes of usage |
//! | `exit` | the end of a command: errors and exit codes |
//! | `engines`, `records`, `serve`, `milter`, `call`, `keys`, `dkim`, `dnssec` | the commands |
//! | `load` | the server that `oarlock load` measures |
//! | `manual` | completions of shells, manual pages |
//! | `service_manager` | messages to systemd |
//! | `key_records` | the sources of the keys of mail |
//! | `key_path`, `draft_file` | options that name files of keys; outputs that appear whole or not at all |
//! | `time` | points in time as options |
#![forbid(unsafe_code)]

mod args;
mod call;
mod dkim;
mod dnssec;
mod draft_file;
mod engines;
mod exit;
mod key_path;
mod key_records;
mod keys;
mod load;
mod manual;
mod milter;
mod records;
mod serve;
mod service_manager;
mod time;
mod usage;

use std::process::ExitCode;

use oarlock_measure::{bench, ladder, latency, speed};

use crate::args::{Cli, Command};
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

fn run(cli: &Cli) -> Result<(), Failure> {
    let global = &cli.global;
    match &cli.command {
        Command::Engines => Ok(engines::run(global)?),
        Command::Speed(args) => Ok(speed::run(global, args)?),
        Command::Latency(args) => Ok(latency::run(global, args)?),
        Command::Records(args) => Ok(records::run(global, args)?),
        Command::Ladder(args) => ladder::run(global, args).map_err(Failure::in_command("ladder")),
        Command::Serve(args) => serve::run(global, args).map_err(Failure::in_command("serve")),
        Command::Milter(args) => milter::run(global, args).map_err(Failure::in_command("milter")),
        Command::Call(args) => call::run(global, args).map_err(Failure::in_command("call")),
        Command::Load(args) => load::run(global, args),
        Command::Bench(args) => {
            oarlock_server::raise_open_files();
            bench::run(global, args).map_err(Failure::in_command("bench"))
        }
        Command::Dkim(args) => dkim::run(global, args).map_err(Failure::in_command("dkim")),
        Command::Dnssec(args) => dnssec::run(global, args).map_err(Failure::in_command("dnssec")),
        Command::Completions(args) => Ok(manual::completions(args)?),
        Command::Man(args) => Ok(manual::pages(args)?),
        Command::Keys(args) => keys::run(global, args).map_err(Failure::in_command("keys")),
    }
}
