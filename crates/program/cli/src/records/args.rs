//! Arguments of `oarlock records`.

mod arrow;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use oarlock::{BlockCipher, FpeAlg, MacAlg};
use oarlock_keytable::{Alphabet, FormatError, KeyType, TokenFormat, WeakKeyRule};
use oarlock_records::{
    AeadColumns, Encoding, FileFormat, IvFrom, KeyFrom, Padding, RecordJob, RowCipher, RowOperation,
    TweakFrom,
};

pub(super) use self::arrow::{ArrowJob, ArrowOperation};
use super::RecordsError;
use super::keys::JobKeys;
use super::source::{ArrowContainer, InputFile};
use crate::call::ServerArgs;
use crate::key_path::key_path;
use crate::named_values;

/// Arguments of `oarlock records`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Values, IVs and tags are in hexadecimal digits unless --encoding says otherwise.\n\n\
                  Examples: openssl rand -hex 16 >key && chmod 600 key\n          \
                  oarlock records encrypt cards.csv -o sealed.csv --column pan --encoding text --cipher aes128-gcm --key-file key\n          \
                  oarlock records decrypt sealed.csv -o cards.csv --column pan --encoding text --cipher aes128-gcm --key-file key \
                  --drop-iv\n          \
                  oarlock records encrypt cards.csv -o sealed.csv --column pan --encoding text --cipher aes256-gcm --key-name cards \
                  --server oarlock.sock\n\n\
                  Exit codes: 0 done, 1 some rows were rejected, 2 wrong usage or input, 3 the machine failed."
)]
pub(crate) struct RecordsArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    #[command(subcommand)]
    command: RecordsCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum RecordsCommand {
    /// Encrypt the values of a column
    Encrypt(RecordEncryptArgs),
    /// Decrypt the values of a column
    Decrypt(RecordDecryptArgs),
    /// Decrypt the values of a column and encrypt them under another key, without showing the plaintext
    Translate(TranslateArgs),
    /// Replace the values of a column by tokens of the same length and alphabet
    Tokenise(RecordTokenArgs),
    /// Replace the tokens of a column by their values
    Detokenise(RecordTokenArgs),
    /// Add a column with message authentication codes (MACs) of the values of a column
    Mac(RecordMacArgs),
}

/// Files and columns.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Files and columns")]
pub(super) struct FileArgs {
    /// File to read; - is stdin
    #[arg(default_value = "-")]
    pub(super) input: PathBuf,
    /// File to write, which appears complete or not at all; - is stdout
    #[arg(short, long = "out", alias = "output", value_name = "FILE", default_value = "-")]
    pub(super) output: PathBuf,
    /// File for the line numbers of rejected rows and the reasons [default: the first 5 on stderr]
    #[arg(long, value_name = "FILE")]
    pub(super) rejects: Option<PathBuf>,
    /// Write the rejected rows into the file of --rejects too, unchanged: those of encrypt and mac contain plaintext
    #[arg(long, requires = "rejects")]
    reject_rows: bool,
    /// Format of the file [default: by its name: ndjson for .ndjson and .jsonl; arrow for .arrow, .arrows, .feather and
    /// .ipc. A file of another name is arrow if it begins like one, else csv]
    #[arg(long, value_name = "NAME")]
    format: Option<FormatName>,
    /// Separator of CSV fields: one character, or \t
    #[arg(long, value_name = "CHAR", default_value = ",", value_parser = delimiter)]
    delimiter: u8,
    /// The CSV has no header: its columns are called 1, 2, ...
    #[arg(long)]
    no_header: bool,
    /// Column of the values: its name in the header, or its number with --no-header
    #[arg(long, value_name = "NAME")]
    column: String,
    /// Column for the results, added if it is missing [default: the column of the values; for mac: mac]
    #[arg(long, value_name = "NAME")]
    into: Option<String>,
    /// Encoding of values, IVs, tags and associated data; in Arrow files values are bytes [default: hex]
    #[arg(long, value_name = "NAME", value_parser = named_values::encoding())]
    encoding: Option<Encoding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// Fields with a separator, see --delimiter
    Csv,
    /// One JSON object per line
    Ndjson,
    /// A file or a stream of Arrow IPC
    Arrow,
}

/// The format of the input.
#[derive(Clone, Copy, Debug)]
pub(super) enum InputFormat {
    Rows(FileFormat),
    Arrow,
}

