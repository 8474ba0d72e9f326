//! Arguments of `oarlock keys`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use oarlock_measure::speed::seconds;

use super::kind::GeneratedKind;
use super::secret_files::{InputPassphrase, KeyPassphrase, NewPassphrase, SealIdentity};
use crate::key_path::key_path;

/// Arguments of `oarlock keys`.
#[derive(Args, Debug)]
#[command(
    after_help = "The name of a key is its file's name without the ending. Its fingerprint is SHA-256 of its public half \
                  (SubjectPublicKeyInfo in DER); symmetric keys have none, because the hash of a short key reveals it.\n\
                  Files appear complete or not at all, and only their owner can read them, unless they are sealed (--to). --force \
                  replaces existing files.\n\n\
                  Examples: oarlock keys generate rsa2048 --out mail.pem\n          \
                  oarlock keys import old-key.der --name www --directory /etc/oarlock/keys\n          \
                  oarlock keys list\n          \
                  oarlock keys show mail.pem --pem"
)]
pub(crate) struct KeysArgs {
    #[command(subcommand)]
    pub(super) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Make a private or symmetric key
    Generate(GenerateArgs),
    /// Check a key of any format, and write it as PKCS#8, or as SPKI if it is public, into a key directory
    Import(ImportArgs),
    /// List the keys of a directory and of a file of keys
    List(ListArgs),
    /// Replace a symmetric key by a new version; the old versions decrypt and verify
    Rotate(RotateArgs),
    /// Seal a file with age: only the holders of the recipients' identities can open it
    Seal(SealArgs),
    /// Describe a key and print its public half; the private half is never printed
    Show(ShowArgs),
    /// Split an RSA key into threshold shares: K of L servers can sign, and no server has the key (experimental)
    Split(SplitArgs),
    /// Open a file that is sealed with age
    Unseal(UnsealArgs),
}

/// The recipients of a file that is written.
#[derive(Args, Debug, Default)]
pub(super) struct SealTo {
    /// Seal the file with age for this recipient, age1...; may be repeated
    #[arg(long, value_name = "RECIPIENT")]
    pub(super) to: Vec<String>,
    /// Seal the file with age for the recipients in this file, one on each line; may be repeated
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) to_file: Vec<PathBuf>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "`age-keygen -o identity.txt` makes an identity and prints its recipient. The file that is sealed stays; remove it \
                  where it is not needed. `age -d -i identity.txt FILE` opens a sealed file too.\n\n\
                  Examples: oarlock keys seal mail.pem --to age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa\n          \
                  oarlock keys seal records.keys --to-file servers.txt"
)]
pub(super) struct SealArgs {
    /// File to seal, of at most 64 MiB, such as a private key or a file of symmetric keys; - is stdin
    #[arg(value_name = "FILE", value_parser = key_path())]
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) seal: SealTo,
    /// Write text in PEM instead of binary data
    #[arg(long)]
    pub(super) armor: bool,
    /// File to write; - is stdout [default: FILE.age]
    #[arg(short, long, value_name = "FILE", value_parser = key_path())]
    pub(super) out: Option<PathBuf>,
    /// Replace an existing file of this name
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Only the owner can read the file that is written.\n\n\
                  Example: oarlock keys unseal mail.pem.age --identity identity.txt")]
