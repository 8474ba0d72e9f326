//! The purpose of a symmetric key. The importer states it, and nothing guesses it from the length.

use std::fmt;

use crate::{AeadAlg, BlockCipher, FpeAlg, MacAlg, WrapAlg};

/// The type of a symmetric key. Keys of 16 bytes may be two-key triple DES, AES-128 or HMAC keys; only the type decides
/// which, and no key of one type is ever used as another, nor a part of one as a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KeyType {
    /// Single DES, 8 bytes.
    Des,
    /// Triple DES with two keys, 16 bytes.
    Tdes2,
    /// Triple DES with three keys, 24 bytes.
    Tdes3,
    /// AES-128, 16 bytes.
    Aes128,
    /// AES-256, 32 bytes.
    Aes256,
    /// HMAC, 1 byte or more.
    Hmac,
    /// AES-SIV with two AES-128 keys, 32 bytes.
    Aes128Siv,
    /// AES-SIV with two AES-256 keys, 64 bytes.
    Aes256Siv,
}

impl KeyType {
    /// Every type.
    pub const ALL: [Self; 8] = [
        Self::Des,
        Self::Tdes2,
        Self::Tdes3,
        Self::Aes128,
        Self::Aes256,
        Self::Hmac,
        Self::Aes128Siv,
        Self::Aes256Siv,
    ];

    /// Bytes of a key, or None for HMAC, which takes any length.
    #[must_use]
    pub fn key_len(self) -> Option<usize> {
        match self {
            Self::Aes128Siv => Some(AeadAlg::Aes128Siv.key_len()),
            Self::Aes256Siv => Some(AeadAlg::Aes256Siv.key_len()),
            _ => self.cipher().map(BlockCipher::key_len),
        }
    }

    /// The block cipher that the whole key is for, or None for HMAC and AES-SIV.
    #[must_use]
    pub fn cipher(self) -> Option<BlockCipher> {
        match self {
            Self::Des => Some(BlockCipher::Des),
            Self::Tdes2 => Some(BlockCipher::Tdes2),
            Self::Tdes3 => Some(BlockCipher::Tdes3),
            Self::Aes128 => Some(BlockCipher::Aes128),
            Self::Aes256 => Some(BlockCipher::Aes256),
            Self::Hmac | Self::Aes128Siv | Self::Aes256Siv => None,
        }
    }

    /// True for DES and triple DES.
    #[must_use]
    pub fn is_des_family(self) -> bool {
        matches!(self, Self::Des | Self::Tdes2 | Self::Tdes3)
    }

    /// True if a key of this type may have `len` bytes.
    #[must_use]
    pub fn takes_len(self, len: usize) -> bool {
        self.key_len().map_or((1..=usize::from(u16::MAX)).contains(&len), |key_len| key_len == len)
    }

    /// Returns the type that a cipher needs, or `None` if no type is for it.
    #[must_use]
    pub fn for_cipher(alg: BlockCipher) -> Option<Self> {
        Self::ALL.into_iter().find(|key_type| key_type.cipher() == Some(alg))
    }

    /// Returns the type that an AEAD algorithm needs, or `None` if no type is for it.
    #[must_use]
    pub fn for_aead(alg: AeadAlg) -> Option<Self> {
        match alg {
            AeadAlg::Aes128Gcm | AeadAlg::Aes128GcmSiv => Some(Self::Aes128),
            AeadAlg::Aes256Gcm | AeadAlg::Aes256GcmSiv => Some(Self::Aes256),
            AeadAlg::Aes128Siv => Some(Self::Aes128Siv),
            AeadAlg::Aes256Siv => Some(Self::Aes256Siv),
            _ => None,
        }
    }

    /// Returns the type that an encryption that keeps formats needs, or `None` if no type is for it.
    #[must_use]
    pub fn for_fpe(alg: FpeAlg) -> Option<Self> {
        match alg {
            FpeAlg::Aes128Ff1 => Some(Self::Aes128),
            FpeAlg::Aes192Ff1 => None,
            FpeAlg::Aes256Ff1 => Some(Self::Aes256),
        }
    }

    /// Returns the type that a MAC algorithm needs.
    #[must_use]
    pub fn for_mac(alg: MacAlg) -> Self {
        match alg {
            MacAlg::DesMac(_) => Self::Des,
            MacAlg::RetailMac(_) | MacAlg::Tdes2Cmac => Self::Tdes2,
            MacAlg::Tdes3Cmac => Self::Tdes3,
            MacAlg::Aes128Cmac => Self::Aes128,
            MacAlg::Aes256Cmac => Self::Aes256,
            MacAlg::HmacSha1
            | MacAlg::HmacSha224
            | MacAlg::HmacSha256
            | MacAlg::HmacSha384
            | MacAlg::HmacSha512 => Self::Hmac,
        }
    }

    /// Returns the type that a key wrap needs.
    #[must_use]
    pub fn for_wrap(alg: WrapAlg) -> Self {
        match alg {
            WrapAlg::Aes128Kw | WrapAlg::Aes128Kwp => Self::Aes128,
            WrapAlg::Aes256Kw | WrapAlg::Aes256Kwp => Self::Aes256,
        }
    }
}

/// Writes short stable names: `tdes2`, `hmac`.
impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.cipher()) {
            (_, Some(cipher)) => cipher.fmt(f),
            (Self::Aes128Siv, _) => f.write_str("aes128-siv"),
            (Self::Aes256Siv, _) => f.write_str("aes256-siv"),
            _ => f.write_str("hmac"),
        }
    }
}