/// The key of all rows, or the selection from a file of keys or from the keys of a server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Keys (the key of all rows, a file of keys, or a server; docs/records.md)")]
pub(super) struct RecordKeyArgs {
    /// File that contains the key in hex
    #[arg(long, value_name = "FILE", group = "from", value_parser = key_path())]
    pub(super) key_file: Option<PathBuf>,
    /// Environment variable that contains the key in hex
    #[arg(long, value_name = "NAME", group = "from")]
    pub(super) key_env: Option<String>,
    /// Key in hex. Every user of the machine can see it while the program runs: prefer --key-file
    #[arg(long, value_name = "HEX", group = "from", hide_possible_values = true)]
    pub(super) key: Option<String>,
    /// File of keys, one JSON object per line; `oarlock keys generate aes128 --records FILE` adds one
    #[arg(long, value_name = "FILE", value_parser = key_path())]
    pub(super) keys: Option<PathBuf>,
    /// Name of the key in the file of --keys, or without --keys at the cryptoserver of --server
    #[arg(long, value_name = "NAME", group = "from")]
    pub(super) key_name: Option<String>,
    /// Column that names each row's key: one of --keys, or without --keys of --server
    #[arg(long, value_name = "NAME", group = "from")]
    pub(super) key_column: Option<String>,
    /// Treatment of weak keys, such as DES keys of zeros, if they are not in a file of keys
    #[arg(long, value_name = "RULE", default_value = "refuse")]
    pub(super) weak_keys: WeakKeyArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum WeakKeyArg {
    /// End with an error
    Refuse,
    /// Use them, and name them on stderr
    Warn,
    /// Use them
    Allow,
}

impl From<WeakKeyArg> for WeakKeyRule {
    fn from(rule: WeakKeyArg) -> Self {
        match rule {
            WeakKeyArg::Refuse => Self::Refuse,
            WeakKeyArg::Warn => Self::Warn,
            WeakKeyArg::Allow => Self::Allow,
        }
    }
}

/// Ciphers and IVs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cipher")]
struct CipherArgs {
    /// Cipher of the values
    #[arg(long, value_name = "NAME", value_parser = named_values::cipher())]
    cipher: RowCipher,
    /// Padding of a value's last block under CBC [default: none; in Arrow files pkcs7]
    #[arg(long, value_name = "NAME", value_parser = named_values::padding())]
    padding: Option<Padding>,
    /// Column of the IVs
    #[arg(long, value_name = "NAME", default_value = "iv")]
    iv_column: String,
    /// Column of the tags of GCM, SIV and GCM-SIV
    #[arg(long, value_name = "NAME", default_value = "tag")]
    tag_column: String,
    /// Column of the associated data of GCM, SIV and GCM-SIV
    #[arg(long, value_name = "NAME")]
    aad_column: Option<String>,
}

#[derive(Args, Clone, Debug)]
struct RecordEncryptArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    keys: RecordKeyArgs,
    #[command(flatten)]
    cipher: CipherArgs,
    /// Source of the IVs [default: new; for SIV, which needs none, zero]
    #[arg(long, value_name = "FROM", help_heading = "Cipher")]
    iv: Option<IvOrigin>,
}

#[derive(Args, Clone, Debug)]
struct RecordDecryptArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    keys: RecordKeyArgs,
    #[command(flatten)]
    cipher: CipherArgs,
    /// Source of the IVs [default: column; for SIV, zero]
    #[arg(long, value_name = "FROM", help_heading = "Cipher")]
    iv: Option<OldIvOrigin>,
    /// Leave the columns of IVs and tags out, so that the output equals the original file byte for byte
    #[arg(long, help_heading = "Cipher")]
    drop_iv: bool,
}

/// The format of tokens.
#[derive(Args, Clone, Debug)]
struct RecordTokenArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    keys: RecordKeyArgs,
    /// Algorithm of the tokens
    #[arg(long, value_name = "NAME", default_value = "aes256-ff1", value_parser = named_values::token_algorithm(), help_heading = "Tokens")]
    cipher: FpeAlg,
    #[arg(long, value_name = "NAME", default_value = "digits", value_parser = alphabet, help = format!("Alphabet of the encrypted characters: {}, or {ALPHABET_FILE} and the path of a file with the characters", Alphabet::names()), help_heading = "Tokens")]
    alphabet: Alphabet,
    /// Number of characters at the start that stay as they are
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = "Tokens")]
    keep_first: usize,
    /// Number of characters at the end that stay as they are
    #[arg(long, value_name = "COUNT", default_value_t = 0, help_heading = "Tokens")]
    keep_last: usize,
    /// Values and tokens have a valid check digit, like card numbers: the last digit that is not kept
    #[arg(long, help_heading = "Tokens")]
    luhn: bool,
    /// Text under which the same value has another token, such as the names of table and column
    #[arg(long, value_name = "TEXT", default_value = "", help_heading = "Tokens")]
    tweak: String,
    /// Column with each row's tweak
    #[arg(long, value_name = "NAME", conflicts_with = "tweak", help_heading = "Tokens")]
    tweak_column: Option<String>,
}

