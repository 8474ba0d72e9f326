//! Schemes as messages.

use std::fmt::Display;

use oarlock::{CompositeAlg, Curve, KeyKind, MlDsaSet, MlDsaVariant, MlKemSet, SlhDsaSet};
use oarlock::{DigestAlg, EcdsaEncoding, NonceRule, SaltLength, Scheme};

use crate::WireError;
use crate::proto::scheme::{self, Kind};
use crate::proto::{self, Digest};

/// A scheme of a message. The curve or parameter set is not part of it: the key has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WireScheme {
    family: WireSchemeKind,
    takes_digest: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum WireSchemeKind {
    Whole(Scheme),
    EcdsaSign { digest: DigestAlg, encoding: EcdsaEncoding, nonce: NonceRule },
    EcdsaVerify { digest: DigestAlg, encoding: EcdsaEncoding },
    Ecdh,
    MlDsaSign { variant: MlDsaVariant, nonce: NonceRule },
    MlDsaVerify { variant: MlDsaVariant },
    MlKemEncaps,
    MlKemDecaps,
    SlhDsaSign { pre_hash: Option<DigestAlg>, nonce: NonceRule },
    SlhDsaVerify { pre_hash: Option<DigestAlg> },
    CompositeSign,
    CompositeVerify,
}

impl WireScheme {
    /// Reads a scheme.
    ///
    /// # Errors
    /// A value is not known here, missing, set for a scheme that does not use it, or a digest that the scheme does not
    /// take.
    pub fn read(message: &proto::Scheme) -> Result<Self, WireError> {
        let kind = parse_enum::<Kind>("scheme", message.kind)?;
        let digest = || digest(message.digest)?.ok_or(WireError::Missing { what: "digest" });
        let mgf = || parse_digest_or(message.mgf_digest, digest()?);
        let salt = || message.salt_len.map(|len| salt_len(len, digest()?)).transpose();
        let encoding = || Ok::<_, WireError>(encoding_of(parse_enum("ECDSA encoding", message.encoding)?));
        let family = match kind {
            Kind::Unspecified => return Err(WireError::Missing { what: "scheme" }),
            Kind::RsaPkcs1Sign => WireSchemeKind::Whole(Scheme::RsaPkcs1Sign { digest: digest()? }),
            Kind::RsaPkcs1Verify => WireSchemeKind::Whole(Scheme::RsaPkcs1Verify { digest: digest()? }),
            Kind::RsaPssSign => {
                let salt_len = salt()?.unwrap_or(digest()?.output_len() as u16);
                WireSchemeKind::Whole(Scheme::RsaPssSign { digest: digest()?, mgf: mgf()?, salt_len })
            }
            Kind::RsaPssVerify => {
                // A verifier need not know the length, which the encoding contains. RFC 8017 9.1.2.
                let salt = salt()?.map_or(SaltLength::Any, SaltLength::Exactly);
                WireSchemeKind::Whole(Scheme::RsaPssVerify { digest: digest()?, mgf: mgf()?, salt })
            }
            Kind::RsaPkcs1Decrypt => WireSchemeKind::Whole(Scheme::RsaPkcs1Decrypt),
            Kind::RsaOaepDecrypt => {
                WireSchemeKind::Whole(Scheme::RsaOaepDecrypt { digest: digest()?, mgf: mgf()? })
            }
            Kind::EcdsaSign => {
                let nonce = nonce_rule(message);
                WireSchemeKind::EcdsaSign { digest: digest()?, encoding: encoding()?, nonce }
            }
            Kind::EcdsaVerify => WireSchemeKind::EcdsaVerify { digest: digest()?, encoding: encoding()? },
            Kind::Ed25519Sign => WireSchemeKind::Whole(Scheme::Ed25519Sign),
            Kind::Ed25519Verify => WireSchemeKind::Whole(Scheme::Ed25519Verify),
            Kind::X25519 => WireSchemeKind::Whole(Scheme::X25519),
            Kind::Ecdh => WireSchemeKind::Ecdh,
            Kind::MlDsaSign => {
                WireSchemeKind::MlDsaSign { variant: variant(message)?, nonce: nonce_rule(message) }
            }
            Kind::MlDsaVerify => WireSchemeKind::MlDsaVerify { variant: variant(message)? },
            Kind::MlKemEncaps => WireSchemeKind::MlKemEncaps,
            Kind::MlKemDecaps => WireSchemeKind::MlKemDecaps,
            Kind::SlhDsaSign => {
                WireSchemeKind::SlhDsaSign { pre_hash: slh_dsa_digest(message)?, nonce: nonce_rule(message) }
            }
            Kind::SlhDsaVerify => WireSchemeKind::SlhDsaVerify { pre_hash: slh_dsa_digest(message)? },
            Kind::HssVerify => WireSchemeKind::Whole(Scheme::HssVerify),
            Kind::XmssVerify => WireSchemeKind::Whole(Scheme::XmssVerify),
            Kind::CompositeSign => WireSchemeKind::CompositeSign,
            Kind::CompositeVerify => WireSchemeKind::CompositeVerify,
        };
        let read = Self { family, takes_digest: message.takes_digest };
        // The rules for digests are the same for all keys.
        read.with(KeyKind::Secret(0)).check_digests().map_err(WireError::Digest)?;
        Ok(read)
    }