pub(super) struct UnsealArgs {
    /// File to open, binary or armored; - is stdin
    #[arg(value_name = "FILE", value_parser = key_path())]
    pub(super) file: PathBuf,
    /// File with the identity of a recipient, as age-keygen writes it
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) identity: PathBuf,
    /// File to write; - is stdout [default: FILE without .age]
    #[arg(short, long, value_name = "FILE", value_parser = key_path())]
    pub(super) out: Option<PathBuf>,
    /// Replace an existing file of this name
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "RSA, EC, Ed25519, X25519, ML-KEM, ML-DSA and SLH-DSA keys become PKCS#8 files in PEM, those of ML-KEM and ML-DSA with their seed. \
                  Symmetric keys become a line of a file of keys, as \
                  `oarlock records --keys` and `oarlock serve` read them (docs/records.md).\n\n\
                  Examples: oarlock keys generate rsa2048 --out mail.pem\n          \
                  oarlock keys generate p256 --directory /etc/oarlock/keys --name www\n          \
                  oarlock keys generate aes128 --records records.keys --name cards\n          \
                  oarlock keys generate aes256 --records records.keys --name tokens --algorithms ff1"
)]
pub(super) struct GenerateArgs {
    /// Kind of the key
    #[arg(value_enum, value_name = "KIND")]
    pub(super) kind: GeneratedKind,
    /// Name of the key [default: the name of its kind]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Key directory to write to [default: that of `oarlock serve` without --config, ~/.local/state/oarlock/keys]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    /// File to write, instead of a file in a key directory
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["directory", "name"])]
    pub(super) out: Option<PathBuf>,
    /// File of symmetric keys that the key is added to [default: that of `oarlock serve` without --config,
    /// ~/.local/state/oarlock/records.keys]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["directory", "out", "passphrase_file"])]
    pub(super) records: Option<PathBuf>,
    /// Algorithms that a symmetric key serves, separated by commas, such as gcm, siv or ff1 (docs/records.md) [default:
    /// all that suit its kind, except gcm-siv and ff1]
    #[arg(long, value_name = "ALGORITHM", value_delimiter = ',')]
    pub(super) algorithms: Vec<String>,
    /// Sources of IVs that a symmetric key accepts, separated by commas, such as random or column (docs/records.md)
    #[arg(long, value_name = "SOURCE", value_delimiter = ',')]
    pub(super) ivs: Vec<String>,
    #[command(flatten)]
    pub(super) passphrase: NewPassphrase,
    #[command(flatten)]
    pub(super) identity: SealIdentity,
    #[command(flatten)]
    pub(super) seal: SealTo,
    /// Use safe primes, which `keys split` needs (RSA only, slower, experimental)
    #[arg(long, conflicts_with = "records")]
    pub(super) safe_primes: bool,
    /// Replace an existing key of this name
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example: oarlock keys import Kexample.com.+013+12345.private --name zone --directory /etc/oarlock/keys"
)]
pub(super) struct ImportArgs {
    /// Private or public key in PEM or DER: PKCS#8 (also encrypted), PKCS#1, SEC 1 or SPKI; or a K*.private file of
    /// BIND; - is stdin. For other formats the error names the command that converts them
    #[arg(value_name = "FILE", value_parser = key_path())]
    pub(super) file: PathBuf,
    /// Name of the key [default: the file's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Key directory to write to [default: that of `oarlock serve` without --config, ~/.local/state/oarlock/keys]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(super) in_passphrase: InputPassphrase,
    #[command(flatten)]
    pub(super) passphrase: NewPassphrase,
    #[command(flatten)]
    pub(super) identity: SealIdentity,
    #[command(flatten)]
    pub(super) seal: SealTo,
    /// Replace an existing key of this name
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Files without a usable key are named on stderr with the reason. The others are listed, and the exit code \
                  is 2.\n\n\
                  A URI of RFC 7512 lists the private keys of a token instead: it names the module by module-path and the file \
                  of the PIN by pin-source. --measure signs with each key that can sign.\n\n\
                  Examples: oarlock keys list\n          \
                  oarlock keys list --directory /etc/oarlock/keys\n          \
                  oarlock keys list 'pkcs11:token=prod?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=/etc/oarlock/pin' --measure 1"
)]
pub(super) struct ListArgs {
    /// URI of a token, pkcs11:...
    #[arg(value_name = "URI", conflicts_with_all = ["directory", "records"])]
    pub(super) token: Option<String>,
    /// Measure rate and latency of the keys of a token, each for this many seconds
    #[arg(long, value_name = "SECONDS", requires = "token", value_parser = seconds)]
    pub(super) measure: Option<Duration>,
    /// Key directory [default: ~/.local/state/oarlock/keys, unless --records is given]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(super) passphrase: KeyPassphrase,
    #[command(flatten)]
    pub(super) identity: SealIdentity,
    /// File of symmetric keys [default: ~/.local/state/oarlock/records.keys, unless --directory is given]
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) records: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "The new version has the key's name and encrypts. The old one is called NAME@VERSION and decrypts, verifies and \
                  is translated from. A running server uses the new file within a second. Give every server the file before \
                  one of them encrypts under the new version: put the new file on all servers first.\n\
                  A sealed file needs --identity, which opens it, and --to or --to-file: it does not say for whom it was sealed.\n\
                  Keys of signatures and TLS have no versions: give the new key another name, selector or certificate.\n\n\
                  Examples: oarlock keys rotate cards --records records.keys\n          \
                  oarlock keys rotate cards --records records.keys --keep-key --min-version 2\n          \
                  oarlock keys rotate cards --records records.keys --keep-key --min-version 2 --remove"
)]
pub(super) struct RotateArgs {
    /// Name of the key
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// File of symmetric keys [default: that of `oarlock serve` without --config, ~/.local/state/oarlock/records.keys]
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) records: Option<PathBuf>,
    #[command(flatten)]
    pub(super) identity: SealIdentity,
    #[command(flatten)]
    pub(super) seal: SealTo,
    /// Oldest version that may be used from now on, 1 to the newest
    #[arg(long, value_name = "VERSION")]
    pub(super) min_version: Option<u32>,
    /// Make no new version
    #[arg(long)]
    pub(super) keep_key: bool,
    /// Remove the keys of versions below the minimum from the file. What they encrypted can never be decrypted again
    #[arg(long)]
    pub(super) remove: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples: oarlock keys show mail.pem\n          \
                  oarlock keys show mail.pem --pem >mail.pub")]
