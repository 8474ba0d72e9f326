//! Requests: the zone-signing keys of each period.

use super::bundles::{BundleFile, MAX_BUNDLE_RECORDS, MAX_BUNDLES, RawBundle};
use super::error::{KeyBundleError, KsrPlanError};
use crate::dnskey::{Dnskey, ZONE_KEY};
use crate::key_times::{KeyEvent, KeyTimes};
use crate::name::{DomainName, DomainNameBuf};
use crate::rtype::RecordType;
use crate::zone::write_line;

/// A request (KSR) to sign the zone-signing keys of a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySigningRequest {
    pub(super) zone: DomainNameBuf,
    pub(super) bundles: Vec<RequestBundle>,
}

/// The zone-signing keys that are published from a time on, until the next bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestBundle {
    /// The time in seconds since 1970.
    pub inception: u32,
    /// The time to live of the records in seconds.
    pub ttl: u32,
    /// The data of the DNSKEY records.
    pub keys: Vec<Vec<u8>>,
    /// The line of the header; 0 for a bundle that was not read from a file.
    pub(super) line: u32,
}

/// A public key with the times of its life.
#[derive(Clone, Debug)]
pub struct TimedDnskey {
    /// The data of the DNSKEY record.
    pub dnskey: Vec<u8>,
    /// The times of the key.
    pub times: KeyTimes,
}

impl KeySigningRequest {
    /// Makes a request for the time from `from` to `until`. A bundle begins whenever a key is published or deleted.
    ///
    /// # Errors
    /// At some time no key is published, a key is not a zone-signing key, or there are too many bundles.
    pub fn plan(
        zone: DomainName<'_>,
        keys: &[TimedDnskey],
        (from, until): (u32, u32),
        ttl: u32,
    ) -> Result<Self, KsrPlanError> {
        if until <= from {
            return Err(KsrPlanError::Interval { from, until });
        }
        let mut keys =
            keys.iter().map(|key| Ok((zone_signing(key)?, key))).collect::<Result<Vec<_>, KsrPlanError>>()?;
        keys.sort_by_key(|(dnskey, _)| (dnskey.key_tag(), dnskey.algorithm));
        let mut bundles: Vec<RequestBundle> = Vec::new();
        for inception in changes(&keys, from, until) {
            let published = keys.iter().filter(|(_, key)| key.times.phase(inception).is_published());
            let published: Vec<&Dnskey<'_>> = published.map(|(dnskey, _)| dnskey).collect();
            check_tags(&published, inception)?;
            let published: Vec<Vec<u8>> =
                published.into_iter().map(|dnskey| dnskey.rdata().to_vec()).collect();
            // An event that changes nothing, as a revocation, needs no bundle.
            if bundles.last().is_some_and(|last| last.keys == published) {
                continue;
            }
            match published.len() {
                0 => return Err(KsrPlanError::NoKey(inception)),
                len if len > MAX_BUNDLE_RECORDS => return Err(KsrPlanError::ManyKeys(inception)),
                _ if bundles.len() == MAX_BUNDLES => return Err(KsrPlanError::ManyBundles),
                _ => bundles.push(RequestBundle { inception, ttl, keys: published, line: 0 }),
            }
        }
        Ok(Self { zone: zone.to_lower(), bundles })
    }

    /// Reads a request for `zone`.
    ///
    /// # Errors
    /// The first fault of the file.
    pub fn parse(text: &[u8], zone: DomainName<'_>) -> Result<Self, KeyBundleError> {
        let raw = BundleFile::Request.read(text, zone)?;
        Ok(Self { zone: zone.to_lower(), bundles: raw.into_iter().map(RequestBundle::new).collect() })
    }

    /// Returns the zone.
    #[must_use]
    pub fn zone(&self) -> DomainName<'_> {
        self.zone.name()
    }

    /// Returns the bundles in the order of their times.
    #[must_use]
    pub fn bundles(&self) -> &[RequestBundle] {
        &self.bundles
    }

    /// Appends the request as a file. `program` is the name and version of the program that writes it at `now`.
    pub fn write(&self, now: u32, program: &str, out: &mut Vec<u8>) {
        for bundle in &self.bundles {
            BundleFile::Request.write_header(bundle.inception, out);
            for key in &bundle.keys {
                write_line(self.zone(), bundle.ttl, RecordType::DNSKEY, key, out);
            }
        }
        BundleFile::Request.write_end(now, program, out);
    }
}

impl RequestBundle {
    fn new(RawBundle { inception, line, records, .. }: RawBundle) -> Self {
        // The records of a set have one time to live. RFC 2181 5.2. unreachable default because a bundle has a record
        let ttl = records.iter().map(|record| record.ttl).min().unwrap_or(0);
        Self { inception, ttl, keys: records.into_iter().map(|record| record.data).collect(), line }
    }
}

/// Returns the start, and the times at which a key may appear or disappear, in order.
fn changes(keys: &[(Dnskey<'_>, &TimedDnskey)], from: u32, until: u32) -> Vec<u32> {
    let times = keys.iter().flat_map(|(_, key)| KeyEvent::ALL.map(|event| key.times.get(event)));
    let mut changes: Vec<u32> = times.flatten().filter(|time| (from..until).contains(time)).collect();
    changes.push(from);
    changes.sort_unstable();
    changes.dedup();
    changes
}

/// Returns a key that can be used for signing a zone.
fn zone_signing(key: &TimedDnskey) -> Result<Dnskey<'_>, KsrPlanError> {
    let dnskey = Dnskey::parse(&key.dnskey)?;
    dnskey.public_key()?;
    match dnskey.flags {
        ZONE_KEY => Ok(dnskey),
        flags => Err(KsrPlanError::Flags { tag: dnskey.key_tag(), flags }),
    }
}

/// Checks that keys, in the order of tags and algorithms, have tags of their own.
fn check_tags(keys: &[&Dnskey<'_>], at: u32) -> Result<(), KsrPlanError> {
    let mut pairs = keys.windows(2).map(|pair| (pair[0], pair[1]));
    let same = pairs.find(|(one, two)| (one.key_tag(), one.algorithm) == (two.key_tag(), two.algorithm));
    match same {
        Some((key, _)) => Err(KsrPlanError::SameTag { tag: key.key_tag(), algorithm: key.algorithm, at }),
        None => Ok(()),
    }
}
