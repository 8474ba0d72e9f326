//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use oarlock::{Accelerator, AcceleratorBuilder};

use crate::bench::BenchArgs;
use crate::call::CallArgs;
use crate::dkim::DkimArgs;
use crate::dnssec::DnssecArgs;
use crate::keys::KeysArgs;
use crate::ladder::LadderArgs;
use crate::latency::LatencyArgs;
use crate::load::LoadArgs;
use crate::manual::{CompletionsArgs, ManArgs};
use crate::milter::MilterArgs;
use crate::records::RecordsArgs;
use crate::serve::ServeArgs;
use crate::speed::SpeedArgs;

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
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The heading of the options that every command takes.
pub(crate) const GLOBAL_OPTIONS: &str = "Global options";

/// Options of every command, before it or after it. `help` hides those that have no effect in a command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = GLOBAL_OPTIONS)]
pub(crate) struct Global {
    /// Only these engines, separated by commas (see `oarlock engines`)
    #[arg(long, global = true, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) engines: Option<Vec<String>>,
    /// Threads to work with; each command's help states its default
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) threads: Option<u16>,
    /// Print one JSON document in one line on stdout, and nothing else there; of many mails each result has its line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Colour tables, errors and the log
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub(crate) color: ColorChoice,
    /// Say more on stderr
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Into files and pipes too
    Always,
    /// Nowhere
    Never,
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
    Load(Box<LoadArgs>),
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

impl Global {
    /// An accelerator's builder with the options that concern it.
    pub(crate) fn builder(&self) -> AcceleratorBuilder {
        let builder = Accelerator::builder().environment(true).cost_cache(oarlock::default_cost_cache());
        let builder = match &self.engines {
            Some(names) => builder.engines(names.iter().map(|name| name.trim())),
            None => builder,
        };
        match self.threads {
            Some(threads) => builder.threads(usize::from(threads)),
            None => builder,
        }
    }

    /// The names that `--engines` gives.
    pub(crate) fn engine_names(&self) -> Option<Vec<String>> {
        self.engines.as_ref().map(|names| names.iter().map(|name| name.trim().to_owned()).collect())
    }

    /// Threads for bulk work: as many as were asked for, else as many as there are cores.
    pub(crate) fn bulk_threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, usize::from)
    }

    /// The engines to measure one by one: those of `all` that are allowed, or where none of them is here, the scalar one that
    /// does their work.
    pub(crate) fn measured(&self, all: &Accelerator) -> Vec<&'static str> {
        let is_wanted = |name: &&str| {
            self.engines.as_ref().is_none_or(|wanted| wanted.iter().any(|own| own.trim() == *name))
        };
        let wanted: Vec<&'static str> =
            all.engines().iter().map(|engine| engine.name).filter(is_wanted).collect();
        if wanted.is_empty() { vec!["scalar"] } else { wanted }
    }

    /// Says on stderr which engines are absent, and why.
    pub(crate) fn tell_absent(&self, accelerator: &Accelerator) {
        for absent in accelerator.absent() {
            eprintln!("oarlock: {}: {}; the scalar engine does its work", absent.name, absent.reason);
        }
    }

    /// Says something on stderr where `--verbose` asks for it.
    pub(crate) fn note(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            eprintln!("oarlock: {}", text());
        }
    }
}

/// A file to be written at the end: refused at the start where it cannot be made.
pub(crate) fn check_writable(path: &PathBuf) -> std::io::Result<()> {
    std::fs::OpenOptions::new().append(true).create(true).open(path).map(drop)
}
