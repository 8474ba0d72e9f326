//! Composites of ML-DSA and a traditional signature: a signature is good if both of its halves are.

use std::fmt;

use crate::{Curve, DigestAlg, EcdsaEncoding, Key, KeyKind, MlDsaSet, NonceRule, SigningScheme};

/// A composite of ML-DSA and RSA, ECDSA or Ed25519. draft-ietf-lamps-pq-composite-sigs-13 section 7.
///
/// The draft's composites with P-521, Ed448 and the curves of Brainpool are missing, because those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CompositeAlg {
    /// ML-DSA-44 and RSASSA-PSS of 2048 bits.
    MlDsa44Rsa2048Pss,
    /// ML-DSA-44 and RSASSA-PKCS1-v1_5 of 2048 bits.
    MlDsa44Rsa2048Pkcs1,
    /// ML-DSA-44 and Ed25519.
    MlDsa44Ed25519,
    /// ML-DSA-44 and ECDSA over P-256.
    MlDsa44P256,
    /// ML-DSA-65 and RSASSA-PSS of 3072 bits.
    MlDsa65Rsa3072Pss,
    /// ML-DSA-65 and RSASSA-PKCS1-v1_5 of 3072 bits.
    MlDsa65Rsa3072Pkcs1,
    /// ML-DSA-65 and RSASSA-PSS of 4096 bits.
    MlDsa65Rsa4096Pss,
    /// ML-DSA-65 and RSASSA-PKCS1-v1_5 of 4096 bits.
    MlDsa65Rsa4096Pkcs1,
    /// ML-DSA-65 and ECDSA over P-256.
    MlDsa65P256,
    /// ML-DSA-65 and ECDSA over P-384.
    MlDsa65P384,
    /// ML-DSA-65 and Ed25519.
    MlDsa65Ed25519,
    /// ML-DSA-87 and ECDSA over P-384.
    MlDsa87P384,
    /// ML-DSA-87 and RSASSA-PSS of 3072 bits.
    MlDsa87Rsa3072Pss,
    /// ML-DSA-87 and RSASSA-PSS of 4096 bits.
    MlDsa87Rsa4096Pss,
}

/// The two keys of a composite, both private or both public. Neither may serve anything else: a signature by one of
/// them alone must not pass for half of a composite. Section 10.3 of the draft.
#[derive(Clone, Debug)]
pub struct CompositeParts {
    /// The algorithm.
    pub alg: CompositeAlg,
    /// The key of ML-DSA, whose private half is its seed.
    pub ml_dsa: Key,
    /// The key of the other algorithm.
    pub traditional: Key,
}

impl CompositeAlg {
    /// Every composite.
    pub const ALL: [Self; 14] = [
        Self::MlDsa44Rsa2048Pss,
        Self::MlDsa44Rsa2048Pkcs1,
        Self::MlDsa44Ed25519,
        Self::MlDsa44P256,
        Self::MlDsa65Rsa3072Pss,
        Self::MlDsa65Rsa3072Pkcs1,
        Self::MlDsa65Rsa4096Pss,
        Self::MlDsa65Rsa4096Pkcs1,
        Self::MlDsa65P256,
        Self::MlDsa65P384,
        Self::MlDsa65Ed25519,
        Self::MlDsa87P384,
        Self::MlDsa87Rsa3072Pss,
        Self::MlDsa87Rsa4096Pss,
    ];

    /// The bytes before every message of a composite. Section 3.2 of the draft.
    pub const PREFIX: &'static [u8; 32] = b"CompositeAlgorithmSignatures2025";

