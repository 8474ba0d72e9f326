//! The zone's own digest, made and signed when all else is. RFC 8976 section 3.

use oarlock::Accelerator;

use super::ZoneSignError;
use super::plan::{Signatures, SigningPlan};
use crate::records::{ZoneRecords, ZoneRecordsError};
use crate::rtype::RecordType;
use crate::sets::RecordSets;
use crate::zonemd::{ZONEMD_SIMPLE, Zonemd, zone_digest, zonemd_digest};

/// Digests of a zone, and their signatures.
pub(super) struct ZoneSeal {
    pub(super) records: ZoneRecords,
    pub(super) signatures: Signatures,
}

/// A ZONEMD's data with zeros for the digest. RFC 8976 3.1.
pub(super) fn place(serial: u32, algorithm: u8) -> Result<Vec<u8>, ZoneSignError> {
    let digest = zonemd_digest(algorithm).ok_or(ZoneSignError::ZoneDigest(algorithm))?;
    Ok(data(serial, algorithm, &vec![0; digest.output_len()]))
}

fn data(serial: u32, algorithm: u8, digest: &[u8]) -> Vec<u8> {
    [&serial.to_be_bytes()[..], &[ZONEMD_SIMPLE, algorithm], digest].concat()
}

impl SigningPlan<'_> {
    /// Digests the zone with all its `signatures`, those of each of the [ranges](Self::ranges) in order, where the draft has places for
    /// digests, and signs what comes out. Says how many signatures that made.
    ///
    /// # Errors
    /// The machine, or who holds a key, failed.
    pub fn seal(
        &mut self,
        accelerator: &Accelerator,
        signatures: &[Signatures],
    ) -> Result<Signatures, ZoneSignError> {
        let Some(places) = self.sets.of_type(self.places.apex(), RecordType::ZONEMD) else {
            return Ok(Signatures::default());
        };
        let whole = self.signed(signatures)?;
        let whole = RecordSets::new(&whole);
        let mut records = ZoneRecords::new();
        let owner = records.add_owner(self.draft.apex())?;
        for place in places.data().filter_map(Zonemd::read) {
            let alg = zonemd_digest(place.algorithm).ok_or(ZoneSignError::ZoneDigest(place.algorithm))?;
            let digest = zone_digest(accelerator, &whole, self.draft.apex(), alg)?;
            records.add(owner, RecordType::ZONEMD, places.ttl(), 0, |out| {
                out.extend_from_slice(&data(place.serial, place.algorithm, &digest));
                Ok::<_, ZoneRecordsError>(())
            })?;
        }
        let sets = RecordSets::new(&records);
        let mut signatures = Signatures::default();
        for set in sets.of_name(0) {
            signatures = self.sign_at_apex(accelerator, set)?;
        }
        self.seal = Some(ZoneSeal { records, signatures: signatures.clone() });
        Ok(signatures)
    }

    /// The draft's records and the signatures over them.
    fn signed(&self, signatures: &[Signatures]) -> Result<ZoneRecords, ZoneSignError> {
        let mut records = self.draft.records.clone();
        for (names, signatures) in self.ranges().zip(signatures) {
            let mut signatures = signatures.iter();
            for name in names {
                for set in self.signed_sets(name).filter(|set| !self.is_seal(name, set)) {
                    let owner = self.sets.records().get(set.records[0] as usize).owner_id;
                    for data in signatures.by_ref().take(self.signers(name, set.rtype).len()) {
                        records.add(owner, RecordType::RRSIG, set.ttl(), 0, |out| {
                            out.extend_from_slice(data);
                            Ok::<_, ZoneRecordsError>(())
                        })?;
                    }
                }
            }
        }
        Ok(records)
    }
}
