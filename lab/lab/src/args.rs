//! The command line. `oarlock` passes its own arguments on, so each command has the words that it has there.

use clap::{Parser, Subcommand};
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::usage::{ALL_CORES, CommandEffect};

use crate::bench::BenchArgs;
use crate::bench::rustls_server::{self, RustlsServerArgs};
use crate::cryptoserver::{self, CryptoserverArgs};
use crate::dkim::DkimLabArgs;
use crate::dnssec::DnssecLabArgs;
use crate::ladder::LadderArgs;
use crate::latency::LatencyArgs;
use crate::siege::SiegeArgs;
use crate::sockets::SocketsLabArgs;
use crate::tls_head::TlsHeadArgs;
use crate::tls_head::server::{self as head, HeadServerArgs};

/// The version with the commit, which `oarlock` compares with its own.
const VERSION: &str = env!("OARLOCK_VERSION");

/// Commands in which `--engines` has an effect.
pub(crate) const EFFECTS: &[CommandEffect] = &[
    ("latency", Some("one for each core but one; with --saturation one for each")),
    ("ladder", None),
    ("bench tls", Some("1 in the provider; the cryptoserver's own beside it")),
    ("bench reloads", Some("1 in the provider; the cryptoserver's own beside it")),
    ("bench milter", Some("the filter's own")),
    ("bench resolver", Some("1 in the provider")),
    ("sockets bench", None),
    ("dkim sign", None),
    ("dkim verify", None),
    ("dkim bench", None),
    ("dnssec bench", Some(ALL_CORES)),
];

/// The laboratory of Oarlock: repeats experiments of papers, and measures Oarlock beside and inside other programs.
#[derive(Debug, Parser)]
#[command(name = "oarlock-lab", version = VERSION, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "The program `oarlock` must stand in the same directory: some commands start it.\n\
                        Exit codes: 0 done, 1 the answer is no, 2 wrong usage or input, 3 the machine or a peer failed.")]
pub(crate) struct OarlockLabCli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Measure median and tail latency under load, for the dispatcher's rule and the rules that it replaces
    Latency(LatencyArgs),
    /// Repeat the experiments of a paper on batches of short DES operations, step by step
    Ladder(LadderArgs),
    /// Measure nginx, HAProxy and mail filters with and without Oarlock, side by side in one run
    Bench(BenchArgs),
    /// Measure what TLS records of the kernel save beside user space and devices
    Sockets(SocketsLabArgs),
    /// Measure messages signed and verified, engine by engine
    Dkim(DkimLabArgs),
    /// Make zones, and measure how fast they are verified, signed and read
    Dnssec(DnssecLabArgs),
    /// Measure the latency of an honest client of the cryptoserver while others attack, and the memory that they make
    /// it use
    Siege(SiegeArgs),
    /// Measure new TLS connections per second of one core: RSA-2048, no resumption, HEAD answered with 107 bytes
    TlsHead(TlsHeadArgs),
    #[command(name = head::ROLE, hide = true)]
    HeadServer(HeadServerArgs),
    #[command(name = rustls_server::ROLE, hide = true)]
    RustlsServer(RustlsServerArgs),
    #[command(name = cryptoserver::ROLE, hide = true)]
    Cryptoserver(CryptoserverArgs),
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
