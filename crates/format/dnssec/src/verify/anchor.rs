//! Trust anchors and the chain from them to the keys of a zone. RFC 4035 5.2.

use oarlock::{Accelerator, JobError};

use super::finding::{FindingReason, VerifyReport};
use super::signatures::signs;
use super::{VerifyKeys, ZoneVerifier};
use crate::dnskey::Dnskey;
use crate::ds::{DigestType, Ds, DsError};
use crate::name::DomainNameBuf;
use crate::records::ZoneRecord;
use crate::rrsig::{Rrsig, Validity};
use crate::rtype::RecordType;

/// A trusted record of a zone, from outside the zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustAnchor {
    /// The name of the zone, in lower case.
    pub owner: DomainNameBuf,
    /// The data of the record.
    pub data: AnchorData,
}

/// The data of a DS or a DNSKEY record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnchorData {
    /// The data of a DS record: the digest of a key.
    Ds(Vec<u8>),
    /// The data of a DNSKEY record.
    Dnskey(Vec<u8>),
}

impl TrustAnchor {
    /// Makes an anchor from a DS or DNSKEY record. Returns None for other types.
    #[must_use]
    pub fn from_record(record: &ZoneRecord<'_>) -> Option<Self> {
        let data = match record.rtype {
            RecordType::DS => AnchorData::Ds(record.data.to_vec()),
            RecordType::DNSKEY => AnchorData::Dnskey(record.data.to_vec()),
            _ => return None,
        };
        Some(Self { owner: record.owner.to_buf(), data })
    }

    fn ds(&self) -> Option<Ds<'_>> {
        match &self.data {
            AnchorData::Ds(data) => Ds::parse(data).ok(),
            AnchorData::Dnskey(_) => None,
        }
    }

    fn is_sha1(&self) -> bool {
        self.ds().is_some_and(|ds| ds.digest_type == DigestType::SHA1)
    }

    fn is_stronger_than_sha1(&self) -> bool {
        self.ds().is_some_and(|ds| ds.is_supported() && ds.digest_type != DigestType::SHA1)
    }
}

impl ZoneVerifier<'_> {
    /// Searches for a key that an anchor confirms and that signs the zone's keys. Anchors of other zones and
    /// unsupported anchors are ignored. SHA-1 digests are ignored if the zone has stronger supported digests. RFC 4509
    /// section 3.
    ///
    /// # Errors
    /// An engine failed.
    pub fn check_anchors(
        &self,
        accelerator: &Accelerator,
        anchors: &[TrustAnchor],
    ) -> Result<VerifyReport, JobError> {
        let mut report = VerifyReport::default();
        let of_apex = || anchors.iter().filter(|anchor| anchor.owner.name() == self.apex);
        let has_stronger = of_apex().any(TrustAnchor::is_stronger_than_sha1);
        for anchor in of_apex().filter(|anchor| !(has_stronger && anchor.is_sha1())) {
            if self.is_anchored(accelerator, anchor)? {
                return Ok(report);
            }
        }
        report.add(self.apex, RecordType::DNSKEY, None, FindingReason::NotAnchored);
        Ok(report)
    }

    fn is_anchored(&self, accelerator: &Accelerator, anchor: &TrustAnchor) -> Result<bool, JobError> {
        let mut tried = 0;
        for key in 0..self.keys.iter().count() {
            let dnskey = &self.keys.get(key).dnskey;
            // A revoked key is no longer a trust anchor. RFC 5011 2.1.
            if dnskey.is_revoked() || !self.confirms(accelerator, anchor, dnskey)? {
                continue;
            }
            // The limit bounds the work if an attacker publishes many keys with one tag.
            tried += 1;
            if tried > self.settings.max_keys {
                return Ok(false);
            }
            if self.signs_keys(accelerator, &self.keys, key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn confirms(
        &self,
        accelerator: &Accelerator,
        anchor: &TrustAnchor,
        dnskey: &Dnskey<'_>,
    ) -> Result<bool, JobError> {
        match &anchor.data {
            AnchorData::Dnskey(data) => Ok(dnskey.rdata() == data),
            AnchorData::Ds(data) => {
                match Ds::parse(data).and_then(|ds| ds.matches(accelerator, self.apex, dnskey)) {
                    Ok(matches) => Ok(matches),
                    Err(DsError::Job(error)) => Err(error),
                    Err(_) => Ok(false),
                }
            }
        }
    }

    /// Returns true if the key at `index` made a valid signature of the zone's keys.
    fn signs_keys(
        &self,
        accelerator: &Accelerator,
        keys: &VerifyKeys<'_>,
        index: usize,
    ) -> Result<bool, JobError> {
        let Some(set) = self.sets.of_type(self.ownerships.apex(), RecordType::DNSKEY) else {
            return Ok(false);
        };
        let key = keys.get(index);
        for row in set.signatures.iter().take(self.settings.max_signatures) {
            let Ok(rrsig) = Rrsig::read(self.sets.records().get(*row as usize).data) else { continue };
            let is_its = rrsig.key_tag == key.tag && rrsig.algorithm == key.dnskey.algorithm;
            let holds = rrsig.signer == self.apex && rrsig.validity(self.settings.now) == Validity::Valid;
            if !(is_its && holds) {
                continue;
            }
            let mut signed = Vec::new();
            rrsig.write_signed(set.owner, set.data(), &mut signed);
            if signs(accelerator, key, &signed, rrsig.signature)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
