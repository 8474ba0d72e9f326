//! `oarlock-bench`: exit code 0 where everything was measured, 1 where answers were missing or wrong, 2 for wrong usage, 3 where
//! the machine failed.
//!
//! | module | what it holds |
//! |---|---|
//! | `tls_head` | a TLS server answers HEAD, its private operations done here or elsewhere |
//! | `process` | parts of a measurement in processes of their own, on cores of their own |
#![forbid(unsafe_code)]

mod process;
mod tls_head;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    #[command(name = tls_head::server::ROLE, hide = true)]
    HeadServer(ServerArgs),
    #[command(name = tls_head::cryptoserver::ROLE, hide = true)]
    Cryptoserver(CryptoserverArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match &cli.command {
        Command::TlsHead(args) => tls_head::run(args, cli.json),
        Command::HeadServer(args) => tls_head::server::run(args),
        Command::Cryptoserver(args) => tls_head::cryptoserver::run(args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oarlock-bench: {error}");
            ExitCode::from(match error {
                HeadError::Errors { .. } => 1,
                HeadError::Usage(_) => 2,
                _ => 3,
            })
        }
    }
}
