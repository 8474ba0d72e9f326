//! What a zone says of its names: which are its own, where it hands over to others, and what lies behind that.
//! RFC 1034 4.2.1, RFC 4035 2, RFC 6672 2.4.

use crate::name::DomainName;
use crate::rtype::RecordType;
use crate::sets::{RecordSet, RecordSets};

/// What a name is in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOwnership {
    /// The zone's own name.
    Apex,
    /// A name that the zone speaks for.
    Inside,
    /// A delegation: only what is said of the way to the child, and its DS records, is the zone's.
    Cut,
    /// An owner of NSEC3 records and nothing else: a hash in the form of a name.
    Hashed,
    /// Below a delegation or a DNAME: glue, or nothing that anybody asks for here.
    Below,
    /// Neither the zone's own name nor below it.
    Outside,
}

impl NameOwnership {
    /// True for names of which a chain of NSEC records, or of hashes, has to speak.
    #[must_use]
    pub fn is_in_chain(self) -> bool {
        matches!(self, Self::Apex | Self::Inside | Self::Cut)
    }

    /// True where records of this type are signed. RFC 4035 2.2.
    #[must_use]
    pub fn signs(self, rtype: RecordType) -> bool {
        match self {
            Self::Apex | Self::Inside => rtype != RecordType::RRSIG,
            Self::Cut => matches!(rtype, RecordType::DS | RecordType::NSEC),
            Self::Hashed => rtype == RecordType::NSEC3,
            Self::Below | Self::Outside => false,
        }
    }

    /// True where a type belongs into the bitmap of the name's NSEC or NSEC3 record, as far as it has records and not counting what a
    /// signature and the chain itself add. RFC 4035 2.3.
    #[must_use]
    pub fn lists(self, rtype: RecordType) -> bool {
        match self {
            Self::Cut => matches!(rtype, RecordType::NS | RecordType::DS | RecordType::NSEC),
            _ => self.signs(rtype),
        }
    }
}

/// The place of every name of a zone, in canonical order.
#[derive(Clone, Debug)]
pub struct NameOwnerships {
    apex: usize,
    places: Vec<NameOwnership>,
}

impl NameOwnerships {
    /// Looks at all names; none where there is no name `apex`, which is in small letters.
    #[must_use]
    pub fn new(sets: &RecordSets<'_>, apex: DomainName<'_>) -> Option<Self> {
        let at = sets.find(apex).ok()?;
        let mut places = Vec::with_capacity(sets.name_count());
        // Names below a name follow it.
        let mut end: Option<DomainName<'_>> = None;
        for index in 0..sets.name_count() {
            let name = sets.name(index);
            let place = match end {
                _ if !name.is_at_or_below(apex) => NameOwnership::Outside,
                _ if index == at => NameOwnership::Apex,
                Some(end) if name.is_at_or_below(end) && !(end == apex && is_hashed(sets, index, apex)) => {
                    NameOwnership::Below
                }
                _ => place_of(sets, index, apex),
            };
            let ends_here = place == NameOwnership::Cut
                || matches!(place, NameOwnership::Inside | NameOwnership::Apex)
                    && has(sets, index, RecordType::DNAME);
            if ends_here {
                end = Some(name);
            }
            places.push(place);
        }
        Some(Self { apex: at, places })
    }

    /// Where the zone's own name stands among its names.
    #[must_use]
    pub fn apex(&self) -> usize {
        self.apex
    }

    /// The place of the name at `index`.
    ///
    /// # Panics
    /// Where there is no such name.
    #[must_use]
    pub fn get(&self, index: usize) -> NameOwnership {
        self.places[index]
    }

    /// All places.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = NameOwnership> {
        self.places.iter().copied()
    }
}

/// A name that is neither the apex nor below another one's end.
fn place_of(sets: &RecordSets<'_>, index: usize, apex: DomainName<'_>) -> NameOwnership {
    if has(sets, index, RecordType::NS) {
        return NameOwnership::Cut;
    }
    if is_hashed(sets, index, apex) { NameOwnership::Hashed } else { NameOwnership::Inside }
}

/// True for owners of hashes alone. They stand below a DNAME of the zone's own name too. RFC 6672 2.3.
fn is_hashed(sets: &RecordSets<'_>, index: usize, apex: DomainName<'_>) -> bool {
    let has_hash_only = |set: RecordSet<'_>| set.rtype == RecordType::NSEC3;
    sets.name(index).parent() == Some(apex) && sets.of_name(index).all(has_hash_only)
}

fn has(sets: &RecordSets<'_>, index: usize, rtype: RecordType) -> bool {
    sets.of_type(index, rtype).is_some()
}

/// A name without records between the apex and a name that has some: an empty non-terminal. RFC 5155 1.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyName<'z> {
    /// The name.
    pub name: DomainName<'z>,
    /// True where it has only insecure delegations below it, so that opt-out may leave it out. RFC 5155 7.1.
    pub may_be_left_out: bool,
}

/// Calls `found` with each empty non-terminal of the names in the chain, after all names below it.
pub fn empty_names<'z>(sets: &RecordSets<'z>, places: &NameOwnerships, mut found: impl FnMut(EmptyName<'z>)) {
    let apex = sets.name(places.apex());
    let mut open: Vec<EmptyName<'z>> = Vec::new();
    let mut previous = apex;
    for (index, place) in places.iter().enumerate().filter(|(_, place)| place.is_in_chain()) {
        let name = sets.name(index);
        while let Some(last) = open.pop_if(|last| !name.is_at_or_below(last.name)) {
            found(last);
        }
        let shared = shared_labels(previous, name);
        for labels in shared + 1..name.label_count() {
            open.push(EmptyName { name: name.last_labels(labels), may_be_left_out: true });
        }
        if place != NameOwnership::Cut || has(sets, index, RecordType::DS) {
            open.iter_mut().for_each(|empty| empty.may_be_left_out = false);
        }
        previous = name;
    }
    while let Some(last) = open.pop() {
        found(last);
    }
}

/// Labels from the right that two names have in common.
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
    fn every_name_has_its_place() {
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
        let places = NameOwnerships::new(&sets, name("example.").name()).unwrap();
        for (owner, _, place) in rows {
            assert_eq!(places.get(sets.find(name(owner).name()).unwrap()), place, "{owner}");
        }
        assert!(NameOwnerships::new(&sets, name("nowhere.").name()).is_none());
    }

    #[test]
    fn only_what_is_the_zones_own_is_signed() {
        let signed = |place: NameOwnership| {
            [
                RecordType::A,
                RecordType::NS,
                RecordType::DS,
                RecordType::NSEC,
                RecordType::NSEC3,
                RecordType::RRSIG,
            ]
            .map(|rtype| place.signs(rtype))
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
        let places = NameOwnerships::new(&sets, name("example.").name()).unwrap();
        let mut found = Vec::new();
        empty_names(&sets, &places, |empty| found.push((empty.name.to_string(), empty.may_be_left_out)));
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
