//! Public keys of zones: DNSKEY and CDNSKEY. RFC 4034 section 2 and Appendix B, RFC 8078 section 4.

use oarlock::Key;
use oarlock::keys::{KeyError, raw, rsa};
use oarlock::{Curve, KeyKind};

use crate::algorithm::{AlgorithmFamily, DnssecAlgorithm};
use crate::ed448::Ed448Key;

/// The zone key bit: only keys that have it verify records of a zone. RFC 4034 2.1.1.
pub const ZONE_KEY: u16 = 0x0100;
/// The secure entry point bit, a hint to people. RFC 4034 2.1.1.
pub const SECURE_ENTRY_POINT: u16 = 0x0001;
/// The revoke bit. RFC 5011 section 7.
pub const REVOKE: u16 = 0x0080;
/// Data of the CDNSKEY that asks a parent to delete the DS records. RFC 8078 section 4.
pub const DELETE_CDNSKEY: [u8; 5] = [0, 0, 3, 0, 0];

const PROTOCOL: u8 = 3;
/// RFC 3110 section 3, RFC 5702 2.1 and 2.2.
const MAX_RSA_BITS: u64 = 4096;

/// A DNSKEY's data, in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dnskey<'a> {
    /// [`ZONE_KEY`], [`SECURE_ENTRY_POINT`], [`REVOKE`].
    pub flags: u16,
    /// 3 in all that is valid. RFC 4034 2.1.2.
    pub protocol: u8,
    /// With what the key verifies.
    pub algorithm: DnssecAlgorithm,
    /// The key as its algorithm writes it.
    pub public: &'a [u8],
    rdata: &'a [u8],
}

/// A public key that can verify.
#[derive(Clone, Debug)]
pub enum ZonePublicKey {
    /// For the hall, with [`DnssecAlgorithm::verify_scheme`].
    Accelerated(Key),
    /// For one signature at a time.
    Ed448(Box<Ed448Key>),
}

/// Why a DNSKEY gives no key. The zone's fault, unless it [is unsupported](Self::is_unsupported).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnskeyError {
    /// Fewer bytes than flags, protocol and algorithm take.
    #[error("a DNSKEY of {found} bytes: it has at least 4")]
    Short {
        /// What is there.
        found: usize,
    },
    /// Another protocol than DNSSEC. RFC 4034 2.1.2.
    #[error("protocol {0} in a DNSKEY, where there is only 3")]
    Protocol(u8),
    /// Nobody verifies with this here.
    #[error("algorithm {0} is not supported")]
    UnsupportedAlgorithm(DnssecAlgorithm),
    /// An RSA modulus of a length that the algorithm does not have, or that no engine takes.
    #[error("RSA keys of {bits} bits are not supported with {algorithm}: {min} to {max} are")]
    UnsupportedSize {
        /// The key's.
        algorithm: DnssecAlgorithm,
        /// The modulus's length.
        bits: u64,
        /// The shortest.
        min: u64,
        /// The longest.
        max: u64,
    },
    /// An RSA exponent that no engine takes.
    #[error("RSA exponents of {bits} bits are not supported: at most 33 are")]
    UnsupportedExponent {
        /// The exponent's length.
        bits: u64,
    },
    /// The key is not as long as its algorithm says.
    #[error("a key of {found} bytes for {algorithm}, which has {expected}")]
    Length {
        /// The key's.
        algorithm: DnssecAlgorithm,
        /// What would have fitted.
        expected: usize,
        /// What is there.
        found: usize,
    },
    /// An RSA exponent that is not there, or no modulus after it. RFC 3110 section 2.
    #[error("an RSA key that ends within its exponent or before its modulus")]
    Truncated,
    /// An Ed448 key that encodes no point.
    #[error("an Ed448 key that is no point of the curve")]
    NoPoint,
    /// A number or point out of its range.
    #[error("{0}")]
    Invalid(KeyError),
    /// A key for a DNSKEY of another algorithm.
    #[error("{algorithm} needs another key than {found:?}")]
    WrongKey {
        /// What was asked for.
        algorithm: DnssecAlgorithm,
        /// The key that was given.
        found: KeyKind,
    },
}

impl DnskeyError {
    /// True where the key may be good, but nobody here can tell: what it signs counts as unsigned, not as bogus.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(
            self,
            Self::UnsupportedAlgorithm(_) | Self::UnsupportedSize { .. } | Self::UnsupportedExponent { .. }
        )
    }
}

impl<'a> Dnskey<'a> {
    /// The parts of a DNSKEY's data. Whether they make a key is asked by [`public_key`](Self::public_key).
    ///
    /// # Errors
    /// [`DnskeyError::Short`].
    pub fn parse(rdata: &'a [u8]) -> Result<Self, DnskeyError> {
        match rdata {
            [high, low, protocol, algorithm, public @ ..] => Ok(Self {
                flags: u16::from_be_bytes([*high, *low]),
                protocol: *protocol,
                algorithm: DnssecAlgorithm(*algorithm),
                public,
                rdata,
            }),
            _ => Err(DnskeyError::Short { found: rdata.len() }),
        }
    }

