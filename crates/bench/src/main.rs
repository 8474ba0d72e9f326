//! `oarlock-bench`: exit code 0 where everything was measured, 1 where answers were missing or wrong, 2 for wrong usage, 3 where
//! the machine failed.
//!
//! | module | what it holds |
//! |---|---|
//! | `siege` | an honest client of the cryptoserver beside attackers |
//! | `tls_head` | a TLS server answers HEAD, its private operations done here or elsewhere |
//! | `process` | parts of a measurement in processes of their own, on cores of their own |
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

/// Measures Oarlock inside other people's programs.
#[derive(Parser)]
#[command(name = "oarlock-bench", version, arg_required_else_help = true)]
struct Cli {
    /// Print JSON on stdout and nothing else there
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// TLS connections a second that one core takes up: RSA-2048, no resumption, HEAD answered with 107 bytes
    TlsHead(TlsHeadArgs),
    /// Measures how long an honest client of the cryptoserver waits while others attack, and how much memory they can make it use
    Siege(SiegeArgs),
    #[command(name = tls_head::server::ROLE, hide = true)]
    HeadServer(HeadServerArgs),
    #[command(name = tls_head::cryptoserver::ROLE, hide = true)]
    Cryptoserver(CryptoserverArgs),
    #[command(name = siege::server::ROLE, hide = true)]
    Besieged(BesiegedArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oarlock-bench: {error}");
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn run(cli: &Cli) -> Result<(), Box<dyn CommandError>> {
    match &cli.command {
        BenchCommand::TlsHead(args) => tls_head::run(args, cli.json)?,
        BenchCommand::Siege(args) => siege::run(args, cli.json)?,
        BenchCommand::HeadServer(args) => tls_head::server::run(args)?,
        BenchCommand::Cryptoserver(args) => tls_head::cryptoserver::run(args)?,
        BenchCommand::Besieged(args) => siege::server::run(args)?,
    }
    Ok(())
}
