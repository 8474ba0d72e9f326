//! Schemes: the complete operation that a job asks for. The facade lowers it to a raw shape or passes it to a holder.

mod composite;
mod ml_dsa;

use std::fmt;

pub use ml_dsa::MlDsaVariant;

use crate::{CompositeAlg, Curve, DigestAlg, JobError, MlDsaSet, MlKemSet, SlhDsaSet};

/// A complete operation with its padding, encoding and nonce rule.
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
    /// RSASSA-PKCS1-v1_5 signature over T itself, the part behind the padding.
    ///
    /// T is a DigestInfo of a digest that this crate does not know, or MD5 and SHA-1 of TLS 1.1. It is at least 11
    /// bytes shorter than the modulus. Only local keys can do this. RFC 8017 9.2 from step 3 on, RFC 4346 7.4.8.
    RsaPkcs1SignEncoded,
    /// RSASSA-PKCS1-v1_5 verification of a signature over T itself, by comparing encodings. RFC 8017 9.2 from step 3
    /// on.
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
        /// The salt lengths that pass.
        salt: SaltLength,
    },
    /// RSAES-PKCS1-v1_5 decryption with implicit rejection.
    ///
    /// A bad padding gives a message that depends on the key and the ciphertext alone, and never an error. RFC 8017
    /// 7.2.2, draft-irtf-cfrg-rsa-guidance section 7.
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
        /// The curve of the key.
        curve: Curve,
        /// Digest of the message, which RFC 6979 uses too.
        digest: DigestAlg,
        /// The form of r and s.
        encoding: EcdsaEncoding,
        /// The source of the nonce.
        nonce: NonceRule,
    },
    /// ECDSA verification. FIPS 186-5 6.4.2.
    EcdsaVerify {
        /// The curve of the key.
        curve: Curve,
        /// Digest of the message.
        digest: DigestAlg,
        /// The form of r and s.
        encoding: EcdsaEncoding,
    },
    /// Ed25519 over a whole message. RFC 8032 5.1.6.
    Ed25519Sign,
    /// Ed25519 verification by the predicate of [`Shape::Ed25519Verify`](crate::Shape::Ed25519Verify).
    Ed25519Verify,
    /// X25519 agreement. It refuses a peer of small order, whose result would be all zeros. RFC 7748 6.1.
    X25519,
    /// ECDH over a NIST curve. The output is the x-coordinate at the width of the curve.
    ///
    /// The message is the peer's point, uncompressed. A point that is not on the curve is refused. NIST SP 800-56A
    /// 5.7.1.2, RFC 8446 7.4.2.
    Ecdh {
        /// The curve of the key.
        curve: Curve,
    },
    /// The public half of an ML-KEM private key that holds its seed. The message is empty. The output is the
    /// encapsulation key. FIPS 203 algorithm 16.
    MlKemKeygen {
        /// The parameter set of the key.
        set: MlKemSet,
    },
    /// ML-KEM encapsulation under a public key, with fresh random bytes. The message is empty. The output is the
    /// ciphertext, and behind it the shared secret of 32 bytes. FIPS 203 algorithm 20.
    MlKemEncaps {
        /// The parameter set of the key.
        set: MlKemSet,
    },
    /// ML-KEM decapsulation. The message is the ciphertext, and the output the shared secret of 32 bytes.
    ///
    /// A ciphertext of another length is refused. One of the right length that was not made for the key gives another
    /// secret and never an error (implicit rejection). FIPS 203 algorithm 21.
    MlKemDecaps {
        /// The parameter set of the key.
        set: MlKemSet,
    },
    /// ML-DSA signature, with the context of the job. FIPS 204 algorithms 2 and 4.
    MlDsaSign {
        /// The parameter set of the key.
        set: MlDsaSet,
        /// The thing that is signed.
        variant: MlDsaVariant,
        /// The source of rnd.
        nonce: NonceRule,
    },
    /// ML-DSA verification, with the context of the job. FIPS 204 algorithms 3 and 5.
    MlDsaVerify {
        /// The parameter set of the key.
        set: MlDsaSet,
        /// The thing that was signed.
        variant: MlDsaVariant,
    },
    /// SLH-DSA signature, with the context of the job. It takes up to a second. FIPS 205 algorithms 22 and 23.
    SlhDsaSign {
        /// The parameter set of the key.
        set: SlhDsaSet,
        /// The digest of the message that HashSLH-DSA signs. Pure SLH-DSA has none and signs the message itself.
        pre_hash: Option<DigestAlg>,
        /// The source of opt_rand.
        nonce: NonceRule,
    },
    /// SLH-DSA verification, with the context of the job. FIPS 205 algorithms 24 and 25.
    SlhDsaVerify {
        /// The parameter set of the key.
        set: SlhDsaSet,
        /// The digest of HashSLH-DSA, none for pure SLH-DSA.
        pre_hash: Option<DigestAlg>,
    },
    /// HSS verification, which includes LMS with one level. RFC 8554 section 6.3.
    HssVerify,
    /// XMSS or XMSS^MT verification, as the key says. RFC 8391 sections 4.1.10 and 4.2.5.
    XmssVerify,
    /// Composite signature, with the context of the job: one of ML-DSA and behind it one of the other algorithm, both
    /// hedged. draft-ietf-lamps-pq-composite-sigs-13 section 4.2.
    CompositeSign {
        /// The algorithm of the key.
        alg: CompositeAlg,
    },
    /// Composite verification, with the context of the job. Both signatures must be good. Section 4.3 of the draft.
    CompositeVerify {
        /// The algorithm of the key.
        alg: CompositeAlg,
    },
}

