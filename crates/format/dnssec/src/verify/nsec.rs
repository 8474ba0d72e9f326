//! Chains of NSEC records. RFC 4034 section 4, RFC 4035 2.3.

use super::ZoneVerifier;
use super::finding::{FindingReason, VerifyReport};
use crate::bitmap::{TypeBitmap, write_bitmap};
use crate::name::DomainName;
use crate::rtype::RecordType;

impl ZoneVerifier<'_> {
    /// Checks that every name of the zone has one NSEC record, which leads to the next name and lists the types.
    pub(super) fn check_nsec(&self, report: &mut VerifyReport) {
        let chain: Vec<usize> =
            (0..self.sets.name_count()).filter(|name| self.ownerships.get(*name).is_in_chain()).collect();
        // The last record leads back to the apex, which is the first name. RFC 4034 4.1.1.
        let next = chain.iter().skip(1).chain(&chain[..1]);
        for (name, next) in chain.iter().zip(next) {
            self.check_nsec_of(*name, self.sets.name(*next), report);
        }
        for name in (0..self.sets.name_count()).filter(|name| !self.ownerships.get(*name).is_in_chain()) {
            if let Some(set) = self.sets.of_type(name, RecordType::NSEC) {
                report.add(
                    set.owner,
                    RecordType::NSEC,
                    set.records.first().copied(),
                    FindingReason::NeedlessDenial,
                );
            }
        }
    }

    fn check_nsec_of(&self, name: usize, next: DomainName<'_>, report: &mut VerifyReport) {
        let owner = self.sets.name(name);
        let Some(set) = self.sets.of_type(name, RecordType::NSEC) else {
            report.add(owner, RecordType::NSEC, None, FindingReason::MissingDenial(RecordType::NSEC));
            return;
        };
        let row = set.records.first().copied();
        if set.records.len() > 1 {
            report.add(owner, RecordType::NSEC, row, FindingReason::SeveralNsec(set.records.len()));
        }
        let data = set.data().next().unwrap_or_default();
        let Some((found, types)) = read(data) else {
            report.add(owner, RecordType::NSEC, row, FindingReason::MalformedDenial);
            return;
        };
        // RFC 6840 5.1: the next name keeps its case in canonical form, so it may have capital letters.
        if found.as_bytes() != next.as_bytes() && found.to_lower().name() != next {
            let reason = FindingReason::Gap { expected: next.to_string(), found: found.to_string() };
            report.add(owner, RecordType::NSEC, row, reason);
        }
        let expected = self.types_of(name, [RecordType::NSEC, RecordType::RRSIG]);
        if expected != types.as_bytes() {
            report.add(owner, RecordType::NSEC, row, wrong_types(&expected, types));
        }
    }

    /// Returns the bitmap of a name's types and of the types in `more`.
    pub(super) fn types_of<const N: usize>(&self, name: usize, more: [RecordType; N]) -> Vec<u8> {
        let ownership = self.ownerships.get(name);
        let sets =
            self.sets.of_name(name).filter(|set| !set.records.is_empty() && ownership.lists(set.rtype));
        let mut types: Vec<RecordType> =
            sets.map(|set| set.rtype).filter(|rtype| *rtype != RecordType::NSEC3).chain(more).collect();
        types.sort_unstable();
        let mut bitmap = Vec::new();
        write_bitmap(types, &mut bitmap);
        bitmap
    }
}

/// Splits the data into the next name and the types.
fn read(data: &[u8]) -> Option<(DomainName<'_>, TypeBitmap<'_>)> {
    let (next, bitmap) = DomainName::at_front(data).ok()?;
    Some((next, TypeBitmap::read(bitmap).ok()?))
}

/// Returns the reason for a bitmap that differs from the expected one.
pub(super) fn wrong_types(expected: &[u8], found: TypeBitmap<'_>) -> FindingReason {
    let text = |bitmap: TypeBitmap<'_>| {
        let types: Vec<String> = bitmap.types().map(|rtype| rtype.to_string()).collect();
        if types.is_empty() { "nothing".to_owned() } else { types.join(" ") }
    };
    let expected = TypeBitmap::read(expected).map(text).unwrap_or_default();
    FindingReason::Types { expected, found: text(found) }
}