    /// Returns true if inputs are digests.
    #[must_use]
    pub fn takes_digest(self) -> bool {
        self.takes_digest
    }

    /// Returns the maximum length of an output, or zero if only the key says so.
    #[must_use]
    pub fn max_output_len(self) -> usize {
        max_output_len(self.with(KeyKind::Secret(0)))
    }

    /// Returns the scheme for a key of this kind. For a key without a curve or parameter set this is a scheme that the
    /// accelerator refuses for it.
    #[must_use]
    pub fn with(self, kind: KeyKind) -> Scheme {
        // For a key of another kind, the job then fails with an error about the key, which says more than an unknown
        // curve or set.
        let curve = match kind {
            KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve) => curve,
            _ => Curve::P256,
        };
        let ml_kem_set = match kind {
            KeyKind::MlKemPrivate(set) | KeyKind::MlKemPublic(set) => set,
            _ => MlKemSet::MlKem768,
        };
        let ml_dsa_set = match kind {
            KeyKind::MlDsaPrivate(set) | KeyKind::MlDsaPublic(set) => set,
            _ => MlDsaSet::MlDsa65,
        };
        let slh_dsa_set = match kind {
            KeyKind::SlhDsaPrivate(set) | KeyKind::SlhDsaPublic(set) => set,
            _ => SlhDsaSet::Sha2_128s,
        };
        let alg = match kind {
            KeyKind::CompositePrivate(alg) | KeyKind::CompositePublic(alg) => alg,
            _ => CompositeAlg::MlDsa65P256,
        };
        match self.family {
            WireSchemeKind::Whole(scheme) => scheme,
            WireSchemeKind::EcdsaSign { digest, encoding, nonce } => {
                Scheme::EcdsaSign { curve, digest, encoding, nonce }
            }
            WireSchemeKind::EcdsaVerify { digest, encoding } => {
                Scheme::EcdsaVerify { curve, digest, encoding }
            }
            WireSchemeKind::Ecdh => Scheme::Ecdh { curve },
            WireSchemeKind::MlDsaSign { variant, nonce } => {
                Scheme::MlDsaSign { set: ml_dsa_set, variant, nonce }
            }
            WireSchemeKind::MlDsaVerify { variant } => Scheme::MlDsaVerify { set: ml_dsa_set, variant },
            WireSchemeKind::MlKemEncaps => Scheme::MlKemEncaps { set: ml_kem_set },
            WireSchemeKind::MlKemDecaps => Scheme::MlKemDecaps { set: ml_kem_set },
            WireSchemeKind::SlhDsaSign { pre_hash, nonce } => {
                Scheme::SlhDsaSign { set: slh_dsa_set, pre_hash, nonce }
            }
            WireSchemeKind::SlhDsaVerify { pre_hash } => Scheme::SlhDsaVerify { set: slh_dsa_set, pre_hash },
            WireSchemeKind::CompositeSign => Scheme::CompositeSign { alg },
            WireSchemeKind::CompositeVerify => Scheme::CompositeVerify { alg },
        }
    }
}

