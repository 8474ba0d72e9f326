//! The arguments of `oarlock dnssec capacity`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use oarlock_capacity::capture::ResolverSide;
use oarlock_capacity::{CpuBudget, OVERHEAD_US};

use super::machine::MeasuredAlgorithm;

/// Arguments of `oarlock dnssec capacity`.
#[derive(Debug, Args)]
pub struct CapacityArgs {
    #[command(flatten)]
    pub(super) traffic: TrafficArgs,
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) machine: MachineArgs,
    #[command(flatten)]
    pub(super) budget: BudgetArgs,
    #[command(flatten)]
    pub(super) plots: PlotArgs,
}

/// The load.
#[derive(Debug, Args)]
#[command(next_help_heading = "Traffic")]
pub(super) struct TrafficArgs {
    /// Captures (pcap, pcapng), dnstap files, or logs of queries (BIND, Unbound, dnsmasq, or a time at the front of
    /// each line); gzip, xz and zstd are recognised; `-` is standard input
    #[arg(value_name = "INPUT")]
    pub(super) input: Vec<PathBuf>,
    /// Take dnstap from this UNIX socket until SIGINT, SIGTERM or --for; only counters are kept
    #[arg(long, value_name = "PATH")]
    pub(super) dnstap_socket: Option<PathBuf>,
    /// Seconds to listen, up to a year [default: until a signal]
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds, requires = "dnstap_socket")]
    pub(super) listen_for: Option<Duration>,
    /// Transport to count in captures. A query that is repeated over TCP counts once
    #[arg(long, value_enum, default_value_t = TransportFilter::Udp)]
    pub(super) transport: TransportFilter,
    /// Side of the resolver to count in dnstap
    #[arg(long, value_enum, default_value_t = SideFilter::All)]
    pub(super) side: SideFilter,
}

/// The transports of a capture that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TransportFilter {
    /// UDP alone
    Udp,
    /// TCP alone
    Tcp,
    /// Both
    All,
}

impl TransportFilter {
    pub(super) fn takes(self, is_tcp: bool) -> bool {
        match self {
            Self::Udp => !is_tcp,
            Self::Tcp => is_tcp,
            Self::All => true,
        }
    }
}

/// A side of a resolver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SideFilter {
    /// Every side
    All,
    /// Between clients and their resolver
    Client,
    /// Between a resolver and the servers that it asks: the model's Q
    Upstream,
    /// Between an authoritative server and its clients
    Authoritative,
}

impl SideFilter {
    /// True if a message counts. Messages of an unknown side count too.
    pub(super) fn takes(self, side: Option<ResolverSide>) -> bool {
        match (self, side) {
            (Self::All, _) | (_, None) => true,
            (Self::Client, Some(side)) => side == ResolverSide::Client,
            (Self::Upstream, Some(side)) => side == ResolverSide::Upstream,
            (Self::Authoritative, Some(side)) => side == ResolverSide::Authoritative,
        }
    }
}

/// The model S_v = a Q + b, with a = a_v s a_s r.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model: S_v = a Q + b, a = a_v s a_s r")]
pub(super) struct ModelArgs {
    /// Q: queries in the busiest second [default: of the traffic]
    #[arg(long, value_name = "Q", value_parser = not_negative)]
    pub(super) queries_per_second: Option<f64>,
    /// r: responses per query [default: of the traffic]
    #[arg(long, value_name = "NUMBER", value_parser = not_negative)]
    pub(super) r: Option<f64>,
    /// a_s: the share of responses that are signed [default: of the traffic]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(super) a_s: Option<f64>,
    /// s: signatures per signed response [default: of the traffic]
    #[arg(long, value_name = "NUMBER", value_parser = not_negative)]
    pub(super) s: Option<f64>,
    /// a_v: the share of signatures that are verified [default: of a cache simulated with the traffic]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(super) a_v: Option<f64>,
    /// b: signatures per second that do not depend on queries [default: of the lines through the traffic]
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_hyphen_values = true)]
    pub(super) b: Option<f64>,
    /// Use the paper's worst case for every parameter that is not set: r = 1, a_s = 1, s = 3, a_v = 1, b = 0
    #[arg(long)]
    pub(super) worst_case: bool,
    /// Seconds of an interval that lines are drawn through [default: 1 for up to ten minutes of traffic, else 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(super) interval: Option<u64>,
}

