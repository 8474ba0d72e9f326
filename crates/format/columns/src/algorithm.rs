//! The names of algorithms.

use std::fmt;
use std::str::FromStr;

use oarlock::{
    AeadAlg, BlockCipher, Curve, DigestAlg, EcdsaEncoding, FpeAlg, KeyKind, MacAlg, MacPadding, NonceRule,
    SaltLength, SigningScheme, VerifyingScheme,
};

use crate::ColumnError;

/// A cipher for columns. The names are those of the records tool.
///
/// A new cipher needs a variant here, its name in [`ColumnCipher::ALL`] and in `Display`, and its records in the
/// operations of the module `cipher`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnCipher {
    /// Cipher block chaining with PKCS#7 padding. A result is the IV and the ciphertext.
    Cbc(BlockCipher),
    /// Galois/counter mode. A result is the IV of 12 bytes, the ciphertext, and the tag of 16 bytes.
    Gcm(AeadAlg),
    /// AES-GCM-SIV (RFC 8452), with results like those of GCM. An IV may repeat; then equal values show.
    GcmSiv(AeadAlg),
    /// AES-SIV (RFC 5297) without an IV. A result is the tag of 16 bytes and the ciphertext. Equal values have equal
    /// results.
    Siv(AeadAlg),
}

impl ColumnCipher {
    /// AES-128 in Galois/counter mode.
    pub const AES128_GCM: Self = Self::Gcm(AeadAlg::Aes128Gcm);
    /// AES-256 in Galois/counter mode.
    pub const AES256_GCM: Self = Self::Gcm(AeadAlg::Aes256Gcm);
    /// AES-GCM-SIV with an AES-128 key.
    pub const AES128_GCM_SIV: Self = Self::GcmSiv(AeadAlg::Aes128GcmSiv);
    /// AES-GCM-SIV with an AES-256 key.
    pub const AES256_GCM_SIV: Self = Self::GcmSiv(AeadAlg::Aes256GcmSiv);
    /// AES-SIV with two AES-128 keys.
    pub const AES128_SIV: Self = Self::Siv(AeadAlg::Aes128Siv);
    /// AES-SIV with two AES-256 keys.
    pub const AES256_SIV: Self = Self::Siv(AeadAlg::Aes256Siv);
    /// AES-128 in CBC mode.
    pub const AES128_CBC: Self = Self::Cbc(BlockCipher::Aes128);
    /// AES-256 in CBC mode.
    pub const AES256_CBC: Self = Self::Cbc(BlockCipher::Aes256);

    /// Every cipher.
    pub const ALL: [Self; 11] = [
        Self::AES128_GCM,
        Self::AES256_GCM,
        Self::AES128_SIV,
        Self::AES256_SIV,
        Self::AES128_GCM_SIV,
        Self::AES256_GCM_SIV,
        Self::AES128_CBC,
        Self::AES256_CBC,
        Self::Cbc(BlockCipher::Des),
        Self::Cbc(BlockCipher::Tdes2),
        Self::Cbc(BlockCipher::Tdes3),
    ];

    /// Returns the length of an IV in bytes.
    #[must_use]
    pub fn iv_len(self) -> usize {
        match self {
            Self::Cbc(alg) => alg.block_len(),
            Self::Gcm(alg) | Self::GcmSiv(alg) | Self::Siv(alg) => alg.usual_iv_len(),
        }
    }

    /// Returns the length of a tag in bytes, which is 0 for CBC.
    pub(crate) fn tag_len(self) -> usize {
        // A GCM tag has up to 16 bytes, and all others have 16.
        self.aead().map_or(0, |alg| *alg.tag_lens().end())
    }

    /// Returns the algorithm, if it authenticates.
    pub(crate) fn aead(self) -> Option<AeadAlg> {
        match self {
            Self::Cbc(_) => None,
            Self::Gcm(alg) | Self::GcmSiv(alg) | Self::Siv(alg) => Some(alg),
        }
    }
}

