//! Responses: the keys of each period with their signatures.

use std::cmp::Ordering;

use super::bundles::{BundleFile, RawBundle, RawRecord, TYPES};
use super::error::{BundleLookupError, KeyBundleError, KeyBundleFault};
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::Dnskey;
use crate::name::{DomainName, DomainNameBuf};
use crate::rrsig::{Rrsig, Validity, serial_cmp, signed_labels};
use crate::rtype::RecordType;
use crate::sign::PresignedSet;
use crate::zone::write_line;

/// A response (SKR): the keys of a zone, signed by its key-signing keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedKeyResponse {
    pub(super) zone: DomainNameBuf,
    pub(super) bundles: Vec<ResponseBundle>,
}

/// The signed keys from a time on, until the next bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseBundle {
    /// The time in seconds since 1970.
    pub inception: u32,
    /// The DNSKEY, CDNSKEY and CDS sets, in this order. The last two may be empty.
    pub sets: [PresignedSet; 3],
    /// The line of the header; 0 for a bundle that was not read from a file.
    pub(super) line: u32,
}

impl SignedKeyResponse {
    /// Reads a response for `zone`, and checks everything except the computation of signatures, which
    /// [`verify`](Self::verify) does.
    ///
    /// # Errors
    /// The first fault of the file.
    pub fn parse(text: &[u8], zone: DomainName<'_>) -> Result<Self, KeyBundleError> {
        let zone = zone.to_lower();
        let bundle = |raw: &RawBundle| BundleReader { zone: zone.name(), raw }.read();
        let raw = BundleFile::Response.read(text, zone.name())?;
        let bundles = raw.iter().map(bundle).collect::<Result<_, _>>()?;
        Ok(Self { zone, bundles })
    }

    /// Returns the zone.
    #[must_use]
    pub fn zone(&self) -> DomainName<'_> {
        self.zone.name()
    }

    /// Returns the bundles in the order of their times.
    #[must_use]
    pub fn bundles(&self) -> &[ResponseBundle] {
        &self.bundles
    }

    /// Returns the index of the bundle that covers `now`.
    ///
    /// # Errors
    /// The first bundle begins later, or the signatures of the last one have expired.
    pub fn find(&self, now: u32) -> Result<usize, BundleLookupError> {
        let after = self.bundles.partition_point(|bundle| bundle.inception <= now);
        let Some(index) = after.checked_sub(1) else {
            // unreachable default because a response has a bundle
            let first = self.bundles.first().map_or(0, |bundle| bundle.inception);
            return Err(BundleLookupError::Early { now, first });
        };
        let bundle = &self.bundles[index];
        let last = bundle.expiration();
        // Counted from the beginning: compared as serial numbers, a time after 68 years would be before the end.
        match now - bundle.inception > last.wrapping_sub(bundle.inception) {
            true => Err(BundleLookupError::Late { now, last }),
            false => Ok(index),
        }
    }

    /// Appends the response as a file. `program` is the name and version of the program that writes it at `now`.
    pub fn write(&self, now: u32, program: &str, out: &mut Vec<u8>) {
        for bundle in &self.bundles {
            BundleFile::Response.write_header(bundle.inception, out);
            for set in &bundle.sets {
                set.data.iter().for_each(|data| write_line(self.zone(), set.ttl, set.rtype, data, out));
                for signature in &set.signatures {
                    write_line(self.zone(), set.ttl, RecordType::RRSIG, signature, out);
                }
            }
        }
        BundleFile::Response.write_end(now, program, out);
    }
}

impl ResponseBundle {
    /// Returns the first second at which a signature of the bundle expires.
    #[must_use]
    pub fn expiration(&self) -> u32 {
        let signatures = self.sets.iter().flat_map(|set| &set.signatures);
        let ends = signatures.filter_map(|data| Some(Rrsig::read(data).ok()?.expiration));
        // unreachable default because every bundle has a signature, and none ends before the bundle begins
        ends.min_by_key(|end| end.wrapping_sub(self.inception)).unwrap_or(self.inception)
    }

    /// Returns the DNSKEY set.
    #[must_use]
    pub fn keys(&self) -> &PresignedSet {
        &self.sets[0]
    }
}

/// A bundle of a file on its way to its sets.
struct BundleReader<'b> {
    zone: DomainName<'b>,
    raw: &'b RawBundle,
}