    /// In wire format.
    #[must_use]
    pub fn rdata(&self) -> &'a [u8] {
        self.rdata
    }

    /// True where the key may sign records of a zone.
    #[must_use]
    pub fn is_zone_key(&self) -> bool {
        self.flags & ZONE_KEY != 0
    }

    /// True where people are told to use it as an entry point: a key-signing key.
    #[must_use]
    pub fn is_entry_point(&self) -> bool {
        self.flags & SECURE_ENTRY_POINT != 0
    }

    /// True where the key is revoked. RFC 5011 2.1.
    #[must_use]
    pub fn is_revoked(&self) -> bool {
        self.flags & REVOKE != 0
    }

    /// True for the CDNSKEY that asks for no DS records at all. RFC 8078 section 4.
    #[must_use]
    pub fn is_delete(&self) -> bool {
        self.rdata == DELETE_CDNSKEY
    }

    /// The key's tag. RFC 4034 Appendix B, and B.1 for algorithm 1.
    #[must_use]
    pub fn key_tag(&self) -> u16 {
        if self.algorithm == DnssecAlgorithm::RSAMD5 {
            return match self.public {
                [.., high, low, _] => u16::from_be_bytes([*high, *low]),
                _ => 0,
            };
        }
        let sum: u32 = self.rdata.chunks(2).map(word).sum();
        (sum.wrapping_add(sum >> 16)) as u16
    }

    /// The key, validated. Numbers of RSA may have leading zeros, which RFC 3110 forbids and peers allow.
    ///
    /// # Errors
    /// Not supported, or not well formed.
    pub fn public_key(&self) -> Result<ZonePublicKey, DnskeyError> {
        if self.protocol != PROTOCOL {
            return Err(DnskeyError::Protocol(self.protocol));
        }
        let family = self.algorithm.family();
        match family.ok_or(DnskeyError::UnsupportedAlgorithm(self.algorithm))? {
            AlgorithmFamily::Rsa(_) => self.rsa().map(ZonePublicKey::Accelerated),
            AlgorithmFamily::Ec(curve, _) => self.ec(curve).map(ZonePublicKey::Accelerated),
            AlgorithmFamily::Ed25519 => {
                let key = raw::ed25519_public(self.of_len(32)?).map_err(DnskeyError::Invalid)?;
                Ok(ZonePublicKey::Accelerated(key))
            }
            AlgorithmFamily::Ed448 => {
                let key = Ed448Key::new(self.of_len(Ed448Key::LEN)?).ok_or(DnskeyError::NoPoint)?;
                Ok(ZonePublicKey::Ed448(Box::new(key)))
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

    /// The point without the byte that says that it is not compressed. RFC 6605 section 4.
    fn ec(&self, curve: Curve) -> Result<Key, DnskeyError> {
        let point = [&[4], self.of_len(2 * curve.scalar_len())?].concat();
        raw::ec_public(curve, &point).map_err(DnskeyError::Invalid)
    }

    fn of_len(&self, expected: usize) -> Result<&'a [u8], DnskeyError> {
        match self.public.len() {
            found if found == expected => Ok(self.public),
            found => Err(DnskeyError::Length { algorithm: self.algorithm, expected, found }),
        }
    }
}

/// A DNSKEY's data for the public half of a key.
///
/// # Errors
/// [`DnskeyError::UnsupportedAlgorithm`] where the hall has none such, [`DnskeyError::WrongKey`], and
/// [`DnskeyError::UnsupportedSize`].
pub fn dnskey_rdata(flags: u16, algorithm: DnssecAlgorithm, key: &Key) -> Result<Vec<u8>, DnskeyError> {
    let wrong = || DnskeyError::WrongKey { algorithm, found: key.kind() };
    let [high, low] = flags.to_be_bytes();
    let mut rdata = vec![high, low, PROTOCOL, algorithm.0];
    match algorithm.family() {
        Some(AlgorithmFamily::Rsa(_)) => {
            let public = key.rsa_public().ok_or_else(wrong)?;
            write_exponent(&public.e, &mut rdata);
            rdata.extend_from_slice(&public.n);
        }
        Some(AlgorithmFamily::Ec(curve, _)) => {
            let own = key.ec_public().filter(|(own, _)| *own == curve);
            let (_, point) = own.ok_or_else(wrong)?;
            rdata.extend_from_slice(point.get(1..).unwrap_or_default());
        }
        Some(AlgorithmFamily::Ed25519) => rdata.extend_from_slice(key.ed25519_public().ok_or_else(wrong)?),
        Some(AlgorithmFamily::Ed448) | None => return Err(DnskeyError::UnsupportedAlgorithm(algorithm)),
    }
    Dnskey::parse(&rdata)?.public_key()?;
    Ok(rdata)
}

/// RFC 4034 Appendix B: a byte left over is the high half.
fn word(pair: &[u8]) -> u32 {
    match pair {
        [high, low] => u32::from(u16::from_be_bytes([*high, *low])),
        [high] => u32::from(*high) << 8,
        _ => 0,
    }
}

/// RFC 3110 section 2: an exponent's length in one byte, or after a zero in two; then exponent and modulus.
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

/// The length of an exponent, then it. RFC 3110 section 2.
fn write_exponent(exponent: &[u8], out: &mut Vec<u8>) {
    match u8::try_from(exponent.len()) {
        Ok(len) => out.push(len),
        Err(_) => {
            out.push(0);
            // unreachable saturation because keys of the hall have exponents of at most 33 bits
            out.extend_from_slice(&u16::try_from(exponent.len()).unwrap_or(u16::MAX).to_be_bytes());
        }
    }
    out.extend_from_slice(exponent);
}

/// RFC 3110 section 3, RFC 5702 2.1 and 2.2.
fn min_rsa_bits(algorithm: DnssecAlgorithm) -> u64 {
    if algorithm == DnssecAlgorithm::RSASHA512 { 1024 } else { 512 }
}

fn bit_len(number: &[u8]) -> u64 {
    let Some(first) = number.iter().position(|byte| *byte != 0) else { return 0 };
    (number.len() - first) as u64 * 8 - u64::from(number[first].leading_zeros())
}

#[cfg(test)]
mod tests;
