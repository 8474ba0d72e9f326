//! Chains of NSEC3 records. RFC 5155 7.1.

use oarlock::{Accelerator, JobError};

use super::ZoneVerifier;
use super::finding::{FindingReason, VerifyReport};
use super::nsec::wrong_types;
use crate::base32hex::{read_base32hex, write_base32hex};
use crate::name::DomainName;
use crate::nsec3::{Nsec3, Nsec3Parameters};
use crate::nsec3_hash::{NSEC3_HASH_LEN, NSEC3_SHA1, Nsec3Hash, hash_names};
use crate::rtype::RecordType;
use crate::sets::RecordSet;
use crate::zone_cut::{NameOwnership, empty_names};

/// The maximum number of chains that are checked. A zone that is changing its parameters has two.
const MAX_CHAINS: usize = 4;

/// An NSEC3 record of the checked chain.
struct Nsec3Record<'z> {
    hash: Nsec3Hash,
    owner: DomainName<'z>,
    row: u32,
    nsec3: Nsec3<'z>,
    is_needed: bool,
}

/// A name that must have an NSEC3 record, and the hash of that name.
struct ExpectedHash<'z> {
    name: DomainName<'z>,
    /// The index of the name; None for an empty non-terminal.
    index: Option<usize>,
    /// True for insecure delegations, and for empty non-terminals with nothing but insecure delegations below.
    may_be_left_out: bool,
}

impl<'z> ZoneVerifier<'z> {
    /// Checks that every name of the zone and every empty non-terminal has an NSEC3 record, and that the records form
    /// a ring. A chain with opt-out may omit insecure delegations.
    pub(super) fn check_nsec3(
        &self,
        accelerator: &Accelerator,
        parameters: Option<RecordSet<'z>>,
        report: &mut VerifyReport,
    ) -> Result<(), JobError> {
        let mut all = Vec::new();
        for (row, data) in parameters.iter().flat_map(|set| set.records.iter().zip(set.data())) {
            match Nsec3Parameters::read(data) {
                // RFC 5155 4.1.2: a record with flags is not in use.
                Some((parameters, 0)) => all.push((*row, parameters)),
                Some(_) => {}
                None => {
                    report.add(self.apex, RecordType::NSEC3PARAM, Some(*row), FindingReason::MalformedDenial);
                }
            }
        }
        // Each chain hashes every name of the zone, so their number bounds the work.
        if let Some((row, _)) = all.get(MAX_CHAINS) {
            let reason = FindingReason::TooManyChains { found: all.len(), max: MAX_CHAINS };
            report.add(self.apex, RecordType::NSEC3PARAM, Some(*row), reason);
            return Ok(());
        }
        let links = self.read_records(&all, report);
        for (row, parameters) in all {
            if self.is_computed(row, parameters, report) {
                let links = links.iter().filter(|link| link.nsec3.parameters == parameters);
                self.check_ring(accelerator, parameters, links.map(Nsec3Record::copy).collect(), report)?;
            }
        }
        Ok(())
    }

    /// Returns true if the hashes can be computed, and reports parameters that are unsupported or not recommended.
    fn is_computed(&self, row: u32, parameters: Nsec3Parameters<'_>, report: &mut VerifyReport) -> bool {
        let max = self.settings.max_iterations;
        let found = parameters.iterations;
        if parameters.algorithm != NSEC3_SHA1 {
            let reason = FindingReason::UnknownHash(parameters.algorithm);
            report.add(self.apex, RecordType::NSEC3PARAM, Some(row), reason);
            return false;
        }
        if found > max {
            report.add(
                self.apex,
                RecordType::NSEC3PARAM,
                Some(row),
                FindingReason::TooManyIterations { found, max },
            );
            return false;
        }
        if found > 0 {
            report.add(self.apex, RecordType::NSEC3PARAM, Some(row), FindingReason::Iterations(found));
        }
        true
    }