impl fmt::Display for ColumnCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cbc(alg) => write!(f, "{alg}-cbc"),
            Self::Gcm(alg) | Self::GcmSiv(alg) | Self::Siv(alg) => alg.fmt(f),
        }
    }
}

impl FromStr for ColumnCipher {
    type Err = ColumnError;

    fn from_str(name: &str) -> Result<Self, ColumnError> {
        find("cipher", &Self::ALL, name)
    }
}

/// Every algorithm of authentication codes.
const MACS: [MacAlg; 13] = [
    MacAlg::HmacSha256,
    MacAlg::HmacSha1,
    MacAlg::HmacSha224,
    MacAlg::HmacSha384,
    MacAlg::HmacSha512,
    MacAlg::Aes128Cmac,
    MacAlg::Aes256Cmac,
    MacAlg::Tdes2Cmac,
    MacAlg::Tdes3Cmac,
    MacAlg::DesMac(MacPadding::Zeros),
    MacAlg::DesMac(MacPadding::OneThenZeros),
    MacAlg::RetailMac(MacPadding::Zeros),
    MacAlg::RetailMac(MacPadding::OneThenZeros),
];

/// Parses the name of an algorithm of authentication codes, such as `hmac-sha256` or `aes128-cmac`.
///
/// # Errors
/// The name is unknown.
pub fn parse_mac(name: &str) -> Result<MacAlg, ColumnError> {
    find("MAC", &MACS, name)
}

/// Parses the name of a digest, such as `sha256`.
///
/// # Errors
/// The name is unknown.
pub fn parse_digest(name: &str) -> Result<DigestAlg, ColumnError> {
    find("digest", &DigestAlg::ALL, name)
}

/// An algorithm of signatures. The curve of ECDSA is the key's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnSignature {
    /// RSASSA-PKCS1-v1_5.
    RsaPkcs1(DigestAlg),
    /// RSASSA-PSS with a salt as long as the digest. A verification takes any salt.
    RsaPss(DigestAlg),
    /// ECDSA.
    Ecdsa(DigestAlg, EcdsaEncoding),
    /// Ed25519.
    Ed25519,
}

impl ColumnSignature {
    /// Every algorithm.
    pub const ALL: [Self; 13] = [
        Self::Ed25519,
        Self::Ecdsa(DigestAlg::Sha256, EcdsaEncoding::Der),
        Self::Ecdsa(DigestAlg::Sha384, EcdsaEncoding::Der),
        Self::Ecdsa(DigestAlg::Sha512, EcdsaEncoding::Der),
        Self::Ecdsa(DigestAlg::Sha256, EcdsaEncoding::Fixed),
        Self::Ecdsa(DigestAlg::Sha384, EcdsaEncoding::Fixed),
        Self::Ecdsa(DigestAlg::Sha512, EcdsaEncoding::Fixed),
        Self::RsaPkcs1(DigestAlg::Sha256),
        Self::RsaPkcs1(DigestAlg::Sha384),
        Self::RsaPkcs1(DigestAlg::Sha512),
        Self::RsaPss(DigestAlg::Sha256),
        Self::RsaPss(DigestAlg::Sha384),
        Self::RsaPss(DigestAlg::Sha512),
    ];

    /// Returns the scheme that signs with a key of this kind, or `None` if the kind does not fit.
    pub(crate) fn signing(self, kind: KeyKind) -> Option<SigningScheme> {
        Some(match (self, kind) {
            (Self::RsaPkcs1(digest), KeyKind::RsaPrivate(_)) => SigningScheme::rsa_pkcs1(digest),
            (Self::RsaPss(digest), KeyKind::RsaPrivate(_)) => {
                SigningScheme::rsa_pss(digest, digest, u16::try_from(digest.output_len()).ok()?)
            }
            (Self::Ecdsa(digest, encoding), KeyKind::EcPrivate(curve)) => {
                SigningScheme::ecdsa(curve, digest, encoding, NonceRule::Hedged)
            }
            (Self::Ed25519, KeyKind::Ed25519Private) => SigningScheme::ED25519,
            _ => return None,
        })
    }

