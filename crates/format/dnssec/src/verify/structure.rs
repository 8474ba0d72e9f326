//! Checks of a name without keys: its ownership, times to live, aliases and delegations.

use super::ZoneVerifier;
use super::finding::{FindingReason, VerifyReport};
use crate::ds::Ds;
use crate::name::DomainName;
use crate::rrsig::Rrsig;
use crate::rtype::RecordType;
use crate::sets::RecordSet;
use crate::zone_cut::NameOwnership;

impl<'z> ZoneVerifier<'z> {
    pub(super) fn check_structure(&self, name: usize, report: &mut VerifyReport) {
        let ownership = self.ownerships.get(name);
        if ownership == NameOwnership::Outside {
            return self.report_outside(name, report);
        }
        if ownership.is_in_chain() {
            report.counts.names += 1;
        }
        let mut types = 0;
        let mut alias = None;
        for set in self.sets.of_name(name) {
            self.check_ttls(set, report);
            match set.rtype {
                RecordType::CNAME if set.records.is_empty() => {}
                // Further CNAME records count as other records: a name has one alias. RFC 2181 10.1.
                RecordType::CNAME => {
                    alias = set.first();
                    types += set.records.len() - 1;
                }
                RecordType::NSEC | RecordType::NSEC3 | RecordType::RRSIG => {}
                _ if set.records.is_empty() => {}
                _ => types += 1,
            }
        }
        if let Some(row) = alias.filter(|_| types > 0 && ownership != NameOwnership::Below) {
            report.add(
                self.sets.name(name),
                RecordType::CNAME,
                Some(row as u32),
                FindingReason::AliasBesideOthers,
            );
        }
        match ownership {
            NameOwnership::Apex => self.check_apex(name, report),
            NameOwnership::Cut => self.check_delegation(name, report),
            NameOwnership::Inside => self.check_inside(name, report),
            _ => {}
        }
    }

    fn report_outside(&self, name: usize, report: &mut VerifyReport) {
        for set in self.sets.of_name(name) {
            for row in set.records.iter().chain(set.signatures) {
                report.add(set.owner, set.rtype, Some(*row), FindingReason::OutOfZone);
            }
        }
    }

    fn check_ttls(&self, set: RecordSet<'z>, report: &mut VerifyReport) {
        let ttl = set.ttl();
        let records = self.sets.records();
        let other = set.records.iter().find(|row| records.get(**row as usize).ttl != ttl);
        if let Some(row) = other {
            let reason = FindingReason::TtlMismatch(ttl, records.get(*row as usize).ttl);
            report.add(set.owner, set.rtype, Some(*row), reason);
        }
        for row in set.signatures.iter().filter(|_| !set.records.is_empty()) {
            let Ok(rrsig) = Rrsig::read(records.get(*row as usize).data) else { continue };
            if rrsig.original_ttl != ttl {
                let reason = FindingReason::OriginalTtl { signed: rrsig.original_ttl, found: ttl };
                report.add(set.owner, set.rtype, Some(*row), reason).key_tag = Some(rrsig.key_tag);
            }
        }
    }

    fn check_apex(&self, name: usize, report: &mut VerifyReport) {
        let soa = self.sets.of_type(name, RecordType::SOA).map_or(0, |set| set.records.len());
        if soa > 1 {
            report.add(self.apex, RecordType::SOA, None, FindingReason::SeveralSoa(soa));
        }
        if self.sets.of_type(name, RecordType::NS).is_none() {
            report.add(self.apex, RecordType::NS, None, FindingReason::NoNameServers);
        }
        if let Some(ds) = self.sets.of_type(name, RecordType::DS) {
            report.add(
                self.apex,
                RecordType::DS,
                ds.records.first().copied(),
                FindingReason::DsWithoutDelegation,
            );
        }
    }

    fn check_inside(&self, name: usize, report: &mut VerifyReport) {
        for (rtype, reason) in
            [(RecordType::SOA, FindingReason::SoaBelow), (RecordType::DS, FindingReason::DsWithoutDelegation)]
        {
            if let Some(set) = self.sets.of_type(name, rtype) {
                report.add(set.owner, rtype, set.records.first().copied(), reason);
            }
        }
    }

    fn check_delegation(&self, name: usize, report: &mut VerifyReport) {
        report.counts.delegations += 1;
        if let Some(ds) = self.sets.of_type(name, RecordType::DS) {
            report.counts.secure_delegations += 1;
            self.check_ds(ds, report);
        }
        let Some(servers) = self.sets.of_type(name, RecordType::NS) else { return };
        for (row, server) in servers.records.iter().zip(servers.data()) {
            let Ok(server) = DomainName::new(server) else { continue };
            // Resolvers find a server below its own delegation by the glue only. RFC 1034 4.2.1.
            if server.is_at_or_below(servers.owner) && !self.has_address(server) {
                report.add(
                    servers.owner,
                    RecordType::NS,
                    Some(*row),
                    FindingReason::MissingGlue(server.to_buf()),
                );
            }
        }
    }

    fn check_ds(&self, set: RecordSet<'z>, report: &mut VerifyReport) {
        for (row, data) in set.records.iter().zip(set.data()) {
            if let Err(error) = Ds::parse(data) {
                report.add(set.owner, RecordType::DS, Some(*row), FindingReason::MalformedDs(error));
            }
        }
    }

    fn has_address(&self, server: DomainName<'_>) -> bool {
        let has = |at: usize| {
            [RecordType::A, RecordType::AAAA].iter().any(|rtype| self.sets.of_type(at, *rtype).is_some())
        };
        self.sets.find(server).is_ok_and(has)
    }
}
