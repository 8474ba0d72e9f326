//! Keys from passphrases: PBKDF2 (RFC 8018 5.2) and scrypt (RFC 7914).

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2;
use der::asn1::{AnyRef, ObjectIdentifier, OctetStringRef};
use der::{Encode, Reader, SliceReader, Tag};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::encoded;
use crate::asn1::{octets, sequence};
use crate::{KeyError, Passphrase, WorkLimits, asn1, oid};

/// id-PBKDF2. RFC 8018 A.2.
const PBKDF2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.12");
/// id-scrypt. RFC 7914 section 7.
const SCRYPT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.11591.4.11");
/// id-hmacWithSHA1, the default. RFC 8018 A.2.
const HMAC_SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.7");
const HMAC_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.9");
const HMAC_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.10");
const HMAC_SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.11");

const STRUCTURE: &str = "PBES2 key derivation";

/// A key derivation with its parameters.
pub(crate) enum KeyDerivation<'a> {
    /// HMAC with the digest of `prf`, `iterations` times.
    Pbkdf2 { salt: &'a [u8], iterations: NonZeroU32, prf: ObjectIdentifier },
    /// `N = 2^log_n`, block size r, parallelization p.
    Scrypt { salt: &'a [u8], log_n: u8, r: u32, p: u32 },
}

impl<'a> KeyDerivation<'a> {
    /// PBKDF2 with HMAC-SHA-256.
    pub(crate) fn pbkdf2_sha256(salt: &'a [u8], iterations: NonZeroU32) -> Self {
        Self::Pbkdf2 { salt, iterations, prf: HMAC_SHA256 }
    }

    /// scrypt with `N = 2^log_n`.
    pub(crate) fn scrypt(salt: &'a [u8], log_n: u8, r: u32, p: u32) -> Result<Self, KeyError> {
        if !(1..64).contains(&log_n) {
            let (what, expected) = ("scrypt log N", "1 to 63");
            return Err(KeyError::EncryptionParameter { what, expected, found: log_n.into() });
        }
        Ok(Self::Scrypt { salt, log_n, r: cost("scrypt r", r.into())?, p: cost("scrypt p", p.into())? })
    }

    /// Parses parameters for a cipher with keys of `key_len` bytes.
    pub(super) fn parse(kdf: &AlgorithmIdentifierRef<'a>, key_len: usize) -> Result<Self, KeyError> {
        let parameters = kdf.parameters_any().map_err(asn1::malformed(STRUCTURE))?;
        let (kdf, stated_len) = match kdf.oid {
            PBKDF2 => parse_pbkdf2(parameters)?,
            SCRYPT => parse_scrypt(parameters)?,
            other => {
                let found = oid::shown(&other);
                return Err(KeyError::UnsupportedEncryption { what: "key derivation", found });
            }
        };
        // The length is optional (RFC 8018 A.2). OpenSSL rejects a file if the length differs from the cipher's.
        match stated_len {
            Some(len) if usize::from(len) != key_len => Err(KeyError::EncryptionParameter {
                what: "derived key length",
                expected: "the cipher's key length",
                found: u64::from(len),
            }),
            _ => Ok(kdf),
        }
    }

    /// Checks the cost against `limits`, before any work.
    pub(super) fn check(&self, limits: WorkLimits) -> Result<(), KeyError> {
        match self {
            Self::Pbkdf2 { iterations, .. } => {
                within("PBKDF2 iterations", iterations.get().into(), limits.pbkdf2_iterations.into())
            }
            Self::Scrypt { log_n, r, p, .. } => {
                // 128 N r bytes: the 7 is the binary logarithm of 128. An overflow is above every limit.
                let memory = 1_u64.checked_shl(u32::from(*log_n) + 7).unwrap_or(u64::MAX);
                let memory = memory.saturating_mul(u64::from(*r));
                within("scrypt memory in bytes", memory, limits.scrypt_memory_bytes)?;
                let work = memory.saturating_mul(u64::from(*p));
                within("scrypt work in bytes", work, limits.scrypt_work_bytes)
            }
        }
    }

    /// Derives the key.
    pub(super) fn derive(&self, secret: &Passphrase, len: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let mut key = Zeroizing::new(vec![0; len]);
        match *self {
            Self::Pbkdf2 { salt, iterations, prf } => {
                pbkdf2::derive(hmac(prf)?, iterations, salt, secret.expose(), &mut key);
            }
            Self::Scrypt { salt, log_n, r, p } => {
                let refused = KeyError::EncryptionParameter {
                    what: "scrypt r * p",
                    expected: "below 2^30",
                    found: u64::from(r) * u64::from(p),
                };
                let params = scrypt::Params::new(log_n, r, p).map_err(|_| refused)?;
                scrypt::scrypt(secret.expose(), salt, &params, &mut key)
                    .map_err(|_| KeyError::Machine { what: "deriving a key by scrypt" })?;
            }
        }
        Ok(key)
    }

    /// Encodes the AlgorithmIdentifier. RFC 8018 A.2, RFC 7914 section 7.
    pub(super) fn encode(&self) -> Result<Vec<u8>, KeyError> {
        match *self {
            Self::Pbkdf2 { salt, iterations, prf } => {
                let prf = sequence(&[&encoded(prf)?, &AnyRef::NULL.to_der().map_err(asn1::not_encoded)?])?;
                let parameters = sequence(&[&octets(salt)?, &integer(iterations.get().into())?, &prf])?;
                sequence(&[&encoded(PBKDF2)?, &parameters])
            }
            Self::Scrypt { salt, log_n, r, p } => {
                let n = 1_u64.checked_shl(log_n.into()).unwrap_or(u64::MAX);
                let costs = [integer(n)?, integer(r.into())?, integer(p.into())?].concat();
                sequence(&[&encoded(SCRYPT)?, &sequence(&[&octets(salt)?, &costs])?])
            }
        }
    }
}

/// Parses `{ salt, iterationCount, keyLength OPTIONAL, prf DEFAULT hmacWithSHA1 }`. RFC 8018 A.2.
fn parse_pbkdf2(parameters: AnyRef<'_>) -> Result<(KeyDerivation<'_>, Option<u16>), KeyError> {
    let parsed = parameters.sequence(|reader| {
        let salt: &OctetStringRef = reader.decode()?;
        let iterations: u64 = reader.decode()?;
        let key_len = optional_length(reader)?;
        let prf = if reader.is_finished() { None } else { Some(reader.decode()?) };
        Ok((salt.as_bytes(), iterations, key_len, prf))
    });
    let (salt, iterations, key_len, prf) = parsed.map_err(asn1::malformed::<der::Error>(STRUCTURE))?;
    let prf = prf.map_or(HMAC_SHA1, |prf: AlgorithmIdentifierRef<'_>| prf.oid);
    // An unknown function is rejected here, so that the error appears before the work.
    hmac(prf)?;
    let in_range = u32::try_from(iterations).ok().and_then(NonZeroU32::new);
    let iterations = in_range.ok_or(KeyError::EncryptionParameter {
        what: "PBKDF2 iterations",
        expected: "1 to 2^32 - 1",
        found: iterations,
    })?;
    Ok((KeyDerivation::Pbkdf2 { salt, iterations, prf }, key_len))
}

/// Parses `{ salt, costParameter, blockSize, parallelizationParameter, keyLength OPTIONAL }`. RFC 7914 section 7.
fn parse_scrypt(parameters: AnyRef<'_>) -> Result<(KeyDerivation<'_>, Option<u16>), KeyError> {
    let parsed = parameters.sequence(|reader| {
        let salt: &OctetStringRef = reader.decode()?;
        let costs: [u64; 3] = [reader.decode()?, reader.decode()?, reader.decode()?];
        Ok((salt.as_bytes(), costs, optional_length(reader)?))
    });
    let (salt, [n, r, p], key_len) = parsed.map_err(asn1::malformed::<der::Error>(STRUCTURE))?;
    if !n.is_power_of_two() || n < 2 {
        return Err(KeyError::EncryptionParameter {
            what: "scrypt N",
            expected: "a power of two above 1",
            found: n,
        });
    }
    let log_n = n.trailing_zeros() as u8;
    let (r, p) = (cost("scrypt r", r)?, cost("scrypt p", p)?);
    Ok((KeyDerivation::Scrypt { salt, log_n, r, p }, key_len))
}

fn cost(what: &'static str, found: u64) -> Result<u32, KeyError> {
    match u32::try_from(found) {
        // RFC 7914 section 6 requires `r * p < 2^30`, so neither of them may be larger.
        Ok(cost) if (1..1 << 30).contains(&cost) => Ok(cost),
        _ => Err(KeyError::EncryptionParameter { what, expected: "1 to 2^30 - 1", found }),
    }
}

fn optional_length(reader: &mut SliceReader<'_>) -> der::Result<Option<u16>> {
    if !reader.is_finished() && Tag::peek(reader)? == Tag::Integer {
        return reader.decode().map(Some);
    }
    Ok(None)
}

fn hmac(prf: ObjectIdentifier) -> Result<pbkdf2::Algorithm, KeyError> {
    match prf {
        HMAC_SHA1 => Ok(pbkdf2::PBKDF2_HMAC_SHA1),
        HMAC_SHA256 => Ok(pbkdf2::PBKDF2_HMAC_SHA256),
        HMAC_SHA384 => Ok(pbkdf2::PBKDF2_HMAC_SHA384),
        HMAC_SHA512 => Ok(pbkdf2::PBKDF2_HMAC_SHA512),
        other => {
            let found = oid::shown(&other);
            Err(KeyError::UnsupportedEncryption { what: "PBKDF2 pseudorandom function", found })
        }
    }
}

fn within(what: &'static str, found: u64, limit: u64) -> Result<(), KeyError> {
    if found <= limit { Ok(()) } else { Err(KeyError::TooCostly { what, limit, found }) }
}

fn integer(value: u64) -> Result<Vec<u8>, KeyError> {
    value.to_der().map_err(asn1::not_encoded)
}
