//! Why there is no signed zone; what was changed on the way to one.

use std::fmt;

use oarlock::JobError;

use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::DnskeyError;
use crate::name::{DomainName, DomainNameBuf};
use crate::records::{ZoneRecords, ZoneRecordsError};
use crate::rtype::RecordType;

/// A record of the zone that is to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLocation {
    /// The file, where it was included.
    pub file: Option<Box<str>>,
    /// The line, from 1; 0 where there is none.
    pub line: u32,
    /// Whose record.
    pub owner: DomainNameBuf,
    /// Its type.
    pub rtype: RecordType,
}

impl RecordLocation {
    /// The record at `row`.
    pub(super) fn of(records: &ZoneRecords, row: usize) -> Self {
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

/// Why a zone is not signed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ZoneSignError {
    /// No start of authority. RFC 1035 5.2.
    #[error("no SOA record")]
    NoSoa,
    /// More than one.
    #[error("{0}: a second SOA record")]
    SecondSoa(RecordLocation),
    /// Not a SOA's data.
    #[error("{0}: malformed")]
    MalformedSoa(RecordLocation),
    /// An alias with something beside it. RFC 2181 10.1.
    #[error("{0}: a CNAME stands alone")]
    AliasBesideOthers(RecordLocation),
    /// Several aliases of one name. RFC 2181 10.1, RFC 6672 2.4.
    #[error("{0}: there can be one only")]
    SecondAlias(RecordLocation),
    /// A DS record where no zone is delegated. RFC 4035 2.4.
    #[error("{0}: a DS record without delegation")]
    DsWithoutDelegation(RecordLocation),
    /// Nothing to sign with.
    #[error("no key to sign with")]
    NoKey,
    /// Nothing that signs.
    #[error("a public key, which signs nothing")]
    PublicKey,
    /// The same key twice.
    #[error("key {tag} ({algorithm}) is given twice")]
    SameKey {
        /// Its tag.
        tag: u16,
        /// Its algorithm.
        algorithm: DnssecAlgorithm,
    },
    /// No key's data.
    #[error("{0}")]
    Key(#[from] DnskeyError),
    /// Verified here at most.
    #[error("{0} is not signed with here")]
    CannotSign(DnssecAlgorithm),
    /// The zone publishes the key with flags that say something else.
    #[error("key {tag} is published with flags {published}, and given with {given}")]
    Flags {
        /// Its tag as given.
        tag: u16,
        /// The zone's.
        published: u16,
        /// The caller's.
        given: u16,
    },
    /// Validators that know it do not know NSEC3. RFC 5155 section 2.
    #[error("{0} says that there is no NSEC3: sign with RSASHA1-NSEC3-SHA1 or a newer algorithm")]
    NoNsec3(DnssecAlgorithm),
    /// More additional iterations than RFC 9276 lets signers use.
    #[error("{0} iterations; {max} is the most, and RFC 9276 wants none", max = super::MAX_SIGNED_ITERATIONS)]
    Iterations(u16),
    /// A salt that has no room.
    #[error("a salt of {0} bytes, of which there is room for 255")]
    Salt(usize),
    /// A zone whose name leaves no room for hashes.
    #[error("hashed names are too long below {0}")]
    LongApex(DomainNameBuf),
    /// Two names with one hash. RFC 5155 7.1: another salt is needed.
    #[error("{0} and {1} have the same hash; choose another salt")]
    Collision(DomainNameBuf, DomainNameBuf),
    /// Signatures that never hold.
    #[error("signatures would expire before they hold, or hold for longer than 68 years")]
    Inception,
    /// Signatures that hold no more.
    #[error("signatures would have expired already")]
    Expiration,
    /// Signatures that would expire before they hold, or already have.
    #[error("a jitter of {jitter_s} s, while signatures hold for {left_s} s")]
    Jitter {
        /// What was asked for.
        jitter_s: u32,
        /// What it has to be less than.
        left_s: u32,
    },
    /// An algorithm of zone digests that nobody computes here.
    #[error("zone digests of algorithm {0} are not supported: 1 (SHA-384) and 2 (SHA-512) are")]
    ZoneDigest(u8),
    /// Too much.
    #[error("{0}")]
    Records(#[from] ZoneRecordsError),
    /// A set was not signed.
    #[error("{owner} {rtype} was not signed with key {tag}: {error}")]
    Unsigned {
        /// Whose set.
        owner: DomainNameBuf,
        /// Its type.
        rtype: RecordType,
        /// The key's tag.
        tag: u16,
        /// Why.
        error: JobError,
    },
    /// The machine failed.
    #[error("{0}")]
    Job(#[from] JobError),
}

impl ZoneSignError {
    /// True where the machine failed, or the one who holds a key.
    #[must_use]
    pub fn is_machines(&self) -> bool {
        matches!(self, Self::Unsigned { .. } | Self::Job(_))
    }
}

/// What is not taken over as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneChange {
    /// Of another zone: dropped.
    OutOfZone,
    /// A copy of another record: dropped.
    Copy,
    /// Another time to live than the first of its set: all of the set get the lowest. RFC 2181 5.2.
    Ttl,
    /// Below a delegation, where it is no address of a name server, or below a DNAME: kept, but nobody will see it.
    Hidden,
    /// A digest of the zone as it was: dropped.
    ZoneDigest,
    /// A key of an algorithm with which nothing is signed: validators may find signatures missing. RFC 4035 2.2.
    UnusedAlgorithm,
    /// A key with SHA-1, which validators may no longer accept. RFC 8624 3.1.
    Sha1,
    /// Additional iterations of NSEC3, which validators may no longer accept. RFC 9276 3.2.
    Iterations,
    /// No name servers of the zone's own.
    NoNameServers,
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
            Self::NoNameServers => "the zone has no NS records of its own",
        })
    }
}

/// What was not taken over as it is: how often, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneChanges(Vec<(ZoneChange, u64, RecordLocation)>);

impl ZoneChanges {
    pub(super) fn add(&mut self, change: ZoneChange, spot: impl FnOnce() -> RecordLocation) {
        match self.0.iter_mut().find(|(own, ..)| *own == change) {
            Some((_, count, _)) => *count += 1,
            None => self.0.push((change, 1, spot())),
        }
    }

    pub(super) fn add_at_apex(&mut self, change: ZoneChange, apex: DomainName<'_>, rtype: RecordType) {
        self.add(change, || RecordLocation { file: None, line: 0, owner: apex.to_buf(), rtype });
    }

    /// Each kind, how often it came, and where it came first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ZoneChange, u64, &RecordLocation)> {
        self.0.iter().map(|(change, count, spot)| (*change, *count, spot))
    }

    /// How often one came.
    #[must_use]
    pub fn count(&self, change: ZoneChange) -> u64 {
        self.0.iter().find(|(own, ..)| *own == change).map_or(0, |(_, count, _)| *count)
    }
}
