//! What can be said of a name without keys: where it stands, its times to live, aliases and delegations.

use super::Verifier;
use super::finding::{Reason, Report};
use crate::ds::Ds;
use crate::name::Name;
use crate::rrsig::Rrsig;
use crate::rtype::Type;
use crate::sets::Set;
use crate::zone_cut::Place;

impl<'z> Verifier<'z> {
    pub(super) fn check_structure(&self, name: usize, report: &mut Report) {
        let place = self.places.get(name);
        if place == Place::Outside {
            return self.report_outside(name, report);
        }
        if place.is_in_chain() {
            report.counts.names += 1;
        }
        let mut types = 0;
        let mut alias = None;
        for set in self.sets.of_name(name) {
            self.check_ttls(set, report);
            match set.rtype {
                Type::CNAME if set.records.is_empty() => {}
                Type::CNAME => {
                    alias = set.first();
                    types += set.records.len() - 1;
                }
                Type::NSEC | Type::NSEC3 | Type::RRSIG => {}
                _ if set.records.is_empty() => {}
                _ => types += 1,
            }
        }
        if let Some(row) = alias.filter(|_| types > 0 && place != Place::Below) {
            report.add(self.sets.name(name), Type::CNAME, Some(row as u32), Reason::AliasBesideOthers);
        }
        match place {
            Place::Apex => self.check_apex(name, report),
            Place::Cut => self.check_delegation(name, report),
            Place::Inside => self.check_inside(name, report),
            _ => {}
        }
    }

    fn report_outside(&self, name: usize, report: &mut Report) {
        for set in self.sets.of_name(name) {
            for row in set.records.iter().chain(set.signatures) {
                report.add(set.owner, set.rtype, Some(*row), Reason::OutOfZone);
            }
        }
    }

    fn check_ttls(&self, set: Set<'z>, report: &mut Report) {
        let ttl = set.ttl();
        let records = self.sets.records();
        let other = set.records.iter().find(|row| records.get(**row as usize).ttl != ttl);
        if let Some(row) = other {
            let reason = Reason::TtlMismatch(ttl, records.get(*row as usize).ttl);
            report.add(set.owner, set.rtype, Some(*row), reason);
        }
        for row in set.signatures.iter().filter(|_| !set.records.is_empty()) {
            let Ok(rrsig) = Rrsig::read(records.get(*row as usize).data) else { continue };
            if rrsig.original_ttl != ttl {
                let reason = Reason::OriginalTtl { signed: rrsig.original_ttl, found: ttl };
                report.add(set.owner, set.rtype, Some(*row), reason).key_tag = Some(rrsig.key_tag);
            }
        }
    }

    fn check_apex(&self, name: usize, report: &mut Report) {
        let soa = self.sets.of_type(name, Type::SOA).map_or(0, |set| set.records.len());
        if soa > 1 {
            report.add(self.apex, Type::SOA, None, Reason::SeveralSoa(soa));
        }
        if self.sets.of_type(name, Type::NS).is_none() {
            report.add(self.apex, Type::NS, None, Reason::NoNameServers);
        }
        if let Some(ds) = self.sets.of_type(name, Type::DS) {
            report.add(self.apex, Type::DS, ds.records.first().copied(), Reason::DsWithoutDelegation);
        }
    }

    fn check_inside(&self, name: usize, report: &mut Report) {
        for (rtype, reason) in [(Type::SOA, Reason::SoaBelow), (Type::DS, Reason::DsWithoutDelegation)] {
            if let Some(set) = self.sets.of_type(name, rtype) {
                report.add(set.owner, rtype, set.records.first().copied(), reason);
            }
        }
    }

    fn check_delegation(&self, name: usize, report: &mut Report) {
        report.counts.delegations += 1;
        if let Some(ds) = self.sets.of_type(name, Type::DS) {
            report.counts.secure_delegations += 1;
            self.check_ds(ds, report);
        }
        let Some(servers) = self.sets.of_type(name, Type::NS) else { return };
        for (row, server) in servers.records.iter().zip(servers.data()) {
            let Ok(server) = Name::new(server) else { continue };
            if server.is_at_or_below(servers.owner) && !self.has_address(server) {
                report.add(servers.owner, Type::NS, Some(*row), Reason::MissingGlue(server.to_buf()));
            }
        }
    }

    fn check_ds(&self, set: Set<'z>, report: &mut Report) {
        for (row, data) in set.records.iter().zip(set.data()) {
            if let Err(error) = Ds::parse(data) {
                report.add(set.owner, Type::DS, Some(*row), Reason::MalformedDs(error));
            }
        }
    }

    fn has_address(&self, server: Name<'_>) -> bool {
        let has =
            |at: usize| [Type::A, Type::AAAA].iter().any(|rtype| self.sets.of_type(at, *rtype).is_some());
        self.sets.find(server).is_ok_and(has)
    }
}