    /// Returns the label, which binds a signature to its algorithm: `COMPSIG-` and the name of the standard. It is the
    /// context of the ML-DSA signature, too.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::MlDsa44Rsa2048Pss => "COMPSIG-MLDSA44-RSA2048-PSS-SHA256",
            Self::MlDsa44Rsa2048Pkcs1 => "COMPSIG-MLDSA44-RSA2048-PKCS15-SHA256",
            Self::MlDsa44Ed25519 => "COMPSIG-MLDSA44-Ed25519-SHA512",
            Self::MlDsa44P256 => "COMPSIG-MLDSA44-ECDSA-P256-SHA256",
            Self::MlDsa65Rsa3072Pss => "COMPSIG-MLDSA65-RSA3072-PSS-SHA512",
            Self::MlDsa65Rsa3072Pkcs1 => "COMPSIG-MLDSA65-RSA3072-PKCS15-SHA512",
            Self::MlDsa65Rsa4096Pss => "COMPSIG-MLDSA65-RSA4096-PSS-SHA512",
            Self::MlDsa65Rsa4096Pkcs1 => "COMPSIG-MLDSA65-RSA4096-PKCS15-SHA512",
            Self::MlDsa65P256 => "COMPSIG-MLDSA65-ECDSA-P256-SHA512",
            Self::MlDsa65P384 => "COMPSIG-MLDSA65-ECDSA-P384-SHA512",
            Self::MlDsa65Ed25519 => "COMPSIG-MLDSA65-Ed25519-SHA512",
            Self::MlDsa87P384 => "COMPSIG-MLDSA87-ECDSA-P384-SHA512",
            Self::MlDsa87Rsa3072Pss => "COMPSIG-MLDSA87-RSA3072-PSS-SHA512",
            Self::MlDsa87Rsa4096Pss => "COMPSIG-MLDSA87-RSA4096-PSS-SHA512",
        }
    }

    /// Returns the name of the standard, such as `MLDSA44-ECDSA-P256-SHA256`.
    #[must_use]
    pub fn standard_name(self) -> &'static str {
        self.label().trim_start_matches("COMPSIG-")
    }

    /// Returns the parameter set of ML-DSA.
    #[must_use]
    pub const fn set(self) -> MlDsaSet {
        match self {
            Self::MlDsa44Rsa2048Pss
            | Self::MlDsa44Rsa2048Pkcs1
            | Self::MlDsa44Ed25519
            | Self::MlDsa44P256 => MlDsaSet::MlDsa44,
            Self::MlDsa65Rsa3072Pss
            | Self::MlDsa65Rsa3072Pkcs1
            | Self::MlDsa65Rsa4096Pss
            | Self::MlDsa65Rsa4096Pkcs1
            | Self::MlDsa65P256
            | Self::MlDsa65P384
            | Self::MlDsa65Ed25519 => MlDsaSet::MlDsa65,
            Self::MlDsa87P384 | Self::MlDsa87Rsa3072Pss | Self::MlDsa87Rsa4096Pss => MlDsaSet::MlDsa87,
        }
    }

    /// Returns the digest of the message, which both components sign. Each hashes it again as its own rule says.
    #[must_use]
    pub const fn pre_hash(self) -> DigestAlg {
        match self {
            Self::MlDsa44Rsa2048Pss | Self::MlDsa44Rsa2048Pkcs1 | Self::MlDsa44P256 => DigestAlg::Sha256,
            _ => DigestAlg::Sha512,
        }
    }

    /// Returns the scheme of the other component. Sections 7 and 7.1 of the draft.
    #[must_use]
    pub const fn traditional(self) -> SigningScheme {
        match self {
            Self::MlDsa44Rsa2048Pss | Self::MlDsa65Rsa3072Pss | Self::MlDsa87Rsa3072Pss => {
                SigningScheme::RSA_PSS_SHA256
            }
            Self::MlDsa65Rsa4096Pss | Self::MlDsa87Rsa4096Pss => SigningScheme::RSA_PSS_SHA384,
            Self::MlDsa44Rsa2048Pkcs1 | Self::MlDsa65Rsa3072Pkcs1 => SigningScheme::RSA_PKCS1_SHA256,
            Self::MlDsa65Rsa4096Pkcs1 => SigningScheme::RSA_PKCS1_SHA384,
            Self::MlDsa44Ed25519 | Self::MlDsa65Ed25519 => SigningScheme::ED25519,
            Self::MlDsa44P256 | Self::MlDsa65P256 => {
                SigningScheme::ecdsa(Curve::P256, DigestAlg::Sha256, EcdsaEncoding::Der, NonceRule::Hedged)
            }
            Self::MlDsa65P384 | Self::MlDsa87P384 => {
                SigningScheme::ecdsa(Curve::P384, DigestAlg::Sha384, EcdsaEncoding::Der, NonceRule::Hedged)
            }
        }
    }

    /// Returns the kind of the other component's private key.
    #[must_use]
    pub const fn traditional_kind(self) -> KeyKind {
        match self {
            Self::MlDsa44Rsa2048Pss | Self::MlDsa44Rsa2048Pkcs1 => KeyKind::RsaPrivate(2048),
            Self::MlDsa65Rsa3072Pss | Self::MlDsa65Rsa3072Pkcs1 | Self::MlDsa87Rsa3072Pss => {
                KeyKind::RsaPrivate(3072)
            }
            Self::MlDsa65Rsa4096Pss | Self::MlDsa65Rsa4096Pkcs1 | Self::MlDsa87Rsa4096Pss => {
                KeyKind::RsaPrivate(4096)
            }
            Self::MlDsa44Ed25519 | Self::MlDsa65Ed25519 => KeyKind::Ed25519Private,
            Self::MlDsa44P256 | Self::MlDsa65P256 => KeyKind::EcPrivate(Curve::P256),
            Self::MlDsa65P384 | Self::MlDsa87P384 => KeyKind::EcPrivate(Curve::P384),
        }
    }
}

/// Writes the name of the standard in small letters.
impl fmt::Display for CompositeAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.standard_name().to_ascii_lowercase())
    }
}
