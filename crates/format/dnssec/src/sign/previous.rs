//! Earlier signatures that are still valid.

use std::cmp::Ordering;

use super::keys::SignerKey;
use super::options::SignatureLifetime;
use crate::name::DomainName;
use crate::records::ZoneRecords;
use crate::rrsig::{Rrsig, Validity, serial_cmp, signed_labels};
use crate::sets::{RecordSet, RecordSets};

/// The last signed version of a zone.
pub(super) struct Previous<'z> {
    sets: RecordSets<'z>,
}

impl<'z> Previous<'z> {
    pub(super) fn new(records: &'z ZoneRecords) -> Self {
        Self { sets: RecordSets::new(records) }
    }

    /// Returns the earlier version of a set, if its records have not changed.
    pub(super) fn find_unchanged(&self, set: &RecordSet<'_>) -> Option<RecordSet<'_>> {
        let name = self.sets.find(set.owner).ok()?;
        let old = self.sets.of_name(name).find(|old| old.rtype == set.rtype)?;
        // Both are in canonical form and order, so equal sets have equal bytes.
        old.data().eq(set.data()).then_some(old)
    }

    /// Returns the data of a signature of `old` by `key` that need not be replaced. The signature has not been verified
    /// yet.
    pub(super) fn signature(
        &self,
        old: &RecordSet<'_>,
        set: &RecordSet<'_>,
        apex: DomainName<'_>,
        key: &SignerKey,
        lifetime: &SignatureLifetime,
    ) -> Option<&[u8]> {
        let records = self.sets.records();
        old.signatures.iter().map(|row| records.get(*row as usize)).find_map(|record| {
            let rrsig = Rrsig::read(record.data).ok()?;
            let is_of_key = rrsig.key_tag == key.tag() && rrsig.algorithm == key.algorithm();
            let is_of_set = rrsig.signer == apex
                && rrsig.original_ttl == set.ttl()
                && usize::from(rrsig.labels) == signed_labels(set.owner);
            (is_of_key && is_of_set && is_still_valid(&rrsig, lifetime)).then_some(record.data)
        })
    }
}

/// Returns true if a signature is valid, and stays valid beyond the refresh limit.
fn is_still_valid(rrsig: &Rrsig<'_>, lifetime: &SignatureLifetime) -> bool {
    let limit = lifetime.now.wrapping_add(lifetime.refresh_s);
    rrsig.validity(lifetime.now) == Validity::Valid
        && serial_cmp(rrsig.expiration, limit) == Ordering::Greater
}