pub(super) struct ShowArgs {
    /// File of a key, or the name of a key in the key directory; - is stdin
    #[arg(value_name = "FILE|NAME", value_parser = key_path())]
    pub(super) key: PathBuf,
    /// Key directory that contains the name [default: ~/.local/state/oarlock/keys]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(super) passphrase: KeyPassphrase,
    #[command(flatten)]
    pub(super) identity: SealIdentity,
    /// Print only the public half in PEM
    #[arg(long)]
    pub(super) pem: bool,
    /// Print only a reference in PEM: the key's name and its public half, for programs that use the key of a server
    #[arg(long, conflicts_with = "pem")]
    pub(super) reference: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Threshold RSA is experimental: it may change without notice. The key must have safe primes: `oarlock keys generate rsa2048 --safe-primes`. Shares are written to \
                  OUT/server-1/NAME.pem and so on, each a server's directory of keys, and the public data to \
                  OUT/NAME.threshold.pem. Shoup, \"Practical Threshold Signatures\", EUROCRYPT 2000; docs/math/threshold-rsa.md.\n\n\
                  Example: oarlock keys split root.pem --threshold 2 --shares 3 --out shares"
)]
pub(super) struct SplitArgs {
    /// File of the private key
    #[arg(value_name = "FILE", value_parser = key_path())]
    pub(super) file: PathBuf,
    /// Number of servers that sign together, 2 to L
    #[arg(long, value_name = "K")]
    pub(super) threshold: u8,
    /// Number of servers, 2 to 16
    #[arg(long, value_name = "L")]
    pub(super) shares: u8,
    /// Name of the key at every server [default: the file's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Directory in which a directory for each server is created
    #[arg(short, long, value_name = "DIRECTORY", default_value = ".")]
    pub(super) out: PathBuf,
    #[command(flatten)]
    pub(super) in_passphrase: InputPassphrase,
    #[command(flatten)]
    pub(super) passphrase: NewPassphrase,
    /// Replace existing files of these names
    #[arg(long)]
    pub(super) force: bool,
}
