//! `oarlock dnssec bench` and `zonegen`.
//!
//! | module | what it holds |
//! |---|---|
//! | `bench` | whole zones, beside the programs of others |
//! | `zonegen` | zones of made-up delegations |

pub(crate) mod bench;
mod zonegen;

use clap::{Args, Subcommand};
use oarlock_terminal::{Failure, GlobalOptions};

use self::bench::ZoneBenchArgs;
use self::zonegen::ZonegenArgs;

/// Arguments of `oarlock-lab dnssec`.
#[derive(Debug, Args)]
pub(crate) struct DnssecLabArgs {
    #[command(subcommand)]
    command: DnssecLabCommand,
}

#[derive(Debug, Subcommand)]
enum DnssecLabCommand {
    /// Measure how fast each engine and other programs verify, sign and read zones
    Bench(ZoneBenchArgs),
    /// Write a synthetic zone of delegations, like a top-level domain, for measurements
    Zonegen(ZonegenArgs),
}

/// Runs the command.
///
/// # Errors
/// Those of the command.
pub(crate) fn run(global: &GlobalOptions, args: &DnssecLabArgs) -> Result<(), Failure> {
    match &args.command {
        DnssecLabCommand::Bench(args) => bench::run(global, args).map_err(Failure::in_command("dnssec")),
        DnssecLabCommand::Zonegen(args) => zonegen::run(global, args).map_err(Failure::in_command("dnssec")),
    }
}