/// Writes a scheme.
///
/// # Errors
/// The protocol does not have the scheme, or the scheme does not take its digest.
pub fn write(scheme: Scheme) -> Result<proto::Scheme, WireError> {
    scheme.check_digests().map_err(WireError::Digest)?;
    let mut message = proto::Scheme::default();
    // One `?` for all of them: each has values of its own on the stack, of which a fibre has little.
    let (kind, digest, mgf) = match scheme {
        Scheme::RsaPkcs1Sign { digest } => (Kind::RsaPkcs1Sign, Some(digest), None),
        Scheme::RsaPkcs1Verify { digest } => (Kind::RsaPkcs1Verify, Some(digest), None),
        Scheme::RsaPssSign { digest, mgf, salt_len } => {
            message.salt_len = Some(salt_len.into());
            (Kind::RsaPssSign, Some(digest), Some(mgf))
        }
        Scheme::RsaPssVerify { digest, mgf, salt } => {
            message.salt_len = match salt {
                SaltLength::Exactly(len) => Some(len.into()),
                SaltLength::Any => None,
            };
            (Kind::RsaPssVerify, Some(digest), Some(mgf))
        }
        Scheme::RsaPkcs1Decrypt => (Kind::RsaPkcs1Decrypt, None, None),
        Scheme::RsaOaepDecrypt { digest, mgf } => (Kind::RsaOaepDecrypt, Some(digest), Some(mgf)),
        Scheme::EcdsaSign { digest, encoding, nonce, .. } => {
            message.encoding = encoding_message(encoding).into();
            message.is_deterministic = nonce == NonceRule::Deterministic;
            (Kind::EcdsaSign, Some(digest), None)
        }
        Scheme::EcdsaVerify { digest, encoding, .. } => {
            message.encoding = encoding_message(encoding).into();
            (Kind::EcdsaVerify, Some(digest), None)
        }
        Scheme::Ed25519Sign => (Kind::Ed25519Sign, None, None),
        Scheme::Ed25519Verify => (Kind::Ed25519Verify, None, None),
        Scheme::X25519 => (Kind::X25519, None, None),
        Scheme::Ecdh { .. } => (Kind::Ecdh, None, None),
        Scheme::MlDsaSign { variant, nonce, .. } => {
            let (variant, digest) = variant_message(variant);
            message.ml_dsa_variant = variant.into();
            message.is_deterministic = nonce == NonceRule::Deterministic;
            (Kind::MlDsaSign, digest, None)
        }
        Scheme::MlDsaVerify { variant, .. } => {
            let (variant, digest) = variant_message(variant);
            message.ml_dsa_variant = variant.into();
            (Kind::MlDsaVerify, digest, None)
        }
        Scheme::MlKemEncaps { .. } => (Kind::MlKemEncaps, None, None),
        Scheme::MlKemDecaps { .. } => (Kind::MlKemDecaps, None, None),
        Scheme::SlhDsaSign { pre_hash, nonce, .. } => {
            message.is_deterministic = nonce == NonceRule::Deterministic;
            (Kind::SlhDsaSign, pre_hash, None)
        }
        Scheme::SlhDsaVerify { pre_hash, .. } => (Kind::SlhDsaVerify, pre_hash, None),
        Scheme::HssVerify => (Kind::HssVerify, None, None),
        Scheme::XmssVerify => (Kind::XmssVerify, None, None),
        Scheme::CompositeSign { .. } => (Kind::CompositeSign, None, None),
        Scheme::CompositeVerify { .. } => (Kind::CompositeVerify, None, None),
        // The enum may grow before the protocol does.
        other => return Err(unknown_name("scheme", &other)),
    };
    message.kind = kind.into();
    message.digest = digest_message(digest)?;
    message.mgf_digest = digest_message(mgf)?;
    Ok(message)
}

