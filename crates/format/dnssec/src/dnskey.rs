//! Public keys of zones: DNSKEY and CDNSKEY. RFC 4034 section 2 and Appendix B, RFC 8078 section 4.

use oarlock::Key;
use oarlock::keys::{KeyError, raw, rsa};
use oarlock::{Curve, KeyKind};

use crate::algorithm::{AlgorithmFamily, DnssecAlgorithm};
use crate::ed448::Ed448Key;

/// The zone key bit. Only keys that have it verify records of a zone. RFC 4034 2.1.1.
pub const ZONE_KEY: u16 = 0x0100;
/// The secure entry point bit, a hint for administrators. RFC 4034 2.1.1.
pub const SECURE_ENTRY_POINT: u16 = 0x0001;
/// The revoke bit. RFC 5011 section 7.
pub const REVOKE: u16 = 0x0080;
/// The data of the CDNSKEY that asks a parent to delete the DS records. RFC 8078 section 4.
pub const DELETE_CDNSKEY: [u8; 5] = [0, 0, 3, 0, 0];

const PROTOCOL: u8 = 3;
/// The longest RSA modulus. RFC 3110 section 3, RFC 5702 2.1 and 2.2.
const MAX_RSA_BITS: u64 = 4096;

/// The fields of a DNSKEY record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dnskey<'a> {
    /// [`ZONE_KEY`], [`SECURE_ENTRY_POINT`], [`REVOKE`].
    pub flags: u16,
    /// The protocol, 3 in every valid record. RFC 4034 2.1.2.
    pub protocol: u8,
    /// The algorithm of the key's signatures.
    pub algorithm: DnssecAlgorithm,
    /// The key in the encoding of its algorithm, without the object identifier of an experimental one.
    pub public: &'a [u8],
    rdata: &'a [u8],
}

/// A public key that can verify.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ZonePublicKey {
    /// A key for the accelerator, with the scheme of [`DnssecAlgorithm::verify_scheme`].
    Accelerated(Key),
    /// A key that verifies one signature at a time.
    Ed448(Box<Ed448Key>),
}

/// An error of a DNSKEY that holds no usable key. The zone is at fault, unless the key [is
/// unsupported](Self::is_unsupported).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DnskeyError {
    /// The data has fewer bytes than flags, protocol and algorithm take.
    #[error("a DNSKEY of {found} bytes: it has at least 4")]
    Short {
        /// The number of bytes.
        found: usize,
    },
    /// The protocol is not DNSSEC. RFC 4034 2.1.2.
    #[error("protocol {0} in a DNSKEY: only 3 is allowed")]
    Protocol(u8),
    /// This crate does not verify with the algorithm.
    #[error("algorithm {0} is not supported")]
    UnsupportedAlgorithm(DnssecAlgorithm),
    /// The length of the RSA modulus is outside the algorithm's range, or no engine supports it.
    #[error("RSA keys of {bits} bits are not supported with {algorithm}: expected {min} to {max} bits")]
    UnsupportedSize {
        /// The algorithm of the key.
        algorithm: DnssecAlgorithm,
        /// The length of the modulus.
        bits: u64,
        /// The minimum length.
        min: u64,
        /// The maximum length.
        max: u64,
    },
    /// No engine supports the RSA exponent.
    #[error("RSA exponents of {bits} bits are not supported: expected at most 33 bits")]
    UnsupportedExponent {
        /// The length of the exponent.
        bits: u64,
    },
    /// The length of the key does not match its algorithm.
    #[error("a key of {found} bytes for {algorithm}: expected {expected} bytes")]
    Length {
        /// The algorithm of the key.
        algorithm: DnssecAlgorithm,
        /// The length that the algorithm requires.
        expected: usize,
        /// The length of the key.
        found: usize,
    },
    /// The RSA exponent is missing or cut short, or no modulus follows it. RFC 3110 section 2.
    #[error("an RSA key that ends within its exponent or before its modulus")]
    Truncated,
    /// The Ed448 key does not encode a point of the curve.
    #[error("the Ed448 key is not a point of the curve")]
    NoPoint,
    /// A number or a point is out of range.
    #[error("{0}")]
    Invalid(KeyError),
    /// The key cannot be used with the requested algorithm.
    #[error("{algorithm} cannot use a key of the kind {found:?}")]
    WrongKey {
        /// The requested algorithm.
        algorithm: DnssecAlgorithm,
        /// The kind of the given key.
        found: KeyKind,
    },
}

impl DnskeyError {
    /// Returns true if the key may be valid but this crate cannot verify with it. Sets that it signs count as
    /// unsigned, not as bogus.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(
            self,
            Self::UnsupportedAlgorithm(_) | Self::UnsupportedSize { .. } | Self::UnsupportedExponent { .. }
        )
    }
}

