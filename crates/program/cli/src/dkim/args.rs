//! The arguments of `oarlock dkim`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use oarlock_dkim::{Canonicalization, MailLimits, VerifyPolicy};
use oarlock_mail_files::mail::{self, MboxQuoting};

use crate::key_path::{KeyPathParser, key_path};
use crate::key_records::LookupArgs;
use crate::keys::{KeyPassphrase, NewPassphrase};
use crate::laboratory::{Comparison, LaboratoryCommand};
use crate::time::TimePoint;

/// Arguments of `oarlock dkim`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: oarlock dkim keygen example.com s1\n          \
                  oarlock dkim check example.com s1 --key s1.example.com.pem\n          \
                  oarlock dkim sign --domain example.com --key s1=s1.example.com.pem mail.eml >signed.eml\n          \
                  oarlock dkim verify signed.eml\n\n\
                  `oarlock milter` does the same within an MTA.")]
pub(crate) struct DkimArgs {
    #[command(subcommand)]
    pub(super) command: DkimCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum DkimCommand {
    /// Sign messages in files, mboxes and Maildirs
    #[command(
        after_help = "Exit codes: 0 all messages were signed, 1 some were not, 2 wrong usage or input, 3 the machine failed.\n\n\
                            Examples: oarlock dkim sign --domain example.com --key s1=s1.example.com.pem mail.eml >signed.eml\n          \
                            oarlock dkim sign --domain example.com --key s1=s1.example.com.pem --in-place ~/Maildir"
    )]
    Sign(Box<MailSignArgs>),
    /// Verify the signatures of messages in files, mboxes and Maildirs
    #[command(
        after_help = "Exit codes: 0 every message has a signature that passes, 1 some have none, 2 wrong usage or input,\n\
                            3 the machine or DNS failed.\n\n\
                            Examples: oarlock dkim verify mail.eml\n          \
                            oarlock dkim verify --keys-file records --arc ~/Maildir"
    )]
    Verify(Box<MailVerifyArgs>),
    /// Make a private key, and print its DNS record
    #[command(
        after_help = "The private key goes into SELECTOR.DOMAIN.pem, which only its owner can read. The line for the zone file \
                            goes to stdout.\n\nExample: oarlock dkim keygen example.com s1"
    )]
    Keygen(MailKeygenArgs),
    /// Print the DNS record of an existing key
    #[command(
        after_help = "With --domain and --selector it prints a line for a zone file, else the record alone.\n\n\
                            Example: oarlock dkim dns mail.pem --domain example.com --selector s1"
    )]
    Dns(DnsArgs),
    /// Look up a key record, and compare it with a private key
    #[command(
        after_help = "Exit codes: 0 the record is good, 1 it is not, 2 wrong usage or input, 3 DNS failed.\n\n\
                            Example: oarlock dkim check example.com s1 --key s1.example.com.pem"
    )]
    Check(CheckArgs),
    /// Publish the record of a key by a dynamic update of its zone, or remove it
    #[command(
        after_help = "It runs nsupdate (RFC 2136), which signs the update with a TSIG key (RFC 8945), and asks the server for the \
                            record afterwards. A record of another key is not overwritten without --force.\n\n\
                            Exit codes: 0 the server has the record, or no longer has it, 1 the name has another key, 2 wrong usage or \
                            input, 3 the server, DNS or nsupdate failed.\n\n\
                            Examples: oarlock dkim publish example.com s1 --key s1.example.com.pem --tsig-key update.key\n          \
                            oarlock dkim publish example.com s1 --table signing.table --dry-run\n          \
                            oarlock dkim publish example.com s0 --key s0.example.com.pem --tsig-key update.key --delete"
    )]
    Publish(Box<PublishArgs>),
    /// Make the settings and the signing table of `oarlock milter` from those of OpenDKIM
    #[command(
        after_help = "It reads opendkim.conf, or the two tables alone: files of the forms PATH, file:PATH and refile:PATH. It writes \
                            milter.toml and signing.table, and warns on stderr about each entry and each setting that it cannot \
                            carry over, with the reason. It reads no key. Without --out it prints both files.\n\n\
                            Exit codes: 0 done, perhaps with warnings, 2 wrong usage or input, 3 a file cannot be written.\n\n\
                            Examples: oarlock dkim import /etc/opendkim.conf --out /etc/oarlock-milter\n          \
                            oarlock dkim import --key-table /etc/opendkim/KeyTable --signing-table refile:/etc/opendkim/SigningTable"
    )]
    Import(OpendkimArgs),
    /// Measure messages signed and verified per second of CPU time, engine by engine (laboratory)
    Bench(LaboratoryCommand),
}