/// The form of an ECDSA signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EcdsaEncoding {
    /// ASN.1 DER, `SEQUENCE { INTEGER r, INTEGER s }`, strict. RFC 3279 2.2.3.
    Der,
    /// r || s at the curve's width (IEEE P1363; DNSSEC, JOSE). RFC 6605 section 4.
    Fixed,
}

/// The source of the randomness of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NonceRule {
    /// The key, the digest and 32 random bytes. An engine that cannot take the bytes draws a random nonce of its own.
    Hedged,
    /// The key and the digest alone, for reproducible zones and tests. RFC 6979 3.2 for ECDSA; FIPS 204 3.4 for ML-DSA;
    /// FIPS 205 9.2 for SLH-DSA.
    Deterministic,
}

/// The salt lengths that pass a PSS verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SaltLength {
    /// Exactly this number of bytes.
    Exactly(u16),
    /// Any length that the encoding contains.
    Any,
}

impl Scheme {
    /// Returns the digest that the scheme applies to its message, or `None` if it takes the message itself.
    #[must_use]
    pub fn message_digest(self) -> Option<DigestAlg> {
        match self {
            Self::RsaPkcs1Sign { digest }
            | Self::RsaPkcs1Verify { digest }
            | Self::RsaPssSign { digest, .. }
            | Self::RsaPssVerify { digest, .. }
            | Self::EcdsaSign { digest, .. }
            | Self::EcdsaVerify { digest, .. } => Some(digest),
            Self::CompositeSign { alg } | Self::CompositeVerify { alg } => Some(alg.pre_hash()),
            _ => None,
        }
    }

    /// Checks that the scheme takes its digests: those of [`DigestAlg::RSA_AND_ECDSA`], or of [`DigestAlg::PRE_HASH`]
    /// for HashML-DSA.
    ///
    /// # Errors
    /// [`JobError::Digest`] names the digest that the scheme does not take.
    pub fn check_digests(self) -> Result<(), JobError> {
        match self {
            Self::RsaPkcs1Sign { digest }
            | Self::RsaPkcs1Verify { digest }
            | Self::EcdsaSign { digest, .. }
            | Self::EcdsaVerify { digest, .. } => check_digest("digest", digest, &DigestAlg::RSA_AND_ECDSA),
            Self::RsaPssSign { digest, mgf, .. }
            | Self::RsaPssVerify { digest, mgf, .. }
            | Self::RsaOaepDecrypt { digest, mgf } => {
                check_digest("digest", digest, &DigestAlg::RSA_AND_ECDSA)?;
                check_digest("digest of the mask generation", mgf, &DigestAlg::RSA_AND_ECDSA)
            }
            Self::MlDsaSign { variant: MlDsaVariant::PreHash(digest), .. }
            | Self::MlDsaVerify { variant: MlDsaVariant::PreHash(digest), .. } => {
                check_digest("digest of HashML-DSA", digest, &DigestAlg::PRE_HASH)
            }
            Self::SlhDsaSign { pre_hash: Some(digest), .. }
            | Self::SlhDsaVerify { pre_hash: Some(digest), .. } => {
                check_digest("digest of HashSLH-DSA", digest, &DigestAlg::PRE_HASH)
            }
            _ => Ok(()),
        }
    }

