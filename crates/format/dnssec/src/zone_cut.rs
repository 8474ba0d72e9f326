//! The names of a zone by ownership: its own names, its delegations, and the names below them. RFC 1034 4.2.1, RFC
//! 4035 2, RFC 6672 2.4.

use crate::name::DomainName;
use crate::rtype::RecordType;
use crate::sets::{RecordSet, RecordSets};

/// The ownership of a name in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameOwnership {
    /// The name of the zone itself.
    Apex,
    /// A name of the zone.
    Inside,
    /// A delegation: the zone owns its NSEC and DS records only.
    Cut,
    /// A hashed name, which has NSEC3 records only.
    Hashed,
    /// A name below a delegation or a DNAME: glue, or records that no resolver sees.
    Below,
    /// A name that is neither the apex nor below it.
    Outside,
}

impl NameOwnership {
    /// Returns true for names that a chain of NSEC or NSEC3 records must cover.
    #[must_use]
    pub fn is_in_chain(self) -> bool {
        matches!(self, Self::Apex | Self::Inside | Self::Cut)
    }

    /// Returns true if records of this type are signed. RFC 4035 2.2.
    #[must_use]
    pub fn signs(self, rtype: RecordType) -> bool {
        match self {
            Self::Apex | Self::Inside => rtype != RecordType::RRSIG,
            // The NS records and the glue belong to the child zone, which signs them if it is signed.
            Self::Cut => matches!(rtype, RecordType::DS | RecordType::NSEC),
            Self::Hashed => rtype == RecordType::NSEC3,
            Self::Below | Self::Outside => false,
        }
    }

    /// Returns true if the name's NSEC or NSEC3 record lists an existing set of the type. RRSIG and the types of the
    /// chain are not covered. RFC 4035 2.3.
    #[must_use]
    pub fn lists(self, rtype: RecordType) -> bool {
        match self {
            // The parent's NS records are listed although they are not signed. RFC 4035 2.3.
            Self::Cut => matches!(rtype, RecordType::NS | RecordType::DS | RecordType::NSEC),
            _ => self.signs(rtype),
        }
    }
}

/// The ownership of every name of a zone, in canonical order.
#[derive(Clone, Debug)]
pub struct NameOwnerships {
    apex: usize,
    ownerships: Vec<NameOwnership>,
}

impl NameOwnerships {
    /// Determines the ownership of all names. Returns None if no name is `apex`, which must be in lower case.
    #[must_use]
    pub fn new(sets: &RecordSets<'_>, apex: DomainName<'_>) -> Option<Self> {
        let at = sets.find(apex).ok()?;
        let mut ownerships = Vec::with_capacity(sets.name_count());
        // In canonical order, the names below a name follow it directly.
        let mut end: Option<DomainName<'_>> = None;
        for index in 0..sets.name_count() {
            let name = sets.name(index);
            let ownership = match end {
                _ if !name.is_at_or_below(apex) => NameOwnership::Outside,
                // The apex has NS records and may have a DNAME record. They do not make it a delegation.
                _ if index == at => NameOwnership::Apex,
                Some(end) if name.is_at_or_below(end) && !(end == apex && is_hashed(sets, index, apex)) => {
                    NameOwnership::Below
                }
                _ => ownership_of(sets, index, apex),
            };
            let ends_here = ownership == NameOwnership::Cut
                || matches!(ownership, NameOwnership::Inside | NameOwnership::Apex)
                    && has(sets, index, RecordType::DNAME);
            if ends_here {
                end = Some(name);
            }
            ownerships.push(ownership);
        }
        Some(Self { apex: at, ownerships })
    }

    /// Returns the index of the apex.
    #[must_use]
    pub fn apex(&self) -> usize {
        self.apex
    }

    /// Returns the ownership of the name at `index`.
    ///
    /// # Panics
    /// If there is no such name.
    #[must_use]
    pub fn get(&self, index: usize) -> NameOwnership {
        self.ownerships[index]
    }

    /// Returns the ownership of every name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = NameOwnership> {
        self.ownerships.iter().copied()
    }
}

/// Determines the ownership of a name that is neither the apex nor below a delegation or a DNAME.
fn ownership_of(sets: &RecordSets<'_>, index: usize, apex: DomainName<'_>) -> NameOwnership {
    if has(sets, index, RecordType::NS) {
        return NameOwnership::Cut;
    }
    if is_hashed(sets, index, apex) { NameOwnership::Hashed } else { NameOwnership::Inside }
}

/// Returns true for names with NSEC3 records only. They may stand below a DNAME of the apex. RFC 6672 2.3.
fn is_hashed(sets: &RecordSets<'_>, index: usize, apex: DomainName<'_>) -> bool {
    let has_hash_only = |set: RecordSet<'_>| set.rtype == RecordType::NSEC3;
    sets.name(index).parent() == Some(apex) && sets.of_name(index).all(has_hash_only)
}

fn has(sets: &RecordSets<'_>, index: usize, rtype: RecordType) -> bool {
    sets.of_type(index, rtype).is_some()
}

/// An empty non-terminal: a name without records between the apex and a name with records. RFC 5155 1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyName<'z> {
    /// The name without records.
    pub name: DomainName<'z>,
    /// True if there are only insecure delegations below the name, so that opt-out may omit it. RFC 5155 7.1.
    pub may_be_left_out: bool,
}