    /// Returns the scheme that verifies with a key of this kind, or `None` if the kind does not fit.
    pub(crate) fn verifying(self, kind: KeyKind) -> Option<VerifyingScheme> {
        Some(match (self, kind) {
            (Self::RsaPkcs1(digest), KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_)) => {
                VerifyingScheme::rsa_pkcs1(digest)
            }
            (Self::RsaPss(digest), KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_)) => {
                VerifyingScheme::rsa_pss(digest, digest, SaltLength::Any)
            }
            (Self::Ecdsa(digest, encoding), KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve)) => {
                VerifyingScheme::ecdsa(curve, digest, encoding)
            }
            (Self::Ed25519, KeyKind::Ed25519Private | KeyKind::Ed25519Public) => VerifyingScheme::ED25519,
            _ => return None,
        })
    }

    /// Returns the usual algorithm of a kind of key, or `None` if such a key signs nothing.
    #[must_use]
    pub fn usual(kind: KeyKind) -> Option<Self> {
        Some(match kind {
            KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_) => Self::RsaPkcs1(DigestAlg::Sha256),
            KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve) => {
                let digest = if curve == Curve::P384 { DigestAlg::Sha384 } else { DigestAlg::Sha256 };
                Self::Ecdsa(digest, EcdsaEncoding::Der)
            }
            KeyKind::Ed25519Private | KeyKind::Ed25519Public => Self::Ed25519,
            _ => return None,
        })
    }
}

/// Writes the names of `oarlock call`: `ecdsa-sha256`, `ecdsa-sha256-fixed`, `rsa-pss-sha256`.
impl fmt::Display for ColumnSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RsaPkcs1(digest) => write!(f, "rsa-pkcs1-{digest}"),
            Self::RsaPss(digest) => write!(f, "rsa-pss-{digest}"),
            Self::Ecdsa(digest, EcdsaEncoding::Der) => write!(f, "ecdsa-{digest}"),
            Self::Ecdsa(digest, EcdsaEncoding::Fixed) => write!(f, "ecdsa-{digest}-fixed"),
            Self::Ed25519 => f.write_str("ed25519"),
        }
    }
}

impl FromStr for ColumnSignature {
    type Err = ColumnError;

    fn from_str(name: &str) -> Result<Self, ColumnError> {
        find("signature algorithm", &Self::ALL, name)
    }
}

/// The algorithms of tokens, the usual one first.
const TOKENS: [FpeAlg; 2] = [FpeAlg::Aes256Ff1, FpeAlg::Aes128Ff1];

/// Parses the name of an algorithm of tokens: `aes256-ff1` or `aes128-ff1`.
///
/// # Errors
/// The name is unknown.
pub fn parse_tokens(name: &str) -> Result<FpeAlg, ColumnError> {
    find("algorithm of tokens", &TOKENS, name)
}

/// Finds the value of `all` that is displayed as `name`.
fn find<T: fmt::Display + Copy>(what: &'static str, all: &[T], name: &str) -> Result<T, ColumnError> {
    let found = all.iter().find(|candidate| candidate.to_string() == name).copied();
    found.ok_or_else(|| {
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        ColumnError::UnknownName { what, expected: names.join(", "), found: name.to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_as_its_algorithm() {
        for cipher in ColumnCipher::ALL {
            assert_eq!(cipher.to_string().parse(), Ok(cipher));
        }
        for alg in ColumnSignature::ALL {
            assert_eq!(alg.to_string().parse(), Ok(alg));
        }
        for alg in MACS {
            assert_eq!(parse_mac(&alg.to_string()), Ok(alg));
        }
        for alg in DigestAlg::ALL {
            assert_eq!(parse_digest(&alg.to_string()), Ok(alg));
        }
        for alg in TOKENS {
            assert_eq!(parse_tokens(&alg.to_string()), Ok(alg));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "aes-gcm".parse::<ColumnCipher>().unwrap_err().to_string();
        assert!(error.contains("cipher \"aes-gcm\"") && error.contains("aes128-gcm, aes256-gcm"), "{error}");
    }
}
