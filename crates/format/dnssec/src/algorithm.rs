//! The algorithms of keys and signatures (IANA, DNS Security Algorithm Numbers).

use std::fmt;
use std::str::FromStr;

use oarlock::Curve;
use oarlock::{DigestAlg, EcdsaEncoding, Key, NonceRule, Scheme};

/// The number of an algorithm. Unknown numbers are values too: if a set is signed with unknown algorithms only, it
/// counts as unsigned, not as bogus. RFC 4035 5.2.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DnssecAlgorithm(pub u8);

/// The primitives of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlgorithmFamily {
    Rsa(DigestAlg),
    Ec(Curve, DigestAlg),
    Ed25519,
    Ed448,
}

/// An error for a text that names no algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a number up to 255 nor the mnemonic of a DNSSEC algorithm")]
pub struct UnknownAlgorithmError(pub String);

/// The length of an Ed25519 signature in bytes. RFC 8080 section 4.
const ED25519_SIGNATURE_LEN: usize = 64;

const MNEMONICS: [(DnssecAlgorithm, &str); 16] = [
    (DnssecAlgorithm::RSAMD5, "RSAMD5"),
    (DnssecAlgorithm(2), "DH"),
    (DnssecAlgorithm(3), "DSA"),
    (DnssecAlgorithm::RSASHA1, "RSASHA1"),
    (DnssecAlgorithm(6), "DSA-NSEC3-SHA1"),
    (DnssecAlgorithm::RSASHA1_NSEC3_SHA1, "RSASHA1-NSEC3-SHA1"),
    (DnssecAlgorithm::RSASHA256, "RSASHA256"),
    (DnssecAlgorithm::RSASHA512, "RSASHA512"),
    (DnssecAlgorithm(12), "ECC-GOST"),
    (DnssecAlgorithm::ECDSAP256SHA256, "ECDSAP256SHA256"),
    (DnssecAlgorithm::ECDSAP384SHA384, "ECDSAP384SHA384"),
    (DnssecAlgorithm::ED25519, "ED25519"),
    (DnssecAlgorithm::ED448, "ED448"),
    (DnssecAlgorithm(252), "INDIRECT"),
    (DnssecAlgorithm(253), "PRIVATEDNS"),
    (DnssecAlgorithm(254), "PRIVATEOID"),
];

#[allow(missing_docs, reason = "each is its mnemonic")]
impl DnssecAlgorithm {
    pub const RSAMD5: Self = Self(1);
    pub const RSASHA1: Self = Self(5);
    pub const RSASHA1_NSEC3_SHA1: Self = Self(7);
    pub const RSASHA256: Self = Self(8);
    pub const RSASHA512: Self = Self(10);
    pub const ECDSAP256SHA256: Self = Self(13);
    pub const ECDSAP384SHA384: Self = Self(14);
    pub const ED25519: Self = Self(15);
    pub const ED448: Self = Self(16);
}

impl DnssecAlgorithm {
    /// The algorithms whose signatures this crate verifies.
    pub const SUPPORTED: [Self; 8] = [
        Self::RSASHA1,
        Self::RSASHA1_NSEC3_SHA1,
        Self::RSASHA256,
        Self::RSASHA512,
        Self::ECDSAP256SHA256,
        Self::ECDSAP384SHA384,
        Self::ED25519,
        Self::ED448,
    ];

