//! The keys of a zone, by tag and algorithm.

use crate::algorithm::Algorithm;
use crate::dnskey::{Dnskey, DnskeyError, PublicKey};
use crate::sets::Set;

/// A DNSKEY of the zone.
#[derive(Debug)]
pub(super) struct ZoneKey<'z> {
    pub(super) tag: u16,
    pub(super) dnskey: Dnskey<'z>,
    pub(super) public: Result<PublicKey, DnskeyError>,
}

/// The zone's keys that may sign records.
#[derive(Debug, Default)]
pub(super) struct ZoneKeys<'z> {
    keys: Vec<ZoneKey<'z>>,
}

impl<'z> ZoneKeys<'z> {
    /// Keys of the DNSKEY set; records that are too short for one are none.
    pub(super) fn new(set: Option<Set<'z>>) -> Self {
        let parse = |data| Dnskey::parse(data).ok().filter(Dnskey::is_zone_key);
        let keys = set.iter().flat_map(Set::data).filter_map(parse);
        let keys = keys.map(|dnskey| ZoneKey { tag: dnskey.key_tag(), dnskey, public: dnskey.public_key() });
        Self { keys: keys.collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> &ZoneKey<'z> {
        &self.keys[index]
    }

    /// Indices of the keys that may have made a signature, from one on.
    pub(super) fn with_tag(
        &self,
        tag: u16,
        algorithm: Algorithm,
        from: usize,
    ) -> impl Iterator<Item = usize> + Clone {
        let keys = self.keys.get(from..).unwrap_or_default();
        let fits = move |key: &ZoneKey<'_>| key.tag == tag && key.dnskey.algorithm == algorithm;
        keys.iter().enumerate().filter(move |(_, key)| fits(key)).map(move |(at, _)| from + at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ZoneKey<'z>> {
        self.keys.iter()
    }

    /// Algorithms with which every set has to be signed: those of keys that are supported and not revoked. RFC 4035 2.2.
    pub(super) fn required(&self) -> Vec<Algorithm> {
        let usable = self.keys.iter().filter(|key| key.public.is_ok() && !key.dnskey.is_revoked());
        let mut algorithms: Vec<Algorithm> = usable.map(|key| key.dnskey.algorithm).collect();
        algorithms.sort_by_key(|algorithm| algorithm.0);
        algorithms.dedup();
        algorithms
    }
}
