//! The job that runs on every row of a file.

use std::fmt;
use std::str::FromStr;

use oarlock::{AeadAlg, BlockCipher, FpeAlg, MacAlg};
use oarlock_keytable::{BatchTask, KeyType, MIN_MAC_LEN, TokenFormat};

use crate::error::{PlanError, UnknownName};
use crate::{Encoding, Padding};

/// A job on every row: the operation, its columns, and the column of the results.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordJob {
    /// The operation on each value.
    pub operation: RowOperation,
    /// The column of the values.
    pub value: String,
    /// The column of the results; None if they replace the values.
    pub into: Option<String>,
    /// The key; for a translation, the key that decrypts.
    pub key: KeyFrom,
    /// The encoding of values, IVs, tags and associated data.
    pub encoding: Encoding,
    /// True if a decryption leaves the columns of IVs and tags out of its output.
    pub drops_ivs: bool,
    /// True if rejected rows are kept with their reason. They hold the caller's values, which for an encryption are
    /// plaintext.
    pub keeps_rejected_rows: bool,
}

/// The operation on a value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RowOperation {
    /// Encrypts it.
    Encrypt {
        /// The algorithm.
        cipher: RowCipher,
        /// The source of the IVs.
        iv: IvFrom,
        /// The padding of the last block.
        padding: Padding,
        /// The further columns of authenticated encryption.
        aead: AeadColumns,
    },
    /// Decrypts it.
    Decrypt {
        /// The algorithm.
        cipher: RowCipher,
        /// The source of the IVs.
        iv: IvFrom,
        /// The padding of the last block.
        padding: Padding,
        /// The further columns of authenticated encryption.
        aead: AeadColumns,
    },
    /// Decrypts it under one key and encrypts it under another. The plaintext is never written.
    Translate {
        /// The present cipher.
        from: BlockCipher,
        /// The present IV.
        iv: IvFrom,
        /// The new cipher.
        to: BlockCipher,
        /// The new key.
        to_key: KeyFrom,
        /// The new IV.
        to_iv: IvFrom,
    },
    /// Replaces it by a token of the same format.
    Tokenise {
        /// The algorithm.
        alg: FpeAlg,
        /// The format of values and tokens.
        format: TokenFormat,
        /// The tweak of each value.
        tweak: TweakFrom,
    },
    /// Replaces a token by its value.
    Detokenise {
        /// The algorithm.
        alg: FpeAlg,
        /// The format of values and tokens.
        format: TokenFormat,
        /// The tweak of each value.
        tweak: TweakFrom,
    },
    /// Makes a message authentication code.
    Mac {
        /// The algorithm.
        alg: MacAlg,
        /// The number of leading bytes that are kept.
        len: usize,
    },
}

/// A cipher in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCipher {
    /// Cipher block chaining.
    Cbc(BlockCipher),
    /// Authenticated encryption, with tags in a column of their own.
    Aead(AeadAlg),
}

/// The columns of authenticated encryption beside value and IV.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AeadColumns {
    /// Tags: written when encrypting, compared when decrypting.
    pub tag: String,
    /// Associated data, if there is any.
    pub aad: Option<String>,
}

impl AeadColumns {
    /// Returns the columns of tags and, if there is one, of associated data.
    #[must_use]
    pub fn new(tag: impl Into<String>, aad: Option<String>) -> Self {
        Self { tag: tag.into(), aad }
    }
}

/// The source of a row's tweak. The same value has another token under another tweak.
#[derive(Clone, Debug)]
pub enum TweakFrom {
    /// These bytes, for all rows.
    One(Vec<u8>),
    /// The text of this column.
    Column(String),
}

/// The source of a row's key.
#[derive(Clone, Debug)]
pub enum KeyFrom {
    /// The table's key at this index, for all rows.
    One(u32),
    /// The key that this column names.
    Column(String),
}

/// The source of a row's IV.
#[derive(Clone, Debug)]
pub enum IvFrom {
    /// This column.
    Column(String),
    /// A new IV, random or counted as the key's policy says, which is written to this column.
    New(String),
    /// Zeros.
    Zero,
    /// The leading bytes of the key.
    Key,
}

impl RecordJob {
    /// Creates a job that replaces the values of a column, in hexadecimal, by its results.
    ///
    /// Change the other fields to write to another column, to choose another encoding, to leave columns out or to keep
    /// rejected rows.
    #[must_use]
    pub fn new(operation: RowOperation, value: impl Into<String>, key: KeyFrom) -> Self {
        Self {
            operation,
            value: value.into(),
            into: None,
            key,
            encoding: Encoding::Hex,
            drops_ivs: false,
            keeps_rejected_rows: false,
        }
    }

