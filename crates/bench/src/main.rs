//! `oarlock-bench`: exit code 0 if everything was measured, 1 if answers were missing or wrong, 2 for wrong usage, 3 if
//! the machine failed.
//!
//! | module | content |
//! |---|---|
//! | `siege` | an honest client of the cryptoserver beside attackers |
//! | `tls_head` | a TLS server answers HEAD; its private operations are computed in the process or elsewhere |
//! | `process` | processes of a measurement, each on a core of its own |
#![forbid(unsafe_code)]

mod process;
mod siege;
mod tls_head;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use oarlock_measure::CommandError;

use self::siege::SiegeArgs;
use self::siege::server::BesiegedArgs;
use self::tls_head::TlsHeadArgs;
use self::tls_head::cryptoserver::CryptoserverArgs;
use self::tls_head::server::HeadServerArgs;

/// Measures Oarlock inside programs of others.
#[derive(Parser)]
#[command(name = "oarlock-bench", version, arg_required_else_help = true)]
struct BenchCli {
    /// Print one JSON document on stdout and nothing else
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: BenchCliCommand,
}

#[derive(Subcommand)]
enum BenchCliCommand {
    /// Measure new TLS connections per second of one core: RSA-2048, no resumption, HEAD answered with 107 bytes
    TlsHead(TlsHeadArgs),
    /// Measure the latency of an honest client of the cryptoserver while others attack, and the memory that they make
    /// it use
    Siege(SiegeArgs),
    #[command(name = tls_head::server::ROLE, hide = true)]
    HeadServer(HeadServerArgs),
    #[command(name = tls_head::cryptoserver::ROLE, hide = true)]
    Cryptoserver(CryptoserverArgs),
    #[command(name = siege::server::ROLE, hide = true)]
    Besieged(BesiegedArgs),
}

fn main() -> ExitCode {
    let cli = BenchCli::parse();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oarlock-bench: {error}");
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn run(cli: &BenchCli) -> Result<(), Box<dyn CommandError>> {
    match &cli.command {
        BenchCliCommand::TlsHead(args) => tls_head::run(args, cli.json)?,
        BenchCliCommand::Siege(args) => siege::run(args, cli.json)?,
        BenchCliCommand::HeadServer(args) => tls_head::server::run(args)?,
        BenchCliCommand::Cryptoserver(args) => tls_head::cryptoserver::run(args)?,
        BenchCliCommand::Besieged(args) => siege::server::run(args)?,
    }
    Ok(())
}
