//! Signature algorithms. RFC 6376 3.3, RFC 8301 3, RFC 8463 3.

use std::fmt;
use std::str::FromStr;

use oarlock::KeyKind;
use oarlock::{DigestAlg, Input, Key, Scheme};

/// A signature algorithm: the value of `a=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureAlgorithm {
    /// RSA PKCS#1 v1.5 with SHA-1: historic. RFC 8301 3.1 forbids to sign with it and to trust it.
    RsaSha1,
    /// RSA PKCS#1 v1.5 with SHA-256.
    RsaSha256,
    /// Ed25519 over a SHA-256 digest. RFC 8463 3.
    Ed25519Sha256,
}

/// An error for a text that names no signature algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a DKIM signature algorithm: expected rsa-sha256, ed25519-sha256 or rsa-sha1")]
pub struct UnknownSignatureAlgorithm(pub String);

impl SignatureAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [Self::RsaSha1, Self::RsaSha256, Self::Ed25519Sha256];

    /// Returns the name that `a=` has.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RsaSha1 => "rsa-sha1",
            Self::RsaSha256 => "rsa-sha256",
            Self::Ed25519Sha256 => "ed25519-sha256",
        }
    }

    /// Returns the key type that `k=` of a record has.
    #[must_use]
    pub fn key_type(self) -> &'static str {
        match self {
            Self::RsaSha1 | Self::RsaSha256 => "rsa",
            Self::Ed25519Sha256 => "ed25519",
        }
    }

    /// Returns the name of the hash that `h=` of a record has.
    #[must_use]
    pub fn hash(self) -> &'static str {
        match self {
            Self::RsaSha1 => "sha1",
            Self::RsaSha256 | Self::Ed25519Sha256 => "sha256",
        }
    }

    /// Returns the digest algorithm for the body and the header.
    #[must_use]
    pub fn digest(self) -> DigestAlg {
        match self {
            Self::RsaSha1 => DigestAlg::Sha1,
            Self::RsaSha256 | Self::Ed25519Sha256 => DigestAlg::Sha256,
        }
    }

    /// Returns the algorithm that a key of this kind signs with by default. It is never rsa-sha1.
    #[must_use]
    pub fn for_key(key: &Key) -> Option<Self> {
        match key.kind() {
            KeyKind::RsaPrivate(_) | KeyKind::RsaPublic(_) => Some(Self::RsaSha256),
            KeyKind::Ed25519Private | KeyKind::Ed25519Public => Some(Self::Ed25519Sha256),
            _ => None,
        }
    }

    pub(crate) fn sign_scheme(self) -> Scheme {
        match self {
            Self::RsaSha1 | Self::RsaSha256 => Scheme::RsaPkcs1Sign { digest: self.digest() },
            Self::Ed25519Sha256 => Scheme::Ed25519Sign,
        }
    }

    /// Returns the digest as the input of the scheme. Ed25519 signs the digest as a message. RFC 8463 3.
    pub(crate) fn input(self, hash: &[u8]) -> Input<'_> {
        match self {
            Self::Ed25519Sha256 => Input::Message(hash),
            Self::RsaSha1 | Self::RsaSha256 => Input::Digest(hash),
        }
    }

    pub(crate) fn verify_scheme(self) -> Scheme {
        match self {
            Self::RsaSha1 | Self::RsaSha256 => Scheme::RsaPkcs1Verify { digest: self.digest() },
            Self::Ed25519Sha256 => Scheme::Ed25519Verify,
        }
    }
}

impl FromStr for SignatureAlgorithm {
    type Err = UnknownSignatureAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownSignatureAlgorithm> {
        let known = Self::ALL.into_iter().find(|algorithm| algorithm.name() == text);
        known.ok_or_else(|| UnknownSignatureAlgorithm(text.into()))
    }
}

impl fmt::Display for SignatureAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
