//! Whole zones verified: every signature, the chains that deny, delegations, and the zone's digest.
//!
//! | module | what it holds |
//! |---|---|
//! | `finding` | what is found, and how bad it is |
//! | `keys` | the zone's keys by tag |
//! | `signatures` | signatures of many sets, verified side by side |
//! | `structure` | what does not need keys: delegations, times to live, aliases |
//! | `nsec`, `nsec3` | chains without gaps |
//! | `zone_digest` | ZONEMD |
//! | `anchor` | whether what is known from elsewhere leads to the zone's keys |

mod anchor;
mod finding;
mod keys;
mod nsec;
mod nsec3;
mod signatures;
mod structure;
mod zone_digest;

use std::ops::Range;

use oarlock::{Accelerator, JobError};

pub use self::anchor::{AnchorData, TrustAnchor};
pub use self::finding::{FindingReason, Severity, VerifyCounts, VerifyReport, ZoneFinding};
use self::keys::ZoneKeys;
use crate::algorithm::DnssecAlgorithm;
use crate::name::DomainName;
use crate::rtype::RecordType;
use crate::sets::RecordSets;
use crate::zone_cut::{NameOwnership, NameOwnerships};

/// How a zone is looked at.
#[derive(Clone, Copy, Debug)]
pub struct VerifySettings {
    /// When: seconds since 1970 modulo 2^32.
    pub now: u32,
    /// Most keys of one tag and algorithm that a signature is tried with. Each costs a verification (CVE-2023-50387, KeyTrap).
    pub max_keys: usize,
    /// Most signatures of a set that are looked at: each hashes the whole set.
    pub max_signatures: usize,
    /// Most additional iterations of an NSEC3 chain that are computed. RFC 9276 3.2.
    pub max_iterations: u16,
}

impl VerifySettings {
    /// The defaults, at a point in time.
    #[must_use]
    pub fn at(now: u32) -> Self {
        Self { now, max_keys: 4, max_signatures: 32, max_iterations: 150 }
    }
}

/// Why there is no zone to verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneError {
    /// Nothing says which zone it is.
    #[error("no SOA record: nothing says which zone this is")]
    NoSoa,
}

/// A zone under verification. Names can be checked by any number of threads, a range each.
#[derive(Debug)]
pub struct ZoneVerifier<'z> {
    sets: &'z RecordSets<'z>,
    apex: DomainName<'z>,
    places: NameOwnerships,
    keys: ZoneKeys<'z>,
    /// Algorithms that every set is signed with.
    required: Vec<DnssecAlgorithm>,
    settings: VerifySettings,
}

impl<'z> ZoneVerifier<'z> {
    /// Finds the zone's name, its delegations and its keys.
    ///
    /// # Errors
    /// [`ZoneError::NoSoa`].
    pub fn new(sets: &'z RecordSets<'z>, settings: VerifySettings) -> Result<Self, ZoneError> {
        // The first in the file is the zone's, whatever else has strayed into it.
        let soa = |name: usize| Some((sets.of_type(name, RecordType::SOA)?.first()?, name));
        let (_, at) = (0..sets.name_count()).filter_map(soa).min().ok_or(ZoneError::NoSoa)?;
        let apex = sets.name(at);
        let places = NameOwnerships::new(sets, apex).ok_or(ZoneError::NoSoa)?;
        let keys = ZoneKeys::new(sets.of_type(at, RecordType::DNSKEY));
        let required = keys.required();
        Ok(Self { sets, apex, places, keys, required, settings })
    }

