//! The tasks of records, and the sources of their IVs.

use std::fmt;

use crate::{
    AeadAlg, BlockCipher, CipherMode, CipherSpec, ColumnValue, DigestAlg, Direction, FpeAlg, KeyType, MacAlg,
    OutputSink, Shape, Span, WrapAlg,
};

/// The task of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BatchTask {
    /// Computes a raw shape.
    Do(Shape),
    /// Unwraps a key into a slot, for later records of the batch.
    ///
    /// A check value of three bytes in the tag column is compared. Legacy wraps must have one, and AES wraps may. It
    /// is the check value of PKCS#11 (v3.0 section 4.10, `CKA_CHECK_VALUE`) and, for triple DES, of ANSI X9.24-1: the
    /// first three bytes of a block of zeros encrypted under the key.
    UnwrapKey {
        /// The way it is wrapped.
        wrap: KeyWrap,
        /// The type of key that comes out.
        key: KeyType,
    },
}

/// The way a key is wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyWrap {
    /// AES key wrap, with or without padding. RFC 3394 and RFC 5649.
    Aes(WrapAlg),
    /// Block by block under a triple-DES key. Nothing detects a block that was moved or left out.
    LegacyEcb(BlockCipher),
    /// CBC mode under a triple-DES key and a zero IV. Nothing detects a block that was left out.
    LegacyCbc(BlockCipher),
}

/// The source of an IV.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IvSource {
    /// The data, at the span of the IV column.
    #[default]
    Given,
    /// A slot that an earlier record filled with data.
    Slot(u32),
    /// Zeros.
    Zero,
    /// The leading bytes of the key.
    KeyItself,
    /// A new IV, made as the key's policy says and written to this sink.
    Generated(OutputSink),
}

impl BatchTask {
    /// Encrypts whole blocks in CBC mode.
    #[must_use]
    pub fn encrypt(alg: BlockCipher) -> Self {
        Self::Do(Shape::Cipher { alg, mode: CipherMode::Cbc, direction: Direction::Encrypt })
    }

    /// Decrypts whole blocks in CBC mode.
    #[must_use]
    pub fn decrypt(alg: BlockCipher) -> Self {
        Self::Do(Shape::Cipher { alg, mode: CipherMode::Cbc, direction: Direction::Decrypt })
    }

    /// Encrypts and authenticates with an AEAD algorithm.
    #[must_use]
    pub fn seal(alg: AeadAlg) -> Self {
        Self::Do(Shape::Aead { alg, direction: Direction::Encrypt })
    }

    /// Checks the tag and decrypts with an AEAD algorithm.
    #[must_use]
    pub fn open(alg: AeadAlg) -> Self {
        Self::Do(Shape::Aead { alg, direction: Direction::Decrypt })
    }

    /// Encrypts numerals of a radix, as many as there are. The IV column has the radix: four bytes, big-endian.
    #[must_use]
    pub fn encrypt_format(alg: FpeAlg) -> Self {
        Self::Do(Shape::Fpe { alg, direction: Direction::Encrypt })
    }

    /// Decrypts numerals of a radix.
    #[must_use]
    pub fn decrypt_format(alg: FpeAlg) -> Self {
        Self::Do(Shape::Fpe { alg, direction: Direction::Decrypt })
    }

    /// Makes a message authentication code.
    #[must_use]
    pub fn mac(alg: MacAlg) -> Self {
        Self::Do(Shape::Mac { alg })
    }

    /// Hashes a message.
    #[must_use]
    pub fn digest(alg: DigestAlg) -> Self {
        Self::Do(Shape::Digest { alg })
    }

    /// Wraps a key from a slot, or the caller's bytes.
    #[must_use]
    pub fn wrap(alg: WrapAlg) -> Self {
        Self::Do(Shape::Wrap { alg, direction: Direction::Encrypt })
    }

    /// Unwraps a key into a slot.
    #[must_use]
    pub fn unwrap_key(wrap: KeyWrap, key: KeyType) -> Self {
        Self::UnwrapKey { wrap, key }
    }

    /// Decrypts in CBC mode under one key and encrypts under another.
    #[must_use]
    pub fn translate(from: BlockCipher, to: BlockCipher) -> Self {
        let spec = |alg| CipherSpec { alg, mode: CipherMode::Cbc };
        Self::Do(Shape::Translate { from: spec(from), to: spec(to) })
    }

    /// Returns the shape that the engines compute.
    #[must_use]
    pub fn shape(self) -> Shape {
        match self {
            Self::Do(shape) => shape,
            Self::UnwrapKey { wrap: KeyWrap::Aes(alg), .. } => {
                Shape::Wrap { alg, direction: Direction::Decrypt }
            }
            // CBC with the previous block added again is ECB. `unwrapped` adds it.
            Self::UnwrapKey { wrap: KeyWrap::LegacyEcb(alg) | KeyWrap::LegacyCbc(alg), .. } => {
                Shape::Cipher { alg, mode: CipherMode::Cbc, direction: Direction::Decrypt }
            }
        }
    }

