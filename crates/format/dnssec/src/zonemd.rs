//! Digests of whole zones. RFC 8976.

use oarlock::{Accelerator, DigestAlg, DigestChain, JobError};

use crate::name::DomainName;
use crate::records::{ZoneRecord, ZoneRecords};
use crate::rtype::RecordType;
use crate::sets::{RecordSet, RecordSets};

/// The scheme SIMPLE, the only one that exists: all records in canonical order. RFC 8976 5.2.
pub const ZONEMD_SIMPLE: u8 = 1;

/// The number of bytes that are hashed at a time.
const PIECE: usize = 64 << 10;
const CLASS_IN: [u8; 2] = [0, 1];

/// The fields of a ZONEMD record's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zonemd<'a> {
    /// The serial number of the zone at the time of the digest.
    pub serial: u32,
    /// The scheme that orders the records.
    pub scheme: u8,
    /// The number of the digest algorithm.
    pub algorithm: u8,
    /// The digest, at least 12 bytes.
    pub digest: &'a [u8],
}

impl<'a> Zonemd<'a> {
    /// Reads the fields of a ZONEMD's data. Returns None if it is too short, or if the digest does not have the
    /// length of its algorithm. RFC 8976 2.2.
    #[must_use]
    pub fn read(data: &'a [u8]) -> Option<Self> {
        let ([a, b, c, d, scheme, algorithm], digest) = data.split_first_chunk()?;
        let serial = u32::from_be_bytes([*a, *b, *c, *d]);
        let fits = match zonemd_digest(*algorithm) {
            Some(alg) => digest.len() == alg.output_len(),
            None => digest.len() >= 12,
        };
        fits.then_some(Self { serial, scheme: *scheme, algorithm: *algorithm, digest })
    }
}

/// Returns the digest of a ZONEMD algorithm's number. RFC 8976 5.3.
#[must_use]
pub fn zonemd_digest(algorithm: u8) -> Option<DigestAlg> {
    match algorithm {
        1 => Some(DigestAlg::Sha384),
        2 => Some(DigestAlg::Sha512),
        _ => None,
    }
}

/// Computes the digest of the zone `apex` with the scheme SIMPLE. It covers all records at and below the apex in
/// canonical order, except the ZONEMD records of the apex and their signatures. RFC 8976 3.3 and 3.4.
///
/// # Errors
/// An engine failed.
pub fn zone_digest(
    accelerator: &Accelerator,
    sets: &RecordSets<'_>,
    apex: DomainName<'_>,
    alg: DigestAlg,
) -> Result<Vec<u8>, JobError> {
    let mut digest =
        ZoneDigester { chain: DigestChain::new(alg), bytes: Vec::with_capacity(PIECE + (70 << 10)) };
    for name in 0..sets.name_count() {
        let owner = sets.name(name);
        if owner.is_at_or_below(apex) {
            // The digest cannot cover itself. RFC 8976 3.3.1.
            let is_own = |set: &RecordSet<'_>| owner != apex || set.rtype != RecordType::ZONEMD;
            digest.add_name(accelerator, sets.records(), sets.of_name(name).filter(is_own))?;
        }
    }
    digest.chain.update(accelerator, &digest.bytes)?;
    digest.chain.finish(accelerator)
}

struct ZoneDigester {
    chain: DigestChain,
    bytes: Vec<u8>,
}

impl ZoneDigester {
    /// Adds the records of a name by type. All signatures of a name form one set, ordered by the type that they
    /// cover.
    fn add_name<'z>(
        &mut self,
        accelerator: &Accelerator,
        records: &ZoneRecords,
        sets: impl Iterator<Item = RecordSet<'z>> + Clone,
    ) -> Result<(), JobError> {
        // A set keeps its signatures beside it, but the digest orders them as a set of the type RRSIG of its own.
        let lower = sets.clone().filter(|set| set.rtype < RecordType::RRSIG).flat_map(|set| set.records);
        let higher = sets.clone().filter(|set| set.rtype >= RecordType::RRSIG).flat_map(|set| set.records);
        let signatures = sets.flat_map(|set| set.signatures);
        for row in lower.chain(signatures).chain(higher) {
            self.add(&records.get(*row as usize));
            if self.bytes.len() >= PIECE {
                self.chain.update(accelerator, &self.bytes)?;
                self.bytes.clear();
            }
        }
        Ok(())
    }

    fn add(&mut self, record: &ZoneRecord<'_>) {
        self.bytes.extend_from_slice(record.owner.as_bytes());
        self.bytes.extend_from_slice(&record.rtype.0.to_be_bytes());
        self.bytes.extend_from_slice(&CLASS_IN);
        self.bytes.extend_from_slice(&record.ttl.to_be_bytes());
        // unreachable because a record's data has at most 65,535 bytes
        self.bytes.extend_from_slice(&(record.data.len() as u16).to_be_bytes());
        self.bytes.extend_from_slice(record.data);
    }
}
