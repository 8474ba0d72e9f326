//! Digests.

use std::fmt;

/// A digest. FIPS 180-4 and FIPS 202.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DigestAlg {
    /// SHA-1, for protocols that still carry it.
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
    /// SHA-512/224: SHA-512 from another initial value, cut to 224 bits.
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

impl DigestAlg {
    /// Every digest.
    pub const ALL: [Self; 13] = [
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha512_224,
        Self::Sha512_256,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
        Self::Shake128,
        Self::Shake256,
    ];

    /// The digests that schemes of RSA and ECDSA take, for messages and for mask generation.
    pub const RSA_AND_ECDSA: [Self; 5] = [Self::Sha1, Self::Sha224, Self::Sha256, Self::Sha384, Self::Sha512];

    /// The digests that signatures over a digest with its name take (HashML-DSA), in the order of their object
    /// identifiers, 2.16.840.1.101.3.4.2.1 to 12. FIPS 204 section 5.4.1.
    pub const PRE_HASH: [Self; 12] = [
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

    /// Returns the number of bytes of a digest.
    #[must_use]
    pub fn output_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 | Self::Sha512_224 | Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha512_256 | Self::Sha3_256 | Self::Shake128 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 | Self::Shake256 => 64,
        }
    }

    /// Returns the number of bytes of a message block: the rate of SHA-3 and SHAKE.
    #[must_use]
    pub fn block_len(self) -> usize {
        match self {
            Self::Sha1 | Self::Sha224 | Self::Sha256 => 64,
            Self::Sha384 | Self::Sha512 | Self::Sha512_224 | Self::Sha512_256 => 128,
            // The rest of the 200 bytes is the capacity: twice the strength. FIPS 202 6.1 and 6.2.
            Self::Sha3_224 => 144,
            Self::Sha3_256 | Self::Shake256 => 136,
            Self::Sha3_384 => 104,
            Self::Sha3_512 => 72,
            Self::Shake128 => 168,
        }
    }

    /// Returns the number of bytes of the chaining state, as [`Shape::DigestPart`](crate::Shape::DigestPart) takes and
    /// returns it.
    ///
    /// Those of SHA-1 and SHA-2 are big-endian words. That of SHA-3 and SHAKE is the state of Keccak as a string
    /// (FIPS 202 3.1.3), zeros at the start: 25 little-endian words.
    #[must_use]
    pub fn state_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 | Self::Sha256 => 32,
            Self::Sha384 | Self::Sha512 | Self::Sha512_224 | Self::Sha512_256 => 64,
            Self::Sha3_224
            | Self::Sha3_256
            | Self::Sha3_384
            | Self::Sha3_512
            | Self::Shake128
            | Self::Shake256 => 200,
        }
    }

    /// Returns the last number of the object identifier, 2.16.840.1.101.3.4.2.n, or `None` for SHA-1, whose identifier
    /// is another.
    #[must_use]
    pub fn oid_arc(self) -> Option<u8> {
        (1..).zip(Self::PRE_HASH).find_map(|(arc, digest)| (digest == self).then_some(arc))
    }
}

impl fmt::Display for DigestAlg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
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

    /// NIST's register of computer security objects: 2.16.840.1.101.3.4.2.
    #[test]
    fn digests_have_the_object_identifiers_of_nist() {
        let arcs = [
            (DigestAlg::Sha256, 1),
            (DigestAlg::Sha224, 4),
            (DigestAlg::Sha512_256, 6),
            (DigestAlg::Sha3_512, 10),
            (DigestAlg::Shake256, 12),
        ];
        for (digest, arc) in arcs {
            assert_eq!(digest.oid_arc(), Some(arc), "{digest}");
        }
        let unnamed = DigestAlg::ALL.into_iter().filter(|digest| digest.oid_arc().is_none());
        assert_eq!(unnamed.collect::<Vec<_>>(), [DigestAlg::Sha1]);
    }

    /// FIPS 202 6.1: the capacity is twice the length of the digest. SHAKE has that of its name.
    #[test]
    fn rate_and_capacity_fill_the_state_of_keccak() {
        for digest in DigestAlg::ALL.into_iter().filter(|digest| digest.state_len() == 200) {
            let strength = match digest {
                DigestAlg::Shake128 => 16,
                DigestAlg::Shake256 => 32,
                _ => digest.output_len(),
            };
            assert_eq!(digest.block_len() + 2 * strength, 200, "{digest}");
        }
    }
}