/// The beginning of an alphabet that is in a file: a large one is longer than the 128 KiB of one argument of Linux.
const ALPHABET_FILE: &str = "file:";

fn alphabet(text: &str) -> Result<Alphabet, String> {
    let Some(path) = text.strip_prefix(ALPHABET_FILE) else {
        return text.parse().map_err(|error: FormatError| error.to_string());
    };
    let fault = |reason: String| format!("{path}: {reason}");
    let characters = oarlock_files::read_text(Path::new(path)).map_err(|error| fault(error.to_string()))?;
    let characters = characters.strip_suffix('\n').unwrap_or(&characters);
    let characters = characters.strip_suffix('\r').unwrap_or(characters);
    Alphabet::new(characters).map_err(|error| fault(error.to_string()))
}

#[derive(Args, Clone, Debug)]
struct TranslateArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    keys: RecordKeyArgs,
    #[command(flatten)]
    to: ToKeyArgs,
    /// Cipher of the values. CSV and NDJSON files: CBC only
    #[arg(long, value_name = "NAME", help_heading = "Cipher", value_parser = named_values::cipher())]
    cipher: RowCipher,
    /// New cipher of the values [default: that of --cipher]
    #[arg(long, value_name = "NAME", help_heading = "Cipher", value_parser = named_values::cipher(), hide_possible_values = true)]
    to_cipher: Option<RowCipher>,
    /// Source of the values' IVs
    #[arg(long, value_name = "FROM", default_value = "column", help_heading = "Cipher")]
    iv: OldIvOrigin,
    /// Column of the values' IVs
    #[arg(long, value_name = "NAME", default_value = "iv", help_heading = "Cipher")]
    iv_column: String,
    /// Source of the new IVs
    #[arg(long, value_name = "FROM", default_value = "new", help_heading = "Cipher")]
    to_iv: IvOrigin,
    /// Column of the new IVs [default: that of --iv-column]
    #[arg(long, value_name = "NAME", help_heading = "Cipher")]
    to_iv_column: Option<String>,
}

/// The new key of the values.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "New keys of the values")]
pub(super) struct ToKeyArgs {
    /// File that contains the key in hex
    #[arg(long, value_name = "FILE", group = "to", value_parser = key_path())]
    pub(super) to_key_file: Option<PathBuf>,
    /// Environment variable that contains the key in hex
    #[arg(long, value_name = "NAME", group = "to")]
    pub(super) to_key_env: Option<String>,
    /// Name of the key in the file of keys or at the cryptoserver
    #[arg(long, value_name = "NAME", group = "to")]
    pub(super) to_key_name: Option<String>,
    /// Column that names each row's key in the file of keys or at the cryptoserver
    #[arg(long, value_name = "NAME", group = "to")]
    pub(super) to_key_column: Option<String>,
}

#[derive(Args, Clone, Debug)]
struct RecordMacArgs {
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    keys: RecordKeyArgs,
    /// Algorithm of the codes
    #[arg(long = "mac", value_name = "NAME", value_parser = named_values::mac(), help_heading = "MAC")]
    alg: MacAlg,
    /// Length of each MAC in bytes, from 4 to the length of the algorithm [default: the length of the algorithm]
    #[arg(long, value_name = "BYTES", help_heading = "MAC")]
    length: Option<usize>,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if FileFormat::is_delimiter(*byte) => Ok(*byte),
        _ => Err("expected one character that does not occur in values, quotes or line ends, or \\t".into()),
    }
}

/// The source of the IVs of an encryption.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum IvOrigin {
    /// New ones, random or counted as the key's policy says, written to the column of IVs
    New,
    /// The values of the column of IVs
    Column,
    /// Zeros
    Zero,
    /// The first bytes of the key
    Key,
}

/// The source of the IVs of a decryption.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OldIvOrigin {
    /// The values of the column of IVs
    Column,
    /// Zeros
    Zero,
    /// The first bytes of the key
    Key,
}