/// The machine.
#[derive(Debug, Args)]
#[command(next_help_heading = "Machine")]
pub(super) struct MachineArgs {
    /// Algorithms, separated by commas [default: all]
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    pub(super) algorithms: Vec<MeasuredAlgorithm>,
    /// Number of independent runs, 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) runs: u32,
    /// Seconds of CPU time of each run
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(super) run_seconds: Duration,
    /// Measure as the paper did: 100 runs of 10 seconds
    #[arg(long, conflicts_with_all = ["runs", "run_seconds"])]
    pub(super) paper: bool,
    /// libcrypto of OpenSSL 3.0 or later to measure beside; repeatable [default: the system's]
    #[arg(long, value_name = "PATH")]
    pub(super) libcrypto: Vec<PathBuf>,
    /// Keep the rates in this file
    #[arg(long, value_name = "MACHINE.json")]
    pub(super) save: Option<PathBuf>,
    /// Use the rates in this file, and measure nothing
    #[arg(long, value_name = "MACHINE.json", conflicts_with_all = ["runs", "run_seconds", "paper", "libcrypto", "save"])]
    pub(super) machine: Option<PathBuf>,
    /// Print this machine's rates as multiples of those in this file
    #[arg(long, value_name = "MACHINE.json")]
    pub(super) against: Option<PathBuf>,
}

impl MachineArgs {
    /// Returns the number of runs and the length of each.
    pub(super) fn plan(&self) -> (u32, Duration) {
        if self.paper { (100, Duration::from_secs(10)) } else { (self.runs, self.run_seconds) }
    }
}

/// The CPU time that validation may use.
#[derive(Debug, Args)]
#[command(next_help_heading = "Budget")]
pub(super) struct BudgetArgs {
    /// The share of a core's time that validation may take
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = positive_share)]
    pub(super) cpu_share: f64,
    /// Number of cores that validate, 1 to 4096
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(super) cores: u16,
    /// Microseconds of CPU that a validation costs beyond the bare verification [default: 37, from Unbound 1.17, in
    /// which a query that misses the cache costs 104 with P-256 and 27 without validation, about 40 of the difference
    /// being cryptography]
    #[arg(long, value_name = "MICROSECONDS", default_value_t = OVERHEAD_US, hide_default_value = true, value_parser = not_negative)]
    pub(super) overhead_us: f64,
    /// Take these microseconds from the JSON document of `oarlock bench resolver`, as it measured them with OpenSSL's
    /// default provider
    #[arg(long, value_name = "RESOLVER.json", conflicts_with = "overhead_us")]
    pub(super) overhead_from: Option<PathBuf>,
    /// Row of that document, such as unbound-p256 or bind-rsa2048 [default: the first]
    #[arg(long, value_name = "NAME", requires = "overhead_from")]
    pub(super) overhead_row: Option<String>,
}

impl BudgetArgs {
    /// Returns the budget with this overhead of a validation.
    pub(super) fn budget(&self, overhead_us: f64) -> CpuBudget {
        CpuBudget { cores: self.cores.into(), cpu_share: self.cpu_share, overhead_us }
    }
}

/// Pictures.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(super) struct PlotArgs {
    /// Draw queries per second over time
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot_queries: Option<PathBuf>,
    /// Draw demand against capacity
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
}

impl CapacityArgs {
    /// Returns the files that will be written.
    pub(super) fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.machine.save, &self.plots.plot, &self.plots.plot_queries].into_iter().flatten()
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("expected a number".into()),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text).ok().filter(|number| *number >= 0.0).ok_or_else(|| "expected a number of 0 or more".into())
}

fn share(text: &str) -> Result<f64, String> {
    let share = number(text).ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".into())
}

fn positive_share(text: &str) -> Result<f64, String> {
    share(text).ok().filter(|share| *share > 0.0).ok_or_else(|| "expected a number above 0, at most 1".into())
}

/// A day is what a live socket is for; a run may be a hundredth of a second.
fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 31e6 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number of seconds above 0, at most a year".into()),
    }
}