impl<'a> Dnskey<'a> {
    /// Splits the data of a DNSKEY into its fields. [`public_key`](Self::public_key) checks that they hold a key.
    ///
    /// # Errors
    /// [`DnskeyError::Short`].
    pub fn parse(rdata: &'a [u8]) -> Result<Self, DnskeyError> {
        match rdata {
            [high, low, protocol, number, public @ ..] => {
                let (algorithm, public) = DnssecAlgorithm::split(*number, public);
                let flags = u16::from_be_bytes([*high, *low]);
                Ok(Self { flags, protocol: *protocol, algorithm, public, rdata })
            }
            _ => Err(DnskeyError::Short { found: rdata.len() }),
        }
    }

    /// Returns the data in wire format.
    #[must_use]
    pub fn rdata(&self) -> &'a [u8] {
        self.rdata
    }

    /// Returns true if both have the same key, with any flags.
    #[must_use]
    pub fn has_same_key(&self, other: &Dnskey<'_>) -> bool {
        (self.algorithm, self.public) == (other.algorithm, other.public)
    }

    /// Returns true if the key may sign records of a zone.
    #[must_use]
    pub fn is_zone_key(&self) -> bool {
        self.flags & ZONE_KEY != 0
    }

    /// Returns true if the flags mark the key as a secure entry point, that is a key-signing key.
    #[must_use]
    pub fn is_entry_point(&self) -> bool {
        self.flags & SECURE_ENTRY_POINT != 0
    }

    /// Returns true if the key is revoked. RFC 5011 2.1.
    #[must_use]
    pub fn is_revoked(&self) -> bool {
        self.flags & REVOKE != 0
    }

    /// Returns true for the CDNSKEY that asks for the deletion of all DS records. RFC 8078 section 4.
    #[must_use]
    pub fn is_delete(&self) -> bool {
        self.rdata == DELETE_CDNSKEY
    }

    /// Computes the key tag. RFC 4034 Appendix B, and B.1 for algorithm 1.
    #[must_use]
    pub fn key_tag(&self) -> u16 {
        if self.algorithm == DnssecAlgorithm::RSAMD5 {
            // RFC 4034 B.1: the most significant 16 of the least significant 24 bits of the modulus.
            return match self.public {
                [.., high, low, _] => u16::from_be_bytes([*high, *low]),
                _ => 0,
            };
        }
        // At most 32768 words of 16 bits, so the sum does not overflow. The carry is added once, as in the RFC's code;
        // a second carry is dropped.
        let sum: u32 = self.rdata.chunks(2).map(word).sum();
        (sum.wrapping_add(sum >> 16)) as u16
    }

    /// Returns the length of an RSA key's modulus in bits.
    #[must_use]
    pub fn rsa_bits(&self) -> Option<u64> {
        let (_, modulus) = rsa_numbers(self.public).ok().filter(|_| self.algorithm.is_rsa())?;
        Some(bit_len(modulus))
    }

    /// Validates the key. RSA numbers may have leading zeros: RFC 3110 forbids them, but other verifiers accept them.
    ///
    /// # Errors
    /// The key is unsupported or malformed.
    pub fn public_key(&self) -> Result<ZonePublicKey, DnskeyError> {
        if self.protocol != PROTOCOL {
            return Err(DnskeyError::Protocol(self.protocol));
        }
        let family = self.algorithm.family();
        match family.ok_or(DnskeyError::UnsupportedAlgorithm(self.algorithm))? {
            AlgorithmFamily::Rsa(_) => self.rsa().map(ZonePublicKey::Accelerated),
            AlgorithmFamily::Ec(curve, _) => self.ec(curve).map(ZonePublicKey::Accelerated),
            AlgorithmFamily::Ed25519 => {
                let key = raw::ed25519_public(self.check_len(32)?).map_err(DnskeyError::Invalid)?;
                Ok(ZonePublicKey::Accelerated(key))
            }
            AlgorithmFamily::Ed448 => {
                let key = Ed448Key::new(self.check_len(Ed448Key::LEN)?).ok_or(DnskeyError::NoPoint)?;
                Ok(ZonePublicKey::Ed448(Box::new(key)))
            }
            AlgorithmFamily::MlDsa(set) => {
                let public = self.check_len(set.public_len())?;
                let key = raw::ml_dsa_public(set, public).map_err(DnskeyError::Invalid)?;
                Ok(ZonePublicKey::Accelerated(key))
            }
            AlgorithmFamily::SlhDsa(set) => {
                let public = self.check_len(set.public_len())?;
                let key = raw::slh_dsa_public(set, public).map_err(DnskeyError::Invalid)?;
                Ok(ZonePublicKey::Accelerated(key))
            }
        }
    }

    fn rsa(&self) -> Result<Key, DnskeyError> {
        let (exponent, modulus) = rsa_numbers(self.public)?;
        let (bits, exponent_bits) = (bit_len(modulus), bit_len(exponent));
        let min = min_rsa_bits(self.algorithm);
        if !(min..=MAX_RSA_BITS).contains(&bits) {
            let algorithm = self.algorithm;
            return Err(DnskeyError::UnsupportedSize { algorithm, bits, min, max: MAX_RSA_BITS });
        }
        if exponent_bits > u64::from(rsa::MAX_PUBLIC_EXPONENT_BITS) {
            return Err(DnskeyError::UnsupportedExponent { bits: exponent_bits });
        }
        rsa::public(modulus, exponent).map_err(DnskeyError::Invalid)
    }

    /// Reads a point. The DNSKEY omits the leading byte 4 of an uncompressed point. RFC 6605 section 4.
    fn ec(&self, curve: Curve) -> Result<Key, DnskeyError> {
        let point = [&[4], self.check_len(2 * curve.scalar_len())?].concat();
        raw::ec_public(curve, &point).map_err(DnskeyError::Invalid)
    }

    fn check_len(&self, expected: usize) -> Result<&'a [u8], DnskeyError> {
        match self.public.len() {
            found if found == expected => Ok(self.public),
            found => Err(DnskeyError::Length { algorithm: self.algorithm, expected, found }),
        }
    }
}

