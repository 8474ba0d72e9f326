//! Chains of NSEC records. RFC 4034 section 4, RFC 4035 2.3.

use super::Verifier;
use super::finding::{Reason, Report};
use crate::bitmap::{Bitmap, write_bitmap};
use crate::name::Name;
use crate::rtype::Type;

impl Verifier<'_> {
    /// Every name that is the zone's own has one NSEC record, which leads to the next and lists what is there.
    pub(super) fn check_nsec(&self, report: &mut Report) {
        let chain: Vec<usize> =
            (0..self.sets.name_count()).filter(|name| self.places.get(*name).is_in_chain()).collect();
        let next = chain.iter().skip(1).chain(&chain[..1]);
        for (name, next) in chain.iter().zip(next) {
            self.check_nsec_of(*name, self.sets.name(*next), report);
        }
        for name in (0..self.sets.name_count()).filter(|name| !self.places.get(*name).is_in_chain()) {
            if let Some(set) = self.sets.of_type(name, Type::NSEC) {
                report.add(set.owner, Type::NSEC, set.records.first().copied(), Reason::NeedlessDenial);
            }
        }
    }

    fn check_nsec_of(&self, name: usize, next: Name<'_>, report: &mut Report) {
        let owner = self.sets.name(name);
        let Some(set) = self.sets.of_type(name, Type::NSEC) else {
            report.add(owner, Type::NSEC, None, Reason::MissingDenial(Type::NSEC));
            return;
        };
        let row = set.records.first().copied();
        if set.records.len() > 1 {
            report.add(owner, Type::NSEC, row, Reason::SeveralNsec(set.records.len()));
        }
        let data = set.data().next().unwrap_or_default();
        let Some((found, types)) = read(data) else {
            report.add(owner, Type::NSEC, row, Reason::MalformedDenial);
            return;
        };
        if found.as_bytes() != next.as_bytes() && found.to_lower().name() != next {
            let reason = Reason::Gap { expected: next.to_string(), found: found.to_string() };
            report.add(owner, Type::NSEC, row, reason);
        }
        let expected = self.types_of(name, [Type::NSEC, Type::RRSIG]);
        if expected != types.as_bytes() {
            report.add(owner, Type::NSEC, row, wrong_types(&expected, types));
        }
    }

    /// The bitmap of a name's types, with some that belong there whatever there is.
    pub(super) fn types_of<const N: usize>(&self, name: usize, more: [Type; N]) -> Vec<u8> {
        let place = self.places.get(name);
        let own = self.sets.of_name(name).filter(|set| !set.records.is_empty() && place.lists(set.rtype));
        let mut types: Vec<Type> =
            own.map(|set| set.rtype).filter(|rtype| *rtype != Type::NSEC3).chain(more).collect();
        types.sort_unstable();
        let mut bitmap = Vec::new();
        write_bitmap(types, &mut bitmap);
        bitmap
    }
}

/// The next name, and the types.
fn read(data: &[u8]) -> Option<(Name<'_>, Bitmap<'_>)> {
    let (next, bitmap) = Name::at_front(data).ok()?;
    Some((next, Bitmap::read(bitmap).ok()?))
}

/// What is to be said of a bitmap that is not the expected one.
pub(super) fn wrong_types(expected: &[u8], found: Bitmap<'_>) -> Reason {
    let text = |bitmap: Bitmap<'_>| {
        let types: Vec<String> = bitmap.types().map(|rtype| rtype.to_string()).collect();
        if types.is_empty() { "nothing".to_owned() } else { types.join(" ") }
    };
    let expected = Bitmap::read(expected).map(text).unwrap_or_default();
    Reason::Types { expected, found: text(found) }
}
