//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use oarlock_measure::speed::SpeedArgs;
use oarlock_terminal::GlobalOptions;
use oarlock_terminal::usage::{ALL_CORES, CommandEffect};

use crate::audit::AuditArgs;
use crate::call::CallArgs;
use crate::command_groups::help_template;
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
    ("dnssec ksr sign", None),
    ("dnssec capacity", None),
];

/// Cryptographic acceleration for network services: signs, verifies and encrypts for many connections at once.
///
/// Oarlock gathers the operations of many connections and computes them together on the best engine of the machine. It
/// serves keys to nginx, HAProxy and other programs, filters mail for Postfix (DKIM, ARC), signs and verifies zones
/// (DNSSEC), and encrypts columns of files.
#[derive(Debug, Parser)]
#[command(name = "oarlock", version = VERSION, long_version = LONG_VERSION.as_str(), propagate_version = true, arg_required_else_help = true)]
#[command(help_template = help_template::<CliCommand>())]
#[command(after_help = "First steps:\n  \
                        oarlock engines                  the engines of this machine\n  \
                        oarlock speed --op rsa2048-sign  their rate beside OpenSSL and AWS-LC, in some seconds\n  \
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
    /// List the engines of this machine, their self tests and costs
    #[command(after_help = "Examples: oarlock engines\n          \
                      OARLOCK_DISABLE=lanes oarlock engines")]
    Engines,
    /// Measure operations per second beside OpenSSL and AWS-LC
    Speed(SpeedArgs),
    /// Encrypt, tokenise or authenticate columns of CSV, NDJSON, Arrow
    ///
    /// Encrypts, decrypts, translates, tokenises or authenticates a column of a CSV, NDJSON or Arrow file. The other
    /// columns stay as they are.
    Records(Box<RecordsArgs>),
    /// Run the cryptoserver: keys and engines for other programs
    Serve(ServeArgs),
    /// Serve one HSM on stdin and a private socket, for the service that starts this process
    #[command(hide = true)]
    HsmProcess,
    /// Run the mail filter for Postfix and Sendmail: DKIM and ARC
    Milter(MilterArgs),
    /// Run the TLS proxy in front of a TCP service
    Proxy(ProxyArgs),
    /// Use the keys of a cryptoserver: sign, decrypt, encrypt, mac
    ///
    /// Calls a running `oarlock serve`: signs, verifies, encrypts, decrypts, derives and authenticates with its keys,
    /// and lists its keys and engines.
    Call(Box<CallArgs>),
    /// Verify the audit log of a cryptoserver
    Audit(AuditArgs),
    /// Measure a cryptoserver under the load of many clients
    Load(Box<LoadCommand>),
    /// Show which TLS records the kernel seals, and what they cost
    Sockets(SocketsArgs),
    /// Sign and verify mail (DKIM), make keys and DNS records
    ///
    /// Signs and verifies messages in files, mboxes and Maildirs, makes keys and their DNS records, compares records
    /// with keys, and imports the settings of OpenDKIM.
    Dkim(DkimArgs),
    /// Verify and sign zones (DNSSEC), make keys, plan a resolver
    ///
    /// Verifies and signs zone files, makes keys of zones and DS records, and answers whether this machine can verify
    /// the signatures of the traffic of a resolver.
    Dnssec(DnssecArgs),
    /// Make, import, list, show, rotate, seal, unseal and split keys
    Keys(Box<KeysArgs>),
    /// Make token files for PKCS#11, fill and list them, change PINs
    Token(Box<TokenArgs>),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
    /// Write a manual page for each command
    Man(ManArgs),
    /// Measure latency under load, beside other rules (laboratory)
    Latency(LaboratoryCommand),
    /// Repeat a paper's experiments on short DES (laboratory)
    Ladder(LaboratoryCommand),
    /// Compare servers, proxies, filters, resolvers (laboratory)
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