/// Encodes the public half of a key as the data of a DNSKEY.
///
/// # Errors
/// [`DnskeyError::UnsupportedAlgorithm`] if the accelerator does not have the algorithm, [`DnskeyError::WrongKey`],
/// and [`DnskeyError::UnsupportedSize`].
pub fn dnskey_rdata(flags: u16, algorithm: DnssecAlgorithm, key: &Key) -> Result<Vec<u8>, DnskeyError> {
    let wrong = || DnskeyError::WrongKey { algorithm, found: key.kind() };
    let [high, low] = flags.to_be_bytes();
    let mut rdata = vec![high, low, PROTOCOL, algorithm.number()];
    rdata.extend_from_slice(algorithm.prefix());
    match algorithm.family() {
        Some(AlgorithmFamily::Rsa(_)) => {
            let public = key.rsa_public().ok_or_else(wrong)?;
            write_exponent(&public.e, &mut rdata);
            rdata.extend_from_slice(&public.n);
        }
        Some(AlgorithmFamily::Ec(curve, _)) => {
            let public = key.ec_public().filter(|(key_curve, _)| *key_curve == curve);
            let (_, point) = public.ok_or_else(wrong)?;
            rdata.extend_from_slice(point.get(1..).unwrap_or_default());
        }
        Some(AlgorithmFamily::Ed25519) => rdata.extend_from_slice(key.ed25519_public().ok_or_else(wrong)?),
        Some(AlgorithmFamily::MlDsa(set)) => {
            let public = key.ml_dsa_public().filter(|(of_key, _)| *of_key == set);
            rdata.extend_from_slice(public.ok_or_else(wrong)?.1);
        }
        Some(AlgorithmFamily::SlhDsa(set)) => {
            let public = key.slh_dsa_public().filter(|(of_key, _)| *of_key == set);
            rdata.extend_from_slice(public.ok_or_else(wrong)?.1);
        }
        Some(AlgorithmFamily::Ed448) | None => return Err(DnskeyError::UnsupportedAlgorithm(algorithm)),
    }
    // The algorithm limits the length of an RSA key, so the finished record is checked as any other.
    Dnskey::parse(&rdata)?.public_key()?;
    Ok(rdata)
}

/// Returns a word of the key tag's sum. RFC 4034 Appendix B: a single byte at the end is the high half.
fn word(pair: &[u8]) -> u32 {
    match pair {
        [high, low] => u32::from(u16::from_be_bytes([*high, *low])),
        [high] => u32::from(*high) << 8,
        _ => 0,
    }
}

/// Splits exponent and modulus. RFC 3110 section 2: the length of the exponent takes one byte, or two bytes after a
/// zero.
fn rsa_numbers(public: &[u8]) -> Result<(&[u8], &[u8]), DnskeyError> {
    let (len, rest) = match public {
        [0, high, low, rest @ ..] => (u16::from_be_bytes([*high, *low]), rest),
        [0, ..] | [] => return Err(DnskeyError::Truncated),
        [len, rest @ ..] => (u16::from(*len), rest),
    };
    match rest.split_at_checked(usize::from(len)) {
        Some((exponent, modulus)) if !exponent.is_empty() && !modulus.is_empty() => Ok((exponent, modulus)),
        _ => Err(DnskeyError::Truncated),
    }
}

/// Appends the length of an exponent and the exponent. RFC 3110 section 2.
fn write_exponent(exponent: &[u8], out: &mut Vec<u8>) {
    match u8::try_from(exponent.len()) {
        Ok(len) => out.push(len),
        Err(_) => {
            out.push(0);
            // unreachable saturation because keys of the facade have exponents of at most 33 bits
            out.extend_from_slice(&u16::try_from(exponent.len()).unwrap_or(u16::MAX).to_be_bytes());
        }
    }
    out.extend_from_slice(exponent);
}

/// Returns the length of the shortest modulus. RFC 3110 section 3, RFC 5702 2.1 and 2.2.
fn min_rsa_bits(algorithm: DnssecAlgorithm) -> u64 {
    if algorithm == DnssecAlgorithm::RSASHA512 { 1024 } else { 512 }
}

fn bit_len(number: &[u8]) -> u64 {
    let Some(first) = number.iter().position(|byte| *byte != 0) else { return 0 };
    (number.len() - first) as u64 * 8 - u64::from(number[first].leading_zeros())
}

#[cfg(test)]
mod tests;
