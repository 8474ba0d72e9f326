//! The chain of names. RFC 4034 section 4, RFC 4035 2.3.

use super::ZoneSignError;
use crate::bitmap::write_bitmap;
use crate::name::DomainName;
use crate::records::{OwnerId, ZoneRecords};
use crate::rtype::RecordType;
use crate::sets::RecordSets;
use crate::zone_cut::{NameOwnership, NameOwnerships};

/// The data of records that are still to be added, in one buffer.
#[derive(Default)]
struct ChainRows {
    /// The owners, each with the end of its record's data.
    owners: Vec<(OwnerId, usize)>,
    data: Vec<u8>,
}

/// Adds an NSEC record to every name of the zone's own and every delegation.
pub(super) fn add_chain(
    records: &mut ZoneRecords,
    apex: DomainName<'_>,
    ttl: u32,
) -> Result<(), ZoneSignError> {
    let rows = rows(records, apex);
    let mut start = 0;
    for (owner, end) in rows.owners {
        records.add(owner, RecordType::NSEC, ttl, 0, |out| {
            out.extend_from_slice(&rows.data[start..end]);
            Ok::<_, ZoneSignError>(())
        })?;
        start = end;
    }
    Ok(())
}

fn rows(records: &ZoneRecords, apex: DomainName<'_>) -> ChainRows {
    let mut rows = ChainRows::default();
    let sets = RecordSets::new(records);
    let Some(ownerships) = NameOwnerships::new(&sets, apex) else { return rows };
    let mut names = ownerships.iter().enumerate().filter(|(_, ownership)| ownership.is_in_chain()).peekable();
    while let Some((index, ownership)) = names.next() {
        // The last record leads back to the apex. RFC 4034 4.1.1.
        let next = names.peek().map_or(apex, |(next, _)| sets.name(*next));
        // unreachable because every name has records here
        let Some(first) = sets.of_name(index).find_map(|set| set.first()) else { continue };
        rows.data.extend_from_slice(next.as_bytes());
        // The NSEC record itself is signed.
        let added = [RecordType::RRSIG, RecordType::NSEC];
        write_bitmap(merge_types(types(&sets, index, ownership), added), &mut rows.data);
        rows.owners.push((records.get(first).owner_id, rows.data.len()));
    }
    rows
}

/// Returns the types of a name that a chain lists, in ascending order.
pub(super) fn types(
    sets: &RecordSets<'_>,
    name: usize,
    ownership: NameOwnership,
) -> impl Iterator<Item = RecordType> {
    sets.of_name(name)
        .filter(|set| !set.records.is_empty())
        .map(|set| set.rtype)
        .filter(move |rtype| ownership.lists(*rtype))
}

/// Merges two ascending sequences.
pub(super) fn merge_types<const N: usize>(
    types: impl Iterator<Item = RecordType>,
    others: [RecordType; N],
) -> impl Iterator<Item = RecordType> {
    let (mut types, mut others) = (types.peekable(), others.into_iter().peekable());
    std::iter::from_fn(move || match (types.peek(), others.peek()) {
        (Some(one), Some(other)) if one < other => types.next(),
        (Some(_), None) => types.next(),
        _ => others.next(),
    })
}
