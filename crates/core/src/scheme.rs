//! Schemes: what a job states, before the hall lowers it to a raw shape or hands it whole to a holder.

use std::fmt;

use crate::{Curve, DigestAlg};

/// A complete operation: padding, encoding and nonce rule included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// RSASSA-PKCS1-v1_5 signature. RFC 8017 8.2.1.
    RsaPkcs1Sign {
        /// Digest of the message.
        digest: DigestAlg,
    },
    /// RSASSA-PKCS1-v1_5 verification by comparing encodings. RFC 8017 8.2.2.
    RsaPkcs1Verify {
        /// Digest of the message.
        digest: DigestAlg,
    },
    /// RSASSA-PKCS1-v1_5 signature over T itself, what stands behind the padding: a DigestInfo of a digest that is not
    /// known here, or MD5 and SHA-1 of TLS 1.1; at most 11 bytes shorter than the modulus. Only with keys of this process.
    /// RFC 8017 9.2 from step 3 on, RFC 4346 7.4.8.
    RsaPkcs1SignEncoded,
    /// RSASSA-PKCS1-v1_5 verification of a signature over T itself, by comparing encodings. RFC 8017 9.2 from step 3 on.
    RsaPkcs1VerifyEncoded,
    /// RSASSA-PSS signature with MGF1. RFC 8017 8.1.1.
    RsaPssSign {
        /// Digest of the message.
        digest: DigestAlg,
        /// Digest of the mask generation.
        mgf: DigestAlg,
        /// Bytes of random salt.
        salt_len: u16,
    },
    /// RSASSA-PSS verification. RFC 8017 8.1.2.
    RsaPssVerify {
        /// Digest of the message.
        digest: DigestAlg,
        /// Digest of the mask generation.
        mgf: DigestAlg,
        /// Which salt lengths pass.
        salt: SaltLength,
    },
    /// RSAES-PKCS1-v1_5 decryption with implicit rejection: a bad padding gives a message that depends on key and
    /// ciphertext alone, never an error. RFC 8017 7.2.2, draft-irtf-cfrg-rsa-guidance section 7.
    RsaPkcs1Decrypt,
    /// RSAES-OAEP decryption; the label is the job's second input. RFC 8017 7.1.2.
    RsaOaepDecrypt {
        /// Digest of the label.
        digest: DigestAlg,
        /// Digest of the mask generation.
        mgf: DigestAlg,
    },
    /// ECDSA signature. FIPS 186-5 6.4.1.
    EcdsaSign {
        /// Curve, which the key must be on.
        curve: Curve,
        /// Digest of the message, also of RFC 6979.
        digest: DigestAlg,
        /// How r and s are written.
        encoding: EcdsaEncoding,
        /// Where the nonce comes from.
        nonce: NonceRule,
    },
    /// ECDSA verification. FIPS 186-5 6.4.2.
    EcdsaVerify {
        /// Curve, which the key must be on.
        curve: Curve,
        /// Digest of the message.
        digest: DigestAlg,
        /// How r and s are written.
        encoding: EcdsaEncoding,
    },
    /// Ed25519 over a whole message. RFC 8032 5.1.6.
    Ed25519Sign,
    /// Ed25519 verification; the predicate is [`Shape::Ed25519Verify`](crate::Shape::Ed25519Verify)'s.
    Ed25519Verify,
    /// X25519 agreement; a peer of small order, whose result is all zeros, is refused. RFC 7748 6.1.
    X25519,
}

/// How an ECDSA signature is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EcdsaEncoding {
    /// ASN.1 DER, `SEQUENCE { INTEGER r, INTEGER s }`, strict. RFC 3279 2.2.3.
    Der,
    /// r || s at the curve's width (IEEE P1363; DNSSEC, JOSE). RFC 6605 section 4.
    Fixed,
}

/// Where an ECDSA nonce comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NonceRule {
    /// From key, digest and 32 random bytes of the hall (engines without that input use their own random nonce).
    Hedged,
    /// From key and digest alone, for reproducible zones and tests. RFC 6979 3.2.
    Deterministic,
}

/// Which PSS salt lengths pass verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SaltLength {
    /// Exactly so many bytes.
    Exactly(u16),
    /// Any length that the encoding shows.
    Any,
}

impl Scheme {
    /// The digest that the scheme applies to its message; None where it takes the message itself.
    #[must_use]
    pub fn message_digest(self) -> Option<DigestAlg> {
        match self {
            Self::RsaPkcs1Sign { digest }
            | Self::RsaPkcs1Verify { digest }
            | Self::RsaPssSign { digest, .. }
            | Self::RsaPssVerify { digest, .. }
            | Self::EcdsaSign { digest, .. }
            | Self::EcdsaVerify { digest, .. } => Some(digest),
            _ => None,
        }
    }

    /// True where the answer is yes or no and there is no output.
    #[must_use]
    pub fn is_verification(self) -> bool {
        matches!(
            self,
            Self::RsaPkcs1Verify { .. }
                | Self::RsaPkcs1VerifyEncoded
                | Self::RsaPssVerify { .. }
                | Self::EcdsaVerify { .. }
                | Self::Ed25519Verify
        )
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RsaPkcs1Sign { digest } => write!(f, "rsa-pkcs1-{digest}-sign"),
            Self::RsaPkcs1Verify { digest } => write!(f, "rsa-pkcs1-{digest}-verify"),
            Self::RsaPkcs1SignEncoded => f.write_str("rsa-pkcs1-encoded-sign"),
            Self::RsaPkcs1VerifyEncoded => f.write_str("rsa-pkcs1-encoded-verify"),
            Self::RsaPssSign { digest, .. } => write!(f, "rsa-pss-{digest}-sign"),
            Self::RsaPssVerify { digest, .. } => write!(f, "rsa-pss-{digest}-verify"),
            Self::RsaPkcs1Decrypt => f.write_str("rsa-pkcs1-decrypt"),
            Self::RsaOaepDecrypt { digest, .. } => write!(f, "rsa-oaep-{digest}-decrypt"),
            Self::EcdsaSign { curve, digest, .. } => write!(f, "ecdsa-{curve}-{digest}-sign"),
            Self::EcdsaVerify { curve, digest, .. } => write!(f, "ecdsa-{curve}-{digest}-verify"),
            Self::Ed25519Sign => f.write_str("ed25519-sign"),
            Self::Ed25519Verify => f.write_str("ed25519-verify"),
            Self::X25519 => f.write_str("x25519"),
        }
    }
}
