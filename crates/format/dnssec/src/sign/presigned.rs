//! Sets at the apex whose signatures were made elsewhere: the keys of a zone whose key-signing key stays offline.

use super::ZoneSignError;
use super::keys::SignerKey;
use crate::key_times::KeyPhase;
use crate::name::DomainName;
use crate::records::{ReplacementSets, ZoneRecords, ZoneRecordsError};
use crate::rtype::RecordType;

/// A set at the apex with its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresignedSet {
    /// The type of the set.
    pub rtype: RecordType,
    /// The time to live of its records and signatures in seconds.
    pub ttl: u32,
    /// The data of its records. Without data, the zone has no such set.
    pub data: Vec<Vec<u8>>,
    /// The data of the RRSIG records.
    pub signatures: Vec<Vec<u8>>,
}

/// Returns the zone with the sets in place of its own.
pub(super) fn replace(
    zone: &ZoneRecords,
    apex: DomainName<'_>,
    sets: &[PresignedSet],
) -> Result<ZoneRecords, ZoneRecordsError> {
    let mut replacements = ReplacementSets::new();
    for set in sets {
        replacements.add(apex, set.rtype, set.ttl, set.data.clone());
    }
    zone.with_sets(&replacements)
}

/// Returns the keys that sign the rest of a zone. If its DNSKEY set was signed elsewhere, they must be in that set, and
/// it stays as it is: the times of other keys do not change it.
pub(super) fn signing_keys(
    sets: &[PresignedSet],
    mut keys: Vec<SignerKey>,
) -> Result<Vec<SignerKey>, ZoneSignError> {
    let Some(set) = sets.iter().find(|set| set.rtype == RecordType::DNSKEY) else { return Ok(keys) };
    keys.retain(|key| key.phase().signs());
    match keys.iter().find(|key| !set.data.iter().any(|data| data == key.dnskey())) {
        Some(key) => Err(ZoneSignError::NotPresigned { tag: key.tag(), algorithm: key.algorithm() }),
        None => Ok(keys.into_iter().map(|key| key.with_phase(KeyPhase::Active)).collect()),
    }
}
