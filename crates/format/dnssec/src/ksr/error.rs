//! Errors of signed key requests and responses.

use oarlock::JobError;

use super::bundles::{MAX_BUNDLE_RECORDS, MAX_BUNDLES};
use crate::algorithm::DnssecAlgorithm;
use crate::dnskey::DnskeyError;
use crate::ds::DsError;
use crate::name::DomainNameBuf;
use crate::rdata;
use crate::rrsig::RrsigError;
use crate::rtype::RecordType;
use crate::sign::ZoneSignError;
use crate::text::EntryError;

/// An error in a file of bundles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct KeyBundleError {
    /// The line, from 1.
    pub line: u32,
    /// The fault in it.
    pub fault: KeyBundleFault,
}

/// A fault in a file of bundles. The author of the file is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum KeyBundleFault {
    #[error("{found} bytes: the file has at most {max}")]
    Long { found: usize, max: usize },
    #[error("more than {MAX_BUNDLES} bundles")]
    ManyBundles,
    #[error("more than {MAX_BUNDLE_RECORDS} records in a bundle")]
    ManyRecords,
    #[error("found `{found}`, expected `;; {expected} 1.0` and a time or `generated`")]
    Header { found: Box<str>, expected: &'static str },
    #[error("version `{0}`: expected 1.0")]
    Version(Box<str>),
    /// Knot DNS writes seconds since 1970.
    #[error(
        "`{0}` is not the time of a bundle: expected YYYYMMDDHHMMSS in UTC, as dnssec-ksr of BIND writes it; \
         files of Knot DNS are not supported"
    )]
    Time(Box<str>),
    #[error("text before the first bundle: expected `;; {0} 1.0` and a time")]
    BeforeBundle(&'static str),
    #[error("text after the last line, which says by which program the file was generated")]
    AfterEnd,
    #[error("the file ends without its last line, `;; {0} 1.0 generated ...`: it may be cut short")]
    NoEnd(&'static str),
    #[error("the file has no bundle")]
    NoBundle,
    #[error("a second bundle of {}, after that of line {first}", time(*inception))]
    SameBundle { inception: u32, first: u32 },
    #[error("the bundle of {} stands after that of {}: expected rising times", time(*inception), time(*previous))]
    Order { inception: u32, previous: u32 },
    #[error("the bundle of {} has no {rtype} record", time(*inception))]
    EmptyBundle { inception: u32, rtype: RecordType },
    #[error("{0}")]
    Entry(EntryError),
    #[error("directives, as $TTL and $INCLUDE, are not allowed")]
    Directive,
    #[error("a record of {found}: expected records of {expected}")]
    OtherZone { expected: DomainNameBuf, found: DomainNameBuf },
    #[error("a record of the type {found}: expected {expected}")]
    Type { found: RecordType, expected: &'static str },
    #[error("the same {0} record twice in a bundle")]
    Copy(RecordType),
    #[error("key {tag}: {error}")]
    Key { tag: u16, error: DnskeyError },
    #[error("key {tag} is a key-signing key (flags {flags}): a request has zone-signing keys (256) only")]
    KeySigningKey { tag: u16, flags: u16 },
    #[error("key {tag} has flags {flags}: expected 256, or 257 in a response")]
    Flags { tag: u16, flags: u16 },
    #[error("malformed: {0}")]
    Rrsig(#[from] RrsigError),
    #[error("{0}")]
    Ds(DsError),
    #[error("times to live differ within the {0} records and signatures of a bundle")]
    Ttl(RecordType),
    #[error("a signature of {0}, of which the bundle has no records")]
    NothingSigned(RecordType),
    #[error("the {0} records have no signature")]
    Unsigned(RecordType),
    #[error("the {rtype} records have no signature of algorithm {algorithm}, which a key of the bundle has")]
    MissingAlgorithm { rtype: RecordType, algorithm: DnssecAlgorithm },
    #[error("a signature by {found}: expected {expected}")]
    Signer { expected: DomainNameBuf, found: DomainNameBuf },
    #[error("a signature over {found} labels: expected {expected}")]
    Labels { expected: usize, found: u8 },
    #[error("a signature by key {tag} ({algorithm}), which is not a key-signing key of the bundle")]
    UnknownKey { tag: u16, algorithm: DnssecAlgorithm },
    #[error("a signature that begins at {} and ends before, at {}", time(*inception), time(*expiration))]
    Inception { inception: u32, expiration: u32 },
    #[error(
        "a signature valid from {} to {}: expected one for the whole time of the bundle, from {} to {}",
        time(*inception), time(*expiration), time(*from), time(*until)
    )]
    Gap { inception: u32, expiration: u32, from: u32, until: u32 },
    #[error("the signature of the {rtype} records by key {tag} does not verify")]
    BadSignature { rtype: RecordType, tag: u16 },
}

/// An error of a request that cannot be made of the given keys and times. The caller is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum KsrPlanError {
    #[error("the request would end at {}, not after its start at {}", time(*until), time(*from))]
    Interval { from: u32, until: u32 },
    #[error("no zone-signing key is published at {}: make one, or change the times of one", time(*(.0)))]
    NoKey(u32),
    #[error("key {tag} has flags {flags}: a request has zone-signing keys (256) only")]
    Flags { tag: u16, flags: u16 },
    #[error("{0}")]
    Dnskey(#[from] DnskeyError),
    #[error("more than {MAX_BUNDLES} bundles: choose a shorter interval")]
    ManyBundles,
    #[error("more than {MAX_BUNDLE_RECORDS} keys are published at {}", time(*(.0)))]
    ManyKeys(u32),
    #[error("two keys of {algorithm} with tag {tag} are published at {}: make a new key in place of one", time(*at))]
    SameTag { tag: u16, algorithm: DnssecAlgorithm, at: u32 },
}

/// An error of a request that cannot be signed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum KsrSignError {
    #[error("no key-signing key signs at {}", time(*(.0)))]
    NoKey(u32),
    #[error("key {tag} has flags {flags}: expected a key-signing key (257)")]
    Flags { tag: u16, flags: u16 },
    #[error("line {line}: key {tag} has algorithm {algorithm}, and no key-signing key has it")]
    Algorithm { line: u32, tag: u16, algorithm: DnssecAlgorithm },
    #[error("line {line}: no key of the bundle has algorithm {algorithm} of the key-signing keys")]
    MissingAlgorithm { line: u32, algorithm: DnssecAlgorithm },
    #[error("the response would end at {}, not after the last bundle of the request at {}", time(*until), time(*last))]
    End { until: u32, last: u32 },
    #[error(
        "signatures are valid for {validity_s} s and made anew {refresh_s} s before: expected a shorter time"
    )]
    Refresh { validity_s: u32, refresh_s: u32 },
    #[error(
        "signatures that begin {before_s} s before their bundle and end {validity_s} s after that: expected less than \
         2^31 s together"
    )]
    Span { validity_s: u32, before_s: u32 },
    #[error("signatures would end after 7 February 2106, from when the times of DNSSEC begin anew")]
    Late,
    #[error("more than {MAX_BUNDLES} bundles: choose a longer validity of signatures, or a shorter interval")]
    ManyBundles,
    #[error(
        "line {line}: the bundle and its signatures would have more than {MAX_BUNDLE_RECORDS} records: expected fewer keys"
    )]
    ManyRecords { line: u32 },
    #[error(
        "line {line}: two keys of {algorithm} have tag {tag} in the bundle: make a new key in place of one"
    )]
    SameTag { line: u32, tag: u16, algorithm: DnssecAlgorithm },
    #[error("{0}")]
    Ds(#[from] DsError),
    #[error("{0}")]
    Dnskey(#[from] DnskeyError),
    #[error("{0}")]
    Key(#[from] ZoneSignError),
    #[error("the {rtype} records were not signed with key {tag}: {error}")]
    Unsigned { rtype: RecordType, tag: u16, error: JobError },
    #[error("{0}")]
    Job(#[from] JobError),
}

/// The reason why a response has no keys for a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum BundleLookupError {
    #[error("no bundle covers {}: the first begins at {}", time(*now), time(*first))]
    Early { now: u32, first: u32 },
    #[error("no bundle covers {}: the last signatures ended at {}", time(*now), time(*last))]
    Late { now: u32, last: u32 },
}

impl KsrSignError {
    /// Returns true if an engine or the holder of a key failed.
    #[must_use]
    pub fn is_machines(&self) -> bool {
        match self {
            Self::Job(_) | Self::Unsigned { .. } | Self::Ds(DsError::Job(_)) => true,
            Self::Key(error) => error.is_machines(),
            _ => false,
        }
    }
}

fn time(seconds: u32) -> String {
    let mut text = Vec::new();
    rdata::write_time(seconds, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
