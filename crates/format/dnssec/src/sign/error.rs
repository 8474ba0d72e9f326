//! Errors of signing a zone, and the changes that signing makes to it.

use std::fmt;

use oarlock::JobError;

use super::load_rules::LoadRule;
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::DnskeyError;
use crate::key_times::KeyPhase;
use crate::name::{DomainName, DomainNameBuf};
use crate::records::{ZoneRecords, ZoneRecordsError};
use crate::rtype::RecordType;

/// The location of a record in the zone to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordLocation {
    /// The file, if the record was included.
    pub file: Option<Box<str>>,
    /// The line, from 1; 0 if the record has none.
    pub line: u32,
    /// The owner of the record.
    pub owner: DomainNameBuf,
    /// The type of the record.
    pub rtype: RecordType,
}

impl RecordLocation {
    /// Locates the record at `row`.
    pub(super) fn at_row(records: &ZoneRecords, row: usize) -> Self {
        let record = records.get(row);
        let file = records.file(row).map(Box::from);
        Self { file, line: record.line, owner: record.owner.to_buf(), rtype: record.rtype }
    }
}

impl fmt::Display for RecordLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{} {}", self.owner, self.rtype)
    }
}

/// An error of a zone that cannot be signed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum ZoneSignError {
    /// The zone has no SOA record. RFC 1035 5.2.
    #[error("no SOA record")]
    NoSoa,
    /// The zone has more than one SOA record.
    #[error("{0}: a second SOA record")]
    SecondSoa(RecordLocation),
    /// The data of the SOA record is malformed.
    #[error("{0}: malformed")]
    MalformedSoa(RecordLocation),
    /// A CNAME has other records beside it. RFC 2181 10.1.
    #[error("{0}: a CNAME stands alone")]
    AliasBesideOthers(RecordLocation),
    /// A name has several aliases. RFC 2181 10.1, RFC 6672 2.4.
    #[error("{0}: a second CNAME or DNAME record")]
    SecondAlias(RecordLocation),
    /// A DS record stands at a name that is not delegated. RFC 4035 2.4.
    #[error("{0}: a DS record without delegation")]
    DsWithoutDelegation(RecordLocation),
    /// A name server would not load the signed zone.
    #[error("{location}: {rule}")]
    Unloadable {
        /// The first such record.
        location: RecordLocation,
        /// The rule that it violates.
        rule: LoadRule,
    },
    /// There is no key.
    #[error("no key to sign with")]
    NoKey,
    /// The zone has keys of an algorithm, but none that signs now. Every set needs a signature of each algorithm. RFC
    /// 4035 2.2.
    #[error("no active key of {algorithm} signs {part}: {}", phases(keys))]
    NoActiveKey {
        /// The part of the zone without signatures.
        part: SignedPart,
        /// The algorithm of the missing signatures.
        algorithm: DnssecAlgorithm,
        /// The tags of all keys of the algorithm, and their phases.
        keys: Vec<(u16, KeyPhase)>,
    },
    /// The key is public.
    #[error("the key is public: signing needs a private key")]
    PublicKey,
    /// The same key is given twice.
    #[error("key {tag} ({algorithm}) is given twice")]
    SameKey {
        /// The tag of the key.
        tag: u16,
        /// The algorithm of the key.
        algorithm: DnssecAlgorithm,
    },
    /// Two keys in use have the same tag, by which signatures name their key. RFC 4034 Appendix B.
    #[error("two keys of {algorithm} have tag {tag}: make a new key in place of one")]
    SameTag {
        /// The tag of the keys.
        tag: u16,
        /// The algorithm of the keys.
        algorithm: DnssecAlgorithm,
    },
    /// The data of a DNSKEY holds no usable key.
    #[error("{0}")]
    Key(#[from] DnskeyError),
    /// This crate does not sign with the algorithm.
    #[error("{}", cannot_sign(.0))]
    CannotSign(DnssecAlgorithm),
    /// The zone publishes the key with other flags.
    #[error("key {tag} is published with flags {published}, but given with {given}")]
    Flags {
        /// The tag of the given key.
        tag: u16,
        /// The flags in the zone.
        published: u16,
        /// The flags of the given key.
        given: u16,
    },
    /// The zone's keys were signed elsewhere, without this one.
    #[error("key {tag} ({algorithm}) is not among the keys that were signed elsewhere")]
    NotPresigned {
        /// The tag of the key.
        tag: u16,
        /// The algorithm of the key.
        algorithm: DnssecAlgorithm,
    },
    /// Validators that know the algorithm do not know NSEC3. RFC 5155 section 2.
    #[error("{0} excludes NSEC3: sign with RSASHA1-NSEC3-SHA1 or a newer algorithm")]
    NoNsec3(DnssecAlgorithm),
    /// The additional iterations exceed the limit of RFC 9276 for signers.
    #[error("{0} iterations; {max} is the maximum, and RFC 9276 recommends none", max = super::MAX_SIGNED_ITERATIONS)]
    Iterations(u16),
    /// The salt has more than 255 bytes.
    #[error("a salt of {0} bytes: at most 255 are allowed")]
    Salt(usize),
    /// The name of the zone is too long to have hashed names below it.
    #[error("hashed names are too long below {0}")]
    LongApex(DomainNameBuf),
    /// Two names have the same hash. RFC 5155 7.1: another salt is needed.
    #[error("{0} and {1} have the same hash; choose another salt")]
    Collision(DomainNameBuf, DomainNameBuf),
    /// The signatures begin after they end.
    #[error("signatures would expire before they become valid, or be valid for more than 68 years")]
    Inception,
    /// The signatures have expired already.
    #[error("signatures would have expired already")]
    Expiration,
    /// The jitter would make signatures expire before now.
    #[error("a jitter of {jitter_s} s is too long: signatures are valid for another {left_s} s")]
    Jitter {
        jitter_s: u32,
        /// The exclusive upper bound of the jitter.
        left_s: u32,
    },
    /// This crate does not compute the algorithm of a zone digest.
    #[error("zone digests of algorithm {0} are not supported: 1 (SHA-384) and 2 (SHA-512) are")]
    ZoneDigest(u8),
    /// The records exceed a limit.
    #[error("{0}")]
    Records(#[from] ZoneRecordsError),
    /// A set could not be signed.
    #[error("{owner} {rtype} was not signed with key {tag}: {error}")]
    Unsigned {
        /// The owner of the set.
        owner: DomainNameBuf,
        /// The type of the set.
        rtype: RecordType,
        /// The tag of the key.
        tag: u16,
        /// The error of the job.
        error: JobError,
    },
    /// An engine failed.
    #[error("{0}")]
    Job(#[from] JobError),
}

impl ZoneSignError {
    /// Returns true if an engine or the holder of a key failed.
    #[must_use]
    pub fn is_machines(&self) -> bool {
        matches!(self, Self::Unsigned { .. } | Self::Job(_))
    }

    /// Returns true for a key that may be valid, but that this crate cannot use.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::CannotSign(_) => true,
            Self::Key(error) => error.is_unsupported(),
            _ => false,
        }
    }
}