/// Returns the maximum length of an output of ML-DSA, SLH-DSA, ML-KEM or a composite with any parameter set, because a
/// server reads a message before it looks at the keys. Zero for other schemes.
pub(crate) fn max_output_len(scheme: Scheme) -> usize {
    match scheme {
        Scheme::MlDsaSign { .. } => MlDsaSet::MlDsa87.signature_len(),
        Scheme::MlKemEncaps { .. } => MlKemSet::MlKem1024.ciphertext_len() + MlKemSet::SECRET_LEN,
        Scheme::MlKemDecaps { .. } => MlKemSet::SECRET_LEN,
        Scheme::SlhDsaSign { .. } => SlhDsaSet::Sha2_256f.signature_len(),
        // The longest has RSA of 4096 bits.
        Scheme::CompositeSign { .. } => MlDsaSet::MlDsa87.signature_len() + 512,
        _ => 0,
    }
}

/// Returns the error of a value that is newer than the protocol.
pub(crate) fn unknown_name(what: &'static str, found: &impl Display) -> WireError {
    WireError::Name { what, name: found.to_string(), expected: "one of the protocol's".into() }
}

fn parse_enum<E: TryFrom<i32>>(what: &'static str, value: i32) -> Result<E, WireError> {
    E::try_from(value).map_err(|_| WireError::Unknown { what, value })
}

fn nonce_rule(message: &proto::Scheme) -> NonceRule {
    if message.is_deterministic { NonceRule::Deterministic } else { NonceRule::Hedged }
}

/// Reads the variant of ML-DSA. A digest that the variant does not use is refused: the client would otherwise believe
/// that it signs a digest.
fn variant(message: &proto::Scheme) -> Result<MlDsaVariant, WireError> {
    let unused = |with| Err(WireError::Unused { what: "digest", with });
    match (parse_enum("ML-DSA variant", message.ml_dsa_variant)?, digest(message.digest)?) {
        (scheme::MlDsaVariant::PreHash, None) => Err(WireError::Missing { what: "digest" }),
        (scheme::MlDsaVariant::PreHash, Some(digest)) => Ok(MlDsaVariant::PreHash(digest)),
        (scheme::MlDsaVariant::Pure, None) => Ok(MlDsaVariant::Pure),
        (scheme::MlDsaVariant::ExternalMu, None) => Ok(MlDsaVariant::ExternalMu),
        (scheme::MlDsaVariant::Pure, Some(_)) => unused("the variant PURE"),
        (scheme::MlDsaVariant::ExternalMu, Some(_)) => unused("the variant EXTERNAL_MU"),
    }
}

/// Reads the digest of HashSLH-DSA. Values that SLH-DSA does not use are refused, as by [`variant`].
fn slh_dsa_digest(message: &proto::Scheme) -> Result<Option<DigestAlg>, WireError> {
    if message.ml_dsa_variant != i32::from(scheme::MlDsaVariant::Pure) {
        return Err(WireError::Unused { what: "ml_dsa_variant", with: "SLH-DSA" });
    }
    digest(message.digest)
}

/// Returns a variant of ML-DSA and its digest as messages.
fn variant_message(variant: MlDsaVariant) -> (scheme::MlDsaVariant, Option<DigestAlg>) {
    match variant {
        MlDsaVariant::Pure => (scheme::MlDsaVariant::Pure, None),
        MlDsaVariant::PreHash(digest) => (scheme::MlDsaVariant::PreHash, Some(digest)),
        MlDsaVariant::ExternalMu => (scheme::MlDsaVariant::ExternalMu, None),
    }
}

