//! Verification of whole zones: every signature, the denial chains, the delegations, and the zone digest.
//!
//! | module | content |
//! |---|---|
//! | `finding` | findings and their severity |
//! | `keys` | the zone's keys by tag |
//! | `signatures` | signatures of many sets, verified in batches |
//! | `structure` | checks without keys: delegations, times to live, aliases |
//! | `nsec`, `nsec3` | chains without gaps |
//! | `zone_digest` | ZONEMD |
//! | `anchor` | trust anchors |

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
use self::keys::VerifyKeys;
pub(crate) use self::signatures::{VerifyTask, verify_all};
use crate::algorithm::DnssecAlgorithm;
use crate::name::DomainName;
use crate::rtype::RecordType;
use crate::sets::RecordSets;
use crate::zone_cut::{NameOwnership, NameOwnerships};

/// The settings of a verification.
#[derive(Clone, Copy, Debug)]
pub struct VerifySettings {
    /// The time of the verification, in seconds since 1970 modulo 2^32.
    pub now: u32,
    /// The maximum number of keys that are tried for a signature. Each costs a verification (CVE-2023-50387,
    /// KeyTrap).
    pub max_keys: usize,
    /// The maximum number of signatures that are checked for a set. Each hashes the whole set.
    pub max_signatures: usize,
    /// The maximum number of additional NSEC3 iterations that are computed. RFC 9276 3.2.
    pub max_iterations: u16,
    /// True if signatures of experimental algorithms count ([`DnssecAlgorithm::is_experimental`]). Otherwise they are
    /// unsupported.
    pub takes_experimental: bool,
}

impl VerifySettings {
    /// Makes the default settings for a point in time.
    #[must_use]
    pub fn at(now: u32) -> Self {
        Self { now, max_keys: 4, max_signatures: 32, max_iterations: 150, takes_experimental: false }
    }
}

/// An error of records that are not a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZoneError {
    /// The records have no SOA record, so the name of the zone is unknown.
    #[error("no SOA record, so the name of the zone is unknown")]
    NoSoa,
}

/// A zone under verification. Several threads may check a range of names each.
#[derive(Debug)]
pub struct ZoneVerifier<'z> {
    sets: &'z RecordSets<'z>,
    apex: DomainName<'z>,
    ownerships: NameOwnerships,
    keys: VerifyKeys<'z>,
    /// The algorithms with which every set must be signed.
    required: Vec<DnssecAlgorithm>,
    settings: VerifySettings,
}

impl<'z> ZoneVerifier<'z> {
    /// Finds the zone's name, its delegations and its keys.
    ///
    /// # Errors
    /// [`ZoneError::NoSoa`].
    pub fn new(sets: &'z RecordSets<'z>, settings: VerifySettings) -> Result<Self, ZoneError> {
        // The first SOA record in the file is that of the zone, even if records of other zones are in the file.
        let soa = |name: usize| Some((sets.of_type(name, RecordType::SOA)?.first()?, name));
        let (_, at) = (0..sets.name_count()).filter_map(soa).min().ok_or(ZoneError::NoSoa)?;
        let apex = sets.name(at);
        let ownerships = NameOwnerships::new(sets, apex).ok_or(ZoneError::NoSoa)?;
        let keys = VerifyKeys::new(sets.of_type(at, RecordType::DNSKEY), settings.takes_experimental);
        let required = keys.required();
        Ok(Self { sets, apex, ownerships, keys, required, settings })
    }

    /// Returns the name of the zone.
    #[must_use]
    pub fn apex(&self) -> DomainName<'z> {
        self.apex
    }

    /// Returns the number of names to check.
    #[must_use]
    pub fn name_count(&self) -> usize {
        self.sets.name_count()
    }

    /// Verifies the signatures of a range of names, and checks each name by itself.
    ///
    /// # Errors
    /// An engine failed. Defects of the zone are in the report.
    ///
    /// # Panics
    /// If the range exceeds [`name_count`](Self::name_count).
    pub fn check_names(
        &self,
        accelerator: &Accelerator,
        names: Range<usize>,
    ) -> Result<VerifyReport, JobError> {
        let mut report = VerifyReport::default();
        let mut batch = signatures::SignatureBatch::default();
        for name in names {
            self.check_structure(name, &mut report);
            let ownership = self.ownerships.get(name);
            for set in self.sets.of_name(name) {
                if set.rtype == RecordType::RRSIG {
                    // RFC 4035 2.2: signatures are not signed. A signature that covers RRSIG records is an error.
                    for row in set.signatures.iter().filter(|_| ownership != NameOwnership::Outside) {
                        report.add(set.owner, set.rtype, Some(*row), FindingReason::NothingSigned);
                    }
                } else if ownership.signs(set.rtype) {
                    batch.add(self, set, &mut report)?;
                    if batch.is_full() {
                        std::mem::take(&mut batch).verify(self, accelerator, &mut report)?;
                    }
                } else if let (true, Some(row)) =
                    (ownership != NameOwnership::Outside, set.signatures.first())
                {
                    report.add(set.owner, set.rtype, Some(*row), FindingReason::SignedGlue);
                }
            }
        }
        batch.verify(self, accelerator, &mut report)?;
        Ok(report)
    }

    /// Checks the zone as a whole: its keys, the denial chains, and duplicates of records.
    ///
    /// # Errors
    /// An engine failed.
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
        // A digest is useful without signatures too. RFC 8976 section 4.
        self.check_zone_digests(accelerator, &mut report)?;
        if self.keys.is_empty() {
            report.add(self.apex, RecordType::DNSKEY, None, FindingReason::Unsigned);
            return Ok(report);
        }
        self.check_keys(&mut report);
        self.check_denial(accelerator, &mut report)?;
        Ok(report)
    }

    /// Reports unusable keys, and the absence of usable ones.
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
        let apex = self.ownerships.apex();
        let has_nsec = self.sets.of_type(apex, RecordType::NSEC).is_some();
        let parameters = self.sets.of_type(apex, RecordType::NSEC3PARAM);
        if !has_nsec && parameters.is_none() {
            report.add(self.apex, RecordType::NSEC, None, FindingReason::NoDenial);
        }
        // Both chains are checked: a zone has both while it changes from one to the other. RFC 5155 10.4 and 10.5.
        if has_nsec {
            self.check_nsec(report);
        }
        self.check_nsec3(accelerator, parameters, report)
    }
}
