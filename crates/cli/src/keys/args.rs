//! Arguments of `oarlock keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::kind::GeneratedKind;
use crate::key_path::key_path;

/// Arguments of `oarlock keys`.
#[derive(Args, Debug)]
#[command(
    after_help = "A key is called what its file is called, without the ending. Its fingerprint is SHA-256 of its public half \
                  (SubjectPublicKeyInfo in DER); symmetric keys have none, for a hash of a short key could be searched.\n\
                  Files are written whole or not at all, for their owner alone, and never over another without --force."
)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(super) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a key
    Generate(GenerateArgs),
    /// Take in a key of any format: validated, and written as PKCS#8, a public one as SPKI
    Import(ImportArgs),
    /// List the keys of a directory and of a file of keys
    List(ListArgs),
    /// Say what a key is, and its public half; never the private one
    Show(ShowArgs),
    /// Split an RSA key of safe primes among servers, so many of which sign together and none of which has the key
    Split(SplitArgs),
}

#[derive(Args, Debug)]
#[command(
    after_help = "RSA, EC, Ed25519 and X25519 keys become PKCS#8 files in PEM. Symmetric keys become a line of a file of keys, as \
                  `oarlock records --keys` and `oarlock serve` read them (docs/records.md)."
)]
pub(super) struct GenerateArgs {
    /// What to make
    #[arg(value_enum, value_name = "KIND")]
    pub(super) kind: GeneratedKind,
    /// What the key is called [default: what its kind is called]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// The directory of keys that it goes into [default: that of the development set-up]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// The file that it becomes, instead of one in a directory of keys
    #[arg(long, value_name = "FILE", conflicts_with_all = ["directory", "name"])]
    pub(super) out: Option<PathBuf>,
    /// The file of keys that a symmetric key is added to [default: that of the development set-up]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["directory", "out", "passphrase_file"])]
    pub(super) records: Option<PathBuf>,
    /// Encrypt it under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Of primes p such that (p - 1) / 2 is prime too, so that `keys split` can share it: RSA alone, and takes longer
    #[arg(long, conflicts_with = "records")]
    pub(super) safe_primes: bool,
    /// Replace a key of this name
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
pub(super) struct ImportArgs {
    /// A private or public key in PEM or DER: PKCS#8 (also encrypted), PKCS#1, SEC 1 or SPKI; or a file of BIND's, K*.private; - for
    /// stdin. Of other formats the error names the command that converts them
    #[arg(value_name = "FILE", value_parser = key_path())]
    pub(super) file: PathBuf,
    /// What the key is called [default: what the file is called, without its ending]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// The directory of keys that it goes into [default: that of the development set-up]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// It is encrypted under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) in_passphrase_file: Option<PathBuf>,
    /// Encrypt what is written under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Replace a key of this name
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Files that are no usable keys are named on stderr with the reason; the others are listed, and the exit code \
                  is 2."
)]
pub(super) struct ListArgs {
    /// A directory of keys [default: that of the development set-up, unless --records is given]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// Encrypted keys open with the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// A file of symmetric keys [default: that of the development set-up, unless --directory is given]
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) records: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct ShowArgs {
    /// A key's file, or where there is none, the name of a key in the directory of keys; - for stdin
    #[arg(value_name = "FILE|NAME", value_parser = key_path())]
    pub(super) key: PathBuf,
    /// The directory of keys that has the name [default: that of the development set-up]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// It is encrypted under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Print the public half in PEM and nothing else
    #[arg(long)]
    pub(super) pem: bool,
    /// Print a reference in PEM and nothing else: the key's name and its public half, for programs that use the key where a server
    /// has it
    #[arg(long, conflicts_with = "pem")]
    pub(super) reference: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "The key must be one of safe primes: `oarlock keys generate rsa2048 --safe-primes`. Shares are written to \
                  OUT/server-1/NAME.pem and so on, each a server's directory of keys, and what everybody may know to \
                  OUT/NAME.threshold.pem. Shoup, \"Practical Threshold Signatures\", EUROCRYPT 2000; docs/math/threshold-rsa.md."
)]
pub(super) struct SplitArgs {
    /// The private key
    #[arg(value_name = "FILE", value_parser = key_path())]
    pub(super) file: PathBuf,
    /// How many servers sign together
    #[arg(long, value_name = "K")]
    pub(super) threshold: u8,
    /// How many servers there are
    #[arg(long, value_name = "L")]
    pub(super) shares: u8,
    /// What the key is called at every server [default: what the file is called, without its ending]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// The directory that the servers' directories are made in
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    pub(super) out: PathBuf,
    /// It is encrypted under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) in_passphrase_file: Option<PathBuf>,
    /// Encrypt the shares under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Replace files of these names
    #[arg(long)]
    pub(super) force: bool,
}