impl IvOrigin {
    fn from(self, column: &str) -> IvFrom {
        match self {
            Self::New => IvFrom::New(column.to_owned()),
            Self::Column => IvFrom::Column(column.to_owned()),
            Self::Zero => IvFrom::Zero,
            Self::Key => IvFrom::Key,
        }
    }
}

impl OldIvOrigin {
    fn from(self, column: &str) -> IvFrom {
        match self {
            Self::Column => IvFrom::Column(column.to_owned()),
            Self::Zero => IvFrom::Zero,
            Self::Key => IvFrom::Key,
        }
    }
}

impl FileArgs {
    /// Returns the format that the options or the name of the file say, or else its first bytes.
    pub(super) fn format(&self, input: &mut InputFile) -> Result<InputFormat, RecordsError> {
        let named = self.format.or_else(|| match self.input.extension().and_then(OsStr::to_str)? {
            "csv" => Some(FormatName::Csv),
            "ndjson" | "jsonl" => Some(FormatName::Ndjson),
            "arrow" | "arrows" | "feather" | "ipc" => Some(FormatName::Arrow),
            _ => None,
        });
        let name = match named {
            Some(name) => name,
            None if ArrowContainer::find(input)?.is_some() => FormatName::Arrow,
            None => FormatName::Csv,
        };
        Ok(match name {
            FormatName::Arrow => InputFormat::Arrow,
            FormatName::Ndjson => InputFormat::Rows(FileFormat::Ndjson),
            FormatName::Csv => {
                let (delimiter, has_header) = (self.delimiter, !self.no_header);
                InputFormat::Rows(FileFormat::Csv { delimiter, has_header })
            }
        })
    }
}

impl RecordsArgs {
    pub(super) fn files(&self) -> &FileArgs {
        match &self.command {
            RecordsCommand::Encrypt(args) => &args.files,
            RecordsCommand::Decrypt(args) => &args.files,
            RecordsCommand::Translate(args) => &args.files,
            RecordsCommand::Tokenise(args) | RecordsCommand::Detokenise(args) => &args.files,
            RecordsCommand::Mac(args) => &args.files,
        }
    }

    pub(super) fn keys(&self) -> &RecordKeyArgs {
        match &self.command {
            RecordsCommand::Encrypt(args) => &args.keys,
            RecordsCommand::Decrypt(args) => &args.keys,
            RecordsCommand::Translate(args) => &args.keys,
            RecordsCommand::Tokenise(args) | RecordsCommand::Detokenise(args) => &args.keys,
            RecordsCommand::Mac(args) => &args.keys,
        }
    }

    /// Returns the second key of a translation, with its type.
    pub(super) fn to_keys(&self) -> Option<(&ToKeyArgs, KeyType)> {
        match &self.command {
            RecordsCommand::Translate(args) => {
                Some((&args.to, args.to_cipher.unwrap_or(args.cipher).key_type()))
            }
            _ => None,
        }
    }

    /// Returns the type of the key of all rows.
    pub(super) fn key_type(&self) -> KeyType {
        match &self.command {
            RecordsCommand::Encrypt(args) => args.cipher.cipher.key_type(),
            RecordsCommand::Decrypt(args) => args.cipher.cipher.key_type(),
            RecordsCommand::Translate(args) => args.cipher.key_type(),
            RecordsCommand::Tokenise(args) | RecordsCommand::Detokenise(args) => {
                KeyType::for_fpe(args.cipher).unwrap_or(KeyType::Aes256)
            }
            RecordsCommand::Mac(args) => KeyType::for_mac(args.alg),
        }
    }

    /// True if a key is named, and not given.
    pub(super) fn names_keys(&self) -> bool {
        let RecordKeyArgs { key_name, key_column, .. } = self.keys();
        let to = self.to_keys().is_some_and(|(to, _)| to.to_key_name.is_some() || to.to_key_column.is_some());
        key_name.is_some() || key_column.is_some() || to
    }

    /// True if keys are their own IVs.
    pub(super) fn has_key_ivs(&self) -> bool {
        match &self.command {
            RecordsCommand::Encrypt(args) => matches!(args.iv, Some(IvOrigin::Key)),
            RecordsCommand::Decrypt(args) => matches!(args.iv, Some(OldIvOrigin::Key)),
            RecordsCommand::Translate(args) => {
                matches!(args.iv, OldIvOrigin::Key) || matches!(args.to_iv, IvOrigin::Key)
            }
            RecordsCommand::Tokenise(_) | RecordsCommand::Detokenise(_) | RecordsCommand::Mac(_) => false,
        }
    }

