//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use oarlock_measure::GlobalOptions;
use oarlock_measure::bench::BenchArgs;
use oarlock_measure::ladder::LadderArgs;
use oarlock_measure::latency::LatencyArgs;
use oarlock_measure::speed::SpeedArgs;

use crate::call::CallArgs;
use crate::dkim::DkimArgs;
use crate::dnssec::DnssecArgs;
use crate::keys::KeysArgs;
use crate::load::LoadCommand;
use crate::milter::MilterArgs;
use crate::records::RecordsArgs;
use crate::serve::ServeArgs;

/// The version, with the commit if the build knows it.
pub(crate) const VERSION: &str = env!("OARLOCK_VERSION");

/// Cryptographic acceleration for network services: gathers the operations of many connections and runs them in
/// lockstep on the best unit in reach.
#[derive(Debug, Parser)]
#[command(name = "oarlock", version = VERSION, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 the answer is no, 2 wrong usage or input, 3 the machine or a peer failed.\n\
                        OARLOCK_DISABLE=NAME,... turns engines off; the scalar engine always stays as referee."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What this machine has: engines, self-test verdicts, and the cost model per shape
    Engines,
    /// Operations per second, engine by engine, beside OpenSSL in the same run
    Speed(SpeedArgs),
    /// Median and tail latency against load, for the dispatcher's rule and the rules it replaces
    Latency(LatencyArgs),
    /// Encrypt, decrypt, translate or authenticate columns of CSV and NDJSON files
    Records(Box<RecordsArgs>),
    /// The experiments of the short-DES paper, step by step, on this machine
    Ladder(LadderArgs),
    /// Serve keys and engines to other programs and machines
    Serve(ServeArgs),
    /// Filter an MTA's mail: sign and verify DKIM and ARC
    Milter(MilterArgs),
    /// Call a server: sign, verify, decrypt, derive, seal, open, mac, list keys and engines
    Call(Box<CallArgs>),
    /// What a server does for many clients at once
    Load(Box<LoadCommand>),
    /// Other people's programs with and without Oarlock, side by side in one run
    Bench(BenchArgs),
    /// Sign and verify mail
    Dkim(DkimArgs),
    /// Verify and sign zones, make keys for them, and weigh a resolver's load against this machine
    Dnssec(DnssecArgs),
    /// Make, take in, list and show keys
    Keys(Box<KeysArgs>),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Write a manual page for each command
    Man(ManArgs),
}

/// Arguments of `oarlock completions`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples: oarlock completions bash > ~/.local/share/bash-completion/completions/oarlock\n          \
                  oarlock completions zsh > \"${fpath[1]}/_oarlock\"\n          \
                  oarlock completions fish > ~/.config/fish/completions/oarlock.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Arguments of `oarlock man`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: oarlock man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The directory for the pages; it is made if it is not there
    pub(crate) directory: PathBuf,
}
