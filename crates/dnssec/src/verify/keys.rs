//! The keys of a zone, by tag and algorithm.

use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::{Dnskey, DnskeyError, ZonePublicKey};
use crate::rtype::RecordType;
use crate::sets::RecordSet;

/// A DNSKEY of the zone.
#[derive(Debug)]
pub(super) struct ZoneKey<'z> {
    /// Its record.
    pub(super) row: u32,
    pub(super) tag: u16,
    pub(super) dnskey: Dnskey<'z>,
    pub(super) public: Result<ZonePublicKey, DnskeyError>,
}

/// The zone's keys that may sign records.
#[derive(Debug, Default)]
pub(super) struct ZoneKeys<'z> {
    /// By tag and algorithm.
    keys: Vec<ZoneKey<'z>>,
}

impl<'z> ZoneKeys<'z> {
    /// Keys of the DNSKEY set; records that are too short for one are none.
    pub(super) fn new(set: Option<RecordSet<'z>>) -> Self {
        let rows = set.iter().flat_map(|set| set.records.iter().copied().zip(set.data()));
        let mut keys: Vec<ZoneKey<'z>> = rows.filter_map(|(row, data)| ZoneKey::new(row, data)).collect();
        keys.sort_by_key(ZoneKey::place);
        Self { keys }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> &ZoneKey<'z> {
        &self.keys[index]
    }

    /// Indices of the keys of a tag, from one on.
    pub(super) fn with_tag(
        &self,
        tag: u16,
        algorithm: DnssecAlgorithm,
        from: usize,
    ) -> impl Iterator<Item = usize> + Clone {
        let wanted = (tag, algorithm.0);
        let first = self.keys.partition_point(|key| key.place() < wanted);
        let end = self.keys.partition_point(|key| key.place() <= wanted);
        first.max(from)..end
    }

    /// True where the key can verify, and may sign records of a type: revoked keys sign nothing but the keys. RFC 5011 2.1.
    pub(super) fn may_sign(&self, index: usize, rtype: RecordType) -> bool {
        let key = &self.keys[index];
        key.public.is_ok() && (rtype == RecordType::DNSKEY || !key.dnskey.is_revoked())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ZoneKey<'z>> {
        self.keys.iter()
    }

    /// Algorithms with which every set has to be signed: those of keys that are supported and not revoked. RFC 4035 2.2.
    pub(super) fn required(&self) -> Vec<DnssecAlgorithm> {
        let usable = self.keys.iter().filter(|key| key.public.is_ok() && !key.dnskey.is_revoked());
        let mut algorithms: Vec<DnssecAlgorithm> = usable.map(|key| key.dnskey.algorithm).collect();
        algorithms.sort_by_key(|algorithm| algorithm.0);
        algorithms.dedup();
        algorithms
    }
}

impl<'z> ZoneKey<'z> {
    fn new(row: u32, data: &'z [u8]) -> Option<Self> {
        let dnskey = Dnskey::parse(data).ok().filter(Dnskey::is_zone_key)?;
        Some(Self { row, tag: dnskey.key_tag(), dnskey, public: dnskey.public_key() })
    }

    fn place(&self) -> (u16, u8) {
        (self.tag, self.dnskey.algorithm.0)
    }
}
