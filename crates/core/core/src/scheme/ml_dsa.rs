//! The variants of ML-DSA, and the digests of HashML-DSA.

use std::fmt;

/// The thing that ML-DSA signs. Signatures of one variant do not verify as signatures of another. Those over an
/// external mu are signatures of the variant from which mu was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MlDsaVariant {
    /// The message itself. FIPS 204 algorithms 2 and 3.
    Pure,
    /// HashML-DSA: the digest of the message and the name of the digest. FIPS 204 algorithms 4 and 5.
    PreHash(PreHash),
    /// The message representative mu, 64 bytes, which the caller has made of the public key, the context and the
    /// message. The context of the job is empty. FIPS 204 section 6.2 and algorithm 7, step 6.
    ExternalMu,
}

/// A digest for HashML-DSA and HashSLH-DSA. FIPS 204 section 5.4.1, FIPS 205 section 10.2.2, and the object identifiers
/// under 2.16.840.1.101.3.4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PreHash {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-224.
    Sha224,
    /// SHA-512/224.
    Sha512_224,
    /// SHA-512/256.
    Sha512_256,
    /// SHA3-224.
    Sha3_224,
    /// SHA3-256.
    Sha3_256,
    /// SHA3-384.
    Sha3_384,
    /// SHA3-512.
    Sha3_512,
    /// SHAKE128 with an output of 256 bits.
    Shake128,
    /// SHAKE256 with an output of 512 bits.
    Shake256,
}

impl PreHash {
    /// Every digest, in the order of the last number of their object identifiers, from 1 to 12.
    pub const ALL: [Self; 12] = [
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha224,
        Self::Sha512_224,
        Self::Sha512_256,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Shake128,
        Self::Shake256,
    ];

    /// Returns the number of bytes of the digest.
    #[must_use]
    pub fn output_len(self) -> usize {
        match self {
            Self::Sha224 | Self::Sha512_224 | Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha512_256 | Self::Sha3_256 | Self::Shake128 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 | Self::Shake256 => 64,
        }
    }

    /// Returns the last number of the object identifier, 2.16.840.1.101.3.4.2.n.
    #[must_use]
    pub fn last_arc(self) -> u8 {
        // In the order of `ALL`, which is also that of the enum's variants.
        self as u8 + 1
    }
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

impl fmt::Display for PreHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
            Self::Sha224 => "sha224",
            Self::Sha512_224 => "sha512-224",
            Self::Sha512_256 => "sha512-256",
            Self::Sha3_224 => "sha3-224",
            Self::Sha3_256 => "sha3-256",
            Self::Sha3_384 => "sha3-384",
            Self::Sha3_512 => "sha3-512",
            Self::Shake128 => "shake128",
            Self::Shake256 => "shake256",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_stand_in_the_order_of_their_object_identifiers() {
        for (last, digest) in (1..).zip(PreHash::ALL) {
            assert_eq!(digest.last_arc(), last, "{digest}");
        }
        assert_eq!(PreHash::Sha3_512.last_arc(), 10);
    }
}