    /// True if the output is a signature.
    #[must_use]
    pub fn is_signature(self) -> bool {
        matches!(
            self,
            Self::RsaPkcs1Sign { .. }
                | Self::RsaPkcs1SignEncoded
                | Self::RsaPssSign { .. }
                | Self::EcdsaSign { .. }
                | Self::Ed25519Sign
                | Self::MlDsaSign { .. }
                | Self::SlhDsaSign { .. }
                | Self::CompositeSign { .. }
        )
    }

    /// True if the output is a secret shared with a peer.
    #[must_use]
    pub fn is_agreement(self) -> bool {
        matches!(self, Self::X25519 | Self::Ecdh { .. })
    }

    /// True if the answer is yes or no and there is no output.
    #[must_use]
    pub fn is_verification(self) -> bool {
        matches!(
            self,
            Self::RsaPkcs1Verify { .. }
                | Self::RsaPkcs1VerifyEncoded
                | Self::RsaPssVerify { .. }
                | Self::EcdsaVerify { .. }
                | Self::Ed25519Verify
                | Self::MlDsaVerify { .. }
                | Self::SlhDsaVerify { .. }
                | Self::HssVerify
                | Self::XmssVerify
                | Self::CompositeVerify { .. }
        )
    }

    /// True if the scheme takes a context: SLH-DSA, composites, and ML-DSA unless mu is given, which contains the
    /// context already.
    #[must_use]
    pub fn takes_context(self) -> bool {
        match self {
            Self::MlDsaSign { variant, .. } | Self::MlDsaVerify { variant, .. } => {
                variant != MlDsaVariant::ExternalMu
            }
            Self::SlhDsaSign { .. }
            | Self::SlhDsaVerify { .. }
            | Self::CompositeSign { .. }
            | Self::CompositeVerify { .. } => true,
            _ => false,
        }
    }
}

fn check_digest(
    what: &'static str,
    found: DigestAlg,
    expected: &'static [DigestAlg],
) -> Result<(), JobError> {
    if expected.contains(&found) { Ok(()) } else { Err(JobError::Digest { what, expected, found }) }
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
            Self::Ecdh { curve } => write!(f, "ecdh-{curve}"),
            Self::MlKemKeygen { set } => write!(f, "{set}-keygen"),
            Self::MlKemEncaps { set } => write!(f, "{set}-encaps"),
            Self::MlKemDecaps { set } => write!(f, "{set}-decaps"),
            Self::MlDsaSign { set, variant, .. } => write!(f, "{variant}{set}-sign"),
            Self::MlDsaVerify { set, variant } => write!(f, "{variant}{set}-verify"),
            Self::SlhDsaSign { set, pre_hash: None, .. } => write!(f, "{set}-sign"),
            Self::SlhDsaSign { set, pre_hash: Some(digest), .. } => write!(f, "hash-{digest}-{set}-sign"),
            Self::SlhDsaVerify { set, pre_hash: None } => write!(f, "{set}-verify"),
            Self::SlhDsaVerify { set, pre_hash: Some(digest) } => write!(f, "hash-{digest}-{set}-verify"),
            Self::HssVerify => f.write_str("hss-verify"),
            Self::XmssVerify => f.write_str("xmss-verify"),
            Self::CompositeSign { alg } => write!(f, "{alg}-sign"),
            Self::CompositeVerify { alg } => write!(f, "{alg}-verify"),
        }
    }
}

/// A [`Scheme`] that makes signatures.
///
/// The constants name the usual combinations; the functions build every other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SigningScheme(Scheme);

/// A [`Scheme`] that verifies signatures.
///
/// The constants have the same names as those of [`SigningScheme`], and accept its signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VerifyingScheme(Scheme);

/// An error of a conversion from [`Scheme`]: the scheme does something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} is no {wanted} scheme")]
#[non_exhaustive]
pub struct WrongSchemeKind {
    /// The scheme that was given.
    pub found: Scheme,
    /// The kind that was wanted: `signing` or `verifying`.
    pub wanted: &'static str,
}

