//! The rules of a zone that can be signed. Some unusual records cause a warning only.

use super::{RecordLocation, ZoneChange, ZoneChanges, ZoneSignError};
use crate::rtype::RecordType;
use crate::sets::{RecordSet, RecordSets};
use crate::zone_cut::{NameOwnership, NameOwnerships};

/// Checks every name of the zone.
pub(super) fn zone(
    sets: &RecordSets<'_>,
    ownerships: &NameOwnerships,
    changes: &mut ZoneChanges,
) -> Result<(), ZoneSignError> {
    let records = sets.records();
    for (index, ownership) in ownerships.iter().enumerate() {
        if ownership == NameOwnership::Outside {
            continue;
        }
        for set in sets.of_name(index).filter(|set| !set.records.is_empty()) {
            check_set(sets, index, set, ownership)?;
            if ownership == NameOwnership::Below && !is_glue(set.rtype) && !is_of_signing(set.rtype) {
                changes.add(ZoneChange::Hidden, || RecordLocation::at_row(records, set.records[0] as usize));
            }
        }
    }
    for row in sets.duplicates() {
        changes.add(ZoneChange::Copy, || RecordLocation::at_row(records, *row as usize));
    }
    Ok(())
}

fn check_set(
    sets: &RecordSets<'_>,
    name: usize,
    set: RecordSet<'_>,
    ownership: NameOwnership,
) -> Result<(), ZoneSignError> {
    let spot = |index: usize| RecordLocation::at_row(sets.records(), set.records[index] as usize);
    let is_other = |other: &RecordSet<'_>| {
        // RFC 4035 2.5: RRSIG and NSEC records are allowed beside a CNAME.
        !other.records.is_empty() && other.rtype != RecordType::CNAME && !is_of_signing(other.rtype)
    };
    match set.rtype {
        RecordType::CNAME | RecordType::DNAME if set.records.len() > 1 => {
            Err(ZoneSignError::SecondAlias(spot(1)))
        }
        RecordType::CNAME if sets.of_name(name).any(|other| is_other(&other)) => {
            Err(ZoneSignError::AliasBesideOthers(spot(0)))
        }
        // A DS record at the apex belongs to the parent zone. RFC 4035 2.4.
        RecordType::DS if matches!(ownership, NameOwnership::Inside | NameOwnership::Apex) => {
            Err(ZoneSignError::DsWithoutDelegation(spot(0)))
        }
        RecordType::SOA if ownership != NameOwnership::Apex => Err(ZoneSignError::SecondSoa(spot(0))),
        RecordType::SOA if set.records.len() > 1 => Err(ZoneSignError::SecondSoa(spot(1))),
        _ => Ok(()),
    }
}

fn is_glue(rtype: RecordType) -> bool {
    matches!(rtype, RecordType::A | RecordType::AAAA)
}

/// Returns true for the types that a signer removes and adds again.
pub(super) fn is_of_signing(rtype: RecordType) -> bool {
    matches!(rtype, RecordType::RRSIG | RecordType::NSEC | RecordType::NSEC3 | RecordType::NSEC3PARAM)
}
