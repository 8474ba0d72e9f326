//! Lengths of digests, fingerprints and keys that depend on a number in the data.

use super::hosts;
use crate::data_error::DataError;
use crate::rtype::RecordType;
use crate::zonemd::ZONEMD_SIMPLE;

/// The flags of a KEY without a public key. RFC 2535 3.1.2.
const NO_KEY: u8 = 0xc0;

/// Checks lengths in data whose fields have been checked one by one.
#[inline]
pub(super) fn check(rtype: RecordType, data: &[u8]) -> Result<(), DataError> {
    match (rtype, data) {
        (
            RecordType::DS | RecordType::CDS | RecordType::DLV | RecordType::TA,
            [_, _, _, kind, digest @ ..],
        ) => ds(*kind, digest.len()),
        (RecordType::SSHFP, [_, kind, fingerprint @ ..]) => sshfp(*kind, fingerprint.len()),
        (RecordType::ZONEMD, [_, _, _, _, scheme, kind, digest @ ..]) => zonemd(*scheme, *kind, digest.len()),
        (RecordType::NSEC3, [kind, _, _, _, salt_len, rest @ ..]) => {
            nsec3(*kind, rest.get(usize::from(*salt_len)).copied().unwrap_or(0))
        }
        (RecordType::KEY, [flags, _, _, _, key @ ..]) => key_of(*flags, key),
        (RecordType::IPSECKEY, data) => hosts::check_gateway_key(data),
        (RecordType::RKEY, [high, low, ..]) if (*high, *low) != (0, 0) => {
            Err(DataError::Field("flags of an RKEY that are not 0"))
        }
        _ => Ok(()),
    }
}

/// Checks a DS digest. RFC 4034 5.1.3, RFC 4509, RFC 6605 section 2. Digests of unknown types may have any length.
fn ds(kind: u8, found: usize) -> Result<(), DataError> {
    match kind {
        1 => exactly(20, "20 bytes", "a SHA-1 digest", found),
        2 => exactly(32, "32 bytes", "a SHA-256 digest", found),
        4 => exactly(48, "48 bytes", "a SHA-384 digest", found),
        _ => Ok(()),
    }
}

/// Checks a fingerprint. RFC 4255 3.1.3, RFC 6594 section 4.
fn sshfp(kind: u8, found: usize) -> Result<(), DataError> {
    match kind {
        1 => exactly(20, "20 bytes", "a SHA-1 fingerprint", found),
        2 => exactly(32, "32 bytes", "a SHA-256 fingerprint", found),
        _ => Ok(()),
    }
}

/// Checks a zone digest. RFC 8976 2.2.4. A digest of a scheme other than SIMPLE may be shorter: appendix A.3 has one.
fn zonemd(scheme: u8, kind: u8, found: usize) -> Result<(), DataError> {
    match kind {
        _ if found >= 12 && scheme != ZONEMD_SIMPLE => Ok(()),
        1 => exactly(48, "48 bytes", "a SHA-384 zone digest", found),
        2 => exactly(64, "64 bytes", "a SHA-512 zone digest", found),
        _ if found < 12 => {
            Err(DataError::Length { what: "a zone digest", expected: "at least 12 bytes", found })
        }
        _ => Ok(()),
    }
}

/// Checks a name hash. RFC 5155 section 5: SHA-1 is the only registered hash.
fn nsec3(kind: u8, found: u8) -> Result<(), DataError> {
    if kind == 1 { exactly(20, "20 bytes", "a SHA-1 hash of a name", found.into()) } else { Ok(()) }
}

fn exactly(len: usize, expected: &'static str, what: &'static str, found: usize) -> Result<(), DataError> {
    if found == len { Ok(()) } else { Err(DataError::Length { what, expected, found }) }
}

fn key_of(flags: u8, key: &[u8]) -> Result<(), DataError> {
    match (flags & NO_KEY == NO_KEY, key.is_empty()) {
        (true, false) => Err(DataError::Field("a public key in a KEY whose flags exclude one")),
        (false, true) => Err(DataError::Field("no public key in a KEY whose flags require one")),
        _ => Ok(()),
    }
}