    /// Returns the length of an IV that is made for the task, or `None` if the task has no such IV.
    #[must_use]
    pub fn iv_len(self) -> Option<usize> {
        match self {
            Self::Do(Shape::Cipher { alg, .. }) => Some(alg.block_len()),
            Self::Do(Shape::Aead { alg, .. }) => Some(alg.usual_iv_len()),
            Self::Do(Shape::Fpe { .. }) => Some(RADIX_LEN),
            Self::Do(Shape::Translate { from, .. }) => Some(from.alg.block_len()),
            Self::Do(Shape::DigestPart { alg }) => Some(alg.state_len()),
            Self::Do(Shape::Chain { cipher, .. }) => Some(cipher.alg.block_len()),
            _ => None,
        }
    }

    /// Returns the span of associated data that is absent: [`Span::ABSENT`] under AES-SIV, which tells it from an empty
    /// string, and an empty span otherwise.
    #[must_use]
    pub fn absent_aad(self) -> Span {
        match self {
            Self::Do(Shape::Aead { alg, .. }) if alg.is_siv() => Span::ABSENT,
            _ => Span::default(),
        }
    }

    /// Returns the length of an IV that is made for the encrypting half of a translation.
    #[must_use]
    pub fn second_iv_len(self) -> Option<usize> {
        match self {
            Self::Do(Shape::Translate { to, .. }) => Some(to.alg.block_len()),
            _ => None,
        }
    }

    /// True if the task has a key. A hash has none.
    #[must_use]
    pub fn has_key(self) -> bool {
        !matches!(self, Self::Do(Shape::Digest { .. } | Shape::DigestPart { .. }))
    }

    /// True if the task decrypts under one key and encrypts under another.
    #[must_use]
    pub fn has_second_key(self) -> bool {
        matches!(self, Self::Do(Shape::Translate { .. }))
    }

    /// True if the task encrypts and makes a tag.
    #[must_use]
    pub fn is_seal(self) -> bool {
        matches!(self, Self::Do(Shape::Aead { direction: Direction::Encrypt, .. }))
    }

    /// True if the task encrypts under an algorithm whose IVs must never repeat: GCM.
    #[must_use]
    pub fn is_gcm_seal(self) -> bool {
        match self {
            Self::Do(Shape::Aead { alg, direction: Direction::Encrypt }) => {
                !alg.is_siv() && !alg.may_repeat_ivs()
            }
            _ => false,
        }
    }

    /// True if the task checks a tag and decrypts.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Do(Shape::Aead { direction: Direction::Decrypt, .. }))
    }

    /// True if the task wraps a key, or the caller's bytes.
    #[must_use]
    pub fn is_wrapping(self) -> bool {
        matches!(self, Self::Do(Shape::Wrap { direction: Direction::Encrypt, .. }))
    }

    /// True if the task encrypts data under its first key.
    #[must_use]
    pub fn encrypts(self) -> bool {
        let is_encryption = matches!(
            self,
            Self::Do(
                Shape::Cipher { direction: Direction::Encrypt, .. }
                    | Shape::Fpe { direction: Direction::Encrypt, .. }
            )
        );
        is_encryption || self.is_seal()
    }

    /// True if the task decrypts data under its first key and gives the plaintext.
    #[must_use]
    pub fn decrypts(self) -> bool {
        let is_decryption = matches!(
            self,
            Self::Do(
                Shape::Cipher { direction: Direction::Decrypt, .. }
                    | Shape::Fpe { direction: Direction::Decrypt, .. }
            )
        );
        is_decryption || self.is_open()
    }
}

/// The bytes of a radix in the IV column.
const RADIX_LEN: usize = 4;

impl ColumnValue for BatchTask {}

impl ColumnValue for IvSource {
    #[inline]
    fn further(self, by: u64) -> Option<Self> {
        match self {
            Self::Slot(slot) => u32::try_from(u64::from(slot).checked_add(by)?).ok().map(Self::Slot),
            Self::Generated(sink) => sink.further(by).map(Self::Generated),
            Self::Given | Self::Zero | Self::KeyItself => (by == 0).then_some(self),
        }
    }

    #[inline]
    fn stride_to(self, other: Self) -> Option<u32> {
        match (self, other) {
            (Self::Slot(slot), Self::Slot(other)) => other.checked_sub(slot),
            (Self::Generated(sink), Self::Generated(other)) => sink.stride_to(other),
            _ => None,
        }
    }
}

impl From<Shape> for BatchTask {
    fn from(shape: Shape) -> Self {
        Self::Do(shape)
    }
}

/// Writes short stable names: `des-cbc-encrypt`, `unwrap-tdes2-by-aes128-kw`.
impl fmt::Display for BatchTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Do(shape) => shape.fmt(f),
            Self::UnwrapKey { wrap, key } => write!(f, "unwrap-{key}-by-{wrap}"),
        }
    }
}

impl fmt::Display for KeyWrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aes(alg) => alg.fmt(f),
            Self::LegacyEcb(alg) => write!(f, "{alg}-ecb"),
            Self::LegacyCbc(alg) => write!(f, "{alg}-cbc"),
        }
    }
}