impl SigningScheme {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    pub const RSA_PKCS1_SHA256: Self = Self::rsa_pkcs1(DigestAlg::Sha256);
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    pub const RSA_PKCS1_SHA384: Self = Self::rsa_pkcs1(DigestAlg::Sha384);
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    pub const RSA_PKCS1_SHA512: Self = Self::rsa_pkcs1(DigestAlg::Sha512);
    /// RSASSA-PSS with SHA-256 throughout and 32 bytes of salt, as in TLS 1.3.
    pub const RSA_PSS_SHA256: Self = Self::rsa_pss(DigestAlg::Sha256, DigestAlg::Sha256, 32);
    /// RSASSA-PSS with SHA-384 throughout and 48 bytes of salt, as in TLS 1.3.
    pub const RSA_PSS_SHA384: Self = Self::rsa_pss(DigestAlg::Sha384, DigestAlg::Sha384, 48);
    /// RSASSA-PSS with SHA-512 throughout and 64 bytes of salt, as in TLS 1.3.
    pub const RSA_PSS_SHA512: Self = Self::rsa_pss(DigestAlg::Sha512, DigestAlg::Sha512, 64);
    /// ECDSA over P-256 with SHA-256, a DER signature and a hedged nonce.
    pub const ECDSA_P256_SHA256_DER: Self =
        Self::ecdsa(Curve::P256, DigestAlg::Sha256, EcdsaEncoding::Der, NonceRule::Hedged);
    /// ECDSA over P-256 with SHA-256, a signature of fixed length and a hedged nonce.
    pub const ECDSA_P256_SHA256_FIXED: Self =
        Self::ecdsa(Curve::P256, DigestAlg::Sha256, EcdsaEncoding::Fixed, NonceRule::Hedged);
    /// ECDSA over P-384 with SHA-384, a DER signature and a hedged nonce.
    pub const ECDSA_P384_SHA384_DER: Self =
        Self::ecdsa(Curve::P384, DigestAlg::Sha384, EcdsaEncoding::Der, NonceRule::Hedged);
    /// ECDSA over P-384 with SHA-384, a signature of fixed length and a hedged nonce.
    pub const ECDSA_P384_SHA384_FIXED: Self =
        Self::ecdsa(Curve::P384, DigestAlg::Sha384, EcdsaEncoding::Fixed, NonceRule::Hedged);
    /// Ed25519 over a whole message.
    pub const ED25519: Self = Self(Scheme::Ed25519Sign);
    /// ML-DSA-44 over the message itself, hedged.
    pub const ML_DSA_44: Self = Self::ml_dsa(MlDsaSet::MlDsa44, MlDsaVariant::Pure, NonceRule::Hedged);
    /// ML-DSA-65 over the message itself, hedged.
    pub const ML_DSA_65: Self = Self::ml_dsa(MlDsaSet::MlDsa65, MlDsaVariant::Pure, NonceRule::Hedged);
    /// ML-DSA-87 over the message itself, hedged.
    pub const ML_DSA_87: Self = Self::ml_dsa(MlDsaSet::MlDsa87, MlDsaVariant::Pure, NonceRule::Hedged);

    /// Returns RSASSA-PKCS1-v1_5 with a digest of [`DigestAlg::RSA_AND_ECDSA`].
    #[must_use]
    pub const fn rsa_pkcs1(digest: DigestAlg) -> Self {
        Self(Scheme::RsaPkcs1Sign { digest })
    }

    /// Returns RSASSA-PSS with digests of [`DigestAlg::RSA_AND_ECDSA`] and any salt length.
    #[must_use]
    pub const fn rsa_pss(digest: DigestAlg, mgf: DigestAlg, salt_len: u16) -> Self {
        Self(Scheme::RsaPssSign { digest, mgf, salt_len })
    }

    /// Returns ECDSA with any parameters.
    #[must_use]
    pub const fn ecdsa(curve: Curve, digest: DigestAlg, encoding: EcdsaEncoding, nonce: NonceRule) -> Self {
        Self(Scheme::EcdsaSign { curve, digest, encoding, nonce })
    }

