//! A zone that is complete except for its signatures.

use std::fmt;

use oarlock::Accelerator;

use super::check::{self, is_of_signing};
use super::keys::{SignerKey, SigningKeys};
use super::options::{DenialMethod, SignOptions};
use super::soa::SoaData;
use super::{
    RecordLocation, ZoneChange, ZoneChanges, ZoneSignError, load_rules, nsec, nsec3, presigned, seal,
};
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::Dnskey;
use crate::name::{DomainName, DomainNameBuf};
use crate::records::{OwnerId, ZoneRecords};
use crate::rtype::RecordType;
use crate::sets::{RecordSet, RecordSets};
use crate::zone_cut::{NameOwnership, NameOwnerships};

/// A zone ready to be signed: earlier signatures and chains are removed, its keys and a new chain are added.
pub struct ZoneDraft {
    pub(super) records: ZoneRecords,
    pub(super) apex: DomainNameBuf,
    pub(super) ring: SigningKeys,
    pub(super) options: SignOptions,
    changes: ZoneChanges,
    serial: u32,
}

impl ZoneDraft {
    /// Completes a zone, on this thread. The zone's name is the owner of its SOA record. `previous` is the last signed
    /// version of the zone. The new serial number follows the serial numbers of both.
    ///
    /// # Errors
    /// The zone violates a rule, or the options do not fit it.
    pub fn new(
        accelerator: &Accelerator,
        zone: &ZoneRecords,
        keys: Vec<SignerKey>,
        options: SignOptions,
        previous: Option<&ZoneRecords>,
    ) -> Result<Self, ZoneSignError> {
        options.check()?;
        let ring = SigningKeys::new(presigned::signing_keys(&options.presigned, keys)?)?;
        let replaced = replaced(zone, &options)?;
        let sets = RecordSets::new(replaced.as_ref().unwrap_or(zone));
        let source = SourceZone::find(&sets)?;
        // Checks come before copies, so that a bad zone costs little.
        let mut changes = ZoneChanges::default();
        check::zone(&sets, &source.ownerships, &mut changes)?;
        let algorithms: Vec<u8> = ring.in_use().map(|key| key.algorithm().number()).collect();
        load_rules::check(&sets, &source.ownerships, &algorithms, options.load_rules, &mut changes)?;
        source.check_keys(&ring, &options, &mut changes)?;
        let serial =
            options.serial.next(source.soa.serial, previous.and_then(last_serial), options.lifetime.now);
        let mut records =
            DraftBuilder { source: &source, ring: &ring, options: &options, serial }.build(&mut changes)?;
        let (apex, ttl) = (source.apex().to_buf(), source.denial_ttl());
        match &options.denial {
            DenialMethod::Nsec => nsec::add_chain(&mut records, apex.name(), ttl)?,
            DenialMethod::Nsec3(nsec3) => {
                nsec3::add_chain(accelerator, &mut records, apex.name(), ttl, nsec3)?;
            }
        }
        Ok(Self { records, apex, ring, options, changes, serial })
    }

    /// Returns the name of the zone.
    #[must_use]
    pub fn apex(&self) -> DomainName<'_> {
        self.apex.name()
    }

    /// Returns the serial number of the zone.
    #[must_use]
    pub fn serial(&self) -> u32 {
        self.serial
    }

    /// Returns all records except signatures. Zone digests are zeros until `SigningPlan::seal` computes them.
    #[must_use]
    pub fn records(&self) -> &ZoneRecords {
        &self.records
    }

    /// Returns all keys, in the order of their signatures.
    #[must_use]
    pub fn keys(&self) -> &[SignerKey] {
        self.ring.keys()
    }

    /// Returns the differences from the given zone.
    #[must_use]
    pub fn changes(&self) -> &ZoneChanges {
        &self.changes
    }
}

/// The zone as the caller gave it.
struct SourceZone<'z> {
    sets: &'z RecordSets<'z>,
    ownerships: NameOwnerships,
    soa: SoaData<'z>,
    soa_ttl: u32,
}

