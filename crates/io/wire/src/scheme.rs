//! Schemes as messages.

use std::fmt::Display;

use oarlock::{Curve, KeyKind};
use oarlock::{DigestAlg, EcdsaEncoding, NonceRule, SaltLength, Scheme};

use crate::WireError;
use crate::proto::scheme::Kind;
use crate::proto::{self, Digest};

/// A scheme of a message. The curve is not part of it: the key has it.
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
}

impl WireScheme {
    /// Reads a scheme.
    ///
    /// # Errors
    /// A value is not known here, or missing.
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
                let nonce =
                    if message.is_deterministic { NonceRule::Deterministic } else { NonceRule::Hedged };
                WireSchemeKind::EcdsaSign { digest: digest()?, encoding: encoding()?, nonce }
            }
            Kind::EcdsaVerify => WireSchemeKind::EcdsaVerify { digest: digest()?, encoding: encoding()? },
            Kind::Ed25519Sign => WireSchemeKind::Whole(Scheme::Ed25519Sign),
            Kind::Ed25519Verify => WireSchemeKind::Whole(Scheme::Ed25519Verify),
            Kind::X25519 => WireSchemeKind::Whole(Scheme::X25519),
            Kind::Ecdh => WireSchemeKind::Ecdh,
        };
        Ok(Self { family, takes_digest: message.takes_digest })
    }

    /// Returns true if inputs are digests.
    #[must_use]
    pub fn takes_digest(self) -> bool {
        self.takes_digest
    }

    /// Returns the scheme for a key of this kind. For a key without a curve this is a scheme that the accelerator
    /// refuses for it.
    #[must_use]
    pub fn with(self, kind: KeyKind) -> Scheme {
        let curve = match kind {
            KeyKind::EcPrivate(curve) | KeyKind::EcPublic(curve) => curve,
            // The job then fails with an error about the key, which says more than an unknown curve.
            _ => Curve::P256,
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
        }
    }
}

/// Writes a scheme.
///
/// # Errors
/// The protocol does not have the scheme.
pub fn write(scheme: Scheme) -> Result<proto::Scheme, WireError> {
    let mut message = proto::Scheme::default();
    let mut put = |kind: Kind, digest: Option<DigestAlg>, mgf: Option<DigestAlg>| {
        message.kind = kind.into();
        message.digest = digest_message(digest)?;
        message.mgf_digest = digest_message(mgf)?;
        Ok::<(), WireError>(())
    };
    match scheme {
        Scheme::RsaPkcs1Sign { digest } => put(Kind::RsaPkcs1Sign, Some(digest), None)?,
        Scheme::RsaPkcs1Verify { digest } => put(Kind::RsaPkcs1Verify, Some(digest), None)?,
        Scheme::RsaPssSign { digest, mgf, salt_len } => {
            put(Kind::RsaPssSign, Some(digest), Some(mgf))?;
            message.salt_len = Some(salt_len.into());
        }
        Scheme::RsaPssVerify { digest, mgf, salt } => {
            put(Kind::RsaPssVerify, Some(digest), Some(mgf))?;
            message.salt_len = match salt {
                SaltLength::Exactly(len) => Some(len.into()),
                SaltLength::Any => None,
            };
        }
        Scheme::RsaPkcs1Decrypt => put(Kind::RsaPkcs1Decrypt, None, None)?,
        Scheme::RsaOaepDecrypt { digest, mgf } => put(Kind::RsaOaepDecrypt, Some(digest), Some(mgf))?,
        Scheme::EcdsaSign { digest, encoding, nonce, .. } => {
            put(Kind::EcdsaSign, Some(digest), None)?;
            message.encoding = encoding_message(encoding).into();
            message.is_deterministic = nonce == NonceRule::Deterministic;
        }
        Scheme::EcdsaVerify { digest, encoding, .. } => {
            put(Kind::EcdsaVerify, Some(digest), None)?;
            message.encoding = encoding_message(encoding).into();
        }
        Scheme::Ed25519Sign => put(Kind::Ed25519Sign, None, None)?,
        Scheme::Ed25519Verify => put(Kind::Ed25519Verify, None, None)?,
        Scheme::X25519 => put(Kind::X25519, None, None)?,
        Scheme::Ecdh { .. } => put(Kind::Ecdh, None, None)?,
        // The enum may grow before the protocol does.
        other => return Err(unknown_name("scheme", &other)),
    }
    Ok(message)
}

/// Returns the error of a value that is newer than the protocol.
pub(crate) fn unknown_name(what: &'static str, found: &impl Display) -> WireError {
    WireError::Name { what, name: found.to_string(), expected: "one of the protocol's".into() }
}

fn parse_enum<E: TryFrom<i32>>(what: &'static str, value: i32) -> Result<E, WireError> {
    E::try_from(value).map_err(|_| WireError::Unknown { what, value })
}

fn digest(value: i32) -> Result<Option<DigestAlg>, WireError> {
    Ok(match parse_enum("digest", value)? {
        Digest::Unspecified => None,
        Digest::Sha1 => Some(DigestAlg::Sha1),
        Digest::Sha224 => Some(DigestAlg::Sha224),
        Digest::Sha256 => Some(DigestAlg::Sha256),
        Digest::Sha384 => Some(DigestAlg::Sha384),
        Digest::Sha512 => Some(DigestAlg::Sha512),
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