impl BundleReader<'_> {
    fn read(&self) -> Result<ResponseBundle, KeyBundleError> {
        let [dnskey, cdnskey, cds] = TYPES.map(|rtype| self.set(rtype));
        let (inception, line) = (self.raw.inception, self.raw.line);
        Ok(ResponseBundle { inception, sets: [dnskey?, cdnskey?, cds?], line })
    }

    /// Collects the records of a type and their signatures.
    fn set(&self, rtype: RecordType) -> Result<PresignedSet, KeyBundleError> {
        let records = || self.raw.records.iter().filter(move |record| record.rtype == rtype);
        let mut set = PresignedSet { rtype, ttl: 0, data: Vec::new(), signatures: Vec::new() };
        for record in records() {
            set.ttl = record.ttl;
            set.data.push(record.data.clone());
        }
        for record in self.raw.records.iter().filter(|record| covers(record, rtype)) {
            let check = self.check_signature(record, &set);
            check.map_err(|fault| KeyBundleError { line: record.line, fault })?;
            set.signatures.push(record.data.clone());
        }
        let fail = |fault| Err(KeyBundleError { line: self.raw.line, fault });
        if records().any(|record| record.ttl != set.ttl) {
            return fail(KeyBundleFault::Ttl(rtype));
        }
        if !set.data.is_empty() && set.signatures.is_empty() {
            return fail(KeyBundleFault::Unsigned(rtype));
        }
        match self.missing_algorithm(&set) {
            Some(algorithm) => fail(KeyBundleFault::MissingAlgorithm { rtype, algorithm }),
            None => Ok(set),
        }
    }

    /// Checks the fields of a signature. RFC 4035 5.3.1.
    fn check_signature(&self, record: &RawRecord, set: &PresignedSet) -> Result<(), KeyBundleFault> {
        let rrsig = Rrsig::read(&record.data)?;
        let Rrsig { inception, expiration, key_tag: tag, algorithm, .. } = rrsig;
        let expected = signed_labels(self.zone);
        if set.data.is_empty() {
            return Err(KeyBundleFault::NothingSigned(set.rtype));
        }
        if rrsig.signer != self.zone {
            let (expected, found) = (self.zone.to_buf(), rrsig.signer.to_buf());
            return Err(KeyBundleFault::Signer { expected, found });
        }
        if usize::from(rrsig.labels) != expected {
            return Err(KeyBundleFault::Labels { expected, found: rrsig.labels });
        }
        if rrsig.original_ttl != set.ttl || record.ttl != set.ttl {
            return Err(KeyBundleFault::Ttl(set.rtype));
        }
        if serial_cmp(inception, expiration) != Ordering::Less {
            return Err(KeyBundleFault::Inception { inception, expiration });
        }
        // A bundle lasts until the next one begins. The last one ends with its signatures.
        let (from, until) = (self.raw.inception, self.raw.next.unwrap_or(self.raw.inception));
        let is_valid = |time| rrsig.validity(time) == Validity::Valid;
        if !is_valid(from) || !is_valid(until) {
            return Err(KeyBundleFault::Gap { inception, expiration, from, until });
        }
        let is_of_key = |key: &Dnskey<'_>| {
            key.key_tag() == tag && key.algorithm == algorithm && key.is_entry_point() && key.is_zone_key()
        };
        match self.keys().any(|key| is_of_key(&key)) {
            true => Ok(()),
            false => Err(KeyBundleFault::UnknownKey { tag, algorithm }),
        }
    }

    /// Returns an algorithm of the keys with which a set is not signed. RFC 4035 2.2.
    fn missing_algorithm(&self, set: &PresignedSet) -> Option<DnssecAlgorithm> {
        let signatures = || set.signatures.iter().filter_map(|data| Rrsig::read(data).ok());
        let is_signed = |algorithm| signatures().any(|rrsig| rrsig.algorithm == algorithm);
        let algorithms = self.keys().filter(|key| !key.is_revoked()).map(|key| key.algorithm);
        algorithms.filter(|_| !set.data.is_empty()).find(|algorithm| !is_signed(*algorithm))
    }

    fn keys(&self) -> impl Iterator<Item = Dnskey<'_>> {
        let keys = self.raw.records.iter().filter(|record| record.rtype == RecordType::DNSKEY);
        keys.filter_map(|record| Dnskey::parse(&record.data).ok())
    }
}

fn covers(record: &RawRecord, rtype: RecordType) -> bool {
    record.rtype == RecordType::RRSIG && record.data.starts_with(&rtype.0.to_be_bytes())
}