    /// Returns ML-DSA with any parameters.
    #[must_use]
    pub const fn ml_dsa(set: MlDsaSet, variant: MlDsaVariant, nonce: NonceRule) -> Self {
        Self(Scheme::MlDsaSign { set, variant, nonce })
    }

    /// Returns SLH-DSA over the message itself, or over its digest.
    #[must_use]
    pub const fn slh_dsa(set: SlhDsaSet, pre_hash: Option<DigestAlg>, nonce: NonceRule) -> Self {
        Self(Scheme::SlhDsaSign { set, pre_hash, nonce })
    }

    /// Returns a composite, hedged.
    #[must_use]
    pub const fn composite(alg: CompositeAlg) -> Self {
        Self(Scheme::CompositeSign { alg })
    }

    /// Returns the scheme that verifies these signatures.
    #[must_use]
    pub const fn verifying(self) -> VerifyingScheme {
        VerifyingScheme(match self.0 {
            Scheme::RsaPkcs1Sign { digest } => Scheme::RsaPkcs1Verify { digest },
            Scheme::RsaPkcs1SignEncoded => Scheme::RsaPkcs1VerifyEncoded,
            Scheme::RsaPssSign { digest, mgf, salt_len } => {
                Scheme::RsaPssVerify { digest, mgf, salt: SaltLength::Exactly(salt_len) }
            }
            Scheme::EcdsaSign { curve, digest, encoding, .. } => {
                Scheme::EcdsaVerify { curve, digest, encoding }
            }
            Scheme::MlDsaSign { set, variant, .. } => Scheme::MlDsaVerify { set, variant },
            Scheme::SlhDsaSign { set, pre_hash, .. } => Scheme::SlhDsaVerify { set, pre_hash },
            Scheme::CompositeSign { alg } => Scheme::CompositeVerify { alg },
            // unreachable otherwise because every constructor makes one of these eight
            _ => Scheme::Ed25519Verify,
        })
    }
}

impl VerifyingScheme {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    pub const RSA_PKCS1_SHA256: Self = Self::rsa_pkcs1(DigestAlg::Sha256);
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    pub const RSA_PKCS1_SHA384: Self = Self::rsa_pkcs1(DigestAlg::Sha384);
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    pub const RSA_PKCS1_SHA512: Self = Self::rsa_pkcs1(DigestAlg::Sha512);
    /// RSASSA-PSS with SHA-256 throughout and 32 bytes of salt, as in TLS 1.3.
    pub const RSA_PSS_SHA256: Self = SigningScheme::RSA_PSS_SHA256.verifying();
    /// RSASSA-PSS with SHA-384 throughout and 48 bytes of salt, as in TLS 1.3.
    pub const RSA_PSS_SHA384: Self = SigningScheme::RSA_PSS_SHA384.verifying();
    /// RSASSA-PSS with SHA-512 throughout and 64 bytes of salt, as in TLS 1.3.
    pub const RSA_PSS_SHA512: Self = SigningScheme::RSA_PSS_SHA512.verifying();
    /// ECDSA over P-256 with SHA-256 and a DER signature.
    pub const ECDSA_P256_SHA256_DER: Self = SigningScheme::ECDSA_P256_SHA256_DER.verifying();
    /// ECDSA over P-256 with SHA-256 and a signature of fixed length.
    pub const ECDSA_P256_SHA256_FIXED: Self = SigningScheme::ECDSA_P256_SHA256_FIXED.verifying();
    /// ECDSA over P-384 with SHA-384 and a DER signature.
    pub const ECDSA_P384_SHA384_DER: Self = SigningScheme::ECDSA_P384_SHA384_DER.verifying();
    /// ECDSA over P-384 with SHA-384 and a signature of fixed length.
    pub const ECDSA_P384_SHA384_FIXED: Self = SigningScheme::ECDSA_P384_SHA384_FIXED.verifying();
    /// Ed25519 over a whole message.
    pub const ED25519: Self = Self(Scheme::Ed25519Verify);
    /// ML-DSA-44 over the message itself.
    pub const ML_DSA_44: Self = SigningScheme::ML_DSA_44.verifying();
    /// ML-DSA-65 over the message itself.
    pub const ML_DSA_65: Self = SigningScheme::ML_DSA_65.verifying();
    /// ML-DSA-87 over the message itself.
    pub const ML_DSA_87: Self = SigningScheme::ML_DSA_87.verifying();
    /// HSS, which includes LMS with one level.
    pub const HSS: Self = Self(Scheme::HssVerify);
    /// XMSS and XMSS^MT.
    pub const XMSS: Self = Self(Scheme::XmssVerify);

