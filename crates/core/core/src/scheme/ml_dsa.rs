//! The variants of ML-DSA.

use std::fmt;

use crate::DigestAlg;

/// The thing that ML-DSA signs. Signatures of one variant do not verify as signatures of another. Those over an
/// external mu are signatures of the variant from which mu was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MlDsaVariant {
    /// The message itself. FIPS 204 algorithms 2 and 3.
    Pure,
    /// HashML-DSA: the digest of the message and the name of the digest, which is one of [`DigestAlg::PRE_HASH`]. FIPS
    /// 204 algorithms 4 and 5.
    PreHash(DigestAlg),
    /// The message representative mu, 64 bytes, which the caller has made of the public key, the context and the
    /// message. The context of the job is empty. FIPS 204 section 6.2 and algorithm 7, step 6.
    ExternalMu,
}

/// Writes the part before the name of the parameter set: nothing for the pure variant.
impl fmt::Display for MlDsaVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure => Ok(()),
            Self::PreHash(digest) => write!(f, "hash-{digest}-"),
            Self::ExternalMu => f.write_str("mu-"),
        }
    }
}
