//! The algorithms of keys and signatures (IANA, DNS Security Algorithm Numbers).

use std::fmt;
use std::str::FromStr;

use oarlock::{Curve, DigestAlg, EcdsaEncoding, Key, MlDsaSet, MlDsaVariant, NonceRule, Scheme, SlhDsaSet};

/// An algorithm. Values up to 255 are the numbers of records. Unknown numbers are values too: if a set is signed with
/// unknown algorithms only, it counts as unsigned, not as bogus. RFC 4035 5.2.
///
/// Values above 255 are experimental algorithms, which have no number of their own: records have 254 (PRIVATEOID), and
/// keys and signatures begin with an object identifier. RFC 4034 A.1.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DnssecAlgorithm(pub u16);

/// The primitives of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlgorithmFamily {
    Rsa(DigestAlg),
    Ec(Curve, DigestAlg),
    Ed25519,
    Ed448,
    MlDsa(MlDsaSet),
    SlhDsa(SlhDsaSet),
}

/// The number of algorithms that an object identifier names. RFC 4034 A.1.1.
const PRIVATE_OID: u8 = 254;

/// The prefixes of keys and signatures of the experimental algorithms: the length of an object identifier, and the
/// identifier in DER, 2.16.840.1.101.3.4.3.n. RFC 4034 A.1.1, RFC 9881 and RFC 9909.
const EXPERIMENTAL: [(DnssecAlgorithm, [u8; 12]); 2] =
    [(DnssecAlgorithm::ML_DSA_44, oid_prefix(17)), (DnssecAlgorithm::SLH_DSA_SHA2_128S, oid_prefix(20))];

const fn oid_prefix(last: u8) -> [u8; 12] {
    [11, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, last]
}

/// An error for a text that names no algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a number up to 255 nor the mnemonic of a DNSSEC algorithm")]
pub struct UnknownAlgorithmError(pub String);

/// The length of an Ed25519 signature in bytes. RFC 8080 section 4.
const ED25519_SIGNATURE_LEN: usize = 64;

const MNEMONICS: [(DnssecAlgorithm, &str); 18] = [
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
    (DnssecAlgorithm::ML_DSA_44, "ML-DSA-44"),
    (DnssecAlgorithm::SLH_DSA_SHA2_128S, "SLH-DSA-SHA2-128S"),
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
    pub const ML_DSA_44: Self = Self(256);
    pub const SLH_DSA_SHA2_128S: Self = Self(257);
}

impl DnssecAlgorithm {
    /// The algorithms whose signatures this crate verifies, without the experimental ones.
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

    /// Returns the number that stands in records.
    #[must_use]
    pub fn number(self) -> u8 {
        u8::try_from(self.0).unwrap_or(PRIVATE_OID)
    }

    /// True if IANA has not given the algorithm a number. Such keys and signatures are for tests; other software takes
    /// their zones for unsigned.
    #[must_use]
    pub fn is_experimental(self) -> bool {
        u8::try_from(self.0).is_err()
    }

    /// Returns the bytes with which keys and signatures of an experimental algorithm begin, and none for others.
    pub(crate) fn prefix(self) -> &'static [u8] {
        let found = EXPERIMENTAL.iter().find(|(algorithm, _)| *algorithm == self);
        found.map_or(&[], |(_, prefix)| prefix)
    }

    /// Returns the algorithm of a key or a signature with this number, and the bytes behind its prefix.
    pub(crate) fn split(number: u8, bytes: &[u8]) -> (Self, &[u8]) {
        let found = EXPERIMENTAL.iter().filter(|_| number == PRIVATE_OID);
        let mut found =
            found.filter_map(|(algorithm, prefix)| Some((*algorithm, bytes.strip_prefix(prefix)?)));
        found.next().unwrap_or((number.into(), bytes))
    }

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

    /// Returns the reason why this crate verifies signatures of the algorithm but makes none, and the next step.
    #[must_use]
    pub fn signing_reason(self) -> Option<&'static str> {
        (self == Self::ED448).then_some(
            "neither the lanes nor AWS-LC have Ed448, and the code that verifies it here one at a time is not made for \
             private keys; roll the zone to ED25519 (15), or sign it with dnssec-signzone",
        )
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
            AlgorithmFamily::MlDsa(set) => Some(Scheme::MlDsaVerify { set, variant: MlDsaVariant::Pure }),
            AlgorithmFamily::SlhDsa(set) => Some(Scheme::SlhDsaVerify { set, pre_hash: None }),
        }
    }

    /// Returns the scheme of the facade that signs in the form of an RRSIG. The nonce rule applies to ECDSA, ML-DSA and
    /// SLH-DSA.
    #[must_use]
    pub fn sign_scheme(self, nonce: NonceRule) -> Option<Scheme> {
        match self.family()? {
            AlgorithmFamily::Rsa(digest) => Some(Scheme::RsaPkcs1Sign { digest }),
            AlgorithmFamily::Ec(curve, digest) => {
                Some(Scheme::EcdsaSign { curve, digest, encoding: EcdsaEncoding::Fixed, nonce })
            }
            AlgorithmFamily::Ed25519 => Some(Scheme::Ed25519Sign),
            AlgorithmFamily::Ed448 => None,
            AlgorithmFamily::MlDsa(set) => {
                Some(Scheme::MlDsaSign { set, variant: MlDsaVariant::Pure, nonce })
            }
            AlgorithmFamily::SlhDsa(set) => Some(Scheme::SlhDsaSign { set, pre_hash: None, nonce }),
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
            AlgorithmFamily::MlDsa(set) => {
                key.ml_dsa_public().filter(|(of_key, _)| *of_key == set).map(|_| set.signature_len())
            }
            AlgorithmFamily::SlhDsa(set) => {
                key.slh_dsa_public().filter(|(of_key, _)| *of_key == set).map(|_| set.signature_len())
            }
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
            Self::ML_DSA_44 => Some(AlgorithmFamily::MlDsa(MlDsaSet::MlDsa44)),
            Self::SLH_DSA_SHA2_128S => Some(AlgorithmFamily::SlhDsa(SlhDsaSet::Sha2_128s)),
            _ => None,
        }
    }
}

impl From<u8> for DnssecAlgorithm {
    fn from(number: u8) -> Self {
        Self(number.into())
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
        match text.parse::<u8>() {
            Ok(number) if is_number => Ok(number.into()),
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
        for (experimental, text) in EXPERIMENTAL.map(|(algorithm, _)| (algorithm, algorithm.to_string())) {
            assert!(experimental.is_experimental() && experimental.can_sign(), "{text}");
            assert_eq!((experimental.number(), text.to_lowercase().parse()), (254, Ok(experimental)));
            let bytes = [experimental.prefix(), &[7, 8]].concat();
            assert_eq!(DnssecAlgorithm::split(254, &bytes), (experimental, &[7, 8][..]));
            // Another number, and an identifier that is cut short.
            assert_eq!(DnssecAlgorithm::split(253, &bytes), (DnssecAlgorithm(253), &bytes[..]));
            assert_eq!(DnssecAlgorithm::split(254, &bytes[..11]), (DnssecAlgorithm(254), &bytes[..11]));
        }
        assert_eq!(DnssecAlgorithm::RSASHA512.message_digest(), Some(DigestAlg::Sha512));
        assert_eq!(DnssecAlgorithm::ED25519.message_digest(), None);
    }
}