    /// Returns RSASSA-PKCS1-v1_5 with a digest of [`DigestAlg::RSA_AND_ECDSA`].
    #[must_use]
    pub const fn rsa_pkcs1(digest: DigestAlg) -> Self {
        Self(Scheme::RsaPkcs1Verify { digest })
    }

    /// Returns RSASSA-PSS with digests of [`DigestAlg::RSA_AND_ECDSA`] and any salt rule.
    #[must_use]
    pub const fn rsa_pss(digest: DigestAlg, mgf: DigestAlg, salt: SaltLength) -> Self {
        Self(Scheme::RsaPssVerify { digest, mgf, salt })
    }

    /// Returns ECDSA with any parameters.
    #[must_use]
    pub const fn ecdsa(curve: Curve, digest: DigestAlg, encoding: EcdsaEncoding) -> Self {
        Self(Scheme::EcdsaVerify { curve, digest, encoding })
    }

    /// Returns ML-DSA with any parameters.
    #[must_use]
    pub const fn ml_dsa(set: MlDsaSet, variant: MlDsaVariant) -> Self {
        Self(Scheme::MlDsaVerify { set, variant })
    }

    /// Returns SLH-DSA over the message itself, or over its digest.
    #[must_use]
    pub const fn slh_dsa(set: SlhDsaSet, pre_hash: Option<DigestAlg>) -> Self {
        Self(Scheme::SlhDsaVerify { set, pre_hash })
    }
}

impl From<SigningScheme> for Scheme {
    fn from(signing: SigningScheme) -> Self {
        signing.0
    }
}

impl From<VerifyingScheme> for Scheme {
    fn from(verifying: VerifyingScheme) -> Self {
        verifying.0
    }
}

impl TryFrom<Scheme> for SigningScheme {
    type Error = WrongSchemeKind;

    fn try_from(scheme: Scheme) -> Result<Self, WrongSchemeKind> {
        if scheme.is_signature() {
            Ok(Self(scheme))
        } else {
            Err(WrongSchemeKind { found: scheme, wanted: "signing" })
        }
    }
}

impl TryFrom<Scheme> for VerifyingScheme {
    type Error = WrongSchemeKind;

    fn try_from(scheme: Scheme) -> Result<Self, WrongSchemeKind> {
        if scheme.is_verification() {
            Ok(Self(scheme))
        } else {
            Err(WrongSchemeKind { found: scheme, wanted: "verifying" })
        }
    }
}

