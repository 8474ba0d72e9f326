//! The program `oarlock`: arguments, commands and exit codes. What measures is in `oarlock-measure`, and what only
//! repeats experiments is in the laboratory, `oarlock-lab`.
//!
//! | module | what it holds |
//! |---|---|
//! | `args`, `command_groups` | the command line; the groups of commands in its help |
//! | `engines`, `records`, `serve`, `audit`, `milter`, `proxy`, `call`, `keys`, `token`, `dkim`, `dnssec`, `sockets` | the commands |
//! | `laboratory` | commands that `oarlock-lab` runs |
//! | `error` | the error of commands that have none of their own |
//! | `hsm_process` | the process of a device, for services |
//! | `load` | the server that `oarlock load` measures |
//! | `manual` | completions of shells, manual pages |
//! | `key_records` | the sources of the keys of mail |
//! | `key_path`, `named_values` | options that name files of keys; options with named values |
//! | `time`, `version` | points in time as options; the version |
#![forbid(unsafe_code)]

mod args;
mod audit;
mod call;
mod command_groups;
mod dkim;
mod dnssec;
mod engines;
mod error;
mod hsm_process;
mod key_path;
mod key_records;
mod keys;
mod laboratory;
mod load;
mod manual;
mod milter;
mod named_values;
mod proxy;
mod records;
mod runtime;
mod serve;
mod sockets;
mod time;
mod token;
mod version;

use std::process::ExitCode;

use oarlock_measure::speed;
use oarlock_terminal::{Failure, usage};

use crate::args::{CliCommand, EFFECTS, OarlockCli};

fn main() -> ExitCode {
    let cli = match usage::parse::<OarlockCli>(EFFECTS) {
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
        CliCommand::Records(args) => Ok(records::run(global, args)?),
        CliCommand::Serve(args) => serve::run(global, args).map_err(Failure::in_command("serve")),
        CliCommand::HsmProcess => hsm_process::run().map_err(Failure::in_command("hsm-process")),
        CliCommand::Milter(args) => milter::run(global, args).map_err(Failure::in_command("milter")),
        CliCommand::Proxy(args) => proxy::run(global, args).map_err(Failure::in_command("proxy")),
        CliCommand::Call(args) => call::run(global, args).map_err(Failure::in_command("call")),
        CliCommand::Audit(args) => audit::run(global, args).map_err(Failure::in_command("audit")),
        CliCommand::Load(args) => load::run(global, args),
        CliCommand::Sockets(args) => sockets::run(global, args),
        CliCommand::Dkim(args) => dkim::run(global, args).map_err(Failure::in_command("dkim")),
        CliCommand::Dnssec(args) => dnssec::run(global, args).map_err(Failure::in_command("dnssec")),
        CliCommand::Completions(args) => Ok(manual::completions(args)?),
        CliCommand::Man(args) => Ok(manual::pages(args)?),
        CliCommand::Keys(args) => keys::run(global, args).map_err(Failure::in_command("keys")),
        CliCommand::Token(args) => token::run(global, args).map_err(Failure::in_command("token")),
        CliCommand::Latency(_) => Err(laboratory::hand_over("latency").into()),
        CliCommand::Ladder(_) => Err(laboratory::hand_over("ladder").into()),
        CliCommand::Bench(_) => Err(laboratory::hand_over("bench").into()),
    }
}
