//! The keys of a zone, by tag and algorithm.

use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::{Dnskey, DnskeyError, ZonePublicKey};
use crate::rtype::RecordType;
use crate::sets::RecordSet;

/// A key of the zone.
#[derive(Debug)]
pub(super) struct VerifyKey<'z> {
    /// The index of its DNSKEY record.
    pub(super) row: u32,
    pub(super) tag: u16,
    pub(super) dnskey: Dnskey<'z>,
    pub(super) public: Result<ZonePublicKey, DnskeyError>,
}

/// The keys of the zone that may sign records.
#[derive(Debug, Default)]
pub(super) struct VerifyKeys<'z> {
    /// The keys, sorted by tag and algorithm.
    keys: Vec<VerifyKey<'z>>,
}

impl<'z> VerifyKeys<'z> {
    /// Reads the keys of the DNSKEY set. Records that are too short are skipped. Keys of experimental algorithms are
    /// unsupported unless they are allowed.
    pub(super) fn new(set: Option<RecordSet<'z>>, takes_experimental: bool) -> Self {
        let rows = set.iter().flat_map(|set| set.records.iter().copied().zip(set.data()));
        let mut keys: Vec<VerifyKey<'z>> =
            rows.filter_map(|(row, data)| VerifyKey::new(row, data, takes_experimental)).collect();
        keys.sort_by_key(VerifyKey::sort_key);
        Self { keys }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> &VerifyKey<'z> {
        &self.keys[index]
    }

    /// Returns the indices of the keys with a tag, from `from` on.
    pub(super) fn with_tag(
        &self,
        tag: u16,
        algorithm: DnssecAlgorithm,
        from: usize,
    ) -> impl Iterator<Item = usize> + Clone {
        let wanted = (tag, algorithm.0);
        let first = self.keys.partition_point(|key| key.sort_key() < wanted);
        let end = self.keys.partition_point(|key| key.sort_key() <= wanted);
        first.max(from)..end
    }

    /// Returns true if the key can verify and may sign records of a type. Revoked keys sign the keys only. RFC 5011
    /// 2.1.
    pub(super) fn may_sign(&self, index: usize, rtype: RecordType) -> bool {
        let key = &self.keys[index];
        key.public.is_ok() && (rtype == RecordType::DNSKEY || !key.dnskey.is_revoked())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &VerifyKey<'z>> {
        self.keys.iter()
    }

    /// Returns the algorithms of supported keys that are not revoked. Every set must be signed with each of them. RFC
    /// 4035 2.2.
    pub(super) fn required(&self) -> Vec<DnssecAlgorithm> {
        let usable = self.keys.iter().filter(|key| key.public.is_ok() && !key.dnskey.is_revoked());
        let mut algorithms: Vec<DnssecAlgorithm> = usable.map(|key| key.dnskey.algorithm).collect();
        algorithms.sort_by_key(|algorithm| algorithm.0);
        algorithms.dedup();
        algorithms
    }
}

impl<'z> VerifyKey<'z> {
    fn new(row: u32, data: &'z [u8], takes_experimental: bool) -> Option<Self> {
        let dnskey = Dnskey::parse(data).ok().filter(Dnskey::is_zone_key)?;
        let public = match dnskey.algorithm.is_experimental() && !takes_experimental {
            true => Err(DnskeyError::UnsupportedAlgorithm(dnskey.algorithm)),
            false => dnskey.public_key(),
        };
        Some(Self { row, tag: dnskey.key_tag(), dnskey, public })
    }

    fn sort_key(&self) -> (u16, u16) {
        (self.tag, self.dnskey.algorithm.0)
    }
}
