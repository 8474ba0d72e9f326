//! A signed zone as text.

use std::ops::Range;

use super::plan::{Signatures, SigningPlan};
use crate::records::ZoneRecord;
use crate::rtype::RecordType;
use crate::sets::RecordSet;
use crate::zone::write_record;

impl SigningPlan<'_> {
    /// Appends the records of a range of names as lines, with their signatures. The SOA record comes first.
    ///
    /// # Panics
    /// If `signatures` are those of another range.
    pub fn write(&self, names: Range<usize>, signatures: &Signatures, out: &mut Vec<u8>) {
        let mut signatures = signatures.iter();
        for name in names {
            let start = out.len();
            for set in self.sets.of_name(name) {
                let before = out.len();
                self.write_set(name, set, &mut signatures, out);
                // RFC 1035 5.2 has no such rule, but many readers expect the SOA record first.
                if name == self.ownerships.apex() && set.rtype == RecordType::SOA {
                    out[start..].rotate_left(before - start);
                }
            }
        }
    }

    fn write_set<'s>(
        &self,
        name: usize,
        set: RecordSet<'_>,
        signatures: &mut impl Iterator<Item = &'s [u8]>,
        out: &mut Vec<u8>,
    ) {
        let records = self.sets.records();
        let first = records.get(set.records[0] as usize);
        let mut line = |rtype, data: &[u8]| write_record(&ZoneRecord { rtype, data, ..first }, out);
        if let Some(seal) = self.seal.as_ref().filter(|_| self.is_zone_digest(name, &set)) {
            seal.records.iter().for_each(|record| line(set.rtype, record.data));
            seal.signatures.iter().for_each(|data| line(RecordType::RRSIG, data));
            return;
        }
        set.data().for_each(|data| line(set.rtype, data));
        if let Some(presigned) = self.presigned(name, &set) {
            presigned.signatures.iter().for_each(|data| line(RecordType::RRSIG, data));
            return;
        }
        if self.ownerships.get(name).signs(set.rtype) && !self.is_zone_digest(name, &set) {
            let count = self.signers(name, set.rtype).len();
            signatures.by_ref().take(count).for_each(|data| line(RecordType::RRSIG, data));
        }
    }
}