/// A part of a zone that keys of one role sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedPart {
    /// The zone's keys: DNSKEY, CDS and CDNSKEY.
    Keys,
    /// All other sets.
    Rest,
}

impl fmt::Display for SignedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keys => "the zone's keys",
            Self::Rest => "the zone's records",
        })
    }
}

/// Says that signing with an algorithm is not supported, and the next step.
fn cannot_sign(algorithm: &DnssecAlgorithm) -> String {
    match algorithm.signing_reason() {
        Some(reason) => format!("signing with {algorithm} is not supported: {reason}"),
        None => format!("signing with {algorithm} is not supported"),
    }
}

/// Lists keys: `key 7 is inactive, key 9 is published`.
fn phases(keys: &[(u16, KeyPhase)]) -> String {
    let text = |(tag, phase): &(u16, KeyPhase)| format!("key {tag} is {phase}");
    keys.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// A difference between the signed zone and the given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ZoneChange {
    /// A record of another zone was dropped.
    OutOfZone,
    /// A duplicate of a record was dropped.
    Copy,
    /// The records of a set had several times to live: all get the lowest. RFC 2181 5.2.
    Ttl,
    /// A record other than an address stands below a delegation or a DNAME: kept, but no resolver will see it.
    Hidden,
    /// A digest of the former zone was dropped.
    ZoneDigest,
    /// A key has an algorithm with which nothing is signed, so validators may find signatures missing. RFC 4035 2.2.
    UnusedAlgorithm,
    /// A key uses SHA-1, which validators may reject. RFC 8624 3.1.
    Sha1,
    /// NSEC3 has additional iterations, which validators may reject. RFC 9276 3.2.
    Iterations,
    /// A name server refuses or reports the record.
    Load(LoadRule),
}

impl fmt::Display for ZoneChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfZone => "out of zone: dropped",
            Self::Copy => "a copy of another record: dropped",
            Self::Ttl => "times to live differ within a set: all got the lowest",
            Self::Hidden => "hidden below a delegation or a DNAME",
            Self::ZoneDigest => "a digest of the zone as it was: dropped",
            Self::UnusedAlgorithm => "a key of an algorithm with which nothing is signed",
            Self::Sha1 => "SHA-1, which validators may no longer accept",
            Self::Iterations => "additional iterations, which validators may no longer accept",
            Self::Load(rule) => return write!(f, "{rule}"),
        })
    }
}

/// The differences between the signed zone and the given one, with their number and the first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneChanges(Vec<(ZoneChange, u64, RecordLocation)>);

impl ZoneChanges {
    pub(super) fn add(&mut self, change: ZoneChange, spot: impl FnOnce() -> RecordLocation) {
        match self.0.iter_mut().find(|(entry, ..)| *entry == change) {
            Some((_, count, _)) => *count += 1,
            None => self.0.push((change, 1, spot())),
        }
    }

    pub(super) fn add_at_apex(&mut self, change: ZoneChange, apex: DomainName<'_>, rtype: RecordType) {
        self.add(change, || RecordLocation { file: None, line: 0, owner: apex.to_buf(), rtype });
    }

    /// Returns each kind of difference, its number, and its first occurrence.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ZoneChange, u64, &RecordLocation)> {
        self.0.iter().map(|(change, count, spot)| (*change, *count, spot))
    }

    /// Returns the number of differences of a kind.
    #[must_use]
    pub fn count(&self, change: ZoneChange) -> u64 {
        self.0.iter().find(|(entry, ..)| *entry == change).map_or(0, |(_, count, _)| *count)
    }
}