    /// Checks that the options do not contradict each other.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let fault = |what| Err(PlanError::Contradiction { what });
        match &self.operation {
            RowOperation::Encrypt { cipher: RowCipher::Aead(_), padding: Padding::Pkcs7, .. }
            | RowOperation::Decrypt { cipher: RowCipher::Aead(_), padding: Padding::Pkcs7, .. } => fault(
                "padding is for CBC only, other ciphers take values of any length: choose the padding none",
            ),
            RowOperation::Encrypt { cipher: RowCipher::Aead(alg), iv: IvFrom::Zero, .. }
            | RowOperation::Decrypt { cipher: RowCipher::Aead(alg), iv: IvFrom::Zero, .. }
                if !alg.may_repeat_ivs() =>
            {
                fault("GCM needs another IV for each value: name a column of IVs, or a column for new IVs")
            }
            RowOperation::Encrypt { cipher: RowCipher::Aead(_), iv: IvFrom::Key, .. }
            | RowOperation::Decrypt { cipher: RowCipher::Aead(_), iv: IvFrom::Key, .. } => {
                fault("only CBC takes the key as its own IV")
            }
            RowOperation::Encrypt { cipher: RowCipher::Aead(alg), iv: IvFrom::New(_), .. }
                if alg.is_siv() =>
            {
                fault("AES-SIV makes no IVs: use none (zero), or name a column of IVs")
            }
            RowOperation::Encrypt {
                cipher: RowCipher::Cbc(_),
                aead: AeadColumns { aad: Some(_), .. },
                ..
            }
            | RowOperation::Decrypt {
                cipher: RowCipher::Cbc(_),
                aead: AeadColumns { aad: Some(_), .. },
                ..
            } => {
                fault("CBC has no associated data: remove its column, or choose a cipher with authentication")
            }
            RowOperation::Decrypt { iv: IvFrom::New(_), .. }
            | RowOperation::Translate { iv: IvFrom::New(_), .. } => {
                fault("a decryption cannot make its IV: name the column that holds it")
            }
            RowOperation::Mac { alg, len } if !(MIN_MAC_LEN..=alg.tag_len()).contains(len) => {
                Err(PlanError::MacLength { alg: *alg, found: *len })
            }
            _ => Ok(()),
        }
    }

    /// Returns the encoding of the values that the job reads.
    pub(crate) fn value_encoding(&self) -> Encoding {
        match self.operation {
            RowOperation::Tokenise { .. } | RowOperation::Detokenise { .. } => Encoding::Text,
            RowOperation::Encrypt { .. } | RowOperation::Mac { .. } => self.encoding,
            RowOperation::Decrypt { .. } | RowOperation::Translate { .. } => self.encoding.of_binary(),
        }
    }

    /// Returns the encoding of results.
    pub(crate) fn result_encoding(&self) -> Encoding {
        match self.operation {
            RowOperation::Tokenise { .. } | RowOperation::Detokenise { .. } => Encoding::Text,
            RowOperation::Decrypt { .. } => self.encoding,
            _ => self.encoding.of_binary(),
        }
    }

    pub(crate) fn task(&self) -> BatchTask {
        match self.operation {
            RowOperation::Encrypt { cipher, .. } => cipher.encryption(),
            RowOperation::Decrypt { cipher, .. } => cipher.decryption(),
            RowOperation::Translate { from, to, .. } => BatchTask::translate(from, to),
            RowOperation::Tokenise { alg, .. } => BatchTask::encrypt_format(alg),
            RowOperation::Detokenise { alg, .. } => BatchTask::decrypt_format(alg),
            RowOperation::Mac { alg, .. } => BatchTask::mac(alg),
        }
    }

    /// Returns the format of values and tokens, and the source of their tweaks.
    pub(crate) fn format(&self) -> Option<(&TokenFormat, &TweakFrom)> {
        match &self.operation {
            RowOperation::Tokenise { format, tweak, .. } | RowOperation::Detokenise { format, tweak, .. } => {
                Some((format, tweak))
            }
            _ => None,
        }
    }

    /// Returns the padding added before an encryption, with the length of a block.
    pub(crate) fn fills(&self) -> Option<(Padding, usize)> {
        match self.operation {
            RowOperation::Encrypt { cipher: RowCipher::Cbc(alg), padding, .. } => {
                Some((padding, alg.block_len()))
            }
            _ => None,
        }
    }

    /// Returns the padding removed after a decryption, with the length of a block.
    pub(crate) fn strips(&self) -> Option<(Padding, usize)> {
        match self.operation {
            RowOperation::Decrypt { cipher: RowCipher::Cbc(alg), padding, .. } => {
                Some((padding, alg.block_len()))
            }
            _ => None,
        }
    }
}

