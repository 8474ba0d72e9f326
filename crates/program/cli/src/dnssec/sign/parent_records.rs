//! CDS and CDNSKEY records, by which a zone tells its parent the keys that its DS records should name. RFC 7344, RFC
//! 8078.

use oarlock::Accelerator;
use oarlock_dnssec::{
    DELETE_CDNSKEY, DELETE_CDS, DigestType, Dnskey, DomainName, Ds, RecordType, ReplacementSets, ZoneRecord,
    ZoneRecords, ds_rdata,
};

use super::super::DnssecError;

/// The CDS and CDNSKEY records of a zone.
pub(super) struct ParentRecords {
    ttl: u32,
    cds: Vec<Vec<u8>>,
    cdnskey: Vec<Vec<u8>>,
}

/// A key with the wish about its records at the parent, by the times of the key.
pub(super) struct KeyAtParent {
    pub(super) dnskey: Vec<u8>,
    pub(super) wish: ParentWish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParentWish {
    /// The key has records: it is past SyncPublish, and not past SyncDelete.
    Known,
    /// The key has none: it is past SyncDelete, or removed.
    Unknown,
    /// The times say nothing: records that the zone has stay.
    Unstated,
}

impl ParentRecords {
    /// Collects the records of a zone. They have the time to live of the zone's keys, or of the SOA record before the
    /// zone has keys.
    pub(super) fn of_zone(zone: &ZoneRecords, apex: DomainName<'_>) -> Self {
        let at_apex = |rtype| {
            let is_wanted = move |record: &ZoneRecord<'_>| record.rtype == rtype && record.owner == apex;
            zone.iter().filter(is_wanted)
        };
        let data = |rtype| at_apex(rtype).map(|record| record.data.to_vec()).collect();
        let ttl = |rtype| at_apex(rtype).map(|record| record.ttl).min();
        let ttl = ttl(RecordType::DNSKEY).or(ttl(RecordType::SOA)).unwrap_or(0);
        Self { ttl, cds: data(RecordType::CDS), cdnskey: data(RecordType::CDNSKEY) }
    }

    /// Adds the records of keys that the parent should know, and removes those of keys that it should not know. Records
    /// of other keys stay: another signer of the zone may have put them in. Returns None if the times say nothing.
    pub(super) fn by_times(
        mut self,
        accelerator: &Accelerator,
        apex: DomainName<'_>,
        keys: &[KeyAtParent],
        digests: &[DigestType],
    ) -> Result<Option<Self>, DnssecError> {
        let with = |wish| keys.iter().filter(move |key| key.wish == wish).map(|key| key.dnskey.as_slice());
        let (known, unknown): (Vec<&[u8]>, Vec<&[u8]>) =
            (with(ParentWish::Known).collect(), with(ParentWish::Unknown).collect());
        if known.is_empty() && unknown.is_empty() {
            return Ok(None);
        }
        for dnskey in &unknown {
            self.remove(&Dnskey::parse(dnskey)?);
        }
        if !known.is_empty() {
            // The wish for no DS records must stand alone. RFC 8078 section 4.
            self.cds.retain(|data| *data != DELETE_CDS);
            self.cdnskey.retain(|data| *data != DELETE_CDNSKEY);
        }
        for dnskey in known {
            self.add(accelerator, apex, dnskey, digests)?;
        }
        Ok(Some(self))
    }

    /// Returns the records of exactly these keys.
    pub(super) fn replaced(
        self,
        accelerator: &Accelerator,
        apex: DomainName<'_>,
        keys: &[&[u8]],
        digests: &[DigestType],
    ) -> Result<Self, DnssecError> {
        let mut records = Self { ttl: self.ttl, cds: Vec::new(), cdnskey: Vec::new() };
        keys.iter().try_for_each(|dnskey| records.add(accelerator, apex, dnskey, digests))?;
        Ok(records)
    }

    /// Returns the records that ask the parent to delete all DS records. RFC 8078 section 4.
    pub(super) fn deletion(self) -> Self {
        Self { ttl: self.ttl, cds: vec![DELETE_CDS.to_vec()], cdnskey: vec![DELETE_CDNSKEY.to_vec()] }
    }

    /// Adds both sets, which replace those of the zone.
    pub(super) fn add_to(self, apex: DomainName<'_>, sets: &mut ReplacementSets) {
        sets.add(apex, RecordType::CDS, self.ttl, self.cds);
        sets.add(apex, RecordType::CDNSKEY, self.ttl, self.cdnskey);
    }

    fn add(
        &mut self,
        accelerator: &Accelerator,
        apex: DomainName<'_>,
        dnskey: &[u8],
        digests: &[DigestType],
    ) -> Result<(), DnssecError> {
        if !self.cdnskey.iter().any(|data| data == dnskey) {
            self.cdnskey.push(dnskey.to_vec());
        }
        for data in digests_of(accelerator, apex, dnskey, digests)? {
            if !self.cds.contains(&data) {
                self.cds.push(data);
            }
        }
        Ok(())
    }

    /// Removes the records of a key: its CDNSKEY with any flags, and CDS records of its tag.
    fn remove(&mut self, dnskey: &Dnskey<'_>) {
        let is_of_key = |data: &[u8]| Dnskey::parse(data).is_ok_and(|other| other.has_same_key(dnskey));
        self.cdnskey.retain(|data| !is_of_key(data));
        let named = (dnskey.key_tag(), dnskey.algorithm);
        self.cds.retain(|data| Ds::parse(data).ok().is_none_or(|ds| (ds.key_tag, ds.algorithm) != named));
    }
}

/// Returns the DNSKEY records that a DS record may name: the entry points that are not revoked. Without entry points
/// each key of the zone may be named.
pub(super) fn entry_points<'d>(dnskeys: impl Iterator<Item = &'d [u8]>) -> Vec<&'d [u8]> {
    let parsed = dnskeys.filter_map(|data| Dnskey::parse(data).ok());
    let keys: Vec<Dnskey<'d>> = parsed.filter(|key| key.is_zone_key() && !key.is_revoked()).collect();
    let has_entry_point = keys.iter().any(Dnskey::is_entry_point);
    keys.iter().filter(|key| !has_entry_point || key.is_entry_point()).map(Dnskey::rdata).collect()
}

/// Returns the data of the DS or CDS records of a key.
pub(super) fn digests_of(
    accelerator: &Accelerator,
    apex: DomainName<'_>,
    dnskey: &[u8],
    digests: &[DigestType],
) -> Result<Vec<Vec<u8>>, DnssecError> {
    let dnskey = Dnskey::parse(dnskey)?;
    let digest = |digest: &DigestType| ds_rdata(accelerator, apex, &dnskey, *digest);
    digests.iter().map(digest).collect::<Result<_, _>>().map_err(DnssecError::Digest)
}
