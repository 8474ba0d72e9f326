//! What is done with every row of a file.

use std::fmt;
use std::str::FromStr;

use oarlock::batch::BatchTask;
use oarlock::table::KeyType;
use oarlock::{AeadAlg, BlockCipher, MacAlg};

use crate::error::{PlanError, UnknownName};
use crate::{Encoding, Padding};

/// What is done with every row: which columns hold what, and where results go.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is done.
    pub work: Work,
    /// The column of the values.
    pub value: String,
    /// The column of the results; None where they take the place of the values.
    pub into: Option<String>,
    /// The key; of a translation, the one that decrypts.
    pub key: KeyFrom,
    /// How values, IVs, tags and associated data are written.
    pub encoding: Encoding,
    /// True if a decryption leaves the columns of IVs and tags out of its output.
    pub drops_ivs: bool,
    /// True where rejected rows are kept with their reason. They hold what the caller gave: of an encryption, the plaintext.
    pub keeps_rejected_rows: bool,
}

/// What is done with a value.
#[derive(Clone, Debug)]
pub enum Work {
    /// Encrypts it.
    Encrypt {
        /// How.
        cipher: Cipher,
        /// The column of the IVs, and where they come from.
        iv: IvFrom,
        /// What fills the last block.
        padding: Padding,
        /// Columns that GCM has beside.
        gcm: GcmColumns,
    },
    /// Decrypts it.
    Decrypt {
        /// How.
        cipher: Cipher,
        /// The column of the IVs, and where they come from.
        iv: IvFrom,
        /// What fills the last block.
        padding: Padding,
        /// Columns that GCM has beside.
        gcm: GcmColumns,
    },
    /// Decrypts it under one key and encrypts it under another; nobody sees the plaintext.
    Translate {
        /// How it is encrypted.
        from: BlockCipher,
        /// Its IV.
        iv: IvFrom,
        /// How it comes to be encrypted.
        to: BlockCipher,
        /// The key for that.
        to_key: KeyFrom,
        /// The IV for that.
        to_iv: IvFrom,
    },
    /// Makes a message authentication code.
    Mac {
        /// How.
        alg: MacAlg,
        /// So many leading bytes of it.
        len: usize,
    },
}

/// A cipher in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// Cipher block chaining.
    Cbc(BlockCipher),
    /// Galois/counter mode, tags in a column of their own.
    Gcm(AeadAlg),
}

/// Columns that GCM has beside value and IV.
#[derive(Clone, Debug, Default)]
pub struct GcmColumns {
    /// Tags: written when encrypting, compared when decrypting.
    pub tag: String,
    /// Associated data, where there is any.
    pub aad: Option<String>,
}

/// Where a row's key is.
#[derive(Clone, Debug)]
pub enum KeyFrom {
    /// All rows have the table's key at this index.
    One(u32),
    /// A column names it.
    Column(String),
}

/// Where a row's IV is.
#[derive(Clone, Debug)]
pub enum IvFrom {
    /// In this column.
    Column(String),
    /// Made as the key's policy says, random or counted, and written to this column.
    New(String),
    /// Zeros.
    Zero,
    /// The leading bytes of the key.
    Key,
}