/// The bytes of a tag of GCM, SIV and GCM-SIV.
const TAG_LEN: usize = 16;

impl RowCipher {
    /// True for AES-SIV, which needs no IV.
    #[must_use]
    pub fn is_siv(self) -> bool {
        matches!(self, Self::Aead(alg) if alg.is_siv())
    }

    /// Returns the ciphers that take keys of a type, with those that authenticate first.
    pub fn fitting(key_type: KeyType) -> impl Iterator<Item = Self> {
        let fits = move |cipher: &Self| cipher.key_type() == key_type;
        let (cbc, aead): (Vec<Self>, Vec<Self>) =
            Self::ALL.into_iter().filter(fits).partition(|cipher| matches!(cipher, Self::Cbc(_)));
        aead.into_iter().chain(cbc)
    }

    /// Returns the cipher that is used with keys of a type if none is named: GCM, SIV or CBC.
    #[must_use]
    pub fn usual_for(key_type: KeyType) -> Option<Self> {
        Self::fitting(key_type).next()
    }

    /// Returns the task that encrypts.
    #[must_use]
    pub fn encryption(self) -> BatchTask {
        match self {
            Self::Cbc(alg) => BatchTask::encrypt(alg),
            Self::Aead(alg) => BatchTask::seal(alg),
        }
    }

    /// Returns the task that decrypts.
    #[must_use]
    pub fn decryption(self) -> BatchTask {
        match self {
            Self::Cbc(alg) => BatchTask::decrypt(alg),
            Self::Aead(alg) => BatchTask::open(alg),
        }
    }

    /// Returns the bytes of the IV at the start of a sealed value. AES-SIV has none.
    #[must_use]
    pub fn iv_len(self) -> usize {
        match self {
            Self::Cbc(alg) => alg.block_len(),
            Self::Aead(alg) => alg.usual_iv_len(),
        }
    }

    /// Returns the bytes of the tag at the end of a sealed value. CBC has none.
    #[must_use]
    pub fn tag_len(self) -> usize {
        if matches!(self, Self::Aead(_)) { TAG_LEN } else { 0 }
    }

    /// Splits a sealed value into IV, ciphertext and tag. Returns None if it is shorter than IV and tag.
    #[must_use]
    pub fn split_sealed(self, sealed: &[u8]) -> Option<[&[u8]; 3]> {
        let (iv, rest) = sealed.split_at_checked(self.iv_len())?;
        let (ciphertext, tag) = rest.split_at_checked(rest.len().checked_sub(self.tag_len())?)?;
        Some([iv, ciphertext, tag])
    }

    /// Every cipher.
    pub const ALL: [Self; 11] = [
        Self::Cbc(BlockCipher::Des),
        Self::Cbc(BlockCipher::Tdes2),
        Self::Cbc(BlockCipher::Tdes3),
        Self::Cbc(BlockCipher::Aes128),
        Self::Cbc(BlockCipher::Aes256),
        Self::Aead(AeadAlg::Aes128Gcm),
        Self::Aead(AeadAlg::Aes256Gcm),
        Self::Aead(AeadAlg::Aes128Siv),
        Self::Aead(AeadAlg::Aes256Siv),
        Self::Aead(AeadAlg::Aes128GcmSiv),
        Self::Aead(AeadAlg::Aes256GcmSiv),
    ];

    /// Returns the key type that it needs.
    #[must_use]
    pub fn key_type(self) -> KeyType {
        let key_type = match self {
            Self::Cbc(alg) => KeyType::for_cipher(alg),
            Self::Aead(alg) => KeyType::for_aead(alg),
        };
        // unreachable `None` because every cipher of rows has a type
        key_type.unwrap_or(KeyType::Aes256)
    }
}

/// Returns the MAC that is used with keys of a type if none is named: HMAC with SHA-256, or CMAC.
#[must_use]
pub fn usual_mac(key_type: KeyType) -> MacAlg {
    let suits = |alg: &MacAlg| KeyType::for_mac(*alg) == key_type;
    let preferred = [MacAlg::HmacSha256, MacAlg::Tdes2Cmac];
    preferred.into_iter().chain(MacAlg::ALL).find(suits).unwrap_or(MacAlg::HmacSha256)
}

/// The ways of making tokens with the keys of a table.
pub const TOKEN_ALGS: [FpeAlg; 2] = [FpeAlg::Aes128Ff1, FpeAlg::Aes256Ff1];

/// Short stable names: `tdes2-cbc`, `aes128-gcm`.
impl fmt::Display for RowCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cbc(alg) => write!(f, "{alg}-cbc"),
            Self::Aead(alg) => alg.fmt(f),
        }
    }
}

impl FromStr for RowCipher {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::find(&Self::ALL, name)
    }
}