impl<'z> SourceZone<'z> {
    fn find(sets: &'z RecordSets<'z>) -> Result<Self, ZoneSignError> {
        let records = sets.records();
        // The first SOA record is that of the zone. A later one below it is reported as a second one.
        let row =
            records.iter().position(|record| record.rtype == RecordType::SOA).ok_or(ZoneSignError::NoSoa)?;
        let record = records.get(row);
        let soa = SoaData::read(record.data)
            .ok_or_else(|| ZoneSignError::MalformedSoa(RecordLocation::at_row(records, row)))?;
        let ownerships = NameOwnerships::new(sets, record.owner).ok_or(ZoneSignError::NoSoa)?;
        Ok(Self { sets, ownerships, soa, soa_ttl: record.ttl })
    }

    fn apex(&self) -> DomainName<'z> {
        self.sets.name(self.ownerships.apex())
    }

    fn denial_ttl(&self) -> u32 {
        self.soa.denial_ttl(self.soa_ttl)
    }

    fn published(&self) -> impl Iterator<Item = &'z [u8]> {
        self.sets.of_type(self.ownerships.apex(), RecordType::DNSKEY).into_iter().flat_map(|set| set.data())
    }

    /// Checks the published keys against the signing keys. A published key may have an algorithm that signs nothing,
    /// but it must not contradict a signing key.
    fn check_keys(
        &self,
        ring: &SigningKeys,
        options: &SignOptions,
        changes: &mut ZoneChanges,
    ) -> Result<(), ZoneSignError> {
        for key in ring.in_use() {
            let (algorithm, dnskey) = (key.algorithm(), Dnskey::parse(key.dnskey())?);
            if matches!(options.denial, DenialMethod::Nsec3(_)) && algorithm == DnssecAlgorithm::RSASHA1 {
                return Err(ZoneSignError::NoNsec3(algorithm));
            }
            if matches!(algorithm, DnssecAlgorithm::RSASHA1 | DnssecAlgorithm::RSASHA1_NSEC3_SHA1) {
                changes.add_at_apex(ZoneChange::Sha1, self.apex(), RecordType::DNSKEY);
            }
            // A published copy with other flags has another tag, so signatures would point to a key that is not there.
            let mut published = self
                .published()
                .filter(|data| !ring.replaces(data))
                .filter_map(|data| Dnskey::parse(data).ok())
                .filter(|other| other.has_same_key(&dnskey))
                .peekable();
            if let Some(Dnskey { flags, .. }) = published.peek().copied()
                && !published.any(|other| other.flags == dnskey.flags)
            {
                return Err(ZoneSignError::Flags { tag: key.tag(), published: flags, given: dnskey.flags });
            }
        }
        let others = self.published().filter(|data| !ring.replaces(data));
        let others = others.filter_map(|data| Dnskey::parse(data).ok());
        for _ in others.filter(|key| key.is_zone_key() && !ring.has_algorithm(key.algorithm)) {
            changes.add_at_apex(ZoneChange::UnusedAlgorithm, self.apex(), RecordType::DNSKEY);
        }
        if matches!(&options.denial, DenialMethod::Nsec3(nsec3) if nsec3.iterations > 0) {
            changes.add_at_apex(ZoneChange::Iterations, self.apex(), RecordType::NSEC3PARAM);
        }
        Ok(())
    }
}

/// Copies a zone in canonical order, and adds the records that signing needs.
struct DraftBuilder<'z> {
    source: &'z SourceZone<'z>,
    ring: &'z SigningKeys,
    options: &'z SignOptions,
    serial: u32,
}

