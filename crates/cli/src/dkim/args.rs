//! The arguments of `oarlock dkim`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use oarlock_dkim::{Canonicalization, Limits, Policy};
use oarlock_io::mail::{self, MboxQuoting};
use oarlock_measure::dkim::{CompareArgs, MailBenchArgs};

use crate::key_path::{NotAKey, key_path};
use crate::key_records::LookupArgs;
use crate::time::Time;

/// Sign and verify mail
#[derive(Debug, Args)]
pub(crate) struct DkimArgs {
    #[command(subcommand)]
    pub(super) command: DkimCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum DkimCommand {
    /// Put signatures before messages
    #[command(
        after_help = "Exit codes: 0 every message was signed, 1 some were not, 2 wrong usage or input, 3 the machine failed.\n\n\
                            Example: oarlock dkim sign --domain example.com --key s1=s1.example.com.pem --in-place ~/Maildir"
    )]
    Sign(Box<SignArgs>),
    /// Verify the signatures of messages
    #[command(
        after_help = "Exit codes: 0 every message has a signature that passes, 1 some have none, 2 wrong usage or input,\n\
                            3 the machine or DNS failed."
    )]
    Verify(Box<VerifyArgs>),
    /// Make a key, and the record for DNS that goes with it
    Keygen(KeygenArgs),
    /// Print the record for DNS of a key that exists
    #[command(
        after_help = "With --domain and --selector it prints a line for a zone file, else the record alone.\n\n\
                            Example: oarlock dkim dns mail.pem --domain example.com --selector s1"
    )]
    Dns(DnsArgs),
    /// Look a key record up, and compare it with a private key
    #[command(
        after_help = "Exit codes: 0 the record is good, 1 it is not, 2 wrong usage or input, 3 DNS failed."
    )]
    Check(CheckArgs),
    /// Messages signed and verified per second of CPU, engine by engine
    Bench(MailBenchArgs),
}

/// Where messages are.
#[derive(Debug, Args)]
pub(super) struct MailArgs {
    /// Messages, mboxes, Maildirs, directories of these; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Longest message in bytes
    #[arg(long, value_name = "BYTES", default_value_t = mail::MAX_BYTES)]
    pub(super) max_bytes: u64,
    /// Take `>From ` in an mbox as it stands (mboxo), and not as the quoted `From ` of mboxrd
    #[arg(long)]
    pub(super) mboxo: bool,
}

impl MailArgs {
    pub(super) fn options(&self) -> mail::MailOptions {
        let quoting = if self.mboxo { MboxQuoting::Mboxo } else { MboxQuoting::default() };
        mail::MailOptions { quoting, max_bytes: self.max_bytes }
    }
}

#[derive(Debug, Args)]
pub(super) struct SignArgs {
    #[command(flatten)]
    pub(super) mail: MailArgs,
    #[command(flatten)]
    pub(super) compare: CompareArgs,
    /// Who signs: `d=`
    #[arg(long, value_name = "DOMAIN", required_unless_present = "compare")]
    pub(super) domain: Option<String>,
    /// A selector and its private key; several make several signatures
    #[arg(long = "key", required_unless_present = "compare", value_name = "SELECTOR=FILE", value_parser = NotAKey(selector_and_file))]
    pub(super) keys: Vec<(String, PathBuf)>,
    /// Passphrase of encrypted keys
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Forms of header and body: `c=`
    #[arg(long, value_name = "FORM/FORM", default_value = "relaxed/relaxed")]
    pub(super) canonicalization: Canonicalization,
    /// For whom the domain signs, as user@domain or @sub.domain: `i=`
    #[arg(long, value_name = "IDENTITY")]
    pub(super) identity: Option<String>,
    /// For how many seconds signatures hold: `x=`
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) expire: Option<u64>,
    /// Header fields to sign [default: those that RFC 6376 5.4.1 advises]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) headers: Option<Vec<String>>,
    /// Header fields that nobody may add later [default: From, To, Cc, Subject, Date and others that are shown]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) oversign: Option<Vec<String>>,
    /// Sign the body's length too, which lets anybody add to it: `l=`
    #[arg(long)]
    pub(super) body_length: bool,
    /// Copy the signed fields into the signature: `z=`
    #[arg(long)]
    pub(super) copy_fields: bool,
    /// Sign with SHA-1, which no verifier may accept any more: for benchmarks
    #[arg(long)]
    pub(super) sha1: bool,
    /// When signatures are made, for `t=`: YYYYMMDDHHMMSS in UTC, seconds since 1970, or, from now, +60d and -1h [default: now]
    #[arg(long, value_name = "TIME", visible_alias = "now", allow_hyphen_values = true)]
    pub(super) time: Option<Time>,
    /// Write each message back into its own file. A signature of the same domain and selector that a message has is replaced, here
    /// and in every other output
    #[arg(long, conflicts_with = "into")]
    pub(super) in_place: bool,
    /// Write messages into files below this directory [default: one message, or an mbox, to standard output]
    #[arg(long, value_name = "DIR")]
    pub(super) into: Option<PathBuf>,
}

