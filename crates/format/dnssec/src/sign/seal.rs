//! The zone digest, computed and signed after everything else. RFC 8976 section 3.

use oarlock::Accelerator;

use super::ZoneSignError;
use super::plan::{Signatures, SigningPlan};
use crate::records::{ZoneRecords, ZoneRecordsError};
use crate::rtype::RecordType;
use crate::sets::RecordSets;
use crate::zonemd::{ZONEMD_SIMPLE, Zonemd, zone_digest, zonemd_digest};

/// The digests of a zone and their signatures.
pub(super) struct ZoneSeal {
    pub(super) records: ZoneRecords,
    pub(super) signatures: Signatures,
}

/// Returns the data of a ZONEMD with zeros for the digest. RFC 8976 3.1.
pub(super) fn placeholder(serial: u32, algorithm: u8) -> Result<Vec<u8>, ZoneSignError> {
    let digest = zonemd_digest(algorithm).ok_or(ZoneSignError::ZoneDigest(algorithm))?;
    Ok(data(serial, algorithm, &vec![0; digest.output_len()]))
}

fn data(serial: u32, algorithm: u8, digest: &[u8]) -> Vec<u8> {
    [&serial.to_be_bytes()[..], &[ZONEMD_SIMPLE, algorithm], digest].concat()
}

impl SigningPlan<'_> {
    /// Computes the zone digests and signs them. They replace the placeholders of the draft. `signatures` are those of
    /// all [ranges](Self::ranges), in order. Returns the new signatures.
    ///
    /// # Errors
    /// An engine or the holder of a key failed.
    pub fn seal(
        &mut self,
        accelerator: &Accelerator,
        signatures: &[Signatures],
    ) -> Result<Signatures, ZoneSignError> {
        let Some(placeholders) = self.sets.of_type(self.ownerships.apex(), RecordType::ZONEMD) else {
            return Ok(Signatures::default());
        };
        // The digest covers all signatures, so it can be computed only now. RFC 8976 3.1.
        let whole = self.signed_records(signatures)?;
        let whole = RecordSets::new(&whole);
        let mut records = ZoneRecords::new();
        let owner = records.add_owner(self.draft.apex())?;
        for zeros in placeholders.data().filter_map(Zonemd::read) {
            let alg = zonemd_digest(zeros.algorithm).ok_or(ZoneSignError::ZoneDigest(zeros.algorithm))?;
            let digest = zone_digest(accelerator, &whole, self.draft.apex(), alg)?;
            records.add(owner, RecordType::ZONEMD, placeholders.ttl(), 0, |out| {
                out.extend_from_slice(&data(zeros.serial, zeros.algorithm, &digest));
                Ok::<_, ZoneRecordsError>(())
            })?;
        }
        let sets = RecordSets::new(&records);
        let mut signatures = Signatures::default();
        // There is one set at most, because all records have one name and one type.
        for set in sets.of_name(0) {
            signatures = self.sign_at_apex(accelerator, set)?;
        }
        self.seal = Some(ZoneSeal { records, signatures: signatures.clone() });
        Ok(signatures)
    }

    /// Returns the draft's records with their signatures.
    fn signed_records(&self, signatures: &[Signatures]) -> Result<ZoneRecords, ZoneSignError> {
        let mut records = self.draft.records.clone();
        for (names, signatures) in self.ranges().zip(signatures) {
            let mut signatures = signatures.iter();
            for name in names {
                for set in self.signed_sets(name).filter(|set| !self.is_zone_digest(name, set)) {
                    let owner = self.sets.records().get(set.records[0] as usize).owner_id;
                    let mut add = |data: &[u8]| {
                        records.add(owner, RecordType::RRSIG, set.ttl(), 0, |out| {
                            out.extend_from_slice(data);
                            Ok::<_, ZoneRecordsError>(())
                        })
                    };
                    match self.presigned(name, &set) {
                        Some(presigned) => presigned.signatures.iter().try_for_each(|data| add(data))?,
                        None => {
                            signatures
                                .by_ref()
                                .take(self.signers(name, set.rtype).len())
                                .try_for_each(add)?;
                        }
                    }
                }
            }
        }
        Ok(records)
    }
}