impl DraftBuilder<'_> {
    fn build(&self, changes: &mut ZoneChanges) -> Result<ZoneRecords, ZoneSignError> {
        let mut records = ZoneRecords::new();
        for (index, ownership) in self.source.ownerships.iter().enumerate() {
            if ownership == NameOwnership::Outside {
                self.drop_name(index, changes);
                continue;
            }
            let mut owner = None;
            for set in self.source.sets.of_name(index).filter(|set| is_kept(set, ownership)) {
                let id = match owner {
                    Some(id) => id,
                    None => *owner.insert(records.add_owner(set.owner)?),
                };
                self.copy(set, ownership, id, &mut records, changes)?;
            }
            if let (NameOwnership::Apex, Some(owner)) = (ownership, owner) {
                self.add_at_apex(owner, &mut records, changes)?;
            }
        }
        Ok(records)
    }

    fn drop_name(&self, index: usize, changes: &mut ZoneChanges) {
        let zone = self.source.sets.records();
        for row in self.source.sets.of_name(index).flat_map(|set| set.records) {
            changes.add(ZoneChange::OutOfZone, || RecordLocation::at_row(zone, *row as usize));
        }
    }

    /// Copies a set with the lowest time to live of its records. RFC 2181 5.2.
    fn copy(
        &self,
        set: RecordSet<'_>,
        ownership: NameOwnership,
        owner: OwnerId,
        records: &mut ZoneRecords,
        changes: &mut ZoneChanges,
    ) -> Result<(), ZoneSignError> {
        let zone = self.source.sets.records();
        let ttls = || set.records.iter().map(|row| zone.get(*row as usize).ttl);
        let ttl = ttls().min().unwrap_or(0);
        if let Some(other) = ttls().position(|other| other != set.ttl()) {
            changes.add(ZoneChange::Ttl, || RecordLocation::at_row(zone, set.records[other] as usize));
        }
        for row in set.records {
            let record = zone.get(*row as usize);
            if (ownership, set.rtype) == (NameOwnership::Apex, RecordType::DNSKEY)
                && self.ring.replaces(record.data)
            {
                continue;
            }
            records.add(owner, set.rtype, ttl, record.line, |out| {
                match (ownership, set.rtype) {
                    (NameOwnership::Apex, RecordType::SOA) => self.source.soa.write(self.serial, out),
                    _ => out.extend_from_slice(record.data),
                }
                Ok::<_, ZoneSignError>(())
            })?;
        }
        Ok(())
    }

    /// Adds unpublished keys, the hash parameters, and placeholders for the zone digests.
    fn add_at_apex(
        &self,
        owner: OwnerId,
        records: &mut ZoneRecords,
        changes: &mut ZoneChanges,
    ) -> Result<(), ZoneSignError> {
        let SourceZone { sets, ownerships, soa_ttl, .. } = self.source;
        let mut add = |rtype, ttl, data: &[u8]| {
            records.add(owner, rtype, ttl, 0, |out| {
                out.extend_from_slice(data);
                Ok::<_, ZoneSignError>(())
            })
        };
        let keys = sets.of_type(ownerships.apex(), RecordType::DNSKEY);
        let keys_ttl =
            keys.and_then(|set| set.records.iter().map(|row| sets.records().get(*row as usize).ttl).min());
        for key in self.ring.keys().iter().filter(|key| key.phase().is_published()) {
            if !self.source.published().any(|data| data == key.dnskey()) {
                add(RecordType::DNSKEY, keys_ttl.unwrap_or(*soa_ttl), key.dnskey())?;
            }
        }
        if let DenialMethod::Nsec3(options) = &self.options.denial {
            // Resolvers do not look it up, so it need not be cached. dnssec-signzone sets 0 too.
            add(RecordType::NSEC3PARAM, 0, &nsec3::parameters(options, 0))?;
        }
        for algorithm in &self.options.zone_digests {
            add(RecordType::ZONEMD, *soa_ttl, &seal::placeholder(self.serial, *algorithm)?)?;
        }
        if let Some(old) = sets.of_type(ownerships.apex(), RecordType::ZONEMD)
            && self.options.zone_digests.is_empty()
        {
            changes.add(ZoneChange::ZoneDigest, || {
                RecordLocation::at_row(sets.records(), old.records[0] as usize)
            });
        }
        Ok(())
    }
}

fn is_kept(set: &RecordSet<'_>, ownership: NameOwnership) -> bool {
    let is_old_digest = ownership == NameOwnership::Apex && set.rtype == RecordType::ZONEMD;
    !set.records.is_empty() && !is_of_signing(set.rtype) && !is_old_digest
}

/// Returns the zone with the sets that were signed elsewhere, if there are any.
fn replaced(zone: &ZoneRecords, options: &SignOptions) -> Result<Option<ZoneRecords>, ZoneSignError> {
    if options.presigned.is_empty() {
        return Ok(None);
    }
    let soa = zone.iter().find(|record| record.rtype == RecordType::SOA).ok_or(ZoneSignError::NoSoa)?;
    Ok(Some(presigned::replace(zone, soa.owner, &options.presigned)?))
}

/// Returns the serial number of a zone, if it has an SOA record.
fn last_serial(zone: &ZoneRecords) -> Option<u32> {
    let soa = zone.iter().find(|record| record.rtype == RecordType::SOA)?;
    SoaData::read(soa.data).map(|soa| soa.serial)
}

impl fmt::Debug for ZoneDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ZoneDraft({} serial {}: {} records)", self.apex, self.serial, self.records.len())
    }
}