impl Job {
    /// Whether the options go together.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let fault = |what| Err(PlanError::Contradiction { what });
        match &self.work {
            Work::Encrypt { cipher: Cipher::Gcm(_), padding: Padding::Pkcs7, .. }
            | Work::Decrypt { cipher: Cipher::Gcm(_), padding: Padding::Pkcs7, .. } => {
                fault("GCM takes values of any length: it has no padding")
            }
            Work::Encrypt { cipher: Cipher::Gcm(_), iv: IvFrom::Zero | IvFrom::Key, .. }
            | Work::Decrypt { cipher: Cipher::Gcm(_), iv: IvFrom::Zero | IvFrom::Key, .. } => {
                fault("GCM needs another IV for each value")
            }
            Work::Encrypt { cipher: Cipher::Cbc(_), gcm: GcmColumns { aad: Some(_), .. }, .. }
            | Work::Decrypt { cipher: Cipher::Cbc(_), gcm: GcmColumns { aad: Some(_), .. }, .. } => {
                fault("only GCM has associated data")
            }
            Work::Decrypt { iv: IvFrom::New(_), .. } | Work::Translate { iv: IvFrom::New(_), .. } => {
                fault("an IV to decrypt with is not made")
            }
            Work::Mac { alg, len } if !(4..=alg.tag_len()).contains(len) => {
                fault("the code has fewer bytes than that, or fewer than 4 are asked for")
            }
            _ => Ok(()),
        }
    }

    /// Returns the encoding of the values that the job reads.
    pub(crate) fn value_encoding(&self) -> Encoding {
        match self.work {
            Work::Encrypt { .. } | Work::Mac { .. } => self.encoding,
            Work::Decrypt { .. } | Work::Translate { .. } => self.encoding.of_binary(),
        }
    }

    /// Returns the encoding of results.
    pub(crate) fn result_encoding(&self) -> Encoding {
        match self.work {
            Work::Decrypt { .. } => self.encoding,
            _ => self.encoding.of_binary(),
        }
    }

    pub(crate) fn task(&self) -> BatchTask {
        match self.work {
            Work::Encrypt { cipher: Cipher::Cbc(alg), .. } => BatchTask::encrypt(alg),
            Work::Decrypt { cipher: Cipher::Cbc(alg), .. } => BatchTask::decrypt(alg),
            Work::Encrypt { cipher: Cipher::Gcm(alg), .. } => BatchTask::seal(alg),
            Work::Decrypt { cipher: Cipher::Gcm(alg), .. } => BatchTask::open(alg),
            Work::Translate { from, to, .. } => BatchTask::translate(from, to),
            Work::Mac { alg, .. } => BatchTask::mac(alg),
        }
    }

    /// What fills values before they are encrypted, with the length of a block.
    pub(crate) fn fills(&self) -> Option<(Padding, usize)> {
        match self.work {
            Work::Encrypt { cipher: Cipher::Cbc(alg), padding, .. } => Some((padding, alg.block_len())),
            _ => None,
        }
    }

    /// What is taken off values after they are decrypted, with the length of a block.
    pub(crate) fn strips(&self) -> Option<(Padding, usize)> {
        match self.work {
            Work::Decrypt { cipher: Cipher::Cbc(alg), padding, .. } => Some((padding, alg.block_len())),
            _ => None,
        }
    }
}

impl Cipher {
    /// Every cipher.
    pub const ALL: [Self; 7] = [
        Self::Cbc(BlockCipher::Des),
        Self::Cbc(BlockCipher::Tdes2),
        Self::Cbc(BlockCipher::Tdes3),
        Self::Cbc(BlockCipher::Aes128),
        Self::Cbc(BlockCipher::Aes256),
        Self::Gcm(AeadAlg::Aes128Gcm),
        Self::Gcm(AeadAlg::Aes256Gcm),
    ];

    /// The type of key that it needs.
    #[must_use]
    pub fn key_type(self) -> KeyType {
        match self {
            Self::Cbc(BlockCipher::Des) => KeyType::Des,
            Self::Cbc(BlockCipher::Tdes2) => KeyType::Tdes2,
            Self::Cbc(BlockCipher::Tdes3) => KeyType::Tdes3,
            Self::Cbc(BlockCipher::Aes128) | Self::Gcm(AeadAlg::Aes128Gcm) => KeyType::Aes128,
            _ => KeyType::Aes256,
        }
    }
}

/// The type of key that a MAC algorithm needs.
#[must_use]
pub fn key_type_of_mac(alg: MacAlg) -> KeyType {
    match alg {
        MacAlg::DesMac(_) => KeyType::Des,
        MacAlg::RetailMac(_) | MacAlg::Tdes2Cmac => KeyType::Tdes2,
        MacAlg::Tdes3Cmac => KeyType::Tdes3,
        MacAlg::Aes128Cmac => KeyType::Aes128,
        MacAlg::Aes256Cmac => KeyType::Aes256,
        _ => KeyType::Hmac,
    }
}

/// Short stable names: `tdes2-cbc`, `aes128-gcm`.
impl fmt::Display for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cbc(alg) => write!(f, "{alg}-cbc"),
            Self::Gcm(alg) => alg.fmt(f),
        }
    }
}

impl FromStr for Cipher {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        UnknownName::find(&Self::ALL, name)
    }
}
