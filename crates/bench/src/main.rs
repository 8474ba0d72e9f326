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

use self::siege::server::BesiegedArgs;
use self::siege::{SiegeArgs, SiegeError};
use self::tls_head::cryptoserver::CryptoserverArgs;
use self::tls_head::server::ServerArgs;
use self::tls_head::{HeadError, TlsHeadArgs};

/// Measures Oarlock inside other people's programs.
#[derive(Parser)]
#[command(name = "oarlock-bench", version, arg_required_else_help = true)]
struct Cli {
    /// Print JSON on stdout and nothing else there
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// TLS connections a second that one core takes up: RSA-2048, no resumption, HEAD answered with 107 bytes
    TlsHead(TlsHeadArgs),
    /// Measures how long an honest client of the cryptoserver waits while others attack, and how much memory they can make it use
    Siege(SiegeArgs),
    #[command(name = tls_head::server::ROLE, hide = true)]
    HeadServer(ServerArgs),
    #[command(name = tls_head::cryptoserver::ROLE, hide = true)]
    Cryptoserver(CryptoserverArgs),
    #[command(name = siege::server::ROLE, hide = true)]
    Besieged(BesiegedArgs),
}

/// The reason why a benchmark failed.
#[derive(Debug, thiserror::Error)]
enum BenchError {
    #[error(transparent)]
    Head(#[from] HeadError),
    #[error(transparent)]
    Siege(#[from] SiegeError),
}

impl BenchError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Head(HeadError::Errors { .. }) | Self::Siege(SiegeError::Hurt(_)) => 1,
            Self::Head(HeadError::Usage(_)) | Self::Siege(SiegeError::Usage(_)) => 2,
            _ => 3,
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oarlock-bench: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(cli: &Cli) -> Result<(), BenchError> {
    match &cli.command {
        Command::TlsHead(args) => tls_head::run(args, cli.json)?,
        Command::Siege(args) => siege::run(args, cli.json)?,
        Command::HeadServer(args) => tls_head::server::run(args)?,
        Command::Cryptoserver(args) => tls_head::cryptoserver::run(args)?,
        Command::Besieged(args) => siege::server::run(args)?,
    }
    Ok(())
}
