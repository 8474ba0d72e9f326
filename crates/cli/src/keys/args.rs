//! Arguments of `oarlock keys`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::kind::GeneratedKind;
use crate::key_path::key_path;

/// Arguments of `oarlock keys`.
#[derive(Args, Debug)]
#[command(
    after_help = "The name of a key is its file's name without the ending. Its fingerprint is SHA-256 of its public half \
                  (SubjectPublicKeyInfo in DER); symmetric keys have none, because the hash of a short key reveals it.\n\
                  Files appear whole or not at all and are readable by their owner only. Existing files are replaced only with --force."
)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(super) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a key
    Generate(GenerateArgs),
    /// Import a key of any format: validate it, and write it as PKCS#8, or as SPKI if it is public
    Import(ImportArgs),
    /// List the keys of a directory and of a file of keys
    List(ListArgs),
    /// Describe a key and print its public half; the private half is never printed
    Show(ShowArgs),
    /// Split a safe-prime RSA key into threshold shares: K of N servers can sign, none holds the key
    Split(SplitArgs),
}

#[derive(Args, Debug)]
#[command(
    after_help = "RSA, EC, Ed25519 and X25519 keys become PKCS#8 files in PEM. Symmetric keys become a line of a file of keys, as \
                  `oarlock records --keys` and `oarlock serve` read them (docs/records.md)."
)]
pub(super) struct GenerateArgs {
    /// Kind of the key
    #[arg(value_enum, value_name = "KIND")]
    pub(super) kind: GeneratedKind,
    /// Name of the key [default: the name of its kind]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Key directory to write to [default: that of the development set-up]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// File to write, instead of a file in a key directory
    #[arg(long, value_name = "FILE", conflicts_with_all = ["directory", "name"])]
    pub(super) out: Option<PathBuf>,
    /// File of symmetric keys that the key is added to [default: that of the development set-up]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["directory", "out", "passphrase_file"])]
    pub(super) records: Option<PathBuf>,
    /// Encrypt the key under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Use safe primes (required by `keys split`; RSA only, slower)
    #[arg(long, conflicts_with = "records")]
    pub(super) safe_primes: bool,
    /// Replace an existing key of this name
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
pub(super) struct ImportArgs {
    /// Private or public key in PEM or DER: PKCS#8 (also encrypted), PKCS#1, SEC 1 or SPKI; or a K*.private file of
    /// BIND; - is stdin. For other formats the error names the command that converts them
    #[arg(value_name = "FILE", value_parser = key_path())]
    pub(super) file: PathBuf,
    /// Name of the key [default: the file's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Key directory to write to [default: that of the development set-up]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// File whose first line is the passphrase of the encrypted key
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) in_passphrase_file: Option<PathBuf>,
    /// Encrypt the written key under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Replace an existing key of this name
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Files without a usable key are named on stderr with the reason. The others are listed, and the exit code \
                  is 2."
)]
pub(super) struct ListArgs {
    /// Key directory [default: that of the development set-up, unless --records is given]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// File whose first line is the passphrase of encrypted keys
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// File of symmetric keys [default: that of the development set-up, unless --directory is given]
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) records: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct ShowArgs {
    /// File of a key, or the name of a key in the key directory; - is stdin
    #[arg(value_name = "FILE|NAME", value_parser = key_path())]
    pub(super) key: PathBuf,
    /// Key directory that contains the name [default: that of the development set-up]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// File whose first line is the passphrase of the encrypted key
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Print only the public half in PEM
    #[arg(long)]
    pub(super) pem: bool,
    /// Print only a reference in PEM: the key's name and its public half, for programs that use the key of a server
    #[arg(long, conflicts_with = "pem")]
    pub(super) reference: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "The key must have safe primes: `oarlock keys generate rsa2048 --safe-primes`. Shares are written to \
                  OUT/server-1/NAME.pem and so on, each a server's directory of keys, and the public data to \
                  OUT/NAME.threshold.pem. Shoup, \"Practical Threshold Signatures\", EUROCRYPT 2000; docs/math/threshold-rsa.md."
)]
pub(super) struct SplitArgs {
    /// File of the private key
    #[arg(value_name = "FILE", value_parser = key_path())]
    pub(super) file: PathBuf,
    /// Number of servers that sign together
    #[arg(long, value_name = "K")]
    pub(super) threshold: u8,
    /// Number of servers
    #[arg(long, value_name = "L")]
    pub(super) shares: u8,
    /// Name of the key at every server [default: the file's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Directory in which a directory for each server is created
    #[arg(long, value_name = "DIRECTORY", default_value = ".")]
    pub(super) out: PathBuf,
    /// File whose first line is the passphrase of the encrypted key
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) in_passphrase_file: Option<PathBuf>,
    /// Encrypt the shares under the first line of this file
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) passphrase_file: Option<PathBuf>,
    /// Replace existing files of these names
    #[arg(long)]
    pub(super) force: bool,
}