    /// Returns the mnemonic, if the algorithm has one.
    #[must_use]
    pub fn mnemonic(self) -> Option<&'static str> {
        MNEMONICS.iter().find(|(algorithm, _)| *algorithm == self).map(|(_, mnemonic)| *mnemonic)
    }

    /// Returns true if this crate verifies signatures of the algorithm.
    #[must_use]
    pub fn is_supported(self) -> bool {
        self.family().is_some()
    }

    /// Returns true if this crate makes signatures of the algorithm. It verifies Ed448 ([`ED448`](Self::ED448)) only.
    #[must_use]
    pub fn can_sign(self) -> bool {
        self.sign_scheme(NonceRule::Hedged).is_some()
    }

    /// Returns true for RSA with any digest.
    #[must_use]
    pub fn is_rsa(self) -> bool {
        matches!(self.family(), Some(AlgorithmFamily::Rsa(_)))
    }

    /// Returns the scheme of the facade that verifies signatures in the form of an RRSIG. Returns None for
    /// unsupported algorithms, and for Ed448, which the facade does not have: see
    /// [`ZonePublicKey`](crate::ZonePublicKey).
    #[must_use]
    pub fn verify_scheme(self) -> Option<Scheme> {
        match self.family()? {
            AlgorithmFamily::Rsa(digest) => Some(Scheme::RsaPkcs1Verify { digest }),
            AlgorithmFamily::Ec(curve, digest) => {
                Some(Scheme::EcdsaVerify { curve, digest, encoding: EcdsaEncoding::Fixed })
            }
            AlgorithmFamily::Ed25519 => Some(Scheme::Ed25519Verify),
            AlgorithmFamily::Ed448 => None,
        }
    }

    /// Returns the scheme of the facade that signs in the form of an RRSIG. The nonce rule applies to ECDSA only.
    #[must_use]
    pub fn sign_scheme(self, nonce: NonceRule) -> Option<Scheme> {
        match self.family()? {
            AlgorithmFamily::Rsa(digest) => Some(Scheme::RsaPkcs1Sign { digest }),
            AlgorithmFamily::Ec(curve, digest) => {
                Some(Scheme::EcdsaSign { curve, digest, encoding: EcdsaEncoding::Fixed, nonce })
            }
            AlgorithmFamily::Ed25519 => Some(Scheme::Ed25519Sign),
            AlgorithmFamily::Ed448 => None,
        }
    }

    /// Returns the digest of the data to be signed. Returns None if the scheme takes the data itself, or if there is
    /// no scheme.
    #[must_use]
    pub fn message_digest(self) -> Option<DigestAlg> {
        self.verify_scheme().and_then(Scheme::message_digest)
    }

    /// Returns the length of a signature under `key` in bytes, or None if the key is of another algorithm.
    #[must_use]
    pub fn signature_len(self, key: &Key) -> Option<usize> {
        match self.family()? {
            AlgorithmFamily::Rsa(_) => key.rsa_public().map(|public| usize::from(public.bits()).div_ceil(8)),
            AlgorithmFamily::Ec(curve, _) => {
                key.ec_public().filter(|(key_curve, _)| *key_curve == curve).map(|_| 2 * curve.scalar_len())
            }
            AlgorithmFamily::Ed25519 => key.ed25519_public().map(|_| ED25519_SIGNATURE_LEN),
            AlgorithmFamily::Ed448 => None,
        }
    }

    /// Returns the primitives of a supported algorithm. RFC 3110, RFC 5155 section 2, RFC 5702, RFC 6605 and RFC
    /// 8080.
    pub(crate) fn family(self) -> Option<AlgorithmFamily> {
        match self {
            Self::RSASHA1 | Self::RSASHA1_NSEC3_SHA1 => Some(AlgorithmFamily::Rsa(DigestAlg::Sha1)),
            Self::RSASHA256 => Some(AlgorithmFamily::Rsa(DigestAlg::Sha256)),
            Self::RSASHA512 => Some(AlgorithmFamily::Rsa(DigestAlg::Sha512)),
            Self::ECDSAP256SHA256 => Some(AlgorithmFamily::Ec(Curve::P256, DigestAlg::Sha256)),
            Self::ECDSAP384SHA384 => Some(AlgorithmFamily::Ec(Curve::P384, DigestAlg::Sha384)),
            Self::ED25519 => Some(AlgorithmFamily::Ed25519),
            Self::ED448 => Some(AlgorithmFamily::Ed448),
            _ => None,
        }
    }
}

impl FromStr for DnssecAlgorithm {
    type Err = UnknownAlgorithmError;

    /// Parses a mnemonic in any case, or a number.
    fn from_str(text: &str) -> Result<Self, UnknownAlgorithmError> {
        if let Some((known, _)) = MNEMONICS.iter().find(|(_, mnemonic)| mnemonic.eq_ignore_ascii_case(text)) {
            return Ok(*known);
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if is_number => Ok(Self(number)),
            // BIND writes this mnemonic.
            _ if text.eq_ignore_ascii_case("NSEC3RSASHA1") => Ok(Self::RSASHA1_NSEC3_SHA1),
            _ => Err(UnknownAlgorithmError(text.into())),
        }
    }
}

impl fmt::Display for DnssecAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mnemonic() {
            Some(mnemonic) => f.write_str(mnemonic),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for DnssecAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Algorithm({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonics_and_numbers_are_algorithms_in_any_case() {
        for (text, number) in [("ECDSAP256SHA256", 13), ("rsasha1-nsec3-sha1", 7), ("13", 13), ("255", 255)] {
            assert_eq!(text.parse(), Ok(DnssecAlgorithm(number)), "{text}");
        }
        assert_eq!("nsec3rsasha1".parse(), Ok(DnssecAlgorithm::RSASHA1_NSEC3_SHA1));
        for text in ["", "256", "+8", "-1", "RSA", "8 "] {
            assert_eq!(text.parse::<DnssecAlgorithm>(), Err(UnknownAlgorithmError(text.into())));
        }
        assert_eq!(
            (DnssecAlgorithm(16).to_string(), DnssecAlgorithm(99).to_string()),
            ("ED448".into(), "99".into())
        );
    }

    #[test]
    fn supported_algorithms_have_a_scheme_except_ed448() {
        for number in 0..=255 {
            let algorithm = DnssecAlgorithm(number);
            assert_eq!(algorithm.is_supported(), DnssecAlgorithm::SUPPORTED.contains(&algorithm));
            let has_scheme = algorithm.is_supported() && algorithm != DnssecAlgorithm::ED448;
            assert_eq!(algorithm.verify_scheme().is_some(), has_scheme);
            assert_eq!(algorithm.can_sign(), has_scheme);
        }
        assert_eq!(DnssecAlgorithm::RSASHA512.message_digest(), Some(DigestAlg::Sha512));
        assert_eq!(DnssecAlgorithm::ED25519.message_digest(), None);
    }
}