    /// Returns the NSEC3 records of the zone. Records with other parameters are reported.
    fn read_records(
        &self,
        all: &[(u32, Nsec3Parameters<'_>)],
        report: &mut VerifyReport,
    ) -> Vec<Nsec3Record<'z>> {
        let mut links = Vec::new();
        for name in 0..self.sets.name_count() {
            let Some(set) = self.sets.of_type(name, RecordType::NSEC3) else { continue };
            if self.ownerships.get(name) == NameOwnership::Below {
                report.add(
                    set.owner,
                    RecordType::NSEC3,
                    set.records.first().copied(),
                    FindingReason::NeedlessDenial,
                );
                continue;
            }
            for (row, data) in set.records.iter().zip(set.data()) {
                let fault = match read_record(set.owner, self.apex, *row, data) {
                    Some(link) if all.iter().any(|(_, listed)| *listed == link.nsec3.parameters) => {
                        links.push(link);
                        continue;
                    }
                    Some(_) => FindingReason::Parameters,
                    None => FindingReason::MalformedDenial,
                };
                report.add(set.owner, RecordType::NSEC3, Some(*row), fault);
            }
        }
        links
    }

    fn check_ring(
        &self,
        accelerator: &Accelerator,
        parameters: Nsec3Parameters<'_>,
        mut links: Vec<Nsec3Record<'z>>,
        report: &mut VerifyReport,
    ) -> Result<(), JobError> {
        links.sort_by_key(|link| link.hash);
        // The last record leads back to the first one.
        for (link, next) in links.iter().zip(links.iter().cycle().skip(1)) {
            if link.nsec3.next != next.hash {
                let reason = FindingReason::Gap { expected: text(&next.hash), found: text(link.nsec3.next) };
                report.add(link.owner, RecordType::NSEC3, Some(link.row), reason);
            }
        }
        let expected = self.expected_names();
        let names = expected.iter().map(|one| one.name);
        let hashes = hash_names(accelerator, names, parameters.salt, parameters.iterations)?;
        for (one, hash) in expected.iter().zip(hashes) {
            self.check_expected(one, &hash, &mut links, report);
        }
        for link in links.iter().filter(|link| !link.is_needed) {
            report.add(link.owner, RecordType::NSEC3, Some(link.row), FindingReason::NeedlessDenial);
        }
        Ok(())
    }

    /// Returns all names that must have an NSEC3 record.
    fn expected_names(&self) -> Vec<ExpectedHash<'z>> {
        let mut expected = Vec::new();
        for (index, ownership) in
            self.ownerships.iter().enumerate().filter(|(_, ownership)| ownership.is_in_chain())
        {
            let is_secure =
                ownership != NameOwnership::Cut || self.sets.of_type(index, RecordType::DS).is_some();
            let name = self.sets.name(index);
            expected.push(ExpectedHash { name, index: Some(index), may_be_left_out: !is_secure });
        }
        empty_names(self.sets, &self.ownerships, |empty| {
            let may_be_left_out = empty.may_be_left_out;
            expected.push(ExpectedHash { name: empty.name, index: None, may_be_left_out });
        });
        expected
    }

    fn check_expected(
        &self,
        one: &ExpectedHash<'z>,
        hash: &Nsec3Hash,
        links: &mut [Nsec3Record<'z>],
        report: &mut VerifyReport,
    ) {
        let found = links.binary_search_by_key(hash, |link| link.hash);
        match found {
            Ok(at) => {
                links[at].is_needed = true;
                let bitmap = self.hashed_types(one);
                let link = &links[at];
                // A bitmap has exactly one encoding, so equal sets of types have equal bytes.
                if bitmap != link.nsec3.types.as_bytes() {
                    let reason = wrong_types(&bitmap, link.nsec3.types);
                    report.add(one.name, RecordType::NSEC3, Some(link.row), reason);
                }
            }
            // The record before the position covers the hash. Before the first record, the ring continues at the last
            // one.
            Err(at) => {
                let covers = links.get(at.wrapping_sub(1)).or(links.last());
                let is_covered = covers.is_some_and(|link| link.nsec3.is_opt_out());
                if !(one.may_be_left_out && is_covered) {
                    report.add(
                        one.name,
                        RecordType::NSEC3,
                        None,
                        FindingReason::MissingDenial(RecordType::NSEC3),
                    );
                }
            }
        }
    }

    /// Returns the types in the NSEC3 record of a name, with RRSIG if a set of the name is signed. RFC 5155 7.1.
    fn hashed_types(&self, one: &ExpectedHash<'_>) -> Vec<u8> {
        match one.index {
            // An empty non-terminal has no types.
            None => Vec::new(),
            Some(index) if one.may_be_left_out => self.types_of(index, []),
            Some(index) => self.types_of(index, [RecordType::RRSIG]),
        }
    }
}

impl Nsec3Record<'_> {
    fn copy(&self) -> Self {
        Self { is_needed: false, ..*self }
    }
}

/// Reads a record of a chain. Its owner is a hash below the apex.
fn read_record<'z>(
    owner: DomainName<'z>,
    apex: DomainName<'_>,
    row: u32,
    data: &'z [u8],
) -> Option<Nsec3Record<'z>> {
    let nsec3 = Nsec3::read(data).filter(|nsec3| nsec3.next.len() == NSEC3_HASH_LEN)?;
    if owner.parent() != Some(apex) {
        return None;
    }
    let mut hash = Vec::with_capacity(NSEC3_HASH_LEN);
    read_base32hex(owner.labels().next()?, &mut hash)?;
    Some(Nsec3Record { hash: hash.try_into().ok()?, owner, row, nsec3, is_needed: false })
}

fn text(hash: &[u8]) -> String {
    let mut text = Vec::new();
    write_base32hex(hash, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
