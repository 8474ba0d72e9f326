//! The one binary of Oarlock: arguments, progress, tables and exit codes around the hall.
//!
//! | module | what it holds |
//! |---|---|
//! | `args`, `exit` | the command line; how a command ends |
//! | `engines`, `speed`, `latency`, `records`, `ladder`, `serve`, `milter`, `call`, `load`, `bench`, `keys`, `dkim`, `dnssec` | the commands |
//! | `service_manager` | what services tell systemd |
//! | `key_records` | who knows the keys of mail |
//! | `operation` | operation names, and public-key work for them |
//! | `cores` | servers on one core, load on the others |
//! | `peer` | OpenSSL, loaded at run time |
//! | `manual` | completions of shells, manual pages |
//! | `table`, `plot`, `progress` | text tables, SVG pictures, how far long work is |
//! | `terminal`, `usage` | colours and width of the terminal; help and mistakes of usage |
#![deny(unsafe_code)]

mod args;
mod bench;
mod call;
mod cores;
mod dkim;
mod dnssec;
mod draft_file;
mod engines;
mod exit;
mod key_path;
mod key_records;
mod keys;
mod ladder;
mod latency;
mod load;
mod manual;
mod milter;
mod operation;
mod peer;
mod plot;
mod progress;
mod records;
mod serve;
mod service_manager;
mod speed;
mod table;
mod terminal;
mod time;
mod usage;

use std::process::ExitCode;

use crate::args::{Cli, Command};
use crate::exit::Failure;

fn main() -> ExitCode {
    let cli = match usage::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Stdout(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("oarlock: {failure}");
            failure.exit_code()
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Engines => engines::run(&cli.global),
        Command::Speed(args) => speed::run(&cli.global, args),
        Command::Latency(args) => latency::run(&cli.global, args).map_err(|error| match error {
            latency::LatencyError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Records(args) => records::run(&cli.global, args).map_err(|error| match error {
            records::RecordsError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Ladder(args) => ladder::run(&cli.global, args).map_err(|error| match error {
            ladder::LadderError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Serve(args) => serve::run(&cli.global, args).map_err(|error| match error {
            serve::ServeError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Milter(args) => milter::run(&cli.global, args).map_err(|error| match error {
            milter::MilterError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Call(args) => call::run(&cli.global, args).map_err(|error| match error {
            call::CallError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Load(args) => load::run(&cli.global, args).map_err(|error| match error {
            load::LoadError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Bench(args) => bench::run(&cli.global, args).map_err(|error| match error {
            bench::BenchError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Dkim(args) => dkim::run(&cli.global, args).map_err(|error| match error {
            dkim::DkimError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Dnssec(args) => dnssec::run(&cli.global, args).map_err(|error| match error {
            dnssec::DnssecError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
        Command::Completions(args) => Ok(manual::completions(args)?),
        Command::Man(args) => manual::pages(args),
        Command::Keys(args) => keys::run(&cli.global, args).map_err(|error| match error {
            keys::KeysError::Stdout(error) => Failure::Stdout(error),
            error => Failure::from(error),
        }),
    }
}
