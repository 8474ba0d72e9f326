//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use oarlock_measure::speed::SpeedArgs;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::usage::{ALL_CORES, CommandEffect};

use crate::audit::AuditArgs;
use crate::call::CallArgs;
use crate::dkim::DkimArgs;
use crate::dnssec::DnssecArgs;
use crate::keys::KeysArgs;
use crate::laboratory::LaboratoryCommand;
use crate::load::LoadCommand;
use crate::milter::MilterArgs;
use crate::proxy::ProxyArgs;
use crate::records::RecordsArgs;
use crate::serve::ServeArgs;
use crate::sockets::SocketsArgs;
use crate::token::TokenArgs;
use crate::version::{LONG_VERSION, VERSION};

/// Commands in which `--engines` has an effect.
pub(crate) const EFFECTS: &[CommandEffect] = &[
    ("engines", None),
    ("speed", Some("1")),
    ("records encrypt", Some(ALL_CORES)),
    ("records decrypt", Some(ALL_CORES)),
    ("records translate", Some(ALL_CORES)),
    ("records mac", Some(ALL_CORES)),
    ("serve", Some("engines.threads of the configuration, else as many as there are cores")),
    ("milter", Some(ALL_CORES)),
    ("proxy", Some(ALL_CORES)),
    ("load", None),
    ("dkim sign", Some(ALL_CORES)),
    ("dkim verify", Some(ALL_CORES)),
    ("dnssec sign", Some(ALL_CORES)),
    ("dnssec verify", Some(ALL_CORES)),
    ("dnssec ds", None),
    ("dnssec capacity", None),
];

/// Cryptographic acceleration for network services: signs, verifies and encrypts for many connections at once.
///
/// Oarlock gathers the operations of many connections and computes them together on the best engine of the machine. It
/// serves keys to nginx, HAProxy and other programs, filters mail for Postfix (DKIM, ARC), signs and verifies zones
/// (DNSSEC), and encrypts columns of files.
#[derive(Debug, Parser)]
#[command(name = "oarlock", version = VERSION, long_version = LONG_VERSION.as_str(), propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "First steps:\n  \
                        oarlock engines                  the engines of this machine\n  \
                        oarlock speed --op rsa2048-sign  their rate beside OpenSSL, in some seconds\n  \
                        oarlock serve                    a server with sample keys; it prints commands to try\n\
                        `oarlock COMMAND --help` describes a command, and ends with examples. Commands of the laboratory need\n\
                        oarlock-lab beside this program, which \"make lab\" builds in a checkout of Oarlock.\n\n\
                        Exit codes: 0 done, 1 the answer is no, 2 wrong usage or input, 3 the machine or a peer failed.\n\
                        OARLOCK_DISABLE=NAME,... turns engines off; the scalar engine always stays as referee.")]
pub(crate) struct OarlockCli {
    #[command(flatten)]
    pub(crate) global: GlobalOptions,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Print the engines of this machine, their self tests, and the cost of each kind of operation
    #[command(after_help = "Examples: oarlock engines\n          \
                      OARLOCK_DISABLE=lanes oarlock engines")]
    Engines,
    /// Measure the operations per second of each engine, beside OpenSSL in the same run
    Speed(SpeedArgs),
    /// Encrypt, decrypt, translate or authenticate columns of CSV, NDJSON and Arrow files
    Records(Box<RecordsArgs>),
    /// Run a server that computes with its keys and engines for other programs and machines
    Serve(ServeArgs),
    /// Run a mail filter (milter) for Postfix or sendmail, which signs and verifies DKIM and ARC
    Milter(MilterArgs),
    /// Run a TLS-terminating proxy in front of a TCP service
    Proxy(ProxyArgs),
    /// Use a key of a running `oarlock serve`: sign, verify, encrypt, decrypt, derive, mac; list keys and engines
    Call(Box<CallArgs>),
    /// Verify the audit log of `oarlock serve`
    Audit(AuditArgs),
    /// Measure a running `oarlock serve` under the load of many clients
    Load(Box<LoadCommand>),
    /// Show whether the kernel seals TLS records, and measure what that saves beside user space and devices
    Sockets(SocketsArgs),
    /// Sign and verify mail files (DKIM), make keys and their DNS records, check records
    Dkim(DkimArgs),
    /// Verify and sign zone files (DNSSEC), make zone keys and DS records, and estimate the load of a resolver
    Dnssec(DnssecArgs),
    /// Generate, import, list, show and split keys
    Keys(Box<KeysArgs>),
    /// Make token files for the PKCS#11 module, list and fill them, change PINs
    Token(Box<TokenArgs>),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
    /// Write a manual page for each command
    Man(ManArgs),
    /// Measure median and tail latency under load, beside other rules of batching (laboratory)
    Latency(LaboratoryCommand),
    /// Repeat the experiments of a paper on batches of short DES operations, step by step (laboratory)
    Ladder(LaboratoryCommand),
    /// Measure nginx, HAProxy and mail filters with and without Oarlock, side by side in one run (laboratory)
    Bench(LaboratoryCommand),
}

/// Arguments of `oarlock completions`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples: oarlock completions bash > ~/.local/share/bash-completion/completions/oarlock\n          \
                  oarlock completions zsh > \"${fpath[1]}/_oarlock\"\n          \
                  oarlock completions fish > ~/.config/fish/completions/oarlock.fish"
)]
pub(crate) struct CompletionsArgs {
    /// Shell that reads the completions
    pub(crate) shell: Shell,
}

/// Arguments of `oarlock man`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: oarlock man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Directory for the pages. It is created if it does not exist
    pub(crate) directory: PathBuf,
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