    /// The zone's own name.
    #[must_use]
    pub fn apex(&self) -> DomainName<'z> {
        self.apex
    }

    /// Number of names to check.
    #[must_use]
    pub fn name_count(&self) -> usize {
        self.sets.name_count()
    }

    /// Key tags of the zone's keys, with what each is.
    pub fn key_tags(&self) -> impl Iterator<Item = (u16, DnssecAlgorithm, u16)> {
        self.keys.iter().map(|key| (key.tag, key.dnskey.algorithm, key.dnskey.flags))
    }

    /// Verifies the signatures of names, and what can be said of each by itself.
    ///
    /// # Errors
    /// The machine failed. What is wrong with the zone is in the report.
    ///
    /// # Panics
    /// Where there are not so many names.
    pub fn check_names(
        &self,
        accelerator: &Accelerator,
        names: Range<usize>,
    ) -> Result<VerifyReport, JobError> {
        let mut report = VerifyReport::default();
        let mut batch = signatures::SignatureBatch::default();
        for name in names {
            self.check_structure(name, &mut report);
            let place = self.places.get(name);
            for set in self.sets.of_name(name) {
                if set.rtype == RecordType::RRSIG {
                    // RFC 4035 2.2: signatures are not signed.
                    for row in set.signatures.iter().filter(|_| place != NameOwnership::Outside) {
                        report.add(set.owner, set.rtype, Some(*row), FindingReason::NothingSigned);
                    }
                } else if place.signs(set.rtype) {
                    batch.add(self, set, &mut report)?;
                    if batch.is_full() {
                        std::mem::take(&mut batch).verify(self, accelerator, &mut report)?;
                    }
                } else if let (true, Some(row)) = (place != NameOwnership::Outside, set.signatures.first()) {
                    report.add(set.owner, set.rtype, Some(*row), FindingReason::SignedGlue);
                }
            }
        }
        batch.verify(self, accelerator, &mut report)?;
        Ok(report)
    }

    /// Checks what concerns the zone as a whole: its keys, the chains that deny, and copies of records.
    ///
    /// # Errors
    /// The machine failed.
    pub fn check_whole(&self, accelerator: &Accelerator) -> Result<VerifyReport, JobError> {
        let mut report = VerifyReport::default();
        for row in self.sets.duplicates() {
            let record = self.sets.records().get(*row as usize);
            report.add(record.owner, record.rtype, Some(*row), FindingReason::Duplicate);
            let set = self.sets.find(record.owner).ok().and_then(|at| self.sets.of_type(at, record.rtype));
            if let Some(ttl) = set.map(|set| set.ttl()).filter(|ttl| *ttl != record.ttl) {
                let reason = FindingReason::TtlMismatch(ttl, record.ttl);
                report.add(record.owner, record.rtype, Some(*row), reason);
            }
        }
        // A digest is of use without signatures too. RFC 8976 section 4.
        self.check_zone_digests(accelerator, &mut report)?;
        if self.keys.is_empty() {
            report.add(self.apex, RecordType::DNSKEY, None, FindingReason::Unsigned);
            return Ok(report);
        }
        self.check_keys(&mut report);
        self.check_denial(accelerator, &mut report)?;
        Ok(report)
    }

    /// Keys that are none, and whether any key verifies records.
    fn check_keys(&self, report: &mut VerifyReport) {
        for key in self.keys.iter() {
            let reason = match &key.public {
                Err(error) if !error.is_unsupported() => FindingReason::UnusableKey(error.clone()),
                Ok(_) if self.required.is_empty() => FindingReason::RevokedKey,
                _ => continue,
            };
            report.add(self.apex, RecordType::DNSKEY, Some(key.row), reason).key_tag = Some(key.tag);
        }
        if self.required.is_empty() {
            report.add(self.apex, RecordType::DNSKEY, None, FindingReason::NothingSupported);
        }
    }

    fn check_denial(&self, accelerator: &Accelerator, report: &mut VerifyReport) -> Result<(), JobError> {
        let apex = self.places.apex();
        let has_nsec = self.sets.of_type(apex, RecordType::NSEC).is_some();
        let parameters = self.sets.of_type(apex, RecordType::NSEC3PARAM);
        if !has_nsec && parameters.is_none() {
            report.add(self.apex, RecordType::NSEC, None, FindingReason::NoDenial);
        }
        if has_nsec {
            self.check_nsec(report);
        }
        self.check_nsec3(accelerator, parameters, report)
    }
}