/// The messages.
#[derive(Debug, Args)]
pub(super) struct MailArgs {
    /// Messages, mboxes, Maildirs, or directories of them; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Max size of a message in bytes; a larger one is an error
    #[arg(long, value_name = "BYTES", default_value_t = mail::MAX_BYTES)]
    pub(super) max_bytes: u64,
    /// Keep `>From ` in an mbox as it is (mboxo), instead of unquoting it (mboxrd)
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
pub(super) struct MailSignArgs {
    #[command(flatten)]
    pub(super) mail: MailArgs,
    #[command(flatten)]
    pub(super) comparison: Comparison,
    /// Domain that signs, the tag `d=`
    #[arg(long, value_name = "DOMAIN", required_unless_present = "compare")]
    pub(super) domain: Option<String>,
    /// Selector and the file of its private key, or the URI of a key in an HSM, such as s1=key.pem; repeatable, one
    /// signature each
    #[arg(long = "key", required_unless_present = "compare", value_name = "SELECTOR=FILE", value_parser = KeyPathParser(selector_and_file))]
    pub(super) keys: Vec<(String, PathBuf)>,
    #[command(flatten)]
    pub(super) passphrase: KeyPassphrase,
    /// Canonical forms of header and body, the tag `c=`: simple or relaxed each
    #[arg(long, value_name = "FORM/FORM", default_value = "relaxed/relaxed")]
    pub(super) canonicalization: Canonicalization,
    /// Identity for which the domain signs, the tag `i=`: user@domain or @sub.domain [default: none]
    #[arg(long, value_name = "IDENTITY")]
    pub(super) identity: Option<String>,
    /// Lifetime of signatures in seconds, from 1, the tag `x=` [default: unlimited]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) expire: Option<u64>,
    /// Header fields to sign, separated by commas [default: those that RFC 6376 5.4.1 recommends]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) headers: Option<Vec<String>>,
    /// Header fields that cannot be added later, separated by commas [default: From, To, Cc, Subject, Date and other
    /// visible fields]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) oversign: Option<Vec<String>>,
    /// Sign the length of the body, so that text can be appended to it, the tag `l=`
    #[arg(long)]
    pub(super) body_length: bool,
    /// Copy the signed fields into the signature, the tag `z=`
    #[arg(long)]
    pub(super) copy_fields: bool,
    /// Sign with SHA-1, which verifiers must reject (RFC 8301): for benchmarks
    #[arg(long)]
    pub(super) sha1: bool,
    /// Time of the signatures for `t=`: YYYYMMDDHHMMSS in UTC, seconds since 1970, or an offset from now such as +60d
    /// or -1h [default: now]
    #[arg(long, value_name = "TIME", visible_alias = "now", allow_hyphen_values = true)]
    pub(super) time: Option<TimePoint>,
    /// Write each message back into its own file. An older signature of the same domain and selector is replaced, here
    /// and in every other output
    #[arg(long, conflicts_with = "into")]
    pub(super) in_place: bool,
    /// Write messages into files below this directory [default: a message or an mbox on standard output]
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
pub(super) struct MailVerifyArgs {
    #[command(flatten)]
    pub(super) mail: MailArgs,
    #[command(flatten)]
    pub(super) comparison: Comparison,
    #[command(flatten)]
    pub(super) lookup: LookupArgs,
    /// Min length of an accepted RSA key in bits, 1024 to 4096
    #[arg(long, value_name = "BITS", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1024..=4096))]
    pub(super) min_rsa_bits: u32,
    /// Accept rsa-sha1, which RFC 8301 forbids
    #[arg(long)]
    pub(super) accept_sha1: bool,
    /// Accept signatures that leave the end of the body unsigned
    #[arg(long)]
    pub(super) accept_partial_body: bool,
    /// Max number of signatures of a message that are verified; the others are not looked at
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(super) max_signatures: usize,
    /// Max number of key records that are looked up for a message, including those of its ARC chain
    #[arg(long, value_name = "N", default_value_t = MailLimits::default().max_lookups)]
    pub(super) max_lookups: usize,
    /// Verify ARC chains too
    #[arg(long)]
    pub(super) arc: bool,
    /// Time at which signatures must be valid: YYYYMMDDHHMMSS in UTC, seconds since 1970, or an offset from now such
    /// as +60d or -1h [default: now]
    #[arg(long, value_name = "TIME", visible_alias = "now", allow_hyphen_values = true)]
    pub(super) time: Option<TimePoint>,
}

impl MailVerifyArgs {
    pub(super) fn policy(&self) -> VerifyPolicy {
        let mut policy = VerifyPolicy {
            min_rsa_bits: self.min_rsa_bits,
            accepts_sha1: self.accept_sha1,
            accepts_partial_body: self.accept_partial_body,
            verifies_chains: self.arc,
            ..VerifyPolicy::default()
        };
        policy.limits.max_signatures = self.max_signatures;
        policy.limits.max_lookups = self.max_lookups;
        policy
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MailKeyType {
    /// RSA, which every verifier supports
    Rsa,
    /// Ed25519, short and fast; sign with RSA too, because not every verifier supports it
    Ed25519,
}

#[derive(Debug, Args)]
pub(super) struct MailKeygenArgs {
    /// Domain that will sign, such as example.com
    pub(super) domain: String,
    /// Selector, the name of the key in DNS, such as s1 or 2026a
    pub(super) selector: String,
    /// Type of the key
    #[arg(long = "type", value_enum, default_value = "rsa")]
    pub(super) kind: MailKeyType,
    /// Length of an RSA key in bits, 1024 to 4096
    #[arg(long, value_name = "BITS", default_value_t = 2048, value_parser = clap::value_parser!(u16).range(1024..=4096))]
    pub(super) bits: u16,
    /// File for the private key [default: SELECTOR.DOMAIN.pem]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    pub(super) passphrase: NewPassphrase,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
    /// Mark the domain as testing in the record, `t=y`
    #[arg(long, alias = "test-mode")]
    pub(super) test: bool,
    /// Allow only identities of the domain itself, not of subdomains, `t=s`
    #[arg(long)]
    pub(super) strict: bool,
    /// Note in the record, `n=`
    #[arg(long, value_name = "TEXT")]
    pub(super) notes: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct DnsArgs {
    /// Private or public key of RSA or Ed25519, in any format; `-` is standard input
    #[arg(value_name = "KEY-FILE", value_parser = key_path())]
    pub(super) key: PathBuf,
    /// Domain that signs, such as example.com
    #[arg(long, value_name = "DOMAIN", requires = "selector")]
    pub(super) domain: Option<String>,
    /// Selector, the name of the key in DNS, such as s1
    #[arg(long, value_name = "SELECTOR", requires = "domain")]
    pub(super) selector: Option<String>,
    #[command(flatten)]
    pub(super) passphrase: KeyPassphrase,
    /// Mark the domain as testing in the record, `t=y`
    #[arg(long, alias = "test")]
    pub(super) test_mode: bool,
    /// Allow only identities of the domain itself, not of subdomains, `t=s`
    #[arg(long)]
    pub(super) strict: bool,
    /// Note in the record, `n=`
    #[arg(long, value_name = "TEXT")]
    pub(super) notes: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct PublishArgs {
    /// Domain that signs, such as example.com
    pub(super) domain: String,
    /// Selector, the name of the key in DNS, such as s1
    pub(super) selector: String,
    /// Private or public key, a file of any format or the URI of a key in an HSM
    #[arg(long, value_name = "FILE", value_parser = key_path(), required_unless_present_any = ["table", "delete"])]
    pub(super) key: Option<PathBuf>,
    /// Signing table whose line of this domain and selector names the key
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    pub(super) table: Option<PathBuf>,
    #[command(flatten)]
    pub(super) passphrase: KeyPassphrase,
    /// Server to update, a name or an address with or without port [default: the primary server of the zone]
    #[arg(long, value_name = "SERVER")]
    pub(super) server: Option<String>,
    /// Zone to update [default: the zone that has the name]
    #[arg(long, value_name = "ZONE")]
    pub(super) zone: Option<String>,
    /// TSIG key that signs the update, in the form of BIND, as tsig-keygen writes it [default: not signed]
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) tsig_key: Option<PathBuf>,
    /// Lifetime of the record in seconds
    #[arg(long, value_name = "S", default_value_t = 3600)]
    pub(super) ttl: u32,
    /// Mark the domain as testing in the record, `t=y`
    #[arg(long, alias = "test")]
    pub(super) test_mode: bool,
    /// Allow only identities of the domain itself, not of subdomains, `t=s`
    #[arg(long)]
    pub(super) strict: bool,
    /// Note in the record, `n=`
    #[arg(long, value_name = "TEXT")]
    pub(super) notes: Option<String>,
    /// Remove the record of a key that no longer signs
    #[arg(long)]
    pub(super) delete: bool,
    /// Overwrite or delete the record of another key
    #[arg(long)]
    pub(super) force: bool,
    /// Print the commands for nsupdate, and send nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Max seconds for each update and for each lookup, 1 to 300
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(super) timeout: u64,
    /// Program that sends the update, nsupdate of BIND or one with its options and messages
    #[arg(long, value_name = "PROGRAM", default_value = "nsupdate")]
    pub(super) nsupdate: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct OpendkimArgs {
    /// Settings of OpenDKIM, usually /etc/opendkim.conf
    #[arg(value_name = "OPENDKIM.CONF", required_unless_present_all = ["key_table", "signing_table"])]
    pub(super) config: Option<PathBuf>,
    /// Key table, instead of that of the settings: PATH, file:PATH or refile:PATH
    #[arg(long, value_name = "TABLE")]
    pub(super) key_table: Option<String>,
    /// Signing table, instead of that of the settings
    #[arg(long, value_name = "TABLE")]
    pub(super) signing_table: Option<String>,
    /// Directory for milter.toml and signing.table. It is created if it does not exist
    #[arg(short, long, value_name = "DIRECTORY")]
    pub(super) out: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "out")]
    pub(super) force: bool,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Domain that signs, such as example.com
    pub(super) domain: String,
    /// Selector, the name of the key in DNS, such as s1
    pub(super) selector: String,
    /// Private key to compare with the record
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) key: Option<PathBuf>,
    #[command(flatten)]
    pub(super) passphrase: KeyPassphrase,
    #[command(flatten)]
    pub(super) lookup: LookupArgs,
}
