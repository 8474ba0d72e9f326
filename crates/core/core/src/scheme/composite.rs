//! The schemes of composites.

use super::{EcdsaEncoding, NonceRule, SigningScheme};
use crate::{CompositeAlg, Curve, DigestAlg};

impl CompositeAlg {
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
}
