//! Composites of ML-DSA and a traditional signature: a signature is good if both of its halves are.

use std::fmt;

use crate::{DigestAlg, MlDsaSet};

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
}

/// Writes the name of the standard in small letters.
impl fmt::Display for CompositeAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.standard_name().to_ascii_lowercase())
    }
}
