//! What no zone may say, and what is worth a word.

use super::{Change, Changes, SignError, Spot};
use crate::rtype::Type;
use crate::sets::{Set, Sets};
use crate::zone_cut::{Place, Places};

/// Looks at every name of the zone.
pub(super) fn zone(sets: &Sets<'_>, places: &Places, changes: &mut Changes) -> Result<(), SignError> {
    let records = sets.records();
    for (index, place) in places.iter().enumerate() {
        if place == Place::Outside {
            continue;
        }
        for set in sets.of_name(index).filter(|set| !set.records.is_empty()) {
            check_set(sets, index, set, place)?;
            if place == Place::Below && !is_glue(set.rtype) && !is_of_signing(set.rtype) {
                changes.add(Change::Hidden, || Spot::of(records, set.records[0] as usize));
            }
        }
    }
    for row in sets.duplicates() {
        changes.add(Change::Copy, || Spot::of(records, *row as usize));
    }
    let apex = places.apex();
    if sets.of_type(apex, Type::NS).is_none() {
        changes.add_at_apex(Change::NoNameServers, sets.name(apex), Type::NS);
    }
    Ok(())
}

fn check_set(sets: &Sets<'_>, name: usize, set: Set<'_>, place: Place) -> Result<(), SignError> {
    let spot = |place: usize| Spot::of(sets.records(), set.records[place] as usize);
    let is_other = |other: &Set<'_>| {
        !other.records.is_empty() && other.rtype != Type::CNAME && !is_of_signing(other.rtype)
    };
    match set.rtype {
        Type::CNAME | Type::DNAME if set.records.len() > 1 => Err(SignError::SecondAlias(spot(1))),
        Type::CNAME if sets.of_name(name).any(|other| is_other(&other)) => {
            Err(SignError::AliasBesideOthers(spot(0)))
        }
        Type::DS if matches!(place, Place::Inside | Place::Apex) => {
            Err(SignError::DsWithoutDelegation(spot(0)))
        }
        Type::SOA if place != Place::Apex => Err(SignError::SecondSoa(spot(0))),
        Type::SOA if set.records.len() > 1 => Err(SignError::SecondSoa(spot(1))),
        _ => Ok(()),
    }
}

fn is_glue(rtype: Type) -> bool {
    matches!(rtype, Type::A | Type::AAAA)
}

/// True for what a signer adds to names, and takes away before it does.
pub(super) fn is_of_signing(rtype: Type) -> bool {
    matches!(rtype, Type::RRSIG | Type::NSEC | Type::NSEC3 | Type::NSEC3PARAM)
}
