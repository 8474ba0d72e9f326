//! The keys of a zone from a signed key response, whose key-signing key is offline.

use std::path::{Path, PathBuf};

use oarlock::Accelerator;
use oarlock_dnssec::ksr::{MAX_RESPONSE_BYTES, SignedKeyResponse};
use oarlock_dnssec::sign::{KeyRole, PresignedSet, SignerKey};
use oarlock_dnssec::{DomainName, RecordType, Rrsig, ZoneRecord, ZoneRecords};
use oarlock_terminal::table::count;
use serde::Serialize;

use super::super::DnssecError;
use super::super::times::date;
use super::super::zone_file::read_limited;

/// The bundle of a response that covers the time of signing.
pub(super) struct CurrentBundle {
    pub(super) sets: Vec<PresignedSet>,
    pub(super) summary: BundleSummary,
    path: PathBuf,
}

/// The bundle in the summary.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BundleSummary {
    /// The number of the bundle, from 1.
    bundle: usize,
    bundles: usize,
    /// The end of its signatures.
    expires: String,
    /// The beginning of the next bundle.
    next: Option<String>,
    /// The end of the last bundle's signatures.
    last_expires: String,
    /// The signatures of the bundle, which the zone has beside those that were made here.
    signatures: Vec<PresignedLine>,
}

/// A signature that was made elsewhere.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PresignedLine {
    #[serde(rename = "type")]
    pub(super) rtype: String,
    key_tag: u16,
    algorithm: u8,
}

impl BundleSummary {
    pub(super) fn signatures(&self) -> &[PresignedLine] {
        &self.signatures
    }
}

fn signatures(set: &PresignedSet) -> impl Iterator<Item = PresignedLine> {
    // unreachable skip because the response was read
    set.signatures.iter().filter_map(|data| Rrsig::read(data).ok()).map(|rrsig| PresignedLine {
        rtype: rrsig.covered.to_string(),
        key_tag: rrsig.key_tag,
        algorithm: rrsig.algorithm.number(),
    })
}

impl CurrentBundle {
    /// Reads a response, and verifies all of it.
    ///
    /// # Errors
    /// The file cannot be read, is faulty or has no bundle for `now`, or a signature does not verify.
    pub(super) fn read(
        accelerator: &Accelerator,
        path: &Path,
        zone: DomainName<'_>,
        now: u32,
    ) -> Result<Self, DnssecError> {
        let text = read_limited(path, MAX_RESPONSE_BYTES)?;
        let fault = |error| DnssecError::KeyBundle { path: path.to_owned(), error: Box::new(error) };
        let response = SignedKeyResponse::parse(&text, zone).map_err(fault)?;
        if let Some(error) = response.verify(accelerator)? {
            return Err(fault(error));
        }
        let none = |error| DnssecError::NoBundle { path: path.to_owned(), error };
        let index = response.find(now).map_err(none)?;
        let bundles = response.bundles();
        let (bundle, next) = (&bundles[index], bundles.get(index + 1));
        let summary = BundleSummary {
            bundle: index + 1,
            bundles: bundles.len(),
            expires: date(bundle.expiration()),
            next: next.map(|next| date(next.inception)),
            last_expires: date(bundles.last().map_or(now, |last| last.expiration())),
            signatures: bundle.sets.iter().flat_map(signatures).collect(),
        };
        Ok(Self { sets: bundle.sets.to_vec(), summary, path: path.to_owned() })
    }

    /// Checks that the given keys sign none of the sets that are signed already.
    ///
    /// # Errors
    /// A key is a key-signing key.
    pub(super) fn check_keys(&self, keys: &[SignerKey]) -> Result<(), DnssecError> {
        match keys.iter().find(|key| key.role() != KeyRole::Zsk && key.phase().signs()) {
            None => Ok(()),
            Some(key) => Err(DnssecError::Usage(format!(
                "--skr: the keys of the zone are signed already: expected zone-signing keys (flags 256) only, found key {} \
                 that signs keys",
                key.tag()
            ))),
        }
    }

    /// Says which bundle is used until when, and which records of the zone give way.
    pub(super) fn tell(&self, zone: &ZoneRecords, apex: DomainName<'_>) {
        let path = self.path.display();
        let BundleSummary { bundle, bundles, expires, next, last_expires, .. } = &self.summary;
        let next = match next {
            Some(next) => format!("the next begins {next}, and signatures of the last end {last_expires}"),
            None => "it is the last one: get a new response before".into(),
        };
        eprintln!("oarlock: {path}: bundle {bundle} of {bundles}, with signatures until {expires}; {next}");
        let is_dropped = |record: &ZoneRecord<'_>| {
            let is_set = |set: &PresignedSet| {
                set.rtype == record.rtype && !set.data.iter().any(|data| data == record.data)
            };
            record.owner == apex && self.sets.iter().any(is_set)
        };
        for rtype in [RecordType::DNSKEY, RecordType::CDNSKEY, RecordType::CDS] {
            let dropped = zone.iter().filter(|record| record.rtype == rtype && is_dropped(record)).count();
            if dropped > 0 {
                let number = count(dropped as u64, "record");
                eprintln!(
                    "oarlock: {path}: {number} of the type {rtype} in the zone not in the bundle: dropped"
                );
            }
        }
    }
}