fn digest(value: i32) -> Result<Option<DigestAlg>, WireError> {
    Ok(match parse_enum("digest", value)? {
        Digest::Unspecified => None,
        Digest::Sha1 => Some(DigestAlg::Sha1),
        Digest::Sha224 => Some(DigestAlg::Sha224),
        Digest::Sha256 => Some(DigestAlg::Sha256),
        Digest::Sha384 => Some(DigestAlg::Sha384),
        Digest::Sha512 => Some(DigestAlg::Sha512),
        Digest::Sha512224 => Some(DigestAlg::Sha512_224),
        Digest::Sha512256 => Some(DigestAlg::Sha512_256),
        Digest::Sha3224 => Some(DigestAlg::Sha3_224),
        Digest::Sha3256 => Some(DigestAlg::Sha3_256),
        Digest::Sha3384 => Some(DigestAlg::Sha3_384),
        Digest::Sha3512 => Some(DigestAlg::Sha3_512),
        Digest::Shake128 => Some(DigestAlg::Shake128),
        Digest::Shake256 => Some(DigestAlg::Shake256),
    })
}

fn parse_digest_or(value: i32, other: DigestAlg) -> Result<DigestAlg, WireError> {
    Ok(digest(value)?.unwrap_or(other))
}

fn digest_message(digest: Option<DigestAlg>) -> Result<i32, WireError> {
    let message = match digest {
        None => Digest::Unspecified,
        Some(DigestAlg::Sha1) => Digest::Sha1,
        Some(DigestAlg::Sha224) => Digest::Sha224,
        Some(DigestAlg::Sha256) => Digest::Sha256,
        Some(DigestAlg::Sha384) => Digest::Sha384,
        Some(DigestAlg::Sha512) => Digest::Sha512,
        Some(DigestAlg::Sha512_224) => Digest::Sha512224,
        Some(DigestAlg::Sha512_256) => Digest::Sha512256,
        Some(DigestAlg::Sha3_224) => Digest::Sha3224,
        Some(DigestAlg::Sha3_256) => Digest::Sha3256,
        Some(DigestAlg::Sha3_384) => Digest::Sha3384,
        Some(DigestAlg::Sha3_512) => Digest::Sha3512,
        Some(DigestAlg::Shake128) => Digest::Shake128,
        Some(DigestAlg::Shake256) => Digest::Shake256,
        Some(other) => return Err(unknown_name("digest", &other)),
    };
    Ok(message.into())
}

fn encoding_of(encoding: proto::EcdsaEncoding) -> EcdsaEncoding {
    match encoding {
        proto::EcdsaEncoding::Der => EcdsaEncoding::Der,
        proto::EcdsaEncoding::Fixed => EcdsaEncoding::Fixed,
    }
}

fn encoding_message(encoding: EcdsaEncoding) -> proto::EcdsaEncoding {
    match encoding {
        EcdsaEncoding::Der => proto::EcdsaEncoding::Der,
        EcdsaEncoding::Fixed => proto::EcdsaEncoding::Fixed,
    }
}

/// The bytes of the longest modulus that a salt can be for: RSA of 16,384 bits.
const MAX_MODULUS_BYTES: usize = 2048;

/// Checks the length of a salt. It must fit the modulus together with the digest and two bytes. RFC 8017 9.1.1.
fn salt_len(len: u32, digest: DigestAlg) -> Result<u16, WireError> {
    let bound = MAX_MODULUS_BYTES - digest.output_len() - 2;
    let too_many = || WireError::TooMany { what: "salt_len", found: len.into(), bound: bound as u64 };
    u16::try_from(len).ok().filter(|len| usize::from(*len) <= bound).ok_or_else(too_many)
}
