//! Requests: the zone-signing keys of each period.

use super::bundles::{BundleFile, MAX_BUNDLE_RECORDS, MAX_BUNDLES, RawRecord};
use super::error::{KeyBundleError, KeyBundleFault, KsrPlanError};
use crate::dnskey::{Dnskey, SECURE_ENTRY_POINT, ZONE_KEY};
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
        let mut keys: Vec<(u16, &TimedDnskey)> =
            keys.iter().map(|key| Ok((zone_signing_tag(key)?, key))).collect::<Result<_, KsrPlanError>>()?;
        keys.sort_by_key(|(tag, _)| *tag);
        let mut bundles: Vec<RequestBundle> = Vec::new();
        for inception in changes(&keys, from, until) {
            let published = keys.iter().filter(|(_, key)| key.times.phase(inception).is_published());
            let published: Vec<Vec<u8>> = published.map(|(_, key)| key.dnskey.clone()).collect();
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
        let mut bundles = Vec::new();
        for raw in BundleFile::Request.read(text, zone)? {
            for record in &raw.records {
                check_key(record).map_err(|fault| KeyBundleError { line: record.line, fault })?;
            }
            let inception = raw.inception;
            // The records of a set have one time to live. RFC 2181 5.2.
            let ttl = raw.records.iter().map(|record| record.ttl).min().ok_or(KeyBundleError {
                line: raw.line,
                fault: KeyBundleFault::EmptyBundle { inception, rtype: RecordType::DNSKEY },
            })?;
            let keys = raw.records.into_iter().map(|record| record.data).collect();
            bundles.push(RequestBundle { inception, ttl, keys, line: raw.line });
        }
        Ok(Self { zone: zone.to_lower(), bundles })
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

/// Returns the start, and the times at which a key may appear or disappear, in order.
fn changes(keys: &[(u16, &TimedDnskey)], from: u32, until: u32) -> Vec<u32> {
    let times = keys.iter().flat_map(|(_, key)| KeyEvent::ALL.map(|event| key.times.get(event)));
    let mut changes: Vec<u32> = times.flatten().filter(|time| (from..until).contains(time)).collect();
    changes.push(from);
    changes.sort_unstable();
    changes.dedup();
    changes
}

fn zone_signing_tag(key: &TimedDnskey) -> Result<u16, KsrPlanError> {
    let dnskey = Dnskey::parse(&key.dnskey)?;
    match dnskey.flags {
        ZONE_KEY => Ok(dnskey.key_tag()),
        flags => Err(KsrPlanError::Flags { tag: dnskey.key_tag(), flags }),
    }
}

/// Checks that a record is a zone-signing key that can be used.
fn check_key(record: &RawRecord) -> Result<(), KeyBundleFault> {
    let fail = |tag, error| KeyBundleFault::Key { tag, error };
    let dnskey = Dnskey::parse(&record.data).map_err(|error| fail(0, error))?;
    let (tag, flags) = (dnskey.key_tag(), dnskey.flags);
    dnskey.public_key().map_err(|error| fail(tag, error))?;
    match flags {
        ZONE_KEY => Ok(()),
        flags if flags & SECURE_ENTRY_POINT != 0 => Err(KeyBundleFault::KeySigningKey { tag, flags }),
        flags => Err(KeyBundleFault::Flags { tag, flags }),
    }
}
