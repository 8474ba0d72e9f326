//! The keys of composites.

use super::{Key, KeyKind};
use crate::{CompositeAlg, Curve};

/// The two keys of a composite, both private or both public. Neither may serve anything else: a signature by one of
/// them alone must not pass for half of a composite. Section 10.3 of the draft.
#[derive(Clone, Debug)]
pub struct CompositeParts {
    /// The composite, which names the algorithms of both keys.
    pub alg: CompositeAlg,
    /// The key of ML-DSA, whose private half is its seed.
    pub ml_dsa: Key,
    /// The key of the other algorithm.
    pub traditional: Key,
}

impl CompositeAlg {
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