fn selector_and_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((selector, path)) if !selector.is_empty() && !path.is_empty() => {
            Ok((selector.into(), path.into()))
        }
        _ => Err("expected SELECTOR=FILE, as s1=key.pem".into()),
    }
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    pub(super) mail: MailArgs,
    #[command(flatten)]
    pub(super) compare: CompareArgs,
    #[command(flatten)]
    pub(super) lookup: LookupArgs,
    /// Shortest RSA key that is accepted, in bits
    #[arg(long, value_name = "BITS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1024..=4096))]
    pub(super) min_rsa_bits: u32,
    /// Let rsa-sha1 pass, which RFC 8301 forbids
    #[arg(long)]
    pub(super) accept_sha1: bool,
    /// Let signatures pass that leave the end of the body unsigned
    #[arg(long)]
    pub(super) accept_partial_body: bool,
    /// Most signatures of a message that are verified
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(super) max_signatures: usize,
    /// Most key records that are looked up for one message, those of its ARC chain among them
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_lookups)]
    pub(super) max_lookups: usize,
    /// Verify ARC chains, too
    #[arg(long)]
    pub(super) arc: bool,
    /// When signatures must be valid: YYYYMMDDHHMMSS in UTC, seconds since 1970, or, from now, +60d and -1h [default: now]
    #[arg(long, value_name = "TIME", visible_alias = "now", allow_hyphen_values = true)]
    pub(super) time: Option<Time>,
}

impl VerifyArgs {
    pub(super) fn policy(&self) -> Policy {
        let mut policy = Policy {
            min_rsa_bits: self.min_rsa_bits,
            accepts_sha1: self.accept_sha1,
            accepts_partial_body: self.accept_partial_body,
            verifies_chains: self.arc,
            ..Policy::default()
        };
        policy.limits.signatures = self.max_signatures;
        policy.limits.max_lookups = self.max_lookups;
        policy
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum KeyKind {
    /// What every verifier knows
    Rsa,
    /// Short and fast; sign with RSA beside it, since not every verifier knows it
    Ed25519,
}

#[derive(Debug, Args)]
pub(super) struct KeygenArgs {
    /// The domain that will sign
    pub(super) domain: String,
    /// The name of the key, such as a date
    pub(super) selector: String,
    /// Type of the key
    #[arg(long = "type", value_enum, default_value = "rsa")]
    pub(super) kind: KeyKind,
    /// Bits of an RSA key
    #[arg(long, value_name = "BITS", default_value_t = 2048, value_parser = clap::value_parser!(u16).range(1024..=4096))]
    pub(super) bits: u16,
    /// Where the private key goes [default: SELECTOR.DOMAIN.pem]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Encrypt the private key under the passphrase in this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long)]
    pub(super) force: bool,
    /// Say in the record that the domain only tests: `t=y`
    #[arg(long, alias = "test-mode")]
    pub(super) test: bool,
    /// Say in the record that identities are of the domain itself: `t=s`
    #[arg(long)]
    pub(super) strict: bool,
    /// A note in the record: `n=`
    #[arg(long, value_name = "TEXT")]
    pub(super) notes: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct DnsArgs {
    /// A private or public key of RSA or Ed25519, in any format; `-` is standard input
    #[arg(value_name = "KEY-FILE", value_parser = key_path())]
    pub(super) key: PathBuf,
    /// The domain that signs
    #[arg(long, value_name = "DOMAIN", requires = "selector")]
    pub(super) domain: Option<String>,
    /// The name of the key
    #[arg(long, value_name = "SELECTOR", requires = "domain")]
    pub(super) selector: Option<String>,
    /// Passphrase of an encrypted key
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Say in the record that the domain only tests: `t=y`
    #[arg(long, alias = "test")]
    pub(super) test_mode: bool,
    /// Say in the record that identities are of the domain itself: `t=s`
    #[arg(long)]
    pub(super) strict: bool,
    /// A note in the record: `n=`
    #[arg(long, value_name = "TEXT")]
    pub(super) notes: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The signing domain
    pub(super) domain: String,
    /// The name of the key
    pub(super) selector: String,
    /// The private key that signs
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) key: Option<PathBuf>,
    /// Passphrase of an encrypted key
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) lookup: LookupArgs,
}
