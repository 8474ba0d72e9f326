//! `oarlock sockets`.

use clap::{Args, Subcommand};
use oarlock_measure::sockets::probe;
use oarlock_terminal::{Failure, GlobalOptions};

use crate::laboratory::{self, LaboratoryCommand};

/// Arguments of `oarlock sockets`.
#[derive(Args, Debug)]
pub(crate) struct SocketsArgs {
    #[command(subcommand)]
    command: SocketsCommand,
}

#[derive(Debug, Subcommand)]
enum SocketsCommand {
    /// Print which TLS records this kernel seals and opens, why not, and which way is faster here
    #[command(after_help = "Exit code 0 also if the kernel has no TLS: the table then says why.")]
    Probe,
    /// Send a file sealed in four ways, and count the system calls and bytes between user space and kernel (laboratory)
    Bench(LaboratoryCommand),
}

/// Runs the command.
///
/// # Errors
/// A machine that cannot connect to itself, or an absent laboratory.
pub(crate) fn run(global: &GlobalOptions, args: &SocketsArgs) -> Result<(), Failure> {
    let failed = Failure::in_command("sockets");
    match &args.command {
        SocketsCommand::Probe => probe::run(global).map_err(failed),
        SocketsCommand::Bench(_) => Err(Failure::in_command("sockets")(laboratory::hand_over("bench"))),
    }
}
