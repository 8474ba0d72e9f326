//! The chain of hashes. RFC 5155 section 7.1.

use oarlock::Accelerator;

use super::ZoneSignError;
use super::nsec::{merge_types, types};
use super::options::Nsec3Options;
use crate::base32hex::{base32hex_len, write_base32hex};
use crate::bitmap::write_bitmap;
use crate::name::{DomainName, MAX_NAME};
use crate::nsec3::OPT_OUT;
use crate::nsec3_hash::{NSEC3_HASH_LEN, NSEC3_SHA1, Nsec3Hash, hash_names};
use crate::records::ZoneRecords;
use crate::rtype::RecordType;
use crate::sets::RecordSets;
use crate::zone_cut::{NameOwnership, NameOwnerships, empty_names};

/// A name of the chain and its hash.
struct ChainLink<'z> {
    name: DomainName<'z>,
    /// The index of the name in the zone; None for a name without records.
    index: Option<usize>,
    hash: Nsec3Hash,
}

/// Adds an NSEC3 record for every name of the zone, for empty non-terminals, and for delegations unless opt-out omits
/// them.
pub(super) fn add_chain(
    accelerator: &Accelerator,
    records: &mut ZoneRecords,
    apex: DomainName<'_>,
    ttl: u32,
    options: &Nsec3Options,
) -> Result<(), ZoneSignError> {
    if base32hex_len(NSEC3_HASH_LEN) + 1 + apex.as_bytes().len() > MAX_NAME {
        return Err(ZoneSignError::LongApex(apex.to_buf()));
    }
    let (hashes, data) = chain(accelerator, records, apex, options)?;
    let mut owner = Vec::new();
    let mut start = 0;
    for (hash, end) in hashes {
        write_owner(&hash, apex, &mut owner);
        let id = records.add_owner(DomainName::trusted(&owner))?;
        records.add(id, RecordType::NSEC3, ttl, 0, |out| {
            out.extend_from_slice(&data[start..end]);
            Ok::<_, ZoneSignError>(())
        })?;
        start = end;
    }
    Ok(())
}

/// Returns the first fields of NSEC3PARAM and NSEC3 records. RFC 5155 3.2 and 4.2.
pub(super) fn parameters(options: &Nsec3Options, flags: u8) -> Vec<u8> {
    let [high, low] = options.iterations.to_be_bytes();
    // unreachable because options have been checked
    let salt_len = options.salt.len() as u8;
    [&[NSEC3_SHA1, flags, high, low, salt_len], &options.salt[..]].concat()
}

/// Hashes in ascending order, each with the end of its record's data, and the data.
type Chain = (Vec<(Nsec3Hash, usize)>, Vec<u8>);

fn chain(
    accelerator: &Accelerator,
    records: &ZoneRecords,
    apex: DomainName<'_>,
    options: &Nsec3Options,
) -> Result<Chain, ZoneSignError> {
    let sets = RecordSets::new(records);
    let Some(ownerships) = NameOwnerships::new(&sets, apex) else { return Ok(Chain::default()) };
    let mut links = find_links(&sets, &ownerships, options.is_opt_out);
    let names = links.iter().map(|link| link.name);
    let hashes = hash_names(accelerator, names, &options.salt, options.iterations)?;
    links.iter_mut().zip(hashes).for_each(|(link, hash)| link.hash = hash);
    links.sort_unstable_by_key(|link| link.hash);
    refuse_same(&links)?;
    Ok(write(&sets, &ownerships, &links, &parameters(options, if options.is_opt_out { OPT_OUT } else { 0 })))
}

/// Rejects equal hashes. RFC 5155 7.1: two names with the same hash need another salt. The links are in order.
fn refuse_same(links: &[ChainLink<'_>]) -> Result<(), ZoneSignError> {
    match links.windows(2).find(|pair| pair[0].hash == pair[1].hash) {
        Some([one, other, ..]) => Err(ZoneSignError::Collision(one.name.to_buf(), other.name.to_buf())),
        _ => Ok(()),
    }
}

fn find_links<'z>(
    sets: &RecordSets<'z>,
    ownerships: &NameOwnerships,
    is_opt_out: bool,
) -> Vec<ChainLink<'z>> {
    let hash = [0; NSEC3_HASH_LEN];
    let mut links = Vec::with_capacity(ownerships.iter().len());
    for (index, ownership) in ownerships.iter().enumerate().filter(|(_, ownership)| ownership.is_in_chain()) {
        let is_insecure = ownership == NameOwnership::Cut && sets.of_type(index, RecordType::DS).is_none();
        // RFC 5155 section 6: only insecure delegations may be omitted; a DS record must stay provable.
        if !(is_opt_out && is_insecure) {
            links.push(ChainLink { name: sets.name(index), index: Some(index), hash });
        }
    }
    empty_names(sets, ownerships, |empty| {
        if !(is_opt_out && empty.may_be_left_out) {
            links.push(ChainLink { name: empty.name, index: None, hash });
        }
    });
    links
}

fn write(sets: &RecordSets<'_>, ownerships: &NameOwnerships, links: &[ChainLink<'_>], head: &[u8]) -> Chain {
    let (mut ends, mut data) = (Vec::with_capacity(links.len()), Vec::new());
    // The last record leads back to the first one. RFC 5155 3.1.7.
    let nexts = links.iter().cycle().skip(1);
    for (link, next) in links.iter().zip(nexts) {
        data.extend_from_slice(head);
        data.push(NSEC3_HASH_LEN as u8);
        data.extend_from_slice(&next.hash);
        // An empty non-terminal has no types and so an empty bitmap. RFC 5155 7.1.
        if let Some(index) = link.index {
            write_types(sets, index, ownerships.get(index), &mut data);
        }
        ends.push((link.hash, data.len()));
    }
    (ends, data)
}

/// Appends the types of a name, with RRSIG if any of its sets is signed. Of a delegation only the DS records are
/// signed.
fn write_types(sets: &RecordSets<'_>, index: usize, ownership: NameOwnership, out: &mut Vec<u8>) {
    let types = || types(sets, index, ownership);
    if types().any(|rtype| ownership.signs(rtype)) {
        write_bitmap(merge_types(types(), [RecordType::RRSIG]), out);
    } else {
        write_bitmap(types(), out);
    }
}

fn write_owner(hash: &Nsec3Hash, apex: DomainName<'_>, out: &mut Vec<u8>) {
    out.clear();
    out.push(base32hex_len(NSEC3_HASH_LEN) as u8);
    write_base32hex(hash, out);
    out.extend_from_slice(apex.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_two_names_with_the_same_hash() {
        let link = |name, first| {
            let mut hash = [7; NSEC3_HASH_LEN];
            hash[0] = first;
            ChainLink { name: DomainName::new(name).unwrap(), index: None, hash }
        };
        assert_eq!(refuse_same(&[link(b"\x01a\0", 1), link(b"\x01b\0", 2)]), Ok(()));
        let same = refuse_same(&[link(b"\x01a\0", 1), link(b"\x01b\0", 2), link(b"\x01c\0", 2)]);
        assert_eq!(same.unwrap_err().to_string(), "b. and c. have the same hash; choose another salt");
    }
}