    pub(super) fn writes_plaintext(&self) -> bool {
        matches!(self.command, RecordsCommand::Decrypt(_) | RecordsCommand::Detokenise(_))
    }

    /// Returns the job that the arguments describe.
    pub(super) fn job(&self, keys: &JobKeys) -> Result<RecordJob, RecordsError> {
        let files = self.files();
        let mut into = files.into.clone();
        let operation = match &self.command {
            RecordsCommand::Encrypt(args) => {
                let CipherArgs { cipher, iv_column, .. } = &args.cipher;
                let padding = args.cipher.padding.unwrap_or_default();
                let usual = if cipher.is_siv() { IvOrigin::Zero } else { IvOrigin::New };
                let (iv, aead) = (args.iv.unwrap_or(usual).from(iv_column), args.cipher.aead());
                RowOperation::Encrypt { cipher: *cipher, iv, padding, aead }
            }
            RecordsCommand::Decrypt(args) => {
                let CipherArgs { cipher, iv_column, .. } = &args.cipher;
                let padding = args.cipher.padding.unwrap_or_default();
                let usual = if cipher.is_siv() { OldIvOrigin::Zero } else { OldIvOrigin::Column };
                let (iv, aead) = (args.iv.unwrap_or(usual).from(iv_column), args.cipher.aead());
                RowOperation::Decrypt { cipher: *cipher, iv, padding, aead }
            }
            RecordsCommand::Translate(args) => args.operation(keys.to.clone())?,
            RecordsCommand::Tokenise(args) => {
                let (format, tweak) = args.format()?;
                RowOperation::Tokenise { alg: args.cipher, format, tweak }
            }
            RecordsCommand::Detokenise(args) => {
                let (format, tweak) = args.format()?;
                RowOperation::Detokenise { alg: args.cipher, format, tweak }
            }
            RecordsCommand::Mac(args) => {
                into.get_or_insert_with(|| "mac".to_owned());
                RowOperation::Mac { alg: args.alg, len: args.length.unwrap_or(args.alg.tag_len()) }
            }
        };
        let mut job = RecordJob::new(operation, files.column.clone(), keys.from.clone());
        job.into = into;
        job.encoding = files.encoding.unwrap_or_default();
        job.drops_ivs = matches!(&self.command, RecordsCommand::Decrypt(args) if args.drop_iv);
        job.keeps_rejected_rows = files.reject_rows;
        Ok(job)
    }
}

impl CipherArgs {
    fn aead(&self) -> AeadColumns {
        AeadColumns::new(self.tag_column.clone(), self.aad_column.clone())
    }
}

impl RecordTokenArgs {
    fn format(&self) -> Result<(TokenFormat, TweakFrom), RecordsError> {
        let format =
            TokenFormat::new(self.alphabet.clone()).keep_first(self.keep_first).keep_last(self.keep_last);
        let format = match self.luhn {
            true => format.with_luhn().map_err(|_| {
                RecordsError::Usage("--luhn: expected --alphabet digits, whose check digit it is")
            })?,
            false => format,
        };
        let tweak = match &self.tweak_column {
            Some(column) => TweakFrom::Column(column.clone()),
            None => TweakFrom::One(self.tweak.clone().into_bytes()),
        };
        Ok((format, tweak))
    }
}

impl TranslateArgs {
    fn operation(&self, to_key: Option<KeyFrom>) -> Result<RowOperation, RecordsError> {
        let block = |cipher| match cipher {
            RowCipher::Cbc(alg) => Ok(alg),
            RowCipher::Aead(_) => {
                Err(RecordsError::Usage("translate: expected ciphers of CBC, others cannot be translated"))
            }
        };
        let (from, to): (BlockCipher, BlockCipher) =
            (block(self.cipher)?, block(self.to_cipher.unwrap_or(self.cipher))?);
        let to_key = to_key.ok_or(RecordsError::Usage(
            "expected one of --to-key-file, --to-key-env, --to-key-name, --to-key-column",
        ))?;
        Ok(RowOperation::Translate {
            from,
            iv: self.iv.from(&self.iv_column),
            to,
            to_key,
            to_iv: self.to_iv.from(self.to_iv_column.as_ref().unwrap_or(&self.iv_column)),
        })
    }
}
