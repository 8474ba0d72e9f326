//! The comparison of the zone digest with the records. RFC 8976 section 4.

use std::collections::HashMap;

use oarlock::{Accelerator, JobError};

use super::ZoneVerifier;
use super::finding::{FindingReason, VerifyReport};
use crate::name::DomainName;
use crate::rtype::RecordType;
use crate::zonemd::{ZONEMD_SIMPLE, Zonemd, zone_digest, zonemd_digest};

impl ZoneVerifier<'_> {
    /// Accepts the zone if one digest matches. Otherwise reports the fault of each digest.
    pub(super) fn check_zone_digests(
        &self,
        accelerator: &Accelerator,
        report: &mut VerifyReport,
    ) -> Result<(), JobError> {
        let Some(set) = self.sets.of_type(self.ownerships.apex(), RecordType::ZONEMD) else { return Ok(()) };
        let all: Vec<(u32, Option<Zonemd<'_>>)> =
            set.records.iter().copied().zip(set.data().map(Zonemd::read)).collect();
        let kind = |one: &Zonemd<'_>| (one.scheme, one.algorithm);
        let mut counts = HashMap::new();
        for one in all.iter().filter_map(|(_, one)| one.as_ref()) {
            *counts.entry(kind(one)).or_insert(0) += 1;
        }
        let mut faults = Vec::new();
        for (row, one) in &all {
            let fault = match one {
                None => Some(FindingReason::MalformedZoneDigest),
                Some(one) if counts.get(&kind(one)) > Some(&1) => Some(FindingReason::SeveralZoneDigests),
                Some(one) => self.zone_digest_fault(accelerator, one)?,
            };
            match fault {
                // RFC 8976 section 4: one digest that matches is enough.
                None => return Ok(()),
                Some(fault) => faults.push((*row, fault)),
            }
        }
        for (row, fault) in faults {
            report.add(self.apex, RecordType::ZONEMD, Some(row), fault);
        }
        Ok(())
    }

    /// Returns the fault of a digest.
    fn zone_digest_fault(
        &self,
        accelerator: &Accelerator,
        one: &Zonemd<'_>,
    ) -> Result<Option<FindingReason>, JobError> {
        // The serial number is compared first: the comparison costs nothing, and the digest reads the whole zone.
        let expected = self.serial();
        if expected != Some(one.serial) {
            let expected = expected.unwrap_or_default();
            return Ok(Some(FindingReason::ZoneDigestSerial { expected, found: one.serial }));
        }
        match zonemd_digest(one.algorithm).filter(|_| one.scheme == ZONEMD_SIMPLE) {
            None => {
                Ok(Some(FindingReason::UnknownZoneDigest { scheme: one.scheme, algorithm: one.algorithm }))
            }
            Some(alg) => {
                let digest = zone_digest(accelerator, self.sets, self.apex, alg)?;
                Ok((digest != one.digest).then_some(FindingReason::ZoneDigest))
            }
        }
    }

    /// Returns the serial number of the zone, if its SOA record is well formed.
    #[must_use]
    pub fn serial(&self) -> Option<u32> {
        let soa = self.sets.of_type(self.ownerships.apex(), RecordType::SOA)?;
        soa_serial(soa.data().next()?)
    }
}

/// Reads the serial number after the two names of an SOA.
fn soa_serial(data: &[u8]) -> Option<u32> {
    let (_, rest) = DomainName::at_front(data).ok()?;
    let (_, numbers) = DomainName::at_front(rest).ok()?;
    numbers.first_chunk().map(|serial| u32::from_be_bytes(*serial))
}