impl fmt::Display for SigningScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for VerifyingScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_and_verifying_schemes_cannot_be_swapped() {
        let signing = SigningScheme::ECDSA_P256_SHA256_DER;
        assert_eq!(SigningScheme::try_from(Scheme::from(signing)), Ok(signing));
        let verifying = signing.verifying();
        assert_eq!(VerifyingScheme::try_from(Scheme::from(verifying)), Ok(verifying));
        assert!(SigningScheme::try_from(Scheme::from(verifying)).is_err());
        assert!(VerifyingScheme::try_from(Scheme::from(signing)).is_err());
        let neither = Scheme::RsaPkcs1Decrypt;
        assert!(SigningScheme::try_from(neither).is_err() && VerifyingScheme::try_from(neither).is_err());
    }

    /// Each digest of a scheme has an error of its own, before anything else is looked at.
    #[test]
    fn schemes_refuse_digests_that_their_standards_do_not_name() {
        let (curve, nonce, encoding) = (Curve::P256, NonceRule::Hedged, EcdsaEncoding::Der);
        let (set, sha1) = (MlDsaSet::MlDsa44, DigestAlg::Sha1);
        for digest in DigestAlg::ALL {
            let is_classic = DigestAlg::RSA_AND_ECDSA.contains(&digest);
            for scheme in [
                Scheme::RsaPkcs1Sign { digest },
                Scheme::RsaPkcs1Verify { digest },
                Scheme::RsaPssSign { digest, mgf: sha1, salt_len: 20 },
                Scheme::RsaPssSign { digest: sha1, mgf: digest, salt_len: 20 },
                Scheme::RsaPssVerify { digest, mgf: sha1, salt: SaltLength::Any },
                Scheme::RsaPssVerify { digest: sha1, mgf: digest, salt: SaltLength::Any },
                Scheme::RsaOaepDecrypt { digest, mgf: sha1 },
                Scheme::RsaOaepDecrypt { digest: sha1, mgf: digest },
                Scheme::EcdsaSign { curve, digest, encoding, nonce },
                Scheme::EcdsaVerify { curve, digest, encoding },
            ] {
                assert_eq!(scheme.check_digests().is_ok(), is_classic, "{scheme}");
            }
            let variant = MlDsaVariant::PreHash(digest);
            for scheme in [Scheme::MlDsaSign { set, variant, nonce }, Scheme::MlDsaVerify { set, variant }] {
                assert_eq!(scheme.check_digests().is_ok(), digest != sha1, "{scheme}");
            }
        }
        let text = |scheme: Scheme| scheme.check_digests().unwrap_err().to_string();
        assert_eq!(
            text(Scheme::RsaOaepDecrypt { digest: sha1, mgf: DigestAlg::Sha3_256 }),
            "the digest of the mask generation is sha3-256, expected sha1, sha224, sha256, sha384 or sha512"
        );
        let variant = MlDsaVariant::PreHash(sha1);
        let refused = text(Scheme::MlDsaVerify { set, variant });
        assert!(
            refused.starts_with("the digest of HashML-DSA is sha1, expected sha256, sha384"),
            "{refused}"
        );
        assert!(refused.ends_with("shake128 or shake256"), "{refused}");
    }

    #[test]
    fn every_signing_scheme_names_its_verifying_counterpart() {
        let of = |scheme: Scheme| SigningScheme::try_from(scheme).unwrap().verifying();
        assert_eq!(SigningScheme::RSA_PKCS1_SHA384.verifying(), VerifyingScheme::RSA_PKCS1_SHA384);
        assert_eq!(of(Scheme::RsaPkcs1SignEncoded), VerifyingScheme(Scheme::RsaPkcs1VerifyEncoded));
        let exact = SaltLength::Exactly(32);
        let pss = VerifyingScheme::rsa_pss(DigestAlg::Sha256, DigestAlg::Sha256, exact);
        assert_eq!(SigningScheme::RSA_PSS_SHA256.verifying(), pss);
        let ecdsa = VerifyingScheme::ecdsa(Curve::P384, DigestAlg::Sha384, EcdsaEncoding::Fixed);
        assert_eq!(SigningScheme::ECDSA_P384_SHA384_FIXED.verifying(), ecdsa);
        assert_eq!(SigningScheme::ED25519.verifying(), VerifyingScheme::ED25519);
        let (set, variant) = (MlDsaSet::MlDsa65, MlDsaVariant::PreHash(DigestAlg::Sha512));
        let signing = SigningScheme::ml_dsa(set, variant, NonceRule::Deterministic);
        assert_eq!(signing.verifying(), VerifyingScheme::ml_dsa(set, variant));
        assert_eq!(signing.to_string(), "hash-sha512-ml-dsa-65-sign");
        let (set, pre_hash) = (SlhDsaSet::Shake128s, Some(DigestAlg::Shake128));
        let signing = SigningScheme::slh_dsa(set, pre_hash, NonceRule::Hedged);
        assert_eq!(signing.verifying(), VerifyingScheme::slh_dsa(set, pre_hash));
        assert_ne!(signing.verifying(), VerifyingScheme::slh_dsa(set, None));
        assert_eq!(signing.to_string(), "hash-shake128-slh-dsa-shake-128s-sign");
        for alg in CompositeAlg::ALL {
            let signing = SigningScheme::composite(alg);
            assert_eq!(signing.verifying(), VerifyingScheme(Scheme::CompositeVerify { alg }));
            let name = alg.label().to_lowercase().replace("compsig-", "");
            assert_eq!(signing.to_string(), format!("{name}-sign"));
            assert!(alg.label().contains(&format!("{}-", alg.set()).replace("ml-dsa-", "MLDSA")));
        }
    }
}