/// Calls `found` with each empty non-terminal of the chain, after all names below it.
pub fn empty_names<'z>(
    sets: &RecordSets<'z>,
    ownerships: &NameOwnerships,
    mut found: impl FnMut(EmptyName<'z>),
) {
    let apex = sets.name(ownerships.apex());
    let mut open: Vec<EmptyName<'z>> = Vec::new();
    let mut previous = apex;
    for (index, ownership) in ownerships.iter().enumerate().filter(|(_, ownership)| ownership.is_in_chain()) {
        let name = sets.name(index);
        while let Some(last) = open.pop_if(|last| !name.is_at_or_below(last.name)) {
            found(last);
        }
        // In canonical order, an ancestor without records first appears between two neighbours: it has more labels than
        // they share and fewer than the second one.
        let shared = shared_labels(previous, name);
        for labels in shared + 1..name.label_count() {
            open.push(EmptyName { name: name.last_labels(labels), may_be_left_out: true });
        }
        // `open` holds the ancestors of this name, and a secure name makes all of them necessary.
        if ownership != NameOwnership::Cut || has(sets, index, RecordType::DS) {
            open.iter_mut().for_each(|empty| empty.may_be_left_out = false);
        }
        previous = name;
    }
    while let Some(last) = open.pop() {
        found(last);
    }
}

/// Returns the number of labels from the right that two names share.
fn shared_labels(one: DomainName<'_>, two: DomainName<'_>) -> usize {
    let mut shared = one;
    while !two.is_at_or_below(shared) {
        shared = shared.parent().unwrap_or(DomainName::ROOT);
    }
    shared.label_count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{DomainNameBuf, LetterCase};
    use crate::records::{ZoneRecords, ZoneRecordsError};

    fn name(text: &str) -> DomainNameBuf {
        DomainNameBuf::parse(text.as_bytes(), DomainName::ROOT, LetterCase::Lower).unwrap()
    }

    fn zone(rows: &[(&str, RecordType)]) -> ZoneRecords {
        let mut records = ZoneRecords::new();
        for (owner, rtype) in rows {
            let owner = records.add_owner(name(owner).name()).unwrap();
            records.add(owner, *rtype, 1, 0, |_| Ok::<_, ZoneRecordsError>(())).unwrap();
        }
        records
    }

    #[test]
    fn determines_the_ownership_of_every_name() {
        let rows = [
            ("other.", RecordType::A, NameOwnership::Outside),
            ("example.", RecordType::NS, NameOwnership::Apex),
            ("a.example.", RecordType::NS, NameOwnership::Cut),
            ("ns.a.example.", RecordType::A, NameOwnership::Below),
            ("sub.ns.a.example.", RecordType::NS, NameOwnership::Below),
            ("b.example.", RecordType::A, NameOwnership::Inside),
            ("d.example.", RecordType::DNAME, NameOwnership::Inside),
            ("x.d.example.", RecordType::A, NameOwnership::Below),
            ("hash.example.", RecordType::NSEC3, NameOwnership::Hashed),
            ("hash.b.example.", RecordType::NSEC3, NameOwnership::Inside),
        ];
        let records = zone(&rows.map(|(owner, rtype, _)| (owner, rtype)));
        let sets = RecordSets::new(&records);
        let ownerships = NameOwnerships::new(&sets, name("example.").name()).unwrap();
        for (owner, _, ownership) in rows {
            assert_eq!(ownerships.get(sets.find(name(owner).name()).unwrap()), ownership, "{owner}");
        }
        assert!(NameOwnerships::new(&sets, name("nowhere.").name()).is_none());
    }

    #[test]
    fn only_records_of_the_zone_are_signed() {
        let signed = |ownership: NameOwnership| {
            [
                RecordType::A,
                RecordType::NS,
                RecordType::DS,
                RecordType::NSEC,
                RecordType::NSEC3,
                RecordType::RRSIG,
            ]
            .map(|rtype| ownership.signs(rtype))
        };
        assert_eq!(signed(NameOwnership::Apex), [true, true, true, true, true, false]);
        assert_eq!(signed(NameOwnership::Cut), [false, false, true, true, false, false]);
        assert_eq!(signed(NameOwnership::Hashed), [false, false, false, false, true, false]);
        assert_eq!((signed(NameOwnership::Below), signed(NameOwnership::Outside)), ([false; 6], [false; 6]));
        assert!(
            NameOwnership::Cut.lists(RecordType::NS)
                && !NameOwnership::Cut.lists(RecordType::A)
                && NameOwnership::Inside.lists(RecordType::A)
        );
    }

    #[test]
    fn empty_names_are_found_once() {
        let records = zone(&[
            ("example.", RecordType::SOA),
            ("a.b.c.example.", RecordType::A),
            ("x.b.c.example.", RecordType::A),
            ("d.c.example.", RecordType::NS),
            ("e.f.example.", RecordType::NS),
            ("glue.e.f.example.", RecordType::A),
            ("g.f.g.example.", RecordType::NS),
            ("g.f.g.example.", RecordType::DS),
            ("g.f.example.", RecordType::NS),
        ]);
        let sets = RecordSets::new(&records);
        let ownerships = NameOwnerships::new(&sets, name("example.").name()).unwrap();
        let mut found = Vec::new();
        empty_names(&sets, &ownerships, |empty| found.push((empty.name.to_string(), empty.may_be_left_out)));
        let expected = [
            ("b.c.example.", false),
            ("c.example.", false),
            ("f.example.", true),
            ("f.g.example.", false),
            ("g.example.", false),
        ];
        assert_eq!(found, expected.map(|(name, left_out)| (name.to_string(), left_out)));
    }
}
